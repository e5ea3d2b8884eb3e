"""The result of one registration, that is of one list in one repository."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from registrar.errors import Failure, Kind
from registrar.models.paths import Done, ListedPath, Outcome, by_path
from registrar.models.repository import PullRequest, Repository
from registrar.models.selection import Exclusion
from registrar.models.settings import FailOn, Mode
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import FINDINGS, Completeness, Standing
from registrar.models.status import Need, Status
from registrar.models.task import Facts
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


class Told(NamedTuple):
    """The part of a plan that people read. A result keeps it, and does not keep the plan."""

    need: Need | None = None
    """``None`` without a plan."""
    conflicts: tuple[str, ...] = ()
    """Paths at which the branch of the open pull request and the base branch have different files,
    also those that the list no longer has."""
    unlisted: tuple[str, ...] = ()
    """Paths that earlier runs have added to the branch, and that the list no longer has."""
    may_be_listed: bool = False
    """Whether these paths may be in a newer version of the list."""
    of_other_lists: tuple[PullRequest, ...] = ()
    """Open pull requests of other lists, from branches whose names come before the chosen one."""
    unread: Failure | None = None
    """Why the token may not read the pull requests. The missing files are then not planned."""
    withdrawable: int = 0
    """An upper bound of the number of pull requests that `Mode.WITHDRAW` could close."""
    to_close: int = 0
    """Number of open pull requests that are no longer needed. If they are read again before they
    are closed, it may turn out to be smaller."""
    describes: bool = False
    """Whether the description of the open pull request is to be updated even if no file is, because
    its record or its conflicts have changed. If this is a guess, it may turn out to be up to date.
    """


NO_FACTS, NOTHING_TOLD = Facts(), Told()
"""Of a repository that was not read, and of one without a plan."""
_IN_PULL_REQUEST = frozenset({Standing.PROPOSED, Standing.UNREAD})
"""The states of paths that the open pull request has, or may have."""
_WRITTEN = {
    PullRequestOperation.CREATED: Status.OPENED,
    PullRequestOperation.UPDATED: Status.UPDATED,
    PullRequestOperation.WITHDRAWN: Status.WITHDRAWN,
    PullRequestOperation.CLOSED: Status.CLOSED,
}
"""The state of a repository after each operation."""


@dataclass(frozen=True, slots=True)
class Record:
    """The result of one list in one repository. The reports are made of records."""

    spec: RegistrationSpec
    repository: Repository
    """The repository as GitHub described it, or with its name alone if GitHub has not answered."""
    facts: Facts = NO_FACTS
    told: Told = NOTHING_TOLD
    is_ended: bool = False
    """Whether a registration that may write has ended; otherwise the repository was only read."""
    is_deferred: bool = False
    """Whether the repository is left for the next run, because of a limit."""
    paths: Mapping[str, ListedPath] = field(default_factory=dict)
    """The listed paths, in the order of the list."""
    branch: str = ""
    left_branch: str = ""
    """A branch that the run leaves without a commit, because GitHub has refused every commit."""
    pull_request: PullRequest | None = None
    operation: PullRequestOperation = PullRequestOperation.NONE
    exit_code: int = 0
    failure: Failure | None = None
    """The failure that ended the registration early."""
    notes: tuple[Note, ...] = ()
    exclusion: Exclusion | None = None
    """Why the repository was left out after it had been selected."""
    interrupted: bool = False
    """Whether a run over many found a working branch without a pull request, which an interrupted
    run may have left."""
    is_guess: bool = False
    """Whether the result may change when the repository is read alone. The reading of many assumes
    that nobody has changed the pull requests, and that no later name of the branch has one."""
    closed: tuple[PullRequest, ...] = ()
    """The pull requests that this run has withdrawn or closed because they are no longer needed."""
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
        return self.with_paths(
            self.paths[path]._replace(outcome=each) for path, each in outcomes.items()
        )

    def with_paths(self, paths: Iterable[ListedPath]) -> "Record":
        """Return the record with other values for some of its paths."""
        return replace(self, paths={**self.paths, **by_path(paths)})

    @property
    def is_refused(self) -> bool:
        """Whether there are files that the token is known not to be allowed to write."""
        failures = (file.failure for file in self.files if file.failure)
        return any(each.kind is Kind.PERMISSION for each in failures)

    def pull_request_of(self, file: ListedPath) -> PullRequest | None:
        """Return the pull request that proposes a path, or in which somebody declined it.

        For a path that was not read, it is the open pull request: it may have the path, and a
        reader can look there. ``None`` if there is none.
        """
        if file.declined_in or not self.pull_request:
            return file.declined_in
        return self.pull_request if file.standing in _IN_PULL_REQUEST else None

    @property
    def open_since(self) -> str:
        """When the oldest open pull request that is still needed was opened (ISO 8601).

        Empty if there is none, or if GitHub has not given the time.
        """
        is_needed = not self.told.to_close or not _IN_PULL_REQUEST.isdisjoint(self.standings)
        own = self.pull_request if is_needed else None
        pulls = filter(None, [own, *(file.declined_in for file in self.files)])
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

    def found_of(self, kinds: Iterable[FailOn]) -> list[int]:
        """Number of listed paths that are a finding, for each of ``kinds``."""
        standings, removed = self.standings, len(self.facts.removed)
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
        return self.found_of([FailOn.MISSING])[0]

    @property
    def findings(self) -> Mapping[Standing, tuple[str, ...]]:
        """Listed paths with a state among `FINDINGS`, by state."""
        return {
            finding: tuple(file.path for file in self.files if file.standing is finding)
            for finding in self.standings
            if finding in FINDINGS
        }

    @property
    def first_failure(self) -> Failure | None:
        """The failure that ended the registration, or else the one of the first failed file.

        ``None`` if nothing failed. Also ``None`` if only files failed and the repository is
        deferred or its open pull request needs no change.
        """
        failed = ((each.path, each.failure) for each in self.files if each.failure)
        path, failure = next(failed, ("", None))
        if self.failure or failure is None:
            return self.failure
        if self.status in {Status.DEFERRED, Status.WAITING, Status.CONFLICTING}:
            return None
        return failure._replace(message=msg("cause.one_failed", path=path, reason=failure.message))

    @property
    def status(self) -> Status:
        """The state of the repository.

        After the reading it names the work to do; after the registration, the work that was done.
        """
        match self.operation if self.is_ended else None, self.pull_request:
            case _ if self.is_deferred:
                return Status.DEFERRED if self.work else self.needed
            case None, _:
                has_failed = self.failure or (self.spec.writes and self.failed)
                return Status.FAILED if has_failed else self.needed
            # An update of the description alone does not count
            case operation, PullRequest() if operation in _WRITTEN and (
                operation is not PullRequestOperation.UPDATED or self.wrote
            ):
                return _WRITTEN[operation]
            case _ if self.exit_code:
                kind = self.failure.kind if self.failure else None
                is_refused = kind is Kind.NOT_BEGUN and not self.is_writable
                is_refused |= kind is Kind.OUT_OF_REACH
                return Status.NOT_WRITABLE if is_refused else Status.FAILED
            case _, PullRequest():
                return Status.CONFLICTING if self.told.conflicts else Status.WAITING
            case _:
                return self.needed

    @property
    def to_describe(self) -> bool:
        """Whether the description is all that is left to write."""
        return self.told.describes and bool(self.need and self.need.only_waits) and self.is_writable

    @property
    def is_described(self) -> bool:
        """Whether this run has updated the description, and no file."""
        return self.operation is PullRequestOperation.UPDATED and not self.wrote

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
    def need(self) -> Need | None:
        """The need that the plan says; ``None`` without a plan."""
        return self.told.need

    @property
    def work(self) -> Need | None:
        """The need, if a run that writes has something to do about it, and may do it."""
        return self.need if self.need and self.need.is_work and self.is_writable else None

    @property
    def needed(self) -> Status:
        """The state of the repository as long as nothing was done about its need."""
        if self.need is None:
            return Status.UNREAD
        return Status.NOT_WRITABLE if self.need.is_work and not self.work else self.need.value

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
