"""When a list changes, a run updates the files of its open pull request that nobody has edited."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from registrar.models.standing import blob_id
from registrar.registration.mark import hashed
from tests.example import Example
from tests.fakehub import FaultKind, Repository, Request, StandInHost
from tests.fakehub.answer import Response
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import (
    PER_FILE,
    SINGLE,
    Action,
    calls,
    inject_fault,
    meanwhile,
    refuse,
    shortened,
)

OLD = {"SECURITY.md": "Write to security@example.com\n", "a.md": "A\n", "b.md": "B\n"}
NEW = OLD | {"SECURITY.md": "Write to psirt@example.com\n"}
BOTH = NEW | {"a.md": "A, too\n"}


def content(repository: Repository, path: str = "SECURITY.md") -> str:
    written = repository.files(BRANCH)[path]
    assert isinstance(written, bytes)
    return written.decode()


def mark(repository: Repository) -> dict[str, list[str]]:
    """Every comment of ours in the description, with its values."""
    found = re.findall(r"<!-- registrar:(\S+) ?(.*?) ?-->", repository.pull_requests[0].body or "")
    assert len(dict(found)) == len(found)
    return {name: values.split() for name, values in found}


def named(contents: dict[str, str]) -> list[str]:
    """How a mark names files, with the blobs that were written."""
    ids = {path: blob_id(text.encode()) for path, text in contents.items()}
    return sorted(f"{hashed(path)}{blob[:10]}" for path, blob in ids.items())


def test_the_mark_holds_what_was_committed_and_the_list_and_nothing_else(example: Example) -> None:
    example.run_with(OLD)
    begun = mark(example.repository)
    assert begun.keys() == {"begin", "wrote", "list", "end"}
    assert begun["wrote"] == named(OLD)
    example.run_with(BOTH | {"c.md": "C\n"})
    # The blob that was written last, and not the one before it
    assert mark(example.repository) == begun | {"wrote": named(BOTH | {"c.md": "C\n"})}
    example.run_with({"c.md": "C\n"}, mode="withdraw")
    withdrawn = begun | {"wrote": named(BOTH | {"c.md": "C\n"}), "withdrawn": []}
    assert mark(example.repository) == withdrawn


@pytest.mark.parametrize("ends", [("", ""), ("", "\n"), ("\n", "")])
def test_a_plan_shows_both_contents_whichever_has_no_line_end(
    in_single: Example, ends: tuple[str, str]
) -> None:
    before, after = ends
    in_single.run_with({"a.md": f"old{before}"})
    plan = in_single.run_with({"a.md": f"new{after}"}, mode="plan")
    assert "-old" in plan.lines
    assert "+new" in plan.lines


def test_a_commit_that_also_adds_a_file_does_not_say_that_it_only_updates(action: Action) -> None:
    example = Example(action, SINGLE)
    example.run_with(OLD)
    example.run_with(NEW | {"c.md": "C\n"})
    mixed = example.repository.log(BRANCH)[0]
    example.run_with(BOTH | {"c.md": "C\n"})
    corrects = example.repository.log(BRANCH)[0]
    assert sorted(mixed.paths) == ["SECURITY.md", "c.md"]
    assert [each.message.startswith("chore: update") for each in (mixed, corrects)] == [False, True]


@pytest.mark.parametrize(("count", "are_read"), [(50, True), (51, False)])
def test_of_many_contents_only_the_paths_are_shown(
    in_single: Example, host: StandInHost, count: int, are_read: bool
) -> None:
    in_single.run_with({f"{number}.md": f"{number}\n" for number in range(count)})
    host.requests.clear()
    listed = {f"{number}.md": f"New {number}\n" for number in range(count)}
    plan = in_single.run_with(listed, mode="plan")
    asked = [each for each in host.requests if "/git/blobs/" in each.path]
    assert len(asked) == (count if are_read else 0)
    assert ("0.md: to update (its present content was not read)" in plan.stdout) != are_read


@pytest.mark.parametrize(
    ("status", "message"), [(403, "This blob is too large"), (401, "Bad credentials")]
)
def test_a_content_that_github_refuses_is_not_shown(
    example: Example, host: StandInHost, status: int, message: str
) -> None:
    """A token that has expired since ends the run, as in any other request."""
    example.run_with(OLD)
    refuse(host, "GET git/blobs/", status, message=message)
    plan = example.run(definitions=example.action.listing_of(NEW), mode="plan")
    assert plan.outcomes["SECURITY.md"] == "to update"
    assert (plan.exit_code, message in plan.text) == ((0, False) if status == 403 else (2, True))
    assert "SECURITY.md: to update (its present content was not read)" in plan.stdout


@pytest.mark.parametrize("kind", [FaultKind.HTML_200, FaultKind.ERROR_502_HTML, FaultKind.CLOSED])
def test_where_graphql_cannot_be_reached_it_stays_and_follows_later(
    action: Action, host: StandInHost, kind: FaultKind
) -> None:
    example = Example(action, PER_FILE)
    example.run_with(OLD)
    inject_fault(host, "POST /graphql", kind, times=None)
    done = example.run_with(NEW | {"c.md": "C\n"})
    assert content(example.repository) == OLD["SECURITY.md"]
    assert content(example.repository, "c.md") == "C\n"
    assert done.outcomes["SECURITY.md"] == "skipped"
    assert "GitHub's GraphQL API could not be reached" in done.text
    host.faults.clear()
    done = example.run_with(NEW | {"c.md": "C\n"})
    assert content(example.repository) == NEW["SECURITY.md"]
    assert "Not updated in" not in done.text


@pytest.mark.parametrize("why", ["pushed", "unread"])
def test_a_file_that_cannot_be_updated_has_failed_if_its_branch_may_have_changed(
    action: Action, host: StandInHost, why: str
) -> None:
    example = Example(action, PER_FILE)
    example.run_with(OLD)
    inject_fault(host, "POST /graphql", FaultKind.HTML_200, times=None)
    host.requests.clear()
    head = f"GET git/ref/heads/{BRANCH}"
    if why == "unread":
        refuse(host, head, 403, message="Not now")
    else:
        # After the branch was read again, because the lost answer may have been a commit
        push = partial(example.repository.person.commit, {"mine.md": b"mine\n"}, branch=BRANCH)
        meanwhile(host, lambda _: calls(host).count(head) == 2, push)
    done = example.run(definitions=example.action.listing_of(NEW))
    assert (done.exit_code, done.outputs["failed"]) == (1, "1"), done.text
    assert done.outcomes["SECURITY.md"] in {"failed", "unknown"}


def has_created(example: Example, request: Request) -> bool:
    """Whether the run reads its pull request once more, after it has created a file."""
    return example.call(request) == "GET pulls/1" and "PUT contents/c.md" in example.written


def test_what_somebody_removes_before_the_description_is_written_stays_away(
    action: Action,
) -> None:
    example = Example(action, PER_FILE)
    listed = {**OLD, "README.md": "Read me\n"}
    example.run_with(listed)
    row = next(line for line in example.body.splitlines() if line.startswith("| `README.md`"))
    remove = {"a.md": None}
    remove_it = partial(example.repository.person.commit, remove, branch=BRANCH)
    meanwhile(example.host, partial(has_created, example), remove_it)
    example.run_with({**listed, "c.md": "C\n"})
    assert "a.md" not in example.repository.files(BRANCH)
    assert row in example.body.splitlines()
    assert mark(example.repository)["wrote"] == named(OLD | {"c.md": "C\n"})
    assert example.run_with({**listed, "c.md": "C\n"}).outputs["declined"] == "1"


@pytest.mark.parametrize("lacking", ["repo", "default_branch"])
def test_the_repository_is_asked_for_where_a_pull_request_lacks_it(
    example: Example, host: StandInHost, lacking: str
) -> None:
    example.run_with(OLD)

    def without(_: Request, right: Response) -> Response:
        body = copy.deepcopy(right.body)
        del (body["base"] if lacking == "repo" else body["base"]["repo"])[lacking]
        return replace(right, body=body)

    host.faults.change(without, lambda each: example.call(each) == "GET pulls/1")
    example.run_with(NEW)
    assert content(example.repository) == NEW["SECURITY.md"]
    assert "GET pulls/1" in map(example.call, host.requests)


@pytest.mark.parametrize(
    ("listed", "removed"),
    [
        (NEW, None),
        (OLD | {"c.md": "C\n"}, None),
        (OLD | {"c.md": "C\n"}, "<!-- registrar:wrote.*?-->"),
        (OLD | {"c.md": "C\n"}, "(?s).+"),
    ],
    ids=["corrected", "added", "added without a record", "added without any comment"],
)
def test_where_the_description_has_no_room_nothing_is_written(
    in_single: Example, listed: dict[str, str], removed: str | None
) -> None:
    in_single.run_with(OLD)
    [pull] = in_single.repository.pull_requests
    marks = (pull.body or "").partition("<!-- registrar:wrote")[2]
    if removed:
        in_single.repository.person.edit(pull.number, body=re.sub(removed, "", pull.body or ""))
    full = f"{'x' * (65_536 - len(marks) - 90)}\n\n{pull.body}"
    in_single.repository.person.edit(1, body=full)
    head = in_single.repository.head(BRANCH)
    for _ in range(2):
        done = in_single.run_with(listed)
        assert (in_single.repository.head(BRANCH), pull.body) == (head, full)
        assert "that description has reached GitHub's limit" in done.text
        assert "failed" not in done.outcomes.values()
        assert done.outputs["declined"] == "0"


@pytest.mark.large
def test_a_file_that_returns_with_every_version_of_a_long_list_stays_away(action: Action) -> None:
    example = Example(action, "single")
    listed = [f"docs/{number}.md" for number in range(400)]
    example.run_with(dict.fromkeys(listed, "0\n"))
    for version in range(1, 15):
        example.run_with(dict.fromkeys(listed, f"{version}\n"))
    example.repository.person.commit({listed[0]: None}, branch=BRANCH)
    for _ in range(2):
        assert example.run_with(dict.fromkeys(listed, "0\n")).outputs["declined"] == "1"
        assert listed[0] not in example.repository.files(BRANCH)


def once_it_asks(example: Example, what: str | int, act: Callable[[], object]) -> None:
    """Let somebody act once a request begins so, or, where their order is known, has the number.

    The reading has these: the answers to all others are the same before and after the act.
    """
    begun = len(example.host.requests)

    def is_it(request: Request) -> bool:
        if isinstance(what, int):
            return request.number == begun + what
        return example.call(request).startswith(what)

    meanwhile(example.host, is_it, act)


READS = ("GET git/matching-refs/", "GET pulls", "POST /graphql")
"""The questions of `per-file` about a branch and its pull requests, before it looks at commits."""


@pytest.mark.parametrize(
    ("strategy", "at"),
    [
        *((PER_FILE, each) for each in (*READS[:2], "GET compare/", "GET git/ref/heads/chore")),
        *((SINGLE, number) for number in (1, 2, 5)),
    ],
)
def test_of_two_runs_at_once_neither_brings_back_what_was_taken_out_to_the_last_file(
    example: Example, host: StandInHost, at: str | int
) -> None:
    example.run_with(OLD)
    example.repository.person.commit(dict.fromkeys(OLD, None), branch=BRANCH)
    other = OLD | {"d.md": "D\n"}
    once_it_asks(example, at, lambda: example.run_with(other))
    listing = example.action.listing_of({"a.md": "A\n"})
    done = example.run(definitions=listing)
    assert host.on_request is None
    assert done.exit_code == 0 or "its base branch or its description" in done.text, done.console
    assert example.run_with(OLD | {"d.md": "D\n"}).outputs["declined"] == str(len(OLD))
    assert example.repository.files(BRANCH).keys().isdisjoint(OLD)


@pytest.mark.parametrize(
    ("strategy", "at", "more"),
    [
        *((PER_FILE, at, more) for at in (*READS, "GET git/trees/") for more in ((), ("d.md",))),
        *((SINGLE, at, more) for at in (1, 2) for more in ((), ("d.md",))),
        *((SINGLE, at, ("d.md",)) for at in (3, 4)),
    ],
)
def test_a_description_says_what_the_head_holds_that_was_read_with_it(
    example: Example, host: StandInHost, at: str | int, more: tuple[str, ...]
) -> None:
    """The other run, with a newer list, comes in between; this one only writes other words, or
    ``more`` files, which the other one writes, too.

    Where it comes between the last look and the request that writes, GitHub has no way to tell.
    """
    example.run_with(OLD)
    newer = NEW | dict.fromkeys(more, "new\n")
    once_it_asks(example, at, lambda: example.run_with(newer))
    example.run_with(OLD | dict.fromkeys(more, "old\n"), language="ja")
    assert host.on_request is None
    there = {path: content(example.repository, path) for path in (*OLD, *more)}
    assert mark(example.repository)["wrote"] == named(there)
    example.run_with(BOTH)
    assert content(example.repository) == BOTH["SECURITY.md"]


def once_committed(example: Example, act: Callable[[], object]) -> None:
    """Let somebody act between the next commit and the description."""
    count = len(example.repository.log(BRANCH))

    def is_described(request: Request) -> bool:
        is_read_again = shortened(request) == "GET pulls/1"
        return is_read_again and len(example.repository.log(BRANCH)) > count

    meanwhile(example.host, is_described, act)


@pytest.mark.parametrize("is_committed", [False, True])
def test_nobody_writes_to_a_branch_that_has_just_become_the_default_branch(
    example: Example, is_committed: bool
) -> None:
    """The exit code says whether the run had written something before."""
    example.run_with(OLD)
    before = example.body, len(example.repository.log(BRANCH))

    def become() -> None:
        example.repository.person.change(default_branch=BRANCH)

    if is_committed:
        once_committed(example, become)
    else:
        example.meanwhile("GET pulls/1", become)
    run = example.run(definitions=example.action.listing_of(BOTH), base="main")
    assert run.exit_code == (1 if is_committed else 2), run.text
    commits = len(example.repository.log(BRANCH))
    assert (example.body, commits) == (before[0], before[1] + is_committed)


def test_where_github_lists_no_files_a_push_leaves_the_description_to_the_next_run(
    example: Example, host: StandInHost
) -> None:
    grown = OLD | {"c.md": "C\n"}
    example.run_with(OLD)
    host.quirks.most_in_tree = 1
    before, mine = example.body, {"mine.md": b"mine\n"}
    once_committed(example, lambda: example.repository.person.commit(dict(mine), branch=BRANCH))
    run = example.run_with(grown)
    assert (example.body, run.outputs["pull_request_operation"]) == (before, "updated")
    assert "somebody committed to its branch during this run" in run.text
    host.quirks.most_in_tree = 100
    example.run_with(grown)
    assert mark(example.repository)["wrote"] == named(grown)


def test_what_another_run_has_described_is_not_sent_again(
    example: Example, host: StandInHost
) -> None:
    example.run_with(OLD)
    host.requests.clear()
    once_committed(example, lambda: example.run_with(BOTH))
    assert example.run_with(BOTH).outputs["pull_request_operation"] == "updated"
    assert example.written.count("PATCH pulls/1") == 1


def test_a_branch_that_was_read_before_the_description_tells_no_removal(
    example: Example, host: StandInHost
) -> None:
    """Another run writes both in between, the commit first."""
    example.run_with(OLD)
    more = example.action.listing_of(OLD | {"c.md": "C\n"})
    earlier = example.repository.head(BRANCH)
    assert example.run(definitions=more).exit_code == 0
    later = example.repository.head(BRANCH)
    example.repository.person.create_branch(BRANCH, earlier)
    meanwhile(
        host,
        lambda each: "/git/trees/" in each.path or "/git/ref/heads/chore" in each.path,
        lambda: example.repository.person.create_branch(BRANCH, later),
    )
    done = example.run(definitions=more)
    assert (done.exit_code, done.outputs["declined"]) == (0, "0"), done.console
