"""Many repositories: a plan and a check count correctly, and write nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness import is_read
from tests.organisation import FIVE_WRITES, Org, states

LONGER = (
    "That is longer than max_minutes (0.05 min). Repositories that do not fit into this time are"
)


@pytest.mark.parametrize(("lacking", "is_longer"), [(3, False), (4, True)])
def test_work_that_takes_longer_than_a_run_is_announced_and_done_by_the_next(
    org: Org, lacking: int, is_longer: bool
) -> None:
    """At intervals of 1 s, three fit into 3 s."""
    org.make(0, lacking)
    plan = org(mode="plan", max_minutes="0.05").or_fail()
    assert any(LONGER in line for line in plan.lines) is is_longer
    assert (LONGER in plan.summary) is is_longer
    opened_each = [states(org(max_minutes="0.05")).get("opened", 0) for _ in range(2)]
    assert sum(opened_each) == lacking
    assert opened_each[0] == 3


def test_a_plan_takes_no_request_for_a_single_repository(org: Org) -> None:
    """Also where the branch is merged and still there, and another one is looked for."""
    made = org.make(2, 3)
    org(definitions=org.action.listing("one"))
    for repository in made:
        repository.person.merge(1)
    org.expect("5 to open", definitions=org.action.listing("one", "two"), mode="plan")
    assert org.asked == ["GET /rate_limit", "GET /orgs/octo-org/repos", "nodes"]


def test_an_empty_repository_is_left_out_once_with_two_lists(org: Org) -> None:
    org.make(0, 1)
    org.make(0, 1, empty=True)
    run = org.expect("1 to open", profile="all", mode="plan")
    assert "Repositories selected: 1 of 2. Left out: empty 1." in run.lines


def test_a_plan_counts_everything_and_writes_nothing(org: Org) -> None:
    org.make(0, 1)
    org.expect("1 opened")
    org.make(8, 3)
    org.make(1, 0, archived=True)
    org.make(1, 0, locked=True)
    org.host.create_repository("octo-org/empty", empty=True)
    org.host.create_repository("octo-org/fork", parent="other/fork")
    org.host.create_repository("elsewhere/x")
    run = org.expect("3 to open, 1 waiting, 8 complete", mode="plan", max_pull_requests="2")
    assert org.only_reads
    listed = ["GET /rate_limit", "GET /orgs/octo-org/repos"]
    # The open pull request takes no request of its own
    assert [each.partition(" /repositories")[0] for each in org.asked] == [
        *listed,
        "nodes",
        "nodes",
    ]
    sentences = (
        "Repositories selected: 12 of 16. Left out: archived 1, forks 1, locked 1, empty 1.",
        "Requests to read them: 2; GraphQL points left: 4995.",
        "With missing files: 4 (open pull request: 1, to open: 3).",
        (
            "Pull requests to open: 2, to update: 0, left for later runs: 1. "
            "With GitHub's rate limits this takes about 1 min, and longer if a rate limit slows "
            "the run down."
        ),
    )
    for sentence in sentences:
        assert sentence in run.lines
        assert sentence in run.summary
    assert [run.outputs[name] for name in ("incomplete", "deferred")] == ["4", "1"]


def test_options_are_set_on_what_is_opened_or_updated_and_are_planned(org: Org) -> None:
    [repository] = org.make(0, 1)
    listing = org.action.listing("a.txt")
    org(definitions=listing)
    again = org(FIVE_WRITES, definitions=listing)
    assert (states(again), again.report["many"]["budget"]["seconds"]) == ({"waiting": 1}, 0)
    assert org.only_reads

    run = org(FIVE_WRITES, definitions=org.action.listing("a.txt", "b.txt"))
    # A commit, the description, labels, assignees: reviewers are asked when it is opened
    assert (states(run), run.report["many"]["budget"]["seconds"]) == ({"updated": 1}, 4)
    assert sum(not is_read(request) for request in org.sent) == 4
    [pull] = repository.pull_requests
    assert (list(pull.labels), list(pull.assignees)) == (["chore"], ["hubot"])


TEMPLATE: dict[str, Any] = {"path": "TEAM.md", "template": True, "content": "{repo} is ours\n"}


@pytest.mark.parametrize("mode", ["plan", "register"])
def test_a_plan_shows_each_content_once(org: Org, mode: str) -> None:
    org.make(0, 2)
    org.host.create_repository("octo-org/has-a", {"a.md": b"theirs\n"})
    listing = org.action.listing({"path": "a.md", "content": "text\n"}, "empty.md", TEMPLATE)
    run = org(mode=mode, definitions=listing)
    shown = {
        "a.md (repositories: 2)": "+text",
        "empty.md: empty (repositories: 3)": "",
        "TEAM.md (repositories: 3), for example in octo-org/r0": "+r0 is ours",
    }
    for heading, line in shown.items():
        assert run.lines.count(heading) == run.lines.count(line or heading) == (mode == "plan")
    assert run.summary.count("+r0 is ours") == run.summary.count("+text") == (mode == "plan")


def test_a_run_opens_ten_and_says_which_line_opens_all(org: Org) -> None:
    org.make(0, 12)
    plan, run = (
        org(mode=mode, definitions=org.action.listing("a"), max_pull_requests="")
        for mode in ("plan", "register")
    )
    for each in (plan, run):
        rest = "To do all of them in one run, set `max_pull_requests: 12`."
        rest = rest if each is plan else "The next run does the rest."
        for text in (each.stdout, each.summary):
            assert (
                "runs: 2. One run opens at most 10, and updates or closes at most 10."
                f" {rest}" in text
            )
    assert states(run) == {"opened": 10, "deferred": 2}
    assert "max_pull_requests" not in org(definitions=org.action.listing("a")).text
