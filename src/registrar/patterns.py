"""Patterns with ``*`` and ``?``, matched in a time that grows with pattern and text only.

Translated to a regular expression, several stars are tried in every combination: whoever chooses
the text, the name of a repository for example, could let a run hang.
"""

from __future__ import annotations

import re
from functools import lru_cache

MOST_CHARACTERS = 1_000
"""Characters of one pattern."""


class Pattern:
    """``*`` stands for any characters, ``?`` for one, everything else for itself."""

    def __init__(self, pattern: str) -> None:
        """``pattern`` should have `MOST_CHARACTERS` at most."""
        self._stars = self._any = 0
        self._literal: dict[str, int] = {}
        pattern = re.sub(r"\*+", "*", pattern)
        for place, character in enumerate(pattern):
            if character == "*":
                self._stars |= 1 << place
            elif character == "?":
                self._any |= 1 << place
            else:
                self._literal[character] = self._literal.get(character, 0) | 1 << place
        self._end = 1 << len(pattern)

    def matches(self, text: str) -> bool:
        """Whether the pattern matches the whole of ``text``."""
        # Bit n: what was read so far matches the first n characters of the pattern
        reached = self._past_stars(1)
        for character in text:
            takes = self._any | self._literal.get(character, 0)
            reached = self._past_stars((reached & takes) << 1 | reached & self._stars)
        return bool(reached & self._end)

    def _past_stars(self, reached: int) -> int:
        """Add the places that are reached when a star stands for nothing."""
        return reached | (reached & self._stars) << 1


@lru_cache(maxsize=1024)
def pattern(text: str) -> Pattern:
    """Give the pattern that ``text`` describes; it is prepared once."""
    return Pattern(text)
