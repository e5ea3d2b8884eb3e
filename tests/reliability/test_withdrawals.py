"""Withdrawing, and registering again: killed at every write, with lost answers, two at once."""

from __future__ import annotations

import signal

import pytest

from tests.example import Example
from tests.fakehub import Fault, FaultKind, Request
from tests.harness import LIST_BRANCH, PER_FILE, SINGLE, SignalAt, is_read

OLD = {"a.md": "A\n", "b.md": "B\n"}
NEW = {"a.md": "A, too\n", "b.md": "B\n", "c.md": "C\n"}
WRITES = [("withdraw", 1), *(("register", number) for number in range(1, 5))]
"""A run that opens it again: its state, what has changed, with `per-file` what is new, its words.
"""

ALL_WRITES = [
    *((strategy, *each) for strategy in (PER_FILE, SINGLE) for each in WRITES[:-1]),
    (PER_FILE, *WRITES[-1]),  # three writes do it with a single commit
]


def begun(example: Example, mode: str) -> dict[str, str]:
    """Come to where a run has something to do; give its inputs."""
    example.run(definitions=example.action.listing_of(OLD))
    if mode == "register":
        example.run(definitions=example.action.listing_of(OLD), mode="withdraw")
    listed = OLD if mode == "withdraw" else NEW
    return {"definitions": example.action.listing_of(listed), "mode": mode}


def right(example: Example, mode: str) -> bool:
    """Whether everything is as if nothing had happened, and nothing is declined."""
    plan = example.run(definitions=example.action.listing_of(NEW), mode="plan")
    [pull] = example.repository.pull_requests
    listed = OLD if mode == "withdraw" else NEW
    files = example.repository.files(LIST_BRANCH)
    holds = all(files.get(path) == content.encode() for path, content in listed.items())
    is_open = pull.state == ("closed" if mode == "withdraw" else "open")
    return holds and is_open and plan.outputs["declined"] == "0"


def is_nth_write(number: int):  # type: ignore[no-untyped-def]
    seen = 0

    def is_it(request: Request) -> bool:
        nonlocal seen
        seen += not is_read(request)
        return seen == number and not is_read(request)

    return is_it


@pytest.mark.parametrize("applied", [True, False])
@pytest.mark.parametrize(("strategy", "mode", "write"), ALL_WRITES)
def test_running_again_finishes_what_a_killed_run_began(
    example: Example, mode: str, write: int, applied: bool
) -> None:
    inputs, host = begun(example, mode), example.host
    if not applied:
        host.faults.add(Fault(FaultKind.CLOSED, match=is_nth_write(write), when="before"))
    host.on_request = kill = SignalAt(signal.SIGKILL, is_nth_write(write))
    environ = example.action.environment(example.inputs | inputs)
    process = kill.to(example.action.begin_without_waiting(environ))
    assert example.action.end(process, {}).exit_code == -signal.SIGKILL
    host.on_request = None
    host.faults.clear()
    again = example.run(**inputs)
    assert again.exit_code == 0, again.console
    assert right(example, mode), again.console


@pytest.mark.parametrize("kind", [FaultKind.CLOSED, FaultKind.ERROR_502_HTML, FaultKind.EMPTY_200])
@pytest.mark.parametrize(("mode", "write"), WRITES[:2])
def test_a_lost_answer(example: Example, mode: str, write: int, kind: FaultKind) -> None:
    inputs = begun(example, mode)
    example.host.faults.add(Fault(kind, match=is_nth_write(write), when="after"))
    run = example.run(**inputs)
    assert run.exit_code == 0, run.console
    assert right(example, mode)


@pytest.mark.parametrize("mode", ["withdraw", "register"])
def test_two_at_once(example: Example, mode: str) -> None:
    environ = example.action.environment(example.inputs | begun(example, mode))
    processes = [example.action.begin(environ) for _ in range(2)]
    runs = [example.action.end(process, {}) for process in processes]
    assert [run.exit_code for run in runs] == [0, 0], "\n".join(run.console for run in runs)
    assert right(example, mode)
