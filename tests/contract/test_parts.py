"""A file can consist of parts, each with a condition of its own."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import STRATEGIES, TARGET, Action, Start, calls

PATH = ".github/dependabot.yml"
HEAD = "version: 2\nupdates:\n"
GO, NPM, TEAM, ALWAYS = ("- gomod\n", "- npm\n", "# of red in octo\n", "- actions\n")
PARTS: list[dict[str, Any]] = [
    {"when": {"exists": "go.mod"}, "content": GO},
    {"when": {"exists": "package.json", "not": {"topic": "frozen"}}, "content_file": "parts/npm"},
    {"template": True, "content": "# of {property:team} in {owner}\n"},
    {"content": ALWAYS},
]
LISTED: list[dict[str, Any]] = [{"path": PATH, "content": HEAD, "parts": PARTS}]
STATES: list[tuple[set[str], dict[str, Any], str]] = [
    (set(), {}, HEAD + ALWAYS),
    ({"go.mod"}, {}, HEAD + GO + ALWAYS),
    ({"package.json"}, {}, HEAD + NPM + ALWAYS),
    ({"package.json"}, {"topics": ["frozen"]}, HEAD + ALWAYS),
    ({"go.mod", "package.json"}, {}, HEAD + GO + NPM + ALWAYS),
    ({"go.mod"}, {"topics": ["frozen"]}, HEAD + GO + ALWAYS),
    ({"go.mod"}, {"properties": {"team": "red"}}, HEAD + GO + TEAM + ALWAYS),
    (
        {"go.mod", "package.json"},
        {"properties": {"team": "red"}, "topics": ["frozen", "x"]},
        HEAD + GO + TEAM + ALWAYS,
    ),
]
"""Which files a repository has and what else is known of it, and what it gets."""
BRANCH = "add/files"


def written(repository: Repository) -> str:
    content = repository.files(BRANCH)[PATH]
    assert isinstance(content, bytes)
    return content.decode()


def document(action: Action, listed: Any = LISTED) -> str:
    action.write("parts/npm", NPM)
    return action.write("list.json", json.dumps(listed))


@pytest.fixture(params=[*STRATEGIES, "many"])
def way(request: pytest.FixtureRequest, action: Action) -> Start:
    """The action with each strategy, and over many repositories, in English."""
    english = partial(action, profile=None, branch=BRANCH, language="en")
    if request.param == "many":
        return partial(english, target_repos="octo/*")
    return partial(english, commit_strategy=request.param)


@pytest.mark.parametrize(("files", "attributes", "expected"), STATES)
def test_a_file_is_composed_for_each_repository(
    way: Start,
    action: Action,
    host: StandInHost,
    files: set[str],
    attributes: dict[str, Any],
    expected: str,
) -> None:
    repository = host.create_repository(
        TARGET, {"README.md": b"x", **dict.fromkeys(files, b"x")}, **attributes
    )
    way(definitions=document(action)).or_fail()
    assert written(repository) == expected
    repository.person.merge(1)
    # Nothing is added to a file that is there, and it is the same as the list's
    way(definitions=document(action), mode="check", fail_on="missing,differs").or_fail()
    repository.person.commit({"go.mod": b"", "package.json": b"", "more": b""})
    before = written(repository)
    later = way(definitions=document(action))
    assert (later.exit_code, written(repository)) == (0, before)


def test_where_github_lists_no_files_a_part_is_compared_as_it_is_now(
    action: Action, host: StandInHost
) -> None:
    repository = host.create_repository(TARGET, {"go.mod": b""})
    given = {"definitions": document(action), "branch": BRANCH, "language": "en"}
    action(given, profile=None).or_fail()
    repository.person.edit(1, body="Rewritten")
    repository.person.close(1)
    host.quirks.most_in_tree = 1
    assert action(given, profile=None, mode="plan").outputs["declined"] == "1"


def test_parts_are_named(start: Start, action: Action, host: StandInHost) -> None:
    host.create_repository(TARGET, {"go.mod": b""})
    run = start(profile=None, definitions=document(action), mode="plan", env=action.keeping)
    assert [row["parts"] for row in action.rows(run)] == ["1 4"]
    assert f"{PATH}: missing (parts: 1, 4)" in run.stdout
    assert "left out because a custom property is not set: part 3" in run.text
    assert run.registration["files"][0]["parts"] == [1, 4]
    assert f"| `{PATH}` | to create (parts: 1, 4) |" in run.summary
    for line in (HEAD + GO + ALWAYS).splitlines():
        assert f"+{line}" in run.stdout


def test_a_plan_over_many_shows_the_parts_of_each_rule(action: Action, host: StandInHost) -> None:
    """Although path and own text of the file are the same in both rules."""
    for name in "ab":
        host.create_repository(f"octo/{name}")
    rules = [
        {
            "when": {"name": name},
            "files": [{"path": PATH, "content": HEAD, "parts": [{"content": part}]}],
        }
        for name, part in (("a", GO), ("b", ALWAYS))
    ]
    definitions = document(action, {"rules": rules})
    given = {"target_repos": "octo/*", "mode": "plan", "language": "en"}
    run = action(given, definitions=definitions).or_fail()
    assert run.stdout.count("(repositories: 1), for example in octo/") == 2
    for part in (GO, ALWAYS):
        assert run.stdout.count(f"\n+{part}") == run.summary.count(f"\n+{part}") == 1


def test_a_file_is_not_composed_without_its_own_text(
    start: Start, action: Action, host: StandInHost
) -> None:
    """A custom property that this text needs is not set."""
    host.create_repository(TARGET)
    own = {"template": True, "content": "# {property:team}\n"}
    listed = [{"path": PATH, **own, "parts": [{"content": ALWAYS}]}]
    run = start(profile=None, definitions=document(action, listed), mode="plan").or_fail()
    assert run.standings == {PATH: "unset"}


def test_a_file_without_a_part_is_not_listed(way: Start, action: Action, host: StandInHost) -> None:
    repository = host.create_repository(TARGET, {"a": b""})
    listed = [*({"path": PATH, "content": HEAD, "parts": PARTS[:2]},), "b"]
    run = way(definitions=document(action, listed), mode="plan")
    assert f"{PATH}: no part of it applies" in run.text
    assert run.outputs["missing"] == "1"
    listed = [{"path": PATH, "parts": PARTS[2:3]}, "b"]
    run = way(definitions=document(action, listed))
    assert (run.exit_code, set(repository.files(BRANCH))) == (0, {"a", "b"})
    assert "team" in run.text


def test_requests_stay_what_they_are(
    start: Start, action: Action, host: StandInHost, strategy: str
) -> None:
    host.create_repository(TARGET, {"go.mod": b""}, properties={"team": "red"})
    run = start(profile=None, definitions=document(action, [{**LISTED[0], "parts": PARTS[:2]}]))
    assert run.exit_code == 0, run.text
    if strategy == "single":
        assert calls(host) == ["POST /graphql", "POST /graphql"]
    else:
        asked = {call for call in calls(host) if call.startswith("GET contents/")}
        assert asked == {f"GET contents/{path}" for path in ("go.mod", "package.json", PATH)}


@pytest.mark.parametrize("changed", [False, True])
def test_a_leftover_branch_is_compared_with_what_it_starts_from(
    start: Start, action: Action, host: StandInHost, changed: bool
) -> None:
    """A run was stopped, and the default branch got a file meanwhile that a part asks about."""
    repository = host.create_repository(TARGET, {"go.mod": b""})
    given = {"definitions": document(action, [*LISTED, "b"]), "branch": BRANCH, "profile": None}
    repository.person.create_branch(BRANCH)
    content = HEAD + GO + ALWAYS + ("x" if changed else "")
    repository.person.commit({PATH: content.encode()}, branch=BRANCH)
    repository.person.commit({"package.json": b""})
    start(given).or_fail()
    assert repository.pull_requests[0].head == (f"{BRANCH}-2" if changed else BRANCH)
    assert repository.files(BRANCH)[PATH] == content.encode()
