"""Some answers of GitHub do not show a recent write yet, and the run waits until they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from tests.clocks import BEGINNING
from tests.fakehub import Fault, FaultKind, Lag, Repository, StandInHost
from tests.fakehub.quirks import Symptom
from tests.harness import (
    LIST_BRANCH,
    Action,
    Start,
    inject_fault,
    is_read,
    meanwhile,
    refuse,
    shortened,
    writes,
)

Lags = Callable[..., None]


@pytest.fixture
def lags(host: StandInHost) -> Lags:
    """A function that sets the lag of the host (`Lag`)."""

    def begin(**more: Any) -> None:
        host.quirks.lag = Lag(**more)

    return begin


@pytest.fixture
def listed(action: Action, repository: Repository) -> Iterator[str]:
    """A list of two files. After the test one pull request must add each of them once."""
    yield action.listing("a.md", "b.md")
    new = [path for commit in repository.log(LIST_BRANCH)[:-1] for path in commit.paths]
    assert sorted(new) == ["a.md", "b.md"]
    assert [(p.head, p.state) for p in repository.pull_requests] == [(LIST_BRANCH, "open")]


@pytest.fixture
def begun(repository: Repository) -> Repository:
    """A repository in which an earlier run has created a branch with one of the files."""
    repository.person.create_branch(LIST_BRANCH)
    repository.person.commit({"a.md": b"\n"}, branch=LIST_BRANCH)
    return repository


@pytest.mark.parametrize("symptom", list(Symptom))
def test_what_the_run_has_made_is_waited_for(
    start: Start, lags: Lags, listed: str, symptom: Symptom
) -> None:
    lags(answers=3, symptoms=(symptom,))
    ended = start(definitions=listed, labels="new", assignees="octocat").or_fail()
    assert ended.outputs["created"] == "2"
    assert ended.registration["notes"] == []
    assert ended.stdout.count("Asking again for up to 10 s") <= 1


@pytest.mark.parametrize("seconds", [0.8, 5.0])
def test_all_of_github_lags_behind(start: Start, lags: Lags, listed: str, seconds: float) -> None:
    lags(seconds=seconds)
    start(definitions=listed, labels="new").or_fail()


def test_a_pull_request_whose_answer_was_lost_is_waited_for(
    start: Start, strategy: str, lags: Lags, listed: str, repository: Repository, host: StandInHost
) -> None:
    """The list of pull requests shows it at once, but the requests for labels only later."""
    lags(answers=1, symptoms=(Symptom.LABELS,))
    call = "POST /graphql" if strategy == "single" else "POST pulls"
    lost = Fault(
        FaultKind.CLOSED,
        when="after",
        match=lambda request: shortened(request) == call and not is_read(request),
    )
    host.faults.add(lost)
    ended = start(definitions=listed, labels="new")
    assert (ended.exit_code, len(lost.hits)) == (0, 1), ended.text
    assert "was left out" not in ended.text
    assert [pull.labels for pull in repository.pull_requests] == [["new"]]


def test_the_wait_is_announced_once_a_run(action: Action, host: StandInHost, lags: Lags) -> None:
    names = [f"octo-org/r{number}" for number in range(3)]
    made = [host.create_repository(name, {"README.md": b"#\n"}) for name in names]
    lags(seconds=9.0)
    given = {"target_repos": "octo-org/*", "definitions": action.listing("a.md"), "labels": "new"}
    ended = action(given, target_repo=None, language="en").or_fail()
    assert [len(repository.pull_requests) for repository in made] == [1, 1, 1]
    assert ended.stdout.count("Asking again for up to 10 s") == 1


def test_it_is_not_waited_for_without_an_end(
    action: Action, host: StandInHost, lags: Lags, listed: str
) -> None:
    lags(answers=1000, symptoms=(Symptom.PULL_NO_COMMITS,))
    ended = action(definitions=listed, language="en")
    assert ended.exit_code == 1
    assert "run this again to finish" in ended.stderr
    assert "No commits between" in ended.stderr
    assert 5 <= writes(host).count("POST pulls") <= 9
    host.quirks.lag = None
    assert action(definitions=listed).exit_code == 0


def test_what_a_run_that_just_ended_has_made_is_waited_for(
    start: Start, lags: Lags, listed: str, begun: Repository
) -> None:
    """The run can read the branch, but not yet its commits and its pull request."""
    begun.written.note(f"branch {LIST_BRANCH}", f"head {LIST_BRANCH}")
    lags(
        seconds=5.0,
        symptoms=sorted(set(Symptom) - {Symptom.REFERENCE, Symptom.GRAPHQL_REFERENCE}),
    )
    start(definitions=listed).or_fail()


def test_the_labels_of_a_pull_request_that_a_run_just_opened_are_waited_for(
    start: Start, action: Action, lags: Lags, listed: str, repository: Repository
) -> None:
    """An earlier run has opened it, so this run only reads it."""
    assert start(definitions=action.listing("a.md")).exit_code == 0
    assert action.listing("a.md", "b.md") == listed
    lags(answers=2, symptoms=(Symptom.LABELS,))
    ended = start(definitions=listed, labels="new").or_fail()
    assert "was left out" not in ended.text
    assert [pull.labels for pull in repository.pull_requests] == [["new"]]


def test_a_longer_lag_is_not_reported_as_a_missing_permission(
    start: Start, action: Action, host: StandInHost, lags: Lags, listed: str
) -> None:
    lags(seconds=60.0)
    ended = start(definitions=listed)
    assert ended.exit_code == 1
    assert "permission" not in ended.text
    assert "did not change within 10 s. Nothing is lost: run this again" in ended.stderr
    assert action.clock.now - BEGINNING < 30
    host.quirks.lag = None
    assert start(definitions=listed).exit_code == 0


@pytest.mark.parametrize(("empty", "found"), [(5, True), (1000, False)])
def test_a_pull_request_that_is_said_to_exist_is_looked_for_until_lists_have_it(
    action: Action, host: StandInHost, listed: str, begun: Repository, empty: int, found: bool
) -> None:
    """Another run has just opened it, and the lists of pull requests show it only later."""
    begun.person.open_pull_request(head=LIST_BRANCH)
    unseen = inject_fault(host, "GET pulls", times=empty, status=200, body=[])
    ended = action(definitions=listed, language="en")
    assert ended.exit_code == (0 if found else 1), ended.text
    assert len(unseen.hits) in ([5] if found else range(6, 13))
    assert ended.stdout.count("Asking again for up to 10 s") == 1
    assert ("does not list it" in ended.stderr) is not found
    assert action.clock.now - BEGINNING < 30


MAY_NOT_WRITE = {
    "en": "This is how GitHub answers a token that may read octo/example but not write to it",
    "ja": "octo/example を読めても書き込めないトークンに、GitHub はこのように応答します",
}


@pytest.mark.parametrize("language", MAY_NOT_WRITE)
@pytest.mark.parametrize("call", ["POST git/refs", "PUT contents/a.md"])
def test_a_missing_permission_is_no_lag(
    action: Action, host: StandInHost, repository: Repository, call: str, language: str
) -> None:
    """GitHub answers with a plain 404, also for the branch that the run has just created."""
    refuse = inject_fault(host, call, times=None, status=404, message="Not Found")
    ended = action(definitions=action.listing("a.md"), language=language)
    assert ended.exit_code in {1, 2}
    assert MAY_NOT_WRITE[language] in ended.stderr
    assert len(refuse.hits) == 1
    assert action.clock.now == BEGINNING
    assert repository.pull_requests == []


@pytest.mark.parametrize(("absent", "found"), [(3, True), (1000, False)])
def test_a_branch_that_is_said_to_exist_is_looked_for(
    action: Action, host: StandInHost, repository: Repository, absent: int, found: bool, listed: str
) -> None:
    """Another run has just made it: "already exists" for the write, not there for the read."""
    come_first = partial(repository.person.create_branch, LIST_BRANCH)
    meanwhile(host, lambda request: shortened(request) == "POST git/refs", come_first)
    unseen = inject_fault(
        host, f"GET git/ref/heads/{LIST_BRANCH}", times=absent, status=404, message="Not Found"
    )
    ended = action(definitions=listed, language="en")
    assert ended.exit_code == (0 if found else 1), ended.text
    assert len(unseen.hits) in ([3] if found else range(5, 10))
    assert ended.stdout.count("Asking again for up to 10 s") == 1
    if not found:
        assert "Nothing is lost: run this again to finish." in ended.stderr
        host.faults.clear()
        assert action(definitions=listed).exit_code == 0


@pytest.mark.parametrize("content", [b"\n", b"mine\n"], ids=["the same", "another"])
def test_a_file_that_is_said_to_exist_is_looked_for(
    action: Action, host: StandInHost, repository: Repository, content: bytes
) -> None:
    """Another run has just made it: "already exists" for the write, not there for the read."""
    come_first = partial(repository.person.commit, {"b.md": content}, branch=LIST_BRANCH)
    meanwhile(host, lambda request: shortened(request) == "PUT contents/b.md", come_first)
    # The repository is large, so the listing is cut and does not show the file either
    cut = b'{"sha": "1", "tree": [], "truncated": true}'
    refuse(host, lambda each: "/git/trees/" in each.path, 200, body=cut)
    seen = "GET contents/b.md"
    unseen = inject_fault(host, seen, at=2, times=3, status=404, message="Not Found")
    ended = action(definitions=action.listing("a.md", "b.md"), language="en")
    assert len(unseen.hits) == 3
    assert ended.exit_code == 0, ended.text
    assert (ended.outputs["created"], ended.outputs["skipped"]) == ("1", "1")
    assert repository.files(LIST_BRANCH)["b.md"] == content
