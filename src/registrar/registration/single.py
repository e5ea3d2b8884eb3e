"""Two requests: a query reads everything at one commit, a request with three mutations writes.

The branch is made at the very commit that was looked at and the commit expects it there, so
"never overwrite" is exact. Where the second request stops half-way, the single steps of both
strategies go on from what is really there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from registrar.errors import Cancelled, Failure, GitHubError, Kind, OutOfTime, Refused
from registrar.github.limits import Resource
from registrar.models.files import FileDefinition, parents
from registrar.models.plan import NewCommit, NewPullRequest, Plan
from registrar.models.repository import Repository, RepositoryState
from registrar.models.result import Done, FileResult
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import Standing
from registrar.presence import alternatives
from registrar.presence.special_files import directory_of
from registrar.registration import at_ref, per_file
from registrar.registration.answers import Claim, Made, NotMade
from registrar.registration.base import Work, with_owner
from registrar.registration.decide import Branch
from registrar.registration.mark import Mark
from registrar.registration.progress import Progress
from registrar.texts import escaping
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import Client

FILES_PER_COMMIT = 1000
BYTES_PER_COMMIT = 20_000_000
"""Base64 of a commit; about 40 MB is the most that passes (github-api-commit-action#66)."""
MOST_REREADS = 5
"""How often a branch that others write to is read again before its files have failed."""
NAMES_AT_ONCE = 3
"""Names of the working branch that one query asks for: later ones are hardly ever used."""
_MAY_HAVE_MOVED = frozenset({Kind.STALE, Kind.LAG})


def directories_to_read(spec: RegistrationSpec) -> list[str]:
    """The directories of the listed paths, those where an alternative, or a hidden file, may be.

    So they are for every file that a rule may add, and for the paths that rules ask about.
    """
    definitions, respect = spec.files.possible, spec.settings.respect_alternatives
    elsewhere = alternatives.directories_to_read(definitions, respect=respect)
    paths = (*(definition.path for definition in definitions), *spec.files.asked_paths)
    listed = map(directory_of, paths)
    return list(dict.fromkeys([*listed, *elsewhere, *alternatives.places_of(definitions)]))


def names_to_read(spec: RegistrationSpec) -> list[str]:
    """The names that a branch of ours may have, as many as are read at first."""
    return [spec.branch, *(f"{spec.branch}-{number}" for number in range(2, NAMES_AT_ONCE + 1))]


def inspect(client: Client, progress: Progress) -> RepositoryState:
    """Read the repository, the working branch and the directories above every listed path.

    All of it at one commit. So nothing is created below a file or a link, and what differs in
    letter case only is seen.
    """
    spec = progress.spec
    described = spec.repository if spec.is_one_of_many else None
    if described is None and spec.property_names:
        # GraphQL has properties since the end of 2025, and not on an Enterprise Server
        described = client.rest.with_properties(client.rest.repository(spec.target))
    with_facts = spec.files.has_conditions and described is None
    directories = directories_to_read(spec)
    if spec.settings.ref:
        state = _at_ref(client, spec, described, directories, with_facts=with_facts)
    else:
        names = names_to_read(spec)
        state = client.graphql.inspect(spec.target, names, directories, with_facts=with_facts)
    repository = _identified(spec, state.repository)
    if described:
        repository = repository.described_by(described)
    progress.identify(repository)
    return with_owner(client, spec, state._replace(repository=repository))


def _at_ref(
    client: Client,
    spec: RegistrationSpec,
    described: Repository | None,
    directories: Sequence[str],
    *,
    with_facts: bool,
) -> RepositoryState:
    """Read directories at the commit of the reference, and where it has left the base branch."""
    ref, known = spec.settings.ref, described or spec.repository
    is_id = at_ref.COMMIT_ID.fullmatch(ref)
    commit = ref.lower() if is_id else at_ref.commit_of(client, known, ref)
    comparison = at_ref.compared(client, spec, known, commit)
    commits = [commit, *([comparison.merge_base] if comparison else [])]
    now, *before = client.graphql.inspect_at(
        spec.target, commits, directories, with_facts=with_facts
    )
    return now._replace(before=before[0] if before else None)


def require_rate_limit(client: Client, _files: Sequence[FileDefinition]) -> None:
    """Ask for the point of the request that writes."""
    client.limits.require(Resource.GRAPHQL, 1)


def claim(work: Work, claim: Claim) -> Made | NotMade:
    """Create branch, commit and pull request in one request."""
    _, plan, proposal, progress = work
    name, files = claim.name, claim.files
    if len(list(_batches(files))) > 1:
        return work.make_branch(name)
    result = progress.result(assuming=[work.created(each) for each in files])
    headline = proposal.headline(result, files)
    commit = _new_commit(name, plan.state.base_sha, headline, files)
    body = proposal.body(result, mark=Mark.begin(plan.spec.files.id, plan.state.base_sha))
    pull = NewPullRequest(name, proposal.title(result), body, proposal.options)
    try:
        with work.interruptible(files):
            made = work.client.graphql.create_everything(plan.repository, commit, pull)
    except GitHubError as error:
        if error.may_have_been_applied:
            return NotMade(answer_was_lost=True, body=body)
        return work.make_branch(name)
    except (Cancelled, OutOfTime):
        if work.client.session.may_have_been_applied:
            progress.on_branch(name)
        raise
    if made.commit:
        progress.on_branch(name)
        with progress.group("group.create", count=len(files), branch=name):
            _record(progress, [work.created(d, made.commit) for d in files])
        # Also when somebody else made the branch: then it stood at the very base commit
        return Made(made.commit, made.pull_request, had_no_commit=not made.branch_id)
    if made.branch_id:
        return Made(pull_request=made.pull_request)
    answer = work.make_branch(name)
    return answer if isinstance(answer, Made) else answer._replace(opened=made.pull_request)


def create_files(work: Work, branch: Branch) -> None:
    """Create what the branch lacks with one commit; the rest with a commit per file.

    Where the run does not fall back to that, the rest has failed.
    """
    _, plan, proposal, progress = work
    rereads = 0
    while batch := next(_batches(progress.pending(_committable(plan, branch))), None):
        headline = proposal.headline(progress.result(), batch)
        commit = _new_commit(branch.name, branch.head, headline, batch)
        try:
            with work.interruptible(batch):
                made = _commit(work, branch, commit, reread=rereads < MOST_REREADS)
        except GitHubError as error:
            lost = error.may_have_been_applied
            if not plan.spec.is_one_of_many:
                branch = branch._replace(has_lost_commit=lost)
                break
            _record_failed(progress, batch, error.failure, Done.UNKNOWN if lost else Done.FAILED)
            continue
        if isinstance(made, Branch):
            # What was there before is none of this run's, whatever the branch holds by now
            per_file.record_there(work, branch)
            branch, rereads = made, rereads + 1
            continue
        branch = branch._replace(head=made)
        with progress.group("group.create", count=len(batch), branch=branch.name):
            _record(progress, [work.created(d, made) for d in batch])
    if plan.spec.is_one_of_many:
        there = branch.tree or {}
        rest = [d for d in progress.pending(plan.missing) if d.path not in there]
        _record_failed(progress, rest, Failure.of(msg("reason.not_committable")), Done.FAILED)
    per_file.create_files(work, branch)


def _identified(spec: RegistrationSpec, repository: Repository) -> Repository:
    """Give the repository that was read with its number, where it has to be the listed one."""
    if not spec.is_one_of_many:
        return repository
    listed = spec.repository
    # A list may have a node id of an older form, so it counts only where there is no number
    number, node_id = repository.id, repository.node_id
    if (number and number != listed.id) or not (number or node_id == listed.node_id):
        raise Refused(msg("fleet.another_repository"), Kind.MOVED)
    if not spec.may_be_called(repository.full_name):
        raise Refused(msg("fleet.other_name"), Kind.MOVED)
    return repository._replace(id=listed.id, goes_by_id=True)


def _commit(work: Work, branch: Branch, commit: NewCommit, *, reread: bool) -> str | Branch:
    """Create a commit and give its id, or the branch as it is when it has moved on meanwhile.

    Another run may have written to it, or this one, when the answer was lost.
    """
    try:
        return work.client.graphql.create_commit(work.plan.repository, commit)
    except GitHubError as error:
        lost = error.may_have_been_applied
        may_have_moved = reread and (lost or error.kind in _MAY_HAVE_MOVED)
        moved = _moved(work, branch) if may_have_moved else None
        if moved is None:
            raise
        return moved._replace(may_be_ours=branch.may_be_ours or lost)


def _moved(work: Work, branch: Branch) -> Branch | None:
    """Give the branch as it is by now; ``None`` when it has not moved, or cannot be read."""
    rest, repository = work.client.rest, work.plan.repository
    try:
        head = rest.branch_head(repository, branch.name)
        if head is None or head == branch.head:
            return None
        return branch._replace(head=head, tree=rest.tree(repository, head))
    except GitHubError:
        return None


def _new_commit(
    branch: str, parent: str, headline: str, files: Sequence[FileDefinition]
) -> NewCommit:
    body = "\n".join(f"- {escaping.for_commit(definition.path)}" for definition in files)
    return NewCommit(branch, parent, headline, body, files)


def _committable(plan: Plan, branch: Branch) -> list[FileDefinition]:
    """What can go into one commit without replacing anything; nothing where the tree is unknown."""
    tree = branch.tree
    if tree is None:
        return []
    directories = {parent for path in tree for parent in parents(path)}
    return [
        definition
        for definition in plan.missing
        if definition.path not in tree
        and definition.path not in directories
        and not any(parent in tree for parent in parents(definition.path))
    ]


def _batches(files: Sequence[FileDefinition]) -> Iterator[list[FileDefinition]]:
    """Split into commits that GitHub takes."""
    batch: list[FileDefinition] = []
    size = 0
    for definition in files:
        cost = len(definition.content) * 4 // 3 + len(definition.path.encode())
        if batch and (len(batch) == FILES_PER_COMMIT or size + cost > BYTES_PER_COMMIT):
            yield batch
            batch, size = [], 0
        batch.append(definition)
        size += cost
    if batch:
        yield batch


def _record_failed(
    progress: Progress, files: Iterable[FileDefinition], failure: Failure, done: Done
) -> None:
    results = (FileResult(each, Standing.MISSING, done, failure=failure) for each in files)
    _record(progress, results)


def _record(progress: Progress, results: Iterable[FileResult]) -> None:
    results = list(results)
    for number, result in enumerate(results, start=1):
        progress.record_and_print(number, len(results), result)
