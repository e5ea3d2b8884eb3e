"""The one door to the host. The only importer of PyGithub.

PyGithub's objects complete themselves lazily, follow what they should not, and take a proxy's
page for a file (docs/github-behaviour.md). So its requester is used by itself: every request goes
out here and comes back as an `Response` that has been looked at.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import requests
from github import Auth, Github

from registrar import __version__
from registrar.errors import Cancelled
from registrar.github import explain
from registrar.github import response as http
from registrar.github.classify import refusal_kind
from registrar.github.errors import GitHubError, Kind
from registrar.github.explain import Context
from registrar.github.fields import UnusableAnswer
from registrar.github.response import Response
from registrar.github.retry import Fault, OutOfTime, Waiting, fault_of
from registrar.texts.escaping import Redactor
from registrar.texts.messages import Message, msg

TIMEOUT_SECONDS = 15
"""The host itself gives up after 10 s (docs: "Troubleshooting the REST API")."""
CLASSIC_PREFIX = "ghp_"
API_VERSION = "2022-11-28"
GRAPHQL = "graphql"
"""Target of a GraphQL request; where it is depends on the kind of host."""


class Connection:
    """Sends requests, one connection per thread, until their answers are final."""

    def __init__(self, *, token: str, api_url: str, context: Context, waiting: Waiting) -> None:
        """Nothing is sent before the first request."""
        self._token = token
        self._api_url = api_url
        self._context = context
        self.waiting = waiting
        self._redact = Redactor(token)
        self._clients = threading.local()
        self.wrote = False
        """Whether any write has succeeded."""
        self.scopes: frozenset[str] | None = None
        """Scopes of a classic token; ``None`` where the host names none."""

    def request(  # noqa: PLR0913 (each of them is part of one request)
        self,
        method: str,
        target: str,
        operation: Message,
        expected: Callable[[Response], bool],
        *,
        body: dict[str, Any] | None = None,
        path: str = "",
        writes: bool | None = None,
        idempotent: bool = True,
    ) -> Response:
        """Send a request until its response is final.

        ``operation`` names the request for people; ``expected`` tells whether a success has the
        shape that it must have, or raises `UnusableAnswer`; ``path`` is the file that is to be
        created; ``writes`` tells apart the queries and mutations of GraphQL, which are all sent
        by POST; a request that is not ``idempotent`` is not sent again once it may have been
        applied.

        Raises:
            GitHubError: the host refused, or gave no usable response in all tries.
            OutOfTime: another try would have to wait for longer than we may.
            Cancelled: a signal arrived.
        """
        writes = method != "GET" if writes is None else writes
        attempt, may_have_been_applied = 0, False
        while True:
            attempt += 1
            try:
                self.waiting.before_request(creates_content=writes and method != "PATCH")
                outcome = self._send(method, target, body, expected)
                if isinstance(outcome, Response):
                    break
                lost = not (outcome.never_applied or outcome.is_limit)
                may_have_been_applied |= not outcome.never_applied
                try_again = (idempotent or not lost) and self.waiting.after_fault(outcome, attempt)
            except (Cancelled, OutOfTime) as ended:
                ended.may_have_been_applied |= may_have_been_applied
                raise
            except GitHubError as error:
                error.may_have_been_applied |= may_have_been_applied
                raise
            if not try_again:
                message = msg("host.failed", operation=operation, reason=outcome.reason)
                raise GitHubError(
                    message, outcome.kind, may_have_been_applied=may_have_been_applied
                )

        if outcome.status < http.REDIRECTS.start:
            self.wrote |= writes and outcome.did_something
            return replace(outcome, may_have_been_applied=may_have_been_applied)
        raise self.refusal_error(
            operation,
            outcome,
            path=path,
            writes=writes,
            may_have_been_applied=may_have_been_applied,
        )

    def refusal_error(
        self,
        operation: Message,
        response: Response,
        *,
        path: str = "",
        writes: bool = False,
        may_have_been_applied: bool = False,
    ) -> GitHubError:
        """Give the error for a refusal, with its cause."""
        reason = explain.reason(response, self._context, path, writes=writes)
        kind = refusal_kind(response, writes=writes)
        return GitHubError(
            msg("host.failed", operation=operation, reason=reason),
            kind,
            may_have_been_applied=may_have_been_applied,
        )

    def _send(
        self,
        method: str,
        target: str,
        body: dict[str, Any] | None,
        expected: Callable[[Response], bool],
    ) -> Response | Fault:
        """Send once; whatever PyGithub and what is below it can raise ends here."""
        try:
            requester = self._client().requester
            url = requester.graphql_url if target == GRAPHQL else target
            status, headers, text = requester.requestJson(
                method, url, headers={"Accept": "application/vnd.github+json"}, input=body
            )
        except requests.exceptions.SSLError as error:
            message = msg("host.tls", url=self._api_url, reason=str(error))
            raise GitHubError(message, Kind.FATAL) from error
        except requests.exceptions.Timeout:
            return Fault(msg("fault.timeout", seconds=TIMEOUT_SECONDS))
        except requests.exceptions.RequestException as error:
            return Fault(msg("fault.connection", reason=type(error).__name__))
        except RuntimeError as error:
            # PyGithub, on a redirect (301) to another host or in circles: followed by nobody
            raise GitHubError(
                msg("host.redirected", reason=self._redact(str(error))), Kind.FATAL
            ) from error
        except ValueError:
            return Fault(
                msg("fault.unusable", status=0), kind=Kind.UNUSABLE
            )  # a header that is no number
        shown_headers = {name: self._redact(value) for name, value in headers.items()}
        response = Response.parse(status, shown_headers, self._redact(text))
        self.waiting.note_budget(response.headers)
        scopes = response.headers.get("x-oauth-scopes")
        if scopes or (scopes is not None and self._token.startswith(CLASSIC_PREFIX)):
            # Sent empty to other tokens too, where it means nothing
            self.scopes = frozenset(filter(None, (s.strip() for s in scopes.split(","))))
        if fault := fault_of(response):
            return fault
        refused = response.status >= http.BAD_REQUEST
        try:
            usable = response.holds("message") if refused else expected(response)
        except UnusableAnswer:
            usable = False
        if usable or response.status in http.REDIRECTS:
            return response
        return Fault(msg("fault.unusable", status=response.status), kind=Kind.UNUSABLE)

    def _client(self) -> Github:
        """One client, and so one connection, per thread: a requester is not safe to share.

        Its own retries and pauses are off: `Waiting` has the only policy.
        """
        client: Github | None = getattr(self._clients, "client", None)
        if client is None:
            client = self._clients.client = Github(
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
