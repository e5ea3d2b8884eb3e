"""Reads how the selected repositories stand: many with one query, a few by themselves.

Theory of operation. One query asks for everything that `single` reads of a repository, for as many
of them as GitHub answers quickly: the listed paths at one commit, and three names of the working
branch with their pull requests. `decide` then runs on each answer. Mostly it needs nothing else:
nothing is missing, nothing was ever proposed, or everything was declined. Where it asks for more
(what an open pull request still holds, a later name, what is on a branch), one query cannot answer
for many, and there are two cases:

- A run that writes reads each repository again before it writes to it. It only needs to know what
  that takes at most, so the questions are answered as if nobody had changed an open pull request.
- A plan or a check has to know. These repositories are put aside, and previewed afterwards, a few
  at a time, by the code that previews a single repository. How many they are is known before the
  first of them is read. Those for which points or minutes do not suffice are reported as not read.

While this thread works on the answers about a batch, another one asks about the next batch. Only
that thread sends queries, so there are never two under way. At most one batch is ahead, because its
answers fill memory. If its query has to pause, this is told after the last line about the batch
before.

The size of a batch follows GitHub's answers: it grows while they are fast, and halves after one
that is slow or refused. A repository whose query is refused even alone is put aside, too. What is
known of a repository (its name, its id, whether it is archived) may change between any two answers:
each answer is believed about its own moment only, and whoever writes looks again.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
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
from registrar.models.paths import Done, ListedPath, PathOutcome, by_path
from registrar.models.record import Record, Status
from registrar.models.repository import BranchState, Comparison, RepositoryState, Tree
from registrar.models.selection import Exclusion
from registrar.models.settings import Mode
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import Standing
from registrar.models.task import Task
from registrar.presence.tasks import make_task
from registrar.registration.branch_names import names_of
from registrar.registration.listener import Listener
from registrar.registration.lookups import Lookups, listed_at
from registrar.registration.mark import Mark
from registrar.registration.preflight import lacking_scope, scope_failure
from registrar.registration.run import preview, register
from registrar.registration.single import directories_to_read
from registrar.registration.work import with_owner
from registrar.runtime.cancellation import Cancellation
from registrar.runtime.concurrency import concurrently, one_ahead
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.bulk import BulkClient
    from registrar.github.client import GitHub


def unread(spec: RegistrationSpec) -> Record:
    """Give the result if nothing of the repository was read."""
    listed = (each.file for each in spec.file_list.files)
    paths = by_path(ListedPath(each, Standing.UNREAD) for each in listed)
    return Record(spec, spec.repository, paths=paths)


def _with_refused(result: Record, scopes: frozenset[str] | None) -> Record:
    """Say which files are going to fail, or have failed, because the token may not write them."""
    spec = result.spec
    if not spec.proposes or spec.settings.mode is Mode.CHECK:
        return result
    listed = [each.definition for each in result.files]
    refused = {each.path for each in lacking_scope(listed, scopes)}
    failure = scope_failure(scopes)
    return result.after(
        *(
            PathOutcome(each.path, Done.FAILED, failure)
            for each in result.files
            if each.path in refused and each.done in {Done.TO_CREATE, Done.TO_UPDATE}
        )
    )


def _with_outdated(result: Record) -> Record:
    """Say which files the open pull request has with other content than the list, by its mark."""
    mark = Mark.of(result.pull_request.body) if result.pull_request else None
    if mark is None or not mark.wrote:
        return result
    return result.after(
        *(
            PathOutcome(each.path, Done.TO_UPDATE)
            for each in result.files
            if each.on_branch and not mark.has_written(each.path, each.definition.blob_id)
        )
    )


FIRST_SIZE = 10
LARGEST_SIZE = 100
"""``nodes(ids:)`` takes no more ids (sourcecred/sourcecred#908)."""
FAST_SECONDS = 2.0
REMEMBERED = 20
"""After a query was refused, sizes near its own are avoided for this many answers. Then they are
tried again, because the cause may be gone.
"""
SLOW_SECONDS = 5.0
"""GitHub cuts a request off after 10 s.

https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
"""
ALONE_AT_ONCE = 4
"""Repositories that are read one by one, at the same time."""
_REQUESTS_ALONE = 5
"""Requests, or points, that one of them may cost: a query, a tree and comparisons."""
_MEASURED_QUERIES = 10
"""Queries that show how long the others take: by then most batches have their final size."""
_State = RepositoryState | Exclusion | Failure | None
"""What a query says of a repository; ``None``: it is too large for a query of its own."""
_Batch: TypeAlias = list[tuple[RegistrationSpec, _State]]


MOST_FILES = 1_000_000
"""Listed files of all repositories together: one fills some 500 bytes until the report."""


def _points(repositories: int, size: int) -> int:
    """Points of GraphQL that reading costs with so many repositories in a query."""
    return math.ceil(repositories / size) * points(size)


def _by_branch(specs: Sequence[RegistrationSpec]) -> list[list[RegistrationSpec]]:
    """Group registrations for queries: one query is about one list and one name of a branch."""
    groups: dict[tuple[int, str], list[RegistrationSpec]] = {}
    for spec in specs:
        groups.setdefault((id(spec.file_list), spec.branch), []).append(spec)
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


class Guesses(Lookups):
    """Looks up as if nobody had changed an open pull request of ours, or used a later name."""

    def __init__(self, task: Task, may_write: Callable[[str], bool | None]) -> None:
        """``may_write`` is asked: a stranger could keep a run from looking at the repository."""
        self._task = task
        self._may_write = may_write
        self.used = False
        """Whether anything was asked that the shared query does not answer."""

    def branch(self, name: str) -> BranchState:
        self.used = True
        return BranchState(name, None)

    def head(self, _name: str) -> str | None:
        # Asked only where the branch lacks something
        self.used = True
        return None

    def tree(self, _commit: str) -> Tree | None:
        self.used = True
        return None

    def listed(self, commit: str) -> Tree | None:
        known = listed_at(self._task, commit)
        return self.tree(commit) if known is None else known

    def lacking(self, paths: frozenset[str], commit: str) -> frozenset[str]:
        tree = self.listed(commit)
        return frozenset() if tree is None else paths - tree.keys()

    def compare(self, base: str, _head: str) -> Comparison:
        self.used = True
        return Comparison(base, None)

    def may_write(self, login: str) -> bool | None:
        try:
            return self._may_write(login)
        except GitHubError:
            # Asked once more if the repository is read alone
            self.used = True
            return None

    def default_branch(self) -> str:
        return ""


@dataclass(slots=True)
class Reader:
    """Reads repositories in batches as large as GitHub answers them."""

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
    """Registrations that are to be read."""
    _measured: int = 0
    """Queries that were answered."""
    _lost_seconds: float = 0.0
    """How long queries took that were not answered: a few large repositories say nothing about the
    others."""
    _done: int = 0
    """Registrations that have been read."""

    @property
    def queries(self) -> int:
        """Requests that the reading took so far, repeated ones included."""
        return self.github.limits.sent - self._sent_before

    def require_enough(self, specs: Sequence[RegistrationSpec]) -> None:
        """Refuse what would fill the memory, or cost more points than are left."""
        files = sum(len(spec.file_list.possible) for spec in specs)
        if files > MOST_FILES:
            raise Refused(msg("many.too_many_files", count=files, most=MOST_FILES))
        # While GitHub answers no faster than it has to
        self._require_points(sum(_points(len(group), FIRST_SIZE) for group in _by_branch(specs)))

    def read(self, specs: Sequence[RegistrationSpec]) -> Iterator[Record]:
        """Read every repository, many with one query, and preview its registration.

        A repository that has to be read alone is `Status.UNREAD`. Refuses to go on if the time of
        the run or GitHub's points would not last until all are read.
        """
        self._sent_before = self.github.limits.sent
        self._began, self._total = self._now, len(specs)
        for batch in one_ahead(self._batches(specs)):
            with self.github.policy.announcing_afterwards():
                for spec, state in batch:
                    yield self._previewed(spec, state)

    def read_alone(self, known: Sequence[Record]) -> Iterator[Record]:
        """Preview registrations one by one, for as long as points and minutes suffice.

        ``known`` is what was read of them before.
        """
        yield from concurrently(self._previewed_alone, known, ALONE_AT_ONCE)

    @property
    def _now(self) -> float:
        return self.cancellation.clock.monotonic()

    def _batches(self, specs: Sequence[RegistrationSpec]) -> Iterator[_Batch]:
        for group in _by_branch(specs):
            yield from self._batches_of(group)

    def _batches_of(self, specs: Sequence[RegistrationSpec]) -> Iterator[_Batch]:
        """Ask about repositories in batches, all with one list and one name of a branch."""
        branches, directories = names_of(specs[0].branch), directories_to_read(specs[0])
        # Who writes reads it again
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
                    # A query that runs out of time costs points, too
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
        """Add what the list of repositories says, and what is inherited from the owner."""
        if not isinstance(state, RepositoryState):
            return state
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
        """Refuse to go on as soon as it is known that the run ends before all are read."""
        now = self._now
        each = (now - self._began - self._lost_seconds) / max(self._done, 1)
        left = each * (self._total - self._done) if self._measured >= _MEASURED_QUERIES else 0.0
        if now + left >= self.end:
            minutes = math.ceil((self._lost_seconds + each * self._total) / 60)
            raise Refused(msg("many.too_few_minutes", needed=minutes))

    def _previewed(self, spec: RegistrationSpec, state: _State) -> Record:
        """Say what would be done; `Status.UNREAD` if that takes questions about it alone."""
        if isinstance(state, Exclusion):
            return unread(spec)._replace(exclusion=state)
        if isinstance(state, Failure):
            return unread(spec)._replace(failure=state)
        if state is None:
            return unread(spec)
        try:
            task = make_task(spec, state)
        except Refused as refused:
            return unread(spec)._replace(failure=refused.failure)
        client = self.github.client(spec.target)
        guesses = Guesses(task, partial(client.may_write, task.repository))
        branches = task.state.branches.values()
        interrupted = any(each.head and not each.pull_requests for each in branches)
        result = preview(task, guesses, self.listener)
        if spec.writes and spec.settings.update:
            result = _with_outdated(result)
        result = _with_refused(result, self.github.limits.scopes)
        is_read_again = spec.writes or result.left_to_do is Status.TO_WITHDRAW
        is_guess = guesses.used or result.to_close > 0
        if is_guess and not is_read_again:
            return unread(spec)._replace(interrupted=interrupted)
        return result._replace(interrupted=interrupted, is_guess=is_guess)

    def _previewed_alone(self, known: Record) -> Record:
        """Say what would be done, with requests about this repository alone."""
        spec, interrupted = known.spec, known.interrupted
        if self._has_room:
            client = self.github.client(spec.target)
            done = register(client, spec._replace(is_preview=True), self.listener)
            self.cancellation.check()
            kind = done.failure.kind if done.failure else None
            if done.failure and kind in ENDS_THE_READING:
                raise RegistrarError(done.failure)
            if kind not in {Kind.USED_UP, Kind.OUT_OF_TIME}:
                done = done._replace(spec=spec, interrupted=interrupted)
                return _with_refused(done, self.github.limits.scopes)
        return unread(spec)

    @property
    def _has_room(self) -> bool:
        """Whether points, requests and minutes suffice for one repository more."""
        known = (left for left in map(self.github.limits.remaining, Resource) if left is not None)
        return self._now < self.end and all(left >= _REQUESTS_ALONE for left in known)
