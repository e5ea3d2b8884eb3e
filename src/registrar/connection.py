"""The one door to the host. The only importer of PyGithub.

PyGithub's objects complete themselves lazily, follow what they should not, and take a proxy's
page for a file (host facts, PyGithub). So its requester is used by itself: every request goes
out here and comes back as an `Answer` that has been looked at.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import requests
from github import Auth, Github

from registrar import __version__, answers, refusals
from registrar.answers import Answer
from registrar.errors import EXIT_FAILED, EXIT_REFUSED, Cancelled, RegistrarError
from registrar.escaping import Redactor
from registrar.messages import Message, say
from registrar.refusals import Context
from registrar.waiting import Fault, OutOfTime, Waiting, fault_of

TIMEOUT_SECONDS = 15
"""The host itself gives up after 10 s (docs: "Troubleshooting the REST API")."""
CLASSIC_PREFIX = "ghp_"
API_VERSION = "2022-11-28"
GRAPHQL = "graphql"
"""Target of a GraphQL request; where it is depends on the kind of host."""
_ALREADY_THERE = (
    "Reference already exists",
    '"sha" wasn\'t supplied',
    "A pull request already exists",
)
_REFUSALS = frozenset(
    # OK: an answer of GraphQL that holds nothing but errors
    {answers.OK, answers.UNAUTHORIZED, answers.FORBIDDEN, answers.CONFLICT, answers.UNPROCESSABLE}
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


class Connection:
    """Sends requests, one connection per thread, until their answers are final."""

    def __init__(self, *, token: str, api_url: str, context: Context, waiting: Waiting) -> None:
        """Nothing is sent before the first request."""
        self._token = token
        self._api_url = api_url
        self._context = context
        self._waiting = waiting
        self._redact = Redactor(token)
        self._clients = threading.local()
        self._has_written = False
        self.scopes: frozenset[str] | None = None
        """Scopes of a classic token; ``None`` where the host names none."""

    def request(  # noqa: PLR0913 (each of them is part of one request)
        self,
        method: str,
        target: str,
        doing: Message,
        expected: Callable[[Answer], bool],
        *,
        body: dict[str, Any] | None = None,
        path: str = "",
        writes: bool | None = None,
    ) -> Answer:
        """Send a request until its answer is final.

        ``doing`` names the request for people; ``expected`` tells whether a success has the
        shape that it must have; ``path`` is the file that is to be created; ``writes`` tells
        apart the queries and mutations of GraphQL, which are all sent by POST.

        Raises:
            HostError: the host refused, or gave no usable answer in all tries.
            OutOfTime: another try would have to wait for longer than we may.
            Cancelled: a signal arrived.
        """
        writes = method != "GET" if writes is None else writes
        attempt, uncertain = 0, False
        while True:
            attempt += 1
            try:
                self._waiting.before_request(creates_content=writes and method != "PATCH")
                outcome = self._send(method, target, body, expected)
                if isinstance(outcome, Answer):
                    break
                uncertain |= not outcome.never_applied
                try_again = self._waiting.after_fault(outcome, attempt)
            except (Cancelled, OutOfTime) as ended:
                ended.unanswered |= uncertain
                raise
            except HostError as error:
                error.uncertain |= uncertain
                raise
            if not try_again:
                message = say("host.failed", doing=doing, reason=outcome.reason)
                raise HostError(message, uncertain=uncertain)

        if outcome.status < answers.REDIRECTS.start:
            self._has_written |= writes and outcome.did_something
            return replace(outcome, uncertain=uncertain)
        raise self.refused(doing, outcome, path=path, writes=writes, uncertain=uncertain)

    def refused(
        self,
        doing: Message,
        answer: Answer,
        *,
        path: str = "",
        writes: bool = False,
        uncertain: bool = False,
    ) -> HostError:
        """Give the error for a refusal, with its cause; exit code 2 while nothing is written."""
        reason = refusals.reason(answer, self._context, path, writes=writes)
        hidden = answer.status == answers.NOT_FOUND and (writes or answer.asks_for_sso)
        refused = answer.status in _REFUSALS or hidden
        nothing_done = refused and not self._has_written
        return HostError(
            say("host.failed", doing=doing, reason=reason),
            answer,
            uncertain=uncertain,
            exit_code=EXIT_REFUSED if nothing_done else EXIT_FAILED,
        )

    def _send(
        self,
        method: str,
        target: str,
        body: dict[str, Any] | None,
        expected: Callable[[Answer], bool],
    ) -> Answer | Fault:
        """Send once; whatever PyGithub and what is below it can raise ends here."""
        try:
            requester = self._client().requester
            url = requester.graphql_url if target == GRAPHQL else target
            status, headers, text = requester.requestJson(
                method, url, headers={"Accept": "application/vnd.github+json"}, input=body
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
        shown_headers = {name: self._redact(value) for name, value in headers.items()}
        answer = Answer.parse(status, shown_headers, self._redact(text))
        self._waiting.note_budget(answer.headers)
        scopes = answer.headers.get("x-oauth-scopes")
        if scopes or (scopes is not None and self._token.startswith(CLASSIC_PREFIX)):
            # Sent empty to other tokens too, where it means nothing
            self.scopes = frozenset(filter(None, (s.strip() for s in scopes.split(","))))
        if fault := fault_of(answer):
            return fault
        refused = answer.status >= answers.BAD_REQUEST
        usable = answer.holds("message") if refused else expected(answer)
        if usable or answer.status in answers.REDIRECTS:
            return answer
        return Fault(say("fault.unusable", status=answer.status))

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
