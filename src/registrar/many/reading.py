"""Reads the states of the selected repositories: many with one query, a few one by one.

Theory of operation. One query asks about as many repositories as GitHub answers quickly. For each
of them it reads everything that `single` reads: the listed paths at one commit, and three names of
the working branch with their pull requests. A plan is then made from each answer. In most of the
repositories it needs nothing else, because no file is missing, or none was ever proposed, or all
were declined. Sometimes it asks for more: the files of an open pull request, a later name, or the
files on a branch. One query cannot answer this for many repositories, so there are two cases:

- A run that writes reads each repository again before it writes to it. Until then it only needs an
  upper limit for the work, so the questions are answered as if nobody had changed an open pull
  request. If its description may have to be updated, the repository is put aside,
  because this is a write that the run announces.
- A plan or a check needs the true state. These repositories are put aside, and previewed later, a
  few at a time, by the code that previews a single repository. Their number is known before the
  first of them is read. If points or minutes do not suffice for all, the others are reported as not
  read.

While this thread works on the answers about a batch, another thread asks about the next batch. Only
that thread sends queries, so there are never two under way. At most one batch is ahead, because its
answers fill memory. If its query has to pause, the line about the pause is printed after the last
line about the batch before.

The size of a batch follows GitHub's answers: it grows while they are fast, and halves after one
that is slow or refused. A repository whose query is refused even alone is put aside, too. The name
of a repository, its id, and whether it is archived may change between any two answers. So each
answer counts only for its own moment, and a run reads a repository again before it writes to it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from registrar.errors import (
    ASK_FOR_LESS,
    ENDS_THE_READING,
    Failure,
    GitHubError,
    Kind,
    Refused,
    RegistrarError,
)
from registrar.github.bulk import points
from registrar.github.limits import Resource
from registrar.models.paths import ListedPath, Unread, by_path
from registrar.models.record import Record
from registrar.models.repository import BranchState, Comparison, RepositoryState, Tree
from registrar.models.selection import Exclusion
from registrar.models.spec import RegistrationSpec
from registrar.models.status import Need
from registrar.models.task import Task
from registrar.presence.tasks import make_task
from registrar.registration.branch_names import names_of
from registrar.registration.listener import Listener
from registrar.registration.lookups import Lookups, RestLookups, tree_as_read
from registrar.registration.mark import Mark
from registrar.registration.run import preview, register
from registrar.registration.sent import SentSteps
from registrar.registration.single import directories_to_read
from registrar.registration.work import with_owner
from registrar.runtime.cancellation import Cancellation
from registrar.runtime.concurrency import concurrently, one_ahead
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.bulk import BulkClient
    from registrar.github.client import GitHub


def unread(spec: RegistrationSpec) -> Record:
    """Return the result for a repository that was not read: all its paths are `Standing.UNREAD`."""
    listed = (each.file for each in spec.file_list.files)
    paths = by_path(ListedPath(each, Unread()) for each in listed)
    return Record(spec, spec.repository, paths=paths)


FIRST_SIZE = 10
LARGEST_SIZE = 100
"""``nodes(ids:)`` accepts no more ids (sourcecred/sourcecred#908)."""
FAST_SECONDS = 2.0
REMEMBERED = 20
"""After a query was refused, sizes near its own are avoided for this many answers. Then they are
tried again, because the cause may be gone.
"""
SLOW_SECONDS = 5.0
"""An answer that takes longer is slow, because GitHub ends a request after 10 s.

https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
"""
ALONE_AT_ONCE = 4
"""Number of repositories that are read alone at the same time."""
_REQUESTS_ALONE = 5
"""The requests, or points, that reading one repository alone may cost: a query, a tree and
comparisons."""
_MEASURED_QUERIES = 10
"""After so many answers the time of the other queries is estimated, because by then most batches
have their final size."""
_State = RepositoryState | Exclusion | Failure | None
"""The answer of a query about one repository; ``None`` if a query about it alone is too large."""
_Batch: TypeAlias = list[tuple[RegistrationSpec, _State]]


MOST_FILES = 1_000_000
"""The most listed files of all repositories together, because each of them fills some 500 bytes of
memory until the report."""


def _points(repositories: int, size: int) -> int:
    """Return the GraphQL points that reading ``repositories`` costs, with ``size`` in a query."""
    return math.ceil(repositories / size) * points(size)


def _by_branch(specs: Sequence[RegistrationSpec]) -> list[list[RegistrationSpec]]:
    """Group registrations for queries, because a query is about one list and one working branch."""
    groups: dict[tuple[int, str], list[RegistrationSpec]] = {}
    for spec in specs:
        groups.setdefault((id(spec.file_list), spec.branch), []).append(spec)
    return list(groups.values())


@dataclass(slots=True)
class BatchSize:
    """The number of repositories in a query: as many as GitHub answers quickly.

    The size grows while answers are fast, and halves after one that is slow or refused. For some
    time it does not come near a size that was refused.
    """

    size: int = FIRST_SIZE
    _ceiling: int = LARGEST_SIZE
    _answered: int = 0
    """Number of answers since a query was refused."""

    def answered(self, seconds: float) -> None:
        """Adapt the size to an answer that took so many seconds."""
        self._answered += 1
        if self._answered == REMEMBERED:
            self._ceiling = LARGEST_SIZE
        if seconds >= SLOW_SECONDS:
            self.size = max(self.size // 2, 1)
        elif seconds <= FAST_SECONDS:
            self.size = min(self.size + self.size // 2 + 1, self._ceiling)

    def failed(self, count: int) -> None:
        """Adapt the size to a query about ``count`` repositories that was refused.

        ``count`` may be less than the size, if these were the last repositories.
        """
        self.size = max(count // 2, 1)
        self._ceiling = (self.size + count) // 2
        self._answered = 0


class Guesses(Lookups):
    """Answers the questions of `make_plan` as if nobody had changed an open pull request of the
    list, or used a later name of the working branch.
    """

    is_guess = True

    def __init__(
        self,
        task: Task,
        may_write: Callable[[str], bool | None],
        scopes: frozenset[str] | None = None,
        asked: Lookups | None = None,
    ) -> None:
        """``may_write`` is asked instead of guessed. Otherwise a stranger's pull request could keep
        a run from reading the repository again. ``asked`` answers the rare questions that are not
        guessed.
        """
        self._asked = asked
        self.scopes = scopes
        self._task = task
        self._may_write = may_write
        self.used = False
        """Whether a question was asked that the shared query does not answer."""

    def branch(self, name: str) -> BranchState:
        self.used = True
        return BranchState(name, None)

    def head(self, _name: str) -> str | None:
        # `make_plan` asks this only if the branch lacks a file
        self.used = True
        return None

    def tree(self, _commit: str) -> Tree | None:
        self.used = True
        return None

    def tree_at_listed(self, commit: str) -> Tree | None:
        known = tree_as_read(self._task, commit)
        return self.tree(commit) if known is None else known

    def lacking(self, paths: frozenset[str], commit: str) -> frozenset[str]:
        tree = self.tree_at_listed(commit)
        return frozenset() if tree is None else paths - tree.keys()

    def compare(self, base_sha: str, _head: str) -> Comparison:
        self.used = True
        return Comparison(base_sha, None)

    def may_write(self, login: str) -> bool | None:
        try:
            return self._may_write(login)
        except GitHubError:
            # The question comes again if the repository is read alone
            self.used = True
            return None

    def default_branch(self) -> str:
        return ""

    def has_newer_list(self) -> bool:
        return self._asked is not None and self._asked.has_newer_list()

    def has_branch(self, name: str) -> bool:
        return self._asked is None or self._asked.has_branch(name)


@dataclass(slots=True)
class Reader:
    """Reads repositories in batches whose size follows GitHub's answers."""

    github: "GitHub"
    client: "BulkClient"
    cancellation: Cancellation
    listener: Listener
    end: float
    """Moment (monotonic) of the run's end."""
    _size: BatchSize = field(default_factory=BatchSize)
    _began: float = 0.0
    _sent_before: int = 0
    _total: int = 0
    """Number of registrations to read."""
    _measured: int = 0
    """Number of queries that were answered."""
    _lost_seconds: float = 0.0
    """The time of queries that were refused. The estimate leaves it out, because a few large
    repositories show nothing about the others."""
    _done: int = 0
    """Number of registrations that were read."""

    @property
    def queries(self) -> int:
        """Number of requests that the reading has sent so far, including repeated ones."""
        return self.github.limits.sent - self._sent_before

    def require_enough(self, specs: Sequence[RegistrationSpec]) -> None:
        """Raise `Refused` if the reading would fill the memory, or cost more points than are left.

        Call it before `read`.
        """
        files = sum(len(spec.file_list.possible) for spec in specs)
        if files > MOST_FILES:
            raise Refused(msg("many.too_many_files", count=files, most=MOST_FILES))
        # Estimated for the first size, because GitHub may be too slow for a larger one
        self._require_points(sum(_points(len(group), FIRST_SIZE) for group in _by_branch(specs)))

    def read(self, specs: Sequence[RegistrationSpec]) -> Iterator[Record]:
        """Read the repositories, many with one query, and yield the preview of each registration.

        A repository that has to be read alone has `Status.UNREAD`. Raises `Refused` if the time of
        the run, or the GraphQL points, do not suffice for all repositories.
        """
        self._sent_before = self.github.limits.sent
        self._began, self._total = self._now, len(specs)
        for batch in one_ahead(self._batches(specs)):
            with self.github.policy.announcing_afterwards():
                for spec, state in batch:
                    yield self._previewed(spec, state)

    def read_alone(self, known: Sequence[Record]) -> Iterator[Record]:
        """Yield the preview of each registration, with requests about this repository alone.

        ``known`` are the results of the reading before. If points or minutes do not suffice for a
        repository, it has `Status.UNREAD`.
        """
        yield from concurrently(self._previewed_alone, known, ALONE_AT_ONCE)

    @property
    def _now(self) -> float:
        return self.cancellation.clock.monotonic()

    def _batches(self, specs: Sequence[RegistrationSpec]) -> Iterator[_Batch]:
        for group in _by_branch(specs):
            yield from self._batches_of(group)

    def _batches_of(self, specs: Sequence[RegistrationSpec]) -> Iterator[_Batch]:
        """Ask about repositories in batches; all have the same list and the same working branch."""
        branches, directories = names_of(specs[0].branch), directories_to_read(specs[0])
        # A run that writes reads the branch again
        looks = specs[0].settings.mode.only_reads
        done = 0
        while done < len(specs):
            self._require_time()
            batch = specs[done : done + self._size.size]
            repositories = [spec.repository for spec in batch]
            began = self._now
            states: Sequence[_State]
            try:
                states = self.client.inspect_many(
                    repositories,
                    branches,
                    directories,
                    base=specs[0].settings.base,
                    looks_into_branch=looks,
                )
            except GitHubError as error:
                if error.kind in ENDS_THE_READING:
                    raise
                self._lost_seconds += self._now - began
                if len(batch) > 1:
                    self._size.failed(len(batch))
                    # A query that has run out of time has cost points, too
                    left = self._total - self._done
                    self._require_points(_points(left, self._size.size))
                    continue
                states = [None if error.kind in ASK_FOR_LESS else error.failure]
            else:
                self._measured += 1
            self._size.answered(self._now - began)
            done += len(batch)
            self._done += len(batch)
            yield [
                (spec, self._completed(spec, state))
                for spec, state in zip(batch, states, strict=True)
            ]

    def _completed(self, spec: RegistrationSpec, state: _State) -> _State:
        """Add the facts that the listing has of a repository, and the files of its owner."""
        if not isinstance(state, RepositoryState):
            return state
        if spec.hides(state.repository):
            return Exclusion.MORE_PRIVATE
        try:
            state = state._replace(repository=state.repository.described_by(spec.repository))
            return with_owner(self.github.client(spec.target), spec, state)
        except (Refused, GitHubError) as error:
            return error.failure

    def _require_points(self, needed: int) -> None:
        limits = self.github.limits
        left = limits.remaining(Resource.GRAPHQL)
        if left is not None and needed > left:
            until = limits.until(Resource.GRAPHQL)
            raise Refused(msg("many.too_few_points", needed=needed, left=left, until=until))

    def _require_time(self) -> None:
        """Raise `Refused` as soon as the run is known to end before all repositories are read."""
        now = self._now
        each = (now - self._began - self._lost_seconds) / max(self._done, 1)
        left = each * (self._total - self._done) if self._measured >= _MEASURED_QUERIES else 0.0
        if now + left >= self.end:
            minutes = math.ceil((self._lost_seconds + each * self._total) / 60)
            raise Refused(msg("many.too_few_minutes", needed=minutes))

    def _previewed(self, spec: RegistrationSpec, state: _State) -> Record:
        """Return the preview of a registration, from the answer of a query about many repositories.

        It has `Status.UNREAD` if it needs requests about this repository alone.
        """
        if isinstance(state, Exclusion):
            return replace(unread(spec), exclusion=state)
        if isinstance(state, Failure):
            return replace(unread(spec), failure=state)
        if state is None:
            return unread(spec)
        try:
            task = make_task(spec, state)
        except Refused as refused:
            return replace(unread(spec), failure=refused.failure)
        task = task._replace(spec=spec._replace(is_preview=True))
        client = self.github.client(spec.target)
        scopes = self.github.limits.scopes
        may_write = partial(client.may_write, task.repository)
        guesses = Guesses(task, may_write, scopes, RestLookups(client, task, SentSteps()))
        branches = task.state.branches.values()
        interrupted = any(each.head and not each.pull_requests for each in branches)
        result = replace(preview(task, guesses, self.listener), spec=spec)
        is_read_again = spec.writes or result.work is Need.WITHDRAW
        is_guess = guesses.used or result.told.to_close > 0
        pulls = (pull for each in branches for pull in each.pull_requests)
        is_cleared = spec.writes and any(
            each.is_open and Mark.of(each.body) is None for each in pulls
        )
        is_in_doubt = is_cleared or result.told.describes or not is_read_again
        if is_guess and is_in_doubt:
            return replace(unread(spec), interrupted=interrupted)
        return replace(result, interrupted=interrupted, is_guess=is_guess)

    def _previewed_alone(self, known: Record) -> Record:
        """Return the preview of a registration, with requests about this repository alone."""
        spec, interrupted = known.spec, known.interrupted
        if self._has_room:
            client = self.github.client(spec.target)
            done = register(client, spec._replace(is_preview=True), self.listener)
            self.cancellation.check()
            kind = done.failure.kind if done.failure else None
            if done.failure and kind in ENDS_THE_READING:
                raise RegistrarError(done.failure)
            if kind is not Kind.OUT_OF_TIME:
                return replace(done, spec=spec, interrupted=interrupted)
        return unread(spec)

    @property
    def _has_room(self) -> bool:
        """Whether points, requests and minutes suffice for one more repository."""
        known = (left for left in map(self.github.limits.remaining, Resource) if left is not None)
        return self._now < self.end and all(left >= _REQUESTS_ALONE for left in known)
