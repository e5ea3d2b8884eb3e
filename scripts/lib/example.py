"""An example repository on the stand-in, and the action run against it as a process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.fakehub import Repository, StandInHost

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "README.md": b"# Example\n\nA repository that has some of the files already.\n",
    ".gitignore": b"__pycache__/\n",
    "src/example.py": b'print("Hello")\n',
}
DEFINITIONS = {
    "scaffold": ROOT / "scripts/config/repo-scaffold-definitions.json",
    "health": ROOT / "scripts/config/repo-health-file-definitions.json",
}
BRANCHES = {
    "scaffold": "chore/add-scaffold-files",
    "health": "chore/add-community-health-files",
}
GRACE_SECONDS = 8


@dataclass(frozen=True)
class Run:
    """What one run of the action has left behind."""

    exit_code: int
    output: str
    summary: str
    outputs_file: str

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs, read as the runner reads them (the form with a delimiter)."""
        found = re.findall(r"^(\w+)<<(.+)\n((?:.*\n)*?)\2$", self.outputs_file, re.MULTILINE)
        return {name: text.removesuffix("\n") for name, _, text in found}


@dataclass(frozen=True)
class Example:
    """The scene: a host, a repository on it, and a token of a workflow."""

    host: StandInHost
    repository: Repository
    token: str
    workspace: Path

    @property
    def temporary(self) -> Path:
        """The runner's temporary directory, which holds the reports."""
        return self.workspace.parent

    def run(self, profile: str, language: str, tell: Callable[[str], object], **inputs: str) -> Run:
        """Run the action as a step of a workflow would, each line passed on as it comes."""
        files = {name: self.workspace / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        for file in files.values():
            file.write_text("")
        target = inputs.get("target_repo", self.repository.full_name)
        process = subprocess.Popen(
            [sys.executable, "-I", str(ROOT / "entrypoint.py")],
            cwd=self.workspace,
            env={
                "PATH": os.environ.get("PATH", os.defpath),
                "INPUT_HOST_TOKEN": self.token,
                "INPUT_TARGET_REPO": target,
                # In many, a run of the workflow of one of them would be another story
                **({} if "target_repos" in inputs else {"GITHUB_REPOSITORY": target}),
                "INPUT_PROFILE": profile,
                "INPUT_LANGUAGE": language,
                "INPUT_API_URL": self.host.url,
                "RUNNER_TEMP": str(self.temporary),
                **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
                **{name: str(file) for name, file in files.items()},
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            # A signal of the terminal reaches it once, through us
            start_new_session=True,
        )
        lines: list[str] = []
        with process:
            try:
                for line in process.stdout or ():
                    lines.append(line)
                    tell(line.rstrip("\n"))
            except BaseException:
                self._stop(process)
                raise
        summary, outputs = (file.read_text("utf-8") for file in files.values())
        return Run(process.returncode, "".join(lines), summary, outputs)

    def _stop(self, process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def git(self, *arguments: str) -> str:
        """What git says about the repository; no configuration of the user has a say."""
        done = subprocess.run(
            ["git", f"--git-dir={self.repository.path}", *arguments],
            check=True,
            capture_output=True,
            encoding="utf-8",
            env={
                "PATH": os.environ.get("PATH", os.defpath),
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
            },
        )
        return done.stdout.rstrip("\n")


def expected(profile: str) -> dict[str, bytes]:
    """Every file that the profile lists, with its bytes."""
    listed = json.loads(DEFINITIONS[profile].read_text("utf-8"))
    return {item["path"]: item.get("content", "\n").encode() for item in listed}


def documented_list(page: str, path: str) -> str:
    """The list that a page shows as the file of a path."""
    _, _, text = (ROOT / page).read_text("utf-8").partition(f"```yaml\n# {path}\n")
    return text.partition("```")[0]


@contextmanager
def example(files: Mapping[str, bytes] = FILES) -> Iterator[Example]:
    """Set the scene: a repository that has `files`. Nothing of it is left behind."""
    with (
        tempfile.TemporaryDirectory(prefix="registrar-example-") as directory,
        StandInHost(root=Path(directory, "host")) as host,
    ):
        workspace = Path(directory, "workspace")
        # As in a checkout
        (workspace / ".git").mkdir(parents=True)
        repository = host.create_repository("octo/example", files)
        yield Example(host, repository, host.create_token("installation"), workspace)
