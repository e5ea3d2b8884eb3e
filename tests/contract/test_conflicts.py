"""An open pull request that cannot be merged, or that GitHub does not list."""

from __future__ import annotations

import pytest

from tests.example import A_AND_B, MANY, WAYS, Way
from tests.fakehub import Refusal
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import PER_FILE, SINGLE, TARGET, Action, Run, only_reads, shortened

OTHER = {"a.md": b"by hand\n"}


class Conflict(Way):
    """An open pull request with `A_AND_B`, and runs that ask how it stands."""

    def look(self, listed: dict[str, str] = A_AND_B, /, **inputs: str) -> Run:
        """Run with a directory for the files, and remember only what that sends."""
        self.host.requests.clear()
        given = {"definitions": self.action.listing_of(listed), "language": "en", **inputs}
        if self.strategy == MANY:
            return self.action(given, env=self.action.keeping, target_repos=TARGET)
        return self.action({"commit_strategy": self.strategy, **given}, env=self.action.keeping)

    def asked(self, path: str) -> int:
        """How many requests about a comparison, or a tree, were sent last."""
        return sum(path in shortened(each) for each in self.host.requests)


@pytest.fixture(params=WAYS)
def example(request: pytest.FixtureRequest, action: Action) -> Conflict:
    example = Conflict(action, request.param)
    example.run_with(A_AND_B)
    return example


@pytest.fixture
def one(action: Action) -> Conflict:
    example = Conflict(action, SINGLE)
    example.run_with(A_AND_B)
    return example


def test_it_is_said_wherever_and_ended_by_removing_the_file(example: Conflict) -> None:
    repository = example.repository
    assert "will update" not in example.look(mode="plan").console
    example.look(mode="check")
    before = example.asked("compare/"), example.asked("git/trees/")
    repository.person.commit(OTHER)
    with pytest.raises(Refusal, match="not mergeable"):
        repository.person.merge(1)

    check = example.look(mode="check")
    assert check.exit_code == 1
    assert (example.asked("compare/"), example.asked("git/trees/")) == (1, before[1])
    assert "merge the open pull request" not in check.text
    told = "#1 cannot be merged, because it conflicts with the base branch in: "
    for run in (check, example.look(mode="plan")):
        assert ("conflict in a.md" if example.strategy == MANY else told) in run.console
        assert told.removeprefix("#1") in run.summary
        # The run that follows writes this, and nothing else
        is_told = "will update the description of #1, and no file" in run.console
        assert is_told == (example.strategy != MANY and run is not check)
        [registration] = run.report["registrations"]
        [note] = [each for each in registration["notes"] if told in each]
        assert "in: a.md" in note
        files = {each["path"]: each.get("conflicts_with") for each in registration["files"]}
        assert files["a.md"].endswith("/pull/1")
        assert files["b.md"] is None
        rows = {row["path"]: row["conflicts_with"] for row in example.action.rows(run)}
        assert rows == {path: url or "" for path, url in files.items()}
        page = example.action.kept(run, "page")
        assert "cannot be merged: 1" in page
        assert "Review and merge them" not in page
        assert "conflict in a.md" in page
        if example.strategy == MANY:
            assert run.report["many"]["states"]["conflicting"] == 1
            assert "1 in conflict" in run.summary

    run = example.look().or_fail()
    assert "conflict" in run.console
    assert example.written == ["PATCH pulls/1"]
    assert "> This pull request cannot be merged" in example.body
    assert repository.files(BRANCH)["a.md"] == b"A\n"
    example.look()
    assert only_reads(example.host)

    repository.person.commit({"a.md": None}, branch=BRANCH)
    for mode in ("plan", "register"):
        assert "cannot be merged" not in example.look(mode=mode).text
    assert "cannot be merged" not in example.body
    repository.person.merge(1)
    assert repository.files("main") == {**repository.files("main"), **OTHER, "b.md": b"B\n"}
    assert example.look(mode="check").exit_code == 0


def test_a_withdrawn_one_that_conflicts_by_now_is_not_continued(example: Conflict) -> None:
    example.look(mode="withdraw")
    example.repository.person.commit(OTHER)
    assert example.look(mode="plan").exit_code == 0
    assert example.look().exit_code == 0
    assert example.repository.is_mergeable(2)
    assert example.repository.pull_request(2).head == f"{BRANCH}-2"
    example.look()
    assert only_reads(example.host)


def test_a_branch_that_took_the_default_branch_and_kept_ours_does_not(example: Conflict) -> None:
    repository = example.repository
    theirs = repository.person.commit(OTHER)
    repository.person.keep_ours(BRANCH, repository.head(BRANCH), theirs)
    assert repository.is_mergeable(1)
    for mode in ("check", "plan", "register"):
        assert "cannot be merged" not in example.look(mode=mode).text
        assert example.asked("compare/") == 1
        assert example.asked("git/trees/") <= 2
    # Nor once the default branch has moved on
    repository.person.commit({"c.md": b"C\n"})
    assert repository.is_mergeable(1)
    assert "cannot be merged" not in example.look(mode="check").text


def test_what_somebody_has_edited_there_conflicts_as_well(example: Conflict) -> None:
    example.repository.person.commit({"a.md": b"edited\n"}, branch=BRANCH)
    example.repository.person.commit(OTHER)
    check, trees = example.look(mode="check"), int(example.strategy == PER_FILE)
    assert "conflict" in check.console
    assert (example.asked("compare/"), example.asked("git/trees/")) == (1, trees)
    # A merge that keeps some of both ends it
    theirs = example.repository.head("main")
    example.repository.person.keep_ours(BRANCH, example.repository.head(BRANCH), theirs)
    assert "merge the open pull request" in example.look(mode="check").text


@pytest.mark.parametrize("is_listed", [True, False], ids=["listed", "not listed"])
def test_one_whose_branch_also_changes_a_file_conflicts_as_well(
    example: Conflict, is_listed: bool
) -> None:
    """The comparison does not show then which files the branch has added."""
    example.repository.person.commit({"README.md": b"edited\n"}, branch=BRANCH)
    example.repository.person.commit(OTHER)
    if not is_listed:
        example.host.quirks.most_in_tree = 1
    assert ("conflict" in example.look(mode="check").console) == is_listed


def test_what_others_have_added_on_both_branches_is_not_called_a_conflict(one: Conflict) -> None:
    one.repository.person.commit({"c.md": b"theirs\n"}, branch=BRANCH)
    one.repository.person.commit({"c.md": b"by hand\n"})
    assert "conflict" not in one.look({**A_AND_B, "c.md": "C\n"}, mode="check").console


def test_a_directory_in_its_place_conflicts_as_well(one: Conflict) -> None:
    one.repository.person.commit({"a.md/index.md": b"by hand\n"})
    assert not one.repository.is_mergeable(1)
    assert "conflict" in one.look(mode="check").console


@pytest.mark.parametrize("strategy", WAYS)
def test_a_file_in_place_of_a_directory_conflicts_as_well(action: Action, strategy: str) -> None:
    example, listed = Conflict(action, strategy), {"docs/a.md": "A\n", "b.md": "B\n"}
    example.run_with(listed)
    example.repository.person.commit({"docs": b"by hand\n"})
    assert not example.repository.is_mergeable(1)
    # Over many, what no run can change fails no run
    for mode, exit_code in (("check", 1), ("plan", 0), ("register", int(strategy != "many"))):
        run = example.look(listed, mode=mode)
        assert run.exit_code == exit_code
        assert "conflicts with the base branch in: docs/a.md" in run.console
        assert "merge the open pull request" not in run.text
        standings = {each["path"]: each["standing"] for each in run.registration["files"]}
        assert standings == {"docs/a.md": "blocked", "b.md": "proposed"}
    assert "> This pull request cannot be merged" in example.body
    # A merge that keeps the directory ends it
    theirs = example.repository.head("main")
    example.repository.person.keep_ours(BRANCH, example.repository.head(BRANCH), theirs)
    assert example.repository.is_mergeable(1)
    assert "cannot be merged" not in example.look(listed, mode="check").text


@pytest.mark.parametrize(
    "theirs", [OTHER, {"a.md/index.md": b"by hand\n"}], ids=["file", "directory"]
)
def test_a_file_that_is_no_longer_listed_conflicts_as_well(
    example: Conflict, theirs: dict[str, bytes]
) -> None:
    left = {"b.md": A_AND_B["b.md"]}
    assert "cannot be merged" not in example.look(left, mode="check").text
    example.repository.person.commit(theirs)
    assert not example.repository.is_mergeable(1)
    for mode, exit_code in (("check", 1), ("plan", 0), ("register", 0)):
        run = example.look(left, mode=mode)
        assert run.exit_code == exit_code
        assert "conflicts with the base branch in: a.md" in run.console
        assert "merge the open pull request" not in run.text
        assert "cannot be merged: 1" in example.action.kept(run, "page")
    assert "> This pull request cannot be merged" in example.body
    example.look(left)
    assert only_reads(example.host)
    example.repository.person.commit({"a.md": None}, branch=BRANCH)
    assert "cannot be merged" not in example.look(left, mode="check").text


@pytest.mark.parametrize("own", [TARGET, "octo/public"])
def test_of_a_private_repository_it_is_not_named_where_others_may_read(
    one: Conflict, own: str
) -> None:
    one.repository.person.change(private=True)
    one.repository.person.commit(OTHER)
    given = {
        "definitions": one.action.listing_of({"b.md": A_AND_B["b.md"]}),
        "commit_strategy": SINGLE,
        "mode": "plan",
        "language": "en",
    }
    run = one.action(given, runner=True, env={"GITHUB_REPOSITORY": own})
    assert "conflict" in run.console
    assert any("a.md" in each for each in (run.console, run.summary)) == (own == TARGET)


def test_one_that_is_to_be_updated_is_updated_all_the_same(one: Conflict) -> None:
    repository, grown = one.repository, {**A_AND_B, "c.md": "C\n"}
    repository.person.commit(OTHER)
    check = one.look(grown, mode="check")
    assert "To add them, merge" not in check.text
    assert "conflict" in check.text
    run = one.look(grown, update="false")
    assert "conflict" in run.console
    assert only_reads(one.host)
    run = one.look(grown)
    assert "conflict" in run.console
    assert repository.files(BRANCH)["c.md"] == b"C\n"
    assert "> This pull request cannot be merged" in one.body


def test_where_nothing_is_missing_nothing_is_asked(example: Conflict) -> None:
    example.repository.person.commit({**OTHER, "b.md": b"by hand\n"})
    run = example.look(mode="check").or_fail()
    assert "cannot be merged" not in run.text
    if example.strategy == PER_FILE:
        assert not example.asked("pulls")


def test_what_both_have_added_alike_does_not(one: Conflict) -> None:
    one.repository.person.commit({"a.md": b"A\n"})
    assert one.repository.is_mergeable(1)
    check = one.look(mode="check")
    assert "cannot be merged" not in check.text
    assert one.asked("compare/") == 0


def test_one_that_github_does_not_list_is_ended_by_deleting_its_branch(example: Conflict) -> None:
    repository, quirks = example.repository, example.host.quirks
    quirks.unlisted_pull_requests = frozenset({1})
    run = example.look()
    assert run.exit_code == 1
    assert "delete it: the next run" in run.console
    assert "compare/main..." not in run.text
    assert "#the-pull-request-is-not-opened" in run.text
    assert [each.head for each in repository.pull_requests] == [BRANCH]
    repository.person.delete_branch(BRANCH)
    repository.person.close(1)
    assert example.look().exit_code == 0
    assert [each.state for each in repository.pull_requests] == ["closed", "open"]
