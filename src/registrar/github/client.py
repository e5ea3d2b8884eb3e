"""The calls of GitHub's API that a run needs: our models in, our models out."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from registrar.errors import Refused
from registrar.github.errors import GitHubError, Kind
from registrar.github.explain import Context, TokenKind
from registrar.github.response import Response
from registrar.github.retry import Waiting
from registrar.github.transport import GRAPHQL, Connection
from registrar.models import BranchState, Comparison, PullRequest, Repository, Tree, TreeEntry
from registrar.texts.messages import Message, msg

COMPARED_FILES = 300
"""The host lists no more files of a comparison (OpenAPI description of ``GET compare``)."""


class Host:
    """What a run asks of GitHub. May be used from several threads."""

    def __init__(
        self, *, token: str, api_url: str, target: str, workflow_repository: str, waiting: Waiting
    ) -> None:
        """Nothing is sent before the first call."""
        self._context = Context(target, TokenKind.of(token), workflow_repository)
        self._connection = Connection(
            token=token, api_url=api_url, context=self._context, waiting=waiting
        )
        self.waiting = waiting

    @property
    def scopes(self) -> frozenset[str] | None:
        """Scopes of a classic token; ``None`` where the host names none."""
        return self._connection.scopes

    # --- Reads ----------------------------------------------------------------------------

    def check_token(self) -> None:
        """Learn whether the token is accepted, and the budget, without spending any of it.

        Raises:
            GitHubError: the token was rejected, or no usable response came.
        """
        operation = msg("operation.token")
        try:
            response = self._connection.request(
                "GET", "/rate_limit", operation, _has_object("resources")
            )
        except GitHubError as error:
            if error.kind in {Kind.NOT_FOUND, Kind.NO_LIMITS}:
                # An Enterprise Server without rate limits: the token was accepted
                return
            raise
        core = response.data["resources"].get("core") or response.data.get("rate") or {}
        self.waiting.note_budget(
            {f"x-ratelimit-{name}": str(core.get(name)) for name in ("remaining", "reset")}
        )

    def repository(self, full_name: str) -> Repository:
        """Read a repository; a renamed one answers under its new name.

        Raises:
            Refused: there is none that the token may see.
            GitHubError: no usable response.
        """
        operation = msg("operation.repository", target=full_name)
        try:
            response = self._connection.request(
                "GET",
                f"/repos/{full_name}",
                operation,
                lambda a: a.holds("full_name", "default_branch", "html_url"),
            )
        except GitHubError as error:
            if error.kind is Kind.NOT_FOUND:
                raise self.not_found_error(full_name) from error
            raise
        data = response.data
        permissions = data.get("permissions")
        push = permissions.get("push") if isinstance(permissions, dict) else None
        return Repository(
            full_name=str(data["full_name"]),
            default_branch=str(data["default_branch"]),
            html_url=str(data["html_url"]),
            archived=data.get("archived") is True,
            can_push=self.user_may_push(push),
        )

    def not_found_error(self, full_name: str) -> Refused:
        """Give the error for a repository that is not there, or not visible to the token."""
        key = "preflight.own_token" if self._context.is_foreign else "preflight.not_found"
        return Refused(msg(key, target=full_name, own=self._context.workflow_repository))

    def user_may_push(self, told: object) -> bool | None:
        """Take what the host tells of the user's role for what it is worth.

        An App's token, and a workflow's own, authenticate no user: the host then says "no",
        whatever was granted (docs/github-behaviour.md, "Tokens and permissions").
        """
        is_user = self._context.token_kind is not TokenKind.INSTALLATION
        return told if is_user and isinstance(told, bool) else None

    def branch_head(self, repository: Repository, branch: str) -> str | None:
        """Commit id of a branch; ``None`` when there is no such branch.

        Raises:
            GitHubError: no usable response, or an empty repository.
        """
        try:
            response = self._connection.request(
                "GET",
                f"/repos/{repository.full_name}/git/ref/heads/{quote(branch)}",
                msg("operation.reference", branch=branch),
                lambda a: a.holds("ref", "object") and _is_text(a.data["object"], "sha"),
            )
        except GitHubError as error:
            if error.kind is Kind.NOT_FOUND:
                return None
            raise
        return str(response.data["object"]["sha"])

    def entry(self, repository: Repository, path: str, ref: str) -> str | None:
        """Object id of what stands at ``path`` of ``ref``; ``None`` when nothing does.

        A directory has the id ``""`` (the host lists its content instead).

        Raises:
            GitHubError: no usable response.
        """
        try:
            response = self._connection.request(
                "GET",
                f"/repos/{repository.full_name}/contents/{quote(path)}?ref={quote(ref, safe='')}",
                msg("operation.existence", path=path),
                lambda a: a.describes_entry,
            )
        except GitHubError as error:
            if error.kind is Kind.NOT_FOUND:
                return None
            raise
        return "" if isinstance(response.data, list) else str(response.data["sha"])

    def tree(self, repository: Repository, commit: str) -> Tree | None:
        """Every path of a commit; ``None`` when the host cuts the list."""
        response = self._connection.request(
            "GET",
            f"/repos/{repository.full_name}/git/trees/{commit}?recursive=1",
            msg("operation.tree", commit=commit),
            lambda a: a.holds("sha", "tree") and isinstance(a.data["tree"], list),
        )
        if response.data.get("truncated"):
            return None
        return {
            str(item["path"]): TreeEntry(str(item["mode"]), str(item.get("sha") or ""))
            for item in response.data["tree"]
            if item["type"] != "tree"
        }

    def compare(self, repository: Repository, base: str, head: str) -> Comparison:
        """Compare two commits from their best common ancestor on."""
        response = self._connection.request(
            "GET",
            f"/repos/{repository.full_name}/compare/{base}...{head}?per_page=1",
            msg("operation.compare", base=base, head=head),
            lambda a: a.holds("merge_base_commit") and _is_text(a.data["merge_base_commit"], "sha"),
        )
        files = response.data.get("files") or []
        complete = len(files) < COMPARED_FILES and all(f.get("status") == "added" for f in files)
        return Comparison(
            str(response.data["merge_base_commit"]["sha"]),
            {str(f["filename"]): str(f["sha"]) for f in files} if complete else None,
        )

    def branch_state(self, repository: Repository, branch: str) -> BranchState | None:
        """Read a branch and its pull requests; ``None`` when there is no such branch."""
        head = self.branch_head(repository, branch)
        if head is None:
            return None
        return BranchState(branch, head, tuple(self.pull_requests(repository, branch)))

    def pull_requests(self, repository: Repository, branch: str) -> list[PullRequest]:
        """Pull requests from ``branch`` of this very repository, the newest first.

        ``head=owner:branch`` also finds a fork's branch when the fork has the same owner, so
        the head repository is compared by name.
        """
        head = quote(f"{repository.owner}:{branch}", safe="")
        response = self._connection.request(
            "GET",
            f"/repos/{repository.full_name}/pulls?state=all&head={head}&per_page=100",
            msg("operation.pull_requests", branch=branch),
            lambda a: isinstance(a.data, list) and all(map(_is_pull_request, a.data)),
        )
        found = [_pull_request(item) for item in response.data]
        return [pull for pull in found if pull.head_repository == repository.full_name]

    def pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Read one pull request."""
        response = self._connection.request(
            "GET",
            f"/repos/{repository.full_name}/pulls/{number}",
            msg("operation.pull_requests", branch=f"#{number}"),
            lambda a: _is_pull_request(a.data),
        )
        return _pull_request(response.data)

    # --- Writes ---------------------------------------------------------------------------

    def create_branch(self, repository: Repository, branch: str, sha: str) -> None:
        """Create a branch at a commit.

        Raises:
            GitHubError: also when the branch exists (`GitHubError.already_exists`).
        """
        self._connection.request(
            "POST",
            f"/repos/{repository.full_name}/git/refs",
            msg("operation.branch", branch=branch),
            lambda a: a.holds("ref", "object"),
            body={"ref": f"refs/heads/{branch}", "sha": sha},
        )

    def create_file(
        self, repository: Repository, path: str, *, branch: str, content: bytes, message: str
    ) -> str:
        """Create a file and give the id of its commit.

        No ``sha`` is ever sent, so the host itself refuses to overwrite. No author is sent, so
        the host signs the commit where it can.

        Raises:
            GitHubError: also when the path exists (`GitHubError.already_exists`).
        """
        response = self._connection.request(
            "PUT",
            f"/repos/{repository.full_name}/contents/{quote(path)}",
            msg("operation.file", path=path),
            lambda a: a.holds("content", "commit") and _is_text(a.data["commit"], "sha"),
            body={
                "message": message,
                "content": base64.b64encode(content).decode("ascii"),
                "branch": branch,
            },
            path=path,
        )
        return str(response.data["commit"]["sha"])

    def create_pull_request(
        self, repository: Repository, *, branch: str, title: str, body: str, draft: bool = False
    ) -> PullRequest:
        """Open a pull request to the default branch.

        Raises:
            GitHubError: also when one is open already (`GitHubError.already_exists`).
        """
        response = self._connection.request(
            "POST",
            f"/repos/{repository.full_name}/pulls",
            msg("operation.pull_request", branch=branch),
            lambda a: _is_pull_request(a.data),
            body={
                "title": title,
                "head": branch,
                "base": repository.default_branch,
                "body": body,
                **({"draft": True} if draft else {}),
            },
        )
        return _pull_request(response.data)

    def add_labels(self, repository: Repository, number: int, labels: Sequence[str]) -> None:
        """Label a pull request; the host creates labels that are missing."""
        self._connection.request(
            "POST",
            f"/repos/{repository.full_name}/issues/{number}/labels",
            msg("operation.labels", names=tuple(labels)),
            lambda a: isinstance(a.data, list),
            body={"labels": list(labels)},
        )

    def add_assignees(
        self, repository: Repository, number: int, assignees: Sequence[str]
    ) -> frozenset[str]:
        """Assign people and give the logins (in lower case) that the host took.

        It drops those who cannot be assigned without a word
        (https://github.com/pozil/auto-assign-issue/issues/148).
        """
        response = self._connection.request(
            "POST",
            f"/repos/{repository.full_name}/issues/{number}/assignees",
            msg("operation.assignees", names=tuple(assignees)),
            lambda a: a.holds("number", "assignees"),
            body={"assignees": list(assignees)},
        )
        return _logins(response.data["assignees"])

    def request_reviewers(
        self,
        repository: Repository,
        number: int,
        reviewers: Sequence[str],
        team_reviewers: Sequence[str],
    ) -> None:
        """Ask people and teams for a review; one whom the host refuses refuses all."""
        self._connection.request(
            "POST",
            f"/repos/{repository.full_name}/pulls/{number}/requested_reviewers",
            msg("operation.reviewers", names=(*reviewers, *team_reviewers)),
            lambda a: a.holds("number"),
            body={"reviewers": list(reviewers), "team_reviewers": list(team_reviewers)},
        )

    def graphql(
        self,
        query: str,
        variables: Mapping[str, Any],
        operation: Message,
        *,
        writes: bool,
        idempotent: bool = True,
    ) -> Response:
        """Send a GraphQL request; the response may hold errors beside, or in place of, data.

        One that is not ``idempotent`` is not sent again when it may have been applied.

        Raises:
            GitHubError: no usable response.
        """
        return self._connection.request(
            "POST",
            GRAPHQL,
            operation,
            _is_graphql,
            body={"query": query, "variables": dict(variables)},
            writes=writes,
            idempotent=idempotent,
        )

    def refusal_error(self, operation: Message, response: Response) -> GitHubError:
        """Give the error for an response whose GraphQL errors say that nothing was done."""
        return self._connection.refusal_error(operation, response)

    def close_pull_request(
        self, repository: Repository, pull_request: PullRequest, *, body: str
    ) -> None:
        """Close a pull request and say why in its body."""
        self._connection.request(
            "PATCH",
            f"/repos/{repository.full_name}/pulls/{pull_request.number}",
            msg("operation.pull_request_update", number=pull_request.number),
            lambda a: _is_pull_request(a.data),
            body={"state": "closed", "body": body},
        )

    def update_pull_request(
        self, repository: Repository, pull_request: PullRequest, *, body: str
    ) -> PullRequest:
        """Replace the body of a pull request."""
        response = self._connection.request(
            "PATCH",
            f"/repos/{repository.full_name}/pulls/{pull_request.number}",
            msg("operation.pull_request_update", number=pull_request.number),
            lambda a: _is_pull_request(a.data),
            body={"body": body},
        )
        return _pull_request(response.data)


def _is_graphql(response: Response) -> bool:
    if not isinstance(response.data, dict):
        return False
    data, errors = response.data.get("data"), response.data.get("errors")
    return isinstance(data, dict) or (data is None and isinstance(errors, list))


def _has_object(field: str) -> Callable[[Response], bool]:
    return lambda response: response.holds(field) and isinstance(response.data[field], dict)


def _is_text(data: Any, field: str) -> bool:
    return isinstance(data, dict) and isinstance(data.get(field), str)


def _is_pull_request(data: Any) -> bool:
    return (
        isinstance(data, dict)
        and isinstance(data.get("number"), int)
        and all(_is_text(data, field) for field in ("html_url", "state"))
        and all(isinstance(data.get(field), dict) for field in ("head", "base"))
    )


def _pull_request(data: dict[str, Any]) -> PullRequest:
    head, base = data["head"], data["base"]
    return PullRequest(
        number=data["number"],
        url=data["html_url"],
        body=data.get("body") or "",
        is_open=data["state"] == "open",
        merged=bool(data.get("merged_at")),
        head_sha=head.get("sha") or "",
        head_repository=(head.get("repo") or {}).get("full_name") or "",
        base_branch=base.get("ref") or "",
        labels=frozenset(str(label.get("name")).lower() for label in data.get("labels") or []),
        assignees=_logins(data.get("assignees") or []),
    )


def _logins(people: list[dict[str, Any]]) -> frozenset[str]:
    return frozenset(str(person.get("login")).lower() for person in people)
