"""Start processes quickly: a server that has everything imported forks them.

A new interpreter, with its imports, would take most of the time of a small run. The server
(`python -I tests/forking.py`) has a single thread, so that forking it is safe. A forked process
runs a script of this project like a new interpreter: it has its own standard streams, environment,
working directory and signals.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
LENGTH = 8
"""The number of bytes with which the server and the tests send each other a number."""


# --- In the process of the tests ----------------------------------------------------------------


class Forked:
    """A process that the server has forked; it is used like `subprocess.Popen`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: int,
        stdout: int,
        stderr: int,
    ) -> None:
        """Start the process; ``command`` is a script of this project with its arguments."""
        self.returncode: int | Any = None
        self._lock = threading.Lock()
        null = os.open(os.devnull, os.O_RDONLY) if stdin == subprocess.DEVNULL else None
        self.stdout, out = _pipe(stdout)
        self.stderr, err = _pipe(stderr)
        self._told, theirs = socket.socketpair()
        server = _server(os.getpid())
        socket.send_fds(
            server, [b"x"], [theirs.fileno(), stdin if null is None else null, out, err]
        )
        theirs.close()
        ours = (null, out if self.stdout else None, err if self.stderr else None)
        for each in ours:
            if each is not None:
                os.close(each)
        data = json.dumps([[*command], str(cwd), dict(env)]).encode()
        self._told.sendall(len(data).to_bytes(LENGTH) + data)
        self.pid = int.from_bytes(self._told.recv(LENGTH))

    def poll(self) -> int | None:
        """Return the exit code; minus the signal that ended the process, ``None`` while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process, and return its exit code.

        Raises `subprocess.TimeoutExpired` after ``timeout`` seconds.
        """
        # Without the lock, because the host may send a signal from another thread meanwhile
        readable, _, _ = select.select([self._told], [], [], timeout)
        with self._lock:
            if self.returncode is None:
                if not readable:
                    raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
                self.returncode = int.from_bytes(self._told.recv(LENGTH), signed=True)
        return int(self.returncode)

    def __del__(self) -> None:
        """Close the connection over which the server sends the exit code."""
        self._told.close()

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Read all output, wait for the end of the process, and return both streams.

        Raises `subprocess.TimeoutExpired` after ``timeout`` seconds, and kills the process.
        """
        streams = (self.stdout, self.stderr)
        with ThreadPoolExecutor(len(streams)) as threads:
            try:
                out, err = threads.map(_rest, streams, timeout=timeout)
            except TimeoutError as late:
                self.kill()
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0) from late
        self.wait(timeout)
        return out, err

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in filter(None, (self.stdout, self.stderr)):
            stream.close()
        self.wait()


def _pipe(given: int) -> tuple[IO[bytes] | None, int]:
    if given != subprocess.PIPE:
        return None, given
    ours, theirs = os.pipe()
    return os.fdopen(ours, "rb"), theirs


def _rest(stream: IO[bytes] | None) -> bytes:
    if stream is None or stream.closed:
        return b""
    with stream:
        return stream.read()


@cache
def _server(_pid: int) -> socket.socket:
    """Start the server of this process; the server ends when this process ends."""
    ours, theirs = socket.socketpair()
    # Coverage is measured in the server, too, if these variables are set
    env = {name: text for name, text in os.environ.items() if name.startswith("COVERAGE_")}
    os.set_inheritable(theirs.fileno(), True)
    # `subprocess` would warn, because nobody waits for the end of the server
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", __file__, str(theirs.fileno())],
        env | {"PATH": os.environ.get("PATH", os.defpath)},
        file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)],
    )
    theirs.close()
    return ours


# --- In the server ------------------------------------------------------------------------------


def serve(asked: socket.socket) -> None:
    """Fork a process for each request, until the process of the tests has ended.

    It returns only in the forked process, after `become` has prepared that.
    """
    # Nobody waits for the processes that run `watch`, so the system may remove them at their end
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    while True:
        data, fds, *_ = socket.recv_fds(asked, 1, 4)
        if not data:
            os._exit(0)
        if os.fork() == 0:
            asked.close()
            watch(*fds)
            return
        for each in fds:
            os.close(each)


def watch(told: int, *streams: int) -> None:
    """Fork once more. The parent sends the child's exit code to the tests, and never returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with socket.socket(fileno=told) as teller:
        length = int.from_bytes(_exactly(teller, LENGTH))
        command, cwd, env = json.loads(_exactly(teller, length))
        if pid := os.fork():
            for each in streams:
                os.close(each)
            teller.sendall(pid.to_bytes(LENGTH))
            _, status = os.waitpid(pid, 0)
            # Sending fails if the process of the tests has ended
            try:
                code = os.waitstatus_to_exitcode(status)
                teller.sendall(code.to_bytes(LENGTH, signed=True))
            finally:
                os._exit(0)
    become(command, cwd, env, streams)


def become(
    command: Sequence[str], cwd: str, env: Mapping[str, str], streams: Sequence[int]
) -> None:
    """Give this process the signals, streams and variables of a new interpreter."""
    # Under `nohup` the tests ignore this signal, and a process inherits that
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (
        _stream(number, mode) for number, mode in enumerate(("r", "w", "w"))
    )
    # Without it, the process would have the terminal of the person who runs the tests
    os.setsid()
    if os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = [*command]


def end(code: object) -> None:
    """End the process like an interpreter, but without freeing all modules, which takes time."""
    # An interpreter waits for its threads that are not daemons
    threading._shutdown()  # type: ignore[attr-defined]
    try:
        sys.stdout.flush()
    except OSError:
        code = 120
    os._exit(code if isinstance(code, int) else 0)


def _stream(number: int, mode: str) -> Any:
    # An interpreter writes standard error line by line
    buffering = 1 if number == 2 or os.isatty(number) else -1
    return open(number, mode, buffering, encoding="utf-8", closefd=False)


def _exactly(teller: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        block = teller.recv(size - len(data))
        if not block:
            # The process of the tests has ended
            os._exit(0)
        data += block
    return data


def _import_everything() -> None:
    import jinja2  # noqa: F401, PLC0415 (only the page imports it)

    import registrar  # noqa: PLC0415 (its path is known only now)

    for module in pkgutil.walk_packages(registrar.__path__, "registrar."):
        importlib.import_module(module.name)
    importlib.import_module("tests.clocks")


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    _import_everything()
    serve(socket.socket(fileno=int(sys.argv[1])))
    # Only a process that was forked comes here
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as ended:
        if "coverage" in sys.modules:
            raise
        end(ended.code)
