"""What a decision asks about a repository, and how a branch is claimed in it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from registrar.errors import RegistrarError
from registrar.models.files import FileDefinition
from registrar.models.repository import BranchState, Comparison, PullRequest, Tree


class Claim(NamedTuple):
    """A branch that is to be made, and what for."""

    name: str
    files: tuple[FileDefinition, ...]
    declined: Mapping[str, PullRequest] = MappingProxyType({})
    """Missing paths that somebody declined, and where."""
    deleted: Mapping[str, PullRequest] = MappingProxyType({})
    """Missing paths that were merged and deleted since, and where they were merged."""
    beside: tuple[PullRequest, ...] = ()
    """Open pull requests of other lists whose branches have a name before this one."""


class Made(NamedTuple):
    """The branch was made, with what else the claim could do at once."""

    commit: str = ""
    """The commit with all files; empty where they are still to be created."""
    pull_request: PullRequest | None = None
    had_no_commit: bool = False
    """Whether somebody else made the branch, at the very commit that was read."""


class NotMade(NamedTuple):
    """There is such a branch already, or the answer was lost and the branch may be our own."""

    error: RegistrarError | None = None
    """Raised if the branch does not exist after all. If `None`, it is claimed once more."""
    opened: PullRequest | None = None
    """The pull request that the claim opened all the same."""
    answer_was_lost: bool = False
    """Whether the branch may be our own."""
    body: str | None = None
    """Description of the pull request that a claim without an answer may have opened."""

    def has_opened(self, pull_request: PullRequest) -> bool:
        """Whether the claim opened this pull request, as far as that is known."""
        if self.opened:
            return self.opened.number == pull_request.number
        return self.body is not None and pull_request.has_body(self.body)


class Answers(Protocol):
    """What a decision asks about the repository of its plan, and what it asks to be done there.

    Each method may raise `RegistrarError`, which ends the decision.
    """

    def branch(self, name: str, /) -> BranchState:
        """Which commit has the branch of this name, and which pull requests were opened from it?"""

    def head(self, name: str, /) -> str | None:
        """At which commit is a branch by now? `None` where there is no such branch."""

    def tree(self, commit: str, /) -> Tree | None:
        """What does a commit hold? `None` where GitHub cuts the list."""

    def lacking(self, paths: frozenset[str], commit: str, /) -> frozenset[str]:
        """Which of these paths does a commit lack?"""

    def compare(self, base: str, head: str, /) -> Comparison:
        """What does a commit have beyond another one?"""

    def may_write(self, login: str, /) -> bool | None:
        """May this account write to the repository? `None` where GitHub does not say."""

    def default_branch(self) -> str:
        """What is the default branch called by now?"""

    def claim(self, _claim: Claim, /) -> Made | NotMade:
        """Make a branch, for these files. A preview answers as if it had."""
        return Made()

    def close_again(self, pull_request: PullRequest, /) -> None:
        """Close a pull request that our claim opened from somebody else's branch."""
