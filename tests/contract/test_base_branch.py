"""`base`: a branch other than the default one, on which files are looked up and proposed."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import TARGET, Action, Run, Start, calls, only_reads
from tests.organisation import rows


@pytest.fixture
def repository(host: StandInHost) -> Repository:
    """Works on `develop`, which has `a`; the default branch has `b`."""
    repository = host.create_repository(TARGET, {"README.md": b"x\n"})
    repository.person.create_branch("develop")
    repository.person.commit({"a": b"a\n"}, branch="develop")
    repository.person.commit({"b": b"b\n"})
    return repository


@pytest.fixture
def listed(single: Start, action: Action) -> Start:
    return partial(single, definitions=action.listing("a", "b", "c"), base="develop")


def paths(run: Run, done: str) -> list[str]:
    return [each["path"] for each in run.registration["files"] if each["done"] == done]


def test_files_are_looked_up_on_it_and_proposed_to_it(
    listed: Start, repository: Repository, host: StandInHost, strategy: str
) -> None:
    listed = partial(listed, commit_strategy=strategy)
    before = {name: repository.head(name) for name in ("main", "develop")}
    run = listed(body="For {base}", title="{base}: {count}", commit_message="{base}: {path}")
    assert run.exit_code == 0, run.text
    assert (paths(run, "created"), paths(run, "skipped")) == (["b", "c"], ["a"])
    [pull] = repository.pull_requests
    assert (pull.base, pull.head, run.outputs["branch"]) == ("develop", BRANCH, BRANCH)
    assert (pull.title, str(pull.body).partition("\n")[0]) == ("develop: 2", "For develop")
    assert repository.log(BRANCH)[0].message.startswith("develop: ")
    assert before["develop"] in {each.sha for each in repository.log(BRANCH)}
    assert {name: repository.head(name) for name in before} == before
    assert run.registration["base_branch"] == "develop"
    assert "exists on develop" in json.dumps(run.report)
    # The same requests as without it; with `per-file`, two of them are sent at once
    sent = [each.replace(BRANCH, "B").replace("develop", "X") for each in calls(host)]
    host.requests.clear()
    repository.person.delete_branch("develop")
    repository.person.commit({"a": b"a\n", "b": None})
    assert listed(base="", branch="work").exit_code == 0
    without = [each.replace("work", "B").replace("main", "X") for each in calls(host)]
    assert sorted(sent) == sorted(without)


def test_a_base_may_be_a_directory_of_another_one(listed: Start, repository: Repository) -> None:
    """`release/1` cannot be a branch while `release` is one, but it can be one later."""
    repository.person.create_branch("release", "develop")
    assert listed(base="release").exit_code == 0
    repository.person.delete_branch("release")
    repository.person.create_branch("release/1", "develop")
    run = listed(base="release/1")
    assert (run.exit_code, run.outputs["created"]) == (0, "2"), run.text


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("devlop", f"{TARGET} has no branch devlop. Did you mean develop?"),
        ("DEVELOP", f"{TARGET} has no branch DEVELOP. Did you mean develop?"),
        ("nightly", f"{TARGET} has no branch nightly. Did you mean NIGHTLY?"),
        ("production", f"{TARGET} has no branch production. Give base"),
    ],
)
@pytest.mark.parametrize("mode", ["register", "plan"])
def test_a_base_that_is_not_there_is_an_error_with_what_looks_alike(
    listed: Start,
    repository: Repository,
    host: StandInHost,
    strategy: str,
    base: str,
    said: str,
    mode: str,
) -> None:
    repository.person.create_branch("NIGHTLY", "main")
    run = listed(base=base, mode=mode, commit_strategy=strategy)
    assert (run.exit_code, only_reads(host)) == (2, True)
    assert said in run.stderr


# --- Many -----------------------------------------------------------------------------------------


def test_one_base_for_all_and_those_without_it_are_counted(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    host.create_repository("octo/without", {"README.md": b"x\n"})
    other = host.create_repository("octo/default", {"README.md": b"x\n"}, default_branch="develop")
    many = partial(
        action,
        definitions=action.listing("a", "b", "c"),
        target_repos="octo/*",
        language="en",
        base="develop",
    )
    plan = many(mode="plan").or_fail()
    assert plan.report["many"]["budget"]["excluded"] == {"no_base": 1}
    assert "without the base branch 1" in plan.text
    host.requests.clear()
    run = many().or_fail()
    assert rows(run) == {"octo/default": "opened", TARGET: "opened"}
    assert {each["base_branch"] for each in run.report["many"]["rows"]} == {"develop"}
    assert [each.base for each in (*repository.pull_requests, *other.pull_requests)] == [
        "develop",
        "develop",
    ]
    assert repository.files(BRANCH).keys() >= {"a", "b", "c"}
    with_base = len(host.requests)
    # A list by REST, one query for all, a query and a mutation for each
    assert with_base == 7
    again = many()
    assert (rows(again), again.exit_code) == ({"octo/default": "waiting", TARGET: "waiting"}, 0)


def test_an_only_repository_without_it_is_refused(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    run = action(
        definitions=action.listing("a"),
        target_repos="octo/*",
        language="en",
        base="nothing",
    )
    assert (run.exit_code, only_reads(host)) == (2, True)
    assert "Left out: without the base branch 1." in run.stderr
