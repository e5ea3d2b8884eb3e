"""Which language a run speaks: the contract's lists are Japanese, and so is a Japanese console."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.fakehub import Repository
from tests.harness import JAPANESE, SINGLE, Action

OWN = "list.yml"
CASES: list[tuple[dict[str, str], dict[str, str], str, str]] = [
    # inputs, variables, language of the console, language on GitHub
    ({"profile": "scaffold"}, {}, "ja", "ja"),
    ({"profile": "Health"}, {}, "ja", "ja"),
    ({"profile": "all"}, {}, "ja", "ja"),
    ({"profile": "starter"}, {}, "en", "en"),
    ({"definitions": OWN}, {}, "en", "en"),
    ({"profile": "health", "language": "en"}, {}, "en", "en"),
    ({"definitions": OWN, "language": "ja"}, {}, "ja", "ja"),
    ({"definitions": OWN}, {"LANG": "ja_JP.UTF-8"}, "ja", "en"),
    ({"definitions": OWN}, {"LC_ALL": "ja_JP.UTF-8", "LANG": "C"}, "ja", "en"),
    ({"definitions": OWN}, {"LC_MESSAGES": "ja_JP", "LANG": "de_DE"}, "ja", "en"),
    ({"definitions": OWN}, {"LC_ALL": "C", "LANG": "ja_JP.UTF-8"}, "en", "en"),
    ({"definitions": OWN}, {"LC_ALL": "", "LANG": "ja"}, "ja", "en"),
    ({"definitions": OWN}, {"LANGUAGE": "ja"}, "en", "en"),
    ({"definitions": OWN, "language": "en"}, {"LANG": "ja_JP.UTF-8"}, "en", "en"),
    ({"profile": "health"}, {"LANG": "en_GB.UTF-8"}, "ja", "ja"),
    # A runner's locale is nobody's
    ({"definitions": OWN}, {"LANG": "ja_JP.UTF-8", "GITHUB_ACTIONS": "true"}, "en", "en"),
]


@pytest.mark.parametrize(("inputs", "variables", "console", "written"), CASES)
def test_the_language_follows_input_list_and_console(
    action: Action,
    repository: Repository,
    inputs: Mapping[str, str],
    variables: Mapping[str, str],
    console: str,
    written: str,
) -> None:
    action.write(OWN, "- a\n")
    env = {"GITHUB_WORKSPACE": str(action.workspace), **variables}
    run = action({"profile": "", **inputs}, env=env, commit_strategy=SINGLE)
    assert run.exit_code == 0, run.text
    assert repository.pull_requests
    for pull in repository.pull_requests:
        assert bool(JAPANESE.search(pull.body or "")) is (written == "ja")
    # The contract's summary is Japanese, whatever the language of the rest
    assert bool(JAPANESE.search(run.summary)) is (console == "ja")


@pytest.mark.parametrize(
    ("variables", "arguments", "expected"),
    [
        ({}, (), "en"),
        ({"LANG": "ja_JP.UTF-8"}, (), "ja"),
        ({"LANG": "ja_JP.UTF-8"}, ("--language", "en"), "en"),
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
