"""Killed at every request, then run again: as if nothing had happened."""

from __future__ import annotations

import signal
import subprocess
import threading

import pytest

from tests.example import POSITIONS, Example
from tests.fakehub import Fault, FaultKind, Request
from tests.reliability.test_matrix import ALL, SAMPLE


@pytest.mark.slow
@pytest.mark.parametrize("applied", [True, False], ids=["applied", "not-applied"])
@pytest.mark.parametrize(
    ("strategy", "position"),
    [(s, p) for s, every in POSITIONS.items() for p in every if ALL or p in SAMPLE],
)
def test_running_again_finishes_what_a_killed_run_began(
    example: Example, position: int, applied: bool
) -> None:
    host = example.host
    started = threading.Event()
    processes: list[subprocess.Popen[bytes]] = []

    def kill(request: Request) -> None:
        if request.number == position:
            started.wait()
            processes[0].kill()
            processes[0].wait()

    host.on_request = kill
    if not applied:
        host.faults.add(Fault(FaultKind.CLOSED, at=position, when="before"))
    processes.append(example.begin())
    started.set()
    assert example.action.end(processes[0], {}).exit_code == -signal.SIGKILL
    assert not example.overwritten()

    host.on_request = None
    host.faults.clear()
    again = example.run()
    assert (again.exit_code, example.wrong()) == (0, []), again.console
    assert not example.overwritten()
