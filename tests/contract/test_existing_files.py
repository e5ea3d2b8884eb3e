"""Existing and missing files, files in the way of a path, and answers that are errors."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registrar.models.files import parents
from tests.fakehub import (
    Content,
    Fault,
    FaultKind,
    Repository,
    Request,
    StandInHost,
    Submodule,
    Symlink,
)
from tests.harness import (
    LIST_BRANCH,
    PER_FILE,
    SINGLE,
    STRATEGIES,
    TARGET,
    Action,
    Start,
    calls,
    shortened,
    writes,
)

PATH = "docs/guide.md"


def checks(request: Request) -> bool:
    """Whether this is the existence check of the one path."""
    return shortened(request) == f"GET contents/{PATH}"


@pytest.fixture
def definitions(action: Action) -> str:
    """A definition file that lists one path."""
    return action.write("list.json", f'[{{"path": "{PATH}"}}]')


def test_a_file_that_github_does_not_show_is_there(
    action: Action, host: StandInHost, repository: Repository, definitions: str
) -> None:
    """Above 100 MB, and above 1 MB in an old Enterprise Server."""
    host.quirks.most_shown = 1 << 20
    repository.person.commit({PATH: b"x" * 1_100_000})
    run = action(definitions=definitions, language="en").or_fail()
    assert writes(host) == []
    assert f"[1/1] {PATH}: present" in run.lines


@pytest.mark.parametrize(
    "kind",
    [
        *(FaultKind.HTML_200, FaultKind.EMPTY_200, FaultKind.WRONG_LIST, FaultKind.WRONG_OBJECT),
        *(FaultKind.CUT_JSON, FaultKind.ERROR_502_HTML, FaultKind.ERROR_LIST),
    ],
)
def test_an_answer_that_describes_nothing_is_asked_for_again(
    action: Action, host: StandInHost, repository: Repository, definitions: str, kind: FaultKind
) -> None:
    """A proxy that answers everything makes no file present."""
    host.faults.add(Fault(kind, match=checks, times=None))
    run = action(definitions=definitions, language="en")
    assert (run.exit_code, run.outputs["skipped"], writes(host)) == (1, "0", [])
    assert "Waiting 1 s: " in run.stdout
    host.requests.clear()
    host.faults.clear()
    host.faults.add(Fault(kind, match=checks))
    run = action(definitions=definitions, language="en").or_fail()
    assert calls(host).count(f"GET contents/{PATH}") == 2
    assert PATH in repository.files(LIST_BRANCH)


# --- What is in the way ---------------------------------------------------------------------------

OBSTACLES = {
    "file": b"a file\n",
    "symbolic link": Symlink("real"),
    "dangling symbolic link": Symlink("gone"),
    "submodule": Submodule("1" * 40),
}


@pytest.fixture(params=list(OBSTACLES.values()), ids=list(OBSTACLES))
def blocked(request: pytest.FixtureRequest, host: StandInHost) -> Repository:
    """A repository in which ``docs`` is not a directory."""
    files = {"README.md": b"x\n", "real/other.md": b"x\n", "docs": request.param}
    return host.create_repository(TARGET, files)


LISTED = {"docs/guide.md": None, "docs/deep/er.md": None, "README.md": None, "other.md": "text\n"}


def test_a_parent_that_is_no_directory_fails_its_paths_alone(
    action: Action, host: StandInHost, blocked: Repository, start: Start, strategy: str
) -> None:
    """With `single` it is seen before anything is written."""
    run = start(definitions=action.listing_of(LISTED))
    assert run.exit_code == 1
    counts = {name: run.outputs[name] for name in ("created", "skipped", "failed")}
    assert counts == {"created": "1", "skipped": "1", "failed": "2"}
    assert blocked.files(LIST_BRANCH) == blocked.files() | {"other.md": b"text\n"}
    assert blocked.modes(LIST_BRANCH) == blocked.modes() | {"other.md": 0o100644}
    reason, paths = run.stderr.splitlines()
    assert "nothing can be created below it" in reason
    assert paths.strip().startswith("Files: docs/guide.md, docs/deep/er.md → ")
    [pull] = blocked.pull_requests
    if strategy == SINGLE:
        assert len(host.requests) == 2
        assert (pull.body or "").count("`docs` is not a directory") == 2
        # If every path is blocked, nothing is written
        run = start(definitions=action.listing("docs/guide.md"), branch="other")
        assert (run.exit_code, run.outputs["failed"]) == (1, "1")
        assert blocked.branches == [LIST_BRANCH, "main"]


@pytest.mark.parametrize(
    ("strategy", "whole_tree"), [(PER_FILE, True), (PER_FILE, False), (SINGLE, True)]
)
def test_a_plan_says_what_is_in_the_way(
    action: Action, host: StandInHost, blocked: Repository, start: Start, whole_tree: bool
) -> None:
    """Only `per-file` reads the tree."""
    assert blocked.branches == ["main"]
    if not whole_tree:
        host.quirks.most_in_tree = 1
    run = start(definitions=action.listing_of(LISTED), mode="plan")
    expected = dict.fromkeys(LISTED, "blocked") | {"README.md": "filled", "other.md": "to create"}
    assert run.standings == expected
    assert (run.exit_code, run.outputs["failed"], run.outputs["missing"]) == (0, "0", "3")
    only = {"definitions": action.listing("docs/x"), "mode": "check", "language": "en"}
    check = start(only)
    assert check.exit_code == 1
    assert "where these paths need a directory" in check.summary
    assert "#a-part-of-the-path-is-a-file" in check.stderr


# --- Any paths ------------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "A", "é", ".d", "x y", "#1", "%41", "p0", "-", "a?b&c", "@"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TEXTS = st.none() | st.text(st.characters(codec="utf-8"), max_size=20)
ANYTHING = st.binary(max_size=5) | st.sampled_from(
    [Symlink("a"), Symlink("b/a"), Submodule("1" * 40)]
)


def are_apart(paths: Iterable[str]) -> bool:
    """Whether no path lies below another."""
    return not any(f"{one}/" == other[: len(one) + 1] for one, other in permutations(paths, 2))


@pytest.mark.large
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(
    listed=st.dictionaries(PATHS, TEXTS, min_size=1, max_size=8).filter(are_apart),
    files=st.dictionaries(PATHS, ANYTHING, max_size=6).filter(are_apart),
)
def test_each_listed_path_is_there_blocked_or_created(
    action: Action, host: StandInHost, listed: dict[str, str | None], files: dict[str, Content]
) -> None:
    there = {*files, *(parent for path in files for parent in parents(path))}
    blocked = {path for path in listed if not files.keys().isdisjoint(parents(path))}
    new = {path: text for path, text in listed.items() if path not in there | blocked}
    added = {path: b"\n" if text is None else text.encode() for path, text in new.items()}
    for strategy in STRATEGIES:
        name = f"octo/r{len(host.repositories)}"
        repository = host.create_repository(name, {"LICENSE": b"MIT\n", **files})
        given = {"target_repo": name, "commit_strategy": strategy, "language": "en"}
        run = action(given, definitions=action.listing_of(listed))
        counts = [run.outputs[name] for name in ("created", "skipped", "failed")]
        sizes = len(new), len(listed.keys() & there), len(blocked)
        assert (run.exit_code, counts) == (bool(blocked), [*map(str, sizes)]), run.text
        assert [pull.head for pull in repository.pull_requests] == [LIST_BRANCH] * bool(new)
        if new:
            assert repository.files(LIST_BRANCH) == repository.files() | added
            modes = dict.fromkeys(new, 0o100644)
            assert repository.modes(LIST_BRANCH) == repository.modes() | modes
