"""One registration: survey -> plan -> write -> pull request, whichever way it reads and writes."""

from __future__ import annotations

from types import ModuleType

from registrar import branches, pull_requests
from registrar.branches import Declined
from registrar.host import Host
from registrar.messages import say
from registrar.models import FileResult, Job, Plan, State
from registrar.plan import make_plan, require_writable
from registrar.progress import Progress
from registrar.strategies import per_file, single_commit
from registrar.wording import Wording

STRATEGIES: dict[str, ModuleType] = {"per-file": per_file, "single": single_commit}


def register(host: Host, strategy: str, job: Job, wording: Wording, progress: Progress) -> None:
    """Create what is missing and publish it; ``progress`` has the account, however it ends.

    Raises:
        RegistrarError: the registration cannot go on.
        Cancelled: a signal arrived.
    """
    way = STRATEGIES[strategy]
    plan = make_plan(job, way.survey(host, job, progress))
    progress.planned(plan)
    if not plan.missing:
        if not plan.blocked:
            progress.note("progress.nothing_missing", count=len(plan.definitions))
        return

    require_writable(plan, host.scopes)
    host.waiting.require_budget(len(plan.missing) + 2)
    attempt = way.write_at_once(host, plan, wording, progress)
    if attempt is None:
        return
    branch = branches.claim(host, plan, built_in=True, attempt=attempt)
    progress.on_branch(branch.name)
    if isinstance(branch, Declined):
        _accept_no(branch, plan, progress)
        return
    way.create_files(host, plan, branch, wording, progress)
    pull_requests.publish(host, plan, branch, wording, progress)


def _accept_no(declined: Declined, plan: Plan, progress: Progress) -> None:
    number = declined.pull_request.number
    reason = say("reason.declined", number=number)
    for definition in plan.missing:
        progress.record(FileResult(definition, State.SKIPPED, reason))
    progress.note("progress.declined", number=number, branch=declined.name)
