"""The action as its users meet it: a process of its own, a host, and the files it leaves."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from jsonschema import Draft202012Validator

from tests.fakehub import Repository, Request, StandInHost

ROOT = Path(__file__).resolve().parents[1]
TARGET = "octo/example"
SCAFFOLD_BRANCH = "chore/add-scaffold-files"
HEALTH_BRANCH = "chore/add-community-health-files"

# How long an example takes tells more about the machine than about us.
settings.register_profile("registrar", deadline=None, database=None)
settings.load_profile("registrar")


@dataclass(frozen=True)
class Command:
    """A workflow command as the runner reads it (actions/runner, ActionCommand.cs)."""

    name: str
    properties: Mapping[str, str]
    data: str


@dataclass(frozen=True)
class Run:
    """What a run has left behind."""

    exit_code: int
    stdout: str
    stderr: str
    summary: str
    output_file: str

    @property
    def lines(self) -> list[str]:
        """Standard output, line by line."""
        return self.stdout.splitlines()

    @property
    def text(self) -> str:
        """Everything that anybody can read."""
        return f"{self.stdout}\n{self.stderr}\n{self.summary}\n{self.output_file}"

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs of the step."""
        return read_file_command(self.output_file)

    @property
    def report(self) -> Any:
        """The report, from the output."""
        return json.loads(self.outputs["report"])

    @property
    def registration(self) -> Any:
        """The report of the only registration."""
        [registration] = self.report["registrations"]
        return registration

    @property
    def commands(self) -> list[Command]:
        """The workflow commands in both streams, of either form."""
        lines = [*re.split(r"\r\n|\r|\n", self.stdout), *re.split(r"\r\n|\r|\n", self.stderr)]
        return [command for line in lines if (command := read_command(line))]

    def annotations(self, name: str = "error") -> list[Command]:
        """The annotations of one kind."""
        return [command for command in self.commands if command.name == name]


def read_command(line: str) -> Command | None:
    """Read a line as the runner does: ``::name k=v,…::data``, or ``##[name k=v;…]data``."""
    if new := re.match(r"\s*::(?P<head>[^:].*?)::(?P<data>.*)", line):
        found, separator, escapes = new, ",", {"%0D": "\r", "%0A": "\n"}
    elif old := re.search(r"##\[(?P<head>[^\]]+)\](?P<data>.*)", line):
        found, separator, escapes = old, ";", {"%0D": "\r", "%0A": "\n", "%5D": "]", "%3B": ";"}
    else:
        return None
    name, _, rest = found["head"].strip().partition(" ")
    pairs = (pair.partition("=") for pair in rest.split(separator) if "=" in pair)
    more = {**escapes, "%3A": ":", "%2C": ","}
    properties = {key.strip(): unescaped(value, more) for key, _, value in pairs}
    return Command(name, properties, unescaped(found["data"], escapes))


def unescaped(text: str, escapes: Mapping[str, str]) -> str:
    """Undo the runner's escapes; ``%25`` last, as the runner does."""
    for escape, character in escapes.items():
        text = text.replace(escape, character)
    return text.replace("%25", "%")


def read_file_command(text: str) -> dict[str, str]:
    """Read ``GITHUB_OUTPUT`` as the runner does (actions/runner, FileCommandManager.cs)."""
    values: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if not line:
            continue
        equals, heredoc = line.find("="), line.find("<<")
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            name, _, values[name] = line.partition("=")
            continue
        assert heredoc > 0, f"invalid format: {line!r}"
        name, _, delimiter = line.partition("<<")
        held: list[str] = []
        for each in lines:
            if each == delimiter:
                break
            held.append(each)
        else:
            pytest.fail(f"matching delimiter not found: {delimiter!r}")
        values[name] = "\n".join(held)
    return values


@dataclass
class Action:
    """Runs the action against the host: ``action(profile="health")``.

    Keyword arguments are inputs; ``None`` leaves out what is given by default.
    """

    host: StandInHost
    directory: Path
    default_token: str
    secrets: list[str] = field(default_factory=list)
    """Texts that no run may show, whatever happens."""

    @property
    def workspace(self) -> Path:
        """The caller's checkout, and the working directory."""
        return self.directory / "workspace"

    def __call__(
        self,
        inputs: Mapping[str, str] | None = None,
        /,
        *,
        runner: bool = False,
        env: Mapping[str, str] | None = None,
        **more: str | None,
    ) -> Run:
        environ = self.environment({**(inputs or {}), **more}, runner=runner)
        return self.start({**environ, **(env or {})})

    def environment(
        self, inputs: Mapping[str, str | None], *, runner: bool = False
    ) -> dict[str, str]:
        """What the action is started with for these inputs."""
        given: dict[str, str | None] = {
            "host_token": self.default_token,
            "target_repo": TARGET,
            "api_url": self.host.url,
            **inputs,
        }
        environ = {f"INPUT_{name.upper()}": value for name, value in given.items() if value}
        if runner:
            environ |= {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(self.workspace)}
        return environ

    def start(
        self, environ: Mapping[str, str], command: tuple[str, ...] = ("entrypoint.py",)
    ) -> Run:
        """Run the action with this environment and nothing else."""
        return self.end(self.begin(environ, command), environ)

    def begin(
        self,
        environ: Mapping[str, str],
        command: tuple[str, ...] = ("entrypoint.py",),
        stdout: int = subprocess.PIPE,
    ) -> subprocess.Popen[bytes]:
        """Start the action and do not wait for it."""
        program = [sys.executable, "-I", str(ROOT / command[0]), *command[1:]]
        if command[0].endswith(".sh"):
            program = [str(ROOT / command[0]), *command[1:]]
        for file in self._files.values():
            file.write_bytes(b"")
        files = {name: str(file) for name, file in self._files.items()}
        return subprocess.Popen(
            program,
            cwd=self.workspace,
            env={**clean_environment(), **files, **environ},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
        )

    def end(self, process: subprocess.Popen[bytes], environ: Mapping[str, str]) -> Run:
        """Wait for the end of the action and check what holds for every run."""
        with process:
            try:
                stdout, stderr = process.communicate(timeout=120)
            finally:
                process.kill()
        run = Run(
            exit_code=process.returncode,
            stdout=(stdout or b"").decode(),
            stderr=stderr.decode(),
            summary=self._files["GITHUB_STEP_SUMMARY"].read_bytes().decode(),
            output_file=self._files["GITHUB_OUTPUT"].read_bytes().decode(),
        )
        tokens = {environ.get(name, "").strip() for name in ("INPUT_HOST_TOKEN", "HOST_TOKEN")}
        for secret in filter(None, {*self.secrets, *tokens}):
            assert secret not in run.text
            assert secret not in html.unescape(run.text)
        assert "Traceback" not in run.text
        assert {c.name for c in run.commands} <= {"group", "endgroup", "error", "warning"}
        if run.outputs.get("report"):
            check_report(run)
        return run

    @property
    def _files(self) -> dict[str, Path]:
        return {name: self.directory / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}

    def listing(self, *entries: str | Mapping[str, str], name: str = "list.json") -> str:
        """Write a definition file (an entry, or only its path) and give its name."""
        full = [{"path": entry} if isinstance(entry, str) else entry for entry in entries]
        return self.write(name, json.dumps(full))

    def write(self, name: str, content: str | bytes) -> str:
        """Put a file into the workspace and give its name."""
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name


@cache
def report_schema() -> Draft202012Validator:
    """The published schema of the report."""
    schema = json.loads((ROOT / "schemas/report.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def check_report(run: Run) -> None:
    """Whatever a run did, its report follows the schema and says what the outputs say."""
    assert run.outputs["report"].isascii()
    report_schema().validate(run.report)
    assert run.report["exit_code"] == run.exit_code
    for name in ("created", "skipped", "failed"):
        counted = sum(registration[name] for registration in run.report["registrations"])
        assert run.outputs[name] == str(counted)
    for registration in run.report["registrations"]:
        states = [file["state"] for file in registration["files"]]
        assert states.count("created") == registration["created"]
        assert states.count("skipped") == registration["skipped"]
        assert states.count("failed") + states.count("unknown") == registration["failed"]


def clean_environment() -> dict[str, str]:
    """What a process needs, and what measures its coverage; no variable means anything to us."""
    kept = ("PATH", "LD_LIBRARY_PATH")
    return {k: v for k, v in os.environ.items() if k in kept or k.startswith("COVERAGE_")}


@pytest.fixture
def host() -> Iterator[StandInHost]:
    """A stand-in host; the test fails when a request or an answer is not the real host's."""
    with StandInHost() as host:
        yield host


@pytest.fixture
def repository(host: StandInHost) -> Repository:
    """The target: has two of the 29 scaffold files, none of the health files."""
    files = {"README.md": b"# Example\n", ".gitignore": b"*.log\n", "src/main.c": b"int x;\n"}
    return host.create_repository(TARGET, files)


@pytest.fixture
def action(host: StandInHost, tmp_path: Path) -> Action:
    """The action with a good token for every repository of the host."""
    (tmp_path / "workspace").mkdir()
    return Action(host, tmp_path, host.create_token())


def calls(host: StandInHost) -> list[str]:
    """The requests that the host saw, shortened: ``PUT contents/README.md``."""
    return [shortened(request) for request in host.requests]


def shortened(request: Request) -> str:
    """Method and path of a request below the repository."""
    path = re.sub(r"^/repos/[^/]+/[^/]+/?", "", request.path)
    return f"{request.method} {path}".rstrip()


def writes(host: StandInHost) -> list[str]:
    """The requests that change something."""
    return [shortened(request) for request in host.requests if request.method != "GET"]
