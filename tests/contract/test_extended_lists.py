"""Lists that are objects: a built-in list extended, content from files, templates."""

from __future__ import annotations

import pytest

from tests.contract.test_users_words import HEALTH, SCAFFOLD
from tests.fakehub import Repository, StandInHost
from tests.harness import (
    LIST_BRANCH,
    TARGET,
    Action,
    Start,
)

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


@pytest.mark.parametrize(("name", "suffix"), [("scaffold", "yml"), ("health", "json")])
def test_a_list_that_only_extends_is_the_built_in_one(
    name: str, suffix: str, single: Start, action: Action, host: StandInHost
) -> None:
    built_in = SCAFFOLD if name == "scaffold" else HEALTH
    repository = host.create_repository(TARGET, {"a": b"b"})
    # Editors put the address of the schema there
    schema = "../scripts/config/definitions.schema.json"
    listed = action.document({"$schema": schema, "extends": name}, suffix)
    run = single(definitions=listed)
    assert (run.exit_code, run.stderr) == (0, "")
    # The names are not those of the built-in list
    assert repository.pull_requests[0].title == "chore: add missing files"
    expected = {path: text.encode() for path, text in built_in.items()}
    assert repository.files(LIST_BRANCH) == {"a": b"b"} | expected
    assert [*run.outcomes] == [*built_in]


def test_exclude_leaves_out_and_files_replace_and_add(
    single: Start, action: Action, host: StandInHost
) -> None:
    repository = host.create_repository(TARGET, {"a": b"b"})
    listed = action.document(
        {
            "extends": "health",
            "exclude": ["**/GOVERNANCE.md", ".github/ISSUE_TEMPLATE/**", ".github/S*.md"],
            "files": [
                {"path": "docs/guide.md", "content": "# Guide\n"},
                {"path": ".github/CONTRIBUTING.md", "content": "Please do.\n"},
                {"path": ".github/SUPPORT.md"},
            ],
        },
    )
    run = single(definitions=listed)
    assert (run.exit_code, run.stderr) == (0, "")
    # A replaced entry keeps its place, the others follow
    expected = {
        ".github/CODE_OF_CONDUCT.md": b"\n",
        ".github/CONTRIBUTING.md": b"Please do.\n",
        ".github/PULL_REQUEST_TEMPLATE.md": b"\n",
        "docs/guide.md": b"# Guide\n",
        ".github/SUPPORT.md": b"\n",
    }
    assert repository.files(LIST_BRANCH) == {"a": b"b"} | expected
    assert [*run.outcomes] == [*expected]


def test_anchors_have_a_place(single: Start, action: Action, repository: Repository) -> None:
    text = """
x-owned: &owned {description: Ours, template: true}
.text: &text "Of {owner}\\n"
files:
  - <<: *owned
    path: a.md
    content: *text
"""
    run = single(definitions=action.write("list.yml", text)).or_fail()
    assert run.stderr == ""
    assert repository.files(LIST_BRANCH)["a.md"] == b"Of octo\n"


def test_content_file_is_written_byte_for_byte(
    start: Start, action: Action, repository: Repository
) -> None:
    contents = {
        "a.png": PNG,
        "crlf": b"a\r\nb\r\n",
        "cr": b"a\rb",
        "large": b"0123456789" * 30_000,
        "empty": b"",
        "null": b"\0\xff",
        "latin": b"caf\xe9",
        "bom": b"\xef\xbb\xbfx",
    }
    for name, data in contents.items():
        action.write(f"config/assets/{name}", data)
    action.write("shared/above", b"above")
    entries = [{"path": name, "content_file": f"assets/{name}"} for name in contents]
    entries += [{"path": "above", "content_file": "../shared/above"}]
    listed = action.document(entries)
    plan = start(definitions=listed, mode="plan").or_fail()
    assert set(plan.outcomes.values()) == {"to create"}
    assert start(definitions=listed, mode="check").outcomes == plan.outcomes
    run = start(definitions=listed)
    assert (run.exit_code, run.stderr) == (0, "")
    files = repository.files(LIST_BRANCH)
    assert {name: files[name] for name in contents} == contents
    assert files["above"] == b"above"
    # Running again finds every one of them
    again = start(definitions=listed).or_fail()
    assert again.outputs["created"] == "0"


FOLDER = {
    "ISSUE_TEMPLATE/bug.yml": b"name: {repo}\n",
    "ISSUE_TEMPLATE/config.yml": b"",
    "README": b"\r\n",
    "\u65e5\u672c\u8a9e.md": b"\xff\0",
}


@pytest.mark.parametrize("above", [".github/", "docs/a b/", "/"])
def test_a_folder_is_one_entry(
    above: str, single: Start, action: Action, host: StandInHost
) -> None:
    repository = host.create_repository(TARGET, {"docs/x": b"x"})
    for name, data in FOLDER.items():
        action.write(f"templates/{name}", data)
    entries = [
        {"path": "first", "content": "1"},
        {"path": above, "content_file": "../templates/", "description": "ours", "template": False},
        {"path": "last"},
    ]
    listed = action.document(entries, "yml")
    run = single(definitions=listed)
    assert (run.exit_code, run.stderr) == (0, "")
    expected = {f"{above.lstrip('/')}{name}": data for name, data in FOLDER.items()}
    files = repository.files(LIST_BRANCH)
    assert files == {"docs/x": b"x", "first": b"1", "last": b"\n"} | expected
    assert [*run.outcomes] == ["first", *expected, "last"]
    assert (repository.pull_requests[0].body or "").count("| ours |") == len(FOLDER)
    again = single(definitions=listed)
    assert (again.exit_code, again.outputs["created"]) == (0, "0")


@pytest.mark.parametrize("files", [1, 1_001], ids=["it is fine", "it has too many files"])
def test_a_folder_that_is_listed_very_often_is_not_read_to_the_end(
    action: Action, files: int
) -> None:
    """Empty directories count, too, and are quick."""
    for number in range(files):
        action.write(f"config/t/{number}", "")
    for number in range(files, 1_000):
        (action.workspace / f"config/t/{number}").mkdir()
    folder = {"content_file": "t/", "template": True}
    entries = [folder | {"path": f"{number}/"} for number in range(25)]
    last = {"path": "x/", "content_file": "absent/"}
    rule = {"when": {"language": "go"}, "files": [last]}
    listed = {"files": [*entries, last], "rules": [rule]}
    run = action(definitions=action.document(listed), language="en")
    assert run.exit_code == 2
    assert "hold more than 20000 names" in run.stderr
    assert "there is no such folder" not in run.stderr


@pytest.mark.parametrize("from_file", [True, False])
def test_templates_are_filled_in(
    single: Start, from_file: bool, action: Action, host: StandInHost
) -> None:
    repository = host.create_repository(TARGET, {"a": b"b"}, default_branch="trunk")
    text = "# {repo}\n{{owner}} is {owner}, {default_branch}; {{}} \u00e9\n${{A}} ${{{{ b.C }}}}\n"
    for name in ("text", "t/a/b"):
        action.write(f"config/{name}", text)
    entry = {"content_file": "text"} if from_file else {"content": text}
    entries = [{"path": "t", "template": True, **entry}, {"path": "u", "template": False, **entry}]
    entries += [{"path": "x/", "template": True, "content_file": "t/"}]
    listed = action.document(entries)
    owner, _, repo = TARGET.partition("/")
    filled = f"# {repo}\n{{owner}} is {owner}, trunk; {{}} \u00e9\n${{A}} ${{{{ b.C }}}}\n"
    expected = filled.encode()
    plan = single(definitions=listed, mode="plan")
    assert f"+{{owner}} is {owner}, trunk;" in plan.stdout
    run = single(definitions=listed)
    assert (run.exit_code, run.stderr) == (0, "")
    files = repository.files(LIST_BRANCH)
    assert (files["t"], files["x/a/b"]) == (expected, expected)
    assert files["u"] == text.encode()


def test_a_template_gets_the_new_name_of_a_renamed_repository(
    single: Start, action: Action, repository: Repository
) -> None:
    listed = action.document([{"path": "t", "template": True, "content": "{owner}/{repo}"}])
    repository.person.rename("octo/other")
    assert single(definitions=listed).exit_code == 0
    assert repository.files(LIST_BRANCH)["t"] == b"octo/other"


def test_an_interrupted_run_with_templates_is_continued(
    single: Start, action: Action, repository: Repository
) -> None:
    """The files of the first run have the content of the filled-in template, so they are ours."""
    names = "abc"
    entries = [{"path": n, "template": True, "content": f"{n} {{repo}}"} for n in names]
    listed = action.document(entries)
    _, _, repo = TARGET.partition("/")
    repository.person.create_branch(LIST_BRANCH)
    repository.person.commit({"a": f"a {repo}".encode()}, branch=LIST_BRANCH)
    run = single(definitions=listed).or_fail()
    assert run.outputs["branch"] == LIST_BRANCH
    assert repository.files(LIST_BRANCH)["c"] == f"c {repo}".encode()
