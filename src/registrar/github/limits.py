"""What GitHub allows to a token: rate limits, pace, scopes; and how long a header asks to wait."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import NamedTuple

from registrar.errors import Refused
from registrar.failure import Kind
from registrar.runtime.clock import Clock
from registrar.texts.messages import msg

WINDOWS = ((80, 61.0), (500, 3601.0))
"""Content-creating requests that GitHub takes, and in how many seconds
(https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).

Each window is a second longer than GitHub's: requests do not all take equally long to arrive.
"""
CONNECTIONS = 15
"""Requests under way at once: GitHub allows 100 (same page), and several jobs may share a token."""
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
CLASSIC_PREFIX = "ghp_"
_LONGEST = 10 * 365 * 24 * 3600.0
"""Seconds: a header that asks for more is cut to it, so that the moment has a date."""
_LAST_MOMENT = datetime.max.replace(microsecond=0, tzinfo=UTC).timestamp()


def interval_for(writes: int) -> float:
    """Seconds between two writes of a run that makes ``writes`` in all."""
    return SHORT_INTERVAL if writes <= MANY_WRITES else LONG_INTERVAL


class Pace:
    """Is told what to expect and what was sent, and says when the next write may go.

    Where nothing is expected, only GitHub's own windows count. May be used from several threads.
    """

    def __init__(self, clock: Clock) -> None:
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


class Resource(StrEnum):
    """The rate limits that we meet, under the names of ``x-ratelimit-resource``."""

    REST = "core"
    GRAPHQL = "graphql"


class RateLimit(NamedTuple):
    """As GitHub last reported it; ``reset`` in seconds since the epoch."""

    remaining: int
    reset: float


class TokenLimits:
    """What GitHub has reported about a token. May be used from several threads."""

    def __init__(self, token: str, clock: Clock) -> None:
        self._is_classic = token.startswith(CLASSIC_PREFIX)
        self._clock = clock
        self._lock = threading.Lock()
        self._rate_limits: dict[Resource, RateLimit] = {}
        self.pace = Pace(clock)
        """How fast its writes follow each other."""
        self.sent = 0
        """Requests with this token so far, repeated ones included."""
        self.was_accepted = False
        """Whether any request of the run has succeeded with the token."""
        self.scopes: frozenset[str] | None = None
        """Scopes of a classic token; ``None`` where GitHub names none."""

    def note_sent(self) -> None:
        """Count a request that is about to be sent."""
        with self._lock:
            self.sent += 1

    def note(self, headers: Mapping[str, str]) -> None:
        """Learn from the headers of an answer."""
        self.note_rate_limit(
            headers.get("x-ratelimit-resource", Resource.REST),
            number(headers.get("x-ratelimit-remaining")),
            number(headers.get("x-ratelimit-reset")),
        )
        scopes = headers.get("x-oauth-scopes")
        if scopes or (scopes is not None and self._is_classic):
            # Sent empty to other tokens too, where it means nothing
            self.scopes = frozenset(filter(None, (s.strip() for s in scopes.split(","))))

    def note_rate_limit(self, resource: str, remaining: float | None, reset: float | None) -> None:
        """Learn how many requests are left until ``reset``, in seconds since the epoch."""
        if remaining is None or reset is None or resource not in set(Resource):
            return
        with self._lock:
            known = self._rate_limits.get(Resource(resource))
            if known and known.reset == reset:
                # Answers of several connections may come in another order than they were counted
                remaining = min(remaining, known.remaining)
            self._rate_limits[Resource(resource)] = RateLimit(int(remaining), reset)

    def require(self, resource: Resource, needed: int) -> None:
        """Raise `Refused` where fewer than ``needed`` requests or points are known to be left."""
        left = self.remaining(resource)
        if left is not None and left < needed:
            key = "limit.requests" if resource is Resource.REST else "limit.points"
            until = clock_time(self._rate_limits[resource].reset)
            raise Refused(msg(key, needed=needed, left=left, until=until), Kind.USED_UP)

    def remaining(self, resource: Resource) -> int | None:
        """Requests or points that are left until the reset; ``None`` where GitHub has not said."""
        limit = self._rate_limits.get(resource)
        if limit is None or limit.reset <= self._clock.time():
            return None
        return limit.remaining


def clock_time(epoch: float) -> str:
    """Show a moment (seconds since the epoch) in UTC."""
    return datetime.fromtimestamp(min(epoch, _LAST_MOMENT), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def asked_pause(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that GitHub asks to wait: ``Retry-After``, or until the primary limit's reset.

    ``now`` is our own time, in seconds since the epoch, for answers without ``Date``.
    """
    pause = retry_after(headers, now)
    reset = number(headers.get("x-ratelimit-reset"))
    if pause is None and reset is not None and headers.get("x-ratelimit-remaining") == "0":
        pause = max(reset - _their_time(headers, now), 0.0) + 1
    return None if pause is None else min(pause, _LONGEST)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds of the header ``Retry-After``, which holds a number or a date."""
    value = headers.get("retry-after", "")
    seconds = number(value)
    if seconds is None and value:
        date = _date(value)
        seconds = None if date is None else max(date - _their_time(headers, now), 0.0)
    return None if seconds is None else min(seconds, _LONGEST)


def number(text: str | None) -> float | None:
    """A finite number from 0 in a header, or ``None``."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _their_time(headers: Mapping[str, str], now: float) -> float:
    """GitHub's clock, where the answer has one: ours may be wrong by hours."""
    date = _date(headers.get("date", ""))
    return now if date is None else date


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, TypeError):
        return None
