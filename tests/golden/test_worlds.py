"""The whole texts that people read, in both languages.

Each world has a file in `worlds`, which holds every text of its runs. `scripts/test --rewrite`
writes these files. Read their diff: it is all that a review of a text has.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from tests.fakehub import Repository, StandInHost, Symlink
from tests.golden.scene import LANGUAGES, LOG_AND_SUMMARY, Scene, side_by_side
from tests.harness import LIST_BRANCH, PER_FILE, inject_fault, refuse

MOST_LINES = 150
WORLDS = dict[str, Callable[[Scene], object]]()
FOLDER = Path(__file__).parent / "worlds"
DAY = 86_400
ONE_OF_SEVERAL = re.compile(
    r"(?m)^(?:en|  ) .*\b1 (?:files|paths|pull requests|repositories|lists|rules)\b"
)
"""A number and a noun that do not agree."""
RULE = "Repository rule violations found\n\n- Changes must be made through a pull request.\n\n"


class Golden(SingleFileSnapshotExtension):
    """A readable text in a file that is named after its world."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(FOLDER)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        return str(index)


def world(build: Callable[[Scene], object]) -> Callable[[Scene], object]:
    """Add a world, which is named after its function."""
    WORLDS[build.__name__] = build
    return build


# --- One repository -------------------------------------------------------------------------------


@world
def a_pull_request_is_opened_and_updated(scene: Scene) -> None:
    scene.repository(".gitignore")
    scene.run(
        "an assignee cannot be assigned, and one file is blank",
        *("README.md", "a.md", {"path": "b.md", "description": "B | b", "content": "B\n"}),
        show=(*LOG_AND_SUMMARY, "description"),
        assignees="stranger",
        commit_strategy=PER_FILE,
    )
    scene.run("one more file", "README.md", "a.md", "b.md", "c.md", show=("log",))


@world
def somebody_declines_files(scene: Scene) -> None:
    repository = scene.repository()
    scene.run("register", "a.md", "b.md", show=())
    repository.person.close(1)
    scene.run("the pull request is closed", "README.md", "a.md", "b.md")
    scene.run(
        "and the list has one more file",
        "README.md",
        "a.md",
        "b.md",
        "c.md",
        mode="plan",
        show=("summary",),
    )


@world
def nothing_is_missing(scene: Scene) -> None:
    scene.repository("a.md")
    for mode in ("register", "check"):
        scene.run(mode, "README.md", "a.md", mode=mode, runner=True)
    scene.run("plan", "README.md", "a.md", mode="plan", show=("log",))


@world
def github_refuses_files(scene: Scene) -> None:
    scene.repository()
    refuse(scene.host, "PUT contents/b", status=422, message="Odd")
    refuse(scene.host, "PUT contents/", status=409, message=RULE)
    listed, given = ("b", "a", "README.md", "c"), {"commit_strategy": PER_FILE}
    scene.run("two causes, on a runner", *listed, runner=True, given=given)
    scene.run("in a shell", *listed, show=("log",), given=given)


@world
def a_limit_ends_the_run(scene: Scene) -> None:
    scene.repository()
    headers = {"Retry-After": "99999"}
    inject_fault(scene.host, "PUT contents/c", times=None, status=429, headers=headers)
    show = (*LOG_AND_SUMMARY, "outputs")
    scene.run("register", "a", "b", "c", "d", show=show, commit_strategy=PER_FILE)


@world
def a_long_list_is_folded(scene: Scene) -> None:
    scene.repository()
    scene.run("eleven files", *(f"f{n}" for n in range(11)), mode="plan")


@world
def a_plan_shows_contents(scene: Scene) -> None:
    scene.repository()
    listed = (
        {"path": "README.md", "description": "Read me"},
        {"path": "docs/guide.md", "description": "A guide", "content": "# Guide\n\nText\n"},
        {"path": "empty", "content": ""},
        "line feed",
        {"path": ".mcp.json", "content": "{}"},
        {"path": "```", "content": "```\n</details>\n\x1b[31m\u202e\n::error::x\n"},
    )
    scene.run("on a runner", *listed, runner=True, mode="plan")


@world
def a_check_names_what_is_missing(scene: Scene) -> None:
    scene.repository()
    scene.run("missing, on a runner", "README.md", "a.md", "b c.md", mode="check", runner=True)
    scene.run("missing, in a shell", "README.md", "a.md", mode="check", show=("log",))
    scene.run("register", "a.md", show=())
    scene.run("proposed", "README.md", "a.md", mode="check", show=("log",))


STATES: tuple[Any, ...] = (
    {"path": "same.md", "content": "theirs\n"},
    {"path": "filled.md"},
    {"path": "differs.md", "content": "ours\n"},
    {"path": "blank.md", "content": "ours\n"},
    {"path": "link.md", "content": "ours\n"},
    "proposed.md",
    "declined.md",
    {"path": "unset.md", "template": True, "content": "{property:team}\n"},
    "README.md/blocked.md",
    "missing.md",
)


def in_every_state(scene: Scene) -> Repository:
    """Return a repository whose paths have every state."""
    repository = scene.repository("same.md", "filled.md", "differs.md")
    repository.person.commit({"blank.md": b"\n", "link.md": Symlink("same.md")})
    scene.run("register", "declined.md", show=())
    repository.person.close(1)
    scene.action.clock.sleep(3 * DAY)
    scene.run("register", "declined.md", "proposed.md", show=())
    scene.action.clock.sleep(2 * DAY)
    return repository


@world
def a_plan_has_every_state(scene: Scene) -> None:
    in_every_state(scene)
    scene.run("plan", *STATES, mode="plan")


@world
def a_check_fails_on_every_state(scene: Scene) -> None:
    in_every_state(scene)
    fail_on = "missing, blank, differs, invalid, unset, declined"
    scene.run("check", *STATES, mode="check", fail_on=fail_on, runner=True)


@world
def table_and_page_have_every_state(scene: Scene) -> None:
    in_every_state(scene)
    scene.run("plan", *STATES, mode="plan", show=("table", "page"))


@world
def a_report_has_every_state(scene: Scene) -> None:
    in_every_state(scene)
    scene.run("register", *STATES, show=("report",))


@world
def a_description_explains_blank_and_refused_files(scene: Scene) -> None:
    scene.repository(".github/SUPPORT.md", "SECURITY.md")
    given = {"profile": "health", "respect_alternatives": "true"}
    scene.run("a built-in list", given=given, show=("log", "description"))
    refuse(scene.host, "PUT contents/b", status=422, message="Odd")
    scene.run("one is refused", "a", "b", show=("description",), commit_strategy=PER_FILE)


@world
def a_description_says_what_is_no_longer_listed(scene: Scene) -> None:
    repository = scene.repository()
    team = {"path": "team.md", "template": True, "content": "{property:team}\n"}
    scene.run("register", "a", "docs/old", "gone", show=())
    repository.person.commit({"gone": None}, branch=LIST_BRANCH)
    scene.run(
        "two are left out",
        "README.md",
        "a",
        "new",
        "gone",
        team,
        body="Mine: {count}",
        show=("log", "description", "outputs"),
    )


@world
def a_list_changes_while_its_pull_request_is_open(scene: Scene) -> None:
    scene.repository()
    scene.run("register", {"path": "a.md", "content": "1\n"}, "b.md", show=())
    scene.run("plan", {"path": "a.md", "content": "2\n"}, "b.md", mode="plan", show=("summary",))
    scene.run("register", {"path": "a.md", "content": "2\n"}, "b.md", show=("log", "description"))


@world
def a_list_is_withdrawn(scene: Scene) -> None:
    scene.repository()
    scene.run("nothing to withdraw", "a.md", mode="withdraw", show=("log",))
    scene.run("register", "a.md", "b.md", show=())
    scene.run("withdraw", "a.md", "b.md", mode="withdraw", show=(*LOG_AND_SUMMARY, "description"))
    scene.run("plan", "a.md", "b.md", mode="plan", show=("log",))


@world
def all_files_arrive_on_another_way(scene: Scene) -> None:
    repository = scene.repository()
    scene.run("register", "a.md", "b.md", show=())
    repository.person.commit({"a.md": b"x\n", "b.md": b"x\n"})
    scene.run("plan", "a.md", "b.md", mode="plan", show=("log",))
    scene.run("register", "a.md", "b.md", show=(*LOG_AND_SUMMARY, "description"))


@world
def the_token_or_the_repository_is_in_the_way(scene: Scene) -> None:
    repository = scene.repository()
    host = scene.host
    tokens = {
        "without the scope": host.create_token(scopes=("gist",)),
        "of a reader": host.create_token(push=False),
        "of single sign-on": host.create_token(sso=True),
        "of an App without permissions": host.create_token(
            "installation", permissions={"contents": "read"}
        ),
        "unknown": "ghp_" + "x" * 36,
    }
    for title, token in tokens.items():
        scene.run(f"a token {title}", "a.md", host_token=token, show=("stderr",))
    reader = tokens["without the scope"]
    scene.run("a plan with it", "a.md", host_token=reader, mode="plan", show=("stderr",))
    scene.run("there is no such repository", "a.md", target_repo="octo/none")
    repository.person.archive()
    scene.run("an archived repository", "a.md")


@world
def inputs_are_wrong(scene: Scene) -> None:
    for title, inputs in {
        "a mode with a letter too much": {"mode": "plann"},
        "an input without a repository": {"target_repo": "octo"},
        "several at once": {"commit_strategy": "one", "max_wait_minutes": "-1", "draft": "maybe"},
        "no token": {"host_token": " "},
        "a list that is not there": {"definitions": "gone.yml"},
    }.items():
        given = {"definitions": scene.action.listing("a.md"), **inputs}
        scene.run(
            title, given=given, show=LOG_AND_SUMMARY if title == "several at once" else ("log",)
        )


@world
def lists_are_validated(scene: Scene) -> None:
    files = scene.action.write
    rules = "rules:\n  - when: {language: go}\n    files: [b.md]\n"
    right = files("right.yml", f"files: [a.md]\n{rules}")
    doubtful = files(
        "doubtful.yml", "name: standards\nfiles:\n  - '*.md'\n  - path: a\n    content: '{owner}'\n"
    )
    wrong = files("wrong.yml", "- path: a\n  contents: b\n- /b\n- path: c\n  content: 1\n")
    scene.run("right", definitions=right, mode="validate")
    scene.run("doubtful", definitions=doubtful, mode="validate")
    scene.run("wrong", definitions=wrong, mode="validate")
    scene.run("wrong, on a runner", definitions=wrong, mode="validate", runner=True)


# --- Many repositories ----------------------------------------------------------------------------


def an_organisation(scene: Scene) -> list[Repository]:
    """Return repositories in several states."""
    made = [
        scene.host.create_repository(f"octo-org/{name}", files)
        for name, files in {
            "complete": {"a.md": b"A\n", "b.md": b"B\n"},
            "blank": {"a.md": b"\n", "b.md": b"B\n"},
            "differs": {"a.md": b"theirs\n", "b.md": b"B\n"},
            "lacks": {"a.md": b"A\n"},
            "refuses": {"README.md": b"x\n"},
            "refuses-too": {"a.md": b"A\n"},
        }.items()
    ]
    scene.host.create_repository("octo-org/old", {"a.md": b"A\n"}, archived=True)
    for repository in made[-2:]:
        repository.person.protect("chore/*", "ruleset")
    return made


LISTED = ({"path": "a.md", "content": "A\n"}, {"path": "b.md", "content": "B\n"})
OF_MANY = {"target_repos": "octo-org/*, octo-org/gone-1, octo-org/gone-2"}


@world
def many_repositories_get_pull_requests(scene: Scene) -> None:
    an_organisation(scene)
    scene.run("register", *LISTED, given=OF_MANY, show=(*LOG_AND_SUMMARY, "table"))


@world
def many_repositories_are_planned_and_checked(scene: Scene) -> None:
    an_organisation(scene)
    scene.run("plan", *LISTED, given=OF_MANY, mode="plan", show=("summary",))
    scene.run(
        "check, on a runner",
        *LISTED,
        target_repos="octo-org/*",
        mode="check",
        fail_on="missing, blank",
        runner=True,
        show=("log",),
    )


@world
def many_repositories_later(scene: Scene) -> None:
    *_, refuses, refuses_too = an_organisation(scene)
    refuses.person.unprotect()
    refuses_too.person.archive()
    scene.run("register", *LISTED, target_repos="octo-org/*", show=())
    refuses.person.close(1)
    scene.run(
        "plan",
        *LISTED,
        "c.md",
        target_repos="octo-org/*",
        mode="plan",
        max_pull_requests="1",
        show=("summary",),
    )
    scene.run(
        "register", *LISTED, "c.md", target_repos="octo-org/*", max_pull_requests="1", show=("log",)
    )
    scene.run("withdraw", *LISTED, target_repos="octo-org/*", mode="withdraw", show=("log",))


@world
def the_page_of_many_repositories(scene: Scene) -> None:
    an_organisation(scene)
    scene.run("register", *LISTED, given=OF_MANY, show=("page",))


# --- The tests ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORLDS)
def test_the_texts_are_those_of_the_golden_file(
    name: str, snapshot: SnapshotAssertion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenes = list[Scene]()
    for language in LANGUAGES:
        with StandInHost() as host:
            scenes.append(Scene(host, tmp_path / language, language))
            monkeypatch.chdir(scenes[-1].action.workspace)
            WORLDS[name](scenes[-1])
    text = side_by_side(*scenes)
    assert not ONE_OF_SEVERAL.search(text)
    assert text.count("\n") <= MOST_LINES
    assert text == snapshot(name=name, extension_class=Golden)


def test_each_golden_file_has_a_world() -> None:
    assert sorted(file.stem for file in FOLDER.iterdir()) == sorted(WORLDS)
