"""How fast the writes of one token follow each other."""

from __future__ import annotations

import threading
from collections import deque

from registrar.runtime.clock import Clock

WINDOWS = ((80, 61.0), (500, 3601.0))
"""Content-creating requests that GitHub takes, and in how many seconds
(https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).

Each window is a second longer than GitHub's: requests do not all take equally long to arrive.
"""
MANY_WRITES = 400
"""The most writes that fit into an hour at `SHORT_INTERVAL` without meeting the hourly limit."""
SHORT_INTERVAL = 3.0
"""Seconds between two writes of a short run: 20 a minute of the 80 that GitHub takes."""
LONG_INTERVAL = 7.2
"""Seconds between two writes of a long run: 500 an hour."""
LONGEST_INTERVAL = 60.0
"""Seconds between two writes at most, after however many limits: as long as GitHub asks to wait
after one that names no time
(https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api)."""


def interval_for(writes: int) -> float:
    """Seconds between two writes of a run that makes ``writes`` in all."""
    return SHORT_INTERVAL if writes <= MANY_WRITES else LONG_INTERVAL


class Pace:
    """Is told what to expect and what was sent, and says when the next write may go.

    Where nothing is expected, only GitHub's own windows count. May be used from several threads.
    """

    def __init__(self, clock: Clock) -> None:
        """Nothing is expected."""
        self._clock = clock
        self._lock = threading.Lock()
        self._sent: deque[float] = deque(maxlen=max(count for count, _ in WINDOWS))
        """When the last content-creating writes were sent (monotonic clock, in seconds)."""
        self._last: float | None = None
        """When the last write of any kind was sent."""
        self._at_first = 0.0
        self._widened = 1
        """Factor by which the interval is longer than at first, because limits were met."""
        self.end: float | None = None
        """Moment (monotonic) at which a run with an end stops waiting for GitHub's windows."""
        self.writes = 0
        """Number of writes so far that no limit stopped."""

    def expect(self, writes: int, *, end: float) -> None:
        """Expect ``writes`` in all, those included that were made, until ``end``."""
        self._at_first = interval_for(writes)
        self.end = end

    @property
    def interval(self) -> float:
        """Seconds from one write to the next, after the limits that were met."""
        return min(self._at_first * self._widened, LONGEST_INTERVAL)

    def seconds_until(self, writes: int) -> float:
        """Seconds until the next write may go, and ``writes`` in all fit into GitHub's windows."""
        return max(self.rest_of_interval(), self.rest_of_window(writes))

    def rest_of_interval(self) -> float:
        """Seconds that are left of the interval since the last write."""
        if self._last is None:
            return 0.0
        return max(self._last + self.interval - self._clock.monotonic(), 0.0)

    def rest_of_window(self, writes: int = 1) -> float:
        """Seconds until GitHub takes ``writes`` more content-creating ones, or a minute's."""
        writes = min(writes, WINDOWS[0][0])
        now = self._clock.monotonic()
        with self._lock:
            due = [
                self._sent[writes - 1 - count] + seconds - now
                for count, seconds in WINDOWS
                if len(self._sent) > count - writes
            ]
        return max([0.0, *due])

    def note_sent(self, *, creates_content: bool = True) -> None:
        """Take note of a write that is about to be sent."""
        with self._lock:
            self._last = self._clock.monotonic()
            if creates_content:
                self._sent.append(self._last)

    def note_limit(self) -> None:
        """Double the interval: a limit stopped a request."""
        if self._at_first:
            self._widened *= 2
