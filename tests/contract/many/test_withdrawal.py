"""Many repositories: `mode: withdraw`, its numbers and its end (the rest: `tests/stories`)."""

from __future__ import annotations

from tests.fakehub import StandInHost
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import Start, is_read
from tests.organisation import Make, rows, states


def test_a_withdrawal_has_no_cap_and_the_next_run_has(
    many: Start, make: Make, host: StandInHost
) -> None:
    """A row has one repository."""
    made = make(1, 6)
    many(max_pull_requests="5")
    with_one = [each for each in made if each.pull_requests]
    with_one[0].person.commit({"AGENTS.md": b"mine"}, branch=BRANCH)
    with_one[1].person.close(1)
    plan = many(mode="plan")
    could = "Repositories with open pull requests that `mode: withdraw` could close: at most 4."
    assert could in plan.stdout
    host.requests.clear()
    run = many(mode="withdraw", max_pull_requests="1").or_fail()
    assert "Repositories with pull requests to withdraw: at most 4." in run.stdout
    assert "Withdrawing pull requests in repositories: 4" in run.stdout
    assert "[4/4]" in run.stdout
    assert sum(not is_read(each) for each in host.requests) == 3
    # Edited: waiting; never opened: missing
    assert states(run) == {
        "withdrawn": 3,
        "waiting": 1,
        "not proposed": 1,
        "declined": 1,
        "complete": 1,
    }
    assert rows(run)[with_one[0].full_name] == "waiting"
    assert "because somebody has edited these files on its branch: AGENTS.md" in run.stdout
    assert run.report["many"]["budget"]["withdrawable"] == 4
    assert run.outputs["deferred"] == "0"
    left = {"waiting": 1, "declined": 1, "complete": 1}
    assert states(many(mode="plan")) == left | {"to open": 4}
    assert states(many(mode="withdraw")) == left | {"not proposed": 4}
    run = many(max_pull_requests="2")
    assert states(run) == {"opened": 2, "waiting": 1, "deferred": 2, "declined": 1, "complete": 1}
    assert states(many()) == {"opened": 2, "waiting": 3, "declined": 1, "complete": 1}
    pulls = [[pull.state for pull in each.pull_requests] for each in with_one[2:]]
    assert pulls == [["closed", "open"]] * 3


def test_a_withdrawal_ends_in_time(many: Start, make: Make) -> None:
    """A row has one repository."""
    make(0, 5)
    many()
    run = many(mode="withdraw", max_minutes="0.02")
    left = states(run)["deferred"]
    assert (run.exit_code, run.outputs["deferred"]) == (0, str(left))
    assert states(many(mode="withdraw")) == {"withdrawn": left, "not proposed": 5 - left}
