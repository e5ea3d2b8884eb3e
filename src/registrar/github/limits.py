"""What GitHub allows to a token: rate limits, pace, scopes; and how long a header asks to wait."""

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
from registrar.github.case import Outcome
from registrar.runtime.cancellation import Cancellation, Clock
from registrar.texts.messages import Message, msg

WINDOWS = ((80, 61.0), (500, 3601.0))
"""Content-creating requests that GitHub accepts, and in how many seconds
(https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api).

Each window is a second longer than GitHub's: requests do not all need the same time to arrive.
"""
CONNECTIONS = 15
"""Requests under way at once: GitHub allows 100 (same page), and several jobs may share a token."""
PER_PAGE = 100
"""Items of a page of a list: the most that GitHub gives."""
MANY_WRITES = 400
"""The most writes of a short run: fewer than an hour's, because some may take another request."""
SHORT_INTERVAL = 1.0
"""Seconds between two writes of a short run, as GitHub asks
(https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api).

Lower limits than the documented ones were seen; `Pace.note_limit` adapts to them.
"""
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
        self._last = -math.inf
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

    @property
    def is_over(self) -> bool:
        """Whether a run with an end has come to it."""
        return self.end is not None and self._clock.monotonic() >= self.end

    def seconds_until(self, writes: int) -> float:
        """Seconds until the next write may go, and ``writes`` in all fit into GitHub's windows."""
        return max(self.rest_of_interval(), self.rest_of_window(writes))

    def rest_of_interval(self) -> float:
        """Seconds that are left of the interval since the last write."""
        return max(self._last + self.interval - self._clock.monotonic(), 0.0)

    def rest_of_window(self, writes: int = 1) -> float:
        """Seconds until GitHub accepts ``writes`` more content-creating ones, or a minute's."""
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


class TokenLimits:
    """What GitHub has reported about a token. May be used from several threads."""

    def __init__(self, token: str, clock: Clock) -> None:
        self._is_classic = token.startswith(CLASSIC_PREFIX)
        self._clock = clock
        self._lock = threading.Lock()
        self._rate_limits: dict[Resource, tuple[int, float]] = {}
        """What was left as GitHub last reported it, and until when (seconds since the epoch)."""
        self.query = threading.RLock()
        """Held while a request to GraphQL is under way, so that there is only one, because GitHub
        bounds the CPU time of a token there (docs/github-behaviour.md, "Rate limits")."""
        self.pace = Pace(clock)
        """How fast its writes follow each other."""
        self.sent = 0
        """Requests with this token so far, repeated ones included."""
        self.was_accepted = False
        """Whether any request of the run has succeeded with the token."""
        self.rejections = 0
        """How often GitHub has rejected it since."""
        self.not_public: set[int] = set()
        """Numbers of the repositories that any answer has called private or internal."""
        self.scopes: frozenset[str] | None = None
        """Scopes of a classic token; ``None`` if GitHub names none."""

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
            # Other tokens get it, too, empty: there it means nothing
            self.scopes = frozenset(filter(None, (s.strip() for s in scopes.split(","))))

    def note_rate_limit(self, resource: str, remaining: float | None, reset: float | None) -> None:
        """Learn how many requests are left until ``reset``, in seconds since the epoch."""
        if remaining is None or reset is None or resource not in set(Resource):
            return
        with self._lock:
            left, until = self._rate_limits.get(Resource(resource), (0, 0.0))
            if until == reset:
                # Answers of several connections may come in another order than they were counted
                remaining = min(remaining, left)
            self._rate_limits[Resource(resource)] = int(remaining), reset

    def require(self, resource: Resource, needed: int) -> None:
        """Raise `Refused` where fewer than ``needed`` requests or points are known to be left."""
        left = self.remaining(resource)
        if left is not None and left < needed:
            key = "limit.requests" if resource is Resource.REST else "limit.points"
            values = {"needed": needed, "left": left, "until": self.until(resource)}
            raise Refused(msg(key, **values), Kind.USED_UP)

    def until(self, resource: Resource) -> str:
        """The moment of the reset, as people read it."""
        return clock_time(self._rate_limits[resource][1])

    def remaining(self, resource: Resource) -> int | None:
        """Requests or points that are left until the reset; ``None`` if GitHub has not said."""
        left, until = self._rate_limits.get(resource, (0, 0.0))
        return left if until > self._clock.time() else None


def clock_time(epoch: float) -> str:
    """Show a moment (seconds since the epoch) in UTC."""
    return datetime.fromtimestamp(min(epoch, _LAST_MOMENT), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def asked_pause(headers: Mapping[str, str], now: float, *, is_limit: bool) -> float | None:
    """Seconds that GitHub asks to wait: ``Retry-After``, or until the reset of a limit.

    The header holds a number or a date. ``now`` is our own time, in seconds since the epoch; it
    counts only for answers without ``Date``, because it may be wrong by hours.
    """
    value = headers.get("retry-after")
    their_time = _date(headers.get("date"))
    now = now if their_time is None else their_time
    pause, date = number(value), _date(value)
    if pause is None and date is not None:
        pause = max(date - now, 0.0)
    reset = number(headers.get("x-ratelimit-reset"))
    if is_limit and pause is None and reset is not None:
        is_used_up = headers.get("x-ratelimit-remaining") == "0"
        pause = max(reset - now, 0.0) + 1 if is_used_up else None
    return None if pause is None else min(pause, _LONGEST)


def number(text: str | None) -> float | None:
    """A finite number from 0 in a header, or ``None``."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _date(text: str | None) -> float | None:
    """A moment in a header, in seconds since the epoch, or ``None``."""
    try:
        return parsedate_to_datetime(text or "").timestamp()
    except (ValueError, OverflowError, TypeError):
        return None


FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
"""Seconds after a failure that may pass: each pause is twice as long as the one before."""
LIMIT_PAUSE = 60.0
"""Least pause, in seconds, after a limit without ``Retry-After``
(https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api)."""
LAG_SECONDS = 10.0
"""Seconds for which GitHub may not see what was just made (github/branch-deploy#181)."""
FIRST_LAG_PAUSE = 0.25
LAST_SECONDS = 25.0
"""For the last two answers together, when no time is left: of a write, and of reading it back."""
SHORTEST_ANSWER_SECONDS = 5.0
SHORTEST_LAG_PAUSE = 0.05
"""The last try comes just after `LAG_SECONDS`."""


def pause_before(outcome: Outcome, attempt: int) -> float:
    """Seconds before try number ``attempt + 1`` of a request with this ``outcome``."""
    double = 2.0 ** min(attempt - 1, 16)
    if outcome.kind is Kind.LAG:
        seconds = FIRST_LAG_PAUSE * double
    elif outcome.kind is Kind.LIMIT and (outcome.pause is None or outcome.row.at_least_a_minute):
        seconds = LIMIT_PAUSE * double
    else:
        seconds = min(FIRST_PAUSE * double, LONGEST_PAUSE)
    return max(seconds * random.uniform(1.0, 1.25), outcome.pause or 0.0)  # noqa: S311


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
        """Why no other request is sent."""
        self._has_announced = False
        """Whether an announcement in place of the usual text was printed."""
        self._announcing = threading.Lock()
        self._first: int | None = None
        """The thread whose lines come before what all others announce."""
        self._held: list[Message] = []
        """What others have announced meanwhile."""

    @contextmanager
    def announcing_afterwards(self) -> Iterator[None]:
        """Print at the end of the block what other threads announce meanwhile.

        So it does not come between the lines that this thread prints. It comes earlier if this
        thread has to wait as well. If an exception leaves the block, it is not printed, because the
        run ends.
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
        """Print it in its order, while ``_announcing`` is held."""
        for message in self._held:
            self._print(message)
        self._held.clear()

    def wait(self) -> None:
        """Wait until every pause is over; `OutOfTime` where a success asked for too long a one."""
        self._cancellation.check()
        if self._ended:
            raise self._ended
        while (seconds := self._resume_at - self.clock.monotonic()) > 0:
            if self._first == threading.get_ident():
                with self._announcing:
                    self._print_held()
            self._cancellation.sleep(seconds)

    def wait_for_turn(self, pace: Pace, *, creates_content: bool) -> None:
        """Wait until another write may go.

        The interval between writes does not count as waiting; waiting for GitHub's windows does
        if nothing is expected. `OutOfTime` if it would exceed the time that is left, or the
        run's end.
        """
        self._cancellation.sleep(pace.rest_of_interval())
        seconds = pace.rest_of_window() if creates_content else 0.0
        reason = msg("fault.pace")
        if not seconds:
            return
        if pace.end is None:
            self.begin_pause(seconds, reason)
            return
        if self.clock.monotonic() + seconds >= pace.end:
            values = {"reason": reason, "until": clock_time(self.clock.time() + seconds)}
            message = msg("limit.after_end", **values)
            raise OutOfTime(Failure.of(message, Kind.OUT_OF_TIME), msg("limit.until", **values))
        if whole := round(seconds):
            self._announce(msg("wait.pause", reason=reason, seconds=whole))
        self._cancellation.sleep(seconds)

    def count_failed(self, began: float) -> None:
        """Count the time of a request that failed, from ``began`` until now, as waiting."""
        with self._lock:
            self._count(began, self.clock.monotonic())

    def answer_seconds(self) -> float:
        """Seconds that the next answer may need, so that the run ends in time."""
        with self._lock:
            return max(self._left + LAST_SECONDS, SHORTEST_ANSWER_SECONDS)

    def begin_pause(
        self,
        seconds: float,
        reason: Message,
        *,
        announcement: Message | None = None,
    ) -> None:
        """Begin a pause, and announce it: the next request waits for its end.

        ``announcement`` is printed in place of the usual text, once a run. `OutOfTime` where the
        pause would exceed the time that is left.
        """
        with self._lock:
            now = self.clock.monotonic()
            end = now + seconds
            if end <= self._resume_at:
                return
            if end - max(self._counted_until, now) > self._left:
                raise self._out_of_time(reason, seconds)
            self._count(now, end)
            # What was under way together meets one limit; such pauses differ by chance
            is_told = end - self._resume_at > seconds / 4
            self._resume_at = end
            is_told &= announcement is None or not self._has_announced
            self._has_announced |= announcement is not None
        if is_told:
            usual = msg("wait.pause", reason=reason, seconds=math.ceil(seconds))
            self._announce(announcement or usual)

    def begin_pause_after_success(self, seconds: float, reason: Message) -> None:
        """Begin a pause as `begin_pause` does; one that is too long ends the next request."""
        try:
            self.begin_pause(seconds, reason)
        except OutOfTime as ended:
            self._ended = ended

    def _count(self, start: float, end: float) -> None:
        """Take an interval from the time that is left; several threads may wait at once."""
        self._left -= max(0.0, end - max(start, self._counted_until))
        self._counted_until = max(self._counted_until, end)

    def _out_of_time(self, reason: Message, seconds: float) -> OutOfTime:
        values = {"reason": reason, "until": clock_time(self.clock.time() + seconds)}
        key = "limit.out_of_time" if self._max_seconds else "limit.no_waiting"
        minutes = self._max_seconds / 60
        message = msg(key, seconds=math.ceil(seconds), minutes=minutes, **values)
        # Of what is deferred, a moment is named only if the pause is long
        waits_for = msg("limit.until", **values) if seconds >= LIMIT_PAUSE else reason
        return OutOfTime(Failure.of(message, Kind.OUT_OF_TIME), waits_for)
