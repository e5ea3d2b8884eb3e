"""REST: one existence check and one commit per file, in the order of docs/design.md."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias

from registrar.errors import Cancelled, GitHubError, Kind, OutOfTime, Refused
from registrar.github.limits import CONNECTIONS, Resource
from registrar.models.files import FileDefinition, parents
from registrar.models.paths import Done, PathOutcome
from registrar.models.plan import Plan
from registrar.models.repository import (
    MOST_LISTED,
    BranchState,
    Directories,
    PullRequest,
    Repository,
    RepositoryState,
    entries_in,
)
from registrar.models.spec import RegistrationSpec
from registrar.presence.alternatives import directories_to_read, places_of
from registrar.presence.planning import listed_in, make_plan
from registrar.registration import commits
from registrar.registration.answers import Claim, Made, NotMade
from registrar.registration.decide import Branch
from registrar.registration.progress import Progress
from registrar.registration.work import Work, with_owner
from registrar.runtime.concurrency import concurrently, in_background
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import Client

_OUT_OF_REACH = frozenset({Kind.NOT_FOUND, Kind.UNUSABLE, Kind.TRANSIENT})
"""What a GraphQL request ends with if the network lets only the REST API through."""
_Names: TypeAlias = tuple[Future[Mapping[str, str] | None], Future[tuple[PullRequest, ...]]]
"""Commits of the branches of all names, and the pull requests of the first name."""


def inspect(client: "Client", progress: Progress) -> Plan:
    """Read the repository, its default branch, and every listed path at that commit."""
    spec = progress.spec
    asked = spec.file_list.asked_paths
    client.limits.require(Resource.REST, 2 + len(spec.file_list.possible) + len(asked))
    repository = client.rest.repository(spec.target)
    progress.identify(repository)
    if spec.property_names:
        repository = client.rest.with_properties(repository)
    # Called at the first missing path, in the background, so that these requests delay no other one
    ask_for_names = cache(partial(_ask_for_names, client, repository, spec.branch))
    state = RepositoryState(repository, _base(client, repository), {})
    state = _with_entries(client, state, asked)
    listed = listed_in(spec, state)
    definitions = listed.definitions
    paths = [each.path for each in definitions if each.path not in asked]
    state = _with_entries(client, state, paths, ask_for_names)
    absent = [each for each in definitions if each.path not in state.entries]
    state = _with_directories(client, spec, state, definitions)
    if absent:
        if not spec.writes:
            # A run that writes gets the answer from GitHub
            state = _with_obstacles(client, state, absent)
        state = _with_names(state, spec.branch, ask_for_names())
    return make_plan(spec, with_owner(client, spec, state), listed)


def require_rate_limit(client: "Client", files: Sequence[FileDefinition]) -> None:
    """Ask for a request for the branch, one for each file, and one for the pull request."""
    client.limits.require(Resource.REST, len(files) + 2)


def claim(work: Work, claim: Claim) -> Made | NotMade:
    """Make the branch: REST has no request that does more."""
    return work.make_branch(claim.name)


def create_files(work: Work, branch: Branch) -> None:
    """Create what is missing, one commit each, once the branch follows the list."""
    progress = work.progress
    branch = _correct(work, branch)
    todo = progress.pending(work.plan.missing)
    if not todo:
        return
    message_of = work.proposal.commit_messages(progress.result())
    with progress.group("group.create", count=len(todo), branch=branch.name):
        try:
            for number, definition in enumerate(todo, start=1):
                message = message_of(definition)
                with work.interruptible([definition]):
                    outcome = _create(work, branch, definition, message)
                progress.record_and_print(outcome, first=number, total=len(todo))
        except (Cancelled, OutOfTime):
            work.note_unknown(each for each in todo if branch.may_hold(each.path))
            raise


def _with_entries(
    client: "Client",
    state: RepositoryState,
    paths: Sequence[str],
    when_missing: Callable[[], object] | None = None,
) -> RepositoryState:
    """Add what is at each of these paths; the first missing one calls ``when_missing``."""
    there = dict(state.entries)
    read_one = partial(client.rest.entry, state.repository, ref=state.base_sha)
    for path, entry in zip(paths, concurrently(read_one, paths, CONNECTIONS), strict=True):
        if entry:
            there[path] = entry
        elif when_missing:
            when_missing()
    return state._replace(entries=there)


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
        # Only for a note on files that would be hidden: a part of a long list is enough
        directories = {**_listed(client, state, more), **directories}
    return state._replace(directories=directories)


def _ask_for_names(client: "Client", repository: Repository, branch: str) -> _Names:
    return (
        in_background(partial(client.rest.branches_from, repository, branch)),
        in_background(partial(client.rest.pull_requests, repository, branch)),
    )


def _with_names(state: RepositoryState, branch: str, asked: _Names) -> RepositoryState:
    heads, pulls = asked
    state = state._replace(heads=heads.result())
    try:
        pulls_of_first = pulls.result()
    except GitHubError as error:
        if error.kind not in {Kind.PERMISSION, Kind.NOT_FOUND}:
            raise
        return state._replace(pull_requests_error=error.failure)
    if state.heads is None:
        return state
    head = state.heads.get(branch)
    return state._replace(branches={branch: BranchState(branch, head, pulls_of_first)})


def _base(client: "Client", repository: Repository) -> str:
    target, branch = repository.full_name, repository.default_branch
    try:
        base_sha = client.rest.branch_head(repository, branch)
    except GitHubError as error:
        if error.kind is Kind.EMPTY_REPOSITORY:
            raise Refused(msg("preflight.empty", target=target)) from error
        raise
    if base_sha is None:
        raise Refused(msg("preflight.no_default_branch", target=target, branch=branch))
    return base_sha


def _directories(client: "Client", state: RepositoryState, paths: Sequence[str]) -> Directories:
    """Read the directories among ``paths`` that exist.

    A list that GitHub may have cut says nothing about what is missing from it, so the names are
    then taken from the tree of the commit.
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
    """Read the directories among ``paths`` that exist; GitHub may have cut a long list."""
    read = partial(client.rest.directory, state.repository, ref=state.base_sha)
    listed = concurrently(read, paths, CONNECTIONS)
    return {path: entries for path, entries in zip(paths, listed, strict=True) if entries}


def _correct(work: Work, branch: Branch) -> Branch:
    """Correct files on the branch with GraphQL, because REST needs a ``sha`` to replace a file, and
    registrar never sends one.
    """

    def outdated(now: Branch) -> list[FileDefinition]:
        return [each for each in work.plan.missing if now.is_outdated(each.path)]

    try:
        return commits.commit(work, branch, outdated)
    except commits.NotCommitted as refused:
        error, branch = refused.error, refused.branch
        outcomes = [work.failed(branch, each, error.failure) for each in outdated(branch)]
        with suppress(GitHubError):
            rest, repository = work.client.rest, work.plan.repository
            is_out = error.kind in _OUT_OF_REACH
            if is_out and rest.branch_head(repository, branch.name) == branch.head:
                why = msg("reason.not_corrected", reason=error.message)
                outcomes = [
                    each._replace(done=Done.SKIPPED, reason=why, failure=None) for each in outcomes
                ]
        work.progress.record_and_print(*outcomes)
        return branch


def _create(work: Work, branch: Branch, definition: FileDefinition, message: str) -> PathOutcome:
    there = branch.tree.get(definition.path) if branch.tree else None
    if there:
        return work.there(branch, definition, there.sha)
    try:
        commit = work.client.rest.create_file(
            work.plan.repository,
            definition.path,
            branch=branch.name,
            content=definition.content,
            message=message,
        )
    except GitHubError as error:
        if error.already_exists or error.may_have_been_applied or branch.may_hold(definition.path):
            return _read_back(work, branch, definition, error)
        return work.failed(branch, definition, error.failure)
    return work.written(branch, definition, commit)


def _read_back(
    work: Work, branch: Branch, definition: FileDefinition, error: GitHubError
) -> PathOutcome:
    """Find out what a write did whose response was lost, or whether somebody else made the file."""
    try:
        entry = work.client.rest.entry(
            work.plan.repository, definition.path, branch.name, may_lag=error.already_exists
        )
    except GitHubError:
        return PathOutcome(definition.path, Done.UNKNOWN, error.failure)
    if entry is None:
        return PathOutcome(definition.path, Done.FAILED, error.failure)
    lost = error.may_have_been_applied or branch.has_lost_commit
    branch = branch._replace(may_be_ours=lost or branch.may_be_ours)
    return work.there(branch, definition, entry.sha)
