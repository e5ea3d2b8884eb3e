"""The description of a pull request: reviewers can use it, and another run does not change it."""

from __future__ import annotations

import json
import re
import subprocess
import time
from itertools import cycle

import pytest

from tests.example import WAYS
from tests.fakehub import Repository, StandInHost
from tests.gfm import only_ours
from tests.harness import (
    LIST_BRANCH,
    PER_FILE,
    SINGLE,
    TARGET,
    Action,
    Start,
)

BEGIN, END = "<!-- registrar:begin -->", "<!-- registrar:end -->"
LIMIT = 65_536
NO_TOKEN = f"ghp_{'a1' * 18} looks like a token and is none of ours"
LIST = (
    {"path": "README.md", "description": "Read me"},
    {"path": "a", "description": "First | one"},
    {"path": "b"},
)


def body(repository: Repository) -> str:
    """The body of the only pull request."""
    [pull] = repository.pull_requests
    return pull.body or ""


def rows(text: str) -> dict[str, list[str]]:
    """The cells of every path of the table, after the path."""
    found = re.findall(r"(?m)^\| (?:`|<code>)(.*?)(?:`|</code>) \| (.*) \|$", text)
    return {path: rest.split(" | ") for path, rest in found}


@pytest.mark.parametrize(
    "around",
    [
        "Before.\n\n{}\n\nAfter.",
        # A mark that somebody has left, or quotes, has no partner: nothing of it is ours
        f"{BEGIN}\nmine\n{{}}",
        f"{{}}\n{BEGIN}\nmine",
        f"{END}\nmine\n{{}}\n{END}\nmine\n{BEGIN}",
        f"> {BEGIN}\n> mine\n> {END}\n\n{{}}",
        f"{{}}\n\n> {BEGIN}\n> mine\n> {END}",
        "  mine \n\n\n{}\n \t",
        f"{NO_TOKEN}\n\n{{}}",
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_not_one_character_of_anybody_elses_changes(
    action: Action, repository: Repository, around: str, line_end: str
) -> None:
    more = {"commit_strategy": SINGLE, "language": "en"}
    action(more, definitions=action.listing("a"))
    [pull] = repository.pull_requests
    for paths in (["a", "b"], ["a", "b", "c"]):
        ours = re.findall(
            rf"{BEGIN}\n.* opened this [\s\S]*?{END}", (pull.body or "").replace("\r\n", "\n")
        )
        repository.person.edit(pull.number, body=around.format(ours[0]).replace("\n", line_end))
        assert action(more, definitions=action.listing(*paths)).exit_code == 0
        before, after = around.replace("\n", line_end).split("{}")
        assert body(repository).startswith(f"{before}{BEGIN}\n"), pull.body
        assert body(repository).endswith(f"\n{END}{after}"), pull.body
        assert list(rows(body(repository))) == paths


def test_without_marks_our_part_comes_after_what_is_there(
    action: Action, repository: Repository
) -> None:
    more = {"commit_strategy": SINGLE, "language": "en"}
    action(more, definitions=action.listing("a"))
    words = f"My own words.\r\n{END}\r\n"
    repository.person.edit(1, body=words)
    action(more, definitions=action.listing("a", "b"))
    assert body(repository).startswith(f"{words}\n\n{BEGIN}\nThis repository lacks files of ")
    assert "\nAdds 2 of 2 listed files.\n" in body(repository)


# --- What is no longer listed -------------------------------------------------------------


def test_a_file_that_is_no_longer_listed_is_shown_while_the_branch_adds_it(
    single: Start, action: Action, repository: Repository
) -> None:
    single(definitions=action.listing("a", "docs/old", "gone"))
    repository.person.commit({"gone": None, "somebody's": b"x"}, branch=LIST_BRANCH)
    added, operations = {"a", "docs/old"}, list[str]()
    for paths in (["a"], ["a"], ["a", "new"], ["new"], ["a", "docs/old", "new"]):
        run = single(definitions=action.listing(*paths)).or_fail()
        operations.append(run.outputs["pull_request_operation"])
        added |= {*paths}
        states = {path: cells[0] for path, cells in rows(body(repository)).items()}
        no_more = dict.fromkeys(added - {*paths}, "added (no longer listed)")
        assert states == dict.fromkeys(paths, "added") | no_more
        left = len(added) - len(paths)
        said = f" Added by earlier runs, and no longer listed: {left}." if left else ""
        assert f"\nAdds {len(paths)} of {len(paths)} listed files.{said}\n" in body(repository)
    # Also if only the description has changed
    assert operations == ["updated", "none", "updated", "updated", "updated"]


# --- What is to be filled in --------------------------------------------------------------


@pytest.mark.parametrize("caller", ["", TARGET, "octo/caller"])
@pytest.mark.parametrize("name", ["", "service"])
def test_it_introduces_itself_in_one_line(
    single: Start, action: Action, repository: Repository, name: str, caller: str
) -> None:
    named = f"name: {name}\n" if name else ""
    listed = ".github/registrar.yml"
    repository.person.commit({listed: f"{named}files: [a]\n".encode()})
    check_out(action, repository)
    env = {"GITHUB_REPOSITORY": caller} if caller else {}
    used = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_ACTION_REPOSITORY": "me/registrar"}
    single(
        {"definitions": f"./{listed}"},
        profile=None,
        env={**env, **used} if caller else {},
    ).or_fail()
    line = body(repository).splitlines()[1]
    by = "[registrar](https://github.com/me/registrar)" if caller else "`registrar`"
    path = "`.github/registrar.yml`"
    at, of = (path if caller == TARGET else ""), (f"`{name}`" if name else "")
    listed = {
        (True, True): f"the list {of} (in {at})",
        (True, False): f"the list in {at}",
        (False, True): f"the list {of}",
        (False, False): "a list that is kept elsewhere",
    }[bool(at), bool(of)]
    assert line.startswith(f"This repository lacks files of {listed}, so {by} opened this pull")
    assert "delete the others from this branch" in line


def test_empty_files_are_a_checklist(single: Start, action: Action, repository: Repository) -> None:
    full = {"path": "full", "content": "x\n"}
    blank = (".gitignore", "d/.gitkeep", "d/.keep", "p/__init__.py", "p/py.typed")
    single(definitions=action.listing("README.md", "a", full, *blank, ".mcp.json", "`x|"))
    page = only_ours(body(repository))
    assert [item.partition(":")[0].strip() for item in page.items] == ["a", ".mcp.json", "`x|"]
    assert "- [ ] `a`\n" in page.markdown


def test_ticks_survive_an_update(single: Start, action: Action, repository: Repository) -> None:
    definitions = action.listing("a", "b", "`|", ".mcp.json")
    single(definitions=definitions)
    [pull] = repository.pull_requests
    ticked = re.sub(r"(?m)^- \[ \] (.*(?:b|124).*)$", r"- [x] \1", pull.body or "")
    # A capital letter is a tick, too (https://github.github.com/gfm/#task-list-item-marker)
    repository.person.edit(
        pull.number, body=ticked.replace("[x] `b`", "[X] `b`").replace("\n", "\r\n")
    )
    assert "- [X] `b`" in body(repository)
    assert single(definitions=action.listing("a", "b", "`|", ".mcp.json", "c")).exit_code == 0
    boxes = re.findall(r"(?m)^- \[([ x])\] (?:`|<code>)(.*?)(?:`|</code>)", pull.body or "")
    assert {path: box for box, path in boxes} == {
        "a": " ", "b": "x", "&#96;&#124;": "x", ".mcp.json": " ", "c": " "
    }  # fmt: skip


@pytest.mark.parametrize(("count", "folded"), [(10, 0), (11, 1)])
def test_a_table_of_more_than_ten_rows_is_folded(
    action: Action, repository: Repository, count: int, folded: int
) -> None:
    definitions = action.listing(*(f"f{number}" for number in range(count)))
    action(definitions=definitions, commit_strategy=SINGLE, language="en")
    assert body(repository).count("<details>") == folded
    assert len(only_ours(body(repository)).paths) == count


# --- What an empty file means -------------------------------------------------------------


def effects(text: str) -> dict[str, str]:
    """The remarks on items of the checklist, for items that have one."""
    found = re.findall(r"(?m)^- \[[ x]\] `(.*?)`: (.*)$", text)
    return dict(found)


def test_only_an_empty_file_has_an_effect(
    single: Start, action: Action, repository: Repository
) -> None:
    listed = {
        ".github/CODE_OF_CONDUCT.md": None,
        ".github/CONTRIBUTING.md": "",
        ".github/SECURITY.md": "\n",
        ".github/SUPPORT.md": "\r\n",
        ".mcp.json": "{}",
        ".github/GOVERNANCE.md": "# Help\n",
        ".github/PULL_REQUEST_TEMPLATE.md": '{"a": 1}',
    }
    single(definitions=action.listing_of(listed)).or_fail()
    assert [*effects(body(repository))] == [*listed][:5]


def test_only_a_file_that_the_branch_adds_hides_another_one(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    existing = dict.fromkeys(("SECURITY.md", "SUPPORT.md"), b"x\n")
    host.create_repository("octo/.github", {"CODE_OF_CONDUCT.md": b"x\n", "GOVERNANCE.md": b"x\n"})
    repository.person.commit(existing)
    left_out = (".github/SECURITY.md", "GOVERNANCE.md")
    added = (".github/SUPPORT.md", "CODE_OF_CONDUCT.md")
    many = {"target_repos": TARGET, "language": "en"}
    action({"definitions": action.listing(*left_out, *added), **many}).or_fail()
    repository.person.commit(dict.fromkeys(left_out), branch=LIST_BRANCH)
    action({"definitions": action.listing(*left_out, *added, "new.md"), **many}).or_fail()
    quoted = [each for each in body(repository).splitlines() if each.startswith(">")]
    for path in (*left_out, *added):
        assert sum(f"`{path}`" in each for each in quoted) == (path in added), quoted


def test_it_says_how_to_change_the_set(action: Action, repository: Repository) -> None:
    env = {"GITHUB_REPOSITORY": TARGET}
    action(profile="health", language="en", commit_strategy=SINGLE, env=env)
    assert "To change the list, give the action a definition file of your own" in body(repository)


def check_out(action: Action, repository: Repository, folder: str = ".") -> None:
    """Check a repository out into the workspace, or below it, as a step of a workflow does."""
    into = action.workspace / folder
    into.mkdir(exist_ok=True)
    for command in (
        "init -q",
        f"fetch -q {repository.path} main",
        "checkout -q -B main FETCH_HEAD",
    ):
        subprocess.run(["git", *command.split()], cwd=into, check=True)


ITS_LIST = "config/a list.json"
HERE = "To change the list, edit [config/a list.json]({}/blob/main/config/a%20list.json)."
ELSEWHERE = (
    "To change the list, edit the definition file that the workflow names (input `definitions`)."
)
ASK = (
    "To change the list, ask the people in `octo` who maintain the workflow that opened this pull "
    "request."
)
SHELL = "The list belongs to those who run registrar with the account that opened"


SCENES = {
    "checkout": HERE,
    "second checkout of the target": HERE,
    "workflow of another repository": ASK,
    # The kind that this is about: the list is not where its path leads in the target
    "checkout of another repository": ELSEWHERE,
    "second checkout of another repository": ELSEWHERE,
    "made by a step": ELSEWHERE,
    "no checkout": ELSEWHERE,
    # What may be known and may not: the default branch has moved since
    "checkout of before": ELSEWHERE,
    "checkout of before, in a directory that is listed": HERE,
    "checkout of another repository, and another file is listed there": ELSEWHERE,
    "no checkout, in a directory that is listed": HERE,
    "no checkout, in a directory that is listed, with another file there": HERE,
    "no checkout, and it has itself": HERE,
    "no checkout, and its directory is read": HERE,
    # The repository has another list at this path
    "no checkout, from a shell, with another file there": SHELL,
    "second checkout of another repository, from a shell, with another file there": SHELL,
}
"""The words of the description for each place of the list."""


@pytest.mark.parametrize(
    ("scene", "strategy"),
    [
        *((scene, SINGLE) for scene in SCENES),
        # It asks for each path alone, so it differs only where the reading tells something
        *((scene, PER_FILE) for scene in SCENES if re.search("listed|read|itself", scene)),
    ],
)
def test_it_links_the_list_where_the_target_is_known_to_have_it(
    action: Action,
    host: StandInHost,
    repository: Repository,
    scene: str,
    strategy: str,
) -> None:
    entry: dict[str, object] = {"path": "config/x" if "listed" in scene else "a"}
    if "is read" in scene:
        entry["alternatives"] = ["config/x"]
    itself = [{"path": ITS_LIST}] if "itself" in scene else []
    content = json.dumps([entry, *itself]).encode()
    of_list = host.create_repository("octo/standards") if "of another" in scene else repository
    if scene not in {"made by a step", "no checkout"}:
        of_list.person.commit({ITS_LIST: content})
    if "another file" in scene:
        repository.person.commit({ITS_LIST: b"[]"})
    caller = "octo/other" if scene.startswith("workflow of") else TARGET
    env = {"GITHUB_REPOSITORY": caller, "GITHUB_WORKSPACE": str(action.workspace)}
    env = {} if "from a shell" in scene else env
    name = ITS_LIST
    if not scene.startswith("no checkout"):
        folder = "lists" if "second" in scene else "."
        check_out(action, of_list, folder)
        name = f"{folder}/{ITS_LIST}" if folder != "." else ITS_LIST
    if scene == "made by a step" or scene.startswith("no checkout"):
        action.write(ITS_LIST, content.decode())
    if "before" in scene:
        repository.person.commit({"later.md": b""})
    action(definitions=name, language="en", commit_strategy=strategy, env=env).or_fail()
    told = body(repository)
    expected = ELSEWHERE if "listed" in scene and strategy == PER_FILE else SCENES[scene]
    assert expected.format(repository.html_url) in told
    assert ("To change the list" in told) is (expected is not SHELL)
    assert ("of the list that its workflow names, so" in told) is (expected is ELSEWHERE)
    assert ("of the list in `config/a list.json`, so" in told) is (expected is HERE)
    assert (ITS_LIST in told) is (expected is HERE)
    assert str(action.workspace) not in told


@pytest.mark.parametrize(
    ("caller", "told"),
    [
        ("octo-org/R", HERE.replace("main", "main%231")),
        ("OCTO-org/other", ASK.replace("octo", "Octo-Org")),
    ],
)
def test_names_in_another_letter_case_are_the_same_and_the_link_has_any_branch(
    action: Action, host: StandInHost, caller: str, told: str
) -> None:
    listed = '["config/x"]'
    given = {ITS_LIST: listed.encode()}
    target = host.create_repository("Octo-Org/r", given, default_branch="main#1")
    env = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": caller}
    env["GITHUB_WORKSPACE"] = str(action.workspace)
    inputs = {"target_repo": "Octo-Org/r", "language": "en", "commit_strategy": SINGLE}
    action(inputs, definitions=action.write(ITS_LIST, listed), env=env).or_fail()
    assert told.format(target.html_url) in body(target)


def test_over_many_only_the_repository_of_the_workflow_has_the_link(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    repository.person.commit({ITS_LIST: b'["a"]'})
    check_out(action, repository)
    # A copy of it has the same commit, and the list that counts is another file all the same
    copy = host.create_repository("octo/copy")
    push = ["git", "push", "-q", "--force", str(copy.path), "main"]
    subprocess.run(push, cwd=action.workspace, check=True)
    env = {"GITHUB_REPOSITORY": TARGET, "GITHUB_WORKSPACE": str(action.workspace)}
    given = {"definitions": ITS_LIST, "language": "en"}
    action(given, target_repos="octo/*", env=env).or_fail()
    assert HERE.format(repository.html_url) in body(repository)
    assert ASK in body(copy)


READERS = (
    ("octo/other", "private", ASK),
    ("octo/other", "public", "who maintain the workflow in `octo/other` that opened"),
    ("their/standards", "public", "who maintain the workflow in `their/standards`"),
    ("their/standards", "private", ""),
    ("their/standards", "", ""),
)
"""The workflow's repository, its visibility, and what the description says."""


@pytest.mark.parametrize(
    ("way", "is_built_in", "workflow", "visibility", "told"),
    [(*how, *row) for *how, row in zip(cycle(WAYS), cycle((False, True)), READERS, strict=False)],
)
def test_readers_are_told_whom_to_ask_as_far_as_they_may_know(
    action: Action,
    repository: Repository,
    way: str,
    is_built_in: bool,
    workflow: str,
    visibility: str,
    told: str,
) -> None:
    """Neither the way nor the kind of list matters, so each row has another one."""
    event = {"repository": {"visibility": visibility}} if visibility else {}
    env = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_REPOSITORY": workflow,
        "GITHUB_WORKSPACE": str(action.workspace),
        "GITHUB_EVENT_PATH": str(action.workspace / action.write("event.json", json.dumps(event))),
    }
    of_list = {"profile": "health"} if is_built_in else {"definitions": action.listing("a")}
    given = {"language": "en"} | of_list
    where = {"commit_strategy": way}
    if way == "many":
        where = {"target_repos": TARGET}
    assert action(given | where, env=env).exit_code == 0
    assert ("To change the list" in body(repository)) == bool(told)
    assert told in body(repository)
    assert ("their" in body(repository)) == ("their" in told)


# --- The host's limit ---------------------------------------------------------------------


@pytest.mark.parametrize("letter", ["x", "語", "😀"])
def test_a_reviewers_long_text_leaves_the_table_what_is_left(
    action: Action, repository: Repository, letter: str
) -> None:
    more = {"language": "en", "commit_strategy": SINGLE}
    paths = [f"{'d' * 50}/{number}" for number in range(60)]
    action(more, definitions=action.listing(*paths))
    [pull] = repository.pull_requests
    units = len(letter.encode("utf-16-le")) // 2
    words = letter * ((LIMIT - 3000) // units)
    repository.person.edit(pull.number, body=f"{words}\n\n{pull.body}\n\n{words[:10]}")
    action(more, definitions=action.listing(*paths, "new")).or_fail()
    assert body(repository).startswith(f"{words}\n\n{BEGIN}\n")
    assert body(repository).endswith(f"\n{END}\n\n{words[:10]}")
    assert LIMIT - 300 < len(body(repository).encode("utf-16-le")) // 2 <= LIMIT
    shown = len(rows(body(repository)))
    assert 5 < shown < 61
    assert f"… and {61 - shown} more" in body(repository)


def test_the_longest_text_of_the_callers_own_leaves_room_for_ours(
    single: Start, action: Action, repository: Repository
) -> None:
    text = "😀" * 30_000
    single(definitions=action.listing("a"), body=text).or_fail()
    assert body(repository).startswith(f"{text}\n\n{BEGIN}\n")
    assert list(rows(body(repository))) == ["a"]


@pytest.mark.parametrize("more", [0, 1])
def test_a_description_may_be_as_long_as_github_takes(
    single: Start, action: Action, repository: Repository, more: int
) -> None:
    given = {"definitions": action.listing("a")}
    single(given).or_fail()
    [pull] = repository.pull_requests
    opened, theirs = body(repository), LIMIT - 500
    # Without its hidden comments, so that it is written anew
    cleared = opened.replace("<!-- registrar:wrote", "<!-- other:")
    # Twice, because the table gets shorter where its row does not fit any more
    for last in (0, more):
        repository.person.edit(pull.number, body=f"{'x' * theirs}\n\n{cleared}")
        single(given, language="ja").or_fail()
        theirs += LIMIT - len(body(repository)) + last
    full = f"{'x' * theirs}\n\n{cleared}"
    repository.person.edit(1, body=full)
    single(given, language="ja").or_fail()
    assert (len(body(repository)) == LIMIT) == (body(repository) != full) == (not more)


@pytest.mark.parametrize(
    "part",
    [f"{BEGIN}\n", f"> {BEGIN}\n> <!-- registrar:many -->\n", "<!-- registrar:a", "</code> | "],
    ids=["begins", "quoted", "comments", "code"],
)
def test_a_hostile_description_takes_no_longer_than_another(
    action: Action, repository: Repository, part: str
) -> None:
    """It is longer than GitHub takes, so that seconds tell."""
    action(definitions=action.listing("a"))
    [pull] = repository.pull_requests
    hostile = f"{BEGIN}\n| <code>{part * (300_000 // len(part))}\n"
    repository.person.edit(pull.number, body=(pull.body or "").replace(BEGIN, hostile))
    before = time.process_time()
    action(definitions=action.listing("a", "b")).or_fail()
    assert time.process_time() - before < 4


@pytest.mark.parametrize(
    ("path", "content", "is_told"),
    [
        (".gitattributes", "*.bat text eol=crlf\n", True),
        ("web/.gitattributes", "# pictures\n*.png filter=lfs diff=lfs\n", True),
        (".gitattributes", "* text=auto\n", True),
        (".gitattributes", "# text eol\n*.png diff\n", False),
        ("gitattributes.md", "a text\n", False),
    ],
)
def test_it_says_what_to_run_after_a_merge_that_changes_how_git_stores_files(
    single: Start, action: Action, repository: Repository, path: str, content: str, is_told: bool
) -> None:
    """git-lfs/git-lfs#1848, spring-projects/spring-security#10039"""
    listed = action.document([{"path": path, "content": content}], "yml")
    single(definitions=listed).or_fail()
    [pull] = repository.pull_requests
    assert ("git add --renormalize ." in (pull.body or "")) is is_told
