"""`ref`: a run reads a commit instead of the default branch, and reports removed files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pygit2
import pytest

from tests.fakehub import Person, Repository, StandInHost, Symlink
from tests.harness import TARGET, Action, Run, Start, calls, only_reads, refuse

LIST = ".github/registrar.yml"
LISTED = """
files:
  - path: SECURITY.md
    content: "Please write to us.\\n"
  - path: docs/guide.md
  - path: absent.md
rules:
  - when: {exists: package.json}
    files:
      - path: .npmrc
        content: "save-exact=true\\n"
"""
REMOVES = "This change removes"
REPLACES = "This change puts a directory, a link or a submodule in the place of"
THERE: Mapping[str, bytes] = {
    "SECURITY.md": b"Write to us.\n",
    "docs/guide.md": b"# Guide\n",
    "package.json": b"{}\n",
    ".npmrc": b"save-exact=true\n",
}


@pytest.fixture
def repository(host: StandInHost) -> Repository:
    return host.create_repository(TARGET, files=THERE)


@pytest.fixture
def check(action: Action) -> Start:
    """Checks what a commit takes away, as a workflow of a pull request does."""
    action.write(LIST, LISTED)
    given = {
        "profile": None,
        "definitions": LIST,
        "mode": "check",
        "fail_on": "removed",
        "language": "en",
    }
    return partial(action, **given, runner=True, env=pull_request())


def pull_request(base: str = "main") -> dict[str, str]:
    """The event of a pull request to a branch, as the runner describes it."""
    return {"GITHUB_REPOSITORY": TARGET, "GITHUB_BASE_REF": base}


def proposed(repository: Repository, changes: Mapping[str, Any], base: str = "main") -> str:
    """Id of the merge of a pull request that makes these changes."""
    repository.person.create_branch("change", base)
    return repository.test_merge(base, repository.person.commit(changes, branch="change"))


def errors(run: Run) -> list[tuple[str | None, str]]:
    """The file of each annotation, and what it says, without the page that explains it."""
    return [
        (each.properties.get("file"), each.data.partition(" → ")[0]) for each in run.annotations()
    ]


# --- What a change takes away -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "path", "done"),
    [
        ({"SECURITY.md": None}, "SECURITY.md", REMOVES),
        ({"docs/guide.md": None, "docs/manual.md": b"# Guide\n"}, "docs/guide.md", REMOVES),
        ({".npmrc": None}, ".npmrc", REMOVES),
        ({"SECURITY.md": Symlink("docs/guide.md")}, "SECURITY.md", REPLACES),
        ({"SECURITY.md": None, "SECURITY.md/a": b"x"}, "SECURITY.md", REPLACES),
        ({"docs/guide.md": None, "docs": b"x"}, "docs/guide.md", REMOVES),
    ],
)
def test_what_a_pull_request_takes_away_fails_at_its_file(
    check: Start,
    host: StandInHost,
    repository: Repository,
    changes: Mapping[str, Any],
    path: str,
    done: str,
) -> None:
    rule = " (rule 1)" if path == ".npmrc" else ""
    message = f"{done} {path}, which {LIST} lists{rule}."
    sha = proposed(repository, changes)
    run = check(ref=sha)
    assert run.exit_code == 1, run.text
    assert errors(run) == [(path, message)]
    assert run.outputs["removed"] == "1"
    assert run.summary.splitlines()[2].startswith(
        f"This change removes or replaces 1 of 4 listed files: `{path}`."
    )
    asked = [f"{each.method} {each.path}" for each in host.requests]
    assert asked == [f"GET /repos/{TARGET}/compare/main...{sha}", "POST /graphql"]


@pytest.mark.parametrize(
    ("earlier", "changes"),
    [
        ({}, {"absent.md": b"x\n"}),
        ({}, {"README.md": b"x\n"}),
        ({}, {"SECURITY.md": b"More\n"}),
        ({}, {"package.json": None, ".npmrc": None}),
        ({"absent.md/a": b"x\n"}, {"absent.md/a": b"More\n"}),
    ],
    ids=[
        "adds a file",
        "something else",
        "changes a file",
        "the rule applies no more",
        "a directory before and after",
    ],
)
def test_what_takes_nothing_away_passes(
    check: Start,
    repository: Repository,
    earlier: Mapping[str, Any],
    changes: Mapping[str, Any],
) -> None:
    repository.person.commit(earlier)
    run = check(ref=proposed(repository, changes))
    assert (run.exit_code, errors(run), run.annotations("warning")) == (0, [], []), run.text
    first = run.summary.splitlines()[2]
    assert first.startswith("This change removes or replaces none of the listed files (")


@pytest.mark.parametrize(
    ("respect", "exit_code"), [("true", 0), ("false", 1)], ids=["counts", "does not count"]
)
def test_alternatives_count_at_both_commits(
    check: Start, repository: Repository, respect: str, exit_code: int
) -> None:
    there = proposed(repository, {"SECURITY.md": None, ".github/SECURITY.md": b"Write to us.\n"})
    assert check(ref=there, respect_alternatives=respect).exit_code == exit_code
    repository.person.commit({"SECURITY.md": None, ".github/SECURITY.md": b"Write to us.\n"})
    gone = proposed(repository, {".github/SECURITY.md": None})
    run = check(ref=gone, respect_alternatives=respect)
    assert run.exit_code == 1 - exit_code, run.text


def test_what_the_owner_gives_counts_at_both_commits(
    check: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    """The first issue template of a repository hides all that it has inherited."""
    inherited, own = (f".github/ISSUE_TEMPLATE/{name}.md" for name in ("bug", "own"))
    host.create_repository("octo/.github", {inherited: b"x\n"})
    action.write(LIST, f"files: [{inherited}]\n")
    harmless = proposed(repository, {"README.md": b"x\n"})
    assert check(ref=harmless, respect_alternatives="true").exit_code == 0
    harmful = proposed(repository, {own: b"x\n"})
    run = check(ref=harmful, respect_alternatives="true")
    assert [path for path, _ in errors(run)] == [inherited]


# --- The base -----------------------------------------------------------------------------------


def test_the_verdict_stays_while_the_base_moves_on(check: Start, repository: Repository) -> None:
    harmless = proposed(repository, {"README.md": b"x\n"})
    harmful = proposed(repository, {"SECURITY.md": None})
    repository.person.commit({"absent.md": b"x\n", "docs/guide.md": None})
    assert check(ref=harmless).exit_code == 0
    assert errors(check(ref=harmful)) == [
        ("SECURITY.md", f"This change removes SECURITY.md, which {LIST} lists.")
    ]


@pytest.mark.parametrize("event", ["pull_request", "merge_group"])
def test_the_branch_that_it_is_to_be_merged_into_is_the_base(
    check: Start, action: Action, host: StandInHost, repository: Repository, event: str
) -> None:
    repository.person.create_branch("release/1.x")
    repository.person.commit({"docs/guide.md": None}, branch="release/1.x")
    harmless = proposed(repository, {"README.md": b"x\n"}, "release/1.x")
    harmful = proposed(repository, {"SECURITY.md": None}, "release/1.x")
    env = pull_request("release/1.x")
    if event == "merge_group":
        group = {"merge_group": {"base_ref": "refs/heads/release/1.x"}}
        action.write("event.json", json.dumps(group))
        file = str(action.workspace / "event.json")
        env = {**pull_request(""), "GITHUB_EVENT_PATH": file}
    assert check(ref=harmless, env=env).exit_code == 0
    assert [path for path, _ in errors(check(ref=harmful, env=env))] == ["SECURITY.md"]
    _, *bases = "".join(each.path for each in host.requests).split("/compare/")
    assert [each.partition("...")[0] for each in bases] == ["release/1.x"] * 2
    # The input `base` comes before the event; there, the branch of the release has lost a file
    found = errors(check(ref=harmful, env=env, base="main"))
    assert [path for path, _ in found] == ["SECURITY.md", "docs/guide.md"]
    named = {**env, "GITHUB_REPOSITORY": TARGET.title()}
    run = check(ref=harmful, env=named, target_repo=TARGET.upper())
    assert [path for path, _ in errors(run)] == ["SECURITY.md"]


def test_a_repository_that_was_described_before_is_compared_with_that_branch_too(
    check: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    """A rule that asks for a property makes the run read the default branch's name first."""
    rule = {"when": {"property": {"tier": "gold"}}, "files": ["GOLD.md"]}
    action.write(LIST, json.dumps({"files": ["SECURITY.md"], "rules": [rule]}))
    repository.person.create_branch("release/1.x")
    harmful = proposed(repository, {"SECURITY.md": None}, "release/1.x")
    run = check(ref=harmful, env=pull_request("release/1.x"))
    assert [path for path, _ in errors(run)] == ["SECURITY.md"]
    [compared] = [each.path for each in host.requests if "/compare/" in each.path]
    assert compared.endswith(f"/compare/release/1.x...{harmful}")
    host.requests.clear()
    assert check(ref=harmful, env={}).exit_code == 1
    assert calls(host).count("GET") == 1, "its name is known by then"


# --- What is read -------------------------------------------------------------------------------


@pytest.mark.parametrize("fail_on", ["missing", "removed"])
def test_on_an_incomplete_repository_only_what_is_taken_away_fails(
    check: Start, repository: Repository, fail_on: str
) -> None:
    sha = proposed(repository, {"README.md": b"x\n"})
    run = check(ref=sha, fail_on=fail_on)
    expected = [("absent.md", f"absent.md, which {LIST} lists, is missing.")]
    assert errors(run) == (expected if fail_on == "missing" else [])
    assert run.exit_code == (fail_on == "missing")
    assert (run.outputs["missing"], run.outputs["removed"]) == ("1", "0")
    added = proposed(repository, {"absent.md": b"x\n"})
    assert check(ref=added, fail_on=fail_on).exit_code == 0


def test_a_plan_shows_what_is_missing_at_a_reference(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    action.write(LIST, LISTED)
    sha = repository.person.create_branch("older")
    repository.person.point("refs/tags/v1", sha)
    repository.person.point("refs/pull/1/merge", sha)
    tagger = pygit2.Signature("somebody", "somebody@example.com")
    tag = repository.own().create_tag("made", sha, pygit2.enums.ObjectType.COMMIT, tagger, "v1")
    repository.person.point("refs/tags/annotated", str(tag))
    repository.person.commit({"absent.md": b"x\n", "SECURITY.md": None})
    names = ("v1", "annotated", "older", "refs/heads/older", "refs/pull/1/merge", sha.upper())
    for ref in names:
        given = {"definitions": LIST, "mode": "plan", "language": "en"}
        run = action(given, profile=None, ref=ref).or_fail()
        missing = [path for path, done in run.outcomes.items() if done != "skipped"]
        assert missing == ["absent.md"], ref
        reasons = {each["reason"] for each in run.registration["files"] if each["reason"]}
        assert {each.partition(",")[0] for each in reasons} == {f"exists on {ref}"}
        assert "mode: plan" not in run.stdout
    assert only_reads(host)


def test_the_token_of_a_fork_suffices_in_any_event(
    check: Start, host: StandInHost, repository: Repository
) -> None:
    repository.person.change(private=True)
    permissions = {"contents": "read"}
    token = host.create_token(kind="installation", permissions=permissions, repositories=(TARGET,))
    harmful = proposed(repository, {"SECURITY.md": None})
    elsewhere = {"GITHUB_REPOSITORY": "octo/other", "GITHUB_BASE_REF": "release"}
    for env in (pull_request(), {}, elsewhere):
        run = check(ref=harmful, host_token=token, env=env)
        assert [path for path, _ in errors(run)] == ["SECURITY.md"]


# --- Annotations --------------------------------------------------------------------------------


def test_each_kind_of_failure_is_at_its_file(check: Start, repository: Repository) -> None:
    changes = {"SECURITY.md": b"\n", "docs/guide.md": Symlink("../package.json")}
    run = check(
        ref=proposed(repository, changes), fail_on="missing, blank, differs, invalid, removed"
    )
    assert errors(run) == [
        ("SECURITY.md", f"SECURITY.md, which {LIST} lists, has no content."),
        ("docs/guide.md", f"{REPLACES} docs/guide.md, which {LIST} lists."),
        ("absent.md", f"absent.md, which {LIST} lists, is missing."),
    ]


@pytest.mark.parametrize("count", [10, 12])
def test_above_ten_annotations_the_last_one_counts_the_rest(
    check: Start, action: Action, repository: Repository, count: int
) -> None:
    names = [f"{number}.md" for number in range(count)]
    action.write(LIST, "".join(f"- path: {name}\n" for name in names))
    repository.person.commit(dict.fromkeys(names, b"x\n"))
    run = check(ref=proposed(repository, dict.fromkeys(names)))
    found = errors(run)
    if count > 10:
        assert [path for path, _ in found] == [*names[:9], None]
        assert found[-1][1] == "3 more: 9.md, 10.md, 11.md"
    else:
        assert [path for path, _ in found] == names


@pytest.mark.parametrize("given", ["named", "built-in"])
def test_an_annotation_names_the_file_of_the_list_or_the_built_in_list(
    check: Start, action: Action, repository: Repository, given: str
) -> None:
    definitions = action.write(LIST, "name: ours\nfiles: [SECURITY.md]\n")
    named = given == "named"
    more = {"definitions": definitions} if named else {"definitions": None, "profile": "health"}
    run = check(**more, ref=proposed(repository, {"SECURITY.md": None}), fail_on="missing")
    by = LIST if named else "health"
    assert all(f"which {by} lists, is missing" in said for _, said in errors(run)[:7])


# --- What is refused ----------------------------------------------------------------------------


PLAN = {"mode": "plan", "fail_on": None}
MERGED = f"The branch main of {TARGET} already contains {{}}"
UNKNOWN = f"{TARGET} has no commit, branch or tag {{}}."


@pytest.mark.parametrize(
    ("ref", "more", "words"),
    [
        *((ref, {}, MERGED.format(ref)) for ref in ("main", "older")),
        ("older", {}, "`refs/pull/N/merge`"),
        *((ref, way, UNKNOWN.format(ref)) for ref in ("none", "f" * 40) for way in ({}, PLAN)),
        ("change", {"env": pull_request("gone")}, f"{TARGET} has no branch gone"),
        # Nothing can be said to be removed
        ("alone", {}, "alone and the branch main have no commit in common"),
        *(
            (ref, {"target_repo": "a/b"}, "There is no repository a/b")
            for ref in ("main", "f" * 40)
        ),
    ],
)
def test_a_reference_is_refused(
    check: Start, repository: Repository, ref: str, more: dict[str, Any], words: str
) -> None:
    proposed(repository, {"README.md": b"x\n"})
    repository.person.create_branch("older")
    repository.person.commit({"README.md": b"x\n"})
    somebody = Person("somebody", "somebody@example.com")
    alone = repository.build_commit(None, {"a": b"x\n"}, "Alone", somebody, somebody)
    repository.person.point("refs/heads/alone", alone)
    run = check(ref=ref, **more)
    [(_, message)] = errors(run)
    assert (run.exit_code, words in message) == (2, True), message


@pytest.mark.parametrize("call", ["GET commits", "GET compare/"])
@pytest.mark.parametrize(
    ("status", "message"),
    [(422, "No commit found for SHA: v1"), (403, "Repository access blocked")],
)
def test_another_refusal_is_not_taken_for_an_unknown_reference(
    check: Start, host: StandInHost, repository: Repository, call: str, status: int, message: str
) -> None:
    proposed(repository, {"README.md": b"x\n"})
    refuse(host, call, status, message=message)
    run = check(ref="change")
    assert run.exit_code == 2
    of_name = f"{TARGET} has no " in run.text
    assert (of_name, message in run.text) == (status == 422, status != 422), run.text
