"""A relay on loopback in front of GitHub, which keeps what goes through it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import requests

ANSWER_SECONDS = 60
_OF_THE_CONNECTION = {
    *("connection", "content-encoding", "content-length", "date", "host", "server"),
    *("keep-alive", "transfer-encoding"),
}


class Exchange(NamedTuple):
    """A request and its answer."""

    method: str
    path: str
    """Decoded, below the root of the API, without the query."""
    json: Any
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Any
    """``None`` where it is no JSON."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Those of the request's body; none where it is no JSON object."""
        return self.json if isinstance(self.json, dict) else {}

    @property
    def is_graphql(self) -> bool:
        """Whether it went to GraphQL."""
        return self.path.endswith("/graphql")

    @property
    def writes(self) -> bool:
        """Whether it changes something."""
        if self.is_graphql:
            return str(self.fields.get("query", "")).startswith("mutation")
        return self.method != "GET"


class Recorder:
    """Passes requests on to ``api_url`` and gives each exchange to ``keep``, one after the other.

    Its own address is ``url``.
    """

    def __init__(self, api_url: str, keep: Callable[[Exchange], object]) -> None:
        self._keep = keep
        self._lock = threading.Lock()
        self._root = urlsplit(api_url)
        self.host = self._root.netloc
        self._session = requests.Session()
        # Else a password for the host in ~/.netrc would take the place of the token
        self._session.auth = lambda request: request
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}{self._root.path}"

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve as long as the block lasts."""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            self._server.shutdown()
            self._server.server_close()
            self._session.close()

    def relay(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Pass a request on, and give its answer."""
        there = f"{self._root.scheme}://{self._root.netloc}"
        answer = self._session.request(
            method,
            there + target,
            headers={name: value for name, value in headers.items() if _is_of_request(name)},
            data=body or None,
            allow_redirects=False,
            timeout=ANSWER_SECONDS,
        )
        given = {name.lower(): value for name, value in answer.headers.items()}
        path = unquote(urlsplit(target).path).removeprefix(self._root.path)
        made = Exchange(
            method, path, _parsed(body), answer.status_code, given, _parsed(answer.content)
        )
        with self._lock:
            self._keep(made)
        shown = {name: value for name, value in given.items() if _is_of_request(name)}
        if "location" in shown:
            # The action follows a redirect only to where it came from
            shown["location"] = shown["location"].replace(f"{there}{self._root.path}", self.url, 1)
        return answer.status_code, shown, answer.content

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                try:
                    status, headers, content = recorder.relay(
                        self.command, self.path, dict(self.headers.items()), body
                    )
                except requests.RequestException:
                    # As a broken connection to GitHub itself
                    self.close_connection = True
                    return
                # Who asked may have been stopped meanwhile
                with suppress(ConnectionError):
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                """Nothing: the exchanges are the log."""

        for method in ("GET", "POST", "PUT", "PATCH"):
            setattr(Handler, f"do_{method}", Handler.handle_any)
        return Handler


def _is_of_request(name: str) -> bool:
    return name.lower() not in _OF_THE_CONNECTION


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError:
        return None
