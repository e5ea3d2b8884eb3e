"""A clock for tests: time passes only where somebody sleeps."""

from __future__ import annotations


class FakeClock:
    """A `registrar.clock.Clock` that stands still; all values are seconds."""

    def __init__(self, now: float = 1_577_836_800.0) -> None:
        self.now = now
        self.slept: list[float] = []

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)
