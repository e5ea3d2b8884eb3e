"""Many repositories: what log, summary and errors say."""

from __future__ import annotations

import re

import pytest

from tests.example import PRESENT
from tests.fakehub import Fault, FaultKind, Request, StandInHost
from tests.fakehub.representations import node_id, old_node_id
from tests.harness import HEALTH_BRANCH, Action, Start
from tests.organisation import Make, refuse_writes, states


def test_the_log_counts_repositories_and_the_time_that_is_left(many: Start, make: Make) -> None:
    make(2, 30)
    run = many(labels="chore", assignees="hubot")
    lines = [line for line in run.lines if line.startswith("[")]
    for number, line in enumerate(lines, start=1):
        assert line.startswith(f"[{number}/30] octo-org/r")
    assert len(lines) == 30
    # A log has no other links than addresses
    link = r"http://\S+/octo-org/r\d+/pull/1"
    ends = rf"pull request opened \(missing files: 4\): {link} \(about 2 min left\)"
    assert re.search(f"{ends}$", lines[0])
    assert re.search(f"{link}$", lines[-1])


def test_of_very_many_repositories_the_summary_counts_the_rest(many: Start, make: Make) -> None:
    make(0, 510)
    run = many(mode="plan")
    assert "… and 10 more; the report holds all of them." in run.summary
    assert run.summary.count("| [octo-org/r") == 500
    assert run.outputs["incomplete"] == "510"
    assert len(run.summary.encode()) < 1024 * 1024


def test_of_very_many_causes_ten_are_errors(many: Start, make: Make, host: StandInHost) -> None:
    make(0, 12)
    refuse_writes(host, lambda repository: f"Rule {chr(ord('a') + repository.id % 12)} forbids it")
    run = many()
    assert states(run) == {"failed": 12}
    assert run.stderr.count("Error: 1 failed") == 10
    # If something failed, even a long table is not folded
    assert "<details open>\n<summary>Repositories with something to report (12)" in run.summary


def test_what_is_worth_knowing_is_said_once_with_the_repositories(
    many: Start, make: Make, host: StandInHost
) -> None:
    made = make(0, 3)
    refused = Fault(FaultKind.CUSTOM, match=lambda r: r.path.endswith("/labels"), times=2)
    host.faults.add(refused)
    run = many(labels="area/x").or_fail()
    [line] = [line for line in run.lines if "area/x was left out of the pull request" in line]
    named = run.lines[run.lines.index(line) + 1]
    assert named.startswith("  Repositories: ")
    assert sum(each.full_name in named for each in made) == 2
    assert run.lines[-1] == "Outcome: 3 opened."
    assert run.summary.count("`area/x` was left out of the pull request") == 1


def test_a_note_is_one_sentence_with_all_repositories(many: Start, host: StandInHost) -> None:
    """The note about the most repositories comes first."""
    host.create_repository("octo-org/a", PRESENT)
    for number in range(4):
        files = {**PRESENT, "agents.MD": b"x"}
        host.create_repository(f"octo-org/r{number}", files)
    refused = Fault(FaultKind.CUSTOM, match=lambda r: r.path.endswith("/labels"), times=1)
    host.faults.add(refused)
    run = many(labels="x").or_fail()
    words, left_out = "from a listed one in letter case only", "x was left out of the pull request"
    assert run.stdout.count(words) == 1
    assert "  Repositories: octo-org/r0, octo-org/r1, octo-org/r2, octo-org/r3" in run.lines
    assert run.summary.count(words) == 1
    assert run.stdout.index(words) < run.stdout.index(left_out)


def test_an_error_names_forty_repositories_and_counts_the_rest(many: Start, make: Make) -> None:
    make(0, 43)
    [error] = (each.data for each in many(mode="check", runner=True).annotations())
    assert error.count("octo-org/r") == 40
    assert "… and 3 more" in error


def test_a_plan_says_that_pull_requests_could_not_be_read(
    many: Start, make: Make, host: StandInHost
) -> None:
    make(0, 2)
    host.quirks.pull_requests_need_permission = True
    token = host.create_token("installation", permissions={"contents": "read"})
    run = many(mode="plan", host_token=token)
    for text in (run.stdout, run.summary):
        assert text.count("may not read the pull requests of the working branch") == 1
        assert "whose pull requests the token may not read: 2." in text


def test_where_nothing_could_be_read_nothing_is_said_to_be_complete(many: Start) -> None:
    run = many(target_repos="octo-org/gone")
    assert (run.exit_code, run.outputs["repositories"]) == (1, "1")
    assert (run.outputs["incomplete"], run.outputs["failed_repositories"]) == ("1", "1")
    assert "No repository was read." in run.lines
    assert "missing files" not in run.stdout.lower()


@pytest.mark.parametrize("mode", ["plan", "register"])
def test_what_was_not_read_when_the_run_ended_is_counted_too(
    many: Start, make: Make, host: StandInHost, mode: str
) -> None:
    make(0, 30)
    # The list, and the first query, which is for ten
    run = many(mode=mode, host_token=host.create_token(requests=3))
    assert (run.exit_code, run.outputs["repositories"]) == (2, "30"), run.console
    left = "to open" if mode == "plan" else "deferred"
    assert states(run) == {left: 10, "not read": 20}
    assert run.outputs["incomplete"] == "30"


def test_one_that_the_reading_leaves_out_is_not_selected_however_the_run_ends(
    many: Start, make: Make, host: StandInHost
) -> None:
    host.create_repository("octo-org/empty", empty=True)
    make(0, 30)
    run = many(mode="plan", profile="all", host_token=host.create_token(requests=3))
    assert (run.exit_code, run.outputs["repositories"]) == (2, "30"), run.console
    assert sum(states(run).values()) == 30


def test_a_repository_is_in_one_state_whatever_its_lists_say(many: Start, make: Make) -> None:
    proposes, fails = make(1, 1)  # the first one lacks only files of the list `health`
    fails.person.protect(HEALTH_BRANCH, "ruleset")
    run = many(profile="all")
    # One list of it was registered all the same
    assert [len(each.pull_requests) for each in (proposes, fails)] == [1, 1]
    assert states(run) == {"failed": 1, "opened": 1}, run.console
    assert (run.outputs["incomplete"], run.outputs["failed_repositories"]) == ("2", "1")
    # Another repository fails with both of its lists, for the same reason
    make(0, 1)[0].person.protect("chore/*", "ruleset")
    run = many(profile="all")
    failed = [row for row in run.report["many"]["rows"] if row["state"] == "failed"]
    assert (len(failed), run.outputs["failed_repositories"]) == (3, "2"), run.console
    assert "**2 failed:**" in run.summary


# --- What failed is everywhere --------------------------------------------------------------


@pytest.mark.parametrize("mode", ["plan", "register"])
def test_what_failed_has_a_row_with_its_reason_on_page_and_table(
    action: Action, many: Start, make: Make, host: StandInHost, mode: str
) -> None:
    made = make(1, 3)
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

    host.faults.add(Fault(FaultKind.ERROR_502_HTML, match=is_about_it, times=None))
    refused.person.protect("chore/*", "ruleset")
    in_workflow = {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_ACTION_REPOSITORY": "me/registrar",
        "GITHUB_ACTION_REF": "v1",
    }
    env = {**action.keeping, **(in_workflow if mode == "register" else {})}
    run = many(mode=mode, target_repos="octo-org/*, octo-org/gone", env=env)
    assert run.exit_code == 1, run.text
    failed = {unanswered.full_name, "octo-org/gone"}
    failed |= {refused.full_name} if mode == "register" else set()
    rows = action.rows(run)
    assert {row["repository"] for row in rows if row["outcome"] == "failed"} == failed
    assert all(row["reason"] for row in rows if row["outcome"] == "failed")
    page = action.kept(run, "page")
    tile = f'>{len(failed)}</a></strong> <span class="failed key"></span>Repositories: failed'
    assert tile in page
    listed = page.partition('id="matrix"')[0]
    assert set(re.findall(r'data-name="([^"]+)"', listed)[: len(failed)]) == failed
    assert "502" in listed
    assert ("Either a ruleset forbids its name" in listed) == (mode == "register")
    assert "/ 5</strong> Repositories: complete" in page
    # In a shell there is no address that a browser could open
    help_page = "https://github.com/me/registrar/blob/v1/docs/troubleshooting.md#"
    assert (help_page in page, "troubleshooting" in page) == (mode == "register",) * 2


@pytest.mark.parametrize("mode", ["plan", "register"])
def test_what_cannot_be_written_counts_as_failed(many: Start, make: Make, mode: str) -> None:
    make(0, 2)
    run = many(mode=mode, branch="main")
    assert (run.exit_code, states(run)) == (1, {"failed": 2})
    assert run.report["many"]["budget"]["missing"] == 0
    assert "to open" not in run.console
    assert "Pull requests to open:" not in run.console
    assert "Of the other repositories: 2 failed" in run.console
    assert "Preview of what" not in run.console


# --- A log of two screens -------------------------------------------------------------------


def test_the_log_has_every_write_and_is_short(many: Start, make: Make, action: Action) -> None:
    """Each write has a line with its address. The others are counted, and are in the table."""
    make(5, 150)
    steps: list[tuple[dict[str, str], int]] = [
        ({"mode": "plan"}, 0),
        ({"max_pull_requests": "60"}, 60),
        ({"max_pull_requests": "5"}, 5),
        ({"mode": "check"}, 0),
        ({"mode": "withdraw"}, 65),
    ]
    for inputs, number in steps:
        run = many(inputs, env=action.keeping)
        assert len(run.lines) < 100, (inputs, len(run.lines), run.stdout)
        assert "The table has all repositories. Lines that the log leaves out: " in run.stdout
        assert len({row["repository"] for row in action.rows(run)}) == 155
        done = {"opened", "withdrawn"}
        urls = [row["pull_request"] for row in run.report["many"]["rows"] if row["state"] in done]
        assert len(urls) == number
        assert [url for url in urls if f": {url}" not in run.stdout] == []
        left = "Repositories in which the branch of a withdrawn pull request is left"
        for text in (run.stdout, run.summary):
            assert (left in text) == (number == 65)


def test_the_time_that_is_left_is_said_when_it_changes(many: Start, make: Make) -> None:
    make(0, 50)
    run = many(labels="chore", assignees="hubot")
    left = re.findall(r"\(about (\d+) min left\)", run.stdout)
    assert left == sorted({*left}, reverse=True) == ["3", "2", "1"]


def test_a_plan_has_at_most_twenty_lines_for_each_state(many: Start, make: Make) -> None:
    make(0, 41)
    lines = many(mode="plan").or_fail().lines
    assert sum(line.startswith("octo-org/r") for line in lines) == 20


def test_outputs_and_rows_say_what_became_of_several_repositories(
    many: Start, make: Make, action: Action
) -> None:
    declined, waiting = made = make(0, 2)
    for each in made:
        each.person.commit({"same.md": b"same\n"})
    opened = many(definitions=action.listing_of({"a.md": "A\n"})).or_fail()
    names = ("branch", "pull_request_number", "pull_request_url", "pull_request_operation")
    assert [opened.outputs[name] for name in names] == [""] * 4
    declined.person.close(1)
    listed = {"a.md": "changed\n", "same.md": "same\n"}
    plan = many(definitions=action.listing_of(listed), mode="plan").or_fail()
    assert plan.outputs["incomplete"] == "1"
    assert "same.md" not in plan.summary
    assert "| List |" not in plan.summary
    rows = {
        row["repository"]: (row["state"], row["pull_request"])
        for row in plan.report["many"]["rows"]
    }
    assert rows == {
        each.full_name: (state, f"{each.html_url}/pull/1")
        for each, state in ((declined, "declined"), (waiting, "to update"))
    }
    budget = plan.report["many"]["budget"]
    told = [budget[name] for name in ("to_update", "updates", "closes", "declined", "unset")]
    assert told == [1, 1, 0, 1, 0]
    assert budget["points_left"] > 4_000


def test_of_one_repository_the_outputs_of_many_name_none(many: Start, make: Make) -> None:
    make(0, 1)
    assert many().or_fail().outputs["pull_request_number"] == ""
