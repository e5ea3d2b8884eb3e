"""A Unix socket that leads to a port of this machine: `gh` reaches a plain HTTP host by it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def relay(path: Path, port: int) -> Iterator[None]:
    """Pass on every connection to ``path``, byte by byte, until the block ends."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        threading.Thread(target=_accept, args=(listening, port), daemon=True).start()
        yield
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)


def _accept(listening: socket.socket, port: int) -> None:
    with contextlib.suppress(OSError):
        while True:
            near, _ = listening.accept()
            far = socket.create_connection(("127.0.0.1", port))
            far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=_pass_on, args=(one, other), daemon=True).start()


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(1 << 16):
            other.sendall(data)
    with contextlib.suppress(OSError):
        other.shutdown(socket.SHUT_WR)
