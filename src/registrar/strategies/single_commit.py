"""Two requests: one query reads everything at one commit, one request with three mutations acts.

The branch is made at the very commit that was looked at and the commit expects it there, so
"never overwrite" is exact. Where the second request stops half-way, the common road of both
strategies goes on from what is really there.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

from registrar import branches
from registrar.branches import Attempt, Branch
from registrar.errors import Cancelled, Refused
from registrar.github.client import Host
from registrar.github.errors import GitHubError, Kind
from registrar.github.response import OK, Response
from registrar.github.retry import OutOfTime
from registrar.models import (
    BranchState,
    FileDefinition,
    FileResult,
    Plan,
    PullRequest,
    PullRequestOperation,
    RegistrationSpec,
    Repository,
    RepositoryState,
    State,
    parents,
)
from registrar.reporting.progress import Progress
from registrar.reporting.proposal import Proposal
from registrar.strategies import per_file
from registrar.texts import escaping
from registrar.texts.messages import Message, msg

PATHS_PER_QUERY = 100
"""A query with 227 aliases was refused, one with 120 passed (hermes-ecosystem#825)."""
FILES_PER_COMMIT = 1000
BYTES_PER_COMMIT = 20_000_000
"""Base64 of a commit; about 40 MB is the most that passes (github-api-commit-action#66)."""

_TREE = "tree"
_MAY_PUSH = frozenset({"WRITE", "MAINTAIN", "ADMIN"})

_REPOSITORY = """
query($owner: String!, $name: String!, $branch: String!, %(variables)s) {
  repository(owner: $owner, name: $name) {
    id nameWithOwner url isArchived isEmpty viewerPermission
    defaultBranchRef { name target { oid ... on Commit { %(files)s } } }
    ref(qualifiedName: $branch) {
      target { oid }
      associatedPullRequests(first: 50, orderBy: {field: CREATED_AT, direction: DESC}) {
        nodes {
          number url body state headRefOid baseRefName headRepository { nameWithOwner }
        }
      }
    }
  }
}
"""
_MORE_FILES = """
query($owner: String!, $name: String!, $oid: GitObjectID!, %(variables)s) {
  repository(owner: $owner, name: $name) {
    object(oid: $oid) { ... on Commit { %(files)s } }
  }
}
"""
_ALL_AT_ONCE = """
mutation(
  $ref: CreateRefInput!, $commit: CreateCommitOnBranchInput!, $pull: CreatePullRequestInput!
) {
  createRef(input: $ref) { ref { target { oid } } }
  createCommitOnBranch(input: $commit) { commit { oid } }
  createPullRequest(input: $pull) { pullRequest { number url body } }
}
"""
_ONE_COMMIT = """
mutation($commit: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $commit) { commit { oid } }
}
"""


def inspect(host: Host, job: RegistrationSpec, progress: Progress) -> RepositoryState:
    """Read the repository, the working branch and every listed path, all at one commit.

    The directories above the paths are read too: nothing can be created below a file or a link.

    Raises:
        Refused: there is no such repository, or it is empty.
        GitHubError: no usable response.
    """
    listed = [definition.path for definition in job.definitions]
    above = {parent for path in listed for parent in parents(path)}
    chunks = _chunks([*listed, *sorted(above.difference(listed))])
    repository, base_sha, branch_state, found = _first_query(host, job, next(chunks))
    progress.found(repository)
    for chunk in chunks:
        found |= _more_files(host, repository, base_sha, chunk)

    total = len(listed)
    with progress.group("group.check", count=total, target=repository.full_name):
        for number, path in enumerate(listed, start=1):
            progress.checked(number, total, path, exists=path in found)
    return RepositoryState(
        repository,
        base_sha,
        existing=frozenset(path for path in listed if path in found),
        blocked={
            path: parent
            for path in listed
            for parent in parents(path)
            if path not in found and found.get(parent, _TREE) != _TREE
        },
        branch_state=branch_state,
    )


def write_at_once(host: Host, plan: Plan, proposal: Proposal, progress: Progress) -> Attempt | None:
    """Create branch, commit and pull request in one request; ``None``: it was not sent.

    It is never sent a second time while the first may have been applied: the third mutation
    would be done even where the branch is somebody else's.

    Raises:
        Cancelled: a signal arrived.
        OutOfTime: GitHub's limits last for longer than we may wait.
    """
    if plan.branch_state or len(list(_batches(plan.missing))) > 1:
        return None
    name = next(branches.names(plan))
    created = [FileResult(d, State.CREATED, on_branch=True) for d in plan.missing]
    result = progress.registration(assuming=created)
    body = proposal.body(result)
    headline = proposal.headline(result, plan.missing)
    repository_id = plan.repository.node_id
    variables = {
        "ref": {
            "repositoryId": repository_id,
            "name": f"refs/heads/{name}",
            "oid": plan.base_sha,
        },
        "commit": _commit_input(plan, name, plan.base_sha, plan.missing, headline),
        "pull": {
            "repositoryId": repository_id,
            "baseRefName": plan.repository.default_branch,
            "headRefName": name,
            "title": proposal.title(result),
            "body": body,
            "draft": proposal.options.draft,
        },
    }
    operation = msg("operation.all_at_once", branch=name)
    try:
        response = host.graphql(_ALL_AT_ONCE, variables, operation, writes=True, idempotent=False)
    except GitHubError as error:
        return Attempt(may_have_been_applied=error.may_have_been_applied, body=body)
    except (Cancelled, OutOfTime) as ended:
        if ended.may_have_been_applied:
            progress.on_branch(name)
            _record(progress, plan.missing, State.UNKNOWN, reason=msg("reason.unknown"))
        raise
    ref = _part(response, "createRef", "ref")
    commit = _part(response, "createCommitOnBranch", "commit", "oid")
    pull = _part(response, "createPullRequest", "pullRequest", "number", "url")
    opened = PullRequest(number=pull["number"], url=pull["url"], body=body) if pull else None
    branch = None
    if commit:
        # Also when the branch was somebody else's: then it stood at the very base commit
        branch = Branch(name, commit["oid"], is_new=False, was_bare=not ref, pull_request=opened)
    elif ref:
        branch = Branch(name, plan.base_sha, pull_request=opened)
    if commit:
        progress.on_branch(name)
        with progress.group("group.create", count=len(plan.missing), branch=name):
            _record(progress, plan.missing, State.CREATED, commit=commit["oid"])
    if commit and opened:
        progress.pull_request(opened, PullRequestOperation.CREATED)
    return Attempt(branch, done=bool(commit and opened), body=body, pull_request=opened)


def create_files(
    host: Host, plan: Plan, branch: Branch, proposal: Proposal, progress: Progress
) -> None:
    """Create what the branch lacks with one commit; what that leaves, with one commit per file.

    Raises:
        Cancelled: a signal arrived.
        OutOfTime: the host's limits last for longer than we may wait.
    """
    head = branch.head
    todo = progress.pending(_committable(plan, branch))
    for batch in _batches(todo):
        headline = proposal.headline(progress.registration(), batch)
        variables = {"commit": _commit_input(plan, branch.name, head, batch, headline)}
        try:
            operation = msg("operation.commit", branch=branch.name)
            response = host.graphql(_ONE_COMMIT, variables, operation, writes=True)
        except GitHubError as error:
            branch = replace(
                branch,
                may_have_been_applied=branch.may_have_been_applied or error.may_have_been_applied,
            )
            break
        except (Cancelled, OutOfTime) as ended:
            if ended.may_have_been_applied:
                _record(progress, batch, State.UNKNOWN, reason=msg("reason.unknown"))
            raise
        commit = _part(response, "createCommitOnBranch", "commit", "oid")
        if commit is None:
            branch = replace(
                branch,
                may_have_been_applied=branch.may_have_been_applied
                or response.may_have_been_applied,
            )
            break
        head = commit["oid"]
        with progress.group("group.create", count=len(batch), branch=branch.name):
            _record(progress, batch, State.CREATED, commit=head)
    per_file.create_files(host, plan, branch, proposal, progress)


# --- Reading --------------------------------------------------------------------------------


def _first_query(
    host: Host, job: RegistrationSpec, paths: Sequence[str]
) -> tuple[Repository, str, BranchState | None, dict[str, str]]:
    owner, _, name = job.target.partition("/")
    variables = {"owner": owner, "name": name, "branch": f"refs/heads/{job.branch}"}
    operation = msg("operation.repository", target=job.target)
    response = _ask(host, _REPOSITORY, variables, paths, operation)
    if _is_not_found(response):
        raise host.not_found_error(job.target)
    with _as_asked(operation):
        data = response.data["data"]["repository"]
        if data["isEmpty"]:
            raise Refused(msg("preflight.empty", target=data["nameWithOwner"]))
        if data["defaultBranchRef"] is None:
            # GraphQL does not tell what it would be called
            gone = host.repository(job.target).default_branch
            target = data["nameWithOwner"]
            raise Refused(msg("preflight.no_default_branch", target=target, branch=gone))
        permission = data["viewerPermission"]
        repository = Repository(
            full_name=data["nameWithOwner"],
            default_branch=data["defaultBranchRef"]["name"],
            html_url=data["url"],
            archived=data["isArchived"],
            can_push=host.user_may_push(permission and permission in _MAY_PUSH),
            node_id=data["id"],
        )
        commit = data["defaultBranchRef"]["target"]
        branch_state = _branch_state(data["ref"], job.branch, repository)
        return repository, commit["oid"], branch_state, _types(commit, paths)


def _more_files(
    host: Host, repository: Repository, base_sha: str, paths: Sequence[str]
) -> dict[str, str]:
    owner, _, name = repository.full_name.partition("/")
    variables = {"owner": owner, "name": name, "oid": base_sha}
    operation = msg("operation.repository", target=repository.full_name)
    response = _ask(host, _MORE_FILES, variables, paths, operation)
    with _as_asked(operation):
        return _types(response.data["data"]["repository"]["object"], paths)


@contextmanager
def _as_asked(operation: Message) -> Iterator[None]:
    """An response without errors holds what was asked for, or it is none of the host's."""
    try:
        yield
    except (AttributeError, KeyError, TypeError) as error:
        reason = msg("fault.unusable", status=OK)
        raise GitHubError(
            msg("host.failed", operation=operation, reason=reason), Kind.UNUSABLE
        ) from error


def _ask(
    host: Host, query: str, variables: dict[str, str], paths: Sequence[str], operation: Message
) -> Response:
    """Send a query with a field and a variable for each path: no path is part of the text."""
    declared = ", ".join(f"$p{index}: String!" for index in range(len(paths)))
    fields = " ".join(f"p{index}: file(path: $p{index}) {{ type }}" for index in range(len(paths)))
    named = {f"p{index}": path for index, path in enumerate(paths)}
    text = query % {"variables": declared, "files": fields}
    response = host.graphql(text, {**variables, **named}, operation, writes=False)
    if response.data.get("errors") and not _is_not_found(response):
        # Nothing may be taken for missing that only could not be read
        raise host.refusal_error(operation, response)
    return response


def _types(commit: dict[str, Any], paths: Sequence[str]) -> dict[str, str]:
    entries = {path: commit[f"p{index}"] for index, path in enumerate(paths)}
    return {path: entry["type"] for path, entry in entries.items() if entry}


def _is_not_found(response: Response) -> bool:
    errors = response.data.get("errors") or []
    return bool(errors) and all(
        isinstance(e, dict) and e.get("type") == "NOT_FOUND" and e.get("path") == ["repository"]
        for e in errors
    )


def _branch_state(
    ref: dict[str, Any] | None, name: str, repository: Repository
) -> BranchState | None:
    if ref is None:
        return None
    nodes = ref["associatedPullRequests"]["nodes"]
    pulls = [_pull_request(node) for node in nodes if node]
    ours = tuple(pull for pull in pulls if pull.head_repository == repository.full_name)
    return BranchState(name, ref["target"]["oid"], ours)


def _pull_request(node: dict[str, Any]) -> PullRequest:
    return PullRequest(
        number=node["number"],
        url=node["url"],
        body=node["body"],
        is_open=node["state"] == "OPEN",
        merged=node["state"] == "MERGED",
        head_sha=node["headRefOid"],
        head_repository=(node["headRepository"] or {}).get("nameWithOwner", ""),
        base_branch=node["baseRefName"],
    )


def _chunks(paths: Sequence[str]) -> Iterator[list[str]]:
    rest = iter(paths)
    while chunk := list(islice(rest, PATHS_PER_QUERY)):
        yield chunk


# --- Writing --------------------------------------------------------------------------------


def _commit_input(
    plan: Plan, branch: str, head: str, files: Sequence[FileDefinition], headline: str
) -> dict[str, Any]:
    """Input of ``createCommitOnBranch``; no author, so that the host signs the commit."""
    listed = "\n".join(f"- {escaping.for_commit(definition.path)}" for definition in files)
    return {
        "branch": {
            "repositoryNameWithOwner": plan.repository.full_name,
            "branchName": branch,
        },
        "expectedHeadOid": head,
        "message": {"headline": headline, "body": listed},
        "fileChanges": {
            "additions": [
                {"path": d.path, "contents": base64.b64encode(d.content).decode("ascii")}
                for d in files
            ]
        },
    }


def _committable(plan: Plan, branch: Branch) -> list[FileDefinition]:
    """What can go into one commit without replacing anything: nothing of a branch unknown."""
    if branch.is_new:
        return list(plan.missing)
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
    """Split into commits that the host takes."""
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


def _record(
    progress: Progress,
    files: Sequence[FileDefinition],
    state: State,
    *,
    commit: str = "",
    reason: Message | None = None,
) -> None:
    for number, definition in enumerate(files, start=1):
        created = state is State.CREATED
        result = FileResult(definition, state, reason, commit=commit, on_branch=created)
        progress.record_and_print(number, len(files), result)


def _part(response: Response, mutation: str, field: str, *needs: str) -> dict[str, Any] | None:
    """What one mutation gave; ``None`` when it was refused (each payload is nullable)."""
    found: Any = response.data.get("data")
    for name in (mutation, field):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) and found.keys() >= set(needs) else None
