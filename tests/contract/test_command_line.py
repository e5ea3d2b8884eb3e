"""The command line: every input is an option, and nothing else is."""

from __future__ import annotations

import re
from unicodedata import east_asian_width

import pytest

from registrar import __version__
from registrar.inputs.interface import INPUTS
from registrar.texts.messages import LANGUAGES
from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH, SCAFFOLD_BRANCH, TARGET, Action

REGISTRAR = "scripts/registrar"
COMMANDS = (
    "scripts/setup-repository-scaffold-files.sh",
    "scripts/setup-repository-health-files.sh",
)
FILES = ["--table", "--page"]
OPTIONS = [each.option for each in INPUTS.values() if each.name != "host_token"]
OPTIONS += [*FILES, "--yes"]
SECRET = "ghp_thisIsATokenThatNobodyMaySee0123456"


def plain(action: Action) -> dict[str, str]:
    """The variables of the two commands, and a list where neither of them names one."""
    return {
        "INPUT_PROFILE": "scaffold",
        "HOST_TOKEN": action.default_token,
        "TARGET_REPO": TARGET,
        "HOST_API_URL": action.host.url,
    }


# --- Help and version ---------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--mode", "--help"], ["--x", "-h"]])
def test_help_names_every_option_and_does_nothing(
    action: Action, host: StandInHost, repository: Repository, arguments: list[str]
) -> None:
    run = action.start(plain(action), *arguments, "--language", "en")
    assert (run.exit_code, run.stderr, run.summary, run.output_file) == (0, "", "", "")
    assert run.lines[0].startswith("Usage: scripts/registrar ")
    assert re.findall(r"(?m)^  (--[a-z-]+) ", run.stdout) == OPTIONS
    assert "  --mode register|plan|check|withdraw|validate\n" in run.stdout
    assert "Default: register." in run.stdout
    for name in ("HOST_TOKEN", "TARGET_REPO", "HOST_API_URL", "HOST_STEP_SUMMARY"):
        assert re.search(rf"(?m)^  {name} ", run.stdout), name
    assert host.requests == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_help_fits_a_terminal_of_80_columns(action: Action, language: str) -> None:
    lines = action.start({}, "--help", "--language", language).lines
    widths = [sum(1 + (east_asian_width(char) in "WF") for char in line) for line in lines]
    assert 70 < max(widths) <= 80
    assert not [line for line in lines if re.search("^ *[、。）」]|[（「]$", line)]


def test_version(action: Action) -> None:
    run = action.process({}, REGISTRAR, "--version")
    assert (run.exit_code, run.stdout, run.stderr) == (0, f"registrar {__version__}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(
    action: Action, host: StandInHost, repository: Repository, command: str
) -> None:
    run = action.process(plain(action), command, "--help", "--language=en")
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.lines[0].startswith(f"Usage: {command} ")
    assert re.findall(r"(?m)^  (--[a-z-]+) ", run.stdout) == [
        option for option in OPTIONS if option not in {"--profile", "--definitions"}
    ]
    assert host.requests == []


# --- Options ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["--profile", "health", "--mode", "plan", "--language", "en"],
        ["--profile=health", "--mode=plan", "--language=en"],
        ["--language", "en", "--mode", "Plan", "--profile", "HEALTH"],
    ],
)
def test_options_of_the_command_for_any_list(
    action: Action, repository: Repository, arguments: list[str]
) -> None:
    run = action.process(plain(action), REGISTRAR, *arguments).or_fail()
    assert run.stdout.isascii()
    assert run.registration["profile"] == "health"
    assert run.registration["mode"] == "plan"
    assert repository.branches == ["main"]


def test_many_repositories_by_options(action: Action, repository: Repository) -> None:
    values = {"--target-repos": "octo/*", "--max-pull-requests": "1", "--max-minutes": "9"}
    values |= {
        "--profile": "health",
        "--language": "en",
        "--api-url": action.host.url,
    }
    token = {"HOST_TOKEN": action.default_token}
    run = action.start(token, *(part for pair in values.items() for part in pair))
    assert (run.exit_code, len(repository.pull_requests)) == (0, 1), run.text


def test_every_input_but_the_token_is_an_option(action: Action, repository: Repository) -> None:
    values = {
        "--target-repo": TARGET,
        "--definitions": action.listing("a"),
        "--respect-alternatives": "false",
        "--mode": "register",
        "--fail-on": "missing",
        "--base": "main",
        "--commit-strategy": "single",
        "--update": "true",
        "--branch": "add/files",
        "--commit-message": "Add -- files",
        "--title": "-Title=x",
        "--body": "Body\nof two lines",
        "--labels": "one,two",
        "--assignees": "octocat",
        "--reviewers": "hubot",
        "--team-reviewers": "docs",
        "--draft": "true",
        "--language": "en",
        "--max-wait-minutes": "1",
        "--workflow-visibility": "private",
        "--api-url": action.host.url,
    }
    others = {
        *FILES,
        "--yes",
        "--ref",
        "--profile",
        "--target-repos",
        "--max-pull-requests",
        "--max-minutes",
    }
    assert list(values) == [option for option in OPTIONS if option not in others]
    token = {"HOST_TOKEN": action.default_token}
    action.start(token, *(part for pair in values.items() for part in pair)).or_fail()
    [pull] = repository.pull_requests
    assert (pull.head, pull.title, pull.draft) == ("add/files", "-Title=x", True)
    assert (pull.body or "").startswith("Body\nof two lines\n")


@pytest.mark.parametrize("arguments", [["--draft"], ["--draft", "--mode=register"]])
def test_a_switch_needs_no_value(
    action: Action, repository: Repository, arguments: list[str]
) -> None:
    action.start(plain(action), *arguments).or_fail()
    assert repository.pull_requests[0].draft


def test_an_option_comes_before_the_input_and_that_before_the_plain_variable(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    other = host.create_repository("octo/other", {"README.md": b""})
    third = host.create_repository("octo/third", {"README.md": b""})
    environ = {**plain(action), "INPUT_TARGET_REPO": "octo/other", "TARGET_REPO": "octo/third"}
    assert action.start(environ, "--target-repo", TARGET).exit_code == 0
    assert (repository.branches, other.branches) == ([SCAFFOLD_BRANCH, "main"], ["main"])
    assert action.start(environ).exit_code == 0
    assert other.branches == [SCAFFOLD_BRANCH, "main"]
    assert third.branches == ["main"]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_two_commands_take_options_and_inputs(
    action: Action, repository: Repository, command: str
) -> None:
    environ = {**plain(action), "INPUT_LANGUAGE": "en", "INPUT_MODE": "plan"}
    run = action.process(environ, command).or_fail()
    assert "Nothing was written." in run.stdout
    assert repository.branches == ["main"]
    run = action.process(environ, command, "--mode", "register", "--branch", "add/a b")
    assert run.exit_code == 2
    assert "branch is not a valid name of a git branch" in run.stderr


@pytest.mark.parametrize("option", [["--profile", "all"], ["--profile=scaffold"]])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_takes_no_profile(
    action: Action, host: StandInHost, command: str, option: list[str]
) -> None:
    run = action.process(plain(action), command, *option, "--language", "en")
    assert (run.exit_code, host.requests) == (2, [])
    assert "There is no option --profile here: this command registers" in run.stderr


@pytest.mark.parametrize("is_option", [True, False])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_list_of_ones_own_has_a_command_of_its_own(
    action: Action, repository: Repository, command: str, is_option: bool
) -> None:
    listed = action.listing("a")
    given = ["--definitions", listed] if is_option else []
    environ = {**plain(action), "INPUT_PROFILE": "", "INPUT_LANGUAGE": "en"}
    environ |= {} if is_option else {"INPUT_DEFINITIONS": listed}
    run = action.process(environ, command, *given)
    assert (run.exit_code, action.host.requests) == (2, [])
    assert "in a shell, use `scripts/registrar`" in run.stderr
    run = action.process(environ, REGISTRAR, *given).or_fail()
    assert repository.branches == [LIST_BRANCH, "main"]


@pytest.mark.parametrize("given", [FILES, ["--table"], ["--page"]])
def test_table_and_page_are_written_where_the_caller_says(
    action: Action, repository: Repository, given: list[str]
) -> None:
    action.write("page", "earlier")
    arguments = [part for option in given for part in (option, option.removeprefix("--"))]
    action.start({**plain(action), "INPUT_MODE": "plan"}, *arguments).or_fail()
    found = {option: (action.workspace / option.removeprefix("--")) for option in given}
    if "--table" in found:
        text = found["--table"].read_text("utf-8")
        assert (text[:12], text.count(f'"{TARGET}",')) == ('"repository"', 29)
    if "--page" in found:
        text = found["--page"].read_text("utf-8")
        assert text.startswith("<!doctype html>")
        assert TARGET in text
    assert sorted(each.name for each in action.workspace.iterdir() if each.is_file()) == sorted(
        {"page", *(each.name for each in found.values())}
    )


@pytest.mark.parametrize("option", FILES)
def test_a_file_that_cannot_be_written_is_refused_before_any_request(
    action: Action, option: str
) -> None:
    run = action.start({**plain(action), "INPUT_LANGUAGE": "en"}, option, "gone/file")
    assert (run.exit_code, action.host.requests) == (2, [])
    assert "gone/file: the file cannot be written (No such file or directory)." in run.stderr


# --- Mistakes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--hel"], "There is no option --hel. `--help` lists all options."),
        (["--help=1"], "The option --help takes no value."),
        (["--version=1"], "The option --version takes no value."),
        (["--modes", "plan"], "There is no option --modes. Did you mean the option --mode?"),
        (["--dry-run"], "There is no option --dry-run. Did you mean the option --mode plan?"),
        (["--lang=en"], "There is no option --lang. Did you mean the option --language?"),
        (["-x"], "There is no option -x. "),
        (["--"], "There is no option --. "),
        (
            ["octo/example"],
            "The argument octo/example is not an option. Did you mean `--target-repo octo",
        ),
        (["--mode=plan", "plan"], "Argument 2 is not an option."),
        ([""], "Argument 1 is not an option."),
        (["--mode"], "The option --mode needs a value."),
        (["--mode", ""], "The option --mode needs a value."),
        (["--mode="], "The option --mode needs a value."),
        (["--draft="], "The option --draft needs a value."),
        (["--mode", "--draft"], "The option --mode needs a value."),
        (["--mode", "plan", "--mode", "check"], "The option --mode is given more than once."),
        (["--mode", "plam"], "Invalid value plam for mode. Did you mean `plan`?"),
        (["--mode", "plan", "--command=health"], "There is no option --command."),
        (["--command=x"], "There is no option --command."),
    ],
)
def test_another_argument_is_refused_and_nothing_is_done(
    action: Action, host: StandInHost, arguments: list[str], expected: str
) -> None:
    run = action.start({**plain(action), "INPUT_LANGUAGE": "en"}, *arguments)
    assert (run.exit_code, host.requests) == (2, [])
    [error] = run.stderr.splitlines()
    assert error.startswith(f"Error: {expected}")
    assert run.outputs["created"] == "0"


def test_all_errors_of_the_command_line_are_reported_with_those_of_the_inputs(
    action: Action, host: StandInHost
) -> None:
    environ = {**plain(action), "INPUT_LANGUAGE": "en", "INPUT_TITLE": "{x}", "INPUT_LABEL": "x"}
    run = action.start(environ, "--modes", "plan", "--branch", "a b", "--profile", "al", "x")
    assert (run.exit_code, host.requests) == (2, [])
    assert len(run.stderr.splitlines()) == 6, run.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--token", SECRET],
        [f"--token={SECRET}"],
        ["--host-token", SECRET],
        [f"--host_token={SECRET}"],
        ["--nonsense", SECRET],
        [f"--nonsense={SECRET}"],
        [SECRET],
        [f"-t{SECRET}"],
        ["-t", SECRET],
        ["--mode", SECRET],
        ["--branch", f"a b/{SECRET}"],
        # No shape that anybody could recognise
        ["--token", "5f4dcc3b5aa765d61d8327deb882cf99deadbeef"],
        ["--nonsense=5f4dcc3b5aa765d61d8327deb882cf99deadbeef"],
        ["5f4dcc3b5aa765d61d8327deb882cf99deadbeef"],
    ],
)
def test_a_token_among_the_arguments_is_never_printed(
    action: Action, host: StandInHost, arguments: list[str]
) -> None:
    action.secrets += [SECRET, "5f4dcc3b5aa765d61d8327deb882cf99deadbeef"]
    run = action.start({**plain(action), "INPUT_LANGUAGE": "en"}, *arguments)
    assert run.exit_code == 2
    if "token" in arguments[0].partition("=")[0]:
        assert "in the list of processes" in run.stderr
    assert host.requests == []


def test_an_argument_that_is_not_utf8(action: Action, host: StandInHost) -> None:
    for arguments in (["--branch", "b\udce9"], ["--b\udce9", "x"], ["\udce9"]):
        run = action.start({**plain(action), "INPUT_LANGUAGE": "en"}, *arguments)
        assert run.exit_code == 2, run.text
        assert "Unexpected" not in run.text
    assert host.requests == []


def test_a_working_directory_that_is_gone(action: Action, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = action.workspace / "gone"
    gone.mkdir(parents=True)
    monkeypatch.chdir(gone)
    gone.rmdir()
    run = action(profile=None, definitions="list.json", language="en")
    assert run.exit_code == 2
    assert "The working directory no longer exists" in run.text
    assert "bug in registrar" not in run.text
