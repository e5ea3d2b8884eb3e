"""docs/performance.md from what was measured."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from benchmarks.process import ROOT

PAGE = ROOT / "docs/performance.md"
PART = re.compile(r"^<!-- (\w+) -->\n", re.MULTILINE)
"""What begins a part, with its name: the one on the command line."""

HEAD = """\
# Performance

Made by `scripts/benchmark`; do not edit. Seconds are the median of the rounds, a ratio is the
median of the ratios within the rounds. The stand-in of the tests plays GitHub, on the same
machine: every request waits for the round trip, then for what the stand-in computes. Connections
are encrypted; their set-up waits for no round trip.

"""
MEASURED = """\
`scripts/benchmark {name}`, rounds: {rounds}. Python {python} on {cores} cores.
"""
ONE = """\
## One repository

{measured}
![Seconds by round trip, and by number of files](images/performance.svg)

### 27 of 29 files

{ways}

- `procedure` is [the same as a shell script](../benchmarks/procedure.sh) around GitHub's own
  client, without encryption{procedure}.
- `× bound` compares the seconds with the round trips that must follow one another. `per-file` has
  {chain}: token check, two reads, one round of existence checks, the branch, 27 files, the pull
  request. (A run makes {made}, because {connections} connections share the 29 checks.) `single` has
  two, and the start of the interpreter with the imports.
- `MB` is the peak of memory of the largest process.

### How it grows

At {latency} per round trip, all files missing.

{growth}

- `Host` is the part of the seconds in which the stand-in computed.
- `single` [splits](concepts.md#strategies) long lists. Above 78 files `per-file` has to keep
  GitHub's pace; that part of the picture is computed.

### Start-up

From the start: {start}.
Invalid input is reported before PyGithub, most of the imports, is imported.
"""
MANY = """\
## Many repositories

{measured}
An organisation, some of whose repositories lack {lacking} of {paths} listed files; {latency} per
round trip, without the waiting for [GitHub's pace](reference.md#pace-and-limits), which is
most of a run that writes ([how](../benchmarks/unpaced.py)).

{runs}

- One request lists a hundred repositories, one reads ten or more, one what as many open pull
  requests hold, two write to a repository that lacks files. Rules need one more for each hundred
  where GitHub's list leaves the custom properties out.
- Report, table and page of the 10,000 take {files} times the memory, and no request more.
- `× chain` compares the seconds with the round trips that must follow one another. `Host` is what
  the stand-in computes: most of the rest in a plan.
"""


BESIDE = """\
## Beside all-repos

{measured}
[all-repos](https://github.com/asottile/all-repos) {version} clones all repositories
and pushes from clones. There are {repositories} of {commits} commits and {megabytes} MB each
(packed), and {lacking} of them lack {missing} files. {latency} per round trip; nobody waits for
GitHub's pace.

{runs}

- `plan` begins with an empty disk, `plan again` with what the first one left there. With all-repos
  it is `all-repos-clone` (eight at once, its default), then `all-repos-find-files`.
- `git clone --depth=1` of all, eight at once, is the least that a tool does which clones in this
  way, such as multi-gitter.
- `write` of all-repos is [an autofixer](../benchmarks/all_repos_fixer.py), one after the other (its
  default) or eight at once. registrar writes one after the other, and reads everything again first.
- `MB moved` counts the bodies of all requests and answers; `MB left` what a step adds on the
  disk.
"""
STEP = """\
## The whole step

{measured}
From nothing to the end of a plan of one repository: `docker pull` out of a registry on the same
machine, or the installation of packages from a directory, then the run. {latency} per round trip
to GitHub. The network adds what the packed bytes take.

{runs}

- `image` is that of a release, `composite` [the action without
  Docker](examples.md#without-docker), `slim image` [the same
  packages](../benchmarks/slim.Dockerfile) on `python:3.13-slim-trixie`.
- `Ready after` is the end of the pull; for `composite` the first request.
"""


class Goal(NamedTuple):
    """A ratio or a count that is to hold wherever it is measured."""

    what: str
    bound: float
    measured: float
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        """Whether it holds."""
        if self.at_least:
            return self.measured >= self.bound
        return self.measured <= self.bound

    def row(self) -> tuple[str, ...]:
        """What is to hold, and what was measured."""
        sign = "≥" if self.at_least else "≤"
        return self.what, f"{sign} {self.bound:,g}", f"{round(self.measured, 2):,g}"


class Part(NamedTuple):
    """What one part of the benchmark has found."""

    text: str
    goals: Sequence[Goal] = ()
    images: Mapping[str, str] = {}
    """SVG by file name in docs/images."""


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
    for file, image in part.images.items():
        (ROOT / "docs/images" / file).write_text(image, "utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """A Markdown table, wide enough to be read on a console too.

    The first ``texts`` columns stand to the left, the numbers that follow to the right.
    """
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    shown = [
        "| "
        + " | ".join(
            cell.ljust(width) if column < texts else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        + " |"
        for line in lines
    ]
    rule = "| " + " | ".join(
        "-" * width if column < texts else "-" * (width - 1) + ":"
        for column, width in enumerate(widths)
    )
    return "\n".join([shown[0], rule + " |", *shown[1:]])
