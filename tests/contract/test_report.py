"""The report for programs: complete however a run ends (schema: `tests.harness.check_report`)."""

from __future__ import annotations

import json
import os
import re
import signal
from typing import Any

import jsonschema_rs
import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import (
    SINGLE,
    Action,
    SignalAt,
    Start,
    report_schema,
    shortened,
)

FIRST = {"per-file": "PUT contents/a", "single": "POST /graphql"}


def test_the_schema_takes_nothing_else(action: Action, repository: Repository) -> None:
    """A field that goes away, changes or comes without a word is found."""
    good = action(definitions=action.listing("a"), commit_strategy=SINGLE).report

    def bad(change: Any) -> bool:
        copy = json.loads(json.dumps(good))
        change(copy)
        return not report_schema().is_valid(copy)

    for field in good:
        assert bad(lambda report, field=field: report.pop(field)), field
    for field in good["registrations"][0]:
        assert bad(lambda report, field=field: report["registrations"][0].pop(field)), field
    for field in good["registrations"][0]["files"][0]:
        changed = {field: [1]}
        assert bad(lambda r, c=changed: r["registrations"][0]["files"][0].update(c)), field
    assert bad(lambda report: report.update(more=1))
    assert bad(lambda report: report.update(version=2))
    assert bad(lambda report: report["registrations"][0].update(profile=""))
    with pytest.raises(jsonschema_rs.ValidationError):
        report_schema().validate({})


# --- However it ends ----------------------------------------------------------------------


def test_each_path_that_was_not_reached_has_the_reason(
    action: Action, repository: Repository, strategy: str
) -> None:
    repository.person.archive()
    listing = action.listing("a.md", "b.md", "README.md")
    run = action(definitions=listing, commit_strategy=strategy, language="en")
    assert (run.outputs["failed"], run.outputs["skipped"]) == ("2", "1")
    *reached, there = run.registration["files"]
    assert there["reason"] == "exists on main"
    for file in reached:
        assert file["done"] == "pending"
        assert "is archived" in file["reason"]
    for path in ("a.md", "b.md"):
        assert re.search(rf"^\| `{path}` \| not reached \(.*is archived", run.summary, re.MULTILINE)


@pytest.mark.parametrize(
    ("strategy", "number"),
    [("per-file", signal.SIGTERM), ("single", signal.SIGINT), ("single", signal.SIGHUP)],
)
def test_a_run_that_is_cancelled(
    action: Action, host: StandInHost, repository: Repository, strategy: str, number: signal.Signals
) -> None:
    host.latency = 0.2
    host.on_request = end = SignalAt(number, lambda request: shortened(request) == FIRST[strategy])
    given = {"definitions": action.listing("a", "b"), "commit_strategy": strategy}
    environ = action.environment(given | {"language": "en"})
    environ |= action.keeping
    run = action.end(end.to(action.begin(environ)), environ)
    assert run.exit_code == run.registration["exit_code"] == 128 + number, run.text
    assert f"Cancelled ({number.name})" in run.registration["error"]
    expected = {"per-file": ["created", "pending"], "single": ["pending", "pending"]}
    assert [*run.outcomes.values()] == expected[strategy]
    assert action.kept(run, "report") == run.outputs["report"]


def test_a_run_under_nohup_outlives_its_terminal(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    host.on_request = hang_up = SignalAt(signal.SIGHUP, lambda _: True)
    environ = action.environment({"definitions": action.listing("a"), "commit_strategy": "single"})
    run = action.end(hang_up.to(action.begin(environ, first=ignore)), environ)
    assert hang_up.sent
    assert (run.exit_code, run.outputs["created"]) == (0, "1"), run.text


# --- Where it is --------------------------------------------------------------------------


def test_the_file_holds_what_the_output_holds(
    single: Start, action: Action, repository: Repository
) -> None:
    directory, env = action.temporary, action.keeping
    paths = ["a", "日本語/\u00e9", "\U0001f600"]
    given = {"definitions": action.listing(*paths)}
    runs = [single(given, mode=mode, env=env) for mode in ("plan", "register")]
    names = [run.outputs["report_path"] for run in runs]
    others = [run.outputs[each] for run in runs for each in ("table_path", "page_path")]
    assert len({*names, *others}) == 6, "two steps of one job do not overwrite each other's files"
    assert sorted(file.name for file in directory.iterdir()) == sorted([*names, *others])
    for run, name in zip(runs, names, strict=True):
        assert (directory / name).read_text("ascii") == run.outputs["report"]
        assert [f["path"] for f in run.registration["files"]] == paths


def test_a_report_too_large_for_an_output_is_a_file_only(
    single: Start, action: Action, repository: Repository
) -> None:
    paths = [f"{'d' * 250}/{number:0>250}" for number in range(1000)]
    run = single(mode="check", definitions=action.listing(*paths), runner=True, env=action.keeping)
    assert run.exit_code == 1
    assert run.outputs["report"] == ""
    assert run.outputs["skipped"] == "0"
    text = action.kept(run, "report")
    assert len(text) > 500_000
    report_schema().validate(json.loads(text))
    assert [f["path"] for f in json.loads(text)["registrations"][0]["files"]] == paths
    assert len(run.summary.encode()) <= 1024 * 1024
    assert "| To create | 1000 |" in run.summary
    assert len(run.annotations()) == 1


@pytest.mark.parametrize("kind", ["gone", "file", ""])
def test_a_directory_that_takes_no_file(
    single: Start, action: Action, repository: Repository, kind: str
) -> None:
    directory = action.directory / kind
    if kind == "file":
        directory.write_bytes(b"")
    env = {"RUNNER_TEMP": str(directory) if kind else ""}
    run = single(definitions=action.listing("a"), runner=True, env=env).or_fail()
    assert run.outputs["report_path"] == ""
    assert run.registration["created"] == 1
    assert run.annotations("warning") == []
    assert "| Created | 1 |" in run.summary


@pytest.mark.parametrize("name", ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"])
def test_a_pipe_in_place_of_a_file_is_refused_and_nothing_waits_for_it(
    action: Action, repository: Repository, name: str
) -> None:
    pipe = action.directory / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) if name == "GITHUB_OUTPUT" else None
    run = action(definitions=action.listing("a"), runner=True, language="en", env={name: str(pipe)})
    assert run.exit_code == 0, run.text
    [warning] = run.annotations("warning")
    assert "cannot be written" in warning.data
    assert "not a regular file" in warning.data or "No such device" in warning.data
    assert ("| Created | 1 |" in run.summary) is (name == "GITHUB_OUTPUT")
    assert bool(run.output_file) is (name == "GITHUB_STEP_SUMMARY")
    if reader is not None:
        os.close(reader)
