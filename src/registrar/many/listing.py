"""Which repositories there are, which of them are meant, and who reads what is said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from registrar.errors import ENDS_THE_READING, Failure, GitHubError, Refused, RegistrarError
from registrar.inputs.environment import event_visibility
from registrar.models.repository import Repository, Values
from registrar.models.selection import Exclusion, Selection, Shard
from registrar.models.settings import Settings
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.bulk import BulkClient

_PUBLIC = ("public", "internal")


@dataclass(slots=True)
class Listing:
    """The repositories, every one once."""

    by_id: dict[int, Repository] = field(default_factory=dict[int, Repository])
    """Also repositories of other shards, and excluded ones."""
    selected: list[Repository] = field(default_factory=list[Repository])
    excluded: Counter[Exclusion] = field(default_factory=Counter[Exclusion])
    left_out: list[tuple[Repository, Exclusion]] = field(default_factory=list)
    """Repositories that a name or pattern takes, and why they are excluded all the same."""
    not_found: dict[str, Failure] = field(default_factory=dict[str, Failure])
    """Names that stand for nothing that the token may read, and why."""


def make_listing(
    client: BulkClient,
    selection: Selection,
    shard: Shard,
    workflow_repository: str,
    require_time: Callable[[], None],
) -> Listing:
    """List the repositories and sort them; names alone need no list.

    ``require_time`` raises where the run is to end.
    """
    listing = Listing()
    for repository in _listed(client, selection, workflow_repository, require_time):
        listing.by_id[repository.id] = repository
    named = set[int]()
    by_name = {each.full_name.lower(): each for each in listing.by_id.values()}
    for literal in selection.literals:
        require_time()
        try:
            repository = by_name.get(literal.lower()) or client.rest.repository(literal)
        except (Refused, GitHubError) as error:
            if isinstance(error, GitHubError) and error.kind in ENDS_THE_READING:
                raise
            if shard.number == 1 or isinstance(error, GitHubError):
                # It has no id, so the first shard tells that there is none. What could not be read
                # may belong to this one
                listing.not_found[literal] = error.failure
            continue
        listing.by_id[repository.id] = repository
        named.add(repository.id)
    if selection.with_properties:
        _add_properties(client, listing, require_time)
    for repository in listing.by_id.values():
        if not shard.has(repository.id):
            continue
        reason = selection.exclusion(repository, named=repository.id in named)
        if reason:
            listing.excluded[reason] += 1
            if reason is not Exclusion.NOT_MEANT:
                listing.left_out.append((repository, reason))
        else:
            listing.selected.append(repository)
    return listing


def _add_properties(client: BulkClient, listing: Listing, require_time: Callable[[], None]) -> None:
    """Ask the owners for the custom properties that their lists did not have."""
    of_owner: dict[str, Mapping[int, Values]] = {}
    for number, repository in listing.by_id.items():
        if repository.properties is None:
            owner = repository.full_name.partition("/")[0].lower()
            if owner not in of_owner:
                of_owner[owner] = client.properties_of(owner, require_time)
            properties = of_owner[owner].get(number)
            if properties is None:
                # It moved to a page that was already read, as another one was deleted
                require_time()
                by_number = repository._replace(goes_by_id=True)
                properties = client.rest.properties(by_number) or {}
            listing.by_id[number] = repository._replace(properties=properties)


def _listed(
    client: BulkClient,
    selection: Selection,
    workflow_repository: str,
    require_time: Callable[[], None],
) -> Iterator[Repository]:
    if not selection.owners:
        return
    if client.is_installation:
        seen = list(_in_time(client.of_installation(), require_time))
        if [each.full_name.lower() for each in seen] == [workflow_repository.lower()]:
            raise Refused(msg("fleet.own_token", own=workflow_repository))
        for owner in selection.owners:
            owned = [each for each in seen if _is_of(owner, each)]
            if not owned:
                raise Refused(msg("fleet.not_installed", owner=owner))
            yield from owned
        return
    for owner in selection.owners:
        for each in _in_time(client.of_owner(owner), require_time):
            if _is_of(owner, each):
                yield each


def _in_time(
    listed: Iterator[Repository], require_time: Callable[[], None]
) -> Iterator[Repository]:
    """Look at the time before another page is asked for."""
    for each in listed:
        require_time()
        yield each


def _is_of(owner: str, repository: Repository) -> bool:
    return repository.full_name.partition("/")[0].lower() == owner


def may_be_public(settings: Settings) -> bool:
    """Whether the log may be public, as far as is known without a request."""
    return settings.in_workflow and event_visibility(settings.event) in {None, *_PUBLIC}


def is_public(settings: Settings, listed: Iterable[Repository], client: BulkClient) -> bool:
    """Whether the workflow's repository is public, or may be.

    An internal one counts as public: the whole enterprise reads its log. The event tells, except
    a scheduled one, which describes no repository; then the list; then one request. Where no
    workflow runs us, nothing is published.
    """
    if not settings.in_workflow:
        return False
    if visibility := event_visibility(settings.event):
        return visibility in _PUBLIC
    name = settings.workflow_repository.lower()
    if not name:
        return True
    own = next((each for each in listed if each.full_name.lower() == name), None)
    try:
        return (own or client.rest.repository(settings.workflow_repository)).visibility in _PUBLIC
    except RegistrarError:
        return True
