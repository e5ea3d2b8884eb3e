"""The runner's files: too large a summary is cut, and no output can begin another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registrar.reporting.runner_files import RunnerFiles
from registrar.reporting.summary import cut
from registrar.texts.escaping import Redactor
from tests.harness import read_file_command

MEBIBYTE = 1024 * 1024


def files(directory: Path) -> RunnerFiles:
    environ = {name: str(directory / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    environ["RUNNER_TEMP"] = str(directory)
    return RunnerFiles(environ, Redactor("secret-token"))


def shorten(markdown: str, size: int) -> str:
    """How a summary is made to fit."""
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


def test_the_token_is_taken_out_of_all_three(tmp_path: Path) -> None:
    writer = files(tmp_path)
    writer.summary("a secret-token b", shorten)
    writer.outputs({"a": "secret-token"})
    writer.report('"secret-token"')
    assert len(list(tmp_path.iterdir())) == 3
    for file in tmp_path.iterdir():
        assert "secret-token" not in file.read_text()
        assert "***" in file.read_text()
