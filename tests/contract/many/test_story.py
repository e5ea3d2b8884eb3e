"""Many repositories: one story, after each part of which every output says the same numbers."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
import yaml

from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH, ROOT, Action, Run, Start
from tests.organisation import states

LIST = {"a.md": "A\n", "b.md": "B\n", ".github/c.yml": "c: 1\n"}
CORRECTED = {**LIST, "a.md": "A, too\n"}
REPOSITORIES = 30
COMPLETE = {"complete", "declined", "closed", "to close"}
TEXTS = yaml.safe_load((ROOT / "src/registrar/texts/en.yml").read_text("utf-8"))
COUNTED = {
    "to open": "many.count_to_open",
    "to update": "many.count_to_update",
    "to close": "many.count_to_close",
    **{
        state: f"many.count_{state}"
        for state in (
            *("failed", "opened", "updated", "withdrawn", "closed", "deferred", "unread"),
            *("waiting", "blocked", "unset", "declined", "complete"),
        )
    },
}
"""The text that counts the repositories of a state."""

Tell = Callable[..., Run]


@pytest.fixture
def organisation(host: StandInHost) -> list[Repository]:
    """Repositories in many states, with one that is archived and one that cannot be written to."""
    made: list[Repository] = []
    for number in range(REPOSITORIES):
        files: dict[str, bytes] = {"README.md": b"# Here\n"}
        if number % 5 == 0:
            files |= {path: text.encode() for path, text in LIST.items()}
        if number % 7 == 0:
            files["a.md"] = b"\n"
        if number % 11 == 1:
            files[".github"] = b"a file\n"
        made.append(host.create_repository(f"octo-org/r{number:02}", files))
    made[3].protect("chore/*", "ruleset")
    host.create_repository("octo-org/old", archived=True)
    return made


@pytest.fixture
def tell(action: Action, many: Start, organisation: list[Repository]) -> Tell:
    """Run, and compare every output with each other and with what the stand-in holds."""
    temporary = action.directory / "temp"
    temporary.mkdir()
    start = partial(many, profile=None, env={"RUNNER_TEMP": str(temporary)})

    def told(listed: dict[str, str], **inputs: str) -> Run:
        before = [open_pulls(each) for each in organisation]
        run = start(definitions=action.listing_of(listed), **inputs)
        read = partial(_read, action, run)
        compare(run, read("table_path"), read("page_path"))
        after = [open_pulls(each) for each in organisation]
        opened = sum(now > then for now, then in zip(after, before, strict=True))
        closed = sum(now < then for now, then in zip(after, before, strict=True))
        found = states(run)
        assert found.get("opened", 0) == opened, run.console
        assert found.get("withdrawn", 0) + found.get("closed", 0) == closed, run.console
        if inputs.get("mode") != "withdraw":
            there = sum(listed.keys() <= each.files().keys() for each in organisation)
            assert sum(found.get(each, 0) for each in ("complete", "to close", "closed")) == there
        return run

    return told


def _read(action: Action, run: Run, output: str) -> str:
    return (action.directory / "temp" / run.outputs[output]).read_bytes().decode()


def open_pulls(repository: Repository) -> int:
    return sum(each.state == "open" for each in repository.pull_requests)


def compare(run: Run, table: str, page: str) -> None:
    """Every output has the numbers of the report."""
    found = states(run)
    selected, incomplete = int(run.outputs["repositories"]), int(run.outputs["incomplete"])
    assert sum(found.values()) == selected, run.console
    assert sum(n for state, n in found.items() if state not in COMPLETE) == incomplete
    assert int(run.outputs["failed_repositories"]) == found.get("failed", 0)
    # A run that ends while it reads has no outcome in its log
    is_whole = run.exit_code != 2
    outcomes = [line for line in run.lines if line.startswith("Outcome")]
    assert len(outcomes) == is_whole
    assert (f"Repositories selected: {selected} of " in run.stdout) == is_whole
    for state, count in found.items():
        words = re.compile(rf"(?<!\d){re.escape(TEXTS[COUNTED[state]].format(count=count))}")
        assert all(map(words.search, [*outcomes, run.summary])), (words, outcomes)
    rows = csv.DictReader(io.StringIO(table.removeprefix("\ufeff")))
    ended = {row["repository"]: row["outcome"] for row in rows if row["outcome"]}
    assert Counter(ended.values()) == found
    assert f"<strong>{selected - incomplete} / {selected}</strong>" in page
    failed = re.search(r'<strong>(\d+)</strong> <span class="failed key">', page)
    assert int(failed[1] if failed else 0) == found.get("failed", 0)


def test_every_output_says_the_same_numbers(
    tell: Tell, organisation: list[Repository], host: StandInHost
) -> None:
    plan = tell(LIST, mode="plan")
    first = tell(LIST, max_pull_requests="8")
    assert (states(first)["opened"], plan.outputs["deferred"]) == (8, "0")
    tell(LIST, target_repos="octo-org/*, octo-org/gone")

    open_ones = [each for each in organisation if open_pulls(each)]
    open_ones[0].merge(1)
    open_ones[1].close(1)
    open_ones[2].commit({"b.md": None}, branch=LIST_BRANCH)
    open_ones[3].commit({"b.md": b"mine\n"}, branch=LIST_BRANCH)
    open_ones[4].commit({path: b"by hand\n" for path in LIST if path not in open_ones[4].files()})

    plan = tell(CORRECTED, mode="plan")
    assert states(plan)["to close"] == 1
    run = tell(CORRECTED)
    assert states(run)["updated"] == states(plan)["to update"]
    tell(CORRECTED, mode="withdraw")
    again = tell(CORRECTED)
    assert states(again)["opened"] > 10
    tell(CORRECTED, mode="check")
    quiet = tell(CORRECTED)
    assert not states(quiet).keys() & {"opened", "updated", "closed", "deferred"}
    dying = host.create_token(requests=4)
    tell(CORRECTED, mode="plan", host_token=dying)
