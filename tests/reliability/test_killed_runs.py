"""If a run is killed at any request, the next run leaves the same result as an undisturbed one.

This also holds if GitHub lags behind and does not show everything that the first run has just
created.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from itertools import product

import pytest
from _pytest.mark import ParameterSet

from tests.example import POSITIONS, PRESENT, SORTS, Day, Example
from tests.fakehub import Fault, FaultKind, Request
from tests.harness import LIST_BRANCH, PER_FILE, SINGLE, STRATEGIES, SignalAt, is_read


def cases() -> Iterator[ParameterSet]:
    """Yield all cases; every other sort of request is chosen, by turns applied and not applied."""
    for (strategy, day), positions in POSITIONS.items():
        for position in positions:
            for applied in (True, False):
                chosen = position in SORTS[strategy, day][1::2] and applied == bool(position % 2)
                marks = [pytest.mark.chosen] if chosen else []
                yield pytest.param(strategy, day, position, applied, marks=marks)


@pytest.mark.matrix
@pytest.mark.parametrize(("strategy", "day", "position", "applied"), list(cases()))
def test_running_again_finishes_what_a_killed_run_began(
    example: Example, day: Day, position: int, applied: bool
) -> None:
    host = example.host
    example.live(day)
    host.on_request = kill = SignalAt(signal.SIGKILL, lambda each: each.number == position)
    if not applied:
        host.faults.add(Fault(FaultKind.CLOSED, at=position, when="before"))
    process = kill.to(example.begin_without_waiting())
    assert example.action.end(process, {}).exit_code == -signal.SIGKILL

    host.on_request = None
    host.faults.clear()
    again = example.run()
    assert (again.exit_code, example.state) == (0, example.done), again.console


# --- Corrections and withdrawals ------------------------------------------------------------

OLD = {"SECURITY.md": "security@example.com\n", "a.md": "A\n"}
NEW = {"SECURITY.md": "psirt@example.com\n", "a.md": "A\n", "new.md": "N\n"}
WORK = {
    # A commit of the changed and the new file (`per-file` makes two), and a description
    "correct": 2,
    "withdraw": 1,
    # A commit of the changed file, a commit of the new file (`per-file`), a new pull request
    "register again": 3,
}
"""The work of a run on an open or a withdrawn pull request, with its number of writes."""


def begun(example: Example, work: str) -> dict[str, str]:
    """Prepare the repository so that a run has this work to do, and return the run's inputs."""
    example.run(definitions=example.action.listing_of(OLD))
    if work == "register again":
        example.run(definitions=example.action.listing_of(OLD), mode="withdraw")
    listed, mode = (OLD, "withdraw") if work == "withdraw" else (NEW, "register")
    return {"definitions": example.action.listing_of(listed), "mode": mode}


def check(example: Example, work: str) -> None:
    """Compare the repository with what an undisturbed run would leave (see also `tests.promises`).

    Another run then has nothing to do.
    """
    *earlier, pull = example.repository.pull_requests
    assert [each.state for each in earlier] == ["closed"] * (work == "register again")
    assert pull.state == ("closed" if work == "withdraw" else "open")
    listed = OLD if work == "withdraw" else NEW
    files = {path: text.encode() for path, text in listed.items()}
    assert example.repository.files(LIST_BRANCH) == PRESENT | files
    if work != "withdraw":
        count = len(example.host.requests)
        again = example.run(definitions=example.action.listing_of(NEW))
        assert "Not updated in" not in again.text
        assert all(map(is_read, example.host.requests[count:]))


def is_nth_write(number: int) -> Callable[[Request], bool]:
    seen = 0

    def is_it(request: Request) -> bool:
        nonlocal seen
        seen += not is_read(request)
        return seen == number and not is_read(request)

    return is_it


def writes() -> Iterator[ParameterSet]:
    """Yield all cases; each write is chosen with one strategy, by turns applied and not applied."""
    for number, (work, strategy) in enumerate(product(WORK, STRATEGIES)):
        last = WORK[work] + (work == "correct" and strategy == PER_FILE)
        last -= work == "register again" and strategy == SINGLE
        for write, applied in product(range(1, last + 1), (True, False)):
            chosen = (write + number) % 2 == 0 and applied == bool(write // 2 % 2)
            marks = [pytest.mark.chosen] if chosen else []
            yield pytest.param(strategy, work, write, applied, marks=marks)


@pytest.mark.matrix
@pytest.mark.parametrize(("strategy", "work", "write", "applied"), list(writes()))
def test_running_again_finishes_what_was_killed_at_a_write(
    example: Example, work: str, write: int, applied: bool
) -> None:
    inputs, host = begun(example, work), example.host
    host.on_request = kill = SignalAt(signal.SIGKILL, is_nth_write(write))
    if not applied:
        host.faults.add(Fault(FaultKind.CLOSED, match=is_nth_write(write), when="before"))
    environ = example.action.environment(example.inputs | inputs)
    process = kill.to(example.action.begin_without_waiting(environ))
    assert example.action.end(process, {}).exit_code == -signal.SIGKILL
    host.on_request = None
    host.faults.clear()
    again = example.run(**inputs).or_fail()
    assert "Not updated in" not in again.text
    check(example, work)
