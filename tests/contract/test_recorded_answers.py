"""Whole runs end as the rows say if each request of one kind gets a recorded answer.

The rows are the answers in `tests/recordings` that have the field `ends`.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.example import BRANCH, Way
from tests.fakehub import StandInHost
from tests.harness import Action
from tests.recordings import Recording, recordings
from tests.texts import pattern_of
from tests.unit.test_recordings import serve

ROWS = [
    pytest.param(each, way, exit_code, id=f"{each.name}-{way}")
    for each in recordings().values()
    for way, exit_code in each.ends.items()
]


@pytest.mark.parametrize(("recording", "way", "exit_code"), ROWS)
def test_a_recorded_answer_ends_a_run_as_its_row_says(
    host: StandInHost, action: Action, recording: Recording, way: str, exit_code: int
) -> None:
    """Once the answer is gone, the next run does everything."""
    kind: Any = recording.token
    action.default_token = host.create_token(kind, scopes=("repo", "workflow"))
    example = Way(action, way)
    given = recording.given
    listed = {given.get("path", "a.md"): "A\n", "b.md": "B\n"}
    inputs = {"definitions": action.listing_of(listed), "max_wait_minutes": "1"}
    for name, values in {
        "labels": ("POST labels", "labels", "docs"),
        "assignees": ("POST assignees", "people", "hubot"),
        "reviewers": ("POST requested_reviewers", "people", "hubot"),
        "team_reviewers": ("POST requested_reviewers", "teams", ""),
    }.items():
        request, field, usual = values
        if recording.request == request:
            inputs[name] = ",".join(given.get(field, [usual]))
    fault = serve(host, recording)
    run = example.run(**inputs)
    assert fault.hits
    said = recording.says or (recording.fails or {})["text"]
    assert pattern_of(said).search(run.console), run.console
    assert run.exit_code == exit_code, run.console
    if exit_code == 2:
        assert example.repository.pull_requests == []
        assert set(example.repository.branches) <= {"main", BRANCH}
    host.faults.clear()
    example.run(**inputs).or_fail()
    [pull] = example.repository.pull_requests
    assert set(listed) <= set(example.repository.files(pull.head))
