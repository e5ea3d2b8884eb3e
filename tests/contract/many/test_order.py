"""Many repositories: the order of writing, in which each repository gets its turn."""

from __future__ import annotations

import re

import pytest

from tests.fakehub import StandInHost
from tests.fakehub.repository import Protection
from tests.harness import LIST_BRANCH, Action, Run, Start
from tests.organisation import Make, opened, states
from tests.outputs import DAY


def order(run: Run) -> list[str]:
    """Names of the repositories in the order in which it was their turn."""
    return re.findall(r"^\[\d+/\d+\] octo-org/([^:]+):", run.stdout, re.MULTILINE)


def test_what_was_interrupted_comes_first_and_what_is_going_to_fail_last(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    waiting, *others = make(0, 6)
    many(target_repos=waiting.full_name)
    others[2].create_branch(LIST_BRANCH)
    # What stands above a listed path is known from the reading
    others[4].commit({".claude": b"a file"})
    for _ in range(3):
        found = order(many(max_pull_requests="0"))
        assert (found[0], found[-2:]) == ("r3", ["r0", "r5"])
        action.clock.sleep(DAY)


@pytest.mark.parametrize("rule", ["ruleset", "classic"])
def test_five_with_one_lasting_cause_do_not_starve_the_others(
    many: Start, make: Make, host: StandInHost, action: Action, rule: Protection
) -> None:
    """Also where a run leaves a branch without a commit in each, so that it looks interrupted."""
    made = make(0, 9)
    for repository in made[2:7]:
        repository.protect("chore/*", rule)
    assert states(many(target_repos=",".join(each.full_name for each in made[2:7]))) == {
        "failed": 5
    }
    for _ in range(20):
        many()
        if sum(opened(made)) == 4:
            break
        action.clock.sleep(DAY)
    assert opened(made) == [1, 1, 0, 0, 0, 0, 0, 1, 1]


def test_a_plan_names_what_a_run_of_the_same_day_takes(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    """Also if the plan reads the repositories alone that an interrupted run has left."""
    make(1, 12)
    host.repositories[7].create_branch(LIST_BRANCH)
    # What is going to fail comes last
    host.repositories[5].commit({".claude": b"a file"})
    for left in (12, 8, 4):
        plan = many(mode="plan", max_pull_requests="4")
        [named] = re.findall(r"it begins with at most these repositories: ([^.]*)\.", plan.stdout)
        assert all(name in plan.summary for name in named.split(", "))
        action.clock.sleep(60)
        run = many(max_pull_requests="4")
        looked_at = {
            row["repository"] for row in run.report["many"]["rows"] if row["state"] == "waiting"
        }
        taken = [name for name in order(run) if f"octo-org/{name}" not in looked_at][:4]
        assert named == ", ".join(f"octo-org/{name}" for name in taken)
        assert ("r7" in taken, "r5" in taken) == (left == 12, left == 4)
