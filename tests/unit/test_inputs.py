"""Any environment gives inputs or diagnostics."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registrar.errors import InvalidInput
from registrar.inputs import environment, reader
from registrar.inputs.interface import NAMES
from registrar.models.settings import Settings

GOOD = {"HOST_TOKEN": "ghp_abc", "TARGET_REPO": "octo/example", "INPUT_PROFILE": "health"}
VARIABLES = st.sampled_from(
    [f"INPUT_{name.upper()}" for name in NAMES]
    + ["HOST_TOKEN", "TARGET_REPO", "HOST_API_URL", "GITHUB_API_URL", "INPUT_OTHER"]
)
VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


def read(**environ: str) -> Settings:
    return reader.read({**GOOD, **environ})


@given(st.dictionaries(VARIABLES, VALUES | st.text("abc/.:@?#[]% \\", max_size=20)))
def test_any_environment_gives_inputs_or_diagnostics(environ: dict[str, str]) -> None:
    try:
        given_inputs = reader.read(environ)
    except InvalidInput:
        return
    owner, _, repository = given_inputs.target.partition("/")
    assert owner
    assert repository
    assert given_inputs.api_url.startswith(("https://", "http://"))


def test_defaults() -> None:
    given_inputs = read()
    assert given_inputs.api_url == "https://api.github.com"
    assert [profile.name for profile in given_inputs.profiles] == ["health"]
    assert given_inputs.definitions == ""


@pytest.mark.parametrize(
    "target", ["octo/example", "o/e", "Octo-Cat_9/ex.am-ple_1", "octo/.github", "octo/-", "o/..."]
)
def test_targets_that_are_accepted(target: str) -> None:
    assert read(INPUT_TARGET_REPO=target).target == target


@pytest.mark.parametrize(
    "url",
    [
        "https://api.github.com",
        "https://ghe.example.com/api/v3",
        "https://ghe.example.com:8443/api/v3",
        "http://localhost:3000",
        "http://127.0.0.1",
        "http://[::1]:8080/api/v3",
    ],
)
def test_addresses_that_are_accepted(url: str) -> None:
    assert read(INPUT_API_URL=url).api_url == url
    assert read(INPUT_API_URL=f"{url}/").api_url == url


def test_the_token_is_not_shown_with_the_inputs() -> None:
    assert "ghp_abc" not in repr(read())


def test_the_longest_texts_are_accepted() -> None:
    text = "x" * 200
    message, names = f"{text}\n\n{text}x", f"octo/{'x' * 1000}"
    found = read(INPUT_TITLE=text, INPUT_COMMIT_MESSAGE=message)
    assert (found.title, found.commit_message) == (text, message)
    assert read(TARGET_REPO="", INPUT_TARGET_REPOS=names).selection


def test_a_team_of_the_owner_of_every_selected_repository_is_accepted() -> None:
    """The letter case is free, and an owner whose repositories are only excluded does not count."""
    many = {"TARGET_REPO": "", "INPUT_TARGET_REPOS": "octo/*, !other/example"}
    for targets in ({"TARGET_REPO": "Octo/example"}, many):
        found = read(INPUT_TEAM_REVIEWERS="OCTO/a", **targets)
        assert found.pull_request.team_reviewers == ("a",)


@pytest.mark.parametrize("value", ["", "0", "false", "False"])
def test_services_that_run_workflows_are_known_by_a_variable(value: str) -> None:
    assert not environment.is_unattended({"CI": value})
    assert environment.is_unattended({"CI": value, "GITHUB_ACTIONS": "true"})
    assert environment.is_unattended({"CI": "1"})


EVENTS = ("", "[]", "{}", '{"pull_request": []}', '{"pull_request": {"head": 1, "base": []}}')


@pytest.mark.parametrize("event", [None, *EVENTS])
def test_an_event_that_cannot_be_understood_tells_nothing(
    tmp_path: Path, event: str | None
) -> None:
    file = tmp_path / "event.json"
    environ = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_ACTIONS": "true"}
    if event is not None:
        file.write_text(event)
        environ["GITHUB_EVENT_PATH"] = str(file)
    assert not environment.is_of_fork(environ)
    assert environment.event_base(environ, "o/r", "O/R") == ""
    assert environment.workflow_visibility(environ, "") == ""


def test_the_inputs_that_are_not_utf8_are_sorted() -> None:
    odd = "b\udce9"
    environ = {"INPUT_TITLE": odd, "INPUT_BODY": odd, "GITHUB_BASE_REF": odd, "GITHUB_REF": odd}
    assert environment.not_utf8(environ) == ["GITHUB_BASE_REF", "body", "title"]


@pytest.mark.parametrize(
    ("token", "leaking"), [("12345678", ["input.holds_token"]), ("1234567", [])]
)
def test_a_value_that_is_too_short_for_a_token_may_be_in_another_input(
    token: str, leaking: list[str]
) -> None:
    environ = {"HOST_TOKEN": token, "INPUT_TITLE": f"x{token}y"}
    assert [each.key for each in environment.leaks(environ, token)] == leaking


THEIRS = {"": "o/r", "https://GHE.example/api/v3/": "o/r", "https://api.github.com": ""}


@pytest.mark.parametrize("theirs", THEIRS)
def test_the_repository_of_a_workflow_on_another_host_is_another_one(theirs: str) -> None:
    environ = {"GITHUB_API_URL": theirs, "GITHUB_REPOSITORY": "o/r"}
    found = environment.workflow_repository(environ, "https://ghe.example/API/v3")
    assert found == THEIRS[theirs]
