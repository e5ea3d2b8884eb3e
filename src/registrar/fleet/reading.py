"""Reads how the selected repositories stand, many with one query."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from registrar.errors import Refused, RegistrarError
from registrar.failure import ASK_FOR_LESS, ENDS_THE_READING, Failure, Kind
from registrar.fleet import budget as budgets
from registrar.fleet.targets import Reading, Target, failed_reading, reading_of
from registrar.github.errors import GitHubError
from registrar.github.many import PathSince
from registrar.models.fleet import FleetState
from registrar.models.plan import Plan
from registrar.models.repository import RepositoryState
from registrar.models.selection import Exclusion
from registrar.presence.special_files import directory_of
from registrar.registration.base import with_owner
from registrar.registration.decide import (
    Answer,
    Ask,
    Claim,
    Decision,
    Lacking,
    Made,
    Removed,
    StateOf,
    Unknown,
    choose,
)
from registrar.registration.plan import make_plan
from registrar.registration.single import directories_to_read, names_to_read
from registrar.runtime.clock import Clock
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import GitHub
    from registrar.github.many import ManyClient


Item = TypeVar("Item")
Result = TypeVar("Result")

FIRST_SIZE = 10
LARGEST_SIZE = 100
"""``nodes(ids:)`` takes no more ids (sourcecred/sourcecred#908)."""
FAST_SECONDS = 2.0
REMEMBERED = 20
"""Answers for which a size that was refused is a ceiling: what made it too large may pass."""
SLOW_SECONDS = 5.0
"""GitHub cuts a request off after 10 s.

https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
"""
_MEASURED_QUERIES = 10
"""Queries that tell how long the others take: by then most batches have their final size."""
_MOST_HELD = 1000
"""Repositories whose plans wait for another answer: the plans of all would fill the memory."""
_SHARED_QUESTIONS = StateOf | Lacking | Removed
"""What one query can answer for several."""


def queries_for(targets: Sequence[Target]) -> int:
    """Queries that reading takes while GitHub answers no faster than it has to."""
    return sum(math.ceil(len(group) / FIRST_SIZE) for group in _by_branch(targets))


def _by_branch(targets: Sequence[Target]) -> list[list[Target]]:
    """Group targets for queries: one query takes one list and one name of a branch."""
    groups: dict[tuple[int, str], list[Target]] = {}
    for target in targets:
        branch = target.spec.branch
        groups.setdefault((id(target.files), branch), []).append(target)
    return list(groups.values())


@dataclass(slots=True)
class BatchSize:
    """How many repositories one query asks for: as many as GitHub answers quickly.

    It grows while answers are fast, and halves when one is slow or refused; for a while it does
    not come near a size that was refused.
    """

    size: int = FIRST_SIZE
    _ceiling: int = LARGEST_SIZE
    _answered: int = 0
    """Answers since a query was refused."""

    def answered(self, seconds: float) -> None:
        """Learn from an answer that took so long."""
        self._answered += 1
        if self._answered == REMEMBERED:
            self._ceiling = LARGEST_SIZE
        if seconds >= SLOW_SECONDS:
            self.size = max(self.size // 2, 1)
        elif seconds <= FAST_SECONDS:
            self.size = min(self.size + self.size // 2 + 1, self._ceiling)

    def failed(self, count: int) -> None:
        """Learn from a query that was too much at once, of ``count`` repositories.

        The last ones of a list may be fewer than the size.
        """
        self.size = max(count // 2, 1)
        self._ceiling = (self.size + count) // 2
        self._answered = 0


@dataclass(slots=True)
class Reader:
    """Reads targets in batches as large as GitHub answers them."""

    github: GitHub
    client: ManyClient
    clock: Clock
    end: float
    """Moment (monotonic) of the run's end."""
    _size: BatchSize = field(default_factory=BatchSize)
    _began: float = 0.0
    _sent_before: int = 0
    _total: int = 0
    """Tasks that are to be read."""
    _measured: int = 0
    """Queries that were answered."""
    _lost_seconds: float = 0.0
    """How long queries took that were not, and asking about one repository instead: a few large
    ones say nothing about the others."""
    _done: int = 0
    """Tasks that have been read."""

    @property
    def queries(self) -> int:
        """Requests that the reading took so far, repeated ones included."""
        return self.github.sent - self._sent_before

    def read(self, targets: Sequence[Target]) -> Iterator[Reading]:
        """Read every target.

        Raises:
            Refused: the run would end, or GitHub's points would, before all are read.
            GitHubError: it would be the same for every repository.
            OutOfTime: GitHub's limits last for longer than we may wait.
            Cancelled: a signal arrived.
        """
        self._sent_before = self.github.sent
        self._began, self._total = self.clock.monotonic(), len(targets)
        for group in _by_branch(targets):
            for start in range(0, len(group), _MOST_HELD):
                yield from self._read_group(group[start : start + _MOST_HELD])

    def _read_group(self, targets: Sequence[Target]) -> Iterator[Reading]:
        """Read targets of one list whose working branches have one name, side by side."""
        spec = targets[0].spec
        states = self._inspect(targets, names_to_read(spec), directories_to_read(spec))
        readings: Iterator[Reading | _Waiting] = (self._reading(*each) for each in states)
        while True:
            waiting: list[_Waiting] = []
            for reading in readings:
                if isinstance(reading, Reading):
                    yield reading
                else:
                    waiting.append(reading)
            if not waiting:
                return
            asked = _by_query(waiting)
            self._total += sum(each.parts for each in waiting)
            self._require_points()
            readings = chain.from_iterable(map(self._answered, asked))

    def _answered(self, waiting: Sequence[_Waiting]) -> Iterator[Reading | _Waiting]:
        """Answer what one query can answer for several, and go on with their decisions."""
        ask = waiting[0].ask
        if isinstance(ask, StateOf):
            states = self._inspect([each.target for each in waiting], [ask.name], [])
            for each, (target, state) in zip(waiting, states, strict=True):
                yield self._reading(target, state, each)
        elif isinstance(ask, Lacking):
            for each, lacking in self._in_batches(waiting, self._lacking, _nothing):
                yield _go_on(each, Unknown() if lacking is None else lacking)
        else:
            changes = self._in_batches(_changes(waiting), self.client.are_changed, _nothing)
            for each in waiting:
                changed = list(islice(changes, each.parts))
                removed = frozenset(change.path for change, is_removed in changed if is_removed)
                is_known = all(is_removed is not None for _, is_removed in changed)
                yield _go_on(each, removed if is_known else Unknown())

    def _inspect(
        self, targets: Sequence[Target], branches: Sequence[str], directories: Sequence[str]
    ) -> Iterator[tuple[Target, RepositoryState | Exclusion | Failure]]:
        """Ask about targets of one list, with the same names and directories for all."""

        def ask(batch: Sequence[Target]) -> list[RepositoryState | Exclusion | Failure]:
            repositories = [target.repository for target in batch]
            with_codeowners = targets[0].spec.lists_codeowners
            return self.client.inspect_many(
                repositories, branches, directories, with_codeowners=with_codeowners
            )

        def alone(target: Target, error: GitHubError) -> RepositoryState | Failure:
            """As if it were the only one: that asks for long lists in parts."""
            if error.kind not in ASK_FOR_LESS:
                return error.failure
            try:
                state = self.client.inspect(
                    target.repository.full_name,
                    branches,
                    directories,
                    with_codeowners=target.spec.lists_codeowners,
                )
            except (Refused, GitHubError) as again:
                return again.failure
            if state.repository.number not in {0, target.repository.id}:
                return Failure.of(msg("fleet.another_repository"), Kind.MOVED)
            return state

        return self._in_batches(targets, ask, alone)

    def _lacking(self, waiting: Sequence[_Waiting]) -> list[frozenset[str] | None]:
        """Ask what commits lack of the paths that decisions ask about; ``None``: not known."""
        asked = [
            (each.plan.repository.node_id, *each.ask)
            for each in waiting
            if isinstance(each.ask, Lacking)
        ]
        directories = {directory_of(path) for _, paths, _ in asked for path in paths}
        entries_of = self.client.entries_at(
            [(id_, commit) for id_, _, commit in asked], directories
        )
        return [
            None if entries is None else paths - entries.keys()
            for (_, paths, _), entries in zip(asked, entries_of, strict=True)
        ]

    def _in_batches(
        self,
        items: Sequence[Item],
        ask: Callable[[Sequence[Item]], Sequence[Result]],
        alone: Callable[[Item, GitHubError], Result],
    ) -> Iterator[tuple[Item, Result]]:
        """Ask about items in batches; ``alone`` answers about one whose query failed."""
        done = 0
        while done < len(items):
            self._require_time()
            batch = items[done : done + self._size.size]
            began = self.clock.monotonic()
            try:
                answers = ask(batch)
            except GitHubError as error:
                if error.kind in ENDS_THE_READING:
                    raise
                if len(batch) > 1:
                    self._lost_seconds += self.clock.monotonic() - began
                    self._size.failed(len(batch))
                    # GitHub takes points for a query that runs out of time
                    self._require_points()
                    continue
                answers = [alone(batch[0], error)]
                self._lost_seconds += self.clock.monotonic() - began
            else:
                self._measured += 1
            self._size.answered(self.clock.monotonic() - began)
            done += len(batch)
            self._done += len(batch)
            yield from zip(batch, answers, strict=True)

    def _require_points(self) -> None:
        """Refuse to go on where GitHub's points do not suffice for what is left to read."""
        queries = math.ceil((self._total - self._done) / self._size.size)
        budgets.require_points(queries, points_left=self.client.points_left)

    def _require_time(self) -> None:
        """Refuse to go on as soon as it is known that the run ends before all are read."""
        now = self.clock.monotonic()
        each = (now - self._began - self._lost_seconds) / max(self._done, 1)
        left = each * (self._total - self._done) if self._measured >= _MEASURED_QUERIES else 0.0
        if now + left >= self.end:
            minutes = math.ceil((self._lost_seconds + each * self._total) / 60)
            raise Refused(msg("fleet.too_few_minutes", needed=minutes))

    def _reading(
        self,
        target: Target,
        state: RepositoryState | Exclusion | Failure,
        waiting: _Waiting | None = None,
    ) -> Reading | _Waiting:
        """Decide for a target, as far as its state allows; ``waiting`` has asked for it."""
        if isinstance(state, Failure):
            return _go_on(waiting, Unknown()) if waiting else failed_reading(target, state)
        if isinstance(state, Exclusion):
            return Reading(target, target.row(FleetState.COMPLETE, 0), exclusion=state)
        spec = target.files.spec(state.repository.full_name)
        spec = spec._replace(facts=target.repository.facts)
        try:
            if waiting:
                return _go_on(waiting, next(iter(state.branches.values()), Unknown()))
            plan = make_plan(spec, with_owner(self.github.client(spec.target), spec, state))
        except (Refused, GitHubError) as error:
            return failed_reading(target, error.failure)
        if not plan.missing:
            return reading_of(target, plan)
        return _go_on(_Waiting(target, plan, choose(plan)), None)


class _Waiting(NamedTuple):
    """A decision about a target, and what it asks."""

    target: Target
    plan: Plan
    asking: Generator[Ask, Answer, Decision]
    ask: Ask | None = None

    @property
    def parts(self) -> int:
        """Number of places that it takes in a query."""
        return len(self.ask.paths) if isinstance(self.ask, Removed) else 1


def _by_query(waiting: Sequence[_Waiting]) -> list[list[_Waiting]]:
    """Group decisions that one query can answer."""
    groups: dict[object, list[_Waiting]] = {}
    for each in waiting:
        key = each.ask if isinstance(each.ask, StateOf) else type(each.ask)
        groups.setdefault(key, []).append(each)
    return list(groups.values())


def _changes(waiting: Sequence[_Waiting]) -> list[PathSince]:
    """What is asked about the history of paths, one after the other."""
    return [
        PathSince(each.plan.repository.node_id, path, each.ask.since, each.ask.head)
        for each in waiting
        if isinstance(each.ask, Removed)
        for path in each.ask.paths
    ]


def _nothing(_item: object, _error: GitHubError) -> None:
    """Nothing is known where a query about contents or history fails."""


def _go_on(waiting: _Waiting, answer: Answer) -> Reading | _Waiting:
    """Answer a decision until it ends, or asks what a shared query can answer."""
    target, plan, asking, _ = waiting
    try:
        while True:
            ask = asking.send(answer)
            if isinstance(ask, _SHARED_QUESTIONS) and not plan.state.pull_requests_error:
                return waiting._replace(ask=ask)
            answer = Made() if isinstance(ask, Claim) else Unknown()
    except StopIteration as done:
        return reading_of(target, plan, done.value)
    except RegistrarError as error:
        return failed_reading(target, error.failure, plan)
