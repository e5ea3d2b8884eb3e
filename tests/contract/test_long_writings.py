"""People close a pull request, or make its branch the default branch, while a run commits to it."""

from __future__ import annotations

import pytest

from tests.example import Example
from tests.fakehub import Request, StandInHost
from tests.fakehub.refusals import Refusal
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import PER_FILE, SINGLE, Action, Run, meanwhile

ONE_BY_ONE, REFUSED = "one by one", "refused"
GAP, LATER_GAP = 29, 10
"""The most files that a run commits after somebody has acted: at first, and after the first look.
"""


@pytest.fixture
def writing(request: pytest.FixtureRequest, host: StandInHost, action: Action) -> Example:
    """With `single`, GitHub refuses the one commit, so that the files are created one by one."""
    if request.param == ONE_BY_ONE:
        return Example(action, PER_FILE)
    host.refused_mutations["createCommitOnBranch"] = Refusal(409, "Repository rule violations")
    return Example(action, SINGLE)


def at_file(example: Example, number: int, act: str) -> list[str]:
    """Let somebody act before the file with this number is created; return the paths of the files
    on the branch at that moment.
    """
    seen: list[str] = []
    counted = iter(range(1, 1_000))

    def is_it(request: Request) -> bool:
        return request.method == "PUT" and next(counted) == number

    def do() -> None:
        repository = example.repository
        seen.extend(sorted(repository.files(BRANCH)))
        if act == "close":
            repository.person.close(1)
        elif act == "merge":
            repository.person.merge(1)
        else:
            repository.person.change(default_branch=BRANCH)

    meanwhile(example.host, is_it, do)
    return seen


def run_with(example: Example, count: int, **inputs: str) -> Run:
    paths = [f"{number:03}.md" for number in range(count)]
    return example.run(definitions=example.action.listing(*paths), **inputs)


PLACES = [(3, 2), (52, 1), (52, 30)]
"""How many files there are, and before which one somebody acts: at last right after a look."""
EACH = [*((ONE_BY_ONE, *place) for place in PLACES), (REFUSED, 52, 21)]
"""Both ways end in the same loop over the files."""


@pytest.mark.parametrize(
    ("writing", "files", "at", "act"),
    [*((*each, "close") for each in EACH), (ONE_BY_ONE, 52, 21, "merge")],
    indirect=["writing"],
)
def test_a_run_notices_that_its_pull_request_was_closed(
    writing: Example, files: int, at: int, act: str
) -> None:
    run_with(writing, 1).or_fail()
    seen = at_file(writing, at, act)
    run = run_with(writing, files)
    after = len(writing.repository.files(BRANCH)) - len(seen)
    assert run.exit_code != 0
    assert 1 <= after <= (GAP if at <= GAP else LATER_GAP)
    assert f"committed to its branch after that: {after}." in run.console
    run = run_with(writing, files).or_fail()
    listed = {f"{number:03}.md" for number in range(files)}
    refused = listed & set(seen) if act == "close" else set[str]()
    assert run.outputs["declined"] == str(len(refused)), run.console
    [pull] = [each for each in writing.repository.pull_requests if each.state == "open"]
    brought = writing.repository.files(pull.head).keys() - writing.repository.files().keys()
    assert brought == listed - set(seen)


@pytest.mark.but("limit-closing")
@pytest.mark.parametrize("start", [0, 1], ids=["new", "continued"])
@pytest.mark.parametrize(("writing", "files", "at"), EACH, indirect=["writing"])
def test_a_run_notices_that_its_branch_became_the_default_branch(
    writing: Example, files: int, at: int, start: int
) -> None:
    if start:
        run_with(writing, 1).or_fail()
    pulls = len(writing.repository.pull_requests)
    seen = at_file(writing, at, "default")
    run = run_with(writing, files)
    there = writing.repository.log(BRANCH)[: len(writing.repository.files(BRANCH)) - len(seen)]
    assert run.exit_code != 0
    assert len(there) <= (GAP if at <= GAP else LATER_GAP)
    assert all(commit.sha in run.console for commit in there), run.console
    assert not any(pull.state == "open" for pull in writing.repository.pull_requests[pulls:])
