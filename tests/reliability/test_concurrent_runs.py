"""Two runs at the same moment: one branch, one pull request, every file once."""

from __future__ import annotations

import pytest

from tests.example import Day, Example
from tests.harness import PER_FILE, SINGLE
from tests.reliability.test_killed_runs import begun, check

DAYS: tuple[Day, ...] = ("quiet", "real")
PAIRS = [
    pytest.param(day, n, marks=[pytest.mark.chosen] if n == 0 else [])
    for day in DAYS
    for n in range(200)
]


@pytest.mark.matrix
@pytest.mark.parametrize(("day", "pair"), PAIRS)
def test_two_runs_at_once_do_the_work_of_one(example: Example, day: Day, pair: int) -> None:
    example.live(day)
    # Different speeds of the host let the runs meet at different requests
    example.host.latency = (pair % 5) * 0.004
    processes = [example.begin_without_waiting() for _ in range(2)]
    runs = [example.action.end(process, {}) for process in processes]
    assert not example.overwritten()
    assert ([run.exit_code for run in runs], example.wrong()) == ([0, 0], []), "\n".join(
        run.console for run in runs
    )


@pytest.mark.parametrize(("strategy", "work"), [(PER_FILE, "register again"), (SINGLE, "withdraw")])
def test_two_at_once_do_the_same_with_one_pull_request(example: Example, work: str) -> None:
    environ = example.action.environment(example.inputs | begun(example, work))
    processes = [example.action.begin_without_waiting(environ) for _ in range(2)]
    runs = [example.action.end(process, {}) for process in processes]
    assert [run.exit_code for run in runs] == [0, 0], "\n".join(run.console for run in runs)
    check(example, work)
