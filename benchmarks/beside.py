"""The same change in the same repositories: registrar, and all-repos, which clones and pushes."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeAlias

from benchmarks import cloner, history, page, process
from benchmarks.page import Goal, Part
from benchmarks.runs import PRESENT, SCAFFOLD
from tests.fakehub import StandInHost

REPOSITORIES, LACKING = 50, 30
LATENCY = 0.05
OURS = "registrar"
LISTED = {
    entry["path"]: entry.get("content", "\n").encode()
    for entry in json.loads(SCAFFOLD.read_text("utf-8"))
}
MISSING = {path: text for path, text in LISTED.items() if path not in PRESENT}


class Step(NamedTuple):
    """What a tool does."""

    work: str
    tool: str


SHALLOW = Step("plan", "git clone --depth=1")
THEIR_PLAN, THEIR_WRITES = Step("plan", "all-repos"), Step("write", "all-repos")
PLAN_FASTER, PLAN_SMALLER, WRITES_FASTER = 5, 100, 2
"""What is to hold, as multiples of ours."""


@dataclass(frozen=True)
class Measured:
    """What one step of one tool cost; seconds and bytes."""

    seconds: float
    requests: int
    moved: int
    """Bodies of requests and answers."""
    left: int
    """What it has added on the disk and not removed."""


Rounds: TypeAlias = Sequence[Mapping[Step, Measured]]


@dataclass
class Stage:
    """Fifty repositories, a tool, and what its steps cost."""

    host: StandInHost
    folder: Path
    measured: dict[Step, Measured] = field(default_factory=dict[Step, Measured])

    def do(self, step: Step, run: Callable[[], float]) -> None:
        """Let a tool do something that gives its seconds."""
        before, disk = len(self.host.requests), self._disk()
        seconds = run()
        requests = self.host.requests[before:]
        moved = sum(request.received + request.sent for request in requests)
        self.measured[step] = Measured(seconds, len(requests), moved, self._disk() - disk)

    def _disk(self) -> int:
        return sum(file.lstat().st_size for file in self.folder.rglob("*") if not file.is_dir())

    def check(self) -> None:
        """Every repository that lacked files has one pull request, which adds them."""
        for number, repository in enumerate(self.host.repositories):
            heads = [pull.head for pull in repository.pull_requests]
            if len(heads) != (number < LACKING) or any(
                MISSING.items() - repository.files(head).items() for head in heads
            ):
                raise SystemExit(f"{repository.full_name} is not as it should be: {heads}")


def measure(rounds: int) -> Part:
    """Measure in so many rounds, and give the part of the page."""
    cloner.install()
    found: list[Mapping[Step, Measured]] = []
    with tempfile.TemporaryDirectory() as directory:
        begun = [
            history.make(Path(directory, "lacking"), PRESENT),
            history.make(Path(directory, "complete"), LISTED),
        ]
        size = sum(file.stat().st_size for file in begun[0].rglob("*.pack"))
        for _ in range(rounds):
            done: dict[Step, Measured] = {}
            for tool in (ours, theirs, theirs_at_once):
                with stage(begun) as scene:
                    tool(scene)
                    scene.check()
                    for step, cost in scene.measured.items():
                        # A plan that two ways have in common is the first one's
                        done.setdefault(step, cost)
            found.append(done)
    goals = [
        Goal(f"{what} of all-repos ÷ ours", least, times, at_least=True)
        for what, least, times in (
            ("plan: seconds", PLAN_FASTER, _slower(found, THEIR_PLAN)),
            ("plan: bytes", PLAN_SMALLER, _larger(found, THEIR_PLAN)),
            ("write: seconds", WRITES_FASTER, _slower(found, THEIR_WRITES)),
        )
    ]
    text = page.BESIDE.format(
        measured=page.measured("beside", rounds),
        repositories=REPOSITORIES,
        lacking=LACKING,
        commits=history.COMMITS,
        megabytes=f"{size / 1_000_000:.1f}",
        missing=len(MISSING),
        version=cloner.version(),
        latency=f"{LATENCY * 1000:.0f} ms",
        runs=page.table(
            ("Work", "Tool", "Seconds", "Requests", "MB moved", "MB left"),
            (_row(step, found) for step in sorted(found[0], key=_place)),
            texts=2,
        ),
    )
    return Part(text, goals)


def ours(scene: Stage) -> None:
    """Plan, then write."""
    shutil.copy(SCAFFOLD, scene.folder / "list.json")

    def run(mode: str, entry_point: Path) -> Callable[[], float]:
        inputs = {"target_repos": "octo-org/*", "definitions": "list.json", "mode": mode}
        inputs |= {"max_pull_requests": str(LACKING)}
        return lambda: (
            process.action(scene.host, scene.folder, inputs, entry_point=entry_point).seconds
        )

    scene.do(Step("plan", OURS), run("plan", process.ENTRYPOINT))
    scene.do(Step("plan again", OURS), run("plan", process.ENTRYPOINT))
    scene.do(Step("write", OURS), run("register", process.UNPACED))


def theirs(scene: Stage, *options: str) -> None:
    """Clone and look, bring the clones up to date and look again, then fix.

    Before that, what a tool does at least that clones the last commit only.
    """
    environ = cloner.configure(scene.host, scene.folder)

    def run(*commands: Sequence[str]) -> Callable[[], float]:
        return lambda: sum(process.run(each, environ, scene.folder).seconds for each in commands)

    names = [repository.full_name for repository in scene.host.repositories]
    scene.do(SHALLOW, run(cloner.shallow_clones(scene.host, names)))
    look = [*cloner.FIND, "^(" + "|".join(LISTED).replace(".", r"\.") + ")$"]
    scene.do(THEIR_PLAN, run(cloner.UPDATE, look))
    scene.do(Step("plan again", "all-repos"), run(cloner.UPDATE, look))
    scene.do(Step("write", " ".join(["all-repos", *options])), run([*cloner.FIX, *options]))


def theirs_at_once(scene: Stage) -> None:
    """The same with eight repositories at once, which is against GitHub's advice for writes."""
    theirs(scene, "--jobs=8")


@contextmanager
def stage(begun: Sequence[Path]) -> Iterator[Stage]:
    """Fresh repositories and an empty folder."""
    with (
        StandInHost(tls=process.AUTHORITY.good()) as host,
        tempfile.TemporaryDirectory() as folder,
    ):
        for number in range(REPOSITORIES):
            repository = host.create_repository(f"octo-org/service-{number:02}")
            history.give(repository, begun[number >= LACKING])
        host.latency = LATENCY
        process.bundle(Path(folder))
        yield Stage(host, Path(folder))


def _place(step: Step) -> tuple[bool, str, bool]:
    """Plans first; each with ours before the other."""
    return step.work == "write", step.work, step.tool != OURS


def _row(step: Step, found: Rounds) -> tuple[str, ...]:
    measured = [each[step] for each in found]
    return (
        *step,
        f"{median(each.seconds for each in measured):.1f}",
        f"{measured[0].requests:,}",
        f"{measured[0].moved / 1_000_000:.2f}",
        f"{measured[0].left / 1_000_000:.2f}",
    )


def _slower(found: Rounds, step: Step) -> float:
    """How many times our seconds it takes, by the median of the rounds."""
    own = Step(step.work, OURS)
    return median(each[step].seconds / each[own].seconds for each in found)


def _larger(found: Rounds, step: Step) -> float:
    """How many times our bytes it moves."""
    return found[0][step].moved / found[0][Step(step.work, OURS)].moved
