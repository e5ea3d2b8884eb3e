"""In the files of the runner, a large summary is cut, and no output can begin another one."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registrar.models.files import FileDefinition
from registrar.models.paths import by_path
from registrar.models.record import Record
from registrar.models.repository import Repository
from registrar.models.run_result import RunResult
from registrar.models.standing import Standing
from registrar.privacy import Privacy
from registrar.reporting.reporter import Reporter
from registrar.reporting.runner import Console, RunnerFiles
from registrar.reporting.summary import cut
from registrar.texts.escaping import Redactor
from registrar.texts.messages import Languages
from tests.harness import read_file_command
from tests.values import in_state, spec

MEBIBYTE = 1024 * 1024


def files(directory: Path) -> RunnerFiles:
    environ = {name: str(directory / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    environ["RUNNER_TEMP"] = str(directory)
    return RunnerFiles(environ, Redactor("secret-token"))


def shorten(markdown: str, size: int) -> str:
    """Return a summary that is cut to a length."""
    return cut(markdown, size, "(cut)")


@pytest.mark.parametrize("used", [0, 1000, MEBIBYTE - 40])
@pytest.mark.parametrize("line", ["| a | b |\n", "| 日本語 | 😀 |\n"])
def test_a_summary_that_is_too_large_is_cut_with_a_note(
    tmp_path: Path, used: int, line: str
) -> None:
    file = tmp_path / "GITHUB_STEP_SUMMARY"
    file.write_bytes(b"x" * used)
    files(tmp_path).summary(line * 120_000, shorten)
    data = file.read_bytes()
    assert len(data) <= MEBIBYTE
    assert data.decode().endswith("\n\n(cut)\n")
    kept = data.decode()[used:].removesuffix("\n\n(cut)\n")
    assert (line * 120_000).startswith(kept)


def test_a_summary_that_fits_is_not_cut(tmp_path: Path) -> None:
    text = "x" * MEBIBYTE
    files(tmp_path).summary(text, shorten)
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text() == text


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,10}", fullmatch=True),
        st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]))
        | st.sampled_from(["a<<b", "a=b", "a\nbranch=owned", "a\nbranch<<EOF\nowned\nEOF", ""]),
    )
)
@settings(suppress_health_check=list(HealthCheck))
def test_outputs_come_back_as_they_were_written(tmp_path: Path, values: dict[str, str]) -> None:
    file = tmp_path / "GITHUB_OUTPUT"
    file.unlink(missing_ok=True)
    files(tmp_path).outputs(values)
    assert read_file_command(file.read_text("utf-8") if file.exists() else "") == values


def test_delimiters_of_outputs_are_never_the_same(tmp_path: Path) -> None:
    files(tmp_path).outputs({"a": "1", "b": "2"})
    files(tmp_path).outputs({"a": "1", "b": "2"})
    lines = (tmp_path / "GITHUB_OUTPUT").read_text().splitlines()
    assert len({line.partition("<<")[2] for line in lines if "<<" in line}) == 4


@pytest.mark.parametrize("room", [0, 1, 10, 40, 200])
def test_a_summary_without_room_is_not_pushed_over_the_limit(tmp_path: Path, room: int) -> None:
    file = tmp_path / "GITHUB_STEP_SUMMARY"
    file.write_bytes(b"x" * (MEBIBYTE - room))
    assert not files(tmp_path).summary("a line\n" * 100, shorten)
    assert MEBIBYTE - room <= len(file.read_bytes()) <= MEBIBYTE


@pytest.mark.parametrize("has_kubernetes", [True, False])
def test_a_temporary_directory_that_is_not_there(
    tmp_path: Path, has_kubernetes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Kubernetes hooks of the runner mount it at another place, or not at all."""
    kubernetes = tmp_path / "__w"
    if has_kubernetes:
        kubernetes.mkdir()
    environ = {"RUNNER_TEMP": str(tmp_path / "gone")}
    monkeypatch.setattr("registrar.reporting.runner.TEMPORARY_OF_KUBERNETES", kubernetes)
    name = RunnerFiles(environ, Redactor("")).report("{}")
    assert bool(name) is has_kubernetes
    assert [file.name for file in tmp_path.glob("**/*.json")] == [name] * has_kubernetes


def test_a_device_may_take_the_place_of_a_file() -> None:
    """``GITHUB_STEP_SUMMARY=/dev/null`` is a common way to have no summary."""
    environ = {"GITHUB_STEP_SUMMARY": "/dev/null"}
    assert RunnerFiles(environ, Redactor("")).summary("x", shorten)


def test_the_title_of_a_group_is_no_escape_of_the_runner() -> None:
    stdout = io.StringIO()
    with Console({"GITHUB_ACTIONS": "true"}, stdout, io.StringIO(), Redactor("")).group("100%0A"):
        assert stdout.getvalue() == "::group::100%250A\n"


@pytest.mark.parametrize("room", [20, 20_000])
def test_a_summary_that_was_cut_is_a_warning(tmp_path: Path, room: int) -> None:
    file = tmp_path / "GITHUB_STEP_SUMMARY"
    file.write_bytes(b"x" * (MEBIBYTE - room))
    stderr = io.StringIO()
    console = Console({file.name: str(file)}, io.StringIO(), stderr, Redactor(""))
    paths = by_path([in_state(FileDefinition("a"), Standing.TO_CREATE)])
    result = Record(spec(), Repository("octo/example", "", ""), paths=paths)
    Reporter(console, Languages("en", "en"), Privacy("", "")).report_run(RunResult([result]))
    warned = "The step summary was too large; a part of it is missing." in stderr.getvalue()
    assert warned is (room == 20)


def test_what_cannot_be_rendered_hides_neither_outputs_nor_the_rest(tmp_path: Path) -> None:
    environ = {name: str(tmp_path / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    stderr = io.StringIO()
    console = Console(environ, io.StringIO(), stderr, Redactor(""))
    reporter = Reporter(console, Languages("en", "en"), Privacy("", ""))
    unusable: Any = "no failure"
    files = (in_state(FileDefinition("a"), Standing.TO_CREATE),)
    result = Record(
        spec(), Repository("octo/example", "", ""), paths=by_path(files), failure=unusable
    )
    reporter.report_run(RunResult([result]))
    outputs = read_file_command((tmp_path / "GITHUB_OUTPUT").read_text("utf-8"))
    assert (outputs["missing"], outputs["report"]) == ("1", "")
    assert stderr.getvalue().count("Please report this line") == 3
