"""The HTTP server: it reads requests from connections, and writes the answers of the host."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import sys
import threading
import time
import traceback
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from .answer import Answer, Drop, Raw, Response
from .request import Request, parsed, token_in

if TYPE_CHECKING:
    from .host import StandInHost

ENTERPRISE = "/api/v3"
RAW_SECONDS = 120.0
RAW_BYTES = 1 << 28


class Server(ThreadingHTTPServer):
    """A server with one thread for each connection; `stop` ends all connections at once."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(
        self, address: tuple[str, int], host: StandInHost, tls: ssl.SSLContext | None
    ) -> None:
        super().__init__(address, Handler)
        self.host = host
        self.tls = tls
        self.connections: set[socket.socket] = set()
        self._stopped = threading.Event()

    @property
    def stopping(self) -> bool:
        return self._stopped.is_set()

    def wait(self, seconds: float) -> None:
        """Wait so many seconds, or until the server stops."""
        self._stopped.wait(seconds)

    def server_bind(self) -> None:
        # `HTTPServer.server_bind` is not called, because it looks up the name of the machine
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Record an error, so that the test fails, unless the connection has ended."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError) and not self.stopping:
            self.host.mismatches.append("".join(traceback.format_exception(error)))

    def accept(self) -> None:
        """Serve until `stop` is called. Unlike `serve_forever`, it stops at once."""
        with contextlib.suppress(OSError):
            while True:
                connection, address = self.get_request()
                if self.stopping:
                    connection.close()
                    return
                self.process_request(connection, address)

    def stop(self) -> None:
        """Stop serving and end every connection."""
        self._stopped.set()
        # `accept` waits for a connection, so it gets a last one
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.server_port), timeout=1).close()
        self.server_close()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Handler(BaseHTTPRequestHandler):
    """The thread of one connection: it reads requests and writes the answers of the host."""

    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        if self.server.tls is not None:
            self.request = self.server.tls.wrap_socket(self.request, server_side=True)
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()
        # `setup` has put a TLS socket in place of the one that the server closes
        self.connection.close()

    def handle_any(self) -> None:
        host = self.server.host
        started = host.clock.monotonic()
        raw_body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        raw_path, _, raw_query = self.path.partition("?")
        prefix = ENTERPRISE if raw_path.startswith(f"{ENTERPRISE}/") else ""
        raw_path = raw_path.removeprefix(prefix)
        record = host.receive(
            Request(
                number=0,
                method=self.command,
                path=unquote(raw_path),
                raw_target=self.path,
                query=dict(parse_qsl(raw_query, keep_blank_values=True)),
                headers={name.lower(): value for name, value in self.headers.items()},
                json=parsed(raw_body),
                token=token_in(self.headers.get("Authorization")),
                started=started,
                received=len(raw_body),
            )
        )
        answer: Answer = Drop(reset=False)
        payload = b""
        try:
            answer = host.respond(record, prefix, raw_path, raw_body)
            payload = answer.payload() if isinstance(answer, Response) else b""
        finally:
            host.finish(record, answer, len(payload))
        self.send(answer, payload)

    def send(self, answer: Answer, payload: bytes) -> None:
        if isinstance(answer, Drop):
            self.drop(answer)
            return
        if isinstance(answer, Raw):
            self.play(answer)
            return
        phrase = HTTPStatus(answer.status).phrase
        headers = {
            "Server": "github.com",
            "Date": self.date_time_string(self.server.host.clock.time()),
            "Content-Type": answer.content_type,
            "Content-Length": str(len(payload)),
        } | answer.headers
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        if answer.cut:
            self.close_connection = True
            payload = payload[: len(payload) // 2]
        # Everything is sent in one write, because a second packet would wait until the client has
        # acknowledged the first one
        self.wfile.write(f"HTTP/1.1 {answer.status} {phrase}\r\n{head}\r\n".encode() + payload)

    def drop(self, how: Drop) -> None:
        self.close_connection = True
        if how.reset:
            # A socket with a linger of zero sends RST instead of FIN when it is closed
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()

    def play(self, raw: Raw) -> None:
        """Run a script, at most for `RAW_SECONDS` and until it has sent `RAW_BYTES`."""
        self.close_connection = True
        until, left = time.monotonic() + RAW_SECONDS, RAW_BYTES
        for step in raw.script():
            if self.server.stopping or time.monotonic() > until or left <= 0:
                return
            if isinstance(step, bytes):
                self.wfile.write(step)
                left -= len(step)
            elif isinstance(step, Drop):
                self.drop(step)
            else:
                self.server.wait(step)

    def log_message(self, *_: Any) -> None:
        """Print nothing, because `StandInHost.requests` is the log."""


for _method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
    setattr(Handler, f"do_{_method}", Handler.handle_any)
