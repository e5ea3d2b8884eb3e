"""Connections on which a whole answer has one deadline and one limit of size."""

from __future__ import annotations

import http.client
import io
import socket
import time
from typing import Any

import urllib3

ANSWER_SECONDS = 20.0
"""For a whole answer, from the connection to the last byte: GitHub itself gives up after 10 s
(https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api)."""
LARGEST_ANSWER = 20_000_000
"""Bytes, after decompression; the largest that GitHub sends is a tree of 7 MB."""
CHUNK = 65_536
"""Bytes that are read or written at once."""


class TooLargeError(Exception):
    """The answer has more than `LARGEST_ANSWER` bytes."""


class _TimedReader(io.RawIOBase):
    """Reads from a socket until a deadline for all reads together, and up to a number of bytes.

    The time-out of a socket alone starts again with every byte.
    """

    def __init__(self, raw: io.RawIOBase, sock: socket.socket) -> None:
        self._raw = raw
        self._socket = sock
        self._deadline = time.monotonic() + (sock.gettimeout() or ANSWER_SECONDS)
        self._left = 2 * LARGEST_ANSWER  # compression can make a body larger

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)
        count: int | None = self._raw.readinto(buffer)
        self._left -= count or 0
        if self._left < 0:
            raise TooLargeError
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **more: Any) -> None:
        super().__init__(sock, *args, **more)
        raw = self.fp.detach()
        self.fp = io.BufferedReader(_TimedReader(raw, sock))


class _Timed:
    """A connection with one time-out for the whole upload, and one for the whole answer."""

    response_class = _TimedResponse
    sock: socket.socket | None
    timeout: float | None

    def send(self, data: Any) -> None:
        view = memoryview(data)
        end = time.monotonic() + (self.timeout or ANSWER_SECONDS)
        for start in range(0, len(view), CHUNK):
            if self.sock is not None:
                self.sock.settimeout(max(end - time.monotonic(), 0.001))
            super().send(view[start : start + CHUNK])  # type: ignore[misc]


class _HTTPConnection(_Timed, urllib3.connection.HTTPConnection):  # type: ignore[misc]
    pass


class _HTTPSConnection(_Timed, urllib3.connection.HTTPSConnection):  # type: ignore[misc]
    pass


class HTTPPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _HTTPConnection


class HTTPSPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _HTTPSConnection
