"""Many repositories: one pull request for each that lacks files, and the cap on new ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.example import LISTED, PRESENT
from tests.fakehub import Fault, FaultKind, Request, StandInHost
from tests.harness import LIST_BRANCH, Action, Start, is_read, meanwhile
from tests.organisation import Make, asked, opened, rows, states


def test_each_repository_that_lacks_files_gets_one_pull_request_however_often_it_runs(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(5, 3)
    first = many().or_fail()
    assert states(first) == {"opened": 3, "complete": 5}
    assert first.outputs["created"] == str(3 * (len(LISTED) - len(PRESENT)))
    assert Counter(asked(host))["mutation"] == 3
    assert opened(made) == [0] * 5 + [1] * 3
    again = many()
    assert (again.exit_code, states(again)) == (0, {"waiting": 3, "complete": 5})
    assert opened(made) == [0] * 5 + [1] * 3
    for repository in made[5:]:
        repository.person.merge(1)
    assert states(many()) == {"complete": 8}


def test_the_cap_defers_the_rest_and_the_next_run_goes_on(many: Start, make: Make) -> None:
    made = make(1, 5)
    first = many(max_pull_requests="2")
    assert (first.exit_code, first.outputs["deferred"]) == (0, "3")
    assert states(first) == {"opened": 2, "deferred": 3, "complete": 1}
    second = many(max_pull_requests="2")
    assert states(second) == {"opened": 2, "waiting": 2, "deferred": 1, "complete": 1}
    assert sum(opened(made)) == 4


def test_both_lists_get_a_row_and_a_pull_request_each(many: Start, make: Make) -> None:
    [repository] = make(0, 1)
    run = many(profile="all").or_fail()
    assert [row["profile"] for row in run.report["many"]["rows"]] == ["health", "scaffold"]
    assert len(repository.pull_requests) == 2
    for line in ("[1/2] octo-org/r0 (health): pull", "[2/2] octo-org/r0 (scaffold): pull"):
        assert line in run.stdout
    assert "Repositories with something to report (1); all others" in run.summary
    check = many(profile="all", mode="check")
    assert check.stderr.count(repository.full_name) == 1


def test_the_cap_counts_pull_requests_of_both_lists(many: Start, make: Make) -> None:
    made = make(0, 2)
    run = many(profile="all", max_pull_requests="3")
    assert sorted(opened(made)) == [1, 2]
    # Each repository is in one state, and one pull request is left
    assert (states(run), run.outputs["deferred"]) == ({"opened": 2}, "1")


def test_failures_do_not_count_against_the_cap(many: Start, make: Make) -> None:
    made = make(0, 10)
    for repository in made[:4]:
        repository.person.protect("chore/*", "ruleset")
    run = many(max_pull_requests="6")
    assert (run.exit_code, states(run)["opened"]) == (1, 6)


def test_the_cap_counts_every_pull_request_that_is_opened(
    many: Start, host: StandInHost, action: Action
) -> None:
    """Also where one file cannot be created."""
    made = [host.create_repository(f"octo-org/r{n}", {"docs": b"a file"}) for n in range(4)]
    run = many(definitions=action.listing("a.txt", "docs/b.txt"), max_pull_requests="2")
    assert (run.exit_code, states(run)) == (0, {"opened": 2, "deferred": 2})
    assert sum(opened(made)) == 2


@pytest.mark.parametrize(
    ("unreadable", "times"),
    [(False, 1), (True, 6), (False, 99)],
    ids=["at first", "unreadable", "until GitHub refuses another one"],
)
def test_the_cap_counts_what_may_have_been_opened(
    many: Start, make: Make, host: StandInHost, unreadable: bool, times: int
) -> None:
    """The answer to what opens it is lost, and then its list does not show it, or nothing is."""
    made = make(0, 3)
    lost = Fault(FaultKind.RESET, when="after", match=lambda request: not is_read(request))
    host.faults.add(lost)

    def not_shown(request: Request) -> bool:
        is_list = request.path.endswith("/pulls") and is_read(request)
        return bool(lost.hits) and (is_list or (unreadable and "/git/ref" in request.path))

    status = 502 if unreadable else 200
    hidden = Fault(FaultKind.CUSTOM, match=not_shown, times=times, status=status, body=[])
    host.faults.add(hidden)
    run = many(max_pull_requests="1")
    assert len(hidden.hits) == times or times == 99
    assert sum(opened(made)) == 1
    assert states(run)["deferred"] == 2


@pytest.mark.parametrize(
    ("becomes", "at", "state"),
    [
        *((what, "GET /orgs/octo-org/repos", None) for what in ("archived", "locked", "deleted")),
        *((what, "nodes", None) for what in ("archived", "locked")),
        ("deleted", "nodes", "failed"),
        *((what, "query", "failed") for what in ("locked", "deleted")),
        ("archived", "query", "not writable"),
        *(
            ("read_only", at, "not writable")
            for at in ("GET /orgs/octo-org/repos", "nodes", "query")
        ),
        ("private", "query", "withdrawn"),
    ],
)
def test_whatever_one_becomes_the_pull_requests_of_the_others_are_withdrawn(
    many: Start, make: Make, host: StandInHost, becomes: str, at: str, state: str | None
) -> None:
    """Its own stays open where it is left out of the selection, or nobody may write to it."""
    odd, *others = make(0, 3)
    many()

    def change(_: Request) -> None:
        if asked(host)[-1] == at:
            odd.person.change(**{becomes: True})  # type: ignore[arg-type]

    host.on_request = change
    host.requests.clear()
    run = many(mode="withdraw")
    expected = dict.fromkeys((each.full_name for each in others), "withdrawn")
    assert rows(run) == (expected | {odd.full_name: state} if state else expected)
    assert run.exit_code == int(run.outputs["failed_repositories"]) == (state == "failed")
    assert odd.pull_requests[0].state == ("closed" if state == "withdrawn" else "open")


def test_a_branch_of_its_own_name_for_each_repository(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(12, 3)
    given = {"branch": "add/{repo}", "title": "{repo} of {owner}: {count}"}
    plan = many(mode="plan", **given)
    assert states(plan) == {"to open": 3, "complete": 12}
    # One query asks for one name of a branch
    assert Counter(asked(host))["nodes"] == 15
    run = many(**given)
    assert states(run) == {"opened": 3, "complete": 12}
    proposed = [(pull.head, pull.title) for each in made for pull in each.pull_requests]
    assert proposed == [
        (f"add/{each.name}", f"{each.name} of octo-org: {len(LISTED) - len(PRESENT)}")
        for each in made[12:]
    ]
    assert states(many(**given)) == {"waiting": 3, "complete": 12}
    assert host.graphql_rate_limit
    host.graphql_rate_limit.remaining = 14
    assert "Points needed: about 15, left: 14" in many(mode="plan", **given).console


def test_a_name_that_git_does_not_take_as_it_is_makes_a_branch_all_the_same(
    many: Start, host: StandInHost
) -> None:
    names = {".github": "_github", "x.lock": "x_lock", "a..b": "a__b", "end.": "end_"}
    made = [host.create_repository(f"octo-org/{name}", PRESENT) for name in names]
    run = many(branch="add/{repo}", target_repos="octo-org/*, octo-org/.github")
    assert (run.exit_code, states(run)) == (0, {"opened": len(made)})
    heads = [pull.head for each in made for pull in each.pull_requests]
    assert heads == [f"add/{name}" for name in names.values()]
    assert states(many(branch="add/{repo}", mode="plan")) == {"waiting": len(made)}
    for each, name in zip(made, names.values(), strict=True):
        alone = many(branch="add/{repo}", target_repos=None, target_repo=each.full_name)
        assert (alone.exit_code, alone.outputs["branch"]) == (0, f"add/{name}")


def test_a_closed_pull_request_is_respected(many: Start, make: Make) -> None:
    [repository] = make(0, 1)
    assert states(many()) == {"opened": 1}
    repository.person.close(1)
    for _ in range(2):
        run = many()
        assert (run.exit_code, states(run)) == (0, {"declined": 1})
        assert (run.outputs["incomplete"], run.outputs["declined"]) == ("0", "4")
        # Nothing was registered
        assert run.report["registrations"] == []
        link = repository.pull_requests[0].html_url
        assert f"nothing to propose (declined: 4): {link}" in run.console
    assert opened([repository]) == [1]


def test_a_pull_request_that_is_closed_between_reading_and_writing(
    many: Start, make: Make, host: StandInHost
) -> None:
    [repository] = make(0, 1)
    many()

    meanwhile(host, lambda _: asked(host)[-1] == "query", lambda: repository.person.close(1))
    run = many()
    assert (run.exit_code, states(run)) == (0, {"declined": 1})


@pytest.mark.parametrize(
    ("mode", "exit_code", "expected"),
    [
        ("plan", 0, {"to open": 1, "blocked": 1}),
        ("check", 1, {"to open": 1, "blocked": 1}),
        ("register", 0, {"blocked": 1, "deferred": 1}),
    ],
)
def test_a_path_that_cannot_be_created_is_told_in_every_mode(
    many: Start,
    host: StandInHost,
    action: Action,
    mode: str,
    exit_code: int,
    expected: dict[str, int],
) -> None:
    host.create_repository("octo-org/r", {"docs": b"a file"})
    host.create_repository("octo-org/s", {"docs": b"a file", "a.txt": b"x"})
    listed = action.listing("a.txt", "docs/b.txt")
    run = many(definitions=listed, mode=mode, max_pull_requests="0")
    assert (run.exit_code, states(run)) == (exit_code, expected)
    assert run.outputs["failed"] == "0"
    missing = {row["repository"]: row["missing"] for row in run.report["many"]["rows"]}
    assert missing == {"octo-org/r": 2, "octo-org/s": 1}
    r, s = (row for row in run.summary.splitlines() if row.startswith("| [octo-org/"))
    assert [each.count("docs` is not a directory") for each in (r, s)] == [1, 1]
    assert "deferred:** `docs" not in run.summary
    assert "With missing files: 1 (to open: 1)." in run.lines
    assert "Of the other repositories: 1 blocked." in run.lines


def test_what_cannot_be_read_again_keeps_the_count_of_the_first_reading(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 1)
    unread = Fault(FaultKind.ERROR_502_HTML, match=lambda _: asked(host)[-1] == "query", times=None)
    host.faults.add(unread)
    run = many()
    assert (run.exit_code, states(run)) == (1, {"failed": 1})
    assert [row["missing"] for row in run.report["many"]["rows"]] == [4]


CUT = {"sha": "1" * 40, "url": "https://x.example", "tree": [], "truncated": True}


@pytest.mark.parametrize(
    "fault",
    [
        Fault(FaultKind.CUSTOM, match=lambda r: "/git/trees/" in r.path, status=200, body=CUT),
        Fault(FaultKind.RESET, match=lambda request: not is_read(request)),
    ],
    ids=["tree-cut", "answer-lost"],
)
def test_nothing_is_created_file_by_file(
    many: Start, make: Make, host: StandInHost, action: Action, fault: Fault
) -> None:
    [repository] = make(0, 1)
    many(definitions=action.listing("a.txt", "b.txt"))
    before = repository.files(LIST_BRANCH)
    fault = host.faults.add(replace(fault, times=None))
    # The description still shows the one that is no longer listed, so its tree is read
    run = many(definitions=action.listing("a.txt", "c.txt"))
    assert (run.exit_code, states(run)) == (1, {"failed": 1})
    assert fault.hits
    assert not any(request.method == "PUT" for request in host.requests)
    assert repository.files(LIST_BRANCH) == before


def commits(request: Request) -> bool:
    return "createCommitOnBranch(" in str(request.fields.get("query"))


def test_a_lost_commit_that_was_done_is_counted(
    many: Start, make: Make, host: StandInHost, action: Action
) -> None:
    [repository] = make(0, 1)
    many(definitions=action.listing("a.txt", "b.txt"))
    lost = host.faults.add(Fault(FaultKind.CLOSED, match=commits, when="after", times=None))
    run = many(definitions=action.listing("a.txt", "b.txt", "c.txt"))
    assert lost.hits
    assert (run.exit_code, states(run)) == (0, {"updated": 1}), run.console
    assert len(repository.log(LIST_BRANCH)) == 3
