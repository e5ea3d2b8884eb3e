"""The commit that the input `ref` names, which is read in place of the default branch.

Such a run does not look at branches or pull requests, so it knows no declined paths. It reports the
state of the listed paths at the commit, and the listed paths that a merge of the commit would
remove from the base branch.
"""

import re
from typing import TYPE_CHECKING

from registrar.errors import GitHubError, Kind, Refused
from registrar.models.repository import Comparison, Repository
from registrar.models.settings import FailOn
from registrar.models.spec import RegistrationSpec
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import Client

COMMIT_ID = re.compile(r"[0-9a-fA-F]{40}([0-9a-fA-F]{24})?")
_UNKNOWN = frozenset({Kind.NOT_FOUND, Kind.VALIDATION})
"""GitHub answers 404, or 422 `No commit found for SHA: …` (squalrus/merge-bot#54)."""


def commit_of(client: "Client", repository: Repository, ref: str) -> str:
    """Return the id of the commit that ``ref`` names; raise `Refused` if it names none."""
    try:
        commit = client.rest.commit(repository, ref)
    except GitHubError as error:
        if error.kind not in _UNKNOWN:
            raise
        commit = None
    if commit is None:
        # GitHub gives the same answer if there is no such repository; then this request fails
        target = client.rest.repository(repository.full_name).full_name
        raise Refused(msg("preflight.no_ref", ref=ref, target=target))
    return commit


def compared(
    client: "Client", spec: RegistrationSpec, repository: Repository, commit: str
) -> Comparison | None:
    """Compare the base branch with ``commit``; return ``None`` unless `fail_on` names ``removed``.

    New commits on the base branch do not change the result, because the merge base stays the same.
    Raises `Refused` if there is no such base branch, if the two have no commit in common, or if the
    base branch already contains ``commit``.
    """
    settings = spec.settings
    if FailOn.REMOVED not in settings.fail_on:
        return None
    base = settings.base or settings.event_base
    if not base and not repository.default_branch:
        repository = client.rest.repository(repository.full_name)
    base = base or repository.default_branch
    values = {"ref": settings.ref, "base": base, "target": repository.full_name}
    try:
        comparison = client.rest.compare(repository, base, commit)
    except GitHubError as error:
        if error.kind not in _UNKNOWN:
            raise
        commit_of(client, repository, commit)
        raise Refused(msg("preflight.no_base", **values)) from error
    if not comparison.merge_base:
        raise Refused(msg("preflight.unrelated", **values))
    if comparison.merge_base == commit:
        raise Refused(msg("preflight.ref_in_base", **values))
    return comparison
