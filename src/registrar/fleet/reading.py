"""Reads how every selected repository stands: many of them with one query."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from registrar.clock import Clock
from registrar.errors import Refused, RegistrarError
from registrar.failure import ASK_FOR_LESS, ENDS_THE_READING, Failure
from registrar.fleet import budget as budgets
from registrar.fleet.batches import FIRST_SIZE, BatchSize
from registrar.fleet.targets import Reading, Target, failed, planned
from registrar.github.errors import GitHubError
from registrar.models.fleet import FleetState
from registrar.models.plan import Plan
from registrar.models.repository import RepositoryState
from registrar.models.selection import Exclusion
from registrar.registration.base import with_owner
from registrar.registration.decide import (
    Answer,
    Ask,
    Claim,
    Decision,
    Made,
    StateOf,
    Unknown,
    choose,
)
from registrar.registration.plan import make_plan
from registrar.registration.single import directories_to_read, names_to_read
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import GitHub
    from registrar.github.many import ManyClient


_MEASURED_QUERIES = 10
"""So many tell how long the others take: then most batches have the size that GitHub answers."""

_MOST_HELD = 1000
"""So many may wait to be read under another name: the plans of all would fill the memory."""


def queries_for(targets: Sequence[Target]) -> int:
    """Queries that reading takes while GitHub answers no faster than it has to."""
    return sum(math.ceil(len(group) / FIRST_SIZE) for group in _by_branch(targets))


def _by_branch(targets: Sequence[Target]) -> list[list[Target]]:
    """Those that one query can read: it takes one list, and one name of a branch for all."""
    groups: dict[tuple[int, str], list[Target]] = {}
    for target in targets:
        branch = target.spec.branch
        groups.setdefault((id(target.files), branch), []).append(target)
    return list(groups.values())


@dataclass(slots=True)
class Reader:
    """Reads targets in batches as large as GitHub answers them."""

    github: GitHub
    client: ManyClient
    clock: Clock
    end: float
    """Moment (monotonic) of the run's end."""
    _began: float = 0.0
    _sent_before: int = 0
    _total: int = 0
    """Tasks that are to be read."""
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
        size = BatchSize()
        for group in _by_branch(targets):
            for start in range(0, len(group), _MOST_HELD):
                yield from self._read_group(group[start : start + _MOST_HELD], size)

    def _read_group(self, targets: Sequence[Target], size: BatchSize) -> Iterator[Reading]:
        """Read targets of one list whose working branches have one name, side by side."""
        spec = targets[0].spec
        names, directories = names_to_read(spec), directories_to_read(spec)
        waiting: list[_Waiting] = []
        for target, found in self._inspect(targets, names, directories, size):
            reading = self._reading(target, found)
            if isinstance(reading, Reading):
                yield reading
            else:
                waiting.append(reading)
        while waiting:
            asked, waiting = _by_name(waiting), []
            self._total += sum(map(len, asked.values()))
            self._require_points(size)
            for name, those in asked.items():
                answers = self._inspect([each.target for each in those], [name], [], size)
                for each, (target, found) in zip(those, answers, strict=True):
                    reading = self._reading(target, found, each)
                    if isinstance(reading, Reading):
                        yield reading
                    else:
                        waiting.append(reading)

    def _inspect(
        self,
        targets: Sequence[Target],
        branches: Sequence[str],
        directories: Sequence[str],
        size: BatchSize,
    ) -> Iterator[tuple[Target, RepositoryState | Exclusion | Failure]]:
        """Ask about targets of one list, with the same names and directories for all."""
        spec = targets[0].spec
        done = 0
        while done < len(targets):
            self._require_time()
            batch = targets[done : done + size.size]
            alone = len(batch) == 1
            began = self.clock.monotonic()
            repositories = [target.repository for target in batch]
            try:
                states = self.client.inspect_many(
                    repositories, branches, directories, with_codeowners=spec.lists_codeowners
                )
            except GitHubError as error:
                if error.kind in ENDS_THE_READING:
                    raise
                if not alone:
                    size.failed(len(batch))
                    # GitHub takes points for a query that runs out of time
                    self._require_points(size)
                    continue
                states = [self._read_in_parts(batch[0], branches, directories, error)]
            size.answered(self.clock.monotonic() - began)
            done += len(batch)
            self._done += len(batch)
            yield from zip(batch, states, strict=True)

    def _require_points(self, size: BatchSize) -> None:
        """Refuse what cannot end, now that more is to be read than at first."""
        queries = math.ceil((self._total - self._done) / size.size)
        budgets.require_points(queries, points_left=self.client.points_left)

    def _require_time(self) -> None:
        """Refuse to go on as soon as it is known that the run ends before all are read."""
        now = self.clock.monotonic()
        each = (now - self._began) / max(self._done, 1)
        left = each * (self._total - self._done) if self.queries >= _MEASURED_QUERIES else 0.0
        if now + left >= self.end:
            minutes = math.ceil(each * self._total / 60)
            raise Refused(msg("fleet.too_few_minutes", needed=minutes))

    def _read_in_parts(
        self,
        target: Target,
        branches: Sequence[str],
        directories: Sequence[str],
        error: GitHubError,
    ) -> RepositoryState | Failure:
        """Read a repository as if it were the only one: that asks for long lists in parts."""
        if error.kind not in ASK_FOR_LESS:
            return error.failure
        try:
            return self.client.inspect(target.repository.full_name, branches, directories)
        except (Refused, GitHubError) as again:
            return again.failure

    def _reading(
        self,
        target: Target,
        found: RepositoryState | Exclusion | Failure,
        waiting: _Waiting | None = None,
    ) -> Reading | _Waiting:
        """Decide for a target, as far as what was found allows; ``waiting`` has asked for it."""
        if isinstance(found, Failure):
            return failed(target, found)
        if isinstance(found, Exclusion):
            return Reading(target, target.row(FleetState.COMPLETE, 0), exclusion=found)
        spec = target.files.spec(found.repository.full_name)
        spec = spec._replace(facts=target.repository.facts)
        try:
            if waiting:
                return _go_on(waiting, found.branches.get(waiting.name, Unknown()))
            plan = make_plan(spec, with_owner(self.github.client(spec.target), spec, found))
        except (Refused, GitHubError) as error:
            return failed(target, error.failure)
        if not plan.missing:
            return planned(target, plan)
        return _go_on(_Waiting(target, plan, choose(plan)), None)


class _Waiting(NamedTuple):
    """A decision about a target, which asks how a name stands."""

    target: Target
    plan: Plan
    asking: Generator[Ask, Answer, Decision]
    name: str = ""


def _by_name(waiting: Sequence[_Waiting]) -> dict[str, list[_Waiting]]:
    """Those that one query can answer."""
    groups: dict[str, list[_Waiting]] = {}
    for each in waiting:
        groups.setdefault(each.name, []).append(each)
    return groups


def _go_on(waiting: _Waiting, answer: Answer) -> Reading | _Waiting:
    """Answer a decision, and what it asks next, as far as that needs no request of its own."""
    target, plan, asking, _ = waiting
    try:
        while True:
            ask = asking.send(answer)
            if isinstance(ask, StateOf) and not plan.state.pull_requests_error:
                return waiting._replace(name=ask.name)
            answer = Made() if isinstance(ask, Claim) else Unknown()
    except StopIteration as done:
        return planned(target, plan, done.value)
    except RegistrarError as error:
        return failed(target, error.failure, plan)
