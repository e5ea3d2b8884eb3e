"""A proxy that decrypts connections, as many companies use one, or that refuses to connect.

Clients may reach the proxy itself over TLS.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import select
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

from .host import StandInHost
from .tls import Authority


class Proxy(ThreadingHTTPServer):
    """A proxy that shows certificates of its own authority, and sends requests to the stand-in.

    with Proxy(host, Authority()) as proxy: ...
    """

    daemon_threads = True

    def __init__(
        self,
        host: StandInHost,
        authority: Authority,
        *,
        refusal: int = 0,
        tls: ssl.SSLContext | None = None,
        closes: int = 0,
    ) -> None:
        """Prepare a proxy in front of ``host``; it starts with the ``with`` block.

        ``refusal`` is the status with which the proxy refuses to connect; 0 if it connects. With
        ``tls`` the proxy itself is reached over TLS. The first ``closes`` connections are closed
        as soon as the client has sent something.
        """
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(host.url).netloc
        self.authority = authority
        self.refusal = refusal
        self.tls = tls
        self.closes = closes
        self.asked: list[str] = []
        """The names and ports that clients wanted to reach."""
        self.logins: list[str] = []
        """The user and the password that clients sent with each of them, as ``user:password``."""

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection; if clients reach the proxy over TLS, decrypt it.

        The decrypted connection contains a second TLS connection, to the stand-in.
        """
        connection, address = super().get_request()
        # An answer is written in two parts, and without this option the second part would wait
        # until the client has acknowledged the first one
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.closes:
            self.closes -= 1
            with connection:
                connection.recv(65_536)
            raise ConnectionAbortedError  # the server goes on with the next connection
        if self.tls is None:
            return connection, address
        outer = self.tls.wrap_socket(connection, server_side=True)
        inner, ours = socket.socketpair()
        threading.Thread(target=_relay, args=(outer, inner), daemon=True).start()
        return ours, address

    def handle_error(self, *_: Any) -> None:
        """Ignore errors: a client that does not trust the certificate closes the connection."""


def _relay(outer: ssl.SSLSocket, inner: socket.socket) -> None:
    """Pass data on between two connections, in both directions, until one of them is closed."""
    with outer, inner, contextlib.suppress(OSError):
        while True:
            ready = [outer] if outer.pending() else select.select([outer, inner], [], [])[0]
            for source in ready:
                received = source.recv(65_536)
                if not received:
                    return
                (inner if source is outer else outer).sendall(received)


class _Handler(BaseHTTPRequestHandler):
    server: Proxy
    protocol_version = "HTTP/1.1"

    def do_CONNECT(self) -> None:
        self.server.asked.append(self.path)
        encoded = self.headers.get("Proxy-Authorization", "").removeprefix("Basic ")
        self.server.logins.append(base64.b64decode(encoded).decode())
        if self.server.refusal:
            self.send_error(self.server.refusal)
            return
        self.send_response(200)
        self.end_headers()
        tls = self.server.authority.good(self.path.rpartition(":")[0])
        self.request = tls.wrap_socket(self.connection, server_side=True)
        self.setup()
        self.close_connection = False

    def forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        upstream = http.client.HTTPConnection(self.server.upstream)
        upstream.request(self.command, self.path, body, dict(self.headers))
        answer = upstream.getresponse()
        content = answer.read()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in {"transfer-encoding", "content-length"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        upstream.close()

    def finish(self) -> None:
        super().finish()
        # `do_CONNECT` has put a TLS socket in place of the one that the server closes
        self.connection.close()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


for _method in ("GET", "POST", "PUT", "PATCH"):
    setattr(_Handler, f"do_{_method}", _Handler.forward)
