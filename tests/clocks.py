"""Clocks on which nobody waits."""

from __future__ import annotations

import threading
import time


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


class SkippingClock:
    """The machine's clock, except that sleeping takes no time: it moves the clock forward."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.skipped = 0.0
        """Seconds that were slept."""

    def time(self) -> float:
        return time.time() + self.skipped

    def monotonic(self) -> float:
        return time.monotonic() + self.skipped

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.skipped += seconds
