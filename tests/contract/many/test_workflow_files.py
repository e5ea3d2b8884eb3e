"""Many repositories: if a token may not write some files, the run writes the others."""

from __future__ import annotations

import pytest

from tests.fakehub.tokens import Kind
from tests.harness import LIST_BRANCH, Action, is_read
from tests.organisation import Org, opened, rows, states

WORKFLOW = ".github/workflows/ci.yml"
SCOPE = "the token lacks the scope `workflow` (it has: gist, project, repo, user)"
MODEST = {"contents": "write", "pull_requests": "write"}
ADDS_ONE = "Adds 1 of 2 listed files. Not created: 1 (the table says why)."


@pytest.fixture
def listed(action: Action) -> str:
    return action.listing("a.md", WORKFLOW)


def tokens(org: Org) -> list[str]:
    """One without and one with the scope."""
    scopes = ("user", "repo", "project", "gist")
    return [org.host.create_token(scopes=(*scopes, *more)) for more in ((), ("workflow",))]


def test_a_plan_says_what_the_scopes_of_a_token_do_not_allow(org: Org, listed: str) -> None:
    made = org.make(0, 5)
    made[0].person.commit({"a.md": b"x", WORKFLOW: b"x"})
    made[1].person.commit({WORKFLOW: b"x"})
    made[2].person.commit({"a.md": b"x"})
    modest, able = tokens(org)
    plan = org(definitions=listed, mode="plan", host_token=modest)
    assert (plan.exit_code, org.only_reads) == (1, True)
    others = dict.fromkeys(("octo-org/r1", "octo-org/r3", "octo-org/r4"), "to open")
    assert rows(plan) == {"octo-org/r2": "failed", **others}
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
    check = org(definitions=listed, mode="check", host_token=modest)
    assert (SCOPE in check.text, states(check)) == (False, {"to open": 4, "complete": 1})
    org.expect("4 to open, 1 complete", definitions=listed, mode="plan", host_token=able)


def test_what_is_known_to_fail_is_not_tried_and_ends_nothing(org: Org, listed: str) -> None:
    made = org.make(0, 14)
    for repository in made[:7]:
        repository.person.commit({"a.md": b"x"})
    modest, able = tokens(org)
    none = org(definitions=listed, host_token=modest, max_pull_requests="0")
    reasons = [
        each["reason"] for each in none.report["many"]["rows"] if each["state"] == "deferred"
    ]
    assert reasons == [None] * 7
    run = org.expect("7 failed, 7 opened; exit 1", definitions=listed, host_token=modest)
    assert run.outputs["failed_repositories"] == "7"
    assert opened(made) == [0] * 7 + [1] * 7
    assert len([each for each in org.sent if not is_read(each)]) == 7
    # Of those that failed, and of those whose pull request has the other file
    assert run.stderr.count(SCOPE) == 2
    assert all("a.md" in each.files(LIST_BRANCH) for each in made[7:])
    assert all(ADDS_ONE in (each.pull_requests[0].body or "") for each in made[7:])
    assert not any(WORKFLOW in each.files(LIST_BRANCH) for each in made[7:])
    again = org(definitions=listed, host_token=modest)
    assert (again.exit_code, states(again), org.only_reads) == (1, {"failed": 14}, True)
    assert again.outputs["failed"] == "14"
    # In a plan, an open pull request that needs no change has no reason to be looked at
    planned = org(definitions=listed, host_token=modest, mode="plan").report["many"]["rows"]
    assert [each["reason"] for each in planned if each["state"] == "waiting"] == [None] * 7
    org.expect("7 opened, 7 updated", definitions=listed, host_token=able)
    # What they hold by now is none of the token's business
    org.expect("14 waiting", definitions=listed, host_token=modest)


@pytest.mark.parametrize("mode", ["plan", "register"])
@pytest.mark.parametrize("paths", [(WORKFLOW,), ("a.md", WORKFLOW)], ids=["alone", "and another"])
def test_where_the_scope_would_not_help_the_repository_is_not_writable(
    org: Org, paths: tuple[str, ...], mode: str
) -> None:
    made = org.make(0, 3)
    made[0].person.change(read_only=True)
    made[2].person.commit({"a.md": b"x"})
    modest = org.host.create_token(scopes=("repo",))
    run = org(definitions=org.action.listing(*paths), mode=mode, host_token=modest)
    others = {"plan": "to open", "register": "opened"}
    assert rows(run) == {
        "octo-org/r0": "not writable",
        "octo-org/r1": others[mode] if "a.md" in paths else "failed",
        "octo-org/r2": "failed",
    }


@pytest.mark.parametrize("mode", ["plan", "register"])
def test_a_workflow_file_that_cannot_be_updated_is_still_proposed(org: Org, mode: str) -> None:
    org.make(0, 1)
    modest, able = tokens(org)
    org(definitions=org.action.listing_of({WORKFLOW: "on: push\n"}), host_token=able).or_fail()
    listed = org.action.listing_of({WORKFLOW: "on: pull_request\n"})
    run = org(definitions=listed, host_token=modest, mode=mode)
    # A plan counts the open pull request as waiting; its warning is about the token
    assert (run.exit_code, org.only_reads) == (int(mode == "register"), True)
    assert "scope `workflow`" in run.text
    assert run.standings == {WORKFLOW: "proposed"}


@pytest.mark.parametrize("kind", ["installation", "fine-grained"])
def test_where_only_a_refusal_tells_others_are_proposed(org: Org, listed: str, kind: Kind) -> None:
    made = org.make(0, 6)
    modest = org.host.create_token(kind, permissions=MODEST)
    run = org(definitions=listed, host_token=modest)
    assert run.exit_code == 1
    assert opened(made) == [1] * 6
    assert all("a.md" in each.files(LIST_BRANCH) for each in made)
    assert all(ADDS_ONE in (each.pull_requests[0].body or "") for each in made)
    [error] = [line for line in run.stderr.splitlines() if "6 opened" in line]
    assert f"not created: {WORKFLOW};" in error
    assert "permission Workflows: write" in error
    assert "contents: write" not in error
    able = org.host.create_token(kind, permissions={**MODEST, "workflows": "write"})
    org.expect("6 updated", definitions=listed, host_token=able)
