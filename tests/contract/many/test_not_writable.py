"""Many repositories: what a plan knows beforehand, and no run can change, fails nobody's run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.fakehub import Repository
from tests.harness import meanwhile
from tests.organisation import Org, opened, rows, states


@pytest.fixture
def not_ours(org: Org) -> list[str]:
    """Names of two repositories that the token may not write to, among two others."""
    _, *theirs, _ = org.make(0, 4)
    for each in theirs:
        each.person.change(read_only=True)
    return [each.full_name for each in theirs]


def test_what_may_not_be_written_is_named_and_left_alone(org: Org, not_ours: list[str]) -> None:
    plan = org(mode="plan")
    run = org()
    reads = org.asked
    for each, others in ((plan, "to open"), (run, "opened")):
        assert (each.exit_code, states(each)) == (0, {others: 2, "not writable": 2})
        assert {rows(each)[name] for name in not_ours} == {"not writable"}
        assert "With missing files: 2 (to open: 2)." in each.stdout
        assert "The token may not write to repositories that need something: 2." in each.stdout
        for name in not_ours:
            assert f"{name}: the token may not write here (missing files: 4)" in each.stdout
            assert f"{name}](" in each.summary
        page = org.action.kept(each, "page")
        assert page.count("the token may not write here") == 2
        assert ("The next run in mode register: 2 to open." in page) == (each is plan)
    assert "AGENTS.md: empty (repositories: 2)" in plan.stdout
    # Each of the others is read again and written to
    assert (reads.count("query"), reads.count("mutation")) == (2, 2)
    for repository in org.host.repositories:
        if repository.pull_requests:
            repository.person.merge(1)
    org.expect("2 not writable, 2 complete")
    for repository in org.host.repositories:
        if not repository.pull_requests:
            repository.person.change(read_only=False)
    org()
    for repository in org.host.repositories:
        repository.person.change(read_only=repository.full_name in not_ours)
    assert "could close" not in org(mode="plan").stdout


@pytest.mark.parametrize("mode", ["register", "withdraw"])
def test_a_token_that_may_write_nowhere_is_never_green(org: Org, mode: str) -> None:
    made = org.make(1, 2)
    org()
    for each in made:
        each.person.change(read_only=True)
        if mode == "register" and each.pull_requests:
            each.person.merge(1)
            each.person.commit({"README.md": None})
    plan = org(mode="plan")
    warned = "`mode: register` would be refused: The token may write to none of the repositories"
    for text in (plan.stderr, plan.summary):
        assert (warned in text) == (mode == "register")
    run = org.expect("2 not writable, 1 complete; exit 2", mode=mode)
    assert org.only_reads
    assert "may write to none of the repositories" in run.stderr


def test_one_that_cannot_be_read_is_no_place_to_write_to(org: Org) -> None:
    unreadable, other = org.make(0, 2)
    org.host.quirks.hidden_contents = frozenset({unreadable.full_name})
    other.person.change(read_only=True)
    run = org.expect("1 failed, 1 not writable; exit 2")
    assert "may write to none of the repositories" in run.stderr


def test_a_token_without_the_scope_is_never_green(org: Org) -> None:
    org.make(1, 2)
    token = org.host.create_token(scopes=["read:org"])
    run = org(host_token=token)
    assert (run.exit_code, org.only_reads) == (2, True), run.text
    assert "scope" in run.stderr
    plan = org(mode="plan", host_token=token)
    assert plan.exit_code == 0
    for text in (plan.stderr, plan.summary):
        assert "`mode: register` would be refused: " in text
        assert "scope" in text
    assert "would be refused" not in org(mode="plan").text


def test_nothing_to_do_needs_no_right_to_write(org: Org) -> None:
    for each in org.make(2, 0):
        each.person.change(read_only=True)
    assert org().exit_code == 0


def test_a_path_that_cannot_be_created_fails_nobodys_run(org: Org) -> None:
    """One repository is blocked for good. In the other one, its other file is proposed."""
    made = [
        org.host.create_repository(f"octo-org/{name}", {"docs": b"a file", **files})
        for name, files in (("r", {}), ("s", {"a.txt": b"x"}))
    ]
    listed = org.action.listing("a.txt", "docs/b.txt")
    for state in ("opened", "waiting"):
        run = org(definitions=listed)
        assert (run.exit_code, states(run)) == (0, {state: 1, "blocked": 1}), run.text
        assert run.outputs["failed"] == "0"
        assert (
            run.console.count("`docs` is not a directory")
            + run.console.count("docs is not a directory")
            >= 2
        )
    assert opened(made) == [1, 0]
    alone = org(definitions=listed, target_repos=None, target_repo="octo-org/s")
    assert (alone.exit_code, alone.outputs["failed"]) == (1, "1")


LEAVES: dict[str, Callable[[Repository], object]] = {
    "archived": lambda each: each.person.change(archived=True),
    "read_only": lambda each: each.person.change(read_only=True),
    "moved": lambda each: each.person.rename(f"octo-labs/{each.name}"),
}


@pytest.mark.parametrize(
    ("becomes", "before"),
    [("archived", "query"), ("archived", "mutation"), ("read_only", "query"), ("moved", "query")],
)
def test_what_turns_unwritable_fails_nobodys_run(org: Org, becomes: str, before: str) -> None:
    first, second = org.make(0, 2)
    name = first.full_name

    meanwhile(org.host, lambda _: org.asked[-1] == before, lambda: LEAVES[becomes](first))
    run = org()
    expected = {name: "not writable", second.full_name: "opened"}
    assert (run.exit_code, rows(run), opened([first])) == (0, expected, [0])
    # Also a new name
    assert all(first.full_name in text for text in (run.stdout, run.summary))


def test_one_that_is_archived_when_only_workflow_files_are_left_fails_nobodys_run(org: Org) -> None:
    first, second = org.make(0, 2)
    modest = org.host.create_token(scopes=("repo",))

    def change() -> None:
        first.person.commit({"a.md": b"by hand\n"})
        first.person.archive()

    meanwhile(org.host, lambda _: org.asked[-1] == "query", change)
    run = org(definitions=org.action.listing("a.md", ".github/workflows/ci.yml"), host_token=modest)
    expected = {first.full_name: "not writable", second.full_name: "opened"}
    assert rows(run) == expected, run.text
