"""The strategy `per-file`: a REST request for each listed path, in the order of docs/design.md."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias

from registrar.errors import GitHubError, Kind, Refused
from registrar.github.limits import CONNECTIONS, Resource
from registrar.models.files import FileDefinition, parents
from registrar.models.repository import (
    MOST_LISTED,
    BranchState,
    Directories,
    OwnerFiles,
    PullRequest,
    Repository,
    RepositoryState,
    Unknown,
    entries_in,
)
from registrar.models.spec import RegistrationSpec
from registrar.models.task import Task
from registrar.presence.alternatives import (
    DirectoryEntries,
    directories_to_read,
    inherited_from,
    places_of,
)
from registrar.presence.tasks import listed_in, make_task
from registrar.registration.branch_names import branch_names
from registrar.registration.progress import Progress
from registrar.registration.rest_writer import RestWriter
from registrar.registration.work import with_owner
from registrar.runtime.concurrency import awaited, concurrently, in_background
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import Client

_Names: TypeAlias = tuple[Future[Mapping[str, str] | Unknown], Future[tuple[PullRequest, ...]]]
"""The commits of the branches with all names, and the pull requests from the first name."""


writer = RestWriter


def inspect(client: "Client", progress: Progress) -> Task:
    """Read the repository, and every listed path at the head of its base branch.

    Raises `Refused` if the repository is empty, or has no such branch.
    """
    spec = progress.spec
    asked = spec.file_list.asked_paths
    client.limits.require(Resource.REST, 2 + len(spec.file_list.possible) + len(asked))
    repository = client.rest.repository(spec.target)
    progress.identify(repository)
    if spec.property_names:
        repository = client.rest.with_properties(repository)
    # Called at the first missing path, in the background, so that these requests delay no other one
    ask_for_names = cache(partial(_ask_for_names, client, repository, spec.branch))
    state = RepositoryState(repository, _base(client, spec, repository), {})
    state = _with_entries(client, state, asked)
    listed = listed_in(spec, state)
    definitions = listed.definitions
    paths = [each.path for each in definitions if each.path not in asked]
    state = _with_entries(client, state, paths, ask_for_names)
    absent = [each for each in definitions if each.path not in state.entries]
    state = _with_directories(client, spec, state, definitions)
    if absent:
        if not spec.writes:
            # A run that writes needs no look, because GitHub refuses a file that is blocked
            state = _with_obstacles(client, state, absent)
        state = _with_names(state, spec.branch, ask_for_names())
        pulls = (pull for each in state.branches.values() for pull in each.pull_requests)
        if spec.writes and any(pull.is_open for pull in pulls):
            # GitHub is not asked to create what the branch has already
            state = _with_obstacles(client, state, absent)
    elif spec.names_open_pull_requests and not repository.archived:
        state = _with_open(client, state, spec)
    state = with_owner(client, spec, state)
    if isinstance(state.owner, OwnerFiles) and spec.writes and spec.tells_what_is_lost:
        state = _with_places(client, state, state.owner, absent)
    return make_task(spec, state, listed)


def _with_places(
    client: "Client", state: RepositoryState, owner: OwnerFiles, absent: Sequence[FileDefinition]
) -> RepositoryState:
    """Add the directories that show whether the repository has files of its own in place of those
    that it inherits.

    They are only for a note, so an error means that nothing is known of the owner's files.
    """
    here, there = DirectoryEntries(state.directories), DirectoryEntries(owner.directories)
    places = places_of(
        each for each in absent if inherited_from(each, here, there, is_public=owner.is_public)
    )
    try:
        if len(places) <= 1:
            found = _listed(client, state, places)
        elif (tree := client.rest.tree(state.repository, state.base_sha)) is not None:
            found = {place: entries for place in places if (entries := entries_in(place, tree))}
        else:
            return state._replace(owner=Unknown.NOT_SHOWN)
    except GitHubError:
        return state._replace(owner=Unknown.NOT_SHOWN)
    return state._replace(directories={**found, **state.directories})


def _with_entries(
    client: "Client",
    state: RepositoryState,
    paths: Sequence[str],
    when_missing: Callable[[], object] | None = None,
) -> RepositoryState:
    """Add the entries of ``paths``. Call ``when_missing`` for each path that does not exist."""
    entries = dict(state.entries)
    read_one = partial(client.rest.entry, state.repository, ref=state.base_sha)
    for path, entry in zip(paths, concurrently(read_one, paths, CONNECTIONS), strict=True):
        if entry:
            entries[path] = entry
        elif when_missing:
            when_missing()
    return state._replace(entries=entries)


def _with_directories(
    client: "Client",
    spec: RegistrationSpec,
    state: RepositoryState,
    definitions: Sequence[FileDefinition],
) -> RepositoryState:
    looked_at = directories_to_read(definitions, respect=spec.settings.respect_alternatives)
    directories = _directories(client, state, looked_at)
    if not spec.writes:
        absent = [each for each in definitions if each.path not in state.entries]
        more = [each for each in places_of(absent) if each not in looked_at]
        # These are only for a note about files that would be hidden, so a cut list is good enough
        directories = {**_listed(client, state, more), **directories}
    return state._replace(directories=directories)


def _ask_for_names(client: "Client", repository: Repository, branch: str) -> _Names:
    return (
        in_background(partial(client.rest.branches_from, repository, branch)),
        in_background(partial(client.rest.pull_requests, repository, branch)),
    )


def _with_names(state: RepositoryState, branch: str, asked: _Names) -> RepositoryState:
    heads, pulls = asked
    state = state._replace(heads=awaited(heads))
    try:
        pulls_of_first = awaited(pulls)
    except GitHubError as error:
        if error.kind not in {Kind.PERMISSION, Kind.NOT_FOUND}:
            raise
        return state._replace(pull_requests_error=error.failure)
    if isinstance(state.heads, Unknown):
        return state
    head = state.heads.get(branch)
    return state._replace(branches={branch: BranchState(branch, head, pulls_of_first)})


def _with_open(client: "Client", state: RepositoryState, spec: RegistrationSpec) -> RepositoryState:
    """Add the open pull requests of the list's branches. They are only for a note, so an error is
    ignored. Without such a branch there is none, because GitHub closes it when the branch goes.
    """
    repository = state.repository
    names = branch_names(spec.branch, repository.default_branch, spec.base_of(repository))
    branches: dict[str, BranchState] = {}
    try:
        heads = client.rest.branches_from(repository, spec.branch)
        for name in names[:1] if isinstance(heads, Unknown) else filter(heads.__contains__, names):
            pulls = client.rest.pull_requests(repository, name)
            if opened := tuple(each for each in pulls if each.is_open):
                branches[name] = BranchState(name, opened[0].head_sha, opened)
    except (GitHubError, Refused):
        return state
    return state._replace(branches=branches)


def _base(client: "Client", spec: RegistrationSpec, repository: Repository) -> str:
    target, branch = repository.full_name, spec.base_of(repository)
    try:
        base_sha = client.rest.branch_head(repository, branch)
    except GitHubError as error:
        if error.kind is Kind.EMPTY_REPOSITORY:
            raise Refused(msg("preflight.empty", target=target)) from error
        raise
    if base_sha is None and spec.settings.base:
        raise client.rest.no_branch_error(repository, branch)
    if base_sha is None:
        raise Refused(msg("preflight.no_default_branch", target=target, branch=branch))
    return base_sha


def _directories(client: "Client", state: RepositoryState, paths: Sequence[str]) -> Directories:
    """Read the directories among ``paths`` that exist.

    If GitHub may have cut the list of a directory, its names are taken from the tree of the commit
    instead. Raises `Refused` if GitHub cuts the tree as well.
    """
    listed = _listed(client, state, paths)
    cut = [path for path, entries in listed.items() if len(entries) >= MOST_LISTED]
    tree = client.rest.tree(state.repository, state.base_sha) if cut else {}
    if tree is None:
        directories = [f"{path}/" for path in cut]
        target = state.repository.full_name
        raise Refused(msg("preflight.too_many_files", target=target, directories=directories))
    return {**listed, **{path: entries_in(path, tree) for path in cut}}


def _with_obstacles(
    client: "Client", state: RepositoryState, absent: Sequence[FileDefinition]
) -> RepositoryState:
    above = {parent for each in absent for parent in parents(each.path)}
    above -= {parent for path in state.entries for parent in parents(path)}
    tree = client.rest.tree(state.repository, state.base_sha) if above else {}
    if tree is None:
        return _with_entries(client, state, sorted(above))
    found = {path: tree[path] for path in above & tree.keys()}
    return state._replace(entries={**state.entries, **found})


def _listed(client: "Client", state: RepositoryState, paths: Sequence[str]) -> Directories:
    """Read the directories among ``paths`` that exist; a long list may be cut."""
    read = partial(client.rest.directory, state.repository, ref=state.base_sha)
    listed = concurrently(read, paths, CONNECTIONS)
    return {path: entries for path, entries in zip(paths, listed, strict=True) if entries}
