"""benchmarks/README.md from what was measured."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchmarks.process import ROOT

PAGE = ROOT / "benchmarks/README.md"
PART = re.compile(r"^<!-- (\w+) -->\n", re.MULTILINE)
"""What begins a part, with its name: the one on the command line."""

HEAD = """\
# Performance

`scripts/benchmark` writes this page; do not edit it. Seconds are the median of the rounds. The
simulated GitHub of the tests runs on the same machine, so every request waits for the round trip
and then for this server. Connections are encrypted; their set-up waits for no round trip.

"""
MEASURED = """\
`scripts/benchmark {name}`, rounds: {rounds}. Python {python} on {cores} cores.
"""
ONE = """\
## One repository

{measured}
27 of 29 files are missing.

{ways}

- `procedure` is [the same as a shell script](procedure.sh) around GitHub's own
  client, without encryption{procedure}.
- `MB` is the peak of memory of the largest process.
- Above 78 files `per-file` has to keep [GitHub's
  pace](../docs/many-repositories.md#pace-and-limits).
"""
MANY = """\
## Many repositories

{measured}
An organisation, some of whose repositories lack {lacking} of {paths} listed files; {latency} per
round trip, without the waiting for [GitHub's
pace](../docs/many-repositories.md#pace-and-limits), which is most of a run that
writes ([how](unpaced.py)).

{runs}

One request lists a hundred repositories, and one reads ten or more of them, with what their open
pull requests hold. Two requests write to a repository that lacks files.

### Beside a clone

{cloned} repositories of {commits} commits and {megabytes} MB each (packed).

{beside}

- `git clone --depth=1` of all, eight at once, is the least that a tool needs if it works in clones.
- `MB moved` counts the bodies of all requests and answers; `MB left` counts the bytes on the disk.
"""


class Goal(NamedTuple):
    """A ratio or a count that is to hold wherever it is measured."""

    what: str
    most: float
    measured: float

    @property
    def is_met(self) -> bool:
        """Whether it holds."""
        return self.measured <= self.most

    def text(self) -> str:
        """What is to hold, and what was measured."""
        return f"{self.what}: at most {self.most:,g}, and it is {self.measured:,.3g}"


class Part(NamedTuple):
    """What one part of the benchmark has found."""

    text: str
    goals: Sequence[Goal] = ()


def measured(name: str, rounds: int) -> str:
    """What was measured where."""
    return MEASURED.format(
        name=name, rounds=rounds, python=platform.python_version(), cores=os.cpu_count()
    )


def write(name: str, part: Part, order: Sequence[str]) -> None:
    """Put a part in its place; the other parts stay as they are."""
    _, *found = PART.split(PAGE.read_text("utf-8"))
    texts = dict(zip(found[::2], found[1::2], strict=True)) | {name: part.text}
    parts = (f"<!-- {each} -->\n{texts[each].rstrip()}\n" for each in order if each in texts)
    PAGE.write_text(HEAD + "\n".join(parts), "utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, wide enough to be read on a console too; the numbers stand to the right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    shown = [
        "| "
        + " | ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        + " |"
        for line in lines
    ]
    rules = [
        "-" * width if not column else "-" * (width - 1) + ":"
        for column, width in enumerate(widths)
    ]
    return "\n".join([shown[0], f"| {' | '.join(rules)} |", *shown[1:]])
