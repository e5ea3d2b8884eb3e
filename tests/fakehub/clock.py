"""A clock as an argument, so that a test that waits an hour takes no time."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """What the stand-in needs of time, in seconds; the module `time` is one."""

    def time(self) -> float: ...

    def monotonic(self) -> float: ...

    def sleep(self, seconds: float, /) -> None: ...
