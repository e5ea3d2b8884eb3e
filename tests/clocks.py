"""Clocks for tests: their time passes only if a test lets it pass."""

from __future__ import annotations

import mmap
import threading
from pathlib import Path

BEGINNING = 1_800_000_000.0
"""2027-01-15 08:00 UTC."""


class FakeClock:
    """A clock whose time passes only by `sleep`, which returns at once.

    So the result of a test depends neither on the day nor on the speed of the machine. All values
    are in seconds. Processes that use the same ``file`` share one clock.
    """

    def __init__(self, now: float = BEGINNING, file: Path | None = None) -> None:
        self._lock = threading.Lock()
        size = 8
        if file is None:
            memory = mmap.mmap(-1, size)
        else:
            with file.open("ab+") as opened:
                opened.truncate(size)
                memory = mmap.mmap(opened.fileno(), size)
        self._now = memoryview(memory).cast("d")
        # New memory is zero; otherwise another process has set the time already
        self.now = self.now or now

    @property
    def now(self) -> float:
        """The time that `time` and `monotonic` return."""
        return self._now[0]

    @now.setter
    def now(self, now: float) -> None:
        self._now[0] = now

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.now += seconds
