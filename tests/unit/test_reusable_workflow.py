"""The jobs of the reusable workflow; tests/container/test_act.py runs them."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from registrar.inputs.table import INPUTS
from tests.documents import ROOT

WORKFLOW: dict[Any, Any] = yaml.safe_load(
    (ROOT / ".github/workflows/register-many.yml").read_text("utf-8")
)
JOBS: dict[str, dict[str, Any]] = WORKFLOW["jobs"]


def parts(condition: str, operator: str) -> list[str]:
    return condition.removeprefix("${{ ").removesuffix(" }}").split(operator)


def test_shards_run_one_after_the_other_where_there_is_work_and_a_plan_ends_it() -> None:
    plan, shard, result = (JOBS[name] for name in ("plan", "shard", "result"))
    assert plan["outputs"]["matrix"] == "${{ steps.registrar.outputs.matrix }}"
    strategy = shard["strategy"]
    assert (strategy["max-parallel"], strategy["fail-fast"]) == (1, False)
    assert strategy["matrix"] == {"shard": "${{ fromJSON(needs.plan.outputs.matrix) }}"}
    assert (shard["needs"], result["needs"]) == ("plan", ["plan", "shard"])
    for job in (shard, result):
        assert parts(job["if"], " && ") == [
            "!cancelled()",
            "inputs.mode == 'register'",
            """!contains(fromJSON('["", "[]"]'), needs.plan.outputs.matrix)""",
        ]


@pytest.mark.parametrize(
    ("job", "own"),
    [
        ("plan", {"mode": "plan"}),
        ("shard", {"shard": "${{ matrix.shard }}"}),
        ("result", {"mode": "plan"}),
    ],
)
def test_only_the_shards_write(job: str, own: dict[str, str]) -> None:
    given = JOBS[job]["steps"][-1]["with"]
    assert {name: given[name] for name in given.keys() & {"mode", "shard"}} == own


def test_the_first_step_refuses_what_the_jobs_cannot_do() -> None:
    first = JOBS["plan"]["steps"][0]
    most = 55
    assert parts(first["if"], " || ") == [
        """!contains(fromJSON('["register", "plan"]'), inputs.mode)""",
        f"inputs.max_minutes > {most}",
    ]
    assert first["run"].startswith('echo "::error::')
    assert first["run"].endswith("exit 1\n")
    waits = int(INPUTS["max_wait_minutes"].default)
    assert all(job["timeout-minutes"] > most + waits for job in JOBS.values())


def test_runs_with_one_token_wait_for_each_other() -> None:
    assert WORKFLOW["concurrency"] == {
        "group": "register-many-${{ inputs.client_id || 'token' }}",
        "cancel-in-progress": False,
    }


def test_the_token_of_a_shard_creates_labels_only_when_asked_for() -> None:
    tokens = {name: job["steps"][{"plan": 1}.get(name, 0)]["with"] for name, job in JOBS.items()}
    asked = {name: given.get("permission-issues", "") for name, given in tokens.items()}
    assert asked == {
        "plan": "",
        "shard": "${{ inputs.create_labels && 'write' || '' }}",
        "result": "",
    }
