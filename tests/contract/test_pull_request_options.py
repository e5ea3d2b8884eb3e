"""Labels, assignees, reviewers, teams, draft: if the host refuses one, the run gives a warning."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from registrar.github.limits import SHORT_INTERVAL
from registrar.models.settings import PullRequestOptions
from tests.fakehub import (
    Refusal,
    Repository,
    Request,
    StandInHost,
)
from tests.harness import (
    SINGLE,
    TARGET,
    Action,
    Start,
    calls,
    is_read,
    refuse,
    shortened,
)

LABELS, ASSIGNEES = "POST issues/1/labels", "POST issues/1/assignees"
REVIEWERS = "POST pulls/1/requested_reviewers"
OPTIONS = (LABELS, ASSIGNEES, REVIEWERS)
NO_DRAFTS = "Draft pull requests are not supported in this repository."
EVERY: dict[str, tuple[str, object]] = {
    "body": ("Please merge", "Please merge"),
    "labels": ("chore", ["chore"]),
    "assignees": ("mona", ["mona"]),
    "reviewers": ("mona", ["mona"]),
    "team_reviewers": ("docs", ["docs"]),
    "draft": ("true", True),
}
"""For every option what is given, and what the pull request has then; of its body the beginning."""


@pytest.fixture
def repository(repository: Repository) -> Repository:
    """The target, with people and teams."""
    repository.person.change(collaborators=repository.collaborators | {"octocat", "mona", "Hubot"})
    repository.person.change(teams=repository.teams | {"docs", "core"})
    return repository


def sent(host: StandInHost, call: str) -> list[Any]:
    """The bodies of the requests that are ``call``."""
    return [request.json for request in host.requests if shortened(request) == call]


def test_everything_is_set_with_one_request_each(
    start: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    run = start(
        definitions=action.listing("a"),
        labels="docs, good first issue ,docs,,\n\n chore\r\n",
        assignees="mona\nHubot",
        reviewers="mona,  Hubot ,mona",
        team_reviewers="docs\ncore",
        draft="true",
        runner=True,
    ).or_fail()
    assert run.registration["notes"] == []
    assert [call for call in calls(host) if call in OPTIONS] == [*OPTIONS, REVIEWERS]
    assert sent(host, LABELS) == [["docs", "good first issue", "chore"]]
    assert sent(host, ASSIGNEES) == [{"assignees": ["mona", "Hubot"]}]
    assert sent(host, REVIEWERS) == [
        {"reviewers": ["mona", "Hubot"], "team_reviewers": []},
        {"reviewers": [], "team_reviewers": ["docs", "core"]},
    ]
    [pull] = repository.pull_requests
    assert pull.draft
    assert pull.labels == ["docs", "good first issue", "chore"]
    assert (pull.reviewers, pull.team_reviewers) == (["mona", "Hubot"], ["docs", "core"])


@pytest.mark.parametrize("is_open", [False, True])
def test_a_run_over_many_plans_the_requests_of_every_option(
    action: Action,
    host: StandInHost,
    repository: Repository,
    is_open: bool,
) -> None:
    """Requests that nobody has planned would be more than GitHub takes in an hour."""
    assert list(EVERY) == list(PullRequestOptions._fields)
    many = partial(action, target_repos="octo/*")
    if is_open:
        many(definitions=action.listing("a"))
        host.requests.clear()
    given = {name: value for name, (value, _) in EVERY.items()}
    run = many(given, definitions=action.listing("a", "b")).or_fail()
    writes = sum(not is_read(request) for request in host.requests)
    assert run.report["many"]["budget"]["seconds"] == writes * SHORT_INTERVAL
    if not is_open:
        [pull] = repository.pull_requests
        for name, (_, expected) in EVERY.items():
            there = getattr(pull, name)
            assert (there.partition("\n")[0] if name == "body" else there) == expected, name


def test_who_is_not_taken_is_named_and_the_others_are_set(
    single: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    words = "Validation Failed"
    refuse(host, lambda r: shortened(r) == LABELS and "bad" in r.json, message=words)
    run = single(
        definitions=action.listing("a"),
        labels="docs,bad,chore",
        assignees="mona,stranger-a,octocat",
        reviewers="stranger-b,mona,octocat",  # octocat is the author
        team_reviewers="docs,stranger-c",
        runner=True,
    ).or_fail()
    [pull] = repository.pull_requests
    assert (pull.labels, pull.assignees) == (["docs", "chore"], ["mona", "octocat"])
    assert (pull.reviewers, pull.team_reviewers) == (["mona"], ["docs"])
    names = ["bad", "stranger-a", "stranger-b", "octocat", "stranger-c"]
    warnings = run.annotations("warning")
    for name, warning in zip(names, warnings, strict=True):
        assert name in warning.data
        assert not any(f"{other} " in warning.data for other in names if other != name)
        assert f"`{name}`" in run.summary
    assert words in warnings[0].data
    assert run.registration["notes"] == [warning.data for warning in warnings]


def test_hostile_names_stay_names(action: Action, repository: Repository) -> None:
    """Only values of properties can have them."""
    names = ["::error::owned", "##[error]owned", "@octo", "a | b", "<b>x</b>", "`x`", "../x"]
    repository.person.change(properties={f"p{n}": name for n, name in enumerate(names)})
    given = "\n".join(f"{{property:{name}}}" for name in repository.properties)
    run = action(definitions=action.listing("a"), assignees=given, reviewers=given, runner=True)
    assert run.exit_code == 0, run.text
    assert run.annotations() == []
    # Three reviewers are refused one by one, and then the others are left out together
    assert len(run.registration["notes"]) == len(names) + 3 + 1
    assert "<b>" not in run.summary


@pytest.mark.parametrize(
    ("failing", "status"),
    # For assignees, 404 is GitHub's answer to one bad login
    [(LABELS, 410), (ASSIGNEES, 403), (REVIEWERS, 404)],
)
def test_what_is_wrong_for_all_is_reported_once(
    action: Action, host: StandInHost, repository: Repository, failing: str, status: int
) -> None:
    refuse(host, failing, status=status, message="No such permission")
    run = action(
        definitions=action.listing("a"),
        labels="one,two",
        assignees="mona,octocat",
        reviewers="mona,Hubot",
        language="en",
        runner=True,
    ).or_fail()
    assert calls(host).count(failing) == 1
    [warning] = run.annotations("warning")
    assert "No such permission" in warning.data
    named = {LABELS: "one, two", ASSIGNEES: "mona, octocat", REVIEWERS: "mona, Hubot"}[failing]
    assert warning.data.startswith(f"{named} ")
    [pull] = repository.pull_requests
    there = [bool(each) for each in (pull.labels, pull.assignees, pull.reviewers)]
    assert there == [failing != each for each in OPTIONS]


def test_a_run_without_a_pull_request_sets_nothing(
    single: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    more = {"definitions": action.listing("a")}
    single(more, labels=" , ,\n", draft="false")
    assert not repository.pull_requests[0].draft
    repository.person.close(1)
    single(more, labels="x")  # declined
    single(definitions=action.listing("README.md", name="present.json"), labels="x")
    assert not set(calls(host)) & set(OPTIONS)
    assert not any(request.fields.get("draft") for request in host.requests)


# --- Running again ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {
            "labels": "Docs,chore",
            "assignees": "mona,Octocat",
            "reviewers": "mona",
            "team_reviewers": "docs",
        },
        {"labels": "docs"},
        {"assignees": "mona"},
    ],
    ids=" ".join,
)
def test_nothing_is_set_twice(
    single: Start, action: Action, host: StandInHost, repository: Repository, given: dict[str, str]
) -> None:
    more = {"definitions": action.listing("a"), **given}
    repository.person.change(collaborators=repository.collaborators | {"Octocat"})
    single(more)
    if "reviewers" in given:
        # The host tells no case apart: it gives names as they were first written.
        repository.person.edit(1, labels=["docs", "CHORE"])
        # A reviewer who has answered is not asked again
        repository.person.edit(1, reviewers=[])
    host.requests.clear()
    assert single(more).or_fail().outputs["pull_request_operation"] == "none"
    assert not {*calls(host)} & {*OPTIONS}


def test_what_is_missing_is_added_to_a_pull_request_that_stands(
    single: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    definitions = action.listing("a")
    single(definitions=definitions, labels="docs")
    host.requests.clear()
    run = single(definitions=definitions, labels="docs,chore", assignees="mona", reviewers="mona")
    assert run.exit_code == 0, run.text
    assert sent(host, LABELS) == [["chore"]]
    [pull] = repository.pull_requests
    assert (pull.labels, pull.assignees, pull.reviewers) == (["docs", "chore"], ["mona"], [])


# --- Draft --------------------------------------------------------------------------------


def test_where_there_are_no_drafts_an_ordinary_one_is_opened(
    start: Start, action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    def drafts(request: Request) -> bool:
        return shortened(request) == "POST pulls" and bool(request.fields.get("draft"))

    refuse(host, drafts, message=NO_DRAFTS)
    if strategy == SINGLE:
        host.refused_mutations["createPullRequest"] = Refusal(422, NO_DRAFTS)
    run = start(definitions=action.listing("a", "b"), draft="true", labels="docs", runner=True)
    assert run.exit_code == 0, run.text
    [pull] = repository.pull_requests
    assert (pull.draft, pull.labels) == (False, ["docs"])
    [warning] = run.annotations("warning")
    assert "no draft pull requests" in warning.data


def test_another_refusal_of_a_draft_is_a_failure(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    refuse(host, "POST pulls", status=403, message="Not today")
    run = action(definitions=action.listing("a"), draft="true", labels="x", language="en")
    assert run.exit_code == 1
    assert calls(host).count("POST pulls") == 1
    assert not set(calls(host)) & set(OPTIONS)


# --- What GitHub says of one name only ----------------------------------------------------

TWO_PERMISSIONS = {"contents": "write", "pull_requests": "write"}


def test_labels_that_exist_are_set_where_the_token_may_not_create_any(
    single: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    """Nothing else needs more than the two permissions."""
    token = host.create_token("fine-grained", permissions=TWO_PERMISSIONS, repositories=[TARGET])
    run = single(
        {"assignees": "mona", "reviewers": "mona", "labels": "bug,new,Documentation"},
        definitions=action.listing("a"),
        host_token=token,
        runner=True,
    ).or_fail()
    assert repository.pull_requests[0].labels == ["bug", "Documentation"]
    [warning] = run.annotations("warning")
    for words in ("new", "*Issues: write*", "You do not have permission to create labels"):
        assert words in warning.data
    more = {**TWO_PERMISSIONS, "issues": "write"}
    given = {"host_token": host.create_token("fine-grained", permissions=more), "labels": "bug,new"}
    again = single(given, definitions=action.listing("a", "b"), runner=True)
    assert again.annotations("warning") == []
    assert repository.pull_requests[0].labels == ["bug", "Documentation", "new"]


def test_a_label_that_somebody_makes_at_the_same_moment_is_set(
    single: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    host.quirks.label_races = 2
    run = single(definitions=action.listing("a"), labels="bug,new", runner=True).or_fail()
    assert run.annotations("warning") == []
    assert repository.pull_requests[0].labels == ["bug", "new"]
    assert calls(host).count(LABELS) == 3


@pytest.mark.parametrize("is_new", [True, False])
def test_only_the_login_that_is_no_persons_is_dropped(
    start: Start, action: Action, repository: Repository, is_new: bool
) -> None:
    """Of a new pull request the same answer may be lag: it is asked again for a while."""
    if not is_new:
        start(definitions=action.listing("a"))
    begun = action.clock.now
    given = {"definitions": action.listing("a", "b"), "assignees": "mona,dependabot[bot],octocat"}
    run = start(given, runner=True).or_fail()
    assert repository.pull_requests[0].assignees == ["mona", "octocat"]
    [warning] = run.annotations("warning")
    assert warning.data.startswith("dependabot[bot] ")
    assert "Only people can be assigned" in warning.data
    assert "this again" not in warning.data
    assert action.clock.now - begun < 20


def test_a_team_that_the_token_may_not_see_is_named_and_the_others_are_asked(
    single: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    repository.person.change(hidden_teams={"secret"})
    begun = action.clock.now
    given = {"definitions": action.listing("a"), "team_reviewers": "docs,secret,core"}
    run = single(given, runner=True).or_fail()
    assert repository.pull_requests[0].team_reviewers == ["docs", "core"]
    [warning] = run.annotations("warning")
    assert all(words in warning.data for words in ("secret", "may not see the team", "T_"))
    assert action.clock.now == begun, "this is no lag"
    assert calls(host).count(REVIEWERS) == 4
