"""Patterns with ``*`` and ``?``, matched in a time that grows with pattern and text only."""

from __future__ import annotations

from fnmatch import fnmatchcase

MOST_CHARACTERS = 1_000
"""Characters of one pattern."""


def matches(pattern: str, text: str) -> bool:
    """Whether ``pattern`` matches the whole of ``text``; letter case counts.

    ``*`` stands for any characters, ``?`` for one, everything else for itself. Whoever chooses the
    text, the name of a repository for example, cannot let a run hang: since Python 3.11 `fnmatch`
    makes atomic groups, so that several stars are not tried in every combination.
    """
    return fnmatchcase(text, pattern.replace("[", "[[]"))
