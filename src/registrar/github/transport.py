"""What lies beneath PyGithub: the adapter of its sessions, the pool of connections, the deadline.

PyGithub writes each request and reads its answer. What it cannot bear is kept from it here. An
answer comes within a deadline and a limit of size, as text in UTF-8 without the token; a read
follows redirects on the same host with its query; a 202 and any other redirect is a refusal, since
PyGithub (2.10) would sleep and repeat, or go elsewhere; and it is not given the numbers of rate
limits, which it reads without a check. Its own retries are switched off, because they would repeat
a write that was done and answered with a 5xx.

Several runs may live in one process, and PyGithub keeps its connection classes for all of them. So
those hold nothing of a run: the adapter takes pool, token and deadline from the `Attempt` under way
in its thread, and sends one request for each. It sends to the API alone, because PyGithub would
give the token to every subdomain of the host.
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
"""For a whole answer, from the connection to the last byte: GitHub itself gives up after 10 s
(https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api)."""
CONNECT_SECONDS = 10.0
SLOWEST_UPLOAD = 100_000
"""Bytes a second: a large request gets that much more time than `ANSWER_SECONDS`."""
LARGEST = 100_000_000
"""Bytes that the answers which are in use may take in memory, about, one alone or all together. The
largest that GitHub sends is a tree of 100,000 entries with seven values each
(https://docs.github.com/en/rest/git/trees), which takes 80 MB; a text of 20 MB takes 400 MB if
it is nothing but empty lists."""
VALUE = 80
"""Bytes that a value takes in memory, about, beside those of its text."""
_VALUES = (b",", b"[", b"{")
"""What each value begins with, or comes after."""
_CHUNK = 65_536
"""Bytes that are read at once."""
CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
_WRONG_LOGIN = "Tunnel connection failed: 407"
"""How `http.client` begins its message about this refusal of a proxy."""
_CERTIFICATES = {
    # X509_V_ERR_CERT_NOT_YET_VALID, …_HAS_EXPIRED, …_HOSTNAME_MISMATCH, …_IP_ADDRESS_MISMATCH
    **dict.fromkeys((9, 10), "host.certificate_expired"),
    **dict.fromkeys((62, 64), "host.certificate_name"),
}
_CLOSED = (ssl.SSLEOFError, ssl.SSLZeroReturnError)
"""The other end closed the connection, which may pass; other errors about TLS do not."""
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
"""A renamed repository, where a read may go on
(https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api)."""
_NOT_READ_BY_PYGITHUB = frozenset({202, *range(300, 400)})
"""Statuses that PyGithub would answer with a sleep and another request, or take for an object."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_UNDER_WAY = threading.local()
"""The `Attempt` that is under way in each thread."""

# PyGithub logs redirects with their address, which must not reach the console
for _library in ("github", "requests", "urllib3"):
    logging.getLogger(_library).handlers[:] = [logging.NullHandler()]
    logging.getLogger(_library).propagate = False


class _Adapter(adapters.BaseAdapter):
    """Hands each request of PyGithub's sessions to the attempt under way in its thread."""

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        attempt: Attempt | None = getattr(_UNDER_WAY, "attempt", None)
        if attempt is None:
            raise UnexpectedRequest(f"{request.method} {request.url}")
        return attempt.send(request)

    def close(self) -> None:
        """Close nothing: PyGithub ends its session with each request, the pool is the run's."""


_ADAPTER = _Adapter()


def _prepare(connection: HTTPRequestsConnectionClass | HTTPSRequestsConnectionClass) -> None:
    """Put our adapter beneath a connection of PyGithub, and nothing of the environment."""
    if ":" in connection.host:
        # PyGithub writes an address of IPv6 into its URLs as it is
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
        """Takes the token out of a text."""
        self._broken: NoAnswer | None = None
        """Why nothing can be sent at all."""
        self._lock = threading.Lock()
        self._in_use: dict[Attempt, int] = {}
        """Bytes that the answers which are read or understood take in memory, about."""
        parts = urlsplit(api_url)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        pools: dict[str, Any] = {"num_pools": 1, "maxsize": CONNECTIONS, "retries": False}
        if parts.scheme == "https":
            try:
                pools["ssl_context"] = _tls_context()
            except OSError as error:
                self._broken = NoAnswer(Trouble.LASTING, "host.ca_bundle", str(error))
        try:
            self._pools = _manager(api_url, pools)
        except (exceptions.HTTPError, ValueError):
            # Without the library's words: they may quote the address with its password
            self._broken = NoAnswer(Trouble.LASTING, "host.proxy_address")
            self._pools = urllib3.PoolManager(**pools)
        self._pools.pool_classes_by_scheme = {
            "http": _watched(urllib3.HTTPConnectionPool),
            "https": _watched(urllib3.HTTPSConnectionPool),
        }
        self.host: str | Message = parts.netloc
        """Who is asked, for people: the host, and the proxy that requests go through."""
        if url := self._pools.proxy:
            # Without its user and password
            through = f"{url.host}:{url.port}"
            self.host = msg("label.through_proxy", host=parts.netloc, proxy=through)

    def close(self) -> None:
        """Close the connections that are open and not in use."""
        # `clear` alone leaves that to the garbage collector
        for key in self._pools.pools.keys():  # noqa: SIM118 (urllib3 does not iterate over them)
            self._pools.pools[key].close()

    @contextmanager
    def attempt(self, most_seconds: float = ANSWER_SECONDS) -> Iterator["Attempt"]:
        """Let PyGithub send one request; its answer counts as in use until the end of the block.

        ``most_seconds`` leaves the answer less time than usual.
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
        # Made for each attempt, which costs no time: one is not safe to share between threads.
        # Lazy, so that an object with an address of our own sends nothing by itself
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
        """Give the path below the address of the API, or `GRAPHQL`."""
        if path == urlsplit(graphql_url).path:
            return GRAPHQL
        return path.removeprefix(urlsplit(self._api_url).path.rstrip("/"))

    def exchange(self, attempt: "Attempt", request: requests.PreparedRequest) -> _Received:
        """Send a request and read its answer; a read follows redirects that stay on this host.

        Raises `Unanswered`.
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
        """Where a redirect leads, as a path with its query, if it stays on this host."""
        if not self.is_of_api(location):
            return None
        there = urlsplit(location)
        query = there.query or urlsplit(path).query
        return f"{there.path or '/'}?{query}" if query else there.path or "/"

    def _exchange(
        self, attempt: "Attempt", request: requests.PreparedRequest, path: str
    ) -> _Received:
        if self._broken:
            raise Unanswered(self._broken)
        body = request.body or b""
        # A large request has more time
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
            # The connection lets go of its socket where an answer says that it is the last one
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
        """Count an answer that is being read."""
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
        """PyGithub for this attempt; its objects send nothing before they are asked to."""
        self.seconds = seconds
        """Time for the whole answer."""
        self.sent: Sent | None = None
        """``None`` if nothing was sent."""
        self.status = 0
        """0 if nothing was answered."""
        self.headers: Mapping[str, str] = {}
        """By their names in lower case."""
        self.is_array = False
        """Whether the answer is a JSON array: PyGithub reads ``{}`` as a list without items."""

    def response(self, data: object) -> Response:
        """Give the answer with the data that PyGithub has read."""
        return Response(self.status, self.headers, data)

    def send(self, request: requests.PreparedRequest) -> requests.Response:
        """Send the only request of the attempt and give the answer, fit for PyGithub.

        Raises `UnexpectedRequest` for another one and where it goes elsewhere, `Unanswered` where
        no answer came, `GithubException` for an answer that PyGithub would follow or repeat, or
        that holds half a character.
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
    """Give the body of an answer in UTF-8 without the token; ``None``: half a character is in it.

    The token stays in the body of a pull request, which goes back with what others wrote in it.
    """
    text = content.decode("utf-8", "replace")
    redacted = redact(text)
    is_suspect = redacted != text or "\\u00" in text or _SURROGATE.search(text)
    if not is_suspect:
        return content if content.isascii() else text.encode()
    try:
        # A token may come in the escapes of JSON, where only its values show it
        data = _redacted(json.loads(text), redact)
        return json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # It could not be sent, printed or written
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
    """Scheme, host and port; `ValueError` if it is no address."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


class _TooLargeError(Exception):
    """The answers that are in use take more than `LARGEST`; ``args`` say what that means."""


class _Deadline:
    """Ends an exchange in time: it shuts down the connection that its thread has taken.

    The time-out of a socket starts again with every byte, of headers, too.
    """

    of_thread = threading.local()

    def __init__(self, seconds: float) -> None:
        self.fileno: Callable[[], int]
        """Gives the number of the socket, if there is one."""
        self.is_over = False
        """Whether the connection was shut down."""
        self.ended = threading.Event()
        """Set when nothing is left to be shut down."""
        self.of_thread.deadline = self
        # Where the system allows no more threads, a host that is silent is given up all the same
        with suppress(RuntimeError):
            threading.Thread(target=self._watch, args=(seconds,), daemon=True).start()

    def _watch(self, seconds: float) -> None:
        while not self.ended.wait(seconds):
            # Where there is no socket yet: once more a second later
            seconds = 1.0
            with suppress(AttributeError, OSError, ValueError):
                twin = socket.socket(fileno=os.dup(self.fileno()))
                self.is_over = True
                with twin:
                    twin.shutdown(socket.SHUT_RDWR)


def _watched(pool: type[urllib3.HTTPConnectionPool]) -> type[urllib3.HTTPConnectionPool]:
    """A kind of pool that registers the connection it hands out with the thread's deadline."""

    class Watched(pool):  # type: ignore[misc, valid-type]
        def _get_conn(self, timeout: float | None = None) -> Any:
            connection = super()._get_conn(timeout)
            # The socket itself is made later
            _Deadline.of_thread.deadline.fileno = lambda: connection.sock.fileno()  # noqa: PLW0108
            return connection

    return Watched


def _tls_context() -> ssl.SSLContext:
    """Make the context of all connections: reading the certificates takes about 20 ms each time.

    Where the file that the environment names cannot be used, the error's text is "NAME=path".
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
    """Through the proxy of the environment; a loopback address has none, nor has plain HTTP."""
    parts, proxy = urlsplit(api_url), None
    if parts.scheme == "https" and not is_loopback(parts.hostname or ""):
        proxy = utils.select_proxy(api_url, utils.get_environ_proxies(api_url))
    if not proxy:
        return urllib3.PoolManager(**pools)
    url = proxy if "://" in proxy else f"http://{proxy}"
    user, password = utils.get_auth_from_url(url)
    headers = urllib3.make_headers(proxy_basic_auth=f"{user}:{password}") if user else None
    # A proxy may be reached over TLS, too: by the same authorities
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
    if is_of_proxy and words.startswith(_WRONG_LOGIN):
        # Not sent again: some companies lock an account after a few wrong passwords
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
    """An exception and those that it wraps; the innermost comes last."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        wrapped = (each for each in cause.args if isinstance(each, BaseException))
        cause = next(wrapped, cause.__cause__)
