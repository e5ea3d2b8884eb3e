"""The HTTP side of the stand-in host: connections, tokens, limits, faults and the log."""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, unquote

from . import descriptions, graphql
from .answer import Drop, Response, error_body
from .faults import Faults
from .limits import Clock, Pace, RateLimit
from .refusals import Refusal, not_found
from .repository import Content, Repository
from .representations import Representations
from .rest import ROUTES, Call
from .tokens import BOT, PREFIXES, Kind, Token

DOCS = "https://docs.github.com/rest"
GRAPHQL_DOCS = "https://docs.github.com/graphql"
ENTERPRISE = "/api/v3"
GRAPHQL = ("/graphql", "/api/graphql")
MAX_BAD_CREDENTIALS = 10
FIRST_REPOSITORY = 1000


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived; `status` and `ended` stay None until it is answered.

    `path` is decoded and without the Enterprise Server prefix; `started` and `ended` are
    monotonic seconds; `status` is also None where a fault answered nothing.
    """

    number: int
    method: str
    path: str
    raw_target: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    json: Any
    token: str | None
    started: float
    ended: float | None = None
    status: int | None = None


class StandInHost:
    """A small GitHub on loopback, over real git repositories.

    `root` keeps the repositories in that directory instead of a temporary one. Leaving a `with`
    block raises AssertionError when a request or an answer did not match GitHub's description.
    """

    def __init__(self, *, root: Path | None = None, port: int = 0) -> None:
        self.requests: list[Request] = []
        self.mismatches: list[str] = []
        self.warnings: list[str] = []
        self.latency = 0.0
        self.clock: Clock = time
        self.faults = Faults()
        self.on_request: Callable[[Request], object] | None = None
        self.rate_limit: RateLimit | None = RateLimit()
        self.graphql_rate_limit: RateLimit | None = RateLimit()
        self.graphql_alias_limit = 200
        self.refused_mutations: dict[str, Refusal] = {}
        self.pace: Pace | None = None
        self.actions_may_create_pull_requests = True
        self.repositories: list[Repository] = []
        self._tokens: dict[str, Token] = {}
        self._bad_credentials = 0
        self._lock = threading.Lock()
        self._temporary = root is None
        self._root = Path(tempfile.mkdtemp(prefix="stand-in-host-")) if root is None else root
        self._server = Server(("127.0.0.1", port), self)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        # The same machine under another name: where redirects "to another host" lead.
        self.elsewhere = f"http://localhost:{self._server.server_port}"
        threading.Thread(target=self._server.accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()
        if kind is None and self.mismatches:
            raise AssertionError("\n".join(self.mismatches))

    def close(self) -> None:
        """Stop serving and remove the repositories; a second call does nothing."""
        if not self._server.stopping:
            self._server.stop()
            if self._temporary:
                shutil.rmtree(self._root, ignore_errors=True)

    def settle(self, timeout: float = 5.0) -> None:
        """Wait until no request is under way, such as one whose client was killed.

        Raises TimeoutError after `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        while any(request.ended is None for request in self.requests):
            if time.monotonic() > deadline:
                raise TimeoutError
            time.sleep(0.005)

    # Setting the scene

    def create_repository(
        self,
        full_name: str,
        files: Mapping[str, Content] | None = None,
        *,
        default_branch: str = "main",
        private: bool = False,
        archived: bool = False,
        empty: bool = False,
        disabled: bool = False,
    ) -> Repository:
        """Create a repository with one commit (a README unless `files` are given), or none."""
        with self._lock:
            number = FIRST_REPOSITORY + len(self.repositories)
            repository = Repository(
                self._root / f"{full_name}.git",
                full_name,
                number,
                web=self.url,
                default_branch=default_branch,
                private=private,
                archived=archived,
                disabled=disabled,
            )
            self.repositories.append(repository)
        if not empty:
            first = {"README.md": b"# Example\n"} if files is None else files
            repository.commit(first, message="Initial commit")
        return repository

    def create_token(
        self,
        kind: Kind = "classic",
        *,
        scopes: Sequence[str] = ("repo",),
        permissions: Mapping[str, str] | None = None,
        repositories: Sequence[str] | None = None,
        login: str | None = None,
        push: bool = True,
        sso: bool = False,
    ) -> str:
        """A token with the prefix of its kind.

        `scopes` count for classic tokens; `permissions` (contents and pull requests by default)
        and `repositories` (None: all) for the others. `sso`: the organisation wants single
        sign-on first.
        """
        default = {"contents": "write", "pull_requests": "write"}
        token = Token(
            value=PREFIXES[kind] + secrets.token_hex(18),
            kind=kind,
            login=login or (BOT if kind == "installation" else "octocat"),
            scopes=tuple(scopes),
            permissions=default if permissions is None else dict(permissions),
            repositories=None if repositories is None else tuple(repositories),
            push=push,
            sso=sso,
        )
        self._tokens[token.value] = token
        return token.value

    def revoke_token(self, value: str) -> None:
        """Make a token a bad credential."""
        del self._tokens[value]

    def spend_latency(self) -> None:
        if self.latency:
            time.sleep(self.latency)

    # Answering

    def receive(self, record: Request) -> Request:
        """Number and log a request."""
        with self._lock:
            record = replace(record, number=len(self.requests) + 1)
            self.requests.append(record)
        return record

    def finish(self, record: Request, answer: Response | Drop) -> None:
        status = answer.status if isinstance(answer, Response) else None
        done = replace(record, status=status, ended=self.clock.monotonic())
        self.requests[record.number - 1] = done

    def respond(self, record: Request, prefix: str, raw_path: str, given: bool) -> Response | Drop:
        """The answer to a request, or the fault that takes its place."""
        if self.on_request is not None:
            self.on_request(record)
        to_graphql = record.method == "POST" and raw_path in GRAPHQL
        fault = self.faults.take(record)
        if fault is not None and fault.when == "before":
            self.spend_latency()
            if not to_graphql:
                self._describe(record, raw_path, given)
            return fault.answer(record, None, self.elsewhere, self.clock.time())
        if to_graphql:
            answer = self._answer_graphql(record)
        else:
            answer = self._answer(record, prefix, raw_path, given)
        if fault is None:
            return answer
        return fault.answer(record, answer, self.elsewhere, self.clock.time())

    def _describe(
        self, record: Request, raw_path: str, given: bool
    ) -> tuple[descriptions.Operation, dict[str, str]] | None:
        """The operation of a request; whatever the description does not allow is a mismatch."""
        repository = self._by_number(raw_path)
        if repository is not None:
            rest = raw_path.split("/", 3)[3:]
            raw_path = "/".join([f"/repos/{repository.full_name}", *rest])
        found = descriptions.find(record.method, raw_path)
        if found is None:
            self._mismatch(record, "no such operation in the description")
        else:
            for error in found[0].request_errors(record.query, record.json, given):
                self._mismatch(record, error)
        return found

    def _answer(self, record: Request, prefix: str, raw_path: str, given: bool) -> Response:
        found = self._describe(record, raw_path, given)
        if found is None:
            return Response(404, error_body(404, "Not Found", DOCS))
        operation, parameters = found
        overlapping = operation.name in ROUTES and not ROUTES[operation.name].locked
        if not overlapping:
            self.spend_latency()
        token = None
        try:
            token = self._authenticate(record)
            answer = self._perform(record, prefix, operation, parameters, token)
        except Refusal as refusal:
            documentation = refusal.documentation_url or operation.documentation_url
            body = error_body(refusal.status, refusal.message, documentation, refusal.errors)
            answer = Response(refusal.status, body, dict(refusal.headers))
        self._check(record, operation, answer)
        answer.headers |= self._usual_headers(token, self.rate_limit, "core")
        return answer

    def _answer_graphql(self, record: Request) -> Response:
        """The answer of GraphQL: HTTP 200 whatever went wrong behind the door."""
        self.spend_latency()
        token = None
        try:
            token = self._authenticate(record)
            answer = self._execute(record, token)
        except Refusal as refusal:
            documentation = refusal.documentation_url or GRAPHQL_DOCS
            body = error_body(refusal.status, refusal.message, documentation, refusal.errors)
            answer = Response(refusal.status, body, dict(refusal.headers))
        answer.headers |= self._usual_headers(token, self.graphql_rate_limit, "graphql")
        return answer

    def _execute(self, record: Request, token: Token) -> Response:
        if self.graphql_rate_limit is not None:
            try:
                with self._lock:
                    self.graphql_rate_limit.spend(token.login, self.clock.time())
            except Refusal as refusal:
                error = {"type": "RATE_LIMITED", "message": refusal.message}
                return Response(200, {"errors": [error]})
        body, mismatches = graphql.respond(self, token, record.json)
        for mismatch in mismatches:
            self._mismatch(record, mismatch)
        return Response(200, body)

    def _authenticate(self, record: Request) -> Token:
        """The token of a request; `Refusal` 401, or 403 after many bad ones in a row."""
        if record.token is None:
            raise Refusal(401, "Requires authentication")
        token = self._tokens.get(record.token)
        if token is None:
            self._bad_credentials += 1
            if self._bad_credentials > MAX_BAD_CREDENTIALS:
                message = "Maximum number of login attempts exceeded. Please try again later."
                raise Refusal(403, message, documentation_url=DOCS)
            raise Refusal(401, "Bad credentials", documentation_url=DOCS)
        self._bad_credentials = 0
        return token

    def _perform(
        self,
        record: Request,
        prefix: str,
        operation: descriptions.Operation,
        parameters: dict[str, str],
        token: Token,
    ) -> Response:
        if operation.name == "GET /rate_limit":
            return self._show_rate_limit()
        with self._lock:
            if self.rate_limit is not None:
                self.rate_limit.spend(token.login, self.clock.time())
        full_name = f"{parameters.pop('owner')}/{parameters.pop('repo')}"
        repository, moved = self.find_repository(full_name)
        if moved:
            return redirect(record, f"{self.url}{prefix}", repository)
        route = ROUTES[operation.name]
        token.require(repository, *route.needs)
        if record.method != "GET":
            if repository.disabled:
                raise Refusal(403, "Repository access blocked")
            if self.pace is not None:
                self.pace.spend(self.clock.monotonic())
        call = Call(
            host=self,
            repository=repository,
            token=token,
            show=Representations(self.url + prefix, self.url),
            parameters=parameters,
            query=dict(record.query),
            body={} if record.json is None else record.json,
        )
        if not route.locked:
            return route.handler(call)
        with repository.lock:
            return route.handler(call)

    def find_repository(self, full_name: str) -> tuple[Repository, bool]:
        """A repository and whether it is called otherwise by now; `Refusal` 404."""
        wanted = full_name.lower()
        for repository in self.repositories:
            if repository.full_name.lower() == wanted:
                return repository, False
        for repository in self.repositories:
            if wanted in map(str.lower, repository.former_names):
                return repository, True
        raise not_found()

    def _by_number(self, raw_path: str) -> Repository | None:
        head, _, rest = raw_path.removeprefix("/").partition("/")
        number = rest.partition("/")[0]
        if head == "repositories":
            for repository in self.repositories:
                if str(repository.id) == number:
                    return repository
        return None

    def _show_rate_limit(self) -> Response:
        if self.rate_limit is None:
            raise Refusal(404, "Rate limiting is not enabled.")
        core = self.rate_limit.shown(self.clock.time())
        full = {"used": 0, "reset": core["reset"]}
        resources = {"core": core, "search": {"limit": 30, "remaining": 30, **full}}
        if self.graphql_rate_limit is not None:
            resources["graphql"] = self.graphql_rate_limit.shown(self.clock.time())
        return Response(200, {"resources": resources, "rate": core})

    def _usual_headers(
        self, token: Token | None, limit: RateLimit | None, resource: str
    ) -> dict[str, str]:
        headers = {"X-GitHub-Request-Id": secrets.token_hex(8).upper()}
        if token is not None and token.kind == "classic":
            headers["X-OAuth-Scopes"] = ", ".join(token.scopes)
        if limit is not None:
            shown = limit.shown(self.clock.time())
            headers |= {f"x-ratelimit-{name}": str(value) for name, value in shown.items()}
            headers["x-ratelimit-resource"] = resource
        return headers

    def _check(self, record: Request, operation: descriptions.Operation, answer: Response) -> None:
        if answer.status not in operation.responses:
            warning = f"{operation.name} does not document {answer.status}"
            if warning not in self.warnings:
                self.warnings.append(warning)
        for error in operation.answer_errors(answer.status, answer.body):
            self._mismatch(record, error)

    def _mismatch(self, record: Request, error: str) -> None:
        self.mismatches.append(f"#{record.number} {record.method} {record.raw_target}: {error}")


def redirect(record: Request, root: str, repository: Repository) -> Response:
    """What a former name of a repository answers: 301 to a GET, 307 to a write (hub4j)."""
    status = HTTPStatus.MOVED_PERMANENTLY
    if record.method != "GET":
        status = HTTPStatus.TEMPORARY_REDIRECT
    rest = record.raw_target.partition("/repos/")[2].split("/", 2)[2:]
    query = "?" + record.raw_target.partition("?")[2] if "?" in record.raw_target else ""
    target = "/".join([f"{root}/repositories/{repository.id}", *rest])
    if query and not target.endswith(query):
        target += query
    body = {"message": status.phrase, "url": target, "documentation_url": DOCS}
    return Response(status, body, {"Location": target})


class Server(ThreadingHTTPServer):
    """One thread per connection; knows its connections, so that it can end them all at once."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], host: StandInHost) -> None:
        super().__init__(address, Handler)
        self.host = host
        self.connections: set[socket.socket] = set()
        self.stopping = False

    def server_bind(self) -> None:
        # Not HTTPServer's: it asks the resolver for the machine's name.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error; anything else fails the test that caused it."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError) and not self.stopping:
            self.host.mismatches.append("".join(traceback.format_exception(error)))

    def accept(self) -> None:
        """Serve until stopped; unlike `serve_forever` it never polls, so it stops at once."""
        with contextlib.suppress(OSError):
            while True:
                connection, address = self.get_request()
                if self.stopping:
                    connection.close()
                    return
                self.process_request(connection, address)

    def stop(self) -> None:
        """End every connection; one more to itself ends the waiting for the next."""
        self.stopping = True
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.server_port), timeout=1).close()
        self.server_close()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Handler(BaseHTTPRequestHandler):
    """Reads requests from a connection and writes what the host answers."""

    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def handle_any(self) -> None:
        host = self.server.host
        started = host.clock.monotonic()
        length = int(self.headers.get("Content-Length") or 0)
        raw_body = self.rfile.read(length) if length else b""
        raw_path, _, raw_query = self.path.partition("?")
        prefix = ENTERPRISE if raw_path.startswith(f"{ENTERPRISE}/") else ""
        raw_path = raw_path.removeprefix(prefix)
        record = host.receive(
            Request(
                number=0,
                method=self.command,
                path=unquote(raw_path),
                raw_target=self.path,
                query=dict(parse_qsl(raw_query, keep_blank_values=True)),
                headers={name.lower(): value for name, value in self.headers.items()},
                json=parsed(raw_body),
                token=token_in(self.headers.get("Authorization")),
                started=started,
            )
        )
        answer: Response | Drop = Drop(reset=False)
        try:
            answer = host.respond(record, prefix, raw_path, bool(raw_body))
        finally:
            host.finish(record, answer)
        self.send(answer)

    def send(self, answer: Response | Drop) -> None:
        if isinstance(answer, Drop):
            self.close_connection = True
            if answer.reset:
                # Closing with a linger of zero sends RST instead of FIN.
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
            return
        payload = answer.payload()
        phrase = HTTPStatus(answer.status).phrase
        headers = {
            "Server": "github.com",
            "Date": self.date_time_string(self.server.host.clock.time()),
            "Content-Type": answer.content_type,
            "Content-Length": str(len(payload)),
        } | answer.headers
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        if answer.cut:
            self.close_connection = True
            payload = payload[: len(payload) // 2]
        # One write: a second packet would wait for the first one's acknowledgement.
        self.wfile.write(f"HTTP/1.1 {answer.status} {phrase}\r\n{head}\r\n".encode() + payload)

    def log_message(self, *_: Any) -> None:
        """Nothing: `StandInHost.requests` is the log."""


for _method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
    setattr(Handler, f"do_{_method}", Handler.handle_any)


def parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return None


def token_in(authorization: str | None) -> str | None:
    kind, _, value = (authorization or "").partition(" ")
    return value.strip() or None if kind.lower() in {"bearer", "token"} else None
