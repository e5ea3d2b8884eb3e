"""One policy for every request: what is worth another try, when, and for how long in all.

The rules of the host: docs "Rate limits for the REST API" and "Best practices for using the
REST API"; the forms of its answers: docs/github-behaviour.md, "Rate limits".
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from registrar.cancellation import Cancellation
from registrar.errors import Refused, RegistrarError
from registrar.github.errors import Kind
from registrar.github.response import (
    CONFLICT,
    FORBIDDEN,
    OK,
    SERVER_ERROR,
    TOO_MANY_REQUESTS,
    Response,
)
from registrar.texts.messages import Message, msg

ATTEMPTS = 6
"""How often a request is sent at most, limits not counted: the sixth comes after about 16 s."""
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
SECONDARY_PAUSE = 60.0
"""The least to wait, in seconds, after a secondary limit without ``Retry-After``."""
PACE = ((80, 60.0), (500, 3600.0))
"""Content-creating requests that the host takes: so many in so many seconds."""
_LAST_MOMENT = datetime.max.replace(microsecond=0, tzinfo=UTC).timestamp()


class OutOfTime(RegistrarError):
    """Waiting any longer would exceed ``max_wait_minutes``."""

    may_have_been_applied = False
    """Whether a write may have been applied."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a request is worth another try."""

    reason: Message
    pause: float | None = None
    """Seconds that the host asks for; ``None``: we choose."""
    is_limit: bool = False
    never_applied: bool = False
    """Whether a write that met it has certainly not been done."""
    kind: Kind = Kind.TRANSIENT


@dataclass(frozen=True, slots=True)
class Budget:
    """The primary limit as the host last told it; ``reset`` in seconds since the epoch."""

    remaining: int
    reset: float


def fault_of(response: Response) -> Fault | None:
    """Tell whether ``response`` is worth another try; ``None`` when it is final."""
    if response.status == OK and (fault := _graphql_fault(response)):
        return fault
    if response.status in {FORBIDDEN, TOO_MANY_REQUESTS} and (limit := _limit(response)):
        return limit
    if response.status >= SERVER_ERROR:
        return Fault(
            msg("fault.server_error", status=response.status),
            pause=_retry_after(response.headers),
        )
    message = response.message
    if response.status == CONFLICT and "expected" in message and " at " in message:
        # "is at X but expected Y", "expected to be at X": another write came first
        return Fault(msg("fault.conflict"), never_applied=True, kind=Kind.STALE)
    return None


def _graphql_fault(response: Response) -> Fault | None:
    """GraphQL tells limits and its own time-outs with status 200, and then has no data."""
    if response.did_something:
        return None
    errors = response.data.get("errors")
    kinds = {e.get("type") for e in errors if isinstance(e, dict)} if errors else set()
    if kinds & {"RATE_LIMITED", "RATE_LIMIT"}:
        return Fault(
            msg("fault.primary_limit"),
            pause=_asked(response.headers),
            is_limit=True,
            kind=Kind.LIMIT,
        )
    if "Something went wrong while executing your query" in response.message:
        return Fault(msg("fault.server_error", status=response.status))
    return None


def _limit(response: Response) -> Fault | None:
    """A primary or secondary limit; the host answers 403 or 429 for either."""
    headers = response.headers
    documentation = (
        response.data.get("documentation_url") if isinstance(response.data, dict) else ""
    )
    secondary = (
        "secondary rate limit" in response.message.lower()
        or "secondary-rate-limits" in str(documentation)
        or "gh-limited-by" in headers
    )
    pause = _asked(headers)
    if not secondary and headers.get("x-ratelimit-remaining") == "0":
        return Fault(msg("fault.primary_limit"), pause=pause, is_limit=True, kind=Kind.LIMIT)
    if secondary or pause is not None or response.status == TOO_MANY_REQUESTS:
        return Fault(msg("fault.secondary_limit"), pause=pause, is_limit=True, kind=Kind.LIMIT)
    if "rate limit" in response.message.lower():
        return Fault(msg("fault.primary_limit"), is_limit=True, kind=Kind.LIMIT)
    return None


def _asked(headers: Mapping[str, str]) -> float | None:
    """Seconds that the host asks to wait: ``Retry-After``, or until the primary limit's reset."""
    pause = _retry_after(headers)
    reset = _number(headers.get("x-ratelimit-reset"))
    if pause is None and reset is not None and headers.get("x-ratelimit-remaining") == "0":
        pause = max(reset - _host_time(headers), 0.0) + 1
    return pause


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "")
    seconds = _number(value)
    if seconds is None and value:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - _host_time(headers)
        except ValueError:
            return None
    return None if seconds is None else max(seconds, 0.0)


def _host_time(headers: Mapping[str, str]) -> float:
    """The host's clock, where it tells: ours may be wrong by more than a limit lasts."""
    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError):
        return time.time()


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def clock(epoch: float) -> str:
    """Show a moment (seconds since the epoch) in UTC."""
    return datetime.fromtimestamp(min(epoch, _LAST_MOMENT), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


class Waiting:
    """All the waiting of one run. May be used from several threads: a pause holds for all."""

    def __init__(
        self,
        *,
        max_seconds: float,
        announce: Callable[[Message], None],
        cancellation: Cancellation,
    ) -> None:
        """``max_seconds`` bounds all waiting together; ``announce`` says each wait."""
        self._left = max_seconds
        self._max_seconds = max_seconds
        self._announce = announce
        self._cancellation = cancellation
        self._clock = cancellation.clock
        self._lock = threading.Lock()
        self._resume_at = 0.0
        self._writes: deque[float] = deque(maxlen=max(count for count, _ in PACE))
        self.budget: Budget | None = None

    def before_request(self, *, creates_content: bool) -> None:
        """Wait until the next request may be sent.

        Raises:
            Cancelled: a signal arrived.
            OutOfTime: the host's pace would need more time than is left.
        """
        self._cancellation.check()
        if creates_content:
            self._keep_pace()
        while (seconds := self._resume_at - self._clock.monotonic()) > 0:
            self._cancellation.sleep(seconds)

    def after_fault(self, fault: Fault, attempt: int) -> bool:
        """Plan the pause before the next try; ``attempt`` counts from 1.

        Returns whether there is to be a next try. Limits are tried again for as long as the
        waiting fits in the time that is left.

        Raises:
            OutOfTime: the pause would exceed the time that is left.
        """
        if attempt >= ATTEMPTS and not fault.is_limit:
            return False
        if fault.is_limit and fault.pause is None:
            seconds = SECONDARY_PAUSE * 2 ** (attempt - 1)
        else:
            seconds = min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)
        seconds = max(seconds * random.uniform(1.0, 1.25), fault.pause or 0.0)  # noqa: S311
        self._pause(seconds, fault.reason)
        return True

    def note_budget(self, headers: Mapping[str, str]) -> None:
        """Remember the primary limit from the headers of an response (core resource only)."""
        remaining = _number(headers.get("x-ratelimit-remaining"))
        reset = _number(headers.get("x-ratelimit-reset"))
        if remaining is None or reset is None:
            return
        if headers.get("x-ratelimit-resource", "core") != "core":
            return
        with self._lock:
            if self.budget and self.budget.reset == reset:
                # Answers of several connections may come in another order than they were counted
                remaining = min(remaining, self.budget.remaining)
            self.budget = Budget(int(remaining), reset)

    def require_budget(self, needed: int) -> None:
        """Refuse to begin what the primary limit would not let end.

        Raises:
            Refused: fewer than ``needed`` requests are left.
        """
        if (
            self.budget
            and self.budget.reset > self._clock.time()
            and self.budget.remaining < needed
        ):
            raise Refused(
                msg(
                    "limit.budget",
                    needed=needed,
                    left=self.budget.remaining,
                    until=clock(self.budget.reset),
                )
            )

    def _keep_pace(self) -> None:
        now = self._clock.monotonic()
        wait = 0.0
        with self._lock:
            for count, seconds in PACE:
                if len(self._writes) >= count:
                    wait = max(wait, self._writes[-count] + seconds - now)
        if wait > 0:
            self._pause(wait, msg("fault.pace"))
        with self._lock:
            self._writes.append(max(now, self._resume_at))

    def _pause(self, seconds: float, reason: Message) -> None:
        with self._lock:
            now = self._clock.monotonic()
            longer = now + seconds - max(self._resume_at, now)
            if longer <= 0:
                return
            if longer > self._left:
                raise OutOfTime(
                    msg(
                        "limit.out_of_time",
                        reason=reason,
                        seconds=math.ceil(seconds),
                        minutes=self._max_seconds / 60,
                        until=clock(self._clock.time() + seconds),
                    )
                )
            self._left -= longer
            self._resume_at = now + seconds
        self._announce(msg("wait.pause", reason=reason, seconds=math.ceil(seconds)))
