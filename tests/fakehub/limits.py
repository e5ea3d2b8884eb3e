"""Primary rate limit and the pace of content-creating requests."""

from __future__ import annotations

import math
import threading
import zlib
from collections import deque
from dataclasses import dataclass, field

from .refusals import Refusal

DOCUMENTATION = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
BEST_PRACTICES = f"{DOCUMENTATION}#about-secondary-rate-limits"
TOO_QUICKLY = "was submitted too quickly"


@dataclass(slots=True)
class RateLimit:
    """Requests per hour; `reset` is in epoch seconds, and then `remaining` is full again.

    Without a `reset` the hour begins with the first request.
    """

    limit: int = 5000
    remaining: int = 5000
    reset: int | None = None

    def renew(self, now: float) -> int:
        """Begin a new hour, when it is time, and give its end; `now` in epoch seconds."""
        if self.reset is not None and now >= self.reset:
            self.remaining = self.limit
            self.reset = None
        if self.reset is None:
            self.reset = int(now) + 3600
        return self.reset

    def spend(self, login: str, now: float, points: int = 1) -> None:
        """Count a request, or the points of a query; `Refusal` 403 when none is left."""
        self.renew(now)
        if self.remaining <= 0:
            raise Refusal(
                403,
                f"API rate limit exceeded for user ID {zlib.crc32(login.encode())}.",
                documentation_url=DOCUMENTATION,
            )
        self.remaining = max(self.remaining - points, 0)

    def state(self, now: float) -> dict[str, int]:
        reset = self.renew(now)
        used = max(0, self.limit - self.remaining)
        return {
            "limit": self.limit,
            "used": used,
            "remaining": self.remaining,
            "reset": reset,
        }


@dataclass(slots=True)
class Pace:
    """At most this many content-creating requests per minute and hour; `minute` in seconds.

    `refused` counts those that came too early. The words are those of a secondary limit, or, with
    status 422, `was submitted too quickly` (cli/cli#4801).
    """

    per_minute: int = 80
    per_hour: int = 500
    minute: float = 60.0
    status: int = 403
    refused: int = 0
    _times: deque[float] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def spend(self, now: float) -> None:
        """Count a request at `now` (monotonic); `Refusal` with Retry-After when it is too early."""
        with self._lock:
            while self._times and self._times[0] <= now - 60 * self.minute:
                self._times.popleft()
            for allowed, window in (
                (self.per_minute, self.minute),
                (self.per_hour, 60 * self.minute),
            ):
                recent = [each for each in self._times if each > now - window]
                if len(recent) >= allowed:
                    self.refused += 1
                    raise self._refusal(recent[-allowed] + window - now)
            self._times.append(now)

    def _refusal(self, wait: float) -> Refusal:
        if self.status == 422:
            return too_quickly(self.status)
        return Refusal(
            self.status,
            "You have exceeded a secondary rate limit and have been temporarily "
            "blocked from content creation. Please retry your request again later.",
            headers={"Retry-After": str(max(1, math.ceil(wait)))},
            documentation_url=BEST_PRACTICES,
        )


def too_quickly(status: int = 422) -> Refusal:
    """Return the refusal of content in other words (cli/cli#4801, whatwg/spec-factory#55)."""
    error = {"resource": "PullRequest", "code": "custom", "message": TOO_QUICKLY}
    return Refusal(status, "Validation Failed", errors=[error])
