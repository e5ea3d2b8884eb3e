"""A proxy that opens encrypted connections, as those of companies do, or that refuses them.

It may itself be reached over TLS.
"""

from __future__ import annotations

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
    """Shows clients a certificate of its own authority, and asks the stand-in what they ask.

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
        """``refusal`` is the status that it answers instead of connecting; ``tls`` its own.

        The first ``closes`` connections are closed as soon as something has come.
        """
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(host.url).netloc
        self.authority = authority
        self.refusal = refusal
        self.tls = tls
        self.closes = closes
        self.asked: list[str] = []
        """The names and ports that clients wanted to reach."""

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
        """A connection; its own TLS is taken off first, because there is another one inside."""
        connection, address = super().get_request()
        # An answer is written in two parts: the second would wait until the first is acknowledged
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.closes:
            self.closes -= 1
            with connection:
                connection.recv(65_536)
            raise ConnectionAbortedError  # the server goes on with the next one
        if self.tls is None:
            return connection, address
        outer = self.tls.wrap_socket(connection, server_side=True)
        inner, ours = socket.socketpair()
        threading.Thread(target=_relay, args=(outer, inner), daemon=True).start()
        return ours, address

    def handle_error(self, *_: Any) -> None:
        """A client that does not trust the certificate goes away."""


def _relay(outer: ssl.SSLSocket, inner: socket.socket) -> None:
    """Pass on what comes from either end, until one of them is closed."""
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
        # Encrypted, it is another socket than the one that the server accepted, and closes
        self.connection.close()

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


for _method in ("GET", "POST", "PUT", "PATCH"):
    setattr(_Handler, f"do_{_method}", _Handler.forward)
