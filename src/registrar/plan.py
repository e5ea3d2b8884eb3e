"""What exists and what is listed -> what is to be done."""

from __future__ import annotations

from registrar.errors import Refused
from registrar.messages import say
from registrar.models import Job, Plan, Survey
from registrar.refusals import WORKFLOW_FILES


def make_plan(job: Job, survey: Survey) -> Plan:
    """Sort the list into what is missing and what is present, each in the list's order."""
    return Plan(
        repository=survey.repository,
        base_sha=survey.base_sha,
        branch=job.branch,
        definitions=job.definitions,
        missing=tuple(
            d
            for d in job.definitions
            if d.path not in survey.existing and d.path not in survey.blocked
        ),
        blocked=survey.blocked,
        standing=survey.standing,
    )


def require_writable(plan: Plan, scopes: frozenset[str] | None) -> None:
    """Refuse, before the first write, what is known to fail.

    ``scopes`` are those of a classic token, ``None`` where the host names none.

    Raises:
        Refused: with the cause and what to do.
    """
    repository = plan.repository
    target = repository.full_name
    if repository.archived:
        raise Refused(say("preflight.archived", target=target))
    if plan.branch == repository.default_branch:
        raise Refused(say("preflight.branch_is_default", branch=plan.branch))
    if scopes is not None and "repo" not in scopes:
        raise Refused(say("preflight.scope", scopes=sorted(scopes)))
    if repository.can_push is False:
        raise Refused(say("preflight.no_push", target=target))
    workflow_files = [d.path for d in plan.missing if d.path.startswith(WORKFLOW_FILES)]
    if workflow_files and scopes is not None and "workflow" not in scopes:
        raise Refused(say("preflight.workflow_scope", paths=workflow_files, scopes=sorted(scopes)))
