"""What a decision is: where to write, what, and what was found out on the way."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from registrar.models.files import FileDefinition
from registrar.models.repository import BranchState, Entry, PullRequest, Tree
from registrar.registration.mark import Mark
from registrar.registration.sent import Close


class Branch(NamedTuple):
    """The branch to write on."""

    name: str
    head: str
    tree: Tree | None = MappingProxyType({})
    """All files of the branch by path; empty for a new branch, ``None`` if GitHub does not list
    them."""
    seen: Tree = MappingProxyType({})
    """Files that were looked for one by one, and found."""
    replaces: Tree = MappingProxyType({})
    """Files of ``tree`` that this action wrote, and for which the list gives something else now."""
    from_base: frozenset[str] = frozenset()
    """Missing paths that it holds only because the commit from which it starts has them: the
    default branch has lost them since, so a merge would not bring them."""

    def holds(self, path: str) -> Entry | None:
        """What it is known to hold at a path."""
        return (self.tree or {}).get(path) or self.seen.get(path)

    def is_outdated(self, path: str) -> bool:
        """Whether a path still holds what may be replaced."""
        replaced = self.replaces.get(path)
        return replaced is not None and self.tree is not None and self.tree.get(path) == replaced


class Write(NamedTuple):
    """Write on a new branch, or go on with one of ours that was there."""

    branch: Branch
    pull_request: PullRequest | None = None
    """The one that is open."""
    is_new: bool = False
    """Whether the branch is to be made."""
    is_bare: bool = False
    """Whether somebody has made the branch, and it has no commit of its own."""
    is_done: bool = False
    """Whether files and pull request were made at once, so that its description is complete."""
    describes_first: bool = False
    """Whether the description names files that are not committed yet, so that it is corrected
    before they are. One request that does everything writes it before the commit exists.
    """
    taken_by: PullRequest | None = None
    """An open pull request from this branch that is not of this list."""
    mark: Mark | None = None
    """The mark of ``pull_request``, where it was there before this run. Else that of the withdrawn
    one, or of the needless one, from the same branch."""
    leaves_pull_request: bool = False
    """Whether the pull request stays as it is, because nobody wants it updated."""
    conflicts: tuple[str, ...] = ()
    """Listed paths for which the default branch has got another file than the branch adds: it
    cannot be merged."""

    def brings(self, path: str) -> bool:
        """Whether a merge of the branch would bring a file, as far as it was read."""
        if path in self.branch.from_base:
            return False
        if self.branch.tree is not None:
            return self.branch.holds(path) is not None
        return self.mark is not None and self.mark.names(path)

    def is_to_write(self, path: str) -> bool:
        """Whether something is to be written at a path."""
        if path in self.branch.from_base:
            return False
        return not self.brings(path) or self.branch.is_outdated(path)

    def edited(self, files: Iterable[FileDefinition]) -> list[str]:
        """Paths of an open pull request that hold what is not the list's, and not known as ours."""
        if self.pull_request is None or self.leaves_pull_request:
            return []
        tree = self.branch.tree or {}
        mine = (f for f in files if f.path in tree and f.path not in self.branch.from_base)
        others = [f.path for f in mine if tree[f.path].sha != f.blob_id]
        return [path for path in others if not self.branch.is_outdated(path)]


class Decision(NamedTuple):
    """What is done about the missing files."""

    write: Write | None = None
    """Where they are created; ``None``: nowhere, because all of them were declined."""
    files: tuple[FileDefinition, ...] = ()
    """What is to be created, unless the branch holds it."""
    declined: Mapping[str, PullRequest] = MappingProxyType({})
    """Missing paths that somebody declined, and where."""
    deleted: Mapping[str, PullRequest] = MappingProxyType({})
    """Missing paths that were merged and deleted since, and where they were merged."""
    beside: tuple[PullRequest, ...] = ()
    """Open pull requests of other lists whose branches have a name before the chosen one."""
    ignored: tuple[PullRequest, ...] = ()
    """Pull requests that do not count: strangers', and open ones that go to another branch."""
    moved: tuple[PullRequest, ...] = ()
    """Pull requests that name just the paths of this list, for a list in another file: this one may
    have been moved."""
    taken_back: tuple[Close, ...] = ()
    """Of pull requests that this run has opened from somebody else's branch."""
    branches: Mapping[str, BranchState] = MappingProxyType({})
    """How the names of the branch stand that were read."""
