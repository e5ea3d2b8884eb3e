"""One repository: both strategies beside a shell script around GitHub's own client.

The script is the contract's procedure, request by request.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks import page, process
from benchmarks.page import Part
from benchmarks.process import HERE, ROOT
from benchmarks.relay import relay
from tests.fakehub import StandInHost

LATENCIES = (0.0, 0.05, 0.15)
"""Seconds of a round trip."""
OURS = ("per-file", "single")
SCAFFOLD = ROOT / "scripts/config/repo-scaffold-definitions.json"
PRESENT = {"README.md": b"# Example\n", ".gitignore": b"*.log\n"}
TARGET = "octo/example"
GH_CONFIG = "http_unix_socket: {socket}\n"


@dataclass(frozen=True)
class Measured:
    """What a run cost: seconds, and bytes of memory."""

    seconds: float
    memory: int
    requests: int


def measure(rounds: int) -> Part:
    """Measure in so many rounds, and give the part of the page."""
    ways = [*OURS, "procedure"] if shutil.which("gh") and shutil.which("jq") else [*OURS]
    scenes = {(way, latency): list[Measured]() for latency in LATENCIES for way in ways}
    run("single", 0.0)  # compiles what is not compiled yet
    for _ in range(rounds):
        for (way, latency), measured in scenes.items():
            measured.append(run(way, latency))
    text = page.ONE.format(
        measured=page.measured("one", rounds),
        procedure="" if "procedure" in ways else " (not measured: `gh` or `jq` is not installed)",
        ways=page.table(
            ("Way", "Round trip", "Requests", "Seconds", "MB"),
            (
                (
                    way,
                    f"{latency * 1000:.0f} ms",
                    str(measured[0].requests),
                    f"{median(each.seconds for each in measured):.2f}",
                    f"{max(each.memory for each in measured) / 1_000_000:.0f}",
                )
                for (way, latency), measured in scenes.items()
            ),
        ),
    )
    return Part(text)


def run(way: str, latency: float) -> Measured:
    """Register the scaffold files in a repository that has two of them."""
    # `gh` reaches the host through a Unix socket, on which it speaks plain HTTP
    tls = None if way == "procedure" else process.AUTHORITY.good()
    with StandInHost(tls=tls) as host, tempfile.TemporaryDirectory() as directory:
        repository = host.create_repository(TARGET, PRESENT)
        host.latency = latency
        folder = Path(directory)
        if way == "procedure":
            cost = _procedure(host, folder)
        else:
            shutil.copy(SCAFFOLD, folder / "list.json")
            inputs = {"target_repo": TARGET, "commit_strategy": way, "definitions": "list.json"}
            cost = process.action(host, folder, inputs)
        wanted = {entry["path"] for entry in json.loads(SCAFFOLD.read_text("utf-8"))}
        [pull] = repository.pull_requests
        if set(repository.files(pull.head)) != wanted | PRESENT.keys():
            raise SystemExit(f"{way} did not do the work")
        return Measured(cost.seconds, cost.memory, len(host.requests))


def _procedure(host: StandInHost, folder: Path) -> process.Cost:
    socket = folder / "socket"
    (folder / "config.yml").write_text(GH_CONFIG.format(socket=socket), "utf-8")
    environ: Mapping[str, str] = {
        "GH_CONFIG_DIR": str(folder),
        "GH_HOST": "github.localhost",
        "GH_TOKEN": host.create_token(),
        "TARGET_REPO": TARGET,
    }
    with relay(socket, int(host.url.rpartition(":")[2])):
        return process.run([str(HERE / "procedure.sh"), str(SCAFFOLD)], environ, folder)
