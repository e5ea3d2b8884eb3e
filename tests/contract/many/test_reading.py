"""Many repositories: a run reads them in batches that are as large as GitHub allows."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.example import MISSING
from tests.fakehub import Fault, FaultKind, Request
from tests.fakehub.limits import RateLimit
from tests.fakehub.representations import node_id
from tests.harness import LIST_BRANCH
from tests.organisation import Org, is_graphql


def sizes(org: Org) -> list[int]:
    """How many repositories each query has asked for."""
    return [len(each.json["variables"]["ids"]) for each in org.sent if is_graphql(each)]


def test_too_few_points_for_the_reading(org: Org) -> None:
    org.make(30, 0)
    # Three queries, for 10, 16 and 4, read the repositories
    org.set_points(3)
    org.expect("30 complete")
    org.set_points(2)
    run = org.expect("exit 2")
    assert org.asked[-1] == "GET /orgs/octo-org/repos"
    assert "Points needed: about 3, left: 2" in run.console
    assert re.search(r"Run this again after \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", run.console)


def test_a_later_name_that_cannot_be_read_fails_and_what_is_missing_is_known(org: Org) -> None:
    [repository] = org.make(0, 1)
    for number, name in enumerate(["", "-2", "-3"], start=1):
        repository.person.create_branch(f"{LIST_BRANCH}{name}")
        repository.person.commit({f"x{number}": b""}, branch=f"{LIST_BRANCH}{name}")
        repository.person.open_pull_request(head=f"{LIST_BRANCH}{name}")
        repository.person.merge(number)
    org.refuse(lambda request: request.query.get("head", "").endswith("-4"), 502)
    run = org.expect("1 failed; exit 1", mode="plan")
    assert run.outputs["missing"] == str(len(MISSING))


@pytest.mark.parametrize(
    ("status", "words", "state"),
    [
        (401, "Bad credentials", "2 not read; exit 2"),
        (410, "No such version", "2 not read; exit 1"),
        (403, "No", "2 failed; exit 1"),
    ],
)
def test_what_all_would_meet_ends_the_reading(
    org: Org, status: int, words: str, state: str
) -> None:
    org.make(0, 2)
    # Each listing has to be read again, with a request of its own
    org.host.quirks.most_entries = 0
    org.refuse(lambda request: "/git/trees/" in request.path, status, message=words)
    org.expect(state, mode="plan")


@pytest.mark.parametrize(("directories", "times"), [(49, 2), (50, 1)])
def test_a_plan_looks_into_the_branches_if_the_query_has_room_for_all_directories_twice(
    org: Org, directories: int, times: int
) -> None:
    org.make(0, 1)
    org({"mode": "plan"}, *(f"d{number}/x" for number in range(directories))).or_fail()
    [query] = [each.json["query"] for each in org.sent if is_graphql(each)]
    assert query.count("p1: file(") == times


@pytest.mark.parametrize(
    ("mode", "comes", "missing", "deferred"),
    [
        ("register", True, "72", "18"),
        ("plan", False, "400", "0"),
        ("check", False, "400", "0"),
        ("withdraw", True, "72", "0"),
    ],
)
def test_reading_ends_with_the_run(
    org: Org, mode: str, comes: bool, missing: str, deferred: str
) -> None:
    """The end comes, or ten queries, for ten repositories each, tell that it is going to."""
    repositories, seconds, queries, minutes = (40, 19, 4, 3) if comes else (140, 4.5, 10, 2)
    org.make(0, repositories)
    org.slow_down(is_graphql, seconds)
    run = org(mode=mode, max_minutes="1")
    assert (run.exit_code, org.only_reads) == (2, True), run.console
    assert org.asked.count("nodes") == queries
    names = ("repositories", "incomplete", "missing", "deferred", "failed_repositories")
    expected = [str(repositories), str(repositories), missing, deferred, "0"]
    assert [run.outputs[name] for name in names] == expected
    assert f"Reading the repositories alone takes about {minutes} min" in run.stderr


def test_fast_reading_is_not_taken_for_slow(org: Org) -> None:
    org.make(70, 0)
    org.expect("70 complete", mode="plan", max_minutes="0.1")


@pytest.mark.parametrize("kind", ["FORBIDDEN", "INSUFFICIENT_SCOPES"])
def test_one_that_the_token_may_not_read_fails_with_githubs_words(org: Org, kind: str) -> None:
    org.make(0, 1)
    errors = [
        {"type": kind, "path": [field, 0], "message": "Not for you"} for field in ("nodes", "pulls")
    ]
    body = {"data": {"nodes": [None], "pulls": [None]}, "errors": errors}
    org.refuse("POST /graphql", 200, body=body)
    run = org.expect("1 failed; exit 1", mode="plan")
    assert "GitHub does not let the token read it: Not for you" in run.console


@pytest.mark.parametrize(
    ("quirk", "value"),
    [("partial_above", 150), ("timeout_above", 150), ("bad_gateway_above", 150), ("old_ids", True)],
)
def test_large_batches_are_halved_and_old_ids_are_taken(org: Org, quirk: str, value: int) -> None:
    org.make(20, 5)
    setattr(org.host.quirks, quirk, value)
    org.expect("5 to open, 20 complete", mode="plan")


@pytest.mark.parametrize(
    "kind", [FaultKind.ERROR_502_HTML, FaultKind.ERROR_500, FaultKind.HTML_200]
)
def test_a_batch_that_fails_is_sent_once_more_and_then_halved(org: Org, kind: FaultKind) -> None:
    org.make(37, 0)
    org.fault(kind, lambda r: is_graphql(r) and len(r.json["variables"]["ids"]) == 11)
    org.expect("37 complete", mode="plan")
    assert sizes(org) == [10, 16, 11, 11, 5, 6]


def test_a_query_that_runs_out_of_time_once_is_asked_again_as_it_was(org: Org) -> None:
    org.make(30, 0)
    body = {"errors": [{"message": "Timeout on validation of query"}]}
    org.host.faults.add(Fault(FaultKind.CUSTOM, at=3, status=200, body=body))
    run = org.expect("30 complete", mode="plan")
    assert "GitHub ran out of time" in run.stdout
    assert sizes(org) == [10, 10, 16, 4]


def test_points_that_time_outs_cost_are_counted(org: Org) -> None:
    """A run that could not end says so, before it has used up what others need."""
    org.make(40, 0)
    org.host.graphql_rate_limit = RateLimit(remaining=100)
    org.host.quirks.timeout_above = 20
    org.host.quirks.points_of_timeout = 30
    run = org(mode="plan")
    assert (run.exit_code, "points" in run.stderr) == (2, True), run.console
    assert len(org.sent) < 10


SHORT = {"data": {"nodes": [None], "pulls": [None]}}


@pytest.mark.parametrize(
    "fault",
    [
        *map(Fault, (FaultKind.CUT_JSON, FaultKind.WRONG_OBJECT, FaultKind.RESET)),
        # About fewer repositories than asked for
        Fault(FaultKind.CUSTOM, status=200, body=SHORT),
    ],
)
def test_one_failed_batch_costs_no_repository(org: Org, fault: Fault) -> None:
    org.make(10, 5)
    org.host.faults.add(replace(fault, at=3))
    org.expect("5 to open, 10 complete", mode="plan")


def test_the_queries_that_are_told_are_those_that_were_sent(org: Org) -> None:
    """Those that are sent again, in parts, or to the owner's repository included."""
    org.make(4, 1)
    org.host.create_repository("octo-org/.github", {"SECURITY.md": b""})
    org.host.quirks.partial_above = 20
    org.host.faults.add(Fault(FaultKind.ERROR_502_HTML, at=12))
    run = org(mode="plan", profile="health", respect_alternatives="true")
    sent = [each for each in org.asked if each in {"nodes", "query"}]
    assert {"nodes", "query"} == set(sent)
    assert run.report["many"]["budget"]["queries"] == len(sent)


def test_who_may_write_is_asked_once_for_each_repository_and_told(org: Org) -> None:
    """A colleague's pull request takes one request more. Without an answer the reading fails."""
    made = org.make(0, 4)
    org()
    for repository in made[1:]:
        repository.person.edit(1, author="somebody")
        repository.person.close(1)
    run = org.expect("1 waiting, 3 declined", mode="plan")
    roles = [each for each in org.asked if each.endswith("/permission")]
    assert len(roles) == len(set(roles)) == 3
    # All but the two that find the repositories
    assert run.report["many"]["budget"]["queries"] == len(org.asked) - 2
    org.refuse(lambda request: request.path.endswith("/permission"), 502)
    org.expect("3 failed, 1 waiting; exit 1", mode="plan")


@pytest.mark.parametrize("is_limited", [False, True])
def test_the_next_query_is_sent_while_answers_are_worked_on(org: Org, is_limited: bool) -> None:
    """A limit that stops it is one pause, which is told after the last line about the others.

    Each of the two waits for the other; only a defect lets a minute pass.
    """
    made = org.make(0, 14)
    org()
    made[9].person.edit(1, author="somebody")
    made[9].person.close(1)
    queries, is_looked_at, is_asked = itertools.count(1), threading.Event(), threading.Event()
    in_time = list[bool]()

    def meet(request: Request) -> None:
        if is_graphql(request):
            number = next(queries)
            if number == 2 + is_limited:
                is_asked.set()
            if number == 2:
                in_time.append(is_looked_at.wait(60))
        elif request.path.endswith("/permission"):
            is_looked_at.set()
            in_time.append(is_asked.wait(60))

    org.host.on_request = meet
    if is_limited:
        # The second query: two requests find the repositories
        kind, number = FaultKind.SECONDARY_403_RETRY_AFTER, itertools.count(1)
        org.fault(kind, lambda r: is_graphql(r) and next(number) == 2, times=1, retry_after=90)
    run = org.expect("13 waiting, 1 declined", mode="plan")
    assert in_time == [True, True]
    assert org.asked.count("nodes") == 2 + is_limited
    of_each = [
        next(number for number, line in enumerate(run.lines) if f"{each.full_name}:" in line)
        for each in made
    ]
    assert of_each == sorted(of_each)
    pauses = [number for number, line in enumerate(run.lines) if "Waiting 90 s" in line]
    assert [of_each[9] < number < of_each[10] for number in pauses] == [True] * is_limited


def names(repository: int, owner: str = "") -> Callable[[Request], bool]:
    """Accept a query for a repository with others, or by name for one of an owner."""

    def match(request: Request) -> bool:
        given = request.fields.get("variables") or {}
        is_owners = bool(owner) and given.get("owner") == owner
        return is_owners or node_id("R", repository) in given.get("ids", [])

    return match


def test_one_large_repository_says_nothing_about_the_time_of_the_others(org: Org) -> None:
    """Every query that it is in runs out of time, but those for it alone, in parts."""
    [large] = org.make(0, 1)
    org.make(80, 0)
    org.fault(FaultKind.TIMEOUT_200, names(large.id))
    slow = org.slow_down(names(large.id), 10)
    # It takes 80 s, and without it 120 s suffice for all
    org.expect("1 to open, 80 complete", mode="plan", max_minutes="2")
    # Ten, five, two and one at once, each once more
    assert len(slow) == 8


def test_an_owners_files_that_cannot_be_read_are_asked_for_once(org: Org) -> None:
    org.make(0, 5)
    org.host.create_repository("octo-org/.github", {"SECURITY.md": b""}, private=True)
    failing = org.fault(FaultKind.ERROR_502_HTML, names(0, "octo-org"))
    org.expect(
        "5 failed, 1 not named; exit 1", mode="plan", profile="health", respect_alternatives="true"
    )
    # With all directories twice, and with none six times
    assert len(failing.hits) == 8


def test_reading_that_always_fails_writes_nothing(org: Org) -> None:
    org.make(5, 5)
    org.refuse("POST /graphql", 502)
    org.expect("10 failed; exit 1")
