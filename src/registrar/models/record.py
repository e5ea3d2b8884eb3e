"""The result of one registration, that is of one list in one repository."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from registrar.errors import Failure, Kind
from registrar.models.paths import Done, ListedPath, Outcome, by_path
from registrar.models.repository import PullRequest, Repository
from registrar.models.rules import Replaced, UnusedParts
from registrar.models.selection import Exclusion
from registrar.models.settings import FailOn, Mode
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import FINDINGS, Completeness, Standing
from registrar.texts.messages import Message, msg


class PullRequestOperation(StrEnum):
    """The outcome of a run for the pull request of a list."""

    CREATED = "created"
    UPDATED = "updated"
    WITHDRAWN = "withdrawn"
    CLOSED = "closed"
    """The pull request was no longer needed, so registrar closed it. Nothing is declined."""
    NONE = "none"


class Note(NamedTuple):
    """A sentence about a registration, for the log and the report."""

    message: Message
    identity: str
    """Distinguishes notes. It is equal for two notes that differ only in details of a repository,
    such as a link."""
    repeats_state: bool = False
    """Whether the note adds nothing to the state of the repository."""


class Status(StrEnum):
    """The state of a repository in a run over many; states that need a person come first."""

    FAILED = "failed"
    OPENED = "opened"
    UPDATED = "updated"
    WITHDRAWN = "withdrawn"
    CLOSED = "closed"
    TO_OPEN = "to open"
    """Files are missing, and no open pull request proposes any of them."""
    TO_UPDATE = "to update"
    """The open pull request lacks files, or has earlier content of the list."""
    TO_CLOSE = "to close"
    """The default branch seems to have every file that an open pull request adds."""
    TO_WITHDRAW = "to withdraw"
    """An open pull request seems to have only files of registrar."""
    DEFERRED = "deferred"
    """Left for the next run, because of a limit."""
    NOT_WRITABLE = "not writable"
    """Something is to be done, but the token may not write to the repository."""
    NOT_NAMED = "not named"
    """Files are missing, but only a pattern selects the repository, which has the defaults of its
    owner; see `RegistrationSpec.opens_nothing`."""
    UNREAD = "not read"
    """Reading it alone would have taken more points, or more time, than were left."""
    CONFLICTING = "conflicting"
    """Its open pull request has every missing file, but cannot be merged."""
    WAITING = "waiting"
    """Its open pull request has every missing file."""
    NOT_PROPOSED = "not proposed"
    """In `Mode.WITHDRAW`: files are missing, and no open pull request proposes them."""
    BLOCKED = "blocked"
    """All missing paths are below a file, a link or a submodule."""
    UNSET = "unset"
    """The absent files need a custom property that is unset."""
    DECLINED = "declined"
    """All absent files were declined."""
    COMPLETE = "complete"
    """Every listed path is present."""

    @property
    def place(self) -> int:
        """The place among the states, from 0.

        If a repository has several lists, the state with the lowest place is the repository's.
        """
        return _PLACES[self]


_PLACES = {each: place for place, each in enumerate(Status)}
WRITTEN = frozenset({Status.OPENED, Status.UPDATED, Status.WITHDRAWN, Status.CLOSED})
"""The run has opened or changed a pull request, even if something else failed."""

ONLY_LOOKED_AT = frozenset({Status.WAITING, Status.CONFLICTING})
"""The open pull request needs no change."""
TO_DO = frozenset({Status.TO_OPEN, Status.TO_UPDATE, Status.TO_CLOSE, Status.TO_WITHDRAW})
"""A run that writes has to open or change a pull request."""
_AFTER = {
    PullRequestOperation.CREATED: Status.OPENED,
    PullRequestOperation.UPDATED: Status.UPDATED,
    PullRequestOperation.WITHDRAWN: Status.WITHDRAWN,
    PullRequestOperation.CLOSED: Status.CLOSED,
    PullRequestOperation.NONE: Status.WAITING,
}
"""The state of a repository after each operation."""
_FAILED = frozenset({Done.FAILED, Done.UNKNOWN})
_NOT_PROPOSED = frozenset({Standing.TO_CREATE, Standing.BLOCKED})
_WITHOUT_WORK = {
    Standing.TO_CREATE: Status.WAITING,
    Standing.PROPOSED: Status.WAITING,
    Standing.BLOCKED: Status.BLOCKED,
    Standing.UNSET: Status.UNSET,
    Standing.DECLINED: Status.DECLINED,
}
"""The state of a repository to which nothing has to be written.

The first key that is the state of a listed path decides. A file that is still to be created has
failed, or is skipped because `Settings.update` is false or because a merge of the branch would not
add it. Then a pull request is open, as a rule, and waits for people.
"""


@dataclass(frozen=True, slots=True)
class Record:
    """The result of one list in one repository. The reports are made of records."""

    spec: RegistrationSpec
    repository: Repository
    """The repository as GitHub described it, or with its name alone if GitHub has not answered."""
    is_ended: bool = False
    """Whether a registration that may write has ended; otherwise the repository was only read."""
    deferred_work: Status | None = None
    """The value of `left_to_do` if the repository is left for the next run because of a limit;
    otherwise ``None``."""
    paths: Mapping[str, ListedPath] = field(default_factory=dict)
    """The listed paths, in the order of the list."""
    branch: str = ""
    left_branch: str = ""
    """A branch that the run leaves without a commit, because GitHub has refused every commit."""
    commit: str = ""
    """Id of the commit that was read: the head of the base branch, or the one of `Settings.ref`."""
    has_list: bool = False
    """Whether the commit is known to have the caller's own list, at the same path."""
    hiding: tuple[str, ...] = ()
    """Missing paths that would replace a file which the repository inherits; see `Task.hiding`."""
    removed: tuple[str, ...] = ()
    """Listed paths that were present at the merge base and are not present at `Settings.ref`."""
    pull_request: PullRequest | None = None
    operation: PullRequestOperation = PullRequestOperation.NONE
    of_other_lists: tuple[PullRequest, ...] = ()
    """Open pull requests of other lists, whose branches have names that this list would have used.
    """
    conflicts: tuple[str, ...] = ()
    """Paths at which the open pull request conflicts with the base branch."""
    unlisted: tuple[str, ...] = ()
    """Paths that earlier runs have added to the branch, and that the list no longer has."""
    exit_code: int = 0
    failure: Failure | None = None
    """The failure that ended the registration early."""
    notes: tuple[Note, ...] = ()
    applying: frozenset[int] = frozenset()
    """Numbers of the rules that apply."""
    replaced: tuple[Replaced, ...] = ()
    """Entries of the list that a later entry with the same path replaces."""
    unused_parts: tuple[UnusedParts, ...] = ()
    """Parts of files that this repository does not get."""
    exclusion: Exclusion | None = None
    """Why the repository was left out after it had been selected."""
    knows_pull_requests: bool = True
    """Whether the token may read the pull requests of the working branch."""
    interrupted: bool = False
    """Whether a run over many found a working branch without a pull request, which an interrupted
    run may have left."""
    withdrawable: int = 0
    """An upper bound of the number of pull requests that a run over many could withdraw here."""
    is_guess: bool = False
    """Whether the result may change when the repository is read alone. The reading of many assumes
    that nobody has changed the pull requests, and that no later name of the branch has one."""
    to_close: int = 0
    """Number of open pull requests that are no longer needed. If they are read again before they
    are closed, it may turn out to be smaller."""
    closed: int = 0
    """Number of pull requests that this run has closed because they are no longer needed."""
    _states: Counter[tuple[Standing, Done]] = field(
        default_factory=Counter, init=False, repr=False, compare=False
    )
    """The value of `states` once it was asked for; `cached_property` would take four times the
    memory of a record."""

    @property
    def base_branch(self) -> str:
        """Name of the branch into which the pull requests are to be merged."""
        return self.spec.base_of(self.repository)

    @property
    def files(self) -> tuple[ListedPath, ...]:
        """The listed paths, in the order of the list."""
        return tuple(self.paths.values())

    def after(self, outcomes: Mapping[str, Outcome]) -> "Record":
        """Return the record with outcomes of some of its paths, by path."""
        changed = {p: self.paths[p]._replace(outcome=each) for p, each in outcomes.items()}
        return replace(self, paths={**self.paths, **changed})

    def with_paths(self, paths: Iterable[ListedPath]) -> "Record":
        """Return the record with other values for some of its paths."""
        return replace(self, paths={**self.paths, **by_path(paths)})

    @property
    def failures(self) -> Mapping[str, Failure]:
        """The failures of listed paths, by path."""
        return {file.path: file.failure for file in self.files if file.failure}

    @property
    def is_refused(self) -> bool:
        """Whether there are files that the token is known not to be allowed to write."""
        return any(each.kind is Kind.PERMISSION for each in self.failures.values())

    def pull_request_of(self, file: ListedPath) -> PullRequest | None:
        """Return the pull request that proposes a path, or in which somebody declined it.

        For a path that was not read, it is the open pull request: it may have the path, and a
        reader can look there. ``None`` if there is none.
        """
        may_hold = file.standing in {Standing.PROPOSED, Standing.UNREAD}
        return file.declined_in or (self.pull_request if may_hold else None)

    @property
    def open_since(self) -> str:
        """When the oldest open pull request about a listed path was opened (ISO 8601).

        Empty if there is none, or if GitHub has not given the time.
        """
        pulls = filter(None, map(self.pull_request_of, self.files))
        return min((p.created_at for p in pulls if p.is_open and p.created_at), default="")

    @property
    def has_written(self) -> bool:
        """Whether the run has opened, updated, withdrawn or closed a pull request."""
        return self.operation is not PullRequestOperation.NONE

    @property
    def is_of_workflow(self) -> bool:
        """Whether the workflow of this run is in the same repository."""
        own = self.spec.settings.workflow_repository
        return own.lower() == self.repository.full_name.lower()

    @property
    def states(self) -> Counter[tuple[Standing, Done]]:
        """Number of listed paths in each state. Every listed path is counted once."""
        if not self._states:
            self._states.update(file.state for file in self.files)
        return self._states

    @property
    def standings(self) -> Counter[Standing]:
        """The same, without what this run did about the paths."""
        counted = Counter[Standing]()
        for (standing, _), number in self.states.items():
            counted[standing] += number
        return counted

    def found(self, kind: FailOn) -> int:
        """Number of listed paths that are a finding of ``kind``."""
        return self.found_of([kind])[0]

    def found_of(self, kinds: Iterable[FailOn]) -> list[int]:
        """Number of listed paths that are a finding, for each of ``kinds``."""
        standings, removed = self.standings, len(self.removed)
        return [removed if kind is FailOn.REMOVED else kind.found_in(standings) for kind in kinds]

    @property
    def completeness(self) -> Completeness:
        """How far the list is carried out in the repository."""
        return Completeness.of(self.standings, has_failed=self.status is Status.FAILED)

    @property
    def wanted(self) -> int:
        """Number of listed paths that are missing, proposed or blocked (`standing.WANTED`).

        The report calls this number ``missing``, and `FailOn.MISSING` is about these paths.
        """
        return self.found(FailOn.MISSING)

    @property
    def findings(self) -> Mapping[Standing, tuple[str, ...]]:
        """Listed paths with a state among `FINDINGS`, by state."""
        paths: dict[Standing, list[str]] = {}
        for file in self.files:
            if file.standing in FINDINGS:
                paths.setdefault(file.standing, []).append(file.path)
        return {standing: tuple(those) for standing, those in paths.items()}

    @property
    def first_failure(self) -> Failure | None:
        """The failure that ended the registration, or else the one of the first failed file.

        ``None`` if nothing failed. Also ``None`` if only files failed and the repository is
        deferred or its open pull request needs no change.
        """
        failures = self.failures
        if self.failure or not failures:
            return self.failure
        if self.status is Status.DEFERRED or self.status in ONLY_LOOKED_AT:
            return None
        path, failure = next(iter(failures.items()))
        message = msg("cause.one_failed", path=path, reason=failure.message)
        return failure._replace(message=message)

    @property
    def fails_run(self) -> bool:
        """Whether a run over many repositories fails because of this record.

        True also if the pull request was opened or changed, but a file could not be added to it.
        """
        status = self.status
        return status is Status.FAILED or (status in WRITTEN and self.first_failure is not None)

    @property
    def is_unread(self) -> bool:
        """Whether the repository was not read, although nothing failed."""
        return not (self.commit or self.failure)

    @property
    def status(self) -> Status:
        """The state of the repository.

        After the reading it names the work to do; after the registration, the work that was done.
        """
        if self.deferred_work:
            return Status.DEFERRED if self.deferred_work in TO_DO else self.deferred_work
        if not self.is_ended:
            fails_in_part = self.spec.writes and self.failed
            return Status.FAILED if self.failure or fails_in_part else self.left_to_do
        status = _AFTER[self.operation]
        if status is Status.UPDATED and not self.wrote:
            # An update of the description alone does not count
            status = Status.WAITING
        is_written = self.pull_request is not None and status is not Status.WAITING
        if self.exit_code and not is_written:
            is_begun = self.failure is None or self.failure.kind is not Kind.NOT_BEGUN
            return Status.FAILED if is_begun or self.is_writable else Status.NOT_WRITABLE
        if status is Status.WAITING and self.conflicts:
            status = Status.CONFLICTING
        return status if self.pull_request else self.left_to_do

    @property
    def is_writable(self) -> bool:
        """Whether a run over many can write to the repository, as far as that is known.

        It is not asked in a check, which needs no such right, and in one repository, where a run
        that writes says why it cannot.
        """
        repository, mode = self.repository, self.spec.settings.mode
        if mode is Mode.CHECK or self.spec.policy.tells_paths:
            return True
        return not repository.archived and repository.can_push is not False

    @property
    def left_to_do(self) -> Status:
        """The work that is left for a run that writes, as a state of the repository."""
        work, withdraws = self._work, self.spec.settings.mode is Mode.WITHDRAW
        needs_right = work is Status.TO_WITHDRAW if withdraws else work in TO_DO
        return Status.NOT_WRITABLE if needs_right and not self.is_writable else work

    @property
    def _work(self) -> Status:
        """The work that is left, whether or not the token may do it."""
        if self.is_unread:
            return Status.UNREAD
        if self.withdrawable and self.spec.withdraws:
            return Status.TO_WITHDRAW
        states = self.states
        standings = {standing for standing, _ in states}
        withdraws = self.spec.settings.mode is Mode.WITHDRAW
        if withdraws and standings & _NOT_PROPOSED and not self.pull_request:
            return Status.NOT_PROPOSED
        outcomes = {done for standing, done in states if standing is Standing.TO_CREATE}
        fails = bool(outcomes & _FAILED)
        is_lacking = bool(outcomes - _FAILED - {Done.SKIPPED})
        if is_lacking or any(done is Done.TO_UPDATE for _, done in states):
            is_new = is_lacking and not self.pull_request
            return Status.TO_OPEN if is_new else Status.TO_UPDATE
        if self.to_close or (fails and not self.pull_request):
            return Status.TO_CLOSE if self.to_close else Status.FAILED
        found = (status for each, status in _WITHOUT_WORK.items() if each in standings)
        status = next(found, Status.COMPLETE)
        if status is Status.WAITING and self.spec.opens_nothing and not self.pull_request:
            status = Status.NOT_NAMED
        return Status.CONFLICTING if status is Status.WAITING and self.conflicts else status

    @property
    def declined_in(self) -> PullRequest | None:
        """The pull request in which the first declined path was declined; ``None`` if none was."""
        return next((file.declined_in for file in self.files if file.declined_in), None)

    @property
    def to_create(self) -> tuple[ListedPath, ...]:
        """The files that this run, which does not write, would create with `Mode.REGISTER`."""
        return tuple(file for file in self.files if file.done is Done.TO_CREATE)

    @property
    def to_update(self) -> tuple[ListedPath, ...]:
        """The files that this run, which does not write, would update with `Mode.REGISTER`."""
        return tuple(file for file in self.files if file.done is Done.TO_UPDATE)

    def count(self, *done: Done) -> int:
        """Count the listed paths with one of these outcomes."""
        return sum(number for (_, each), number in self.states.items() if each in done)

    @property
    def created(self) -> int:
        return self.count(Done.CREATED)

    @property
    def wrote(self) -> bool:
        """Whether the run has created or updated a file."""
        return self.count(Done.CREATED, Done.UPDATED) > 0

    @property
    def skipped(self) -> int:
        """Number of files that were skipped or updated."""
        return self.count(Done.SKIPPED, Done.UPDATED)

    @property
    def failed(self) -> int:
        """Number of files that could not be created, or about which GitHub has not answered.

        In one repository, the files that the run has not reached are counted, too, so that
        `created`, `skipped` and `failed` add up to all paths. Over many, such a repository is left
        for the next run.
        """
        reached = (Done.FAILED, Done.UNKNOWN)
        is_only = self.spec.writes and self.spec.policy.tells_paths
        return self.count(*reached, Done.PENDING) if is_only else self.count(*reached)
