"""The command line: every input is an option, and nothing else is."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path
from unicodedata import east_asian_width

import pytest

from registrar import __version__
from registrar.inputs.interface import INPUTS
from registrar.texts.messages import LANGUAGES
from tests.fakehub import Repository, StandInHost
from tests.harness import SCAFFOLD_BRANCH, TARGET, Action, Run

REGISTRAR = "scripts/registrar"
COMMANDS = (
    "scripts/setup-repository-scaffold-files.sh",
    "scripts/setup-repository-health-files.sh",
)
FILES = ["--report", "--table", "--page"]
SWITCHES = ["--yes", "--quiet", "--strict"]
OPTIONS = [each.option for each in INPUTS.values() if each.name != "host_token"]
OPTIONS += [*FILES, *SWITCHES, "--print-completion"]
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


def test_options_of_the_command_for_any_list(action: Action, repository: Repository) -> None:
    action.listing("a")
    environ = {**plain(action), "INPUT_PROFILE": ""}
    alone, here = partial(action.process, environ, REGISTRAR), partial(action.start, environ)
    for start, line, profile in (
        (alone, "--profile health --mode plan --language en", "health"),
        (here, "--profile=health --mode=plan --language=en", "health"),
        (here, "--language EN --mode Plan --profile HEALTH --commit-strategy Single", "health"),
        (here, "--definitions list.json --mode plan --language en", "missing"),
    ):
        run = start(*line.split()).or_fail()
        assert run.stdout.isascii()
        assert run.registration["profile"] == profile
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


LISTS = ("list.json", "$PWD/list.json", "sub/../list.json", "link", "hard", "text.md", "dangling")
TAKEN = {
    **{
        f"{option} {place}": f"{option} {place} would overwrite the list"
        for option in FILES
        for place in LISTS
    },
    **{
        f"--table {one} --page {two}": f"{two} is the file of another output as well"
        for one, two in (("out", "sub/../out"), ("out", "to"), ("to", "out"), ("hard", "list.json"))
    },
}


@pytest.mark.parametrize("mode", ["plan", "paln"])
def test_a_file_is_never_written_over_an_input_or_another_output(action: Action, mode: str) -> None:
    here = action.workspace
    text = action.write("text.md", "Words\n")
    listed = action.write("list.json", json.dumps([{"path": "a.md", "content_file": text}]))
    (here / "sub").mkdir()
    (here / "hard").hardlink_to(here / listed)
    for link, to in (("link", listed), ("dangling", "sub/link"), ("sub/link", here / listed)):
        (here / link).symlink_to(to)
    (here / "to").symlink_to("out")
    before = {each: each.read_bytes() for each in here.iterdir() if each.is_file()}
    environ = {**plain(action), "INPUT_PROFILE": "", "INPUT_LANGUAGE": "en"}
    for given, said in TAKEN.items():
        line, words = (each.replace("$PWD", str(here)) for each in (given, said))
        run = action.start(environ, "--definitions", listed, "--mode", mode, *line.split())
        assert (run.exit_code, action.host.requests) == (2, []), line
        # Which files are inputs says the list, which is not read after a mistake in the options
        assert (words in run.stderr) == (mode == "plan" or "another" in words), run.stderr
        assert {each: each.read_bytes() for each in here.iterdir() if each.is_file()} == before


@pytest.mark.parametrize(
    ("option", "place"),
    [
        *(("--report", "/dev/stdout"), ("--table", "/dev/stderr")),
        *(("--page", "/dev/fd/1"), ("--report", "/proc/self/fd/2")),
    ],
)
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


def test_a_run_that_reads_nothing_leaves_earlier_files(action: Action) -> None:
    earlier = action.workspace / action.write("earlier", "earlier")
    for argument in ("--mode=paln", "--target-repo=x/y", "--host-token=x"):
        for option in ("--table", "--page"):
            run = action.start({**plain(action), "INPUT_MODE": "plan"}, argument, option, "earlier")
            assert (run.exit_code, earlier.read_text()) == (2, "earlier")


@pytest.mark.parametrize("file", ["report.json", "-"])
def test_the_report_is_there_however_the_run_ends(
    action: Action, repository: Repository, file: str
) -> None:
    environ = {**plain(action), "INPUT_LANGUAGE": "en"}
    ends = {"--mode=plan": 0, "--mode=check": 1, "--mode=paln": 2, "--target-repo=x/y": 2}
    for argument, exit_code in ends.items():
        action.write("report.json", "earlier")
        run = action.start(environ, argument, "--report", file)
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


def test_a_script_for_completion_begins_with_no_line_about_the_language(action: Action) -> None:
    asked = ("--print-completion", "bash")
    assert action.start(IN_JAPANESE_JOB, *asked).lines[0] == action.start({}, *asked).lines[0]


def test_bash_completes_options_values_and_files(action: Action) -> None:
    action.listing("a")
    script = action.start({}, "--print-completion", "bash").or_fail().stdout
    for line, expected in {
        "--": {*OPTIONS, "--help", "--version"},
        "--ma": {"--max-wait-minutes", "--max-pull-requests", "--max-minutes"},
        "--mode v": {"validate"},
        "--mode plan --profile ": {"scaffold", "health", "starter", "all"},
        "--definitions li": {"list.json"},
        "--page li": {"list.json"},
        "--mode validate li": {"list.json"},
        "--mode validate --strict li": {"list.json"},
        "--update ": {"true", "false"},
        "--draft --qu": {"--quiet"},
        "--yes --mode v": {"validate"},
    }.items():
        *_, last = words = [f"'{word}'" for word in line.split(" ")]
        ask = f"COMP_WORDS=(registrar {' '.join(words)}); COMP_CWORD={len(words)}"
        ask += f"; _shtab_registrar registrar {last}"
        shell = ["bash", "--norc", "-c", f'{script}\n{ask}\necho "${{COMPREPLY[@]}}"']
        said = subprocess.run(shell, capture_output=True, text=True, check=True).stdout
        assert {*said.split()} == expected, line


@pytest.mark.parametrize(
    ("shell", "language"), [("bash", "ja"), ("zsh", "ja"), ("zsh", "en"), ("fish", "en")]
)
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


def test_without_the_package_for_completion_there_is_an_error(
    action: Action, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    run = action.start({"INPUT_LANGUAGE": "en"}, "--print-completion", "bash")
    assert (run.exit_code, run.stdout) == (2, "")
    assert run.stderr.startswith("Error: The Python package shtab is missing.")


# --- Mistakes -----------------------------------------------------------------------------


SECRET = "ghp_thisIsATokenThatNobodyMaySee0123456"
SHAPELESS = "5f4dcc3b5aa765d61d8327deb882cf99deadbeef"
"""A token that nobody could recognise by its shape."""
NO_LIST_HERE = "is a list. Only `--mode validate` takes"
NO_TOKEN = "everybody on the machine could read it in the list of processes."
# Each message, with the command lines that it refuses
REFUSED = {
    "There is no option --hel. Did you mean the option --help?": ["--hel"],
    "There is no option --tabel. Did you mean the option --table?": ["--tabel x.csv"],
    "There is no option --modes. Did you mean the option --mode?": ["--modes plan"],
    "There is no option --dry-run. Did you mean the option --mode plan?": ["--dry-run"],
    "There is no option --lang. Did you mean the option --language?": ["--lang=en"],
    "There is no option --lit. Did you mean the option --mode validate?": ["--lit"],
    "There is no option -x. ": ["-x", "-xvalue"],
    "There is no option -t. ": [f"-t{SECRET}", f"-t {SECRET}"],
    "There is no option --. ": ["--"],
    "There is no option --command.": ["--mode=plan --command=health", "--command=x"],
    "There is no option --nonsense.": [f"--nonsense {SECRET}", f"--nonsense={SHAPELESS}"],
    "There is no option --b\\udce9.": ["--b\udce9 x"],
    **{
        f"There is no option {each}: {NO_TOKEN}": [f"{each}={SECRET}", f"{each} {SHAPELESS}"]
        for each in ("--token", "--host-token", "--host_token")
    },
    "The option --help takes no value.": ["--help=1"],
    "The option --version takes no value.": ["--version=1"],
    **{
        f"The option {option} needs a value.": [f"{option}{value}" for value in values]
        for option, values in (
            ("--mode", ("", " ''", "=", " ' '", " --draft")),
            ("--draft", (" ' '", "=")),
        )
    },
    "The option --mode is given more than once.": ["--mode plan --mode check"],
    "The argument octo/example is not an option. Did you mean `--target-repo octo": [TARGET],
    "Argument 1 is not an option.": ["''", "\udce9", SECRET, SHAPELESS],
    "Argument 2 is not an option.": ["--mode=plan plan"],
    "Argument 3 is not an option.": ["--mode validate a"],
    f"Argument 1 {NO_LIST_HERE}": ["a.json"],
    f"Argument 3 {NO_LIST_HERE}": ["--mode plan a.json"],
    "Invalid value plam for mode. Did you mean `plan`?": ["--mode plam"],
    "Invalid value *** for mode.": [f"--mode {SECRET}"],
    "Invalid value 1 for quiet. Valid values: true, false.": ["--quiet=1"],
    "Invalid value no for strict.": ["--strict no --mode=validate"],
    "Invalid value csh for print_completion. Valid values: bash, zsh, fish.": [
        "--print-completion csh"
    ],
    "There is no option --profile here: this command registers": [
        "--command=health --profile all",
        "--command=scaffold --profile=scaffold",
    ],
    "Give definitions or profile, not both.": [
        f"--command={each} --definitions a.json" for each in ("scaffold", "health")
    ],
    "--strict works only with `--mode validate`": ["--strict", "--strict --mode=plan"],
    "branch is not a valid name of a git branch: a b/***.": [f"--branch 'a b/{SECRET}'"],
    "branch holds bytes that are not UTF-8.": ["--branch b\udce9"],
    "Give target_repo or target_repos, not both: octo/example": ["--target-repos octo/*"],
    "gone/file: the file cannot be written (No such file or directory). → "
    "docs/troubleshooting.md#outputs-summary-or-report-are-missing": [
        f"{option} gone/file" for option in FILES
    ],
}


def test_a_command_line_is_refused_and_nothing_is_done(action: Action) -> None:
    action.secrets += [SECRET, SHAPELESS]
    action.listing("a", name="a.json")
    for expected, lines in REFUSED.items():
        for line in lines:
            run = action.start({**plain(action), "INPUT_LANGUAGE": "en"}, *shlex.split(line))
            assert (run.exit_code, run.outputs["created"]) == (2, "0"), line
            [error] = run.stderr.splitlines()
            assert error.startswith(f"Error: {expected}"), line
    assert action.host.requests == []


def test_all_errors_of_the_command_line_and_the_inputs_are_reported_at_once(
    action: Action, host: StandInHost
) -> None:
    given = {"title": "{x}", "label": "x", "draft": "yes", "api_url": "http://example.com"}
    inputs = {f"INPUT_{name.upper()}": value for name, value in given.items()}
    line = "y --modes plan --branch 'a b' x --profile al --colour=1 --mode dry"
    line += " --report a --table a --page gone/a"
    environ = {**inputs, "INPUT_LANGUAGE": "en", "TARGET_REPO": "octo"}
    run = action.start(environ, *shlex.split(line))
    assert (run.exit_code, host.requests) == (2, [])
    places = (
        *("Argument 1 ", "--modes", "Argument 6 ", "--colour", "--table a", "gone/a", " label"),
        *("al for profile", "dry for mode", "target_repo ", "api_url ", "host_token "),
        *("branch ", "title ", "yes for draft"),
    )
    for error, place in zip(run.stderr.splitlines(), places, strict=True):
        assert place in error


def test_a_working_directory_that_is_gone(action: Action, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = action.workspace / "gone"
    gone.mkdir(parents=True)
    monkeypatch.chdir(gone)
    gone.rmdir()
    run = action(profile=None, definitions="list.json", language="en")
    assert run.exit_code == 2
    assert "The working directory no longer exists" in run.text
    assert "bug in registrar" not in run.text
