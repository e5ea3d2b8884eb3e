"""Run registrar on a made-up repository of the stand-in, with a clock that skips all waiting."""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from registrar.main import main as registrar
from registrar.runtime.cancellation import Cancellation
from tests.clocks import FakeClock
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
"""The permissions of the token: all that a list can need, also for workflow files."""


@dataclass(frozen=True)
class Step:
    """The files and texts that one run of registrar has written as a step of a workflow."""

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
        """Run registrar as a step of a workflow would."""
        files = {name: self.workspace / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        for file in files.values():
            file.write_text("")
        target = inputs.get("target_repo", self.repository.full_name)
        of_one = {"INPUT_TARGET_REPO": target, "GITHUB_REPOSITORY": target}
        environ = {
            "INPUT_HOST_TOKEN": self.token,
            # Over many repositories, the workflow is not in one of them
            **({} if "target_repos" in inputs else of_one),
            "CI": "true",
            "INPUT_PROFILE": profile,
            "INPUT_LANGUAGE": language,
            "INPUT_API_URL": self.host.url,
            "RUNNER_TEMP": str(self.temporary),
            **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
            **{name: str(file) for name, file in files.items()},
        }
        log = io.StringIO()
        with contextlib.chdir(self.workspace):
            exit_code = registrar([], environ, log, log, Cancellation(self.host.clock))
        summary, outputs = (file.read_text("utf-8") for file in files.values())
        return Step(exit_code, log.getvalue(), summary, outputs)


def documented_list(page: str, path: str) -> str:
    """Return the list that a page shows as the file with this path."""
    _, _, text = (ROOT / page).read_text("utf-8").partition(f"```yaml\n# {path}\n")
    return text.partition("```")[0]


@contextlib.contextmanager
def stage(files: Mapping[str, bytes] = FILES) -> Iterator[Scene]:
    """Set up a host with a repository that has ``files``; remove everything at the end."""
    with (
        tempfile.TemporaryDirectory(prefix="registrar-scene-") as directory,
        StandInHost(root=Path(directory, "host")) as host,
    ):
        workspace = Path(directory, "workspace")
        # As in a checkout
        (workspace / ".git").mkdir(parents=True)
        host.clock = FakeClock(time.time())
        repository = host.create_repository("octo/example", files)
        token = host.create_token("installation", permissions=PERMISSIONS)
        yield Scene(host, repository, token, workspace)
