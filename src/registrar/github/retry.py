"""Retries: the pause before the next one, and the bound for all waiting together."""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Callable

from registrar.errors import OutOfTime
from registrar.failure import Failure, Kind
from registrar.github.limits import Pace, clock_time
from registrar.github.request import Outcome
from registrar.runtime.cancellation import Cancellation
from registrar.texts.messages import Message, msg

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


def pause_before(outcome: Outcome[object], attempt: int) -> float:
    """Seconds before try number ``attempt + 1`` of a request with this ``outcome``."""
    double = 2.0 ** min(attempt - 1, 16)
    if outcome.kind is Kind.LAG:
        seconds = FIRST_LAG_PAUSE * double
    elif outcome.kind is Kind.LIMIT and (outcome.pause is None or outcome.at_least_a_minute):
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
        self._announce = announce
        self._cancellation = cancellation
        self.clock = cancellation.clock
        self._lock = threading.Lock()
        self._resume_at = 0.0
        self._counted_until = 0.0
        self._ended: OutOfTime | None = None
        """Why no other request is sent."""
        self._has_announced = False
        """Whether an announcement in place of the usual text was printed."""

    def wait(self) -> None:
        """Wait until every pause is over; `OutOfTime` where a success asked for too long a one."""
        self._cancellation.check()
        if self._ended:
            raise self._ended
        while (seconds := self._resume_at - self.clock.monotonic()) > 0:
            self._cancellation.sleep(seconds)

    def wait_for_turn(self, pace: Pace, *, creates_content: bool) -> None:
        """Wait until another write may go.

        The interval between writes does not count as waiting; waiting for GitHub's windows does
        where nothing is expected. `OutOfTime` where it would exceed the time that is left, or the
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
            until = clock_time(self.clock.time() + seconds)
            raise OutOfTime(
                Failure.of(msg("limit.after_end", reason=reason, until=until), Kind.OUT_OF_TIME),
                msg("limit.until", reason=reason, until=until),
            )
        if whole := round(seconds):
            self._announce(msg("wait.pause", reason=reason, seconds=whole))
        self._cancellation.sleep(seconds)

    def count_failed(self, began: float) -> None:
        """Count the time of a request that failed, from ``began`` until now, as waiting."""
        with self._lock:
            self._count(began, self.clock.monotonic())

    def answer_seconds(self) -> float:
        """Seconds that the next answer may take, so that the run ends in time."""
        with self._lock:
            return max(self._left + LAST_SECONDS, SHORTEST_ANSWER_SECONDS)

    def begin_pause(
        self,
        seconds: float,
        reason: Message,
        *,
        announcement: Message | None = None,
    ) -> None:
        """Begin a pause, and announce it: whoever sends next waits for its end.

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
            self._resume_at = end
            is_repeated = announcement is not None and self._has_announced
            self._has_announced |= announcement is not None
        if not is_repeated:
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
        until = clock_time(self.clock.time() + seconds)
        # A time to run again is named only if the pause is long
        is_long = seconds >= LIMIT_PAUSE
        if self._max_seconds:
            key = "limit.out_of_time"
        else:
            key = "limit.no_waiting_until" if is_long else "limit.no_waiting"
        message = msg(
            key,
            reason=reason,
            seconds=math.ceil(seconds),
            minutes=self._max_seconds / 60,
            until=until,
        )
        waits_for = msg("limit.until", reason=reason, until=until) if is_long else reason
        return OutOfTime(Failure.of(message, Kind.OUT_OF_TIME), waits_for)
