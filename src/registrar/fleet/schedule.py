"""How many writes, how far apart, in what order, and in how many shards. Pure arithmetic."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

MANY_WRITES = 400
"""Up to so many writes fit into an hour at `SHORT_DISTANCE` without meeting the hourly limit."""
SHORT_DISTANCE = 3.0
LONG_DISTANCE = 7.2
"""Seconds between two writing requests: 500 an hour is what GitHub takes.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""
MOST_SHARDS = 256
"""Jobs of one matrix.

https://docs.github.com/en/actions/how-tos/write-workflows/choose-what-workflows-do/run-job-variations
"""

_SHARD = re.compile(r"([1-9][0-9]{0,2})/([1-9][0-9]{0,2})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Every ``total``-th repository, by its id: shards share nothing, whatever is added."""

    number: int = 1
    """From 1 to ``total``."""
    total: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard | None:
        """Read ``2/8``; ``None`` when it is not of that form."""
        matched = _SHARD.fullmatch(text)
        if not matched:
            return None
        number, total = int(matched[1]), int(matched[2])
        return cls(number, total) if number <= total <= MOST_SHARDS else None

    def __str__(self) -> str:
        """``2/8``."""
        return f"{self.number}/{self.total}"

    def has(self, repository_id: int) -> bool:
        """Whether a repository belongs to this shard."""
        return repository_id % self.total == self.number - 1

    def share(self, count: int) -> int:
        """This shard's part of ``count``; the parts of all shards add up to it."""
        return count // self.total + (self.number <= count % self.total)


def distance(writes: int) -> float:
    """Seconds between two writing requests when so many are planned."""
    return SHORT_DISTANCE if writes <= MANY_WRITES else LONG_DISTANCE


def seconds(writes: int) -> float:
    """How long so many writing requests take at GitHub's pace."""
    return writes * distance(writes)


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
