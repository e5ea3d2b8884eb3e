"""The working branch of a registration: new, continued, or left alone."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from registrar.models.repository import PullRequest, Tree


class Branch(NamedTuple):
    """The branch to write on, new or continued."""

    name: str
    head: str
    tree: Tree | None = None
    """What a continued branch holds; ``None`` where it is new, or GitHub does not list it."""
    pull_request: PullRequest | None = None
    """The open pull request that is to be continued."""
    is_pull_request_new: bool = False
    """Whether this run opened it."""
    is_new: bool = True
    had_no_commit: bool = False
    """Whether it existed without a commit of its own."""
    may_have_been_applied: bool = False
    """Whether this run may have written what the branch was found to hold."""
    has_lost_commit: bool = False
    """Whether the answer to a commit of this run was lost after `tree` was read."""

    def may_hold(self, path: str) -> bool:
        """Whether a commit of this run may have made a file that is not known to be there."""
        if self.tree is None:
            return self.may_have_been_applied or self.has_lost_commit
        return self.has_lost_commit and path not in self.tree


class Declined(NamedTuple):
    """Somebody closed our pull request without merging it, so it is not proposed again."""

    name: str
    pull_request: PullRequest


OpenOrDeclined: TypeAlias = PullRequest | Declined
"""The pull request of a branch: one to be continued, or one that somebody declined."""


class Attempt(NamedTuple):
    """What the request that does everything at once left behind.

    It was sent when there was no branch of the plan's name.
    """

    branch: Branch | None = None
    """The branch, where it is certain that this run may write to it."""
    done: bool = False
    """Whether nothing is left to do on it."""
    may_have_been_applied: bool = False
    """Whether the answer was lost."""
    body: str = ""
    """Body of the pull request that was asked for."""
    pull_request: PullRequest | None = None
    """The pull request, where GitHub said that it was opened."""

    def opened(self, pull: PullRequest) -> bool:
        """Whether the attempt opened a pull request, as far as that is known."""
        if self.pull_request:
            return pull.number == self.pull_request.number
        return self.may_have_been_applied and pull.has_body(self.body)
