"""One run of one way to do the work, on a fresh repository of a stand-in host."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import certifi

from benchmarks.relay import relay
from tests.fakehub import StandInHost
from tests.fakehub.tls import Authority

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).resolve().parent
ENTRYPOINT = ROOT / "entrypoint.py"
SCAFFOLD = ROOT / "scripts/config/repo-scaffold-definitions.json"
PRESENT = {"README.md": b"# Example\n", ".gitignore": b"*.log\n"}
TARGET = "octo/example"
GH_CONFIG = "http_unix_socket: {socket}\n"
IMPORTS = (
    "import gc, sys; gc.set_threshold(500_000); sys.path.insert(0, {src!r}); "
    "import registrar.main, registrar.execution"
)
"""What `entrypoint.py` does before the first request, without reading any input."""
AUTHORITY = Authority()


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
    tls = None if way == "procedure" else AUTHORITY.good()
    with StandInHost(tls=tls) as host, tempfile.TemporaryDirectory() as directory:
        repository = host.create_repository(TARGET, dict(files))
        token = host.create_token()
        host.latency = latency
        folder = Path(directory)
        if way == "procedure":
            socket = folder / "socket"
            (folder / "config.yml").write_text(GH_CONFIG.format(socket=socket), "utf-8")
            environ = {"GH_HOST": "github.localhost", "GH_TOKEN": token, "TARGET_REPO": TARGET}
            command = [str(HERE / "procedure.sh"), str(file)]
            with relay(socket, int(host.url.rpartition(":")[2])):
                seconds, memory, began = _run(command, environ, folder)
        else:
            shutil.copy(file, folder / "list.json")
            environ = {
                "INPUT_HOST_TOKEN": token,
                "INPUT_TARGET_REPO": TARGET,
                "INPUT_API_URL": host.url,
                "INPUT_COMMIT_STRATEGY": way,
                "INPUT_DEFINITIONS": "list.json",
                "REQUESTS_CA_BUNDLE": str(_bundle(folder)),
            }
            command = [sys.executable, "-I", str(ENTRYPOINT)]
            seconds, memory, began = _run(command, environ, folder)
        wanted = {entry["path"] for entry in json.loads(file.read_text("utf-8"))}
        [pull] = repository.pull_requests
        if set(repository.files(pull.head)) != wanted | files.keys():
            raise SystemExit(f"{way} did not do the work")
        under_way = sum(r.ended - r.started - latency for r in host.requests if r.ended)
        first = host.requests[0].started - began
        return Measured(seconds, memory, len(host.requests), under_way, first)


def _bundle(folder: Path) -> Path:
    """The usual bundle with our authority in it: reading it costs what it costs users."""
    ours = AUTHORITY.bundle(folder / "authority.pem").read_text("ascii")
    bundle = folder / "bundle.pem"
    bundle.write_text(Path(certifi.where()).read_text("utf-8") + ours, "utf-8")
    return bundle


def _run(
    command: Sequence[str], environ: Mapping[str, str], folder: Path
) -> tuple[float, int, float]:
    """Seconds, peak memory in bytes, and the moment of the start."""
    result = folder / "measured"
    measure = [sys.executable, "-I", str(HERE / "measure.py"), str(result)]
    ended = subprocess.run(  # noqa: S603 (ours)
        [*measure, *command],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "GH_CONFIG_DIR": str(folder),
            **environ,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise SystemExit(f"{command} failed:\n{ended.stdout}{ended.stderr}")
    began, seconds, memory = result.read_text("ascii").split()
    return float(seconds), int(memory), float(began)
