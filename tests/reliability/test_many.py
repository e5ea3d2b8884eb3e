"""Many repositories on bad days: one pull request each, nothing twice, nothing overwritten."""

from __future__ import annotations

import random
import signal
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
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
    """200 repositories, 60 of which lack files."""

    action: Action
    repositories: list[Repository]

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
            if len(pulls) != (number >= COMPLETE):
                found.append(f"{repository.full_name} has {len(pulls)} pull requests")
            if pulls and {p: c for p, c in repository.files(BRANCH).items() if p in MISSING} != (
                MISSING
            ):
                found.append(f"{repository.full_name} has other files")
        return found

    def overwritten(self) -> bool:
        return any(
            repository.files() != (PRESENT if number >= COMPLETE else LISTED)
            for number, repository in enumerate(self.repositories)
        )


@pytest.fixture
def organisation(action: Action) -> Organisation:
    return Organisation(
        action,
        [
            action.host.create_repository(
                f"octo-org/r{number}", LISTED if number < COMPLETE else PRESENT
            )
            for number in range(COMPLETE + LACKING)
        ],
    )


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


def test_two_runs_at_once_and_one_more_do_the_work_of_one(organisation: Organisation) -> None:
    runs: list[Run] = []
    first = organisation.action
    second = Action(first.host, first.directory / "other", first.default_token)
    second.workspace.mkdir(parents=True)
    both = [organisation, Organisation(second, organisation.repositories)]
    threads = [threading.Thread(target=lambda i=i: runs.append(both[i].run())) for i in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Where both met, one of them may have had to leave it to the next run
    assert {run.exit_code for run in runs} <= {0, 1}
    again = organisation.run()
    assert (again.exit_code, organisation.wrong()) == (0, []), again.console
    assert not organisation.overwritten()


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
