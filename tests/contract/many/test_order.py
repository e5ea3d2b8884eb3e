"""Many repositories: in what order they are written to, and that none of them is starved."""

from __future__ import annotations

import re

import pytest

from tests.example import PRESENT
from tests.fakehub import StandInHost
from tests.fakehub.repository import Protection
from tests.harness import SCAFFOLD_BRANCH, Action, Run, Start
from tests.organisation import Make, opened, states


def order(run: Run) -> list[str]:
    """Names of the repositories in the order in which it was their turn."""
    return re.findall(r"^\[\d+/\d+\] octo-org/([^:]+):", run.stdout, re.MULTILINE)


def test_it_goes_by_name_from_a_start_that_moves_from_run_to_run(
    many: Start, host: StandInHost, action: Action
) -> None:
    names = ["Alpha", "bravo", "Charlie", "delta", "echo", "foxtrot", "golf", "hotel"]
    for name in reversed(names):
        host.create_repository(f"octo-org/{name}", PRESENT)
    starts = set[str]()
    for _ in range(6):
        run = many(max_pull_requests="0")
        [first, *_] = found = order(run)
        start = names.index(first)
        assert found == names[start:] + names[:start]
        starts.add(first)
        action.clock.sleep(3600)
    assert len(starts) > 1


def test_what_was_interrupted_comes_first_and_what_is_going_to_fail_last(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    waiting, *others = make(0, 6)
    many(target_repos=waiting.full_name)
    others[2].create_branch(SCAFFOLD_BRANCH)
    # What stands above a listed path is known from the reading
    others[4].commit({".idea": b"a file"})
    for _ in range(3):
        found = order(many(max_pull_requests="0"))
        assert (found[0], found[-2:]) == ("r3", ["r0", "r5"])
        action.clock.sleep(3600)


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
    for _ in range(12):
        many()
        if sum(opened(made)) == 4:
            break
        action.clock.sleep(3600)
    assert opened(made) == [1, 1, 0, 0, 0, 0, 0, 1, 1]
