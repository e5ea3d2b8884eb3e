"""Many repositories: nothing new is opened in an owner's `.github` that only a pattern selects."""

from __future__ import annotations

import pytest

from tests.example import PRESENT
from tests.fakehub import Repository, StandInHost
from tests.harness import PER_FILE, SINGLE, Action
from tests.organisation import ALL, Org, opened, rows, states

DEFAULTS = "octo-org/.github"
NAMED = f"{ALL}, Octo-Org/.GitHub"
MEANS = {"en": "that have none of their own", "ja": "同じ種類のファイルのない"}


@pytest.fixture
def defaults(org: Org) -> Repository:
    org.make(0, 1)
    return org.host.create_repository(DEFAULTS, PRESENT)


@pytest.mark.parametrize(
    ("targets", "number", "language"),
    [
        (ALL, 0, "en"),
        (f"{ALL}, octo-org/.git*", 0, "ja"),
        (NAMED, 1, "ja"),
        (DEFAULTS, 1, "en"),
    ],
)
def test_only_its_name_opens_a_pull_request_there(
    org: Org, defaults: Repository, targets: str, number: int, language: str
) -> None:
    """Plan and run agree, and say why, or what it means, everywhere."""
    given = {"target_repos": targets, "language": language}
    plan, run = org(given, mode="plan"), org(given)
    others = 0 if targets == DEFAULTS else 1
    assert run.exit_code == 0
    assert opened([defaults]) == [number]
    assert plan.report["many"]["budget"]["now"] == others + number
    for each, of_others in ((plan, "to open"), (run, "opened")):
        expected = {of_others: others + number, "not named": 1 - number}
        assert states(each) == {state: count for state, count in expected.items() if count}
        log, summary, page = each.stdout, each.summary, org.action.kept(each, "page")
        # The log and the page also say it of a repository that is left alone
        assert all(MEANS[language] in text for text in (log, summary if number else page))
        assert number or all("target_repos" in text for text in (log, summary, page))
    if number:
        assert MEANS[language] in (defaults.pull_requests[0].body or "")


def test_alone_it_is_a_warning(org: Org, defaults: Repository) -> None:
    run = org.expect("1 not named", target_repos="octo-org/.git*", runner=True)
    [warning] = run.annotations("warning")
    assert "name the repository in target_repos" in warning.data


@pytest.mark.parametrize("targets", [ALL, NAMED])
def test_a_token_that_reads_no_pull_requests_plans_nothing_there(
    org: Org, defaults: Repository, targets: str
) -> None:
    """A row of the table above has a token that reads them."""
    token = org.host.create_token("fine-grained", permissions={"contents": "write"})
    given = {"target_repos": targets, "host_token": token}
    org.host.quirks.pull_requests_need_permission = True
    defaults.person.change(private=True)
    number = int(targets == NAMED)
    plan = org(given, mode="plan")
    named = {"to open": 1 + number, "not named": 1 - number}
    assert states(plan) == {state: count for state, count in named.items() if count}
    assert plan.report["many"]["budget"]["now"] == 1 + number
    assert f"(repositories: {1 + number})" in plan.stdout
    outcomes = {row["repository"]: row["outcome"] for row in org.action.rows(plan)}
    assert (outcomes[DEFAULTS] == "not named") is not number
    assert opened([defaults]) == [0]
    assert rows(org(given))[DEFAULTS] == ("failed" if number else "not named")


def test_its_open_pull_request_is_like_any_other(org: Org, defaults: Repository) -> None:
    """One story: each step is a mode, a selection, the files of the list, and the state."""

    def state(paths: str, mode: str = "register", targets: str = ALL) -> str:
        listed = org.action.listing(*paths, name="its.json")
        run = org(mode=mode, definitions=listed, target_repos=targets)
        return rows(run.or_fail() if mode != "check" else run).get(DEFAULTS, "complete")

    assert state("a", "check") == "to open"
    assert state("a", targets=DEFAULTS) == "opened"
    assert state("ab", "plan") == "to update"
    assert state("ab") == "updated"
    assert state("ab", "withdraw") == "withdrawn"
    assert state("ab", "plan") == state("ab") == "not named"
    assert state("ab", targets=DEFAULTS) == "opened"
    defaults.person.commit({"a": b"x", "b": b"x"})
    assert state("abc", "plan") == "to close"
    assert state("abc") == "closed"
    assert state("abc", "plan") == state("abc") == "not named"
    assert [pull.state for pull in defaults.pull_requests] == ["closed", "closed"]


@pytest.mark.parametrize(("strategy", "private"), [(PER_FILE, False), (SINGLE, True)])
def test_a_run_over_it_alone_says_what_it_means(
    action: Action, host: StandInHost, strategy: str, private: bool
) -> None:
    """Nobody inherits the files of a private one."""
    made = host.create_repository(DEFAULTS, private=private)
    listed = action.listing("SECURITY.md", ".github/ISSUE_TEMPLATE/config.yml")
    given = {"target_repo": DEFAULTS, "definitions": listed, "commit_strategy": strategy}
    for mode, says in (("check", False), ("plan", not private), ("register", not private)):
        run = action(given | {"mode": mode, "language": "en"})
        told = [MEANS["en"] in text for text in (run.stdout, run.summary, str(run.registration))]
        assert told == [says] * 3, mode
    body = made.pull_requests[0].body or ""
    assert (MEANS["en"] in body) == (not private)
    # It inherits nothing from itself
    assert "`: while" not in body
