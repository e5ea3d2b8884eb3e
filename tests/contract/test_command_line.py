"""The command line: every input is an option, and nothing else is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from unicodedata import east_asian_width

import pytest

from registrar import __version__
from registrar.inputs.interface import INPUTS
from registrar.texts.messages import LANGUAGES
from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH, SCAFFOLD_BRANCH, TARGET, Action, Run

REGISTRAR = "scripts/registrar"
COMMANDS = (
    "scripts/setup-repository-scaffold-files.sh",
    "scripts/setup-repository-health-files.sh",
)
FILES = ["--report", "--table", "--page"]
SWITCHES = ["--yes", "--quiet", "--strict"]
OPTIONS = [each.option for each in INPUTS.values() if each.name != "host_token"]
OPTIONS += [*FILES, *SWITCHES, "--print-completion"]
SECRET = "ghp_thisIsATokenThatNobodyMaySee0123456"
IN_JAPANESE_JOB = {"GITHUB_ACTIONS": "true", "INPUT_PROFILE": "health"}
"""The environment in which other runs begin with a line about the language."""


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
    [_, *described] = run.stdout.partition("  --fail-on ")[2].partition("\n  --")[0].splitlines()
    assert len(described) > 1
    assert all(re.match(r" {6}\S", line) for line in described)
    for name in ("HOST_TOKEN", "TARGET_REPO", "HOST_API_URL", "HOST_STEP_SUMMARY"):
        assert re.search(rf"(?m)^  {name} ", run.stdout), name
    assert host.requests == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_help_fits_a_terminal_of_80_columns(action: Action, language: str) -> None:
    lines = action.start({}, "--help", "--language", language).lines
    widths = [sum(1 + (east_asian_width(char) in "WF") for char in line) for line in lines]
    assert 70 < max(widths) <= 80
    assert not [line for line in lines if re.search("^ *[、。）」]|[（「]$", line)]


@pytest.mark.parametrize("env", [{}, IN_JAPANESE_JOB])
def test_version(action: Action, env: dict[str, str]) -> None:
    """A program that reads the version sees no line about the language."""
    run = action.process(env, REGISTRAR, "--version")
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
    run = action.start(token, *(part for pair in values.items() for part in pair), "--yes")
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
        *SWITCHES,
        "--print-completion",
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


@pytest.mark.parametrize("given", [FILES, ["--report"], ["--table"], ["--page"]])
def test_files_are_written_where_the_caller_says(
    action: Action, repository: Repository, given: list[str]
) -> None:
    action.write("page", "earlier")
    arguments = [part for option in given for part in (option, option.removeprefix("--"))]
    run = action.start({**plain(action), "INPUT_MODE": "plan"}, *arguments).or_fail()
    found = {option: (action.workspace / option.removeprefix("--")) for option in given}
    if "--report" in found:
        assert json.loads(found["--report"].read_text("utf-8")) == run.report
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
    environ = {**plain(action), "INPUT_LANGUAGE": "en"}
    run = action.start(environ, option, "gone/file", "--mode", "paln")
    assert (run.exit_code, action.host.requests) == (2, [])
    assert "gone/file: the file cannot be written (No such file or directory)." in run.stderr
    assert "Invalid value paln for mode." in run.stderr


@pytest.mark.parametrize("mode", ["plan", "paln"])
@pytest.mark.parametrize("option", FILES)
@pytest.mark.parametrize(
    "given",
    ["list.json", "absolute", "sub/../list.json", "link", "hard link", "text.md", "dangling"],
)
def test_a_file_that_is_an_input_is_never_written(
    action: Action, option: str, given: str, mode: str
) -> None:
    text = action.write("text.md", "Words\n")
    listed = action.write("list.json", json.dumps([{"path": "a.md", "content_file": text}]))
    (action.workspace / "sub").mkdir()
    (action.workspace / "link").symlink_to("list.json")
    (action.workspace / "hard link").hardlink_to(action.workspace / listed)
    (action.workspace / "dangling").symlink_to("sub/link")
    (action.workspace / "sub/link").symlink_to(action.workspace / listed)
    before = {each: each.read_bytes() for each in action.workspace.iterdir() if each.is_file()}
    place = str(action.workspace / listed) if given == "absolute" else given
    environ = {**plain(action), "INPUT_PROFILE": "", "INPUT_LANGUAGE": "en"}
    run = action.start(environ, "--definitions", listed, option, place, "--mode", mode)
    assert (run.exit_code, action.host.requests) == (2, [])
    assert (f"{option} {place} would overwrite the list" in run.stderr) == (mode != "paln")
    now = {each: each.read_bytes() for each in action.workspace.iterdir() if each.is_file()}
    assert now == before


@pytest.mark.parametrize(
    "places",
    [("out", "sub/../out"), ("out", "link"), ("link", "out"), ("old", "hard link")],
    ids=" ".join,
)
def test_two_outputs_never_go_to_one_file(action: Action, places: tuple[str, str]) -> None:
    (action.workspace / "sub").mkdir()
    (action.workspace / "link").symlink_to("out")
    old = action.workspace / action.write("old", "earlier")
    (action.workspace / "hard link").hardlink_to(old)
    environ = {**plain(action), "INPUT_LANGUAGE": "en", "INPUT_MODE": "plan"}
    run = action.start(environ, "--table", places[0], "--page", places[1])
    assert (run.exit_code, action.host.requests) == (2, [])
    assert f"{places[1]} is the file of another output as well" in run.stderr
    assert old.read_text() == "earlier"
    assert not (action.workspace / "out").exists()


@pytest.mark.parametrize("option", FILES)
@pytest.mark.parametrize("place", ["/dev/stdout", "/dev/stderr", "/dev/fd/1", "/proc/self/fd/2"])
def test_the_stream_for_people_is_no_file_of_an_output(
    action: Action, option: str, place: str
) -> None:
    """A shell has sent it to the end of a file, which may be the list."""
    listed = action.workspace / action.listing("a.md")
    before = listed.read_bytes()
    environ = {**plain(action), "INPUT_PROFILE": "", "INPUT_LANGUAGE": "en"}
    given = ("--mode=plan", "--definitions", str(listed), option, place)
    with listed.open("ab") as end:
        process = action.begin(environ, REGISTRAR, *given, stdout=end.fileno(), stderr=end.fileno())
        run = action.end(process, environ)
    assert (run.exit_code, action.host.requests) == (2, [])
    assert listed.read_bytes().startswith(before)


@pytest.mark.parametrize("option", FILES[1:])
@pytest.mark.parametrize("arguments", ["--mode=paln", "--target-repo=x/y", "--host-token=x"])
def test_a_run_that_reads_nothing_leaves_earlier_files(
    action: Action, option: str, arguments: str
) -> None:
    earlier = action.workspace / action.write("earlier", "earlier")
    run = action.start({**plain(action), "INPUT_MODE": "plan"}, arguments, option, "earlier")
    assert (run.exit_code, earlier.read_text()) == (2, "earlier")


@pytest.mark.parametrize("file", ["report.json", "-"])
@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [(["--mode=plan"], 0), (["--mode=check"], 1), (["--mode=paln"], 2), (["--target-repo=x/y"], 2)],
)
def test_the_report_is_there_however_the_run_ends(
    action: Action, repository: Repository, arguments: list[str], exit_code: int, file: str
) -> None:
    action.write("report.json", "earlier")
    environ = {**plain(action), "INPUT_LANGUAGE": "en"}
    run = action.start(environ, *arguments, "--report", file)
    given = run.stdout if file == "-" else (action.workspace / file).read_text("utf-8")
    assert json.loads(given) == run.report
    assert run.report["exit_code"] == run.exit_code == exit_code


@pytest.mark.parametrize("is_runner", [True, False])
def test_with_the_report_on_standard_output_all_lines_are_on_standard_error(
    action: Action, repository: Repository, is_runner: bool
) -> None:
    """Nothing in the report is a command for the runner, which reads both streams."""
    listed = action.listing("##[error]a", ".gitignore/b")
    environ = {**plain(action), "INPUT_PROFILE": "", "INPUT_LANGUAGE": "en"}
    environ |= {"GITHUB_ACTIONS": "true"} if is_runner else {}
    run = action.start(environ, "--definitions", listed, "--report=-", "--mode=plan")
    [line] = run.lines
    [registration] = json.loads(line)["registrations"]
    assert {file["path"] for file in registration["files"]} == {"##[error]a", ".gitignore/b"}
    assert "##[" not in line
    assert "Nothing was written." in run.stderr
    assert run.outputs["report_path"] == ""


PROGRESS = re.compile(r"^(Checking which|\[ ?1/|--- /dev/null|Wrote|Creating)", re.MULTILINE)
"""The beginnings of lines that are neither a warning nor an error nor a result."""


@pytest.mark.parametrize("is_runner", [True, False])
@pytest.mark.parametrize("mode", ["plan", "register", "validate"])
def test_a_quiet_run_prints_warnings_errors_and_the_result(
    action: Action, host: StandInHost, repository: Repository, mode: str, is_runner: bool
) -> None:
    other = host.create_repository("octo/other", {".gitignore": b"x"})
    listed = action.listing({"path": ".gitignore/b", "content": "{owner}"}, "c")
    environ = {**plain(action), "INPUT_PROFILE": "", "INPUT_LANGUAGE": "en"}
    environ |= {"GITHUB_ACTIONS": "true"} if is_runner else {}
    arguments = ("--definitions", listed, "--mode", mode)
    whole = action.start(environ, *arguments)
    quiet = action.start(environ, *arguments, "--quiet", "--target-repo", other.full_name)
    lines = [line.replace(other.full_name, TARGET) for line in quiet.lines]
    left_out = "\n".join(line for line in whole.lines if line not in lines)
    assert (quiet.exit_code, quiet.stderr) == (whole.exit_code, whole.stderr)
    assert bool(PROGRESS.search(left_out)) is (mode != "validate")
    assert "Warning" not in left_out
    assert "::error" not in left_out
    assert not PROGRESS.search(quiet.stdout)
    assert [line for line in whole.lines if line in lines] == lines
    assert lines[-1] == whole.lines[-1]


# --- Lists --------------------------------------------------------------------------------

FINE = "{} has no mistake. Files: 1. Rules: 0."
DOUBTFUL = "{} can be used, but has warnings (1), which are probably mistakes. Files: 1. Rules: 0."


def validate(action: Action, *arguments: str, **variables: str) -> Run:
    """Check lists without a token."""
    return action.start({"INPUT_LANGUAGE": "en", **variables}, "--mode", "validate", *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["a.json", "b.json", "c.json"],
        ["--definitions", "a.json", "b.json", "c.json"],
        ["b.json", "--definitions=a.json", "--quiet", "c.json", "b.json"],
    ],
)
def test_one_run_checks_several_lists(action: Action, arguments: list[str]) -> None:
    for name in ("a", "b", "c"):
        action.listing("README.md", name=f"{name}.json")
    run = validate(action, *arguments).or_fail()
    assert run.lines == [FINE.format(f"{name}.json") for name in ("a", "b", "c")]
    assert [line in run.summary for line in ("a.json", "b.json", "c.json")] == [True] * 3


def test_all_mistakes_of_several_lists_are_told(action: Action) -> None:
    action.listing("/a", name="a.json")
    action.listing("b", name="b.json")
    action.listing({"path": "c", "content": "{owner}"}, "/d", name="c.json")
    run = validate(action, "a.json", "b.json", "c.json", "gone.yml")
    assert run.exit_code == 2
    places = re.findall(r"(?m)^(\w+): (\S+?)[,:]", run.stderr)
    assert places == [
        ("Warning", "c.json"),
        ("Error", "a.json"),
        ("Error", "c.json"),
        ("Error", "gone.yml"),
    ]


def test_in_a_workflow_arguments_start_from_the_working_directory(
    action: Action, tmp_path: Path
) -> None:
    action.listing("a", name="a.json")
    validate(action, "a.json", GITHUB_ACTIONS="true", GITHUB_WORKSPACE=str(tmp_path)).or_fail()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--mode", "plan", "a.json"], "Argument 3 is a list. Only `--mode validate` takes"),
        (["a.json"], "Argument 1 is a list. Only `--mode validate` takes"),
        (["--mode", "validate", "a"], "Argument 3 is not an option."),
        (["--strict"], "--strict works only with `--mode validate`"),
        (["--strict", "--mode=plan"], "--strict works only with `--mode validate`"),
        (["--quiet=1"], "Invalid value 1 for quiet. Valid values: true, false."),
        (["--strict", "no", "--mode=validate"], "Invalid value no for strict."),
    ],
)
def test_lists_and_strict_are_for_validate_alone(
    action: Action, arguments: list[str], expected: str
) -> None:
    action.listing("a", name="a.json")
    run = action.start({**plain(action), "INPUT_LANGUAGE": "en"}, *arguments)
    assert (run.exit_code, action.host.requests) == (2, [])
    [error] = run.stderr.splitlines()
    assert error.startswith(f"Error: {expected}")


def test_a_strict_run_fails_if_there_are_warnings(action: Action) -> None:
    action.listing("a", name="a.json")
    action.listing({"path": "b", "content": "{owner}"}, name="b.json")
    assert validate(action, "--strict", "a.json").exit_code == 0
    assert validate(action, "a.json", "b.json").exit_code == 0
    run = validate(action, "--strict", "a.json", "b.json")
    assert run.exit_code == run.report["exit_code"] == 1
    assert run.lines == [FINE.format("a.json"), DOUBTFUL.format("b.json")]
    assert "Error: The run fails, because there are warnings (1) and --strict is" in run.stderr
    # A warning about an input counts as well
    assert validate(action, "--strict", "a.json", "--fail-on=blank").exit_code == 1
    environ = {"INPUT_LANGUAGE": "en", "INPUT_MODE": "validate"}
    assert action.start(environ, "--strict", "b.json").exit_code == 1


# --- Completion ---------------------------------------------------------------------------


def completions(action: Action, *words: str) -> set[str]:
    """Return what bash offers for the last word."""
    script = action.start({}, "--print-completion", "bash").or_fail().stdout
    given = " ".join(f"'{word}'" for word in ("registrar", *words))
    ask = f"COMP_WORDS=({given}); COMP_CWORD={len(words)}; _shtab_registrar registrar '{words[-1]}'"
    shell = ["bash", "--norc", "-c", f'{script}\n{ask}\necho "${{COMPREPLY[@]}}"']
    return {*subprocess.run(shell, capture_output=True, text=True, check=True).stdout.split()}


def test_a_script_for_completion_begins_with_no_line_about_the_language(action: Action) -> None:
    asked = ("--print-completion", "bash")
    assert action.start(IN_JAPANESE_JOB, *asked).lines[0] == action.start({}, *asked).lines[0]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--"], {*OPTIONS, "--help", "--version"}),
        (["--ma"], {"--max-wait-minutes", "--max-pull-requests", "--max-minutes"}),
        (["--mode", "v"], {"validate"}),
        (["--mode", "plan", "--profile", ""], {"scaffold", "health", "starter", "all"}),
        (["--definitions", "li"], {"list.json"}),
        (["--page", "li"], {"list.json"}),
        (["--mode", "validate", "li"], {"list.json"}),
        (["--mode", "validate", "--strict", "li"], {"list.json"}),
        (["--update", ""], {"true", "false"}),
        (["--draft", "--qu"], {"--quiet"}),
        (["--yes", "--mode", "v"], {"validate"}),
    ],
)
def test_bash_completes_options_values_and_files(
    action: Action, words: list[str], expected: set[str]
) -> None:
    action.listing("a")
    assert completions(action, *words) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_script_for_completion_is_printed_alone_and_unchanged(
    action: Action, host: StandInHost, shell: str, language: str
) -> None:
    run = action.start({}, "--print-completion", shell, "--language", language, "--nonsense")
    assert (run.exit_code, run.stderr, run.summary, host.requests) == (0, "", "", [])
    assert run.lines[0] in {
        "# AUTOMATICALLY GENERATED by https://github.com/tqdm/shtab",
        "#compdef registrar",
    }
    assert all(option.lstrip("-") in run.stdout for option in OPTIONS)
    # No character is replaced by an escape, as in lines for people
    assert not re.search(r"\\(x|u|N)[0-9a-f{]", run.stdout)


@pytest.mark.parametrize(
    ("shell", "has_package", "expected"),
    [
        ("csh", True, "Invalid value csh for print_completion. Valid values: bash, zsh, fish."),
        ("bash", False, "The Python package shtab is missing."),
    ],
)
def test_without_a_script_for_completion_there_is_an_error(
    action: Action, monkeypatch: pytest.MonkeyPatch, shell: str, has_package: bool, expected: str
) -> None:
    if not has_package:
        monkeypatch.setitem(sys.modules, "shtab", None)
    run = action.start({"INPUT_LANGUAGE": "en"}, "--print-completion", shell)
    assert (run.exit_code, run.stdout) == (2, "")
    [error] = run.stderr.splitlines()
    assert error.startswith(f"Error: {expected}")


# --- Mistakes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--hel"], "There is no option --hel. Did you mean the option --help?"),
        (["--help=1"], "The option --help takes no value."),
        (["--version=1"], "The option --version takes no value."),
        (["--modes", "plan"], "There is no option --modes. Did you mean the option --mode?"),
        (["--dry-run"], "There is no option --dry-run. Did you mean the option --mode plan?"),
        (["--lang=en"], "There is no option --lang. Did you mean the option --language?"),
        (["--lit"], "There is no option --lit. Did you mean the option --mode validate?"),
        (["-x"], "There is no option -x. "),
        (["-xvalue"], "There is no option -x. "),
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
        (["--mode", " "], "The option --mode needs a value."),
        (["--draft", " "], "The option --draft needs a value."),
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
    arguments = ("y", "--modes", "plan", "--branch", "a b", "x", "--profile", "al", "--colour=1")
    run = action.start(environ, *arguments)
    assert (run.exit_code, host.requests) == (2, [])
    places = ("Argument 1 ", "--modes", "Argument 6 ", "--colour", " label", "al ", "branch", "{x}")
    for line, place in zip(run.stderr.splitlines(), places, strict=True):
        assert place in line


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
