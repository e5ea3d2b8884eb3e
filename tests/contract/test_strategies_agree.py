"""`single` and `per-file` leave the same tree, for every list and every repository."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fakehub import Repository, StandInHost, Submodule, Symlink
from tests.fakehub.store import Content
from tests.harness import HEALTH_BRANCH, SCAFFOLD_BRANCH, STRATEGIES, Action

BRANCHES = {"scaffold": SCAFFOLD_BRANCH, "health": HEALTH_BRANCH}
NAMES = st.sampled_from(["a", "b", "A", "é", ".d", "x y", "#1", "%41", "p0", "-", "a?b&c", "@"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
CONTENTS = st.none() | st.text(max_size=20).filter(lambda t: not re.search("[\ud800-\udfff]", t))
THERE = (
    st.binary(max_size=5)
    | st.just(Symlink("a"))
    | st.just(Symlink("b/a"))
    | st.just(Submodule("1" * 40))
)


def without_conflicts(paths: Mapping[str, object]) -> bool:
    """Whether no path lies below another."""
    return not any(f"{a}/" == b[: len(a) + 1] for a, b in itertools.permutations(paths, 2))


class Left(NamedTuple):
    """The state of the repository after a run."""

    exit_code: int
    counts: tuple[str, ...]
    files: dict[str, Content]
    modes: dict[str, int]
    pull_requests: list[tuple[str, str, str, str]]
    states: list[tuple[str, ...]]


def left_by(
    action: Action, repository: Repository, strategy: str, profile: str, definitions: str | None
) -> Left:
    run = action(
        target_repo=repository.full_name,
        commit_strategy=strategy,
        profile=profile,
        definitions=definitions,
        language="en",
    )
    assert "Unexpected error" not in run.text
    # If nothing can be created, `per-file` leaves a bare branch and `single` none
    branch = BRANCHES[profile] if BRANCHES[profile] in repository.branches else "main"
    body = "".join(pull.body or "" for pull in repository.pull_requests)
    rows = [line.split("|") for line in body.splitlines() if line.startswith("| `")]
    return Left(
        run.exit_code,
        tuple(run.outputs[name] for name in ("created", "skipped", "failed")),
        repository.files(branch),
        repository.modes(branch),
        [(p.title, p.head, p.base, p.state) for p in repository.pull_requests],
        # The first word of a state: why a path failed is told in the words of who refused it
        [(row[1], row[2].split()[0]) for row in rows],
    )


Compare = Callable[[dict[str, Content], str, str | None], None]


@pytest.fixture
def compare(action: Action, host: StandInHost) -> Compare:
    numbers = itertools.count()

    def run(files: dict[str, Content], profile: str, definitions: str | None) -> None:
        left = []
        for strategy in STRATEGIES:
            name = f"octo/example-{next(numbers)}"
            repository = host.create_repository(name, {"LICENSE": b"MIT\n", **files})
            left.append(left_by(action, repository, strategy, profile, definitions))
        assert left[0] == left[1]

    return run


@pytest.mark.parametrize("profile", BRANCHES)
@pytest.mark.parametrize(
    "files",
    [
        {},
        {"README.md": b"# Example\n", ".gitignore": b"*.log\n"},
        {".github": b"a file\n", ".vscode": Symlink("LICENSE")},
        {".github/SECURITY.md": Symlink("gone"), "AGENTS.md/x": b"a directory\n"},
    ],
    ids=["nothing", "some", "blocked", "odd"],
)
def test_default_sets(compare: Compare, profile: str, files: dict[str, Content]) -> None:
    compare(files, profile, None)


@pytest.mark.large
@settings(
    max_examples=20,
    suppress_health_check=list(HealthCheck),
)
@given(
    listed=st.dictionaries(PATHS, CONTENTS, min_size=1, max_size=8).filter(without_conflicts),
    files=st.dictionaries(PATHS, THERE, max_size=6).filter(without_conflicts),
)
def test_random_sets(
    compare: Compare, tmp_path: Path, listed: dict[str, str | None], files: dict[str, Content]
) -> None:
    entries = [
        {"path": path} | ({} if content is None else {"content": content})
        for path, content in listed.items()
    ]
    (tmp_path / "workspace/list.json").write_text(json.dumps(entries), "utf-8")
    compare(files, "scaffold", "list.json")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_a_run_costs_grows_with_its_paths_and_not_with_their_square(
    action: Action, host: StandInHost, strategy: str
) -> None:
    """An open pull request holds all of them; steps are calls of functions in this thread."""

    def steps(count: int) -> int:
        host.create_repository(target := f"octo/r{count}", {"x": b""})
        listed = {"definitions": action.listing(*(f"p{n}" for n in range(count)))}
        run = partial(action, listed, target_repo=target, commit_strategy="single")
        assert run().exit_code == 0
        counted = Counter[str]()
        sys.setprofile(lambda _frame, event, _argument: counted.update([event]))
        try:
            run(commit_strategy=strategy)
        finally:
            sys.setprofile(None)
        return counted["call"] + counted["c_call"]

    assert steps(160) < 2.3 * steps(80)
