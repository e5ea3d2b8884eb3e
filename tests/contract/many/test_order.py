"""Many repositories: one order of writing, which plan, run and page tell in advance."""

from __future__ import annotations

import re

import pytest

from tests.fakehub.repository import Protection
from tests.harness import LIST_BRANCH
from tests.organisation import Org


def named(text: str) -> list[str]:
    """Names of the repositories with which the next run begins; empty if no line names them."""
    found = re.search(r"takes these repositories first: (.*?)\. It", text)
    # In the summary, each name is a link whose address has the name, too
    return [*dict.fromkeys(re.findall(r"octo-org/(\w+)", found[1]))] if found else []


def test_what_a_run_has_left_comes_last_and_what_cannot_be_written_has_no_turn(
    org: Org,
) -> None:
    waiting, *others = org.make(0, 6)
    org(target_repos=waiting.full_name)
    others[1].person.create_branch(LIST_BRANCH)
    others[3].person.change(read_only=True)
    turns = re.findall(r"^\[\d+/\d+\] octo-org/([^:]+):", org().stdout, re.MULTILINE)
    assert turns == ["r1", "r3", "r5", "r0", "r2"]


@pytest.mark.parametrize(("first", "rule"), [(2, "ruleset"), (0, "classic")])
def test_five_with_one_cause_do_not_starve_others(org: Org, first: int, rule: Protection) -> None:
    """Also where a run leaves no branch in them that the next run could see."""
    for repository in org.make(0, 9)[first : first + 5]:
        repository.person.protect("chore/*", rule)
    for _ in range(3):
        org()
    assert org.opened == [int(not first <= n < first + 5) for n in range(9)]


def test_plan_run_and_page_name_the_next_ones_in_one_order(org: Org) -> None:
    made = org.make(1, 12)
    made[7].person.create_branch(LIST_BRANCH)
    made[5].person.protect("chore/*", "ruleset")
    says = org(mode="plan", max_pull_requests="4")
    # The one that fails is tried again in each run
    for names in ("r1 r10 r11 r12", "r2 r3 r4 r5", "r5 r8 r9 r7"):
        for each in (says.stdout, says.summary, org.action.kept(says, "page")):
            assert named(each) == names.split(), each
        org.action.clock.sleep(2 * 86_400)
        before = {each.name for each in made if each.pull_requests}
        says = org(max_pull_requests="4")
        after = {each.name for each in made if each.pull_requests}
        assert {*names.split()} - {"r5"} <= after - before
    run = org.expect("1 failed, 11 waiting, 1 complete; exit 1", max_pull_requests="4")
    assert named(says.stdout) == named(run.stdout) == ["r5"]


def test_one_in_which_a_refused_commit_left_the_branch_comes_last_next_time(org: Org) -> None:
    first, *_ = org.make(0, 3)
    first.person.protect("chore/*", "classic")
    run = org.expect("1 failed, 1 opened, 1 deferred; exit 1", max_pull_requests="1")
    assert named(run.stdout) == ["r2"]
