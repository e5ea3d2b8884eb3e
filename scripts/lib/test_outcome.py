"""Prints the last line of `scripts/test`: `python test_outcome.py STATUS FILE...` (JUnit's XML)."""

from __future__ import annotations

import sys
from xml.etree import ElementTree


def main(status: str, *files: str) -> None:
    """Print the number of failed tests and of all tests; ``status`` is the exit code of pytest."""
    suites = [suite for file in files for suite in ElementTree.parse(file).iter("testsuite")]  # noqa: S314 (our own)
    total, failures, errors, skipped = (
        sum(int(suite.get(name, 0)) for suite in suites)
        for name in ("tests", "failures", "errors", "skipped")
    )
    line = f"{failures + errors} of {total} tests failed, {skipped} were skipped."
    if status != "0" and not failures + errors:
        line += " It ended before all were run, or too little of the code was reached: see above."
    print(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
