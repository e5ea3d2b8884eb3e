"""Certificates for the stand-in: valid, expired, or for another name."""

from __future__ import annotations

import hashlib
import ssl
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

import trustme
from cryptography import x509

NAMES = ("127.0.0.1", "localhost")
DAY = timedelta(days=1)


class Authority:
    """An authority that signs certificates. Only clients that have its `bundle` trust them.

    with StandInHost(tls=Authority().good()) as host: ...
    """

    def __init__(self) -> None:
        self._good: dict[tuple[str, ...], ssl.SSLContext] = {}

    @cached_property
    def _authority(self) -> trustme.CA:
        return trustme.CA()

    def bundle(self, path: Path) -> Path:
        """Write the authority's own certificate to `path`, and return the path.

        A client needs it to trust the other certificates.
        """
        self._authority.cert_pem.write_to_path(path)
        return path

    @property
    def hashed_name(self) -> str:
        """The hash with which the file name in a directory of certificates begins.

        ``openssl x509 -hash`` prints the same one.
        """
        pem = self._authority.cert_pem.bytes()
        names = (
            # The canonical form of each part of the subject is UTF-8 in lower case
            _der(0x31, _der(0x30, _oid(each.oid) + _der(0x0C, str(each.value).lower().encode())))
            for each in x509.load_pem_x509_certificate(pem).subject
        )
        digest = hashlib.sha1(b"".join(names), usedforsecurity=False).digest()
        return digest[3::-1].hex()

    def good(self, *names: str) -> ssl.SSLContext:
        """Return a context with a valid certificate for these names, or for this machine."""
        # It is kept, because a proxy needs one for each connection
        wanted = names or NAMES
        if wanted not in self._good:
            self._good[wanted] = self._context(*wanted)
        return self._good[wanted]

    def expired(self) -> ssl.SSLContext:
        yesterday = datetime.now(UTC) - DAY
        return self._context(*NAMES, not_before=yesterday - DAY, not_after=yesterday)

    def wrong_name(self) -> ssl.SSLContext:
        """Return a context whose certificate is for another host."""
        return self._context("api.example.com")

    def _context(
        self, *names: str, not_before: datetime | None = None, not_after: datetime | None = None
    ) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        issued = self._authority.issue_cert(*names, not_before=not_before, not_after=not_after)
        issued.configure_cert(context)
        return context


def _der(tag: int, content: bytes) -> bytes:
    return bytes([tag, len(content)]) + content


def _oid(oid: x509.ObjectIdentifier) -> bytes:
    """Return an object identifier, such as ``2.5.4.10``, in DER; its numbers must be below 128."""
    first, second, *more = map(int, oid.dotted_string.split("."))
    return _der(0x06, bytes([40 * first + second, *more]))
