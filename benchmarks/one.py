"""One repository: both strategies beside the contract's procedure, and create-pull-request."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from benchmarks import page, process
from benchmarks.page import Part
from benchmarks.process import HERE, LATENCY, ROOT, Measured
from tests.fakehub import StandInHost

OURS = ("single", "per-file")
THEIRS = {"procedure": ("gh", "jq"), "create-pull-request": ("git", "jq", "curl")}
"""The scripts that do the same, and what each needs."""
SCAFFOLD = ROOT / "scripts/config/repo-scaffold-definitions.json"
PRESENT = {"README.md": b"# Example\n", ".gitignore": b"*.log\n"}
TARGET = "octo/example"


def measure(rounds: int) -> Part:
    """Measure in so many rounds, and give the part of the page."""
    there = [way for way, needed in THEIRS.items() if all(map(shutil.which, needed))]
    ways = {way: list[Measured]() for way in (*OURS, *there)}
    run("single")  # compiles what is not compiled yet
    for _ in range(rounds):
        for way, measured in ways.items():
            measured.append(run(way))
    text = page.ONE.format(
        measured=page.measured("one", rounds),
        latency=f"{LATENCY * 1000:.0f} ms",
        ways=page.compared("Way", ways),
        left_out=page.not_measured(THEIRS.keys() - ways.keys()),
    )
    return Part(text)


def run(way: str) -> Measured:
    """Register the scaffold files in a repository that has two of them."""
    with (
        StandInHost(tls=process.AUTHORITY.good()) as host,
        tempfile.TemporaryDirectory() as directory,
    ):
        repository = host.create_repository(TARGET, PRESENT)
        host.latency = LATENCY
        folder = Path(directory)
        if way in THEIRS:
            script = [str(HERE / f"{way}.sh"), str(SCAFFOLD)]
            measured = process.with_git(host, folder, script, TARGET_REPO=TARGET)
        else:
            shutil.copy(SCAFFOLD, folder / "list.json")
            inputs = {"target_repo": TARGET, "commit_strategy": way, "definitions": "list.json"}
            measured = process.action(host, folder, inputs, TARGET)
        wanted = {entry["path"] for entry in json.loads(SCAFFOLD.read_text("utf-8"))}
        [pull] = repository.pull_requests
        if set(repository.files(pull.head)) != wanted | PRESENT.keys():
            raise SystemExit(f"{way} did not do the work")
        return measured
