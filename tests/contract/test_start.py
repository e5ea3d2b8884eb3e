"""A quick start: from the start of the process to the first request."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fakehub import StandInHost
from tests.harness import ROOT, TARGET

LIMIT = 0.4
"""Seconds, beyond the interpreter's own start."""
TIMES = 5


def test_start_up(host: StandInHost, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "INPUT_HOST_TOKEN": "ghp_notatoken",  # one request, refused: the run ends there
        "INPUT_TARGET_REPO": TARGET,
        "INPUT_API_URL": host.url,
    }

    def start(*arguments: str) -> tuple[float, float]:
        """Processor time of the whole process, and wall time up to its first request, if any."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.monotonic()
        command = [sys.executable, "-I", *arguments]
        subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, check=False)
        first = host.requests.pop().started if host.requests else time.monotonic()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return used, first - started

    interpreter = [start("-c", "") for _ in range(TIMES)]
    ours = [start(str(ROOT / "entrypoint.py")) for _ in range(TIMES)]
    processor, wall = (
        statistics.median(run[kind] for run in ours)
        - statistics.median(run[kind] for run in interpreter)
        for kind in (0, 1)
    )
    with capsys.disabled():
        print(
            f"\nfirst request {wall:.3f} s beyond the interpreter's own start, "
            f"{processor:.3f} s of processor time (limit {LIMIT} s)"
        )
    # A run waits for nobody before its first request. So on a quiet machine the two are the same;
    # on a busy one, wall time tells about the neighbours.
    assert processor < LIMIT
