"""The plan of a registration: what is to be done about each listed path, and on which branch."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from registrar.errors import RegistrarError
from registrar.models.paths import Leave, ListedPath, Why
from registrar.models.record import Note, Told
from registrar.models.repository import BranchState, PullRequest
from registrar.registration.mark import Mark
from registrar.registration.sent import Close


class Plan(NamedTuple):
    """The work of a run in a repository. `make_plan` plans it, and a writer carries it out.

    A plan is complete: a writer never asks whether a path is to be written.
    """

    paths: tuple[ListedPath, ...]
    """Every listed path with its entry, in the order of the list."""
    told: Told = Told()
    branch: str = ""
    """The branch to write on; empty if there is nothing to write, and no branch to go on with."""
    head: str = ""
    """The commit of the branch when it was read. A new branch is made at this commit."""
    is_new: bool = False
    """Whether the branch is to be made."""
    is_bare: bool = False
    """Whether the branch existed before, without a commit of its own."""
    pull_request: PullRequest | None = None
    """The open pull request that is continued; ``None`` if one is to be opened."""
    mark: Mark | None = None
    """The mark of ``pull_request``, if an earlier run has opened it. Without an open pull request,
    the mark of the one from the same branch that was withdrawn or closed as no longer needed."""
    describes_first: bool = False
    """Whether the description already names files that are not committed yet. Then it is rewritten
    before the commit. The request that makes branch, commit and pull request writes the description
    before the commit exists."""
    leaves_pull_request: bool = False
    """Whether the pull request is left unchanged, because the input ``update`` is false, or because
    of ``is_elsewhere``."""
    is_elsewhere: bool = False
    """Whether the pull request is from a list at the same path in another repository."""
    taken_by: PullRequest | None = None
    """An open pull request from the branch that is not of this list."""
    declined: Mapping[str, PullRequest] = MappingProxyType({})
    """Missing paths that somebody declined, each with the pull request in which they did."""
    ignored: tuple[PullRequest, ...] = ()
    """Pull requests that do not count, because their author may not write to the repository, or
    because they are open with another base branch."""
    moved: tuple[PullRequest, ...] = ()
    """Pull requests of a list in another file that name only paths of this list, so that the file
    of this list may have been moved."""
    closes: tuple[Close, ...] = ()
    """Steps that close pull requests: those that are no longer needed or are withdrawn, and those
    that this run has opened from somebody else's branch. The plan takes them as closed."""
    notes: tuple[Note, ...] = ()
    """Notes about pull requests that are left open."""
    refusal: RegistrarError | None = None
    """The error by which a run that writes ends before its first write, because it is known that
    the repository or the token would refuse a later one."""
    branches: Mapping[str, BranchState] = MappingProxyType({})
    """The states of all names of the working branch that were read."""
    is_done: bool = False
    """Whether one request has made branch, files and pull request, so that no step is left."""

    def left(self, why: Why) -> list[str]:
        """Return the paths that are left for this reason."""
        entries = ((each.path, each.plan) for each in self.paths)
        return [path for path, e in entries if isinstance(e, Leave) and e.why is why]
