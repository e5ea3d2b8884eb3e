"""SIGINT and SIGTERM: what is in flight may end, the rest is reported and left to the next run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from tests.fakehub import FaultKind, Repository, Request, StandInHost
from tests.harness import (
    HEALTH_BRANCH,
    ROOT,
    SCAFFOLD_BRANCH,
    Action,
    Run,
    calls,
    clean_environment,
    inject_fault,
    shortened,
)

PATHS = ("a.md", "b.md", "c.md", "d.md")
GRACE = {signal.SIGINT: 5.0, signal.SIGTERM: 1.5}
BEYOND_GRACE = 12.0
RUNNER_KILLS = {signal.SIGINT: 10.0, signal.SIGTERM: 2.5}
"""Seconds after a signal (docs/github-behaviour.md, "The runner")."""
BOTH = (signal.SIGINT, signal.SIGTERM)


@dataclass
class Running:
    """A run that is under way, as a process of its own."""

    action: Action
    environ: dict[str, str]
    process: subprocess.Popen[bytes]
    signalled: list[float] = field(default_factory=list)

    def send(self, number: signal.Signals) -> None:
        """Signal it, as the runner does on a cancellation."""
        self.process.send_signal(number)
        self.signalled.append(time.monotonic())

    def end(self) -> tuple[Run, float]:
        """Wait for its end; give what it left, and how long after the first signal it ended."""
        run = self.action.end(self.process, self.environ)
        return run, time.monotonic() - self.signalled[0]


@contextmanager
def running(action: Action, **inputs: str) -> Iterator[Running]:
    """Start a run with a list of four files."""
    definitions = {} if "profile" in inputs else {"definitions": action.listing(*PATHS)}
    environ = action.environment({"language": "en", **definitions, **inputs})
    run = Running(action, environ, action.begin(environ))
    try:
        yield run
    finally:
        run.process.kill()
        run.process.wait()


def signal_at(host: StandInHost, call: str, number: signal.Signals) -> Callable[[Running], None]:
    """Signal the run while the first request of this kind is in flight."""
    started: list[Running] = []
    ready, done = threading.Event(), threading.Event()

    def on_request(request: Request) -> None:
        if shortened(request) == call and not done.is_set():
            done.set()
            assert ready.wait(10)
            started[0].send(number)

    def begin(run: Running) -> None:
        started.append(run)
        ready.set()

    host.on_request = on_request
    return begin


def cancelled(run: Run, number: signal.Signals, *, branch: str) -> None:
    """The run says that it was cancelled, and where its work is."""
    assert run.exit_code == 128 + number, run.text
    assert f"Cancelled ({number.name})" in run.stderr
    assert "Unexpected" not in run.text
    assert number.name in run.summary
    assert "Summary" in run.lines
    assert run.outputs["branch"] == branch
    if branch:
        assert f"on the branch {branch}" in run.stderr
        assert branch in run.summary


def finished_by_another_run(action: Action, repository: Repository) -> None:
    """The next run does what is left; every file is there once."""
    action.host.on_request = None
    action.host.faults.clear()
    action.host.latency = 0
    again = action(language="en", definitions="list.json")
    assert again.exit_code == 0, again.text
    new = [path for commit in repository.log(SCAFFOLD_BRANCH)[:-1] for path in commit.paths]
    assert new == list(PATHS[::-1])
    assert [(p.head, p.state) for p in repository.pull_requests] == [(SCAFFOLD_BRANCH, "open")]
    assert (repository.pull_requests[0].body or "").count("| added |") == len(PATHS)


@pytest.mark.parametrize("number", BOTH)
@pytest.mark.parametrize("call", ["GET /rate_limit", "GET", "GET contents/b.md"])
def test_during_a_read(
    action: Action, host: StandInHost, repository: Repository, call: str, number: signal.Signals
) -> None:
    begin = signal_at(host, call, number)
    inject_fault(host, call, FaultKind.TIMEOUT, when="after", seconds=0.4)
    with running(action) as run:
        begin(run)
        ended, took = run.end()
    assert took < RUNNER_KILLS[number]
    assert ended.exit_code == 128 + number
    assert f"Cancelled ({number.name})" in ended.stderr
    assert number.name in ended.summary
    assert ended.outputs["created"] == "0"
    assert repository.branches == ["main"]
    finished_by_another_run(action, repository)


def test_answers_that_are_not_needed_any_more_are_not_waited_for(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    """They are read on threads of their own, which hold up no end."""
    for path in PATHS:
        call = f"GET contents/{path}"
        inject_fault(host, call, FaultKind.TIMEOUT, when="after", seconds=BEYOND_GRACE)
    begin = signal_at(host, "GET contents/a.md", signal.SIGTERM)
    with running(action) as run:
        begin(run)
        ended, took = run.end()
    assert took < RUNNER_KILLS[signal.SIGTERM]
    assert ended.exit_code == 128 + signal.SIGTERM
    assert ended.outputs["created"] == "0"
    finished_by_another_run(action, repository)


@pytest.mark.parametrize("number", BOTH)
def test_during_a_wait_in_the_middle_of_the_files(
    action: Action, host: StandInHost, repository: Repository, number: signal.Signals
) -> None:
    limit = inject_fault(
        host, "PUT contents/c.md", FaultKind.SECONDARY_403_RETRY_AFTER, retry_after=120
    )
    with running(action) as run:
        assert run.process.stdout
        head = b""
        while b"Waiting 120 s" not in head:
            head += run.process.stdout.readline()
        run.send(number)
        ended, took = run.end()
    assert limit.hits
    assert took < RUNNER_KILLS[number]
    cancelled_run = Run(
        ended.exit_code,
        head.decode() + ended.stdout,
        ended.stderr,
        ended.summary,
        ended.output_file,
    )
    cancelled(cancelled_run, number, branch=SCAFFOLD_BRANCH)
    assert ended.outputs["created"] == "2"
    assert repository.pull_requests == []
    finished_by_another_run(action, repository)


@pytest.mark.parametrize("number", BOTH)
def test_a_file_whose_answer_comes_in_time_is_created(
    action: Action, host: StandInHost, repository: Repository, number: signal.Signals
) -> None:
    call = "PUT contents/b.md"
    begin = signal_at(host, call, number)
    inject_fault(host, call, FaultKind.TIMEOUT, when="after", seconds=0.5)
    with running(action) as run:
        begin(run)
        ended, took = run.end()
    assert 0.4 < took < RUNNER_KILLS[number]
    cancelled(ended, number, branch=SCAFFOLD_BRANCH)
    assert (ended.outputs["created"], ended.outputs["failed"]) == ("2", "0")
    assert ended.summary.count("| created |") == 2
    assert ended.summary.count("| not done |") == 2
    assert calls(host)[-1] == call
    assert repository.pull_requests == []
    finished_by_another_run(action, repository)


@pytest.mark.parametrize(
    ("applied", "number"), [(True, signal.SIGINT), (False, signal.SIGTERM)], ids=["done", "not"]
)
def test_a_file_whose_answer_never_comes_is_unknown(
    action: Action,
    host: StandInHost,
    repository: Repository,
    applied: bool,
    number: signal.Signals,
) -> None:
    call = "PUT contents/b.md"
    begin = signal_at(host, call, number)
    inject_fault(
        host, call, FaultKind.TIMEOUT, when="after" if applied else "before", seconds=BEYOND_GRACE
    )
    with running(action) as run:
        begin(run)
        ended, took = run.end()
    assert GRACE[number] - 0.5 < took < RUNNER_KILLS[number]
    cancelled(ended, number, branch=SCAFFOLD_BRANCH)
    assert (ended.outputs["created"], ended.outputs["failed"]) == ("1", "1")
    assert "| `b.md` | unknown (GitHub's answer was lost) |" in ended.summary
    assert calls(host)[-1] == call
    assert repository.pull_requests == []
    finished_by_another_run(action, repository)


def test_after_a_lost_answer_the_file_is_unknown(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    call = "PUT contents/b.md"
    begin = signal_at(host, call, signal.SIGINT)
    inject_fault(host, call, FaultKind.ERROR_500, when="after")
    with running(action) as run:
        begin(run)
        ended, took = run.end()
    assert took < RUNNER_KILLS[signal.SIGINT]
    cancelled(ended, signal.SIGINT, branch=SCAFFOLD_BRANCH)
    assert (ended.outputs["created"], ended.outputs["failed"]) == ("1", "1")
    finished_by_another_run(action, repository)


def test_while_a_lost_answer_is_read_back_the_file_is_unknown(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    call = "PUT contents/b.md"
    inject_fault(host, call, FaultKind.ERROR_500, when="after")
    puts = 0
    ready = threading.Event()
    runs: list[Running] = []

    def on_request(request: Request) -> None:
        nonlocal puts
        puts += shortened(request) == call
        if puts == 2:
            puts += 1
            assert ready.wait(10)
            runs[0].send(signal.SIGTERM)

    host.on_request = on_request
    with running(action) as run:
        runs.append(run)
        ready.set()
        ended, took = run.end()
    assert took < RUNNER_KILLS[signal.SIGTERM]
    cancelled(ended, signal.SIGTERM, branch=SCAFFOLD_BRANCH)
    assert (ended.outputs["created"], ended.outputs["failed"]) == ("1", "1")
    finished_by_another_run(action, repository)


def test_before_the_pull_request_none_is_opened(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    begin = signal_at(host, "PUT contents/d.md", signal.SIGTERM)
    with running(action) as run:
        begin(run)
        ended, _ = run.end()
    cancelled(ended, signal.SIGTERM, branch=SCAFFOLD_BRANCH)
    assert (ended.outputs["created"], ended.outputs["failed"]) == ("4", "0")
    assert ended.outputs["pull_request_operation"] == "none"
    assert "POST pulls" not in calls(host)
    finished_by_another_run(action, repository)


def test_a_second_signal_ends_at_once(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    call = "PUT contents/b.md"
    begin = signal_at(host, call, signal.SIGINT)
    inject_fault(host, call, FaultKind.TIMEOUT, when="after", seconds=BEYOND_GRACE)
    with running(action) as run:
        begin(run)
        while not run.signalled:
            time.sleep(0.01)
        time.sleep(0.3)
        run.send(signal.SIGTERM)
        ended, took = run.end()
    assert took < RUNNER_KILLS[signal.SIGINT]
    assert ended.exit_code == 128 + signal.SIGTERM
    finished_by_another_run(action, repository)


@pytest.mark.parametrize("call", ["PUT contents/.github/GOVERNANCE.md", "POST pulls"])
def test_no_other_profile_is_begun(
    action: Action, host: StandInHost, repository: Repository, call: str
) -> None:
    begin = signal_at(host, call, signal.SIGTERM)
    with running(action, profile="all") as run:
        begin(run)
        ended, _ = run.end()
    assert ended.exit_code == 128 + signal.SIGTERM, ended.text
    assert "Cancelled (SIGTERM)" in ended.stderr
    assert ended.stderr.count("Cancelled") == 1
    assert "Nothing was registered" not in ended.summary
    assert repository.branches == [HEALTH_BRANCH, "main"]

    host.on_request = None
    again = action(profile="all")
    assert again.exit_code == 0, again.text
    assert [p.head for p in repository.pull_requests] == [HEALTH_BRANCH, SCAFFOLD_BRANCH]


# --- While the run reports ----------------------------------------------------------------


SIGNALLED_WHILE_IT_REPORTS = f"""
import io, os, signal, sys, time
sys.path.insert(0, {str(ROOT / "src")!r})
from registrar.runtime.cancellation import GRACE_SECONDS, Cancellation
from registrar.main import main

class SlowlyRead(io.TextIOWrapper):
    def write(self, text):
        self.write = super().write
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_SECONDS["SIGTERM"] + 0.5)
        return self.write(text)

cancellation = Cancellation()
cancellation.install()
stderr = SlowlyRead(sys.stderr.buffer, "utf-8")
sys.exit(main(sys.argv[1:], os.environ, sys.stdout, stderr, cancellation))
"""


@pytest.mark.parametrize(("token", "exit_code"), [("", 0), ("wrong", 2)])
def test_a_signal_after_the_work_does_not_cut_the_report(
    action: Action, repository: Repository, token: str, exit_code: int
) -> None:
    """Whoever reads standard error takes longer for its first line than a request may take."""
    inputs = {"language": "en", "definitions": action.listing("README.md")}
    environ = action.environment(inputs | ({"host_token": token} if token else {}))
    # Where nothing failed, the first line on standard error is that this is no file
    environ["HOST_STEP_SUMMARY"] = str(action.workspace)
    script = action.workspace / action.write("signalled.py", SIGNALLED_WHILE_IT_REPORTS)
    run = action.process(environ, str(script))
    assert run.exit_code == exit_code
    assert "Is a directory" in run.stderr


# --- Before the run can tell of it --------------------------------------------------------


def test_a_signal_before_the_first_line_ends_the_run_in_silence(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    """Blocked, as the commands start us, it waits until there is a handler."""

    def signalled() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        os.kill(os.getpid(), signal.SIGINT)

    done = subprocess.run(
        [sys.executable, "-I", ROOT / "entrypoint.py"],
        env={**clean_environment(), **action.environment({})},
        preexec_fn=signalled,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGINT, b"", b"")
    assert host.requests == []


@pytest.mark.parametrize("command", ["scaffold", "health"])
def test_the_commands_hold_an_early_signal_back_too(
    action: Action, host: StandInHost, command: str
) -> None:
    if (
        b"--block-signal"
        not in subprocess.run(["env", "--help"], capture_output=True, check=False).stdout
    ):
        pytest.skip("this env holds no signals back")
    codes = set[int]()
    for delay in range(0, 60, 8):
        process = action.begin({}, f"scripts/setup-repository-{command}-files.sh")
        time.sleep(delay / 1000)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
        assert b"Traceback" not in stderr
        assert b"KeyboardInterrupt" not in stderr
        codes.add(process.returncode)
    assert codes <= {130, -signal.SIGINT, 2}, "ended by it, or by what was missing before it"
