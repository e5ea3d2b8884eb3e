"""Which branch, which pull request, what was declined: the same with both strategies and for many.

The rules are checked on every state of a small model in tests/unit/test_decide.py; here they meet
the host.
"""

from __future__ import annotations

from typing import cast

import pytest

from tests.example import BRANCH, MISSING, PRESENT, Example
from tests.fakehub import Repository, Request, StandInHost
from tests.harness import LIST_BRANCH, PER_FILE, Action

SECOND = f"{BRANCH}-2"
AUTHOR = ("A", "a@example.com")


def taken(repository: Repository, branch: str) -> None:
    """Somebody's own work on a branch."""
    repository.create_branch(branch)
    repository.commit({"mine.txt": b"mine\n"}, branch=branch, author=AUTHOR)


def open_ones(repository: Repository) -> list[tuple[int, str]]:
    return [(pull.number, pull.head) for pull in repository.pull_requests if pull.state == "open"]


@pytest.mark.parametrize("mode", ["register", "plan"])
def test_a_working_branch_that_is_the_default_branch_fails_for_many_as_for_one(
    host: StandInHost, action: Action, mode: str
) -> None:
    for name in ("octo-org/one", "octo-org/two"):
        host.create_repository(name, dict(PRESENT))
    more = {"branch": "main", "language": "en", "profile": "scaffold", "mode": mode}
    run = action(more, target_repo=None, target_repos="octo-org/*")
    assert run.exit_code == 1, run.console
    rows = run.report["many"]["rows"]
    assert [row["state"] for row in rows] == ["failed", "failed"]
    assert all("The working branch main is the default branch" in row["reason"] for row in rows)
    alone = action(more, target_repo="octo-org/one")
    assert alone.exit_code == 2, alone.console


def test_a_pull_request_under_a_later_name_is_found_again(example: Example) -> None:
    taken(example.repository, BRANCH)
    example.run()
    assert open_ones(example.repository) == [(1, SECOND)]
    example.repository.delete_branch(BRANCH)
    run = example.run()
    assert run.exit_code == 0, run.console
    assert open_ones(example.repository) == [(1, SECOND)]
    assert example.repository.branches == [SECOND, "main"]


def test_what_was_declined_under_a_later_name_stays_declined(example: Example) -> None:
    example.run()
    example.repository.merge(1)
    example.repository.commit(dict.fromkeys(MISSING))
    example.run()
    assert open_ones(example.repository) == [(2, SECOND)]
    example.repository.close(2)
    example.repository.delete_branch(SECOND)
    example.repository.delete_branch(BRANCH)
    run = example.run()
    assert run.exit_code == 0, run.console
    assert open_ones(example.repository) == []
    assert example.repository.branches == ["main"]
    assert "declined in [#2]" in run.summary


def test_a_renamed_default_branch_forgets_no_refusal(example: Example) -> None:
    example.run()
    example.repository.close(1)
    example.repository.create_branch("trunk")
    example.repository.default_branch = "trunk"
    for delete in (False, True):
        if delete:
            example.repository.delete_branch(BRANCH)
        run = example.run()
        assert run.exit_code == 0, run.console
        assert open_ones(example.repository) == []
        assert "declined in [#1]" in run.summary


def test_per_file_remembers_a_refusal_without_its_branch(action: Action) -> None:
    example = Example(action, PER_FILE)
    first = action.listing("a.md")
    example.run(definitions=first)
    example.repository.close(1)
    run = example.run(definitions=action.listing("a.md", "b.md"))
    [number] = [number for number, _ in open_ones(example.repository)]
    states = {file["path"]: file for file in run.registration["files"]}
    assert states["b.md"]["done"] == "created", run.console
    assert "declined in #1" in states["a.md"]["reason"]
    example.repository.close(number)
    for branch in (LIST_BRANCH, f"{LIST_BRANCH}-2"):
        example.repository.delete_branch(branch)
    run = example.run(definitions=action.listing("a.md", "b.md"))
    assert run.exit_code == 0, run.console
    assert open_ones(example.repository) == []


def test_two_lists_for_one_repository_do_not_rewrite_each_other(example: Example) -> None:
    one = example.action.listing("a.md", name="one.json")
    two = example.action.listing("b.md", name="two.json")
    example.run(definitions=one)
    text = example.repository.pull_requests[0].body
    run = example.run(definitions=two)
    assert run.exit_code == 0, run.console
    assert open_ones(example.repository) == [(1, LIST_BRANCH), (2, f"{LIST_BRANCH}-2")]
    assert example.repository.pull_requests[0].body == text
    assert "#1" in run.summary
    again = [example.run(definitions=each) for each in (one, two)]
    assert [run.exit_code for run in again] == [0, 0]
    assert open_ones(example.repository) == [(1, LIST_BRANCH), (2, f"{LIST_BRANCH}-2")]


@pytest.mark.parametrize("close", [True, False], ids=["declined", "open"])
@pytest.mark.parametrize("is_fork", [False, True], ids=["repository", "busy fork"])
@pytest.mark.parametrize("way", ["per-file", "single", "many"])
def test_pull_requests_of_strangers_forks_do_not_hide_ours(
    host: StandInHost, action: Action, way: str, is_fork: bool, close: bool
) -> None:
    """A hundred of them, from branches of our name, fill the only page that one answer has."""
    parent = "octo/parent" if is_fork else None
    repository = host.create_repository("octo/busy", dict(PRESENT), parent=parent)
    more = {"language": "en", "profile": "health", "target_repo": "octo/busy"}
    if way == "many":
        more |= {"target_repo": "", "target_repos": "octo/busy, fork:true"}
    else:
        more["commit_strategy"] = way
    assert action(more).exit_code == 0
    [ours] = repository.pull_requests
    if close:
        repository.close(ours.number)
        repository.delete_branch(ours.head)
    for number in range(100):
        repository.open_pull_request(
            head=ours.head, base="main", head_repository=f"stranger{number}/busy"
        )
    run = action(more)
    assert run.exit_code == 0, run.console
    assert repository.pull_requests[-1].head_repository == "stranger99/busy"
    assert ("declined" in run.console) == close


@pytest.mark.timeout(60)
@pytest.mark.parametrize("way", ["per-file", "single", "many"])
def test_a_list_of_pull_requests_whose_pages_repeat_ends_with_an_error(
    host: StandInHost, action: Action, way: str
) -> None:
    """As behind a gateway that drops `page`; whether ours is among them is not known."""
    repository = host.create_repository("octo/busy", dict(PRESENT), parent="octo/parent")
    more = {"language": "en", "profile": "health", "target_repo": "octo/busy"}
    if way == "many":
        more |= {"target_repo": "", "target_repos": "octo/busy, fork:true"}
    else:
        more["commit_strategy"] = way
    assert action(more).exit_code == 0
    [ours] = repository.pull_requests
    for number in range(100):
        repository.open_pull_request(
            head=ours.head, base="main", head_repository=f"stranger{number}/busy"
        )

    def drop(request: Request) -> None:
        cast("dict[str, str]", request.query).pop("page", None)

    host.on_request = drop
    head = repository.head(ours.head)
    run = action(more)
    assert run.exit_code == 1, run.console
    assert "the answer is not one of GitHub's API" in run.console
    assert repository.head(ours.head) == head
    assert len(repository.pull_requests) == 101
