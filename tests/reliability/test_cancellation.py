"""After SIGINT or SIGTERM a run finishes its present request; the next run does the rest."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import pytest

from registrar.errors import Cancelled
from registrar.runtime.cancellation import GRACE_SECONDS, Cancellation
from tests.clocks import BEGINNING, FakeClock
from tests.fakehub import Fault, FaultKind, Repository, Request, StandInHost
from tests.harness import (
    HEALTH_BRANCH,
    LIST_BRANCH,
    ROOT,
    SCAFFOLD_BRANCH,
    Action,
    Run,
    SignalAt,
    calls,
    clean_environment,
    inject_fault,
    is_read,
    shortened,
    writes,
)

PATHS = ("a.md", "b.md", "c.md", "d.md")
INT, TERM = BOTH = (signal.SIGINT, signal.SIGTERM)
BEYOND_GRACE = 30.0
"""Seconds for which an answer is held back; the run ends before."""


def cancelled_at(
    action: Action, call: str, *numbers: signal.Signals, times: int = 1, **inputs: str
) -> Run:
    """Run with a list of four files, and send signals during a request; return the result.

    The first of the signals ``numbers`` is sent when the request ``call`` arrives for the
    ``times``-th time, each further one 0.3 s later.
    """
    definitions = {} if "profile" in inputs else {"definitions": action.listing(*PATHS)}
    environ = action.environment({"language": "en", **definitions, **inputs})

    def moment(request: Request) -> bool:
        return shortened(request) == call and calls(action.host).count(call) == times

    action.host.on_request = first = SignalAt(numbers[0], moment)
    process = first.to(action.begin(environ))
    for number in numbers[1:]:
        while not first.sent:
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(number)
    return action.end(process, environ)


def is_under_way(host: StandInHost, call: str) -> bool:
    """Return whether the answer to the request ``call`` is held back, so nobody waited for it."""
    return any(each.ended is None for each in host.requests if shortened(each) == call)


def cancelled(run: Run, number: signal.Signals, *, branch: str = LIST_BRANCH) -> None:
    """Assert that the run says that it was cancelled, and on which branch its work is."""
    assert run.exit_code == 128 + number, run.text
    assert f"Cancelled ({number.name})" in run.stderr
    assert number.name in run.summary
    assert run.outputs["branch"] == branch
    if branch:
        assert "Summary" in run.lines
        assert f"on the branch {branch}" in run.stderr
        assert branch in run.summary


def finished_by_another_run(action: Action, repository: Repository) -> None:
    """Assert that no pull request is open, and that the next run adds each file exactly once."""
    assert repository.pull_requests == []
    action.host.on_request = None
    action.host.faults.clear()
    action(language="en", definitions="list.json").or_fail()
    new = [path for commit in repository.log(LIST_BRANCH)[:-1] for path in commit.paths]
    assert new == list(PATHS[::-1])
    assert [(p.head, p.state) for p in repository.pull_requests] == [(LIST_BRANCH, "open")]
    assert (repository.pull_requests[0].body or "").count("| added |") == len(PATHS)


def test_the_grace_ends_before_the_runner_goes_on() -> None:
    """The runner sends SIGTERM 7.5 s after SIGINT, and kills the process 2.5 s later.

    docs/github-behaviour.md has the source.
    """
    assert GRACE_SECONDS["SIGINT"] <= 7.5 - 2
    assert GRACE_SECONDS["SIGTERM"] <= 2.5 - 1


def test_a_signal_ends_a_long_pause_at_once() -> None:
    class Signalled(FakeClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            if self.now >= BEGINNING + 1:
                cancellation._signal_number = signal.SIGTERM

    clock = Signalled()
    cancellation = Cancellation(clock)
    with pytest.raises(Cancelled):
        cancellation.sleep(600)
    assert clock.now < BEGINNING + 1.5


LATE = {"kind": FaultKind.TIMEOUT, "when": "after", "seconds": 0.4}
NEVER = {**LATE, "seconds": BEYOND_GRACE}
LOST = {"kind": FaultKind.ERROR_500, "when": "after"}
READS = ("GET /rate_limit", "GET", "GET contents/b.md")
B, D = "PUT contents/b.md", "PUT contents/d.md"


@pytest.mark.parametrize(
    ("number", "call", "times", "fault", "done"),
    [
        *(
            (number, call, 1, LATE, "")
            for number, call in zip((INT, TERM, INT), READS, strict=True)
        ),
        (TERM, B, 1, LATE, "created created pending pending"),
        (INT, B, 1, NEVER, "created unknown pending pending"),
        (TERM, B, 1, {**NEVER, "when": "before"}, "created unknown pending pending"),
        (INT, B, 1, LOST, "created unknown pending pending"),
        # The signal comes while the request is repeated
        (TERM, B, 2, LOST, "created unknown pending pending"),
        # No pull request is opened
        (TERM, D, 1, {}, "created created created created"),
    ],
)
def test_the_present_request_is_the_last_one(
    action: Action,
    repository: Repository,
    number: signal.Signals,
    call: str,
    times: int,
    fault: dict[str, Any],
    done: str,
) -> None:
    if fault:
        inject_fault(action.host, call, **fault)
    ended = cancelled_at(action, call, number, times=times)
    cancelled(ended, number, branch=LIST_BRANCH if done else "")
    assert is_under_way(action.host, call) is (fault.get("seconds") == BEYOND_GRACE)
    assert writes(action.host)[-1:] == ([call] if done else [])
    if done:
        assert [file["done"] for file in ended.registration["files"]] == done.split()
        assert ended.summary.count("| not reached (cancelled) |") == done.count("pending")
        assert ended.summary.count("| unknown (GitHub's answer was lost) |") == done.count(
            "unknown"
        )
    finished_by_another_run(action, repository)


def test_answers_that_are_not_needed_any_more_are_not_waited_for(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    """These answers are read in other threads, and the end of the run does not wait for them."""
    reads = [f"GET contents/{path}" for path in PATHS]
    for call in reads:
        inject_fault(host, call, FaultKind.TIMEOUT, when="after", seconds=BEYOND_GRACE)
    ended = cancelled_at(action, reads[0], signal.SIGTERM)
    assert is_under_way(host, reads[0])
    assert ended.exit_code == 128 + signal.SIGTERM
    assert ended.outputs["created"] == "0"
    finished_by_another_run(action, repository)


@pytest.mark.parametrize("seconds", [0.3, BEYOND_GRACE])
def test_during_the_query_that_is_asked_ahead(
    action: Action, host: StandInHost, seconds: float
) -> None:
    """The signal comes while the run processes the first answer, or while it only waits."""
    for count in range(30):
        host.create_repository(f"octo-org/r{count}", {"README.md": b""})
    queries = itertools.count(1)

    def is_second(request: Request) -> bool:
        return request.path == "/graphql" and next(queries) == 2

    slow = Fault(FaultKind.TIMEOUT, match=lambda _: first.sent, when="after", seconds=seconds)
    host.faults.add(slow)
    given = {"target_repo": None, "target_repos": "octo-org/*", "mode": "plan"}
    environ = action.environment({**given, "definitions": action.listing(*PATHS)})
    host.on_request = first = SignalAt(signal.SIGTERM, is_second)
    began = time.monotonic()
    run = action.end(first.to(action.begin(environ)), environ)
    assert time.monotonic() - began < BEYOND_GRACE
    assert run.exit_code == 128 + signal.SIGTERM, run.text
    assert "Cancelled (SIGTERM)" in run.stderr
    states = run.report["many"]["states"]
    assert states["not read"] == (4 if seconds < BEYOND_GRACE else 20)
    assert next(queries) == 3


@pytest.mark.large
def test_of_2501_repositories_each_has_its_row(action: Action, host: StandInHost) -> None:
    """The report takes longer than a request may still take after the signal."""
    for count in range(2501):
        host.create_repository(f"octo-org/r{count}", {"README.md": b""})
    queries = itertools.count(1)
    first = SignalAt(signal.SIGTERM, lambda r: r.path == "/graphql" and next(queries) == 10)
    host.on_request = first
    given = {"target_repos": "octo-org/*", "mode": "plan"}
    environ = action.environment({**given, "profile": "scaffold"}, runner=True) | action.keeping
    run = action.end(first.to(action.begin(environ)), environ)
    assert run.exit_code == 128 + signal.SIGTERM, run.text
    states = Counter(row["standing"] for row in action.rows(run))
    assert states.total() == 2501 * 29
    assert states["unread"] >= 1500 * 29


@pytest.mark.parametrize("number", BOTH)
def test_during_a_wait_in_the_middle_of_the_files(
    action: Action, host: StandInHost, repository: Repository, number: signal.Signals
) -> None:
    inject_fault(host, "PUT contents/c.md", FaultKind.SECONDARY_403_RETRY_AFTER, retry_after=600)
    environ = action.environment({"language": "en", "definitions": action.listing(*PATHS)})
    process = action.begin(environ)
    assert process.stdout
    while b"Waiting 600 s" not in process.stdout.readline():
        pass
    process.send_signal(number)
    ended = action.end(process, environ)
    cancelled(ended, number)
    assert ended.outputs["created"] == "2"
    finished_by_another_run(action, repository)


def test_where_the_answer_to_the_one_request_never_comes_every_file_is_unknown(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    never = Fault(FaultKind.TIMEOUT, match=lambda request: not is_read(request), when="after")
    host.faults.add(never).seconds = BEYOND_GRACE
    ended = cancelled_at(action, "POST /graphql", signal.SIGTERM, times=2, commit_strategy="single")
    cancelled(ended, signal.SIGTERM)
    assert never.hits
    assert {file["done"] for file in ended.registration["files"]} == {"unknown"}
    assert [(p.head, p.state) for p in repository.pull_requests] == [(LIST_BRANCH, "open")]


def test_a_second_signal_ends_at_once(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    call = "PUT contents/b.md"
    inject_fault(host, call, FaultKind.TIMEOUT, when="after", seconds=BEYOND_GRACE)
    ended = cancelled_at(action, call, signal.SIGINT, signal.SIGTERM)
    assert is_under_way(host, call)
    # This is the code of the second signal, because the grace of the first one has not ended
    assert ended.exit_code == 128 + signal.SIGTERM
    assert "Cancelled" not in ended.text
    finished_by_another_run(action, repository)


@pytest.mark.parametrize("call", ["PUT contents/.github/GOVERNANCE.md", "POST pulls"])
def test_no_other_profile_is_begun(
    action: Action, host: StandInHost, repository: Repository, call: str
) -> None:
    ended = cancelled_at(action, call, signal.SIGTERM, profile="all")
    assert ended.exit_code == 128 + signal.SIGTERM, ended.text
    assert "Cancelled (SIGTERM)" in ended.stderr
    assert ended.stderr.count("Cancelled") == 1
    assert "Nothing was registered" not in ended.summary
    assert repository.branches == [HEALTH_BRANCH, "main"]

    host.on_request = None
    action(profile="all").or_fail()
    assert [p.head for p in repository.pull_requests] == [HEALTH_BRANCH, SCAFFOLD_BRANCH]


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGHUP, 0), (signal.SIGINT, 130)])
def test_under_nohup_a_run_outlives_its_terminal(
    action: Action, host: StandInHost, repository: Repository, number: int, exit_code: int
) -> None:
    """A process that a script starts in the background ignores SIGINT, too. It ends a run."""

    def ignore() -> None:
        for each in (signal.SIGHUP, signal.SIGINT):
            signal.signal(each, signal.SIG_IGN)

    environ = action.environment({"language": "en", "definitions": action.listing(*PATHS)})
    host.on_request = first = SignalAt(number, lambda each: shortened(each) == "PUT contents/b.md")
    run = action.end(first.to(action.begin(environ, first=ignore)), environ)
    assert (first.sent, run.exit_code) == (True, exit_code), run.text


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
    """The signal comes while the run writes its first line to standard error.

    The reader of standard error takes longer for this line than a request may take.
    """
    inputs = {"language": "en", "definitions": action.listing("README.md")}
    environ = action.environment(inputs | ({"host_token": token} if token else {}))
    # A run without failures writes to standard error only because its summary is a directory
    environ["HOST_STEP_SUMMARY"] = str(action.workspace)
    script = action.workspace / action.write("signalled.py", SIGNALLED_WHILE_IT_REPORTS)
    run = action.process(environ, str(script))
    assert run.exit_code == exit_code
    assert "Is a directory" in run.stderr


def test_the_timer_does_not_end_the_run_within_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole run cannot show this, because no request of it tells when a step is under way."""
    monkeypatch.setitem(GRACE_SECONDS, "SIGTERM", BEYOND_GRACE)
    before = {number: signal.getsignal(number) for number in (*BOTH, signal.SIGHUP, signal.SIGALRM)}
    cancellation = Cancellation()
    cancellation.install()
    try:
        signal.raise_signal(signal.SIGTERM)
        with cancellation.whole_step():
            with cancellation.whole_step():
                signal.raise_signal(signal.SIGALRM)
            signal.raise_signal(signal.SIGALRM)
        # The timer has been set again, so the run ends after the step
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] < 1
        with pytest.raises(Cancelled):
            signal.raise_signal(signal.SIGALRM)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


# --- Before the first line of the log -----------------------------------------------------


def test_a_signal_before_the_first_line_ends_the_run_in_silence(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    """The commands start the action with blocked signals, so the signal waits for its handler."""

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


def test_the_commands_hold_an_early_signal_back_too(action: Action, host: StandInHost) -> None:
    """Both commands call the same function of the shell."""
    if (
        b"--block-signal"
        not in subprocess.run(["env", "--help"], capture_output=True, check=False).stdout
    ):
        pytest.skip("this env holds no signals back")
    codes = set[int]()
    for delay in range(0, 60, 8):
        process = action.begin({}, "scripts/setup-repository-scaffold-files.sh")
        time.sleep(delay / 1000)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
        assert b"Traceback" not in stderr
        assert b"KeyboardInterrupt" not in stderr
        codes.add(process.returncode)
    assert codes <= {130, -signal.SIGINT, 2}, "ended by it, or by what was missing before it"
