"""A plugin of pytest with which `scripts/mutate` learns which tests reach a line, and how long.

`-p scripts.lib.mutation_plugin --measured FOLDER`, under `coverage`.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest

from tests.forking import Forked

_seconds: dict[str, float] = {}
_with_process: set[str] = set()
"""Tests that start processes. Their lines are measured, but not by test."""
_failed: set[str] = set()
_current = ""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the folder for the measurements of each worker."""
    parser.addoption("--measured", type=Path)


def _noting(start: Any) -> Any:
    def noted(self: Any, *args: Any, **more: Any) -> Any:
        _with_process.add(_current)
        return start(self, *args, **more)

    return noted


def pytest_configure() -> None:
    """Note which tests start processes."""
    for each in (subprocess.Popen, Forked):
        each.__init__ = _noting(each.__init__)  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Give the lines that this process runs from now on the name of the test."""
    global _current  # noqa: PLW0603 (one test runs at a time)
    _current = item.nodeid
    if measuring := coverage.Coverage.current():
        measuring.switch_context(item.nodeid)
    result = yield
    if measuring:
        measuring.switch_context("")
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up the time of the phases of a test."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0) + report.duration
    if report.failed:
        _failed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the measurements of this process, without the tests that have failed."""
    seconds = {test: time for test, time in _seconds.items() if test not in _failed}
    data = {"seconds": seconds, "with_process": sorted(_with_process - _failed)}
    file = session.config.getoption("measured") / f"{os.getpid()}.json"
    file.write_text(json.dumps(data), "utf-8")
