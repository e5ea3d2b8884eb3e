"""The address of GitHub's REST API."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, unquote, urlsplit

from registrar.runtime.loopback import is_loopback
from registrar.texts.messages import Message, msg

DEFAULT = "https://api.github.com"
_WEB_HOSTS = ("api.github.com", "github.com", "www.github.com")
_CLOUD = ".ghe.com"
"""End of the host names of GitHub Enterprise Cloud with data residency."""


def diagnostic(url: str) -> Message | None:
    """Explain why the API cannot be at ``url``; ``None`` when it can.

    One that may hold a user and a password is not repeated: whoever reads the log would read it.
    """
    if "@" in unquote(unquote(url)):
        return msg("input.api_url_login")
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return msg("input.api_url_malformed", value=url)
    clean = url.isascii() and url.isprintable() and not re.search(r"[\s\\]", url)
    extra = parts.query or parts.fragment
    if parts.scheme not in {"http", "https"} or not host or extra or not clean:
        return msg("input.api_url_malformed", value=url)
    if parts.scheme == "http" and not is_loopback(host):
        return msg("input.api_url_plain_http", value=url)
    if not _is_api_path(host, parts.path.rstrip("/")):
        return msg("input.api_url_path", value=url, close=_api_root(parts))
    return None


def _is_api_path(host: str, path: str) -> bool:
    """Whether GitHub's REST API can begin there: an Enterprise Server has it below ``/api/v3``.

    https://docs.github.com/en/enterprise-server@latest/rest/using-the-rest-api
    """
    if host in _WEB_HOSTS or host.endswith(_CLOUD):
        return host.startswith("api.") and not path
    return path.endswith("/api/v3") or (not path and is_loopback(host))


def _api_root(parts: SplitResult) -> str:
    """The address that was probably meant."""
    host = parts.hostname or ""
    if host in _WEB_HOSTS:
        return DEFAULT
    if host.endswith(_CLOUD):
        return f"https://api.{host.removeprefix('api.')}"
    return f"{parts.scheme}://{parts.netloc}/api/v3"
