"""Finds the known names that a misspelled name probably means."""

from collections.abc import Iterable
from difflib import get_close_matches

CLOSE = 0.7
"""The similarity (0 to 1) from which on a name counts as a misspelling of another one.

It is above the 0.6 of ``mode`` and ``method``, because many desktops set ``INPUT_METHOD``.
"""


_FEW = 3


def alike(value: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return a few known names that ``value`` may mean, in any letter case, the closest first."""
    by_lower = {name.lower(): name for name in known}
    return tuple(by_lower[each] for each in get_close_matches(value.lower(), by_lower, n=_FEW))


def closest(value: str, known: Iterable[str]) -> str:
    """Return the known name that ``value`` probably means; empty if no name is close."""
    return next(iter(get_close_matches(value, known, n=1, cutoff=CLOSE)), "")
