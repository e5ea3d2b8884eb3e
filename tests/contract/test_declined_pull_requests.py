"""Declined files are not proposed again, even if the branch was deleted."""

from __future__ import annotations

import json
import re

import pytest

from registrar.lists.constraints import MOST_PATHS
from registrar.registration.mark import BEGIN, END, Mark, hashed
from tests.example import A_AND_B, PRESENT, Example, Way
from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import PER_FILE, SINGLE, STRATEGIES, Action, Run, is_read, only_reads, refuse

SECOND = f"{BRANCH}-2"
FIRST = ("a.md", "b.md")


def ask(example: Example, *paths: str, **inputs: str) -> Run:
    """Run with a list of these paths."""
    return example.run(definitions=example.action.listing(*paths), **inputs)


def closed(repository: Repository, number: int, *, delete: bool = True) -> None:
    """Somebody closes the pull request, and clicks *Delete branch*."""
    repository.person.close(number)
    if delete:
        repository.person.delete_branch(repository.pull_request(number).head)


def created(repository: Repository, branch: str) -> set[str]:
    return set(repository.files(branch)) - set(PRESENT)


@pytest.mark.parametrize("second", STRATEGIES)
@pytest.mark.parametrize("first", STRATEGIES)
def test_a_closed_pull_request_counts_after_its_branch_is_deleted(
    host: StandInHost, action: Action, first: str, second: str
) -> None:
    example = Example(action, first)
    assert ask(example, *FIRST).exit_code == 0
    closed(example.repository, 1)
    count = len(host.requests)
    run = ask(example, *FIRST, commit_strategy=second).or_fail()
    assert all(is_read(request) for request in host.requests[count:])
    assert example.repository.branches == ["main"]
    assert (run.outputs["created"], run.outputs["skipped"]) == ("0", "2")
    assert "declined in [#1]" in run.summary
    assert "restore its branch and reopen it" in run.console


def test_a_no_counts_if_an_earlier_name_has_only_a_pull_request_left(example: Example) -> None:
    """All branches are deleted, those of other people with the earlier names as well."""
    names = [BRANCH, *(f"{BRANCH}-{number}" for number in range(2, 6))]
    for number, name in enumerate(names, 1):
        example.repository.person.create_branch(name)
        example.repository.person.commit({"theirs.md": b"theirs\n"}, branch=name)
        example.repository.person.open_pull_request(head=name, title="Theirs")
        closed(example.repository, number, delete=False)
    ask(example, *FIRST).or_fail()
    assert example.repository.pull_request(6).head == f"{BRANCH}-6"
    closed(example.repository, 6)
    for name in names:
        example.repository.person.delete_branch(name)
    run = ask(example, *FIRST).or_fail()
    assert (run.outputs["created"], run.outputs["skipped"]) == ("0", "2")


def test_a_list_that_has_grown_asks_for_the_new_path_alone(in_single: Example) -> None:
    ask(in_single, *FIRST)
    closed(in_single.repository, 1)
    run = ask(in_single, *FIRST, "c.md").or_fail()
    assert created(in_single.repository, BRANCH) == {"c.md"}
    assert (run.outputs["created"], run.outputs["skipped"]) == ("1", "2")
    assert "declined in [#1]" in run.summary

    closed(in_single.repository, 2)
    run = ask(in_single, *FIRST, "c.md", "d.md")
    assert created(in_single.repository, BRANCH) == {"d.md"}
    assert "#1" in run.summary
    assert "declined in [#2]" in run.summary


def test_a_no_holds_when_somebody_works_on_its_branch_afterwards(in_single: Example) -> None:
    ask(in_single, *FIRST)
    in_single.repository.person.close(1)
    head = in_single.repository.person.commit({"mine.txt": b"mine\n"}, branch=BRANCH)
    run = ask(in_single, *FIRST).or_fail()
    assert run.outputs["skipped"] == "2"
    assert in_single.repository.branches == [BRANCH, "main"]
    assert in_single.repository.head(BRANCH) == head


def test_where_issues_are_switched_off_a_no_is_read_all_the_same(
    host: StandInHost, in_single: Example
) -> None:
    """GitHub refuses what is below ``issues/`` then, for pull requests, too."""
    ask(in_single, *FIRST)
    in_single.repository.person.commit({"b.md": None}, branch=BRANCH)
    words = "Issues are disabled for this repo"
    refuse(host, lambda request: "/issues/" in request.path, 410, message=words)
    assert ask(in_single, *FIRST).outputs["declined"] == "1"
    closed(in_single.repository, 1)
    for listed in (FIRST, (*FIRST, "c.md")):
        run = ask(in_single, *listed)
        assert (run.exit_code, run.outputs["declined"]) == (0, "2"), run.console


def test_another_branch_name_proposes_again(in_single: Example) -> None:
    ask(in_single, *FIRST)
    closed(in_single.repository, 1)
    ask(in_single, *FIRST, branch="another").or_fail()
    assert created(in_single.repository, "another") == set(FIRST)


@pytest.mark.parametrize("merge", [True, False], ids=["merged", "of a fork"])
def test_what_does_not_count_as_declined(in_single: Example, merge: bool) -> None:
    ask(in_single, *FIRST)
    body = in_single.repository.pull_requests[0].body
    if merge:
        in_single.repository.person.merge(1)
        in_single.repository.person.commit(dict.fromkeys(FIRST))
    else:
        in_single.repository.person.edit(1, head_repository="somebody/example")
        in_single.repository.person.close(1)
    in_single.repository.person.delete_branch(BRANCH)
    assert "registrar:wrote" in (body or "")
    ask(in_single, *FIRST).or_fail()
    assert created(in_single.repository, BRANCH) == set(FIRST)


def test_without_the_mark_a_description_declines_what_its_branch_adds(each_way: Way) -> None:
    ask(each_way, *FIRST)
    each_way.repository.person.edit(1, body="Rewritten")
    closed(each_way.repository, 1, delete=False)
    run = ask(each_way, *FIRST, "c.md").or_fail()
    assert (run.outputs["created"], run.outputs["skipped"]) == ("1", "2")
    assert created(each_way.repository, SECOND) == {"c.md"}
    closed(each_way.repository, 2)
    each_way.repository.person.delete_branch(BRANCH)
    ask(each_way, *FIRST, "c.md")
    assert each_way.repository.branches == ["main"]


@pytest.mark.parametrize("delete", [False, True])
@pytest.mark.parametrize(
    ("more", "declined"),
    [
        ({"b.md": b"\n"}, "2"),
        ({"b.md": b"\n", "mine.md": b"mine\n", "README.md": b"mine\n"}, "2"),
        ({"b.md": b"mine\n"}, "1"),
        ({}, "1"),
    ],
    ids=["as listed", "beside other work", "another content", "from its base"],
)
def test_a_closed_pull_request_declines_more_than_its_mark_names(
    each_way: Way, more: dict[str, bytes], declined: str, delete: bool
) -> None:
    """A run was killed between a commit and its description, or somebody closed the pull request
    while a run was writing. A branch that has a file only from its base has not proposed the file.
    """
    repository = each_way.repository
    ask(each_way, "a.md")
    if more:
        repository.person.commit(more, branch=BRANCH)
    else:
        repository.person.commit({"b.md": b"\n"})
        repository.person.merge_into(BRANCH, repository.head(), {})
        repository.person.commit({"b.md": None})
    closed(repository, 1, delete=delete)
    plan = ask(each_way, *FIRST, "c.md", mode="plan").or_fail()
    run = ask(each_way, *FIRST, "c.md").or_fail()
    assert (plan.outputs["declined"], run.outputs["declined"]) == (declined, declined), run.console
    assert run.outputs["created"] == str(3 - int(declined))


@pytest.mark.parametrize(("base", "declined"), [("main", "0"), ("docs", "2")])
@pytest.mark.parametrize("body", ["Rewritten", f"{BEGIN}\nwords\n{END}"])
def test_without_the_mark_one_into_another_branch_declines_nothing(
    in_single: Example, body: str, base: str, declined: str
) -> None:
    in_single.repository.person.create_branch("docs")
    ask(in_single, *FIRST, base="docs")
    in_single.repository.person.edit(1, body=body, base=base)
    closed(in_single.repository, 1, delete=False)
    run = ask(in_single, *FIRST, base="docs", mode="plan").or_fail()
    assert run.outputs["declined"] == declined


@pytest.mark.parametrize(("more", "declined"), [(9, "2"), (10, "0")])
def test_without_a_mark_the_ten_newest_are_compared(
    host: StandInHost, in_single: Example, more: int, declined: str
) -> None:
    ask(in_single, *FIRST)
    in_single.repository.person.edit(1, body="Rewritten")
    closed(in_single.repository, 1, delete=False)
    in_single.repository.person.commit(dict.fromkeys(FIRST), branch=BRANCH)
    for number in range(2, 2 + more):
        in_single.repository.person.commit({f"{number}.md": b"mine\n"}, branch=BRANCH)
        in_single.repository.person.open_pull_request(head=BRANCH, body="Mine")
        closed(in_single.repository, number, delete=False)
    host.requests.clear()
    assert ask(in_single, *FIRST, mode="plan").outputs["declined"] == declined


LOST = {
    "lost": (404, "Not Found"),
    "unreadable": (403, "Resource not accessible by integration"),
    "failing": (422, "Server Error: Sorry, this diff is unavailable."),
}


@pytest.mark.parametrize("mark", ["withdrawn", ""])
@pytest.mark.parametrize("why", LOST)
def test_a_commit_that_github_has_lost_declines_nothing(
    host: StandInHost, in_single: Example, why: str, mark: str
) -> None:
    ask(in_single, *FIRST)
    if mark:
        ask(in_single, *FIRST, mode="withdraw")
    else:
        in_single.repository.person.edit(1, body="Rewritten")
        in_single.repository.person.close(1)
    in_single.repository.person.delete_branch(BRANCH)
    status, words = LOST[why]
    head = in_single.repository.pull_requests[0].head_sha
    refuse(host, lambda request: head in request.path, status, message=words)
    host.requests.clear()
    run = ask(in_single, *FIRST)
    if why == "lost":
        assert (run.exit_code, run.outputs["created"]) == (0, "2"), run.console
    else:
        assert (run.exit_code, only_reads(host)) == (2, True), run.console
        plan = ask(in_single, *FIRST, mode="plan")
        assert plan.exit_code == (0 if why == "unreadable" else 2)
        assert words in plan.console


@pytest.mark.parametrize("mode", ["plan", "check"])
def test_a_preview_shows_what_was_declined(in_single: Example, mode: str) -> None:
    ask(in_single, *FIRST)
    closed(in_single.repository, 1)
    run = ask(in_single, *FIRST, "c.md", mode=mode)
    assert run.exit_code == (1 if mode == "check" else 0), run.console
    assert "closed their pull request without merging it: 2 (#1). To have them" in run.console
    assert "declined in [#1]" in run.summary
    # It shows what registering would create, and nothing else
    assert [line for line in run.lines if line.endswith(": empty")] == ["c.md: empty"]
    assert "What would be created (1)" in run.summary
    assert in_single.repository.branches == ["main"]


@pytest.mark.parametrize(("fail_on", "exit_code"), [("missing", 0), ("declined, unset", 1)])
def test_a_check_does_not_stay_red_after_a_no_and_advises_nothing_that_would_do_nothing(
    in_single: Example, fail_on: str, exit_code: int
) -> None:
    ask(in_single, *FIRST)
    closed(in_single.repository, 1)
    run = ask(in_single, *FIRST, mode="check", fail_on=fail_on)
    assert run.exit_code == exit_code, run.console
    assert "They were declined, so they are not proposed again." in run.summary
    assert "mode: register" not in run.text
    assert ("Files: a.md, b.md" in run.stderr) == bool(exit_code)
    assert "2 declined (2 in all)" in run.stdout
    assert "would be created" not in run.text


# --- A single file ------------------------------------------------------------------------


def take_out(repository: Repository, path: str) -> None:
    """A reviewer does not want this file."""
    repository.person.commit({path: None}, branch=BRANCH, author=("A", "a@example.com"))


def test_what_a_newer_pull_request_proposes_is_not_declined_by_an_older_one(
    in_single: Example,
) -> None:
    """While the older one led to another branch, a second one was opened for the same files."""
    ask(in_single, *FIRST)
    older = in_single.repository.pull_requests[0]
    in_single.repository.person.create_branch("docs")
    in_single.repository.person.edit(older.number, base="docs")
    ask(in_single, *FIRST)
    assert created(in_single.repository, SECOND) == set(FIRST)
    take_out(in_single.repository, "b.md")
    in_single.repository.person.edit(older.number, base="main")
    in_single.repository.person.merge(1)
    run = ask(in_single, *FIRST, mode="plan")
    assert run.standings["b.md"] == "proposed", run.console
    assert run.outputs["declined"] == "0"


@pytest.mark.parametrize("is_cut", [False, True])
def test_what_was_taken_out_before_the_merge_is_declined_and_what_was_deleted_after_it_is_not(
    host: StandInHost, action: Action, is_cut: bool
) -> None:
    """Also where GitHub does not list all files of the merge."""
    example = Example(action, PER_FILE)
    ask(example, *FIRST)
    take_out(example.repository, "b.md")
    example.repository.person.merge(1)
    example.repository.person.commit({"a.md": None})
    if is_cut:
        host.quirks.most_in_tree = 1
    plan = ask(example, *FIRST, mode="plan")
    assert plan.standings == {"a.md": "to create", "b.md": "declined"}, plan.console


def test_where_github_lists_no_branches_each_is_asked_for(
    host: StandInHost, action: Action
) -> None:
    example = Example(action, PER_FILE)
    refuse(host, "GET git/matching-refs/", 404, message="Not Found")
    assert ask(example, *FIRST).outputs["created"] == "2"
    host.requests.clear()
    assert ask(example, *FIRST).outputs["pull_request_operation"] == "none"
    assert all(map(is_read, host.requests))
    closed(example.repository, 1)
    assert ask(example, *FIRST).outputs["declined"] == "2"
    example.repository.person.create_branch(BRANCH)
    example.repository.person.commit({"theirs.md": b"theirs\n"}, branch=BRANCH)
    begun = action.clock.now
    ask(example, "c.md", mode="plan").or_fail()
    assert action.clock.now == begun, "nothing that was read is taken for lag"
    assert ask(example, "c.md").outputs["branch"] == SECOND
    assert example.written.count("POST git/refs") == 1


def reason_of(run: Run, path: str) -> str:
    [found] = [file for file in run.registration["files"] if file["path"] == path]
    return str(found["reason"] or "")


def reason_shown(text: str, path: str) -> str:
    """The row of a path in a table."""
    [row] = [line for line in text.splitlines() if line.startswith(f"| `{path}`")]
    return row


def test_a_file_that_was_taken_out_is_declined_until_it_is_put_back(example: Example) -> None:
    ask(example, *FIRST)
    take_out(example.repository, "b.md")
    for _ in range(2):
        run = ask(example, *FIRST)
        assert reason_of(run, "b.md") == "declined in #1", run.console
        assert created(example.repository, BRANCH) == {"a.md"}
    example.repository.person.commit(
        {"b.md": b"back\n"}, branch=BRANCH, author=("A", "a@example.com")
    )
    run = ask(example, *FIRST)
    assert "already on the working branch" in reason_of(run, "b.md"), run.console
    # Merged and deleted later: nobody has declined it
    example.repository.person.merge(1)
    example.repository.person.commit({"b.md": None})
    plan = ask(example, *FIRST, mode="plan")
    run = ask(example, *FIRST)
    assert created(example.repository, SECOND) - {"a.md"} == {"b.md"}, run.console
    assert "was added by [#1]" in reason_shown(plan.summary, "b.md")
    assert "Missing files that are proposed again: 1." in run.console
    for expected in ("created", "none"):
        assert run.outputs["pull_request_operation"] == expected
        body = example.repository.pull_request(2).body or ""
        assert "was added by [#1]" in reason_shown(body, "b.md")
        run = ask(example, *FIRST)


VERSIONS = [[f"v{version}/{number}.md" for number in range(MOST_PATHS)] for version in range(4)]
"""Versions of a list that have no path in common."""


def named(body: str | None) -> set[str]:
    """Return the hashes of the paths that a description names."""
    mark = Mark.of(body or "")
    return {*((mark and mark.wrote) or ())}


@pytest.fixture
def grown(action: Action) -> Example:
    """An open pull request whose description names the files of the first three versions."""
    example = Example(action, SINGLE)
    for version in VERSIONS[:3]:
        assert ask(example, *version).outputs["created"] == str(MOST_PATHS)
    assert named(example.body) == {hashed(path) for each in VERSIONS[:3] for path in each}
    return example


def test_of_several_thousand_files_each_that_somebody_removes_is_declined(grown: Example) -> None:
    removed = [version[0] for version in VERSIONS[:3]]
    for path in removed:
        take_out(grown.repository, path)
    for version in VERSIONS[:3]:
        assert ask(grown, *version).outputs["declined"] == "1"
    changed = dict.fromkeys(VERSIONS[2], "x\n")
    run = grown.run_with(changed)
    assert run.outcomes[VERSIONS[2][1]] == "updated"
    closed(grown.repository, 1)
    run = ask(grown, *VERSIONS[0][:-1], "a.md")
    assert (run.outputs["declined"], run.outputs["created"]) == (str(MOST_PATHS - 1), "1")


def test_when_the_names_fill_the_description_nothing_more_is_written(grown: Example) -> None:
    [pull] = grown.repository.pull_requests
    head, body = grown.repository.head(BRANCH), pull.body
    for _ in range(2):
        run = ask(grown, *VERSIONS[3])
        assert (grown.repository.head(BRANCH), pull.body) == (head, body)
        assert "that description has reached GitHub's limit" in run.text
        assert (run.exit_code, run.outputs["created"], run.outputs["declined"]) == (0, "0", "0")


def test_a_new_pull_request_from_a_branch_with_too_many_names_names_its_own(grown: Example) -> None:
    run = ask(grown, *VERSIONS[2], mode="withdraw")
    assert run.registration["pull_request"]["operation"] == "withdrawn", run.console
    for created_now in (str(MOST_PATHS), "0"):
        run = ask(grown, *VERSIONS[3])
        assert run.outputs["created"] == created_now
    assert len(grown.repository.pull_requests) == 2
    second = grown.repository.pull_requests[1]
    assert second.head == BRANCH
    assert named(second.body) == {*map(hashed, VERSIONS[3])}


def test_what_names_nothing_of_a_branch_with_other_work_declines_nothing(
    in_single: Example,
) -> None:
    """A request that opens a pull request says before what it is going to commit."""
    ask(in_single, *FIRST)
    in_single.repository.person.create_branch(BRANCH, "main")
    in_single.repository.person.commit({"theirs.md": b"\n"}, branch=BRANCH)
    ask(in_single, *FIRST)
    assert created(in_single.repository, BRANCH) == {*FIRST, "theirs.md"}


# --- Descriptions that somebody edits ---------------------------------------------------------


def without(name: str, body: str) -> str:
    return re.sub(rf"<!-- registrar:{name}.*-->\n?", "", body)


EDITS = {
    **{f"without {name}": (name, "") for name in ("begin", "end", "wrote", "list")},
    "indented": (r"(?m)^", "   "),
    "quoted": (r"(?m)^", "> "),
    "text beside": (r"(?m)$", " Beside"),
    "text before": (r"(?m)^", "Before "),
    "replaced": (r"(?s).+", "My own words."),
}


def edited(body: str | None, edit: str) -> str:
    """A description, as somebody has changed it."""
    pattern, new = EDITS[edit]
    if edit.startswith("without"):
        return without(pattern, body or "")
    return re.sub(pattern, new, body or "", count=edit == "replaced")


@pytest.mark.parametrize("edit", EDITS)
def test_a_refusal_outlives_an_edit_of_the_description(in_single: Example, edit: str) -> None:
    ask(in_single, *FIRST)
    [pull] = in_single.repository.pull_requests
    in_single.repository.person.edit(pull.number, body=edited(pull.body, edit))
    closed(in_single.repository, 1)
    run = ask(in_single, *FIRST).or_fail()
    assert in_single.repository.branches == ["main"]
    assert "declined in [#1]" in run.summary


@pytest.mark.parametrize("edit", EDITS)
def test_a_file_taken_out_stays_out_after_an_edit_of_the_description(
    in_single: Example, edit: str
) -> None:
    ask(in_single, *FIRST)
    [pull] = in_single.repository.pull_requests
    in_single.repository.person.commit({"a.md": None}, branch=BRANCH)
    in_single.repository.person.edit(pull.number, body=edited(pull.body, edit))
    if edit in {"without wrote", "replaced"}:
        # Nothing is left that tells: it comes once more
        ask(in_single, *FIRST)
        take_out(in_single.repository, "a.md")
    for _ in range(2):
        ask(in_single, *FIRST, "c.md").or_fail()
        assert created(in_single.repository, BRANCH) == {"b.md", "c.md"}
        assert (pull.body or "").count("registrar:wrote") == 1
        # No space and no `>` is left over in front of registrar's part
        assert edit not in {"indented", "quoted"} or (pull.body or "").startswith(BEGIN)
    assert [each.state for each in in_single.repository.pull_requests] == ["open"]
    closed(in_single.repository, 1)
    ask(in_single, *FIRST, "c.md")
    assert in_single.repository.branches == ["main"]


def test_of_several_parts_all_count_and_one_is_left(in_single: Example) -> None:
    ask(in_single, *FIRST)
    [pull] = in_single.repository.pull_requests
    stale = pull.body
    ask(in_single, *FIRST, "c.md")
    in_single.repository.person.edit(pull.number, body=f"{stale}\n\n{pull.body}")
    ask(in_single, *FIRST, "c.md", "d.md")
    assert (pull.body or "").count("registrar:begin") == 1
    in_single.repository.person.edit(pull.number, body=f"{stale}\n\n{pull.body}")
    closed(in_single.repository, 1)
    ask(in_single, *FIRST, "c.md", "d.md")
    assert in_single.repository.branches == ["main"]


def test_in_a_fork_older_pages_count_too(example: Example) -> None:
    repository = example.repository
    repository.person.change(parent=f"{repository.owner}/parent")
    ask(example, *FIRST)
    closed(repository, 1)
    for _ in range(100):
        repository.person.open_pull_request(head="theirs", head_repository="stranger/example")
    ask(example, *FIRST, "c.md")
    closed(repository, 102)
    ask(example, *FIRST, "c.md").or_fail()
    assert repository.branches == ["main"]


def test_the_next_commit_says_in_the_description_what_was_taken_out(each_way: Way) -> None:
    each_way.run_with(A_AND_B)
    each_way.repository.person.commit({"b.md": None}, branch=BRANCH)
    each_way.run_with({**A_AND_B, "c.md": "C\n"})
    assert "Adds 2 of 3 listed files." in each_way.body
    assert "from the branch of a pull request for this list: 1." in each_way.body
    assert re.search(r"^\| `b.md` \| skipped \(declined in", each_way.body, re.MULTILINE)
    each_way.repository.person.merge(1)
    for mode in ("plan", "register"):
        run = each_way.run_with({**A_AND_B, "c.md": "C\n"}, mode=mode)
        assert (run.outputs["declined"], len(each_way.repository.pull_requests)) == ("1", 1)


def test_what_a_killed_runs_branch_holds_from_its_beginning_is_not_proposed_by_it(
    each_way: Way,
) -> None:
    repository = each_way.repository
    repository.person.commit({"a.md": b"A\n"})
    repository.person.create_branch(BRANCH)
    head = repository.person.commit({"b.md": b"B\n"}, branch=BRANCH)
    repository.person.commit({"a.md": None})
    for mode, standing in (("plan", "to create"), ("register", "proposed")):
        run = each_way.run_with(A_AND_B, mode=mode)
        assert run.standings == {"a.md": "to create", "b.md": standing}, run.console
    assert repository.head(BRANCH) == head
    assert [pull.head for pull in repository.pull_requests] == [BRANCH]


@pytest.fixture
def begun_before(action: Action) -> Way:
    """A pull request whose branch was made while the default branch had a listed file, which was
    deleted there since: the branch holds it still, and its merge would not bring it.
    """
    way = Way(action, SINGLE)
    way.repository.person.commit({"a.md": b"A\n"})
    way.run_with(A_AND_B)
    way.repository.person.commit({"a.md": None})
    return way


@pytest.mark.parametrize("held", ["as listed", "not as listed"])
def test_what_the_branch_holds_from_its_beginning_is_not_proposed_by_it(
    begun_before: Way, held: str
) -> None:
    listed = A_AND_B if held == "as listed" else {**A_AND_B, "a.md": "new\n"}
    repository = begun_before.repository
    head = repository.head(BRANCH)
    for mode in ("plan", "check", "register"):
        run = begun_before.run(definitions=begun_before.action.listing_of(listed), mode=mode)
        assert run.exit_code == (mode == "check"), run.console
        assert repository.head(BRANCH) == head
        assert run.standings == {"a.md": "to create", "b.md": "proposed"}
        assert "Not proposed yet" in run.console
        assert "Not updated in" not in run.console
        skipped = "a.md: skipped (the working branch has it only because it started"
        assert (skipped in run.stdout) is (mode == "register")
    repository.person.merge(1)
    repository.person.delete_branch(BRANCH)
    assert begun_before.run_with(listed).outputs["declined"] == "0"
    assert created(repository, BRANCH) == {"a.md", "b.md"}
    assert [each.state for each in repository.pull_requests] == ["closed", "open"]


def test_a_pull_request_that_brings_nothing_of_the_list_is_named_by_each_run(
    begun_before: Way,
) -> None:
    for mode in ("plan", "register"):
        listed = begun_before.action.listing_of({"a.md": A_AND_B["a.md"]})
        run = begun_before.run(definitions=listed, mode=mode)
        assert (run.exit_code, run.registration["pull_request"]["number"]) == (0, 1), run.console


@pytest.mark.parametrize("has_run", [False, True])
def test_what_an_update_of_the_branch_takes_out_is_no_no(begun_before: Way, has_run: bool) -> None:
    repository = begun_before.repository
    if has_run:
        begun_before.run_with(A_AND_B)
    repository.person.merge_into(BRANCH, repository.head("main"), {})
    run = begun_before.run_with(A_AND_B)
    assert run.outputs["created"] == "1"
    assert created(repository, BRANCH) == {"a.md", "b.md"}


def test_what_a_withdrawn_branch_holds_from_its_beginning_is_not_named(begun_before: Way) -> None:
    begun_before.run_with(A_AND_B, mode="withdraw")
    begun_before.repository.person.merge_into(BRANCH, begun_before.repository.head("main"), {})
    assert begun_before.run_with(A_AND_B).outputs["declined"] == "0"
    assert created(begun_before.repository, BRANCH) == {"a.md", "b.md"}


@pytest.mark.parametrize(
    "but", ["", "named", "merged", "longer", "other base", "built in", "in its place"]
)
def test_a_list_without_a_name_whose_file_was_moved_is_told(action: Action, but: str) -> None:
    example = Way(action, SINGLE)
    contents = {"AGENTS.md": "A\n", "DESIGN.md": "B\n"}
    entries = [{"path": path, "content": content} for path, content in contents.items()]
    longer = [*entries, {"path": "c.md", "content": "C\n"}]
    listed = {"name": "named", "files": entries} if but == "named" else entries
    branch = {"branch": BRANCH}
    old = action.write("old.json", json.dumps(longer if but == "longer" else listed))
    example.run(definitions=old, **branch)
    if but == "merged":
        example.repository.person.merge(1)
        example.repository.person.commit(dict.fromkeys(contents))
    else:
        example.repository.person.close(1)
    if but == "other base":
        example.repository.person.create_branch("docs")
        example.repository.person.edit(1, base="docs")
    moved = {"definitions": action.write("config/new.json", json.dumps(listed))}
    if but == "built in":
        moved = {"definitions": "", "profile": "scaffold"}
    elif but == "in its place":
        moved = {"definitions": old}
    plan = example.run(mode="plan", **moved, **branch).or_fail()
    assert plan.outputs["declined"] == ("2" if but in {"named", "in its place"} else "0")
    assert ("If the file of this list was moved" in plan.stdout) == (not but)
