"""Many repositories: a run reads them in batches that are as large as GitHub allows."""

from __future__ import annotations

import itertools
import re
import threading
from collections import Counter
from dataclasses import replace

import pytest

from tests.example import MISSING
from tests.fakehub import Fault, FaultKind, Request, StandInHost
from tests.fakehub.limits import RateLimit
from tests.fakehub.representations import node_id
from tests.harness import LIST_BRANCH, Action, Start, only_reads, refuse
from tests.organisation import Make, asked, rows, states


def test_too_few_points_for_the_reading(many: Start, make: Make, host: StandInHost) -> None:
    make(30, 0)
    assert host.graphql_rate_limit
    # Three queries, for 10, 16 and 4, read the repositories
    host.graphql_rate_limit.remaining = 3
    assert states(many().or_fail()) == {"complete": 30}
    host.graphql_rate_limit.remaining = 2
    run = many()
    assert (run.exit_code, asked(host)[-1]) == (2, "GET /orgs/octo-org/repos")
    assert "Points needed: about 3, left: 2" in run.console
    assert re.search(r"Run this again after \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", run.console)


def test_a_later_name_that_cannot_be_read_fails_and_what_is_missing_is_known(
    many: Start, make: Make, host: StandInHost
) -> None:
    [repository] = make(0, 1)
    for number, name in enumerate(["", "-2", "-3"], start=1):
        repository.person.create_branch(f"{LIST_BRANCH}{name}")
        repository.person.commit({f"x{number}": b""}, branch=f"{LIST_BRANCH}{name}")
        repository.person.open_pull_request(head=f"{LIST_BRANCH}{name}")
        repository.person.merge(number)
    refuse(host, lambda request: request.query.get("head", "").endswith("-4"), 502)
    run = many(mode="plan")
    assert (run.exit_code, states(run)) == (1, {"failed": 1}), run.console
    assert run.outputs["missing"] == str(len(MISSING))


@pytest.mark.parametrize(
    ("status", "words", "state", "exit_code"),
    [
        (401, "Bad credentials", "not read", 2),
        (410, "No such version", "not read", 1),
        (403, "No", "failed", 1),
    ],
)
def test_what_every_other_request_would_meet_ends_the_reading_of_all(
    many: Start,
    make: Make,
    host: StandInHost,
    status: int,
    words: str,
    state: str,
    exit_code: int,
) -> None:
    make(0, 2)
    # Each listing has to be read again, with a request of its own
    host.quirks.most_entries = 0
    refuse(host, lambda request: "/git/trees/" in request.path, status, message=words)
    run = many(mode="plan")
    assert (states(run), run.exit_code) == ({state: 2}, exit_code)


@pytest.mark.parametrize(("directories", "times"), [(49, 2), (50, 1)])
def test_a_plan_looks_into_the_branches_if_the_query_has_room_for_all_directories_twice(
    many: Start, make: Make, host: StandInHost, action: Action, directories: int, times: int
) -> None:
    make(0, 1)
    listed = action.listing(*(f"d{number}/x" for number in range(directories)))
    many(mode="plan", definitions=listed).or_fail()
    [query] = [each.json["query"] for each in host.requests if each.path == "/graphql"]
    assert query.count("p1: file(") == times


@pytest.mark.parametrize("mode", ["register", "plan"])
@pytest.mark.parametrize("comes", [True, pytest.param(False, marks=pytest.mark.large)])
def test_reading_ends_with_the_run(
    many: Start, make: Make, host: StandInHost, action: Action, mode: str, comes: bool
) -> None:
    """The end comes, or ten queries, for ten repositories each, tell that it is going to."""
    repositories, seconds, queries, minutes = (40, 19, 4, 3) if comes else (300, 2.5, 10, 2)
    make(0, repositories)

    def slow(request: Request) -> None:
        if request.path == "/graphql":
            action.clock.sleep(seconds)

    host.on_request = slow
    run = many(mode=mode, max_minutes="1")
    assert (run.exit_code, only_reads(host)) == (2, True), run.console
    assert Counter(asked(host))["nodes"] == queries
    assert run.outputs["repositories"] == str(repositories)
    assert f"Reading the repositories alone takes about {minutes} min" in run.stderr


def test_fast_reading_is_not_taken_for_slow(many: Start, make: Make) -> None:
    make(70, 0)
    run = many(mode="plan", max_minutes="0.1")
    assert (run.exit_code, states(run)) == (0, {"complete": 70})


@pytest.mark.parametrize("kind", ["FORBIDDEN", "INSUFFICIENT_SCOPES"])
def test_a_repository_that_the_token_may_not_read_fails_with_githubs_words(
    many: Start, make: Make, host: StandInHost, kind: str
) -> None:
    make(0, 1)
    errors = [
        {"type": kind, "path": [field, 0], "message": "Not for you"} for field in ("nodes", "pulls")
    ]
    body = {"data": {"nodes": [None], "pulls": [None]}, "errors": errors}
    refuse(host, "POST /graphql", 200, body=body)
    run = many(mode="plan")
    assert rows(run) == {"octo-org/r0": "failed"}
    assert "GitHub does not let the token read it: Not for you" in run.console


@pytest.mark.parametrize("limit", ["partial_above", "timeout_above", "bad_gateway_above"])
def test_batches_that_are_too_large_are_halved(
    many: Start, make: Make, host: StandInHost, limit: str
) -> None:
    make(20, 5)
    setattr(host.quirks, limit, 150)
    run = many(mode="plan")
    assert states(run) == {"to open": 5, "complete": 20}


@pytest.mark.parametrize(
    "kind", [FaultKind.ERROR_502_HTML, FaultKind.ERROR_500, FaultKind.HTML_200]
)
def test_a_batch_that_fails_is_sent_once_more_and_then_halved(
    many: Start, make: Make, host: StandInHost, kind: FaultKind
) -> None:
    make(100, 0)
    sizes = list[int]()

    def is_the_rest(request: Request) -> bool:
        if request.path != "/graphql":
            return False
        sizes.append(len(request.json["variables"]["ids"]))
        return sizes[-1] == 11

    host.faults.add(Fault(kind, match=is_the_rest, times=None))
    assert states(many(mode="plan")) == {"complete": 100}
    assert sizes == [10, 16, 25, 38, 11, 11, 5, 6]


def test_a_query_that_runs_out_of_time_once_is_asked_again_as_it_was(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(60, 0)
    body = {"errors": [{"message": "Timeout on validation of query"}]}
    host.faults.add(Fault(FaultKind.CUSTOM, at=3, status=200, body=body))
    run = many(mode="plan")
    assert states(run) == {"complete": 60}
    assert "GitHub ran out of time" in run.stdout
    sizes = [len(r.json["variables"]["ids"]) for r in host.requests if r.path == "/graphql"]
    assert sizes == [10, 10, 16, 25, 9]


def test_points_that_time_outs_cost_are_counted(many: Start, make: Make, host: StandInHost) -> None:
    """A run that could not end says so, before it has used up what others need."""
    make(40, 0)
    host.graphql_rate_limit = RateLimit(remaining=100)
    host.quirks.timeout_above = 20
    host.quirks.points_of_timeout = 30
    run = many(mode="plan")
    assert run.exit_code == 2, run.console
    assert "points" in run.stderr
    assert len(host.requests) < 10


SHORT = {"data": {"nodes": [None], "pulls": [None]}}


@pytest.mark.parametrize(
    "fault",
    [
        *map(Fault, (FaultKind.ERROR_502_HTML, FaultKind.CUT_JSON, FaultKind.WRONG_OBJECT)),
        Fault(FaultKind.RESET),
        # About fewer repositories than asked for
        Fault(FaultKind.CUSTOM, status=200, body=SHORT),
    ],
)
def test_one_failed_batch_costs_no_repository(
    many: Start, make: Make, host: StandInHost, fault: Fault
) -> None:
    make(10, 5)
    host.faults.add(replace(fault, at=3))
    assert states(many(mode="plan")) == {"to open": 5, "complete": 10}


def test_the_queries_that_are_told_are_those_that_were_sent(
    many: Start, make: Make, host: StandInHost
) -> None:
    """Those that are sent again, in parts, or to the owner's repository included."""
    make(4, 1)
    host.create_repository("octo-org/.github", {"SECURITY.md": b""})
    host.quirks.partial_above = 20
    host.faults.add(Fault(FaultKind.ERROR_502_HTML, at=12))
    run = many(mode="plan", profile="health", respect_alternatives="true")
    sent = [each for each in asked(host) if each in {"nodes", "query"}]
    assert {"nodes", "query"} == set(sent)
    assert run.report["many"]["budget"]["queries"] == len(sent)


def test_who_may_write_is_asked_once_for_each_repository_and_told(
    many: Start, make: Make, host: StandInHost
) -> None:
    """A colleague's pull request takes one request more."""
    made = make(0, 4)
    many()
    for repository in made[1:]:
        repository.person.edit(1, author="somebody")
        repository.person.close(1)
    host.requests.clear()
    run = many(mode="plan")
    assert states(run) == {"waiting": 1, "declined": 3}
    roles = [each for each in asked(host) if each.endswith("/permission")]
    assert len(roles) == len(set(roles)) == 3
    # All but the two that find the repositories
    assert run.report["many"]["budget"]["queries"] == len(asked(host)) - 2


def test_a_question_about_an_author_that_fails_is_no_guess(
    many: Start, make: Make, host: StandInHost
) -> None:
    [repository] = make(0, 1)
    many()
    repository.person.edit(1, author="somebody")
    repository.person.close(1)
    refuse(host, lambda request: request.path.endswith("/permission"), 502)
    assert states(many(mode="plan")) == {"failed": 1}


@pytest.mark.parametrize("is_limited", [False, True])
def test_the_next_query_is_under_way_while_answers_are_worked_on(
    many: Start, make: Make, host: StandInHost, *, is_limited: bool
) -> None:
    """A limit that stops it is one pause, which is told after the last line about the others.

    Each of the two waits for the other; only a defect lets a minute pass.
    """
    made = make(0, 14)
    many()
    made[9].person.edit(1, author="somebody")
    made[9].person.close(1)
    host.requests.clear()
    queries, is_looked_at, is_asked = itertools.count(1), threading.Event(), threading.Event()
    in_time = list[bool]()

    def meet(request: Request) -> None:
        if request.path == "/graphql":
            number = next(queries)
            if number == 2 + is_limited:
                is_asked.set()
            if number == 2:
                in_time.append(is_looked_at.wait(60))
        elif request.path.endswith("/permission"):
            is_looked_at.set()
            in_time.append(is_asked.wait(60))

    host.on_request = meet
    if is_limited:
        # The second query: two requests find the repositories
        second = FaultKind.SECONDARY_403_RETRY_AFTER
        host.faults.add(Fault(second, at=4, match=lambda r: r.path == "/graphql", retry_after=90))
    run = many(mode="plan")
    assert (run.exit_code, states(run)) == (0, {"waiting": 13, "declined": 1}), run.console
    assert in_time == [True, True]
    assert Counter(asked(host))["nodes"] == 2 + is_limited
    of_each = [
        next(number for number, line in enumerate(run.lines) if f"{each.full_name}:" in line)
        for each in made
    ]
    assert of_each == sorted(of_each)
    pauses = [number for number, line in enumerate(run.lines) if "Waiting 90 s" in line]
    assert [of_each[9] < number < of_each[10] for number in pauses] == [True] * is_limited


def test_one_large_repository_says_nothing_about_the_time_of_the_others(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    """Every query that it is in runs out of time, but those for it alone, in parts."""
    [large] = make(0, 1)
    make(150, 0)
    large_ids = 0

    def is_too_much(request: Request) -> bool:
        ids = (request.fields.get("variables") or {}).get("ids", [])
        return node_id("R", large.id) in ids

    def slow(request: Request) -> None:
        nonlocal large_ids
        if is_too_much(request):
            large_ids += 1
            action.clock.sleep(10)

    host.faults.add(Fault(FaultKind.TIMEOUT_200, match=is_too_much, times=None))
    host.on_request = slow
    run = many(mode="plan")
    assert states(run) == {"to open": 1, "complete": 150}, run.console
    # Ten, five, two and one at once, each once more
    assert large_ids == 8


def test_an_owners_files_that_cannot_be_read_are_asked_for_once(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 5)
    host.create_repository("octo-org/.github", {"SECURITY.md": b""}, private=True)

    def is_owners(request: Request) -> bool:
        return (request.fields.get("variables") or {}).get("owner") == "octo-org"

    host.faults.add(Fault(FaultKind.ERROR_502_HTML, match=is_owners, times=None))
    run = many(mode="plan", profile="health", respect_alternatives="true")
    assert states(run)["failed"] == 5
    # With all directories twice, and with none six times
    assert sum(map(is_owners, host.requests)) == 8


def test_reading_that_always_fails_writes_nothing(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(5, 5)
    refuse(host, "POST /graphql", 502)
    run = many()
    assert run.exit_code == 1
    assert "opened" not in states(run)


def test_old_node_ids_are_taken(many: Start, make: Make, host: StandInHost) -> None:
    host.quirks.old_ids = True
    make(3, 2)
    assert states(many(mode="plan")) == {"to open": 2, "complete": 3}
