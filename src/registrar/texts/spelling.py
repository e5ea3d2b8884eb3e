"""Names that were probably misspelled."""

from collections.abc import Iterable
from difflib import get_close_matches

CLOSE = 0.7
"""From this similarity on (0 to 1), a name counts as a misspelling of another.

``INPUT_METHOD``, a variable that many desktops set, and ``mode`` have 0.6.
"""


def closest(value: str, known: Iterable[str]) -> str:
    """Give the known name that ``value`` was probably meant to be, or nothing."""
    return next(iter(get_close_matches(value, known, n=1, cutoff=CLOSE)), "")
