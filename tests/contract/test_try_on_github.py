"""`scripts/try-on-github`: against the stand-in, which answers as recorded, it is green."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scripts.lib.trial import EXIT_AS_EXPECTED, EXIT_OTHERWISE, EXIT_REFUSED, main
from tests.clocks import FakeClock
from tests.fakehub import Fault, FaultKind, Repository, StandInHost
from tests.harness import STRATEGIES, only_reads, refuse


def try_on(host: StandInHost, name: str, *, token: str) -> tuple[int, str]:
    lines: list[str] = []
    given = [name, "--api-url", host.url]
    host.clock = FakeClock()
    code = main(given, {"HOST_TOKEN": token}, lines.append, host.clock)
    shown = "\n".join(lines)
    assert not token or token not in shown
    return code, shown


@pytest.fixture
def scratch(host: StandInHost) -> Repository:
    return host.create_repository("octocat/scratch", empty=True, private=True)


def ordinary(_: StandInHost) -> None:
    """As it is."""


def with_bad_day(host: StandInHost) -> None:
    """Lag, one 502 and a limit."""
    host.real_day()
    for kind in (FaultKind.ERROR_502_HTML, FaultKind.SECONDARY_403_RETRY_AFTER):
        host.faults.add(Fault(kind, match=lambda each: each.path.endswith("/graphql")))
        host.faults.add(Fault(kind, match=lambda each: each.method == "PUT", when="before"))


@pytest.mark.parametrize("change", [ordinary, with_bad_day])
def test_it_is_green_each_time(
    host: StandInHost, scratch: Repository, change: Callable[[StandInHost], None]
) -> None:
    token = host.create_token(is_tool=True)
    change(host)
    for pulls in (2, 4):
        code, shown = try_on(host, "octocat/scratch", token=token)
        assert (code, " 0 not as expected" in shown) == (EXIT_AS_EXPECTED, True), shown
        assert [each.state for each in scratch.pull_requests] == ["closed"] * pulls
        for step in ("Plan", "Registered", "Declined"):
            assert all(f"\n{step}, {strategy}\n" in shown for strategy in STRATEGIES)
        if change is ordinary and pulls == 2:
            assert len(host.requests) <= 45
    assert scratch.files("main").keys() == {"README.md"}


def test_what_is_not_as_expected_is_named(host: StandInHost, scratch: Repository) -> None:
    refuse(host, lambda each: each.path.endswith("/pulls") and each.method == "POST", 403)
    code, shown = try_on(host, "octocat/scratch", token=host.create_token(is_tool=True))
    assert code == EXIT_OTHERWISE
    assert "WRONG   done about the pull request: created\n          got none" in shown
    assert "  ok      how the files stand" in shown


def test_where_github_cannot_be_reached_it_says_that_it_was_stopped(
    host: StandInHost, scratch: Repository
) -> None:
    closed = Fault(FaultKind.CLOSED, match=lambda each: "/git/trees/" in each.path, times=None)
    host.faults.add(closed)
    code, shown = try_on(host, "octocat/scratch", token=host.create_token(is_tool=True))
    assert code == EXIT_OTHERWISE
    assert "Stopped: " in shown
    assert "gh repo delete octocat/scratch" in shown


def with_commit(repository: Repository) -> None:
    repository.person.commit({"README.md": b"mine\n"})


def archived(repository: Repository) -> None:
    repository.person.archive()


def forked(repository: Repository) -> None:
    repository.person.change(parent="other/scratch")


@pytest.mark.parametrize(
    ("change", "reason"),
    [(with_commit, "has commits"), (archived, "is archived"), (forked, "is a fork")],
)
def test_what_looks_used_is_not_written_to(
    host: StandInHost, scratch: Repository, change: Callable[[Repository], None], reason: str
) -> None:
    change(scratch)
    code, shown = try_on(host, "octocat/scratch", token=host.create_token(is_tool=True))
    assert code == EXIT_REFUSED
    assert f"octocat/scratch looks used: it {reason}." in shown
    assert only_reads(host)


@pytest.mark.parametrize(
    ("name", "token", "said"),
    [
        ("octocat/scratch", "", "HOST_TOKEN is empty"),
        ("octocat/scratch", "ghp_wrong", "GitHub does not accept the token"),
        ("scratch", "good", "'scratch' is not of the form OWNER/REPOSITORY"),
        ("octocat/none", "good", "There is no repository octocat/none that the token may see"),
    ],
)
def test_what_cannot_be_tried(
    host: StandInHost, scratch: Repository, name: str, token: str, said: str
) -> None:
    token = host.create_token() if token == "good" else token
    code, shown = try_on(host, name, token=token)
    assert (code, said in shown) == (EXIT_REFUSED, True), shown
    assert only_reads(host)
