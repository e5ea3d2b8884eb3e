"""A run announces each wait, waits as long as GitHub asks, and never longer than allowed."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime

import pytest

from tests.clocks import BEGINNING
from tests.fakehub import FaultKind, Pace, RateLimit, Repository, StandInHost
from tests.harness import (
    LIST_BRANCH,
    SINGLE,
    Action,
    Run,
    inject_fault,
    is_read,
    shortened,
    writes,
)

PATHS = ("a.md", "b.md", "c.md", "d.md")
AN_HOUR = 3600


def run(action: Action, count: int = len(PATHS), **inputs: str) -> Run:
    """Run the action with a list of a few files."""
    paths = PATHS if count == len(PATHS) else [f"docs/{number}.md" for number in range(count)]
    listed = action.listing(*paths)
    return action({"language": "en", "definitions": listed, **inputs})


def finished(repository: Repository, count: int = len(PATHS)) -> None:
    """Assert that one pull request adds every file once."""
    new = [path for commit in repository.log(LIST_BRANCH)[:-1] for path in commit.paths]
    assert (len(new), len(set(new))) == (count, count)
    assert repository.files(LIST_BRANCH) == repository.files() | dict.fromkeys(new, b"\n")
    assert [(p.head, p.state) for p in repository.pull_requests] == [(LIST_BRANCH, "open")]


def announced(ended: Run) -> list[tuple[int, str]]:
    """Return the length and the reason of every wait that a run has announced."""
    found = (re.fullmatch(r"Waiting (\d+) s: (.+)\.", line) for line in ended.lines)
    return [(int(match[1]), match[2]) for match in found if match]


def moment(text: str) -> float:
    """Return the time at which the run says that one can try again, in seconds since the epoch."""
    plain = html.unescape(text)
    found = re.search(r"Run this again after `?(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC", plain)
    assert found, text
    return datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()


# --- Each wait ----------------------------------------------------------------------------------

PRIMARY = "the rate limit of the token is used up"
SECONDARY = "GitHub's secondary rate limit"
KINDS = {
    "GET git/ref/heads/main": (FaultKind.PRIMARY_403, PRIMARY),
    "GET contents/b.md": (FaultKind.HTML_200, "the answer is not one of GitHub's API (HTTP 200)"),
    "POST git/refs": (FaultKind.RESET, "the connection to 127.0.0.1"),
    "PUT contents/a.md": (FaultKind.SECONDARY_403_RETRY_AFTER, SECONDARY),
    "PUT contents/b.md": (FaultKind.CONFLICT_409, "another write to the branch came first"),
    "PUT contents/c.md": (FaultKind.SECONDARY_429_RETRY_AFTER, SECONDARY),
    "PUT contents/d.md": (FaultKind.ERROR_503, "GitHub answered with a server error (HTTP 503)"),
    "POST pulls": (FaultKind.PRIMARY_429, PRIMARY),
}


def test_every_wait_is_announced_with_its_reason_and_its_length(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    faults = [inject_fault(host, call, kind) for call, (kind, _) in KINDS.items()]
    ended = run(action).or_fail()
    finished(repository)
    waits = announced(ended)
    assert len(waits) == len(faults)
    for each, (seconds, reason), (_, expected) in zip(faults, waits, KINDS.values(), strict=True):
        assert reason.startswith(expected)
        [number] = each.hits
        refused = host.requests[number - 1]
        again = next(r for r in host.requests[number:] if shortened(r) == shortened(refused))
        assert refused.ended
        assert seconds - 1 < again.started - refused.ended


# --- No longer than allowed ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "created"),
    [
        ("GET /rate_limit", FaultKind.SECONDARY_403_RETRY_AFTER, 0),
        ("PUT contents/c.md", FaultKind.PRIMARY_429, 2),
        ("POST pulls", FaultKind.SECONDARY_429_RETRY_AFTER, 4),
    ],
)
def test_a_limit_that_lasts_ends_the_run_with_the_time_to_come_back(
    action: Action,
    host: StandInHost,
    repository: Repository,
    call: str,
    kind: FaultKind,
    created: int,
) -> None:
    inject_fault(host, call, kind, retry_after=AN_HOUR, reset_in=AN_HOUR, times=None)
    ended = run(action, max_wait_minutes="1")
    assert action.clock.now == BEGINNING
    assert ended.exit_code == 1
    assert announced(ended) == []
    for output in (ended.stderr, ended.summary):
        assert BEGINNING + AN_HOUR <= moment(output) < BEGINNING + AN_HOUR + 60
    assert ended.outputs["created"] == str(created)
    assert (f"| Created | {created} |" in ended.summary) == (call != "GET /rate_limit")
    assert repository.pull_requests == []
    if created:
        assert ended.outputs["branch"] == LIST_BRANCH
        assert LIST_BRANCH in ended.summary
        assert len(repository.log(LIST_BRANCH)) == 1 + created
    if call == "POST pulls":
        link = f"{repository.html_url}/compare/main...{LIST_BRANCH}?quick_pull=1"
        assert link in ended.stderr
        assert link in html.unescape(ended.summary)
        assert "written so far.<br>The files are on the branch " in ended.summary

    host.faults.clear()
    again = run(action).or_fail()
    assert again.outputs["created"] == str(len(PATHS) - created)
    finished(repository)


def test_nothing_is_waited_for_when_no_waiting_is_allowed(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    inject_fault(host, "PUT contents/c.md", FaultKind.ERROR_500)
    ended = run(action, max_wait_minutes="0")
    assert (ended.exit_code, announced(ended)) == (1, [])
    said = "max_wait_minutes is 0, so the run does not wait. Run this again after 20"
    assert said in ended.stderr


# --- Rate limits --------------------------------------------------------------------------------

NEEDED_TO_READ = 2 + len(PATHS)
ABOUT_BRANCH = 2
NEEDED_TO_WRITE = 1 + len(PATHS) + 1


@pytest.mark.parametrize(
    ("remaining", "text", "requests"),
    [
        (NEEDED_TO_READ - 1, f"Requests needed: {NEEDED_TO_READ}, left: 5", 1),
        (NEEDED_TO_READ + 2, f"Requests needed: {NEEDED_TO_WRITE}, left: 0", 9),
        (NEEDED_TO_READ + NEEDED_TO_WRITE - 1, f"Requests needed: {NEEDED_TO_WRITE}, left: 3", 9),
    ],
    ids=["reads", "writes", "one short"],
)
def test_a_rate_limit_that_does_not_suffice(
    action: Action, repository: Repository, remaining: int, text: str, requests: int
) -> None:
    host = action.host
    host.rate_limit = RateLimit(remaining=remaining)
    ended = run(action)
    assert ended.exit_code == 2
    assert text in ended.stderr
    for output in (ended.stderr, ended.summary):
        assert moment(output) == host.rate_limit.reset
    assert (writes(host), repository.branches) == ([], ["main"])
    assert len(host.requests) == requests

    # The remaining requests are exactly enough
    host.rate_limit = RateLimit(remaining=NEEDED_TO_READ + ABOUT_BRANCH + NEEDED_TO_WRITE)
    ended = run(action).or_fail()
    assert announced(ended) == []
    finished(repository)
    assert host.rate_limit.remaining == 0


def test_a_graphql_rate_limit_that_does_not_suffice(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    host.graphql_rate_limit = RateLimit(remaining=1)
    ended = run(action, commit_strategy=SINGLE)
    assert ended.exit_code == 2
    assert "The token has too few GraphQL points left. Points needed: 1, left: 0." in ended.stderr
    assert len(host.requests) == 1
    assert repository.branches == ["main"]

    host.graphql_rate_limit = RateLimit(remaining=2)
    assert run(action, commit_strategy=SINGLE).exit_code == 0
    finished(repository)


def test_a_rate_limit_that_is_not_needed_may_be_used_up(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    """REST and GraphQL have separate rate limits, and a run needs only the one of its strategy."""
    spent = "rate_limit" if strategy == SINGLE else "graphql_rate_limit"
    setattr(host, spent, RateLimit(remaining=0))
    ended = run(action, commit_strategy=strategy).or_fail()
    assert announced(ended) == []
    finished(repository)


# --- Limits in other words ----------------------------------------------------------------------

OTHER_WORDS = [
    ("per-file", "POST git/refs", FaultKind.TOO_QUICKLY_403),
    ("per-file", "PUT contents/b.md", FaultKind.TOO_QUICKLY_422),
    ("per-file", "POST pulls", FaultKind.TOO_QUICKLY_403),
    *(
        (SINGLE, "POST /graphql", kind)
        for kind in (
            FaultKind.GRAPHQL_TOO_QUICKLY,
            FaultKind.GRAPHQL_SECONDARY,
            FaultKind.GRAPHQL_SECONDARY_MESSAGE,
            FaultKind.GRAPHQL_RATE_LIMITED,
        )
    ),
]


@pytest.mark.parametrize(("strategy", "call", "kind"), OTHER_WORDS)
def test_a_limit_in_other_words_is_waited_for_and_nothing_else_is_written(
    action: Action, repository: Repository, strategy: str, call: str, kind: FaultKind
) -> None:
    host, number = action.host, 2 if strategy == SINGLE else None
    limited = inject_fault(host, call, kind, at=number, times=1)
    ended = run(action, commit_strategy=strategy).or_fail()
    [(seconds, reason)] = announced(ended)
    assert seconds >= 60
    assert "rate limit" in reason or "no new content for now" in reason
    [hit] = limited.hits
    refused = host.requests[hit - 1]
    # After a pause, a writing looks whether somebody has closed its pull request
    again = next(each for each in host.requests[hit:] if not is_read(each))
    assert (refused.path, refused.json) == (again.path, again.json)
    finished(repository)


# --- Pace ---------------------------------------------------------------------------------------


def test_our_own_pace_comes_before_the_limit(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    host.pace = Pace()
    ended = run(action, count=85, max_wait_minutes="0.1")
    assert ended.exit_code == 1
    assert "Stopped: GitHub takes 80 writes a minute" in ended.stderr
    assert moment(ended.stderr) <= BEGINNING + 62
    assert len(writes(host)) == 80
    assert all(request.status in {200, 201, 404} for request in host.requests)
    assert ended.outputs["created"] == "79"

    host.pace = None
    assert run(action, count=85).exit_code == 0
    finished(repository, count=85)


def test_the_time_of_requests_that_fail_is_a_part_of_the_waiting(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    began = action.clock.now
    host.on_request = lambda _: action.clock.sleep(18)
    fault = inject_fault(host, "GET", FaultKind.ERROR_502_HTML, times=None)
    ended = run(action, max_wait_minutes="1")
    assert ended.exit_code == 1, ended.text
    assert "max_wait_minutes" in ended.stderr
    assert len(fault.hits) == 4
    assert action.clock.now - began < 60 + 2 * 18
