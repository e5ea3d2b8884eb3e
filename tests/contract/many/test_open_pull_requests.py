"""Many repositories: open pull requests that need requests of their own are read one by one."""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping

import pytest

from tests.example import LISTED, MISSING
from tests.fakehub import Fault, FaultKind, Repository, Request, StandInHost
from tests.harness import LIST_BRANCH, Action, Run, Start, only_reads
from tests.organisation import Make, asked, rows, states

FIRST, SECOND = sorted(MISSING)[:2]
ONE_BY_ONE = re.compile(r"Reading (\d+) of them one by one")


def take_out(repository: Repository, *paths: str) -> None:
    """A reviewer does not want these files."""
    repository.person.commit(
        dict.fromkeys(paths), branch=LIST_BRANCH, author=("A", "a@example.com")
    )


def made_to_look_at(many: Start, make: Make, complete: int, lacking: int) -> list[Repository]:
    """Repositories that the shared query does not show in full: somebody has removed a file."""
    made = make(complete, lacking)
    many()
    for repository in made[complete:]:
        take_out(repository, FIRST)
    return made


def files(run: Run, repository: str) -> dict[str, str]:
    """Why a path is not going to be created in a repository, where there is a reason."""
    [found] = [each for each in run.report["registrations"] if each["repository"] == repository]
    return {each["path"]: each["reason"] for each in found["files"] if each["path"] in MISSING}


def test_the_summary_counts_what_the_run_has_found(many: Start, make: Make) -> None:
    """Not what it could only expect before."""
    [repository] = make(0, 1)
    many()
    take_out(repository, *MISSING)
    run = many()
    assert "With missing files: 1 (open pull request: 1)." in run.lines
    assert states(run) == {"declined": 1}
    # The state says it
    assert "because somebody deleted them from the branch" not in run.console + run.summary
    assert "Repositories selected: 1 of 1." in run.summary
    assert "With missing files" not in run.summary


def test_what_is_left_is_what_the_run_has_left(many: Start, make: Make, action: Action) -> None:
    [repository] = make(0, 1)
    repository.person.commit({"b.txt": b""})
    listed = action.listing("a.txt", "b.txt")
    many(definitions=listed)
    repository.person.commit({"b.txt": None})
    make(0, 2)
    run = many(definitions=listed, max_pull_requests="1")
    assert "Pull requests to open: 1, to update: 1, left for later runs: 1." in run.stdout
    # The branch holds it already, so only the description is written anew
    assert states(run) == {"opened": 1, "waiting": 1, "deferred": 1}
    assert "Pull requests left for later runs: 1." in run.stdout


@pytest.mark.parametrize("mode", ["plan", "check"])
def test_what_was_removed_is_found(many: Start, make: Make, host: StandInHost, mode: str) -> None:
    made = make(0, 25)
    assert states(many()) == {"opened": 25}
    make(10, 5)
    take_out(made[0], *MISSING)
    for repository in made[1:4]:
        take_out(repository, FIRST)
    take_out(made[4], FIRST, SECOND)
    made[4].person.commit({SECOND: b"back\n"}, branch=LIST_BRANCH)
    host.requests.clear()
    run = many(mode=mode)
    assert only_reads(host)
    # 10 repositories, then 16, then 14; the five with a removed file one by one: a query and
    # once more the branch, and where nothing is left of the files the tree, a comparison and the
    # tree before
    requests = Counter(each.partition(" ")[0] for each in asked(host)[2:])
    assert requests["nodes"] == 3
    assert requests["query"] == 5
    assert requests.total() == 3 + 5 * 2 + 3
    assert ONE_BY_ONE.findall(run.stdout) == ["5"]
    assert states(run) == {"declined": 1, "waiting": 24, "to open": 5, "complete": 10}
    assert rows(run)[made[0].full_name] == "declined"
    for repository in made[1:5]:
        reasons = files(run, repository.full_name)
        changed = {SECOND} if repository is made[4] else set()
        assert {path for path, why in reasons.items() if why} == {FIRST, *changed}
        assert reasons[FIRST] == "declined in #1"


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
def test_what_the_shared_query_says_of_a_branch_is_what_a_run_about_one_says(
    action: Action, many: Start, make: Make, host: StandInHost, what: str
) -> None:
    [repository] = make(0, 1)
    many()
    act, alone = ACTS[what]
    act(repository)
    host.requests.clear()
    tables = []
    for number, more in enumerate(
        ({}, {"target_repos": None, "target_repo": repository.full_name})
    ):
        run = many(mode="plan", commit_strategy="single", env=action.keeping, **more)
        columns = ("path", "standing", "update", "pull_request", "conflicts_with")
        tables.append([[row[each] for each in columns] for row in action.rows(run)])
        if number == 0:
            assert ONE_BY_ONE.findall(run.stdout) == ["1"] * alone
            assert (asked(host)[2:] == ["nodes"]) == (not alone)
    assert tables[0] == tables[1]
    assert len(tables[0]) == len(LISTED)


def test_registering_looks_at_no_open_pull_request_beforehand(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(0, 5)
    many()
    take_out(made[0], FIRST)
    host.requests.clear()
    run = many()
    # One query for all, then the ordinary registration in each
    assert Counter(asked(host)[2:])["nodes"] == 1
    assert Counter(asked(host)[2:])["query"] == 5
    assert not ONE_BY_ONE.search(run.stdout)
    assert states(run) == {"waiting": 5}


def test_what_was_taken_out_is_told_in_log_and_summary(many: Start, make: Make) -> None:
    [repository] = make(0, 1)
    many()
    take_out(repository, FIRST)
    assert states(many()) == {"waiting": 1}
    for mode in ("register", "plan"):
        run = many(mode=mode)
        assert states(run) == {"waiting": 1}
        for text in (run.stdout, run.summary):
            assert "waits to be merged (deleted from the branch: 1)" in text
            assert run.outputs["declined"] == "1"


def test_four_are_looked_at_at_once(many: Start, make: Make, host: StandInHost) -> None:
    made_to_look_at(many, make, 0, 12)
    host.requests.clear()
    first, branches, most = threading.Barrier(4), itertools.count(), 0

    def count(request: Request) -> None:
        nonlocal most
        most = max(most, sum(each.ended is None for each in host.requests))
        if "/git/ref/" in request.path and next(branches) < first.parties:
            first.wait(timeout=60)

    host.on_request = count
    assert states(many(mode="plan")) == {"waiting": 12}
    assert most == 4


def test_never_are_two_queries_under_way(many: Start, make: Make, host: StandInHost) -> None:
    """Neither beside the work on a batch, nor where repositories are read one by one.

    The pause gives a second one time to come. Without a defect none comes, however long it is.
    """
    made_to_look_at(many, make, 30, 8)
    host.create_repository("octo-org/.github", {"SECURITY.md": b""})
    lock, under_way, most = threading.Lock(), 0, 0

    def count(request: Request) -> None:
        nonlocal under_way, most
        if request.path != "/graphql":
            return
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.02)
        with lock:
            under_way -= 1

    host.on_request = count
    host.requests.clear()
    run = many(mode="plan", respect_alternatives="true")
    assert states(run)["waiting"] == 8
    assert Counter(asked(host))["query"] >= 8
    assert most == 1


def test_one_that_cannot_be_looked_at_fails_and_stops_no_other(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = made_to_look_at(many, make, 0, 3)
    place = f"/repositories/{made[1].id}/git/ref/"
    fails = Fault(FaultKind.ERROR_502_HTML, match=lambda r: r.path.startswith(place), times=None)
    host.faults.add(fails)
    run = many(mode="plan")
    assert run.exit_code == 1, run.console
    assert states(run) == {"waiting": 2, "failed": 1}
    assert rows(run)[made[1].full_name] == "failed"


@pytest.mark.parametrize(
    ("mode", "fail_on", "exit_code"),
    [("plan", "", 0), ("check", "missing", 1), ("check", "invalid", 1)],
)
def test_what_points_do_not_suffice_for_is_not_read(
    many: Start, make: Make, host: StandInHost, mode: str, fail_on: str, exit_code: int
) -> None:
    """A check fails even where nothing that was read makes it fail."""
    made_to_look_at(many, make, 3, 7)
    assert host.graphql_rate_limit
    # One query reads all of them; then one point for each
    host.graphql_rate_limit.remaining = 6
    run = many(mode=mode, fail_on=fail_on)
    assert run.exit_code == exit_code, run.console
    # The last five are kept for a request that is repeated
    assert states(run)["complete"] == 3
    assert states(run)["not read"] + states(run)["waiting"] == 7
    assert states(run)["not read"] >= 3
    assert f"{states(run)['not read']} not read" in run.stdout
    unread = [name for name, state in rows(run).items() if state == "not read"]
    assert all(name in run.summary for name in unread)
    assert ("select fewer repositories at a time" in run.stderr) == (mode == "check")


def test_what_minutes_do_not_suffice_for_is_not_read(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    made_to_look_at(many, make, 0, 10)

    def slow(request: Request) -> None:
        if request.path != "/graphql":
            action.clock.sleep(10)

    host.on_request = slow
    run = many(mode="plan", max_minutes="1").or_fail()
    assert states(run)["waiting"] >= 1
    assert states(run)["not read"] >= 1


def test_what_github_lets_wait_beyond_the_end_is_not_read(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = made_to_look_at(many, make, 0, 3)
    place = f"/repositories/{made[1].id}/git/ref/"
    kind = FaultKind.SECONDARY_403_RETRY_AFTER
    host.faults.add(Fault(kind, match=lambda r: r.path.startswith(place), retry_after=3000))
    run = many(mode="plan", max_minutes="5").or_fail()
    assert rows(run)[made[1].full_name] == "not read"
    assert "failed" not in states(run)


def test_what_was_not_read_is_in_table_and_page(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    [repository] = made_to_look_at(many, make, 0, 1)
    assert host.graphql_rate_limit
    host.graphql_rate_limit.remaining = 3
    run = many(mode="plan", env=action.keeping)
    assert states(run) == {"not read": 1}
    table = action.rows(run)
    standings = [row["standing"] for row in table if row["repository"] == repository.full_name]
    assert standings == ["unread"] * len(LISTED)
    assert "Not read" in action.kept(run, "page")


def test_what_only_people_have_edited_is_not_deferred(
    action: Action, many: Start, make: Make
) -> None:
    """The query for all does not see it, so a plan reads each repository alone."""
    made = make(0, 8)
    given = {"profile": None, "definitions": action.listing_of({FIRST: "old\n"})}
    many(**given)
    for repository in made[2:]:
        repository.person.commit({FIRST: b"mine\n"}, branch=LIST_BRANCH)
    action.listing_of({FIRST: "new\n"})
    given["max_pull_requests"] = "1"
    plan, run = many(mode="plan", **given), many(**given)
    assert plan.outputs["deferred"] == run.outputs["deferred"] == "1", run.text
    assert states(run) == {"updated": 1, "waiting": 6, "deferred": 1}


# --- A run that ends before it has looked at what people have taken out ----------------------


def with_a_file_taken_out(
    action: Action, many: Start, make: Make, count: int
) -> dict[str, str | None]:
    """Open pull requests with two files, take one out of each, and give the inputs."""
    made = make(0, count)
    given = {"profile": None, "definitions": action.listing_of({"a.md": "a\n", "z.md": "z\n"})}
    many(**given)
    for repository in made:
        take_out(repository, "z.md")
    return given


@pytest.mark.parametrize("most_wrong", [0, 2])
@pytest.mark.parametrize("requests", [4, 12, 17, 30])
def test_what_a_token_that_ends_cannot_read_is_unread(
    action: Action, many: Start, make: Make, host: StandInHost, requests: int, most_wrong: int
) -> None:
    """After several refusals GitHub says 403 in place of 401, which is not about pull requests."""
    given = with_a_file_taken_out(action, many, make, 14)
    host.quirks.most_wrong_tokens = most_wrong
    run = many(**given, mode="plan", host_token=host.create_token(requests=requests))
    assert (run.exit_code, states(run).keys() <= {"not read", "waiting"}) == (2, True), run.console


def test_what_waits_is_told_no_better_than_it_was_read(
    action: Action, many: Start, make: Make, host: StandInHost
) -> None:
    """It ends before it looks at what people have taken out; all pull requests are open."""
    given = with_a_file_taken_out(action, many, make, 9)
    run = many(**given, env=action.keeping, host_token=host.create_token(requests=5))
    assert states(run)["waiting"] > 5, run.console
    assert "open pull request, not read in this run: [" in run.summary
    rows = action.rows(run)
    assert {row["standing"] for row in rows if row["path"] == "z.md"} == {"declined", "unread"}
    assert all(row["pull_request"] for row in rows if row["standing"] == "unread")
    page = action.kept(run, "page")
    assert "Open pull requests: 9. Review and merge them." in page


def test_of_what_is_deferred_only_what_was_looked_at_is_said(
    action: Action, many: Start, make: Make, host: StandInHost
) -> None:
    """The run ends before it looks at what somebody has taken out, or has edited."""
    given = with_a_file_taken_out(action, many, make, 12)
    action.listing_of({"a.md": "new\n", "z.md": "z\n"})
    run = many(**given, host_token=host.create_token(requests=5))
    assert states(run) == {"failed": 1, "deferred": 11}, run.console
    assert "At most these pull requests: up to 12 of the repositories have" in run.console
    assert run.summary.count("deferred; its pull request was not read") == 11
    assert "deferred; its" not in run.console
    deferred = [row for row in run.report["many"]["rows"] if row["state"] == "deferred"]
    assert all(row["missing"] == 0 and row["pull_request"].endswith("/1") for row in deferred)
    assert run.report["many"]["standings"]["unread"] == 11 * 2


@pytest.mark.parametrize("why", ["GitHub fails", "too few points are left"])
def test_what_cannot_be_read_alone_beyond_the_cap_is_deferred(
    action: Action, many: Start, make: Make, host: StandInHost, why: str
) -> None:
    given = with_a_file_taken_out(action, many, make, 3)
    action.listing_of({"a.md": "new\n", "z.md": "z\n"})
    if why == "GitHub fails":

        def is_about_one(request: Request) -> bool:
            return request.path == "/graphql" and "nodes(ids:" not in request.json["query"]

        host.faults.add(Fault(FaultKind.ERROR_502_HTML, match=is_about_one, times=None))
    else:
        assert host.graphql_rate_limit
        host.graphql_rate_limit.remaining = 2
    run = many(**given, max_pull_requests="0")
    assert (states(run), run.outputs["deferred"]) == ({"deferred": 3}, "3"), run.console
