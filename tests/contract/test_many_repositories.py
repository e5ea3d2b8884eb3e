"""Many repositories in one run: listed, read, counted, and registered in one after the other."""

from __future__ import annotations

import hashlib
import html
import itertools
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.example import LISTED, PRESENT
from tests.fakehub import Fault, FaultKind, Lag, Refusal, Repository, Request, StandInHost
from tests.fakehub.answer import Drop, Response
from tests.fakehub.limits import Pace, RateLimit
from tests.fakehub.tokens import Kind
from tests.harness import (
    SCAFFOLD_BRANCH,
    Action,
    Run,
    Start,
    is_read,
    only_reads,
    report_schema,
)

ALL = "octo-org/*"
FIVE_WRITES = {
    "labels": "chore",
    "assignees": "hubot",
    "reviewers": "monalisa",
    "team_reviewers": "maintainers",
}
"""Everything at once, and then each kind of option by itself."""
Make = Callable[..., list[Repository]]


@pytest.fixture
def many(action: Action) -> Start:
    """The action on all repositories of an organisation, in English."""
    return partial(action, target_repo=None, target_repos=ALL, language="en")


@pytest.fixture
def make(host: StandInHost) -> Make:
    """Make complete repositories, and others that lack files."""

    def made(complete: int, lacking: int, **attributes: bool) -> list[Repository]:
        first = len(host.repositories)
        return [
            host.create_repository(
                f"octo-org/r{first + number}",
                LISTED if number < complete else PRESENT,
                **attributes,  # type: ignore[arg-type]
            )
            for number in range(complete + lacking)
        ]

    return made


@dataclass(slots=True)
class RepeatedPage(Fault):
    """The first page again, with a link to a next one."""

    first: Response | None = None

    def answer(
        self, request: Request, real: Response | None, elsewhere: str, now: float
    ) -> Response | Drop:
        assert real
        self.first = self.first or real
        return self.first


def states(run: Run) -> dict[str, int]:
    """How many repositories ended in which state, those that none did left out."""
    return {state: count for state, count in run.report["fleet"]["states"].items() if count}


def rows(run: Run) -> dict[str, str]:
    """The state of each repository that is not complete."""
    return {row["repository"]: row["state"] for row in run.report["fleet"]["rows"]}


def asked(host: StandInHost) -> list[str]:
    """The requests, each in one word."""

    def word(request: Request) -> str:
        if request.path != "/graphql":
            return f"{request.method} {request.path}"
        if not is_read(request):
            return "mutation"
        return "nodes" if "nodes(ids:" in request.json["query"] else "query"

    return [word(request) for request in host.requests]


def opened(repositories: Sequence[Repository]) -> list[int]:
    """How many pull requests each repository has."""
    return [len(repository.pull_requests) for repository in repositories]


# --- Plan ---------------------------------------------------------------------------------


def test_more_shards_than_a_matrix_takes_are_refused(many: Start, make: Make) -> None:
    make(0, 52)
    run = many(**FIVE_WRITES, mode="plan", max_minutes="0.05")
    assert (run.exit_code, run.outputs["matrix"]) == (2, "[]")
    assert "The work would take 260 shards, and a matrix has 256 jobs at most" in run.stderr


def test_a_plan_takes_no_request_for_a_single_repository(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    """Also where the branch is merged and still there, and another one is looked for."""
    made = make(2, 3)
    many(definitions=action.listing("one"))
    for repository in made:
        repository.merge(1)
    host.requests.clear()
    run = many(definitions=action.listing("one", "two"), mode="plan")
    assert states(run) == {"missing": 5}
    assert asked(host) == ["GET /rate_limit", "GET /orgs/octo-org/repos", "nodes"]


def test_a_pull_request_under_a_later_name_of_the_branch_is_found(
    many: Start, make: Make, action: Action, host: StandInHost
) -> None:
    """Its name ends with `-2` where the first branch was merged and is still there."""
    made = make(0, 4)
    for count in range(2):
        assert states(many(definitions=action.listing(*"ab"[: count + 1]))) == {"opened": 4}
        for repository in made[: 4 - count]:
            repository.merge(count + 1)
    # Merged twice; open under `-2`
    plan = many(definitions=action.listing(*"ab"), mode="plan")
    assert states(plan) == {"waiting": 1, "complete": 3}
    assert plan.outputs["matrix"] == "[]"
    assert states(many(definitions=action.listing(*"abc"))) == {"opened": 3, "updated": 1}
    made[0].close(3)
    made[1].merge(3)
    for mode in ("plan", "register"):
        host.requests.clear()
        run = many(definitions=action.listing(*"abc"), mode=mode)
        assert states(run) == {"waiting": 2, "declined": 1, "complete": 1}
        assert only_reads(host)
        assert [row["pull_request"][-1] for row in run.report["fleet"]["rows"]].count("3") == 2
    plan = many(definitions=action.listing(*"abcd"), mode="plan")
    assert plan.report["fleet"]["budget"]["to_update"] == 2
    assert plan.report["fleet"]["budget"]["now"] == 2
    assert states(many(definitions=action.listing(*"abcd"))) == {"opened": 2, "updated": 2}


def test_a_plan_counts_everything_and_writes_nothing(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 1)
    assert states(many()) == {"opened": 1}
    host.requests.clear()
    make(8, 3)
    make(1, 0, archived=True)
    make(1, 0, locked=True)
    host.create_repository("octo-org/empty", empty=True)
    host.create_repository("octo-org/fork", parent="other/fork")
    host.create_repository("elsewhere/x")
    run = many(mode="plan", max_pull_requests="2")
    assert run.exit_code == 0, run.console
    assert only_reads(host)
    assert states(run) == {"missing": 3, "waiting": 1, "complete": 8}
    assert asked(host) == ["GET /rate_limit", "GET /orgs/octo-org/repos", "nodes", "nodes"]
    sentences = (
        "Repositories selected: 12 of 16. Left out: archived 1, forks 1, locked 1, empty 1.",
        "Queries to read them: 2; GraphQL points left: 4995.",
        "With missing files: 4 (open pull request: 1, to open: 3).",
        "Pull requests to open now: 2, deferred: 1. Time at GitHub's pace: about 1 min.",
    )
    for sentence in sentences:
        assert sentence in run.lines
        assert sentence in run.summary
    outputs = {n: run.outputs[n] for n in ("repositories", "incomplete", "deferred", "matrix")}
    assert outputs == {
        "repositories": "12",
        "incomplete": "4",
        "deferred": "1",
        "matrix": '["1/1"]',
    }


@pytest.mark.parametrize(("lacking", "exit_code"), [(0, 0), (1, 1)])
def test_a_check_fails_when_one_repository_lacks_something(
    many: Start, make: Make, lacking: int, exit_code: int
) -> None:
    make(2, lacking)
    run = many(mode="check")
    assert (run.exit_code, run.outputs["incomplete"]) == (exit_code, str(lacking))
    assert run.outputs["matrix"] == ('["1/1"]' if lacking else "[]")


def test_open_pull_requests_are_work_only_while_they_do_not_hold_everything(
    many: Start, make: Make, action: Action
) -> None:
    [repository] = make(0, 1)
    listing = action.listing("a.txt", "b.txt")
    assert states(many(definitions=listing)) == {"opened": 1}
    plan = many(definitions=listing, mode="plan")
    assert (states(plan), plan.outputs["matrix"]) == ({"waiting": 1}, "[]")
    assert "With missing files: 1 (open pull request: 1)." in plan.lines

    longer = action.listing("a.txt", "b.txt", "c.txt")
    plan = many(definitions=longer, mode="plan")
    assert (states(plan), plan.outputs["matrix"]) == ({"missing": 1}, '["1/1"]')
    assert "With missing files: 1 (open pull request: 1, of these to update: 1)." in plan.lines
    assert states(many(definitions=longer)) == {"updated": 1}
    plan = many(definitions=longer, mode="plan")
    assert (states(plan), plan.outputs["matrix"]) == ({"waiting": 1}, "[]")
    assert opened([repository]) == [1]


def test_options_are_set_on_what_is_opened_or_updated_and_are_planned(
    many: Start, make: Make, action: Action, host: StandInHost
) -> None:
    [repository] = make(0, 1)
    listing = action.listing("a.txt")
    many(definitions=listing)
    host.requests.clear()
    again = many(definitions=listing, **FIVE_WRITES)
    assert (states(again), again.report["fleet"]["budget"]["seconds"]) == ({"waiting": 1}, 0)
    assert only_reads(host)

    run = many(definitions=action.listing("a.txt", "b.txt"), **FIVE_WRITES)
    # A commit, the description, labels, assignees: reviewers are asked when it is opened
    assert (states(run), run.report["fleet"]["budget"]["seconds"]) == ({"updated": 1}, 4 * 3)
    assert sum(not is_read(request) for request in host.requests) == 4
    [pull] = repository.pull_requests
    assert (list(pull.labels), list(pull.assignees)) == (["chore"], ["hubot"])


def test_somebodys_pull_request_on_the_branch_is_not_taken_for_ours(
    many: Start, make: Make
) -> None:
    [repository] = make(0, 1)
    repository.create_branch(SCAFFOLD_BRANCH)
    repository.commit({"x": b""}, branch=SCAFFOLD_BRANCH)
    repository.open_pull_request(head=SCAFFOLD_BRANCH)
    plan = many(mode="plan")
    assert (states(plan), plan.outputs["matrix"]) == ({"missing": 1}, '["1/1"]')
    assert plan.report["fleet"]["budget"]["now"] == 1
    assert states(many(max_pull_requests="0")) == {"deferred": 1}
    assert len(repository.pull_requests) == 1
    assert states(many(max_pull_requests="1")) == {"opened": 1}
    assert len(repository.pull_requests) == 2


def test_shards_share_the_repositories_and_the_cap(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(2, 5)
    plan = many(mode="plan", max_minutes="0.1", max_pull_requests="4")
    assert json.loads(plan.outputs["matrix"]) == ["1/2", "2/2"]
    runs = [many(shard=shard, max_pull_requests="4") for shard in ("1/2", "2/2")]
    assert [run.exit_code for run in runs] == [0, 0]
    assert sum(int(run.outputs["repositories"]) for run in runs) == len(made)
    assert [states(run)["opened"] for run in runs] == [2, 2]
    assert sum(opened(made)) == 4
    empty = many(shard="200/256")
    assert (empty.exit_code, empty.outputs["matrix"]) == (0, "[]")
    assert "No repository is selected." in empty.lines


# --- Writing ------------------------------------------------------------------------------


@pytest.mark.parametrize("shard", ["1/1", "2/2"])
def test_an_empty_shard_is_no_error(many: Start, make: Make, shard: str) -> None:
    make(1, 0, archived=True)
    assert many(shard=shard).exit_code == 0


def test_each_repository_that_lacks_files_gets_one_pull_request_however_often_it_runs(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(5, 3)
    first = many()
    assert first.exit_code == 0, first.console
    assert states(first) == {"opened": 3, "complete": 5}
    assert first.outputs["created"] == str(3 * (len(LISTED) - len(PRESENT)))
    assert Counter(asked(host))["mutation"] == 3
    assert opened(made) == [0] * 5 + [1] * 3
    again = many()
    assert (again.exit_code, states(again)) == (0, {"waiting": 3, "complete": 5})
    assert opened(made) == [0] * 5 + [1] * 3
    for repository in made[5:]:
        repository.merge(1)
    assert states(many()) == {"complete": 8}


def test_the_cap_defers_the_rest_and_the_next_run_goes_on(many: Start, make: Make) -> None:
    made = make(1, 5)
    first = many(max_pull_requests="2")
    assert (first.exit_code, first.outputs["deferred"]) == (0, "3")
    assert states(first) == {"opened": 2, "deferred": 3, "complete": 1}
    second = many(max_pull_requests="2")
    assert states(second) == {"opened": 2, "waiting": 2, "deferred": 1, "complete": 1}
    assert sum(opened(made)) == 4


def test_missing_files_are_counted_where_they_are_deferred_or_declined_too(
    many: Start, make: Make
) -> None:
    made = make(1, 4)
    many(target_repos=made[1].full_name)
    made[1].close(1)
    plan, run = many(mode="plan"), many(max_pull_requests="1")
    assert states(run) == {"declined": 1, "opened": 1, "deferred": 2, "complete": 1}
    lacking = len(LISTED) - len(PRESENT)
    assert plan.outputs["missing"] == run.outputs["missing"] == str(4 * lacking)
    assert run.outputs["created"] == str(lacking)


def test_both_lists_get_a_row_and_a_pull_request_each(many: Start, make: Make) -> None:
    [repository] = make(0, 1)
    run = many(profile="all")
    assert run.exit_code == 0, run.console
    assert [row["profile"] for row in run.report["fleet"]["rows"]] == ["health", "scaffold"]
    assert len(repository.pull_requests) == 2
    for line in ("[1/2] octo-org/r0 (health): pull", "[2/2] octo-org/r0 (scaffold): pull"):
        assert line in run.stdout
    check = many(profile="all", mode="check")
    assert check.stderr.count(repository.full_name) == 1


def test_the_cap_counts_pull_requests_of_both_lists(many: Start, make: Make) -> None:
    make(0, 2)
    run = many(profile="all", max_pull_requests="3")
    assert states(run) == {"opened": 3, "deferred": 1}


def test_failures_do_not_count_against_the_cap(many: Start, make: Make) -> None:
    made = make(0, 10)
    for repository in made[:4]:
        repository.protect("chore/*", "ruleset")
    run = many(max_pull_requests="6")
    assert (run.exit_code, states(run)["opened"]) == (1, 6)


def test_the_cap_counts_every_pull_request_that_is_opened(
    many: Start, host: StandInHost, action: Action
) -> None:
    """Also where one file cannot be created, and the repository has failed."""
    made = [host.create_repository(f"octo-org/r{n}", {"docs": b"a file"}) for n in range(4)]
    run = many(definitions=action.listing("a.txt", "docs/b.txt"), max_pull_requests="2")
    assert (run.exit_code, states(run)) == (1, {"failed": 2, "deferred": 2})
    assert sum(opened(made)) == 2


@pytest.mark.parametrize("unreadable", [False, True])
def test_the_cap_counts_what_may_have_been_opened(
    many: Start, make: Make, host: StandInHost, unreadable: bool
) -> None:
    """The answer to what opens it is lost, and then its list does not show it, or nothing is."""
    made = make(0, 3)
    lost = Fault(FaultKind.RESET, when="after", match=lambda request: not is_read(request))
    host.faults.add(lost)

    def not_shown(request: Request) -> bool:
        is_list = request.path.endswith("/pulls") and is_read(request)
        return bool(lost.hits) and (is_list or (unreadable and "/git/ref" in request.path))

    times, status = (6, 502) if unreadable else (1, 200)
    hidden = Fault(FaultKind.CUSTOM, match=not_shown, times=times, status=status, body=[])
    host.faults.add(hidden)
    run = many(max_pull_requests="1")
    assert len(hidden.hits) == times
    assert sum(opened(made)) == 1
    assert states(run)["deferred"] == 2


def test_target_repos_wins_over_target_repo(many: Start, make: Make, host: StandInHost) -> None:
    [alone] = make(0, 1)
    [other] = [host.create_repository("elsewhere/x", PRESENT)]
    assert states(many(target_repo=other.full_name)) == {"opened": 1}
    assert (opened([alone]), opened([other])) == ([1], [0])


def test_the_log_counts_repositories_and_the_time_that_is_left(many: Start, make: Make) -> None:
    make(2, 30)
    run = many()
    lines = [line for line in run.lines if line.startswith("[")]
    assert len(lines) == 30
    for number, line in enumerate(lines, start=1):
        assert line.startswith(f"[{number}/30] octo-org/r")
    assert lines[0].endswith("pull request opened, files missing: 27: #1 (about 2 min left)")
    assert lines[20].endswith("(about 1 min left)")
    assert lines[-1].endswith("#1")


def test_the_summary_has_failures_first_grouped_by_cause_with_links(
    many: Start, make: Make
) -> None:
    made = make(1, 5)
    for repository in made[1:3]:
        repository.protect("chore/*", "ruleset")
    made[3].read_only = True
    summary = many().summary
    places = [
        summary.index(text)
        for text in ("**2 failed:**", "**1 failed:**", "<summary>2 opened</summary>")
    ]
    assert places == sorted(places)
    for repository in made[1:]:
        assert f"[{repository.full_name}]({repository.html_url})" in summary
    assert f"[#1]({made[4].html_url}/pull/1)" in summary
    assert made[0].full_name not in summary


def test_of_very_many_repositories_the_summary_counts_the_rest(many: Start, make: Make) -> None:
    make(0, 210)
    run = many(mode="plan")
    assert "… and 10 more; the report holds all of them." in run.summary
    assert run.outputs["incomplete"] == "210"
    assert len(run.summary.encode()) < 1024 * 1024


def test_after_so_many_minutes_nothing_new_begins(many: Start, make: Make) -> None:
    made = make(0, 5)
    run = many(max_minutes="0.1")
    # Two begin within six seconds, with three between two writes: the third would write after them
    assert states(run) == {"opened": 2, "deferred": 3}
    assert run.exit_code == 0
    assert "max_minutes" in run.summary
    assert sum("max_minutes" in line for line in run.lines) == 1
    assert sum(opened(made)) == 2


def test_writing_requests_keep_their_interval_options_included(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    make(0, 3)
    times: list[float] = []

    def note(request: Request) -> None:
        if not is_read(request):
            times.append(action.clock.monotonic())

    host.on_request = note
    run = many(labels="chore", max_wait_minutes="0")
    assert run.exit_code == 0, run.console
    assert len(times) == 6
    assert min(later - earlier for earlier, later in itertools.pairwise(times)) > 2.9


@pytest.mark.parametrize(("repositories", "seconds"), [(80, 3.0), (81, 7.2)])
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
    ("lag", "repositories", "given"),
    [
        pytest.param(0.8, 110, {**FIVE_WRITES, "team_reviewers": ""}, id="a real day, options"),
        pytest.param(9.0, 70, {"max_minutes": "120"}, id="slow to know"),
    ],
)
def test_githubs_pace_is_not_met_where_a_pull_request_takes_more_writes_than_planned(
    many: Start,
    make: Make,
    host: StandInHost,
    lag: float,
    repositories: int,
    given: dict[str, str],
) -> None:
    made = make(0, repositories)
    host.real_day()
    host.quirks.lag = Lag(seconds=lag)
    assert host.pace
    run = many(**given, max_wait_minutes="10")
    assert run.exit_code == 0, run.console
    assert (max(opened(made)), sum(opened(made)) > 50) == (1, True)
    assert host.pace.refused == 0


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

    host.faults.add(Fault(FaultKind.CUSTOM, match=late, times=None, status=422))
    run = many(max_pull_requests="400", max_wait_minutes="0")
    assert (run.exit_code, host.pace.refused) == (0, 0), run.console
    assert "The time of max_minutes (50 min) is over" in run.summary
    assert int(run.outputs["deferred"]) > 0


def test_shards_together_do_not_meet_githubs_pace_either(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    made = make(0, 102)
    host.pace = Pace()
    given = {**FIVE_WRITES, "max_pull_requests": "102"}
    shards = json.loads(many(mode="plan", **given).outputs["matrix"])
    assert shards == ["1/2", "2/2"]
    for shard in shards:
        assert states(many(shard=shard, **given))["opened"] == 51
        action.clock.sleep(10)  # a job needs longer to begin
    assert opened(made) == [1] * 102
    assert host.pace.refused == 0


@pytest.mark.parametrize("answers", [1, 3])
def test_a_limit_doubles_the_interval(
    many: Start, make: Make, host: StandInHost, answers: int
) -> None:
    """Once for each request, however often it is stopped."""
    make(0, 30)
    limit = Fault(
        FaultKind.SECONDARY_403_RETRY_AFTER,
        match=lambda request: not is_read(request) and len(limit.hits) < answers,
        times=answers,
        retry_after=1,
    )
    host.faults.add(limit)
    run = many()
    assert states(run) == {"opened": 30}
    times = [each.ended for each in host.requests if not is_read(each) and each.ended]
    intervals = [later - earlier for earlier, later in itertools.pairwise(times[answers:])]
    assert len(intervals) == 29
    assert all(interval == pytest.approx(6, abs=0.5) for interval in intervals)
    [line] = [line for line in run.lines if line.startswith("[1/30]")]
    assert line.endswith("(about 3 min left)")


# --- What ends the writing ----------------------------------------------------------------


WORDS = ("repo", "rule", "rules", "found", "ref", "create", "repository", "being")
"""Names of repositories that are also words in what GitHub says."""


@pytest.mark.parametrize("names", [[f"service-{n}" for n in range(8)], WORDS], ids=str)
def test_five_failures_in_a_row_with_one_cause_end_the_writing(
    many: Start, host: StandInHost, names: Sequence[str]
) -> None:
    made = [host.create_repository(f"octo-org/{name}", PRESENT) for name in names]
    for repository in made:
        repository.protect("chore/*", "ruleset")
    run = many()
    assert run.exit_code == 1
    assert states(run) == {"failed": 5, "deferred": 3}
    assert "5 repositories in a row failed for one cause" in run.summary
    [warning] = [line for line in run.stderr.splitlines() if "in a row failed" in line]
    assert "Either a ruleset forbids its name" in warning
    assert sum(opened(made)) == 0
    assert not any(request.method == "PUT" for request in host.requests)


def writes_in(repository: Repository, request: Request) -> bool:
    """Whether a request writes in one repository."""
    named = re.search(rf"\b{repository.name}\b", str(request))
    return bool(named) and not is_read(request)


def refuse_writes(host: StandInHost, message: Callable[[Repository], str]) -> None:
    """GitHub refuses every write, in other words for each repository."""
    for each in host.repositories:
        host.faults.add(
            Fault(
                FaultKind.CUSTOM,
                match=partial(writes_in, each),
                times=None,
                status=403,
                message=message(each),
            )
        )


def test_five_failures_with_five_causes_do_not_end_the_writing(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 7)
    rules = ("names", "signatures", "checks", "reviews", "deployments", "commits", "files")
    refuse_writes(host, lambda repository: f"A rule about {rules[repository.id % 7]} forbids it")
    run = many()
    assert states(run) == {"failed": 7}
    assert run.summary.count("**1 failed:**") == 7


def test_the_name_of_the_repository_in_githubs_words_makes_no_other_cause(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 7)
    refuse_writes(host, lambda repository: f"{repository.full_name}: add/{repository.name} refused")
    run = many(branch="add/{repo}")
    assert states(run) == {"failed": 5, "deferred": 2}
    assert "**5 failed:**" in run.summary


@pytest.mark.parametrize(
    "words",
    [
        "Secret detected in content. Unblock it: {repository}/unblock-secret/{unique}",
        "Push declined, see github.com/octo-org/app/rules/{unique}.",
        "{repository}/rules?ref=refs%2Fheads%2Fadd forbids it",
        "Something went wrong. Please include `{unique}` when reporting this issue.",
        "Something went wrong (request ID {unique:.4}:7BC2:1A0F:{unique:.6}).",
        "Refused at 2026-11-22T04:{number}:07Z, attempt {number}",
    ],
)
def test_what_is_unique_in_githubs_words_makes_no_other_cause(
    many: Start, host: StandInHost, words: str
) -> None:
    for name in WORDS:
        host.create_repository(f"octo-org/{name}", PRESENT)

    def unique(repository: Repository) -> str:
        digest = hashlib.sha256(repository.name.encode()).hexdigest()
        address = f"https://github.com/{repository.full_name}"
        return words.format(repository=address, unique=digest, number=repository.id)

    refuse_writes(host, unique)
    run = many()
    assert states(run) == {"failed": 5, "deferred": 3}
    assert "**5 failed:**" in run.summary


def test_a_pull_request_ends_a_row_of_failures(
    many: Start, host: StandInHost, action: Action
) -> None:
    """Also that of a repository that has failed for one of its files."""
    made = [host.create_repository(f"octo-org/r{n}", {"docs": b"a file"}) for n in range(9)]
    writes = Counter[str]()

    def in_all_but_the_fifth(request: Request) -> bool:
        writes["all"] += not is_read(request)
        return not is_read(request) and writes["all"] != 9  # of two each

    host.faults.add(Fault(FaultKind.CUSTOM, match=in_all_but_the_fifth, times=None, status=403))
    run = many(definitions=action.listing("a.md", "docs/b.md"))
    assert (states(run), sum(opened(made))) == ({"failed": 9}, 1)


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

    limit = Fault(FaultKind.PRIMARY_403, match=third, times=None, reset_in=3000)
    host.faults.add(limit)
    run = many(max_wait_minutes=minutes)
    assert (run.exit_code, states(run)) == (0, {"opened": 2, "deferred": 5})
    assert len(limit.hits) == 1
    assert "Run again after" in run.report["fleet"]["stopped"]
    assert run.console.count("The other repositories are deferred") == 1
    assert run.summary.count("the rate limit of the token is used up") == 1
    assert [row["missing"] for row in run.report["fleet"]["rows"]] == [27] * 7
    host.faults.clear()
    assert states(many()) == {"waiting": 2, "opened": 5}


@pytest.mark.parametrize("last", ["git/refs", "graphql", "pulls"])
def test_what_a_limit_stops_half_way_is_deferred_with_its_reason_and_finished_by_the_next_run(
    many: Start, make: Make, host: StandInHost, last: str
) -> None:
    made = make(0, 3)
    at_once = Fault(
        FaultKind.CUSTOM, match=lambda r: "createRef" in str(r.json), times=None, status=422
    )
    limit = Fault(
        FaultKind.PRIMARY_403,
        match=lambda r: r.path.endswith(last) and not is_read(r) and "createRef" not in str(r.json),
        times=None,
        reset_in=3000,
    )
    host.faults.add(at_once)
    host.faults.add(limit)
    run = many()
    assert (run.exit_code, states(run), len(limit.hits)) == (0, {"deferred": 3}, 1), run.console
    reasons = [row["reason"] for row in run.report["fleet"]["rows"] if row["reason"]]
    assert len(reasons) == (last != "git/refs")
    assert all("Run again after" in reason for reason in reasons)
    host.faults.clear()
    assert states(many()) == {"opened": 3}
    assert opened(made) == [1] * 3


def test_a_limit_after_a_pull_request_was_opened_ends_the_writing_too(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(0, 3)
    host.faults.add(
        Fault(FaultKind.PRIMARY_403, match=lambda r: "labels" in r.path, times=None, reset_in=3000)
    )
    run = many(labels="chore", max_wait_minutes="1")
    assert (run.exit_code, states(run)) == (1, {"failed": 1, "deferred": 2})
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
    told = "GraphQL points for the writing: about 60, left: 7."
    assert told in run.stdout
    assert told in run.summary
    assert "Nothing was written" not in run.text


def test_one_odd_repository_does_not_stop_the_others(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(1, 8)

    def meanwhile(request: Request) -> None:
        """Between the reading and the writing."""
        if not is_read(request) and host.on_request:
            host.on_request = None
            made[1].delete()
            made[2].archived = True
            made[3].rename("octo-org/renamed")
            made[4].commit({"LATER.md": b""})
            made[5].create_branch(SCAFFOLD_BRANCH)
            made[5].commit({"theirs": b""}, branch=SCAFFOLD_BRANCH)
            made[6].commit({path: b"theirs" for path in LISTED if path not in PRESENT})

    host.on_request = meanwhile
    run = many(mode="register")
    assert run.exit_code == 1
    assert set(states(run)) <= {"opened", "failed", "complete"}
    assert states(run)["failed"] <= 2
    host.on_request = None
    again = many()
    assert again.exit_code == 0, again.console
    assert [len(each.pull_requests) for each in made if not each.deleted and not each.archived][
        1:
    ] == [1, 1, 1, len(made[6].pull_requests), 1, 1]
    for repository in made:
        if not repository.deleted:
            assert repository.files()["README.md"] in set(LISTED.values()) | set(PRESENT.values())


def test_a_branch_of_its_own_name_for_each_repository(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(12, 3)
    given = {"branch": "add/{repo}", "title": "{repo} of {owner}: {count}"}
    plan = many(mode="plan", **given)
    assert states(plan) == {"missing": 3, "complete": 12}
    # One query asks for one name of a branch
    assert Counter(asked(host))["nodes"] == 15
    run = many(**given)
    assert states(run) == {"opened": 3, "complete": 12}
    proposed = [(pull.head, pull.title) for each in made for pull in each.pull_requests]
    assert proposed == [
        (f"add/{each.name}", f"{each.name} of octo-org: {len(LISTED) - len(PRESENT)}")
        for each in made[12:]
    ]
    assert states(many(**given)) == {"waiting": 3, "complete": 12}
    assert host.graphql_rate_limit
    host.graphql_rate_limit.remaining = 14
    assert "Points needed: about 15, left: 14" in many(mode="plan", **given).console


def test_a_closed_pull_request_is_respected(many: Start, make: Make) -> None:
    [repository] = make(0, 1)
    assert states(many()) == {"opened": 1}
    repository.close(1)
    for _ in range(2):
        run = many()
        assert (run.exit_code, states(run)) == (0, {"declined": 1})
    assert opened([repository]) == [1]


def test_a_pull_request_that_is_closed_between_reading_and_writing(
    many: Start, make: Make, host: StandInHost
) -> None:
    [repository] = make(0, 1)
    many()

    def close(_: Request) -> None:
        if asked(host)[-1] == "query":
            host.on_request = None
            repository.close(1)

    host.on_request = close
    run = many()
    assert (run.exit_code, states(run)) == (0, {"declined": 1})


@pytest.mark.parametrize("mode", ["plan", "check", "register"])
def test_a_path_that_cannot_be_created_fails_in_every_mode(
    many: Start, host: StandInHost, action: Action, mode: str
) -> None:
    host.create_repository("octo-org/r", {"docs": b"a file"})
    run = many(definitions=action.listing("a.txt", "docs/b.txt"), mode=mode)
    assert (run.exit_code, states(run)) == (1, {"failed": 1})
    [row] = run.report["fleet"]["rows"]
    assert "docs" in row["reason"]
    assert row["missing"] == 2


def test_what_cannot_be_read_again_keeps_the_count_of_the_first_reading(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 1)
    unread = Fault(FaultKind.ERROR_502_HTML, match=lambda _: asked(host)[-1] == "query", times=None)
    host.faults.add(unread)
    run = many()
    assert (run.exit_code, states(run)) == (1, {"failed": 1})
    assert [row["missing"] for row in run.report["fleet"]["rows"]] == [27]


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(
            Fault(
                FaultKind.CUSTOM,
                match=lambda request: "/git/trees/" in request.path,
                times=None,
                status=200,
                body={"sha": "1" * 40, "url": "https://x.example", "tree": [], "truncated": True},
            ),
            id="tree-cut",
        ),
        pytest.param(
            Fault(FaultKind.RESET, match=lambda request: not is_read(request), times=None),
            id="answer-lost",
        ),
    ],
)
def test_nothing_is_created_file_by_file(
    many: Start, make: Make, host: StandInHost, action: Action, fault: Fault
) -> None:
    [repository] = make(0, 1)
    many(definitions=action.listing("a.txt", "b.txt"))
    before = repository.files(SCAFFOLD_BRANCH)
    host.faults.add(fault)
    run = many(definitions=action.listing("a.txt", "b.txt", "c.txt"))
    assert (run.exit_code, states(run)) == (1, {"failed": 1})
    assert fault.hits
    assert not any(request.method == "PUT" for request in host.requests)
    assert repository.files(SCAFFOLD_BRANCH) == before


# --- Errors -------------------------------------------------------------------------------


def test_each_cause_of_failures_is_one_error(many: Start, make: Make) -> None:
    made = make(1, 5)
    for repository in made[1:4]:
        repository.protect("chore/*", "ruleset")
    made[4].read_only = True
    first, second = (each.data for each in many(runner=True).annotations())
    assert first.startswith("3 failed (GitHub refuses the branch")
    assert {each.full_name in first for each in made[1:4]} == {True}
    assert second.startswith("1 failed (")
    assert "Either a ruleset forbids its name" in first
    assert "#a-" in second
    assert made[4].full_name in second


def test_of_very_many_causes_ten_are_errors(many: Start, make: Make, host: StandInHost) -> None:
    make(0, 12)
    refuse_writes(host, lambda repository: f"Rule {chr(ord('a') + repository.id % 12)} forbids it")
    run = many()
    assert states(run) == {"failed": 12}
    assert run.stderr.count("Error: 1 failed") == 10


def test_a_check_names_the_repositories_that_lack_files(many: Start, make: Make) -> None:
    made = make(1, 3)
    many(target_repos=made[1].full_name)
    missing, waiting = (each.data for each in many(mode="check", runner=True).annotations())
    assert missing.startswith("Outcome: 2 with missing files. To add them, run this with `mode: re")
    assert waiting.startswith("Outcome: 1 waiting. To add them, merge the open pull request.")
    assert "#files-are-missing" in missing
    assert (made[1].full_name in missing, made[2].full_name in missing) == (False, True)
    assert not many(mode="plan", runner=True).annotations()


def test_what_is_worth_knowing_is_said_once_with_the_repositories(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(0, 3)
    refused = Fault(FaultKind.CUSTOM, match=lambda r: r.path.endswith("/labels"), times=2)
    host.faults.add(refused)
    run = many(labels="area/x")
    assert run.exit_code == 0
    [line] = [line for line in run.lines if "area/x was left out of the pull request" in line]
    named = run.lines[run.lines.index(line) + 1]
    assert named.startswith("  Repositories: ")
    assert sum(each.full_name in named for each in made) == 2
    assert run.lines[-1] == "Outcome: 3 opened."
    assert run.summary.count("`area/x` was left out of the pull request") == 1


def test_a_plan_says_that_pull_requests_could_not_be_read(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 2)
    host.quirks.pull_requests_need_permission = True
    token = host.create_token("installation", permissions={"contents": "read"})
    run = many(mode="plan", host_token=token)
    for text in (run.stdout, run.summary):
        assert text.count("pull requests of the working branch could not be read") == 1
        assert "it is not known whether a pull request is open or was declined: 2." in text


# --- Listing ------------------------------------------------------------------------------


def test_names_alone_need_no_list(many: Start, make: Make, host: StandInHost) -> None:
    make(1, 2)
    [closed] = make(0, 1)
    closed.sso = True
    run = many(target_repos=f"octo-org/r1, Octo-Org/R2, octo-org/gone, {closed.full_name}")
    assert run.exit_code == 1
    assert "single sign-on" in run.summary
    assert rows(run) == {
        "octo-org/gone": "failed",
        closed.full_name: "failed",
        "octo-org/r1": "opened",
        "octo-org/r2": "opened",
    }
    assert not any("/orgs/" in each or "/users/" in each for each in asked(host))


def test_where_nothing_could_be_read_nothing_is_said_to_be_complete(many: Start) -> None:
    run = many(target_repos="octo-org/gone")
    assert (run.exit_code, run.outputs["repositories"]) == (1, "0")
    assert "No repository was read." in run.lines
    assert "missing files" not in run.stdout.lower()


def test_missing_files_are_counted_where_repositories_could_be_read(
    many: Start, make: Make
) -> None:
    [complete, *_] = make(2, 0)
    run = many(target_repos=f"{complete.full_name}, octo-org/gone", mode="plan")
    assert "With missing files: 0." in run.lines


@pytest.mark.parametrize(
    ("targets", "left_out"),
    [
        ("octo-org/fork", "1 that were found. Left out: forks 1."),
        ("octo-org/empty", "1 that were found. Left out: empty 1."),
        (ALL, "4 that were found. Left out: forks 1, archived 1, empty 1, locked 1."),
    ],
)
@pytest.mark.parametrize("mode", ["plan", "register"])
def test_an_empty_selection_is_refused_with_each_reason(
    many: Start, host: StandInHost, targets: str, left_out: str, mode: str
) -> None:
    """Also where only reading tells that nothing is left."""
    host.create_repository("octo-org/fork", PRESENT, parent="other/fork")
    host.create_repository("octo-org/empty", empty=True)
    host.create_repository("octo-org/old", archived=True)
    host.create_repository("octo-org/locked", locked=True)
    run = many(target_repos=targets, mode=mode)
    assert run.exit_code == 2
    assert f"No repository is selected of the {left_out}" in run.stderr
    assert many(target_repos=targets, mode=mode, shard="1/1").exit_code == 0


@pytest.mark.parametrize(
    "fault",
    [
        Fault(FaultKind.CUSTOM, status=451, message="Repository access blocked"),
        Fault(FaultKind.ERROR_502_HTML),
    ],
    ids=["blocked for legal reasons", "server error"],
)
def test_a_name_that_cannot_be_looked_up_does_not_stop_the_others(
    many: Start, make: Make, host: StandInHost, fault: Fault
) -> None:
    make(0, 3)
    odd = "/repos/octo-org/r1"
    host.faults.add(replace(fault, match=lambda request: request.path == odd, times=None))
    run = many(target_repos="octo-org/r0, octo-org/r1, octo-org/r2")
    assert run.exit_code == 1
    assert states(run) == {"failed": 1, "opened": 2}
    assert rows(run)["octo-org/r1"] == "failed"


def test_a_renamed_repository_is_found_under_its_old_name(many: Start, make: Make) -> None:
    [repository] = make(0, 1)
    repository.rename("octo-org/new-name")
    assert rows(many(target_repos="octo-org/r0")) == {"octo-org/new-name": "opened"}


def test_an_apps_token_lists_what_it_is_installed_for(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 3)
    token = host.create_token("installation", repositories=["octo-org/r1", "octo-org/r2"])
    run = many(host_token=token, mode="plan")
    assert set(rows(run)) == {"octo-org/r1", "octo-org/r2"}
    assert "GET /installation/repositories" in asked(host)


@pytest.mark.parametrize("targets", ["other-org/*", "octo-org/*, Other-Org/api-*"])
def test_an_owner_of_whom_an_apps_token_sees_nothing_is_an_error_and_not_a_short_list(
    many: Start, make: Make, host: StandInHost, targets: str
) -> None:
    make(1, 1)
    host.create_repository("other-org/api-x", PRESENT, private=True)
    token = host.create_token("installation", repositories=["octo-org/r0", "octo-org/r1"])
    run = many(host_token=token, target_repos=targets, mode="plan")
    assert (run.exit_code, len(host.requests)) == (2, 2)
    assert "The App's token sees no repository of other-org" in run.stderr


def test_a_persons_private_repositories_are_found(many: Start, host: StandInHost) -> None:
    host.create_repository("octocat/open", PRESENT)
    host.create_repository("octocat/secret", PRESENT, private=True)
    run = many(target_repos="octocat/*", mode="plan")
    for name in ("octocat/open", "octocat/secret"):
        assert f"{name}: files missing: 27" in run.stdout


@pytest.mark.parametrize(
    ("inputs", "part"),
    [
        ({"target_repos": "octo-org/none-*"}, "No repository is selected"),
        ({"target_repos": "nobody/*"}, "There is no organisation or user nobody"),
        ({"target_repos": "octo-org/*, license:mit"}, "unknown qualifier"),
        ({"target_repos": "octo-org/*, topic:"}, "topic: has no value"),
        ({"target_repos": "https://github.com/octo-org/r0"}, "neither a repository nor a pattern"),
        ({"commit_strategy": "per-file"}, "is for one repository"),
        ({"max_pull_requests": "many"}, "max_pull_requests is not a whole number"),
        ({"max_minutes": "-1"}, "max_minutes is not a number of minutes"),
        ({"shard": "3/2"}, "shard is not of the form"),
    ],
)
def test_what_cannot_be_begun_is_refused(
    many: Start, make: Make, host: StandInHost, inputs: dict[str, str], part: str
) -> None:
    make(1, 1)
    run = many(**inputs)
    assert run.exit_code == 2
    assert part in run.console
    assert only_reads(host)


def test_a_list_that_is_known_to_be_incomplete_is_an_error(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(1, 1)
    run = many(host_token=host.create_token(hidden_by_sso=["octo-org"]))
    assert (run.exit_code, only_reads(host)) == (2, True)
    assert "single sign-on" in run.console


def test_a_persons_own_list_lacks_organisations_that_have_nothing_to_do_with_it(
    many: Start, host: StandInHost
) -> None:
    repository = host.create_repository("octocat/notes", private=True)
    token = host.create_token(hidden_by_sso=["octo-org"])
    run = many(target_repos="octocat/*", host_token=token)
    assert run.exit_code == 0, run.text
    assert len(repository.pull_requests) == 1


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["classic", "installation"])
@pytest.mark.parametrize("max_minutes", ["360", "0.05"])
def test_a_list_whose_pages_repeat_ends_with_an_error(
    many: Start, make: Make, host: StandInHost, kind: Kind, max_minutes: str
) -> None:
    """As behind a gateway that drops `page`."""
    make(103, 0)
    host.faults.add(
        RepeatedPage(
            FaultKind.CUSTOM,
            match=lambda request: "per_page" in request.query,
            times=None,
            when="after",
        )
    )
    run = many(host_token=host.create_token(kind), max_minutes=max_minutes)
    assert run.exit_code == 2
    assert "list of repositories does not end: page 2 holds nothing new" in run.stderr
    assert len(host.requests) == 3


@pytest.mark.parametrize("kind", ["classic", "installation"])
def test_the_time_of_a_run_ends_while_repositories_are_listed(
    many: Start, make: Make, host: StandInHost, action: Action, kind: Kind
) -> None:
    make(250, 0)

    def slow(request: Request) -> None:
        if request.path.endswith(("/repos", "/repositories")):
            action.clock.sleep(31)

    host.on_request = slow
    run = many(host_token=host.create_token(kind), max_minutes="1")
    assert run.exit_code == 2
    assert "max_minutes (1 min) were over before all repositories were listed" in run.stderr
    assert len(host.requests) == 3


@pytest.mark.timeout(30)
def test_a_name_that_somebody_chose_makes_no_pattern_slow(many: Start, host: StandInHost) -> None:
    host.create_repository("octo-org/" + "-" * 100, LISTED)
    run = many(target_repos=f"octo-org/{'*-' * 30}x, octo-org/r*", mode="plan")
    assert run.exit_code == 2
    assert "No repository is selected of the 1 that were found" in run.stderr


def test_a_pattern_that_is_too_long_is_refused(many: Start, host: StandInHost) -> None:
    run = many(target_repos=f"octo-org/{'a*' * 501}")
    assert (run.exit_code, host.requests) == (2, [])
    assert "is longer than the 1000 characters" in run.stderr


@pytest.mark.parametrize("own", ["octo-org/r0", "me/tools"])
def test_a_workflows_own_token_is_recognised(
    many: Start, make: Make, host: StandInHost, own: str
) -> None:
    make(1, 1)
    host.create_repository("me/tools")
    token = host.create_token("installation", repositories=[own])
    run = many(host_token=token, env={"GITHUB_REPOSITORY": own})
    assert run.exit_code == 2
    assert f"A workflow's own token sees no repository but {own}" in run.console


def test_an_app_that_may_not_list_repositories_lacks_a_permission(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(1, 1)
    no = "Resource not accessible by integration"
    host.faults.add(
        Fault(
            FaultKind.CUSTOM,
            match=lambda r: r.path == "/installation/repositories",
            status=403,
            message=no,
            headers={"X-Accepted-GitHub-Permissions": "metadata=read"},
        )
    )
    run = many(host_token=host.create_token("installation"), env={"GITHUB_REPOSITORY": "a/b"})
    assert run.exit_code == 2
    assert f"{no}. The token lacks a permission; GitHub asks for: metadata=read." in run.console


def test_too_few_points_for_the_reading(many: Start, make: Make, host: StandInHost) -> None:
    make(30, 0)
    assert host.graphql_rate_limit
    host.graphql_rate_limit.remaining = 2
    run = many()
    assert (run.exit_code, only_reads(host)) == (2, True)
    assert "Points needed: about 3, left: 2" in run.console


def test_too_few_points_to_look_under_later_names_of_the_branch(
    many: Start, make: Make, host: StandInHost
) -> None:
    for repository in make(0, 30):
        for number, name in enumerate(["", "-2", "-3"], start=1):
            repository.create_branch(f"{SCAFFOLD_BRANCH}{name}")
            repository.commit({f"x{number}": b""}, branch=f"{SCAFFOLD_BRANCH}{name}")
            repository.open_pull_request(head=f"{SCAFFOLD_BRANCH}{name}")
            repository.merge(number)
    assert host.graphql_rate_limit
    host.graphql_rate_limit.remaining = 3
    run = many()
    assert (run.exit_code, only_reads(host), asked(host).count("nodes")) == (2, True, 3)
    assert "Points needed: about 1, left: 0" in run.console


@pytest.mark.parametrize("mode", ["register", "plan"])
@pytest.mark.parametrize(
    ("repositories", "seconds", "queries", "minutes"),
    [
        # The end comes
        (40, 19, 4, 3),
        # Ten queries, for ten repositories each, tell that it is going to
        (300, 2.5, 10, 2),
    ],
)
def test_reading_ends_with_the_run(
    many: Start,
    make: Make,
    host: StandInHost,
    action: Action,
    mode: str,
    repositories: int,
    seconds: float,
    queries: int,
    minutes: int,
) -> None:
    make(0, repositories)

    def slow(request: Request) -> None:
        if request.path == "/graphql":
            action.clock.sleep(seconds)

    host.on_request = slow
    run = many(mode=mode, max_minutes="1")
    assert (run.exit_code, only_reads(host)) == (2, True), run.console
    assert Counter(asked(host))["nodes"] == queries
    assert run.outputs["repositories"] == str(repositories)
    assert f"Reading the repositories alone takes about {minutes} min" in run.stderr


def test_fast_reading_is_not_taken_for_slow(many: Start, make: Make) -> None:
    make(70, 0)
    run = many(mode="plan", max_minutes="0.1")
    assert (run.exit_code, states(run)) == (0, {"complete": 70})


# --- Reading ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["FORBIDDEN", "INSUFFICIENT_SCOPES"])
def test_a_repository_that_the_token_may_not_read_fails_with_githubs_words(
    many: Start, make: Make, host: StandInHost, kind: str
) -> None:
    make(0, 1)
    errors = [
        {"type": kind, "path": [field, 0], "message": "Not for you"} for field in ("nodes", "pulls")
    ]
    body = {"data": {"nodes": [None], "pulls": [None]}, "errors": errors}
    host.faults.add(
        Fault(FaultKind.CUSTOM, match=lambda r: r.path == "/graphql", status=200, body=body)
    )
    run = many(mode="plan")
    assert rows(run) == {"octo-org/r0": "failed"}
    assert "GitHub does not let the token read it: Not for you" in run.console


@pytest.mark.parametrize("limit", ["partial_above", "timeout_above", "bad_gateway_above"])
def test_batches_that_are_too_large_are_halved(
    many: Start, make: Make, host: StandInHost, limit: str
) -> None:
    make(20, 5)
    setattr(host.quirks, limit, 150)
    run = many(mode="plan")
    assert states(run) == {"missing": 5, "complete": 20}


def test_a_batch_that_fails_is_sent_once_more_and_then_halved(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(100, 0)
    sizes = list[int]()

    def is_the_rest(request: Request) -> bool:
        if request.path != "/graphql":
            return False
        sizes.append(len(request.json["variables"]["ids"]))
        return sizes[-1] == 11

    host.faults.add(Fault(FaultKind.ERROR_502_HTML, match=is_the_rest, times=None))
    assert states(many(mode="plan")) == {"complete": 100}
    assert sizes == [10, 16, 25, 38, 11, 11, 5, 6]


@pytest.mark.parametrize(
    "words",
    [
        "Something went wrong while executing your query. Please include `A:B` when reporting",
        "Timeout on validation of query",
        "timedout",
    ],
)
def test_a_query_that_runs_out_of_time_once_is_asked_again_as_it_was(
    many: Start, make: Make, host: StandInHost, words: str
) -> None:
    make(60, 0)
    body = {"errors": [{"message": words}]}
    host.faults.add(Fault(FaultKind.CUSTOM, at=3, status=200, body=body))
    run = many(mode="plan")
    assert states(run) == {"complete": 60}
    assert "GitHub ran out of time" in run.stdout
    sizes = [len(r.json["variables"]["ids"]) for r in host.requests if r.path == "/graphql"]
    assert sizes == [10, 10, 16, 25, 9]


def test_points_that_time_outs_cost_are_counted(many: Start, make: Make, host: StandInHost) -> None:
    """A run that could not end says so, before it has used up what others need."""
    make(40, 0)
    host.graphql_rate_limit = RateLimit(remaining=100)
    host.quirks.timeout_above = 20
    host.quirks.points_of_timeout = 30
    run = many(mode="plan")
    assert run.exit_code == 2, run.console
    assert "points" in run.stderr
    assert len(host.requests) < 10


@pytest.mark.parametrize(
    "kind", [FaultKind.ERROR_502_HTML, FaultKind.CUT_JSON, FaultKind.WRONG_OBJECT, FaultKind.RESET]
)
def test_one_failed_batch_costs_no_repository(
    many: Start, make: Make, host: StandInHost, kind: FaultKind
) -> None:
    make(10, 5)
    host.faults.add(Fault(kind, at=3))
    assert states(many(mode="plan")) == {"missing": 5, "complete": 10}


def test_an_answer_about_fewer_repositories_than_asked_for_is_a_failed_batch(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(3, 1)
    short = {"data": {"nodes": [None], "pulls": [None]}}
    host.faults.add(Fault(FaultKind.CUSTOM, at=3, status=200, body=short))
    run = many(mode="plan")
    assert states(run) == {"missing": 1, "complete": 3}, run.console


def test_the_queries_that_are_told_are_those_that_were_sent(
    many: Start, make: Make, host: StandInHost
) -> None:
    """Those that are sent again, in parts, or to the owner's repository included."""
    make(4, 1)
    host.create_repository("octo-org/.github", {"SECURITY.md": b""})
    host.quirks.partial_above = 20
    host.faults.add(Fault(FaultKind.ERROR_502_HTML, at=12))
    run = many(mode="plan", profile="health", respect_alternatives="true")
    sent = [each for each in asked(host) if each in {"nodes", "query"}]
    assert {"nodes", "query"} == set(sent)
    assert run.report["fleet"]["budget"]["queries"] == len(sent)


def test_what_cannot_be_read_is_a_failed_row_and_never_missing(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(5, 5)

    def listed(request: Request) -> None:
        if "orgs" in request.path:
            host.on_request = None
        elif request.path == "/graphql":
            made[0].delete()

    def delete_after_listing(request: Request) -> None:
        if request.path == "/graphql":
            made[0].delete()

    host.on_request = delete_after_listing
    run = many(mode="plan")
    assert states(run) == {"failed": 1, "missing": 5, "complete": 4}
    assert run.exit_code == 1


def test_reading_that_always_fails_writes_nothing(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(5, 5)
    host.faults.add(
        Fault(FaultKind.ERROR_502_HTML, match=lambda request: request.path == "/graphql")
    )
    host.faults.add(
        Fault(
            FaultKind.ERROR_502_HTML, match=lambda request: request.path == "/graphql", times=None
        )
    )
    run = many()
    assert run.exit_code == 1
    assert "opened" not in states(run)


def test_old_node_ids_are_taken(many: Start, make: Make, host: StandInHost) -> None:
    host.quirks.old_ids = True
    make(3, 2)
    assert states(many(mode="plan")) == {"missing": 2, "complete": 3}


# --- Names --------------------------------------------------------------------------------

PUBLIC = "octo-org/workflows"


@pytest.mark.parametrize("event", ["says", "is silent", "is missing"])
@pytest.mark.parametrize("mode", ["plan", "register"])
def test_a_public_workflow_publishes_no_private_name(
    many: Start, make: Make, host: StandInHost, action: Action, event: str, mode: str
) -> None:
    host.create_repository(PUBLIC, LISTED)
    secret = host.create_repository("octo-org/top-secret", PRESENT, private=True)
    internal = host.create_repository("octo-org/in-house", PRESENT, private=True, internal=True)
    [public] = make(0, 1)
    secret.protect("chore/*", "ruleset")
    env = {"GITHUB_REPOSITORY": PUBLIC}
    if event != "is missing":
        payload = (
            {"repository": {"private": False}} if event == "says" else {"schedule": "0 0 * * *"}
        )
        action.write("event.json", json.dumps(payload))
        env["GITHUB_EVENT_PATH"] = str(action.workspace / "event.json")
    run = many(mode=mode, env=env, runner=True)
    for name in ("top-secret", "in-house"):
        assert name not in run.text.lower()
    assert f"octo-org/(id {secret.id})" in run.summary
    assert set(rows(run)) == {
        f"octo-org/(id {secret.id})",
        f"octo-org/(id {internal.id})",
        public.full_name,
    }
    if mode == "register":
        [pull] = internal.pull_requests
        assert "(id " not in f"{pull.title} {pull.body}"


@pytest.mark.parametrize(
    "texts",
    [
        {"branch": "add/{repo}", "title": "Files for {repo}"},
        {"branch": "{repo}", "title": "{repo} von {owner}: {count} für Ämter"},
        {"branch": "{owner}-{repo}-{profile}", "title": "{count} {repo} ({repo})"},
    ],
)
def test_what_is_made_of_a_private_name_is_not_published(
    many: Start, host: StandInHost, texts: dict[str, str]
) -> None:
    host.create_repository(PUBLIC, LISTED)
    names = ("secret", "secret-2", "secret-service", "in-house", ".private")
    made = [host.create_repository(f"octo-org/{name}", PRESENT, private=True) for name in names]
    public = host.create_repository("octo-org/in-house-2", PRESENT)
    made[0].protect("*", "ruleset")
    made[0].protect("*/*", "ruleset")
    given = {**texts, "env": {"GITHUB_REPOSITORY": PUBLIC}, "runner": True}
    shown = [many(mode="plan", **given)]
    for each in made[1:3]:
        branch = texts["branch"].format(owner="octo-org", repo=each.name, profile="scaffold")
        each.create_branch(branch)
        each.commit({"x": b"theirs"}, branch=branch)
    # Not at once, so that the title is a part of an address
    refused = Fault(
        FaultKind.CUSTOM,
        match=lambda r: r.method == "POST" and r.path.endswith("/pulls"),
        times=2,
        status=403,
    )
    host.faults.add(refused)
    host.refused_mutations = {"createPullRequest": Refusal(422, "Not at once")}
    shown += [many(**given), many(**given)]
    assert "&title=" in shown[1].summary
    for run in shown:
        text = run.text.replace(public.name, "")
        for name in ("secret", "in-house", ".private"):
            assert name not in text.lower()
        assert public.full_name in run.text
    branches = {each["branch"] for each in shown[2].report["registrations"]}
    number = f"(id {made[1].id})"
    branch = texts["branch"].format(owner="octo-org", repo=number, profile="scaffold")
    assert f"{branch}-2" in branches


def test_a_workflow_of_an_unknown_repository_publishes_no_private_name(
    many: Start, host: StandInHost
) -> None:
    secret = host.create_repository("octo-org/top-secret", PRESENT, private=True)
    run = many(mode="plan", runner=True)
    assert set(rows(run)) == {f"octo-org/(id {secret.id})"}
    assert "top-secret" not in run.text.lower()


@pytest.mark.parametrize("before", ["nodes", "mutation"])
def test_a_name_that_is_new_since_the_list_is_not_published_either(
    many: Start, host: StandInHost, before: str
) -> None:
    host.create_repository(PUBLIC, LISTED)
    secret = host.create_repository("octo-org/top-secret", PRESENT, private=True)

    def rename(_: Request) -> None:
        if asked(host)[-1] == before:
            host.on_request = None
            secret.rename("octo-org/even-more-secret")

    host.on_request = rename
    run = many(env={"GITHUB_REPOSITORY": PUBLIC})
    assert len(secret.pull_requests) == 1
    assert "secret" not in run.text.lower()


@pytest.mark.parametrize("private", [True, False])
def test_names_are_shown_where_only_those_read_who_may(
    many: Start, host: StandInHost, tmp_path: Path, private: bool
) -> None:
    host.create_repository(PUBLIC, LISTED, private=True)
    host.create_repository("octo-org/top-secret", PRESENT, private=True)
    env = {"GITHUB_REPOSITORY": PUBLIC} if private else {}
    run = many(mode="plan", env={**env, "RUNNER_TEMP": str(tmp_path)})
    [report] = tmp_path.glob("registrar-report-*.json")
    for text in (run.stdout, run.summary, report.read_text("utf-8")):
        assert "octo-org/top-secret" in text


def test_no_private_name_is_in_an_output_whoever_reads_the_log(
    many: Start, host: StandInHost
) -> None:
    host.create_repository(PUBLIC, LISTED, private=True)
    secret = host.create_repository("octo-org/top-secret", PRESENT, private=True)
    run = many(env={"GITHUB_REPOSITORY": PUBLIC}, branch="add/{repo}")
    assert "octo-org/top-secret" in run.stdout
    assert "top-secret" not in run.output_file
    assert rows(run) == {f"octo-org/(id {secret.id})": "opened"}


@pytest.mark.parametrize(
    "words",
    [
        "No: {0.full_name}",
        "No: {0.name}",
        "No: '{0.name}'.",
        "No: {0.full_name}.git/x",
        "No: x@{0.name}:2",
    ],
)
def test_a_private_name_in_githubs_words_is_not_published(
    many: Start, host: StandInHost, words: str
) -> None:
    host.create_repository(PUBLIC, LISTED)
    host.create_repository("octo-org/top-secret", PRESENT, private=True)
    refuse_writes(host, words.format)
    run = many(env={"GITHUB_REPOSITORY": PUBLIC}, runner=True)
    assert (run.exit_code, states(run)) == (1, {"failed": 1, "complete": 1})
    assert "No: " in run.stdout
    assert "secret" not in run.text.lower()


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(
    "words",
    [
        "No: '{0.name}' refused",
        "No: {0.name}",
        "{0.full_name}: Repository rule violations found",
        "No:\n{0.full_name}",
        "No:\n{0.name}",
    ],
)
def test_a_private_name_in_githubs_words_is_in_no_output_whoever_reads_the_log(
    many: Start, host: StandInHost, tmp_path: Path, words: str, language: str
) -> None:
    host.create_repository(PUBLIC, LISTED, private=True)
    host.create_repository("octo-org/top-secret", PRESENT, private=True)
    refuse_writes(host, words.format)
    env = {"GITHUB_REPOSITORY": PUBLIC, "RUNNER_TEMP": str(tmp_path)}
    run = many(env=env, language=language)
    assert (run.exit_code, states(run)) == (1, {"failed": 1, "complete": 1})
    assert "secret" not in run.output_file.lower()
    [report] = tmp_path.glob("registrar-report-*.json")
    for text in (run.stdout, report.read_text("utf-8")):
        assert "top-secret" in text


ADDRESSES = [
    "see https://github.com/o/p/rules?ref=refs%2Fheads%2Fadd%2F{name}",
    "see https://github.com/login?return_to=https%3A%2F%2Fgithub.com%2Frepos%2F{owner}%2F{name}%2Fx",
    "see return_to%3Dhttps%253A%252F%252Fgithub.com%252F{owner}%252F{name}",
    "see https://github.com/{full}.git.",
    "see https://github.com/{full}.wiki.git",
    "{name}/main was refused",
    "{name}/main: refused",
    "refused: _{full}_",
    "refused: _{name}_",
    "refused: {upper}.GIT",
    "refused: {owner}%2F{first}{rest}",
    "refused: {first}{rest}/rules",
    "refused: %252F{first}{rest}",
    "refused: {owner}&#x2F;{name}/x",
    "refused: {owner}\\u002F{name}.wiki",
    "refused: https://{name}.example.com",
    "refused: {full}-renamed-meanwhile",
    "refused: " + "%2525252525" * 9 + "{name}/x",
]
"""GitHub's or a gateway's words, with a name escaped or with an ending."""


def words_with(address: str, repository: Repository) -> str:
    """The words about a repository; ``first`` is the first letter of its name, escaped."""
    return address.format(
        full=repository.full_name,
        upper=repository.full_name.upper(),
        owner=repository.owner,
        name=repository.name,
        first=f"%{ord(repository.name[0]):02X}",
        rest=repository.name[1:],
    )


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_words_that_may_hold_a_private_name_are_not_published(
    many: Start, host: StandInHost, address: str, language: str
) -> None:
    host.create_repository(PUBLIC, LISTED)
    host.create_repository("octo-org/top-secret", PRESENT, private=True)
    refuse_writes(host, lambda repository: words_with(address, repository))
    run = many(env={"GITHUB_REPOSITORY": PUBLIC}, runner=True, language=language)
    assert (run.exit_code, states(run)) == (1, {"failed": 1, "complete": 1})
    text = unquote(unquote(unquote(html.unescape(run.text)))).lower()
    assert "secret" not in text
    instead = {
        "en": "GitHub's words are not shown, because they may hold a private name",
        "ja": "GitHub の言葉は、非公開の名前を含むかもしれないため表示しません",
    }
    assert instead[language] in run.stdout
    assert instead[language] in run.summary


@pytest.mark.parametrize("address", ADDRESSES[:4])
def test_words_that_may_hold_a_private_name_are_in_no_output_whoever_reads_the_log(
    many: Start, host: StandInHost, address: str
) -> None:
    host.create_repository(PUBLIC, LISTED, private=True)
    host.create_repository("octo-org/top-secret", PRESENT, private=True)
    refuse_writes(host, lambda repository: words_with(address, repository))
    run = many(env={"GITHUB_REPOSITORY": PUBLIC}, runner=True)
    assert "secret" in run.stdout
    assert "secret" not in unquote(run.output_file)


def test_where_a_redirect_leads_is_not_published_either(many: Start, host: StandInHost) -> None:
    host.create_repository(PUBLIC, LISTED)
    host.create_repository("octo-org/top-secret", PRESENT, private=True)
    host.faults.add(
        Fault(
            FaultKind.CUSTOM,
            match=lambda request: not is_read(request),
            times=None,
            status=302,
            headers={
                "Location": "https://sso.example/?return_to=%2Fosoft%2Frepos%2Fo%2Ftop-secret"
            },
        )
    )
    run = many(env={"GITHUB_REPOSITORY": PUBLIC}, runner=True)
    assert run.exit_code == 1
    assert "top-secret" not in unquote(run.text)


@pytest.mark.parametrize("event", ["public", "internal", None, "private"])
def test_what_github_says_while_repositories_are_listed_may_hold_a_private_name(
    many: Start, make: Make, host: StandInHost, action: Action, event: str | None
) -> None:
    make(1, 0)
    env = {"GITHUB_REPOSITORY": "octo-org/workflows"}
    if event:
        payload = {"repository": {"private": event != "public", "visibility": event}}
        path = action.workspace / action.write("event.json", json.dumps(payload))
        env["GITHUB_EVENT_PATH"] = str(path)
    host.faults.add(
        Fault(
            FaultKind.CUSTOM,
            match=lambda request: request.path == "/orgs/octo-org/repos",
            times=None,
            status=403,
            message="octo-org/top-secret is locked",
        )
    )
    run = many(env=env, runner=True)
    assert run.exit_code != 0
    assert ("top-secret" in run.stdout) is (event == "private")
    assert "top-secret" not in run.output_file


@pytest.mark.parametrize("before", ["nodes", "query", "mutation"])
def test_a_repository_that_becomes_private_is_hidden_from_then_on(
    many: Start, host: StandInHost, before: str
) -> None:
    host.create_repository(PUBLIC, LISTED)
    other = host.create_repository("octo-org/other", PRESENT)
    moved = host.create_repository("octo-org/alpha", PRESENT)

    def hide(_: Request) -> None:
        if asked(host)[-1] == before:
            host.on_request = None
            moved.rename("octo-org/even-more-secret")
            moved.private = True

    host.on_request = hide
    run = many(env={"GITHUB_REPOSITORY": PUBLIC}, runner=True)
    assert (run.exit_code, opened([other, moved])) == (0, [1, 1])
    assert "secret" not in run.text.lower()
    assert f"octo-org/(id {moved.id})" in run.text
    if before != "mutation":
        assert "alpha" not in run.summary
        assert "alpha" not in run.output_file


@pytest.mark.parametrize("private", [True, False])
def test_names_are_replaced_in_texts_only_not_in_keys_numbers_and_states(
    many: Start, host: StandInHost, action: Action, tmp_path: Path, private: bool
) -> None:
    """The branch is the name alone: then every word and number may be one."""
    listing = action.listing("a", "b", "c", "d", "e", "f", "g")
    host.create_repository(PUBLIC, dict.fromkeys("abcdefg", b""), private=private)
    names = ["state", "opened", "scaffold", "register", "7"]
    made = [host.create_repository(f"octo-org/{name}", PRESENT, private=True) for name in names]
    env = {"GITHUB_REPOSITORY": PUBLIC, "RUNNER_TEMP": str(tmp_path)}
    run = many(env=env, branch="{repo}", definitions=listing)
    numbers = [f"(id {each.id})" for each in made]
    assert rows(run) == {f"octo-org/{number}": "opened" for number in numbers}
    registrations = run.report["registrations"]
    assert {each["branch"] for each in registrations} == set(numbers)
    assert {(each["profile"], each["mode"], each["created"]) for each in registrations} == {
        ("scaffold", "register", 7)
    }
    [file] = tmp_path.glob("registrar-report-*.json")
    assert file.name == run.outputs["report_path"]
    report = json.loads(file.read_text("utf-8"))
    report_schema().validate(report)
    shown = names if private else numbers
    assert {each["branch"] for each in report["registrations"]} == set(shown)


@pytest.mark.parametrize("said_by", ["event", "listing"])
def test_a_workflow_of_an_internal_repository_counts_as_public(
    many: Start, host: StandInHost, action: Action, said_by: str
) -> None:
    """The whole enterprise reads its log."""
    host.create_repository(PUBLIC, LISTED, private=True, internal=True)
    secret = host.create_repository("octo-org/top-secret", PRESENT, private=True)
    env = {"GITHUB_REPOSITORY": PUBLIC}
    if said_by == "event":
        payload = {"repository": {"private": True, "visibility": "internal"}}
        env["GITHUB_EVENT_PATH"] = str(
            action.workspace / action.write("event.json", json.dumps(payload))
        )
    run = many(env=env, runner=True)
    assert len(secret.pull_requests) == 1
    assert "secret" not in run.text.lower()


@pytest.mark.timeout(30)
@pytest.mark.parametrize("kind", ["pipe", "endless", "too large", "directory"])
def test_an_event_that_is_no_file_is_no_event(
    many: Start, host: StandInHost, action: Action, kind: str
) -> None:
    host.create_repository(PUBLIC, LISTED, private=True)
    host.create_repository("octo-org/top-secret", PRESENT, private=True)
    path = action.workspace / "event"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "endless":
        path = Path("/dev/zero")
    else:
        payload = json.dumps({"repository": {"visibility": "public"}})
        path.write_text(payload + " " * 25_000_000, "utf-8")
    run = many(mode="plan", env={"GITHUB_REPOSITORY": PUBLIC, "GITHUB_EVENT_PATH": str(path)})
    assert run.exit_code == 0
    assert "octo-org/top-secret" in run.stdout


# --- Memory -------------------------------------------------------------------------------


def test_a_plan_does_not_keep_the_content_of_each_repository(
    host: StandInHost, action: Action
) -> None:
    """A template of 400 kB in 250 repositories would be 100 MB."""
    for number in range(250):
        host.create_repository(f"octo-org/r{number}", {"a": b"a"})
    action.write("template", "{repo}" + "x" * 400_000)
    peaks = []
    for template in (True, False):
        entry = {"path": "b", "content_file": "template", "template": template}
        listing = action.write("list.json", json.dumps([entry]))
        given = {"definitions": listing, "target_repo": None, "mode": "plan", "language": "en"}
        environ = action.environment({**given, "target_repos": ALL})
        run, peak = action.measure(environ)
        assert (run.exit_code, rows(run)) == (0, {f"octo-org/r{n}": "missing" for n in range(250)})
        peaks.append(peak)
    assert peaks[0] < peaks[1] + 20_000_000


def test_more_files_than_the_memory_takes_are_refused(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    make(0, 201)
    listing = action.listing(*(f"docs/{number}" for number in range(5_000)))
    run = many(definitions=listing, mode="plan")
    assert (run.exit_code, only_reads(host)) == (2, True)
    assert "The lists have 1005000 files for all repositories together" in run.stderr
    assert "nodes" not in asked(host)


# --- How many requests --------------------------------------------------------------------


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
