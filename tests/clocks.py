"""Clocks on which nobody waits."""

from __future__ import annotations

import mmap
import threading
import time
from pathlib import Path


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
    """The machine's clock, except that sleeping takes no time: it moves the clock forward.

    Processes that are given the same file share one clock.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._lock = threading.Lock()
        size = 8
        if file is None:
            memory = mmap.mmap(-1, size)
        else:
            with file.open("ab+") as opened:
                opened.truncate(size)
                memory = mmap.mmap(opened.fileno(), size)
        self._seconds = memoryview(memory).cast("d")

    @property
    def skipped(self) -> float:
        """Seconds that were slept."""
        return self._seconds[0]

    def time(self) -> float:
        return time.time() + self.skipped

    def monotonic(self) -> float:
        return time.monotonic() + self.skipped

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self._seconds[0] += seconds
