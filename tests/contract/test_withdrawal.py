"""`mode: withdraw` closes unchanged pull requests; the next run proposes their files again."""

from __future__ import annotations

import re

import pytest

from registrar.registration.mark import BEGIN
from tests.example import A_AND_B as LIST
from tests.example import CHANGES, PRESENT, WAYS, Way
from tests.fakehub import Content, Fault, FaultKind, StandInHost
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import (
    SINGLE,
    TARGET,
    Action,
    Run,
    Start,
    is_read,
    only_reads,
    refuse,
)
from tests.organisation import Make, rows, states

NEW = {"a.md": "A, too\n", "b.md": "B\n", "c.md": "C\n"}


class Withdrawable(Way):
    """A repository, and runs on it in each way."""

    def do(self, listed: dict[str, str] = LIST, /, **inputs: str) -> Run:
        return self.run_with(listed, **inputs)

    def withdraw(self, listed: dict[str, str] = LIST) -> Run:
        self.host.requests.clear()
        return self.do(listed, mode="withdraw")

    @property
    def pulls(self) -> list[str]:
        return [each.state for each in self.repository.pull_requests]


@pytest.fixture
def example(action: Action) -> Withdrawable:
    return Withdrawable(action, SINGLE)


@pytest.fixture(params=WAYS)
def each_way(request: pytest.FixtureRequest, action: Action) -> Withdrawable:
    return Withdrawable(action, request.param)


def test_a_file_that_was_declined_since_is_not_proposed_with_its_branch(
    each_way: Withdrawable,
) -> None:
    each_way.do()
    each_way.withdraw()
    repository = each_way.repository
    head = repository.head(BRANCH)
    repository.person.commit({"mine.txt": b"mine\n"}, branch=BRANCH)
    each_way.do({"a.md": LIST["a.md"]})
    repository.person.close(2)
    repository.person.create_branch(BRANCH, head)
    each_way.do().or_fail()
    new = repository.pull_requests[-1]
    assert (new.number, new.state) == (3, "open")
    added = repository.files(new.head).keys() - repository.files().keys()
    assert added == {"b.md"}


def test_what_was_withdrawn_is_proposed_again_from_its_branch(each_way: Withdrawable) -> None:
    each_way.do()
    plan = each_way.do(mode="plan")
    assert ("`mode: withdraw` could close: at most 1" in plan.text) == (each_way.strategy == "many")
    head = each_way.repository.head(BRANCH)
    run = each_way.withdraw()
    assert each_way.written == ["PATCH pulls/1"]
    assert (each_way.pulls, each_way.repository.head(BRANCH)) == (["closed"], head)
    assert "This pull request was withdrawn" in each_way.body
    assert run.registration["pull_request"]["operation"] == "withdrawn"
    assert run.registration["standings"]["to create"] == 2

    again = each_way.withdraw()
    assert only_reads(each_way.host)
    assert again.registration["pull_request"] is None
    plan = each_way.do(mode="plan")
    assert plan.outputs["missing"] == "2"
    assert "could close" not in plan.text

    each_way.host.requests.clear()
    run = each_way.do()
    assert each_way.written == ["POST pulls"]
    assert (each_way.pulls, each_way.repository.head(BRANCH)) == (["closed", "open"], head)
    assert "ithdrawn" not in (each_way.repository.pull_requests[1].body or "")
    assert run.registration["pull_request"]["operation"] == "created"
    if each_way.strategy == "many":
        assert run.report["many"]["states"]["opened"] == 1
    each_way.host.requests.clear()
    each_way.do()
    assert only_reads(each_way.host)

    each_way.repository.person.close(2)
    assert each_way.do().outputs["declined"] == "2"


def test_withdrawing_again_and_again_leaves_one_branch(example: Withdrawable) -> None:
    for _ in range(3):
        example.do()
        example.withdraw()
    assert example.pulls == ["closed"] * 3
    assert example.repository.branches == [BRANCH, "main"]


def test_what_the_withdrawal_has_read_is_not_asked_for_again(each_way: Withdrawable) -> None:
    each_way.do()
    each_way.withdraw()
    asked = [each_way.call(request).split("/")[0] for request in each_way.host.requests]
    trees = sum("/git/trees/" in request.path for request in each_way.host.requests)
    assert (asked.count("GET compare"), trees, each_way.pulls) == (1, 2, ["closed"])


@pytest.mark.parametrize(
    "kept", [(1, 2, 3, 4), (), (2,)], ids=["taken names", "names with a gap", "a gap in between"]
)
def test_one_with_a_later_name_counts_like_the_first(
    each_way: Withdrawable, kept: tuple[int, ...]
) -> None:
    taken = [BRANCH, *(f"{BRANCH}-{number}" for number in range(2, 5))]
    for name in taken:
        each_way.repository.person.create_branch(name)
        each_way.repository.person.commit({"mine.md": b"mine"}, branch=name)
    each_way.do()
    for number, name in enumerate(taken, 1):
        if number not in kept:
            each_way.repository.person.delete_branch(name)
    each_way.do()
    assert [each.head for each in each_way.repository.pull_requests] == [f"{BRANCH}-5"]
    each_way.withdraw()
    assert each_way.written == ["PATCH pulls/1"]
    assert each_way.pulls == ["closed"]


@pytest.mark.parametrize("listed", ["none", "those before", "those now"])
def test_one_whose_files_github_does_not_list_stays_open(
    example: Withdrawable, listed: str
) -> None:
    example.do()
    if listed == "those now":
        example.repository.person.commit(dict.fromkeys((*PRESENT, "a.md")), branch=BRANCH)
    example.host.quirks.most_in_tree = 2 if listed == "those before" else 1
    run = example.withdraw()
    assert (example.pulls, only_reads(example.host)) == (["open"], True)
    assert "Left open: #1" in run.text


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_somebody_has_changed_stays_open(
    example: Withdrawable, change: dict[str, Content | None]
) -> None:
    example.do()
    example.repository.person.commit(dict(change), branch=BRANCH)
    run = example.withdraw()
    assert only_reads(example.host)
    assert example.pulls == ["open"]
    assert re.search(rf"Left open: .*: {', '.join(sorted(change))}", run.console), run.console
    assert run.registration["pull_request"]["operation"] == "none"


def test_a_file_that_a_killed_run_did_not_record_is_withdrawn_as_well(
    example: Withdrawable,
) -> None:
    example.do()
    example.repository.person.commit({"c.md": b"C\n"}, branch=BRANCH)
    example.withdraw({**LIST, "c.md": "C\n"})
    assert example.pulls == ["closed"]


def test_a_branch_to_which_somebody_has_added_a_file_is_not_proposed_again(
    example: Withdrawable,
) -> None:
    example.do()
    example.withdraw()
    example.repository.person.commit({"mine.md": b"mine"}, branch=BRANCH)
    example.do()
    assert example.repository.pull_requests[1].head == f"{BRANCH}-2"


@pytest.mark.parametrize("listed", [{"c.md": "C\n"}, NEW], ids=["other files", "other contents"])
def test_the_list_has_changed_meanwhile(example: Withdrawable, listed: dict[str, str]) -> None:
    example.do()
    example.withdraw(listed)
    assert example.pulls == ["closed"]
    example.do(NEW)
    assert example.pulls == ["closed", "open"]
    files = example.repository.files(BRANCH)
    assert [files[f"{name}.md"] for name in "abc"] == [b"A, too\n", b"B\n", b"C\n"]


def test_a_plan_says_what_proposing_it_again_brings(example: Withdrawable) -> None:
    listed = {**LIST, "d.md": "D\n"}
    example.do(listed)
    example.withdraw(listed)
    listed = {**listed, "a.md": "A, too\n", "c.md": "C\n"}
    for mode in ("plan", "check"):
        example.host.requests.clear()
        plan = example.do(listed, mode=mode, fail_on="invalid")
        assert only_reads(example.host)
        assert plan.outputs["missing"] == "4"
        assert plan.outcomes == dict.fromkeys(listed, "to create") | {"a.md": "to update"}
        diffs = [line for line in plan.summary.splitlines() if line[:1] in {"+", "-"}]
        if mode == "plan":
            assert "+D" in diffs
            assert diffs.index("-A") + 1 == diffs.index("+A, too")
    run = example.do(listed)
    assert example.pulls == ["closed", "open"]
    done = {"a.md": "updated", "b.md": "skipped", "c.md": "created", "d.md": "skipped"}
    assert run.outcomes == done


def test_the_no_of_a_person_holds(example: Withdrawable) -> None:
    example.do({"a.md": "A\n"})
    example.repository.person.close(1)
    example.do()
    example.withdraw()
    assert example.pulls == ["closed", "closed"]
    assert example.do(mode="plan").outputs["declined"] == "1"
    example.do()
    assert example.pulls == ["closed", "closed", "open"]
    assert example.do(mode="plan").outputs["declined"] == "1"
    # The no is in the pull request that was closed, not in the withdrawn one from its branch
    example.repository.person.close(3)
    assert "declined in [#3]" in example.do().summary


@pytest.mark.parametrize("update", ["true", "false"])
def test_one_that_a_person_opened_again_can_be_declined(
    each_way: Withdrawable, update: str
) -> None:
    each_way.do()
    each_way.withdraw()
    each_way.repository.person.reopen(1)
    each_way.host.requests.clear()
    each_way.do(update=update)
    assert each_way.written == ["PATCH pulls/1"]
    assert "ithdrawn" not in each_way.body
    each_way.repository.person.close(1)
    assert each_way.do(update=update).outputs["declined"] == "2"
    assert each_way.pulls == ["closed"]


@pytest.mark.parametrize("change", ["list", "author", "base"])
def test_others_stay_open(each_way: Withdrawable, change: str) -> None:
    each_way.do()
    [pull] = each_way.repository.pull_requests
    if change == "author":
        each_way.repository.person.edit(pull.number, author="stranger")
    if change == "base":
        each_way.repository.person.create_branch("docs")
        each_way.repository.person.edit(pull.number, base="docs")
    if change == "list":
        each_way.repository.person.edit(
            pull.number, body=re.sub(r"list [0-9a-f]+", "list 0123456789", pull.body or "")
        )
    # A plan does not look at authors, because that takes requests
    is_counted = each_way.strategy == "many" and change == "author"
    assert ("could close" in each_way.do(mode="plan").text) == is_counted
    each_way.withdraw()
    assert only_reads(each_way.host)
    assert each_way.pulls == ["open"]


def test_a_withdrawal_that_github_refuses_fails_the_run(each_way: Withdrawable) -> None:
    each_way.do()
    closes = "PATCH pulls/1"
    refuse(each_way.host, lambda each: each_way.call(each) == closes, message="Not now")
    run = each_way.run(definitions=each_way.action.listing_of(LIST), mode="withdraw")
    assert each_way.pulls == ["open"]
    assert run.exit_code == (1 if each_way.strategy == "many" else 2), run.console
    assert "Not now" in run.stderr


@pytest.mark.parametrize("kind", [FaultKind.SECONDARY_429_RETRY_AFTER, FaultKind.ERROR_503])
@pytest.mark.parametrize("before", ["GET pulls/1", "PATCH pulls/1"])
@pytest.mark.parametrize("moment", ["edited", "closed", "rewritten"])
def test_what_changes_at_the_last_moment(
    each_way: Withdrawable, moment: str, before: str, kind: FaultKind
) -> None:
    """Or while the request that closes it waits."""
    each_way.do()

    def change() -> None:
        if moment == "edited":
            each_way.repository.person.commit({"a.md": b"mine\n"}, branch=BRANCH)
        elif moment == "closed":
            each_way.repository.person.close(1)
        else:
            each_way.repository.person.edit(1, body="mine")

    each_way.meanwhile(before, change)
    each_way.make_wait(kind)
    run = each_way.withdraw()
    each_way.host.faults.clear()
    assert each_way.written == ([before] if before.startswith("PATCH") else [])
    assert ("somebody changed it" in run.console) == (moment != "closed")
    assert "No open pull request here is marked" not in run.console
    assert each_way.do(mode="plan").outputs["declined"] == ("2" if moment == "closed" else "0")


def test_a_stranger_who_has_a_pull_request_from_its_branch_stops_nothing(
    example: Withdrawable,
) -> None:
    example.do()
    example.withdraw()
    example.repository.person.open_pull_request(head=BRANCH, author="stranger")
    refuse(example.host, lambda request: example.call(request) == "PATCH pulls/1")
    example.do()
    assert example.pulls == ["closed", "open", "open"]
    assert example.repository.pull_requests[2].head == f"{BRANCH}-2"


@pytest.mark.parametrize("squashed", [False, True])
def test_a_branch_that_was_merged_by_hand_is_not_opened_again(
    example: Withdrawable, squashed: bool
) -> None:
    example.do()
    example.withdraw()
    if squashed:
        # The base branch gets the files, but not the commits
        [pull] = example.repository.pull_requests
        merged = example.repository.person.commit({"a.md": b"A\n", "b.md": b"B\n"})
        example.repository.person.edit(1, merged_at=pull.closed_at, merge_commit_sha=merged)
    else:
        example.repository.person.create_branch("main", BRANCH)
    example.repository.person.commit({"a.md": None})
    example.do()
    assert example.pulls == ["closed", "open"]
    assert example.repository.files(f"{BRANCH}-2")["a.md"] == b"A\n"


@pytest.mark.parametrize(
    "reader", ["another repository", "another, over many", "its own", "a shell"]
)
def test_of_a_private_repository_only_what_is_listed_is_named_where_others_may_read(
    action: Action, reader: str
) -> None:
    each_way = Withdrawable(action, SINGLE)
    each_way.repository.person.change(private=True)
    each_way.do()
    each_way.repository.person.commit({"secret/plan.md": b"x\n"}, branch=BRANCH)
    own = {"GITHUB_REPOSITORY": TARGET if reader == "its own" else "octo/public"}
    inputs = {"language": "en", "definitions": action.listing_of(LIST), "mode": "withdraw"}
    if reader == "another, over many":
        inputs |= {"target_repos": TARGET}
    run = action(inputs, runner=reader != "a shell", env={} if reader == "a shell" else own)
    told = (run.console, run.summary, f"{run.outputs}")
    assert each_way.pulls == ["open"]
    assert any("secret/plan.md" in each for each in told) == reader.startswith(("its", "a shell"))
    assert "Left open: " in run.console or "many" in reader


def test_what_was_taken_out_between_two_withdrawals_is_told_in_the_same_way(
    example: Withdrawable,
) -> None:
    """By the run that opens another pull request from the branch, and by the next one."""
    for number in range(2):
        example.do()
        if number:
            example.repository.person.commit({"b.md": None}, branch=BRANCH)
        example.withdraw({"a.md": LIST["a.md"]})
    example.do()
    example.host.requests.clear()
    example.do()
    assert only_reads(example.host)


@pytest.mark.parametrize(("path", "link"), [("a.md", "#1"), ("b.md", "#2")])
def test_the_first_that_named_what_was_taken_out_is_told(
    example: Withdrawable, path: str, link: str
) -> None:
    for listed in ({"a.md": "A\n"}, LIST):
        example.do(listed)
        example.withdraw(listed)
    example.repository.person.commit({path: None}, branch=BRANCH)
    reasons = {each["path"]: each["reason"] for each in example.do().registration["files"]}
    assert link in reasons[path]


def test_what_is_taken_out_of_a_withdrawn_branch_stays_out(example: Withdrawable) -> None:
    example.do(NEW)
    example.withdraw(NEW)
    example.repository.person.commit({"a.md": None}, branch=BRANCH)
    for _ in range(2):
        assert example.do(NEW).outputs["declined"] == "1"
        assert example.pulls == ["closed", "open"]
        assert "a.md" not in example.repository.files(BRANCH)
        body = example.repository.pull_requests[1].body or ""
        assert "from the branch of a pull request for this list: 1." in body
    example.host.requests.clear()
    assert example.do(NEW).outputs["declined"] == "1"
    assert only_reads(example.host)


def test_one_that_no_longer_names_its_list_is_continued_if_its_files_are_as_listed(
    example: Withdrawable,
) -> None:
    example.do()
    example.withdraw()
    [pull] = example.repository.pull_requests
    example.repository.person.edit(
        pull.number, body=re.sub(r"<!-- registrar:list \w+ -->", "", pull.body or "")
    )
    example.do()
    heads = [(each.head, each.state) for each in example.repository.pull_requests]
    assert heads == [(BRANCH, "closed"), (BRANCH, "open")]


def test_if_the_last_missing_file_is_taken_out_of_a_withdrawn_branch_nothing_is_proposed(
    example: Withdrawable,
) -> None:
    example.do()
    example.withdraw()
    example.repository.person.commit({"a.md": None}, branch=BRANCH)
    example.repository.person.commit({"b.md": b"B\n"})
    example.host.requests.clear()
    run = example.do()
    assert (run.outputs["declined"], example.pulls) == ("1", ["closed"]), run.console
    assert only_reads(example.host)


@pytest.mark.parametrize("deleted", [False, True])
def test_a_withdrawn_one_that_a_person_opens_and_closes_declines_what_its_head_lacks(
    example: Withdrawable, deleted: bool
) -> None:
    """That all of it was declined is not seen: the description still says that it is withdrawn."""
    example.do(NEW)
    example.withdraw(NEW)
    example.repository.person.reopen(1)
    example.repository.person.commit({"a.md": None}, branch=BRANCH)
    example.repository.person.close(1)
    if deleted:
        example.repository.person.delete_branch(BRANCH)
    for _ in range(2):
        assert example.do(NEW).outputs["declined"] == "1"
        assert example.pulls == ["closed", "open"]
        files = example.repository.files(BRANCH)
        assert [path in files for path in NEW] == [False, True, True]


def test_a_full_description_does_not_keep_it_withdrawn(example: Withdrawable) -> None:
    """Else every later close by a person would be undone."""
    example.do()
    example.withdraw()
    [pull] = example.repository.pull_requests
    example.repository.person.edit(
        pull.number, body=f"{'x' * (65_536 - len(example.body) - 2)}\n\n{pull.body}"
    )
    example.repository.person.reopen(1)
    for _ in range(2):
        example.do()
        assert example.pulls == ["open"]
    example.repository.person.close(1)
    assert example.do().outputs["declined"] == "2"
    assert example.pulls == ["closed"]


def test_of_two_versions_of_a_list_a_withdrawal_makes_one(example: Withdrawable) -> None:
    """Two runs at once may have opened one pull request each."""
    example.do({"a.md": "A\n"})
    example.repository.person.create_branch("docs")
    example.repository.person.edit(1, base="docs")
    example.do({"b.md": "B\n"})
    example.repository.person.edit(1, base="main")
    assert example.pulls == ["open", "open"]
    example.withdraw().or_fail()
    run = example.do().or_fail()
    assert example.pulls == ["closed", "closed", "open"]
    assert (run.outputs["declined"], run.registration["standings"]["proposed"]) == ("0", 2)


@pytest.mark.parametrize("part", ["whole", "mark"])
def test_a_full_description_can_be_closed(each_way: Withdrawable, part: str) -> None:
    """Our own part makes room; of the text of others nothing is lost."""
    each_way.do()
    [pull] = each_way.repository.pull_requests
    body = pull.body or ""
    if part == "mark":
        begin, comments = body.index(BEGIN) + len(BEGIN), body.index("<!-- registrar:wrote")
        body = f"{body[:begin]}\n{body[comments:]}"
    theirs = "x" * (65_536 - len(body) - 2)
    each_way.repository.person.edit(pull.number, body=f"{theirs}\n\n{body}")
    each_way.withdraw().or_fail()
    assert (each_way.pulls, each_way.body.startswith(theirs)) == (["closed"], True)
    assert each_way.do(mode="plan").outputs["declined"] == "0"


@pytest.mark.parametrize("more", [0, 1])
def test_what_has_just_room_stays_in_a_description_that_is_closed(
    example: Withdrawable, more: int
) -> None:
    example.do()
    [pull] = example.repository.pull_requests
    opened = f"x\n\n{pull.body}"
    example.repository.person.edit(pull.number, body=opened)
    example.withdraw()
    example.repository.person.reopen(1)
    example.repository.person.edit(
        pull.number, body="x" * (65_536 - len(example.body) + more) + opened
    )
    example.withdraw()
    assert example.pulls == ["closed"]
    assert (len(example.body) == 65_536) == ("| `a.md`" in example.body) == (not more)


def test_a_description_says_once_that_it_is_withdrawn(example: Withdrawable) -> None:
    example.do()
    example.withdraw()
    body = example.body
    example.repository.person.reopen(1)
    example.withdraw()
    assert (example.pulls, example.body) == (["closed"], body)


def test_one_whose_description_has_only_the_mark_is_withdrawn(example: Withdrawable) -> None:
    example.do()
    [pull] = example.repository.pull_requests
    example.repository.person.edit(pull.number, body=example.body.replace(BEGIN, ""))
    example.withdraw()
    assert (example.pulls, example.body.count(BEGIN)) == (["closed"], 1)
    assert example.do(mode="plan").outputs["declined"] == "0"


def test_of_two_withdrawn_branches_one_is_continued_whatever_becomes_of_the_answer(
    each_way: Withdrawable,
) -> None:
    repository = each_way.repository
    each_way.do()
    each_way.withdraw()
    ours = repository.head(BRANCH)
    repository.person.commit({"a.md": b"mine\n"}, branch=BRANCH)
    each_way.do()
    each_way.withdraw()
    repository.person.create_branch(BRANCH, ours)

    lost = Fault(
        FaultKind.ERROR_502_HTML,
        when="after",
        match=lambda request: each_way.call(request) == "POST pulls",
    )
    each_way.host.faults.add(lost)
    run = each_way.do(NEW)
    assert lost.hits
    assert each_way.pulls == ["closed", "closed", "open"]
    assert run.registration["pull_request"]["number"] == 3
    assert repository.pull_requests[2].head == BRANCH
    files = repository.files(BRANCH)
    assert [files[path] for path in LIST] == [NEW[path].encode() for path in LIST]


def test_over_many_the_cap_bounds_what_is_proposed_again_and_not_what_is_withdrawn(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(1, 6)
    many(max_pull_requests="5")
    with_one = [each for each in made if each.pull_requests]
    with_one[0].person.commit({"AGENTS.md": b"mine"}, branch=BRANCH)
    with_one[1].person.close(1)
    plan = many(mode="plan")
    could = "Repositories with open pull requests that `mode: withdraw` could close: at most 4."
    assert could in plan.stdout
    host.requests.clear()
    run = many(mode="withdraw", max_pull_requests="1").or_fail()
    assert "Repositories with pull requests to withdraw: at most 4." in run.stdout
    assert "Withdrawing pull requests in repositories: 4" in run.stdout
    assert "[4/4]" in run.stdout
    assert sum(not is_read(each) for each in host.requests) == 3
    # Edited: waiting; never opened: missing
    assert states(run) == {
        "withdrawn": 3,
        "waiting": 1,
        "not proposed": 1,
        "declined": 1,
        "complete": 1,
    }
    assert rows(run)[with_one[0].full_name] == "waiting"
    assert "because somebody has edited these files on its branch: AGENTS.md" in run.stdout
    assert run.report["many"]["budget"]["withdrawable"] == 4
    assert run.outputs["deferred"] == "0"
    left = {"waiting": 1, "declined": 1, "complete": 1}
    assert states(many(mode="plan")) == left | {"to open": 4}
    assert states(many(mode="withdraw")) == left | {"not proposed": 4}
    run = many(max_pull_requests="2")
    assert states(run) == {"opened": 2, "waiting": 1, "deferred": 2, "declined": 1, "complete": 1}
    assert states(many()) == {"opened": 2, "waiting": 3, "declined": 1, "complete": 1}
    pulls = [[pull.state for pull in each.pull_requests] for each in with_one[2:]]
    assert pulls == [["closed", "open"]] * 3


def test_over_many_it_ends_in_time(many: Start, make: Make) -> None:
    make(0, 5)
    many()
    run = many(mode="withdraw", max_minutes="0.02")
    left = states(run)["deferred"]
    assert (run.exit_code, run.outputs["deferred"]) == (0, str(left))
    assert states(many(mode="withdraw")) == {"withdrawn": left, "not proposed": 5 - left}
