"""Everybody who may read a public repository may open a pull request between two of its branches.

The description of such a pull request has no effect, and nothing is written to its branch.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, cast

import pytest

from registrar.models.repository import PullRequest
from registrar.registration.candidates import is_by_writer
from registrar.registration.mark import EMPTY_MARK
from tests.example import BRANCH, EXPECTED, MISSING, WAYS, Example, Way, in_one_way
from tests.fakehub import Repository, Request, StandInHost
from tests.harness import PER_FILE, SINGLE, Action, Run, meanwhile, refuse, shortened

SECOND = f"{BRANCH}-2"
MARK = "<!-- registrar:many -->"
"""Without a path it stands for all of them."""


@pytest.fixture(params=WAYS)
def example(request: pytest.FixtureRequest, action: Action) -> Way:
    return Way(action, request.param)


def declined(run: Run) -> bool:
    return re.search(r"declined(?: in|: \d+\)(?:, [^:]*)?:) \[?#1", run.text) is not None


def asks_for_a_role(request: Request) -> bool:
    return request.path.endswith("/permission")


@pytest.mark.parametrize("base", ["main", "docs"])
def test_a_copy_of_our_words_takes_no_refusal_back(example: Way, base: str) -> None:
    repository = example.repository
    repository.person.create_branch("docs")
    example.run()
    repository.person.commit({"AGENTS.md": None}, branch=BRANCH)
    example.run()
    repository.person.close(1)
    body, head = repository.pull_requests[0].body, repository.head(BRANCH)
    repository.person.open_pull_request(head=BRANCH, base=base, body=body, author="stranger")
    for mode in ("plan", "register"):
        run = example.run(mode=mode).or_fail()
        assert repository.head(BRANCH) == head
        assert repository.branches == [BRANCH, "docs", "main"]
        # If everything is declined, a run over many that writes does not look closer
        is_named = "/pull/2) and leaves the branch alone" in run.text
        assert is_named or (example.strategy, mode) == ("many", "register")


def test_a_closed_pull_request_of_a_stranger_declines_nothing(
    host: StandInHost, example: Way
) -> None:
    repository = example.repository
    repository.person.create_branch("docs")
    repository.person.create_branch(BRANCH)
    repository.person.commit({"AGENTS.md": b"\n"}, branch=BRANCH)
    repository.person.open_pull_request(head=BRANCH, base="docs", body=MARK, author="stranger")
    repository.person.close(1)
    example.run()
    assert repository.files(BRANCH) == EXPECTED
    assert [pull.author for pull in repository.pull_requests if pull.state == "open"] == ["octocat"]
    roles = [request for request in host.requests if asks_for_a_role(request)]
    assert {request.path.rpartition("/collaborators/")[2] for request in roles} == {
        "stranger/permission"
    }


@pytest.mark.parametrize("author", ["stranger", "octo"])
def test_a_pull_request_of_another_list_is_told_if_it_is_by_somebody_who_may_write(
    example: Way, author: str
) -> None:
    repository = example.repository
    repository.person.create_branch(BRANCH)
    repository.person.commit({"theirs.md": b"theirs\n"}, branch=BRANCH)
    body = EMPTY_MARK.naming("profile other", {"theirs.md": "1" * 40}).text
    repository.person.open_pull_request(head=BRANCH, body=body, author=author)
    run = example.run(language="en").or_fail()
    assert repository.pull_requests[-1].head == SECOND
    assert ("to an open pull request for another list" in run.text) == (author == "octo"), run.text


def test_where_a_stranger_opens_it_first_it_is_not_called_hidden(
    host: StandInHost, action: Action
) -> None:
    example = Example(action, PER_FILE)
    given: dict[str, Any] = {"head": BRANCH, "body": "Theirs", "author": "stranger"}
    first = partial(example.repository.person.open_pull_request, **given)
    meanwhile(host, lambda request: shortened(request) == "POST pulls", first)
    run = example.run(language="en")
    assert (run.exit_code, example.repository.pull_requests[0].body) == (1, "Theirs"), run.text
    assert "The files are on the branch" in run.console
    assert "does not list it" not in run.console


def test_closed_pull_requests_of_strangers_do_not_hide_the_no_of_a_maintainer(
    in_single: Example,
) -> None:
    """None of them has a mark, so the files on the branch are compared with the list."""
    repository = in_single.repository
    in_single.run()
    repository.person.edit(1, body="Rewritten")
    repository.person.close(1)
    for number in range(2, 14):
        repository.person.open_pull_request(head=BRANCH, body="Mine", author="stranger")
        repository.person.close(number)
    run = in_single.run().or_fail()
    assert (run.outputs["created"], run.outputs["declined"]) == ("0", str(len(MISSING)))


@pytest.mark.parametrize("role", ["MAINTAIN", "ADMIN"])
def test_whoever_may_push_may_write_and_decline(
    host: StandInHost, in_single: Example, role: str
) -> None:
    host.quirks.role = role
    in_single.run().or_fail()
    in_single.repository.person.edit(1, author="member")
    in_single.repository.person.change(private_members={"member"})
    in_single.repository.person.close(1)
    in_single.repository.person.delete_branch(BRANCH)
    assert declined(in_single.run().or_fail())


@pytest.mark.parametrize("told", [True, False], ids=["told", "not told"])
def test_a_private_member_is_believed_where_the_host_tells_the_role(
    host: StandInHost, in_single: Example, told: bool
) -> None:
    repository = in_single.repository
    in_single.run()
    repository.person.edit(1, author="member")
    repository.person.change(private_members={"member"})
    repository.person.close(1)
    repository.person.delete_branch(BRANCH)
    host.quirks.hides_permissions = not told
    run = in_single.run().or_fail()
    assert (declined(run), BRANCH in repository.branches) == (told, not told)
    assert ("leaves the branch alone" in run.text) is not told


@pytest.mark.parametrize(
    ("example", "author", "times"),
    [
        *((SINGLE, author, 0) for author in ("octo", "renovate[bot]")),
        *((way, author, 1) for way in WAYS for author in ("octocat", "somebody")),
    ],
    indirect=["example"],
)
def test_everybody_is_asked_about_once_but_the_owner_bots_and_the_tokens_account(
    host: StandInHost, example: Way, author: str, times: int
) -> None:
    example.run()
    example.repository.person.edit(1, author=author)
    if author == "octocat" and example.strategy != PER_FILE:
        # If a query says which are the token's own
        times = 0
    for _ in range(2):
        host.requests.clear()
        assert example.run().exit_code == 0
        assert sum(map(asks_for_a_role, host.requests)) == times
        if example.repository.pull_requests[0].state == "open":
            example.repository.person.close(1)
    assert declined(example.run())


@pytest.mark.parametrize(
    ("author", "known", "told", "expected"),
    [
        ("", {}, None, False),
        ("", {"is_by_member": True}, True, False),
        ("somebody", {"is_by_writer": True}, False, True),
        ("somebody", {"is_by_member": True}, None, True),
        ("somebody", {"is_by_member": True}, False, False),
        ("somebody", {}, None, False),
        ("somebody", {}, True, True),
    ],
)
def test_the_author_counts_as_far_as_github_tells(
    author: str, known: dict[str, bool], told: bool | None, expected: bool
) -> None:
    pull = PullRequest(1, "", author=author, **cast("Any", known))
    assert is_by_writer(pull, lambda _: told) is expected


@in_one_way
@pytest.mark.parametrize("is_open", [True, False])
def test_who_may_only_read_says_no_to_nothing(example: Way, is_open: bool) -> None:
    repository = example.repository
    repository.person.create_branch(BRANCH)
    repository.person.commit({"AGENTS.md": b"\n"}, branch=BRANCH)
    repository.person.change(readers={"triage"})
    repository.person.open_pull_request(head=BRANCH, base="main", body=MARK, author="triage")
    if not is_open:
        repository.person.close(1)
    for mode in ("plan", "register"):
        run = example.run(mode=mode)
        assert (run.exit_code, run.outputs["declined"]) == (0, "0"), run.console
    assert repository.files(SECOND if is_open else BRANCH) == EXPECTED


@pytest.mark.parametrize("author", ["somebody", "stranger"])
def test_who_is_no_user_any_more_ends_no_run(in_single: Example, author: str) -> None:
    """Mannequins, and accounts that have become organisations."""
    in_single.run()
    in_single.repository.person.edit(1, author=author)
    in_single.repository.person.close(1)
    in_single.repository.person.delete_branch(BRANCH)
    in_single.repository.person.change(mannequins={author})
    for mode in ("plan", "register"):
        run = in_single.run(mode=mode)
        assert (run.exit_code, run.outputs["declined"]) == (0, "0"), run.console
        assert "leaves the branch alone" in run.text


@pytest.mark.parametrize(("author", "counts"), [("somebody", True), ("stranger", False)])
def test_where_the_token_is_not_told_the_association_decides(
    host: StandInHost, in_single: Example, author: str, counts: bool
) -> None:
    in_single.run()
    in_single.repository.person.edit(1, author=author)
    in_single.repository.person.close(1)
    refuse(
        host, asks_for_a_role, 403, message="Must have push access to view collaborator permission."
    )
    for mode in ("plan", "check"):
        run = in_single.run(mode=mode)
        assert run.exit_code == (mode == "check" and not counts), run.console
        assert declined(run) == counts


def test_a_pull_request_that_a_stranger_opens_before_ours_is_not_ours(
    host: StandInHost, action: Action
) -> None:
    example = Way(action, PER_FILE)
    repository = example.repository

    def come_first(request: Request) -> None:
        if shortened(request) == "POST pulls" and not repository.pull_requests:
            repository.person.open_pull_request(
                head=BRANCH, base="main", body="Mine", author="stranger"
            )

    host.on_request = come_first
    run = example.run()
    assert (run.exit_code, run.outputs["pull_request_number"]) == (1, "")
    assert [pull.body for pull in repository.pull_requests] == ["Mine"]
    assert repository.files(BRANCH) == EXPECTED


@pytest.mark.parametrize("strategy", ["one", "many"])
def test_a_colleague_is_asked_about_once_with_two_lists(
    action: Action, host: StandInHost, strategy: str
) -> None:
    repository = host.create_repository("octo-org/two", {"x": b""})
    repository.person.change(collaborators=repository.collaborators | {"mona"})
    given = {"language": "en", "profile": "all", "commit_strategy": "single"}
    if strategy == "many":
        del given["commit_strategy"]
        target: dict[str, Any] = {"target_repos": repository.full_name}
    else:
        target = {"target_repo": repository.full_name}
    action(given, **target)
    for pull in repository.pull_requests:
        repository.person.edit(pull.number, author="mona")
        repository.person.close(pull.number)
    host.requests.clear()
    run = action(given, **target)
    assert run.outputs["declined"] == "36", run.console
    assert sum(map(asks_for_a_role, host.requests)) == 1


# --- More pull requests than an answer has -------------------------------------------------------


def crowd(repository: Repository, head: str) -> None:
    """A hundred, from branches of our name, fill the only page that one answer has."""
    for number in range(100):
        repository.person.open_pull_request(
            head=head, base="main", head_repository=f"stranger{number}/example"
        )


@pytest.mark.parametrize(
    ("example", "is_fork", "close"),
    [
        *((way, is_fork, True) for way in WAYS for is_fork in (False, True)),
        *((SINGLE, is_fork, False) for is_fork in (False, True)),
    ],
    indirect=["example"],
)
def test_pull_requests_of_strangers_forks_do_not_hide_ours(
    example: Way, is_fork: bool, close: bool
) -> None:
    repository = example.repository
    repository.person.change(parent="octo/parent" if is_fork else None)
    example.run()
    if close:
        repository.person.close(1)
        repository.person.delete_branch(BRANCH)
    crowd(repository, BRANCH)
    run = example.run().or_fail()
    assert repository.pull_requests[-1].head_repository == "stranger99/example"
    assert declined(run) == close


@in_one_way
@pytest.mark.timeout(60)
def test_a_list_of_pull_requests_whose_pages_repeat_ends_with_an_error(
    host: StandInHost, example: Way
) -> None:
    """As behind a gateway that drops `page`; whether ours is among them is not known."""
    repository = example.repository
    repository.person.change(parent="octo/parent")
    example.run()
    crowd(repository, BRANCH)

    def drop(request: Request) -> None:
        cast("dict[str, str]", request.query).pop("page", None)

    host.on_request = drop
    head = repository.head(BRANCH)
    run = example.run()
    assert run.exit_code == 1, run.console
    assert "the answer is not one of GitHub's API" in run.console
    assert (repository.head(BRANCH), len(repository.pull_requests)) == (head, 101)
