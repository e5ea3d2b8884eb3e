"""What a registration has to do, and what it asks GitHub to create."""

from collections.abc import Sequence
from typing import NamedTuple

from registrar.models.files import FileDefinition
from registrar.models.paths import ListedPath
from registrar.models.repository import PullRequest, Repository, RepositoryState
from registrar.models.rules import Replaced, UnusedParts
from registrar.models.settings import PullRequestOptions
from registrar.models.spec import RegistrationSpec


class Task(NamedTuple):
    """What a registration has to do."""

    spec: RegistrationSpec
    state: RepositoryState
    paths: tuple[ListedPath, ...]
    """Every listed path, in the order of the list."""
    missing: tuple[FileDefinition, ...]
    """What is to be created, in the order of the list."""
    unfit: tuple[int, ...] = ()
    """Numbers of the rules that do not apply."""
    replaced: tuple[Replaced, ...] = ()
    unused_parts: tuple[UnusedParts, ...] = ()
    """Which parts of files are not used."""
    hiding: tuple[str, ...] = ()
    """Listed paths in whose place GitHub uses, until they are there, what the owner's repository
    ``.github`` hands down, as far as that was read."""
    removed: tuple[str, ...] = ()
    """Listed paths that `RepositoryState.before` has, and the repository has no more."""

    @property
    def definitions(self) -> tuple[FileDefinition, ...]:
        """The list, its templates filled in for this repository."""
        return tuple(each.definition for each in self.paths)

    @property
    def fitting(self) -> frozenset[int]:
        """Numbers of the rules that apply."""
        return frozenset(rule.number for rule in self.spec.file_list.rules).difference(self.unfit)

    @property
    def has_list(self) -> bool:
        """Whether the repository is known to have the caller's own list, at the same path.

        So it is where its checkout is at the commit that was read, or where that commit is known
        anyway to have the path: with another content only if nobody knows which commit the checkout
        is at, because it may be one of another repository.
        """
        files, state = self.spec.file_list, self.state
        if files.commit and files.commit == state.base_sha:
            return True
        directory, _, name = files.path.rpartition("/")
        listed = state.directories.get(directory, {})
        entry = state.entries.get(files.path) or listed.get(name)
        return entry is not None and (not files.commit or entry.sha == files.blob_id)

    @property
    def repository(self) -> Repository:
        return self.state.repository

    @property
    def base_branch(self) -> str:
        """The branch that pull requests go to."""
        return self.spec.base_of(self.repository)

    @property
    def list_id(self) -> str:
        """What distinguishes the list from others, in the mark of a pull request."""
        return self.spec.list_id(self.repository)

    def with_pull_request(self, now: PullRequest) -> "Task":
        """Give the task with a pull request as it is by now."""
        state = self.state.branches[now.head_branch]
        pulls = (now if each.number == now.number else each for each in state.pull_requests)
        state = state._replace(pull_requests=tuple(pulls))
        branches = {**self.state.branches, state.name: state}
        return self._replace(state=self.state._replace(branches=branches))


class NewCommit(NamedTuple):
    """A commit to be made: it adds files to a branch that is at the commit ``parent``."""

    branch: str
    parent: str
    headline: str
    body: str
    files: Sequence[FileDefinition]


class NewPullRequest(NamedTuple):
    """A pull request to be opened, from ``branch`` to ``base``."""

    branch: str
    base: str
    title: str
    body: str
    options: PullRequestOptions


class Change(NamedTuple):
    """What a pull request is changed to."""

    body: str
    closes: bool = False


class Created(NamedTuple):
    """What became of a request for a branch, a commit and a pull request."""

    branch_id: str
    """What GraphQL calls the branch; empty when it was refused."""
    commit: str
    """Id of the commit; empty when it was refused."""
    pull_request: PullRequest | None
