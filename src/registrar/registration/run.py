"""One registration: state of the repository -> plan -> branch, files, pull request -> result.

`STRATEGIES` has the ways to read and write; nothing else here depends on which one is chosen, nor
on whether there are other repositories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from registrar.errors import (
    EXIT_DONE,
    EXIT_FAILED,
    Cancelled,
    RegistrarError,
    describe,
    exit_code,
)
from registrar.failure import Kind
from registrar.github.errors import GitHubError, OutOfTime
from registrar.models.branch import Declined, OpenOrDeclined
from registrar.models.plan import Plan
from registrar.models.result import FileResult, RegistrationResult, State
from registrar.models.spec import CommitStrategy, Mode, RegistrationSpec
from registrar.registration import branches, pull_requests
from registrar.registration.base import Strategy, mark_unknown
from registrar.registration.per_file import PerFile
from registrar.registration.plan import make_plan, require_writable
from registrar.registration.progress import Progress
from registrar.registration.proposal import Proposal
from registrar.registration.single import SingleCommit
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import Client

STRATEGIES: Mapping[CommitStrategy, Strategy] = {
    CommitStrategy.PER_FILE: PerFile(),
    CommitStrategy.SINGLE: SingleCommit(),
}


def register(
    client: Client, spec: RegistrationSpec, proposal: Proposal, progress: Progress
) -> RegistrationResult:
    """Do one registration, or preview it; there is a result also when an error ends it."""
    return _result_of(lambda: _register(client, spec, proposal, progress), client, spec, progress)


def preview(
    client: Client, plan: Plan, found: OpenOrDeclined | None, progress: Progress
) -> RegistrationResult:
    """Report what a registration would do in a repository that has been read.

    ``found`` is the pull request as far as it is known: nothing more is asked for.
    """

    def report() -> None:
        progress.found(plan.repository)
        _report_plan(plan, progress)
        _preview(plan, progress, lambda: found)

    return _result_of(report, client, plan.spec, progress)


def _result_of(
    work: Callable[[], None], client: Client, spec: RegistrationSpec, progress: Progress
) -> RegistrationResult:
    """Do the work and give its result, also when an error ends it."""
    try:
        work()
    except (Exception, Cancelled) as error:  # noqa: BLE001 (described, with its exit code)
        # Files not begun are 'pending', with the limit as reason, not 'failed'
        why_pending = error.waits_for if isinstance(error, OutOfTime) else None
        result = progress.result(why_pending=why_pending)
        wrote = client.wrote or bool(result.count(State.UNKNOWN))
        return result._replace(
            exit_code=exit_code(error, wrote=wrote), failure=describe(error, progress.branch)
        )
    result = progress.result()
    failed = result.failed or (spec.mode is Mode.CHECK and result.missing)
    return result._replace(exit_code=EXIT_FAILED if failed else EXIT_DONE)


def _register(
    client: Client, spec: RegistrationSpec, proposal: Proposal, progress: Progress
) -> None:
    plan = make_plan(spec, STRATEGIES[spec.strategy].inspect(client, spec, progress))
    _report_plan(plan, progress)
    if spec.mode is not Mode.REGISTER:
        _preview(plan, progress, lambda: branches.find(client, plan, progress))
    elif plan.missing:
        _write(client, plan, proposal, progress)


def _report_plan(plan: Plan, progress: Progress) -> None:
    """Report the plan, and what in it deserves a note."""
    progress.checked(plan)
    progress.planned(plan)
    if plan.unfit and plan.spec.chosen is None:
        progress.note("progress.unfit_rules", numbers=plan.unfit)
    for path, earlier, later in plan.replaced:
        place = msg("label.rule", number=earlier) if earlier else msg("label.no_rule")
        rule = msg("label.rule", number=later)
        progress.note("progress.replaced", about=path, path=path, earlier=place, later=rule)
    if plan.declined:
        pulls = sorted(set(plan.declined.values()), key=lambda pull: pull.number)
        links = tuple(pull.link for pull in pulls)
        progress.note(
            "progress.declined_paths",
            repeats_state=True,
            count=len(plan.declined),
            pull_requests=links,
        )
    if plan.other_case:
        pairs = [
            msg("progress.letter_case_pair", path=p, other=o) for p, o in plan.other_case.items()
        ]
        progress.warn("progress.letter_case", about=str(plan.other_case), pairs=pairs)
    if plan.hides:
        pairs = [msg("progress.hides_pair", path=p, other=o) for p, o in plan.hides.items()]
        progress.warn("progress.hides", about=str(plan.hides), pairs=pairs)


def _preview(plan: Plan, progress: Progress, find: Callable[[], OpenOrDeclined | None]) -> None:
    """Report what a registration would find."""
    if not plan.missing:
        return
    try:
        found = _find(plan, progress, find)
        if isinstance(found, Declined):
            _respect_declined(found, plan, progress)
        elif found:
            progress.proposed(found)
    finally:
        for definition in progress.pending(plan.missing):
            progress.record(FileResult(definition, State.MISSING))


def _find(
    plan: Plan, progress: Progress, find: Callable[[], OpenOrDeclined | None]
) -> OpenOrDeclined | None:
    """Find the pull request, as far as a token that may read nothing but contents sees it."""
    unread = plan.state.pull_requests_error
    found: OpenOrDeclined | None = None
    if not unread:
        try:
            found = find()
        except GitHubError as error:
            if error.kind is not Kind.PERMISSION:
                raise
            unread = error.failure
    if unread:
        about = unread.cause.identity
        progress.note("progress.pull_requests_unread", about=about, reason=unread.message)
    return found


def _write(client: Client, plan: Plan, proposal: Proposal, progress: Progress) -> None:
    """Create what is missing, and open or update the pull request."""
    strategy = STRATEGIES[plan.spec.strategy]
    require_writable(plan, client.scopes)
    strategy.require_rate_limit(client, plan)
    attempt = strategy.write_at_once(client, plan, proposal, progress)
    branch = attempt.branch if attempt else None
    if branch is None:
        try:
            found = branches.claim(client, plan, attempt, progress)
        except (RegistrarError, Cancelled):
            if attempt and attempt.may_have_been_applied:
                # Also where GitHub says that there is no such branch: right after a write that may
                # be lag, or the write may yet be under way
                progress.on_branch(plan.spec.branch)
                mark_unknown(progress, plan.missing)
            raise
        if isinstance(found, Declined):
            progress.on_branch(found.name)
            _respect_declined(found, plan, progress)
            return
        branch = found
    progress.on_branch(branch.name)
    if branch.had_no_commit and not plan.spec.uses_profile_branch:
        progress.note("progress.found_branch", branch=branch.name)
    if not (attempt and attempt.done):
        strategy.create_files(client, plan, branch, proposal, progress)
        pull_requests.publish(client, plan, branch, proposal, progress)
    pull_requests.set_options(client, plan, proposal.options, progress)


def _respect_declined(declined: Declined, plan: Plan, progress: Progress) -> None:
    """Leave out what somebody declined."""
    pull = declined.pull_request
    for definition in progress.pending(plan.missing):
        progress.declined(definition, pull)
    progress.note(
        "progress.declined", repeats_state=True, pull_request=pull.link, branch=declined.name
    )
