"""Many repositories: what our open pull requests still hold is read for many of them at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest

from tests.example import MISSING
from tests.fakehub import Fault, FaultKind, Repository, Request, StandInHost
from tests.fakehub.representations import node_id
from tests.harness import SCAFFOLD_BRANCH, Run, Start, only_reads
from tests.organisation import Make, asked, rows, states

FIRST, SECOND = sorted(MISSING)[:2]
LEFT_ALONE = "the commits of the open pull request"
NOT_KNOWN = "Whether the branch of the open pull request still holds the files"


def take_out(repository: Repository, *paths: str) -> None:
    """A reviewer does not want these files."""
    repository.commit(dict.fromkeys(paths), branch=SCAFFOLD_BRANCH, author=("A", "a@example.com"))


def rewrite(repository: Repository, *paths: str) -> None:
    """Somebody rewrites the commits of our branch, without these files."""
    kept = {path: b"\n" for path in MISSING if path not in paths}
    repository.delete_branch(SCAFFOLD_BRANCH)
    repository.create_branch(SCAFFOLD_BRANCH)
    repository.commit(kept, branch=SCAFFOLD_BRANCH, author=("A", "a@example.com"))
    repository.commit({"x.md": b""}, branch="main")
    repository.reopen(1)


def files(run: Run, repository: str) -> dict[str, str]:
    """Why a path is not going to be created in a repository, where there is a reason."""
    [found] = [each for each in run.report["registrations"] if each["repository"] == repository]
    return {each["path"]: each["reason"] for each in found["files"] if each["path"] in MISSING}


def named_after(words: str, text: str) -> list[str]:
    """The repositories that a note is about."""
    [line] = re.findall(re.escape(words) + r".*\n.*?Repositories: (.*)", text)
    return re.findall(r"octo-org/r\d+(?=[,\]]|$)", line)


@pytest.mark.parametrize("mode", ["plan", "check"])
def test_what_was_removed_is_found_with_two_queries_for_each_batch(
    many: Start, make: Make, host: StandInHost, mode: str
) -> None:
    made = make(0, 25)
    assert states(many()) == {"opened": 25}
    make(10, 5)
    take_out(made[0], *MISSING)
    for repository in made[1:4]:
        take_out(repository, FIRST)
    take_out(made[4], FIRST, SECOND)
    made[4].commit({SECOND: b"back\n"}, branch=SCAFFOLD_BRANCH)
    host.requests.clear()
    run = many(mode=mode)
    assert only_reads(host)
    # 10 repositories, then 16, then 14; then 25 pull requests, and 30 paths that are gone
    assert Counter(asked(host)[2:]) == {"nodes": 3, "commits": 1, "history": 1}
    assert states(run) == {"declined": 1, "waiting": 24, "missing": 5, "complete": 10}
    assert rows(run)[made[0].full_name] == "declined"
    for repository in made[1:5]:
        reasons = files(run, repository.full_name)
        assert {path for path, why in reasons.items() if why} == {FIRST}
        assert reasons[FIRST] == "declined in #1"


def test_rewritten_commits_are_noted(many: Start, make: Make, host: StandInHost) -> None:
    made = make(0, 3)
    many()
    rewrite(made[1], FIRST)
    before = made[1].head(SCAFFOLD_BRANCH)
    plan = many(mode="plan")
    assert states(plan) == {"waiting": 3}
    for text in (plan.stdout, plan.summary):
        assert named_after(LEFT_ALONE, text) == [made[1].full_name]
    assert states(many()) == {"waiting": 3}
    assert made[1].head(SCAFFOLD_BRANCH) == before


def nothing_more(_: Repository) -> None:
    """Nobody does anything."""


def merge(repository: Repository) -> None:
    repository.merge(1)


def strangers(repository: Repository) -> None:
    """Our text is gone from the description."""
    repository.pull_request(1).body = "Mine."


@pytest.mark.parametrize("act", [merge, strangers])
def test_without_an_open_pull_request_of_ours_nothing_more_is_asked(
    many: Start, make: Make, host: StandInHost, act: Callable[[Repository], None]
) -> None:
    made = make(0, 3)
    many()
    for repository in made:
        act(repository)
    host.requests.clear()
    run = many(mode="plan")
    assert run.exit_code == 0, run.console
    assert asked(host)[2:] == ["nodes"]


@pytest.mark.parametrize("asks", ["commits", "history"])
def test_what_cannot_be_read_is_said_not_to_be_known(
    many: Start, make: Make, host: StandInHost, asks: str
) -> None:
    made = make(0, 3)
    many()
    for repository in made:
        take_out(repository, FIRST)

    def is_about_the_second(request: Request) -> bool:
        values = request.json["variables"].values() if request.path == "/graphql" else ()
        is_asked = asked(host)[-1] == asks
        return is_asked and node_id("R", made[1].id) in values

    host.faults.add(Fault(FaultKind.ERROR_502_HTML, match=is_about_the_second, times=None))
    run = many(mode="plan")
    assert run.exit_code == 0, run.console
    assert states(run) == {"waiting": 2, "missing": 1}
    for text in (run.stdout, run.summary):
        assert named_after(NOT_KNOWN, text) == [made[1].full_name]
    [row] = [r for r in run.report["fleet"]["rows"] if r["repository"] == made[1].full_name]
    assert row["pull_request"].endswith("/pull/1")
    assert not any(files(run, made[1].full_name).values())
    assert files(run, made[0].full_name)[FIRST] == "declined in #1"
    # Writing looks for itself
    many()
    assert FIRST not in made[1].files(SCAFFOLD_BRANCH)


NOT_FOUND = {"type": "NOT_FOUND", "path": ["r0"], "message": "Could not resolve to a node"}
PROTECTED = {"type": "FORBIDDEN", "path": ["r0", "object"], "message": "Protected by SAML"}


@pytest.mark.parametrize(
    ("node", "errors"),
    [({"object": None}, []), (None, [NOT_FOUND]), ({"object": None}, [PROTECTED])],
)
def test_a_commit_that_github_does_not_show_is_said_not_to_be_known(
    many: Start, make: Make, host: StandInHost, node: object, errors: list[object]
) -> None:
    """It may not know it yet, and the repository may be gone."""
    make(0, 1)
    many()
    body = {"data": {"r0": node}, **({"errors": errors} if errors else {})}
    host.faults.add(
        Fault(FaultKind.CUSTOM, match=lambda _: asked(host)[-1] == "commits", status=200, body=body)
    )
    run = many(mode="plan")
    assert (run.exit_code, states(run)) == (0, {"missing": 1}), run.console
    assert NOT_KNOWN in run.stdout


def test_a_listing_that_is_not_proved_says_nothing(
    many: Start, make: Make, host: StandInHost
) -> None:
    """What it lacks may be there all the same; only the first reading asks again for each."""
    [repository] = make(0, 1)
    many()
    take_out(repository, FIRST)
    host.quirks.most_entries = 2
    run = many(mode="plan")
    assert (run.exit_code, states(run)) == (0, {"missing": 1}), run.console
    assert NOT_KNOWN in run.stdout


def test_a_history_longer_than_an_answer_is_said_not_to_be_known(
    many: Start, make: Make, host: StandInHost
) -> None:
    [repository] = make(0, 1)
    many()
    for number in range(110):
        repository.commit({"x.md": f"{number}".encode()}, branch=SCAFFOLD_BRANCH)
    take_out(repository, FIRST)
    run = many(mode="plan")
    assert (run.exit_code, states(run)) == (0, {"missing": 1}), run.console
    assert NOT_KNOWN in run.stdout
    many()
    assert FIRST not in repository.files(SCAFFOLD_BRANCH)


def test_too_few_points_to_read_open_pull_requests(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 30)
    many()
    assert host.graphql_rate_limit
    # Three queries, for 10, 16 and 4, read the repositories
    host.graphql_rate_limit.remaining = 3
    run = many()
    assert (run.exit_code, asked(host)[-3:]) == (2, ["nodes"] * 3), run.console
    assert "Points needed: about 1, left: 0" in run.console
