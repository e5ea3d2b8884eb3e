"""Many repositories: a description that changes without a file is a write that is announced."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.contract.many.test_asking import at_terminal
from tests.example import MISSING
from tests.fakehub import Repository
from tests.harness import Run, meanwhile
from tests.organisation import Org, states

AT_MOST = "whose descriptions this run updates: at most {}."
FIRST, *_ = MISSING


def conflict(each: Repository) -> None:
    each.person.commit({FIRST: b"theirs\n"})


def cut(each: Repository) -> None:
    """Delete only the hidden part of a description."""
    body = each.pull_requests[0].body or ""
    each.person.edit(1, body=body.replace("<!-- registrar:", "<!-- other:"))


def descriptions(run: Run) -> int:
    """The number that a run announces, which log, report and (in a plan) summary agree about."""
    number: int = run.report["many"]["budget"]["descriptions"]
    assert (AT_MOST.format(number) in run.stdout) == bool(number)
    return number


@pytest.mark.parametrize(("act", "state"), [(conflict, "conflicting"), (cut, "waiting")])
def test_plan_and_run_say_the_same(org: Org, act: Callable[[Repository], None], state: str) -> None:
    made = org.make(0, 3)
    org()
    act(made[0])
    plan = org(mode="plan")
    expected = {state: 1, "waiting": 2} if state != "waiting" else {"waiting": 3}
    budget = plan.report["many"]["budget"]
    assert (states(plan), descriptions(plan)) == (expected, 1)
    assert (budget["now"], budget["updates"], budget["deferred"]) == (0, 0, 0)
    assert "What would be created" not in plan.stdout
    assert AT_MOST.format(1) in plan.summary
    _, shown = at_terminal(org, b"no\n")
    assert "descriptions to update: at most 1)" in shown
    assert f"repositories: {made[0].full_name} (" in shown
    assert org.only_reads
    run = org().or_fail()
    assert (states(run), descriptions(run)) == (expected, 1)
    assert "Descriptions updated: 1." in run.stdout
    assert "Descriptions updated: 1." in run.summary
    assert [len(each.pull_requests) for each in made] == [1, 1, 1]
    again = org()
    assert (descriptions(again), org.only_reads, states(again)) == (0, True, expected)


def test_they_have_their_place_under_the_cap(org: Org) -> None:
    made = org.make(0, 4)
    org()
    for each in made[1:]:
        conflict(each)
    for left in (3, 1, 0):
        assert descriptions(org(mode="plan", max_pull_requests="2")) == min(left, 2)
        run = org(max_pull_requests="2")
        assert (descriptions(run), states(run)) == (min(left, 2), {"waiting": 1, "conflicting": 3})
        assert ("Descriptions updated" in run.stdout) == bool(left)
    assert org(max_pull_requests="0").exit_code == 0


def test_what_changes_after_the_reading_is_announced_next_time(org: Org) -> None:
    [first] = org.make(0, 1)
    org()

    meanwhile(org.host, lambda _: org.asked[-1] == "query", lambda: conflict(first))
    org.expect("1 conflicting")
    assert org.only_reads
    assert descriptions(org(mode="plan")) == 1
