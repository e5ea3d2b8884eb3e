"""Sends one request and reads its answer, within a deadline and a limit of size.

The only importer of PyGithub and of what is below it. PyGithub writes the request; the answer is
read here, because PyGithub (2.10) follows redirects without their query, sleeps and repeats on
202, turns rate-limit headers into numbers without a check, and reads a body of any size.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import ItemsView, Mapping
from urllib.parse import urlsplit

from github import Auth, Github

from registrar import __version__
from registrar.github.case import API_VERSION
from registrar.github.connections import ANSWER_SECONDS, Answer, Connections
from registrar.github.exchange import GRAPHQL, NoAnswer, Response
from registrar.texts.escaping import Redactor
from registrar.texts.messages import Message, msg

MOST_REDIRECTS = 3
_FOLLOWED = frozenset({301, 307, 308})
"""A renamed repository, where a read may go on
(https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api)."""

# PyGithub logs redirects with their address, which must not reach the console
for _library in ("github", "requests", "urllib3"):
    logging.getLogger(_library).handlers[:] = [logging.NullHandler()]
    logging.getLogger(_library).propagate = False


class Transport:
    """Sends requests with one token to one host. May be used from several threads."""

    def __init__(self, *, token: str, api_url: str, seconds: float | None = None) -> None:
        """``seconds`` is the time for one answer, where it is not the usual one."""
        self._seconds = seconds or ANSWER_SECONDS
        self._token = token
        self._api_url = api_url
        self._redact = Redactor(token)
        self._connections = Connections(api_url)
        self._clients = threading.local()
        self.host: str | Message = urlsplit(api_url).netloc
        """Who is asked, for people: the host, and the proxy that requests go through."""
        if proxy := self._connections.proxy:
            self.host = msg("label.through_proxy", host=self.host, proxy=proxy)

    def close(self) -> None:
        """Close the connections that are open and not in use."""
        self._connections.close()

    def forget(self) -> None:
        """Take note that this thread has understood its last answer, and needs it no longer."""
        self._connections.forget()

    def send(
        self,
        method: str,
        target: str,
        body: Mapping[str, object] | None,
        *,
        most_seconds: float = math.inf,
    ) -> Response | NoAnswer:
        """Send one request; a read follows redirects that stay on this host.

        ``target`` is a path below ``api_url``, with its query, or `GRAPHQL`. ``most_seconds``
        leaves the answer less time than usual.
        """
        seconds = min(self._seconds, most_seconds)
        for _ in range(MOST_REDIRECTS):
            answer = self._send(method, target, body, seconds)
            if method != "GET" or isinstance(answer, NoAnswer):
                return answer
            elsewhere = self._same_host(answer, target)
            if elsewhere is None:
                return answer
            target = elsewhere
        return self._send(method, target, body, seconds)

    def _send(
        self, method: str, target: str, body: Mapping[str, object] | None, seconds: float
    ) -> Response | NoAnswer:
        requester = self._client().requester
        exchange = _Exchange(self._connections, seconds)
        requester.requestJson(
            method,
            requester.graphql_url if target == GRAPHQL else target,
            headers={"Accept": "application/vnd.github+json"},
            input=body,
            cnx=exchange,  # type: ignore[arg-type] # a connection is whatever has its methods
        )
        answer = exchange.answer
        if isinstance(answer, NoAnswer):
            return answer._replace(detail=self._redact(answer.detail))
        return Response.parse(*answer, self._redact)

    def _same_host(self, answer: Response, target: str) -> str | None:
        """Where a redirect leads, if it stays on this host."""
        if answer.status not in _FOLLOWED or not answer.headers.get("location"):
            return None
        here = urlsplit(self._api_url)
        try:
            there = urlsplit(answer.headers["location"])
            same = all(
                getattr(there, n) == getattr(here, n) for n in ("scheme", "hostname", "port")
            )
        except ValueError:
            return None
        if not same:
            return None
        query = there.query or urlsplit(target).query
        return there._replace(query=query, fragment="").geturl()

    def _client(self) -> Github:
        """One client per thread: a requester is not safe to share. All send through one pool."""
        client: Github | None = getattr(self._clients, "client", None)
        if client is None:
            client = self._clients.client = Github(
                auth=Auth.Token(self._token),
                base_url=self._api_url,
                user_agent=f"registrar/{__version__}",
                retry=None,
                seconds_between_requests=None,
                seconds_between_writes=None,
                api_version=API_VERSION,
            )
        return client


class _Exchange:
    """Given to PyGithub as a connection: sends one request and keeps the answer.

    PyGithub itself gets an empty success, so that it does not react to the answer.
    """

    status = 200

    def __init__(self, connections: Connections, seconds: float) -> None:
        self._connections = connections
        self._seconds = seconds
        self.answer: NoAnswer | Answer

    def request(
        self, verb: str, url: str, content: str | None, headers: dict[str, str], *_: object
    ) -> None:
        body = None if content is None else content.encode()
        self.answer = self._connections.exchange(verb, url, body, headers, self._seconds)

    def getresponse(self) -> _Exchange:
        return self

    def read(self) -> str:
        return ""

    def getheaders(self) -> ItemsView[str, str]:
        return dict[str, str]().items()
