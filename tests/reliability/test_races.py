"""Two runs at the same moment: one branch, one pull request, every file once."""

from __future__ import annotations

import pytest

from tests.example import Example

PAIRS = [pytest.param(n, marks=[pytest.mark.chosen] if n < 3 else []) for n in range(200)]


@pytest.mark.matrix
@pytest.mark.parametrize("pair", PAIRS)
def test_two_runs_at_once_do_the_work_of_one(example: Example, pair: int) -> None:
    # Different speeds of the host let the runs meet at different requests
    example.host.latency = (pair % 5) * 0.004
    processes = [example.begin(), example.begin()]
    runs = [example.action.end(process, {}) for process in processes]
    assert not example.overwritten()
    assert ([run.exit_code for run in runs], example.wrong()) == ([0, 0], []), "\n".join(
        run.console for run in runs
    )
