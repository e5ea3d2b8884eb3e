"""A listed path in a repository: how it stands, what a run did about it, and why."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from registrar.errors import Failure
from registrar.models.files import FileDefinition
from registrar.models.repository import PullRequest
from registrar.models.standing import PresentFile, Standing
from registrar.texts.messages import Message


class Done(StrEnum):
    """What a run did about a listed path, in the order of tables: the urgent comes first."""

    FAILED = "failed"
    UNKNOWN = "unknown"
    """The response to the write never came. Counts as failed."""
    CREATED = "created"
    UPDATED = "updated"
    """The open pull request held what this action wrote, and holds what the list gives now."""
    TO_UPDATE = "to update"
    """The open pull request holds what this action wrote; a run that writes would correct it."""
    TO_CREATE = "to create"
    """It is absent and wanted; a run that writes would create it."""
    NOTHING = "nothing"
    """It is absent, and neither this run nor one that writes does anything about it."""
    PENDING = "pending"
    """The run ended before it was this path's turn."""
    SKIPPED = "skipped"


class PathOutcome(NamedTuple):
    """What was done about a listed path, or found out; what is not given stays as it was."""

    path: str
    done: Done | None = None
    failure: Failure | None = None
    """Why it failed; what is done later takes it away."""
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
    """A listed path: made where presence is decided, and changed by `after` alone."""

    definition: FileDefinition
    """What the list gives, its templates filled in for this repository."""
    standing: Standing
    done: Done = Done.PENDING
    reason: Message | None = None
    """Why this was done; ``None`` for a failure, which has its reason in ``failure``."""
    failure: Failure | None = None
    present: PresentFile | None = None
    """What is there, or counts as it; ``None`` if nothing is."""
    unset: str = ""
    """The custom property without a value that its template names; it is skipped then."""
    other_case: str = ""
    """What exists that differs in letter case or Unicode form only."""
    hides: str = ""
    """The file that GitHub uses today and would not use any more once this one is there."""
    deleted_since: PullRequest | None = None
    """The merged pull request that added it, if somebody has deleted it since."""
    declined_in: PullRequest | None = None
    """Where somebody has declined the path."""
    conflicts_with: PullRequest | None = None
    """The pull request that adds another file here than the default branch has got since: git
    cannot merge it."""
    replaces: str = ""
    """Id of the blob that the working branch holds, if it is to follow the list."""
    before: bytes | None = None
    """Content of the blob that `replaces` names, where it was read."""
    is_as_listed: bool = False
    """Whether the working branch is known to hold just what the list gives."""
    commit: str = ""
    """The commit that created it."""

    def after(self, outcome: PathOutcome) -> "ListedPath":
        """Give the path as it stands once this was done, or is known."""
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
        """Whether the working branch brings this path to the default branch."""
        return self.standing is Standing.PROPOSED

    @property
    def counts_elsewhere(self) -> bool:
        """Whether it is present because of a file at another path."""
        return self.present is not None and self.present.path != self.path

    @property
    def was_taken_out(self) -> bool:
        """Whether somebody took it out of a pull request, which is open or was merged."""
        return self.declined_in is not None and not self.declined_in.was_refused


def by_path(files: Iterable[ListedPath]) -> dict[str, ListedPath]:
    """Give listed paths by their paths, in the same order."""
    return {each.path: each for each in files}
