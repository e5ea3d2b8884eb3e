"""Many repositories: what log, summary and errors say."""

from __future__ import annotations

import re

import pytest

from tests.example import MISSING
from tests.fakehub import FaultKind, Request
from tests.fakehub.representations import node_id, old_node_id
from tests.harness import HEALTH_BRANCH
from tests.organisation import Org, refuse_writes, states


def test_the_log_counts_repositories_and_the_time_that_is_left(org: Org) -> None:
    """It tells the time when that changes."""
    made = org.make(2, 30)
    run = org(labels="chore", assignees="hubot")
    lines = [line for line in run.lines if line.startswith("[")]
    for number, line in enumerate(lines, start=1):
        assert line.startswith(f"[{number}/30] octo-org/r")
    assert len(lines) == 30
    # A log has no other links than addresses
    link = r"http://\S+/octo-org/r\d+/pull/1"
    ends = rf"pull request opened \(missing files: 4\): {link} \(about 2 min left\)"
    assert re.search(f"{ends}$", lines[0])
    assert re.search(f"{link}$", lines[-1])
    assert re.findall(r"\(about (\d+) min left\)", run.stdout) == ["2", "1"]
    # Every write has its line, also one of a description only
    for each in made[2:]:
        each.person.commit({next(iter(MISSING)): b"theirs\n"})
    run = org()
    assert run.stdout.count("description updated") == 30
    assert re.findall(r"\(about (\d+) min left\)", run.stdout) == ["1"]


def test_of_very_many_repositories_the_summary_counts_the_rest(org: Org) -> None:
    """They are not read, because the token is refused then."""
    org.make(0, 510)
    org.refuse("POST /graphql", 401, message="Bad credentials")
    run = org.expect("510 not read; exit 2")
    assert "… and 10 more; the report holds all of them." in run.summary
    assert run.summary.count("| [octo-org/r") == 500
    assert run.outputs["incomplete"] == "510"
    assert len(run.summary.encode()) < 1024 * 1024


def test_of_very_many_causes_ten_are_errors(org: Org) -> None:
    """That of the most repositories comes first."""
    made = org.make(0, 13)
    rules = {each.name: "abcdefghijkl"[min(n, 11)] for n, each in enumerate(made)}
    refuse_writes(org.host, lambda each: f"Rule {rules[each.name]} forbids it")
    run = org.expect("13 failed; exit 1")
    assert re.findall(r"Error: (\d+) failed", run.stderr) == ["2", *["1"] * 9]
    # If something failed, even a long table is not folded
    assert "<details open>\n<summary>Repositories with something to report (13)" in run.summary


def test_a_note_is_one_sentence_with_all_repositories(org: Org) -> None:
    """The note about the most repositories comes first."""
    org.add("a")
    for number in range(4):
        org.add(f"r{number}", **{"agents.MD": b"x"})
    org.fault(FaultKind.CUSTOM, lambda request: request.path.endswith("/labels"), times=2)
    run = org.expect("5 opened", labels="area/x")
    words, left_out = "from a listed one in letter case only", "left out of the pull request"
    assert [text.count(words) for text in (run.stdout, run.summary)] == [1, 1]
    assert "  Repositories: octo-org/r0, octo-org/r1, octo-org/r2, octo-org/r3" in run.lines
    assert run.summary.count(f"`area/x` was {left_out}") == 1
    [line] = [line for line in run.lines if f"area/x was {left_out}" in line]
    assert run.stdout.index(words) < run.stdout.index(line)
    named = run.lines[run.lines.index(line) + 1]
    assert re.fullmatch("  Repositories: octo-org/.+, octo-org/.+", named)
    assert run.lines[-1] == "Outcome: 5 opened."


def test_a_plan_says_that_pull_requests_could_not_be_read(org: Org) -> None:
    org.make(0, 2)
    org.host.quirks.pull_requests_need_permission = True
    token = org.host.create_token("installation", permissions={"contents": "read"})
    run = org(mode="plan", host_token=token)
    for text in (run.stdout, run.summary):
        assert text.count("may not read the pull requests of the working branch") == 1
        assert "whose pull requests the token may not read: 2." in text


def test_where_nothing_could_be_read_nothing_is_said_to_be_complete(org: Org) -> None:
    run = org.expect("1 failed; exit 1", target_repos="octo-org/gone")
    assert run.outputs["incomplete"] == "1"
    assert "No repository was read." in run.lines
    assert "missing files" not in run.stdout.lower()


@pytest.mark.parametrize(
    ("mode", "profile", "state"),
    [
        ("plan", "", "10 to open, 20 not read; exit 2"),
        ("register", "", "10 deferred, 20 not read; exit 2"),
        ("plan", "all", "9 to open, 21 not read; exit 2"),
    ],
)
def test_what_was_not_read_in_the_end_counts(org: Org, mode: str, profile: str, state: str) -> None:
    """One that the reading leaves out is not selected, however the run ends."""
    if profile:
        org.host.create_repository("octo-org/empty", empty=True)
    org.make(0, 30)
    # The list, and the first query, which is for ten
    dying = org.host.create_token(requests=3)
    run = org.expect(state, mode=mode, profile=profile, host_token=dying)
    assert run.outputs["incomplete"] == "30"


def test_a_repository_is_in_one_state_whatever_its_lists_say(org: Org) -> None:
    _, fails = org.make(1, 1)  # the first one lacks only files of the list `health`
    fails.person.protect(HEALTH_BRANCH, "ruleset")
    run = org.expect("1 failed, 1 opened; exit 1", profile="all")
    # One list of it was registered all the same
    assert (org.opened, run.outputs["incomplete"]) == ([1, 1], "2")
    # Another repository fails with both of its lists, for the same reason
    org.make(0, 1)[0].person.protect("chore/*", "ruleset")
    run = org(profile="all")
    failed = [row for row in run.report["many"]["rows"] if row["state"] == "failed"]
    assert (len(failed), states(run)["failed"]) == (3, 2), run.console
    assert "**2 failed:**" in run.summary


# --- What failed is everywhere --------------------------------------------------------------


@pytest.mark.parametrize("mode", ["plan", "register"])
def test_what_failed_has_a_row_with_its_reason_on_page_and_table(org: Org, mode: str) -> None:
    made = org.make(1, 3)
    unanswered, refused = made[1:3]

    def is_about_it(request: Request) -> bool:
        variables = request.fields.get("variables") or {}
        ids = (node_id("R", unanswered.id), old_node_id(unanswered.id))
        by_itself = (unanswered.full_name, f"repositories/{unanswered.id}")
        return (
            any(each in str(variables) for each in ids)
            or variables.get("name") == unanswered.name
            or any(each in request.path for each in by_itself)
        )

    org.fault(FaultKind.ERROR_502_HTML, is_about_it)
    refused.person.protect("chore/*", "ruleset")
    in_workflow = {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_ACTION_REPOSITORY": "me/registrar",
        "GITHUB_ACTION_REF": "v1",
    }
    is_plan = mode == "plan"
    env = {} if is_plan else in_workflow
    run = org(mode=mode, target_repos="octo-org/*, octo-org/gone", env=env)
    assert run.exit_code == 1, run.text
    failed = {unanswered.full_name, "octo-org/gone"} | (set() if is_plan else {refused.full_name})
    rows = [row for row in org.action.rows(run) if row["outcome"] == "failed"]
    assert ({row["repository"] for row in rows}, all(row["reason"] for row in rows)) == (
        failed,
        True,
    )
    page = org.action.kept(run, "page")
    tile = f'>{len(failed)}</a></strong> <span class="failed key"></span>Repositories: failed'
    assert tile in page
    assert "/ 5</strong> Repositories: complete" in page
    listed = page.partition('id="matrix"')[0]
    assert set(re.findall(r'data-name="([^"]+)"', listed)[: len(failed)]) == failed
    assert "502" in listed
    assert ("Either a ruleset forbids its name" in listed) == (not is_plan)
    # In a shell there is no address that a browser could open
    help_page = "https://github.com/me/registrar/blob/v1/docs/troubleshooting.md#"
    assert [each in page for each in (help_page, "troubleshooting")] == [not is_plan] * 2


@pytest.mark.parametrize("mode", ["plan", "register"])
def test_what_cannot_be_written_counts_as_failed(org: Org, mode: str) -> None:
    org.make(0, 2)
    run = org.expect("2 failed; exit 1", mode=mode, branch="main")
    assert run.report["many"]["budget"]["missing"] == 0
    for words in ("to open", "Pull requests to open:", "Preview of what"):
        assert words not in run.console
    assert "Of the other repositories: 2 failed" in run.console


# --- A log of two screens -------------------------------------------------------------------


def test_log_and_error_name_some_and_count_the_rest(org: Org) -> None:
    """Each write has a line with its address. Of each other state the log has twenty lines."""
    org.make(3, 45)
    steps: list[tuple[dict[str, str], int]] = [
        ({"mode": "check"}, 0),
        ({"max_pull_requests": "22"}, 22),
        ({"mode": "withdraw"}, 22),
    ]
    for inputs, number in steps:
        run = org(inputs, runner=inputs.get("mode") == "check")
        assert "The table has all repositories. Lines that the log leaves out: " in run.stdout
        lines = sum(line.startswith("octo-org/r") for line in run.lines)
        assert lines == 20 if not number else lines <= 40, run.stdout
        assert len({row["repository"] for row in org.action.rows(run)}) == 48
        assert sum(states(run).get(name, 0) for name in ("opened", "withdrawn")) == number
        for error in (each.data for each in run.annotations() if run.exit_code):
            assert (error.count("octo-org/r"), "… and 5 more" in error) == (40, True)
        left = "Repositories in which the branch of a withdrawn pull request is left"
        for text in (run.stdout, run.summary):
            assert (left in text) == (inputs.get("mode") == "withdraw")


def test_outputs_and_rows_say_what_became_of_several_repositories(org: Org) -> None:
    declined, waiting = made = org.make(0, 2)
    for each in made:
        each.person.commit({"same.md": b"same\n"})
    opened = org(definitions=org.action.listing_of({"a.md": "A\n"})).or_fail()
    names = ("branch", "pull_request_number", "pull_request_url", "pull_request_operation")
    assert [opened.outputs[name] for name in names] == [""] * 4
    declined.person.close(1)
    listed = {"a.md": "changed\n", "same.md": "same\n"}
    plan = org(definitions=org.action.listing_of(listed), mode="plan").or_fail()
    assert plan.outputs["incomplete"] == "1"
    assert "same.md" not in plan.summary
    assert "| List |" not in plan.summary
    rows = [
        (row["repository"], row["state"], row["pull_request"])
        for row in plan.report["many"]["rows"]
    ]
    assert sorted(rows) == [
        (each.full_name, state, f"{each.html_url}/pull/1")
        for each, state in ((declined, "declined"), (waiting, "to update"))
    ]
    budget = plan.report["many"]["budget"]
    told = [budget[name] for name in ("to_update", "updates", "closes", "declined", "unset")]
    assert (told, budget["points_left"] > 4_000) == ([1, 1, 0, 1, 0], True)
