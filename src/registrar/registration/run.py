"""One registration: state of the repository -> plan -> branch, files, pull request -> result.

`STRATEGIES` has the ways to read and write; nothing else here depends on which one is chosen, nor
on whether there are other repositories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from registrar.errors import (
    ENDS_THE_READING,
    EXIT_DONE,
    EXIT_FAILED,
    Cancelled,
    Failure,
    GitHubError,
    Kind,
    OutOfTime,
    RegistrarError,
    describe,
    exit_code,
)
from registrar.models.files import FileDefinition
from registrar.models.plan import Plan
from registrar.models.repository import BranchState, Comparison, PullRequest, Tree
from registrar.models.result import Done, FileResult, RegistrationResult
from registrar.models.rules import place_of
from registrar.models.settings import CommitStrategy, FailOn, Mode
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import CodeownersError, Standing
from registrar.presence.planning import make_plan
from registrar.registration import mark, per_file, pull_requests, single
from registrar.registration.base import Strategy, mark_unknown, require_writable
from registrar.registration.decide import (
    Answers,
    Claim,
    Decision,
    Made,
    NotMade,
    Write,
    decide,
)
from registrar.registration.progress import Progress
from registrar.registration.pull_requests import Proposal
from registrar.texts.messages import Catalogue, msg

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


STRATEGIES: Mapping[CommitStrategy, Strategy] = {
    CommitStrategy.PER_FILE: per_file,
    CommitStrategy.SINGLE: single,
}


def register(
    client: Client, spec: RegistrationSpec, texts: Catalogue, progress: Progress
) -> RegistrationResult:
    """Do one registration, or preview it; there is a result also when an error ends it.

    ``texts`` are those of commits and pull requests.
    """
    return _result_of(lambda: _register(client, spec, texts, progress), spec, progress, client)


def preview(
    plan: Plan,
    decision: Decision | Failure | RegistrarError | None,
    texts: Catalogue,
    progress: Progress,
) -> RegistrationResult:
    """Report what a registration would do in a repository that has been read.

    ``decision`` is what `look_ahead` gave or raised; ``None`` where nothing is missing.
    """

    def report() -> None:
        progress.identify(plan.repository)
        _report_plan(plan, progress)
        if plan.missing:
            _proposal(plan, texts, progress)
        try:
            if isinstance(decision, RegistrarError):
                raise decision
            if decision:
                _preview(decision, progress)
        finally:
            _record_missing(plan, progress)

    return _result_of(report, plan.spec, progress)


def look_ahead(plan: Plan, answers: Answers) -> Decision | Failure:
    """Decide for a preview; a failure says why the token may not read the pull requests."""
    if failure := plan.state.pull_requests_error:
        return failure
    try:
        return decide(plan, answers)
    except GitHubError as error:
        if error.kind is not Kind.PERMISSION:
            raise
        return error.failure


def _result_of(
    work: Callable[[], None],
    spec: RegistrationSpec,
    progress: Progress,
    client: Client | None = None,
) -> RegistrationResult:
    """Do the work and give its result, also when an error ends it."""
    try:
        work()
    except (Exception, Cancelled) as error:  # noqa: BLE001 (described, with its exit code)
        # Files not begun are 'pending', with the limit as reason, not 'failed'
        why_pending = error.waits_for if isinstance(error, OutOfTime) else None
        result = progress.result(why_pending=why_pending)
        wrote = bool(client and client.wrote) or bool(result.count(Done.UNKNOWN))
        return result._replace(
            exit_code=exit_code(error, wrote=wrote), failure=describe(error, progress.branch)
        )
    result = progress.result()
    failed = result.failed or (spec.settings.mode is Mode.CHECK and result.fails_check)
    return result._replace(exit_code=EXIT_FAILED if failed else EXIT_DONE)


def _register(client: Client, spec: RegistrationSpec, texts: Catalogue, progress: Progress) -> None:
    plan = make_plan(
        spec, STRATEGIES[spec.settings.commit_strategy].inspect(client, spec, progress)
    )
    if asks_for_codeowners(plan):
        plan = plan.with_codeowners(_codeowners(client, plan))
    _report_plan(plan, progress)
    if not spec.is_one_of_many:
        _note_rules(plan, progress)
    if not plan.missing:
        return
    proposal = _proposal(plan, texts, progress)
    if spec.writes:
        _write(client, plan, proposal, progress)
        return
    try:
        _preview(look_ahead(plan, ReadingAnswers(client, plan)), progress)
    finally:
        _record_missing(plan, progress)


def asks_for_codeowners(plan: Plan) -> bool:
    """Whether GitHub is asked what is wrong in ``CODEOWNERS``."""
    spec = plan.spec
    asks = FailOn.INVALID in spec.settings.fail_on and not spec.writes
    return asks and bool(plan.codeowners_paths)


def _codeowners(client: Client, plan: Plan) -> tuple[CodeownersError, ...] | None:
    """What GitHub finds wrong in ``CODEOWNERS``; ``None``: it does not say, which ends no run."""
    try:
        return client.rest.codeowners(plan.repository)
    except GitHubError as error:
        if error.kind in ENDS_THE_READING:
            raise
        return None


def _proposal(plan: Plan, texts: Catalogue, progress: Progress) -> Proposal:
    """Give the texts for the repository of the plan, and warn of properties that it lacks."""
    return Proposal(plan.spec, texts).filled_in(plan.repository.properties or {}, progress)


def _report_plan(plan: Plan, progress: Progress) -> None:
    progress.begin(plan)
    if plan.other_case:
        pairs = [
            msg("progress.letter_case_pair", path=p, other=o) for p, o in plan.other_case.items()
        ]
        progress.warn("progress.letter_case", about=str(plan.other_case), pairs=pairs)
    if plan.hides:
        pairs = [msg("progress.hides_pair", path=p, other=o) for p, o in plan.hides.items()]
        progress.warn("progress.hides", about=str(plan.hides), pairs=pairs)


def _note_rules(plan: Plan, progress: Progress) -> None:
    """Report which rules of the list apply to this repository."""
    if plan.repository.of_person and plan.spec.asks_for_properties:
        progress.note("progress.no_properties", owners=[plan.repository.owner])
    if plan.unfit:
        progress.note("progress.unfit_rules", numbers=plan.unfit)
    for path, *places in plan.replaced:
        earlier, later = map(place_of, places)
        progress.note("progress.replaced", path=path, earlier=earlier, later=later)


def _preview(decision: Decision | Failure, progress: Progress) -> None:
    """Report what a registration would do, or why the pull requests could not be read."""
    if isinstance(decision, Failure):
        about = decision.cause.identity
        progress.note("progress.pull_requests_unread", about=about, reason=decision.message)
        return
    progress.leave_out(decision.declined, decision.beside)
    _note(decision, progress)
    write = decision.write
    if pull := write.pull_request if write else decision.left_alone:
        progress.proposed(pull)
        for definition in decision.files:
            if write is None or write.brings(definition.path):
                progress.record(FileResult(definition, Standing.PROPOSED, Done.NOTHING))


def _record_missing(plan: Plan, progress: Progress) -> None:
    for definition in progress.pending(plan.missing):
        progress.record(FileResult(definition, Standing.MISSING, Done.NOTHING))


def _note(decision: Decision, progress: Progress) -> None:
    """Report what deserves a note: what is left out, and why."""
    pulls = sorted(set(decision.declined.values()), key=lambda pull: pull.number)
    for key, those in (
        ("progress.declined", [pull for pull in pulls if pull.was_closed]),
        ("progress.removed", [pull for pull in pulls if not pull.was_closed]),
    ):
        if those:
            count = sum(pull in those for pull in decision.declined.values())
            links = tuple(pull.link for pull in those)
            progress.note(key, repeats_state=True, count=count, pull_requests=links)
    if pull := decision.left_alone:
        progress.note("progress.left_alone", about=pull.url, pull_request=pull.link)
    for pull in decision.beside:
        about, name = pull.url, pull.head_branch
        progress.note("progress.beside", about=about, pull_request=pull.link, branch=name)


def _write(client: Client, plan: Plan, proposal: Proposal, progress: Progress) -> None:
    """Create what is missing, and open or update the pull request."""
    strategy = STRATEGIES[plan.spec.settings.commit_strategy]

    def require(files: Sequence[FileDefinition]) -> None:
        require_writable(plan, files, client.limits.scopes)
        strategy.require_rate_limit(client, files)

    def make(claim: Claim) -> Made | NotMade:
        if claim.is_first:
            require(claim.files)
        progress.leave_out(claim.declined, claim.beside)
        return strategy.claim(client, plan, claim, proposal, progress)

    if plan.state.pull_requests_error:
        # Refused: nothing can be decided
        require(plan.missing)
    answers = WritingAnswers(client, plan, progress, make)
    try:
        decision = decide(plan, answers)
    except (RegistrarError, Cancelled):
        if answers.may_have_written:
            # Also where GitHub says that there is no such branch: right after a write that may
            # be lag, or the write may yet be under way
            progress.on_branch(answers.may_have_written)
            mark_unknown(progress, plan.missing)
        raise
    progress.leave_out(decision.declined, decision.beside)
    _note(decision, progress)
    if decision.left_alone:
        progress.leave_alone(decision.files, decision.left_alone)
    elif decision.write:
        if not answers.has_claimed:
            require(decision.files)
        _write_on(decision.write, client, plan, proposal, progress)


def _write_on(
    write: Write, client: Client, plan: Plan, proposal: Proposal, progress: Progress
) -> None:
    """Create on the chosen branch what is not there yet, and see to its pull request."""
    progress.on_branch(write.branch.name)
    if write.had_no_commit and not plan.spec.uses_profile_branch:
        progress.note("progress.found_branch", branch=write.branch.name)
    if not write.is_done:
        strategy = STRATEGIES[plan.spec.settings.commit_strategy]
        strategy.create_files(client, plan, write.branch, proposal, progress)
    pull_requests.publish(client, plan, write, proposal, progress)
