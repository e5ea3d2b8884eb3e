"""A registry of container images on this machine: `docker-registry`, a package of Debian."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 10
"""How long it may take to start."""


@contextmanager
def registry(folder: Path) -> Iterator[str]:
    """Serve images below a folder on loopback, and give the address.

    Raises:
        RuntimeError: it does not start.
    """
    with socket.create_server(("127.0.0.1", 0)) as probe:
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    settings = {
        "version": "0.1",
        "log": {"level": "error", "accesslog": {"disabled": True}},
        "storage": {"filesystem": {"rootdirectory": str(folder / "images")}},
        "http": {"addr": address},
    }
    file = folder / "registry.yml"
    file.write_text(json.dumps(settings), "utf-8")
    with (folder / "registry.log").open("w") as log:
        process = subprocess.Popen(["docker-registry", "serve", file], stdout=log, stderr=log)
        try:
            _wait(address, process)
            yield address
        finally:
            process.terminate()
            process.wait()


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://{address}/v2/"):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("docker-registry does not start")
