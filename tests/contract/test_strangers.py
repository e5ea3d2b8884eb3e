"""Everybody who may read a public repository may open a pull request between two of its branches.

`tests/stories/test_strangers.py` has the stories about them.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import pytest

from registrar.models.repository import PullRequest
from registrar.registration.candidates import is_by_writer
from tests.example import BRANCH, WAYS, Example, Way, in_one_way
from tests.fakehub import Repository, Request, StandInHost
from tests.harness import PER_FILE, Action, meanwhile, shortened


@pytest.fixture(params=WAYS)
def example(request: pytest.FixtureRequest, action: Action) -> Way:
    return Way(action, request.param)


def asks_for_a_role(request: Request) -> bool:
    return request.path.endswith("/permission")


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
