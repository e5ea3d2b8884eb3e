"""From a shell: colours on a terminal only, and output that nobody reads or that is closed."""

from __future__ import annotations

import os
import pty
import re
import sys
from collections.abc import Mapping

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH, ROOT, Action, refuse

GREEN, YELLOW, RED, RESET = (f"\x1b[{number}m" for number in (32, 33, 31, 0))


# --- Colours ------------------------------------------------------------------------------


def on_terminal(action: Action, env: Mapping[str, str], *more: str) -> list[str]:
    """The lines that a run prints on a terminal."""
    environ = {
        **action.environment({"definitions": action.listing("README.md", "a", "b", *more)}),
        "INPUT_LANGUAGE": "en",
        **env,
    }
    master, slave = pty.openpty()
    process = action.begin(environ, stdout=slave)
    os.close(slave)
    data = b""
    try:
        while block := os.read(master, 65536):
            data += block
    except OSError:
        pass  # the other end of a terminal is closed
    finally:
        os.close(master)
    action.end(process, environ)
    return data.decode().replace("\r\n", "\n").splitlines()


def test_states_are_coloured_on_a_terminal(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    refuse(host, "PUT contents/b", message="\x1b[35mNo")
    lines = on_terminal(action, {"NO_COLOR": ""})
    assert "[1/3] README.md: present" in lines
    assert f"{YELLOW}[2/3] a: missing{RESET}" in lines
    assert f"{GREEN}[1/2] a: created{RESET}" in lines
    [failed] = [line for line in lines if "b: failed" in line]
    assert failed.startswith(f"{RED}[2/2] b: failed")
    assert failed.endswith(RESET)
    assert "\\u001b[35mNo" in failed
    # Beyond our own there is nothing that a terminal obeys.
    assert not re.search(r"\x1b(?!\[(?:0|31|32|33)m)", "\n".join(lines))


def test_a_path_that_is_blocked_is_coloured_like_a_missing_one(
    action: Action, repository: Repository
) -> None:
    repository.person.commit({"docs": b"a file"})
    lines = on_terminal(action, {"INPUT_MODE": "plan"}, "docs/c")
    [line] = [line for line in lines if "docs/c: missing (docs is not a directory" in line]
    assert line.startswith(f"{YELLOW}[4/4]")


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"NO_COLOR": "0"}, {"GITHUB_ACTIONS": "true"}])
def test_no_colours_where_they_are_not_wanted(
    action: Action, repository: Repository, env: dict[str, str]
) -> None:
    lines = on_terminal(action, env)
    assert "[1/2] a: created" in lines
    assert not any("\x1b" in line for line in lines)


# --- A reader that goes away --------------------------------------------------------------


def test_the_run_goes_on_when_nobody_reads_it_any_more(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    """``python entrypoint.py | head -1``."""
    host.latency = 0.05
    environ = action.environment({"profile": "health", "language": "en"})
    process = action.begin(environ)
    assert process.stdout
    assert process.stdout.readline() == b"Checking which listed files octo/example has (7)\n"
    process.stdout.close()
    run = action.end(process, environ)
    assert run.exit_code == 0, run.stderr
    assert run.stderr == ""
    assert len(repository.pull_requests) == 1
    assert run.outputs["created"] == "7"
    assert "| Created | 7 |" in run.summary


def test_the_run_goes_on_without_standard_error(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    refuse(host, "PUT contents/a", message="No")
    environ = action.environment({"definitions": action.listing("a", "b")})
    process = action.begin(environ)
    assert process.stderr
    process.stderr.close()
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert output.decode().splitlines()[-1] == "=" * 50
    assert sorted(repository.files(LIST_BRANCH)) == sorted([*repository.files(), "b"])


@pytest.mark.parametrize(
    "redirection",
    [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full", ">/dev/full 2>/dev/full"],
)
def test_the_run_goes_on_where_nothing_can_be_printed(
    action: Action, host: StandInHost, repository: Repository, redirection: str
) -> None:
    refuse(host, "PUT contents/a", message="No")
    environ = action.environment({"definitions": action.listing("a", "b"), "language": "en"})
    script = action.directory / "redirected.sh"
    command = f'exec "{sys.executable}" -I "{ROOT}/entrypoint.py" {redirection}'
    script.write_text(f"#!/bin/sh\n{command}\n")
    script.chmod(0o755)
    run = action.process(environ, str(script))
    assert run.exit_code == 1, run.text
    assert "| Created | 1 |" in run.summary
    assert run.outputs["failed"] == "1"
    assert len(repository.pull_requests) == 1
    if "2>" not in redirection:
        assert run.stderr.startswith("Error: a was not created")
