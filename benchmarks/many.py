"""Many repositories in one step: how many requests, how long, how much memory; and a clone."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks import history, page, process
from benchmarks.clone import clone
from benchmarks.page import Goal, Part
from tests.fakehub import Repository, StandInHost

PATHS = [f"docs/{number}.md" for number in range(40)]
COMPLETE = dict.fromkeys(PATHS, b"\n")
PRESENT = {PATHS[0]: b"\n"}
LATENCY = 0.05
"""Seconds of a round trip."""
ORGANISATION = "octo-org/*"
CLONED = 50
"""Repositories of a few megabytes each, which are cloned as well; as many as are quickly made."""


@dataclass(frozen=True)
class Scene:
    """An organisation, some of whose repositories lack every listed file but one."""

    repositories: int
    lacking: int
    mode: str

    @property
    def most_requests(self) -> int:
        """What a run may come to."""
        written = self.lacking if self.mode == "register" else 0
        reads = math.ceil(self.repositories / 100) + math.ceil(self.repositories / 10)
        return 10 + reads + 2 * written


PLAN = Scene(1_000, 300, "plan")
REGISTER = Scene(1_000, 300, "register")
LARGE = Scene(10_000, 3_000, "plan")
MOST_MEGABYTES = 200
"""Of memory, for ten thousand."""
MOST_SECONDS, MOST_BYTES = 0.2, 0.02
"""Of a plan, as a part of what a clone of the last commits takes."""


class Measured(NamedTuple):
    """What a run cost: seconds, and bytes of memory."""

    seconds: float
    memory: int
    requests: int


class Moved(NamedTuple):
    """What a plan or a clone cost: seconds, and bytes."""

    seconds: float
    requests: int
    moved: int
    """Bodies of requests and answers."""
    left: int
    """What it has added on the disk and not removed."""


def measure(rounds: int) -> Part:
    """Measure in so many rounds, and give the part of the page."""
    scenes = {scene: list[Measured]() for scene in (PLAN, REGISTER, LARGE)}
    run(Scene(1, 1, "register"))  # compiles what is not compiled yet
    for _ in range(rounds):
        for scene, measured in scenes.items():
            measured.append(run(scene))
    plans, clones, size = _beside_a_clone(rounds)
    goals = [
        Goal(
            f"{scene.mode} of {scene.repositories:,}: requests",
            scene.most_requests,
            max(each.requests for each in measured),
        )
        for scene, measured in scenes.items()
    ]
    megabytes = max(each.memory for each in scenes[LARGE]) / 1e6
    pairs = list(zip(plans, clones, strict=True))
    goals += [
        Goal(f"plan of {LARGE.repositories:,}: MB", MOST_MEGABYTES, megabytes),
        Goal(
            "plan ÷ clone: seconds", MOST_SECONDS, median(p.seconds / c.seconds for p, c in pairs)
        ),
        Goal("plan ÷ clone: bytes", MOST_BYTES, median(p.moved / c.moved for p, c in pairs)),
    ]
    text = page.MANY.format(
        measured=page.measured("many", rounds),
        paths=len(PATHS),
        lacking=len(PATHS) - len(PRESENT),
        latency=f"{LATENCY * 1000:.0f} ms",
        runs=page.table(
            ("Mode", "Repositories", "Lacking", "Requests", "Seconds", "MB"),
            (_row(scene, measured) for scene, measured in scenes.items()),
        ),
        cloned=CLONED,
        commits=history.COMMITS,
        megabytes=f"{size / 1e6:.1f}",
        beside=page.table(
            ("Way", "Requests", "Seconds", "MB moved", "MB left"),
            (_row_beside("plan", plans), _row_beside("git clone --depth=1", clones)),
        ),
    )
    return Part(text, goals)


def _row(scene: Scene, measured: Sequence[Measured]) -> tuple[str, ...]:
    return (
        scene.mode,
        f"{scene.repositories:,}",
        f"{scene.lacking:,}",
        f"{max(each.requests for each in measured):,}",
        f"{median(each.seconds for each in measured):.1f}",
        f"{max(each.memory for each in measured) / 1e6:.0f}",
    )


def _row_beside(way: str, moved: Sequence[Moved]) -> tuple[str, ...]:
    return (
        way,
        f"{moved[0].requests:,}",
        f"{median(each.seconds for each in moved):.1f}",
        f"{moved[0].moved / 1e6:.2f}",
        f"{moved[0].left / 1e6:.2f}",
    )


def run(scene: Scene) -> Measured:
    """Run the action on all repositories of an organisation, without the pace."""
    with (
        StandInHost(tls=process.AUTHORITY.good()) as host,
        tempfile.TemporaryDirectory() as directory,
    ):
        made = [
            host.create_repository(
                f"octo-org/r{number}", PRESENT if number < scene.lacking else COMPLETE
            )
            for number in range(scene.repositories)
        ]
        host.latency = LATENCY
        cost = _register(host, Path(directory), scene.mode, scene.lacking)
        _check(scene, made)
        return Measured(cost.seconds, cost.memory, len(host.requests))


def _register(host: StandInHost, folder: Path, mode: str, most: int) -> process.Cost:
    (folder / "list.json").write_text(json.dumps(PATHS), "utf-8")
    inputs = {"target_repos": ORGANISATION, "definitions": "list.json", "mode": mode}
    inputs["max_pull_requests"] = str(most)
    return process.action(host, folder, inputs, entry_point=process.UNPACED)


def _check(scene: Scene, made: Sequence[Repository]) -> None:
    """The work was done: exactly one pull request for each repository that lacked files."""
    opened = scene.lacking if scene.mode == "register" else 0
    wanted = [1] * opened + [0] * (len(made) - opened)
    if [len(repository.pull_requests) for repository in made] != wanted:
        raise SystemExit("the pull requests are not what they should be")


def _beside_a_clone(rounds: int) -> tuple[list[Moved], list[Moved], int]:
    """What plans and clones cost, and the bytes of a repository, packed."""
    plans, clones = list[Moved](), list[Moved]()
    with (
        tempfile.TemporaryDirectory() as directory,
        StandInHost(tls=process.AUTHORITY.good()) as host,
    ):
        begun = history.make(Path(directory, "begun"), PRESENT)
        size = sum(file.stat().st_size for file in begun.rglob("*.pack"))
        names = [f"octo-org/r{number}" for number in range(CLONED)]
        for name in names:
            history.give(host.create_repository(name), begun)
        host.latency = LATENCY
        for _ in range(rounds):
            for measured in (plans, clones):
                with tempfile.TemporaryDirectory() as folder:
                    before = len(host.requests)
                    cost = (
                        _register(host, Path(folder), "plan", CLONED)
                        if measured is plans
                        else clone(host, Path(folder), names)
                    )
                    sent = host.requests[before:]
                    moved = sum(each.received + each.sent for each in sent)
                    measured.append(Moved(cost.seconds, len(sent), moved, _on_disk(Path(folder))))
    return plans, clones, size


def _on_disk(folder: Path) -> int:
    """Bytes of all files, but for what was laid there before."""
    laid = {"bundle.pem", "authority.pem", "list.json", ".gitconfig", "measured"}
    found = (file for file in folder.rglob("*") if not file.is_dir() and file.name not in laid)
    return sum(file.lstat().st_size for file in found)
