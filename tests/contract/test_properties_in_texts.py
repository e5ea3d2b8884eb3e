"""Values of custom properties in the texts and options of a pull request."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import pytest

from registrar.inputs.interface import INPUTS
from registrar.texts.templates import PROPERTY
from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH, TARGET, Action, Start, is_read, refuse

HOSTILE = "x, y [skip ci] @org/all Fixes #1"
GIVEN = {
    "title": "Files of {property:Team} in {repo}",
    "body": "For {property:team}",
    "commit_message": "chore: {property:team}",
    "labels": "team {property:team}, plain {x}",
    "assignees": "@{property:team}",
    "reviewers": "{property:team}, mona",
    "team_reviewers": "{property:team}",
}


def test_every_input_with_a_placeholder_for_properties_is_tried() -> None:
    assert set(GIVEN) == {name for name, each in INPUTS.items() if PROPERTY in each.placeholders}


@pytest.fixture
def one(single: Start, action: Action) -> Start:
    """The action on one repository, in English. Both ways fill in texts by `Proposal`."""
    return partial(single, definitions=action.listing("a"))


@pytest.fixture(params=["one", "many"])
def given(request: pytest.FixtureRequest, one: Start, action: Action) -> Start:
    """The action, on one repository and on many, in English."""
    if request.param == "one":
        return one
    return partial(
        action,
        definitions=action.listing("a"),
        language="en",
        target_repos="octo/*",
    )


def create(host: StandInHost, **properties: str | list[str]) -> Repository:
    """The target, with people and teams."""
    repository = host.create_repository(TARGET, {"b": b""}, properties=properties)
    repository.person.change(collaborators=repository.collaborators | {"mona", "red", "blue"})
    repository.person.change(teams=repository.teams | {"red", "blue"})
    return repository


@pytest.mark.parametrize("name", GIVEN)
def test_a_property_is_filled_in_if_only_one_input_names_it(
    one: Start, host: StandInHost, name: str
) -> None:
    create(host, team="blue")
    one({name: GIVEN[name]}).or_fail()
    sent = "".join(str(request.json) for request in host.requests if not is_read(request))
    assert "blue" in sent
    assert "property:" not in sent


@pytest.mark.parametrize("in_answer", [True, False])
def test_a_hostile_value_is_harmless(given: Start, host: StandInHost, in_answer: bool) -> None:
    host.quirks.without_properties = not in_answer
    repository = create(host, team=HOSTILE)
    given(GIVEN).or_fail()
    [pull] = repository.pull_requests
    harmless = "x, y [skip ci\\] @\u200borg/all Fixes #\u200b1"
    assert pull.title == f"Files of {harmless} in {TARGET.partition('/')[2]}"
    assert "For x, y &#91;skip ci&#93; &#64;\u200borg/all Fixes &#35;\u200b1" in str(pull.body)
    messages = [commit.message for commit in repository.log(LIST_BRANCH)]
    assert f"chore: {harmless}" in messages[0]
    assert set(pull.labels) == {f"team {HOSTILE}", "plain {x}"}
    assert (pull.reviewers, pull.team_reviewers, pull.assignees) == (["mona"], [], [])
    asked = [r.json["reviewers"] for r in host.requests if "reviewers" in r.fields]
    assert {name for names in asked for name in names} == {HOSTILE, "mona"}


@pytest.mark.parametrize(
    ("value", "template", "text"),
    [
        ("skip ci", "[{property:team}] files", "[skip ci\\] files"),
        ("skip-checks", "{property:team}: true", "skip-check\\s: true"),
        # The caller's own instruction stays
        ("red", "{property:team} files [skip ci]", "red files [skip ci]"),
    ],
)
def test_a_value_makes_no_instruction_with_the_text_around_it(
    one: Start, host: StandInHost, value: str, template: str, text: str
) -> None:
    repository = create(host, team=value)
    one(title=template, commit_message=template, body="[{property:team}]").or_fail()
    [pull] = repository.pull_requests
    assert pull.title == text
    assert repository.log(LIST_BRANCH)[0].message.splitlines()[0] == text
    assert "[skip ci]" not in str(pull.body)


def test_a_property_with_very_many_values_gives_twenty_names(one: Start, host: StandInHost) -> None:
    """The million others are not even put together."""
    values = [f"team-{number}" for number in range(100)]
    repository = create(host, team=values, tier=values, area=values)
    before = time.process_time()
    for mode in ("plan", "register"):
        run = one(mode=mode, labels="{property:team} {property:tier} {property:area}").or_fail()
        assert "`labels` has more than 20 names" in run.console
    assert time.process_time() - before < 5
    [pull] = repository.pull_requests
    assert len(pull.labels) == 20


def test_twenty_names_fit_also_if_one_is_named_twice(one: Start, host: StandInHost) -> None:
    repository = create(host, team=[f"team-{number}" for number in range(20)])
    run = one(labels="{property:team}, team-3").or_fail()
    assert "more than 20 names" not in run.console
    assert len(repository.pull_requests[0].labels) == 20


def test_blanks_and_at_signs_of_a_value_are_no_part_of_a_name(
    one: Start, host: StandInHost
) -> None:
    repository = create(host, team=["@red ", " blue", "@", " "])
    one(labels="{property:team}", reviewers="{property:team}").or_fail()
    [pull] = repository.pull_requests
    assert (pull.labels, pull.reviewers) == (["@red", "blue", "@"], ["red", "blue"])


@pytest.mark.parametrize(
    ("value", "title"),
    [("x" * 256, "x" * 256), ("x" * 257, "x" * 255 + "…"), ("😀" * 200, "😀" * 127 + "…")],
    ids=["fits", "one too many", "wide characters"],
)
def test_a_long_value_is_cut_in_the_title(
    one: Start, host: StandInHost, value: str, title: str
) -> None:
    repository = create(host, team=value)
    one(title="{property:team}").or_fail()
    assert repository.pull_requests[0].title == title


def test_three_names_that_are_refused_are_enough(given: Start, host: StandInHost) -> None:
    create(host, team=[f"team-{number}" for number in range(80)])
    refused = refuse(host, lambda request: request.path.endswith("/labels"))
    run = given(labels="{property:team}")
    assert len(refused.hits) == 4
    assert "team-3" in run.text


def test_names_are_tried_one_by_one_until_the_run_is_over(
    action: Action, host: StandInHost
) -> None:
    create(host, team=["red", "blue", "green"])
    refused = refuse(host, lambda request: request.path.endswith("/labels"))
    host.on_request = lambda _: action.clock.sleep(61 if refused.hits else 0)
    inputs = {"target_repos": "octo/*", "max_minutes": "1", "labels": "{property:team}"}
    run = action(inputs, definitions=action.listing("a"), language="en")
    assert len(refused.hits) == 2
    assert "max_minutes are over" in run.text


def test_several_values_are_several_names(given: Start, host: StandInHost) -> None:
    repository = create(host, team=["red", "blue"])
    given(GIVEN).or_fail()
    [pull] = repository.pull_requests
    assert pull.title.startswith("Files of red, blue in")
    assert set(pull.labels) == {"team red", "team blue", "plain {x}"}
    assert pull.assignees == ["red", "blue"]
    assert (pull.reviewers, pull.team_reviewers) == (["red", "blue", "mona"], ["red", "blue"])


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({}, "is not set"),
        ({"team": "red\nblue"}, "has a line break"),
        ({"team": ["red", "green\nblue"]}, "has a line break"),
    ],
)
def test_a_value_that_lacks_is_left_out_with_a_warning(
    given: Start, host: StandInHost, properties: dict[str, Any], why: str
) -> None:
    repository = create(host, **properties)
    for mode in ("plan", "register"):
        said = given(GIVEN, mode=mode).or_fail().text
        assert f"{{property:team}} was left out of `reviewers`: property team {why}" in said
        assert f"In `title`, the text for a custom property is empty: property team {why}" in said
    [pull] = repository.pull_requests
    assert pull.title == f"Files of in {TARGET.partition('/')[2]}"
    assert (pull.labels, pull.assignees, pull.reviewers) == (["plain {x}"], [], ["mona"])
    # A description may have several lines
    assert ("blue" in str(pull.body)) == bool(properties)
    repository.person.merge(pull.number)
    assert "property team" not in given(GIVEN).or_fail().text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{property:team} files", "files"),
        ("files for {property:team} of {repo}", "files for of example"),
        ("{property:team}", ""),
        ("files  of {repo} {property:tier}", "files  of example 1"),
    ],
)
def test_no_blank_is_left_in_the_place_of_a_value(
    one: Start, host: StandInHost, template: str, text: str
) -> None:
    repository = create(host, tier="1")
    assert one(title=template, commit_message=template).exit_code == 0
    [pull] = repository.pull_requests
    assert pull.title == (text or "chore: add missing files")
    subject = repository.log(LIST_BRANCH)[0].message.partition("\n")[0]
    assert subject in ([text] if text else ["chore: add a", "chore: add missing files"])
