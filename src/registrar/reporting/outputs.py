"""The outputs of the step."""

from __future__ import annotations

from registrar.models.run import RunResult
from registrar.reporting import fleet_report
from registrar.texts import escaping

REPORT_CHARACTERS = 500_000
"""A larger report is a file only: the runner takes 1 MB for all outputs of a job."""
COUNTS = ("created", "skipped", "failed", "missing")


def outputs(result: RunResult, report: str, path: str) -> dict[str, str]:
    """Names and values; of several registrations only the counts, summed."""
    registrations = result.registrations
    only = registrations[0] if len(registrations) == 1 and result.fleet is None else None
    pull = only.pull_request if only else None
    counts = {name: sum(getattr(r, name) for r in registrations) for name in COUNTS}
    if result.fleet:
        # A row without a registration, because it was deferred for example, lacks files, too
        counts["missing"] = sum(row.missing for row in result.fleet.rows)
    return {
        **{name: str(count) for name, count in counts.items()},
        "branch": only.branch if only else "",
        "pull_request_number": str(pull.number) if pull else "",
        "pull_request_url": pull.url if pull else "",
        "pull_request_operation": only.operation if only else "",
        **fleet_report.outputs(result.fleet),
        "report": report if escaping.characters(report) <= REPORT_CHARACTERS else "",
        "report_path": path,
    }
