"""The stand-in itself: its repositories and tokens, its settings, and the log of its requests."""

from __future__ import annotations

import secrets
import shutil
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from .answer import Answer, Response
from .clock import Clock
from .dispatch import Dispatcher
from .faults import Faults
from .journal import Journal
from .limits import Pace, RateLimit
from .quirks import Lag, Quirks
from .refusals import Refusal, not_found
from .repository import Attributes, Repository
from .request import Request
from .server import Server
from .store import Content, new_folder, template
from .tokens import BOT, PREFIXES, Kind, Token

FIRST_REPOSITORY = 1000


class StandInHost:
    """A small GitHub on loopback, over real git repositories.

    With `root` the repositories are kept in that directory, otherwise in a temporary one. With
    `tls` the address is https (`tests.fakehub.tls` has certificates). `clock` measures lag, pace
    and limits; a test may replace it. Leaving a `with` block raises AssertionError if a request or
    an answer did not match GitHub's description (`mismatches`).
    """

    def __init__(
        self, *, root: Path | None = None, port: int = 0, tls: ssl.SSLContext | None = None
    ) -> None:
        self.clock: Clock = time
        self.requests: list[Request] = []
        self.mismatches: list[str] = []
        self.warnings: list[str] = []
        self.latency = 0.0
        self.faults = Faults()
        self.on_request: Callable[[Request], object] | None = None
        self.rate_limit: RateLimit | None = RateLimit()
        self.graphql_rate_limit: RateLimit | None = RateLimit()
        self.quirks = Quirks()
        self.refused_mutations: dict[str, Refusal] = {}
        self.pace: Pace | None = None
        self.actions_may_create_pull_requests = True
        self.repositories: list[Repository] = []
        self.journal = Journal(self.now)
        """Everything that anybody did to a repository, in its order."""
        self.users: set[str] = {"octocat"}
        """The owners that are people, in lower case; all other owners are organisations."""
        self._tokens: dict[str, Token] = {}
        self._by_name: dict[str, Repository] = {}
        self._lock = threading.Lock()
        self._temporary = root is None
        self._root = new_folder("stand-in-host-") if root is None else root
        self._dispatcher = Dispatcher(self)
        self._server = Server(("127.0.0.1", port), self, tls)
        scheme = "http" if tls is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_port}"
        # The same server under another name, because redirects lead to another host
        self.elsewhere = f"{scheme}://localhost:{self._server.server_port}"
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

    def now(self) -> float:
        """Return the time of `clock` in seconds since the epoch."""
        return self.clock.time()

    def settle(self, timeout: float = 60.0) -> None:
        """Wait until every request is answered, also the request of a client that was killed.

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
        empty: bool = False,
        **attributes: Unpack[Attributes],
    ) -> Repository:
        """Create a repository with one commit, or without a commit if it is to be `empty`.

        The commit has `files`, or a README if none are given.
        """
        first = {"README.md": b"# Example\n"} if files is None else files
        begun = template(default_branch, None if empty else frozenset(first.items()))
        with self._lock:
            number = FIRST_REPOSITORY + len(self.repositories)
            path = self._root / f"{full_name}.git"
            repository = Repository(
                path,
                begun,
                full_name,
                number,
                web=self.url,
                journal=self.journal,
                now=self.now,
                **attributes,
            )
            self.repositories.append(repository)
            self._by_name[full_name.lower()] = repository
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
        long: bool = False,
        requests: int | None = None,
        hidden_by_sso: Sequence[str] = (),
        unknown_for: float = 0.0,
        is_tool: bool = False,
    ) -> str:
        """Create a token with the prefix of its kind, and return its value.

        `scopes` count for classic tokens. `permissions` and `repositories` (None: all) count for
        the other kinds; by default the permissions are to write contents and pull requests, and to
        read members and custom properties. With `sso` the organisation requires single sign-on for
        the token. A `long` token has 520 characters and two dots, as GitHub announces for tokens of
        Apps (GitHub changelog, 2026-04-24). The token is a bad credential after its first
        `requests` requests, and for `unknown_for` seconds after its creation
        (octokit/auth-app.js#65). Listings leave out the repositories of the owners in
        `hidden_by_sso`, and a header says so. With `is_tool` another tool has the token, not
        registrar, and the journal says so.
        """
        tail = secrets.token_hex(18)
        if long:
            tail = f"123456_{'.'.join(secrets.token_hex(300)[:n] for n in (36, 386, 85))}"
        default = {
            "contents": "write",
            "pull_requests": "write",
            "members": "read",
            "organization_custom_properties": "read",
        }
        token = Token(
            value=PREFIXES[kind] + tail,
            kind=kind,
            login=login or (BOT if kind == "installation" else "octocat"),
            scopes=tuple(scopes),
            permissions=default if permissions is None else dict(permissions),
            repositories=None if repositories is None else tuple(repositories),
            push=push,
            sso=sso,
            requests=requests,
            hidden_by_sso=tuple(hidden_by_sso),
            known_from=self.now() + unknown_for,
            is_tool=is_tool,
        )
        self._tokens[token.value] = token
        return token.value

    def revoke_token(self, value: str) -> None:
        """Revoke a token: from now on it is a bad credential."""
        del self._tokens[value]

    def spend_latency(self) -> None:
        if self.latency:
            time.sleep(self.latency)

    def real_day(self) -> None:
        """Switch on the quirks that every run has to survive: lag, flaky answers, the pace.

        Large queries get partial answers; the queries for one repository are far smaller.
        """
        self.quirks = Quirks(
            lag=Lag(seconds=0.8),
            flaky_references=[422, 502],
            partial_above=150,
            limits_at_200=True,
            heads_by_commit=True,
            pull_requests_need_permission=True,
        )
        self.pace = Pace()

    # Finding

    def find_token(self, value: str) -> Token | None:
        return self._tokens.get(value)

    def find_repository(self, full_name: str) -> tuple[Repository, bool]:
        """Return a repository, and whether `full_name` is a former name of it.

        Raise `Refusal` 404 if there is no such repository.
        """
        wanted = full_name.lower()
        with self._lock:
            found = self._by_name.get(wanted)
            if found is None or found.full_name.lower() != wanted:
                # `Acts.rename` does not tell the stand-in that a name has changed
                self._by_name = {
                    name.lower(): each for each in self.repositories for name in each.former_names
                } | {each.full_name.lower(): each for each in self.repositories}
                found = self._by_name.get(wanted)
        if found is None or found.deleted:
            raise not_found()
        return found, found.full_name.lower() != wanted

    def repository_by_id(self, number: str) -> Repository | None:
        index = int(number) - FIRST_REPOSITORY if number.isdecimal() else -1
        found = self.repositories[index] if 0 <= index < len(self.repositories) else None
        return None if found is None or found.deleted else found

    # Answering

    def receive(self, record: Request) -> Request:
        """Give a request its number, add it to the log, and return it."""
        with self._lock:
            record = replace(record, number=len(self.requests) + 1)
            self.requests.append(record)
        return record

    def finish(self, record: Request, answer: Answer, sent: int) -> None:
        status = answer.status if isinstance(answer, Response) else None
        done = replace(record, status=status, sent=sent, ended=self.clock.monotonic())
        self.requests[record.number - 1] = done

    def respond(self, record: Request, prefix: str, raw_path: str, body: bytes) -> Answer:
        """Return the answer to a request, or the answer of the fault that replaces it."""
        return self._dispatcher.respond(record, prefix, raw_path, body)
