"""A listed path in a repository: what a plan says of it, and what a run did about it.

The plan of a run says of each listed path what is to be done (`PathPlan`). A run that writes adds
an *outcome* to each path that it reaches. The state of a path, and what people read of the run's
work, follow from these two.
"""

from collections.abc import Iterable, Mapping
from enum import Enum, StrEnum, auto
from typing import NamedTuple, TypeAlias, assert_never

from registrar.errors import Failure
from registrar.models.files import FileDefinition
from registrar.models.repository import PullRequest
from registrar.models.standing import PresentFile, Standing
from registrar.texts.messages import Message


class Done(StrEnum):
    """The outcome of a run for a path, as people read it. Tables have this order, the most urgent
    first.
    """

    FAILED = "failed"
    UNKNOWN = "unknown"
    """No response to the writing request arrived. Counts as failed."""
    CREATED = "created"
    UPDATED = "updated"
    """The run has replaced registrar's earlier content in the open pull request with the present
    content of the list."""
    TO_UPDATE = "to update"
    """The open pull request has registrar's earlier content; a run that writes would update it."""
    TO_CREATE = "to create"
    """The path is missing; a run that writes would create it."""
    NOTHING = "nothing"
    """The path is absent, but is not to be created or updated, for example because an open pull
    request adds it."""
    PENDING = "pending"
    """The run has not reached the path yet, or has ended before."""
    SKIPPED = "skipped"


# --- What a plan says of a path -------------------------------------------------------------------


class Present(NamedTuple):
    """A file exists at the path, or at an accepted alternative."""

    file: PresentFile
    reason: Message


class Create(NamedTuple):
    """The file is to be created."""

    said: Done = Done.PENDING
    """The outcome that is shown until the file is created."""
    is_known_absent: bool = True
    """Whether the working branch is known to lack the path. If not, GitHub has to refuse the file
    if the path exists."""


class Update(NamedTuple):
    """The file on the working branch is to be replaced by the content of the list."""

    blob: str
    """Id of the blob that is replaced; empty if it is not known."""
    standing: Standing = Standing.TO_CREATE
    said: Done = Done.PENDING
    """``standing`` and ``said`` are shown until the file is updated."""


class Why(Enum):
    """The reason for which nothing is done about an absent path."""

    ON_BRANCH = auto()
    """The working branch has the file already, as it is listed."""
    MADE = auto()
    """The same, and this run has created the file, but GitHub's answer was lost."""
    EDITED = auto()
    """The working branch has a file at the path that registrar did not write as it is."""
    NO_FILE = auto()
    """The working branch has a directory at the path."""
    FROM_BASE = auto()
    """The working branch has the file only because the commit from which it starts has it."""
    OLDER_LIST = auto()
    """The file on the working branch may be of a newer version of the list than that of this run.
    """
    NOT_UPDATED = auto()
    """The working branch lacks the file, and `Plan.leaves_pull_request` is true."""
    KEPT = auto()
    """The same, but the working branch has something at the path."""
    DECLINED = auto()
    UNSET = auto()
    """A custom property that the file needs is unset."""
    BLOCKED = auto()
    """Something is in the place of a directory that the path needs."""
    NOT_NAMED = auto()
    """A new pull request would be needed, and `RegistrationSpec.opens_nothing` is true."""

    @property
    def standing(self) -> Standing:
        """The state of a path that is left for this reason.

        `Standing.TO_CREATE` is only for a path that another run, or another input, would create.
        """
        match self:
            case Why.ON_BRANCH | Why.MADE | Why.EDITED | Why.NO_FILE | Why.KEPT | Why.OLDER_LIST:
                return Standing.PROPOSED
            case Why.FROM_BASE | Why.NOT_UPDATED | Why.NOT_NAMED:
                return Standing.TO_CREATE
            case Why.DECLINED:
                return Standing.DECLINED
            case Why.UNSET:
                return Standing.UNSET
            case Why.BLOCKED:
                return Standing.BLOCKED
            case _ as unknown:
                assert_never(unknown)

    @property
    def is_on_branch(self) -> bool:
        """Whether the log has the path among the files of the working branch."""
        on_branch = {Why.ON_BRANCH, Why.MADE, Why.EDITED, Why.NO_FILE, Why.FROM_BASE}
        return self in on_branch | {Why.OLDER_LIST}


class Leave(NamedTuple):
    """The path is absent, and nothing is done about it."""

    why: Why
    said: Done
    reason: Message | None = None
    pull_request: PullRequest | None = None
    """The pull request in which somebody has declined the path."""
    unset: str = ""
    """The unset custom property that the file needs."""


class CannotCreate(NamedTuple):
    """The path is absent, and it is known before any request that it cannot be created."""

    failure: Failure
    standing: Standing = Standing.TO_CREATE


class Unread(NamedTuple):
    """The path was not read."""


PathPlan: TypeAlias = Present | Create | Update | Leave | CannotCreate | Unread


# --- What a run did about a path ------------------------------------------------------------------


class Result(Enum):
    """The kind of an outcome."""

    DONE = auto()
    """The file was created or updated."""
    FOUND = auto()
    """The working branch has something at the path that this run did not write."""
    LEFT = auto()
    """The step was not carried out, for a reason that was found right before it."""
    FAILED = auto()
    UNKNOWN = auto()
    """GitHub's answer was lost, so the file may have been written."""
    NOT_REACHED = auto()
    """The run ended before."""


class Outcome(NamedTuple):
    """The outcome of a step of the run for one path."""

    result: Result
    reason: Message | None = None
    """Why; ``None`` for a failure, whose reason is in ``failure``."""
    failure: Failure | None = None
    commit: str = ""
    """Id of the commit that created or updated the file; empty if it is not known."""
    is_as_listed: bool = False
    """Whether the working branch is known to have exactly the content of the list."""


_State: TypeAlias = tuple[Standing, Done]
_CREATE: Mapping[Result, _State] = {
    Result.DONE: (Standing.PROPOSED, Done.CREATED),
    Result.FOUND: (Standing.PROPOSED, Done.SKIPPED),
    Result.LEFT: (Standing.TO_CREATE, Done.SKIPPED),
    Result.FAILED: (Standing.TO_CREATE, Done.FAILED),
    Result.UNKNOWN: (Standing.TO_CREATE, Done.UNKNOWN),
    Result.NOT_REACHED: (Standing.TO_CREATE, Done.PENDING),
}
"""The state of a path that was to be created, after each kind of outcome."""
_UPDATE: Mapping[Result, _State] = {
    Result.DONE: (Standing.PROPOSED, Done.UPDATED),
    Result.FOUND: (Standing.PROPOSED, Done.SKIPPED),
    Result.LEFT: (Standing.PROPOSED, Done.SKIPPED),
    Result.FAILED: (Standing.PROPOSED, Done.FAILED),
    Result.UNKNOWN: (Standing.TO_CREATE, Done.UNKNOWN),
    Result.NOT_REACHED: (Standing.TO_CREATE, Done.PENDING),
}
"""The same for a path that was to be updated."""


class ListedPath(NamedTuple):
    """A listed path: what the plan says of it, what the run did about it, and facts about it."""

    definition: FileDefinition
    """The file of the list, with the values of this repository filled in."""
    plan: PathPlan
    outcome: Outcome | None = None
    """``None`` if no step was about the path."""
    other_case: str = ""
    """An existing path that differs only in letter case or Unicode form."""
    hides: str = ""
    """The existing file that GitHub would no longer use if this path existed."""
    used_instead: str = ""
    """The existing file that GitHub would use instead of this path."""
    hides_inherited: bool = False
    """Whether the path would replace a file which the repository inherits from the owner's
    ``.github`` repository. False if that was not read."""
    deleted_since: PullRequest | None = None
    """The merged pull request that added the file, if somebody has deleted the file since."""
    conflicts_with: PullRequest | None = None
    """The pull request that cannot be merged, because it adds this path, and the default branch has
    got other content there since."""
    before: bytes | None = None
    """Content of the blob that is to be replaced; ``None`` if it was not read."""
    is_unopened: bool = False
    """Whether the run has ended without an open pull request from the working branch."""

    @property
    def path(self) -> str:
        return self.definition.path

    @property
    def state(self) -> _State:
        """The state of the path and what people read of the run's work on it."""
        standing, done = self._state_on_branch
        if self.is_unopened and standing is Standing.PROPOSED:
            # The next plan says so, too, because nobody can merge the file yet
            return Standing.TO_CREATE, done
        return standing, done

    @property
    def _state_on_branch(self) -> _State:  # noqa: PLR0911 (one for each kind of plan)
        outcome = self.outcome
        match self.plan:
            case Create() as plan:
                return _CREATE[outcome.result] if outcome else (Standing.TO_CREATE, plan.said)
            case Present() as plan:
                return plan.file.standing, Done.SKIPPED
            case Update() as plan:
                return _UPDATE[outcome.result] if outcome else (plan.standing, plan.said)
            case Leave() as plan:
                if outcome and outcome.result is Result.NOT_REACHED:
                    return _CREATE[outcome.result]
                return plan.why.standing, plan.said
            case CannotCreate() as plan:
                return plan.standing, Done.FAILED
            case Unread():
                return Standing.UNREAD, Done.PENDING
            case _ as unknown:
                assert_never(unknown)

    @property
    def standing(self) -> Standing:
        return self.state[0]

    @property
    def done(self) -> Done:
        return self.state[1]

    @property
    def reason(self) -> Message | None:
        """Why this was done; ``None`` for a failure, whose reason is in `failure`."""
        if self.outcome:
            return self.outcome.reason
        return self.plan.reason if isinstance(self.plan, (Present, Leave)) else None

    @property
    def failure(self) -> Failure | None:
        if isinstance(self.plan, CannotCreate):
            return self.plan.failure
        return self.outcome.failure if self.outcome else None

    @property
    def present(self) -> PresentFile | None:
        """The file that exists at the path, or an accepted alternative."""
        return self.plan.file if isinstance(self.plan, Present) else None

    @property
    def unset(self) -> str:
        """The unset custom property that the file needs; empty if there is none."""
        return self.plan.unset if isinstance(self.plan, Leave) else ""

    @property
    def declined_in(self) -> PullRequest | None:
        """The pull request in which somebody has declined the path."""
        return self.plan.pull_request if isinstance(self.plan, Leave) else None

    @property
    def replaces(self) -> str:
        """Id of the blob on the working branch that is replaced; empty if none is."""
        return self.plan.blob if isinstance(self.plan, Update) else ""

    @property
    def is_as_listed(self) -> bool:
        """Whether the working branch is known to have exactly the content of the list."""
        if self.outcome:
            return self.outcome.is_as_listed
        return isinstance(self.plan, Leave) and self.plan.why in {Why.ON_BRANCH, Why.MADE}

    @property
    def commit(self) -> str:
        """Id of the commit that created or updated the file; empty if it is not known."""
        return self.outcome.commit if self.outcome else ""

    @property
    def is_to_write(self) -> bool:
        """Whether a step is to create or update the file, and has not done so yet."""
        return self.outcome is None and isinstance(self.plan, (Create, Update))

    @property
    def is_waiting(self) -> bool:
        """Whether the path has its turn when the files of the working branch are written."""
        is_on_branch = isinstance(self.plan, Leave) and self.plan.why.is_on_branch
        return self.is_to_write or (is_on_branch and self.outcome is None)

    @property
    def on_branch(self) -> bool:
        """Whether a merge of the working branch would add this path to the base branch."""
        return self.standing is Standing.PROPOSED

    @property
    def counts_elsewhere(self) -> bool:
        """Whether the path counts as present because of a file at another path."""
        return self.present is not None and self.present.path != self.path

    @property
    def was_deleted_from_branch(self) -> bool:
        """Whether somebody deleted the file from the branch of a pull request.

        The pull request is open, or was merged or withdrawn. False if somebody else than registrar
        has closed it without a merge.
        """
        return self.declined_in is not None and not self.declined_in.was_declined

    def planned_after(self, earlier: "ListedPath") -> "ListedPath":
        """Return the path of a new plan, with what this run knows from the ``earlier`` one.

        An outcome that is this run's own stays. A file that was only found is decided anew, because
        somebody may have changed it since; it keeps its outcome if the new plan says the same.
        """
        outcome = earlier.outcome
        if outcome is None:
            if (isinstance(self.plan, Leave) and self.plan.why is Why.MADE) and (
                isinstance(earlier.plan, Update) or earlier.done is Done.UPDATED
            ):
                # The answer was lost to the commit that updated it
                return self._replace(plan=self.plan._replace(said=Done.UPDATED, reason=None))
            return self
        if outcome.result is not Result.FOUND:
            return self._replace(plan=earlier.plan, outcome=outcome)
        now, before = (self.state, self.is_as_listed), (earlier.state, earlier.is_as_listed)
        return self._replace(plan=earlier.plan, outcome=outcome) if now == before else self


def by_path(files: Iterable[ListedPath]) -> dict[str, ListedPath]:
    """Return listed paths by their path, in the same order."""
    return {each.path: each for each in files}
