"""What a run asks of GitHub's GraphQL API: everything it has to know, or to do, at once."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from registrar.errors import Refused
from registrar.github import parse, queries
from registrar.github.errors import GitHubError, Kind
from registrar.github.fields import Fields, UnusableAnswer
from registrar.github.response import OK, Response
from registrar.github.rest import RestClient
from registrar.github.transport import GRAPHQL
from registrar.models import (
    BranchState,
    Created,
    Directories,
    NewCommit,
    NewPullRequest,
    OwnerFiles,
    PullRequest,
    Repository,
    RepositoryState,
)
from registrar.texts.messages import Message, msg

PATHS_PER_QUERY = 100
"""A query with 227 aliases was refused, one with 120 passed (hermes-ecosystem#825)."""
_MAY_PUSH = frozenset({"WRITE", "MAINTAIN", "ADMIN"})


class Found(NamedTuple):
    """What stands at some paths of a commit."""

    entries: Mapping[str, str]
    """Types, as in `RepositoryState`."""
    directories: Directories


class GraphQLClient(RestClient):
    """The calls of the GraphQL API, beside those of REST."""

    def inspect(self, target: str, branch: str, paths: Sequence[str]) -> RepositoryState:
        """Read a repository, its branch ``branch`` and pull requests, and what is at ``paths``.

        Everything is read at one commit of the default branch. ``target`` is ``owner/repo``; a
        path that ends with a slash is a directory whose entries are read, too.

        Raises:
            Refused: there is no such repository that the token may see, or it is empty.
            GitHubError: no usable response.
        """
        state: RepositoryState | None = None
        entries: dict[str, str] = {}
        directories: dict[str, Sequence[str]] = {}
        rest, size = list(paths), PATHS_PER_QUERY
        while rest or state is None:
            chunk = rest[:size]
            try:
                if state is None:
                    state = self._repository(target, branch, chunk)
                    found = Found(state.entries, state.directories)
                else:
                    found = self._paths(state.repository, state.base_sha, chunk)
            except GitHubError as error:
                if error.kind is not Kind.PARTIAL or len(chunk) <= 1:
                    raise
                # GitHub gave up on a part of it: that says nothing about what exists
                size = len(chunk) // 2
            else:
                rest = rest[len(chunk) :]
                entries |= found.entries
                directories |= found.directories
        return replace(state, entries=entries, directories=directories)

    def read_owner(self, owner: str, directories: Sequence[str]) -> OwnerFiles | None:
        """Read directories of the owner's repository ``.github``; ``None``: nothing is inherited.

        Nothing is inherited from a private one
        (https://docs.github.com/en/communities/setting-up-your-project-for-healthy-contributions).
        """
        paths = [f"{directory}/" for directory in directories]
        operation = msg("operation.repository", target=f"{owner}/.github")
        variables = {"owner": owner, **queries.path_variables(paths)}
        response = self._graphql(queries.owner(paths), variables, operation)
        errors = _errors(response)
        if errors and all(_is_not_found(error) for error in errors):
            return None
        if errors:
            raise self._connection.refusal_error(operation, response)
        try:
            found = Fields(response.data).object("data").object("repository")
            default = found.object_or_none("defaultBranchRef")
            visibility = found.text("visibility")
            if default is None or visibility == "PRIVATE":
                return None
            listed = _found(default.object("target"), paths)
        except UnusableAnswer as error:
            raise _unusable_error(operation) from error
        return OwnerFiles(listed.directories, is_public=visibility == "PUBLIC")

    def create_everything(
        self, repository: Repository, commit: NewCommit, pull_request: NewPullRequest
    ) -> Created:
        """Create a branch, a commit on it and its pull request, in one request.

        GitHub does each of the three whether or not those before it were refused. So the request
        is not sent again when it may have been applied.

        Raises:
            GitHubError: no usable response.
        """
        response = self._graphql(
            queries.CREATE_EVERYTHING,
            {
                "ref": {
                    "repositoryId": repository.node_id,
                    "name": f"refs/heads/{commit.branch}",
                    "oid": commit.parent,
                },
                "commit": _commit_input(repository, commit),
                "pull": {
                    "repositoryId": repository.node_id,
                    "baseRefName": repository.default_branch,
                    "headRefName": pull_request.branch,
                    "title": pull_request.title,
                    "body": pull_request.body,
                    "draft": pull_request.draft,
                },
            },
            msg("operation.all_at_once", branch=commit.branch),
            writes=True,
            idempotent=False,
        )
        made = _part(response, "createCommitOnBranch", "commit")
        pull = _part(response, "createPullRequest", "pullRequest")
        try:
            return Created(
                branch=_part(response, "createRef", "ref") is not None,
                commit=made.text("oid") if made else "",
                pull_request=PullRequest(pull.number("number"), pull.url("url"), pull_request.body)
                if pull
                else None,
            )
        except UnusableAnswer as error:
            operation = msg("operation.all_at_once", branch=commit.branch)
            raise _unusable_error(operation, may_have_been_applied=True) from error

    def create_commit(self, repository: Repository, commit: NewCommit) -> str:
        """Create a commit on a branch and give its id.

        No author is sent, so that GitHub signs the commit where it can.

        Raises:
            GitHubError: also when the branch is no longer at ``commit.parent``.
        """
        operation = msg("operation.commit", branch=commit.branch)
        response = self._graphql(
            queries.CREATE_COMMIT,
            {"commit": _commit_input(repository, commit)},
            operation,
            writes=True,
        )
        made = _part(response, "createCommitOnBranch", "commit")
        if made is None:
            raise self._connection.refusal_error(
                operation, response, may_have_been_applied=response.may_have_been_applied
            )
        try:
            return made.text("oid")
        except UnusableAnswer as error:
            raise _unusable_error(operation, may_have_been_applied=True) from error

    def _repository(self, target: str, branch: str, paths: Sequence[str]) -> RepositoryState:
        owner, _, name = target.partition("/")
        operation = msg("operation.repository", target=target)
        response = self._graphql(
            queries.repository(paths),
            {
                "owner": owner,
                "name": name,
                "branch": f"refs/heads/{branch}",
                "head": branch,
                **queries.path_variables(paths),
            },
            operation,
        )
        errors = _errors(response)
        if errors and all(_is_not_found(error) for error in errors):
            raise self.not_found_error(target)
        if any(not _is_about_pull_requests(error) for error in errors):
            raise self._connection.refusal_error(operation, response)
        try:
            return self._state(Fields(response.data).object("data"), branch, paths, response)
        except UnusableAnswer as error:
            raise _unusable_error(operation) from error

    def _state(
        self, data: Fields, branch: str, paths: Sequence[str], response: Response
    ) -> RepositoryState:
        found, beside = data.object("repository"), data.object_or_null("pulls")
        full_name = found.text("nameWithOwner")
        if found.flag("isEmpty"):
            raise Refused(msg("preflight.empty", target=full_name))
        default = found.object_or_none("defaultBranchRef")
        if default is None:
            # GraphQL does not say what it would be called
            gone = self.repository(full_name).default_branch
            raise Refused(msg("preflight.no_default_branch", target=full_name, branch=gone))
        may_push = None
        if "viewerPermission" in found:
            may_push = found.text("viewerPermission") in _MAY_PUSH
        repository = Repository(
            full_name=full_name,
            default_branch=default.text("name"),
            html_url=found.url("url"),
            archived=found.flag("isArchived"),
            can_push=self.user_may_push(says=may_push),
            is_fork=found.flag("isFork"),
            node_id=found.text("id"),
        )
        commit = default.object("target")
        at_paths = _found(commit, paths)
        pulls = _pull_requests(beside, repository) if beside else ()
        ref = found.object_or_none("ref")
        head = ref.object("target").text("oid") if ref else ""
        return RepositoryState(
            repository,
            commit.text("oid"),
            at_paths.entries,
            BranchState(branch, head, pulls) if ref else None,
            pull_requests=pulls,
            directories=at_paths.directories,
            unreadable=self._reason(response) if _errors(response) else None,
        )

    def _paths(self, repository: Repository, commit: str, paths: Sequence[str]) -> Found:
        operation = msg("operation.repository", target=repository.full_name)
        owner, _, name = repository.full_name.partition("/")
        variables = {"owner": owner, "name": name, "oid": commit, **queries.path_variables(paths)}
        response = self._graphql(queries.more_paths(paths), variables, operation)
        if _errors(response):
            # What could not be read must not be taken for missing
            raise self._connection.refusal_error(operation, response)
        try:
            data = Fields(response.data).object("data")
            return _found(data.object("repository").object("object"), paths)
        except UnusableAnswer as error:
            raise _unusable_error(operation) from error

    def _reason(self, response: Response) -> Message:
        operation = msg("operation.pull_requests_unread")
        return self._connection.refusal_error(operation, response).message

    def _graphql(
        self,
        query: str,
        variables: Mapping[str, Any],
        operation: Message,
        *,
        writes: bool = False,
        idempotent: bool = True,
    ) -> Response:
        """Send a request; the response may hold errors beside, or in place of, data."""
        return self._connection.request(
            "POST",
            GRAPHQL,
            operation,
            _is_graphql,
            body={"query": query, "variables": dict(variables)},
            writes=writes,
            idempotent=idempotent,
        )


def _is_graphql(response: Response) -> bool:
    if not isinstance(response.data, dict):
        return False
    data, errors = response.data.get("data"), response.data.get("errors")
    return isinstance(data, dict) or (data is None and isinstance(errors, list))


def _errors(response: Response) -> list[Mapping[str, Any]]:
    errors = response.data.get("errors") or []
    return [error if isinstance(error, dict) else {} for error in errors]


def _is_not_found(error: Mapping[str, Any]) -> bool:
    """Whether a repository is missing: it is asked for by one field or two."""
    path = error.get("path")
    return error.get("type") == "NOT_FOUND" and isinstance(path, list) and len(path) == 1


def _is_about_pull_requests(error: Mapping[str, Any]) -> bool:
    """Whether it is the pull requests that could not be read."""
    path = error.get("path")
    return isinstance(path, list) and path[:1] == ["pulls"]


def _unusable_error(operation: Message, *, may_have_been_applied: bool = False) -> GitHubError:
    reason = msg("fault.unusable", status=OK)
    return GitHubError(
        msg("host.failed", operation=operation, reason=reason),
        Kind.UNUSABLE,
        may_have_been_applied=may_have_been_applied,
    )


def _found(commit: Fields, paths: Sequence[str]) -> Found:
    """What stands at ``paths``; each was asked for, so each is answered."""
    entries: dict[str, str] = {}
    directories: dict[str, Sequence[str]] = {}
    for index, path in enumerate(paths):
        entry = commit.object_or_null(f"p{index}")
        name = path.rstrip("/")
        if entry is None:
            continue
        tree = entry if path == queries.ROOT else entry.object_or_none("object")
        if path != queries.ROOT:
            entries[name] = entry.text("type")
        if path.endswith("/") and tree and "entries" in tree:
            directories[name] = tuple(
                f"{each.text('name')}/" if each.text("type") == "tree" else each.text("name")
                for each in tree.objects("entries")
            )
    return Found(entries, directories)


def _pull_requests(found: Fields, repository: Repository) -> tuple[PullRequest, ...]:
    """Only those of the repository itself: a fork's branch may have the same name."""
    nodes = found.object("pullRequests").nodes("nodes")
    pulls = [parse.pull_request_node(node) for node in nodes]
    return tuple(pull for pull in pulls if pull.head_repository == repository.full_name)


def _commit_input(repository: Repository, commit: NewCommit) -> dict[str, Any]:
    additions = [
        {"path": file.path, "contents": base64.b64encode(file.content).decode("ascii")}
        for file in commit.files
    ]
    return {
        "branch": {
            "repositoryNameWithOwner": repository.full_name,
            "branchName": commit.branch,
        },
        "expectedHeadOid": commit.parent,
        "message": {"headline": commit.headline, "body": commit.body},
        "fileChanges": {"additions": additions},
    }


def _part(response: Response, mutation: str, field: str) -> Fields | None:
    """What one mutation made; ``None`` when it was refused: then its payload is null."""
    found: Any = response.data.get("data")
    for name in (mutation, field):
        found = found.get(name) if isinstance(found, dict) else None
    return Fields(found, f"$.data.{mutation}.{field}") if isinstance(found, dict) else None
