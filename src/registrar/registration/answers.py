"""Answers what a decision asks about one repository, with requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from registrar.models.plan import Plan
from registrar.models.repository import BranchState, Comparison, PullRequest, Tree
from registrar.registration import mark
from registrar.registration.decide import Claim, Made, NotMade
from registrar.registration.progress import Progress

if TYPE_CHECKING:
    from registrar.github.client import Client


class ReadingAnswers:
    """Answers by reading: what is to be written is answered as if it had been done."""

    def __init__(self, client: Client, plan: Plan) -> None:
        self._client = client
        self._plan = plan
        self._repository = plan.repository
        self._trees: dict[str, Tree | None] = {}
        self._claimed = set[str]()

    def branch(self, name: str) -> BranchState:
        rest, heads = self._client.rest, self._plan.state.heads
        # What was listed before a claim is no longer what is there
        if heads is None or self._claimed:
            head = rest.branch_head(self._repository, name)
        else:
            head = heads.get(name)
        if head is None and name in self._claimed:
            return BranchState(name, None)
        return BranchState(name, head, rest.pull_requests(self._repository, name))

    def tree(self, commit: str) -> Tree | None:
        if commit not in self._trees:
            self._trees[commit] = self._client.rest.tree(self._repository, commit)
        return self._trees[commit]

    def lacking(self, paths: frozenset[str], commit: str) -> frozenset[str]:
        """Look into the tree; path by path where GitHub cuts it."""
        tree, rest = self.tree(commit), self._client.rest
        if tree is not None:
            return paths - tree.keys()
        return frozenset(p for p in paths if rest.entry(self._repository, p, commit) is None)

    def compare(self, base: str, head: str) -> Comparison:
        return self._client.rest.compare(self._repository, base, head)

    def removed(self, paths: frozenset[str], since: str, head: str) -> frozenset[str]:
        return self._client.rest.removed(self._repository, paths, since, head)

    def default_branch(self) -> str:
        return self._client.rest.again(self._repository).default_branch

    def claim(self, _claim: Claim) -> Made | NotMade:
        """Make nothing."""
        return Made()

    def close_again(self, _pull_request: PullRequest) -> None:
        """Close nothing."""


class WritingAnswers(ReadingAnswers):
    """Answers a claim by making the branch."""

    def __init__(
        self,
        client: Client,
        plan: Plan,
        progress: Progress,
        make: Callable[[Claim], Made | NotMade],
    ) -> None:
        """``make`` makes the branch."""
        super().__init__(client, plan)
        self._progress = progress
        self._make = make
        self.may_have_written = ""
        """Name of the branch on which a claim may have created files, its answer being lost."""

    @property
    def has_claimed(self) -> bool:
        """Whether a branch was made, or may have been."""
        return bool(self._claimed)

    def claim(self, claim: Claim) -> Made | NotMade:
        """Make the branch."""
        self._claimed.add(claim.name)
        answer = self._make(claim)
        if isinstance(answer, NotMade) and answer.body is not None:
            self.may_have_written = claim.name
        return answer

    def close_again(self, pull_request: PullRequest) -> None:
        rest, branch = self._client.rest, pull_request.head_branch
        rest.update_pull_request(self._repository, pull_request, body=mark.CLOSED_BY_US, close=True)
        url, link = pull_request.url, pull_request.link
        self._progress.warn("progress.closed_again", about=url, pull_request=link, branch=branch)
