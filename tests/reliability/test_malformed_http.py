"""Answers that are slow, endless or broken: a run ends in time and within memory, with a report."""

from __future__ import annotations

import time

import pytest

from tests.example import PRESENT, SORTS, Example
from tests.fakehub import Fault, FaultKind
from tests.fakehub.raw import SCRIPTS
from tests.harness import STRATEGIES

LONGEST = 30
"""Seconds of a run that may not wait; starting the program and a busy machine come on top."""
MACHINE = 15
MOST_MEMORY = 250_000_000
"""Bytes: two lists, of branches and of pull requests, may be read at the same time."""


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("strategy", "position", "name"),
    [
        pytest.param(
            *(strategy, position, name),
            marks=[pytest.mark.chosen] if name == "endless-body" and position == 2 else [],
        )
        for strategy in STRATEGIES
        for position in SORTS[strategy, "quiet"]
        for name in SCRIPTS
    ],
)
def test_a_run_ends_in_time_and_within_memory(example: Example, position: int, name: str) -> None:
    example.host.faults.add(Fault(FaultKind.RAW, at=position, times=None, script=SCRIPTS[name]))
    environ = example.action.environment(example.inputs | {"max_wait_minutes": "0"})
    began = time.monotonic()
    run, memory = example.action.measure(environ)
    assert time.monotonic() - began < LONGEST + MACHINE
    assert memory < MOST_MEMORY
    assert run.exit_code in {1, 2}, run.console
    assert "Unexpected error" not in run.console, run.console
    assert run.summary
    assert run.report
    assert example.repository.files("main") == PRESENT
    assert not example.overwritten()

    example.host.faults.clear()
    again = example.run()
    assert (again.exit_code, example.wrong()) == (0, []), again.console
