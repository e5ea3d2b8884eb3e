"""docs/performance.md from what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

TEMPLATE = """\
# Performance

Made by `scripts/benchmark`; do not edit. {machine}. Median of {rounds} rounds, in each of which
all ways run one after another; a ratio is the median of the ratios within the rounds. The host is
the stand-in of the tests, on the same machine: every request waits for the round trip, then for
what the stand-in computes. Connections are encrypted and trust the usual bundle of certificates;
their set-up counts, but waits for no round trip.

![Seconds by round trip, and by number of files](images/performance.svg)

## 27 of 29 files

{ways}

- `procedure` is the same procedure as a plain shell script around GitHub's own client,
  [benchmarks/procedure.sh](../benchmarks/procedure.sh), without encryption{procedure}.
- The bound of `per-file` is its chain of round trips: token check, two reads, one round of
  existence checks, the branch, 27 files, the pull request: {chain} at the given latency. The 29
  checks share {connections} connections, so that a run makes {made}.
- The bound of `single` is two round trips, the start of the interpreter and the imports.
- Peak memory is that of the largest process.

## How it grows

At {latency} per round trip, all files missing.

{growth}

- `host` is the part of the seconds in which the stand-in computed: GraphQL in Python is slow, a
  GitHub is not.
- `single` asks for {paths} paths in one query, the directories above the listed files included, and
  puts {files:,} files or {megabytes} MB into one commit.
- `per-file` above 78 files is computed, not measured: GitHub takes 80 writes a minute and 500 an
  hour, and that is the cost. With `max_wait_minutes` as it is by default, 15, a run stops when it
  would wait for longer in all, and the next one continues.

## Start-up

{start}

The imports are `requests`, PyGithub (with it `cryptography` and a class for everything that GitHub
has) and our own; invalid input is reported before PyGithub is imported. The image contains the
bytecode of all that a run imports, so that nothing is compiled at a start.
"""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, numbers to the right; wide enough to be read on a console too."""
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
    rule = "| " + " | ".join(
        "-" * (width - 1) + ":" if column else "-" * width for column, width in enumerate(widths)
    )
    return "\n".join([shown[0], rule + " |", *shown[1:]])
