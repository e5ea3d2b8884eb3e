"""Killed at every request, then run again: as if nothing had happened.

Also where GitHub lags behind: the second run meets what the first has just made.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet

from tests.example import POSITIONS, SORTS, Day, Example
from tests.fakehub import Fault, FaultKind
from tests.harness import SignalAt


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
