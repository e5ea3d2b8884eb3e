"""The requests to GitHub's GraphQL API: reading everything, or writing everything, at once."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Unpack

from registrar.errors import Refused
from registrar.failure import Failure, Kind
from registrar.github import parse_graphql, queries
from registrar.github.classify import failure_beside_data
from registrar.github.errors import GitHubError
from registrar.github.fields import Fields
from registrar.github.request import GRAPHQL, Model, Request, RequestOptions
from registrar.github.response import GraphQLError, Response
from registrar.github.rest import RestClient, none_if_missing
from registrar.github.session import branch_key, pull_request_key
from registrar.models.plan import Created, NewCommit, NewPullRequest
from registrar.models.repository import (
    BranchState,
    OwnerFiles,
    Repository,
    RepositoryState,
)
from registrar.texts.messages import Message, msg

PATHS_PER_QUERY = 100
"""A query with 227 aliases was refused, one with 120 passed (hermes-ecosystem#825)."""
UNREADABLE = frozenset({"FORBIDDEN", "NOT_FOUND", "INSUFFICIENT_SCOPES"})
"""Types of the errors about what the token may not read; any other is about this one answer."""
_MAY_PUSH = frozenset({"WRITE", "MAINTAIN", "ADMIN"})


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
                    found = parse_graphql.AtPaths(state.entries, state.directories)
                else:
                    found = self._paths(state.repository, state.base_sha, chunk)
            except GitHubError as error:
                if error.kind is not Kind.PARTIAL or len(chunk) <= 1:
                    raise
                # GitHub gave up on a part of it, which says nothing about what exists
                size = len(chunk) // 2
            else:
                rest = rest[len(chunk) :]
                entries |= found.entries
                directories |= found.directories
        return state._replace(entries=entries, directories=directories)

    def read_owner(self, owner: str, directories: Sequence[str]) -> OwnerFiles | None:
        """Read directories of the owner's repository ``.github``; ``None``: nothing is inherited.

        Nothing is inherited from a private one
        (https://docs.github.com/en/communities/setting-up-your-project-for-healthy-contributions).
        """
        paths = [f"{directory}/" for directory in directories]
        operation = msg("operation.repository", target=f"{owner}/.github")
        variables = {"owner": owner, **queries.path_variables(paths)}
        return none_if_missing(
            lambda: self._graphql(
                queries.owner(paths),
                variables,
                operation,
                lambda response: parse_graphql.owner_files(response, paths),
            )
        )

    def create_everything(
        self, repository: Repository, commit: NewCommit, pull_request: NewPullRequest
    ) -> Created:
        """Create a branch, a commit on it and its pull request, in one request.

        GitHub does each of the three whether or not those before it were refused. So the request
        is not sent again when it may have been applied.

        Raises:
            GitHubError: no usable response.
        """
        created = self._graphql(
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
            lambda response: parse_graphql.created(response, pull_request.body),
            writes=True,
            idempotent=False,
        )
        if created.branch or created.commit:
            self._session.note_made(branch_key(commit.branch))
        if created.pull_request:
            self._session.note_made(pull_request_key(created.pull_request.number))
        return created

    def create_commit(self, repository: Repository, commit: NewCommit) -> str:
        """Create a commit on a branch and give its id.

        No author is sent, so that GitHub signs the commit where it can.

        Raises:
            GitHubError: also when the branch is no longer at ``commit.parent``.
        """
        branch = branch_key(commit.branch)
        return self._graphql(
            queries.CREATE_COMMIT,
            {"commit": _commit_input(repository, commit)},
            msg("operation.commit", branch=commit.branch),
            parse_graphql.commit_id,
            writes=True,
            needs=(branch,),
            makes=(branch,),
        )

    def _repository(self, target: str, branch: str, paths: Sequence[str]) -> RepositoryState:
        owner, _, name = target.partition("/")
        variables = {
            "owner": owner,
            "name": name,
            "branch": f"refs/heads/{branch}",
            "head": branch,
            **queries.path_variables(paths),
        }
        try:
            state = self._graphql(
                queries.repository(paths),
                variables,
                msg("operation.repository", target=target),
                lambda response: self._state_of(response, branch, paths),
                tolerates=is_about_pull_requests,
            )
        except GitHubError as error:
            if error.kind is Kind.NOT_FOUND:
                raise self.not_found_error(target) from error
            raise
        if state.branch:
            self._session.note_made(branch_key(branch))
        # As with REST: one of them may be new
        pulls = state.pull_requests or ()
        self._session.note_made(*(pull_request_key(each.number) for each in pulls))
        return state

    def _state_of(self, response: Response, branch: str, paths: Sequence[str]) -> RepositoryState:
        data = Fields(response.data).object("data")
        pulls = data.object_or_null("pulls") or self._pull_requests_error(response)
        return self._state(data.object("repository"), pulls, branch, paths)

    def _state(
        self, found: Fields, beside: Fields | Failure, branch: str, paths: Sequence[str]
    ) -> RepositoryState:
        """Read a repository; ``beside`` has its pull requests, or says why there are none."""
        full_name = found.repository("nameWithOwner")
        if found.flag("isEmpty"):
            raise Refused(msg("preflight.empty", target=full_name))
        default = found.object_or_none("defaultBranchRef")
        if default is None:
            # GraphQL does not name the default branch of an empty repository
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
        at_paths = parse_graphql.at_paths(commit, paths)
        if isinstance(beside, Fields):
            pulls, error = parse_graphql.pull_requests(beside, repository), None
        else:
            pulls, error = (), beside
        ref = found.object_or_none("ref")
        head = ref.object("target").text("oid") if ref else ""
        return RepositoryState(
            repository,
            commit.text("oid"),
            at_paths.entries,
            BranchState(branch, head, pulls) if ref else None,
            pull_requests=pulls,
            directories=at_paths.directories,
            pull_requests_error=error,
        )

    def _paths(
        self, repository: Repository, commit: str, paths: Sequence[str]
    ) -> parse_graphql.AtPaths:
        operation = msg("operation.repository", target=repository.full_name)
        owner, _, name = repository.full_name.partition("/")
        variables = {"owner": owner, "name": name, "oid": commit, **queries.path_variables(paths)}
        return self._graphql(
            queries.more_paths(paths),
            variables,
            operation,
            lambda response: parse_graphql.at_paths(parse_graphql.commit_of(response), paths),
        )

    def _pull_requests_error(self, response: Response) -> Failure:
        operation = msg("operation.pull_requests_unread")
        return failure_beside_data(response, self._context, operation)

    def _graphql(
        self,
        query: str,
        variables: Mapping[str, object],
        operation: Message,
        read: Callable[[Response], Model],
        **more: Unpack[RequestOptions],
    ) -> Model:
        """Send a request and give what ``read`` makes of its answer.

        ``read`` is not called for an answer that was refused, nor for one to a query with an error
        that it does not tolerate: what could not be read must not be taken for missing.
        """
        more["body"] = {"query": query, "variables": dict(variables)}
        return self._session.request(Request("POST", GRAPHQL, operation, read, **more))


def _commit_input(repository: Repository, commit: NewCommit) -> dict[str, object]:
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


def is_about_pull_requests(error: GraphQLError) -> bool:
    """Whether the error is that the token may not read the pull requests."""
    return error.path[:1] == ("pulls",) and error.type in UNREADABLE
