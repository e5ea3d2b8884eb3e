"""What a run was asked to do."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from registrar.models.selection import Selection
from registrar.models.standing import WANTED, Standing
from registrar.texts import templates
from registrar.texts.messages import Message


class Mode(StrEnum):
    """What a run does with what is missing."""

    REGISTER = "register"
    PLAN = "plan"
    """Reads only, and shows what would be done."""
    CHECK = "check"
    """Like `PLAN`; what `FailOn` names is a failure."""
    WITHDRAW = "withdraw"
    """Closes the open pull requests of the list that hold only what this action wrote."""
    VALIDATE = "validate"
    """Reads the list alone, without a token and without a request."""

    @property
    def only_reads(self) -> bool:
        return self in {Mode.PLAN, Mode.CHECK}


class FailOn(StrEnum):
    """What makes `Mode.CHECK` a failure."""

    MISSING = "missing"
    """Absent and wanted, also where an open pull request proposes it."""
    DECLINED = "declined"
    UNSET = "unset"
    BLANK = "blank"
    DIFFERS = "differs"
    INVALID = "invalid"
    """No file where one is listed: a directory, a link or a submodule."""
    REMOVED = "removed"
    """What the base branch has had, and `Settings.ref` has no more."""

    def covers(self, standing: Standing) -> bool:
        """Whether a listed path that stands so is what it is about."""
        if self is FailOn.MISSING:
            return standing in WANTED
        if self is FailOn.INVALID:
            return standing is Standing.NO_FILE
        return standing.value == self.value

    def found_in(self, standings: Mapping[Standing, int]) -> int:
        """Number of listed paths that it is about."""
        return sum(count for each, count in standings.items() if self.covers(each))


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


class Defaults(NamedTuple):
    """The texts that a list comes with, used if no input says otherwise."""

    name: str
    """What the placeholder ``{profile}`` stands for."""
    branch: str
    title: str
    commit_message: str = "chore: add {path}"


class Profile(NamedTuple):
    """A built-in list."""

    defaults: Defaults
    definitions: str
    """Its file."""
    content_allowed: bool = True
    """Whether its entries may have content; else every file is empty."""

    @property
    def name(self) -> str:
        return self.defaults.name


class Settings(NamedTuple):
    """What a run was asked to do; every value is valid."""

    token: str
    target: str
    """``owner/repo``, as it was given."""
    selection: Selection | None
    """The repositories of a run over many; then ``target`` is ignored."""
    max_pull_requests: int
    """How many pull requests a run over many repositories opens at most."""
    max_seconds: float
    """After this time a run over many repositories begins nothing new."""
    profiles: tuple[Profile, ...]
    """The built-in lists of the run; none if the list is the caller's own."""
    workspace: Path | None
    """The folder in which a workflow names its list; ``None`` where a shell names it."""
    definitions: str
    """The caller's own definition file, from the workspace, or else from the working directory;
    empty: the built-in lists."""
    respect_alternatives: bool
    mode: Mode
    fail_on: frozenset[FailOn]
    """What is a failure; nothing, unless the run is a check."""
    ref: str
    """The commit, branch, tag or other reference that is looked at in place of the default branch;
    empty: that one. A run at a reference only reads, in one repository."""
    base: str
    """Name of the branch that paths are looked up on, and that pull requests go to; empty: the
    default branch."""
    event_base: str
    """Name of the branch into which what started the workflow, a pull request or a merge group, is
    to be merged: ``ref`` is compared with it. Empty: the default branch."""
    commit_strategy: CommitStrategy
    update: bool
    branch: str
    commit_message: str
    title: str
    """``branch``, ``commit_message`` and ``title`` are templates; empty: the list's own."""
    pull_request: PullRequestOptions
    api_url: str
    max_wait_seconds: float
    in_workflow: bool
    workflow_repository: str
    """The repository whose workflow runs us (``GITHUB_REPOSITORY``), or nothing; also if that is on
    another host."""
    is_public_workflow: bool
    """Whether the event says that everybody may know that repository."""
    event: Path | None
    """The file that describes what started the workflow (``GITHUB_EVENT_PATH``)."""
    is_of_fork: bool
    """Whether a pull request from a fork started the workflow, whose own token then only reads."""
    run_url: str
    """Address of the workflow run, or nothing."""
    action_url: str
    """Address of the action's repository, or nothing."""
    warnings: tuple[Message, ...] = ()
    """What is worth a warning, though the run goes on."""

    @property
    def texts(self) -> dict[str, str]:
        """The caller's templates of texts, by their inputs."""
        return {
            "title": self.title,
            "body": self.pull_request.body,
            "commit_message": self.commit_message,
        }

    @property
    def property_names(self) -> frozenset[str]:
        """Custom properties that commits and pull requests name, in lower case."""
        given = self.pull_request
        names = (*given.labels, *given.assignees, *given.reviewers, *given.team_reviewers)
        texts = (*self.texts.values(), *filter(templates.names_property, names))
        return frozenset(name for text in texts for name in templates.properties(text))

    def __repr__(self) -> str:
        return f"Settings(target={self.target!r})"
