"""The same change in the same repositories: registrar, and all-repos, which clones and pushes."""

from __future__ import annotations

import base64
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeAlias

from benchmarks import history, page, process
from benchmarks.page import Goal, Part
from benchmarks.process import HERE, ROOT
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
TOOLS = ROOT / ".tools/all-repos"
LOCKED = ROOT / "requirements/all-repos.txt"
GIT_CONFIG = """\
[user]
    name = Somebody
    email = somebody@example.com
[http]
    sslCAInfo = {bundle}
    extraHeader = Authorization: Basic {credentials}
[url "{url}/"]
    insteadOf = git@{host}:
"""


class Step(NamedTuple):
    """What a tool does."""

    work: str
    tool: str


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
    install()
    found: list[Mapping[Step, Measured]] = []
    with tempfile.TemporaryDirectory() as directory:
        begun = [
            history.make(Path(directory, "lacking"), PRESENT),
            history.make(Path(directory, "complete"), LISTED),
        ]
        size = sum(file.stat().st_size for file in begun[0].rglob("*.pack"))
        for _ in range(rounds):
            done: dict[Step, Measured] = {}
            for tool in (registrar, all_repos, all_repos_at_once):
                with stage(begun) as scene:
                    tool(scene)
                    scene.check()
                    done |= scene.measured
            found.append(done)
    goals = [
        Goal(
            "plan: seconds of all-repos ÷ ours",
            PLAN_FASTER,
            _slower(found, THEIR_PLAN),
            at_least=True,
        ),
        Goal(
            "plan: bytes of all-repos ÷ ours",
            PLAN_SMALLER,
            _larger(found, THEIR_PLAN),
            at_least=True,
        ),
        Goal(
            "write: seconds of all-repos ÷ ours",
            WRITES_FASTER,
            _slower(found, THEIR_WRITES),
            at_least=True,
        ),
    ]
    text = page.BESIDE.format(
        goals=page.goals(goals),
        measured=page.measured("beside", rounds),
        repositories=REPOSITORIES,
        lacking=LACKING,
        commits=history.COMMITS,
        megabytes=f"{size / 1_000_000:.1f}",
        missing=len(MISSING),
        version=_version(),
        latency=f"{LATENCY * 1000:.0f} ms",
        runs=page.table(
            ("Work", "Tool", "Seconds", "Requests", "MB moved", "MB left", "Seconds ÷", "Bytes ÷"),
            (_row(step, found) for step in sorted(found[0], key=_place)),
            texts=2,
        ),
    )
    return Part(text, goals)


def registrar(scene: Stage) -> None:
    """Plan, then write."""
    shutil.copy(SCAFFOLD, scene.folder / "list.json")

    def run(mode: str, entry_point: Path) -> Callable[[], float]:
        inputs = {"target_repos": "octo-org/*", "definitions": "list.json", "mode": mode}
        return lambda: (
            process.action(scene.host, scene.folder, inputs, entry_point=entry_point).seconds
        )

    scene.do(Step("plan", OURS), run("plan", process.ENTRYPOINT))
    scene.do(Step("plan again", OURS), run("plan", process.ENTRYPOINT))
    scene.do(Step("write", OURS), run("register", process.UNPACED))


def all_repos(scene: Stage, *options: str) -> None:
    """Clone and look, bring the clones up to date and look again, then fix."""
    environ = _configure(scene)

    def run(*commands: Sequence[str]) -> Callable[[], float]:
        return lambda: sum(process.run(each, environ, scene.folder).seconds for each in commands)

    commands = TOOLS / "bin"
    pattern = "^(" + "|".join(LISTED).replace(".", r"\.") + ")$"
    look = [str(commands / "all-repos-find-files"), pattern]
    update = [str(commands / "all-repos-clone")]
    fixer = [str(commands / "python"), str(HERE / "all_repos_fixer.py"), *options]
    scene.do(THEIR_PLAN, run(update, look))
    scene.do(Step("plan again", "all-repos"), run(update, look))
    scene.do(Step("write", " ".join(["all-repos", *options])), run(fixer))


def all_repos_at_once(scene: Stage) -> None:
    """The same with eight repositories at once, which is against GitHub's advice for writes."""
    all_repos(scene, "--jobs=8")


def install() -> None:
    """Make an environment with exactly the locked packages, unless there is one."""
    installed = TOOLS / LOCKED.name
    if installed.exists() and filecmp.cmp(installed, LOCKED, shallow=False):
        return
    venv.create(TOOLS, clear=True, with_pip=True, symlinks=True)
    exactly = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    pip = [str(TOOLS / "bin/python"), "-I", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    install = [*pip, "install", *exactly, "--requirement", str(LOCKED)]
    subprocess.run(install, check=True, stdout=sys.stderr)  # noqa: S603 (locked)
    shutil.copyfile(LOCKED, installed)


def _configure(scene: Stage) -> dict[str, str]:
    """Set all-repos and git up in the folder, and give the environment."""
    url, token = scene.host.url, scene.host.create_token()
    credentials = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    bundle = process.bundle(scene.folder)
    (scene.folder / ".gitconfig").write_text(
        GIT_CONFIG.format(
            bundle=bundle, credentials=credentials, url=url, host=url.partition("//")[2]
        ),
        "utf-8",
    )
    access = {"api_key": token, "base_url": url}
    settings = {
        "output_dir": "clones",
        "source": "all_repos.source.github_org",
        "source_settings": {"org": "octo-org", **access},
        "push": "all_repos.push.github_pull_request",
        "push_settings": {"username": "octocat", **access},
    }
    file = scene.folder / "all-repos.json"
    file.write_text(json.dumps(settings), "utf-8")
    file.chmod(0o600)
    return {
        "PATH": f"{TOOLS / 'bin'}:{os.environ['PATH']}",
        "LIST": str(SCAFFOLD),
        "SSL_CERT_FILE": str(bundle),
        "GIT_TERMINAL_PROMPT": "0",
    }


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
        f"{_slower(found, step):.1f}",
        f"{_larger(found, step):.1f}",
    )


def _slower(found: Rounds, step: Step) -> float:
    """How many times our seconds it takes, by the median of the rounds."""
    ours = Step(step.work, OURS)
    return median(each[step].seconds / each[ours].seconds for each in found)


def _larger(found: Rounds, step: Step) -> float:
    """How many times our bytes it moves."""
    return found[0][step].moved / found[0][Step(step.work, OURS)].moved


def _version() -> str:
    return LOCKED.read_text("utf-8").partition("all-repos==")[2].split()[0]
