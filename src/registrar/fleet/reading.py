"""Reads how every selected repository stands: many of them with one query."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from registrar.clock import Clock
from registrar.errors import Refused
from registrar.failure import ASK_FOR_LESS, ENDS_THE_READING, Failure
from registrar.fleet import budget as budgets
from registrar.fleet.batches import FIRST_SIZE, BatchSize
from registrar.fleet.tasks import Reading, Task
from registrar.github.errors import GitHubError
from registrar.models.repository import RepositoryState
from registrar.models.selection import Exclusion
from registrar.registration import branches
from registrar.registration.base import with_owner
from registrar.registration.plan import declined_paths, make_plan
from registrar.registration.single import directories_to_read
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import GitHub
    from registrar.github.many import ManyClient


_MEASURED_QUERIES = 10
"""So many tell how long the others take: then most batches have the size that GitHub answers."""

_MOST_HELD = 1000
"""So many may wait to be read under another name: the plans of all would fill the memory."""


def queries_for(tasks: Sequence[Task]) -> int:
    """Queries that reading takes while GitHub answers no faster than it has to."""
    return sum(math.ceil(len(group) / FIRST_SIZE) for _, group in _by_branch(tasks))


def _by_branch(tasks: Sequence[Task]) -> list[tuple[str, list[Task]]]:
    """Those that one query can read: it takes one list, and one name of a branch for all."""
    groups: dict[tuple[int, str], list[Task]] = {}
    for task in tasks:
        branch = task.job.spec(task.repository.full_name).branch
        groups.setdefault((id(task.job), branch), []).append(task)
    return [(branch, group) for (_, branch), group in groups.items()]


@dataclass(slots=True)
class Reader:
    """Reads tasks in batches as large as GitHub answers them."""

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

    def read(self, tasks: Sequence[Task]) -> Iterator[Reading]:
        """Read every task.

        Raises:
            Refused: the run would end, or GitHub's points would, before all are read.
            GitHubError: it would be the same for every repository.
            OutOfTime: GitHub's limits last for longer than we may wait.
            Cancelled: a signal arrived.
        """
        self._sent_before = self.github.sent
        self._began, self._total = self.clock.monotonic(), len(tasks)
        size = BatchSize()
        for branch, group in _by_branch(tasks):
            for start in range(0, len(group), _MOST_HELD):
                yield from self._read_group(branch, group[start : start + _MOST_HELD], size)

    def _read_group(self, branch: str, tasks: Sequence[Task], size: BatchSize) -> Iterator[Reading]:
        """Read tasks of one list whose working branches have one name.

        Where the branch has had its pull request, look under the names that come after it.
        """
        readings = (
            self._reading(task, found) for task, found in self._inspect(branch, tasks, size)
        )
        for suffix in range(2, branches.LAST_SUFFIX + 2):
            done: list[Reading] = []
            for reading in readings:
                if reading.is_branch_done and suffix <= branches.LAST_SUFFIX:
                    done.append(reading)
                else:
                    yield reading
            if not done:
                return
            self._total += len(done)
            self._require_points(size)
            found = self._inspect(f"{branch}-{suffix}", [each.task for each in done], size)
            readings = (
                self._under_another_name(reading, state)
                for reading, (_, state) in zip(done, found, strict=True)
            )

    def _inspect(
        self, branch: str, tasks: Sequence[Task], size: BatchSize
    ) -> Iterator[tuple[Task, RepositoryState | Exclusion | Failure]]:
        """Ask about tasks of one list, with one name of a branch for all."""
        job = tasks[0].job
        directories = directories_to_read(job.spec(tasks[0].repository.full_name))
        done = 0
        while done < len(tasks):
            self._require_time()
            batch = tasks[done : done + size.size]
            alone = len(batch) == 1
            began = self.clock.monotonic()
            repositories = [task.repository for task in batch]
            try:
                states = self.client.inspect_many(repositories, branch, directories)
            except GitHubError as error:
                if error.kind in ENDS_THE_READING:
                    raise
                if not alone:
                    size.failed(len(batch))
                    # GitHub takes points for a query that runs out of time
                    self._require_points(size)
                    continue
                states = [self._read_in_parts(batch[0], branch, directories, error)]
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
        self, task: Task, branch: str, directories: Sequence[str], failed: GitHubError
    ) -> RepositoryState | Failure:
        """Read a repository as if it were the only one: that asks for long lists in parts."""
        if failed.kind not in ASK_FOR_LESS:
            return failed.failure
        try:
            return self.client.inspect(task.repository.full_name, branch, directories)
        except (Refused, GitHubError) as error:
            return error.failure

    def _reading(self, task: Task, found: RepositoryState | Exclusion | Failure) -> Reading:
        if isinstance(found, Failure):
            return Reading(task, failure=found)
        if isinstance(found, Exclusion):
            return Reading(task, exclusion=found)
        spec = task.job.spec(found.repository.full_name)._replace(facts=task.repository.facts)
        try:
            state = with_owner(self.github.client(spec.target), spec, found)
            return Reading(task, make_plan(spec, state))
        except (Refused, GitHubError) as error:
            return Reading(task, failure=error.failure)

    def _under_another_name(
        self, reading: Reading, found: RepositoryState | Exclusion | Failure
    ) -> Reading:
        """Give what was read with the branch, and the declined paths, of another name."""
        plan = reading.plan
        if plan is None or not isinstance(found, RepositoryState):
            return self._reading(reading.task, found)
        paths = [definition.path for definition in plan.missing]
        pulls, base = found.pull_requests or (), plan.repository.default_branch
        declined = declined_paths(pulls, base, paths)
        return reading._replace(
            plan=plan._replace(
                state=plan.state._replace(branch=found.branch),
                missing=tuple(each for each in plan.missing if each.path not in declined),
                declined={**plan.declined, **declined},
            )
        )
