"""The language of a run: Japanese for the lists of the contract and for a Japanese console."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from registrar.inputs import environment
from tests.documents import DOCUMENTS
from tests.fakehub import Repository
from tests.harness import JAPANESE, SINGLE, TARGET, Action, Run

OWN = "list.yml"
WORKFLOW = {"GITHUB_ACTIONS": "true"}
JAPAN = {"LANG": "ja_JP.UTF-8"}
CASES: list[tuple[dict[str, str], dict[str, str], str, str]] = [
    # inputs, variables, language of the console, language on GitHub
    ({"profile": "scaffold"}, WORKFLOW, "ja", "ja"),
    ({"profile": "Health"}, WORKFLOW, "ja", "ja"),
    ({"profile": "all"}, WORKFLOW, "ja", "ja"),
    ({"profile": "starter"}, WORKFLOW, "en", "en"),
    ({"definitions": OWN}, WORKFLOW, "en", "en"),
    ({"profile": "health", "language": "en"}, WORKFLOW, "en", "en"),
    ({"definitions": OWN, "language": "ja"}, WORKFLOW, "ja", "ja"),
    # In a shell the locale decides, and never what is written to GitHub
    ({"profile": "health"}, {}, "en", "en"),
    ({"profile": "health"}, {"LANG": "C.UTF-8"}, "en", "en"),
    ({"profile": "health"}, JAPAN, "ja", "en"),
    ({"profile": "health", "language": "ja"}, {}, "ja", "ja"),
    ({"definitions": OWN}, {}, "en", "en"),
    ({"definitions": OWN}, JAPAN, "ja", "en"),
    ({"definitions": OWN}, {"LC_ALL": "ja_JP.UTF-8", "LANG": "C"}, "ja", "en"),
    ({"definitions": OWN}, {"LC_MESSAGES": "ja_JP", "LANG": "de_DE"}, "ja", "en"),
    ({"definitions": OWN}, {"LC_ALL": "C", "LANG": "ja_JP.UTF-8"}, "en", "en"),
    ({"definitions": OWN}, {"LC_ALL": "", "LANG": "ja"}, "ja", "en"),
    ({"definitions": OWN}, {"LANGUAGE": "ja"}, "en", "en"),
    ({"definitions": OWN, "language": "en"}, JAPAN, "en", "en"),
    # A runner's locale is nobody's
    ({"definitions": OWN}, {**JAPAN, **WORKFLOW}, "en", "en"),
    ({"profile": "health"}, {"LANG": "en_US.UTF-8", **WORKFLOW}, "ja", "ja"),
]
NOTE = "The output of this run is Japanese, "
COMMANDS = (
    "scripts/setup-repository-health-files.sh",
    "scripts/setup-repository-scaffold-files.sh",
)
LOCALES = ("C", "en_US.UTF-8", "ja_JP.UTF-8")


def test_the_languages_follow_input_list_and_console() -> None:
    for inputs, variables, console, written in CASES:
        given = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
        found = environment.languages({**variables, **given})
        assert (found.reader, found.texts) == (console, written), (inputs, variables)


@pytest.mark.parametrize(
    ("inputs", "variables", "console", "written"),
    [
        each
        for each in CASES
        if each[0] in ({"profile": "health"}, {"definitions": OWN, "language": "ja"})
    ],
)
def test_a_run_speaks_the_languages_of_input_list_and_console(
    action: Action,
    repository: Repository,
    inputs: Mapping[str, str],
    variables: Mapping[str, str],
    console: str,
    written: str,
) -> None:
    action.write(OWN, "- a\n")
    env = {"GITHUB_WORKSPACE": str(action.workspace), **variables}
    run = action({"profile": "", "language": "", **inputs}, env=env, commit_strategy=SINGLE)
    assert run.exit_code == 0, run.text
    assert repository.pull_requests
    for pull in repository.pull_requests:
        assert bool(JAPANESE.search(pull.body or "")) is (written == "ja")
    assert bool(JAPANESE.search(run.summary)) is (console == "ja")
    [*notes] = (line for line in run.lines if line.startswith(NOTE))
    is_asked = "language" in inputs or variables == JAPAN
    assert len(notes) == (written == "ja" and not is_asked), run.stdout


@pytest.mark.parametrize("command", [*COMMANDS, "scripts/registrar"])
def test_a_locale_changes_only_what_the_command_for_any_list_says(
    action: Action, repository: Repository, command: str
) -> None:
    """Byte for byte."""
    environ = {"HOST_TOKEN": action.default_token, "TARGET_REPO": TARGET}
    environ |= {"HOST_API_URL": action.host.url}
    arguments = ["--mode", "plan"]
    if command not in COMMANDS:
        arguments += ["--profile", "health"]
    begun = {
        locale: action.begin({**environ, "LANG": locale}, command, *arguments) for locale in LOCALES
    }
    runs = {locale: action.end(process, environ) for locale, process in begun.items()}
    said = {locale: (run.exit_code, run.stdout, run.stderr) for locale, run in runs.items()}
    first, other, in_japan = said.values()
    assert first[::2] == (0, "")
    assert other == first
    assert (in_japan == first) is (command in COMMANDS)
    assert JAPANESE.search(in_japan[1])
    assert bool(JAPANESE.search(first[1])) is (command in COMMANDS)
    assert first[1].startswith(NOTE) is (command in COMMANDS)
    assert NOTE not in "".join(first[1].splitlines()[1:])
    if command not in COMMANDS:
        assert NOTE not in in_japan[1]


@pytest.mark.parametrize(
    ("variables", "command", "has_both"),
    [
        ({**WORKFLOW, "INPUT_PROFILE": "health"}, (), True),
        (WORKFLOW, (), True),
        ({}, ("--command=health",), True),
        ({**WORKFLOW, "INPUT_PROFILE": "health", "INPUT_LANGUAGE": "ja"}, (), False),
        ({}, (), False),
        (JAPAN, (), False),
    ],
)
def test_the_first_error_about_the_inputs_is_in_both_languages(
    action: Action, variables: Mapping[str, str], command: tuple[str, ...], *, has_both: bool
) -> None:
    run = action.start({**variables, "INPUT_MODE": "x", "INPUT_DRAFT": "y"}, *command)
    assert run.exit_code == 2
    first, *others = (error.splitlines() for error in errors_in(run))
    spoken = [bool(JAPANESE.search(line)) for line in first]
    assert len(spoken) == len({*spoken}) == 1 + has_both, first
    assert others
    assert {bool(JAPANESE.search(line)) for lines in others for line in lines} == {spoken[0]}


def errors_in(run: Run) -> list[str]:
    """The text of each error of a run, on a runner and in a shell."""
    of_shell = re.split(r"(?m)^(?:Error|エラー): ", run.stderr)[1:]
    return [each.data for each in run.annotations()] or of_shell


def test_an_error_after_the_inputs_is_in_one_language(action: Action) -> None:
    run = action(profile="health", language="", definitions="", runner=True)
    [error] = run.annotations()
    assert JAPANESE.search(error.data)
    assert "There is no" not in error.data


def test_every_sample_with_a_list_that_is_japanese_by_default_says_the_language() -> None:
    text = "\n".join(document.read_text("utf-8") for document in DOCUMENTS)
    samples = re.findall(r"(?ms)^```\w+\n(.*?)^```$", text)
    samples += re.findall(r"`(scripts/registrar [^`]+|--profile [^`]+)`", text)
    samples += re.findall(r"(?m)^- `profile: .*", text)
    for sample in samples:
        if re.search(r"profile[:= ] *(health|scaffold|all)\b", sample):
            assert re.search(r"language[: ] *(en|ja)\b", sample), sample


@pytest.mark.parametrize(
    ("variables", "arguments", "expected"),
    [
        ({}, (), "en"),
        (JAPAN, (), "ja"),
        (JAPAN, ("--language", "en"), "en"),
        ({}, ("--command=health",), "ja"),
    ],
)
def test_help_speaks_the_language_of_the_console(
    action: Action, variables: Mapping[str, str], arguments: tuple[str, ...], expected: str
) -> None:
    command = [each for each in arguments if each.startswith("--command")]
    rest = [each for each in arguments if each not in command]
    run = action.start(variables, *command, "--help", *rest)
    assert bool(JAPANESE.search(run.stdout)) is (expected == "ja")
