"""Many repositories: what a plan knows beforehand, and no run can change, fails nobody's run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.fakehub import Repository, Request, StandInHost
from tests.harness import Action, Start, only_reads
from tests.organisation import Make, asked, opened, rows, states


@pytest.fixture
def not_ours(make: Make) -> list[str]:
    """Names of two repositories that the token may not write to, among two others."""
    _, *theirs, _ = make(0, 4)
    for each in theirs:
        each.person.change(read_only=True)
    return [each.full_name for each in theirs]


def test_what_may_not_be_written_is_named_and_left_alone(
    many: Start, host: StandInHost, action: Action, not_ours: list[str]
) -> None:
    plan = many(mode="plan", env=action.keeping)
    host.requests.clear()
    run = many(env=action.keeping)
    reads = asked(host)
    for each, others in ((plan, "to open"), (run, "opened")):
        assert (each.exit_code, states(each)) == (0, {others: 2, "not writable": 2})
        assert {name for name, state in rows(each).items() if state == "not writable"} == {
            *not_ours
        }
        assert "With missing files: 2 (to open: 2)." in each.stdout
        assert "The token may not write to repositories that need something: 2." in each.stdout
        assert "2 not writable" in each.stdout
        for name in not_ours:
            assert f"{name}: the token may not write here (missing files: 4)" in each.stdout
            assert f"{name}](" in each.summary
        table = {(row["repository"], row["outcome"]) for row in action.rows(each)}
        assert {(name, "not writable") for name in not_ours} <= table
        page = action.kept(each, "page")
        assert page.count("the token may not write here") == 2
        assert ("The next run in mode register: 2 to open." in page) == (each is plan)
    assert "AGENTS.md: empty (repositories: 2)" in plan.stdout
    # Each of the others is read again and written to
    assert (reads.count("query"), reads.count("mutation")) == (2, 2)
    for repository in host.repositories:
        if repository.pull_requests:
            repository.person.merge(1)
    again = many()
    assert (again.exit_code, states(again)) == (0, {"complete": 2, "not writable": 2})
    for repository in host.repositories:
        if not repository.pull_requests:
            repository.person.change(read_only=False)
    many()
    for repository in host.repositories:
        repository.person.change(read_only=repository.full_name in not_ours)
    assert "could close" not in many(mode="plan").stdout


@pytest.mark.parametrize("mode", ["register", "withdraw"])
def test_a_token_that_may_write_nowhere_is_never_green(
    many: Start, make: Make, host: StandInHost, mode: str
) -> None:
    made = make(1, 2)
    many()
    for each in made:
        each.person.change(read_only=True)
        if mode == "register" and each.pull_requests:
            each.person.merge(1)
            each.person.commit({"README.md": None})
    host.requests.clear()
    plan = many(mode="plan")
    warned = "`mode: register` would be refused: The token may write to none of the repositories"
    for text in (plan.stderr, plan.summary):
        assert (warned in text) == (mode == "register")
    run = many(mode=mode)
    assert (run.exit_code, states(run)) == (2, {"complete": 1, "not writable": 2}), run.text
    assert only_reads(host)
    assert "may write to none of the repositories" in run.stderr


def test_one_that_cannot_be_read_is_no_place_to_write_to(
    many: Start, make: Make, host: StandInHost
) -> None:
    unreadable, other = make(0, 2)
    host.quirks.hidden_contents = frozenset({unreadable.full_name})
    other.person.change(read_only=True)
    run = many()
    assert (run.exit_code, states(run)) == (2, {"failed": 1, "not writable": 1}), run.text
    assert "may write to none of the repositories" in run.stderr


def test_a_token_without_the_scope_is_never_green(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(1, 2)
    token = host.create_token(scopes=["read:org"])
    run = many(host_token=token)
    assert (run.exit_code, only_reads(host)) == (2, True), run.text
    assert "scope" in run.stderr
    plan = many(mode="plan", host_token=token)
    assert plan.exit_code == 0
    for text in (plan.stderr, plan.summary):
        assert "`mode: register` would be refused: " in text
        assert "scope" in text
    assert "would be refused" not in many(mode="plan").text


def test_nothing_to_do_needs_no_right_to_write(many: Start, make: Make) -> None:
    for each in make(2, 0):
        each.person.change(read_only=True)
    assert many().exit_code == 0


def test_a_path_that_cannot_be_created_fails_nobodys_run(
    many: Start, host: StandInHost, action: Action
) -> None:
    """One repository is blocked for good. In the other one, its other file is proposed."""
    made = [
        host.create_repository(f"octo-org/{name}", {"docs": b"a file", **files})
        for name, files in (("r", {}), ("s", {"a.txt": b"x"}))
    ]
    listed = action.listing("a.txt", "docs/b.txt")
    for state in ("opened", "waiting"):
        run = many(definitions=listed)
        assert (run.exit_code, states(run)) == (0, {state: 1, "blocked": 1}), run.text
        assert run.outputs["failed"] == "0"
        assert (
            run.console.count("`docs` is not a directory")
            + run.console.count("docs is not a directory")
            >= 2
        )
    assert opened(made) == [1, 0]
    alone = many(definitions=listed, target_repos=None, target_repo="octo-org/s")
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
def test_what_cannot_be_written_any_more_fails_nobodys_run(
    many: Start, make: Make, host: StandInHost, becomes: str, before: str
) -> None:
    first, second = make(0, 2)
    name = first.full_name

    def change(_: Request) -> None:
        if asked(host)[-1] == before:
            host.on_request = None
            LEAVES[becomes](first)

    host.on_request = change
    run = many()
    expected = {name: "not writable", second.full_name: "opened"}
    assert (run.exit_code, rows(run), opened([first])) == (0, expected, [0])
    # Also a new name
    assert all(first.full_name in text for text in (run.stdout, run.summary))


def test_one_that_is_archived_when_only_workflow_files_are_left_fails_nobodys_run(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    first, second = make(0, 2)
    modest = host.create_token(scopes=("repo",))

    def change(_: Request) -> None:
        if asked(host)[-1] == "query" and not first.archived:
            first.person.commit({"a.md": b"by hand\n"})
            first.person.archive()

    host.on_request = change
    run = many(definitions=action.listing("a.md", ".github/workflows/ci.yml"), host_token=modest)
    expected = {first.full_name: "not writable", second.full_name: "opened"}
    assert rows(run) == expected, run.text
