"""One run: the state of each file, the order of requests, connections, what is printed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from functools import partial

import pytest

from registrar.github.limits import CONNECTIONS
from tests.clocks import BEGINNING
from tests.contract.test_users_words import HEALTH, SCAFFOLD
from tests.fakehub import Fault, FaultKind, Repository, Request, StandInHost, raw
from tests.harness import (
    HEALTH_BRANCH,
    SCAFFOLD_BRANCH,
    SINGLE,
    Action,
    shortened,
    writes,
)
from tests.steps import steps

PROFILES: dict[str, tuple[str, Mapping[str, str], str]] = {
    "scaffold": (SCAFFOLD_BRANCH, SCAFFOLD, "chore: add scaffold files"),
    "health": (HEALTH_BRANCH, HEALTH, "docs: add community health files"),
}


# --- Calls and their order ----------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
def test_the_requests_are_pinned_to_a_commit_and_each_commit_names_its_path(
    action: Action, host: StandInHost, repository: Repository, profile: str
) -> None:
    """Their order, and the files that are there afterwards: `test_users_words`."""
    branch, listed, title = PROFILES[profile]
    action(profile=profile, language="en").or_fail()
    assert action.clock.now == BEGINNING, "no pause while the pace is far"
    assert len(host.requests) == {"scaffold": 63, "health": 21}[profile]
    checks = [r.query for r in host.requests if shortened(r).startswith("GET contents/")]
    assert checks == [{"ref": repository.head()}] * len(listed)
    added = [path for path in listed if path not in repository.files()]
    created = [r for r in host.requests if r.method == "PUT"]
    assert {*map(frozenset, (r.json for r in created))} == {
        frozenset({"message", "content", "branch"})
    }
    verb = title.partition(":")[0]
    assert [(shortened(r), r.json["message"]) for r in created] == [
        (f"PUT contents/{path}", f"{verb}: add {path}") for path in added
    ]
    assert {repository.modes(branch)[path] for path in added} == {0o100644}
    # By whom the token belongs to
    commits = repository.log(branch)[: len(added)]
    assert {commit.author for commit in commits} == {"octocat"}
    [pull] = repository.pull_requests
    assert (pull.title, pull.head, pull.base, pull.draft) == (title, branch, "main", False)
    # The created paths are before the skipped ones
    body = pull.body or ""
    skipped = ["exists on" in line for line in body.splitlines() if line.startswith("| `")]
    assert skipped == [False] * len(added) + [True] * (len(listed) - len(added))


# --- Connections: several read, one writes --------------------------------------------------------


def test_checks_share_few_connections_and_writes_share_one(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    threads: dict[int, list[Request]] = {}
    checks: list[Request] = []
    overlapping: list[Request] = []
    first_checks = threading.Barrier(CONNECTIONS)

    def note(request: Request) -> None:
        # The host serves each connection with a thread of its own
        threads.setdefault(threading.get_ident(), []).append(request)
        if request.method != "GET":
            earlier = host.requests[: request.number - 1]
            overlapping.extend(each for each in earlier if each.ended is None)
        elif "/contents/" in request.path:
            checks.append(request)
            if len(checks) <= CONNECTIONS:
                first_checks.wait(timeout=60)

    host.on_request = note
    assert action().exit_code == 0
    # Beside the checks, two reads about the branch
    assert len(threads) <= CONNECTIONS + 1 + 2
    assert overlapping == []
    writes = {r.number for r in host.requests if r.method != "GET"}
    # Kept alive: what is sent one by one takes one connection
    served_by = [{r.number for r in served} for served in threads.values()]
    assert any(writes <= numbers for numbers in served_by)
    assert any({1, 2, 3} <= numbers for numbers in served_by)
    for served in threads.values():
        assert all("close" not in r.headers.get("connection", "") for r in served)


def test_a_list_of_one_takes_one_connection_more(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    threads = set[int]()
    host.on_request = lambda _: threads.add(threading.get_ident())
    assert action(definitions=action.listing_of({"a.txt": None})).exit_code == 0
    assert len(threads) <= 2


def test_answers_that_are_too_large_together_are_asked_for_again(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    """None of them alone is larger than an answer may be."""
    given_up = threading.Event()

    def script() -> Iterator[bytes | float]:
        """A large answer that does not end before the client has given up one of its kind."""
        size, left = 24_000_000, 1_000_000
        try:
            yield raw.head(f"Content-Length: {size + left}")
            yield b" " * size
            while not given_up.is_set():
                yield 0.01
                yield b" "
                left -= 1
            yield b" " * left
        finally:
            given_up.set()

    host.faults.add(
        Fault(FaultKind.RAW, match=lambda r: "/contents/" in r.path, times=5, script=script)
    )
    run = action(definitions=action.listing(*"abcde"), language="en").or_fail()
    assert "being read at the same time are too large together" in run.console
    assert "larger than any that GitHub sends" not in run.console


def test_what_a_run_costs_grows_with_its_paths_and_not_with_their_square(
    action: Action, host: StandInHost, strategy: str
) -> None:
    """An open pull request holds all of them."""

    def taken(count: int) -> int:
        host.create_repository(target := f"octo/r{count}", {"x": b""})
        listed = {"definitions": action.listing(*(f"p{n}" for n in range(count)))}
        run = partial(action, listed, target_repo=target)
        run(commit_strategy=SINGLE).or_fail()
        return steps(partial(run, commit_strategy=strategy))

    assert taken(160) < 2.3 * taken(80)


# --- Failures -----------------------------------------------------------------------------


def test_nothing_more_is_written_when_the_branch_is_refused(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    repository.person.protect("chore/*", "ruleset")
    run = action(language="en")
    assert run.exit_code == 2
    # Now and then the same answer passes: it is asked twice more
    assert writes(host) == ["POST git/refs"] * 3
    waits = [line for line in run.lines if line.startswith("Waiting")]
    assert [line.partition(": ")[2] for line in waits] == [
        "GitHub refuses the branch (Reference update failed)."
    ] * 2
    assert "GitHub refuses the branch (Reference update failed). Either" in run.stderr
    assert "#the-branch-is-refused" in run.stderr
    assert "a ruleset forbids its name" in run.stderr
    assert "which needs the scope `workflow`" in run.stderr
    assert repository.branches == ["main"]


def test_a_pull_request_that_is_refused_without_any_reason_is_asked_for_once_more(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    host.quirks.vague_pulls = 1
    run = action(definitions=action.listing("a")).or_fail()
    assert len(repository.pull_requests) == 1
    host.quirks.vague_pulls = 5
    other = host.create_repository("octo/other")
    run = action(definitions=action.listing("a"), target_repo="octo/other", language="en")
    assert run.exit_code == 1
    assert "Validation Failed (HTTP 422)" in run.stderr
    assert (host.quirks.vague_pulls, other.pull_requests) == (3, [])
