"""What exists and what is listed -> what is to be done."""

from __future__ import annotations

from registrar.errors import Refused
from registrar.github.explain import WORKFLOW_FILES
from registrar.models import Plan, RegistrationSpec, RepositoryState
from registrar.texts.messages import msg


def make_plan(job: RegistrationSpec, inspect: RepositoryState) -> Plan:
    """Sort the list into what is missing and what is present, each in the list's order."""
    definitions = tuple(d.filled_in(inspect.repository) for d in job.definitions)
    return Plan(
        repository=inspect.repository,
        base_sha=inspect.base_sha,
        branch=job.branch,
        definitions=definitions,
        missing=tuple(
            d
            for d in definitions
            if d.path not in inspect.existing and d.path not in inspect.blocked
        ),
        blocked=inspect.blocked,
        branch_state=inspect.branch_state,
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
        raise Refused(msg("preflight.archived", target=target))
    if plan.branch == repository.default_branch:
        raise Refused(msg("preflight.branch_is_default", branch=plan.branch))
    if scopes is not None and "repo" not in scopes:
        raise Refused(msg("preflight.scope", scopes=sorted(scopes)))
    if repository.can_push is False:
        raise Refused(msg("preflight.no_push", target=target))
    workflow_files = [d.path for d in plan.missing if d.path.startswith(WORKFLOW_FILES)]
    if workflow_files and scopes is not None and "workflow" not in scopes:
        raise Refused(msg("preflight.workflow_scope", paths=workflow_files, scopes=sorted(scopes)))
