"""The result of `decide`: the branch and the files to write, and findings about pull requests."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from registrar.models.files import FileDefinition
from registrar.models.repository import BranchState, Entry, PullRequest, Tree
from registrar.registration.mark import Mark
from registrar.registration.sent import Close


class Branch(NamedTuple):
    """The branch that a run writes on, with its files."""

    name: str
    head: str
    tree: Tree | None = MappingProxyType({})
    """Files of the branch by path, at least those at the listed paths. Empty for a new branch,
    ``None`` if GitHub does not list them."""
    seen: Tree = MappingProxyType({})
    """Files that ``tree`` lacks, but that were found with a request for each of them."""
    replaces: Tree = MappingProxyType({})
    """Files of ``tree`` that registrar wrote, and for which the list has other content now."""
    from_base: frozenset[str] = frozenset()
    """Missing paths that the branch has only because the commit from which it starts has them. They
    were deleted from the base branch since, so a merge would not add them."""

    def holds(self, path: str) -> Entry | None:
        """Return the entry that the branch is known to have at a path; ``None`` without one."""
        return (self.tree or {}).get(path) or self.seen.get(path)

    def is_outdated(self, path: str) -> bool:
        """Whether the branch has a file at a path that is to be replaced by the list's content."""
        replaced = self.replaces.get(path)
        return replaced is not None and self.tree is not None and self.tree.get(path) == replaced


class Write(NamedTuple):
    """The order to write on a new branch, or to continue an existing one."""

    branch: Branch
    pull_request: PullRequest | None = None
    """The open pull request that is continued; ``None`` if one is to be opened."""
    is_new: bool = False
    """Whether the branch is to be made."""
    is_bare: bool = False
    """Whether the branch existed before, without a commit of its own."""
    is_done: bool = False
    """Whether one request has made both the files and the pull request, so that nothing is left to
    commit or to describe."""
    describes_first: bool = False
    """Whether the description already names files that are not committed yet. Then it is rewritten
    before the commit. The request that makes branch, commit and pull request writes the description
    before the commit exists."""
    taken_by: PullRequest | None = None
    """An open pull request from this branch that is not of this list."""
    mark: Mark | None = None
    """The mark of ``pull_request``, if an earlier run has opened it. Without an open pull request,
    the mark of the one from the same branch that was withdrawn or closed as no longer needed."""
    leaves_pull_request: bool = False
    """Whether the pull request is left unchanged, because the input ``update`` is false."""
    conflicts: tuple[str, ...] = ()
    """Listed paths at which the branch and the base branch have added different files, so that the
    branch cannot be merged."""

    def brings(self, path: str) -> bool:
        """Whether a merge would add the file at a path, as far as the branch was read."""
        if path in self.branch.from_base:
            return False
        if self.branch.tree is not None:
            return self.branch.holds(path) is not None
        return self.mark is not None and self.mark.names(path)

    def is_to_write(self, path: str) -> bool:
        """Whether the file at a path is to be created or replaced."""
        if path in self.branch.from_base:
            return False
        return not self.brings(path) or self.branch.is_outdated(path)

    def edited(self, files: Iterable[FileDefinition]) -> list[str]:
        """Return the paths of ``files`` that somebody has edited in the open pull request: they
        have neither the list's content nor one that registrar wrote.

        The list is empty if there is no open pull request, or if it is left unchanged.
        """
        if self.pull_request is None or self.leaves_pull_request:
            return []
        tree = self.branch.tree or {}
        mine = (f for f in files if f.path in tree and f.path not in self.branch.from_base)
        others = [f.path for f in mine if tree[f.path].sha != f.blob_id]
        return [path for path in others if not self.branch.is_outdated(path)]


class Decision(NamedTuple):
    """The decision about the missing files of a repository."""

    write: Write | None = None
    """The branch to create the files on; ``None`` if all of them were declined."""
    files: tuple[FileDefinition, ...] = ()
    """The missing files that nobody has declined. The branch may have some of them already."""
    declined: Mapping[str, PullRequest] = MappingProxyType({})
    """Missing paths that somebody declined, each with the pull request in which they did."""
    deleted: Mapping[str, PullRequest] = MappingProxyType({})
    """Missing paths that a merged pull request added and somebody has deleted since, each with that
    pull request."""
    beside: tuple[PullRequest, ...] = ()
    """Open pull requests of other lists, from branches whose names come before the chosen one."""
    ignored: tuple[PullRequest, ...] = ()
    """Pull requests that do not count, because their author may not write to the repository, or
    because they are open with another base branch."""
    moved: tuple[PullRequest, ...] = ()
    """Pull requests of a list in another file that name only paths of this list, so that the file
    of this list may have been moved."""
    own_mistakes: tuple[Close, ...] = ()
    """Steps that close the pull requests which this run has opened from somebody else's branch."""
    branches: Mapping[str, BranchState] = MappingProxyType({})
    """The states of all names of the working branch that were read."""
