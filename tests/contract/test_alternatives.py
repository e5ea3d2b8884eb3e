"""A listed path counts as present if an accepted other file exists, with both strategies."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.contract.test_users_words import HEALTH
from tests.example import MANY, WAYS
from tests.fakehub import Fault, FaultKind, Repository, Request, StandInHost, Submodule, Symlink
from tests.harness import (
    HEALTH_BRANCH,
    LIST_BRANCH,
    PER_FILE,
    SINGLE,
    TARGET,
    Action,
    Start,
    calls,
    queries,
    writes,
)

LIST = """
files:
  - path: .github/SECURITY.md
    alternatives: [SECURITY.md, docs/SECURITY.md]
  - path: other.md
"""


def test_an_alternative_of_the_list_counts_always(
    host: StandInHost, action: Action, single: Start
) -> None:
    repository = host.create_repository(TARGET, {"docs/SECURITY.md": b"x\n"})
    listed = action.write("list.yml", LIST)
    for run in (single(definitions=listed, mode="plan"), single(definitions=listed).or_fail()):
        assert "satisfied by `docs/SECURITY.md`" in run.summary
        assert ".github/SECURITY.md: skipped (satisfied by docs/SECURITY.md)" in run.stdout
        assert run.outputs["skipped"] == "1"
    assert set(repository.files(LIST_BRANCH)) == {"docs/SECURITY.md", "other.md"}
    assert "satisfied by `docs/SECURITY.md`" in (repository.pull_requests[0].body or "")


@pytest.mark.parametrize(
    "docs",
    [b"x\n", Symlink("real"), Symlink("gone"), Submodule("1" * 40)],
    ids=["file", "link", "dangling link", "submodule"],
)
def test_there_is_no_alternative_below_what_is_no_directory(
    host: StandInHost, action: Action, start: Start, docs: bytes | Symlink | Submodule
) -> None:
    repository = host.create_repository(TARGET, {"real/SECURITY.md": b"x\n", "docs": docs})
    run = start(definitions=action.write("list.yml", LIST))
    assert (run.exit_code, run.outputs["created"]) == (0, "2"), run.text
    assert {".github/SECURITY.md", "other.md"} < set(repository.files(LIST_BRANCH))


@pytest.fixture
def organisation(host: StandInHost) -> Repository:
    """A repository with files in other places, and its organisation's defaults."""
    host.create_repository("octo/.github", {"CODE_OF_CONDUCT.md": b"x\n", "README.md": b"x\n"})
    files = {
        "SECURITY.md": b"x\n",
        "docs/CONTRIBUTING.md": b"x\n",
        "readme.md": b"x\n",
        ".github/support.md": b"x\n",
    }
    return host.create_repository(TARGET, files)


def test_what_github_uses_elsewhere_counts_where_asked_for(
    host: StandInHost, organisation: Repository, start: Start, strategy: str
) -> None:
    given = {"profile": "health", "respect_alternatives": "true"}
    left = {".github/GOVERNANCE.md", ".github/PULL_REQUEST_TEMPLATE.md"}
    left.add(".github/ISSUE_TEMPLATE/config.yml")
    plan = start(given, mode="plan").registration["files"]
    assert {file["path"] for file in plan if file["done"] == "to create"} == left
    host.requests.clear()
    run = start(given).or_fail()
    assert set(organisation.files(HEALTH_BRANCH)) - set(organisation.files()) == left
    assert "CODE_OF_CONDUCT.md" in run.summary
    assert "satisfied by `CODE_OF_CONDUCT.md` of `octo/.github`" in run.summary
    if strategy == SINGLE:
        # One for the target, one for the organisation's defaults, one that writes
        assert calls(host) == ["POST /graphql"] * 3


def test_the_owners_defaults_are_read_once(host: StandInHost, action: Action) -> None:
    """However many lists and repositories there are."""
    host.create_repository("octo/.github", {"CODE_OF_CONDUCT.md": b"x\n"})
    for name in ("one", "two"):
        host.create_repository(f"octo/{name}", {"a": b"x\n"})
    given = {"target_repos": "octo/one\nocto/two", "profile": "all", "mode": "plan"}
    action(given, respect_alternatives="true").or_fail()
    asked = [r for r in queries(host) if r.fields["variables"].get("owner") == "octo"]
    assert len(asked) == 1


@pytest.mark.parametrize("internal", [True, False])
def test_issue_templates_of_an_internal_repository_are_not_inherited(
    host: StandInHost, action: Action, single: Start, internal: bool
) -> None:
    template = ".github/ISSUE_TEMPLATE/bug.md"
    host.create_repository("octo/.github", {template: b"x\n"}, private=internal, internal=internal)
    host.create_repository(TARGET, {"README.md": b"x\n"})
    given = {"definitions": action.listing(template), "respect_alternatives": "true"}
    run = single(given, mode="plan")
    assert run.outputs["missing"] == ("1" if internal else "0"), run.text


@pytest.mark.parametrize("defaults", ["private", "none", "itself"])
def test_what_is_no_default_is_not_inherited(
    host: StandInHost, single: Start, defaults: str
) -> None:
    if defaults == "private":
        host.create_repository("octo/.github", {"SUPPORT.md": b"x\n"}, private=True)
    name = "octo/.GitHub" if defaults == "itself" else TARGET
    repository = host.create_repository(name, {"profile/README.md": b"x\n"})
    single(profile="health", respect_alternatives="true", target_repo=name).or_fail()
    assert (len(host.requests) == 2) == (defaults == "itself")
    assert set(repository.files(HEALTH_BRANCH)) - {"profile/README.md"} == {*HEALTH}


NFC, NFD = "docs/\u30ac\u30a4\u30c9.md", "docs/\u30ab\u3099\u30a4\u30c8\u3099.md"


@pytest.mark.parametrize(
    ("there", "listed", "said", "in_row", "other"),
    [
        (
            ["readme.md", "Docs/a.md"],
            ["README.md", "docs/b.md", "new.md"],
            ("README.md (readme.md)", "docs/b.md (Docs/)", "letter case"),
            *("in letter case only", "Unicode form"),
        ),
        ([NFD], [NFC], ("Unicode form", NFC, "NFD"), *("Unicode form", "letter case")),
    ],
)
def test_a_name_that_differs_in_letter_case_or_in_its_unicode_form_is_warned_of(
    start: Start,
    strategy: str,
    host: StandInHost,
    action: Action,
    there: list[str],
    listed: list[str],
    said: tuple[str, ...],
    in_row: str,
    other: str,
) -> None:
    """Once, in words of its own; `per-file` reads the directories where an alternative may be."""
    repository = host.create_repository(TARGET, dict.fromkeys(there, b"x\n"))
    entries = [{"path": path, "alternatives": ["x.md", "docs/x.md"]} for path in listed]
    run = start(definitions=action.document(entries), runner=True).or_fail()
    assert run.outputs["created"] == str(len(listed))
    [warning] = run.annotations("warning")
    assert all(words in warning.data for words in said)
    body = repository.pull_requests[0].body or ""
    assert in_row in run.summary
    assert body.count(in_row) == len(there)
    assert other not in run.text + body
    if strategy == SINGLE:
        assert calls(host) == ["POST /graphql"] * 2


TOO_MANY = {f"docs/{number:04}.md": b"x\n" for number in range(1001)}
"""More than GitHub lists of a directory."""


@pytest.mark.parametrize(
    ("inputs", "file"),
    [({}, "docs/zz-SECURITY.md"), ({"respect_alternatives": "true"}, "docs/zz-security.md")],
    ids=["an alternative", "in another letter case"],
)
def test_a_directory_with_more_names_than_github_lists_hides_no_file(
    start: Start, host: StandInHost, action: Action, inputs: dict[str, str], file: str
) -> None:
    repository = host.create_repository(TARGET, {**TOO_MANY, file: b"x\n"})
    entry = {"path": "docs/zz-SECURITY.md" if inputs else "SECURITY.md"}
    alternatives = [] if inputs else [file]
    text = json.dumps({"files": [{**entry, "alternatives": alternatives}]})
    run = start(definitions=action.write("list.json", text), **inputs).or_fail()
    assert run.outputs["skipped"] == "1"
    assert f"satisfied by {file}" in run.console
    assert repository.branches == ["main"]


def test_a_directory_that_cannot_be_listed_is_an_error_before_anything_is_written(
    host: StandInHost, action: Action
) -> None:
    repository = host.create_repository(TARGET, {**TOO_MANY, "docs/zz-SECURITY.md": b"x\n"})
    cut = {"sha": "1" * 40, "url": "https://example.com", "tree": [], "truncated": True}
    host.faults.add(
        Fault(FaultKind.CUSTOM, match=lambda r: "/git/trees/" in r.path, status=200, body=cut)
    )
    text = "files: [{path: SECURITY.md, alternatives: [docs/zz-SECURITY.md]}]"
    run = action(definitions=action.write("list.yml", text), language="en")
    assert run.exit_code == 2, run.text
    assert "GitHub does not list all files of docs/" in run.console
    assert "commit_strategy: single" in run.console
    assert (repository.branches, writes(host)) == (["main"], [])


def test_the_root_is_read_at_the_commit_of_the_run(host: StandInHost, action: Action) -> None:
    """With a slash at its end GitHub redirects to an address without the commit."""
    host.create_repository(TARGET, {"SECURITY.md": b"x\n"})
    run = action(
        commit_strategy=PER_FILE,
        definitions=action.listing(".github/SECURITY.md"),
        respect_alternatives="true",
    ).or_fail()
    assert run.outputs["skipped"] == "1"
    roots = [r for r in host.requests if r.path.rstrip("/").endswith("/contents")]
    assert roots
    assert all(r.status == 200 and "ref" in r.query for r in roots)


# --- What GitHub would no longer use ----------------------------------------------------------

HIDDEN = (
    "GitHub would use the new file instead of an existing one: "
    ".github/CONTRIBUTING.md instead of your docs/CONTRIBUTING.md, "
    ".github/SECURITY.md instead of your SECURITY.md. "
    "To prevent this, name the existing path in `alternatives` of the entry, "
    'or set `respect_alternatives: "true"` for all entries.'
)
WITHOUT_EFFECT = (
    "The new files would have no effect, because GitHub uses existing files that come before them: "
    ".github/CODEOWNERS instead of CODEOWNERS. "
)
THEIRS = {"SECURITY.md": b"ours\n", "docs/CONTRIBUTING.md": b"ours\n"}


@pytest.mark.parametrize("mode", ["plan", "check", "register"])
@pytest.mark.parametrize(
    ("there", "listed", "hides", "said", "path", "in_row"),
    [
        (
            THEIRS,
            [*HEALTH],
            {
                ".github/CONTRIBUTING.md": "docs/CONTRIBUTING.md",
                ".github/SECURITY.md": "SECURITY.md",
            },
            *(HIDDEN, ".github/SECURITY.md", "GitHub uses it instead of your `SECURITY.md`"),
        ),
        (
            {".github/CODEOWNERS": b"* @octo/all\n"},
            ["CODEOWNERS", "a"],
            {},
            WITHOUT_EFFECT,
            *("CODEOWNERS", "has no effect, because GitHub uses your `.github/CODEOWNERS`"),
        ),
    ],
    ids=["hidden", "without effect"],
)
def test_what_would_be_hidden_and_what_would_have_no_effect_is_named(
    start: Start,
    strategy: str,
    mode: str,
    host: StandInHost,
    action: Action,
    there: dict[str, bytes],
    listed: list[str],
    hides: dict[str, str],
    said: str,
    path: str,
    in_row: str,
) -> None:
    """By `per-file` where it does not only make the fixed calls."""
    repository = host.create_repository(TARGET, there)
    given = {"definitions": action.listing(*listed)}
    run = start(given, mode=mode, runner=True)
    known = strategy == SINGLE or mode != "register"
    found = {file["path"]: file["hides"] for file in run.registration["files"] if "hides" in file}
    assert found == (hides if known else {})
    warnings = [each.data for each in run.annotations("warning")]
    assert [each.startswith(said) for each in warnings] == [True] * known
    assert {*warnings} <= {*run.registration["notes"]}
    for text in (run.summary, *(pull.body or "" for pull in repository.pull_requests)):
        rows = [line for line in text.splitlines() if line.startswith(f"| `{path}`")]
        assert [in_row in row for row in rows] == [known]
        assert ("`.github/SECURITY.md` instead of your `SECURITY.md`" in text) is (
            known and hides != {}
        )
    if strategy == SINGLE and mode != "register":
        assert len(queries(host)) - len(asked_of_owners(host)) == 1
    # Nothing is where alternatives count
    run = start(given, mode="plan", respect_alternatives="true")
    assert in_row.partition(" your")[0] not in run.text


def test_a_run_that_goes_on_still_says_what_is_hidden(host: StandInHost, action: Action) -> None:
    repository = host.create_repository(TARGET, THEIRS)
    entries: list[str] = [".github/SECURITY.md"]
    for _ in range(2):
        action(definitions=action.listing(*entries), commit_strategy=SINGLE, language="en")
        entries.append("b")
    [pull] = repository.pull_requests
    assert "| added (GitHub uses it instead of your `SECURITY.md`) |" in (pull.body or "")


def test_a_plan_is_not_refused_for_a_directory_that_github_does_not_list_in_full(
    host: StandInHost, action: Action
) -> None:
    files = {f"{number}": b"x" for number in range(1001)}
    host.create_repository(TARGET, {**files, "SECURITY.md": b"ours"})
    run = action(definitions=action.listing(".github/SECURITY.md"), mode="plan", language="en")
    assert (run.exit_code, run.outputs["missing"]) == (0, "1")
    assert sum("git/trees" in call for call in calls(host)) == 1


# --- What the owner's repository `.github` hands down -----------------------------------------

OWN = {
    ".github/ISSUE_TEMPLATE/bug.yml": "x\n",
    ".github/SECURITY.md": "x\n",
    ".github/SUPPORT.md": "",
    "LICENSE": "x\n",
    "other.md": "x\n",
}
HANDED_DOWN = {"SECURITY.md": b"x\n", ".github/ISSUE_TEMPLATE/idea.md": b"x\n"}
NOT_HANDED_DOWN = (
    "GitHub would use the new files instead of those that this repository inherits from its "
    "owner's `.github` repository"
)


def asked_of_owners(host: StandInHost) -> list[str]:
    """Whose repository `.github` was read."""
    asked = (request.fields["variables"] for request in queries(host))
    return [each["owner"] for each in asked if each.keys() & {"owner"} and "name" not in each]


FORMS = {**OWN, ".github/DISCUSSION_TEMPLATE/ideas.yml": "x\n"}
BUG, IDEAS = ".github/ISSUE_TEMPLATE/bug.yml", ".github/DISCUSSION_TEMPLATE/ideas.yml"
SECURITY = ".github/SECURITY.md"
STARTER_FORMS = [".github/ISSUE_TEMPLATE/idea.yml", ".github/ISSUE_TEMPLATE/config.yml"]


@pytest.mark.parametrize(
    ("inputs", "there", "said", "asks"),
    [
        ({}, [], [BUG, SECURITY, IDEAS], True),
        ({"profile": "starter"}, [], [SECURITY, BUG, *STARTER_FORMS], True),
        ({}, [BUG], [SECURITY, IDEAS], True),
        ({}, [BUG, SECURITY], [IDEAS], True),
        ({}, [BUG, "docs/SECURITY.md"], [IDEAS], True),
        ({}, [".github/ISSUE_TEMPLATE/x.md", "SECURITY.md", IDEAS], [], True),
        ({}, [BUG, SECURITY, IDEAS, ".github/SUPPORT.md"], [], False),
        ({"profile": "health"}, [], [], False),
        ({"respect_alternatives": "true"}, [], [], True),
    ],
)
def test_a_run_over_one_repository_says_what_is_no_longer_handed_down(
    inputs: dict[str, Any],
    there: list[str],
    said: list[str],
    asks: bool,
    host: StandInHost,
    action: Action,
    start: Start,
) -> None:
    """In the log, the summary and the description, also of the next run; never with a list of the
    first scripts, whose requests are fixed."""
    host.create_repository("octo/.github", {**HANDED_DOWN, IDEAS: b"x\n"})
    repository = host.create_repository(TARGET, {"a": b"x", **dict.fromkeys(there, b"x")})
    own = {} if "profile" in inputs else {"definitions": action.listing_of(FORMS)}
    words, paths = NOT_HANDED_DOWN, ", ".join(said)
    plan = ["plan"] * (inputs.get("profile") != "health")
    for mode in ("check", *plan, "register", "register", *plan):
        host.requests.clear()
        run = start(runner=True, mode=mode, **inputs, **own)
        # A check proposes nothing
        is_said = bool(said) and mode != "check"
        found = [each.data for each in run.annotations("warning") if words in each.data]
        assert [each.startswith(f"{words}: {paths}. ") for each in found] == [True] * is_said
        assert {*found} <= {*run.registration["notes"]}
        assert (words in run.summary) is is_said
        assert ("replaces all inherited ones" in run.text) is (is_said and BUG in said)
        listed = ", ".join(f"`{each}`" for each in said)
        sentence = f"After the merge, GitHub uses the new files instead: {listed}."
        for pull in repository.pull_requests:
            assert (sentence in (pull.body or "")) is bool(said), pull.body
        is_asked = asks and (mode != "check" or "respect_alternatives" in inputs)
        assert asked_of_owners(host) == ["octo"] * is_asked
    assert len(repository.pull_requests) == 1


@pytest.mark.parametrize("mode", ["plan", "check", "register", "withdraw"])
@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_said_of_a_file_that_no_run_proposes(
    host: StandInHost, action: Action, mode: str, way: str
) -> None:
    """It was declined, or its pull request is to be closed."""
    host.create_repository("octo/.github", HANDED_DOWN)
    there = {"SECURITY.md": b"x\n", ".github/CODEOWNERS": b"x\n"}
    repository = host.create_repository(TARGET, there)
    lost = ".github/SECURITY.md", "CODEOWNERS", ".github/ISSUE_TEMPLATE/bug.yml"
    given = {"definitions": action.listing(*lost), "language": "en"}
    action(given, commit_strategy=SINGLE).or_fail()
    if mode != "withdraw":
        repository.person.close(1)
    where = {"target_repos": TARGET} if way == MANY else {"commit_strategy": way}
    run = action(given | where, mode=mode, runner=way != MANY).or_fail()
    for words in ("GitHub would use", "instead of", "no effect", "replaces all"):
        assert words not in run.text
    assert "hides" not in str(run.report)


@pytest.mark.parametrize(
    ("mode", "count", "unread"),
    [
        ("plan", "missing", "the owner"),
        ("register", "created", "the owner"),
        ("register", "created", "the tree"),
    ],
)
def test_a_run_goes_on_although_the_note_cannot_be_written(
    host: StandInHost, action: Action, start: Start, mode: str, count: str, unread: str
) -> None:
    """`per-file` reads the tree for the note alone."""

    def is_unread(request: Request) -> bool:
        variables = request.fields.get("variables", {}).keys()
        return (
            "/git/trees/" in request.path
            if unread == "the tree"
            else variables & {"owner", "name"} == {"owner"}
        )

    host.create_repository("octo/.github", HANDED_DOWN)
    host.create_repository(TARGET, {"a": b"x"})
    fault = host.faults.add(Fault(FaultKind.ERROR_502_HTML, match=is_unread, times=None))
    run = start(definitions=action.listing_of(OWN), mode=mode).or_fail()
    assert run.outputs[count] == str(len(OWN))
    assert ("inherits from" in run.text) is (not fault.hits)


@pytest.mark.parametrize("mode", ["plan", "register", "check", "withdraw"])
def test_many_say_what_is_hidden_and_what_is_no_longer_handed_down(
    host: StandInHost, action: Action, mode: str
) -> None:
    """Once for those that lose the same, with one request for each owner."""
    for owner in ("octo", "octo-org"):
        host.create_repository(f"{owner}/.github", HANDED_DOWN)
        for name in ("one", "two"):
            host.create_repository(f"{owner}/{name}", {"a": b"x"})
        host.create_repository(f"{owner}/hides", {"SECURITY.md": b"x", BUG: b"x"})
    host.create_repository("octo/own", dict.fromkeys(list(OWN)[:3], b"x"))
    targets = "octo/*, octo-org/*, !octo/.github, !octo-org/.github"
    given = {"target_repos": targets, "mode": mode, "language": "en"}
    lines = action(given, definitions=action.listing_of(OWN)).summary.splitlines()
    is_said = mode in {"plan", "register"}
    for words, names, is_here in (
        (NOT_HANDED_DOWN, ("one", "two"), is_said),
        ("instead of your `SECURITY.md`", ("hides",), mode != "withdraw"),
    ):
        found = [number for number, line in enumerate(lines) if words in line]
        assert len(found) == is_here, lines
        for number in found:
            named = {f"{owner}/{name}" for owner in ("octo", "octo-org") for name in names}
            assert {*re.findall(r"octo[-\w]*/\w+", lines[number + 1])} == named
    assert sorted(asked_of_owners(host)) == ["octo", "octo-org"] * is_said
