"""Sends one request and reads its answer, within a deadline and a limit of size.

The only importer of PyGithub and of what is below it. PyGithub writes the request; the answer is
read here, because PyGithub (2.10) follows redirects without their query, sleeps and repeats on
202, turns rate-limit headers into numbers without a check, and reads a body of any size. All
connections to the host share one pool, one TLS context and its proxy.
"""

import http.client
import logging
import os
import socket
import ssl
import threading
from collections.abc import Callable, ItemsView, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeAlias
from urllib.parse import urlsplit

import certifi
import urllib3
from github import Auth, Github
from requests import utils
from urllib3 import exceptions

from registrar import __version__
from registrar.github.case import API_VERSION
from registrar.github.exchange import GRAPHQL, NoAnswer, Response, Trouble
from registrar.github.limits import CONNECTIONS
from registrar.models.settings import is_loopback
from registrar.texts.escaping import Open, Redactor
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
(https://docs.github.com/en/rest/git/trees), which takes 80 MB; a text of 20 MB takes 400 MB where
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
    # By the end of the run: nobody waits for the answer any more
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
Answer: TypeAlias = tuple[int, Mapping[str, str], bytes]
"""Status, headers and body."""
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

    def __init__(self, *, token: str, api_url: str) -> None:
        self._token = token
        self._api_url = api_url
        self._redact = Redactor(token)
        self._broken: NoAnswer | None = None
        """Why nothing can be sent at all."""
        self._lock = threading.Lock()
        self._in_use: dict[int, int] = {}
        """Bytes that answers take in memory, about, by the threads that read or understand them."""
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
        self.host: str | Message = Open(parts.netloc)
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

    def forget(self) -> None:
        """Take note that this thread has understood its last answer, and needs it no longer."""
        with self._lock:
            self._in_use.pop(threading.get_ident(), None)

    def send(
        self,
        method: str,
        target: str,
        body: Mapping[str, object] | None,
        *,
        most_seconds: float = ANSWER_SECONDS,
    ) -> Response | NoAnswer:
        """Send one request; a read follows redirects that stay on this host.

        ``target`` is a path below ``api_url``, with its query, or `GRAPHQL`. ``most_seconds``
        leaves the answer less time than usual. An answer counts as in use until `forget`.
        """
        seconds = min(ANSWER_SECONDS, most_seconds)
        answer = self._send(method, target, body, seconds)
        for _ in range(MOST_REDIRECTS if method == "GET" else 0):
            elsewhere = self._same_host(answer, target)
            if elsewhere is None:
                break
            target = elsewhere
            answer = self._send(method, target, body, seconds)
        return answer

    def _send(
        self, method: str, target: str, body: Mapping[str, object] | None, seconds: float
    ) -> Response | NoAnswer:
        # Made for each request, which takes no time: one is not safe to share between threads
        requester = Github(
            auth=Auth.Token(self._token),
            base_url=self._api_url,
            user_agent=f"registrar/{__version__}",
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            api_version=API_VERSION,
        ).requester
        connection = _Connection(partial(self._exchange, seconds=seconds))
        requester.requestJson(
            method,
            requester.graphql_url if target == GRAPHQL else target,
            headers={"Accept": "application/vnd.github+json"},
            input=body,
            cnx=connection,  # type: ignore[arg-type] # a connection is whatever has its methods
        )
        answer = connection.answer
        if isinstance(answer, NoAnswer):
            return answer._replace(detail=self._redact(answer.detail))
        return Response.parse(*answer, self._redact)

    def _same_host(self, answer: Response | NoAnswer, target: str) -> str | None:
        """Where a redirect leads, if it stays on this host."""
        if isinstance(answer, NoAnswer) or answer.status not in _FOLLOWED:
            return None
        here, parts = urlsplit(self._api_url), ("scheme", "hostname", "port")
        try:
            there = urlsplit(answer.headers.get("location", ""))
            if any(getattr(there, part) != getattr(here, part) for part in parts):
                return None
        except ValueError:
            return None
        query = there.query or urlsplit(target).query
        return there._replace(query=query, fragment="").geturl()

    def _exchange(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], seconds: float
    ) -> NoAnswer | Answer:
        """Send a request; ``seconds`` is the time for the answer, and a large request has more."""
        if self._broken:
            return self._broken
        seconds += len(body or b"") / SLOWEST_UPLOAD
        deadline = _Deadline(seconds)
        try:
            response = self._pools.urlopen(
                method,
                self._origin + path,
                body=body,
                headers={**headers, "Accept-Encoding": "gzip"},
                timeout=urllib3.Timeout(connect=min(CONNECT_SECONDS, seconds), read=seconds),
                redirect=False,
                preload_content=False,
            )
            # The connection lets go of its socket where an answer says that it is the last one
            deadline.fileno = response.fileno
            return self._read(response, deadline)
        except _TooLargeError as error:
            trouble, text = error.args
            return NoAnswer(trouble, text, seconds=seconds)
        except (exceptions.HTTPError, http.client.HTTPException, OSError, ValueError) as error:
            return _failure(TimeoutError() if deadline.is_over else error, seconds)
        finally:
            deadline.ended.set()

    def _read(self, response: urllib3.BaseHTTPResponse, deadline: "_Deadline") -> Answer:
        body, size = bytearray(), 0
        try:
            while chunk := response.read(_CHUNK, decode_content=True):
                body += chunk
                size += len(chunk) + VALUE * sum(map(chunk.count, _VALUES))
                self._use(size)
            deadline.ended.set()
            if deadline.is_over:
                raise TimeoutError  # noqa: TRY301 (what was cut off may look whole)
            return response.status, dict(response.headers), bytes(body)
        except BaseException:
            response.close()
            raise
        finally:
            response.release_conn()

    def _use(self, size: int) -> None:
        """Count the answer of this thread."""
        with self._lock:
            self._in_use[threading.get_ident()] = size
            together = sum(self._in_use.values())
        if together > LARGEST:
            if size > LARGEST // 2:
                raise _TooLargeError(Trouble.TOO_LARGE, "fault.too_large")
            raise _TooLargeError(Trouble.LOST, "fault.together_too_large")


class _Connection:
    """Given to PyGithub as a connection: sends one request and keeps the answer.

    PyGithub itself gets an empty success, so that it does not react to the answer.
    """

    status = 200

    def __init__(self, exchange: Callable[..., NoAnswer | Answer]) -> None:
        self._exchange = exchange
        self.answer: NoAnswer | Answer

    def request(
        self, verb: str, url: str, content: str | None, headers: dict[str, str], *_: object
    ) -> None:
        body = None if content is None else content.encode()
        self.answer = self._exchange(verb, url, body, headers)

    def getresponse(self) -> Self:
        return self

    def read(self) -> str:
        return ""

    def getheaders(self) -> ItemsView[str, str]:
        return dict[str, str]().items()


class _TooLargeError(Exception):
    """The answers that are in use take more than `LARGEST`; ``args`` say what that means."""


class _Deadline:
    """Ends an exchange in time: it shuts down the connection that its thread has taken.

    The time-out of a socket starts again with every byte, of headers, too.
    """

    of_thread = threading.local()

    def __init__(self, seconds: float) -> None:
        self.fileno: Callable[[], int]
        """Gives the number of the socket, where there is one."""
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
    """A kind of pool that tells the deadline of a thread which connection it has taken."""

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
