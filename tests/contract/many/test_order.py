"""Many repositories: one order of writing, which plan, run and page tell in advance."""

from __future__ import annotations

import re

import pytest

from tests.fakehub import StandInHost
from tests.fakehub.repository import Protection
from tests.harness import LIST_BRANCH, Action, Run, Start
from tests.organisation import Make, opened, states


def order(run: Run) -> list[str]:
    """Names of the repositories in the order in which it was their turn."""
    return re.findall(r"^\[\d+/\d+\] octo-org/([^:]+):", run.stdout, re.MULTILINE)


def named(text: str) -> list[str]:
    """Names of the repositories with which the next run begins; empty if no line names them."""
    found = re.search(r"takes these repositories first: (.*?)\. It", text)
    # In the summary, each name is a link whose address has the name, too
    return [*dict.fromkeys(re.findall(r"octo-org/(\w+)", found[1]))] if found else []


def test_what_an_earlier_run_has_left_comes_last_and_what_cannot_be_written_has_no_turn(
    many: Start, make: Make
) -> None:
    waiting, *others = make(0, 6)
    many(target_repos=waiting.full_name)
    others[1].person.create_branch(LIST_BRANCH)
    others[3].person.change(read_only=True)
    assert order(many()) == ["r1", "r3", "r5", "r0", "r2"]


@pytest.mark.parametrize("rule", ["ruleset", "classic"])
@pytest.mark.parametrize("first", [0, 2])
def test_five_with_one_lasting_cause_do_not_starve_the_others(
    many: Start, make: Make, first: int, rule: Protection
) -> None:
    """Also where a run leaves no branch in them that the next run could see."""
    made = make(0, 9)
    for repository in made[first : first + 5]:
        repository.person.protect("chore/*", rule)
    for _ in range(3):
        many()
    assert opened(made) == [int(not first <= n < first + 5) for n in range(9)]


def test_plan_run_and_page_name_the_next_ones_in_one_order(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    make(1, 12)
    host.repositories[7].person.create_branch(LIST_BRANCH)
    host.repositories[5].person.protect("chore/*", "ruleset")
    says = many(mode="plan", max_pull_requests="4", env=action.keeping)
    # The one that fails is tried again in each run
    for names in ("r1 r10 r11 r12", "r2 r3 r4 r5", "r5 r8 r9 r7", "r5"):
        for each in (says.stdout, says.summary, action.kept(says, "page")):
            assert named(each) == names.split(), each
        action.clock.sleep(2 * 86_400)
        before = {each.name for each in host.repositories if each.pull_requests}
        says = many(max_pull_requests="4", env=action.keeping)
        after = {each.name for each in host.repositories if each.pull_requests}
        assert {*names.split()} - {"r5"} <= after - before | {"r5"}
    assert states(says) == {"failed": 1, "waiting": 11, "complete": 1}


def test_one_in_which_a_refused_commit_left_the_branch_comes_last_next_time(
    many: Start, make: Make
) -> None:
    first, *_ = make(0, 3)
    first.person.protect("chore/*", "classic")
    run = many(max_pull_requests="1")
    assert states(run) == {"failed": 1, "opened": 1, "deferred": 1}
    assert named(run.stdout) == ["r2"]


def test_after_a_run_the_numbers_are_those_that_are_left(many: Start, make: Make) -> None:
    make(0, 12)
    for left in (7, 2):
        run = many(max_pull_requests="5")
        for text in (run.stdout, run.summary):
            assert f"Pull requests left for later runs: {left}." in text
            # To do fewer than the cap, nothing has to be set
            assert ("set `max_pull_requests: 7`" in text) == (left == 7)
            assert ("The next run does the rest." in text) == (left == 2)
    run = many(max_pull_requests="5")
    assert "left for later runs: 2" not in run.stdout
    assert named(run.stdout) == []
