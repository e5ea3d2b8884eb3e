"""A clock as an argument, so that a test that waits an hour takes no time."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """The functions of time that the stand-in needs, in seconds. The module `time` has them."""

    def time(self) -> float: ...

    def monotonic(self) -> float: ...

    def sleep(self, seconds: float, /) -> None: ...
