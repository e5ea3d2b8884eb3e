"""Many repositories in one step: how many requests, how long, how much memory."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks import page, process
from benchmarks.page import Goal, Part
from tests.fakehub import Repository, Request, StandInHost

PATHS = [f"docs/{number}.md" for number in range(40)]
RULES = [
    {"when": {"language": "go", "exists": PATHS[0]}, "files": [".golangci.yml"]},
    {"when": {"visibility": "public"}, "files": ["SECURITY.md"]},
    {"when": {"property": {"tier": ["gold", "silver"]}}, "files": [".github/CODEOWNERS"]},
    {"when": {"topic": "service", "not": {"name": "*-old"}}, "files": ["RUNBOOK.md"]},
]
OF_RULES = [path for rule in RULES for path in rule["files"]]
COMPLETE = dict.fromkeys([*PATHS, *OF_RULES], b"\n")
PRESENT = {PATHS[0]: b"\n"}
LATENCY = 0.05


@dataclass(frozen=True)
class Scene:
    """An organisation, some of whose repositories lack every listed file but one."""

    repositories: int
    lacking: int
    mode: str
    rules: bool = False
    files: bool = False
    """Whether report, table and page are written."""

    @property
    def most_requests(self) -> int:
        """What a run may come to."""
        written = self.lacking if self.mode == "register" else 0
        reads = math.ceil(self.repositories / 100) + math.ceil(self.repositories / 10)
        return 10 + reads + 2 * written


ALONE = Scene(1, 1, "register")
THOUSAND = Scene(1_000, 300, "register")
PLAN = Scene(1_000, 300, "plan")
WITH_RULES = Scene(1_000, 300, "plan", rules=True)
REPEATED = (ALONE, PLAN, WITH_RULES, THOUSAND)
ONCE, WITH_FILES = (Scene(10_000, 3_000, "plan", files=files) for files in (False, True))
MOST_MEMORY, MOST_CHAIN = 1.5, 1.25
"""Of a thousand: as a multiple of the memory for one, and of the round trips alone."""
MOST_FOR_RULES = 1.3
"""Requests of a plan with four rules, as a multiple of those with one list for all."""
MOST_MEGABYTES, MOST_FOR_FILES = 200, 1.1
"""Of ten thousand; with report, table and page as a multiple of it."""


@dataclass(frozen=True)
class Measured:
    """What a run cost; seconds and bytes."""

    seconds: float
    memory: int
    requests: int
    chain: int
    """Round trips of which none could begin before the one before it had ended."""
    host: float
    """The part of the seconds in which the stand-in computed."""

    @property
    def times_chain(self) -> float:
        """The seconds as a multiple of the round trips: what the stand-in computes counts, too."""
        return self.seconds / (self.chain * LATENCY)


def measure(rounds: int) -> Part:
    """Measure in so many rounds, and give the part of the page."""
    found = {scene: list[Measured]() for scene in REPEATED}
    run(ALONE)  # compiles what is not compiled yet
    for _ in range(rounds):
        for scene, measured in found.items():
            measured.append(run(scene))
    found[ONCE], with_files = [run(ONCE)], run(WITH_FILES)
    alone = max(each.memory for each in found[ALONE])
    goals = _goals(found, alone, with_files)
    text = page.MANY.format(
        measured=page.measured("many", rounds),
        paths=len(PATHS),
        lacking=len(PATHS) - len(PRESENT),
        latency=f"{LATENCY * 1000:.0f} ms",
        files=f"{with_files.memory / found[ONCE][0].memory:.2f}",
        runs=page.table(
            (
                *("Mode", "Repositories", "Lacking", "Requests"),
                *("Seconds", "× chain", "Host", "MB"),
            ),
            (_row(scene, measured) for scene, measured in found.items()),
        ),
    )
    return Part(text, goals)


def _goals(
    found: Mapping[Scene, Sequence[Measured]], alone: int, with_files: Measured
) -> list[Goal]:
    thousand, ten_thousand = found[THOUSAND], found[ONCE]
    return [
        Goal(
            "1,000 repositories: requests",
            THOUSAND.most_requests,
            max(each.requests for each in thousand),
        ),
        Goal(
            "1,000 repositories: MB ÷ one",
            MOST_MEMORY,
            max(each.memory for each in thousand) / alone,
        ),
        Goal(
            "1,000 repositories: seconds ÷ chain",
            MOST_CHAIN,
            median(each.times_chain for each in thousand),
        ),
        Goal(
            "plan of 1,000, four rules: requests ÷ one list",
            MOST_FOR_RULES,
            max(each.requests for each in found[WITH_RULES])
            / min(each.requests for each in found[PLAN]),
        ),
        Goal(
            "plan of 10,000: requests",
            ONCE.most_requests,
            max(each.requests for each in ten_thousand),
        ),
        Goal("plan of 10,000: MB", MOST_MEGABYTES, max(each.memory for each in ten_thousand) / 1e6),
        Goal(
            "plan of 10,000, with a table: MB ÷ without",
            MOST_FOR_FILES,
            with_files.memory / ten_thousand[0].memory,
        ),
        Goal(
            "plan of 10,000, with a table: requests ÷ without",
            1,
            with_files.requests / ten_thousand[0].requests,
        ),
    ]


def _row(scene: Scene, measured: Sequence[Measured]) -> tuple[str, ...]:
    return (
        f"{scene.mode}, {len(RULES)} rules" if scene.rules else scene.mode,
        f"{scene.repositories:,}",
        f"{scene.lacking:,}",
        f"{max(each.requests for each in measured):,}",
        f"{median(each.seconds for each in measured):.1f}",
        f"{median(each.times_chain for each in measured):.2f}",
        f"{median(each.host for each in measured):.1f}",
        f"{max(each.memory for each in measured) / 1_000_000:.0f}",
    )


def run(scene: Scene) -> Measured:
    """Run the action on all repositories of an organisation, without the pace."""
    with (
        StandInHost(tls=process.AUTHORITY.good()) as host,
        tempfile.TemporaryDirectory() as directory,
    ):
        made = _organisation(host, scene)
        host.latency = LATENCY
        folder = Path(directory)
        listed = {"files": PATHS, "rules": RULES} if scene.rules else PATHS
        (folder / "list.json").write_text(json.dumps(listed), "utf-8")
        inputs = {
            "target_repos": "octo-org/*",
            "definitions": "list.json",
            "mode": scene.mode,
            "max_pull_requests": str(scene.lacking),
        }
        cost = process.action(host, folder, inputs, entry_point=process.UNPACED, files=scene.files)
        _check(scene, made)
        return Measured(
            cost.seconds,
            cost.memory,
            len(host.requests),
            chain(host.requests),
            process.computed(host),
        )


def chain(requests: Sequence[Request]) -> int:
    """Count the requests that follow one another: of those that overlap, one."""
    count, ended = 0, 0.0
    for request in sorted(requests, key=lambda each: each.started):
        if request.started >= ended:
            count += 1
            ended = request.ended or request.started
    return count


def _organisation(host: StandInHost, scene: Scene) -> list[Repository]:
    return [
        host.create_repository(
            f"octo-org/r{number}",
            PRESENT if number < scene.lacking else COMPLETE,
            language="Go" if number % 2 else "Python",
            topics=["service"] if number % 3 else [],
            properties={"tier": "gold"} if number % 5 else {},
        )
        for number in range(scene.repositories)
    ]


def _check(scene: Scene, made: Sequence[Repository]) -> None:
    """The work was done: exactly one pull request for each repository that lacked files."""
    opened = scene.lacking if scene.mode == "register" else 0
    wanted = [1] * opened + [0] * (len(made) - opened)
    if [len(repository.pull_requests) for repository in made] != wanted:
        raise SystemExit("the pull requests are not what they should be")
