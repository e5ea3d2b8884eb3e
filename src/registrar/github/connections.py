"""The connections to one host: one pool, one TLS context, its proxy, and what ends them."""

from __future__ import annotations

import http.client
import os
import ssl
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import certifi
import urllib3
from requests import utils
from urllib3 import exceptions

from registrar.github.limits import CONNECTIONS
from registrar.github.response import NoAnswer, Trouble
from registrar.github.timed import CHUNK, LARGEST_ANSWER, HTTPPool, HTTPSPool, TooLargeError
from registrar.runtime.loopback import is_loopback

CONNECT_SECONDS = 10.0
SLOWEST_UPLOAD = 100_000
"""Bytes a second: a large request gets that much more time than `ANSWER_SECONDS`."""
LARGEST_TOGETHER = 40_000_000
"""Bytes of all answers that are read at once: files are checked on many connections, and GitHub
sends up to 1.4 MB for each of them."""
CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
_WRONG_LOGIN = "Tunnel connection failed: 407"
"""How `http.client` begins its message about this refusal of a proxy."""
_CERTIFICATES = {
    # X509_V_ERR_CERT_NOT_YET_VALID, …_HAS_EXPIRED, …_HOSTNAME_MISMATCH, …_IP_ADDRESS_MISMATCH
    **dict.fromkeys((9, 10), Trouble.CERTIFICATE_EXPIRED),
    **dict.fromkeys((62, 64), Trouble.CERTIFICATE_NAME),
}
_CLOSED = (ssl.SSLEOFError, ssl.SSLZeroReturnError)
"""The other end closed the connection, which may pass; other errors about TLS do not."""
_TROUBLES: tuple[tuple[type[Exception] | tuple[type[Exception], ...], Trouble], ...] = (
    (exceptions.ProxyError, Trouble.PROXY),
    (exceptions.NameResolutionError, Trouble.NO_NAME),
    (exceptions.NewConnectionError, Trouble.NO_CONNECTION),
    (exceptions.ConnectTimeoutError, Trouble.CONNECT_TIMEOUT),
    ((exceptions.TimeoutError, TimeoutError), Trouble.TIMEOUT),
    (_CLOSED, Trouble.CONNECTION_LOST),
    ((exceptions.SSLError, ssl.SSLError), Trouble.TLS),
)


class _TooLargeTogetherError(Exception):
    """All answers that are being read have more than `LARGEST_TOGETHER` bytes."""


class Connections:
    """Sends requests to one host. May be used from several threads."""

    def __init__(self, api_url: str) -> None:
        """Nothing is opened before the first request."""
        parts = urlsplit(api_url)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._broken: NoAnswer | None = None
        self._lock = threading.Lock()
        self._being_read = 0
        """Bytes of all answers that are being read."""
        pools: dict[str, Any] = {"num_pools": 1, "maxsize": CONNECTIONS, "retries": False}
        if parts.scheme == "https":
            try:
                pools["ssl_context"] = _tls_context()
            except OSError as error:
                self._broken = NoAnswer(Trouble.CA_BUNDLE, str(error))
        proxy = _proxy(api_url)
        try:
            self._pools = _proxied(proxy, pools) if proxy else urllib3.PoolManager(**pools)
        except (exceptions.HTTPError, ValueError):
            # Without the library's words: they may quote the address with its password
            self._broken = NoAnswer(Trouble.PROXY_ADDRESS)
            self._pools = urllib3.PoolManager(**pools)
        self._pools.pool_classes_by_scheme = {"http": HTTPPool, "https": HTTPSPool}

    @property
    def proxy(self) -> str:
        """Name and port of the proxy, without its user and password; empty when there is none."""
        url = self._pools.proxy
        return f"{url.host}:{url.port}" if url else ""

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], seconds: float
    ) -> NoAnswer | tuple[int, Mapping[str, str], bytes]:
        """Send a request; gives status, headers and body of the answer.

        ``seconds`` is the time for the answer; a large request has more.
        """
        if self._broken:
            return self._broken
        seconds += len(body or b"") / SLOWEST_UPLOAD
        timeout = urllib3.Timeout(total=seconds, connect=min(CONNECT_SECONDS, seconds))
        try:
            response = self._pools.urlopen(
                method,
                self._origin + path,
                body=body,
                headers={**headers, "Accept-Encoding": "gzip"},
                timeout=timeout,
                redirect=False,
                preload_content=False,
            )
            return response.status, dict(response.headers), self._read(response)
        except TooLargeError:
            return NoAnswer(Trouble.TOO_LARGE, seconds=seconds)
        except _TooLargeTogetherError:
            return NoAnswer(Trouble.TOO_LARGE_TOGETHER, seconds=seconds)
        except (exceptions.HTTPError, http.client.HTTPException, OSError, ValueError) as error:
            return _failure(error, seconds)

    def close(self) -> None:
        """Close the connections that are open and not in use."""
        # `clear` alone leaves that to the garbage collector
        for key in self._pools.pools.keys():  # noqa: SIM118 (urllib3 does not iterate over them)
            self._pools.pools[key].close()

    def _read(self, response: urllib3.BaseHTTPResponse) -> bytes:
        body = bytearray()
        try:
            while chunk := response.read(CHUNK, decode_content=True):
                body += chunk
                with self._lock:
                    self._being_read += len(chunk)
                    together = self._being_read
                if len(body) > LARGEST_ANSWER:
                    raise TooLargeError  # noqa: TRY301 (closed like after any other end)
                if together > LARGEST_TOGETHER:
                    raise _TooLargeTogetherError  # noqa: TRY301 (the same)
            return bytes(body)
        except BaseException:
            response.close()
            raise
        finally:
            with self._lock:
                self._being_read -= len(body)
            response.release_conn()


def _tls_context() -> ssl.SSLContext:
    """Make the context of all connections: reading the certificates takes about 20 ms each time.

    Raises:
        OSError: the file that the environment names cannot be used; its text is "NAME=path".
    """
    context = urllib3.util.ssl_.create_urllib3_context()
    name = next(filter(os.environ.get, CA_VARIABLES), "")
    path = os.environ.get(name) or certifi.where()
    try:
        if Path(path).is_dir():
            context.load_verify_locations(capath=path)
        else:
            context.load_verify_locations(cafile=path)
    except (OSError, ValueError) as error:
        raise OSError(f"{name}={path}") from error
    return context


def _proxy(api_url: str) -> str | None:
    """The proxy of the environment; a loopback address has none, nor has plain HTTP."""
    parts = urlsplit(api_url)
    if parts.scheme != "https" or is_loopback(parts.hostname or ""):
        return None
    return utils.select_proxy(api_url, utils.get_environ_proxies(api_url))


def _proxied(proxy: str, pools: dict[str, Any]) -> urllib3.PoolManager:
    url = proxy if "://" in proxy else f"http://{proxy}"
    user, password = utils.get_auth_from_url(url)
    headers = urllib3.make_headers(proxy_basic_auth=f"{user}:{password}") if user else None
    # A proxy may be reached over TLS, too: by the same authorities
    return urllib3.ProxyManager(
        url, proxy_headers=headers, proxy_ssl_context=pools.get("ssl_context"), **pools
    )


def _failure(error: Exception, seconds: float) -> NoAnswer:
    """Translate a library's exception."""
    causes = list(_causes(error))
    last = causes[-1]
    trouble = next(
        (t for kinds, t in _TROUBLES if any(isinstance(each, kinds) for each in causes)),
        Trouble.CONNECTION_LOST,
    )
    words = last.strerror or str(last) if isinstance(last, OSError) else ""
    if isinstance(last, ssl.SSLCertVerificationError):
        words = last.verify_message
        if trouble is Trouble.TLS:
            trouble = _CERTIFICATES.get(last.verify_code, Trouble.CERTIFICATE_ISSUER)
    if trouble is Trouble.PROXY and words.startswith(_WRONG_LOGIN):
        trouble = Trouble.PROXY_LOGIN
    elif trouble is Trouble.PROXY and isinstance(last, ssl.SSLError) and type(last) not in _CLOSED:
        trouble = Trouble.PROXY_TLS
    return NoAnswer(trouble, words or type(last).__name__, seconds)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and those that it wraps; the innermost comes last."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        wrapped = (each for each in cause.args if isinstance(each, BaseException))
        cause = next(wrapped, cause.__cause__)
