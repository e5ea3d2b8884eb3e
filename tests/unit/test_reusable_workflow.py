"""What no run of the reusable workflow shows (tests/container/test_act.py runs it)."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from registrar.inputs.interface import INPUTS
from tests.documents import ROOT

WORKFLOW: dict[Any, Any] = yaml.safe_load(
    (ROOT / ".github/workflows/register-many.yml").read_text("utf-8")
)
JOBS: dict[str, dict[str, Any]] = WORKFLOW["jobs"]


def test_shards_run_one_after_the_other_and_a_run_that_goes_on_is_not_cancelled() -> None:
    strategy = JOBS["shard"]["strategy"]
    assert (strategy["max-parallel"], strategy["fail-fast"]) == (1, False)
    assert WORKFLOW["concurrency"]["cancel-in-progress"] is False


@pytest.mark.parametrize(
    ("job", "own"),
    [
        ("plan", {"mode": "plan"}),
        ("shard", {"mode": "${{ inputs.mode }}", "shard": "${{ matrix.shard }}"}),
        ("result", {"mode": "plan"}),
    ],
)
def test_only_the_shards_write(job: str, own: dict[str, str]) -> None:
    [given] = [step["with"] for step in JOBS[job]["steps"] if step.get("id") == "registrar"]
    assert {name: given[name] for name in given.keys() & {"mode", "shard"}} == own


def test_a_job_may_take_as_long_as_the_longest_run_that_it_accepts() -> None:
    [most] = re.findall(r"inputs\.max_minutes > (\d+)", JOBS["plan"]["steps"][0]["if"])
    waits = int(INPUTS["max_wait_minutes"].default)
    assert all(job["timeout-minutes"] > int(most) + waits for job in JOBS.values())


def test_only_where_it_is_known_to_be_private_table_and_page_are_kept() -> None:
    for job in JOBS.values():
        kept = job["steps"][-1]
        assert kept["with"]["retention-days"] == 14
        # A scheduled event describes no repository; without a page the path is a whole directory
        assert kept["if"] == (
            "${{ !cancelled() && steps.registrar.outputs.page_path && "
            "(github.event.repository.visibility || github.repository_visibility) == 'private' }}"
        )
        # A workflow may call this one twice
        assert kept["with"]["name"].endswith("-${{ job.check_run_id }}")
