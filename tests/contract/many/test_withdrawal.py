"""Many repositories: `mode: withdraw`, its numbers and its end (the rest: `tests/stories`)."""

from __future__ import annotations

from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import is_read
from tests.organisation import Org, rows, states


def test_a_withdrawal_has_no_cap_and_the_next_run_has(org: Org) -> None:
    """A row has one repository."""
    made = org.make(1, 6)
    org(max_pull_requests="5")
    with_one = [each for each in made if each.pull_requests]
    with_one[0].person.commit({"AGENTS.md": b"mine"}, branch=BRANCH)
    with_one[1].person.close(1)
    plan = org(mode="plan")
    could = "Repositories with open pull requests that `mode: withdraw` could close: at most 4."
    assert could in plan.stdout
    # Edited: waiting; never opened: missing
    state = "3 withdrawn, 1 waiting, 1 not proposed, 1 declined, 1 complete"
    run = org.expect(state, mode="withdraw", max_pull_requests="1")
    assert "Repositories with pull requests to withdraw: at most 4." in run.stdout
    assert "Withdrawing pull requests in repositories: 4" in run.stdout
    assert "[4/4]" in run.stdout
    assert sum(not is_read(each) for each in org.sent) == 3
    assert rows(run)[with_one[0].full_name] == "waiting"
    assert "because somebody has edited these files on its branch: AGENTS.md" in run.stdout
    assert run.report["many"]["budget"]["withdrawable"] == 4
    assert run.outputs["deferred"] == "0"
    org.expect("4 to open, 1 waiting, 1 declined, 1 complete", mode="plan")
    org.expect("1 waiting, 4 not proposed, 1 declined, 1 complete", mode="withdraw")
    org.expect("2 opened, 2 deferred, 1 waiting, 1 declined, 1 complete", max_pull_requests="2")
    org.expect("2 opened, 3 waiting, 1 declined, 1 complete")
    pulls = [[pull.state for pull in each.pull_requests] for each in with_one[2:]]
    assert pulls == [["closed", "open"]] * 3


def test_a_withdrawal_ends_in_time(org: Org) -> None:
    """A row has one repository."""
    org.make(0, 5)
    org()
    run = org(mode="withdraw", max_minutes="0.02")
    left = states(run)["deferred"]
    assert (run.exit_code, run.outputs["deferred"]) == (0, str(left))
    org.expect(f"{left} withdrawn, {5 - left} not proposed", mode="withdraw")
