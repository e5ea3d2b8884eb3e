"""Many repositories: open pull requests are updated when their list changes, within the limit."""

from __future__ import annotations

import pytest

from tests.fakehub import Fault, FaultKind, Repository, Request
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import is_read
from tests.organisation import Org

OLD = {"SECURITY.md": "Write to security@example.com\n", "a.md": "A\n"}
NEW = OLD | {"SECURITY.md": "Write to psirt@example.com\n"}


def content(repository: Repository) -> bytes:
    written = repository.files(BRANCH)["SECURITY.md"]
    assert isinstance(written, bytes)
    return written


def test_the_cap_counts_them_by_themselves(org: Org) -> None:
    """A mistake that is corrected everywhere does not keep new ones waiting."""
    made = org.make(0, 5)
    org(definitions=org.action.listing_of(OLD))
    org.make(0, 4)
    new = org.action.listing_of(NEW)
    plan = org(definitions=new, mode="plan", max_pull_requests="3")
    budget = plan.report["many"]["budget"]
    assert (budget["updates"], budget["now"], budget["deferred"]) == (3, 3, 3)
    assert "Pull requests to open: 3, to update: 3, left for later runs: 3." in plan.stdout
    run = org.expect("3 opened, 3 updated, 3 deferred", definitions=new, max_pull_requests="3")
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
    org.expect("1 opened, 2 updated, 6 waiting", definitions=new, max_pull_requests="3")
    org.expect("9 updated", definitions=org.action.listing_of(OLD), max_pull_requests="9")
    org.expect("9 waiting", definitions="list.json", update="false")
    untouched = org.expect(
        "9 waiting", definitions=org.action.listing_of(NEW), update="false", max_pull_requests="3"
    )
    budget = untouched.report["many"]["budget"]
    assert (budget["updates"], budget["deferred"]) == (0, 0)
    made[0].person.commit(dict.fromkeys(OLD), branch=BRANCH)
    listed = org.action.listing_of({**OLD, "c.md": "C\n"})
    for mode in ("plan", "register"):
        run = org.expect("9 waiting", definitions=listed, update="false", mode=mode)
        assert "What would be" not in run.text
    assert content(made[1]) == OLD["SECURITY.md"].encode()


@pytest.mark.parametrize("at", [0, 1, 2], ids=["commit", "description", "labels"])
@pytest.mark.parametrize("times", [1, None])
def test_the_cap_counts_updates_whose_answer_is_lost(org: Org, at: int, times: int | None) -> None:
    made = org.make(0, 3)
    org(definitions=org.action.listing_of(OLD))
    writes: list[Request] = []

    def is_lost(request: Request) -> bool:
        writes.extend([] if is_read(request) else [request])
        return not is_read(request) and len(writes) > at

    org.host.faults.add(Fault(FaultKind.RESET, match=is_lost, times=times, when="after"))
    org(definitions=org.action.listing_of(NEW), max_pull_requests="1", labels="docs")
    assert [content(each) for each in made].count(NEW["SECURITY.md"].encode()) == 1


def test_a_change_of_the_description_alone_is_no_update(org: Org) -> None:
    """It is none in what plan and run say. It has a place of its own under the cap for updates."""
    made = org.make(0, 3)
    listed = org.action.listing_of(OLD)
    org(definitions=listed)
    for each in made:
        each.person.commit({"SECURITY.md": b"Mine\n"})
    for mode, most in (("plan", "3"), ("register", "0"), ("register", "3")):
        org.expect("3 conflicting", definitions=listed, mode=mode, max_pull_requests=most)
        told = {"cannot be merged" in (each.pull_requests[0].body or "") for each in made}
        assert told == {(mode, most) == ("register", "3")}


def test_a_plan_shows_each_change_once(org: Org) -> None:
    org.make(0, 4)
    org(definitions=org.action.listing_of(OLD))
    plan = org(definitions=org.action.listing_of(NEW), mode="plan")
    assert all(map(is_read, org.sent))
    for text in (plan.stdout, plan.summary):
        assert "What would be written (1)" in text
        assert "(repositories: 4), to update in pull requests" in text
        assert text.count("-Write to security@example.com\n+Write to psirt@example.com") == 1
    assert len([each for each in org.sent if "/git/blobs/" in each.path]) == 1


def test_a_plan_shows_the_change_of_each_earlier_content(org: Org) -> None:
    for each in org.make(0, 2):
        listed = org.action.listing_of({"a.md": f"old {each.name}\n"})
        org(definitions=listed, target_repos=each.full_name)
    plan = org(definitions=org.action.listing_of({"a.md": ""}), mode="plan")
    assert {"-old r0", "-old r1"} <= set(plan.lines)
