"""One repository: both strategies beside a shell script, how they grow, and the start."""

from __future__ import annotations

import math
import shutil
from collections import deque
from collections.abc import Iterable
from statistics import median

from benchmarks import page, plot, runs
from benchmarks.page import Part
from benchmarks.runs import Measured
from registrar.github.limits import CONNECTIONS, WINDOWS

LATENCIES = (0.0, 0.05, 0.15)
OURS = ("per-file", "single")
ROUND_TRIPS = {"per-file": 1 + 2 + 1 + 1 + 27 + 1, "single": 2}
CHECKS = 29
COUNTS = (7, 29, 290, 2900)
MOST = WINDOWS[0][0] - 2
"""Files that the pace of a minute leaves, beside the branch and the pull request."""
GROWTH_LATENCY = 0.05


def measure(rounds: int) -> Part:
    """Measure in so many rounds, and give the part of the page."""
    ways = [*OURS, "procedure"] if shutil.which("gh") and shutil.which("jq") else [*OURS]
    scenes = {(way, latency): list[Measured]() for latency in LATENCIES for way in ways}
    starts = []
    runs.start_up()  # compiles what is not compiled yet
    for _ in range(rounds):
        starts.append(runs.start_up())
        for (way, latency), measured in scenes.items():
            measured.append(runs.scaffold(way, latency))
    start = {name: median(each[name] for each in starts) for name in starts[0]}
    grown = {("single", count): runs.listed("single", GROWTH_LATENCY, count) for count in COUNTS}
    grown |= {
        ("per-file", count): runs.listed("per-file", GROWTH_LATENCY, count)
        for count in (7, 29, MOST)
    }
    paced = [(count, at_pace(count, GROWTH_LATENCY)) for count in COUNTS if count > MOST]

    text = page.ONE.format(
        measured=page.measured("one", rounds),
        procedure="" if "procedure" in ways else " (not measured: `gh` or `jq` is not installed)",
        chain=ROUND_TRIPS["per-file"],
        connections=CONNECTIONS,
        made=ROUND_TRIPS["per-file"] - 1 + math.ceil(CHECKS / CONNECTIONS),
        latency=shown(GROWTH_LATENCY),
        ways=page.table(
            ("Way", "Round trip", "Requests", "Seconds", "× bound", "MB"),
            (compared(way, latency, scenes, starts) for way, latency in scenes),
        ),
        growth=page.table(
            ("Way", "Files", "Requests", "Seconds", "Host", "MB"),
            (grown_row(way, count, each) for (way, count), each in sorted(grown.items())),
        ),
        start=", ".join(f"{name} after {seconds * 1000:.0f} ms" for name, seconds in start.items()),
    )
    bars = {
        way: {shown(latency): seconds(scenes[way, latency]) for latency in LATENCIES}
        for way in ways
    }
    lines = {
        way: [(count, each.seconds) for (name, count), each in grown.items() if name == way]
        for way in OURS
    }
    image = plot.svg(bars, lines, {"per-file": [*lines["per-file"][-1:], *paced]})
    return Part(text, images={"performance.svg": image})


def compared(
    way: str,
    latency: float,
    scenes: dict[tuple[str, float], list[Measured]],
    starts: list[dict[str, float]],
) -> tuple[str, ...]:
    """One row; a ratio is the median of the ratios within each round."""
    measured = scenes[way, latency]
    ratio = ""
    if way in ROUND_TRIPS:
        chain = ROUND_TRIPS[way] * latency
        bounds = [chain + (each["imports"] if way == "single" else 0.0) for each in starts]
        if median(bounds):
            pairs = zip(measured, bounds, strict=True)
            ratio = f"{median(each.seconds / b for each, b in pairs):.2f}"
    return (
        way,
        shown(latency),
        str(measured[0].requests),
        f"{seconds(measured):.2f}",
        ratio,
        megabytes(measured),
    )


def grown_row(way: str, count: int, each: Measured) -> tuple[str, ...]:
    """One row of how the cost grows."""
    host = f"{each.host:.1f}" if way == "single" else ""
    return (way, f"{count:,}", str(each.requests), f"{each.seconds:.1f}", host, megabytes([each]))


def at_pace(count: int, latency: float) -> float:
    """Seconds that branch, files and pull request take at the pace that the host allows."""
    sent = deque[float](maxlen=max(allowed for allowed, _ in WINDOWS))
    now = 0.0
    for _ in range(count + 2):
        slots = [sent[-allowed] + window for allowed, window in WINDOWS if len(sent) >= allowed]
        now = max([now, *slots])
        sent.append(now)
        now += latency
    return now


def seconds(measured: Iterable[Measured]) -> float:
    """The median."""
    return median(each.seconds for each in measured)


def megabytes(measured: Iterable[Measured]) -> str:
    """The largest peak memory."""
    return f"{max(each.memory for each in measured) / 1_000_000:.0f}"


def shown(latency: float) -> str:
    """Milliseconds."""
    return f"{latency * 1000:.0f} ms"
