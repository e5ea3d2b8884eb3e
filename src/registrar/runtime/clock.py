"""The clock, as an argument: a test passes one of its own, and need not wait."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """What a run needs of the module `time`. All values are seconds."""

    def time(self) -> float: ...

    def monotonic(self) -> float: ...

    def sleep(self, seconds: float, /) -> None: ...
