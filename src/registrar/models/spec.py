"""What one registration is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from registrar.models.files import FileDefinition


class Mode(StrEnum):
    """What a run does with what is missing."""

    REGISTER = "register"
    PLAN = "plan"
    """Reads only, and shows what would be done."""
    CHECK = "check"
    """Like `PLAN`; a missing file is a failure."""


class CommitStrategy(StrEnum):
    """How missing files are written."""

    PER_FILE = "per-file"
    SINGLE = "single"


class PullRequestOptions(NamedTuple):
    """What the caller wants of the pull request, apart from its title."""

    body: str = ""
    """Template of the text at the top of the description."""
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    team_reviewers: tuple[str, ...] = ()
    draft: bool = False


class Chosen(NamedTuple):
    """A repository that was chosen from a list: another one may have its name by now."""

    id: int
    node_id: str
    """What GraphQL calls it."""
    may_be_called: Callable[[str], bool]
    """Whether it is still chosen under a name (``owner/repo``)."""


class RegistrationSpec(NamedTuple):
    """One registration to be done."""

    target: str
    """``owner/repo``, as it was given."""
    definitions: tuple[FileDefinition, ...]
    branch: str
    """Name of the working branch, as far as it is free."""
    list_id: str = ""
    """What tells the list from others, in the mark of a pull request."""
    uses_profile_branch: bool = True
    """Whether it is the profile's own name, which nobody else is likely to choose."""
    respect_alternatives: bool = False
    """Whether a path counts as present when GitHub would use another file in its place."""
    mode: Mode = Mode.REGISTER
    strategy: CommitStrategy = CommitStrategy.PER_FILE
    falls_back: bool = True
    """Whether files are created one by one where a commit of all is refused."""
    completes_options: bool = True
    """Whether an open pull request that holds everything gets the labels and assignees it lacks."""
    chosen: Chosen | None = None
    """The repository that ``target`` must be; ``None``: whichever has the name."""
