"""The primary rate limit, and the secondary limit on requests that create content."""

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
    """The requests, or points of queries, that are allowed in an hour.

    The hour ends at `reset` (seconds since the epoch); then `remaining` is set to `limit` again. If
    `reset` is None, the hour begins with the next request.
    """

    limit: int = 5000
    remaining: int = 5000
    reset: int | None = None

    def renew(self, now: float) -> int:
        """Begin a new hour if the last one is over, and return the end of the hour.

        All times are in seconds since the epoch.
        """
        if self.reset is not None and now >= self.reset:
            self.remaining = self.limit
            self.reset = None
        if self.reset is None:
            self.reset = int(now) + 3600
        return self.reset

    def spend(self, login: str, now: float, points: int = 1) -> None:
        """Count a request, or the points of a query. Raise `Refusal` 403 if none are left."""
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
    """The number of requests that create content, for each minute and for each hour.

    `minute` is the length of a minute in seconds, so that tests can be quick. `refused` counts the
    requests that came too early. With `status` 422 these are answered with `was submitted too
    quickly` (cli/cli#4801), otherwise with the words of a secondary limit.
    """

    per_minute: int = 80
    per_hour: int = 500
    minute: float = 60.0
    status: int = 403
    refused: int = 0
    _times: deque[float] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def spend(self, now: float) -> None:
        """Count a request; `now` is in monotonic seconds. Raise `Refusal` if it is too early."""
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
    """Return the refusal of a pull request that was submitted too quickly.

    Its words are not those of a secondary limit (cli/cli#4801, whatwg/spec-factory#55).
    """
    error = {"resource": "PullRequest", "code": "custom", "message": TOO_QUICKLY}
    return Refusal(status, "Validation Failed", errors=[error])
