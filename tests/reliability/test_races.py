"""Two runs at the same moment: one branch, one pull request, every file once."""

from __future__ import annotations

import pytest

from tests.fakehub import StandInHost
from tests.reliability.example import Example, ended
from tests.reliability.test_matrix import ALL

PAIRS = 200 if ALL else 6


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["per-file", "single"])
@pytest.mark.parametrize("pair", range(PAIRS))
def test_two_runs_at_once_do_the_work_of_one(strategy: str, pair: int) -> None:
    with StandInHost() as host:
        example = Example(host, strategy)
        # Different speeds of the host let the runs meet at different requests
        host.latency = (pair % 5) * 0.004
        runs = [ended(process) for process in (example.start(), example.start())]
        assert not example.overwritten()
        assert ([run.exit_code for run in runs], example.wrong()) == ([0, 0], []), "\n".join(
            run.output for run in runs
        )
