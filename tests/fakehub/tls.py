"""Certificates for the stand-in: good ones, and each kind of bad one."""

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
    """Who signs the certificates; a client that does not have its `bundle` trusts none of them.

    with StandInHost(tls=Authority().good()) as host: ...
    """

    def __init__(self) -> None:
        self._good: dict[tuple[str, ...], ssl.SSLContext] = {}

    @cached_property
    def _authority(self) -> trustme.CA:
        return trustme.CA()

    def bundle(self, path: Path) -> Path:
        """Write what a client needs to trust the certificates."""
        self._authority.cert_pem.write_to_path(path)
        return path

    @property
    def hashed_name(self) -> str:
        """Its file in a directory of certificates begins with this: ``openssl x509 -hash``."""
        pem = self._authority.cert_pem.bytes()
        names = (
            # Each part of the subject in its canonical form: a text in UTF-8 and lower case
            _der(0x31, _der(0x30, _oid(each.oid) + _der(0x0C, str(each.value).lower().encode())))
            for each in x509.load_pem_x509_certificate(pem).subject
        )
        digest = hashlib.sha1(b"".join(names), usedforsecurity=False).digest()
        return digest[3::-1].hex()

    def good(self, *names: str) -> ssl.SSLContext:
        """Return a context whose certificate is for these names, or for this machine."""
        # Made once: a proxy shows one for each connection
        wanted = names or NAMES
        if wanted not in self._good:
            self._good[wanted] = self._context(*wanted)
        return self._good[wanted]

    def expired(self) -> ssl.SSLContext:
        yesterday = datetime.now(UTC) - DAY
        return self._context(*NAMES, not_before=yesterday - DAY, not_after=yesterday)

    def wrong_name(self) -> ssl.SSLContext:
        """Return a context whose certificate is for another host than the one that shows it."""
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
    """Return an object identifier of DER, such as ``2.5.4.10``; those of a name are short."""
    first, second, *more = map(int, oid.dotted_string.split("."))
    return _der(0x06, bytes([40 * first + second, *more]))
