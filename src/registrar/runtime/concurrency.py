"""Work on several threads.

This is used instead of `ThreadPoolExecutor` for two reasons. The threads here are daemons, so a
cancelled run does not wait for answers that it no longer needs; Python waits for the threads of an
executor. If the system allows no further thread, the threads that have begun, and the caller's own,
do all the work here; an executor does a part of the work twice.
"""

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from typing import TypeVar

from registrar.runtime.cancellation import NAP_SECONDS

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_background(work: Callable[[], Result]) -> Future[Result]:
    """Do ``work`` on a new thread, or at once if the system allows no further thread."""
    future: Future[Result] = Future()
    try:
        threading.Thread(target=_keep, args=(future, work), daemon=True).start()
    except RuntimeError:
        _keep(future, work)
    return future


def concurrently(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> Generator[Result]:
    """Do ``work`` for every item on several threads, and yield the results in the items' order.

    An exception of ``work`` is raised in the place of its result. After an exception, or if the
    caller closes the generator, no further item is begun.
    """
    futures: list[Future[Result]] = [Future() for _ in items]
    waiting = deque(zip(items, futures, strict=True))

    def serve() -> None:
        with suppress(IndexError):
            while True:
                item, future = waiting.popleft()
                _keep(future, partial(work, item))

    try:
        for _ in range(min(workers, len(items))):
            threading.Thread(target=serve, daemon=True).start()
    except RuntimeError:
        serve()
    try:
        yield from map(awaited, futures)
    finally:
        waiting.clear()


def awaited(future: Future[Result]) -> Result:
    """Wait for a future, and return its result or raise its exception.

    The wait consists of naps, because Python handles a signal that arrives just before a wait only
    after the wait.
    """
    while not future.done():
        wait([future], NAP_SECONDS)
    return future.result()


def one_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items. While the caller uses one, another thread makes the next one.

    ``None`` must not be among the items, because it ends the iteration.
    """
    following = in_background(partial(next, items, None))
    while (item := awaited(following)) is not None:
        following = in_background(partial(next, items, None))
        yield item


def _keep(future: Future[Result], work: Callable[[], Result]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 (raised again where the result is awaited)
        future.set_exception(error)
