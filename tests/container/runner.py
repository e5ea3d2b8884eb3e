"""Run the image in the way in which the runner of GitHub Actions runs a container action.

Source: actions/runner, ``ContainerActionHandler`` and ``DockerCommandManager``.
"""

from __future__ import annotations

import subprocess
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.harness import ROOT, read_file_command

MOUNTS = ("workspace", "file_commands", "home", "runner_temp", "workflow")
COMMAND_FILES = {
    "GITHUB_ENV": "set_env",
    "GITHUB_OUTPUT": "set_output",
    "GITHUB_PATH": "add_path",
    "GITHUB_STATE": "save_state",
    "GITHUB_STEP_SUMMARY": "step_summary",
}


@dataclass(frozen=True)
class Step:
    """The results of a step: exit code, log, and the files for outputs and the summary."""

    exit_code: int
    log: str
    outputs_file: str
    summary: str

    @property
    def outputs(self) -> dict[str, str]:
        return read_file_command(self.outputs_file)


@dataclass(frozen=True)
class RegistrationSpec:
    """A job with its directories, which the runner mounts into each container of the job."""

    directory: Path
    docker: str
    image: str
    env: dict[str, str] = field(default_factory=dict)
    """The ``env:`` of the job."""
    places: dict[str, str] = field(default_factory=dict)
    """The places at which directories are mounted, by name, if not below ``/github``."""

    def __post_init__(self) -> None:
        for name in MOUNTS:
            (self.directory / name).mkdir(parents=True)
        for name in COMMAND_FILES.values():
            (self.directory / "file_commands" / name).touch()

    def run(self, inputs: dict[str, str]) -> Step:
        container = self.start(inputs)
        return self.finish(container)

    def start(self, inputs: dict[str, str]) -> Container:
        """Start the step with these inputs (the names of ``action.yml``)."""
        env = {
            **{
                f"INPUT_{name.upper()}": value
                for name, value in given({"profile": "scaffold", **inputs}).items()
            },
            **{name: f"/github/file_commands/{file}" for name, file in COMMAND_FILES.items()},
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": "https://api.github.invalid",
            "GITHUB_REPOSITORY": "octo/caller",
            "GITHUB_RUN_ID": "1",
            "GITHUB_SERVER_URL": "https://github.invalid",
            "GITHUB_WORKSPACE": "/github/workspace",
            "HOME": "/github/home",
            "RUNNER_TEMP": "/github/runner_temp",
            **self.env,
        }
        places = {mount: f"/github/{mount}" for mount in MOUNTS} | self.places
        name = f"registrar-test-{uuid.uuid4().hex}"
        process = subprocess.Popen(
            [
                *(self.docker, "run", "--rm", "--name", name, "--workdir", "/github/workspace"),
                *(f"--env={key}={value}" for key, value in env.items()),
                *(f"--volume={self.directory / mount}:{place}" for mount, place in places.items()),
                # Unlike on a runner, because the stand-in listens on the loopback of this machine
                "--network=host",
                self.image,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return Container(name, process)

    def finish(self, container: Container) -> Step:
        log, _ = container.process.communicate(timeout=120)
        files = self.directory / "file_commands"
        return Step(
            exit_code=container.process.returncode,
            log=log,
            outputs_file=(files / COMMAND_FILES["GITHUB_OUTPUT"]).read_text(),
            summary=(files / COMMAND_FILES["GITHUB_STEP_SUMMARY"]).read_text(),
        )


@dataclass(frozen=True)
class Container:
    name: str
    process: subprocess.Popen[str]


def given(inputs: dict[str, str]) -> dict[str, str]:
    """Return every input of ``action.yml`` with its given value, its default or an empty string.

    The workflow is one of a private repository. An input with another expression as its default
    has to be given, because only GitHub could evaluate the expression.
    """
    declared: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "action.yml").read_text())[
        "inputs"
    ]
    defaults = {name: str(each.get("default", "")) for name, each in declared.items()}
    assert inputs.keys() <= defaults.keys()
    values = defaults | {"workflow_visibility": "private"} | inputs
    assert not any("${{" in value for value in values.values())
    return values
