"""Handles SIGINT, SIGTERM and SIGHUP: the present request may end, then the run ends."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from registrar.errors import Cancelled


class Clock(Protocol):
    """The functions of the module `time` that a run uses. All values are seconds."""

    def time(self) -> float: ...

    def monotonic(self) -> float: ...

    def sleep(self, seconds: float, /) -> None: ...


GRACE_SECONDS = {"SIGINT": 5.0, "SIGTERM": 1.5, "SIGHUP": 5.0}
"""How long the present request may still take, by the name of the first signal.

The runner sends SIGINT, 7.5 s later SIGTERM, and 2.5 s later it kills the process
(docs/github-behaviour.md). The first process of a container gets no SIGINT until Python handles it.
"""

NAP_SECONDS = 0.1
"""The longest time in seconds until a sleeping run notices a signal."""


class Cancellation:
    """Ends the run after a signal.

    The first signal is only recorded. The run checks for it before each request and each sleep. A
    request that takes longer than `GRACE_SECONDS` after the signal is abandoned. A second signal
    ends the process at once.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock: Clock = clock or time
        # A plain number, because a handler must not wait for a lock of the interrupted code
        self._signal_number = 0
        self._is_only_report_left = False
        self._is_in_step = False

    def install(self) -> None:
        """Handle the signals that end a run from now on. Call this on the main thread only.

        SIGHUP stays ignored if it is, because ``nohup`` lets a run outlive its terminal.

        A process with PID 1 gets these signals only if it has a handler of its own.
        """
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._on_signal)

    def check(self) -> None:
        """Raise `Cancelled` if a signal has arrived."""
        if self._signal_number:
            raise Cancelled(self._signal_number)

    def sleep(self, seconds: float) -> None:
        """Sleep. Raises `Cancelled` as soon as a signal arrives."""
        end = self.clock.monotonic() + seconds
        self.check()
        while (left := end - self.clock.monotonic()) > 0:
            self.clock.sleep(min(left, NAP_SECONDS))
            self.check()

    @contextmanager
    def whole_step(self) -> Iterator[None]:
        """Let the timer end the run only after this block.

        Its statements belong together, because a result that has left one place and has not
        reached the next one would be lost. The block sends no request.
        """
        outside, self._is_in_step = self._is_in_step, True
        try:
            yield
        finally:
            self._is_in_step = outside

    def stop_timer(self) -> None:
        """Stop the timer that the first signal started, because no request is running now."""
        if self._signal_number:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def only_report_left(self) -> None:
        """From here on, let only a second signal end the run, because only the report is left."""
        self._is_only_report_left = True
        self.stop_timer()

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self._signal_number:
            # The default action of a signal does not reach PID 1
            os._exit(128 + number)
        self._signal_number = number
        if not self._is_only_report_left:
            signal.signal(signal.SIGALRM, self._on_alarm)
            signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS[signal.Signals(number).name])

    def _on_alarm(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_in_step:
            signal.setitimer(signal.ITIMER_REAL, NAP_SECONDS)
            return
        raise Cancelled(self._signal_number)
