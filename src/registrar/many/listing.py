"""Which repositories there are, which of them are meant, and who reads what is said of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from registrar.errors import ENDS_THE_READING, Failure, GitHubError, Kind, Refused, RegistrarError
from registrar.inputs.environment import PUBLISHED, event_visibility
from registrar.models.repository import Repository, Values
from registrar.models.selection import Exclusion, Selection
from registrar.models.settings import Settings
from registrar.runtime.concurrency import concurrently
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.bulk import BulkClient

MOST_ALONE = 1000
"""The most repositories whose custom properties are read one by one: a fifth of an hour's requests.
"""
AT_ONCE = 4
"""How many of those are asked for at the same time."""


@dataclass(slots=True)
class Listing:
    """The repositories, every one once."""

    by_id: dict[int, Repository] = field(default_factory=dict[int, Repository])
    """Every repository that was found, by its number, the excluded ones included."""
    selected: list[Repository] = field(default_factory=list[Repository])
    excluded: Counter[Exclusion] = field(default_factory=Counter[Exclusion])
    excluded_repositories: list[tuple[Repository, Exclusion]] = field(default_factory=list)
    """The repositories that are excluded, each with the reason."""
    not_found: dict[str, Failure] = field(default_factory=dict[str, Failure])
    """Names that stand for nothing that the token may read, and why."""


def make_listing(client: "BulkClient", selection: Selection, settings: Settings) -> Listing:
    """List the repositories and sort them; names alone need no list."""
    listing = Listing()
    for repository in _listed(client, selection, settings.workflow_repository):
        listing.by_id[repository.id] = repository
    named = set[int]()
    by_name = {each.full_name.lower(): each for each in listing.by_id.values()}
    for literal in selection.literals:
        client.require_time()
        try:
            repository = by_name.get(literal.lower()) or client.rest.repository(literal)
        except (Refused, GitHubError) as error:
            if isinstance(error, GitHubError) and error.kind in ENDS_THE_READING:
                raise
            listing.not_found[literal] = error.failure
            continue
        listing.by_id[repository.id] = repository
        named.add(repository.id)
    if selection.with_properties:
        without = selection._replace(properties={}, excluded_properties={})

        def is_wanted(repository: Repository) -> bool:
            return not without.exclusion(repository, named=repository.id in named)

        _add_properties(client, listing, is_wanted)
    for repository in listing.by_id.values():
        reason = selection.exclusion(repository, named=repository.id in named)
        if reason:
            listing.excluded[reason] += 1
            listing.excluded_repositories.append((repository, reason))
        else:
            listing.selected.append(repository)
    return listing


def _add_properties(
    client: "BulkClient", listing: Listing, is_wanted: Callable[[Repository], bool]
) -> None:
    """Ask for the custom properties that the lists of repositories did not have.

    GitHub describes them for these lists since 2026-08-29. Not confirmed what it gives to an App
    without the permission *Custom properties*: where an owner's repositories all come with ``{}``,
    nothing was said about any of them.

    GitHub is asked about each owner. Where the token may not ask that, it is asked about each
    repository that is wanted: that needs no more than *Metadata: read*
    (https://docs.github.com/en/rest/repos/custom-properties).
    """
    of_owner: dict[str, list[Repository]] = {}
    described = {each.owner.lower() for each in listing.by_id.values() if each.properties}
    for repository in listing.by_id.values():
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
        # Others moved to a page that was already read, as another one was deleted
        alone += [each for each in repositories if each.id not in known]

    def ask(repository: Repository) -> Values:
        client.require_time()
        properties = client.rest.properties(repository._replace(goes_by_id=True))
        if properties is None and repository.owner.lower() in refused:
            raise Refused(msg("preflight.no_properties", target=repository.owner))
        return properties or {}

    client.require_requests(len(alone))
    known |= zip((each.id for each in alone), concurrently(ask, alone, AT_ONCE), strict=True)
    for number, repository in listing.by_id.items():
        if not repository.properties and number in known:
            listing.by_id[number] = repository._replace(properties=known[number])


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


def others_read_workflow(
    settings: Settings, listed: Iterable[Repository], client: "BulkClient"
) -> bool:
    """Whether the workflow's repository is public, or may be.

    An internal one counts as public: the whole enterprise reads its log. The event says so, except
    a scheduled one, which describes no repository; then the list; then one request. Where no
    workflow runs us, nothing is published.
    """
    if not settings.in_workflow:
        return False
    if visibility := event_visibility(settings.event):
        return visibility in PUBLISHED
    name = settings.workflow_repository.lower()
    if not name:
        return True
    own = next((each for each in listed if each.full_name.lower() == name), None)
    try:
        return (own or client.rest.repository(settings.workflow_repository)).visibility in PUBLISHED
    except RegistrarError:
        return True
