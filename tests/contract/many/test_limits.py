"""Many repositories: GitHub's pace, the end of the run, and what ends the writing."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Sequence

import pytest

from tests.example import PRESENT
from tests.fakehub import Fault, FaultKind, Lag, Repository, Request, StandInHost
from tests.fakehub.limits import Pace
from tests.harness import LIST_BRANCH, Action, Start, is_read, meanwhile, only_reads, refuse
from tests.organisation import ALL, FIVE_WRITES, Make, asked, opened, refuse_writes, rows, states


def test_an_enterprise_server_without_limits_is_written_to(
    many: Start, make: Make, host: StandInHost
) -> None:
    host.rate_limit = host.graphql_rate_limit = None
    first, _ = make(0, 2)
    assert states(many().or_fail()) == {"opened": 2}
    # A plan reads this one alone
    first.person.commit({"AGENTS.md": None}, branch=LIST_BRANCH)
    host.requests.clear()
    assert states(many(mode="plan").or_fail()) == {"waiting": 2}
    assert "query" in asked(host)


def test_after_so_many_minutes_nothing_new_begins(many: Start, make: Make) -> None:
    made = make(0, 5)
    run = many(max_minutes="0.03")
    # Two begin within 1.8 s, with one between two writes: the third would write after them
    assert states(run) == {"opened": 2, "deferred": 3}
    assert run.exit_code == 0
    assert "max_minutes" in run.summary
    assert run.console.count("The time in max_minutes") == 1
    assert "deferred: 3. The time in max_minutes (0.03 min) is over" in run.stderr
    assert sum(opened(made)) == 2


def test_what_the_caps_leave_anyway_is_not_left_because_of_the_time(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    made = make(0, 2)
    meanwhile(host, lambda request: not is_read(request), lambda: action.clock.sleep(70))
    run = many(max_minutes="1", max_pull_requests="1", max_wait_minutes="0")
    assert (states(run), sum(opened(made))) == ({"opened": 1, "deferred": 1}, 1), run.text
    assert "max_minutes" not in run.text


@pytest.mark.parametrize("mode", ["plan", "register"])
def test_the_pages_of_a_fork_end_with_the_run(
    many: Start, make: Make, host: StandInHost, action: Action, mode: str
) -> None:
    [fork] = make(0, 1)
    fork.person.change(parent="octo-org/parent")
    for _ in range(1000):
        fork.person.open_pull_request(head=LIST_BRANCH, head_repository="stranger/example")
    pages: list[Request] = []

    def slow(request: Request) -> None:
        if request.path.endswith("/pulls"):
            pages.append(request)
            action.clock.sleep(100)

    host.on_request = slow
    run = many(mode=mode, max_minutes="5", target_repos=f"{ALL}, fork:true")
    assert run.exit_code == 1, run.console
    assert "The time in max_minutes is over" in run.stderr
    assert 2 <= len(pages) <= 5
    assert only_reads(host)


@pytest.mark.large
@pytest.mark.parametrize(("repositories", "seconds"), [(80, 1.0), (81, 7.2)])
def test_githubs_pace_is_never_met(
    many: Start, make: Make, host: StandInHost, repositories: int, seconds: float
) -> None:
    make(0, repositories)
    host.pace = Pace()
    run = many(**FIVE_WRITES, max_minutes="60")
    assert states(run) == {"opened": repositories}
    times = [each.ended for each in host.requests if not is_read(each) and each.ended]
    assert len(times) == 5 * repositories
    assert host.pace.refused == 0
    assert times[-1] - times[0] == pytest.approx((len(times) - 1) * seconds, rel=0.1)


@pytest.mark.parametrize(
    ("pace", "limits", "seconds"),
    [
        pytest.param(Pace(), 0, 120, id="as documented"),
        # Lower limits were seen: docs/github-behaviour.md
        pytest.param(Pace(per_minute=20), 4, 480, id="20 a minute"),
        pytest.param(
            Pace(per_minute=20, status=422), 4, 480, id="too quickly", marks=pytest.mark.large
        ),
    ],
)
def test_a_hundred_pull_requests_take_two_minutes_and_a_limit_one_pause(
    many: Start,
    make: Make,
    host: StandInHost,
    action: Action,
    pace: Pace,
    limits: int,
    seconds: int,
) -> None:
    made = make(0, 100)
    host.pace = pace
    began = action.clock.now
    run = many(max_pull_requests="100")
    assert (run.exit_code, states(run)) == (0, {"opened": 100}), run.console
    assert opened(made) == [1] * 100
    assert (pace.refused, run.stdout.count("Waiting ")) == (limits, limits)
    assert action.clock.now - began < seconds


@pytest.mark.large
@pytest.mark.parametrize("day", ["real, with options", "slow to know"])
def test_githubs_pace_is_not_met_where_a_pull_request_takes_more_writes_than_planned(
    many: Start, make: Make, host: StandInHost, day: str
) -> None:
    lag, repositories, given = {
        "real, with options": (0.8, 110, {**FIVE_WRITES, "team_reviewers": ""}),
        "slow to know": (9.0, 70, {"max_minutes": "120"}),
    }[day]
    made = make(0, repositories)
    host.real_day()
    host.quirks.lag = Lag(seconds=lag)
    assert host.pace
    many(**given, max_wait_minutes="10").or_fail()
    assert (max(opened(made)), sum(opened(made)) > 50) == (1, True)
    assert host.pace.refused == 0


@pytest.mark.large
def test_the_end_of_the_run_bounds_the_waiting_for_githubs_pace(
    many: Start, make: Make, host: StandInHost
) -> None:
    """The hour is used up by what took one request each at first, and three later."""
    make(0, 400)
    host.pace = Pace()
    writes = Counter[str]()

    def late(request: Request) -> bool:
        writes["all"] += not is_read(request)
        at_once = request.path == "/graphql" and "createRef" in request.json["query"]
        return at_once and writes["all"] > 301

    refuse(host, late)
    run = many(max_pull_requests="400", max_wait_minutes="0")
    assert (run.exit_code, host.pace.refused) == (0, 0), run.console
    assert "The time in max_minutes (50 min) is over" in run.summary
    assert int(run.outputs["deferred"]) > 0


@pytest.mark.parametrize(
    ("limits", "intervals", "left"),
    [
        ([0], [2] * 9 + [1] * 30, [1]),
        # A request counts once, however often it is stopped
        ([0, 0, 0], [2] * 9 + [1] * 30, [1]),
        ([0, 1, 2], [6, 12] + [8] * 9 + [4] * 10 + [2] * 10 + [1] * 8, [1, 2, 3, 2, 1]),
        # The shorter interval was too short
        ([0, 12], [2] * 9 + [1] * 2 + [3] + [2] * 19 + [1] * 8, [1]),
    ],
    ids=str,
)
def test_limits_make_the_interval_longer_for_a_while(
    many: Start,
    make: Make,
    host: StandInHost,
    limits: list[int],
    intervals: list[int],
    left: list[int],
) -> None:
    """``limits`` are the numbers of pull requests that are open when a limit stops the next one."""
    made, due = make(0, 40), [*limits]

    def is_due(request: Request) -> bool:
        if is_read(request) or (number := sum(opened(made))) not in due:
            return False
        due.remove(number)
        return True

    limit = FaultKind.SECONDARY_403_RETRY_AFTER
    host.faults.add(Fault(limit, match=is_due, times=None, retry_after=1))
    run = many(max_pull_requests="40")
    assert states(run) == {"opened": 40}
    taken = (each for each in host.requests if not is_read(each) and each.status == 200)
    times = [each.ended for each in taken if each.ended]
    found = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert found == pytest.approx(intervals, abs=0.2)
    assert [int(each) for each in re.findall(r"about (\d+) min left", run.stdout)] == left


@pytest.mark.parametrize(
    ("status", "words", "says"),
    [(403, "A rule of the owner forbids it", True), (401, "Bad credentials", False)],
)
def test_only_a_reason_of_its_own_is_one_to_leave_a_repository_out(
    many: Start, make: Make, host: StandInHost, status: int, words: str, says: bool
) -> None:
    make(0, 2)
    refuse(host, lambda request: not is_read(request), status, message=words)
    run = many()
    assert (run.exit_code, "failed" in states(run)) == (1, True), run.text
    assert ("leave it out until then" in run.stdout) == says


WORDS = ("repo", "rule", "rules", "found", "ref", "create", "repository", "being")
"""Names of repositories that are also words in what GitHub says."""


@pytest.mark.parametrize("names", [[f"service-{n}" for n in range(8)], WORDS], ids=str)
def test_five_failures_in_a_row_with_one_cause_end_the_writing(
    many: Start, host: StandInHost, names: Sequence[str]
) -> None:
    made = [host.create_repository(f"octo-org/{name}", PRESENT) for name in names]
    for repository in made:
        repository.person.protect("chore/*", "ruleset")
    run = many(max_pull_requests="2")
    assert run.exit_code == 1
    assert states(run) == {"failed": 5, "deferred": 3}
    ended = "deferred: 3. 5 repositories in a row failed for the same cause"
    assert ended in run.summary
    assert ended in run.stderr
    # The cap had no part in it
    assert "Pull requests left for later" not in run.text
    [warning] = [line for line in run.stderr.splitlines() if "in a row failed" in line]
    assert "Either a ruleset forbids its name" in warning
    assert sum(opened(made)) == 0
    assert not any(request.method == "PUT" for request in host.requests)


def test_five_failures_with_five_causes_do_not_end_the_writing(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 7)
    rules = ("names", "signatures", "checks", "reviews", "deployments", "commits", "files")
    refuse_writes(host, lambda repository: f"A rule about {rules[repository.id % 7]} forbids it")
    run = many()
    assert states(run) == {"failed": 7}
    assert run.summary.count("**1 failed:**") == 7


def test_what_is_unique_in_githubs_words_makes_no_other_cause(
    many: Start, host: StandInHost
) -> None:
    """A table of such words stands in `tests/unit/test_classify.py`."""
    for name in WORDS:
        host.create_repository(f"octo-org/{name}", PRESENT)

    def unique(repository: Repository) -> str:
        address = f"https://github.com/{repository.full_name}/unblock-secret"
        digest = hashlib.sha256(repository.name.encode()).hexdigest()
        return f"Secret detected in content. Unblock it: {address}/{digest}"

    refuse_writes(host, unique)
    run = many()
    assert states(run) == {"failed": 5, "deferred": 3}
    assert "**5 failed:**" in run.summary


def test_a_pull_request_ends_a_row_of_failures(
    many: Start, host: StandInHost, action: Action
) -> None:
    """Also one that lacks a file, for which the run fails."""
    made = [host.create_repository(f"octo-org/r{n}", {"docs": b"a file"}) for n in range(9)]
    writes = Counter[str]()

    def in_all_but_the_fifth(request: Request) -> bool:
        writes["all"] += not is_read(request)
        return not is_read(request) and writes["all"] != 9  # of two each

    refuse(host, in_all_but_the_fifth, 403)
    run = many(definitions=action.listing("a.md", "docs/b.md"))
    assert (states(run), sum(opened(made))) == ({"failed": 8, "opened": 1}, 1)


def test_failures_that_opened_their_pull_request_do_not_end_the_writing(
    many: Start, host: StandInHost, action: Action
) -> None:
    made = [host.create_repository(f"octo-org/r{n}", {"docs": b"a file"}) for n in range(6)]
    run = many(definitions=action.listing("a.md", "docs/b.md"))
    assert (states(run), sum(opened(made))) == ({"opened": 6}, 6)


def test_a_token_that_dies_ends_the_writing(many: Start, make: Make, host: StandInHost) -> None:
    made = make(0, 6)
    dying = host.create_token(requests=3 + 2 * 2)
    run = many(host_token=dying)
    assert run.exit_code == 1
    assert states(run) == {"opened": 2, "failed": 1, "deferred": 3}
    assert states(many()) == {"waiting": 2, "opened": 4}
    assert opened(made) == [1] * 6


@pytest.mark.parametrize("minutes", ["0", "1"])
@pytest.mark.parametrize("reads", [True, False])
def test_a_limit_that_lasts_ends_the_writing_and_is_no_failure(
    many: Start, make: Make, host: StandInHost, reads: bool, minutes: str
) -> None:
    made = make(0, 7)
    writes = itertools.count(1)

    def third(request: Request) -> bool:
        """The third write, or the reading before it."""
        is_third = sum(opened(made)) == 2 if reads else not is_read(request) and next(writes) >= 3
        return request.path == "/graphql" and is_third

    limit = host.faults.add(Fault(FaultKind.PRIMARY_403, match=third, times=None, reset_in=3000))
    run = many(max_wait_minutes=minutes)
    assert (run.exit_code, states(run)) == (0, {"opened": 2, "deferred": 5})
    assert len(limit.hits) == 1
    assert "Run this again after" in run.report["many"]["stopped"]
    assert (
        run.console.count(
            "deferred: 5. It would fail in the other repositories for the same reason"
        )
        == 1
    )
    assert run.summary.count("the rate limit of the token is used up") == 1
    assert [row["missing"] for row in run.report["many"]["rows"]] == [4] * 7
    host.faults.clear()
    assert states(many()) == {"waiting": 2, "opened": 5}


@pytest.mark.parametrize("last", ["git/refs", "graphql", "pulls"])
def test_what_a_limit_stops_half_way_is_deferred_with_its_reason_and_finished_by_the_next_run(
    many: Start, make: Make, host: StandInHost, last: str
) -> None:
    made = make(0, 3)
    refuse(host, lambda request: "createRef" in str(request.json))
    limit = Fault(
        FaultKind.PRIMARY_403,
        match=lambda r: r.path.endswith(last) and not is_read(r) and "createRef" not in str(r.json),
        times=None,
        reset_in=3000,
    )
    host.faults.add(limit)
    run = many()
    assert (run.exit_code, states(run), len(limit.hits)) == (0, {"deferred": 3}, 1), run.console
    reasons = [row["reason"] for row in run.report["many"]["rows"] if row["reason"]]
    assert len(reasons) == (last != "git/refs")
    assert all("Run this again after" in reason for reason in reasons)
    host.faults.clear()
    assert states(many()) == {"opened": 3}
    assert opened(made) == [1] * 3


def test_a_limit_after_a_pull_request_was_opened_ends_the_writing_too(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(0, 3)
    labels = Fault(FaultKind.PRIMARY_403, match=lambda r: "labels" in r.path, reset_in=3000)
    host.faults.add(labels)
    run = many(labels="chore", max_wait_minutes="1")
    assert (run.exit_code, states(run)) == (1, {"opened": 1, "deferred": 2})
    assert sum(opened(made)) == 1


def test_too_few_points_for_the_writing_are_told_before_and_defer_the_rest(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(0, 30)
    assert host.graphql_rate_limit
    host.graphql_rate_limit.remaining = 10
    run = many()
    # Three queries read them all; three repositories take two points each, the fourth one
    assert (run.exit_code, states(run), sum(opened(made))) == (0, {"opened": 3, "deferred": 27}, 3)
    assert "points left for all writes. Points needed: about 60, left: 7." in run.stdout
    assert "The token has too few GraphQL points left." in run.summary
    assert "Nothing was written" not in run.text


def test_a_plan_does_not_keep_the_content_of_each_repository(
    host: StandInHost, action: Action
) -> None:
    """A template of 400 kB in a hundred repositories would be 40 MB."""
    for number in range(100):
        host.create_repository(f"octo-org/r{number}", {"a": b"a"})
    action.write("template", "{repo}" + "x" * 400_000)
    peaks = []
    for template in (True, False):
        entry = {"path": "b", "content_file": "template", "template": template}
        listing = action.write("list.json", json.dumps([entry]))
        given = {"definitions": listing, "target_repo": None, "mode": "plan", "language": "en"}
        environ = action.environment({**given, "target_repos": ALL})
        run, peak = action.measure(environ)
        assert (run.exit_code, rows(run)) == (0, {f"octo-org/r{n}": "to open" for n in range(100)})
        peaks.append(peak)
    assert peaks[0] < peaks[1] + 20_000_000


def test_more_files_than_the_memory_takes_are_refused(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    make(0, 201)
    rule = {"when": {"fork": False}, "files": [f"docs/{number}" for number in range(1_000)]}
    run = many(definitions=action.document({"rules": [rule] * 5}), mode="plan")
    assert (run.exit_code, only_reads(host)) == (2, True)
    assert "The lists have 1005000 files for all repositories together" in run.stderr
    assert "nodes" not in asked(host)


@pytest.mark.large
def test_a_thousand_repositories_take_no_more_requests_than_they_must(
    many: Start, host: StandInHost, action: Action
) -> None:
    paths = [f"docs/{number}.md" for number in range(40)]
    listing = action.listing(*paths)
    files = dict.fromkeys(paths, b"\n")
    for number in range(1000):
        host.create_repository(f"octo-org/r{number}", {"README.md": b""} if number < 300 else files)
    run = many(definitions=listing, max_pull_requests="300")
    assert "Outcome: 300 opened, 700 complete." in run.lines
    assert len(host.requests) <= 10 + 100 + 600 + 10


def test_refused_updates_in_a_row_end_the_writing_as_well(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    make(0, 8)
    given = {"profile": None, "definitions": action.listing_of({"a.md": "old\n"})}
    assert states(many(**given)) == {"opened": 8}
    action.listing_of({"a.md": "new\n"})
    refuse(host, lambda request: not is_read(request), 403)
    run = many(**given)
    assert states(run) == {"failed": 5, "deferred": 3}
    assert "5 repositories in a row failed for the same cause" in run.summary
