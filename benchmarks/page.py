"""benchmarks/README.md from what was measured."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from benchmarks.process import ROOT, Measured

PAGE = ROOT / "benchmarks/README.md"
PART = re.compile(r"^<!-- (\w+) -->\n", re.MULTILINE)
"""What begins a part, with its name: the one on the command line."""
COLUMNS = ("Requests", "Seconds", "CPU", "MB", "MB moved")

HEAD = """\
# Performance

`scripts/benchmark` writes this page; do not edit it. The ways of a table were measured by turns.
Numbers are the median of the rounds. The simulated GitHub of the tests runs on the same machine, so
every request waits for the round trip and then for this server. All connections are encrypted;
their set-up waits for no round trip. registrar runs as a runner starts it: with `RUNNER_TEMP`, so
that it writes its tables and pages, and with the packages of `requirements/runtime.txt` only.

- `CPU` is the processor's time in seconds, with all processes that were started.
- `MB` is the peak of memory, of the largest process.
- `MB moved` counts the bodies of all requests and answers.
- `×` is how many times as much as in the first line: the median of the rounds, too.

"""
MEASURED = """\
`scripts/benchmark {name}`, rounds: {rounds}. Python {python} on {cores} cores.
"""
ONE = """\
## One repository

{measured}
27 of 29 files are missing; {latency} per round trip.

{ways}

- `procedure` is [the same as a shell script](procedure.sh) around GitHub's own client.
- `create-pull-request` is [what a workflow with this action sends](create-pull-request.sh) by its
  documentation: the checkout, the changes, the push. The script leaves out Node.js, which
  runs the checkout and the action itself.
- Above 78 files `per-file` has to keep [GitHub's
  pace](../docs/many-repositories.md#pace-and-limits).
{left_out}"""
MANY = """\
## Many repositories

{measured}
An organisation, some of whose repositories lack {lacking} of {paths} listed files; {latency} per
round trip. The seconds hold the waiting for [GitHub's
pace](../docs/many-repositories.md#pace-and-limits), which is most of a run that writes.

{runs}

One request lists a hundred repositories, and one reads ten or more of them, with what their open
pull requests hold. Two requests write to a repository that lacks files.

"""
BESIDE = """\
## Beside a clone

{measured}
{repositories} repositories of {commits} commits and {megabytes} MB each (packed), {lacking} of
which lack {missing} files; {latency} per round trip.

{ways}

- [all-repos](https://github.com/asottile/all-repos) clones all, eight at once, and then runs [a
  program](autofixer.py) in the clones, eight at once, which adds the files.
- In seconds all-repos can be quicker: it writes without a pause, and registrar leaves
  {interval} s between two writes, [as GitHub asks](../docs/many-repositories.md#pace-and-limits).
- A second run of all-repos fetches only what is new, if its clones were kept.
{left_out}"""
NOT_MEASURED = "- Not measured, because it could not be installed: {ways}.\n"


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


def not_measured(ways: Iterable[str]) -> str:
    """What is said of the ways that are not in a table."""
    named = ", ".join(f"`{way}`" for way in sorted(ways))
    return NOT_MEASURED.format(ways=named) if named else ""


def numbers(head: str, found: Mapping[str, Sequence[Measured]]) -> str:
    """A table of what was measured in some rounds."""
    rows = ([name, *(_shown(*each) for each in _columns(found[name]))] for name in found)
    return table((head, *COLUMNS), rows)


def compared(head: str, found: Mapping[str, Sequence[Measured]]) -> str:
    """The same, with how many times as much as in the first line each is."""
    first, *_ = found.values()
    rows = list[list[str]]()
    for name, measured in found.items():
        row = [name]
        for (kind, values), (_, ours) in zip(_columns(measured), _columns(first), strict=True):
            times = median(value / other for value, other in zip(values, ours, strict=True))
            row += [_shown(kind, values), f"{times:.1f}"]
        rows.append(row)
    return table((head, *(each for column in COLUMNS for each in (column, "×"))), rows)


def _columns(measured: Sequence[Measured]) -> Iterator[tuple[str, list[float]]]:
    """How each column is shown, and its values in the rounds."""
    yield "{:,.0f}", [each.requests for each in measured]
    yield "{:.1f}", [each.seconds for each in measured]
    yield "{:.2f}", [each.cpu for each in measured]
    yield "{:.0f}", [each.memory / 1e6 for each in measured]
    yield "{:.2f}", [each.moved / 1e6 for each in measured]


def _shown(kind: str, values: Sequence[float]) -> str:
    return kind.format(median(values))


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
