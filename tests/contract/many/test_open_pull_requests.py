"""Many repositories: open pull requests that need requests of their own are read one by one."""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.example import LISTED, MISSING
from tests.fakehub import FaultKind, Repository, Request
from tests.harness import LIST_BRANCH
from tests.organisation import Org, is_graphql, rows, states

FIRST, SECOND = sorted(MISSING)[:2]
ONE_BY_ONE = re.compile(r"Reading (\d+) of them one by one")


def take_out(repository: Repository, *paths: str) -> None:
    """A reviewer does not want these files."""
    repository.person.commit(
        dict.fromkeys(paths), branch=LIST_BRANCH, author=("A", "a@example.com")
    )


def made_to_look_at(org: Org, complete: int, lacking: int) -> list[Repository]:
    """Repositories that the shared query does not show in full: somebody has removed a file."""
    made = org.make(complete, lacking)
    org()
    for repository in made[complete:]:
        take_out(repository, FIRST)
    return made


def test_the_summary_counts_what_the_run_has_found(org: Org) -> None:
    """Not what it could only expect before."""
    [repository] = org.make(0, 1)
    org()
    take_out(repository, *MISSING)
    run = org.expect("1 declined")
    assert "With missing files: 1 (open pull request: 1)." in run.lines
    # The state says it
    assert "because somebody deleted them from the branch" not in run.console + run.summary
    assert "Repositories selected: 1 of 1." in run.summary
    assert "With missing files" not in run.summary


def test_what_is_left_is_what_the_run_has_left(org: Org) -> None:
    [repository] = org.make(0, 1)
    repository.person.commit({"b.txt": b""})
    org(None, "a.txt", "b.txt")
    repository.person.commit({"b.txt": None})
    org.make(0, 2)
    # The branch holds it already, so only the description is written anew
    given = {"max_pull_requests": "1"}
    run = org.expect("1 opened, 1 deferred, 1 waiting", given, "a.txt", "b.txt")
    assert "Pull requests to open: 1, to update: 1, left for later runs: 1." in run.stdout
    assert "Pull requests left for later runs: 1." in run.stdout


def test_what_was_removed_is_found(org: Org) -> None:
    made = org.make(0, 25)
    org.expect("25 opened")
    org.make(10, 5)
    take_out(made[0], *MISSING)
    for repository in made[1:4]:
        take_out(repository, FIRST)
    take_out(made[4], FIRST, SECOND)
    made[4].person.commit({SECOND: b"back\n"}, branch=LIST_BRANCH)
    run = org.expect("5 to open, 24 waiting, 1 declined, 10 complete; exit 1", mode="check")
    # 10 repositories, then 16, then 14; the five with a removed file one by one: a query and
    # once more the branch, and where nothing is left of the files the tree, a comparison and the
    # tree before
    requests = Counter(each.partition(" ")[0] for each in org.asked[2:])
    assert (requests["nodes"], requests["query"], requests.total()) == (3, 5, 3 + 5 * 2 + 3)
    assert ONE_BY_ONE.findall(run.stdout) == ["5"]
    told = {each["repository"]: each["files"] for each in run.report["registrations"]}
    for repository in made[1:5]:
        of_each = {each["path"]: each["reason"] for each in told[repository.full_name]}
        reasons = {path: why for path, why in of_each.items() if path in MISSING and why}
        assert reasons.pop(FIRST) == "declined in #1"
        assert [*reasons] == [SECOND] * (repository is made[4])


ACTS: Mapping[str, tuple[Callable[[Repository], object], int]] = {
    "nothing": (lambda _: None, 0),
    "an edited file": (lambda each: each.person.commit({FIRST: b"mine\n"}, branch=LIST_BRANCH), 0),
    "a file of theirs": (lambda each: each.person.commit({"my.md": b"x\n"}, branch=LIST_BRANCH), 0),
    "one merged by hand": (
        lambda each: each.person.commit({FIRST: each.files(LIST_BRANCH)[FIRST]}),
        0,
    ),
    "a merge": (lambda each: each.person.merge(1), 0),
    "a close": (lambda each: each.person.close(1), 0),
    "a removed file": (lambda each: take_out(each, FIRST), 1),
    "a directory in its place": (
        lambda each: each.person.commit({FIRST: None, f"{FIRST}/x": b"x\n"}, branch=LIST_BRANCH),
        1,
    ),
    "a conflict": (lambda each: each.person.commit({FIRST: b"other\n"}), 1),
}
"""Acts of people, and how many repositories are then read alone."""


@pytest.mark.parametrize("what", ACTS)
def test_what_the_shared_query_says_of_a_branch_a_run_about_one_says_too(
    org: Org, what: str
) -> None:
    [repository] = org.make(0, 1)
    org()
    act, alone = ACTS[what]
    act(repository)
    tables = []
    alone_too: dict[str, Any] = {"target_repos": None, "target_repo": repository.full_name}
    for more in ({}, alone_too):
        run = org(mode="plan", commit_strategy="single", **more)
        columns = ("path", "standing", "update", "pull_request", "conflicts_with")
        tables.append([[row[each] for each in columns] for row in org.action.rows(run)])
        if not more:
            assert ONE_BY_ONE.findall(run.stdout) == ["1"] * alone
            assert (org.asked[2:] == ["nodes"]) == (not alone)
    assert tables[0] == tables[1]
    assert len(tables[0]) == len(LISTED)


def test_registering_looks_at_no_open_pull_request_beforehand(org: Org) -> None:
    """Log and summary say what people have taken out, as those of a plan do."""
    made = org.make(0, 5)
    org()
    take_out(made[0], FIRST)
    # One query for all, then the ordinary registration in each
    run = org.expect("5 waiting")
    assert (org.asked.count("nodes"), org.asked.count("query")) == (1, 5)
    assert not ONE_BY_ONE.search(run.stdout)
    for each in (run, org.expect("5 waiting", mode="plan")):
        for text in (each.stdout, each.summary):
            assert "waits to be merged (deleted from the branch: 1)" in text


def test_four_are_looked_at_at_once(org: Org) -> None:
    made_to_look_at(org, 0, 12)
    org.host.requests.clear()
    first, branches, seen, most = threading.Barrier(4), itertools.count(), dict[str, int](), 0

    def count(request: Request) -> None:
        nonlocal most
        most = max(most, sum(each.ended is None for each in org.host.requests))
        number = next(branches) if "/git/ref/" in request.path else first.parties
        # A request that is sent again does not count
        if number < first.parties and seen.setdefault(request.path, number) == number:
            first.wait(timeout=60)

    org.host.on_request = count
    org.expect("12 waiting", mode="plan")
    assert (most, first.broken) == (4, False)


def test_never_are_two_queries_under_way(org: Org) -> None:
    """Neither beside the work on a batch, nor where repositories are read one by one.

    The pause gives a second one time to come. Without a defect none comes, however long it is.
    """
    made_to_look_at(org, 30, 8)
    org.host.create_repository("octo-org/.github", {"SECURITY.md": b""})
    lock, under_way, most = threading.Lock(), 0, 0

    def count(request: Request) -> None:
        nonlocal under_way, most
        if not is_graphql(request):
            return
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.02)
        with lock:
            under_way -= 1

    org.host.on_request = count
    run = org(mode="plan", respect_alternatives="true")
    assert states(run)["waiting"] == 8
    assert (org.asked.count("query") >= 8, most) == (True, 1)


@pytest.mark.parametrize(
    ("kind", "state", "code"),
    [
        (FaultKind.ERROR_502_HTML, "failed", 1),
        # GitHub lets it wait beyond the end
        (FaultKind.SECONDARY_403_RETRY_AFTER, "not read", 0),
    ],
)
def test_an_unread_one_stops_no_other(org: Org, kind: FaultKind, state: str, code: int) -> None:
    made = made_to_look_at(org, 0, 3)
    place = f"/repositories/{made[1].id}/git/ref/"
    org.fault(kind, lambda request: request.path.startswith(place), retry_after=3000)
    run = org(mode="plan", max_minutes="5")
    assert (run.exit_code, rows(run)[made[1].full_name]) == (code, state), run.console
    assert states(run)["waiting"] >= 1 + code


@pytest.mark.parametrize(
    ("mode", "fail_on", "code"),
    [("plan", "", 0), ("check", "missing", 1), ("check", "invalid", 1)],
)
def test_what_points_do_not_reach_is_not_read(org: Org, mode: str, fail_on: str, code: int) -> None:
    """A check fails even where nothing that was read makes it fail."""
    made_to_look_at(org, 3, 7)
    # One query reads all of them; then one point for each
    org.set_points(6)
    run = org(mode=mode, fail_on=fail_on)
    assert run.exit_code == code, run.console
    # The last five are kept for a request that is repeated
    found = states(run)
    assert (found["complete"], found["not read"] + found["waiting"]) == (3, 7)
    assert found["not read"] >= 3
    unread = [name for name, state in rows(run).items() if state == "not read"]
    assert all(name in run.summary for name in unread)
    outcomes = {(row["outcome"], row["standing"]) for row in org.action.rows(run)}
    assert [standing for outcome, standing in outcomes if outcome == "not read"] == ["unread"]
    assert "Not read" in org.action.kept(run, "page")
    assert ("select fewer repositories at a time" in run.stderr) == (mode == "check")


def test_what_minutes_do_not_suffice_for_is_not_read(org: Org) -> None:
    made_to_look_at(org, 0, 10)
    org.slow_down(lambda request: not is_graphql(request), 10)
    run = org(mode="plan", max_minutes="1").or_fail()
    assert min(states(run)["waiting"], states(run)["not read"]) >= 1


def test_what_only_people_have_edited_is_not_deferred(org: Org) -> None:
    """The query for all does not see it, so a plan reads each repository alone."""
    made = org.make(0, 8)
    org(None, {"path": FIRST, "content": "old\n"})
    for repository in made[2:]:
        repository.person.commit({FIRST: b"mine\n"}, branch=LIST_BRANCH)
    new, given = {"path": FIRST, "content": "new\n"}, {"max_pull_requests": "1"}
    plan = org({"mode": "plan", **given}, new)
    run = org.expect("1 updated, 1 deferred, 6 waiting", given, new)
    assert plan.outputs["deferred"] == run.outputs["deferred"] == "1", run.text


# --- A run that ends before it has looked at what people have taken out ----------------------


def with_a_file_taken_out(org: Org, count: int, then: str = "a\n") -> dict[str, str | None]:
    """Open pull requests with two files, take one out of each, and give the inputs.

    After that the list has ``then`` as the content of the other one.
    """
    made = org.make(0, count)
    listing = org.action.listing_of({"a.md": "a\n", "z.md": "z\n"})
    org(definitions=listing)
    for repository in made:
        take_out(repository, "z.md")
    org.action.listing_of({"a.md": then, "z.md": "z\n"})
    return {"definitions": listing}


@pytest.mark.parametrize(("requests", "most_wrong"), [(4, 2), (12, 0), (17, 2), (30, 0)])
def test_what_a_dying_token_cannot_read_is_unread(org: Org, requests: int, most_wrong: int) -> None:
    """After several refusals GitHub says 403 in place of 401, which is not about pull requests."""
    given = with_a_file_taken_out(org, 14)
    org.host.quirks.most_wrong_tokens = most_wrong
    run = org(given, mode="plan", host_token=org.host.create_token(requests=requests))
    assert (run.exit_code, states(run).keys() <= {"not read", "waiting"}) == (2, True), run.console


def test_what_waits_is_told_no_better_than_it_was_read(org: Org) -> None:
    """It ends before it looks at what people have taken out; all pull requests are open."""
    given = with_a_file_taken_out(org, 9)
    run = org(given, host_token=org.host.create_token(requests=5))
    assert states(run)["waiting"] > 5, run.console
    assert "open pull request, not read in this run: [" in run.summary
    rows = org.action.rows(run)
    assert {row["standing"] for row in rows if row["path"] == "z.md"} == {"declined", "unread"}
    assert all(row["pull_request"] for row in rows if row["standing"] == "unread")


def test_of_what_is_deferred_only_what_was_looked_at_is_said(org: Org) -> None:
    """The run ends before it looks at what somebody has taken out, or has edited."""
    given = with_a_file_taken_out(org, 12, then="new\n")
    dying = org.host.create_token(requests=5)
    run = org.expect("1 failed, 11 deferred; exit 1", given, host_token=dying)
    assert "At most these pull requests: up to 12 of the repositories have" in run.console
    assert run.summary.count("deferred; its pull request was not read") == 11
    assert "deferred; its" not in run.console
    deferred = [row for row in run.report["many"]["rows"] if row["state"] == "deferred"]
    assert all(row["missing"] == 0 and row["pull_request"].endswith("/1") for row in deferred)
    assert run.report["many"]["standings"]["unread"] == 11 * 2


@pytest.mark.parametrize("why", ["GitHub fails", "too few points are left"])
def test_what_cannot_be_read_alone_beyond_the_cap_is_deferred(org: Org, why: str) -> None:
    given = with_a_file_taken_out(org, 3, then="new\n")
    if why == "GitHub fails":
        org.fault(FaultKind.ERROR_500, lambda r: is_graphql(r) and "nodes(ids:" not in str(r.json))
    else:
        org.set_points(2)
    run = org.expect("3 deferred", given, max_pull_requests="0")
    assert run.outputs["deferred"] == "3"
