"""The action as a step of workflows, executed by act."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import HEALTH_BRANCH, ROOT, SCAFFOLD_BRANCH, TARGET
from tests.container import tools
from tests.host import StandInHost

pytestmark = [
    pytest.mark.container,
    pytest.mark.slow,
    pytest.mark.xdist_group("container"),
]

# A local image: act starts jobs in a container, and this one needs no download of its own.
JOB_IMAGE = "python:3.13-slim-trixie"
DISPATCH = ".github/workflows/register-files.yml"
# A checkout by act copies the working tree; the commit is the one that the project uses.
CHECKOUT = re.search(r"actions/checkout@\w{40}", (ROOT / DISPATCH).read_text())

Act = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the working tree as a repository of its own, without what git ignores."""
    directory = tmp_path / "project"
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True)
    for file in files.stdout.splitlines():
        if (ROOT / file).is_file():
            (directory / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, directory / file)
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


@pytest.fixture
def act(docker: str, image: str, project: Path, tmp_path: Path) -> Act:
    """Runs a workflow of the project to its good end and returns the log.

    The image comes first, so that the layers of act's own build are there already.
    """
    path = tools.find("act")
    inspect = [docker, "image", "inspect", JOB_IMAGE]
    if subprocess.run(inspect, capture_output=True, check=False).returncode != 0:
        subprocess.run([docker, "pull", "--quiet", JOB_IMAGE], check=True)

    def run(workflow: str, host: StandInHost, *, secrets: dict[str, str], **inputs: str) -> str:
        # The containers and images of act have fixed names: one run at a time on a machine.
        with Path(tempfile.gettempdir(), "registrar-test-act.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            ended = execute(workflow, host, secrets, inputs)
        assert ended.returncode == 0, ended.stdout
        assert not any(secret in ended.stdout for secret in secrets.values())
        return ended.stdout

    def execute(
        workflow: str, host: StandInHost, secrets: dict[str, str], inputs: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                *(path, "workflow_dispatch", f"--workflows={workflow}", "--rm", "--pull=false"),
                *(f"--platform=ubuntu-latest={JOB_IMAGE}", "--no-cache-server"),
                f"--env=HOST_API_URL={host.url}",
                *(f"--secret={name}" for name in secrets),
                *(f"--input={name}={value}" for name, value in inputs.items()),
            ],
            cwd=project,
            # Its settings are a person's own: none of them has a say here.
            env={**os.environ, **secrets, "HOME": str(tmp_path), "XDG_CONFIG_HOME": ""},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=280,
            check=False,
        )

    return run


def test_a_step_hands_its_outputs_to_the_next(act: Act, project: Path) -> None:
    assert CHECKOUT
    (project / ".github/workflows/use.yml").write_text(f"""
on: workflow_dispatch
jobs:
  use:
    runs-on: ubuntu-latest
    steps:
      - uses: {CHECKOUT.group()}
      - uses: ./
        id: registrar
        with:
          profile: health
          language: en
      - name: Compare
        env:
          OUTPUTS: ${{{{ toJSON(steps.registrar.outputs) }}}}
        run: |
          python3 -c '
          import json, os
          outputs = json.loads(os.environ["OUTPUTS"])
          url = outputs.pop("pull_request_url")
          assert url.endswith("/{TARGET}/pull/1"), url
          assert outputs == {{
              "created": "6",
              "skipped": "1",
              "failed": "0",
              "branch": "{HEALTH_BRANCH}",
              "pull_request_number": "1",
              "pull_request_operation": "created",
          }}, outputs
          print("compared", "outputs")'
""")
    with StandInHost() as host:
        host.create_repository(TARGET, files={".github/SECURITY.md": b"# Security\n"})
        token = host.create_token(kind="installation")
        log = act(".github/workflows/use.yml", host, secrets={"GITHUB_TOKEN": token})
    assert "compared outputs" in log


@pytest.mark.parametrize(
    ("profile", "language", "branches", "lines"),
    [
        ("scaffold", "ja", [SCAFFOLD_BRANCH], ["作成: 29 件"]),
        ("health", "en", [HEALTH_BRANCH], ["Created: 7"]),
        ("all", "ja", [HEALTH_BRANCH, SCAFFOLD_BRANCH], ["作成: 7 件", "作成: 29 件"]),
    ],
)
def test_the_workflow_that_is_started_by_hand(
    act: Act, profile: str, language: str, branches: list[str], lines: list[str]
) -> None:
    with StandInHost() as host:
        repository = host.create_repository(TARGET, files={"LICENSE": b"MIT\n"})
        token = host.create_token(kind="installation")
        secrets = {"GITHUB_TOKEN": token}
        log = act(DISPATCH, host, secrets=secrets, profile=profile, language=language)
    assert [each.head for each in repository.pull_requests] == branches
    assert all(line in log for line in lines)


def test_the_workflow_reaches_another_repository_with_a_token_of_its_own(act: Act) -> None:
    with StandInHost() as host:
        host.create_repository(TARGET)
        other = host.create_repository("octo/other")
        secrets = {
            "GITHUB_TOKEN": host.create_token(kind="installation", repositories=[TARGET]),
            "REGISTRAR_TOKEN": host.create_token(kind="classic"),
        }
        act(DISPATCH, host, secrets=secrets, profile="health", target_repo="octo/other")
    assert [each.head for each in other.pull_requests] == [HEALTH_BRANCH]
