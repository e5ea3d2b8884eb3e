"""Run the action in tests, and read its outputs."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest
from jsonschema_rs import Draft202012Validator

from registrar.main import main
from registrar.runtime.cancellation import Cancellation
from tests import promises, states_of_paths
from tests.clocks import FakeClock
from tests.fakehub import Fault, FaultKind, Request, StandInHost
from tests.forking import Forked
from tests.recordings.calls import is_known

ROOT = Path(__file__).resolve().parents[1]
TARGET = "octo/example"
SCAFFOLD_BRANCH = "chore/add-scaffold-files"
HEALTH_BRANCH = "chore/add-community-health-files"
LIST_BRANCH = "chore/add-missing-files"
"""The default working branch of the user's own list."""
PER_FILE, SINGLE = STRATEGIES = ("per-file", "single")
JAPANESE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")

Start = Callable[..., "Run"]
"""A function that is called like an `Action`."""
FORKED = ("entrypoint.py", "tests/without_waiting.py")
"""The scripts that a forked process can run, without a new interpreter (`tests.forking`)."""
Process: TypeAlias = subprocess.Popen[bytes] | Forked
"""A run in a process of its own."""


@dataclass(frozen=True)
class Command:
    """A workflow command as the runner reads it (actions/runner, ActionCommand.cs)."""

    name: str
    properties: Mapping[str, str]
    data: str


@dataclass(frozen=True)
class Run:
    """The exit code, the outputs and the texts of a run."""

    exit_code: int
    stdout: str
    stderr: str
    summary: str
    output_file: str
    inputs: Mapping[str, str]

    def name_of(self, text: str) -> str:
        """Return the name of a text of this run, with the inputs; empty if it is none."""
        names = ("stdout", "stderr", "console", "summary", "output_file", "text")
        name = next((each for each in names if getattr(self, each) == text), "")
        shown = {k: v for k, v in self.inputs.items() if k not in {"host_token", "api_url"}}
        given = " ".join(f"{each}={value!r:.60}" for each, value in shown.items())
        return name and f"{name} of the run with {given}"

    def or_fail(self) -> Run:
        """Return the run itself; the test fails unless the exit code is 0."""
        assert self.exit_code == 0, self.text
        return self

    @property
    def lines(self) -> list[str]:
        """Standard output, line by line."""
        return self.stdout.splitlines()

    @property
    def console(self) -> str:
        """Standard output, and then standard error."""
        return f"{self.stdout}\n{self.stderr}"

    @property
    def text(self) -> str:
        """All texts of the run together: both streams, the summary and the outputs."""
        return f"{self.console}\n{self.summary}\n{self.output_file}"

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
    def outcomes(self) -> dict[str, str]:
        """The outcome (`done`) of each path of the only registration."""
        return {file["path"]: file["done"] for file in self.registration["files"]}

    @property
    def standings(self) -> dict[str, str]:
        """The state (`standing`) of each path of the only registration."""
        return {file["path"]: file["standing"] for file in self.registration["files"]}

    @property
    def commands(self) -> list[Command]:
        """The workflow commands in both streams, in the new and the old form."""
        lines = [*re.split(r"\r\n|\r|\n", self.stdout), *re.split(r"\r\n|\r|\n", self.stderr)]
        return [command for line in lines if (command := read_command(line))]

    def annotations(self, name: str = "error") -> list[Command]:
        """Return the annotations of one kind: `error` or `warning`."""
        return [command for command in self.commands if command.name == name]


ENDED = deque[Run](maxlen=20)
"""The last runs, so that a failed assertion can name the run whose text it is about."""


def read_command(line: str) -> Command | None:
    """Read a line like the runner: ``::name k=v,…::data``, or ``##[name k=v;…]data``.

    Returns ``None`` if the line is not a command.
    """
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
    """Return a text without the runner's escapes; like the runner, undo ``%25`` last."""
    for escape, character in escapes.items():
        text = text.replace(escape, character)
    return text.replace("%25", "%")


def read_file_command(text: str) -> dict[str, str]:
    """Read the outputs from ``GITHUB_OUTPUT`` like the runner (FileCommandManager.cs there)."""
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


class SignalAt:
    """Sends a signal to a process when the host has received a request, before it answers.

    It is used as `StandInHost.on_request`. It sends the signal once, at the first request that
    ``moment`` accepts; then ``sent`` is true.
    """

    def __init__(self, number: int, moment: Callable[[Request], bool]) -> None:
        self._number = number
        self._moment = moment
        self._process = Future[Process]()
        self.sent = False

    def __call__(self, request: Request) -> None:
        if self.sent or not self._moment(request):
            return
        self.sent = True
        process = self._process.result(timeout=60)
        process.send_signal(self._number)
        if self._number == signal.SIGKILL:
            process.wait()

    def to(self, process: Process) -> Process:
        """Set the process that gets the signal, and return it."""
        self._process.set_result(process)
        return process


class Begun(NamedTuple):
    """The beginning of a run: its environment, its files, and what the host had noted so far."""

    environ: Mapping[str, str]
    files: Mapping[str, Path]
    journal: int
    requests: int

    @property
    def given(self) -> dict[str, str]:
        return {**{name: str(file) for name, file in self.files.items()}, **self.environ}


@dataclass
class Action:
    """Runs the action against the host: ``action(profile="health")``.

    Keyword arguments are inputs; ``None`` leaves out an input that has a value by default. A call
    runs the action in this process, on a clock on which waiting takes no time. `process` and
    `begin` start a process of its own, which really waits. `begin_without_waiting` starts a process
    that shares the clock with this one. The host always uses the clock of the run.
    """

    host: StandInHost
    directory: Path
    default_token: str
    secrets: list[str] = field(default_factory=list)
    """Texts that no run may ever show."""
    clock: FakeClock = field(default_factory=FakeClock)
    _runs: int = 0
    _begun: dict[int, Begun] = field(default_factory=dict)
    """The beginnings of the runs in processes that have not ended, by the id of the process."""
    _in_this_process: list[Begun] = field(default_factory=list)
    """The same for runs in this process, in the order in which they have begun."""

    @property
    def workspace(self) -> Path:
        """The directory with the caller's checkout, which is also the working directory."""
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
        """Return the environment in which the action starts with these inputs.

        With ``runner`` it has the variables of a runner of GitHub Actions. Nobody is asked.
        """
        given: dict[str, str | None] = {
            "host_token": self.default_token,
            "target_repo": None if inputs.get("target_repos") else TARGET,
            "profile": None if inputs.get("definitions") else "scaffold",
            "api_url": self.host.url,
            **inputs,
        }
        # The tests of built-in lists use Japanese. `test_language` shows the language without this
        # input.
        if (given["profile"] or "").lower() in {"scaffold", "health", "all"}:
            given = {"language": "ja", **given}
        environ = {f"INPUT_{name.upper()}": value for name, value in given.items() if value}
        # Over many repositories, a run in a shell asks before it writes
        environ["CI"] = "true"
        if runner:
            environ |= {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(self.workspace)}
        return environ

    def start(self, environ: Mapping[str, str], *arguments: str) -> Run:
        """Run the action in this process, with exactly this environment."""
        buffers = io.BytesIO(), io.BytesIO()
        stdout, stderr = (
            io.TextIOWrapper(buffer, "utf-8", errors="backslashreplace", write_through=True)
            for buffer in buffers
        )
        begun = self._prepare(environ)
        self._in_this_process.append(begun)
        self.host.clock = self.clock
        exit_code = main(arguments, begun.given, stdout, stderr, Cancellation(self.clock))
        shown, errors = (buffer.getvalue() for buffer in buffers)
        return self._left(exit_code, shown, errors, begun)

    def process(self, environ: Mapping[str, str], *command: str) -> Run:
        """Run the action in a process of its own; ``command`` is the same as in `begin`."""
        return self.end(self.begin(environ, *command), environ)

    def measure(self, environ: Mapping[str, str]) -> tuple[Run, int]:
        """Run the action in a process of its own; return also its peak of memory in bytes."""
        file = self.directory / "measured"
        entry_point = str(ROOT / "entrypoint.py")
        command = ("benchmarks/measure.py", str(file), sys.executable, "-I", entry_point)
        run = self.process(environ, *command)
        return run, int(file.read_text("utf-8").split()[1])

    def begin(
        self,
        environ: Mapping[str, str],
        *command: str,
        first: Callable[[], None] | None = None,
        **streams: int,
    ) -> Process:
        """Start the action as a process of its own, and do not wait for it.

        ``command`` is a script with its arguments; by default it is the entry point. The process
        calls ``first`` before it runs the script. ``streams`` are given as to `subprocess.Popen`;
        by default the outputs are pipes, and standard input is empty.
        """
        self.host.clock = time
        return self._begin(environ, *command, **streams, first=first)

    def begin_without_waiting(
        self,
        environ: Mapping[str, str],
        *arguments: str,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.PIPE,
    ) -> Process:
        """Start the action as a process of its own, which shares the clock with this one.

        A terminal as standard input becomes the terminal of the process.
        """
        file = self.directory / "clock"
        self.clock = self.host.clock = FakeClock(self.clock.now, file)
        script = ("tests/without_waiting.py", str(file), *arguments)
        return self._begin(environ, *script, stdin=stdin, stdout=stdout)

    def _begin(
        self,
        environ: Mapping[str, str],
        *command: str,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
        first: Callable[[], None] | None = None,
    ) -> Process:
        def prepare() -> None:
            # Under `nohup` the tests ignore this signal, and a process inherits that
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            if os.isatty(0):
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            if first:
                first()

        script, *arguments = command or ("entrypoint.py",)
        full = [str(ROOT / script), *arguments]
        begun = self._prepare(environ)
        env = {**clean_environment(), **begun.given}
        if script in FORKED and not first:
            where = self.workspace
            forked = Forked(full, cwd=where, env=env, stdin=stdin, stdout=stdout, stderr=stderr)
            self._begun[id(forked)] = begun
            return forked
        interpreter = [sys.executable, "-I"] if script.endswith(".py") else []
        process = subprocess.Popen(
            [*interpreter, *full],
            cwd=self.workspace,
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            preexec_fn=prepare,  # noqa: PLW1509 (it only sets limits and a signal)
        )
        self._begun[id(process)] = begun
        return process

    def end(self, process: Process, environ: Mapping[str, str]) -> Run:
        """Wait for the end of a process, and return the result, which has been checked."""
        with process:
            try:
                stdout, stderr = process.communicate(timeout=120)
            finally:
                process.kill()
        begun = self._begun.pop(id(process))
        if process.returncode < 0:
            self.host.settle()
        return self._left(process.returncode, stdout or b"", stderr or b"", begun)

    def _left(self, exit_code: int, stdout: bytes, stderr: bytes, begun: Begun) -> Run:
        """Return the result of a run, after the checks that every run must pass.

        No text shows a token or a secret, there is no traceback, the report is valid, and all
        requests are of known kinds.
        """
        run = Run(
            exit_code=exit_code,
            inputs={k[6:].lower(): v for k, v in begun.environ.items() if k.startswith("INPUT_")},
            stdout=stdout.decode(),
            stderr=stderr.decode(),
            summary=begun.files["GITHUB_STEP_SUMMARY"].read_bytes().decode(),
            output_file=begun.files["GITHUB_OUTPUT"].read_bytes().decode(),
        )
        ENDED.append(run)
        assert {c.name for c in run.commands} <= promises.COMMANDS
        self._keep_promises(run, begun)
        if run.outputs.get("report"):
            check_report(run)
            states_of_paths.note(run.report, begun.environ)
        sent = self.host.requests[begun.requests :]
        unknown = [shortened(each) for each in sent if not is_known(each)]
        assert not unknown, f"not in tests.recordings.calls.CALLS: {unknown}"
        return run

    def _keep_promises(self, run: Run, begun: Begun) -> None:
        environ, outputs = begun.environ, run.outputs
        folder = Path(environ.get("RUNNER_TEMP") or self.directory / "none")
        names = {name: outputs.get(f"{name}_path") for name in promises.FILES}
        files = {name: folder / file for name, file in names.items() if file}
        kept = {name: file.read_text("utf-8") for name, file in files.items() if file.is_file()}
        report = outputs.get("report") or kept.get("report")
        told = promises.Told(
            **{name: getattr(run, name) for name in ("exit_code", "stdout", "stderr", "summary")},
            outputs=outputs,
            environ=dict(environ),
            began=begun.journal,
            ended=len(self.host.journal),
            kept=kept,
            report=json.loads(report) if report else None,
        )
        if isinstance(self.host.clock, FakeClock):
            sent = (each for each in self.host.requests[begun.requests :] if not is_read(each))
            told.moments = [each.started for each in sent if each.token == told.token]
        earlier = promises.RUNS.setdefault(self.host, [])
        # A later run may outlast this one, if this one does not wait for all its answers
        told.with_others = bool(self._begun) or begun in self._in_this_process[:-1]
        if begun in self._in_this_process:
            self._in_this_process.remove(begun)
        earlier.append(told)
        promises.require(self.host, promises.of_run(self.host, told, self.secrets))

    def _prepare(self, environ: Mapping[str, str]) -> Begun:
        """Note the beginning of a run, which has files of its own for its outputs."""
        self._runs += 1
        folder = self.directory / f"run-{self._runs}"
        folder.mkdir()
        files = {name: folder / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        for file in files.values():
            file.touch()
        return Begun(environ, files, len(self.host.journal), len(self.host.requests))

    def listing(self, *entries: str | Mapping[str, str], name: str = "list.json") -> str:
        """Write a definition file with these entries (or only their paths), and return its name."""
        full = [{"path": entry} if isinstance(entry, str) else entry for entry in entries]
        return self.write(name, json.dumps(full))

    def listing_of(self, contents: Mapping[str, str | None], name: str = "list.json") -> str:
        """Write a definition file with these contents by path, and return its name.

        The entry of a path with ``None`` has no content.
        """
        return self.listing(
            *(
                {"path": path} | ({} if content is None else {"content": content})
                for path, content in contents.items()
            ),
            name=name,
        )

    def document(self, listed: Any, suffix: str = "json") -> str:
        """Write a definition file with a line for each value, and return its name."""
        # JSON is also valid YAML
        return self.write(f"config/list.{suffix}", json.dumps(listed, indent=1))

    @property
    def temporary(self) -> Path:
        """The directory for files for later steps, if the environment of the run has `keeping`."""
        folder = self.directory / "temp"
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def keeping(self) -> dict[str, str]:
        """The variable with which a run leaves files for later steps."""
        return {"RUNNER_TEMP": str(self.temporary)}

    def kept(self, run: Run, name: str) -> str:
        """Return the text of a file for later steps: its `report`, `table` or `page`."""
        return (self.temporary / run.outputs[f"{name}_path"]).read_bytes().decode()

    def rows(self, run: Run) -> list[dict[str, str]]:
        """Return the rows of the table that a run has left for later steps."""
        return list(csv.DictReader(io.StringIO(self.kept(run, "table"), newline="")))

    def write(self, name: str, content: str | bytes) -> str:
        """Write a file into the workspace, and return its name."""
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name


@cache
def report_schema() -> Draft202012Validator:
    """Return the published schema of the report."""
    schema = json.loads((ROOT / "schemas/report.schema.json").read_text("utf-8"))
    return Draft202012Validator(schema)


def check_report(run: Run) -> None:
    """Check that the report of a run is valid, and that its numbers are those of the outputs."""
    assert run.outputs["report"].isascii()
    report, outputs = run.report, run.outputs
    report_schema().validate(report)
    assert report["exit_code"] == run.exit_code
    for name in ("created", "skipped", "failed", "missing"):
        rows = report["registrations"]
        if name == "missing" and "many" in report:
            rows = report["many"]["rows"]
        told = sum(row[name] for row in rows)
        # Complete repositories are not listed
        is_whole = not report.get("many", {"states": {"complete": 0}})["states"]["complete"]
        assert int(outputs[name]) == told if is_whole else int(outputs[name]) >= told
    for registration in report["registrations"]:
        states = [file["done"] for file in registration["files"]]
        assert states.count("created") == registration["created"]
        assert states.count("skipped") + states.count("updated") == registration["skipped"]
        failed = states.count("failed") + states.count("unknown")
        if registration["mode"] == "register" and "many" not in report:
            # A path that the run has not reached counts as failed
            failed += states.count("pending")
        assert failed == registration["failed"]


def clean_environment() -> dict[str, str]:
    """Return the variables that a process and its coverage need, without any input."""
    kept = ("PATH", "LD_LIBRARY_PATH")
    return {k: v for k, v in os.environ.items() if k in kept or k.startswith("COVERAGE_")}


def calls(host: StandInHost) -> list[str]:
    """Return the requests that the host received, shortened: ``PUT contents/README.md``."""
    return [shortened(request) for request in host.requests]


def shortened(request: Request) -> str:
    """Return method and path of a request, without the owner and the name of the repository."""
    path = re.sub(r"^/repos/[^/]+/[^/]+/?", "", request.path)
    return f"{request.method} {path}".rstrip()


def inject_fault(
    host: StandInHost, call: str, kind: FaultKind = FaultKind.CUSTOM, **more: Any
) -> Fault:
    """Let the next request ``call`` (in the form of `shortened`) get a fault."""
    return host.faults.add(Fault(kind, match=lambda request: shortened(request) == call, **more))


def refuse(
    host: StandInHost, call: str | Callable[[Request], bool], status: int = 422, **more: Any
) -> Fault:
    """Let the host refuse every request that begins with ``call``, or that ``call`` accepts."""

    def match(request: Request) -> bool:
        return shortened(request).startswith(call) if isinstance(call, str) else call(request)

    return host.faults.add(Fault(FaultKind.CUSTOM, match=match, times=None, status=status, **more))


def meanwhile(
    host: StandInHost, moment: Callable[[Request], object], act: Callable[[], object]
) -> None:
    """Let somebody act once, before the host answers the first request that ``moment`` accepts."""

    def on_request(request: Request) -> None:
        if moment(request):
            host.on_request = None
            act()

    host.on_request = on_request


def writes(host: StandInHost) -> list[str]:
    """Return the requests that are not GET, shortened."""
    return [shortened(request) for request in host.requests if request.method != "GET"]


def is_read(request: Request) -> bool:
    """Return whether a request only reads. A query of GraphQL only reads, although it is a POST."""
    query = str(request.fields.get("query", ""))
    return request.method == "GET" or query.lstrip().startswith("query")


def only_reads(host: StandInHost) -> bool:
    """Return whether all requests that the host received only read."""
    return all(is_read(request) for request in host.requests)


def queries(host: StandInHost) -> list[Request]:
    """Return the requests that read through GraphQL."""
    return [r for r in host.requests if r.json and r.json.get("query", "").lstrip()[:5] == "query"]


def mutations(host: StandInHost) -> list[Request]:
    """Return the requests that write through GraphQL."""
    return [r for r in host.requests if "mutation" in r.fields.get("query", "")]
