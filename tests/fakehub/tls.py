"""Certificates for the stand-in: good ones, and each kind of bad one."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

import trustme

NAMES = ("127.0.0.1", "localhost")
DAY = timedelta(days=1)


class Authority:
    """Who signs the certificates; a client that does not have its `bundle` trusts none of them.

    with StandInHost(tls=Authority().good()) as host: ...
    """

    @cached_property
    def _authority(self) -> trustme.CA:
        return trustme.CA()

    def bundle(self, path: Path) -> Path:
        """Write what a client needs to trust the certificates."""
        self._authority.cert_pem.write_to_path(path)
        return path

    def good(self, *names: str) -> ssl.SSLContext:
        """For these names, or for this machine."""
        return self._context(*(names or NAMES))

    def expired(self) -> ssl.SSLContext:
        yesterday = datetime.now(UTC) - DAY
        return self._context(*NAMES, not_before=yesterday - DAY, not_after=yesterday)

    def wrong_name(self) -> ssl.SSLContext:
        """For another host than the one that shows it."""
        return self._context("api.example.com")

    def _context(
        self, *names: str, not_before: datetime | None = None, not_after: datetime | None = None
    ) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        issued = self._authority.issue_cert(*names, not_before=not_before, not_after=not_after)
        issued.configure_cert(context)
        return context
