"""Many repositories: open pull requests are updated when their list changes, within the limit."""

from __future__ import annotations

import pytest

from tests.fakehub import Fault, FaultKind, Repository, Request, StandInHost
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import Action, Start, is_read
from tests.organisation import Make, states

OLD = {"SECURITY.md": "Write to security@example.com\n", "a.md": "A\n"}
NEW = OLD | {"SECURITY.md": "Write to psirt@example.com\n"}


def content(repository: Repository) -> bytes:
    written = repository.files(BRANCH)["SECURITY.md"]
    assert isinstance(written, bytes)
    return written


def test_the_cap_counts_them_by_themselves(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    """A mistake that is corrected everywhere does not keep new ones waiting."""
    made = make(0, 5)
    many(definitions=action.listing_of(OLD))
    make(0, 4)
    new = action.listing_of(NEW)
    plan = many(definitions=new, mode="plan", max_pull_requests="3")
    budget = plan.report["many"]["budget"]
    assert (budget["updates"], budget["now"], budget["deferred"]) == (3, 3, 3)
    assert "Pull requests to open: 3, to update: 3, left for later runs: 3." in plan.stdout
    run = many(definitions=new, max_pull_requests="3")
    assert states(run) == {"updated": 3, "opened": 3, "deferred": 3}
    for each, then in (
        (plan, "To do all of them in one run, set `max_pull_requests: 5`."),
        (run, "The next run does the rest."),
    ):
        assert (
            "left for later runs: 3 (to open: 1, to update or close: 2). One run opens at most 3,"
            f" and updates or closes at most 3. {then}" in each.summary
        )
        assert then in each.stdout
    corrected = [each for each in made if content(each) == NEW["SECURITY.md"].encode()]
    assert len(corrected) == 3
    rest = many(definitions=new, max_pull_requests="3")
    assert states(rest) == {"waiting": 6, "updated": 2, "opened": 1}
    flipped = many(definitions=action.listing_of(OLD), max_pull_requests="9")
    assert states(flipped) == {"updated": 9}
    assert states(many(definitions="list.json", update="false")) == {"waiting": 9}
    untouched = many(definitions=action.listing_of(NEW), update="false", max_pull_requests="3")
    assert states(untouched) == {"waiting": 9}
    budget = untouched.report["many"]["budget"]
    assert (budget["updates"], budget["deferred"]) == (0, 0)
    made[0].person.commit(dict.fromkeys(OLD), branch=BRANCH)
    listed = action.listing_of({**OLD, "c.md": "C\n"})
    for mode in ("plan", "register"):
        run = many(definitions=listed, update="false", mode=mode)
        assert states(run) == {"waiting": 9}
        assert "What would be" not in run.text
    assert content(made[1]) == OLD["SECURITY.md"].encode()


@pytest.mark.parametrize("at", [0, 1, 2], ids=["commit", "description", "labels"])
@pytest.mark.parametrize("times", [1, None])
def test_the_cap_counts_an_update_whatever_answer_is_lost(
    many: Start, make: Make, host: StandInHost, action: Action, at: int, times: int | None
) -> None:
    made = make(0, 3)
    many(definitions=action.listing_of(OLD))
    writes: list[Request] = []

    def is_lost(request: Request) -> bool:
        writes.extend([] if is_read(request) else [request])
        return not is_read(request) and len(writes) > at

    host.faults.add(Fault(FaultKind.RESET, match=is_lost, times=times, when="after"))
    many(definitions=action.listing_of(NEW), max_pull_requests="1", labels="docs")
    assert [content(each) for each in made].count(NEW["SECURITY.md"].encode()) == 1


def test_a_change_of_the_description_alone_is_no_update(
    many: Start, make: Make, action: Action
) -> None:
    """It is none in what plan and run say. It has a place of its own under the cap for updates."""
    made = make(0, 3)
    listed = action.listing_of(OLD)
    many(definitions=listed)
    for each in made:
        each.person.commit({"SECURITY.md": b"Mine\n"})
    for mode, most in (("plan", "3"), ("register", "0"), ("register", "3")):
        run = many(definitions=listed, mode=mode, max_pull_requests=most)
        assert states(run) == {"conflicting": 3}
        told = {"cannot be merged" in (each.pull_requests[0].body or "") for each in made}
        assert told == {(mode, most) == ("register", "3")}


def test_a_plan_shows_each_change_once(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    make(0, 4)
    many(definitions=action.listing_of(OLD))
    host.requests.clear()
    plan = many(definitions=action.listing_of(NEW), mode="plan")
    assert all(map(is_read, host.requests))
    for text in (plan.stdout, plan.summary):
        assert "What would be written (1)" in text
        assert "(repositories: 4), to update in pull requests" in text
        assert text.count("-Write to security@example.com\n+Write to psirt@example.com") == 1
    assert len([each for each in host.requests if "/git/blobs/" in each.path]) == 1


def test_a_plan_shows_the_change_of_each_earlier_content(
    many: Start, make: Make, action: Action
) -> None:
    for each in make(0, 2):
        listed = action.listing_of({"a.md": f"old {each.name}\n"})
        many(definitions=listed, target_repos=each.full_name)
    plan = many(definitions=action.listing_of({"a.md": ""}), mode="plan")
    assert {"-old r0", "-old r1"} <= set(plan.lines)
