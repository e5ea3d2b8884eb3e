"""Lists the repositories, and selects those of the run."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from registrar.errors import ENDS_THE_READING, Failure, GitHubError, Kind, Refused, RegistrarError
from registrar.models.repository import Repository, Values
from registrar.models.selection import VISIBILITIES, Exclusion, Selection
from registrar.models.settings import Settings
from registrar.runtime.concurrency import concurrently
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.bulk import BulkClient

MOST_ALONE = 1000
"""The most repositories whose custom properties are read one by one. They take a fifth of the
requests of an hour."""
AT_ONCE = 4
"""The number of repositories whose custom properties are read at the same time."""


@dataclass(slots=True)
class FoundRepositories:
    """The repositories that were found, each of them once."""

    selection: Selection
    """The selection, with the visibility of the workflow's repository."""
    by_id: dict[int, Repository] = field(default_factory=dict[int, Repository])
    """Every repository that was found, by its number, the excluded ones included."""
    selected: list[Repository] = field(default_factory=list[Repository])
    excluded: Counter[Exclusion] = field(default_factory=Counter[Exclusion])
    excluded_repositories: list[tuple[Repository, Exclusion]] = field(default_factory=list)
    """The repositories that are excluded, each with the reason."""
    not_found: dict[str, Failure] = field(default_factory=dict[str, Failure])
    """Names for which the token can read no repository, each with the failure."""
    without_effect: tuple[str, ...] = ()
    """The entries of the selection that leave no repository out."""


def find_repositories(
    client: "BulkClient", selection: Selection, settings: Settings
) -> FoundRepositories:
    """List the repositories, and divide them into selected and excluded ones.

    A repository that is given by its name is read alone, unless a list has it. Raises `Refused` if
    the token cannot list the repositories of an owner, or read their custom properties. Also raises
    it if it cannot be learnt who can read the log of the run, and not all repositories are public.
    """
    found = FoundRepositories(selection)
    for repository in _listed(client, selection, settings.workflow_repository):
        found.by_id[repository.id] = repository
    named: dict[int, str] = {}
    by_name = {each.full_name.lower(): each for each in found.by_id.values()}
    for literal in selection.literals:
        client.require_time()
        try:
            repository = by_name.get(literal.lower()) or client.rest.repository(literal)
        except (Refused, GitHubError) as error:
            if error.kind in ENDS_THE_READING:
                raise
            found.not_found[literal] = error.failure
            continue
        found.by_id[repository.id] = repository
        named[repository.id] = literal
    known = _most_private(settings, found.by_id.values(), client)
    found.selection = selection = selection._replace(most_private=known or VISIBILITIES[0])
    if selection.with_properties:
        without = selection._replace(properties={}, excluded_properties={})

        def is_wanted(repository: Repository) -> bool:
            return not without.exclusion(repository, named.get(repository.id, ""))

        _add_properties(client, found, is_wanted)
    for repository in found.by_id.values():
        reason = selection.exclusion(repository, named.get(repository.id, ""))
        if reason:
            found.excluded[reason] += 1
            found.excluded_repositories.append((repository, reason))
        else:
            found.selected.append(repository)
    names = [(each, named.get(number, "")) for number, each in found.by_id.items()]
    found.without_effect = tuple(selection.without_effect(names))
    if known is None:
        everything = selection._replace(most_private=VISIBILITIES[-1])
        lost = [
            each
            for each, reason in found.excluded_repositories
            if reason is Exclusion.MORE_PRIVATE
            if not everything.exclusion(each, named.get(each.id, ""))
        ]
        if lost:
            raise Refused(msg("many.visibility_unknown", count=len(lost)))
    return found


def _add_properties(
    client: "BulkClient", found: FoundRepositories, is_wanted: Callable[[Repository], bool]
) -> None:
    """Read the custom properties that the lists of repositories did not have.

    GitHub documents them for these lists since 2026-08-29. Whether an App without the permission
    *Custom properties* gets them is not confirmed. So if all repositories of an owner come with
    ``{}``, their properties count as unknown.

    GitHub is asked about each owner. If the token may not read that, each wanted repository is read
    alone, because this needs only *Metadata: read*
    (https://docs.github.com/en/rest/repos/custom-properties). Raises `Refused` if these are more
    than `MOST_ALONE`, or cannot be read.
    """
    of_owner: dict[str, list[Repository]] = {}
    described = {each.owner.lower() for each in found.by_id.values() if each.properties}
    for repository in found.by_id.values():
        owner = repository.owner.lower()
        is_unknown = repository.properties is None or owner not in described
        if is_unknown and not repository.of_person:
            of_owner.setdefault(owner, []).append(repository)
    known: dict[int, Values] = {}
    alone: list[Repository] = []
    refused = set[str]()
    for owner, repositories in of_owner.items():
        try:
            known |= client.properties_of(owner)
        except GitHubError as error:
            if error.kind not in {Kind.NOT_FOUND, Kind.PERMISSION}:
                raise
            refused.add(owner)
            repositories = list(filter(is_wanted, repositories))  # noqa: PLW2901
            if len(repositories) > MOST_ALONE:
                values = {"owner": owner, "count": len(repositories), "most": MOST_ALONE}
                raise Refused(msg("many.too_many_properties", **values)) from error
        # A repository is absent if it moved to a page that was read before, because another one was
        # deleted in the meantime
        alone += [each for each in repositories if each.id not in known]

    def ask(repository: Repository) -> Values:
        client.require_time()
        properties = client.rest.properties(repository._replace(goes_by_id=True))
        if properties is None and repository.owner.lower() in refused:
            raise Refused(msg("preflight.no_properties", target=repository.owner))
        return properties or {}

    client.require_requests(len(alone))
    known |= zip((each.id for each in alone), concurrently(ask, alone, AT_ONCE), strict=True)
    for number, repository in found.by_id.items():
        if number in known:
            found.by_id[number] = repository._replace(properties=known[number])


def _listed(
    client: "BulkClient", selection: Selection, workflow_repository: str
) -> Iterator[Repository]:
    if not selection.owners:
        return
    if client.is_installation:
        seen = list(client.of_installation())
        if [each.full_name.lower() for each in seen] == [workflow_repository.lower()]:
            raise Refused(msg("many.own_token", own=workflow_repository))
        for owner in selection.owners:
            owned = [each for each in seen if each.owner.lower() == owner]
            if not owned:
                raise Refused(msg("many.not_installed", owner=owner))
            yield from owned
        return
    for owner in selection.owners:
        for each in client.of_owner(owner):
            if each.owner.lower() == owner:
                yield each


def _most_private(
    settings: Settings, listed: Iterable[Repository], client: "BulkClient"
) -> str | None:
    """Return the visibility of the workflow's repository; ``None`` if it cannot be learnt.

    If neither the input nor the event has it, the repository is looked up in ``listed``, or else
    with one more request.
    """
    if settings.workflow_visibility:
        return settings.workflow_visibility
    name = settings.workflow_repository.lower()
    own = next((each for each in listed if each.full_name.lower() == name), None)
    if own is None and name:
        with suppress(RegistrarError):
            own = client.rest.repository(settings.workflow_repository)
    return own.visibility if own and own.visibility in VISIBILITIES else None
