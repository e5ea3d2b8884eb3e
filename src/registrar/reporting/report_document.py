"""What programs read: the report (``schemas/report.schema.json``), and the outputs of the step."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from registrar.models.result import FileResult
from registrar.models.run import RunResult
from registrar.models.spec import FailOn
from registrar.reporting import fleet_report
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message

VERSION = 1
REPORT_CHARACTERS = 500_000
"""A larger report is a file only: the runner takes 1 MB for all outputs of a job."""
FILES = ("report_path", "table_path", "page_path")
"""The outputs that name a file."""
_PRESENT = ("blank", "differing", "invalid")
COUNTS = ("created", "skipped", "failed", "missing", *_PRESENT)


def render(result: RunResult, catalogue: Catalogue) -> str:
    """The document as JSON, on one line."""

    def text(message: Message | None) -> str | None:
        return None if message is None else catalogue.text(message, str)

    def shown(value: str) -> str:
        return catalogue.shown(value, str)

    document = {
        "version": VERSION,
        "exit_code": result.exit_code,
        "errors": [text(diagnostic.message) for diagnostic in result.diagnostics],
        "registrations": [
            {
                "profile": registration.profile,
                "repository": shown(registration.repository),
                "mode": registration.mode,
                "exit_code": registration.exit_code,
                "error": text(registration.failure.message if registration.failure else None),
                "notes": [text(note.message) for note in registration.notes],
                **{name: getattr(registration, name) for name in COUNTS},
                "codeowners": [
                    {
                        **error._asdict(),
                        "path": shown(error.path),
                        "kind": shown(error.kind),
                        "message": shown(error.message),
                        "suggestion": shown(error.suggestion) or None,
                    }
                    for error in registration.codeowners
                ],
                "branch": shown(registration.branch) or None,
                "base_branch": shown(registration.base_branch) or None,
                "pull_request": {
                    "number": registration.pull_request.number,
                    "url": shown(registration.pull_request.url),
                    "operation": registration.operation,
                }
                if registration.pull_request
                else None,
                "files": [_file(file, text, shown) for file in registration.files],
            }
            for registration in result.registrations
        ],
        **({"fleet": fleet_report.document(result.fleet, catalogue)} if result.fleet else {}),
    }
    # ASCII, so that nothing in it can be taken for the end of a line or of an output
    return json.dumps(document)


def _file(
    file: FileResult, text: Callable[[Message | None], str | None], shown: Callable[[str], str]
) -> dict[str, object]:
    """What is known of a path; of many repositories what is not known would fill the report."""
    found = file.found
    known = {
        "hides": shown(file.hides),
        "rule": file.definition.rule,
        "presence": found.presence if found else "",
        "found_path": shown(found.path) if found and found.path != file.definition.path else "",
        "blob": found.blob if found else "",
    }
    return {
        "path": shown(file.definition.path),
        "state": file.state,
        "reason": text(file.explanation),
        "commit": shown(file.commit) or None,
        **{name: value for name, value in known.items() if value},
    }


def outputs(result: RunResult, report: str, files: Mapping[str, str]) -> dict[str, str]:
    """Names and values; of several registrations only the counts, summed.

    ``files`` names those of `FILES` that were written.
    """
    registrations = result.registrations
    only = registrations[0] if len(registrations) == 1 and result.fleet is None else None
    pull = only.pull_request if only else None
    counts = {name: sum(getattr(r, name) for r in registrations) for name in COUNTS}
    if result.fleet:
        # A row without a registration, because it was deferred for example, lacks files, too
        counts["missing"] = sum(row.missing for row in result.fleet.rows)
        found = map(result.fleet.count, (FailOn.BLANK, FailOn.DIFFERS, FailOn.INVALID))
        counts.update(zip(_PRESENT, found, strict=True))
    return {
        **{name: str(count) for name, count in counts.items()},
        "branch": only.branch if only else "",
        "pull_request_number": str(pull.number) if pull else "",
        "pull_request_url": pull.url if pull else "",
        "pull_request_operation": only.operation if only else "",
        **fleet_report.outputs(result.fleet),
        "report": report if escaping.characters(report) <= REPORT_CHARACTERS else "",
        **{name: files.get(name, "") for name in FILES},
    }
