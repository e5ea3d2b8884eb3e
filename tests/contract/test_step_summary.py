"""The step summary as a person reads it: outcome, counts, what failed, paths, in this order."""

from __future__ import annotations

import re

import pytest

from tests.contract.test_run import MISSING
from tests.contract.test_users_words import SCAFFOLD
from tests.fakehub import Repository, StandInHost
from tests.gfm import only_ours
from tests.harness import LIST_BRANCH, SINGLE, Action, Start, inject_fault, refuse


def test_outcome_and_pull_request_then_counts_then_paths(
    single: Start, repository: Repository
) -> None:
    text = single(assignees="stranger").summary
    link = f"[#1]({repository.html_url}/pull/1)"
    parts = (link, "| Item | Count |", "`stranger`", "| Path | State | Description |")
    assert [text.count(part) for part in parts] == [1] * len(parts), text
    found = [text.index(part) for part in parts]
    assert found == sorted(found)
    assert text.startswith("## ")
    only_ours(text)


OUTCOMES = {
    ("en", "register"): "Files: 27 created, 2 present (29 in all).",
    ("ja", "register"): "全 29 件: 作成 27 件、既存 2 件。",
    ("en", "plan"): "Files: 27 to create, 2 present (29 in all). Nothing was written.",
    ("ja", "check"): "全 29 件: 作成予定 27 件、既存 2 件。何も書き込んでいません。",
}


@pytest.mark.parametrize(("language", "mode"), OUTCOMES)
def test_the_first_sentence_is_the_outcome_in_numbers(
    single: Start, repository: Repository, language: str, mode: str
) -> None:
    run = single(language=language, mode=mode)
    sentence = OUTCOMES[language, mode]
    assert run.summary.split("\n\n")[1].startswith(sentence)
    assert sentence in run.lines[-10 if mode == "plan" else -9]
    # Every path has its row
    rows = only_ours(run.summary).paths
    assert set(rows) == set(SCAFFOLD)


def test_a_run_that_ends_early_counts_what_it_did_not_come_to_as_failed(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    inject_fault(host, "PUT contents/c", times=None, status=429, headers={"Retry-After": "99999"})
    run = action(definitions=action.listing("a", "b", "c", "d"), language="en")
    assert run.exit_code == 1
    assert "Files: 2 created, 2 failed (4 in all)." in run.summary
    counts = [run.outputs[name] for name in ("created", "skipped", "failed")]
    assert counts == ["2", "0", "2"]
    # What was not begun names the limit, and when it ends
    rows = only_ours(run.summary).paths
    for path in ("c", "d"):
        assert re.fullmatch(r"not reached \(.*limit.*, until 20\d\d-.* UTC\)", rows[path][0]), rows
    assert run.registration["files"][3]["done"] == "pending"
    assert "limit" in run.registration["files"][3]["reason"]


@pytest.mark.parametrize("mode", ["register", "plan"])
def test_one_file_is_counted_in_right_words(
    single: Start, action: Action, repository: Repository, mode: str
) -> None:
    run = single(definitions=action.listing("a.md"), mode=mode, commit_message="Add {path}")
    assert f"Files: 1 {'created' if mode == 'register' else 'to create'} (1 in all)." in run.summary
    text = run.text + "".join(pull.body or "" for pull in repository.pull_requests)
    assert not re.search(r"\b1 (?!listed)\w+s\b", text), text
    if mode == "register":
        assert repository.log(LIST_BRANCH)[0].message.splitlines()[0] == "Add a.md"


@pytest.mark.parametrize("mode", ["register", "plan", "check"])
def test_nothing_missing_is_one_line_and_the_counts(
    single: Start, action: Action, repository: Repository, mode: str
) -> None:
    run = single(definitions=action.listing("README.md", ".gitignore"), mode=mode, runner=True)
    page = only_ours(run.summary)
    assert [row[1] for row in page.rows[1:]] == ["0", "2", "0"]
    assert page.paths == {}
    sentence = "every listed file exists already (2)"
    assert page.text.count(sentence) == 1
    assert run.outputs["missing"] == "0"
    # What was checked is folded
    outside = re.sub(r"(?s)::group::.*?::endgroup::\n", "", run.stdout).splitlines()
    assert len(outside) == 1 + 8
    assert sentence in outside[0]


@pytest.mark.parametrize(("count", "opened"), [(1, True), (10, True), (11, False), (29, False)])
@pytest.mark.parametrize("mode", ["register", "plan"])
def test_a_long_list_is_folded_and_a_short_one_is_not(
    action: Action, repository: Repository, mode: str, count: int, opened: bool
) -> None:
    definitions = action.listing(*(f"f{number}" for number in range(count)))
    text = action(mode=mode, definitions=definitions, commit_strategy=SINGLE, language="en").summary
    tag = "<details open>" if opened else "<details>"
    assert f"{tag}\n<summary>All files ({count})</summary>\n\n| Path |" in text
    assert text.count("<details") == text.count("</details>") == (1 if mode == "register" else 2)


RULE = "Repository rule violations found\n\n- Changes must be made through a pull request.\n\n"


def test_one_cause_is_reported_once(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    refuse(host, "PUT contents/", status=409, message=RULE)
    run = action(runner=True, language="en")
    assert run.exit_code == 1
    [annotation] = run.annotations()
    assert "Repository rule violations found\n- Changes must" in annotation.data
    page = only_ours(run.summary)
    [item] = page.items
    assert item.count("Repository rule violations found") == 1
    assert all(path in item for path in MISSING)
    assert run.summary.index("- Changes must") < run.summary.index("<details")
    assert "\\n" not in run.console + run.summary
    assert run.outputs["missing"] == run.outputs["failed"] == "27"
    # The log gives the reason once
    failed = [line for line in run.lines if ": failed (" in line]
    assert [line.endswith("failed (for the same reason)") for line in failed] == [
        False,
        *[True] * 26,
    ]


def test_each_cause_has_its_own_paths_the_most_frequent_first(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    refuse(host, "PUT contents/b", status=422, message="Odd")
    refuse(host, "PUT contents/", status=409, message=RULE)
    run = action(definitions=action.listing("b", "a", "c"), runner=True, language="en")
    first, second = (annotation.data for annotation in run.annotations())
    assert first.startswith("Not created (2): a ruleset")
    assert "\nFiles: a, c → " in first
    assert second.startswith("b was not created: Odd")
    first, second = only_ours(run.summary).items
    assert "Files: a, c" in first
    assert second.startswith("b was not created: Odd")


def test_declined_is_a_link(single: Start, action: Action, repository: Repository) -> None:
    definitions = action.listing("a", "b")
    single(definitions=definitions)
    repository.person.close(1)
    run = single(definitions=definitions)
    link = f"[#1]({repository.html_url}/pull/1)"
    assert f"| `a` | skipped (declined in {link}) |" in run.summary
    assert "closed their pull request without merging it" in run.summary
    # In the rows, and where it says what to do
    assert run.summary.count(link) == 3
    assert "declined in #1" in run.registration["files"][0]["reason"]
    assert (run.outputs["missing"], run.outputs["declined"]) == ("0", "2")
