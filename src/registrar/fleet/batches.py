"""How many repositories one query asks for: as many as GitHub answers quickly."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_SIZE = 10
LARGEST_SIZE = 100
"""``nodes(ids:)`` takes no more ids (sourcecred/sourcecred#908)."""
FAST_SECONDS = 2.0
REMEMBERED = 20
"""For so many answers a size that was refused is a ceiling: what made it too large may pass."""
SLOW_SECONDS = 5.0
"""GitHub cuts a request off after 10 s.

https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
"""


@dataclass(slots=True)
class BatchSize:
    """Grows while answers are fast, halves when one is slow or refused.

    For a while it does not come near a size that was refused.
    """

    size: int = FIRST_SIZE
    _ceiling: int = LARGEST_SIZE
    _answered: int = 0
    """Answers since a query was refused."""

    def answered(self, seconds: float) -> None:
        """Learn from an answer that took so long."""
        self._answered += 1
        if self._answered == REMEMBERED:
            self._ceiling = LARGEST_SIZE
        if seconds >= SLOW_SECONDS:
            self.size = max(self.size // 2, 1)
        elif seconds <= FAST_SECONDS:
            self.size = min(self.size + self.size // 2 + 1, self._ceiling)

    def failed(self, count: int) -> None:
        """Learn from a query that was too much at once, of ``count`` repositories.

        The last ones of a list may be fewer than the size.
        """
        self.size = max(count // 2, 1)
        self._ceiling = (self.size + count) // 2
        self._answered = 0
