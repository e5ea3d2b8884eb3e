"""A fault hits the right requests, before or after they are applied, with the right answer.

If the stand-in did not produce faults, the tests that use them would be green as well.
"""

from __future__ import annotations

import socket
import zlib

import pytest
import requests

from tests.clocks import FakeClock
from tests.fakehub import Fault, FaultKind, Repository, StandInHost, raw
from tests.fakehub.answer import Script

from .conftest import REPO, Client

AFTER = [kind for kind in FaultKind if kind.can_happen_after]


def outcome(client: Client) -> requests.Response | None:
    """Send a write, and return the answer; None if there is no usable answer."""
    try:
        return client.put("new")
    except requests.RequestException:
        return None


@pytest.mark.parametrize("kind", FaultKind)
def test_before_nothing_is_applied(client: Client, repository: Repository, kind: FaultKind) -> None:
    head = repository.head()
    fault = client.host.faults.add(Fault(kind, seconds=0.05))
    answer = outcome(client)
    assert answer is None or answer.status_code != 201
    assert (repository.head(), fault.hits) == (head, [1])
    assert client.put("new").status_code == 201


@pytest.mark.parametrize("kind", AFTER)
def test_after_it_is_applied(client: Client, repository: Repository, kind: FaultKind) -> None:
    client.host.faults.add(Fault(kind, when="after", seconds=0.05))
    outcome(client)
    assert repository.files()["new"] == b"x"


@pytest.mark.parametrize("kind", sorted(set(FaultKind) - set(AFTER)))
def test_a_refusal_cannot_come_after(kind: FaultKind) -> None:
    with pytest.raises(ValueError, match="refusal"):
        Fault(kind, when="after")


def test_which_requests_are_hit(client: Client) -> None:
    faults = client.host.faults
    late = faults.add(Fault(FaultKind.ERROR_500, at=3, times=2))
    writes = faults.add(Fault(FaultKind.ERROR_503, match=lambda r: r.method == "PUT", times=None))
    got = [client("GET", REPO).status_code for _ in range(5)]
    assert got == [200, 200, 500, 500, 200]
    assert [client.put("x").status_code for _ in range(2)] == [503, 503]
    assert (late.hits, writes.hits) == ([3, 4], [6, 7])


@pytest.mark.parametrize("kind", [k for k in FaultKind if k.startswith(("primary", "secondary"))])
def test_limits(client: Client, clock: FakeClock, kind: FaultKind) -> None:
    client.host.faults.add(Fault(kind, retry_after=7, reset_in=9))
    answer = client.put("new")
    assert answer.status_code == (429 if "429" in kind else 403)
    assert answer.headers.get("Retry-After") == ("7" if "retry-after" in kind else None)
    if kind.startswith("primary"):
        assert answer.headers["x-ratelimit-remaining"] == "0"
        assert int(answer.headers["x-ratelimit-reset"]) == clock.now + 9
    else:
        shown = answer.text + str(answer.headers)
        assert "secondary" in shown or "gh-limited-by" in shown


@pytest.mark.parametrize(
    ("kind", "status", "text"),
    [
        (FaultKind.ERROR_502_HTML, 502, "<html>"),
        (FaultKind.HTML_200, 200, "<html>"),
        (FaultKind.EMPTY_200, 200, ""),
        (FaultKind.CUT_JSON, 201, '{"content":'),
        (FaultKind.WRONG_LIST, 201, "["),
        (FaultKind.ERROR_LIST, 500, "["),
    ],
)
def test_bodies(client: Client, kind: FaultKind, status: int, text: str) -> None:
    client.host.faults.add(Fault(kind, when="after"))
    answer = outcome(client)
    assert answer is not None
    assert answer.status_code == status
    assert answer.text.startswith(text)


# --- Answers that no HTTP library would send -------------------------------------------------


def received(host: StandInHost, script: Script, size: int = 1 << 22) -> bytes:
    """Return the bytes that a client receives, until the end or until it has ``size`` bytes."""
    host.faults.add(Fault(FaultKind.RAW, script=script))
    found = b""
    address = ("127.0.0.1", int(host.url.rpartition(":")[2]))
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(b"GET /rate_limit HTTP/1.1\r\nHost: x\r\n\r\n")
        while len(found) < size and (new := connection.recv(1 << 20)):
            found += new
    return found


SCRIPTS = raw.SCRIPTS | {"drip-headers": raw.drip_headers(0.01), "drip-body": raw.drip_body(0.01)}
OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("name", "first", "size"),
    [
        ("drip-headers", OK + b"X-Drip: xxx", 28),
        ("drip-body", OK, 100),
        ("endless-continue", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue", 250),
        ("endless-headers", OK + b"X-More: and more\r\nX-More", 20_000),
        ("endless-body", OK, 1 << 20),
        ("accepted", b"HTTP/1.1 202 Accepted\r\n", 90),
        ("slow-charset", OK, 1_200_000),
        ("deep-json", OK, 200_000),
        ("large-number", OK, 1_000_000),
        ("broken-chunks", OK, 90),
        ("cut-chunk", OK, 90),
        ("another-protocol", b"SSH-2.0", 20),
    ],
)
def test_bytes(host: StandInHost, name: str, first: bytes, size: int) -> None:
    found = received(host, SCRIPTS[name], size)
    assert found.startswith(first)
    assert len(found) >= size


def test_gzip_bomb(host: StandInHost) -> None:
    """The body is a valid gzip file whose content is a thousand times as large."""
    head, _, body = received(host, raw.gzip_bomb(20)).partition(b"\r\n\r\n")
    assert b"Content-Encoding: gzip" in head
    text = zlib.decompress(body, wbits=31)
    assert (len(text), text.strip()) == (20 * raw.MEGABYTE + 2, b"{}")
    assert len(body) < len(text) / 900
