"""SIGINT, SIGTERM and SIGHUP: let the request in flight end, then end the run."""

import os
import signal
import time
from types import FrameType
from typing import Protocol

from registrar.errors import Cancelled


class Clock(Protocol):
    """What a run needs of the module `time`. All values are seconds."""

    def time(self) -> float: ...

    def monotonic(self) -> float: ...

    def sleep(self, seconds: float, /) -> None: ...


GRACE_SECONDS = {"SIGINT": 5.0, "SIGTERM": 1.5, "SIGHUP": 5.0}
"""How long a request in flight may still last, by the first signal.

The runner sends SIGINT, 7.5 s later SIGTERM, and 2.5 s later kills (docs/github-behaviour.md). The
first process of a container gets no SIGINT before the interpreter handles it.
"""

NAP_SECONDS = 0.1
"""How soon a sleeping run notices a signal."""


class Cancellation:
    """Whether the run is to end, as the rest of the program sees it.

    The first signal is only noted, and checked before each request and each sleep. A request
    that is still in flight after its `GRACE_SECONDS` is given up. A second signal ends the process
    at once.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock: Clock = clock or time
        # A plain number: a handler must not wait for a lock that the interrupted code may hold
        self._signal_number = 0
        self._is_only_report_left = False

    def install(self) -> None:
        """Handle the signals that end a run from now on (main thread only).

        A signal that is ignored stays ignored: ``nohup`` lets a run outlive its terminal.

        A handler of our own is also what makes them arrive at all if the process is PID 1.
        """
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._on_signal)

    def check(self) -> None:
        """Raise `Cancelled` if a signal arrived."""
        if self._signal_number:
            raise Cancelled(self._signal_number)

    def sleep(self, seconds: float) -> None:
        """Sleep; a signal ends that with `Cancelled`."""
        end = self.clock.monotonic() + seconds
        self.check()
        while (left := end - self.clock.monotonic()) > 0:
            self.clock.sleep(min(left, NAP_SECONDS))
            self.check()

    def stop_timer(self) -> None:
        """Stop the timer that the first signal started: no request is in flight."""
        if self._signal_number:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def only_report_left(self) -> None:
        """Let only a second signal end the run from here on, because it only has to report now."""
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
        raise Cancelled(self._signal_number)
