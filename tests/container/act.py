"""Run workflows with act."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.lib.release import Project
from tests.fakehub import StandInHost
from tests.harness import HEALTH_BRANCH, ROOT, TARGET

# act starts jobs in a container. This image is on the machine already, because ours is built on it.
JOB_IMAGE = "python:3.13-slim-trixie"
PUBLISHED = "octo/registrar@v1"
COMPOSITE = "octo/registrar/composite@v1"
REFERENCE = Project(ROOT).changelog.reference
"""The version of the action that the examples of the documents use."""
BUILT = ("act-dockeraction", "act-octo-registrar-v1-dockeraction")
"""The names that act gives to the images that it builds for `./` and for the published action."""
[_COMMIT] = {
    use
    for workflow in (ROOT / ".github/workflows").glob("*.yml")
    for use in re.findall(r"uses: (actions/checkout@\w+)", workflow.read_text("utf-8"))
}
CHECKOUT = {"uses": _COMMIT}
"""A step that checks out, with the commit that the project uses. act copies the working tree."""
PRESENT = {".github/SECURITY.md": b"# Security\n", ".gitignore": b"*.log\n"}
"""The files of the target before the steps of `register_and_compare`."""


@dataclass(frozen=True)
class Act:
    """The program act, with the Docker client and a home directory for it."""

    path: str
    docker: str
    home: Path

    def run(
        self,
        directory: Path,
        workflow: str,
        host: StandInHost,
        *,
        secrets: Mapping[str, str],
        event: str = "workflow_dispatch",
        inputs: Mapping[str, str] | None = None,
        local: Mapping[str, Path] | None = None,
        options: Sequence[str] = (),
        exit_code: int = 0,
        timeout: float = 280,
    ) -> str:
        """Run a workflow, and return its log.

        The test fails if act ends with another exit code, or if a secret is in the log. ``timeout``
        is in seconds.
        """
        command = [
            *(self.path, event, f"--workflows={workflow}", "--rm", "--pull=false"),
            *(f"--platform=ubuntu-{name}={JOB_IMAGE}" for name in ("latest", "slim")),
            "--no-cache-server",
            f"--env=HOST_API_URL={host.url}",
            *(f"--secret={name}" for name in secrets),
            *(f"--input={name}={value}" for name, value in (inputs or {}).items()),
            *(f"--local-repository={name}={path}" for name, path in (local or {}).items()),
            *options,
        ]
        # The containers and images of act have fixed names, so only one run at a time is possible
        with Path(tempfile.gettempdir(), "registrar-test-act.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                ended = subprocess.run(
                    command,
                    cwd=directory,
                    # With another home directory, act does not read the settings of a person
                    env={**os.environ, **secrets, "HOME": str(self.home), "XDG_CONFIG_HOME": ""},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    timeout=timeout,
                    check=False,
                )
            finally:
                # The next run loses no time, because the image of the tests keeps the layers
                remove = [self.docker, "image", "rm", *BUILT]
                subprocess.run(remove, capture_output=True, check=False)
        print(ended.stdout)
        assert ended.returncode == exit_code, ended.stdout
        assert not any(secret in ended.stdout for secret in secrets.values())
        return ended.stdout


def commit(directory: Path) -> Path:
    """Make a git repository of a directory, with the target as its origin; return the directory."""
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.invalid"]
    unsigned = ["-c", "commit.gpgSign=false"]
    for arguments in (
        ["init", "--quiet", "--initial-branch=main"],
        ["remote", "add", "origin", f"https://github.com/{TARGET}.git"],
        ["add", "--all"],
        [*identity, *unsigned, "commit", "--quiet", "--message=project"],
    ):
        subprocess.run(["git", *arguments], cwd=directory, check=True)
    return directory


def register_and_compare(action: str) -> list[dict[str, Any]]:
    """Return two steps: the action, and one that fails unless it gets the right outputs of it."""
    check = f"""
import json, os
outputs = json.loads(os.environ["OUTPUTS"])
report = json.loads(outputs.pop("report"))
# The file itself stays unseen: act shares no RUNNER_TEMP with the containers of actions.
assert outputs.pop("report_path"), outputs
states = [each["done"] for each in report["registrations"][0]["files"]]
assert sorted(states) == ["created"] * 6 + ["skipped"], report
assert outputs.pop("pull_request_url").endswith("/{TARGET}/pull/1")
expected = {{
    "created": "6",
    "skipped": "1",
    "failed": "0",
    "missing": "6",
    "branch": "{HEALTH_BRANCH}",
    "pull_request_number": "1",
    "pull_request_operation": "created",
}}
assert {{name: outputs[name] for name in expected}} == expected, outputs
print("compared", "outputs")
"""
    return [
        {"uses": action, "id": "registrar", "with": {"profile": "health", "language": "en"}},
        {
            "name": "Compare",
            "run": check,
            "shell": "python3 -I {0}",
            "env": {"OUTPUTS": "${{ toJSON(steps.registrar.outputs) }}"},
        },
    ]


def write_workflow(directory: Path, *steps: Mapping[str, Any]) -> str:
    """Write a workflow with one job of these steps, and return its path in the directory."""
    job = {"runs-on": "ubuntu-latest", "steps": steps}
    name = ".github/workflows/use.yml"
    (directory / name).parent.mkdir(parents=True, exist_ok=True)
    (directory / name).write_text(json.dumps({"on": "workflow_dispatch", "jobs": {"use": job}}))
    return name
