"""The task of a registration after the reading, and the requests with which it writes."""

from collections.abc import Sequence
from typing import NamedTuple

from registrar.models.files import FileDefinition
from registrar.models.paths import ListedPath
from registrar.models.repository import PullRequest, Repository, RepositoryState
from registrar.models.rules import Replaced, UnusedParts
from registrar.models.settings import PullRequestOptions
from registrar.models.spec import RegistrationSpec


class Facts(NamedTuple):
    """The part of a task that people read. A result keeps it, and does not keep the task."""

    commit: str = ""
    """Id of the commit that was read: the head of the base branch, or the one of `Settings.ref`."""
    has_list: bool = False
    """Whether the commit is known to have the caller's own list, at the same path."""
    applying: frozenset[int] = frozenset()
    """Numbers of the rules that apply."""
    replaced: tuple[Replaced, ...] = ()
    """Entries of the list that a later entry with the same path replaces."""
    unused_parts: tuple[UnusedParts, ...] = ()
    """The parts of files that the repository does not get."""
    removed: tuple[str, ...] = ()
    """Listed paths that were present at the merge base (`RepositoryState.before`) and are not
    present at `Settings.ref`."""


class Task(NamedTuple):
    """The state of a repository, compared with the list."""

    spec: RegistrationSpec
    state: RepositoryState
    paths: tuple[ListedPath, ...]
    """Every listed path, in the order of the list."""
    missing: tuple[FileDefinition, ...]
    """The missing files (`Standing.TO_CREATE`), in the order of the list."""
    facts: Facts = Facts()

    @property
    def definitions(self) -> tuple[FileDefinition, ...]:
        """The files of the list, with the values of this repository filled in."""
        return tuple(each.definition for each in self.paths)

    @property
    def repository(self) -> Repository:
        return self.state.repository

    @property
    def base_branch(self) -> str:
        """Name of the branch into which pull requests are to be merged."""
        return self.spec.base_of(self.repository)

    @property
    def list_id(self) -> str:
        """The id of the list in the mark of a pull request."""
        return self.spec.list_id(self.repository)

    def with_pull_request(self, now: PullRequest) -> "Task":
        """Return the task with the present state of one of its pull requests."""
        state = self.state.branches[now.head_branch].with_pull_request(now)
        branches = {**self.state.branches, state.name: state}
        return self._replace(state=self.state._replace(branches=branches))


class NewCommit(NamedTuple):
    """A commit to be made: it adds files to a branch whose head is the commit ``parent``."""

    branch: str
    parent: str
    headline: str
    body: str
    files: Sequence[FileDefinition]


class NewPullRequest(NamedTuple):
    """A pull request to be opened, from ``branch`` to ``base_branch``."""

    branch: str
    base_branch: str
    title: str
    body: str
    options: PullRequestOptions


class Change(NamedTuple):
    """A change to a pull request."""

    body: str
    """The new description."""
    closes: bool = False
    """Whether the pull request is closed, too."""


class Created(NamedTuple):
    """The answer to a request for a branch, a commit and a pull request."""

    branch_id: str
    """Id of the branch in GraphQL; empty if the branch was refused."""
    commit: str
    """Id of the commit; empty if the commit was refused."""
    pull_request: PullRequest | None
