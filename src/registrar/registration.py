"""One registration: survey -> plan -> write -> pull request, whichever way it reads and writes."""

from __future__ import annotations

from types import ModuleType

from registrar import answers, branches, pull_requests
from registrar.branches import Declined
from registrar.connection import HostError
from registrar.host import Host
from registrar.inputs import PER_FILE, SINGLE
from registrar.messages import say
from registrar.models import FileResult, Job, Plan, Standing, State
from registrar.plan import make_plan, require_writable
from registrar.progress import Progress
from registrar.proposal import Proposal
from registrar.strategies import per_file, single_commit

STRATEGIES: dict[str, ModuleType] = {PER_FILE: per_file, SINGLE: single_commit}


def preview(host: Host, job: Job, progress: Progress) -> None:
    """Read only: find what is missing and what a registration would meet.

    Raises:
        RegistrarError: the repository cannot be read.
        Cancelled: a signal arrived.
    """
    plan = make_plan(job, STRATEGIES[job.strategy].survey(host, job, progress))
    progress.planned(plan)
    for definition in plan.missing:
        progress.record(FileResult(definition, State.MISSING))
    if not plan.missing:
        _tell_nothing_missing(plan, progress)
        return
    standing = plan.standing if job.strategy == SINGLE else _standing(host, plan)
    found = standing and branches.proposed(standing, plan)
    if isinstance(found, Declined):
        number = found.pull_request.number
        progress.note("progress.declined", number=number, branch=found.name)
    elif found:
        progress.note("progress.proposed", number=found.number)
    progress.note("progress.would_create", count=len(plan.missing), total=len(plan.definitions))


def _standing(host: Host, plan: Plan) -> Standing | None:
    """Look for the working branch; a token that may read nothing but contents sees no more."""
    try:
        return host.standing(plan.repository, plan.branch)
    except HostError as error:
        if error.status == answers.FORBIDDEN:
            return None
        raise


def register(host: Host, job: Job, proposal: Proposal, progress: Progress) -> None:
    """Create what is missing and publish it; ``progress`` has the account, however it ends.

    Raises:
        RegistrarError: the registration cannot go on.
        Cancelled: a signal arrived.
    """
    way = STRATEGIES[job.strategy]
    plan = make_plan(job, way.survey(host, job, progress))
    progress.planned(plan)
    if not plan.missing:
        _tell_nothing_missing(plan, progress)
        return

    require_writable(plan, host.scopes)
    host.waiting.require_budget(len(plan.missing) + 2)
    attempt = way.write_at_once(host, plan, proposal, progress)
    if not attempt.done:
        branch = branches.claim(host, plan, built_in=job.built_in, attempt=attempt)
        progress.on_branch(branch.name)
        if isinstance(branch, Declined):
            _accept_no(branch, plan, progress)
            return
        way.create_files(host, plan, branch, proposal, progress)
        pull_requests.publish(host, plan, branch, proposal, progress)
    pull_requests.set_options(host, plan, proposal.options, progress)


def _tell_nothing_missing(plan: Plan, progress: Progress) -> None:
    if not plan.blocked:
        progress.note("progress.nothing_missing", count=len(plan.definitions))


def _accept_no(declined: Declined, plan: Plan, progress: Progress) -> None:
    number = declined.pull_request.number
    reason = say("reason.declined", number=number)
    for definition in plan.missing:
        progress.record(FileResult(definition, State.SKIPPED, reason))
    progress.note("progress.declined", number=number, branch=declined.name)
