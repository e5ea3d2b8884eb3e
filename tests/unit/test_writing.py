"""The plan and the order of a run over many repositories, and the size of its batches."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from registrar.errors import Failure, Kind
from registrar.github import bulk, queries
from registrar.github.limits import WINDOWS, Pace
from registrar.many import writing
from registrar.many.reading import FAST_SECONDS, LARGEST_SIZE, SLOW_SECONDS, BatchSize
from registrar.many.writing import with_writing
from registrar.models.files import FileDefinition
from registrar.models.paths import Done, Outcome, Result, by_path
from registrar.models.record import PullRequestOperation, Record, Told
from registrar.models.repository import PullRequest, Repository
from registrar.models.run_result import Budget
from registrar.models.settings import PullRequestOptions, Settings
from registrar.models.spec import ONE_OF_MANY
from registrar.models.standing import Standing
from registrar.models.status import Need, Status
from registrar.models.tally import Tally
from registrar.registration.branch_names import names_of
from registrar.reporting import sentences
from registrar.runtime.cancellation import Cancellation
from registrar.texts.messages import Catalogue, msg
from tests.clocks import FakeClock
from tests.fakehub import graphql
from tests.recordings.calls import Caller
from tests.values import in_state, record, settings, spec


@pytest.mark.parametrize(
    ("planned", "done", "made", "left"),
    [(400, 0, 0, 400), (396, 4, 4, 396), (80, 1, 4, 102), (80, 90, 180, 152), (10, 9, 5, 10)],
)
def test_what_is_left_takes_as_many_writes_as_what_is_done_once_that_is_much(
    planned: int, done: int, made: int, left: int
) -> None:
    assert writing.writes_left(planned, done=done, made=made) == left


def test_the_order_is_by_name() -> None:
    """In any letter case; those that an earlier run has left come last."""
    names = [f"octo/{'Rr'[number % 2]}{number:02}" for number in range(50)]
    lacking = by_path([in_state(FileDefinition("a"), Standing.TO_CREATE, Done.NOTHING)])
    read = [
        Record(spec()._replace(repository=each), each, told=Told(Need.OPEN), paths=lacking)
        for each in map(Repository, names)
    ]
    assert writing.in_order(reversed(read)) == read
    read[0] = left = replace(read[0], interrupted=True)
    assert writing.in_order(read) == [*read[1:], left]


@pytest.mark.parametrize(
    ("planned", "operation", "wrote", "changed", "room"),
    [
        (Need.OPEN, PullRequestOperation.CREATED, True, 0, {Need.UPDATE}),
        # The answer was lost, so it may have been opened
        (Need.OPEN, PullRequestOperation.NONE, True, 0, {Need.UPDATE}),
        (Need.OPEN, PullRequestOperation.NONE, False, 0, {Need.OPEN, Need.UPDATE}),
        # People have changed the repository since it was read
        (Need.WAITING, PullRequestOperation.CREATED, True, 0, {Need.UPDATE}),
        (Need.WAITING, PullRequestOperation.UPDATED, True, 0, {Need.OPEN}),
        (Need.UPDATE, PullRequestOperation.UPDATED, True, 0, {Need.OPEN}),
        (Need.UPDATE, PullRequestOperation.NONE, False, 0, {Need.OPEN, Need.UPDATE}),
        (Need.UPDATE, PullRequestOperation.CREATED, True, 0, set[Need]()),
        (Need.OPEN, PullRequestOperation.CREATED, True, 1, set[Need]()),
    ],
)
def test_each_cap_counts_what_was_or_may_have_been_done(
    planned: Need, operation: PullRequestOperation, wrote: bool, changed: int, room: set[Need]
) -> None:
    clock = FakeClock()
    given = settings(target_repos="octo/*", max_pull_requests="1")
    gate = writing.Gate(given, Pace(clock), Cancellation(clock))
    of = {need: replace(record("octo/a", {}), told=Told(need)) for need in Need}
    done = replace(of[planned], operation=operation)
    gate.note(of[planned], done, writes=1, wrote=wrote, changed=changed)
    assert {need for need in (Need.OPEN, Need.UPDATE) if gate.has_room_for(of[need])} == room


@pytest.mark.parametrize(("writes", "has_time"), [(2, True), (3, False)])
def test_the_next_one_has_time_for_as_many_writes_as_any_needed(
    writes: int, has_time: bool
) -> None:
    """GitHub's window has room for two, and the run ends before there is more."""
    clock = FakeClock()
    pace = Pace(clock)
    pace.end = clock.monotonic() + 30
    for _ in range(WINDOWS[0][0] - 2):
        pace.note_sent()
    gate = writing.Gate(settings(target_repos="octo/*"), pace, Cancellation(clock))
    done = record("octo/a", {})
    gate.note(done, done, writes=writes, wrote=True, changed=0)
    assert gate.has_time is has_time


NONE, CREATED = PullRequestOperation.NONE, PullRequestOperation.CREATED


@pytest.mark.parametrize(
    ("planned", "operation", "is_shown", "has_file", "of_session", "expected"),
    [
        (Need.OPEN, NONE, False, False, "", False),
        (Need.OPEN, CREATED, False, False, "", True),
        (Need.UPDATE, NONE, True, False, "", False),
        (Need.UPDATE, NONE, True, True, "", True),
        # Another run has opened the pull request meanwhile, or this one has and the answer was lost
        (Need.OPEN, NONE, True, False, "", True),
        # The last write, or one before it, may have been applied
        (Need.OPEN, NONE, False, False, "may_have_been_applied", True),
        (Need.OPEN, NONE, False, False, "has_lost_answer", True),
    ],
)
def test_a_pull_request_may_have_been_written(
    planned: Need,
    operation: PullRequestOperation,
    is_shown: bool,
    has_file: bool,
    of_session: str,
    expected: bool,
) -> None:
    previewed = replace(record("octo/a", {"a": Standing.TO_CREATE}), told=Told(planned))
    pull = PullRequest(1, "https://example.com/1") if is_shown else None
    registered = replace(previewed, operation=operation, pull_request=pull)
    if has_file:
        [path] = registered.files
        registered = registered.with_paths([path._replace(outcome=Outcome(Result.DONE))])
    # Nothing is sent
    client = Caller("http://127.0.0.1:1", "token").github.client("octo/a")
    if of_session:
        setattr(client.session, of_session, True)
    assert writing.may_have_written(previewed, registered, client) is expected


@pytest.mark.parametrize("standing", Standing)
def test_of_one_that_is_left_for_later_no_guess_is_told(standing: Standing) -> None:
    """People may have changed its pull request, which was not read."""
    read = record("octo/a", {"a": standing})
    [path] = writing.left_alone(replace(read, is_guess=True)).files
    depends = {Standing.TO_CREATE, Standing.PROPOSED, Standing.DECLINED}
    assert path.standing is (Standing.UNREAD if standing in depends else standing)
    assert writing.left_alone(read).files == read.files


def test_a_batch_grows_while_answers_are_fast_and_halves_when_they_are_not() -> None:
    batch = BatchSize()
    sizes = [batch.size]
    for seconds in (0.1, FAST_SECONDS, 3.0, SLOW_SECONDS, 0.1):
        batch.answered(seconds)
        sizes.append(batch.size)
    assert sizes == [10, 16, 25, 25, 12, 19]
    for _ in range(10):
        batch.failed(batch.size)
    assert batch.size == 1
    for _ in range(60):
        batch.answered(0.1)
    assert batch.size == LARGEST_SIZE


def test_a_batch_does_not_come_near_a_size_that_was_refused_for_a_while() -> None:
    batch = BatchSize(40)
    batch.failed(40)
    sizes = [batch.size]
    for _ in range(22):
        batch.answered(0.1)
        sizes.append(batch.size)
    assert sizes[:4] == [20, 30, 30, 30]
    assert sizes[19] == 30
    assert sizes[-1] > 40


# --- The plan -------------------------------------------------------------------------------------


def budget(*needs: Need, cap: int = 100) -> Budget:
    nothing: Any = dict.fromkeys(Settings._fields)
    given = Settings(**nothing)._replace(max_pull_requests=cap, pull_request=PullRequestOptions())
    todo = list(itertools.starmap(_row, enumerate(needs)))
    reading = Tally()
    for each in todo:
        reading.add(each)
    return with_writing(Budget({}, 0, 25, 4975, reading), given, todo)


def _row(number: int, need: Need) -> Record:
    """Return the record of a repository in which a list has this need."""
    repository = Repository(f"octo/r{number:03}")
    job = spec()._replace(repository=repository)
    paths = by_path([in_state(FileDefinition("a"), Standing.SAME)])
    return Record(job, repository, told=Told(need, to_close=int(need is Need.CLOSE)), paths=paths)


IN_WITHDRAWALS = {Need.WITHDRAW, Need.NOT_PROPOSED}


@pytest.mark.parametrize(
    "need", [each for each in Need if each not in {Need.COMPLETE, *IN_WITHDRAWALS}]
)
def test_every_need_is_said_with_its_number(need: Need) -> None:
    """Withdrawals are left out, because they have sentences of their own."""
    plan = budget(*[need] * 77)
    asked = settings(mode="plan", target_repos="octo/*")
    said = [Catalogue("en").text(each) for each in sentences.budget(plan, asked)]
    assert any("77" in each for each in said), said


@pytest.mark.parametrize("need", [Need.OPEN, Need.UPDATE])
@pytest.mark.parametrize(
    ("mode", "left", "is_said"),
    [("register", 9, True), ("register", 10, False), ("check", 9, False)],
)
def test_too_few_points_for_the_writing_are_said(
    need: Need, mode: str, left: int, is_said: bool
) -> None:
    plan = budget(*[need] * 5)._replace(points_left=left)
    assert plan.points == 10
    asked = settings(mode=mode, target_repos="octo/*")
    said = [each.key for each in sentences.budget(plan, asked)]
    assert ("many.points" in said) is is_said


@pytest.mark.parametrize(("repositories", "points"), [(1, 1), (10, 1), (30, 1), (50, 2), (100, 4)])
def test_the_points_of_a_query(repositories: int, points: int) -> None:
    names = names_of("a")
    query = queries.query(queries.repositories(["R_1"] * repositories), ["", "docs"], names)
    sent = {"query": query.text, "variables": query.variables}
    assert (bulk.points(repositories), graphql.points(sent)) == (points, points)


OPEN, UPDATE, CLOSE = Need.OPEN, Need.UPDATE, Need.CLOSE
WAITING, DECLINED = Need.WAITING, Need.DECLINED


@pytest.mark.parametrize(
    ("pull_requests", "now", "deferred", "writes"),
    [
        ([], 0, 0, 0),
        ([WAITING, DECLINED], 0, 0, 0),
        ([UPDATE], 0, 0, 2),
        ([OPEN], 1, 0, 1),
        ([OPEN] * 147 + [UPDATE] * 3 + [DECLINED], 100, 47, 106),
        ([OPEN] + [UPDATE] * 147, 1, 47, 201),
        # Updates and closings share one cap
        ([UPDATE] * 90 + [CLOSE] * 20, 0, 10, 190),
    ],
)
def test_what_is_to_be_done(
    pull_requests: list[Need], now: int, deferred: int, writes: int
) -> None:
    found = budget(*pull_requests)
    assert (found.now, found.deferred, found.writes) == (now, deferred, writes)
    others = pull_requests.count(DECLINED) + pull_requests.count(CLOSE)
    assert found.reading.with_missing == len(pull_requests) - others


def test_the_cap_that_is_shared_goes_by_name() -> None:
    """A plan takes updates and closings by name, like a run, and not all updates first."""
    found = budget(CLOSE, UPDATE, CLOSE, UPDATE, OPEN, UPDATE, CLOSE, cap=3)
    assert (found.now, found.updates, found.closes, found.deferred) == (1, 1, 2, 3)
    assert [each.repository.full_name[-1] for each in found.next] == ["0", "1", "2", "4"]
    # More of them than the cap, which the first one may need, leave room for a new pull request
    first = replace(_row(0, CLOSE), told=Told(CLOSE, to_close=2))
    todo = [first, _row(1, OPEN), _row(2, CLOSE)]
    assert (
        writing.next_ones(todo, settings(target_repos="octo/*", max_pull_requests="1")) == todo[:2]
    )

    # Without room nothing is changed
    assert writing.next_ones(todo, settings(target_repos="octo/*", max_pull_requests="0")) == []


NONE, CREATED = PullRequestOperation.NONE, PullRequestOperation.CREATED


@pytest.mark.parametrize(
    ("kind", "operation", "done", "wrote", "is_left", "has_reason"),
    [
        (Kind.USED_UP, NONE, Done.PENDING, False, True, False),
        (Kind.USED_UP, NONE, Done.PENDING, True, True, True),
        (Kind.MOVED, NONE, Done.PENDING, False, True, True),
        (Kind.USED_UP, NONE, Done.FAILED, True, False, True),
        (Kind.USED_UP, CREATED, Done.CREATED, True, False, True),
        (Kind.TRANSIENT, NONE, Done.PENDING, False, False, True),
    ],
)
def test_what_only_a_limit_ended_is_left_for_the_next_run(
    kind: Kind,
    operation: PullRequestOperation,
    done: Done,
    wrote: bool,
    is_left: bool,
    has_reason: bool,
) -> None:
    previewed = _row(0, OPEN)
    previewed = replace(previewed, spec=previewed.spec._replace(policy=ONE_OF_MANY))
    paths = by_path([in_state(FileDefinition("a"), Standing.TO_CREATE, done)])
    ended = replace(previewed, paths=paths, is_ended=True, operation=operation, exit_code=1)
    failure = Failure.of(msg("reason.unknown"), kind)
    row = writing.ended(previewed, replace(ended, failure=failure), wrote=wrote)
    assert (row.status is Status.DEFERRED, row.failure is failure) == (is_left, has_reason)


def test_a_tally_counts_what_can_be_written_and_what_waits_for_a_merge() -> None:
    waiting = replace(_row(0, WAITING), spec=spec(target_repos="octo/*"))
    waiting = replace(
        waiting,
        paths=by_path([in_state(FileDefinition("a"), Standing.PROPOSED)]),
        pull_request=PullRequest(1, "https://example.com/1", created_at="2026-11-22T00:00:00Z"),
    )
    failed = replace(waiting, failure=Failure.of(msg("reason.unknown")))
    for row, counted in (
        (waiting, (1, 0, 1)),
        (replace(waiting, told=Told(WAITING, ("a",))), (1, 1, 1)),
        (replace(waiting, paths={}), (1, 0, 1)),
        (replace(waiting, told=Told(WAITING, to_close=1), paths={}), (0, 0, 1)),
        (failed, (1, 0, 0)),
    ):
        tally = Tally()
        tally.add(row)
        assert (len(tally.open), tally.conflicting, tally.writable) == counted


@pytest.mark.parametrize(
    ("pull_requests", "interval"), [(0, 1.0), (400, 1.0), (401, 7.2), (1000, 7.2)]
)
def test_how_long_the_writing_takes(pull_requests: int, interval: float) -> None:
    found = budget(*[OPEN] * pull_requests, cap=1000)
    assert found.seconds == pytest.approx(pull_requests * interval)
