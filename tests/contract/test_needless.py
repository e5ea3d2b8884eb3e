"""A run closes an open pull request if the default branch now has all its files."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable

import pytest

from tests.example import A_AND_B as LIST
from tests.example import CHANGES, Way, in_one_way
from tests.fakehub import Content, Executable, Fault, FaultKind, Request
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import (
    PER_FILE,
    SINGLE,
    TARGET,
    Action,
    Run,
    SignalAt,
    is_read,
    only_reads,
    refuse,
)

GROWN = {**LIST, "c.md": "C\n"}
BY_HAND = {"a.md": b"by hand\n", "b.md": b"B\n"}
SECOND = f"{BRANCH}-2"


class Needless(Way):
    """A repository, and runs on it in each way."""

    def do(self, listed: dict[str, str] = LIST, /, **inputs: str) -> Run:
        """Run with a list of these files, and remember only what that sends."""
        self.host.requests.clear()
        return self.run_with(listed, **inputs)

    def kill(self, moment: Callable[[Request], bool], listed: dict[str, str] = LIST) -> None:
        """Kill a run as soon as it sends the first request that ``moment`` accepts."""
        host, action = self.host, self.action
        host.on_request = kill = SignalAt(signal.SIGKILL, moment)
        given = {"language": "en", "definitions": action.listing_of(listed)}
        many = {"target_repos": TARGET}
        given |= many if self.strategy == "many" else {"commit_strategy": SINGLE}
        process = kill.to(action.begin_without_waiting(action.environment(given)))
        assert action.end(process, {}).exit_code == -signal.SIGKILL
        # Its last request may still wait for the fault when the process has ended
        host.settle()
        host.on_request = None
        host.faults.clear()

    def add_by_hand(self) -> None:
        self.repository.person.commit(dict(BY_HAND))

    @property
    def pulls(self) -> list[tuple[str, str]]:
        return [(each.head, each.state) for each in self.repository.pull_requests]


OPEN, CLOSED = [(BRANCH, "open")], [(BRANCH, "closed")]


@pytest.fixture(params=[SINGLE, "many"])
def example(request: pytest.FixtureRequest, action: Action) -> Needless:
    return Needless(action, request.param)


def test_what_people_have_added_themselves_is_closed(example: Needless) -> None:
    example.do()
    before, head = example.body, example.repository.head(BRANCH)
    example.add_by_hand()
    plans = [example.do(mode=mode) for mode in ("check", "plan")]
    for plan in plans:
        assert "has every file that they add: 1" in plan.stdout
        assert ("1 to close" if example.strategy == "many" else "that they add: 1") in plan.summary
        assert (plan.outputs["missing"], example.pulls) == ("0", OPEN)
    run = example.do()
    assert example.written == ["PATCH pulls/1"]
    assert (example.pulls, example.repository.head(BRANCH)) == (CLOSED, head)
    [registration] = run.report["registrations"]
    assert registration["pull_request"]["operation"] == "closed"
    if example.strategy == "many":
        assert run.report["many"]["states"]["closed"] == 1
        assert "pull request closed, because it is no longer needed: " in run.stdout
        assert "1 closed" in run.summary
        plan = plans[-1]
        assert plan.report["many"]["states"]["to close"] == 1
        assert plan.report["many"]["budget"]["to_close"] == 1
        assert run.outputs["incomplete"] == "0"
    else:
        assert run.outputs["pull_request_operation"] == "closed"
        told = "because the base branch now has every file that it adds"
        assert told in run.stdout
        assert told in run.summary
    # Everything stays, below one sentence more
    assert (
        "> This pull request was closed because the base branch now has every file" in example.body
    )
    words = [line for line in before.splitlines() if line and "registrar:" not in line]
    assert all(line in example.body for line in words)

    for mode in ("register", "plan"):
        again = example.do(mode=mode)
        assert only_reads(example.host)
        assert "file that they add: 1" not in again.text
    assert example.pulls == CLOSED


@pytest.mark.parametrize("most", [None, 4], ids=["at once", "in parts"])
def test_one_with_a_later_name_is_closed_too(example: Needless, most: int | None) -> None:
    example.host.quirks.partial_above = most
    for name in (BRANCH, SECOND, f"{BRANCH}-3"):
        example.repository.person.create_branch(name)
        example.repository.person.commit({"mine.md": b"mine"}, branch=name)
    example.do()
    example.add_by_hand()
    assert "has every file that they add: 1" in example.do(mode="plan").stdout
    example.do()
    assert example.written == ["PATCH pulls/1"]
    assert example.pulls == [(f"{BRANCH}-4", "closed")]


@in_one_way
def test_a_closing_that_github_refuses_keeps_nothing_else_from_being_proposed(
    example: Needless,
) -> None:
    example.do()
    example.add_by_hand()
    refuse(example.host, "PATCH", message="Validation Failed")
    for _ in range(2):
        run = example.do(GROWN).or_fail()
        assert "Left open: #1, because GitHub refuses to close it" in run.text
        assert example.pulls == [*OPEN, (SECOND, "open")]
    example.host.faults.clear()
    example.do(GROWN)
    assert example.pulls == [*CLOSED, (SECOND, "open")]


@in_one_way
def test_the_result_is_about_the_closed_one_where_nothing_can_be_added_to_another(
    example: Needless,
) -> None:
    example.do()
    example.add_by_hand()
    refuse(example.host, "PATCH", message="Validation Failed")
    example.do(GROWN)
    example.host.faults.clear()
    example.repository.person.protect(SECOND)
    run = example.run(definitions=example.action.listing_of({**LIST, "d.md": "D\n"}))
    assert (run.exit_code, example.pulls) == (1, [*CLOSED, (SECOND, "open")])
    pull = run.registration["pull_request"]
    assert (pull["number"], pull["operation"]) == (1, "closed"), run.text


@in_one_way
@pytest.mark.parametrize("status", [401, 500])
def test_after_a_closing_that_may_be_done_or_whose_token_has_expired_nothing_is_opened(
    example: Needless, status: int
) -> None:
    example.do()
    example.add_by_hand()
    message = "Bad credentials" if status == 401 else "Server Error"
    refuse(example.host, "PATCH", status, message=message)
    run = example.run(definitions=example.action.listing_of(GROWN))
    assert (run.exit_code, example.pulls) == (2 if status == 401 else 1, OPEN), run.text
    assert "Left open" not in run.text


@in_one_way
@pytest.mark.parametrize(
    "by_hand", [b"B\n", b"by hand\n", Executable(b"B\n")], ids=["same", "conflicts", "executable"]
)
def test_a_deleted_file_is_proposed_by_another_one(example: Needless, by_hand: Content) -> None:
    """From its own branch, which adds it, unless what it adds besides would conflict."""
    branch = BRANCH if by_hand == b"B\n" else SECOND
    example.do()
    example.repository.person.commit({**BY_HAND, "b.md": by_hand})
    example.do()
    example.repository.person.commit({"a.md": None})
    plan = example.do(mode="plan")
    assert (plan.outputs["missing"], plan.outputs["declined"]) == ("1", "0")
    example.do()
    assert example.pulls == [*CLOSED, (branch, "open")]
    assert example.repository.files(branch)["a.md"] == b"A\n"
    example.do()
    assert only_reads(example.host)


@in_one_way
def test_its_branch_is_used_again_and_again(example: Needless) -> None:
    """For one more file each time: so needless ones do not use up the names."""
    listed, names = dict(LIST), "cdefg"
    for number, name in enumerate(names, start=1):
        example.do(listed)
        assert example.pulls == [(BRANCH, "closed")] * (number - 1) + OPEN
        example.repository.person.commit({path: text.encode() for path, text in listed.items()})
        example.do(listed)
        assert example.pulls == [(BRANCH, "closed")] * number
        listed[f"{name}.md"] = f"{name}\n"
    example.do(listed)
    example.repository.person.merge(len(names) + 1)
    assert example.do(listed).outputs["missing"] == "0"
    assert example.repository.files()["g.md"] == b"g\n"


@in_one_way
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_list_that_has_grown_takes_the_next_name(example: Needless, when: str) -> None:
    example.do()
    example.add_by_hand()
    if when == "after":
        example.do()
    plan = example.do(GROWN, mode="plan")
    assert plan.registration["pull_request"] is None
    run = example.do(GROWN)
    assert example.pulls == [*CLOSED, (SECOND, "open")]
    assert run.registration["pull_request"]["operation"] == "created"
    assert ("Closed: " in run.text) == (when == "before")


@in_one_way
def test_one_that_a_person_opens_again_is_theirs(example: Needless) -> None:
    example.do()
    example.add_by_hand()
    example.do()
    example.repository.person.reopen(1)
    for mode in ("register", "plan", "withdraw"):
        run = example.do(mode=mode)
        assert only_reads(example.host)
        assert "file that they add: 1" not in run.text
    head = example.repository.head(BRANCH)
    example.do(GROWN)
    assert example.pulls == [*OPEN, (SECOND, "open")]
    assert example.repository.head(BRANCH) == head
    example.repository.person.close(1)
    example.repository.person.commit({"a.md": None})
    assert example.do(GROWN, mode="plan").outputs["declined"] == "0"


@in_one_way
def test_one_that_was_withdrawn_and_that_a_person_opens_again_is_theirs(example: Needless) -> None:
    example.do()
    example.do(mode="withdraw")
    example.repository.person.reopen(1)
    example.add_by_hand()
    example.do()
    assert (example.pulls, only_reads(example.host)) == (OPEN, True)


def check_left_open(example: Needless, told: str) -> None:
    """Neither a plan nor a run closes it; both say why."""
    plan, run = (example.do(mode=mode) for mode in ("plan", "register"))
    assert only_reads(example.host)
    assert "file that they add: 1" not in plan.text + run.text
    assert example.pulls == OPEN
    assert re.search(rf"Left open: .*{told}", run.console), run.console


@in_one_way
@pytest.mark.parametrize("change", ["edited", "removed", "added"])
def test_what_somebody_has_changed_stays_open(example: Needless, change: str) -> None:
    example.do()
    example.add_by_hand()
    example.repository.person.commit(dict(CHANGES[change]), branch=BRANCH)
    check_left_open(example, *CHANGES[change])


@in_one_way
@pytest.mark.parametrize(("branch", "most"), [("main", 4), (BRANCH, 4), (BRANCH, 3)])
def test_one_whose_files_github_does_not_list_stays_open(
    example: Needless, branch: str, most: int
) -> None:
    example.do()
    example.add_by_hand()
    example.repository.person.commit({"mine.md": b"mine\n"}, branch=branch)
    example.host.quirks.most_in_tree = most
    check_left_open(example, "could not read everything")


@in_one_way
def test_one_whose_branch_took_the_default_branch_stays_open(example: Needless) -> None:
    """The added files have the same content in both places."""
    example.do()
    example.add_by_hand()
    main = example.repository.person.commit({"a.md": b"A\n"})
    example.repository.person.merge_into(BRANCH, main, {})
    check_left_open(example, "a.md")


@pytest.mark.parametrize("change", ["list", "author", "base", "body", "mark"])
def test_others_stay_open(example: Needless, change: str) -> None:
    example.do()
    example.add_by_hand()
    [pull] = example.repository.pull_requests
    body = pull.body or ""
    if change == "author":
        example.repository.person.edit(pull.number, author="stranger")
    if change == "base":
        example.repository.person.create_branch("docs")
        example.repository.person.edit(pull.number, base="docs")
    if change == "list":
        example.repository.person.edit(
            pull.number, body=re.sub(r"list [0-9a-f]+", "list 0123456789", body)
        )
    if change == "body":
        example.repository.person.edit(pull.number, body="Mine.")
    if change == "mark":
        example.repository.person.edit(
            pull.number, body=re.sub(r"<!-- registrar:list [0-9a-f]+ -->", "", body)
        )
    plan = example.do(mode="plan")
    assert "has every file that they add" not in plan.stdout
    # The query for many repositories does not show who may write
    is_read_alone = example.strategy == "many" and change == "author"
    assert ("one by one" in plan.stdout) == is_read_alone
    example.do()
    assert only_reads(example.host)
    assert example.pulls == OPEN


@in_one_way
def test_one_file_that_is_not_there_yet_keeps_it_open(example: Needless) -> None:
    example.do(GROWN)
    example.add_by_hand()
    # Also where it is listed no more
    for listed in (GROWN, LIST):
        example.do(listed)
        assert example.pulls == OPEN
        assert not any('"closed"' in f"{each.json}" for each in example.host.requests)


@in_one_way
def test_update_false_leaves_it_open(example: Needless) -> None:
    example.do()
    example.add_by_hand()
    for mode in ("plan", "register"):
        assert "file that they add: 1" not in example.do(mode=mode, update="false").text
        assert only_reads(example.host)
    assert example.pulls == OPEN


def test_in_an_archived_repository_nothing_is_to_close(action: Action) -> None:
    example = Needless(action, SINGLE)
    example.do()
    example.add_by_hand()
    example.repository.person.archive()
    plan = example.do(mode="plan")
    assert "will close" not in plan.text
    assert only_reads(example.host)


def test_per_file_makes_no_request_more(action: Action) -> None:
    example = Needless(action, PER_FILE)
    example.do()
    example.add_by_hand()
    for mode in ("plan", "register"):
        example.do(mode=mode)
        assert only_reads(example.host)
        assert not any("pulls" in each.path for each in example.host.requests)
    assert example.pulls == OPEN


@pytest.mark.parametrize("moment", ["edited", "closed", "base", "rewritten", "another run"])
def test_what_changes_at_the_last_moment(example: Needless, moment: str) -> None:
    example.do()
    example.add_by_hand()
    [pull] = example.repository.pull_requests

    def change() -> None:
        if moment == "edited":
            example.repository.person.commit({"a.md": b"mine\n"}, branch=BRANCH)
        elif moment == "closed":
            example.repository.person.close(1)
        elif moment == "base":
            example.repository.person.create_branch("docs")
            example.repository.person.edit(pull.number, base="docs")
        elif moment == "rewritten":
            example.repository.person.edit(pull.number, body="Mine.")
        else:
            example.run_with(LIST)

    example.meanwhile("GET pulls/1", change)
    run = example.do()
    is_closed = moment in {"closed", "another run"}
    assert example.pulls == (CLOSED if is_closed else OPEN)
    assert len(example.written) == (moment == "another run")
    assert ("somebody changed it" in run.console) == (not is_closed)
    example.repository.person.commit({"a.md": None})
    declined = example.do(mode="plan").outputs["declined"]
    assert declined == ("1" if moment == "closed" else "0")


def test_one_that_a_person_closes_first_was_not_closed_by_the_run(example: Needless) -> None:
    example.do()
    example.add_by_hand()
    example.meanwhile("GET pulls/1", lambda: example.repository.person.close(1))
    run = example.do(GROWN)
    assert example.pulls == [*CLOSED, (SECOND, "open")]
    assert "Closed: " not in run.console


@pytest.mark.parametrize("applied", [True, False])
def test_running_again_finishes_what_a_killed_run_began(example: Needless, applied: bool) -> None:
    example.do()
    example.add_by_hand()

    def is_it(request: Request) -> bool:
        return request.method == "PATCH"

    if not applied:
        example.host.faults.add(Fault(FaultKind.CLOSED, match=is_it, when="before"))
    example.kill(is_it)
    assert example.pulls == (CLOSED if applied else OPEN)
    example.do()
    assert example.pulls == CLOSED
    assert len(example.written) == (not applied)
    example.repository.person.commit({"a.md": None})
    assert example.do(mode="plan").outputs["declined"] == "0"


def test_a_run_that_is_killed_between_closing_and_opening(example: Needless) -> None:
    example.do()
    example.add_by_hand()

    def opens(request: Request) -> bool:
        return not is_read(request) and request.method != "PATCH"

    example.host.faults.add(Fault(FaultKind.CLOSED, match=opens, when="before"))
    example.kill(opens, GROWN)
    assert example.pulls == CLOSED
    run = example.do(GROWN)
    assert example.pulls == [*CLOSED, (SECOND, "open")]
    assert (run.outputs["created"], run.outputs["declined"]) == ("1", "0")


def test_one_to_which_somebody_pushes_while_its_closing_waits_stays(example: Needless) -> None:
    example.do()
    example.add_by_hand()
    push = {"mine": b"mine\n"}
    example.meanwhile(
        "PATCH pulls/1", lambda: example.repository.person.commit(push, branch=BRANCH)
    )
    example.make_wait()
    run = example.do()
    assert (example.pulls, example.written) == (OPEN, ["PATCH pulls/1"])
    assert "Left open" in run.console


def test_of_two_that_are_needless_plan_and_run_name_the_same(example: Needless) -> None:
    example.do()
    repository = example.repository
    repository.person.create_branch(SECOND, BRANCH)
    body = repository.pull_requests[0].body or ""
    repository.person.open_pull_request(head=SECOND, body=body)
    example.add_by_hand()
    plan, run = example.do(mode="plan"), example.do()
    assert example.pulls == [*CLOSED, (SECOND, "closed")], run.console
    numbers = {each.registration["pull_request"]["number"] for each in (plan, run)}
    assert len(numbers) == 1


@pytest.mark.parametrize("left", ["closed", "withdrawn", "bare"])
def test_a_branch_that_could_bring_none_of_the_missing_files_is_not_used(
    example: Needless, left: str
) -> None:
    """The branch has the missing file only because it started before somebody deleted the file
    from the default branch, so merging it would not bring the file back.
    """
    example.repository.person.commit({"b.md": b"B\n"})
    if left == "bare":
        example.repository.person.create_branch(BRANCH)
    else:
        example.do()
    example.repository.person.commit({"a.md": b"A\n"})
    if left != "bare":
        example.do(mode="withdraw" if left == "withdrawn" else "register")
    example.repository.person.commit({"b.md": None})
    plan, run = (example.do(mode=mode).or_fail() for mode in ("plan", "register"))
    assert (plan.outputs["missing"], run.outputs["created"]) == ("1", "1")
    assert example.pulls[-1] == (SECOND, "open")
    assert "Not proposed yet" not in plan.text + run.text
    assert example.repository.files(SECOND)["b.md"] == b"B\n"
