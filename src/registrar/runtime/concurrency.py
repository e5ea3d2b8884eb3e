"""Work on several threads.

The threads are daemons: a cancelled run does not wait for answers that it no longer needs. The
interpreter waits at its end for those of a `ThreadPoolExecutor`. Where the system allows no more
threads, those that began, and the caller's own, do the work; an executor does some of it twice.
"""

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_background(work: Callable[[], Result]) -> Future[Result]:
    """Do ``work`` on a thread of its own."""
    future: Future[Result] = Future()
    try:
        threading.Thread(target=_keep, args=(future, work), daemon=True).start()
    except RuntimeError:
        _keep(future, work)
    return future


def concurrently(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> Generator[Result]:
    """Do ``work`` for every item on several threads; results in the order of the items.

    The first exception ends it, and so does closing it: no further item is begun.
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
        for future in futures:
            yield future.result()
    finally:
        waiting.clear()


def one_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Give the items. While one is used, the next one is made on a thread of its own."""
    following = in_background(partial(next, items, None))
    while (item := following.result()) is not None:
        following = in_background(partial(next, items, None))
        yield item


def _keep(future: Future[Result], work: Callable[[], Result]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 (raised again where the result is awaited)
        future.set_exception(error)
