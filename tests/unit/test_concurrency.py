"""Work on several threads."""

from __future__ import annotations

import _thread
import signal
import threading
from concurrent.futures import Future
from types import FrameType

import pytest

from registrar.runtime.concurrency import awaited


def test_a_signal_just_before_a_wait_is_handled_during_the_wait() -> None:
    """`interrupt_main` records a signal, and wakes no wait, like a signal just before the wait."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        raise InterruptedError

    before = signal.signal(signal.SIGUSR1, handle)
    future = Future[None]()
    # If the signal is not handled before, the answer ends the wait
    answer = threading.Timer(3, future.set_result, [None])
    came = threading.Timer(0.05, _thread.interrupt_main, [signal.SIGUSR1])
    try:
        answer.start()
        came.start()
        with pytest.raises(InterruptedError):
            awaited(future)
        assert not future.done()
    finally:
        answer.cancel()
        signal.signal(signal.SIGUSR1, before)


def test_an_exception_of_the_work_is_raised_where_it_is_awaited() -> None:
    future = Future[None]()
    future.set_exception(TimeoutError("of the work"))
    with pytest.raises(TimeoutError, match="of the work"):
        awaited(future)
