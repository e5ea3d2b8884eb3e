"""A listed path in a repository: its state, what a run did about it, and why."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from registrar.errors import Failure
from registrar.models.files import FileDefinition
from registrar.models.repository import PullRequest
from registrar.models.standing import PresentFile, Standing
from registrar.texts.messages import Message


class Done(StrEnum):
    """The outcome of a run for a listed path. Tables have this order, the most urgent first."""

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


class PathOutcome(NamedTuple):
    """News about a listed path. `ListedPath.after` keeps the old value of each ``None``."""

    path: str
    done: Done | None = None
    failure: Failure | None = None
    """Why it failed. A later outcome with a ``done`` and without a failure deletes the failure."""
    reason: Message | None = None
    standing: Standing | None = None
    declined_in: PullRequest | None = None
    deleted_since: PullRequest | None = None
    conflicts_with: PullRequest | None = None
    replaces: str | None = None
    before: bytes | None = None
    is_as_listed: bool | None = None
    commit: str | None = None


class ListedPath(NamedTuple):
    """A listed path. `make_task` creates it, and `after` adds the outcomes of the run."""

    definition: FileDefinition
    """The file of the list, with the values of this repository filled in."""
    standing: Standing
    done: Done = Done.PENDING
    reason: Message | None = None
    """Why this was done; ``None`` for a failure, whose reason is in ``failure``."""
    failure: Failure | None = None
    present: PresentFile | None = None
    """The file that exists at the path, or an accepted alternative; ``None`` if neither exists."""
    unset: str = ""
    """The unset custom property that its template names. The path is skipped because of it."""
    other_case: str = ""
    """An existing path that differs only in letter case or Unicode form."""
    hides: str = ""
    """The existing file that GitHub would no longer use if this path existed."""
    deleted_since: PullRequest | None = None
    """The merged pull request that added the file, if somebody has deleted the file since."""
    declined_in: PullRequest | None = None
    """The pull request in which somebody has declined the path."""
    conflicts_with: PullRequest | None = None
    """The pull request that cannot be merged, because it adds this path, and the default branch has
    got other content there since."""
    replaces: str = ""
    """Id of the blob on the working branch that is to be replaced by the content of the list."""
    before: bytes | None = None
    """Content of the blob with the id `replaces`; ``None`` if it was not read."""
    is_as_listed: bool = False
    """Whether the working branch is known to have exactly the content of the list."""
    commit: str = ""
    """Id of the commit that created or updated the file."""

    def after(self, outcome: PathOutcome) -> "ListedPath":
        """Return the path with the values that ``outcome`` gives."""
        given = outcome._asdict()
        del given["path"]
        changes = {name: value for name, value in given.items() if value is not None}
        if outcome.done:
            changes["failure"] = outcome.failure
        return self._replace(**changes)

    @property
    def path(self) -> str:
        return self.definition.path

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


def by_path(files: Iterable[ListedPath]) -> dict[str, ListedPath]:
    """Return listed paths by their path, in the same order."""
    return {each.path: each for each in files}
