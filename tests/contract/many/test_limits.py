"""Many repositories: GitHub's pace, the end of the run, and what ends the writing."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from tests.fakehub import FaultKind, Lag, Repository, Request
from tests.fakehub.limits import Pace
from tests.harness import LIST_BRANCH, is_read, meanwhile
from tests.organisation import ALL, FIVE_WRITES, Org, is_graphql, is_write, refuse_writes, rows


def test_an_enterprise_server_without_limits_is_written_to(org: Org) -> None:
    org.host.rate_limit = org.host.graphql_rate_limit = None
    first, _ = org.make(0, 2)
    org.expect("2 opened")
    # A plan reads this one alone
    first.person.commit({"AGENTS.md": None}, branch=LIST_BRANCH)
    org.expect("2 waiting", mode="plan")
    assert "query" in org.asked


def test_after_so_many_minutes_nothing_new_begins(org: Org) -> None:
    org.make(0, 5)
    # Two begin within 1.8 s, with one between two writes: the third would write after them
    run = org.expect("2 opened, 3 deferred", max_minutes="0.03")
    assert "max_minutes" in run.summary
    assert run.console.count("deferred: 3. The time in max_minutes (0.03 min) is over") == 1
    assert "takes these repositories first: [octo-org/r2]" in run.summary


def test_what_the_caps_leave_anyway_is_not_left_because_of_the_time(org: Org) -> None:
    org.make(0, 2)
    meanwhile(org.host, is_write, lambda: org.action.clock.sleep(70))
    given = {"max_minutes": "1", "max_pull_requests": "1", "max_wait_minutes": "0"}
    assert "max_minutes" not in org.expect("1 opened, 1 deferred", given).text


@pytest.mark.parametrize("mode", ["plan", "register"])
def test_the_pages_of_a_fork_end_with_the_run(org: Org, mode: str) -> None:
    [fork] = org.make(0, 1, parent="octo-org/parent")
    for _ in range(1000):
        fork.person.open_pull_request(head=LIST_BRANCH, head_repository="stranger/example")
    pages = org.slow_down(lambda request: request.path.endswith("/pulls"), 100)
    run = org(mode=mode, max_minutes="5", target_repos=f"{ALL}, fork:true")
    assert (run.exit_code, org.only_reads) == (1, True), run.console
    assert "The time in max_minutes is over" in run.stderr
    assert 2 <= len(pages) <= 5


@pytest.mark.parametrize(("repositories", "seconds"), [(80, 1.0), (81, 7.2)])
def test_a_run_that_needs_more_writes_than_github_takes_in_an_hour_begins_slowly(
    org: Org, repositories: int, seconds: float
) -> None:
    """Each repository takes five, as in `test_githubs_pace_is_not_met…`, where a run ends."""
    org.make(0, repositories)
    org(FIVE_WRITES, max_minutes="0.5").or_fail()
    times = [each.ended for each in org.sent if is_write(each) and each.ended]
    assert len(times) >= 5
    assert times[-1] - times[0] == pytest.approx((len(times) - 1) * seconds, rel=0.1)


@pytest.mark.parametrize(
    ("pace", "repositories", "limits", "seconds"),
    [
        pytest.param(Pace(), 85, 0, 100, id="as documented"),
        # Lower limits were seen: docs/github-behaviour.md
        pytest.param(Pace(per_minute=20), 45, 2, 150, id="20 a minute"),
        pytest.param(Pace(per_minute=20, status=422), 45, 2, 240, id="too quickly"),
    ],
)
def test_each_pull_request_takes_a_second_and_a_limit_one_pause(
    org: Org, pace: Pace, repositories: int, limits: int, seconds: int
) -> None:
    org.make(0, repositories)
    org.host.pace = pace
    began = org.action.clock.now
    run = org.expect(f"{repositories} opened")
    assert (pace.refused, run.stdout.count("Waiting ")) == (limits, limits)
    assert org.action.clock.now - began < seconds


@pytest.mark.large
@pytest.mark.parametrize("day", ["real, with options", "slow to know"])
def test_githubs_pace_is_not_met_where_more_writes_are_needed_than_planned(
    org: Org, day: str
) -> None:
    lag, repositories, given = {
        "real, with options": (0.8, 110, {**FIVE_WRITES, "team_reviewers": ""}),
        "slow to know": (9.0, 70, {"max_minutes": "120"}),
    }[day]
    org.make(0, repositories)
    org.host.real_day()
    org.host.quirks.lag = Lag(seconds=lag)
    org(given, max_wait_minutes="10").or_fail()
    assert (max(org.opened), sum(org.opened) > 50) == (1, True)
    assert org.host.pace
    assert org.host.pace.refused == 0


@pytest.mark.parametrize(
    ("limits", "intervals", "left"),
    [
        # A request counts once, however often it is stopped
        ([0, 0, 0], [2] * 9 + [1] * 9, [1]),
        ([0, 1, 2], [6, 12] + [8] * 9 + [4] * 10 + [2] * 10 + [1] * 8, [1, 2, 3, 2, 1]),
        # The shorter interval was too short
        ([0, 12], [2] * 9 + [1] * 2 + [3] + [2] * 19 + [1] * 8, [1]),
    ],
    ids=str,
)
def test_limits_make_the_interval_longer_for_a_while(
    org: Org, limits: list[int], intervals: list[int], left: list[int]
) -> None:
    """``limits`` are the numbers of pull requests that are open when a limit stops the next one."""
    number = len(intervals) + 1
    org.make(0, number)
    due = [*limits]

    def is_due(request: Request) -> bool:
        if is_read(request) or (done := sum(org.opened)) not in due:
            return False
        due.remove(done)
        return True

    org.fault(FaultKind.SECONDARY_403_RETRY_AFTER, is_due, retry_after=1)
    run = org.expect(f"{number} opened")
    taken = (each for each in org.sent if is_write(each) and each.status == 200)
    times = [each.ended for each in taken if each.ended]
    found = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert found == pytest.approx(intervals, abs=0.2)
    assert [int(each) for each in re.findall(r"about (\d+) min left", run.stdout)] == left


WORDS = ("repo", "rule", "rules", "found", "ref", "create", "repository", "being")
"""Names of repositories that are also words in what GitHub says."""
RULES = ("names", "signatures", "checks", "reviews", "deployments", "commits", "files")
IN_A_ROW = "5 repositories in a row failed for the same cause"


def test_five_failures_in_a_row_with_one_cause_end_the_writing(org: Org) -> None:
    for name in WORDS:
        org.add(name).person.protect("chore/*", "ruleset")
    run = org.expect("5 failed, 3 deferred; exit 1", max_pull_requests="2")
    assert f"deferred: 3. {IN_A_ROW}" in run.summary
    # The cap had no part in it
    assert "Pull requests left for later" not in run.text
    [warning] = [line for line in run.stderr.splitlines() if f"deferred: 3. {IN_A_ROW}" in line]
    assert "Either a ruleset forbids its name" in warning
    assert not any(request.method == "PUT" for request in org.sent)


def unique(repository: Repository) -> str:
    """Words with an address and a digest; a table of them is in `tests/unit/test_classify.py`."""
    address = f"https://github.com/{repository.full_name}/unblock-secret"
    digest = hashlib.sha256(repository.name.encode()).hexdigest()
    return f"Secret detected in content. Unblock it: {address}/{digest}"


@pytest.mark.parametrize(
    ("names", "words", "end", "told"),
    [
        (
            [f"r{n}" for n in range(7)],
            lambda each: f"A rule about {RULES[each.id % 7]} forbids",
            "7 failed",
            ["1"] * 7,
        ),
        (WORDS, unique, "5 failed, 3 deferred", ["5"]),
    ],
    ids=["seven causes", "what is unique in GitHub's words makes no other cause"],
)
def test_five_failures_end_the_writing_only_with_one_cause(
    org: Org, names: Iterable[str], words: Callable[[Repository], str], end: str, told: list[str]
) -> None:
    for name in names:
        org.add(name)
    refuse_writes(org.host, words)
    run = org.expect(f"{end}; exit 1")
    assert re.findall(r"\*\*(\d) failed:", run.summary) == told
    assert "leave it out until then" in run.stdout


def test_a_token_that_is_bad_is_no_reason_to_leave_a_repository_out(org: Org) -> None:
    org.make(0, 2)
    org.refuse(is_write, 401, message="Bad credentials")
    assert "leave it out until then" not in org.expect("1 failed, 1 deferred; exit 1").stdout


@pytest.mark.parametrize(
    ("fails", "state"), [(True, "8 failed, 1 opened; exit 1"), (False, "9 opened")]
)
def test_a_pull_request_ends_a_row_of_failures(org: Org, fails: bool, state: str) -> None:
    """Also one that lacks a file."""
    for each in range(9):
        org.add(f"r{each}", docs=b"a file")
    number = itertools.count(1)
    # A repository takes two writes
    org.refuse(lambda request: fails and is_write(request) and next(number) != 9, 403)
    org.expect(state, None, "a.md", "docs/b.md")


def test_refused_updates_in_a_row_end_the_writing_as_well(org: Org) -> None:
    org.make(0, 8)
    org.expect("8 opened", None, {"path": "a.md", "content": "old\n"})
    org.refuse(is_write, 403)
    run = org.expect("5 failed, 3 deferred; exit 1", None, {"path": "a.md", "content": "new\n"})
    assert IN_A_ROW in run.summary


@pytest.mark.parametrize(("reads", "minutes"), [(True, "1"), (False, "0")])
def test_a_limit_that_lasts_is_the_end_and_no_failure(org: Org, reads: bool, minutes: str) -> None:
    """It lasts from the third repository on: from its write, or from the reading before it."""
    org.make(0, 7)
    limit = org.fault(
        FaultKind.PRIMARY_403,
        lambda r: is_graphql(r) and sum(org.opened) == 2 and (reads or is_write(r)),
        reset_in=3000,
    )
    run = org.expect("2 opened, 5 deferred", max_wait_minutes=minutes)
    assert len(limit.hits) == 1
    assert "Run this again after" in run.report["many"]["stopped"]
    words = "deferred: 5. It would fail in the other repositories for the same reason"
    assert run.console.count(words) == 1
    assert run.summary.count("the rate limit of the token is used up") == 1
    assert [row["missing"] for row in run.report["many"]["rows"]] == [4] * 7
    org.host.faults.clear()
    org.expect("5 opened, 2 waiting")


@pytest.mark.parametrize("last", ["git/refs", "graphql", "pulls"])
def test_what_a_limit_stops_half_way_is_deferred_and_done_by_the_next_run(
    org: Org, last: str
) -> None:
    org.make(0, 3)
    org.refuse(lambda request: "createRef" in str(request.json))
    limit = org.fault(
        FaultKind.PRIMARY_403, lambda r: r.path.endswith(last) and is_write(r), reset_in=3000
    )
    run = org.expect("3 deferred")
    reasons = [row["reason"] for row in run.report["many"]["rows"] if row["reason"]]
    assert (len(limit.hits), len(reasons)) == (1, last != "git/refs")
    assert all("Run this again after" in reason for reason in reasons)
    org.host.faults.clear()
    org.expect("3 opened")


def test_a_limit_after_a_pull_request_was_opened_ends_the_writing_too(org: Org) -> None:
    org.make(0, 3)
    org.fault(FaultKind.PRIMARY_403, lambda r: "labels" in r.path, reset_in=3000)
    org.expect("1 opened, 2 deferred; exit 1", labels="chore", max_wait_minutes="1")


def test_too_few_points_for_the_writing_are_told_before_and_defer_the_rest(org: Org) -> None:
    org.make(0, 30)
    org.set_points(10)
    # Three queries read them all; three repositories take two points each, the fourth one
    run = org.expect("3 opened, 27 deferred")
    assert "points left for all writes. Points needed: about 60, left: 7." in run.stdout
    assert "The token has too few GraphQL points left." in run.summary
    assert "Nothing was written" not in run.text


def test_more_files_than_the_memory_takes_are_refused(org: Org) -> None:
    org.make(0, 201)
    rule = {"when": {"fork": False}, "files": [f"docs/{number}" for number in range(1_000)]}
    listed = org.action.document({"rules": [rule] * 5})
    run = org.expect("exit 2", definitions=listed, mode="plan")
    assert "The lists have 1005000 files for all repositories together" in run.stderr
    assert "nodes" not in org.asked


def test_a_plan_does_not_keep_the_content_of_each_repository(org: Org) -> None:
    """A template of 400 kB in a hundred repositories would be 40 MB."""
    for number in range(100):
        org.host.create_repository(f"octo-org/r{number}", {"a": b"a"})
    org.action.write("template", "{repo}" + "x" * 400_000)
    peaks = []
    for template in (True, False):
        entry = {"path": "b", "content_file": "template", "template": template}
        listing = org.action.write("list.json", json.dumps([entry]))
        given = {"definitions": listing, "target_repo": None, "mode": "plan", "language": "en"}
        environ = org.action.environment({**given, "target_repos": ALL})
        run, peak = org.action.measure(environ)
        assert (run.exit_code, rows(run)) == (0, {f"octo-org/r{n}": "to open" for n in range(100)})
        peaks.append(peak)
    assert peaks[0] < peaks[1] + 20_000_000


def test_many_repositories_take_no_more_requests_than_they_must(org: Org) -> None:
    paths = [f"docs/{number}.md" for number in range(40)]
    for number in range(110):
        held = {"README.md": b""} if number < 10 else dict.fromkeys(paths, b"\n")
        org.host.create_repository(f"octo-org/r{number}", held)
    org.expect("10 opened, 100 complete", None, *paths)
    # Two pages of the list, batches of at least ten, and each of the ten is read again
    requests = Counter(each.partition(" ")[0] for each in org.asked)
    assert requests.pop("nodes") <= 11
    assert requests == {"GET": 1 + 2, "query": 10, "mutation": 10}
