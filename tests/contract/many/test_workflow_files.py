"""Many repositories: if a token may not write some files, the run writes the others."""

from __future__ import annotations

import pytest

from tests.fakehub import StandInHost
from tests.fakehub.tokens import Kind
from tests.harness import LIST_BRANCH, Action, Start, is_read, only_reads
from tests.organisation import Make, opened, rows, states

WORKFLOW = ".github/workflows/ci.yml"
SCOPE = "the token lacks the scope `workflow` (it has: gist, project, repo, user)"
MODEST = {"contents": "write", "pull_requests": "write"}


@pytest.fixture
def listed(action: Action) -> str:
    return action.listing("a.md", WORKFLOW)


def test_a_plan_says_what_the_scopes_of_a_token_do_not_allow(
    many: Start, make: Make, host: StandInHost, listed: str
) -> None:
    made = make(0, 5)
    made[0].person.commit({"a.md": b"x", WORKFLOW: b"x"})
    made[1].person.commit({WORKFLOW: b"x"})
    made[2].person.commit({"a.md": b"x"})
    modest, able = (
        host.create_token(scopes=("user", "repo", "project", "gist", *more))
        for more in ((), ("workflow",))
    )
    plan = many(definitions=listed, mode="plan", host_token=modest)
    assert (plan.exit_code, only_reads(host)) == (1, True)
    assert rows(plan) == {
        "octo-org/r1": "to open",
        "octo-org/r2": "failed",
        "octo-org/r3": "to open",
        "octo-org/r4": "to open",
    }
    for text in (plan.stdout, plan.summary):
        assert (
            "With missing files: 4 (to open: 3, only files that the token may not write: 1)."
            in text
        )
        assert (
            "3 of 4 need a workflow file, which this token may not write. Give the token the scope"
            in text
        )
    assert "Pull requests to open: 3, to update: 0, left for later runs: 0." in plan.stdout
    assert f"1 failed (not created: {WORKFLOW}; {SCOPE}" in plan.stderr
    check = many(definitions=listed, mode="check", host_token=modest)
    assert (SCOPE in check.text, states(check)) == (False, {"to open": 4, "complete": 1})
    plan = many(definitions=listed, mode="plan", host_token=able)
    assert (plan.exit_code, states(plan)) == (0, {"to open": 4, "complete": 1})


def test_what_is_known_to_fail_is_not_tried_and_ends_nothing(
    many: Start, make: Make, host: StandInHost, listed: str
) -> None:
    made = make(0, 14)
    for repository in made[:7]:
        repository.person.commit({"a.md": b"x"})
    modest, able = (
        host.create_token(scopes=("user", "repo", "project", "gist", *more))
        for more in ((), ("workflow",))
    )
    host.requests.clear()
    none = many(definitions=listed, host_token=modest, max_pull_requests="0")
    reasons = [
        each["reason"] for each in none.report["many"]["rows"] if each["state"] == "deferred"
    ]
    assert reasons == [None] * 7
    host.requests.clear()
    run = many(definitions=listed, host_token=modest)
    assert (run.exit_code, states(run)) == (1, {"failed": 7, "opened": 7})
    assert run.outputs["failed_repositories"] == "7"
    assert opened(made) == [0] * 7 + [1] * 7
    assert len([each for each in host.requests if not is_read(each)]) == 7
    # Of those that failed, and of those whose pull request has the other file
    assert run.stderr.count(SCOPE) == 2
    assert all("a.md" in each.files(LIST_BRANCH) for each in made[7:])
    assert not any(WORKFLOW in each.files(LIST_BRANCH) for each in made[7:])
    host.requests.clear()
    again = many(definitions=listed, host_token=modest)
    assert (again.exit_code, states(again), only_reads(host)) == (1, {"failed": 14}, True)
    assert again.outputs["failed"] == "14"
    # In a plan, an open pull request that needs no change has no reason to be looked at
    planned = many(definitions=listed, host_token=modest, mode="plan").report["many"]["rows"]
    assert [each["reason"] for each in planned if each["state"] == "waiting"] == [None] * 7
    rest = many(definitions=listed, host_token=able)
    assert (rest.exit_code, states(rest)) == (0, {"opened": 7, "updated": 7})
    # What they hold by now is none of the token's business
    assert states(many(definitions=listed, host_token=modest)) == {"waiting": 14}


@pytest.mark.parametrize("mode", ["plan", "register"])
@pytest.mark.parametrize("paths", [(WORKFLOW,), ("a.md", WORKFLOW)], ids=["alone", "and another"])
def test_where_the_scope_would_not_help_the_repository_is_not_writable(
    many: Start, make: Make, host: StandInHost, action: Action, paths: tuple[str, ...], mode: str
) -> None:
    made = make(0, 3)
    made[0].person.change(read_only=True)
    made[2].person.commit({"a.md": b"x"})
    modest = host.create_token(scopes=("repo",))
    run = many(definitions=action.listing(*paths), mode=mode, host_token=modest)
    others = {"plan": "to open", "register": "opened"}
    assert rows(run) == {
        "octo-org/r0": "not writable",
        "octo-org/r1": others[mode] if "a.md" in paths else "failed",
        "octo-org/r2": "failed",
    }


@pytest.mark.parametrize("mode", ["plan", "register"])
def test_a_workflow_file_that_cannot_be_updated_is_proposed_all_the_same(
    many: Start, make: Make, host: StandInHost, action: Action, mode: str
) -> None:
    make(0, 1)
    modest, able = (host.create_token(scopes=("repo", *more)) for more in ((), ("workflow",)))
    many(definitions=action.listing_of({WORKFLOW: "on: push\n"}), host_token=able).or_fail()
    host.requests.clear()
    listed = action.listing_of({WORKFLOW: "on: pull_request\n"})
    run = many(definitions=listed, host_token=modest, mode=mode)
    # A plan counts the open pull request as waiting; its warning is about the token
    assert (run.exit_code, only_reads(host)) == (int(mode == "register"), True)
    assert "scope `workflow`" in run.text
    assert run.standings == {WORKFLOW: "proposed"}


@pytest.mark.parametrize("kind", ["installation", "fine-grained"])
def test_where_only_githubs_refusal_tells_the_other_files_are_proposed(
    many: Start, make: Make, host: StandInHost, listed: str, kind: Kind
) -> None:
    made = make(0, 6)
    modest = host.create_token(kind, permissions=MODEST)
    run = many(definitions=listed, host_token=modest)
    assert run.exit_code == 1
    assert opened(made) == [1] * 6
    assert all("a.md" in each.files(LIST_BRANCH) for each in made)
    [error] = [line for line in run.stderr.splitlines() if "6 opened" in line]
    assert f"not created: {WORKFLOW};" in error
    assert "permission Workflows: write" in error
    assert "contents: write" not in error
    able = host.create_token(kind, permissions={**MODEST, "workflows": "write"})
    assert states(many(definitions=listed, host_token=able)) == {"updated": 6}
