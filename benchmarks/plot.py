"""Two charts as one SVG: seconds per way and latency, and how they grow with the files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

COLOURS = {"procedure": "#8c959f", "per-file": "#0969da", "single": "#1a7f37"}
WIDTH, HEIGHT = 920, 380
TOP, BOTTOM = 60, 320

Points = Sequence[tuple[float, float]]


def svg(
    bars: Mapping[str, Mapping[str, float]],
    measured: Mapping[str, Points],
    computed: Mapping[str, Points],
) -> str:
    """``bars``: way -> seconds per latency; the others: way -> (files, seconds)."""
    style = 'font-family="sans-serif" font-size="12" fill="#1f2328"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {style}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        *_legend(bars),
        *_bars(bars, left=50, right=420),
        *_growth(measured, computed, left=520, right=880),
    ]
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(points: Points, colour: str, more: str = "") -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" {more}/>'


def _legend(ways: Mapping[str, object]) -> list[str]:
    parts = []
    for number, way in enumerate(ways):
        x = 50 + number * 110
        parts += [f'<rect x="{x}" y="14" width="12" height="12" fill="{COLOURS[way]}"/>']
        parts += [_text(x + 18, 24, way, "start")]
    return parts


def _bars(bars: Mapping[str, Mapping[str, float]], left: float, right: float) -> list[str]:
    parts = [_text(left, 48, "27 of 29 files, seconds, by round trip", "start")]
    most = max(seconds for row in bars.values() for seconds in row.values())
    latencies = list(next(iter(bars.values())))
    group = (right - left) / len(latencies)
    width = group * 0.8 / len(bars)
    for column, latency in enumerate(latencies):
        for number, (way, row) in enumerate(bars.items()):
            height = max(row[latency] / most * (BOTTOM - TOP - 20), 1)
            x = left + column * group + number * width
            size = f'width="{width - 2:.1f}" height="{height:.1f}"'
            parts += [
                f'<rect x="{x:.1f}" y="{BOTTOM - height:.1f}" {size} fill="{COLOURS[way]}"/>',
                _text(x + width / 2 - 1, BOTTOM - height - 4, f"{row[latency]:.1f}"),
            ]
        parts += [_text(left + column * group + group * 0.4, BOTTOM + 18, latency)]
    return [*parts, _line([(left, BOTTOM), (right, BOTTOM)], "#1f2328")]


def _growth(
    measured: Mapping[str, Points], computed: Mapping[str, Points], left: float, right: float
) -> list[str]:
    points = [point for line in (*measured.values(), *computed.values()) for point in line]
    xs, ys = [math.log10(x) for x, _ in points], [math.log10(y) for _, y in points]
    low, high = math.floor(min(ys)), math.ceil(max(ys))

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - min(xs)) / (max(xs) - min(xs))
        up = (math.log10(y) - low) / (high - low)
        return left + across * (right - left), BOTTOM - up * (BOTTOM - TOP)

    parts = [_text(left - 40, 48, "files and seconds (dashed: computed from the pace)", "start")]
    for power in range(low, high + 1):
        y = place(10 ** min(xs), 10.0**power)[1]
        parts += [_line([(left, y), (right, y)], "#d1d9e0")]
        parts += [_text(left - 8, y + 4, f"{10.0**power:g}", "end")]
    for x in sorted({x for x, _ in points}):
        parts += [_text(place(x, 10.0**low)[0], BOTTOM + 18, f"{x:,.0f}")]
    for lines, style in ((measured, 'stroke-width="2"'), (computed, 'stroke-dasharray="5 4"')):
        for way, line in lines.items():
            placed = [place(x, y) for x, y in line]
            parts += [_line(placed, COLOURS[way], style)]
            dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"' for x, y in placed]
            parts += [f'{dot} fill="{COLOURS[way]}"/>' for dot in dots]
    return parts
