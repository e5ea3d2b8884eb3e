"""Two runs at the same moment: one branch, one pull request, every file once."""

from __future__ import annotations

import pytest

from tests.example import Day, Example

DAYS: tuple[Day, ...] = ("quiet", "real")
PAIRS = [
    pytest.param(day, n, marks=[pytest.mark.chosen] if n < chosen else [])
    for day, chosen in zip(DAYS, (2, 1), strict=True)
    for n in range(200)
]


@pytest.mark.matrix
@pytest.mark.parametrize(("day", "pair"), PAIRS)
def test_two_runs_at_once_do_the_work_of_one(example: Example, day: Day, pair: int) -> None:
    example.live(day)
    # Different speeds of the host let the runs meet at different requests
    example.host.latency = (pair % 5) * 0.004
    processes = [example.begin(), example.begin()]
    runs = [example.action.end(process, {}) for process in processes]
    assert not example.overwritten()
    assert ([run.exit_code for run in runs], example.wrong()) == ([0, 0], []), "\n".join(
        run.console for run in runs
    )
