"""Scripts of answers that no HTTP library would send: slow, endless, broken, or far too large.

    host.faults.add(Fault(FaultKind.RAW, script=drip_body(3.0)))

`server` limits the time and the size of such an answer, and ends it if the client has gone.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from itertools import repeat

from .answer import Drop, Script

BLOCK = 1 << 16
MEGABYTE = 1 << 20
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
JSON = "application/json; charset=utf-8"


def head(*lines: str, status: str = "200 OK", kind: str = JSON) -> bytes:
    return "\r\n".join((f"HTTP/1.1 {status}", f"Content-Type: {kind}", *lines, "", "")).encode()


def of(*parts: bytes | float | Drop) -> Script:
    """Return a script that sends these parts."""
    return lambda: iter(parts)


def forever(first: bytes, again: bytes, pause: float = 0.0) -> Script:
    """Return a script that sends `first` once, and then `again` after every `pause` (seconds)."""

    def script() -> Iterator[bytes | float | Drop]:
        yield first
        while True:
            yield pause
            yield again

    return script


def drip_headers(pause: float) -> Script:
    """Send one byte of an endless header every `pause` seconds."""
    return forever(b"HTTP/1.1 200 OK\r\nX-Drip: ", b"x", pause)


def drip_body(pause: float) -> Script:
    """Send one byte of a body every `pause` seconds."""
    return forever(head("Content-Length: 1000000"), b" ", pause)


def endless_continue(pause: float = 0.01) -> Script:
    """Send `100 Continue`, which promises an answer, again and again."""
    return forever(CONTINUE, CONTINUE, pause)


def endless_headers() -> Script:
    return forever(b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n")


def endless_body() -> Script:
    """Send a chunked body without an end."""
    return forever(head("Transfer-Encoding: chunked"), b"%x\r\n%s\r\n" % (BLOCK, b" " * BLOCK))


def accepted() -> Script:
    """Send 202, which asks the client to come back later."""
    return of(head("Content-Length: 2", status="202 Accepted"), b"{}")


def gzip_bomb(megabytes: int = 1024) -> Script:
    """Send JSON text with so many megabytes of blanks, compressed to a thousandth of its size."""

    def script() -> Iterator[bytes | float | Drop]:
        yield head("Content-Encoding: gzip", "Connection: close")
        # The format is a header, the same complete block again and again, a checksum, the length
        yield b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
        blanks, checksum = b" " * MEGABYTE, 0
        deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        block = deflate.compress(blanks) + deflate.flush(zlib.Z_FULL_FLUSH)
        for _ in repeat(None, megabytes):
            checksum = zlib.crc32(blanks, checksum)
            yield block
        checksum = zlib.crc32(b"{}", checksum)
        deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        yield deflate.compress(b"{}") + deflate.flush()
        length = (megabytes * MEGABYTE + 2) & 0xFFFFFFFF
        yield checksum.to_bytes(4, "little") + length.to_bytes(4, "little")

    return script


def slow_charset(size: int = 1_200_000) -> Script:
    """Send a body in a character set whose decoding takes time by the square of its length."""
    kind = "application/json; charset=punycode"
    return of(head(f"Content-Length: {size}", kind=kind), b"a" * size)


def deep_json(depth: int = 100_000) -> Script:
    """Send lists in lists, deeper than a parser can follow."""
    body = b"[" * depth + b"]" * depth
    return of(head(f"Content-Length: {len(body)}"), body)


def large_number(digits: int = 1_000_000) -> Script:
    """Send a number whose parsing takes time by the square of its length."""
    body = b'{"id": ' + b"9" * digits + b"}"
    return of(head(f"Content-Length: {len(body)}"), body)


def many_values(count: int = 300_000) -> Script:
    """Send many objects; in memory each takes far more room than its text."""
    body = b"[" + b'{"a":1},' * count + b"{}]"
    return of(head(f"Content-Length: {len(body)}"), body)


def broken_chunks() -> Script:
    """Send a chunk without a valid length."""
    return of(head("Transfer-Encoding: chunked"), b"zz\r\n{}\r\n0\r\n\r\n")


def cut_chunk() -> Script:
    """Send a chunk that is shorter than its announced length."""
    return of(head("Transfer-Encoding: chunked"), b"100\r\n{", Drop(reset=False))


def reset_in_body() -> Script:
    return of(head("Content-Length: 100"), json.dumps({"id": 1}).encode(), Drop(reset=True))


def another_protocol() -> Script:
    return of(b"SSH-2.0-OpenSSH_9.2\r\n")


SCRIPTS: dict[str, Script] = {
    "drip-headers": drip_headers(3.0),
    "drip-body": drip_body(3.0),
    "endless-continue": endless_continue(),
    "endless-headers": endless_headers(),
    "endless-body": endless_body(),
    "accepted": accepted(),
    "gzip-bomb": gzip_bomb(),
    "slow-charset": slow_charset(),
    "deep-json": deep_json(),
    "large-number": large_number(),
    "many-values": many_values(),
    "broken-chunks": broken_chunks(),
    "cut-chunk": cut_chunk(),
    "reset-in-body": reset_in_body(),
    "another-protocol": another_protocol(),
}
"""All scripts by name, for tests that try every one."""
