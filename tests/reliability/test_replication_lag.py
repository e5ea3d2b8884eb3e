"""GitHub does not know everywhere at once what it has just made: the run waits for it."""

from __future__ import annotations

import pytest

from tests.clocks import BEGINNING
from tests.fakehub import Fault, FaultKind, Lag, Repository, StandInHost
from tests.fakehub.quirks import Symptom
from tests.harness import (
    SCAFFOLD_BRANCH,
    STRATEGIES,
    Action,
    inject_fault,
    is_read,
    shortened,
    writes,
)

EACH_STRATEGY = pytest.mark.parametrize("strategy", STRATEGIES)


def finished(repository: Repository) -> None:
    """Every file is there once, and one pull request brings them."""
    new = [path for commit in repository.log(SCAFFOLD_BRANCH)[:-1] for path in commit.paths]
    assert sorted(new) == ["a.md", "b.md"]
    assert [(p.head, p.state) for p in repository.pull_requests] == [(SCAFFOLD_BRANCH, "open")]


@EACH_STRATEGY
@pytest.mark.parametrize("symptom", list(Symptom))
@pytest.mark.parametrize("answers", [1, 3])
def test_what_the_run_has_made_is_waited_for(
    action: Action,
    host: StandInHost,
    repository: Repository,
    strategy: str,
    symptom: Symptom,
    answers: int,
) -> None:
    host.quirks.lag = Lag(answers=answers, symptoms=(symptom,))
    listed = action.listing("a.md", "b.md")
    ended = action(
        definitions=listed,
        language="en",
        labels="new",
        assignees="octocat",
        commit_strategy=strategy,
    )
    assert ended.exit_code == 0, ended.text
    assert ended.outputs["created"] == "2"
    assert "was left out" not in ended.text
    finished(repository)
    assert ended.stdout.count("Asking again for up to 10 s") <= 1


@EACH_STRATEGY
@pytest.mark.parametrize("seconds", [0.8, 5.0])
def test_all_of_github_lags_behind(
    action: Action, host: StandInHost, repository: Repository, strategy: str, seconds: float
) -> None:
    host.quirks.lag = Lag(seconds=seconds)
    ended = action(
        definitions=action.listing("a.md", "b.md"), labels="new", commit_strategy=strategy
    )
    assert ended.exit_code == 0, ended.text
    finished(repository)


@pytest.mark.parametrize("call", ["POST pulls", "POST /graphql"])
def test_a_pull_request_whose_answer_was_lost_is_waited_for(
    action: Action, host: StandInHost, repository: Repository, call: str
) -> None:
    """It is found in the list; its labels come to know it later."""
    host.quirks.lag = Lag(answers=1, symptoms=(Symptom.LABELS,))
    lost = Fault(
        FaultKind.CLOSED,
        when="after",
        match=lambda request: shortened(request) == call and not is_read(request),
    )
    host.faults.add(lost)
    strategy = "single" if call == "POST /graphql" else "per-file"
    listed = action.listing("a.md", "b.md")
    ended = action(definitions=listed, language="en", labels="new", commit_strategy=strategy)
    assert (ended.exit_code, len(lost.hits)) == (0, 1), ended.text
    assert "was left out" not in ended.text
    assert [pull.labels for pull in repository.pull_requests] == [["new"]]
    finished(repository)


def test_the_wait_is_announced_once_a_run(action: Action, host: StandInHost) -> None:
    names = [f"octo-org/r{number}" for number in range(3)]
    made = [host.create_repository(name, {"README.md": b"#\n"}) for name in names]
    host.quirks.lag = Lag(seconds=9.0)
    listed = action.listing("a.md", "b.md")
    ended = action(
        target_repo=None, target_repos="octo-org/*", definitions=listed, language="en", labels="new"
    )
    assert ended.exit_code == 0, ended.text
    for repository in made:
        finished(repository)
    assert ended.stdout.count("Asking again for up to 10 s") == 1


def test_it_is_not_waited_for_without_an_end(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    host.quirks.lag = Lag(answers=1000, symptoms=(Symptom.PULL_NO_COMMITS,))
    listed = action.listing("a.md", "b.md")
    ended = action(definitions=listed, language="en")
    assert ended.exit_code == 1
    assert "run again to finish" in ended.stderr
    assert "No commits between" in ended.stderr
    assert 5 <= writes(host).count("POST pulls") <= 9
    host.quirks.lag = None
    assert action(definitions=listed).exit_code == 0
    finished(repository)


@EACH_STRATEGY
def test_what_a_run_that_just_ended_has_made_is_waited_for(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    """The branch is read, so it is there; its commits and its pull request lag all the same."""
    repository.create_branch(SCAFFOLD_BRANCH)
    repository.commit({"a.md": b"\n"}, branch=SCAFFOLD_BRANCH)
    repository.written.note(f"branch {SCAFFOLD_BRANCH}", f"head {SCAFFOLD_BRANCH}")
    written = set(Symptom) - {Symptom.REFERENCE, Symptom.GRAPHQL_REFERENCE}
    host.quirks.lag = Lag(seconds=5.0, symptoms=sorted(written))
    ended = action(definitions=action.listing("a.md", "b.md"), commit_strategy=strategy)
    assert ended.exit_code == 0, ended.text
    finished(repository)


@EACH_STRATEGY
def test_the_labels_of_a_pull_request_that_a_run_just_opened_are_waited_for(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    """This run has only read it."""
    listed = action.listing("a.md")
    assert action(definitions=listed, commit_strategy=strategy).exit_code == 0
    host.quirks.lag = Lag(answers=2, symptoms=(Symptom.LABELS,))
    ended = action(
        definitions=action.listing("a.md", "b.md"),
        commit_strategy=strategy,
        labels="new",
        language="en",
    )
    assert ended.exit_code == 0, ended.text
    assert "was left out" not in ended.text
    assert [pull.labels for pull in repository.pull_requests] == [["new"]]
    finished(repository)


@EACH_STRATEGY
def test_a_longer_lag_is_not_reported_as_a_missing_permission(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    host.quirks.lag = Lag(seconds=60.0)
    listed = action.listing("a.md", "b.md")
    ended = action(definitions=listed, language="en", commit_strategy=strategy)
    assert ended.exit_code == 1
    assert "permission" not in ended.text
    assert "It was still so after 10 s. Nothing is lost; run again" in ended.stderr
    assert action.clock.now - BEGINNING < 30
    host.quirks.lag = None
    assert action(definitions=listed, commit_strategy=strategy).exit_code == 0
    finished(repository)


@pytest.mark.parametrize(("empty", "found"), [(5, True), (1000, False)])
def test_a_pull_request_that_is_said_to_exist_is_looked_for_until_lists_have_it(
    action: Action,
    host: StandInHost,
    repository: Repository,
    empty: int,
    found: bool,
) -> None:
    """Another run has just opened it; the lists of pull requests come to know it later."""
    repository.create_branch(SCAFFOLD_BRANCH)
    repository.commit({"a.md": b"\n"}, branch=SCAFFOLD_BRANCH)
    repository.open_pull_request(head=SCAFFOLD_BRANCH)
    unseen = inject_fault(host, "GET pulls", times=empty, status=200, body=[])
    listed = action.listing("a.md", "b.md")
    ended = action(definitions=listed, language="en")
    assert ended.exit_code == (0 if found else 1), ended.text
    assert len(unseen.hits) in ([5] if found else range(6, 13))
    assert ended.stdout.count("Asking again for up to 10 s") == 1
    assert ("A pull request already exists" in ended.stderr) is not found
    assert action.clock.now - BEGINNING < 30
    finished(repository)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "This is how GitHub answers a token that may read octo/example but not write to it"),
        ("ja", "octo/example を読めても書き込めないトークンに、GitHub はこのように応答します"),
    ],
)
@pytest.mark.parametrize("call", ["POST git/refs", "PUT contents/a.md"])
def test_a_missing_permission_is_no_lag(
    action: Action,
    host: StandInHost,
    repository: Repository,
    call: str,
    language: str,
    text: str,
) -> None:
    """A plain 404, also below the branch that the run has just made."""
    refuse = Fault(
        FaultKind.CUSTOM,
        match=lambda request: shortened(request) == call,
        times=None,
        status=404,
        message="Not Found",
    )
    host.faults.add(refuse)
    ended = action(definitions=action.listing("a.md"), language=language)
    assert ended.exit_code in {1, 2}
    assert text in ended.stderr
    assert len(refuse.hits) == 1
    assert action.clock.now == BEGINNING
    assert repository.pull_requests == []


@pytest.mark.parametrize(("absent", "found"), [(3, True), (1000, False)])
def test_a_branch_that_is_said_to_exist_is_looked_for(
    action: Action, host: StandInHost, repository: Repository, absent: int, found: bool
) -> None:
    """Another run has just made it: "already exists" for the write, not there for the read."""
    host.on_request = lambda request: (
        repository.create_branch(SCAFFOLD_BRANCH)
        if shortened(request) == "POST git/refs" and SCAFFOLD_BRANCH not in repository.branches
        else None
    )
    unseen = inject_fault(
        host, f"GET git/ref/heads/{SCAFFOLD_BRANCH}", times=absent, status=404, message="Not Found"
    )
    listed = action.listing("a.md", "b.md")
    ended = action(definitions=listed, language="en")
    assert ended.exit_code == (0 if found else 1), ended.text
    assert len(unseen.hits) in ([3] if found else range(5, 10))
    assert ended.stdout.count("Asking again for up to 10 s") == 1
    if not found:
        assert "Nothing is lost; run again to finish." in ended.stderr
        host.faults.clear()
        assert action(definitions=listed).exit_code == 0
    finished(repository)
