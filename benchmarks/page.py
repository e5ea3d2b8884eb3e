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

Made by `scripts/benchmark`; do not edit. In a round all ways run one after another; seconds are the
median of the rounds, a ratio is the median of the ratios within the rounds. GitHub is played by the
stand-in of the tests, on the same machine: every request waits for the round trip, then for what
the stand-in computes. Connections are encrypted and trust the usual bundle of certificates; their
set-up counts, but waits for no round trip.

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

- `procedure` is the same procedure as a plain shell script around GitHub's own client,
  [benchmarks/procedure.sh](../benchmarks/procedure.sh), without encryption{procedure}.
- The bound of `per-file` is its chain of round trips: token check, two reads, one round of
  existence checks, the branch, 27 files, the pull request: {chain} at the given latency. The 29
  checks share {connections} connections, so that a run makes {made}.
- The bound of `single` is two round trips, the start of the interpreter and the imports.
- Peak memory is that of the largest process.

### How it grows

At {latency} per round trip, all files missing.

{growth}

- `host` is the part of the seconds in which the stand-in computed, most of it
  for GraphQL.
- `single` asks for {directories} directories in one query, those above them included, and puts
  {files:,} files or {megabytes} MB into one commit.
- `per-file` above 78 files is computed, not measured: GitHub takes 80 writes a minute and 500 an
  hour, and that is the cost. With `max_wait_minutes` as it is by default, 15, a run stops when it
  would wait for longer in all, and the next one continues.

### Start-up

{start}

The imports are `requests`, PyGithub (with it `cryptography` and a class for everything that GitHub
has) and our own; invalid input is reported before PyGithub is imported. The image contains the
bytecode of all that a run imports, so that nothing is compiled at a start.
"""
MANY = """\
## Many repositories

{measured}
An organisation, some of whose repositories lack {lacking} of {paths} listed files; {latency} per
round trip. [An entry point of the benchmark](../benchmarks/unpaced.py) leaves out the waiting for
GitHub's pace, which is most of a run that writes ([Caps and
pace](many-repositories.md#caps-and-pace)).

{goals}

{runs}

- A run may make ten requests to begin with, one for each hundred repositories of the list, one for
  each ten that are read, and two for each that lacks files.
- `Chain`: the round trips that follow one another, of {latency} each. `÷ chain` divides the seconds
  by them alone, although what the stand-in computes is no time of ours: `Host` is that part of the
  seconds, and most of what a plan takes beyond its chain.
- `MB` is the peak of memory; `÷ one` divides it by that of the run on one repository.
"""


BESIDE = """\
## Beside all-repos

{measured}
[all-repos](https://github.com/asottile/all-repos) {version} clones all repositories and pushes from
clones. There are {repositories} of {commits} commits and {megabytes} MB each (packed), and
{lacking} of them lack {missing} files. {latency} per round trip; nobody waits for GitHub's pace.

{goals}

{runs}

- Each tool finds fresh repositories and an empty disk. `plan again` is the same once more: clones
  are only brought up to date.
- `plan` of all-repos is `all-repos-clone` (eight at once, its default), then `all-repos-find-files`
  with the listed paths. `write` is [an autofixer](../benchmarks/all_repos_fixer.py), which finds
  the clones that lack files, and pushes by `github_pull_request`: one repository after the other,
  which is its default and [GitHub's
  advice](https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api),
  or eight at once. registrar writes one after the other, and reads everything again before that.
- git speaks HTTPS and sends its token at once, which spares it SSH's handshake and a refused first
  request. Round trips that set a connection up are not counted: all-repos has a connection for each
  call of git, registrar one for all.
- `MB moved` counts the bodies of all requests and answers; `MB left` what a step adds on the disk.
  `÷` divides by registrar's.
"""
STEP = """\
## The whole step

{measured}
From nothing to the end of a plan of one repository: `docker pull` out of a registry on this machine
into an engine that has no layer of it, or the installation of packages from a directory, then the
run. {latency} per round trip to GitHub.

{goals}

{runs}

- `image` is that of a release, `composite` [the action without
  Docker](examples.md#without-docker), `slim image` [the same
  packages](../benchmarks/slim.Dockerfile) on `python:3.13-slim-trixie`.
- The network adds what the packed bytes take.
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
        """As a row of `goals`."""
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


def goals(found: Sequence[Goal]) -> str:
    """A table of what is to hold, and what was measured."""
    return table(("Goal", "Bound", "Measured"), (goal.row() for goal in found))


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
