"""Many repositories in one step, a third of whose pull requests are open."""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import page, process
from benchmarks.page import Goal, Part
from benchmarks.process import LATENCY, ROOT, Measured
from tests.clocks import FakeClock
from tests.fakehub import Repository, StandInHost

PATHS = [f"docs/{number}.md" for number in range(40)]
COMPLETE = dict.fromkeys(PATHS, b"\n")
PRESENT = {PATHS[0]: b"\n"}
ORGANISATION = "octo-org/*"
WORKFLOW = "octo-org/r0"
"""The repository whose workflow runs us."""
DAY = 24 * 3600.0


@dataclass(frozen=True)
class Scene:
    """An organisation, some of whose repositories lack every listed file but one.

    For a third of these an earlier run has opened a pull request.
    """

    mode: str
    repositories: int
    lacking: int

    @property
    def opened(self) -> int:
        """How many pull requests are open before."""
        return self.lacking // 3

    @property
    def most_requests(self) -> int:
        """What a run may come to."""
        written = self.lacking - self.opened if self.mode == "register" else 0
        reads = math.ceil(self.repositories / 100) + math.ceil(self.repositories / 10)
        return 10 + reads + 2 * written

    def name(self) -> str:
        """How the page calls it."""
        return (
            f"{self.mode} of {self.repositories:,}: {self.lacking:,} lack files, "
            f"{self.opened:,} of them with an open pull request"
        )


LARGE = Scene("plan", 10_000, 3_000)
SCENES = (Scene("plan", 1_000, 300), Scene("register", 100, 30), LARGE)
MOST_MEGABYTES = 200
"""Of memory, for ten thousand."""


def measure(rounds: int) -> Part:
    """Measure in so many rounds, and give the part of the page."""
    scenes = {scene: list[Measured]() for scene in SCENES}
    run(Scene("register", 1, 1))  # compiles what is not compiled yet
    for _ in range(rounds):
        for scene, measured in scenes.items():
            measured.append(run(scene))
    most = {scene: max(each.requests for each in measured) for scene, measured in scenes.items()}
    megabytes = max(each.memory for each in scenes[LARGE]) / 1e6
    goals = [
        *(Goal(f"{each.name()}: requests", each.most_requests, most[each]) for each in scenes),
        Goal(f"{LARGE.name()}: MB", MOST_MEGABYTES, megabytes),
    ]
    text = page.MANY.format(
        measured=page.measured("many", rounds),
        paths=len(PATHS),
        lacking=len(PATHS) - len(PRESENT),
        latency=f"{LATENCY * 1000:.0f} ms",
        runs=page.numbers("Run", {each.name(): measured for each, measured in scenes.items()}),
    )
    return Part(text, goals)


def run(scene: Scene) -> Measured:
    """Run the action on all repositories of an organisation."""
    with (
        StandInHost(tls=process.AUTHORITY.good()) as host,
        tempfile.TemporaryDirectory() as directory,
    ):
        folder = Path(directory)
        clock = folder / "clock"
        host.clock = FakeClock(time.time() - DAY, clock)
        made = [
            host.create_repository(
                f"octo-org/r{number}", PRESENT if number < scene.lacking else COMPLETE
            )
            for number in range(scene.repositories)
        ]
        if scene.opened:
            open_some(host, folder, clock, scene.opened)
        host.clock, host.latency = time, LATENCY
        inputs = given(folder, scene.mode, scene.lacking)
        measured = process.action(host, folder, inputs, WORKFLOW)
        opened = scene.lacking if scene.mode == "register" else scene.opened
        check(made[: scene.lacking], opened)
        return measured


def given(folder: Path, mode: str, most: int) -> dict[str, str]:
    """Give the inputs of a run that opens so many pull requests at most."""
    (folder / "list.json").write_text(json.dumps(PATHS), "utf-8")
    return {
        "target_repos": ORGANISATION,
        "definitions": "list.json",
        "mode": mode,
        "max_pull_requests": str(most),
    }


def open_some(host: StandInHost, folder: Path, clock: Path, count: int) -> None:
    """Let a run of another day open pull requests, on a clock on which nobody waits."""
    inputs = given(folder, "register", count) | {"max_minutes": "360"}
    command = (sys.executable, "-I", str(ROOT / "tests/without_waiting.py"), str(clock))
    process.action(host, folder, inputs, WORKFLOW, command)


def check(lacking: Sequence[Repository], opened: int) -> None:
    """The work was done: there are so many pull requests, and nowhere two."""
    counts = [len(repository.pull_requests) for repository in lacking]
    if sum(counts) != opened or max(counts) > 1:
        raise SystemExit("the pull requests are not what they should be")
