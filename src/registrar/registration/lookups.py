"""The questions of `make_plan` about a repository, and the requests that answer them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from registrar.errors import RegistrarError
from registrar.models.files import FileDefinition
from registrar.models.repository import BranchState, Comparison, Entry, Tree, Unknown
from registrar.models.spec import RegistrationSpec
from registrar.models.task import Task
from registrar.registration.preflight import require_writable
from registrar.registration.sent import SentSteps

if TYPE_CHECKING:
    from registrar.github.client import Client


def tree_as_read(task: Task, commit: str) -> Tree | None:
    """Return the files at and above the listed paths, if the commit is the head of a branch that
    was read with the repository.

    `None` if it is not, or if one of the listed paths is a directory there, because the files in
    that directory were not read.
    """
    known = (each.entries for each in task.state.branches.values() if each.head == commit)
    entries = next((each for each in known if not isinstance(each, Unknown)), None)
    if entries is None:
        return None
    at_paths = (entries.get(each.path) for each in task.definitions)
    if any(entry and entry.type == "tree" for entry in at_paths):
        return None
    return {path: entry for path, entry in entries.items() if entry.type != "tree"}


class Lookups(Protocol):
    """The questions of `make_plan` about the repository of its task.

    Each method may raise `RegistrarError`, which ends the planning.
    """

    is_guess: bool = False
    """Whether the answers assume that nobody has changed an open pull request of the list."""
    scopes: frozenset[str] | None = None
    """The scopes of a classic token; ``None`` for other tokens."""

    def branch(self, name: str, /) -> BranchState:
        """Return the commit of the branch of this name, and the pull requests from it."""

    def head(self, name: str, /) -> str | None:
        """Return the present commit of a branch; `None` if there is no such branch."""

    def has_branch(self, _name: str, /) -> bool:
        """Whether the repository has a branch of this name, which is none of this list's."""
        return True

    def tree(self, commit: str, /) -> Tree | None:
        """Return all files of a commit; `None` if GitHub cuts the list."""

    def tree_at_listed(self, commit: str, /) -> Tree | None:
        """Return the files of a commit at the listed paths, and above and below them.

        The result may have other files as well. `None` if GitHub cuts the list.
        """
        return self.tree(commit)

    def lacking(self, paths: frozenset[str], commit: str, /) -> frozenset[str]:
        """Return those of ``paths`` that a commit lacks."""

    def compare(self, base_sha: str, head: str, /) -> Comparison:
        """Return the merge base of two commits, and the files that ``head`` adds to it."""

    def may_write(self, login: str, /) -> bool | None:
        """Whether this account may write to the repository; `None` if GitHub does not say."""

    def default_branch(self) -> str:
        """Return the present name of the default branch."""

    def refusal(self, _files: Sequence[FileDefinition], /) -> RegistrarError | None:
        """Return the error by which a run that writes these files would end before its first write;
        `None` if it is not known that something refuses them.
        """
        return None

    def has_newer_list(self) -> bool:
        """Whether the list may have changed since the commit with which this run began."""
        return False

    def entry(self, _branch: str, _path: str, /, *, is_there: bool) -> Entry | None:
        """Return the present entry of a branch at a path that this run has sent; `None` if there is
        none.

        ``is_there`` is true if GitHub has refused the write because the path exists already.
        """
        del is_there
        return None


class RestLookups(Lookups):
    """Answers the questions with requests. `SentSteps` shows which branches this run may have
    changed since the repository was read.
    """

    def __init__(self, client: "Client", task: Task, sent: SentSteps) -> None:
        self._client = client
        self._task = task
        self._repository = task.repository
        self._trees: dict[str, Tree | None] = {}
        self._comparisons: dict[tuple[str, str], Comparison] = {}
        self._sent = sent
        self.scopes = client.limits.scopes

    def branch(self, name: str) -> BranchState:
        rest, sent, heads = self._client.rest, self._sent, self._task.state.heads
        if isinstance(heads, Unknown) or sent.branches:
            # The branches were listed before the first step, so that list is out of date
            head = rest.branch_head(self._repository, name)
        else:
            head = heads.get(name)
        pulls = rest.pull_requests(self._repository, name)
        if sent.may_have_opened(name) and not any(pull.is_open for pull in pulls):
            pulls += rest.open_pull_requests(self._repository, name)
        return BranchState(name, head, pulls)

    def head(self, name: str) -> str | None:
        return self._client.rest.branch_head(self._repository, name)

    def has_branch(self, name: str) -> bool:
        return self.head(name) is not None

    def tree(self, commit: str) -> Tree | None:
        if commit not in self._trees:
            self._trees[commit] = self._client.rest.tree(self._repository, commit)
        return self._trees[commit]

    def tree_at_listed(self, commit: str) -> Tree | None:
        known = tree_as_read(self._task, commit)
        return self.tree(commit) if known is None else known

    def lacking(self, paths: frozenset[str], commit: str) -> frozenset[str]:
        """Use the tree of the commit, or one request for each path if GitHub cuts the tree."""
        tree, rest = self.tree_at_listed(commit), self._client.rest
        if tree is not None:
            return paths - tree.keys()
        return frozenset(p for p in paths if rest.entry(self._repository, p, commit) is None)

    def compare(self, base_sha: str, head: str) -> Comparison:
        if (base_sha, head) not in self._comparisons:
            compared = self._client.rest.compare(self._repository, base_sha, head)
            self._comparisons[base_sha, head] = compared
        return self._comparisons[base_sha, head]

    def may_write(self, login: str) -> bool | None:
        return self._client.may_write(self._repository, login)

    def default_branch(self) -> str:
        return self._client.rest.again(self._repository).default_branch

    def refusal(self, files: Sequence[FileDefinition]) -> RegistrarError | None:
        try:
            require_writable(self._task, files, self._client.limits)
        except RegistrarError as refused:
            return refused
        return None

    def has_newer_list(self) -> bool:
        return has_newer_list(self._client, self._task.spec)

    def entry(self, branch: str, path: str, *, is_there: bool) -> Entry | None:
        return self._client.rest.entry(self._repository, path, branch, may_lag=is_there)


def has_newer_list(client: "Client", spec: RegistrationSpec) -> bool:
    """Compare the commit of the list with its branch, if this is a later attempt of a run.

    Such an attempt has the list of the first one (stefanzweifel/git-auto-commit-action#155).
    """
    settings, files = spec.settings, spec.file_list
    if not (settings.attempt_of and settings.workflow_repository and files.commit):
        return False
    changed = client.changed(settings.workflow_repository, files.commit, settings.attempt_of)
    return isinstance(changed, Unknown) or not changed.isdisjoint(files.sources)
