"""The host, as far as we need it. The only importer of PyGithub.

PyGithub's objects complete themselves lazily, follow what they should not, and take a proxy's
page for a file (host facts, PyGithub). So its requester is used by itself: one door, through
which every request goes out and comes back as an `Answer` that has been looked at.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import requests
from github import Auth, Github

from registrar import __version__, answers, refusals
from registrar.answers import Answer
from registrar.errors import EXIT_FAILED, EXIT_REFUSED, Cancelled, Refused, RegistrarError
from registrar.escaping import Redactor
from registrar.messages import Message, say
from registrar.models import PullRequest, Repository, Tree, TreeEntry
from registrar.refusals import Context, TokenKind
from registrar.waiting import Fault, Waiting, fault_of

TIMEOUT_SECONDS = 15
"""The host itself gives up after 10 s (docs: "Troubleshooting the REST API")."""
API_VERSION = "2022-11-28"
_ALREADY_THERE = (
    "Reference already exists",
    '"sha" wasn\'t supplied',
    "A pull request already exists",
)
_REFUSALS = frozenset(
    {answers.UNAUTHORIZED, answers.FORBIDDEN, answers.CONFLICT, answers.UNPROCESSABLE}
)


class HostError(RegistrarError):
    """The host refused a request, or never answered it usably."""

    def __init__(
        self,
        message: Message,
        answer: Answer | None = None,
        *,
        uncertain: bool = False,
        exit_code: int = EXIT_FAILED,
    ) -> None:
        """Keep what is known of the request.

        ``answer`` is the refusal, if there is one; ``uncertain``: an earlier try may have been
        applied.
        """
        super().__init__(message)
        self.answer = answer
        self.uncertain = uncertain
        self.exit_code = exit_code

    @property
    def status(self) -> int:
        """HTTP status of the refusal, 0 without one."""
        return self.answer.status if self.answer else 0

    @property
    def already_there(self) -> bool:
        """Whether the host says that what was to be created exists."""
        words = self.answer.message if self.answer else ""
        return self.status == answers.UNPROCESSABLE and any(s in words for s in _ALREADY_THERE)


class Host:
    """The REST calls of the contract, in our own words. May be used from several threads."""

    def __init__(
        self,
        *,
        token: str,
        api_url: str,
        target: str,
        workflow_repository: str,
        waiting: Waiting,
    ) -> None:
        """Nothing is sent before the first call."""
        self._token = token
        self._api_url = api_url
        self.waiting = waiting
        self._redact = Redactor(token)
        self._connections = threading.local()
        self._has_written = False
        self._context = Context(target, TokenKind.of(token), workflow_repository)
        self.scopes: frozenset[str] | None = None
        """Scopes of a classic token; ``None`` where the host names none."""

    # --- Reads ----------------------------------------------------------------------------

    def check_token(self) -> None:
        """Learn whether the token is accepted, and the budget, without spending any of it.

        Raises:
            HostError: the token was rejected, or no usable answer came.
        """
        doing = say("doing.token")
        try:
            answer = self._request("GET", "/rate_limit", doing, _has_object("resources"))
        except HostError as error:
            if error.status == answers.NOT_FOUND:
                # An Enterprise Server without rate limits: the token was accepted
                return
            raise
        core = answer.data["resources"].get("core") or answer.data.get("rate") or {}
        self.waiting.note_budget(
            {f"x-ratelimit-{name}": str(core.get(name)) for name in ("remaining", "reset")}
        )

    def repository(self, full_name: str) -> Repository:
        """Read a repository; a renamed one answers under its new name.

        Raises:
            Refused: there is none that the token may see.
            HostError: no usable answer.
        """
        doing = say("doing.repository", target=full_name)
        try:
            answer = self._request(
                "GET",
                f"/repos/{full_name}",
                doing,
                lambda a: a.holds("full_name", "default_branch", "html_url"),
            )
        except HostError as error:
            if error.answer and error.answer.says_not_found and not error.answer.asks_for_sso:
                key = "preflight.own_token" if self._context.is_foreign else "preflight.not_found"
                own = self._context.workflow_repository
                raise Refused(say(key, target=full_name, own=own)) from error
            raise
        data = answer.data
        permissions = data.get("permissions")
        push = permissions.get("push") if isinstance(permissions, dict) else None
        if self._context.token_kind is TokenKind.INSTALLATION:
            # It authenticates no user, so the host says "push: false" whatever was granted
            push = None
        return Repository(
            full_name=str(data["full_name"]),
            default_branch=str(data["default_branch"]),
            html_url=str(data["html_url"]),
            archived=data.get("archived") is True,
            can_push=push if isinstance(push, bool) else None,
        )

    def branch_head(self, repository: Repository, branch: str) -> str | None:
        """Commit id of a branch; ``None`` when there is no such branch.

        Raises:
            HostError: no usable answer, or an empty repository.
        """
        try:
            answer = self._request(
                "GET",
                f"/repos/{repository.full_name}/git/ref/heads/{quote(branch)}",
                say("doing.reference", branch=branch),
                lambda a: a.holds("ref", "object") and _is_text(a.data["object"], "sha"),
            )
        except HostError as error:
            if error.answer and error.answer.says_not_found:
                return None
            raise
        return str(answer.data["object"]["sha"])

    def entry(self, repository: Repository, path: str, ref: str) -> str | None:
        """Object id of what stands at ``path`` of ``ref``; ``None`` when nothing does.

        A directory has the id ``""`` (the host lists its content instead).

        Raises:
            HostError: no usable answer.
        """
        try:
            answer = self._request(
                "GET",
                f"/repos/{repository.full_name}/contents/{quote(path)}?ref={quote(ref, safe='')}",
                say("doing.existence", path=path),
                lambda a: a.describes_entry,
            )
        except HostError as error:
            if error.answer and error.answer.says_not_found:
                return None
            raise
        return "" if isinstance(answer.data, list) else str(answer.data["sha"])

    def tree(self, repository: Repository, commit: str) -> Tree | None:
        """Every path of a commit; ``None`` when the host cuts the list."""
        answer = self._request(
            "GET",
            f"/repos/{repository.full_name}/git/trees/{commit}?recursive=1",
            say("doing.tree", commit=commit),
            lambda a: a.holds("sha", "tree") and isinstance(a.data["tree"], list),
        )
        if answer.data.get("truncated"):
            return None
        return {
            str(item["path"]): TreeEntry(str(item["mode"]), str(item.get("sha") or ""))
            for item in answer.data["tree"]
            if item["type"] != "tree"
        }

    def merge_base(self, repository: Repository, base: str, head: str) -> str:
        """Commit id of the best common ancestor of two commits."""
        answer = self._request(
            "GET",
            f"/repos/{repository.full_name}/compare/{base}...{head}?per_page=1",
            say("doing.compare", base=base, head=head),
            lambda a: a.holds("merge_base_commit") and _is_text(a.data["merge_base_commit"], "sha"),
        )
        return str(answer.data["merge_base_commit"]["sha"])

    def pull_requests(self, repository: Repository, branch: str) -> list[PullRequest]:
        """Pull requests from ``branch`` of this very repository, the newest first.

        ``head=owner:branch`` also finds a fork's branch when the fork has the same owner, so
        the head repository is compared by name.
        """
        head = quote(f"{repository.owner}:{branch}", safe="")
        answer = self._request(
            "GET",
            f"/repos/{repository.full_name}/pulls?state=all&head={head}&per_page=100",
            say("doing.pull_requests", branch=branch),
            lambda a: isinstance(a.data, list) and all(map(_is_pull_request, a.data)),
        )
        found = [_pull_request(item) for item in answer.data]
        return [pull for pull in found if pull.head_repository == repository.full_name]

    # --- Writes ---------------------------------------------------------------------------

    def create_branch(self, repository: Repository, branch: str, sha: str) -> None:
        """Create a branch at a commit.

        Raises:
            HostError: also when the branch exists (`HostError.already_there`).
        """
        self._request(
            "POST",
            f"/repos/{repository.full_name}/git/refs",
            say("doing.branch", branch=branch),
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
            HostError: also when the path exists (`HostError.already_there`).
        """
        answer = self._request(
            "PUT",
            f"/repos/{repository.full_name}/contents/{quote(path)}",
            say("doing.file", path=path),
            lambda a: a.holds("content", "commit") and _is_text(a.data["commit"], "sha"),
            body={
                "message": message,
                "content": base64.b64encode(content).decode("ascii"),
                "branch": branch,
            },
            path=path,
        )
        return str(answer.data["commit"]["sha"])

    def create_pull_request(
        self, repository: Repository, *, branch: str, title: str, body: str
    ) -> PullRequest:
        """Open a pull request to the default branch.

        Raises:
            HostError: also when one is open already (`HostError.already_there`).
        """
        answer = self._request(
            "POST",
            f"/repos/{repository.full_name}/pulls",
            say("doing.pull_request", branch=branch),
            lambda a: _is_pull_request(a.data),
            body={
                "title": title,
                "head": branch,
                "base": repository.default_branch,
                "body": body,
            },
        )
        return _pull_request(answer.data)

    def update_pull_request(
        self, repository: Repository, pull_request: PullRequest, *, body: str
    ) -> PullRequest:
        """Replace the body of a pull request."""
        answer = self._request(
            "PATCH",
            f"/repos/{repository.full_name}/pulls/{pull_request.number}",
            say("doing.pull_request_update", number=pull_request.number),
            lambda a: _is_pull_request(a.data),
            body={"body": body},
        )
        return _pull_request(answer.data)

    # --- The one door ---------------------------------------------------------------------

    def _request(  # noqa: PLR0913 (each of them is part of one request)
        self,
        method: str,
        target: str,
        doing: Message,
        expected: Callable[[Answer], bool],
        *,
        body: dict[str, Any] | None = None,
        path: str = "",
    ) -> Answer:
        """Send a request until its answer is final.

        ``doing`` names the request for people; ``expected`` tells whether a success has the
        shape that it must have.

        Raises:
            HostError: the host refused, or gave no usable answer in all tries.
            OutOfTime: another try would have to wait for longer than we may.
            Cancelled: a signal arrived.
        """
        attempt, uncertain = 0, False
        while True:
            attempt += 1
            try:
                self.waiting.before_request(creates_content=method in {"POST", "PUT"})
                outcome = self._send(method, target, body)
            except Cancelled as cancelled:
                cancelled.unanswered = uncertain or cancelled.in_flight
                raise
            if isinstance(outcome, Answer):
                fault = self._fault(outcome, expected)
                if fault is None:
                    break
            else:
                fault = outcome
            uncertain |= not fault.never_applied
            if not self.waiting.after_fault(fault, attempt):
                message = say("host.failed", doing=doing, reason=fault.reason)
                raise HostError(message, uncertain=uncertain)

        if outcome.status < answers.REDIRECTS.start:
            self._has_written |= body is not None
            return outcome
        raise HostError(
            say("host.failed", doing=doing, reason=refusals.reason(outcome, self._context, path)),
            outcome,
            uncertain=uncertain,
            exit_code=EXIT_REFUSED
            if outcome.status in _REFUSALS and not self._has_written
            else EXIT_FAILED,
        )

    def _fault(self, answer: Answer, expected: Callable[[Answer], bool]) -> Fault | None:
        if fault := fault_of(answer):
            return fault
        if answer.status in answers.REDIRECTS:
            return None
        refused = answer.status >= answers.BAD_REQUEST
        if answer.holds("message") if refused else expected(answer):
            return None
        return Fault(say("fault.unusable", status=answer.status))

    def _send(self, method: str, target: str, body: dict[str, Any] | None) -> Answer | Fault:
        """Send once; whatever PyGithub and what is below it can raise ends here."""
        try:
            status, headers, text = self._connection().requester.requestJson(
                method, target, headers={"Accept": "application/vnd.github+json"}, input=body
            )
        except requests.exceptions.SSLError as error:
            raise HostError(say("host.tls", url=self._api_url, reason=str(error))) from error
        except requests.exceptions.Timeout:
            return Fault(say("fault.timeout", seconds=TIMEOUT_SECONDS))
        except requests.exceptions.RequestException as error:
            return Fault(say("fault.connection", reason=type(error).__name__))
        except RuntimeError as error:
            # PyGithub, on a redirect (301) to another host or in circles: followed by nobody
            raise HostError(
                say("host.redirected", reason=self._redact(str(error))), None
            ) from error
        except ValueError:
            return Fault(say("fault.unusable", status=0))  # a header that is no number
        answer = Answer.parse(status, headers, self._redact(text))
        self.waiting.note_budget(answer.headers)
        if scopes := answer.headers.get("x-oauth-scopes"):
            self.scopes = frozenset(scope.strip() for scope in scopes.split(","))
        return answer

    def _connection(self) -> Github:
        """One client, and so one connection, per thread: a requester is not safe to share.

        Its own retries and pauses are off: `Waiting` has the only policy.
        """
        client: Github | None = getattr(self._connections, "client", None)
        if client is None:
            client = self._connections.client = Github(
                auth=Auth.Token(self._token),
                base_url=self._api_url,
                timeout=TIMEOUT_SECONDS,
                user_agent=f"registrar/{__version__}",
                retry=None,
                seconds_between_requests=None,
                seconds_between_writes=None,
                api_version=API_VERSION,
            )
        return client


def _has_object(field: str) -> Callable[[Answer], bool]:
    return lambda answer: answer.holds(field) and isinstance(answer.data[field], dict)


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
    )
