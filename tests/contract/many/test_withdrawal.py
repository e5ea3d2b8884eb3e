"""Many repositories: pull requests are taken back."""

from __future__ import annotations

from tests.example import SCAFFOLD_MISSING as MISSING
from tests.fakehub import StandInHost
from tests.harness import LIST_BRANCH, SCAFFOLD_BRANCH, Action, Start, is_read, refuse
from tests.organisation import Make, Odd, Organisation, rows, states

EDITED = min(MISSING)


def test_one_of_each_kind(many: Start, make: Make, host: StandInHost) -> None:
    made = make(2, 10)
    many(max_pull_requests="9")
    with_one = [each for each in made if each.pull_requests]
    with_one[0].commit({EDITED: b"mine"}, branch=SCAFFOLD_BRANCH)
    with_one[1].close(1)
    with_one[2].merge(1)
    plan = many(mode="plan")
    assert (
        "Repositories with open pull requests that `mode: withdraw` could close: at most 7."
        in plan.stdout
    )
    host.requests.clear()
    run = many(mode="withdraw", max_pull_requests="1")
    assert run.exit_code == 0, run.console
    assert "Repositories with pull requests to withdraw: at most 7." in run.stdout
    assert "[7/7]" in run.stdout
    assert sum(not is_read(each) for each in host.requests) == 6
    # Edited: waiting; never opened: missing
    assert states(run) == {"withdrawn": 6, "waiting": 1, "to open": 1, "declined": 1, "complete": 3}
    assert rows(run)[with_one[0].full_name] == "waiting"
    assert f"because somebody has edited these files on its branch: {EDITED}" in run.stdout
    assert run.report["many"]["budget"]["withdrawable"] == 7
    assert run.outputs["deferred"] == "0"
    plan = many(mode="plan")
    assert states(plan) == {"waiting": 1, "to open": 7, "declined": 1, "complete": 3}
    again = many(mode="withdraw")
    assert states(again) == {"waiting": 1, "to open": 7, "declined": 1, "complete": 3}
    assert states(many()) == {"opened": 7, "waiting": 1, "declined": 1, "complete": 3}
    assert states(many(mode="plan")) == {"waiting": 8, "declined": 1, "complete": 3}
    pulls = [[p.state for p in each.pull_requests] for each in with_one[3:]]
    assert pulls == [["closed", "open"]] * 6


def test_proposing_it_again_counts_against_the_cap(many: Start, make: Make) -> None:
    made = make(0, 5)
    many()
    many(mode="withdraw")
    run = many(max_pull_requests="2")
    assert states(run) == {"opened": 2, "deferred": 3}
    assert sum(each.pull_requests[-1].state == "open" for each in made) == 2


def test_it_stops_after_five_equal_failures(many: Start, make: Make, host: StandInHost) -> None:
    make(0, 8)
    many()
    refuse(host, lambda request: request.method == "PATCH", 403)
    run = many(mode="withdraw")
    assert run.exit_code == 1
    assert states(run) == {"failed": 5, "deferred": 3}
    assert run.outputs["deferred"] == "3"


def test_it_ends_in_time(many: Start, make: Make, host: StandInHost) -> None:
    make(0, 5)
    many()
    run = many(mode="withdraw", max_minutes="0.02")
    assert run.exit_code == 0
    assert states(run)["deferred"] > 0
    left = states(run)["deferred"]
    assert states(many(mode="withdraw")) == {"withdrawn": left, "to open": 5 - left}


def test_repositories_of_kinds_and_no_private_name(action: Action) -> None:
    organisation = Organisation(action, 2, len(Odd) + 3)
    organisation.run()
    organisation.run()
    edited = organisation.repositories[-1]
    assert edited.private
    edited.commit({"secret.md": b"mine"}, branch=LIST_BRANCH)
    run = organisation.run(mode="withdraw")
    assert " 1 waiting." in run.lines[-1]
    found = [each.pull_requests for each in organisation.repositories if each is not edited]
    assert all(pull.state == "closed" for pulls in found for pull in pulls), run.console
    assert [pull.state for pull in edited.pull_requests] == ["open"]
    found = [each.pull_requests for each in organisation.repositories]
    before = [len(pulls) for pulls in found]
    organisation.run()
    run = organisation.run()
    found = [each.pull_requests for each in organisation.repositories]
    made = [len(pulls) for pulls in found]
    assert made == [n + 1 if n else n for n in before[:-1]] + [1]
    assert all(pulls[-1].state == "open" for pulls in found if pulls), run.console
    assert organisation.wrong() == []
