"""Many repositories on bad days: one pull request each, nothing twice, nothing overwritten."""

from __future__ import annotations

import itertools
import random
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

import pytest
from _pytest.mark import ParameterSet

from tests.example import BRANCH, LISTED, MISSING, PRESENT
from tests.fakehub import Fault, FaultKind, Repository, Request
from tests.harness import Action, Run, is_read

COMPLETE, LACKING = 140, 60
KINDS = (
    FaultKind.PRIMARY_403,
    FaultKind.SECONDARY_403,
    FaultKind.SECONDARY_429_RETRY_AFTER,
    FaultKind.SECONDARY_URL,
    FaultKind.GRAPHQL_RATE_LIMITED,
    FaultKind.ERROR_500,
    FaultKind.ERROR_502_HTML,
    FaultKind.ERROR_503,
    FaultKind.RESET,
    FaultKind.CLOSED,
    FaultKind.HTML_200,
    FaultKind.CUT_JSON,
    FaultKind.SHORT_BODY,
    FaultKind.EMPTY_200,
    FaultKind.WRONG_OBJECT,
    FaultKind.PARTIAL_200,
    FaultKind.TIMEOUT_200,
)
READS = 2 + 2 + 8
"""Token, two pages, and so many batches at least."""
ALL = READS + 2 * LACKING


@dataclass
class Organisation:
    """Repositories, the last of which lack files."""

    action: Action
    repositories: list[Repository]
    complete: int

    @classmethod
    def of(cls, action: Action, *, complete: int, lacking: int) -> Organisation:
        """Make so many repositories that lack nothing, and then so many that lack files."""
        made = [
            action.host.create_repository(
                f"octo-org/r{number}", LISTED if number < complete else PRESENT
            )
            for number in range(complete + lacking)
        ]
        return cls(action, made, complete)

    def run(self, **inputs: str) -> Run:
        given = {"target_repos": "octo-org/*", "language": "en", **inputs}
        return self.action(given, target_repo=None)

    def begin(self) -> subprocess.Popen[bytes]:
        given = {"target_repo": None, "target_repos": "octo-org/*", "language": "en"}
        return self.action.begin(self.action.environment(given))

    def wrong(self) -> list[str]:
        """What is not as it must be once everything is done."""
        found: list[str] = []
        for number, repository in enumerate(self.repositories):
            pulls = repository.pull_requests
            if len(pulls) != (number >= self.complete):
                found.append(f"{repository.full_name} has {len(pulls)} pull requests")
            if pulls and {p: c for p, c in repository.files(BRANCH).items() if p in MISSING} != (
                MISSING
            ):
                found.append(f"{repository.full_name} has other files")
        return found

    def overwritten(self) -> bool:
        return any(
            repository.files() != (PRESENT if number >= self.complete else LISTED)
            for number, repository in enumerate(self.repositories)
        )


@pytest.fixture
def organisation(action: Action) -> Organisation:
    return Organisation.of(action, complete=COMPLETE, lacking=LACKING)


def faults() -> Iterator[ParameterSet]:
    """Every kind at sampled requests. Chosen: some of them."""
    rng = random.Random(14)
    for number, kind in enumerate(KINDS):
        whens = ("before", "after") if kind.can_happen_after else ("before",)
        for when in whens:
            for sample, position in enumerate(sorted(rng.sample(range(1, ALL), 6))):
                marks = [pytest.mark.chosen] if sample == number % 6 and number % 4 == 0 else []
                yield pytest.param(kind, when, position, marks=marks)


@pytest.mark.matrix
@pytest.mark.parametrize(("kind", "when", "position"), list(faults()))
def test_a_fault_costs_no_more_than_another_run(
    organisation: Organisation,
    kind: FaultKind,
    when: Literal["before", "after"],
    position: int,
) -> None:
    host = organisation.action.host
    host.faults.add(Fault(kind, at=position, when=when))
    first = organisation.run(max_wait_minutes="120")
    assert first.exit_code in {0, 1, 2}
    host.faults.clear()
    second = organisation.run()
    assert second.exit_code == 0, second.console
    assert organisation.wrong() == []
    assert not organisation.overwritten()
    states = second.report["fleet"]["states"]
    assert states["complete"] == COMPLETE
    assert states["waiting"] + states["opened"] + states["updated"] == LACKING


KILLED = [
    pytest.param(position, marks=[pytest.mark.chosen] if position == READS + 7 else [])
    for position in (1, 3, READS, READS + 4, READS + 7, READS + 8)
]


@pytest.mark.matrix
@pytest.mark.parametrize("position", KILLED)
def test_running_again_finishes_what_a_killed_run_began(
    organisation: Organisation, position: int
) -> None:
    host = organisation.action.host
    started = threading.Event()
    processes: list[subprocess.Popen[bytes]] = []

    def kill(request: Request) -> None:
        if request.number == position:
            started.wait()
            processes[0].kill()
            processes[0].wait()

    host.on_request = kill
    processes.append(organisation.begin())
    started.set()
    assert organisation.action.end(processes[0], {}).exit_code == -signal.SIGKILL
    host.on_request = None
    again = organisation.run()
    assert (again.exit_code, organisation.wrong()) == (0, []), again.console
    assert not organisation.overwritten()


class Turns:
    """Lets one of two runs ask at a time: only when both wait, or have ended, one goes on."""

    def __init__(self, tokens: Sequence[str], order: Iterator[int]) -> None:
        self._tokens = tokens
        self._order = order
        self._active = {0, 1}
        self._waiting = set[int]()
        self._changed = threading.Condition()

    def wait(self, request: Request) -> None:
        """Hold a request until it is its run's turn."""
        assert request.token
        run = self._tokens.index(request.token)
        with self._changed:
            self._waiting.add(run)
            self._choose()
            assert self._changed.wait_for(lambda: run not in self._waiting, timeout=60)

    def end(self, run: int) -> None:
        """Note that a run has ended."""
        with self._changed:
            self._active.remove(run)
            self._choose()

    def _choose(self) -> None:
        if self._waiting and self._waiting == self._active:
            run = next(self._order)
            self._waiting.remove(run if run in self._waiting else 1 - run)
            self._changed.notify_all()


def orders() -> Iterator[ParameterSet]:
    """One run stops before a request and the other before one of its own; or any order at all."""
    rng = random.Random(15)
    pairs = rng.sample(list(itertools.product(range(13), repeat=2)), 80)
    for day in ("quiet", "real"):
        for number, (first, second) in enumerate(pairs):
            marks = [pytest.mark.chosen] if number == 0 else []
            yield pytest.param(day, f"{first}-{second}", marks=marks)
        for seed in range(40):
            marks = [pytest.mark.chosen] if seed in {34, 35} else []
            yield pytest.param(day, f"any-{seed}", marks=marks)


def order_of(name: str) -> Iterator[int]:
    first, second = name.split("-")
    if first == "any":
        rng = random.Random(int(second))
        return (rng.randrange(2) for _ in itertools.count())
    return itertools.chain([0] * int(first), [1] * int(second), itertools.repeat(0))


@pytest.mark.matrix
@pytest.mark.parametrize(("day", "order"), list(orders()))
def test_two_runs_at_once_do_the_work_of_one(action: Action, day: str, order: str) -> None:
    host = action.host
    organisation = Organisation.of(action, complete=1, lacking=3)
    if day == "real":
        host.real_day()
    other = Action(host, action.directory / "other", host.create_token(), clock=action.clock)
    other.workspace.mkdir(parents=True)
    actions = (action, other)
    turns = Turns([each.default_token for each in actions], order_of(order))
    host.on_request = turns.wait

    def run(number: int) -> Run:
        try:
            return replace(organisation, action=actions[number]).run()
        finally:
            turns.end(number)

    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(run, (0, 1)))
    host.on_request = None
    consoles = "\n".join(run.console for run in runs)
    assert [run.exit_code for run in runs] == [0, 0], consoles
    assert (organisation.wrong(), organisation.overwritten()) == ([], False), consoles
    states = [run.report["fleet"]["states"] for run in runs]
    for each in states:
        assert each["complete"] == 1, consoles
        assert each["opened"] + each["updated"] + each["waiting"] == 3, consoles
    assert sum(each["opened"] for each in states) == 3, consoles


def test_a_token_that_dies_half_way(organisation: Organisation) -> None:
    dying = organisation.action.host.create_token(requests=READS + LACKING)
    first = organisation.run(host_token=dying)
    assert first.exit_code == 1
    assert first.report["fleet"]["states"]["deferred"] > 0
    again = organisation.run()
    assert (again.exit_code, organisation.wrong()) == (0, []), again.console


def test_a_cancelled_run_reports_what_it_has_done(organisation: Organisation) -> None:
    host = organisation.action.host
    started = threading.Event()
    processes: list[subprocess.Popen[bytes]] = []

    def end(request: Request) -> None:
        if not is_read(request):
            host.on_request = None
            started.wait()
            processes[0].send_signal(signal.SIGTERM)

    host.on_request = end
    processes.append(organisation.begin())
    started.set()
    run = organisation.action.end(processes[0], {})
    assert run.exit_code == 128 + signal.SIGTERM
    # The request under way ends, and at most one more repository has begun
    assert run.report["fleet"]["states"]["deferred"] >= LACKING - 2
    again = organisation.run()
    assert (again.exit_code, organisation.wrong()) == (0, []), again.console
