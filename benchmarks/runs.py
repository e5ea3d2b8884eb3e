"""One run of one way to do the work, on a fresh repository of a stand-in host."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import process
from benchmarks.process import HERE, ROOT
from benchmarks.relay import relay
from tests.fakehub import StandInHost

SCAFFOLD = ROOT / "scripts/config/repo-scaffold-definitions.json"
PRESENT = {"README.md": b"# Example\n", ".gitignore": b"*.log\n"}
TARGET = "octo/example"
GH_CONFIG = "http_unix_socket: {socket}\n"
IMPORTS = (
    "import gc, sys; gc.set_threshold(500_000); sys.path.insert(0, {src!r}); "
    "import registrar.main, registrar.execution"
)
"""What `entrypoint.py` does before the first request, without reading any input."""


@dataclass(frozen=True)
class Measured:
    """What a run cost. ``host`` is the part of the seconds in which the stand-in computed."""

    seconds: float
    memory: int
    requests: int
    host: float
    first_request: float


def scaffold(way: str, latency: float) -> Measured:
    """Register the scaffold files in a repository that has two of them."""
    return _measured(way, latency, SCAFFOLD, dict(PRESENT))


def listed(way: str, latency: float, count: int) -> Measured:
    """Register ``count`` files, 29 to a directory of the same layout, all of them missing."""
    paths = [entry["path"] for entry in json.loads(SCAFFOLD.read_text("utf-8"))]
    entries = [
        {"path": f"services/{number // len(paths):03}/{paths[number % len(paths)]}"}
        for number in range(count)
    ]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "list.json")
        file.write_text(json.dumps(entries), "utf-8")
        return _measured(way, latency, file, {"README.md": b"# Example\n"})


def start_up() -> dict[str, float]:
    """Seconds of: the interpreter, all imports, and from the start to the first request."""
    return {
        "interpreter": _until("pass"),
        "imports": _until(IMPORTS.format(src=str(ROOT / "src"))),
        "first request": scaffold("single", 0.0).first_request,
    }


def _until(code: str) -> float:
    """Seconds from the start of Python to the end of ``code``."""
    command = [sys.executable, "-I", "-c", f"{code}; import time; print(time.monotonic())"]
    started = time.monotonic()
    ended = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 (ours)
    return float(ended.stdout) - started


def _measured(way: str, latency: float, file: Path, files: Mapping[str, bytes]) -> Measured:
    # `gh` reaches the host through a Unix socket, on which it speaks plain HTTP
    tls = None if way == "procedure" else process.AUTHORITY.good()
    with StandInHost(tls=tls) as host, tempfile.TemporaryDirectory() as directory:
        repository = host.create_repository(TARGET, dict(files))
        host.latency = latency
        folder = Path(directory)
        if way == "procedure":
            cost = _procedure(host, file, folder)
        else:
            shutil.copy(file, folder / "list.json")
            inputs = {"target_repo": TARGET, "commit_strategy": way, "definitions": "list.json"}
            cost = process.action(host, folder, inputs)
        wanted = {entry["path"] for entry in json.loads(file.read_text("utf-8"))}
        [pull] = repository.pull_requests
        if set(repository.files(pull.head)) != wanted | files.keys():
            raise SystemExit(f"{way} did not do the work")
        first = host.requests[0].started - cost.began
        computed = process.computed(host)
        return Measured(cost.seconds, cost.memory, len(host.requests), computed, first)


def _procedure(host: StandInHost, file: Path, folder: Path) -> process.Cost:
    socket = folder / "socket"
    (folder / "config.yml").write_text(GH_CONFIG.format(socket=socket), "utf-8")
    environ = {
        "GH_CONFIG_DIR": str(folder),
        "GH_HOST": "github.localhost",
        "GH_TOKEN": host.create_token(),
        "TARGET_REPO": TARGET,
    }
    with relay(socket, int(host.url.rpartition(":")[2])):
        return process.run([str(HERE / "procedure.sh"), str(file)], environ, folder)
