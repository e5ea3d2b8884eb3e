"""Many repositories: one pull request for each that lacks files, and the cap on new ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.example import LISTED, PRESENT
from tests.fakehub import Fault, FaultKind, Request
from tests.harness import LIST_BRANCH, is_read, meanwhile
from tests.organisation import Org, is_write, rows

MISSING = len(LISTED) - len(PRESENT)


def test_both_lists_get_a_row_and_a_pull_request_each(org: Org) -> None:
    [repository] = org.make(0, 1)
    run = org.expect("1 opened", profile="all")
    assert [row["profile"] for row in run.report["many"]["rows"]] == ["health", "scaffold"]
    assert org.opened == [2]
    for line in ("[1/2] octo-org/r0 (health): pull", "[2/2] octo-org/r0 (scaffold): pull"):
        assert line in run.stdout
    assert "Repositories with something to report (1); all others" in run.summary
    assert org(profile="all", mode="check").stderr.count(repository.full_name) == 1


def test_the_cap_counts_pull_requests_of_both_lists(org: Org) -> None:
    org.make(0, 2)
    # Each repository is in one state, and one pull request is left
    run = org.expect("2 opened", profile="all", max_pull_requests="3")
    assert (sorted(org.opened), run.outputs["deferred"]) == ([1, 2], "1")


@pytest.mark.parametrize(
    ("unreadable", "times"),
    [(False, 1), (True, 6), (False, 99)],
    ids=["at first", "unreadable", "until GitHub refuses another one"],
)
def test_the_cap_counts_what_may_have_been_opened(org: Org, unreadable: bool, times: int) -> None:
    """The answer to what opens it is lost, and then its list does not show it, or nothing is."""
    org.make(0, 3)
    lost = org.fault(FaultKind.RESET, is_write, when="after", times=1)

    def not_shown(request: Request) -> bool:
        is_list = request.path.endswith("/pulls") and is_read(request)
        return bool(lost.hits) and (is_list or (unreadable and "/git/ref" in request.path))

    status = 502 if unreadable else 200
    hidden = org.fault(FaultKind.CUSTOM, not_shown, times=times, status=status, body=[])
    run = org(max_pull_requests="1")
    assert len(hidden.hits) == times or times == 99
    assert (sum(org.opened), run.outputs["deferred"]) == (1, "2")


@pytest.mark.parametrize(
    ("at", "become"),
    [
        (
            "GET /orgs/octo-org/repos",
            {"archived": None, "locked": None, "deleted": None, "read_only": "not writable"},
        ),
        (
            "nodes",
            {"archived": None, "locked": None, "deleted": "failed", "read_only": "not writable"},
        ),
        (
            "query",
            {
                "archived": "not writable",
                "locked": "failed",
                "deleted": "failed",
                "read_only": "not writable",
                "private": "withdrawn",
            },
        ),
    ],
)
def test_whatever_some_become_the_pull_requests_of_the_others_are_withdrawn(
    org: Org, at: str, become: Mapping[str, str | None]
) -> None:
    """Their own stay open where they are left out of the selection, or nobody may write to them."""
    made = org.make(0, 2 + len(become))
    org()
    odd = dict(zip(become, made, strict=False))

    def change() -> None:
        for name, each in odd.items():
            each.person.change(**{name: True})  # type: ignore[arg-type]

    meanwhile(org.host, lambda _: org.asked[-1] == at, change)
    run = org(mode="withdraw")
    found = rows(run)
    assert {name: found.pop(each.full_name, None) for name, each in odd.items()} == become
    assert found == dict.fromkeys((each.full_name for each in made[len(odd) :]), "withdrawn")
    assert run.exit_code == ("failed" in become.values())
    for name, each in odd.items():
        is_closed = become[name] == "withdrawn"
        assert each.pull_requests[0].state == ("closed" if is_closed else "open"), name


def test_a_branch_of_its_own_name_for_each_repository(org: Org) -> None:
    made = org.make(12, 3)
    given = {"branch": "add/{repo}", "title": "{repo} of {owner}: {count}"}
    org.expect("3 to open, 12 complete", given, mode="plan")
    # One query asks for one name of a branch
    assert org.asked.count("nodes") == 15
    org.expect("3 opened, 12 complete", given)
    proposed = [(pull.head, pull.title) for each in made for pull in each.pull_requests]
    assert proposed == [
        (f"add/{each.name}", f"{each.name} of octo-org: {MISSING}") for each in made[12:]
    ]
    org.expect("3 waiting, 12 complete", given)
    org.set_points(14)
    assert "Points needed: about 15, left: 14" in org(given, mode="plan").console


def test_a_name_that_git_does_not_take_as_it_is_makes_a_branch_all_the_same(org: Org) -> None:
    names = {".github": "_github", "x.lock": "x_lock", "a..b": "a__b", "end.": "end_"}
    made = {org.add(name): f"add/{branch}" for name, branch in names.items()}
    given = {"branch": "add/{repo}"}
    org.expect("4 opened", given, target_repos="octo-org/*, octo-org/.github")
    assert [pull.head for each in made for pull in each.pull_requests] == [*made.values()]
    org.expect("4 waiting", given, mode="plan")
    for each, branch in made.items():
        alone = org(given, target_repos=None, target_repo=each.full_name)
        assert (alone.exit_code, alone.outputs["branch"]) == (0, branch)


def test_a_closed_pull_request_is_respected(org: Org) -> None:
    """Here are the numbers over many; `tests/stories/test_declined.py` has what is proposed."""
    [repository] = org.make(0, 1)
    # The outputs about one pull request are empty, even here
    assert org.expect("1 opened").outputs["pull_request_number"] == ""
    repository.person.close(1)
    run = org.expect("1 declined")
    # Nothing was registered
    assert (run.outputs["incomplete"], run.report["registrations"]) == ("0", [])
    link = repository.pull_requests[0].html_url
    assert f"nothing to propose (declined: 4): {link}" in run.console


def test_a_pull_request_that_is_closed_between_reading_and_writing(org: Org) -> None:
    [repository] = org.make(0, 1)
    org()
    meanwhile(org.host, lambda _: org.asked[-1] == "query", lambda: repository.person.close(1))
    org.expect("1 declined")


@pytest.mark.parametrize(
    ("mode", "state"),
    [
        ("plan", "1 to open, 1 blocked"),
        ("check", "1 to open, 1 blocked; exit 1"),
        ("register", "1 deferred, 1 blocked"),
    ],
)
def test_a_path_that_cannot_be_created_is_told_in_any_mode(org: Org, mode: str, state: str) -> None:
    org.host.create_repository("octo-org/r", {"docs": b"a file"})
    org.host.create_repository("octo-org/s", {"docs": b"a file", "a.txt": b"x"})
    given = {"mode": mode, "max_pull_requests": "0"}
    run = org.expect(state, given, "a.txt", "docs/b.txt")
    assert run.outputs["failed"] == "0"
    missing = {row["repository"]: row["missing"] for row in run.report["many"]["rows"]}
    assert missing == {"octo-org/r": 2, "octo-org/s": 1}
    r, s = (row for row in run.summary.splitlines() if row.startswith("| [octo-org/"))
    assert [each.count("docs` is not a directory") for each in (r, s)] == [1, 1]
    assert "deferred:** `docs" not in run.summary
    assert "With missing files: 1 (to open: 1)." in run.lines
    assert "Of the other repositories: 1 blocked." in run.lines


def test_what_cannot_be_read_again_keeps_the_count_of_the_first_reading(org: Org) -> None:
    org.make(0, 1)
    org.fault(FaultKind.ERROR_502_HTML, lambda _: org.asked[-1] == "query")
    run = org.expect("1 failed; exit 1")
    assert [row["missing"] for row in run.report["many"]["rows"]] == [4]


CUT = {"sha": "1" * 40, "url": "https://x.example", "tree": [], "truncated": True}


@pytest.mark.parametrize(
    "fault",
    [
        Fault(FaultKind.CUSTOM, match=lambda r: "/git/trees/" in r.path, status=200, body=CUT),
        Fault(FaultKind.RESET, match=is_write),
    ],
    ids=["tree-cut", "answer-lost"],
)
def test_nothing_is_created_file_by_file(org: Org, fault: Fault) -> None:
    [repository] = org.make(0, 1)
    org(None, "a.txt", "b.txt")
    before = repository.files(LIST_BRANCH)
    fault = org.host.faults.add(replace(fault, times=None))
    # The description still shows the one that is no longer listed, so its tree is read
    org.expect("1 failed; exit 1", None, "a.txt", "c.txt")
    assert fault.hits
    assert not any(request.method == "PUT" for request in org.sent)
    assert repository.files(LIST_BRANCH) == before


def test_a_lost_commit_that_was_done_is_counted(org: Org) -> None:
    [repository] = org.make(0, 1)
    org(None, "a.txt", "b.txt")
    lost = org.fault(FaultKind.CLOSED, lambda r: "createCommitOn" in str(r.fields), when="after")
    org.expect("1 updated", None, "a.txt", "b.txt", "c.txt")
    assert (bool(lost.hits), len(repository.log(LIST_BRANCH))) == (True, 3)
