"""The settings of a run, as its inputs give them."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from registrar.models.selection import Selection
from registrar.models.standing import WANTED, Standing
from registrar.texts import templates
from registrar.texts.messages import Message


class Mode(StrEnum):
    """The task of a run."""

    REGISTER = "register"
    PLAN = "plan"
    """Only reads, and shows what `REGISTER` would do."""
    CHECK = "check"
    """Only reads, and fails if it finds something that `FailOn` names."""
    WITHDRAW = "withdraw"
    """Closes the open pull requests of the list that have only files of registrar."""
    VALIDATE = "validate"
    """Only reads the list, without a token and without a request."""

    @property
    def only_reads(self) -> bool:
        return self in {Mode.PLAN, Mode.CHECK}


class FailOn(StrEnum):
    """A finding with which a run with `Mode.CHECK` fails."""

    MISSING = "missing"
    """A path that is missing, proposed or blocked."""
    DECLINED = "declined"
    UNSET = "unset"
    BLANK = "blank"
    DIFFERS = "differs"
    INVALID = "invalid"
    """A listed path that is a directory, a link or a submodule."""
    REMOVED = "removed"
    """A listed path that is present at the merge base and not at `Settings.ref`."""

    def covers(self, standing: Standing) -> bool:
        """Whether a listed path in this state is such a finding.

        Always false for `REMOVED`, because the state of a path does not show that.
        """
        if self is FailOn.MISSING:
            return standing in WANTED
        if self is FailOn.INVALID:
            return standing is Standing.NO_FILE
        return standing.value == self.value

    def found_in(self, standings: Mapping[Standing, int]) -> int:
        """Return the number of such findings among ``standings``, the paths in each state."""
        return sum(count for each, count in standings.items() if self.covers(each))


class CommitStrategy(StrEnum):
    """How missing files are committed."""

    PER_FILE = "per-file"
    """One commit for each file."""
    SINGLE = "single"
    """One commit for all files."""


class PullRequestOptions(NamedTuple):
    """The inputs about the pull request, except for its title."""

    body: str = ""
    """Template of the text at the top of the description."""
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    team_reviewers: tuple[str, ...] = ()
    draft: bool = False


class Defaults(NamedTuple):
    """The texts of a list, which are used if no input gives another one."""

    name: str
    """The value of the placeholder ``{profile}``."""
    branch: str
    title: str
    commit_message: str = "chore: add {path}"


class Profile(NamedTuple):
    """A built-in list."""

    defaults: Defaults
    definitions: str
    """Name of its definition file."""
    content_allowed: bool = True
    """Whether the entries may have content; otherwise every file is empty."""
    has_fixed_requests: bool = True
    """Whether the requests of a run over one repository are those of the first scripts, which had
    this list."""

    @property
    def name(self) -> str:
        return self.defaults.name


class Settings(NamedTuple):
    """The values of all inputs, and of the environment of the run. Every value is valid."""

    token: str
    target: str
    """``owner/repo`` as in the input."""
    selection: Selection | None
    """The repositories of a run over many, which ignores ``target``; ``None`` for a run over one.
    """
    max_pull_requests: int
    """The largest number of pull requests that a run over many repositories opens."""
    max_seconds: float
    """Seconds after which a run over many repositories begins nothing new."""
    profiles: tuple[Profile, ...]
    """The built-in lists of the run; empty if the list is the caller's own."""
    workspace: Path | None
    """The directory from which the path of the caller's own list starts; ``None`` for the working
    directory."""
    definitions: str
    """Path of the caller's own definition file; empty if the run uses built-in lists."""
    respect_alternatives: bool
    mode: Mode
    fail_on: frozenset[FailOn]
    """The findings with which the run fails; empty unless the mode is `Mode.CHECK`."""
    ref: str
    """The commit, branch, tag or other reference that is read in place of the default branch; empty
    for the default branch. A run at a reference only reads, in one repository."""
    base: str
    """Name of the branch on which paths are looked up, and into which pull requests are to be
    merged; empty for the default branch."""
    event_base: str
    """Name of the base branch of the pull request or merge group that started the workflow. ``ref``
    is compared with this branch. Empty for the default branch."""
    commit_strategy: CommitStrategy
    update: bool
    """Whether open pull requests are updated."""
    branch: str
    commit_message: str
    title: str
    """``branch``, ``commit_message`` and ``title`` are templates; empty for those of the list."""
    pull_request: PullRequestOptions
    api_url: str
    max_wait_seconds: float
    """Seconds that the run may wait for GitHub."""
    in_workflow: bool
    """Whether the run is a step of a workflow, or sets ``GITHUB_REPOSITORY`` as a workflow does."""
    workflow_repository: str
    """The repository of the workflow (``GITHUB_REPOSITORY``); empty if there is none, or if it is
    on another host than ``api_url``."""
    workflow_repository_id: str
    """The number of this repository, which stays the same if it is renamed; empty if it is not
    known."""
    attempt_of: str
    """The branch of the workflow, if this is a later attempt of the run, which has the commit of
    the first one; otherwise empty."""
    workflow_visibility: str
    """The visibility of the repository with the workflow, which decides who can read the log. Empty
    if it is not known; ``private`` outside a workflow."""
    is_of_fork: bool
    """Whether a pull request from a fork started the workflow, so that the workflow's own token can
    only read."""
    run_url: str
    """Address of the workflow run; empty outside a workflow."""
    action_url: str
    """Address of the action's repository; empty if it is not known."""
    warnings: tuple[Message, ...] = ()
    """Warnings about the inputs."""

    @property
    def is_public_workflow(self) -> bool:
        """Whether the workflow's repository is known and public."""
        return bool(self.workflow_repository) and self.workflow_visibility == "public"

    @property
    def others_read(self) -> bool:
        """Whether people may be able to read the log who may not see a private repository."""
        return self.workflow_visibility != "private"

    @property
    def texts(self) -> dict[str, str]:
        """The templates of texts that the caller gives, by the names of their inputs."""
        return {
            "title": self.title,
            "body": self.pull_request.body,
            "commit_message": self.commit_message,
        }

    @property
    def property_names(self) -> frozenset[str]:
        """Custom properties that the inputs for commits and pull requests name, in lower case."""
        given = self.pull_request
        names = (*given.labels, *given.assignees, *given.reviewers, *given.team_reviewers)
        texts = (*self.texts.values(), *filter(templates.names_property, names))
        return frozenset(name for text in texts for name in templates.properties(text))

    def __repr__(self) -> str:
        return f"Settings(target={self.target!r})"
