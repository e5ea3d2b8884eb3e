"""The limits of a token (rate limits, pace of writes, scopes), and the waiting that they need."""

import math
import random
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

from registrar.errors import Failure, Kind, OutOfTime, Refused
from registrar.github.case import Meaning
from registrar.runtime.cancellation import Cancellation, Clock
from registrar.texts.messages import Message, msg

WINDOWS = ((80, 61.0), (500, 3601.0))
"""How many content-creating requests GitHub accepts, and in how many seconds
(https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).

Each window is a second longer than GitHub's, because some requests take longer to arrive.
"""
CONNECTIONS = 15
"""The most requests under way at once. GitHub allows 100 (same page); jobs may share a token."""
PER_PAGE = 100
"""Items on a page of a list: the most that GitHub allows."""
MANY_WRITES = 400
"""The most writes of a short run: fewer than in an hour, because a write may need another request.
"""
SHORT_INTERVAL = 1.0
"""Seconds between two writes of a short run, as GitHub asks
(https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api).

Lower limits than the documented ones were seen; `Pace.note_limit` adapts to them.
"""
LONG_INTERVAL = 7.2
"""Seconds between two writes of a long run: 500 an hour."""
LONGEST_INTERVAL = 60.0
"""The most seconds between two writes, even after many limits: as long as GitHub asks to wait after
a limit that names no time
(https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api)."""
CALM_WRITES = 10
"""After so many accepted writes in a row the interval halves again, down to the one at first. If a
limit follows, the halved interval was too short: then it takes twice as many writes each time."""
_MOST_CALM_WRITES = 160
"""The most accepted writes until the interval halves, so that it becomes shorter in every run over
hundreds of repositories."""
CLASSIC_PREFIX = "ghp_"
_LONGEST = 10 * 365 * 24 * 3600.0
"""The most seconds that a header can ask for, so that the end of every pause is a valid date."""
_LAST_MOMENT = datetime.max.replace(microsecond=0, tzinfo=UTC).timestamp()


def interval_for(writes: int) -> float:
    """Return the seconds between two writes of a run that makes ``writes`` in all."""
    return SHORT_INTERVAL if writes <= MANY_WRITES else LONG_INTERVAL


class Pace:
    """Says when the next write may be sent, from the number of expected and of sent writes.

    If nothing is expected, only GitHub's own windows count. May be used from several threads.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._sent: deque[float] = deque(maxlen=max(count for count, _ in WINDOWS))
        """When the last content-creating writes were sent (monotonic clock, in seconds)."""
        self._last = -math.inf
        """When the last write of any kind was sent."""
        self._at_first = 0.0
        self._widened = 1
        """Factor by which the interval is longer than at first, because limits were met lately."""
        self._calm = 0
        """Number of writes that GitHub has accepted since the interval changed."""
        self._needed = CALM_WRITES
        """Number of writes that GitHub has to accept until the interval halves."""
        self._has_halved = False
        """Whether the interval has halved since the last limit."""
        self.end: float | None = None
        """Moment (monotonic clock, in seconds) at which the run ends; ``None``: it has no end."""
        self.writes = 0
        """Number of writes so far that no limit stopped."""

    def expect(self, writes: int, *, end: float) -> None:
        """Set how many ``writes`` the run makes in all (also past ones), and when the run ends.

        ``end`` is on the monotonic clock, in seconds.
        """
        self._at_first = interval_for(writes)
        self.end = end

    @property
    def interval(self) -> float:
        """Seconds from one write to the next; each limit makes them longer for some time."""
        return self._interval(self._widened)

    def _interval(self, widened: int) -> float:
        return min(self._at_first * widened, LONGEST_INTERVAL)

    def seconds_for(self, writes: int) -> float:
        """Return the seconds that ``writes`` more writes take if GitHub accepts each of them."""
        seconds, widened, until = 0.0, self._widened, self._needed - self._calm
        while widened > 1 and writes > 0:
            some = min(until, writes)
            seconds += some * self._interval(widened)
            writes, widened, until = writes - some, widened // 2, self._needed
        return seconds + writes * self._interval(widened)

    @property
    def is_over(self) -> bool:
        """Whether the run has reached its end; never if it has none."""
        return self.end is not None and self._clock.monotonic() >= self.end

    def seconds_until(self, writes: int) -> float:
        """Return the seconds until the next write may be sent.

        By then, GitHub's windows must also have room for ``writes`` in all.
        """
        return max(self.rest_of_interval(), self.rest_of_window(writes))

    def rest_of_interval(self) -> float:
        """Return the seconds that are left of the interval since the last write."""
        return max(self._last + self.interval - self._clock.monotonic(), 0.0)

    def rest_of_window(self, writes: int = 1) -> float:
        """Return the seconds until GitHub accepts ``writes`` more content-creating requests.

        If they are more than GitHub accepts in a minute, only the writes of one minute count.
        """
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
        """Record a write that is about to be sent."""
        with self._lock:
            self._last = self._clock.monotonic()
            if creates_content:
                self._sent.append(self._last)

    def note_limit(self) -> None:
        """Double the interval, because a limit stopped a request."""
        if self._has_halved:
            self._needed = min(2 * self._needed, _MOST_CALM_WRITES)
        self._calm, self._has_halved = 0, False
        if self._at_first:
            self._widened *= 2

    def note_accepted(self) -> None:
        """Count a write that GitHub has accepted. After some in a row the interval halves again."""
        self.writes += 1
        self._calm += 1
        if self._calm >= self._needed and self._widened > 1:
            self._calm, self._has_halved = 0, True
            self._widened //= 2


class Resource(StrEnum):
    """The rate limits of our requests, by their names in ``x-ratelimit-resource``."""

    REST = "core"
    GRAPHQL = "graphql"


class TokenLimits:
    """Limits and scopes of a token, as GitHub has reported them.

    May be used from several threads.
    """

    def __init__(self, token: str, clock: Clock) -> None:
        self._is_classic = token.startswith(CLASSIC_PREFIX)
        self._clock = clock
        self._lock = threading.Lock()
        self._rate_limits: dict[Resource, tuple[int, float]] = {}
        """Requests or points left, as last reported, and the reset (seconds since the epoch)."""
        self.query = threading.RLock()
        """Held while a request to GraphQL is under way, so that there is only one, because GitHub
        bounds the CPU time of a token there (docs/github-behaviour.md, "Rate limits")."""
        self.pace = Pace(clock)
        """The pace of the writes with this token."""
        self.sent = 0
        """Requests with this token so far, repeated ones included."""
        self.was_accepted = False
        """Whether any request of the run has succeeded with the token."""
        self.rejections = 0
        """How often GitHub has rejected the token since it last accepted it."""
        self.scopes: frozenset[str] | None = None
        """Scopes of a classic token; ``None`` if GitHub names none."""

    def note_sent(self) -> None:
        """Count a request that is about to be sent."""
        with self._lock:
            self.sent += 1

    def note(self, headers: Mapping[str, str]) -> None:
        """Record the rate limit and the scopes that the headers of an answer name."""
        self.note_rate_limit(
            headers.get("x-ratelimit-resource", Resource.REST),
            number(headers.get("x-ratelimit-remaining")),
            number(headers.get("x-ratelimit-reset")),
        )
        scopes = headers.get("x-oauth-scopes")
        if scopes or (scopes is not None and self._is_classic):
            # Other kinds of token get an empty header, which means nothing
            self.scopes = frozenset(filter(None, (s.strip() for s in scopes.split(","))))

    def note_rate_limit(self, resource: str, remaining: float | None, reset: float | None) -> None:
        """Record how many requests or points are left until ``reset`` (seconds since the epoch).

        Nothing is recorded if a number is missing, or for a ``resource`` that is not a `Resource`.
        """
        if remaining is None or reset is None or resource not in set(Resource):
            return
        with self._lock:
            left, until = self._rate_limits.get(Resource(resource), (0, 0.0))
            if until == reset:
                # Answers of several connections may come in another order than they were counted
                remaining = min(remaining, left)
            self._rate_limits[Resource(resource)] = int(remaining), reset

    def require(self, resource: Resource, needed: int) -> None:
        """Raise `Refused` if GitHub has said that fewer than ``needed`` requests are left.

        For GraphQL these are points.
        """
        left = self.remaining(resource)
        if left is not None and left < needed:
            key = "limit.requests" if resource is Resource.REST else "limit.points"
            values = {"needed": needed, "left": left, "until": self.until(resource)}
            raise Refused(msg(key, **values), Kind.USED_UP)

    def until(self, resource: Resource) -> str:
        """Return the moment of the reset as a text; `KeyError` if GitHub has reported none."""
        return clock_time(self._rate_limits[resource][1])

    def remaining(self, resource: Resource) -> int | None:
        """Return the requests or points that are left until the reset.

        ``None`` if GitHub has not said it, or if the reset is over.
        """
        left, until = self._rate_limits.get(resource, (0, 0.0))
        return left if until > self._clock.time() else None


def clock_time(epoch: float) -> str:
    """Return a moment (seconds since the epoch) as a text in UTC."""
    return datetime.fromtimestamp(min(epoch, _LAST_MOMENT), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def asked_pause(headers: Mapping[str, str], now: float, *, is_limit: bool) -> float | None:
    """Return the seconds that GitHub asks to wait; ``None`` if it names no time.

    ``Retry-After``, which holds a number or a date, comes first. Without it, the time is that until
    the reset of a limit that is used up. ``now`` is our own time, in seconds since the epoch. It
    counts only for answers without ``Date``, because it may be wrong by hours.
    """
    value = headers.get("retry-after")
    their_time = _date(headers.get("date"))
    now = now if their_time is None else their_time
    pause, date = number(value), _date(value)
    if date is not None:
        pause = max(date - now, 0.0)
    reset = number(headers.get("x-ratelimit-reset"))
    if is_limit and pause is None and reset is not None:
        is_used_up = headers.get("x-ratelimit-remaining") == "0"
        pause = max(reset - now, 0.0) + 1 if is_used_up else None
    return None if pause is None else min(pause, _LONGEST)


def number(text: str | None) -> float | None:
    """Return a finite number from 0 in a header, or ``None``."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _date(text: str | None) -> float | None:
    """Return a moment in a header, in seconds since the epoch, or ``None``."""
    try:
        return parsedate_to_datetime(text or "").timestamp()
    except (ValueError, OverflowError, TypeError):
        return None


FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
"""The first and the longest pause, in seconds, after a failure that may be temporary. Each pause is
twice as long as the one before."""
LIMIT_PAUSE = 60.0
"""Least pause, in seconds, after a limit without ``Retry-After``
(https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api)."""
LAG_SECONDS = 10.0
"""Seconds for which GitHub may not find something that was just created
(github/branch-deploy#181)."""
FIRST_LAG_PAUSE = 0.25
LAST_SECONDS = 25.0
"""Seconds for the last two answers together if no time is left: the answer to a write, and the
answer to the request that reads its result."""
SHORTEST_ANSWER_SECONDS = 5.0
SHORTEST_LAG_PAUSE = 0.05
"""Seconds between the end of `LAG_SECONDS` and the last try."""


def pause_before(meaning: Meaning, attempt: int) -> float:
    """Return the seconds before try number ``attempt + 1`` of a request with this ``meaning``."""
    double = 2.0 ** min(attempt - 1, 16)
    if meaning.kind is Kind.LAG:
        seconds = FIRST_LAG_PAUSE * double
    elif meaning.kind is Kind.LIMIT and (meaning.pause is None or meaning.row.at_least_a_minute):
        seconds = LIMIT_PAUSE * double
    else:
        seconds = min(FIRST_PAUSE * double, LONGEST_PAUSE)
    return max(seconds * random.uniform(1.0, 1.25), meaning.pause or 0.0)  # noqa: S311


class RetryPolicy:
    """All the waiting of one run. May be used from several threads: a pause holds for all."""

    def __init__(
        self,
        *,
        max_seconds: float,
        announce: Callable[[Message], None],
        cancellation: Cancellation,
    ) -> None:
        """``max_seconds`` bounds all waiting together; ``announce`` prints each pause."""
        self._left = max_seconds
        self._max_seconds = max_seconds
        self._print = announce
        self._cancellation = cancellation
        self.clock = cancellation.clock
        self._lock = threading.Lock()
        self._resume_at = 0.0
        self._counted_until = 0.0
        self._ended: OutOfTime | None = None
        """The error that the next request raises; ``None`` if requests may be sent."""
        self._has_announced = False
        """Whether an announcement in place of the usual text was printed."""
        self._announcing = threading.Lock()
        self._first: int | None = None
        """The thread whose lines come before the announcements of all others."""
        self._held: list[Message] = []
        """Announcements of the other threads that are still to be printed."""

    @contextmanager
    def announcing_afterwards(self) -> Iterator[None]:
        """Print the announcements of other threads only at the end of the block.

        So they do not come between the lines that this thread prints. They come earlier if this
        thread has to wait as well. If an exception leaves the block, they are not printed, because
        the run ends.
        """
        self._first = threading.get_ident()
        yield
        with self._announcing:
            self._first = None
            self._print_held()

    def _announce(self, message: Message) -> None:
        with self._announcing:
            if self._first in {None, threading.get_ident()}:
                self._print(message)
            else:
                self._held.append(message)

    def _print_held(self) -> None:
        """Print the held announcements in their order; the caller holds ``_announcing``."""
        for message in self._held:
            self._print(message)
        self._held.clear()

    def wait(self) -> bool:
        """Wait until every pause is over; return whether there was one.

        Raises `OutOfTime` if an earlier success asked for a pause that is too long.
        """
        has_waited = False
        self._cancellation.check()
        if self._ended:
            raise self._ended
        while (seconds := self._resume_at - self.clock.monotonic()) > 0:
            if self._first == threading.get_ident():
                with self._announcing:
                    self._print_held()
            self._cancellation.sleep(seconds)
            has_waited = True
        return has_waited

    def wait_for_turn(self, pace: Pace, *, creates_content: bool) -> bool:
        """Wait until another write may be sent; return whether GitHub's windows have asked for it.

        The interval between writes does not count as waiting. Waiting for GitHub's windows counts
        only if the run has no end. Raises `OutOfTime` if that wait would exceed the time that is
        left, or last until the end of the run.
        """
        self._cancellation.sleep(pace.rest_of_interval())
        seconds = pace.rest_of_window() if creates_content else 0.0
        reason = msg("fault.pace")
        if not seconds:
            return False
        if pace.end is None:
            self.begin_pause(seconds, reason)
            return True
        if self.clock.monotonic() + seconds >= pace.end:
            values = {"reason": reason, "until": clock_time(self.clock.time() + seconds)}
            message = msg("limit.after_end", **values)
            raise OutOfTime(Failure.of(message, Kind.OUT_OF_TIME), msg("limit.until", **values))
        if whole := round(seconds):
            self._announce(msg("wait.pause", reason=reason, seconds=whole))
        self._cancellation.sleep(seconds)
        return True

    def count_failed(self, began: float) -> None:
        """Count the time of a request that failed, from ``began`` until now, as waiting."""
        with self._lock:
            self._count(began, self.clock.monotonic())

    def answer_seconds(self) -> float:
        """Return the seconds that the next answer may take, so that the run ends in time."""
        with self._lock:
            return max(self._left + LAST_SECONDS, SHORTEST_ANSWER_SECONDS)

    def begin_pause(
        self,
        seconds: float,
        reason: Message,
        *,
        announcement: Message | None = None,
    ) -> None:
        """Begin a pause, for whose end the next request of any thread waits, and announce it.

        ``announcement`` is printed in place of the usual text, once a run. Raises `OutOfTime` if
        the pause would exceed the time that is left.
        """
        with self._lock:
            now = self.clock.monotonic()
            end = now + seconds
            if end <= self._resume_at:
                return
            if end - max(self._counted_until, now) > self._left:
                raise self._out_of_time(reason, seconds)
            self._count(now, end)
            # Requests that were under way together meet the same limit, and their pauses differ
            # only by chance. So only the first of such pauses is announced
            is_told = end - self._resume_at > seconds / 4
            self._resume_at = end
            is_told &= announcement is None or not self._has_announced
            self._has_announced |= announcement is not None
        if is_told:
            usual = msg("wait.pause", reason=reason, seconds=math.ceil(seconds))
            self._announce(announcement or usual)

    def begin_pause_after_success(self, seconds: float, reason: Message) -> None:
        """Begin a pause as `begin_pause` does; if it is too long, the next request raises."""
        try:
            self.begin_pause(seconds, reason)
        except OutOfTime as ended:
            self._ended = ended

    def _count(self, start: float, end: float) -> None:
        """Subtract an interval from the time that is left.

        If several threads wait at once, their time counts once.
        """
        self._left -= max(0.0, end - max(start, self._counted_until))
        self._counted_until = max(self._counted_until, end)

    def _out_of_time(self, reason: Message, seconds: float) -> OutOfTime:
        values = {"reason": reason, "until": clock_time(self.clock.time() + seconds)}
        key = "limit.out_of_time" if self._max_seconds else "limit.no_waiting"
        minutes = self._max_seconds / 60
        message = msg(key, seconds=math.ceil(seconds), minutes=minutes, **values)
        # The text about deferred repositories names a moment only if the pause is long
        waits_for = msg("limit.until", **values) if seconds >= LIMIT_PAUSE else reason
        return OutOfTime(Failure.of(message, Kind.OUT_OF_TIME), waits_for)
