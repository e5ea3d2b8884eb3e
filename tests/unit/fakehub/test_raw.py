"""Each script misbehaves as it is named, and ends when the client goes."""

from __future__ import annotations

import socket
import time
import zlib

import pytest
import requests

from tests.fakehub import Fault, FaultKind, StandInHost, raw, server
from tests.fakehub.answer import Script

from .conftest import Client

SCRIPTS = raw.SCRIPTS | {
    "drip-headers": raw.drip_headers(0.1),
    "drip-body": raw.drip_body(0.1),
}
REQUEST = b"GET /rate_limit HTTP/1.1\r\nHost: x\r\n\r\n"


def connect(host: StandInHost) -> socket.socket:
    """A connection on which a request was sent."""
    connection = socket.create_connection(("127.0.0.1", int(host.url.rpartition(":")[2])))
    connection.sendall(REQUEST)
    return connection


def received(host: StandInHost, script: Script, size: int = 1 << 22) -> bytes:
    """What a client gets until the end, or, without one, until it has so many bytes."""
    host.faults.add(Fault(FaultKind.RAW, script=script))
    found = b""
    with connect(host) as connection:
        connection.settimeout(60)
        while len(found) < size and (new := connection.recv(1 << 20)):
            found += new
    return found


@pytest.mark.parametrize(
    ("name", "first", "size", "seconds"),
    [
        ("drip-headers", b"HTTP/1.1 200 OK\r\nX-Drip: xxx", 28, 0.3),
        ("drip-body", b"HTTP/1.1 200 OK\r\n", 100, 0.2),
        ("endless-continue", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue", 250, 0.09),
        ("endless-headers", b"HTTP/1.1 200 OK\r\nX-More: and more\r\nX-More", 20_000, 0),
        ("endless-body", b"HTTP/1.1 200 OK\r\n", 1 << 20, 0),
    ],
)
def test_what_does_not_end(
    host: StandInHost, name: str, first: bytes, size: int, seconds: float
) -> None:
    began = time.monotonic()
    assert received(host, SCRIPTS[name], size).startswith(first)
    assert time.monotonic() - began >= seconds


@pytest.mark.parametrize(
    ("name", "first", "least", "most"),
    [
        ("accepted", b"HTTP/1.1 202 Accepted\r\n", 90, 100),
        ("slow-charset", b"HTTP/1.1 200 OK\r\n", 1_200_000, 1_200_200),
        ("deep-json", b"HTTP/1.1 200 OK\r\n", 200_000, 200_200),
        ("large-number", b"HTTP/1.1 200 OK\r\n", 1_000_000, 1_000_200),
        ("broken-chunks", b"HTTP/1.1 200 OK\r\n", 90, 120),
        ("cut-chunk", b"HTTP/1.1 200 OK\r\n", 90, 120),
        ("another-protocol", b"SSH-2.0", 20, 30),
    ],
)
def test_bytes(host: StandInHost, name: str, first: bytes, least: int, most: int) -> None:
    found = received(host, SCRIPTS[name])
    assert found.startswith(first)
    assert least <= len(found) <= most


def test_gzip_bomb(host: StandInHost) -> None:
    """It is a whole gzip file, a thousand times as large as it looks."""
    head, _, body = received(host, raw.gzip_bomb(100)).partition(b"\r\n\r\n")
    assert b"Content-Encoding: gzip" in head
    text = zlib.decompress(body, wbits=31)
    assert (len(text), text.strip()) == (100 * raw.MEGABYTE + 2, b"{}")
    assert len(body) < len(text) / 900


@pytest.mark.parametrize("name", ["broken-chunks", "cut-chunk", "reset-in-body"])
def test_broken_bodies(client: Client, name: str) -> None:
    client.host.faults.add(Fault(FaultKind.RAW, script=SCRIPTS[name]))
    with pytest.raises(requests.RequestException):
        client("GET", "/rate_limit")
    assert client("GET", "/rate_limit").status_code == 200


def test_it_happens_before_or_after(client: Client) -> None:
    before = Fault(FaultKind.RAW, script=raw.cut_chunk())
    after = Fault(FaultKind.RAW, script=raw.cut_chunk(), when="after")
    for fault, when, status in ((before, "before", 201), (after, "after", 422)):
        client.host.faults.add(fault)
        with pytest.raises(requests.RequestException):
            client.put(when)
        assert client.put(when).status_code == status


def test_bounds(host: StandInHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "RAW_BYTES", 3 * raw.BLOCK)
    assert raw.BLOCK < len(received(host, raw.endless_body())) < 5 * raw.BLOCK
    monkeypatch.setattr(server, "RAW_SECONDS", 0.1)
    assert len(received(host, raw.drip_headers(0.04))) < 32


def test_the_host_stops_in_the_middle() -> None:
    with StandInHost() as host:
        host.faults.add(Fault(FaultKind.RAW, script=raw.drip_body(60)))
        with socket.create_connection(
            ("127.0.0.1", int(host.url.rpartition(":")[2]))
        ) as connection:
            connection.sendall(REQUEST)
            assert connection.recv(1000)
            host.close()
            connection.settimeout(30)
            assert connection.recv(1000) == b""
