"""Several runs at the same time, with one request at a time, in a given order."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.fakehub import Request
from tests.harness import Action, Run


def another(action: Action, name: str = "other") -> Action:
    """Return an action with another token and other files, and with the same clock."""
    host = action.host
    other = Action(host, action.directory / name, host.create_token(), clock=action.clock)
    other.workspace.mkdir(parents=True)
    return other


class Turns:
    """Makes several runs send their requests in a given order.

    A request is answered only when every other run waits as well, or has ended. ``order`` gives the
    numbers of the runs; a number whose run has ended stands for the next run that goes on.
    """

    def __init__(self, actions: Sequence[Action], order: Iterator[int]) -> None:
        self._tokens = [each.default_token for each in actions]
        self._order = order
        self._active = {*range(len(actions))}
        self._waiting = set[int]()
        self._changed = threading.Condition()

    def wait(self, request: Request) -> None:
        """Hold a request until its run may go on."""
        assert request.token
        run = self._tokens.index(request.token)
        with self._changed:
            self._waiting.add(run)
            self._choose()
            assert self._changed.wait_for(lambda: run not in self._waiting, timeout=60)

    def end(self, run: int) -> None:
        """Note that a run has ended."""
        with self._changed:
            self._active.remove(run)
            self._choose()

    def _choose(self) -> None:
        if self._waiting and self._waiting == self._active:
            wanted, number = next(self._order), len(self._tokens)
            self._waiting.remove(min(self._waiting, key=lambda run: (run - wanted) % number))
            self._changed.notify_all()


def at_once(runs: Sequence[Callable[[], Run]], turns: Turns) -> list[Run]:
    """Start all runs, and return their results when all have ended."""

    def run(number: int) -> Run:
        try:
            return runs[number]()
        finally:
            turns.end(number)

    with ThreadPoolExecutor(len(runs)) as pool:
        return list(pool.map(run, range(len(runs))))


def alternating(runs: int) -> Iterator[int]:
    """Yield the order in which each run sends one request after the other runs have sent one."""
    return itertools.cycle(range(runs))


def shuffled(runs: int, seed: int, most_before: int = 1) -> Iterator[int]:
    """Yield a random order, in which the first run begins with fewer than ``most_before`` requests
    of its own.
    """
    rng = random.Random(seed)
    before = itertools.repeat(0, rng.randrange(most_before))
    return itertools.chain(before, (rng.randrange(runs) for _ in itertools.count()))
