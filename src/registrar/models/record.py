"""What became of one registration."""

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from registrar.errors import Failure, Kind
from registrar.models.paths import Done, ListedPath, PathOutcome
from registrar.models.repository import PullRequest, Repository
from registrar.models.rules import Replaced, UnusedParts
from registrar.models.selection import Exclusion
from registrar.models.settings import FailOn
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import FINDINGS, Completeness, Standing
from registrar.texts.messages import Message, msg


class PullRequestOperation(StrEnum):
    """What a run did about its pull request."""

    CREATED = "created"
    UPDATED = "updated"
    WITHDRAWN = "withdrawn"
    CLOSED = "closed"
    """The default branch has everything that it proposed: nobody said no, and none is opened."""
    NONE = "none"


class Note(NamedTuple):
    """Something worth knowing about a registration."""

    message: Message
    identity: str
    """Distinguishes notes: equal where two differ only in what is a repository's own, a link for
    example."""
    repeats_state: bool = False
    """Whether it says no more than the state of the repository."""


class Status(StrEnum):
    """How a repository stands in a run over many; those that need a person come first."""

    FAILED = "failed"
    OPENED = "opened"
    UPDATED = "updated"
    WITHDRAWN = "withdrawn"
    CLOSED = "closed"
    TO_OPEN = "to open"
    """Files are missing, and no open pull request proposes any of them."""
    TO_UPDATE = "to update"
    """The open pull request lacks files, or holds what the list gave earlier."""
    TO_CLOSE = "to close"
    """The default branch may have everything that an open pull request proposes."""
    TO_WITHDRAW = "to withdraw"
    """An open pull request may hold only what this action wrote."""
    DEFERRED = "deferred"
    """Left for the next run."""
    UNREAD = "not read"
    """Questions about it alone would have taken more points, or more time, than were left."""
    CONFLICTING = "conflicting"
    """Its open pull request holds everything, and cannot be merged."""
    WAITING = "waiting"
    """Its open pull request already holds everything."""
    BLOCKED = "blocked"
    """All missing paths are below a file, a link or a submodule."""
    UNSET = "unset"
    """Nothing is missing but files that need a custom property, which has no value."""
    DECLINED = "declined"
    """Nothing is absent but what somebody does not want."""
    COMPLETE = "complete"
    """Every listed path is present."""

    @property
    def place(self) -> int:
        """Place among the states, from 0: of two lists, the first one counts for a repository."""
        return _PLACES[self]


_PLACES = {each: place for place, each in enumerate(Status)}
WRITTEN = frozenset({Status.OPENED, Status.UPDATED, Status.WITHDRAWN, Status.CLOSED})
"""A pull request was opened or changed, even if something else failed."""

ONLY_LOOKED_AT = frozenset({Status.WAITING, Status.CONFLICTING})
"""Nothing is to be written to the open pull request."""
TO_DO = frozenset({Status.TO_OPEN, Status.TO_UPDATE, Status.TO_CLOSE, Status.TO_WITHDRAW})
"""What a run that writes does about a pull request."""
_AFTER = {
    PullRequestOperation.CREATED: Status.OPENED,
    PullRequestOperation.UPDATED: Status.UPDATED,
    PullRequestOperation.WITHDRAWN: Status.WITHDRAWN,
    PullRequestOperation.CLOSED: Status.CLOSED,
    PullRequestOperation.NONE: Status.WAITING,
}
"""How a repository stands once this was done about its pull request."""
_LEFT = {
    Standing.TO_CREATE: Status.WAITING,
    Standing.PROPOSED: Status.WAITING,
    Standing.BLOCKED: Status.BLOCKED,
    Standing.UNSET: Status.UNSET,
    Standing.DECLINED: Status.DECLINED,
}
"""What is left to do if nothing is to be written: the first of these that there is."""


class Record(NamedTuple):
    """One list in one repository: what the report is made of."""

    spec: RegistrationSpec
    repository: Repository
    """As far as it is known."""
    is_ended: bool = False
    """Whether a registration that may write has ended; else only the reading is known."""
    left: Status | None = None
    """What is left to do for the next run; ``None`` where the repository had its turn."""
    paths: Mapping[str, ListedPath] = MappingProxyType({})
    """The listed paths, in the order of the list."""
    branch: str = ""
    left_branch: str = ""
    """The branch that the run leaves without a commit, because GitHub has refused every one."""
    commit: str = ""
    """The commit that was read: that of the base branch, or of `Settings.ref`."""
    has_list: bool = False
    """Whether that commit is known to have the caller's own list, at the same path."""
    removed: tuple[str, ...] = ()
    """Listed paths that the base branch has had, and the reference has no more."""
    pull_request: PullRequest | None = None
    operation: PullRequestOperation = PullRequestOperation.NONE
    beside: tuple[PullRequest, ...] = ()
    """Open pull requests of other lists that have a name which this one would have taken."""
    unlisted: tuple[str, ...] = ()
    """Paths that earlier runs have added to the branch, and that are listed no more."""
    exit_code: int = 0
    failure: Failure | None = None
    """What ended it early."""
    notes: tuple[Note, ...] = ()
    fitting: frozenset[int] = frozenset()
    """Numbers of the rules that apply."""
    replaced: tuple[Replaced, ...] = ()
    """Entries of the list in whose place others stand."""
    unused_parts: tuple[UnusedParts, ...] = ()
    """Parts of files that are not for this repository."""
    exclusion: Exclusion | None = None
    """Why the repository is not worked on, after all."""
    knows_pull_requests: bool = True
    """Whether it is known that there is a pull request, or none."""
    interrupted: bool = False
    """Whether a branch with a name of ours was there without a pull request, as the reading of many
    has found it."""
    withdrawable: int = 0
    """Number of its pull requests that a run over many could withdraw, at most."""
    is_guess: bool = False
    """Whether it was read as if nobody had changed its pull requests, or had used a later name of
    the branch for one."""
    to_close: int = 0
    """Number of its open pull requests that are needless; at most, if it is read once more
    before one is closed."""
    closed: int = 0
    """Number of those that this run has closed."""

    @property
    def base_branch(self) -> str:
        """The branch that its pull requests go to."""
        return self.spec.base_of(self.repository)

    @property
    def files(self) -> tuple[ListedPath, ...]:
        """The listed paths, in the order of the list."""
        return tuple(self.paths.values())

    def after(self, *outcomes: PathOutcome) -> "Record":
        """Give the record once this was done about paths, or is known of them."""
        changed = {each.path: self.paths[each.path].after(each) for each in outcomes}
        return self._replace(paths={**self.paths, **changed})

    @property
    def is_refused(self) -> bool:
        """Whether it has files that the token is known not to write."""
        return any(f.failure and f.failure.kind is Kind.PERMISSION for f in self.files)

    def pull_request_of(self, file: ListedPath) -> PullRequest | None:
        """The pull request that proposes a path, or in which somebody declined it.

        A path that was not read is not known to be in the open one, but a reader can look there.
        """
        may_hold = file.on_branch or file.standing is Standing.UNREAD
        return file.declined_in or (self.pull_request if may_hold else None)

    @property
    def open_since(self) -> str:
        """When the first open pull request about one of its paths was opened (ISO 8601)."""
        pulls = filter(None, map(self.pull_request_of, self.files))
        return min((p.created_at for p in pulls if p.is_open and p.created_at), default="")

    @property
    def has_written(self) -> bool:
        """Whether something was done about a pull request."""
        return self.operation is not PullRequestOperation.NONE

    @property
    def known_repositories(self) -> Iterator[Repository]:
        """The repository, as it was described by itself and beside each pull request."""
        yield self.repository
        of_files = (
            pull
            for file in self.files
            for pull in (file.declined_in, file.deleted_since, file.conflicts_with)
        )
        pulls = filter(None, (self.pull_request, *self.beside, *of_files))
        yield from (pull.of for pull in pulls if pull.of)

    @property
    def is_of_workflow(self) -> bool:
        """Whether the workflow that runs us is in the very repository."""
        own = self.spec.settings.workflow_repository
        return own.lower() == self.repository.full_name.lower()

    @property
    def standings(self) -> Counter[Standing]:
        """Number of listed paths that stand in each way: together they are all paths."""
        return Counter(file.standing for file in self.files)

    def found(self, kind: FailOn) -> int:
        """Number of listed paths that ``kind`` is about."""
        if kind is FailOn.REMOVED:
            return len(self.removed)
        return kind.found_in(self.standings)

    @property
    def completeness(self) -> Completeness:
        """How far the list is carried out."""
        return Completeness.of(self.standings, has_failed=self.status is Status.FAILED)

    @property
    def missing(self) -> int:
        """Number of listed files that are absent and wanted."""
        return self.found(FailOn.MISSING)

    @property
    def findings(self) -> Mapping[Standing, tuple[str, ...]]:
        """Listed paths that deserve a look, by how they stand."""
        paths: dict[Standing, list[str]] = {}
        for file in self.files:
            if file.standing in FINDINGS:
                paths.setdefault(file.standing, []).append(file.path)
        return {standing: tuple(those) for standing, those in paths.items()}

    @property
    def first_failure(self) -> Failure | None:
        """What ended it, or why a file of it failed; ``None`` if nothing did, or was done."""
        failed = next((file for file in self.files if file.failure), None)
        if self.failure or failed is None or failed.failure is None:
            return self.failure
        if self.status is Status.DEFERRED or self.status in ONLY_LOOKED_AT:
            return None
        path, reason = failed.definition.path, failed.failure.message
        return failed.failure._replace(message=msg("cause.one_failed", path=path, reason=reason))

    @property
    def fails_run(self) -> bool:
        """Whether a run over many repositories ends with an error because of it.

        Also where the pull request was opened, and a file could not be put into it.
        """
        status = self.status
        return status is Status.FAILED or (status in WRITTEN and self.first_failure is not None)

    @property
    def is_unread(self) -> bool:
        """Whether nothing was read of it, and nothing failed either."""
        return not (self.commit or self.failure)

    @property
    def status(self) -> Status:
        """How it stands: what is to be done once it is read, and what was done at the end."""
        if self.left:
            return Status.DEFERRED if self.left in TO_DO else self.left
        if not self.is_ended:
            fails_in_part = self.spec.writes and (self.failed or self.standings[Standing.BLOCKED])
            return Status.FAILED if self.failure or fails_in_part else self.left_to_do
        status = _AFTER[self.operation]
        if status is Status.UPDATED and not self.wrote:
            # Only its description was written
            status = Status.WAITING
        is_written = self.pull_request is not None and status is not Status.WAITING
        if self.exit_code and not is_written:
            return Status.FAILED
        if status is Status.WAITING and self.conflicts:
            status = Status.CONFLICTING
        return status if self.pull_request else self.left_to_do

    @property
    def left_to_do(self) -> Status:
        """What the reading has left to do about the pull request."""
        if self.is_unread:
            return Status.UNREAD
        if self.withdrawable and self.spec.withdraws:
            return Status.TO_WITHDRAW
        missing = [file for file in self.files if file.standing is Standing.TO_CREATE]
        fails = any(file.failure for file in missing)
        is_lacking = any(file.done is not Done.SKIPPED and not file.failure for file in missing)
        if is_lacking or self.count(Done.TO_UPDATE):
            is_new = is_lacking and not self.pull_request
            return Status.TO_OPEN if is_new else Status.TO_UPDATE
        if self.to_close:
            return Status.TO_CLOSE
        if fails and not self.pull_request:
            return Status.FAILED
        standings = self.standings
        left = next((_LEFT[each] for each in _LEFT if standings[each]), Status.COMPLETE)
        return Status.CONFLICTING if left is Status.WAITING and self.conflicts else left

    @property
    def conflicts(self) -> tuple[str, ...]:
        """Listed paths in which its pull request conflicts with the default branch."""
        return tuple(file.path for file in self.files if file.conflicts_with)

    @property
    def declined_in(self) -> PullRequest | None:
        """The pull request in which the first of the declined paths was declined."""
        return next((file.declined_in for file in self.files if file.declined_in), None)

    @property
    def to_create(self) -> tuple[ListedPath, ...]:
        """What a run that writes nothing would create."""
        return tuple(file for file in self.files if file.done is Done.TO_CREATE)

    @property
    def to_update(self) -> tuple[ListedPath, ...]:
        """What a run that writes nothing would correct in a pull request of ours."""
        return tuple(file for file in self.files if file.done is Done.TO_UPDATE)

    def count(self, *done: Done) -> int:
        """Count the paths about which one of these was done."""
        return sum(1 for file in self.files if file.done in done)

    @property
    def created(self) -> int:
        return self.count(Done.CREATED)

    @property
    def wrote(self) -> bool:
        """Whether it has created or corrected a file."""
        return self.count(Done.CREATED, Done.UPDATED) > 0

    @property
    def skipped(self) -> int:
        """Number of files that were neither created, nor failed."""
        return self.count(Done.SKIPPED, Done.UPDATED)

    @property
    def failed(self) -> int:
        """Number of files that could not be created, or whose write was never answered.

        In a run over one repository also those that it did not come to, so that the three counts
        are all paths; of many such a repository is left for the next run.
        """
        reached = (Done.FAILED, Done.UNKNOWN)
        is_only = self.spec.writes and self.spec.policy.tells_paths
        return self.count(*reached, Done.PENDING) if is_only else self.count(*reached)
