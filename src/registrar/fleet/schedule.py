"""How many writes, how far apart, in what order, and in how many shards. Pure arithmetic."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from datetime import date

from registrar.models.selection import Shard

MANY_WRITES = 400
"""Up to so many writes fit into an hour at `SHORT_INTERVAL` without meeting the hourly limit."""
SHORT_INTERVAL = 3.0
"""Seconds between two writing requests of a short run: 20 a minute of the 80 that GitHub takes."""
LONG_INTERVAL = 7.2
"""Seconds between two writing requests: 500 an hour is what GitHub takes.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""


def interval(writes: int) -> float:
    """Seconds between two writing requests when so many are planned."""
    return SHORT_INTERVAL if writes <= MANY_WRITES else LONG_INTERVAL


def writes_left(planned: int, *, done: int, made: int) -> int:
    """Writing requests that so many ``planned`` ones take, when ``done`` ones took ``made``.

    Where GitHub refuses the one request that does everything, or is slow to know what was just
    made, a pull request takes several.
    """
    return math.ceil(planned * max(made / done, 1.0)) if done else planned


def seconds(writes: int) -> float:
    """How long so many writing requests take at GitHub's pace."""
    return writes * interval(writes)


def shards(writes: int, *, max_seconds: float) -> tuple[Shard, ...]:
    """Split so many writing requests into shards that each end in time; none for no writes."""
    if not writes:
        return ()
    total = math.ceil(seconds(writes) / max_seconds)
    return tuple(Shard(number, total) for number in range(1, total + 1))


def in_order(repository_ids: Iterable[int], day: date) -> list[int]:
    """Repositories in an order that changes with the day, so that a cap starves none of them."""

    def key(repository_id: int) -> bytes:
        return hashlib.sha256(f"{day.isoformat()} {repository_id}".encode()).digest()

    return sorted(repository_ids, key=key)
