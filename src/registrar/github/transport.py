"""The layer beneath PyGithub: the adapter of its sessions, the pool of connections, the deadline.

PyGithub composes each request and reads its answer. This module sends the request, and keeps from
PyGithub everything that it does not handle well:

- An answer has to come within a deadline and a limit of size. PyGithub gets it as text in UTF-8
  without the token.
- A read follows redirects on the same host, with its query. Any other redirect, and a 202, is a
  refusal, because PyGithub (2.10) would go to another host, or sleep and repeat the request.
- PyGithub does not get the numbers of the rate limits, because it reads them without a check.
- PyGithub's own retries are switched off, because they would repeat a write that was done and
  answered with a 5xx.

Several runs may share a process, and PyGithub keeps its connection classes for all of them. So
these classes hold nothing of a run. The adapter takes pool, token and deadline from the `Attempt`
under way in its thread. Each attempt sends one request, and only to the API, because PyGithub would
send the token to every subdomain of the host.
"""

import io
import json
import logging
import os
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import certifi
import requests
import urllib3
from github import Auth, Github, GithubException
from github.Requester import (
    HTTPRequestsConnectionClass,
    HTTPSRequestsConnectionClass,
    Requester,
)
from requests import adapters, utils
from urllib3 import exceptions

from registrar import __version__
from registrar.github.answer import (
    GRAPHQL,
    NoAnswer,
    Response,
    Sent,
    Trouble,
    Unanswered,
    UnexpectedRequest,
)
from registrar.github.case import API_VERSION
from registrar.github.limits import CONNECTIONS, PER_PAGE
from registrar.runtime.addresses import is_loopback
from registrar.texts.escaping import Redactor
from registrar.texts.messages import Message, msg

ANSWER_SECONDS = 20.0
"""Seconds for a whole answer, from the connection to the last byte. GitHub gives up after 10 s
(https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api)."""
CONNECT_SECONDS = 10.0
SLOWEST_UPLOAD = 100_000
"""Bytes per second. A request has more time than `ANSWER_SECONDS`: the time that its body needs at
this speed."""
LARGEST = 100_000_000
"""The most bytes of memory, by an estimate, that all answers in use may take together. The largest
answer of GitHub is a tree of 100,000 entries with seven values each
(https://docs.github.com/en/rest/git/trees), which takes 80 MB. The length of the text does not show
this: 20 MB of empty lists take 400 MB."""
VALUE = 80
"""Bytes of memory, by an estimate, that a value takes in addition to its text."""
_VALUES = (b",", b"[", b"{")
"""Characters with which a value begins, or which it follows."""
_CHUNK = 65_536
"""Bytes that are read at once."""
_WORKSPACE = "/github/workspace"
"""The workspace in the container of an action (actions/runner, ContainerActionHandler.cs)."""
CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
_WRONG_LOGIN = "Tunnel connection failed: 407"
"""The beginning of the message of `http.client` if a proxy does not accept the login."""
_CERTIFICATES = {
    # X509_V_ERR_CERT_NOT_YET_VALID, …_HAS_EXPIRED, …_HOSTNAME_MISMATCH, …_IP_ADDRESS_MISMATCH
    **dict.fromkeys((9, 10), "host.certificate_expired"),
    **dict.fromkeys((62, 64), "host.certificate_name"),
}
_CLOSED = (ssl.SSLEOFError, ssl.SSLZeroReturnError)
"""The other end closed the connection. This may be temporary; other errors about TLS are not."""
_TROUBLES: tuple[tuple[type[Exception] | tuple[type[Exception], ...], Trouble, str], ...] = (
    # The run has ended and closed the pool, so nobody waits for this answer
    (exceptions.ClosedPoolError, Trouble.LASTING, "fault.connection_lost"),
    (exceptions.ProxyError, Trouble.NOT_SENT, "fault.proxy"),
    (exceptions.NameResolutionError, Trouble.NOT_SENT, "fault.no_name"),
    (exceptions.NewConnectionError, Trouble.NOT_SENT, "fault.no_connection"),
    (exceptions.ConnectTimeoutError, Trouble.NOT_SENT, "fault.connect_timeout"),
    ((exceptions.TimeoutError, TimeoutError), Trouble.LOST, "fault.timeout"),
    (_CLOSED, Trouble.LOST, "fault.connection_lost"),
    ((exceptions.SSLError, ssl.SSLError), Trouble.LASTING, "host.tls"),
    (Exception, Trouble.LOST, "fault.connection_lost"),
)
_Received: TypeAlias = tuple[int, Mapping[str, str], bytes]
"""Status, headers and body of an answer."""
MOST_REDIRECTS = 3
_FOLLOWED = frozenset({301, 307, 308})
"""Redirects that a read follows, for example of a renamed repository
(https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api)."""
_NOT_READ_BY_PYGITHUB = frozenset({202, *range(300, 400)})
"""Statuses that PyGithub would answer with a sleep and another request, or read as an object."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_UNDER_WAY = threading.local()
"""The `Attempt` that is under way in each thread."""

# PyGithub logs redirects with their address, which must not reach the console
for _library in ("github", "requests", "urllib3"):
    logging.getLogger(_library).handlers[:] = [logging.NullHandler()]
    logging.getLogger(_library).propagate = False


class _Adapter(adapters.BaseAdapter):
    """Passes each request of PyGithub's sessions to the attempt under way in its thread."""

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        attempt: Attempt | None = getattr(_UNDER_WAY, "attempt", None)
        if attempt is None:
            raise UnexpectedRequest(f"{request.method} {request.url}")
        return attempt.send(request)

    def close(self) -> None:
        """Close nothing, because PyGithub calls this with each request, but the pool stays open."""


_ADAPTER = _Adapter()


def _prepare(connection: HTTPRequestsConnectionClass | HTTPSRequestsConnectionClass) -> None:
    """Put our adapter beneath a connection of PyGithub, and let it ignore the environment."""
    if ":" in connection.host:
        # PyGithub writes an address of IPv6 into its URLs without brackets
        connection.host = f"[{connection.host}]"
    connection.session.trust_env = False
    connection.session.headers["Accept"] = "application/vnd.github+json"
    connection.session.mount(f"{connection.protocol}://", _ADAPTER)


class _HttpConnection(HTTPRequestsConnectionClass):
    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        _prepare(self)


class _HttpsConnection(HTTPSRequestsConnectionClass):
    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        _prepare(self)


Requester.injectConnectionClasses(_HttpConnection, _HttpsConnection)


class Transport:
    """One token at one host: its connections, and an attempt for each call of PyGithub.

    May be used from several threads.
    """

    def __init__(self, *, token: str, api_url: str) -> None:
        self._token = token
        self._api_url = api_url
        self.redact = Redactor(token)
        """Removes the token from a text."""
        self._broken: NoAnswer | None = None
        """Why nothing can be sent at all; ``None`` if requests can be sent."""
        self._lock = threading.Lock()
        self._in_use: dict[Attempt, int] = {}
        """Bytes of memory, by an estimate, of each answer that is being read or used."""
        parts = urlsplit(api_url)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        pools: dict[str, Any] = {"num_pools": 1, "maxsize": CONNECTIONS, "retries": False}
        if parts.scheme == "https":
            try:
                pools["ssl_context"] = _tls_context()
            except OSError as error:
                in_container = os.environ.get("GITHUB_WORKSPACE") == _WORKSPACE
                key = "host.ca_bundle_in_container" if in_container else "host.ca_bundle"
                self._broken = NoAnswer(Trouble.LASTING, key, str(error))
        try:
            self._pools = _manager(api_url, pools)
        except (exceptions.HTTPError, ValueError):
            # Without the library's words, because they may quote the address with its password
            self._broken = NoAnswer(Trouble.LASTING, "host.proxy_address")
            self._pools = urllib3.PoolManager(**pools)
        self._pools.pool_classes_by_scheme = {
            "http": _watched(urllib3.HTTPConnectionPool),
            "https": _watched(urllib3.HTTPSConnectionPool),
        }
        self.host: str | Message = parts.netloc
        """Describes for people the host, and the proxy through which requests go."""
        if url := self._pools.proxy:
            # Without its user and password
            through = f"{url.host}:{url.port}"
            self.host = msg("label.through_proxy", host=parts.netloc, proxy=through)

    def close(self) -> None:
        """Close the connections that are open and not in use."""
        # `clear` alone would leave this to the garbage collector
        for key in self._pools.pools.keys():  # noqa: SIM118 (urllib3 does not iterate over them)
            self._pools.pools[key].close()

    @contextmanager
    def attempt(self, most_seconds: float = ANSWER_SECONDS) -> Iterator["Attempt"]:
        """Let PyGithub send one request; its answer counts as in use until the end of the block.

        ``most_seconds`` may give the answer less time than `ANSWER_SECONDS`.
        """
        before = getattr(_UNDER_WAY, "attempt", None)
        attempt = Attempt(self, self._github(), min(ANSWER_SECONDS, most_seconds))
        _UNDER_WAY.attempt = attempt
        try:
            yield attempt
        finally:
            _UNDER_WAY.attempt = before
            with self._lock:
                self._in_use.pop(attempt, None)

    def _github(self) -> Github:
        # Made for each attempt, because threads cannot safely share one; this costs no time. Lazy,
        # so that making an object sends nothing
        return Github(
            auth=Auth.Token(self._token),
            base_url=self._api_url,
            user_agent=f"registrar/{__version__}",
            per_page=PER_PAGE,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,
            api_version=API_VERSION,
        )

    def is_of_api(self, url: str) -> bool:
        """Whether an address is of the same origin as the API."""
        try:
            return _origin(url) == _origin(self._api_url)
        except ValueError:
            return False

    def target_of(self, path: str, graphql_url: str) -> str:
        """Return the path below the address of the API, or `GRAPHQL`."""
        if path == urlsplit(graphql_url).path:
            return GRAPHQL
        return path.removeprefix(urlsplit(self._api_url).path)

    def exchange(self, attempt: "Attempt", request: requests.PreparedRequest) -> _Received:
        """Send a request and read its answer; a read follows redirects that stay on this host.

        Raises `Unanswered` if no answer came.
        """
        path = request.path_url
        received = self._exchange(attempt, request, path)
        for _ in range(MOST_REDIRECTS if request.method == "GET" else 0):
            status, headers, _ = received
            elsewhere = self._same_host(headers.get("location", ""), path)
            if status not in _FOLLOWED or elsewhere is None:
                break
            path = elsewhere
            received = self._exchange(attempt, request, path)
        return received

    def _same_host(self, location: str, path: str) -> str | None:
        """Return the path and query to which a redirect leads; ``None`` if it leaves this host.

        If the redirect has no query, it is that of the request.
        """
        if not self.is_of_api(location):
            return None
        target = urlsplit(location)
        query = target.query or urlsplit(path).query
        return f"{target.path}?{query}" if query else target.path

    def _exchange(
        self, attempt: "Attempt", request: requests.PreparedRequest, path: str
    ) -> _Received:
        if self._broken:
            raise Unanswered(self._broken)
        body = request.body or b""
        seconds = attempt.seconds + len(body) / SLOWEST_UPLOAD
        deadline = _Deadline(seconds)
        try:
            response = self._pools.urlopen(
                request.method or "",
                self._origin + path,
                body=request.body,
                headers={**request.headers, "Accept-Encoding": "gzip"},
                timeout=urllib3.Timeout(connect=min(CONNECT_SECONDS, seconds), read=seconds),
                redirect=False,
                preload_content=False,
            )
            # If an answer says that the connection will be closed, only the response has the socket
            deadline.fileno = response.fileno
            return self._read(attempt, response, deadline)
        except _TooLargeError as error:
            trouble, text = error.args
            raise Unanswered(NoAnswer(trouble, text, seconds=seconds)) from error
        except (exceptions.HTTPError, HTTPException, OSError, ValueError) as error:
            why = _failure(TimeoutError() if deadline.is_over else error, seconds)
            raise Unanswered(why._replace(detail=self.redact(why.detail))) from error
        finally:
            deadline.ended.set()

    def _read(
        self, attempt: "Attempt", response: urllib3.BaseHTTPResponse, deadline: "_Deadline"
    ) -> _Received:
        body, size = bytearray(), 0
        try:
            while chunk := response.read(_CHUNK, decode_content=True):
                body += chunk
                size += len(chunk) + VALUE * sum(map(chunk.count, _VALUES))
                self._use(attempt, size)
            deadline.ended.set()
            if deadline.is_over:
                raise TimeoutError  # noqa: TRY301 (what was cut off may look whole)
            headers = {name.lower(): value for name, value in response.headers.items()}
            return response.status, headers, bytes(body)
        except BaseException:
            response.close()
            raise
        finally:
            response.release_conn()

    def _use(self, attempt: "Attempt", size: int) -> None:
        """Record the size of an answer that is being read; raises if answers are too large."""
        with self._lock:
            self._in_use[attempt] = size
            together = sum(self._in_use.values())
        if together > LARGEST:
            if size > LARGEST // 2:
                raise _TooLargeError(Trouble.TOO_LARGE, "fault.too_large")
            raise _TooLargeError(Trouble.LOST, "fault.together_too_large")


class Attempt:
    """One call of PyGithub: the request that it sent, and the answer as it came."""

    def __init__(self, transport: Transport, github: Github, seconds: float) -> None:
        self._transport = transport
        self.github = github
        """PyGithub for this attempt; making its objects sends nothing."""
        self.seconds = seconds
        """Seconds for the whole answer."""
        self.sent: Sent | None = None
        """The request; ``None`` if nothing was sent."""
        self.status = 0
        """The status of the answer; 0 if none came."""
        self.headers: Mapping[str, str] = {}
        """The headers of the answer, by their names in lower case."""
        self.is_array = False
        """Whether the answer is a JSON array. PyGithub does not check this: ``{}`` is an empty list
        to it."""

    def response(self, data: object) -> Response:
        """Return the answer with the data that PyGithub has read."""
        return Response(self.status, self.headers, data)

    def send(self, request: requests.PreparedRequest) -> requests.Response:
        """Send the only request of the attempt, and return its answer in a form fit for PyGithub.

        Raises `UnexpectedRequest` for a second request and for one to another host, `Unanswered` if
        no answer came, and `GithubException` for an answer that PyGithub would follow or repeat, or
        that has half of a surrogate pair.
        """
        method, url = request.method or "", request.url or ""
        if self.sent or not self._transport.is_of_api(url):
            raise UnexpectedRequest(f"{method} {self._transport.redact(url)}")
        body = request.body or b""
        self.sent = Sent(
            method,
            self._transport.target_of(request.path_url, self.github.requester.graphql_url),
            body.encode() if isinstance(body, str) else body,
        )
        self.status, headers, content = self._transport.exchange(self, request)
        redact = self._transport.redact
        self.headers = {name: redact(value) for name, value in headers.items()}
        text = _without_token(content, redact)
        if text is None or self.status in _NOT_READ_BY_PYGITHUB:
            raise GithubException(self.status, None, dict(self.headers))
        self.is_array = text.lstrip()[:1] == b"["
        response = requests.Response()
        response.status_code = self.status
        response.headers.update(
            {n: v for n, v in self.headers.items() if not n.startswith("x-ratelimit-")}
        )
        response.encoding = "utf-8"
        response.raw = io.BytesIO(text)
        return response


def _without_token(content: bytes, redact: Callable[[str], str]) -> bytes | None:
    """Return the body of an answer in UTF-8 without the token.

    ``None`` if the body has half of a surrogate pair. The description of a pull request (its field
    ``body``) is not changed, because it is sent back with the text of other people in it.
    """
    text = content.decode("utf-8", "replace")
    redacted = redact(text)
    is_suspect = redacted != text or "\\u00" in text or _SURROGATE.search(text)
    if not is_suspect:
        return content if content.isascii() else text.encode()
    try:
        # A token may be written in escapes of JSON, so that only the decoded values show it
        data = _redacted(json.loads(text), redact)
        return json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair could not be sent, printed or written
        return None
    except (ValueError, RecursionError):
        return redacted.encode()


def _redacted(data: object, redact: Callable[[str], str]) -> object:
    if isinstance(data, str):
        return redact(data)
    if isinstance(data, list):
        return [_redacted(item, redact) for item in data]
    if isinstance(data, dict):
        return {
            name: value if name == "body" else _redacted(value, redact)
            for name, value in data.items()
        }
    return data


def _origin(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port; raises `ValueError` if the text is not an address."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


class _TooLargeError(Exception):
    """The answers in use take more than `LARGEST`; ``args`` begin a `NoAnswer`."""


class _Deadline:
    """Ends an exchange in time, by shutting down the connection that its thread uses.

    The time-out of a socket is not enough, because it starts again with every byte, also of the
    headers.
    """

    of_thread = threading.local()

    def __init__(self, seconds: float) -> None:
        self.fileno: Callable[[], int]
        """Returns the number of the socket; not set before there is a connection."""
        self.is_over = False
        """Whether the connection was shut down."""
        self.ended = threading.Event()
        """Set at the end of the exchange, after which nothing has to be shut down."""
        self.of_thread.deadline = self
        # If the system allows no more threads, the socket's time-out still ends a silent exchange
        with suppress(RuntimeError):
            threading.Thread(target=self._watch, args=(seconds,), daemon=True).start()

    def _watch(self, seconds: float) -> None:
        while not self.ended.wait(seconds):
            # If there is no socket yet, it tries again a second later
            seconds = 1.0
            with suppress(AttributeError, OSError, ValueError):
                twin = socket.socket(fileno=os.dup(self.fileno()))
                self.is_over = True
                with twin:
                    twin.shutdown(socket.SHUT_RDWR)


def _watched(pool: type[urllib3.HTTPConnectionPool]) -> type[urllib3.HTTPConnectionPool]:
    """Return a class of pool that passes each connection in use to the deadline of its thread."""

    class Watched(pool):  # type: ignore[misc, valid-type]
        def _get_conn(self, timeout: float | None = None) -> Any:
            connection = super()._get_conn(timeout)
            # A function, because the socket is made later
            _Deadline.of_thread.deadline.fileno = lambda: connection.sock.fileno()  # noqa: PLW0108
            return connection

    return Watched


def _tls_context() -> ssl.SSLContext:
    """Make the TLS context, one for all connections, because each takes about 20 ms to make.

    Raises `OSError` with the text "NAME=path" if a file of the environment cannot be used.
    """
    context = urllib3.util.ssl_.create_urllib3_context()
    name = next(filter(os.environ.get, CA_VARIABLES), "")
    path = os.environ.get(name) or certifi.where()
    try:
        kind = "capath" if Path(path).is_dir() else "cafile"
        context.load_verify_locations(**{kind: path})
    except (OSError, ValueError) as error:
        raise OSError(f"{name}={path}") from error
    return context


def _manager(api_url: str, pools: dict[str, Any]) -> urllib3.PoolManager:
    """Make the pools; they use the environment's proxy, except for this machine itself."""
    parts, proxy = urlsplit(api_url), None
    if not is_loopback(parts.hostname or ""):
        proxy = utils.select_proxy(api_url, utils.get_environ_proxies(api_url))
    if not proxy:
        return urllib3.PoolManager(**pools)
    url = proxy if "://" in proxy else f"http://{proxy}"
    user, password = utils.get_auth_from_url(url)
    headers = urllib3.make_headers(proxy_basic_auth=f"{user}:{password}") if user else None
    # A proxy that is reached over TLS has to have a certificate of the same authorities
    return urllib3.ProxyManager(
        url, proxy_headers=headers, proxy_ssl_context=pools.get("ssl_context"), **pools
    )


def _failure(error: Exception, seconds: float) -> NoAnswer:
    causes = list(_causes(error))
    last = causes[-1]
    words = last.strerror or str(last) if isinstance(last, OSError) else ""
    if isinstance(last, ssl.SSLCertVerificationError):
        words = last.verify_message
    is_of_proxy = any(isinstance(each, exceptions.ProxyError) for each in causes)
    trouble = Trouble.LASTING
    if words.startswith(_WRONG_LOGIN):
        # Not sent again, because some companies lock an account after a few wrong passwords
        text = "host.proxy_login"
    elif is_of_proxy and isinstance(last, ssl.SSLError) and type(last) not in _CLOSED:
        text = "host.proxy_tls"
    elif isinstance(last, ssl.SSLCertVerificationError):
        text = _CERTIFICATES.get(last.verify_code, "host.certificate_issuer")
    else:
        trouble, text = next(
            (trouble, text)
            for kinds, trouble, text in _TROUBLES
            if any(isinstance(each, kinds) for each in causes)
        )
    return NoAnswer(trouble, text, words or type(last).__name__, seconds)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and the exceptions that it wraps; the innermost comes last."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        wrapped = (each for each in cause.args if isinstance(each, BaseException))
        cause = next(wrapped, cause.__cause__)
