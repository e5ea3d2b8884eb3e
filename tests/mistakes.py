"""What a run says of a mistake in its input, in both languages."""

from __future__ import annotations

from tests.harness import Action, Run


def check_error(action: Action, english: str, japanese: str, **inputs: str) -> Run:
    """Run in English off the runner, and in Japanese on it: the error ends it before any request.

    Gives the run on the runner, where errors are annotations; off it they go to standard error.
    """
    run = action(inputs, language="en")
    assert run.exit_code == 2, run.text
    assert any(line.startswith(f"Error: {english}") for line in run.stderr.splitlines()), run.stderr
    assert run.stdout == ""
    assert "Nothing was registered" in run.summary
    assert run.outputs["created"] == "0"
    run = action(inputs, runner=True)
    assert run.exit_code == 2, run.text
    # The runner cuts an annotation at 4,096 characters; then all of it is printed as well
    shown = [annotation.data for annotation in run.annotations()] + run.lines
    assert any(line.removeprefix("エラー: ").startswith(japanese) for line in shown), run.stdout
    assert run.stderr == ""
    assert "何も登録していません" in run.summary
    assert run.outputs["created"] == "0"
    assert action.host.requests == []
    return run
