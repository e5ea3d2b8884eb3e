"""Killed at every request, then run again: as if nothing had happened."""

from __future__ import annotations

import subprocess
import threading

import pytest

from tests.fakehub import Fault, FaultKind, Request, StandInHost
from tests.reliability.example import POSITIONS, Example, ended
from tests.reliability.test_matrix import ALL, SAMPLE


@pytest.mark.slow
@pytest.mark.parametrize("applied", [True, False], ids=["applied", "not-applied"])
@pytest.mark.parametrize(
    ("strategy", "position"),
    [(s, p) for s, every in POSITIONS.items() for p in every if ALL or p in SAMPLE],
)
def test_running_again_finishes_what_a_killed_run_began(
    strategy: str, position: int, applied: bool
) -> None:
    with StandInHost() as host:
        example = Example(host, strategy)
        started = threading.Event()
        processes: list[subprocess.Popen[str]] = []

        def kill(request: Request) -> None:
            if request.number == position:
                started.wait()
                processes[0].kill()
                processes[0].wait()

        host.on_request = kill
        if not applied:
            host.faults.add(Fault(FaultKind.CLOSED, at=position, when="before"))
        processes.append(example.start())
        started.set()
        assert ended(processes[0]).exit_code == -9
        assert not example.overwritten()

        host.on_request = lambda _request: None
        host.faults.clear()
        again = example.run()
        assert (again.exit_code, example.wrong()) == (0, []), again.output
        assert not example.overwritten()
