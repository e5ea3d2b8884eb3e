"""`scripts/benchmark`: measure, print, and write benchmarks/README.md."""

from __future__ import annotations

import argparse
import sys

from benchmarks import beside, many, one, page

PARTS = {"one": one.measure, "many": many.measure, "beside": beside.measure}
"""In the order of the page."""


def main() -> None:
    """Measure the parts that are asked for; end with 1 when a goal is missed."""
    parser = argparse.ArgumentParser(prog="scripts/benchmark", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (all)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of each (5)")
    parser.add_argument("--print", action="store_true", help="print only, write no file")
    given = parser.parse_args()
    if unknown := set(given.parts) - PARTS.keys():
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    missed: list[str] = []
    for name, measure in PARTS.items():
        if name in (given.parts or PARTS):
            part = measure(given.rounds)
            print(part.text)
            if not given.print:
                page.write(name, part, list(PARTS))
            missed += (goal.text() for goal in part.goals if not goal.is_met)
    if missed:
        sys.exit("\n".join(["Missed:", *missed]))


if __name__ == "__main__":
    main()
