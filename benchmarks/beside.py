"""Many repositories beside a tool that works in clones."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from statistics import median

from benchmarks import history, page, process
from benchmarks.many import PATHS, PRESENT, WORKFLOW, check, given
from benchmarks.page import Goal, Part
from benchmarks.process import HERE, LATENCY, Measured
from registrar.github.limits import SHORT_INTERVAL
from tests.fakehub import StandInHost

REPOSITORIES, LACKING = 50, 10
"""Of a few megabytes each: as many as are quickly cloned; and how many of them lack files."""
REGISTER, PLAN, ALL_REPOS = "register", "plan", "all-repos"
MOST_CPU, MOST_BYTES = 0.5, 0.05
"""Of a run, as a part of what all-repos takes."""


def measure(rounds: int) -> Part:
    """Measure in so many rounds, and give the part of the page."""
    clones = [ALL_REPOS] if shutil.which("all-repos-clone") else []
    ways = {way: list[Measured]() for way in (REGISTER, PLAN, *clones)}
    with tempfile.TemporaryDirectory() as directory:
        complete = history.make(Path(directory, "complete"), dict.fromkeys(PATHS, b"\n"))
        begun = history.make(Path(directory, "begun"), PRESENT)
        for _ in range(rounds):
            for way, measured in ways.items():
                measured.append(_run(way, begun, complete))
        size = sum(file.stat().st_size for file in begun.rglob("*.pack"))
    goals = []
    if clones:
        pairs = list(zip(ways[REGISTER], ways[ALL_REPOS], strict=True))
        cpu = median(ours.cpu / theirs.cpu for ours, theirs in pairs)
        moved = median(ours.moved / theirs.moved for ours, theirs in pairs)
        goals = [
            Goal("register ÷ all-repos: CPU", MOST_CPU, cpu),
            Goal("register ÷ all-repos: bytes", MOST_BYTES, moved),
        ]
    text = page.BESIDE.format(
        measured=page.measured("beside", rounds),
        repositories=REPOSITORIES,
        commits=history.COMMITS,
        megabytes=f"{size / 1e6:.1f}",
        lacking=LACKING,
        missing=len(PATHS) - len(PRESENT),
        interval=f"{SHORT_INTERVAL:g}",
        latency=f"{LATENCY * 1000:.0f} ms",
        ways=page.compared("Way", ways),
        left_out=page.not_measured({ALL_REPOS} - ways.keys() | {"multi-gitter"}),
    )
    return Part(text, goals)


def _run(way: str, begun: Path, complete: Path) -> Measured:
    """Look at all repositories of an organisation and, but for a plan, open the pull requests."""
    with (
        StandInHost(tls=process.AUTHORITY.good()) as host,
        tempfile.TemporaryDirectory() as directory,
    ):
        made = [host.create_repository(f"octo-org/r{number}") for number in range(REPOSITORIES)]
        for number, repository in enumerate(made):
            history.give(repository, begun if number < LACKING else complete)
        host.latency = LATENCY
        folder = Path(directory)
        if way == ALL_REPOS:
            measured = _all_repos(host, folder)
        else:
            measured = process.action(host, folder, given(folder, way, LACKING), WORKFLOW)
        check(made, 0 if way == PLAN else LACKING)
        return measured


def _all_repos(host: StandInHost, folder: Path) -> Measured:
    """Clone all, as it does by itself eight at once, and let it go through the clones so, too."""
    (folder / "list.json").write_text(json.dumps(PATHS), "utf-8")
    reached = {"base_url": host.url, "api_key_env": "GH_ENTERPRISE_TOKEN"}
    config = folder / "all-repos.json"
    config.touch(0o600)
    settings = {
        "output_dir": "clones",
        "source": "all_repos.source.github_org",
        "source_settings": {"org": "octo-org", **reached},
        "push": "all_repos.push.github_pull_request",
        "push_settings": {"username": "octocat", **reached},
    }
    config.write_text(json.dumps(settings), "utf-8")
    clone = Path(shutil.which("all-repos-clone") or "").resolve()
    script = (
        f"{clone} --config-filename {config} && {clone.parent}/python {HERE / 'autofixer.py'}"
        f" list.json --config-filename {config} --jobs 8"
    )
    return process.with_git(host, folder, ["sh", "-c", script])
