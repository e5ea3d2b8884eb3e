"""Measure work in steps, whose number is the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable


def steps(work: Callable[[], object]) -> int:
    """Do ``work``, and return how many functions it has called in this thread, also C functions."""
    count = 0

    def seen(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


class Counted(str):
    """A text whose comparisons and look-ups are calls, so that they count as steps."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)
