"""A made-up repository on the stand-in, and the action run against it as a process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.fakehub import Repository, StandInHost

ROOT = Path(__file__).resolve().parents[2]
FILES = {"README.md": b"# Example\n\nA repository that has some of the files already.\n"}
PERMISSIONS = {
    "contents": "write",
    "issues": "write",
    "members": "read",
    "organization_custom_properties": "read",
    "pull_requests": "write",
    "workflows": "write",
}
"""Of the token: everything that a list can ask for, files of workflows among it."""


@dataclass(frozen=True)
class Step:
    """What one run of the action, as a step of a workflow, has left behind."""

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
class Scene:
    """A host, a repository on it, and a token of a workflow."""

    host: StandInHost
    repository: Repository
    token: str
    workspace: Path

    @property
    def temporary(self) -> Path:
        """The runner's temporary directory, which holds the reports."""
        return self.workspace.parent

    def run(self, profile: str, language: str, **inputs: str) -> Step:
        """Run the action as a step of a workflow would."""
        files = {name: self.workspace / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        for file in files.values():
            file.write_text("")
        target = inputs.get("target_repo", self.repository.full_name)
        ended = subprocess.run(
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
            check=False,
        )
        summary, outputs = (file.read_text("utf-8") for file in files.values())
        return Step(ended.returncode, ended.stdout, summary, outputs)


def documented_list(page: str, path: str) -> str:
    """The list that a page shows as the file of a path."""
    _, _, text = (ROOT / page).read_text("utf-8").partition(f"```yaml\n# {path}\n")
    return text.partition("```")[0]


@contextmanager
def stage(files: Mapping[str, bytes] = FILES) -> Iterator[Scene]:
    """Set the scene: a repository that has `files`. Nothing of it is left behind."""
    with (
        tempfile.TemporaryDirectory(prefix="registrar-scene-") as directory,
        StandInHost(root=Path(directory, "host")) as host,
    ):
        workspace = Path(directory, "workspace")
        # As in a checkout
        (workspace / ".git").mkdir(parents=True)
        repository = host.create_repository("octo/example", files)
        token = host.create_token("installation", permissions=PERMISSIONS)
        yield Scene(host, repository, token, workspace)
