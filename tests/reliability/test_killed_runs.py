"""Killed at every request, then run again: as if nothing had happened.

Also where GitHub lags behind: the second run meets what the first has just made.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import pytest
from _pytest.mark import ParameterSet

from tests.example import POSITIONS, SORTS, Day, Example
from tests.fakehub import Fault, FaultKind, Request
from tests.harness import LIST_BRANCH, SignalAt, is_read


def cases() -> Iterator[ParameterSet]:
    """All of it. Chosen: each sort of request, by turns applied and not."""
    for (strategy, day), positions in POSITIONS.items():
        for position in positions:
            for applied in (True, False):
                chosen = position in SORTS[strategy, day] and applied == bool(position % 2)
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
    assert not example.overwritten()

    host.on_request = None
    host.faults.clear()
    again = example.run()
    assert (again.exit_code, example.wrong()) == (0, []), again.console
    assert not example.overwritten()


OLD = {"SECURITY.md": "security@example.com\n", "a.md": "A\n"}
NEW = {"SECURITY.md": "psirt@example.com\n", "a.md": "A\n", "new.md": "N\n"}


def is_update(request: Request) -> bool:
    return request.method == "PATCH"


def is_commit(request: Request) -> bool:
    return not is_read(request) and request.method != "PATCH"


@pytest.mark.parametrize("applied", [True, False])
@pytest.mark.parametrize("moment", [is_commit, is_update])
def test_a_correction_that_was_killed_is_finished_and_looks_like_nobodys_edit(
    example: Example, moment: Callable[[Request], bool], applied: bool
) -> None:
    host, action, repository = example.host, example.action, example.repository
    example.run(definitions=action.listing_of(OLD))
    inputs = example.inputs | {"definitions": action.listing_of(NEW)}
    host.on_request = kill = SignalAt(signal.SIGKILL, moment)
    if not applied:
        host.faults.add(Fault(FaultKind.CLOSED, match=moment, when="before"))
    process = kill.to(action.begin_without_waiting(action.environment(inputs)))
    assert action.end(process, {}).exit_code == -signal.SIGKILL
    host.on_request = None
    host.faults.clear()

    again = action(inputs)
    assert again.exit_code == 0, again.console
    assert "Left as they are" not in again.text
    files = repository.files(LIST_BRANCH)
    assert {path: files[path] for path in NEW} == {p: c.encode() for p, c in NEW.items()}
    assert [pull.state for pull in repository.pull_requests] == ["open"]
    assert "Adds 3 of 3 listed files." in (repository.pull_requests[0].body or "")
    count = len(host.requests)
    assert action(inputs).outputs["pull_request_operation"] == "none"
    assert all(map(is_read, host.requests[count:]))
