"""Answers the questions of `decide` with requests; a run that writes also creates the branch."""

from typing import TYPE_CHECKING

from registrar.errors import RegistrarError
from registrar.models.files import FileDefinition
from registrar.models.plan import Plan
from registrar.models.repository import BranchState, Comparison, PullRequest, Tree
from registrar.registration import mark
from registrar.registration.answers import Answers, Claim, Made, NotMade
from registrar.registration.decide import Branch
from registrar.registration.preflight import lacking_scope, require_writable, scope_failure
from registrar.registration.work import Strategy, Work

if TYPE_CHECKING:
    from registrar.github.client import Client


class ReadingAnswers(Answers):
    """Answers by reading: what is to be written is answered as if it had been done."""

    def __init__(self, client: "Client", plan: Plan) -> None:
        self._client = client
        self._plan = plan
        self._repository = plan.repository
        self._trees: dict[str, Tree | None] = {}
        self.claimed = set[str]()
        """Names of the branches that were made, or may have been."""

    def branch(self, name: str) -> BranchState:
        rest, heads = self._client.rest, self._plan.state.heads
        # The branches were listed before the claim, so that list is out of date
        if heads is None or self.claimed:
            head = rest.branch_head(self._repository, name)
        else:
            head = heads.get(name)
        if head is None and name in self.claimed:
            return BranchState(name, None)
        return BranchState(name, head, rest.pull_requests(self._repository, name))

    def head(self, name: str) -> str | None:
        return self._client.rest.branch_head(self._repository, name)

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

    def may_write(self, login: str) -> bool | None:
        return self._client.may_write(self._repository, login)

    def default_branch(self) -> str:
        return self._client.rest.again(self._repository).default_branch

    def close_again(self, _pull_request: PullRequest) -> None:
        """Close nothing."""


class WritingAnswers(ReadingAnswers):
    """Answers a claim by making the branch."""

    def __init__(self, work: Work, strategy: Strategy) -> None:
        super().__init__(work.client, work.plan)
        self._work = work
        self._strategy = strategy
        self.may_have_written = ""
        """Name of the branch on which a claim may have created files, its answer being lost."""

    def claim(self, claim: Claim) -> Made | NotMade:
        is_first = not self.claimed
        self.claimed.add(claim.name)
        if is_first:
            branch = Branch(claim.name, self._plan.state.base_sha)
            claim = claim._replace(files=self.require(claim.files, branch))
            if not claim.files:
                raise RegistrarError(scope_failure(self._client.limits.scopes))
        self._work.progress.skip_declined(claim)
        if not is_first:
            return self._work.make_branch(claim.name)
        answer = self._strategy.claim(self._work, claim)
        if isinstance(answer, NotMade) and answer.body is not None:
            self.may_have_written = claim.name
        return answer

    def close_again(self, pull_request: PullRequest) -> None:
        rest, branch = self._client.rest, pull_request.head_branch
        body = mark.CLOSED_BY_US
        rest.update_pull_request(self._repository, pull_request, body=body, state="closed")
        url, link = pull_request.url, pull_request.link
        progress = self._work.progress
        progress.warn("progress.closed_again", about=url, pull_request=link, branch=branch)

    def require(
        self, files: tuple[FileDefinition, ...], branch: Branch
    ) -> tuple[FileDefinition, ...]:
        """Refuse, before the first write to a branch, what is known to fail; return the other
        files.

        A claim calls this itself. Over many repositories, files that the token may not write are
        recorded as failed here, and the others are written.
        """
        scopes, work = self._client.limits.scopes, self._work
        if self._plan.spec.policy.fails_refused_files:
            refused = lacking_scope(files, scopes)
            failure = scope_failure(scopes)
            outcomes = (work.failed(branch, each, failure) for each in refused)
            work.progress.record_and_print(*outcomes)
            files = tuple(each for each in files if each not in refused)
        require_writable(self._plan, files, scopes)
        self._strategy.require_rate_limit(self._client, files)
        return files
