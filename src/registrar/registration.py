"""One registration: inspect -> plan -> write -> pull request, whichever way it reads and writes."""

from __future__ import annotations

from types import ModuleType

from registrar import branches, pull_requests
from registrar.branches import Declined
from registrar.github.client import Host
from registrar.github.errors import GitHubError, Kind
from registrar.models import BranchState, CommitStrategy, FileResult, Plan, RegistrationSpec, State
from registrar.plan import make_plan, require_writable
from registrar.reporting.progress import Progress
from registrar.reporting.proposal import Proposal
from registrar.strategies import per_file, single_commit
from registrar.texts.messages import msg

STRATEGIES: dict[CommitStrategy, ModuleType] = {
    CommitStrategy.PER_FILE: per_file,
    CommitStrategy.SINGLE: single_commit,
}


def preview(host: Host, job: RegistrationSpec, progress: Progress) -> None:
    """Read only: find what is missing and what a registration would meet.

    Raises:
        RegistrarError: the repository cannot be read.
        Cancelled: a signal arrived.
    """
    plan = make_plan(job, STRATEGIES[job.strategy].inspect(host, job, progress))
    progress.planned(plan)
    for definition in plan.missing:
        progress.record(FileResult(definition, State.MISSING))
    if not plan.missing:
        _tell_nothing_missing(plan, progress)
        return
    branch_state = (
        plan.branch_state if job.strategy is CommitStrategy.SINGLE else _branch_state(host, plan)
    )
    found = branch_state and branches.proposed(branch_state, plan)
    if isinstance(found, Declined):
        number = found.pull_request.number
        progress.note("progress.declined", number=number, branch=found.name)
    elif found:
        progress.note("progress.proposed", number=found.number)
    progress.note("progress.would_create", count=len(plan.missing), total=len(plan.definitions))


def _branch_state(host: Host, plan: Plan) -> BranchState | None:
    """Look for the working branch; a token that may read nothing but contents sees no more."""
    try:
        return host.branch_state(plan.repository, plan.branch)
    except GitHubError as error:
        if error.kind is Kind.PERMISSION:
            return None
        raise


def register(host: Host, job: RegistrationSpec, proposal: Proposal, progress: Progress) -> None:
    """Create what is missing and publish it; ``progress`` has the result, however it ends.

    Raises:
        RegistrarError: the registration cannot go on.
        Cancelled: a signal arrived.
    """
    strategy = STRATEGIES[job.strategy]
    plan = make_plan(job, strategy.inspect(host, job, progress))
    progress.planned(plan)
    if not plan.missing:
        _tell_nothing_missing(plan, progress)
        return

    require_writable(plan, host.scopes)
    host.waiting.require_budget(len(plan.missing) + 2)
    attempt = strategy.write_at_once(host, plan, proposal, progress)
    branch = attempt and attempt.branch
    if branch is None:
        branch = branches.claim(host, plan, progress, built_in=job.built_in, attempt=attempt)
    progress.on_branch(branch.name)
    if isinstance(branch, Declined):
        _accept_no(branch, plan, progress)
        return
    if branch.was_bare and not job.built_in:
        progress.note("progress.found_branch", branch=branch.name)
    if not (attempt and attempt.done):
        strategy.create_files(host, plan, branch, proposal, progress)
        pull_requests.publish(host, plan, branch, proposal, progress)
    pull_requests.set_options(host, plan, proposal.options, progress)


def _tell_nothing_missing(plan: Plan, progress: Progress) -> None:
    if not plan.blocked:
        progress.note("progress.nothing_missing", count=len(plan.definitions))


def _accept_no(declined: Declined, plan: Plan, progress: Progress) -> None:
    number = declined.pull_request.number
    reason = msg("reason.declined", number=number)
    for definition in plan.missing:
        progress.record(FileResult(definition, State.SKIPPED, reason))
    progress.note("progress.declined", number=number, branch=declined.name)
