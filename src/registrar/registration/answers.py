"""Answers the questions of a decision about one repository, with requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from registrar.errors import GitHubError
from registrar.failure import Failure, Kind
from registrar.models.plan import Plan
from registrar.models.repository import BranchState, PullRequest, Tree
from registrar.registration import decide, mark
from registrar.registration.progress import Progress

if TYPE_CHECKING:
    from registrar.github.client import Client


class Answers:
    """Answers by reading: what is to be written is answered as if it had been done."""

    def __init__(self, client: Client, plan: Plan) -> None:
        """Nothing is sent before the first question."""
        self._client = client
        self._plan = plan
        self._trees: dict[str, Tree | None] = {}
        self._claimed: set[str] = set()
        self.failure: Failure | None = plan.state.pull_requests_error
        """Why a question was not answered."""

    def __call__(self, ask: decide.Ask) -> decide.Answer:
        """Answer one question.

        Raises:
            GitHubError: no usable response.
        """
        if self.failure:
            return decide.Unknown()
        try:
            return self._answer(ask)
        except GitHubError as error:
            if error.kind is not Kind.PERMISSION:
                raise
            self.failure = error.failure
            return decide.Unknown()

    def _answer(self, ask: decide.Ask) -> decide.Answer:  # noqa: PLR0911 (one for each question)
        client, repository = self._client, self._plan.repository
        match ask:
            case decide.StateOf(name):
                return self._state_of(name)
            case decide.TreeAt(commit):
                return self._tree(commit)
            case decide.Lacking(paths, commit):
                return frozenset(path for path in paths if not self._holds(commit, path))
            case decide.Compare(base, head):
                return client.rest.compare(repository, base, head)
            case decide.Removed(paths, since, head):
                return client.rest.removed(repository, paths, since, head)
            case decide.DefaultBranchNow():
                return client.rest.again(repository).default_branch
            case _:
                return decide.Made()

    def _state_of(self, name: str) -> BranchState:
        client, repository, heads = self._client, self._plan.repository, self._plan.state.heads
        # What was listed before a claim is no longer what is there
        if heads is None or self._claimed:
            head = client.rest.branch_head(repository, name)
        else:
            head = heads.get(name)
        if head is None and name in self._claimed:
            return BranchState(name, None)
        return BranchState(name, head, client.rest.pull_requests(repository, name))

    def _tree(self, commit: str) -> Tree | None:
        if commit not in self._trees:
            self._trees[commit] = self._client.rest.tree(self._plan.repository, commit)
        return self._trees[commit]

    def _holds(self, commit: str, path: str) -> bool:
        tree = self._tree(commit)
        if tree is None:
            return self._client.rest.entry(self._plan.repository, path, commit) is not None
        return path in tree


class WritingAnswers(Answers):
    """Answers a claim by making the branch."""

    def __init__(
        self,
        client: Client,
        plan: Plan,
        progress: Progress,
        claim: Callable[[decide.Claim], decide.Made | decide.NotMade],
    ) -> None:
        """``claim`` makes the branch."""
        super().__init__(client, plan)
        self._progress = progress
        self._claim = claim
        self.may_have_written = ""
        """Name of the branch on which a claim may have created files, its answer being lost."""

    @property
    def has_claimed(self) -> bool:
        """Whether a branch was made, or may have been."""
        return bool(self._claimed)

    def __call__(self, ask: decide.Ask) -> decide.Answer:
        """Answer one question: what a preview leaves open has to be known before anything is made.

        Raises:
            GitHubError: no usable response.
        """
        return self._answer(ask)

    def _answer(self, ask: decide.Ask) -> decide.Answer:
        match ask:
            case decide.Claim(name):
                self._claimed.add(name)
                answer = self._claim(ask)
                if isinstance(answer, decide.NotMade) and answer.body is not None:
                    self.may_have_written = name
                return answer
            case decide.CloseAgain(pull):
                self._close_again(pull)
                return None
            case _:
                return super()._answer(ask)

    def _close_again(self, pull: PullRequest) -> None:
        repository, branch = self._plan.repository, pull.head_branch
        self._client.rest.update_pull_request(repository, pull, body=mark.CLOSED_BY_US, close=True)
        self._progress.warn(
            "progress.closed_again", about=pull.url, pull_request=pull.link, branch=branch
        )
