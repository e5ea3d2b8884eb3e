"""The outputs of the step."""

from __future__ import annotations

from collections.abc import Sequence

from registrar.models.fleet import FleetResult
from registrar.models.result import RegistrationResult
from registrar.reporting import console, fleet
from registrar.texts import escaping

REPORT_CHARACTERS = 500_000
"""A larger report is a file only: the runner takes 1 MB for all outputs of a job."""
COUNTS = (*console.COUNTS, "missing")


def outputs(
    registrations: Sequence[RegistrationResult],
    report: str,
    path: str,
    many: FleetResult | None = None,
) -> dict[str, str]:
    """Names and values; of several registrations only the counts, summed."""
    only = registrations[0] if len(registrations) == 1 and many is None else None
    pull = only.pull_request if only else None
    return {
        **{name: str(sum(getattr(r, name) for r in registrations)) for name in COUNTS},
        "branch": only.branch if only else "",
        "pull_request_number": str(pull.number) if pull else "",
        "pull_request_url": pull.url if pull else "",
        "pull_request_operation": only.operation if only else "",
        **fleet.outputs(many),
        "report": report if escaping.characters(report) <= REPORT_CHARACTERS else "",
        "report_path": path,
    }
