"""What a repository has and what is listed -> what is to be done."""

from __future__ import annotations

from registrar.errors import Refused
from registrar.github.explain import WORKFLOW_FILES
from registrar.models import Plan, RegistrationSpec, RepositoryState, parents
from registrar.texts.messages import msg

_DIRECTORY = "tree"


def make_plan(spec: RegistrationSpec, state: RepositoryState) -> Plan:
    """Sort the list into what is present, what can be created, and what cannot."""
    entries = state.entries
    definitions = tuple(d.filled_in(state.repository) for d in spec.definitions)
    absent = [d for d in definitions if d.path not in entries]
    blocked = {
        definition.path: parent
        for definition in absent
        for parent in parents(definition.path)
        if entries.get(parent, _DIRECTORY) != _DIRECTORY
    }
    missing = tuple(d for d in absent if d.path not in blocked)
    return Plan(spec, state, definitions, missing, blocked)


def require_writable(plan: Plan, scopes: frozenset[str] | None) -> None:
    """Refuse, before the first write, what is known to fail.

    ``scopes`` are those of a classic token, ``None`` where GitHub names none.

    Raises:
        Refused: with the cause and what to do.
    """
    repository = plan.repository
    target = repository.full_name
    if repository.archived:
        raise Refused(msg("preflight.archived", target=target))
    if scopes is not None and "repo" not in scopes:
        raise Refused(msg("preflight.scope", scopes=sorted(scopes) or msg("label.none")))
    if repository.can_push is False:
        raise Refused(msg("preflight.no_push", target=target))
    if plan.state.unreadable:
        raise Refused(plan.state.unreadable)
    workflow_files = [d.path for d in plan.missing if d.path.startswith(WORKFLOW_FILES)]
    if workflow_files and scopes is not None and "workflow" not in scopes:
        raise Refused(msg("preflight.workflow_scope", paths=workflow_files, scopes=sorted(scopes)))
