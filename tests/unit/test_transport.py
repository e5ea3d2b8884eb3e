"""One request to hosts that are slow, endless, broken or lying: raw sockets on loopback."""

from __future__ import annotations

import gzip
import resource
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import certifi
import pytest
from github import GithubException
from urllib3 import exceptions

from registrar.github import transport as module
from registrar.github.answer import NoAnswer, Response, Trouble, Unanswered
from registrar.github.transport import ANSWER_SECONDS, CONNECT_SECONDS, Transport
from tests.fakehub import raw
from tests.fakehub.answer import Drop, Script
from tests.fakehub.tls import Authority

TOKEN = "ghp_" + "aB3" * 12
LONG_TOKEN = "ghs_1234567_" + ".".join(["eyJ" + "x1Y" * 55] * 3)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
TOO_SLOW = 1.0
"""Seconds to wait for an answer that never comes. Other answers have the usual time."""


class RawHost:
    """A host that answers requests with its scripts, in order, and later ones with the last."""

    def __init__(self, *scripts: Script, tls: ssl.SSLContext | None = None) -> None:
        self.scripts = [*scripts]
        self._tls = tls
        self.requests: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        scheme = "https" if tls else "http"
        self.url = f"{scheme}://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with suppress(OSError):
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                while request := connection.recv(65536):
                    self.requests.append(request)
                    for part in self.scripts[: len(self.requests)][-1]():
                        if isinstance(part, Drop):
                            return
                        if isinstance(part, bytes):
                            connection.sendall(part)
                        else:
                            time.sleep(part)

    def close(self) -> None:
        self._socket.close()


Start = Callable[..., RawHost]


@pytest.fixture
def start() -> Iterator[Start]:
    hosts: list[RawHost] = []

    def start(*scripts: Script) -> RawHost:
        hosts.append(RawHost(*scripts))
        return hosts[-1]

    yield start
    for host in hosts:
        host.close()


def body(content: bytes, *headers: bytes) -> bytes:
    """Return the bytes of an answer with status 200."""
    more = b"".join(header + b"\r\n" for header in headers)
    return HEAD + more + b"Content-Length: %d\r\n\r\n" % len(content) + content


def send(url: str, token: str = TOKEN, seconds: float = ANSWER_SECONDS) -> Response | NoAnswer:
    """Let PyGithub send one request, and return the answer, or the reason why there is none.

    ``seconds`` is the time for the answer.
    """
    return ask(Transport(token=token, api_url=url), "GET", seconds=seconds)


def ask(
    transport: Transport, method: str, content: object = None, seconds: float = ANSWER_SECONDS
) -> Response | NoAnswer:
    """Let PyGithub send one request, and return the answer with the data that PyGithub has read.

    The data is None if PyGithub could not read it.
    """
    with transport.attempt(seconds) as attempt:
        requester = attempt.github.requester
        try:
            _, data = requester.requestJsonAndCheck(method, "/x?a=b", input=content)
        except Unanswered as error:
            return error.why
        except GithubException as error:
            data = error.data
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict):
            # PyGithub adds the address of the request
            data.pop("url", None)
        return attempt.response(data)


DRIPS: dict[str, Script] = {
    "a drip in the body": raw.drip_body(0.1),
    "a drip in the headers": raw.drip_headers(0.1),
    "a drip without a length": raw.forever(HEAD + b"\r\n{}", b" ", 0.1),
    "a drip in a length": raw.forever(CHUNKED + b"2;", b"x", 0.1),
    "endless trailers": raw.forever(CHUNKED + b"2\r\n{}\r\n0\r\n", b"X: y\r\n"),
    "a drip in the status": raw.forever(b"HTTP/1.1 ", b"2", 0.1),
    "silence": raw.of(5.0),
    "endless 100": raw.endless_continue(),
}
"""Answers that do not end, although each of their bytes comes soon."""
HOSTILE: dict[str, tuple[Script, str]] = {
    "endless headers": (raw.endless_headers(), "fault.connection_lost"),
    "an endless body": (raw.forever(HEAD + b"\r\n", b"[" * 65536), "fault.too_large"),
    "endless chunks": (raw.endless_body(), "fault.too_large"),
    "small values that are large together": (
        raw.of(body(b"[" + b"[]," * 7_000_000 + b"1]")),
        "fault.too_large",
    ),
    "a gzip bomb": (raw.gzip_bomb(), "fault.too_large"),
    "nothing": (raw.of(Drop(reset=False)), "fault.connection_lost"),
    "no HTTP": (raw.another_protocol(), "fault.connection_lost"),
    "half a body": (
        raw.of(HEAD + b"Content-Length: 9\r\n\r\n{", Drop(reset=False)),
        "fault.connection_lost",
    ),
}


@contextmanager
def in_time_and_within_memory() -> Iterator[None]:
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    yield
    assert time.monotonic() - began < ANSWER_SECONDS
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) < 150_000


def reason(found: Response | NoAnswer) -> str:
    """Return why there is no answer."""
    assert isinstance(found, NoAnswer)
    return found.text


@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends_in_time_and_within_memory(start: Start, name: str) -> None:
    script, expected = HOSTILE[name]
    with in_time_and_within_memory():
        assert reason(send(start(script).url)) == expected


def test_it_ends_in_time_wherever_it_drips(start: Start) -> None:
    """All at once, because each of them takes `TOO_SLOW` seconds."""
    hosts = [start(script) for script in DRIPS.values()]
    with in_time_and_within_memory(), ThreadPoolExecutor(len(hosts)) as pool:
        found = [*pool.map(lambda host: send(host.url, seconds=TOO_SLOW), hosts)]
    reasons = dict(zip(DRIPS, map(reason, found), strict=True))
    assert reasons == dict.fromkeys(DRIPS, "fault.timeout")


@pytest.mark.parametrize("name", ["a drip in the headers", "a drip without a length"])
def test_it_ends_in_time_where_it_is_encrypted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority()
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.bundle(tmp_path / "ca.pem")))
    host = RawHost(DRIPS[name], tls=authority.good())
    began = time.monotonic()
    found = send(host.url, seconds=TOO_SLOW)
    host.close()
    assert isinstance(found, NoAnswer)
    assert (found.trouble, found.text) == (Trouble.LOST, "fault.timeout")
    assert time.monotonic() - began < ANSWER_SECONDS


def test_a_request_that_is_not_read_ends_in_time(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SLOWEST_UPLOAD", 20_000_000)
    host = start(raw.of(ANSWER_SECONDS))
    began = time.monotonic()
    content = {"content": "x" * 20_000_000}
    found = ask(Transport(token=TOKEN, api_url=host.url), "PUT", content, TOO_SLOW)
    assert isinstance(found, NoAnswer)
    assert (found.text, round(found.seconds)) == ("fault.timeout", 2)
    assert time.monotonic() - began < ANSWER_SECONDS / 2


def test_an_answer_after_a_name_that_resolves_slowly_ends_in_time(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is over before there is a connection that could be shut down."""
    resolve = socket.getaddrinfo

    def slowly(*args: Any, **more: Any) -> Any:
        time.sleep(1.5 * TOO_SLOW)
        return resolve(*args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slowly)
    drip = [part for _ in range(200) for part in (b" ", 0.1)]
    host = start(raw.of(HEAD + b"Content-Length: 202\r\n\r\n", *drip, b"{}"))
    found = send(host.url, seconds=TOO_SLOW)
    assert isinstance(found, NoAnswer)
    assert found[:2] == (Trouble.LOST, "fault.timeout")


def test_a_connection_that_hangs_while_it_is_made_ends_in_time() -> None:
    # Only one connection may wait, so the system does not answer the next one
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as full,
        socket.create_connection(full.getsockname()),
    ):
        began = time.monotonic()
        found = send(f"http://127.0.0.1:{full.getsockname()[1]}", seconds=TOO_SLOW)
    assert isinstance(found, NoAnswer)
    assert found[:2] == (Trouble.NOT_SENT, "fault.connect_timeout")
    assert time.monotonic() - began < CONNECT_SECONDS


def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        found = send(f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert isinstance(found, NoAnswer)
    assert found[:3] == (Trouble.NOT_SENT, "fault.no_connection", "Connection refused")


@pytest.mark.parametrize(
    ("content", "data"),
    [
        (b'{"a": 1}', {"a": 1}),
        ('{"a": "日本"}'.encode(), {"a": "日本"}),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
        (b"", None),
        (b"<html>", {"data": "<html>"}),
        (b"[" * 100_000, None),
        (b'{"a": ' + b"9" * 5000 + b"}", None),
    ],
)
def test_a_body_is_json_in_utf_8_or_nothing(start: Start, content: bytes, data: object) -> None:
    for charset in (b"utf-8", b"punycode", b"utf-16", b"x"):
        answer = body(content, b"Content-Type: application/json; charset=" + charset)
        found = send(start(raw.of(answer)).url)
        assert isinstance(found, Response)
        assert found.data == data


def test_a_large_body_in_an_odd_encoding_takes_no_time(start: Start) -> None:
    content = b'{"a": "' + b"a-" * 600_000 + b'"}'
    answer = body(content, b"Content-Type: text/plain; charset=punycode")
    began = time.monotonic()
    assert isinstance(send(start(raw.of(answer)).url), Response)
    assert time.monotonic() - began < ANSWER_SECONDS


def test_an_answer_may_be_compressed(start: Start) -> None:
    answer = body(gzip.compress(b'{"a": 1}'), b"Content-Encoding: gzip")
    found = send(start(raw.of(answer)).url)
    assert isinstance(found, Response)
    assert found.data == {"a": 1}


@pytest.mark.parametrize("value", [b"inf", b"nan", b"-1", b"x", b"9" * 400, b""])
def test_broken_headers(start: Start, value: bytes) -> None:
    names = (b"X-RateLimit-Reset", b"X-RateLimit-Remaining", b"X-RateLimit-Limit", b"Retry-After")
    answer = body(b"{}", *(name + b": " + value for name in names), b"X-OAuth-Scopes: " + value)
    found = send(start(raw.of(answer)).url)
    assert isinstance(found, Response)
    assert found.data == {}


def test_202_is_an_answer_and_no_reason_to_wait(start: Start) -> None:
    host = start(raw.accepted())
    found = send(host.url)
    assert isinstance(found, Response)
    assert (found.status, len(host.requests)) == (202, 1)


# --- The token ----------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [TOKEN, LONG_TOKEN, "github_pat_" + "aB3" * 25])
def test_a_token_that_is_echoed_is_taken_out_before_anybody_sees_it(
    start: Start, token: str
) -> None:
    escaped = "".join(f"\\u{ord(c):04x}" for c in token)
    content = (
        f'{{"a": "{token}", "b": ["x{token}x"], "c": "{escaped}", '
        f'"d": {{"e": "{token[: len(token) // 2 + 8]}"}}}}'
    ).encode()
    answer = body(content, b"X-Echo: " + token.encode())
    found = send(start(raw.of(answer)).url, token)
    assert isinstance(found, Response)
    assert token not in repr(found)
    assert token[: len(token) // 2] not in repr(found)


def test_a_token_in_the_escapes_of_json_is_taken_out(start: Start) -> None:
    """The answer contains the token only in escapes, not literally."""
    escaped = "".join(f"\\u{ord(c):04x}" for c in TOKEN)
    answer = body(f'{{"message": "{escaped}"}}'.encode())
    found = send(start(raw.of(answer)).url)
    assert isinstance(found, Response)
    assert found.data == {"message": "***"}


def test_the_token_is_sent_to_the_api_alone(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    denied = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    proxy = start(raw.of(denied))
    api = start(raw.of(body(b'{"api": 1}')))
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        # Many environments name a proxy without its scheme
        monkeypatch.setenv(name, proxy.url.removeprefix("http://"))
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    found = send(api.url)
    assert isinstance(found, Response)
    assert found.data == {"api": 1}
    assert proxy.requests == []
    assert TOKEN.encode() in api.requests[0]
    refused = send("https://api.example.invalid")
    assert isinstance(refused, NoAnswer)
    assert (refused.trouble, refused.text) == (Trouble.LASTING, "host.proxy_login")
    proxy.scripts = [
        raw.of(b"HTTP/1.1 502 No %b here\r\nContent-Length: 0\r\n\r\n" % TOKEN.encode())
    ]
    refused = send("https://api.example.invalid")
    assert isinstance(refused, NoAnswer)
    assert refused.detail == "Tunnel connection failed: 502 No *** here"
    assert proxy.requests
    assert all(TOKEN.encode() not in request for request in proxy.requests)


def redirect(host: RawHost, path: str, status: str = "301 M") -> Script:
    """Return the bytes of a redirect to a path of the same host."""
    return raw.of(raw.head(f"Location: {host.url}{path}", "Content-Length: 0", status=status))


@pytest.mark.parametrize("status", ["301 M", "307 T", "308 P"])
def test_a_redirect_is_followed_on_this_host_alone_with_its_query(
    start: Start, status: str
) -> None:
    host = start()
    host.scripts = [redirect(host, "/y", status), raw.of(body(b'{"y": 1}'))]
    found = send(host.url)
    assert isinstance(found, Response)
    assert found.data == {"y": 1}
    assert host.requests[1].startswith(b"GET /y?a=b ")


@pytest.mark.parametrize(("to", "path"), [("/y?c=d", "/y?c=d"), ("", "/?a=b"), ("?c=d", "/?c=d")])
def test_the_address_of_a_redirect_counts_as_it_is(start: Start, to: str, path: str) -> None:
    host = start()
    host.scripts = [redirect(host, to), raw.of(body(b"{}"))]
    assert isinstance(send(host.url), Response)
    assert host.requests[1].startswith(f"GET {path} ".encode())


def test_redirects_end(start: Start) -> None:
    host = start()
    host.scripts = [redirect(host, "/x")]
    found = send(host.url)
    assert isinstance(found, Response)
    assert (found.status, len(host.requests)) == (301, 4)


# --- TLS ----------------------------------------------------------------------------------------


def test_certificates_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("no certificate")
    for path in (tmp_path / "missing.pem", tmp_path / "none.pem"):
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(path))
        found = send("https://127.0.0.1:1")
        assert isinstance(found, NoAnswer)
        assert found[:3] == (Trouble.LASTING, "host.ca_bundle", f"REQUESTS_CA_BUNDLE={path}")
    monkeypatch.setenv("GITHUB_WORKSPACE", "/github/workspace")
    found = send("https://127.0.0.1:1")
    assert isinstance(found, NoAnswer)
    assert found.text == "host.ca_bundle_in_container"
    for empty in ("", str(certifi.where())):
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", empty)
        found = send("https://127.0.0.1:1")
        assert isinstance(found, NoAnswer)
        assert found.text == "fault.no_connection"


def test_after_its_end_a_run_tries_nothing_again(start: Start) -> None:
    """Another thread may still want to send a request, but nobody waits for its answer."""
    host = start(raw.of(body(b"{}")))
    transport = Transport(token=TOKEN, api_url=host.url)
    assert isinstance(ask(transport, "GET"), Response)
    transport.close()
    found = ask(transport, "GET")
    assert isinstance(found, NoAnswer)
    assert found.trouble is Trouble.LASTING


@pytest.mark.parametrize("kind", [ssl.SSLEOFError, ssl.SSLZeroReturnError])
def test_a_connection_that_the_other_end_has_closed_may_be_made_later(
    kind: type[ssl.SSLError],
) -> None:
    closed = kind("closed")
    for error, text in (
        (exceptions.SSLError(closed), "fault.connection_lost"),
        (exceptions.ProxyError("", closed), "fault.proxy"),
    ):
        found = module._failure(error, 1.0)
        assert (found.text, found.trouble is Trouble.LASTING) == (text, False)


def test_one_context_for_all_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ssl.SSLContext] = []
    real = ssl.SSLContext.load_verify_locations

    def load(self: ssl.SSLContext, *args: object, **more: object) -> None:
        made.append(self)
        real(self, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", load)
    with socket.create_server(("127.0.0.1", 0)) as unused:
        url = f"https://127.0.0.1:{unused.getsockname()[1]}"
    transport = Transport(token=TOKEN, api_url=url)
    for _ in range(3):
        assert isinstance(ask(transport, "GET"), NoAnswer)
    assert len(made) == 1


def test_an_address_of_ipv6_has_its_brackets() -> None:
    """PyGithub puts the name of a host into its addresses without a change."""
    refused = send("http://[::1]:1")
    assert isinstance(refused, NoAnswer)
    assert refused.trouble is Trouble.NOT_SENT
