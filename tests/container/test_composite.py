"""The action on a runner without Docker, executed by act."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from tests.container.act import (
    CHECKOUT,
    COMPOSITE,
    PRESENT,
    PUBLISHED,
    REFERENCE,
    Act,
    commit,
    register_and_compare,
    write_workflow,
)
from tests.documents import README, blocks, command
from tests.fakehub import StandInHost
from tests.harness import HEALTH_BRANCH, ROOT, TARGET

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "composite/action.yml").read_text("utf-8"))

LIST = ".github/registrar.yml"
READS = {"contents": "read"}


@pytest.fixture
def caller(tmp_path: Path) -> Path:
    """A repository with files that would leave a trace if the action imported one of them."""
    directory = tmp_path / "caller"
    directory.mkdir()
    betray = "import os; open(os.environ['GITHUB_WORKSPACE'] + '/betrayed', 'a').write(__name__)\n"
    for module in ("github", "json", "pip", "sitecustomize", "subprocess", "venv", "yaml"):
        (directory / f"{module}.py").write_text(betray)
    return commit(directory)


def run(
    act: Act,
    caller: Path,
    project: Path,
    host: StandInHost,
    *steps: Mapping[str, object],
    env: Mapping[str, str] = MappingProxyType({}),
    exit_code: int = 0,
) -> str:
    workflow = write_workflow(caller, CHECKOUT, *steps)
    return act.run(
        caller,
        workflow,
        host,
        secrets={"GITHUB_TOKEN": host.create_token(kind="installation")},
        local={PUBLISHED: project},
        # The job gets no Docker socket
        options=[
            "--container-daemon-socket=-",
            *(f"--env={k}={v}" for k, v in (env or {}).items()),
        ],
        exit_code=exit_code,
    )


def test_it_registers_and_hands_on_its_outputs(act: Act, caller: Path, project: Path) -> None:
    look = """
import os
from pathlib import Path
betrayed = Path(os.environ["GITHUB_WORKSPACE"], "betrayed")
assert not betrayed.exists(), betrayed.read_text()
assert Path(os.environ["RUNNER_TEMP"], os.environ["REPORT"]).is_file()
assert not Path("/var/run/docker.sock").exists()
print("looked", "around")
"""
    environ = {"REPORT": "${{ steps.registrar.outputs.report_path }}"}
    steps = [
        *register_and_compare(COMPOSITE),
        {"run": look, "shell": "python3 -I {0}", "env": environ},
    ]
    with StandInHost() as host:
        repository = host.create_repository(TARGET, files=PRESENT)
        hostile = {"PYTHONPATH": str(caller), "PYTHONHOME": "/nowhere", "INPUT_MODE": "check"}
        log = run(act, caller, project, host, *steps, env=hostile)
    assert "compared outputs" in log
    assert "looked around" in log
    assert [each.head for each in repository.pull_requests] == [HEALTH_BRANCH]


@pytest.mark.parametrize("change", ["README.md", "SECURITY.md"])
def test_the_workflow_template_holds_a_pull_request_to_the_list(
    act: Act, project: Path, tmp_path: Path, change: str
) -> None:
    directory, workflow = tmp_path / "caller", ".github/workflows/required-files.yml"
    [listed] = (text for _, text in blocks("yaml", README) if text.startswith(f"# {LIST}\n"))
    for name, text in {
        workflow: (ROOT / "workflow-templates/required-files.yml").read_text("utf-8"),
        LIST: listed,
        "README.md": "# Example\n",
        "SECURITY.md": "Write to us.\n",
    }.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    commit(directory)
    somebody = ["-c", "user.name=test", "-c", "user.email=test@example.invalid"]
    for arguments in (["rm", "--quiet", change], [*somebody, "commit", "--quiet", "-mChange"]):
        subprocess.run(["git", "-c", "commit.gpgSign=false", *arguments], cwd=directory, check=True)
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"base": {"ref": "main"}}}))
    with StandInHost() as host:
        repository = host.create_repository(TARGET, empty=True)
        refs = ["HEAD:refs/pull/1/merge", "HEAD~:refs/heads/main"]
        push = ["git", "push", "--quiet", str(repository.path), *refs]
        subprocess.run(push, cwd=directory, check=True)
        log = act.run(
            directory,
            workflow,
            host,
            event="pull_request",
            secrets={"GITHUB_TOKEN": host.create_token("installation", permissions=READS)},
            local={f"OWNER/registrar@{REFERENCE}": project},
            options=[f"--eventpath={event}", "--container-daemon-socket=-"],
            exit_code=int(change == "SECURITY.md"),
        )
    error = "This change removes SECURITY.md, which .github/registrar.yml lists."
    assert (f"::error file=SECURITY.md::{error}" in log) == (change == "SECURITY.md")
    assert ("removes or replaces none of the listed files (2)" in log) == (change == "README.md")


def test_without_the_package_index_it_says_what_is_missing(
    act: Act, caller: Path, project: Path
) -> None:
    step = {"uses": COMPOSITE, "with": {"profile": "health"}}
    # No server listens on port 9
    env = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0"}
    with StandInHost() as host:
        host.create_repository(TARGET, files=PRESENT)
        log = run(act, caller, project, host, step, env=env, exit_code=1)
        assert not host.requests
    assert "The packages could not be installed: see the reason above." in log
    assert "PIP_INDEX_URL" in log


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mod": "plan"}, "Did you mean the input mode?"),
        # The runner does not change the letter case of a name
        ({"Mode": "plam"}, "Invalid value plam for mode."),
    ],
)
def test_a_misspelt_input_ends_the_run(given: dict[str, str], said: str, tmp_path: Path) -> None:
    """The runner hands over all inputs of `with`, also the ones that the action does not declare.

    act leaves these out, so the step is started without it. Source: actions/runner,
    ``CompositeActionHandler`` and ``ActionRunner``.
    """
    with StandInHost() as host:
        host.create_repository(TARGET, files=PRESENT)
        token = host.create_token()
        inputs = {"host_token": token, "target_repo": TARGET, "language": "en", **given}
        ended = run_step(inputs, RUNNER_TEMP=str(tmp_path), HOST_API_URL=host.url)
        assert not host.requests
    assert ended.returncode == 2
    assert said in ended.stdout
    assert token not in ended.stdout


def test_it_writes_below_the_temporary_directory_only(tmp_path: Path) -> None:
    home, temporary, workspace = (tmp_path / name for name in ("home", "temporary", "workspace"))
    for directory in (home, temporary, workspace):
        directory.mkdir()
    with StandInHost() as host:
        host.create_repository(TARGET, files=PRESENT)
        inputs = {"host_token": host.create_token(), "target_repo": TARGET, "mode": "plan"}
        ended = run_step(
            {"profile": "health", **inputs},
            HOME=str(home),
            RUNNER_TEMP=str(temporary),
            GITHUB_WORKSPACE=str(workspace),
            HOST_API_URL=host.url,
        )
    assert ended.returncode == 0, ended.stdout
    assert [*home.iterdir(), *workspace.iterdir()] == []
    assert any(temporary.iterdir())


def test_a_cancelled_run_leaves_its_summary(tmp_path: Path) -> None:
    """The runner sends the signal only to the shell that it has started, not to its children."""
    summary = tmp_path / "summary.md"
    summary.touch()
    step: subprocess.Popen[str]
    with StandInHost() as host:
        host.create_repository(TARGET, files=PRESENT)
        inputs = {"host_token": host.create_token(), "target_repo": TARGET, "profile": "health"}

        def cancel(request: object) -> None:
            if len(host.requests) == 1:
                step.send_signal(signal.SIGINT)

        host.on_request = cancel
        step = start_step(
            inputs,
            GITHUB_STEP_SUMMARY=str(summary),
            HOST_API_URL=host.url,
            RUNNER_TEMP=str(tmp_path),
        )
        said, _ = step.communicate(timeout=120)
    assert step.returncode == 130, said
    assert "SIGINT" in summary.read_text()


def run_step(inputs: Mapping[str, str], **env: str) -> subprocess.CompletedProcess[str]:
    """Run the step of the composite action to its end."""
    step = start_step(inputs, **env)
    said, _ = step.communicate(timeout=120)
    return subprocess.CompletedProcess(step.args, step.returncode, said)


def start_step(inputs: Mapping[str, str], **env: str) -> subprocess.Popen[str]:
    """Start the step of the composite action on this machine, like a runner, without waiting.

    The workflow is one of a private repository.
    """
    inputs = {"workflow_visibility": "private", **inputs}
    names = {name.lower() for name in inputs}
    declared = {
        n: each.get("default", "") for n, each in ACTION["inputs"].items() if n not in names
    }
    [step] = ACTION["runs"]["steps"]
    return subprocess.Popen(
        command(step, Path(env["RUNNER_TEMP"])),
        env={
            # pip uses further programs if it finds them
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "GITHUB_ACTION_PATH": str(ROOT / "composite"),
            "GITHUB_ACTIONS": "true",
            "REGISTRAR_INPUTS": json.dumps({**declared, **inputs}),
            **env,
        },
        cwd=env.get("GITHUB_WORKSPACE"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
