"""Two requests: a query reads everything at one commit, a request with three mutations writes.

The branch is made at the very commit that was looked at and the commit expects it there, so
"never overwrite" is exact. Where the second request stops half-way, the single steps of both
strategies go on from what is really there.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from registrar.errors import Cancelled, Failure, GitHubError, Kind, OutOfTime, Refused
from registrar.github.limits import Resource
from registrar.models.files import FileDefinition, parents
from registrar.models.plan import NewCommit, NewPullRequest, Plan
from registrar.models.repository import Repository
from registrar.models.spec import RegistrationSpec
from registrar.presence import alternatives
from registrar.presence.planning import make_plan
from registrar.presence.special_files import WORKFLOW_FILES, directory_of
from registrar.registration import at_ref, commits, per_file
from registrar.registration.answers import Claim, Made, NotMade
from registrar.registration.decide import Branch
from registrar.registration.progress import Progress
from registrar.registration.work import Work, with_owner
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import Client

NAMES_AT_ONCE = 3
"""Names of the working branch that one query asks for: later ones are hardly ever used."""


def directories_to_read(spec: RegistrationSpec) -> list[str]:
    """The directories to read: those of the listed paths, and those that may have an alternative,
    or a file that a new one would hide.

    They cover every file that a rule may add, and every path that a rule asks about.
    """
    definitions, respect = spec.file_list.possible, spec.settings.respect_alternatives
    elsewhere = alternatives.directories_to_read(definitions, respect=respect)
    paths = (*(definition.path for definition in definitions), *spec.file_list.asked_paths)
    listed = map(directory_of, paths)
    return list(dict.fromkeys([*listed, *elsewhere, *alternatives.places_of(definitions)]))


def names_to_read(spec: RegistrationSpec) -> list[str]:
    """The names that a branch of ours may have, as many as are read at first."""
    return [spec.branch, *(f"{spec.branch}-{number}" for number in range(2, NAMES_AT_ONCE + 1))]


def inspect(client: "Client", progress: Progress) -> Plan:
    """Read the repository, the working branch and the directories above every listed path.

    All of it at one commit. So nothing is created below a file or a link, and what differs in
    letter case only is seen.
    """
    spec = progress.spec
    described = spec.repository if spec.was_listed else None
    if described is None and spec.property_names:
        # GraphQL has properties since the end of 2025, and not on an Enterprise Server
        described = client.rest.with_properties(client.rest.repository(spec.target))
    with_facts = spec.file_list.has_conditions and described is None
    directories = directories_to_read(spec)
    if spec.settings.ref:
        at = _commits_at_ref(client, spec, described or spec.repository)
        states = client.graphql.inspect_at(spec.target, at, directories, with_facts=with_facts)
        state = states[0]._replace(before=states[1] if len(states) > 1 else None)
    else:
        names = names_to_read(spec)
        state = client.graphql.inspect(spec.target, names, directories, with_facts=with_facts)
    repository = _identified(spec, state.repository)
    if described:
        repository = repository.described_by(described)
    progress.identify(repository)
    return make_plan(spec, with_owner(client, spec, state._replace(repository=repository)))


def _commits_at_ref(client: "Client", spec: RegistrationSpec, known: Repository) -> list[str]:
    ref = spec.settings.ref
    is_id = at_ref.COMMIT_ID.fullmatch(ref)
    commit = ref.lower() if is_id else at_ref.commit_of(client, known, ref)
    comparison = at_ref.compared(client, spec, known, commit)
    return [commit, *([comparison.merge_base] if comparison else [])]


def require_rate_limit(client: "Client", _files: Sequence[FileDefinition]) -> None:
    """Ask for the point of the request that writes."""
    client.limits.require(Resource.GRAPHQL, 1)


def claim(work: Work, claim: Claim) -> Made | NotMade:
    """Create branch, commit and pull request in one request."""
    plan, proposal, progress = work.plan, work.proposal, work.progress
    name, files = claim.name, claim.files
    if len(list(commits.batches(files))) > 1:
        return work.make_branch(name)
    branch = Branch(name, plan.state.base_sha)
    result = progress.result(assuming=[work.written(branch, each) for each in files])
    commit = NewCommit(name, branch.head, *proposal.commit_message(result, files), files)
    body = proposal.body(result)
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
            progress.keep_branch(name)
        raise
    if made.commit:
        progress.keep_branch(name)
        with progress.group("group.create", count=len(files), branch=name):
            progress.record_and_print(*(work.written(branch, d, made.commit) for d in files))
        # Also when somebody else made the branch: then it stood at the very base commit
        return Made(made.commit, made.pull_request, had_no_commit=not made.branch_id)
    if made.branch_id:
        return Made(pull_request=made.pull_request)
    answer = work.make_branch(name)
    return answer if isinstance(answer, Made) else answer._replace(opened=made.pull_request)


def create_files(work: Work, branch: Branch) -> None:
    """Create what the branch lacks, and correct what it holds, with one commit.

    In one repository, files that cannot go into that commit get one commit each. Over many
    repositories, they are recorded as failed.
    """
    plan, progress = work.plan, work.progress
    while True:
        try:
            branch = commits.commit(work, branch, partial(_committable, plan))
            break
        except commits.NotCommitted as refused:
            branch, failure = refused.branch, refused.error.failure
            workflows = [d for d in refused.batch if d.path.startswith(WORKFLOW_FILES)]
            if refused.error.nothing_done and 0 < len(workflows) < len(refused.batch):
                # Most tokens that write every other file may not write these
                progress.record_and_print(*(work.failed(branch, d, failure) for d in workflows))
                continue
            if plan.spec.policy.falls_back:
                break
            progress.record_and_print(*(work.failed(branch, d, failure) for d in refused.batch))
    if not plan.spec.policy.falls_back:
        there, failure = branch.tree or {}, Failure.of(msg("reason.not_committable"))
        rest = [each for each in progress.pending(plan.missing) if each.path not in there]
        progress.record_and_print(*(work.failed(branch, each, failure) for each in rest))
    per_file.create_files(work, branch)


def _identified(spec: RegistrationSpec, repository: Repository) -> Repository:
    """Give the repository that was read with its number, where it has to be the listed one."""
    if not spec.was_listed:
        return repository
    listed = spec.repository
    # A list may have a node id of an older form, so it counts only where there is no number
    number, node_id = repository.id, repository.node_id
    if (number and number != listed.id) or not (number or node_id == listed.node_id):
        raise Refused(msg("many.another_repository"), Kind.MOVED)
    if not spec.may_be_called(repository.full_name):
        raise Refused(msg("many.other_name"), Kind.MOVED)
    return repository._replace(id=listed.id, goes_by_id=True)


def _committable(plan: Plan, branch: Branch) -> list[FileDefinition]:
    """What can go into one commit, without replacing anything else than what we wrote.

    Nothing where the tree is unknown.
    """
    tree = branch.tree
    if tree is None:
        return []
    directories = {parent for path in tree for parent in parents(path)}
    return [
        definition
        for definition in plan.missing
        if branch.is_outdated(definition.path)
        or (
            definition.path not in tree
            and definition.path not in directories
            and not any(parent in tree for parent in parents(definition.path))
        )
    ]
