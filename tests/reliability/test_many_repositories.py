"""Many repositories under faults and kills: one pull request each, and nothing overwritten."""

from __future__ import annotations

import itertools
import random
import signal
import time
from collections.abc import Iterator
from functools import partial
from typing import Literal

import pytest
from _pytest.mark import ParameterSet

from registrar.github import transport
from registrar.github.limits import SHORT_INTERVAL
from tests.example import LIST, Day
from tests.fakehub import Fault, FaultKind
from tests.fakehub.limits import Pace
from tests.harness import Action, SignalAt, is_read
from tests.organisation import HOPELESS, NOT_WRITABLE, STILL_FAILING, Odd, Organisation
from tests.turns import Turns, another, at_once, shuffled

SIZES: dict[Day, tuple[int, int]] = {"quiet": (90, 16), "real": (8, 16)}
"""The numbers of complete and incomplete repositories. On a quiet day they fill two pages."""
LACKING = SIZES["quiet"][1]
GRAPHQL_ONLY = frozenset(kind for kind in FaultKind if kind.startswith("graphql")) | {
    FaultKind.PARTIAL_200,
    FaultKind.TIMEOUT_200,
}
WITHOUT_AN_ANSWER_OF_ITS_OWN = {FaultKind.RAW, FaultKind.CHANGED, FaultKind.CUSTOM}
KINDS = [kind for kind in FaultKind if kind not in WITHOUT_AN_ANSWER_OF_ITS_OWN]
PATIENCE = 2.0
"""Seconds for which a run waits for an answer, instead of 20."""
READS = 1 + 2 + 6
"""The reads on a quiet day: the token, two pages of the list, and about six queries."""
ALL: dict[Day, int] = {"quiet": READS + 3 * LACKING - 8, "real": 64}
"""A number of requests that every run exceeds. The last requests are left out, because they are
not GraphQL."""


@pytest.fixture
def day() -> Day:
    """The day of tests that do not choose one."""
    return "quiet"


@pytest.fixture
def organisation(action: Action, day: Day) -> Organisation:
    organisation = Organisation(action, *SIZES[day])
    if day == "real":
        action.host.real_day()
    return organisation


def finish(organisation: Organisation) -> None:
    """Run again, and assert that everything is finished and correct."""
    organisation.action.host.faults.clear()
    organisation.then = None
    odd_since = organisation.is_quiet
    again = organisation.run()
    if odd_since:
        # The first run had not written anything, so repositories have become odd only now
        again = organisation.run()
    assert organisation.wrong() == [], again.console
    many, [files_arrived] = again.report["many"], [organisation[Odd.FILES_ARRIVED]]
    failed = {organisation[odd].full_name for odd in STILL_FAILING}
    assert {row["repository"] for row in many["rows"] if row["state"] == "failed"} <= failed
    states = {state: count for state, count in many["states"].items() if count}
    done = organisation.incomplete - len(HOPELESS) - (not files_arrived.pull_requests)
    assert states.pop("failed") == len(STILL_FAILING)
    # The archived one is left out
    assert states.pop("not writable") == 1
    assert states.pop("complete") == organisation.complete + (not files_arrived.pull_requests)
    assert sum(states.get(each, 0) for each in ("opened", "updated", "waiting")) == done
    assert sum(states.values()) == done
    assert (again.exit_code, again.outputs["deferred"]) == (1, "0")


def faults() -> Iterator[ParameterSet]:
    """Yield every kind of fault at random requests, before and after they are applied."""
    rng = random.Random(14)
    counts: dict[Day, int] = {"quiet": 3, "real": 2}
    for kind in KINDS:
        for when in ("before", "after") if kind.can_happen_after else ("before",):
            for day, count in counts.items():
                for position in sorted(rng.sample(range(1, ALL[day]), count)):
                    yield pytest.param(day, kind, when, position)


CHOSEN = [
    pytest.param(*case, marks=pytest.mark.chosen)
    for case in (
        ("quiet", FaultKind.CLOSED, "after", READS + 20),
        ("real", FaultKind.ERROR_504, "after", 50),
    )
]


@pytest.mark.matrix
@pytest.mark.parametrize(("day", "kind", "when", "position"), [*CHOSEN, *faults()])
def test_a_fault_costs_no_more_than_another_run(
    organisation: Organisation,
    monkeypatch: pytest.MonkeyPatch,
    kind: FaultKind,
    when: Literal["before", "after"],
    position: int,
) -> None:
    monkeypatch.setattr(transport, "ANSWER_SECONDS", PATIENCE)
    fault = Fault(kind, at=position, when=when, seconds=PATIENCE + 2)
    if kind in GRAPHQL_ONLY:
        fault.match = lambda request: request.path == "/graphql"
    organisation.action.host.faults.add(fault)
    first = organisation.run(max_wait_minutes="120")
    assert fault.hits, "the fault was never met"
    assert first.exit_code in {1, 2}
    finish(organisation)


@pytest.mark.matrix
@pytest.mark.chosen
def test_one_repository_of_each_odd_kind_stops_no_other(organisation: Organisation) -> None:
    run = organisation.run()
    states = run.report["many"]["states"]
    counts = (states["failed"], states["not writable"], states["deferred"])
    assert (run.exit_code, counts) == (1, (len(HOPELESS - NOT_WRITABLE), len(NOT_WRITABLE), 0))
    assert organisation.wrong() == [], run.console
    finish(organisation)


def kills() -> Iterator[ParameterSet]:
    """Yield the requests at which a run is killed.

    They are some of the reads on a quiet day, each request about one repository, and some others.
    """
    for position in (
        1,
        3,
        READS,
        *range(READS + 4, READS + 10),
        *range(READS + 12, ALL["quiet"], 6),
    ):
        marks = [pytest.mark.chosen] if position == READS + 7 else []
        yield pytest.param("quiet", position, marks=marks)
    for position in (1, *range(20, ALL["real"], 6)):
        marks = [pytest.mark.chosen] if position == 50 else []
        yield pytest.param("real", position, marks=marks)


@pytest.mark.matrix
@pytest.mark.parametrize(("day", "position"), list(kills()))
def test_running_again_finishes_what_a_killed_run_began(
    organisation: Organisation, position: int
) -> None:
    organisation.then = kill = SignalAt(signal.SIGKILL, lambda each: each.number == position)
    process = kill.to(organisation.begin())
    assert organisation.action.end(process, {}).exit_code == -signal.SIGKILL
    organisation.action.host.settle()
    finish(organisation)


def orders() -> Iterator[ParameterSet]:
    """Yield orders of the requests of two runs.

    Either the first run stops before a request and the other one before one of its own, or the
    order is random.
    """
    rng = random.Random(15)
    pairs = rng.sample(list(itertools.product(range(13), repeat=2)), 80)
    for day in ("quiet", "real"):
        for number, (first, second) in enumerate(pairs):
            marks = [pytest.mark.chosen] if number == 0 else []
            yield pytest.param(day, f"{first}-{second}", marks=marks)
        for seed in range(40):
            marks = [pytest.mark.chosen] if seed == 34 else []
            yield pytest.param(day, f"any-{seed}", marks=marks)


def order_of(name: str) -> Iterator[int]:
    first, second = name.split("-")
    if first == "any":
        return shuffled(2, int(second))
    return itertools.chain([0] * int(first), [1] * int(second), itertools.repeat(0))


@pytest.mark.matrix
@pytest.mark.parametrize(("day", "order"), list(orders()))
def test_two_runs_at_once_do_the_work_of_one(action: Action, day: str, order: str) -> None:
    host = action.host
    organisation = Organisation(action, 1, 3, odd=False)
    if day == "real":
        host.real_day()
    actions = (action, another(action))
    turns = Turns(actions, order_of(order))
    host.on_request = turns.wait

    runs = at_once([partial(organisation.run, each, labels="") for each in actions], turns)
    host.on_request = None
    consoles = "\n".join(run.console for run in runs)
    assert [run.exit_code for run in runs] == [0, 0], consoles
    assert organisation.wrong() == [], consoles
    states = [run.report["many"]["states"] for run in runs]
    for each in states:
        assert each["complete"] == 1, consoles
        assert each["opened"] + each["updated"] + each["waiting"] == 3, consoles
    assert sum(each["opened"] for each in states) == 3, consoles


@pytest.mark.matrix
@pytest.mark.parametrize("seed", range(3))
def test_two_runs_over_an_organisation_at_once(organisation: Organisation, seed: int) -> None:
    actions = (organisation.action, another(organisation.action))
    turns = Turns(actions, shuffled(2, seed))
    organisation.then = turns.wait

    runs = at_once([partial(organisation.run, each) for each in actions], turns)
    assert organisation.wrong() == []
    for each in runs:
        states = each.report["many"]["states"]
        assert (each.exit_code, states["deferred"]) == (1, 0)
        # If a repository is renamed after this run has read it, the write is not redirected
        assert states["failed"] <= len(HOPELESS | {Odd.RENAMED}), each.console
    finish(organisation)


@pytest.mark.matrix
@pytest.mark.parametrize(
    "requests",
    [
        pytest.param(READS + LACKING, marks=pytest.mark.chosen),
        *(READS + each for each in (1, 2, 3, 7, 2 * LACKING)),
    ],
)
def test_a_token_that_dies_half_way(organisation: Organisation, requests: int) -> None:
    dying = organisation.action.host.create_token(requests=requests)
    first = organisation.run(host_token=dying)
    assert first.exit_code == 1
    assert first.report["many"]["states"]["deferred"] > 0
    finish(organisation)


@pytest.mark.matrix
@pytest.mark.chosen
def test_a_cancelled_run_reports_what_it_has_done(organisation: Organisation) -> None:
    organisation.then = end = SignalAt(signal.SIGTERM, lambda each: not is_read(each))
    run = organisation.action.end(end.to(organisation.begin()), {})
    assert run.exit_code == 128 + signal.SIGTERM
    # The run finishes its present request, and has begun at most one more repository
    assert run.report["many"]["states"]["deferred"] >= LACKING - 2
    finish(organisation)


@pytest.mark.matrix
def test_the_pace_is_kept_on_a_real_clock(action: Action) -> None:
    host = action.host
    organisation = Organisation(action, 1, 5, odd=False)
    host.pace = Pace()
    given = {"target_repo": None, "target_repos": "octo-org/*", "definitions": LIST}
    began = time.monotonic()
    run = action.process(action.environment(given))
    assert (run.exit_code, organisation.wrong(), host.pace.refused) == (0, [], 0), run.console
    assert [is_read(request) for request in host.requests].count(False) == 5
    assert time.monotonic() - began >= 4 * SHORT_INTERVAL
