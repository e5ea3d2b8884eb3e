"""Many repositories from a terminal: the run asks before it writes."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.example import LIST
from tests.fakehub import Repository
from tests.fakehub.repository import PullRequest
from tests.harness import ROOT, Run, only_reads
from tests.organisation import ALL, Org, opened, states

QUESTION = "This run is going to write to these repositories: octo-org/r"
END_OF_INPUT = b"\x04"


def at_terminal(
    org: Org,
    answer: bytes,
    *arguments: str,
    inputs: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    minutes: int = 0,
    number: int = 0,
    waits: bool = False,
    stdout: int | None = None,
    early: bytes = b"",
) -> tuple[Run, str]:
    """Run at a terminal, and answer, or send a signal, so many minutes after a question.

    Where it ``waits`` it is the entry point itself. ``stdout`` may be something else than the
    terminal. ``early`` is typed before the run begins. Gives the run and what the terminal showed.
    """
    action, of_many = org.action, {"target_repo": None, "target_repos": ALL, "language": "en"}
    given = {"definitions": LIST, **of_many, **(inputs or {})}
    environ = {**action.environment(given), "CI": "", **(env or {})}
    master, slave = pty.openpty()
    os.write(master, early)
    stdout = slave if stdout is None else stdout
    if waits:
        process = action.begin(environ, "entrypoint.py", *arguments, stdin=slave, stdout=stdout)
    else:
        process = action.begin_without_waiting(environ, *arguments, stdin=slave, stdout=stdout)
    os.close(slave)
    shown, is_answered = b"", False
    try:
        while block := os.read(master, 65536):
            shown += block
            if (b"Type yes" in shown or "yes または".encode() in shown) and not is_answered:
                is_answered = True
                action.clock.sleep(60 * minutes)
                if number:
                    process.send_signal(number)
                os.write(master, answer)
    except OSError:
        pass  # the other end of a terminal is closed
    finally:
        os.close(master)
    return action.end(process, environ), shown.decode().replace("\r\n", "\n")


@pytest.fixture
def made(org: Org) -> list[Repository]:
    return org.make(1, 3)


@pytest.mark.parametrize("answer", [b"\n", b"y\n", END_OF_INPUT])
def test_whatever_is_no_yes_writes_nothing(org: Org, made: list[Repository], answer: bytes) -> None:
    """A yes that somebody typed before the question does not count."""
    run, shown = at_terminal(org, answer, waits=True, early=b"yes\n")
    assert (run.exit_code, states(run)) == (0, {"deferred": 3, "complete": 1})
    assert (only_reads(org.host), shown.count(QUESTION)) == (True, 1)
    plan, _, rest = shown.partition(QUESTION)
    assert "Pull requests to open: 3, to update: 0, left for later runs: 0." in plan
    assert "octo-org/r3 (pull requests: 3 to open). If one" in rest
    assert "octo-org/" not in rest.partition("deferred: 3.")[0].partition("anything else")[2]
    assert run.stderr.count("deferred: 3. The answer was not yes, so nothing was written.") == 1
    assert "The answer was not yes" in run.summary
    assert "Registering files" not in shown


@pytest.mark.parametrize("arguments", [(), ("--report=-", "--quiet")], ids=str)
def test_the_terminal_is_asked_if_the_output_is_piped(
    org: Org, made: list[Repository], arguments: tuple[str, ...]
) -> None:
    """``registrar … | tee log``, or with the report as its output."""
    run, shown = at_terminal(org, b"no\n", *arguments, stdout=subprocess.PIPE)
    assert (run.exit_code, shown.count(QUESTION), only_reads(org.host)) == (0, 1, True)
    assert ("Pull requests to open: 3" in shown + run.stdout) == (not arguments)
    assert not arguments or json.loads(run.stdout) == run.report
    _, shown = at_terminal(org, b"yes\n", *arguments, stdout=subprocess.PIPE)
    assert (shown.count(QUESTION), sum(opened(made))) == (1, 3)


@pytest.mark.parametrize("background", [True, False])
def test_with_nobody_to_ask_it_ends(org: Org, made: list[Repository], background: bool) -> None:
    """A scheduled job, a container without a terminal, or a command that ends with ``&``."""
    environ = {**org.action.environment({"target_repos": ALL, "language": "en"}), "CI": ""}
    command = f'"{sys.executable}" -I "{ROOT}/entrypoint.py"'
    script = org.action.directory / "started.sh"
    script.write_text(f"#!/bin/bash\nset -m\n{command} & wait $!\n")
    script.chmod(0o755)
    master, slave = pty.openpty()
    stdin = slave if background else subprocess.DEVNULL
    run = org.action.end(org.action.begin(environ, str(script), stdin=stdin), environ)
    os.close(slave)
    os.close(master)
    assert (run.exit_code, states(run)) == (2, {"deferred": 3, "complete": 1}), run.text
    assert only_reads(org.host)
    assert "give `--yes`" in run.stderr
    assert "Pull requests to open: 3" in run.stdout


def test_a_yes_writes_and_the_time_until_then_does_not_count(
    org: Org, made: list[Repository]
) -> None:
    run, shown = at_terminal(org, b" YES \n", minutes=300, inputs={"max_minutes": "10"})
    assert (run.exit_code, states(run)) == (0, {"opened": 3, "complete": 1})
    assert shown.count(QUESTION) == 1


def test_a_withdrawal_asks_too(org: Org, made: list[Repository]) -> None:
    at_terminal(org, b"", "--yes")
    run, shown = at_terminal(org, b"no\n", inputs={"mode": "withdraw"})
    assert "Withdraw the pull requests of at most 3 repositories?" in shown
    assert (run.exit_code, states(run)) == (0, {"deferred": 3, "complete": 1})
    assert [pull.state for each in made for pull in each.pull_requests] == ["open"] * 3


def changes(made: list[Repository], then: Mapping[tuple[str, int], PullRequest]) -> list[int]:
    """Count the pull requests that were opened, updated, closed and only described since."""
    counts = [0, 0, 0, 0]
    for each in made:
        for pull in each.pull_requests:
            before = then.get((each.full_name, pull.number))
            counts[0] += before is None
            if before and before.state == "open":
                is_open, is_same = pull.state == "open", pull.head_sha == before.head_sha
                counts[1] += is_open and not is_same
                counts[2] += not is_open
                counts[3] += is_open and is_same and pull.body != before.body
    return counts


ASKED = {
    "en": (
        "This run is going to write to these repositories: {names} (pull requests: {0} to open, "
        "{1} to update, at most {2} to close, no longer needed, descriptions to update: at most "
        "{3}). If one of them fails or needs nothing, the next one takes its turn. Type yes to go "
        "on, in English or Japanese; anything else writes nothing."
    ),
    "ja": (
        "次のリポジトリに書き込みます: {names}（プルリクエスト: 開く {0} 件、更新する {1} 件、"
        "不要なため閉じるもの最大 {2} 件、説明の更新: 最大 {3} 件）。失敗したものや、"
        "処理の不要なものがあれば、その次のものに進みます。"
        "続けるには yes または「はい」と入力してください。それ以外なら何も書き込みません。"
    ),
}
ASKED_TO_WITHDRAW = {
    "en": (
        "Withdraw the pull requests of at most {2} repositories? Repositories: {names}. Type yes "
        "to go on, in English or Japanese; anything else writes nothing."
    ),
    "ja": (
        "最大 {2} 件のリポジトリのプルリクエストを取り下げますか。リポジトリ: {names}。続けるには "
        "yes または「はい」と入力してください。それ以外なら何も書き込みません。"
    ),
}


@pytest.mark.parametrize("language", ASKED)
def test_every_number_of_the_question_is_that_of_the_host_then(org: Org, language: str) -> None:
    first = {"a.md": "A\n", "b.md": "B\n"}
    held = {path: text.encode() for path, text in first.items()}
    made = [
        org.host.create_repository(f"octo-org/r{n}", {"c.md": b"C\n"} if n > 2 else {"x": b""})
        for n in range(5)
    ]
    inputs = {"definitions": org.action.listing_of(first), "language": language}
    at_terminal(org, b"", "--yes", inputs=inputs)
    # r0 is to be updated, r1 and r3 are no longer needed (and c.md is missing in r1), r4 is cleared
    made += [org.host.create_repository(f"octo-org/{name}", {"x": b""}) for name in ("new", "old")]
    made[-1].person.change(read_only=True)
    for each in (made[1], made[3]):
        each.person.commit(held)
    made[2].person.close(1)
    made[4].person.edit(1, body="")
    org.action.listing_of({**first, "c.md": "C\n"})
    separator = {"en": ", ", "ja": "、"}[language]

    def confirmed(question: Mapping[str, str], *names: str, mode: str = "register") -> list[int]:
        then = {(r.full_name, p.number): replace(p) for r in made for p in r.pull_requests}
        _, shown = at_terminal(org, "はい\n".encode(), inputs={**inputs, "mode": mode})
        counts = changes(made, then)
        listed = separator.join(f"octo-org/{name}" for name in names)
        expected = question[language].format(*counts, names=listed)
        assert expected in shown, (expected, shown)
        return counts

    order = ("new", "r0", "r1", "r2", "r3", "r4")
    assert confirmed(ASKED, *order) == [3, 1, 2, 1]
    left = ("new", "r0", "r1", "r2", "r4")
    assert confirmed(ASKED_TO_WITHDRAW, *left, mode="withdraw") == [0, 0, 5, 0]


@pytest.mark.parametrize(
    ("arguments", "given", "opens"),
    [
        (["--yes"], {}, 3),
        (["--yes=true"], {}, 3),
        ([], {"mode": "plan"}, 0),
        ([], {"mode": "check"}, 0),
        ([], {"max_pull_requests": "0"}, 0),
        ([], {"target_repos": "", "target_repo": "octo-org/r1"}, 1),
    ],
    ids=str,
)
def test_nobody_is_asked_with_the_option_or_where_nothing_is_written_to_many(
    org: Org, made: list[Repository], arguments: list[str], given: dict[str, str], opens: int
) -> None:
    """Nor by the next run, which only looks at the pull requests."""
    for options in (arguments, []) if arguments else ([],):
        run, shown = at_terminal(org, b"no\n", *options, inputs=given, env={"CI": "true"})
        assert ("Type yes" in shown, sum(opened(made))) == (False, opens)
        assert run.exit_code == (given.get("mode") == "check")


@pytest.mark.parametrize("name", ["CI", "GITHUB_ACTIONS"])
def test_no_variable_keeps_it_from_asking(org: Org, made: list[Repository], name: str) -> None:
    run, shown = at_terminal(org, b"no\n", env={name: "true"})
    assert (run.exit_code, "Type yes" in shown, sum(opened(made))) == (0, True, 0)


def test_a_signal_ends_the_waiting(org: Org, made: list[Repository]) -> None:
    run, _ = at_terminal(org, b"", number=signal.SIGINT)
    assert run.exit_code == 128 + signal.SIGINT
    assert "Cancelled (SIGINT). Nothing was written." in run.stderr
    assert only_reads(org.host)


def test_another_value_of_the_option_is_refused(org: Org) -> None:
    run = org.action.start(org.action.environment({"language": "en"}), "--yes", "perhaps")
    assert run.exit_code == 2
    assert "yes" in run.stderr
