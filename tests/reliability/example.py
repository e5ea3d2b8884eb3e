"""An example repository at the stand-in host, runs on it, and what "right" means there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakehub import Repository, StandInHost

ROOT = Path(__file__).parents[2]
BRANCH = "chore/add-scaffold-files"
PRESENT = {"README.md": b"# Example\n", ".gitignore": b"*.pyc\n"}
LISTED = {
    entry["path"]: entry.get("content", "\n").encode()
    for entry in json.loads(
        (ROOT / "scripts/config/repo-scaffold-definitions.json").read_text("utf-8")
    )
}
MISSING = {path: content for path, content in LISTED.items() if path not in PRESENT}
EXPECTED = PRESENT | MISSING

READS = 3 + len(LISTED)
CREATE_BRANCH = READS + 1
FIRST_FILE = CREATE_BRANCH + 1
LAST_FILE = CREATE_BRANCH + len(MISSING)
PULL_REQUEST = LAST_FILE + 1
POSITIONS = {
    # token, two reads, 29 checks, branch, 27 files, pull request
    "per-file": range(1, PULL_REQUEST + 1),
    # one query; branch, commit and pull request in one request
    "single": range(1, 3),
}
"""Every request of a run, counted from 1."""


@dataclass(slots=True)
class Run:
    """An ended run."""

    exit_code: int
    output: str


@dataclass(slots=True)
class Example:
    """A repository that has 2 of the 29 files."""

    host: StandInHost
    strategy: str = "per-file"
    repository: Repository = field(init=False)
    token: str = field(init=False)

    def __post_init__(self) -> None:
        self.repository = self.host.create_repository("octo/example", files=dict(PRESENT))
        self.token = self.host.create_token(kind="classic", scopes=("repo",))

    def start(self, **inputs: str) -> subprocess.Popen[str]:
        """Start a run as a process of its own."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOST_TOKEN": self.token,
            "TARGET_REPO": "octo/example",
            "HOST_API_URL": self.host.url,
            "INPUT_LANGUAGE": "en",
            "INPUT_COMMIT_STRATEGY": self.strategy,
            **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
        }
        for name in ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START", "COVERAGE_FILE"):
            if name in os.environ:
                environment[name] = os.environ[name]
        return subprocess.Popen(
            [sys.executable, "-I", ROOT / "entrypoint.py"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, **inputs: str) -> Run:
        """Run to the end."""
        return ended(self.start(**inputs))

    def wrong(self) -> list[str]:
        """Say what is not as it must be once the work is done: nothing, when it is right."""
        repository = self.repository
        found: list[str] = []
        if repository.files("main") != PRESENT:
            found.append("the default branch changed")
        if sorted(repository.branches) != sorted(["main", BRANCH]):
            return [*found, f"branches: {repository.branches}"]
        if repository.files(BRANCH) != EXPECTED:
            found.append(f"files: {sorted(repository.files(BRANCH).items() ^ EXPECTED.items())}")
        if set(repository.modes(BRANCH).values()) != {0o100644}:
            found.append(f"modes: {repository.modes(BRANCH)}")
        created = [path for commit in repository.log(BRANCH)[:-1] for path in commit.paths]
        if sorted(created) != sorted(MISSING):
            found.append(f"commits: {created}")
        pulls = repository.pull_requests
        if [(pull.head, pull.base, pull.state) for pull in pulls] != [(BRANCH, "main", "open")]:
            found.append(f"pull requests: {pulls}")
        for pull in pulls:
            rows = [line for line in (pull.body or "").splitlines() if line.startswith("| <code>")]
            added = [row for row in rows if "| added |" in row]
            if (len(rows), len(added)) != (len(LISTED), len(MISSING)):
                found.append(f"table: {pull.body}")
        return found

    def overwritten(self) -> list[str]:
        """Name the files that existed and are not as they were, on any branch."""
        return [
            f"{branch}:{path}"
            for branch in self.repository.branches
            for path, content in PRESENT.items()
            if self.repository.files(branch).get(path) != content
        ]


def ended(process: subprocess.Popen[str]) -> Run:
    """Wait for the end of a run."""
    try:
        output, _ = process.communicate(timeout=250)
    finally:
        process.kill()
    return Run(process.returncode, output)
