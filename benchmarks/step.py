"""The whole step: what is pulled or installed, then a plan. Two images, and the one without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import yaml

from benchmarks import page
from benchmarks.page import Goal, Part
from benchmarks.process import HERE, ROOT
from benchmarks.runs import TARGET
from scripts.lib.registry import registry
from tests.fakehub import StandInHost

LATENCY = 0.05
IMAGE, SLIM, COMPOSITE = "image", "slim image", "composite"
DOCKERFILES = {IMAGE: ROOT / "Dockerfile", SLIM: HERE / "slim.Dockerfile"}
MEGABYTE = 1_000_000
PACKED, UNPACKED, FASTER = 28, 80, 1.5
"""What is to hold: MB, MB, and how many times the seconds of the image the slim one takes."""
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"


@dataclass(frozen=True)
class Size:
    """What a way moves and what it leaves on the disk, in bytes."""

    packed: int
    unpacked: int


@dataclass(frozen=True)
class Seconds:
    """Until what is needed is there, and until the plan is."""

    ready: float
    done: float


def measure(rounds: int) -> Part:
    """Measure in so many rounds, and give the part of the page."""
    with tempfile.TemporaryDirectory() as directory, registry(folder := Path(directory)) as address:
        names = {way: f"{address}/{way.replace(' ', '-')}" for way in DOCKERFILES}
        sizes = {way: _built(DOCKERFILES[way], name) for way, name in names.items()}
        wheels = _wheels(folder / "wheels")
        found: list[Mapping[str, Seconds]] = []
        for _ in range(rounds):
            measured = {way: _with_image(name) for way, name in names.items()}
            with tempfile.TemporaryDirectory() as temporary:
                measured[COMPOSITE] = _composite(wheels, Path(temporary))
                sizes[COMPOSITE] = Size(_size(wheels), _size(Path(temporary)))
            found.append(measured)
        for name in names.values():
            _docker("image", "rm", name)
    goals = [
        Goal("image: MB packed", PACKED, sizes[IMAGE].packed / MEGABYTE),
        Goal("image: MB unpacked", UNPACKED, sizes[IMAGE].unpacked / MEGABYTE),
        Goal("slim image: seconds ÷ image", FASTER, _slower(found, SLIM), at_least=True),
    ]
    text = page.STEP.format(
        measured=page.measured("step", rounds),
        latency=f"{LATENCY * 1000:.0f} ms",
        runs=page.table(
            ("Way", "MB packed", "MB unpacked", "Ready after", "Seconds"),
            (
                (
                    way,
                    f"{sizes[way].packed / MEGABYTE:.1f}",
                    f"{sizes[way].unpacked / MEGABYTE:.1f}",
                    f"{median(each[way].ready for each in found):.1f}",
                    f"{median(each[way].done for each in found):.1f}",
                )
                for way in (IMAGE, COMPOSITE, SLIM)
            ),
        ),
    )
    return Part(text, goals)


def _slower(found: Sequence[Mapping[str, Seconds]], way: str) -> float:
    """How many times the seconds of the image a way takes."""
    return median(each[way].done / each[IMAGE].done for each in found)


def _docker(*arguments: str, engine: Path | None = None) -> str:
    host = [] if engine is None else [f"--host=unix://{engine}"]
    command = ["docker", *host, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def _built(dockerfile: Path, name: str) -> Size:
    """Build an image and put it into the registry."""
    _docker(
        "build", "--quiet", "--network=host", f"--file={dockerfile}", f"--tag={name}", str(ROOT)
    )
    _docker("push", "--quiet", name)
    address, _, repository = name.partition("/")
    url = f"http://{address}/v2/{repository}/manifests/latest"
    request = urllib.request.Request(url, headers={"Accept": MANIFEST})
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        layers = json.load(answer)["layers"]
    unpacked = int(_docker("image", "inspect", "--format={{.Size}}", name))
    return Size(sum(layer["size"] for layer in layers), unpacked)


@contextmanager
def _empty_engine() -> Iterator[Path]:
    """Start an engine that has no image and no layer, as a fresh runner; give its socket."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        socket = folder / "socket"
        # Without a bridge it would remove that of the machine's own engine
        command = [
            *("dockerd", f"--data-root={folder / 'data'}", f"--exec-root={folder / 'exec'}"),
            *(f"--pidfile={folder / 'pid'}", f"--host=unix://{socket}"),
            *("--bridge=docker0", "--iptables=false", "--ip-forward=false", "--ip-masq=false"),
        ]
        with (folder / "log").open("w") as log:
            engine = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603
            try:
                for _ in range(100):
                    if socket.exists():
                        break
                    time.sleep(0.1)
                _docker("version", engine=socket)
                yield socket
                _docker("system", "prune", "--all", "--force", engine=socket)
            finally:
                engine.terminate()
                engine.wait()
                # The machine's own network is mounted where containers shared it
                for line in Path("/proc/self/mounts").read_text("utf-8").splitlines():
                    place = line.split()[1]
                    if place.startswith(f"{folder}/"):
                        subprocess.run(["umount", place], check=True)  # noqa: S603, S607


@contextmanager
def _plan() -> Iterator[tuple[StandInHost, dict[str, str]]]:
    """A repository that lacks files, and what a plan of it is given."""
    with StandInHost() as host:
        host.create_repository(TARGET)
        host.latency = LATENCY
        token = host.create_token()
        given = {"host_token": token, "api_url": host.url, "target_repo": TARGET}
        yield host, {**given, "profile": "health", "mode": "plan"}
        if not host.requests:
            raise SystemExit("there was no plan")


def _with_image(name: str) -> Seconds:
    """Pull into an empty engine and run."""
    with _empty_engine() as engine, _plan() as (_, inputs):
        environ = [f"--env=INPUT_{key.upper()}={value}" for key, value in inputs.items()]
        began = time.monotonic()
        _docker("pull", "--quiet", name, engine=engine)
        ready = time.monotonic() - began
        _docker("run", "--rm", "--network=host", *environ, name, engine=engine)
        return Seconds(ready, time.monotonic() - began)


def _wheels(folder: Path) -> Path:
    """The packages of the composite action in a folder, in place of the package index."""
    pip = [sys.executable, "-I", "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
    locked = ["--require-hashes", "--no-deps", "--only-binary=:all:"]
    requirements = f"--requirement={ROOT / 'requirements/runtime.txt'}"
    subprocess.run([*pip, *locked, requirements, f"--dest={folder}"], check=True)  # noqa: S603
    return folder


def _composite(wheels: Path, temporary: Path) -> Seconds:
    """Install into an empty directory and run."""
    action = yaml.safe_load((ROOT / "composite/action.yml").read_text("utf-8"))
    declared = {name: each.get("default", "") for name, each in action["inputs"].items()}
    with _plan() as (host, inputs):
        began = time.monotonic()
        subprocess.run(  # noqa: S603
            [sys.executable, "-I", str(ROOT / "composite/start.py")],
            env={
                "PATH": os.environ["PATH"],
                "PIP_FIND_LINKS": str(wheels),
                "PIP_NO_INDEX": "1",
                "REGISTRAR_INPUTS": json.dumps(declared | inputs),
                "RUNNER_TEMP": str(temporary),
            },
            check=True,
            capture_output=True,
        )
        return Seconds(host.requests[0].started - began, time.monotonic() - began)


def _size(folder: Path) -> int:
    return sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir())
