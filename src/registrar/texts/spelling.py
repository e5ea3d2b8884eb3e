"""Names that were probably misspelled."""

from collections.abc import Iterable
from difflib import get_close_matches

CLOSE = 0.7
"""From this similarity on (0 to 1), a name counts as a misspelling of another.

``INPUT_METHOD``, a variable that many desktops set, and ``mode`` have 0.6.
"""


_FEW = 3


def alike(value: str, known: Iterable[str]) -> tuple[str, ...]:
    """Give a few known names that ``value`` was perhaps meant to be, the closest first."""
    by_lower = {name.lower(): name for name in known}
    return tuple(by_lower[each] for each in get_close_matches(value.lower(), by_lower, n=_FEW))


def closest(value: str, known: Iterable[str]) -> str:
    """Give the known name that ``value`` was probably meant to be, or nothing."""
    return next(iter(get_close_matches(value, known, n=1, cutoff=CLOSE)), "")
