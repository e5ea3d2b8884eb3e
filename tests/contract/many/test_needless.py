"""Many repositories: open pull requests that are no longer needed."""

from __future__ import annotations

from functools import partial

import pytest

from tests.contract.many.test_asking import at_terminal
from tests.fakehub import Repository
from tests.harness import LIST_BRANCH, Start
from tests.organisation import Org, states

LIST = {"a.md": "A\n", "b.md": "B\n"}
BY_HAND = {path: text.encode() for path, text in LIST.items()}


@pytest.fixture
def register(org: Org) -> Start:
    """Runs with one list."""
    return partial(org, definitions=org.action.listing_of(LIST))


@pytest.fixture
def needless(register: Start, org: Org) -> list[Repository]:
    """Repositories whose pull requests have nothing left to add."""
    made = [org.host.create_repository(f"octo-org/r{number}", {"x": b""}) for number in range(3)]
    assert states(register()) == {"opened": 3}
    for repository in made:
        repository.person.commit(dict(BY_HAND))
    return made


def closed(made: list[Repository]) -> int:
    return [each.pull_requests[0].state for each in made].count("closed")


def test_as_many_are_closed_as_may_be_updated(register: Start, needless: list[Repository]) -> None:
    plan = register(mode="plan", max_pull_requests="1")
    assert (states(plan), plan.outputs["deferred"]) == ({"to close": 3}, "2")
    assert (plan.report["many"]["budget"]["closes"], closed(needless)) == (1, 0)
    each = "has every file that they add"
    # They are counted once for all repositories
    assert (plan.console.count(each), plan.summary.count(each)) == (1, 1)
    for number in (1, 2):
        run = register(max_pull_requests="1")
        left, found = 3 - number, states(run)
        assert (found["closed"], found["deferred"]) == (1, left), run.console
        assert (run.outputs["deferred"], closed(needless)) == (str(left), number)
    assert states(register(max_pull_requests="1")) == {"closed": 1, "complete": 2}
    assert states(register()) == {"complete": 3}


def test_what_is_closed_beside_a_new_one_counts_too(
    org: Org, register: Start, needless: list[Repository]
) -> None:
    """Updates and closings have one cap together, wherever they are."""
    others = [org.host.create_repository(f"octo-org/u{number}", {"x": b""}) for number in range(3)]
    assert states(register(target_repos="octo-org/u*")) == {"opened": 3}
    listed = org.action.listing_of({**LIST, "c.md": "C\n"})
    grown = partial(register, definitions=listed)

    def updated() -> int:
        return sum("c.md" in each.files(LIST_BRANCH) for each in others)

    plan = grown(mode="plan", max_pull_requests="3")
    budget = plan.report["many"]["budget"]
    # With each one that is opened, another one is closed
    assert (budget["updates"], budget["now"], budget["deferred"]) == (0, 3, 3)
    assert (budget["to_close"], budget["closes"]) == (3, 3)
    for text in (plan.stdout, plan.summary):
        assert "every file that they add: 3." in text
        assert "has all their files: at most 3." in text
    inputs = {"definitions": listed, "max_pull_requests": "3"}
    shown = at_terminal(org, b"no\n", inputs=inputs)[1]
    assert "(pull requests: 3 to open, at most 3 to close, no longer needed)" in shown
    for count in (3, 6):
        grown(max_pull_requests="3")
        assert closed(needless) + updated() == count
    assert states(grown()) == {"waiting": 6}


def test_two_in_one_repository_count_as_two(register: Start, needless: list[Repository]) -> None:
    """The cap is exceeded only by a repository that alone needs more, before any other one."""
    for repository in needless[1:]:
        repository.person.create_branch(f"{LIST_BRANCH}-2", LIST_BRANCH)
        body = repository.pull_requests[0].body or ""
        repository.person.open_pull_request(head=f"{LIST_BRANCH}-2", body=body)

    def all_closed() -> list[int]:
        pulls = (each.pull_requests for each in needless)
        return [sum(pull.state == "closed" for pull in some) for some in pulls]

    register(max_pull_requests="2")
    assert all_closed() == [1, 0, 0]
    for expected in ([1, 2, 0], [1, 2, 2]):
        run = register(max_pull_requests="1")
        assert all_closed() == expected
        assert "closed, because no longer needed: " in run.stdout


def test_one_that_the_token_may_not_close_is_left_alone(
    org: Org, register: Start, needless: list[Repository]
) -> None:
    needless[0].person.change(read_only=True)
    assert states(register(mode="plan")) == {"to close": 2, "not writable": 1}
    run = register()
    assert (run.exit_code, states(run)) == (0, {"closed": 2, "not writable": 1})
    assert "closed, because they were no longer needed: 2." in org.action.kept(run, "page")


def test_a_plan_names_one_that_is_edited(register: Start, needless: list[Repository]) -> None:
    needless[1].person.commit({"a.md": b"mine\n"}, branch=LIST_BRANCH)
    plan, run = register(mode="plan"), register()
    assert states(plan) == {"to close": 2, "complete": 1}
    for each in (plan, run):
        assert needless[1].full_name in each.stdout
        assert "a.md" in each.stdout
    assert states(run) == {"closed": 2, "complete": 1}
    assert needless[1].pull_requests[0].state == "open"
