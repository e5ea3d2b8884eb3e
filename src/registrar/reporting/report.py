"""The output for programs: the report (``schemas/report.schema.json``), and the step's outputs."""

import json
from collections.abc import Callable, Mapping

from registrar.models.record import Record
from registrar.models.run_result import ManyResult, RunResult
from registrar.models.settings import FailOn
from registrar.models.standing import Completeness, by_group
from registrar.models.status import Status
from registrar.reporting.rows import Row, rows_of
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message

VERSION = 1
REPORT_CHARACTERS = 500_000
"""A larger report is written only to its file, because the runner accepts 1 MB for all outputs of a
job."""
FILES = ("report_path", "table_path", "page_path")
"""The outputs that name a file."""
_FOUND = {each: each.value for each in FailOn} | {FailOn.DIFFERS: "differing"}
COUNTS = ("created", "skipped", "failed", *_FOUND.values())


def render(result: RunResult, catalogue: Catalogue) -> str:
    """Return the report as JSON, on one line."""
    document = {
        "version": VERSION,
        "exit_code": result.exit_code,
        "errors": [catalogue.text(diagnostic.message) for diagnostic in result.diagnostics],
        "registrations": [_registration(each, catalogue) for each in result.registrations],
        **({"many": _many(result.many, catalogue)} if result.many else {}),
    }
    # ASCII, so that no character in it can end a line or an output
    return json.dumps(document)


def _registration(registration: Record, catalogue: Catalogue) -> dict[str, object]:
    pull = registration.pull_request

    def text(message: Message | None) -> str | None:
        return None if message is None else catalogue.text(message)

    def shown(value: str) -> str:
        return catalogue.shown(value, str) if value else ""

    return {
        "profile": registration.spec.file_list.defaults.name,
        "repository": shown(registration.repository.full_name),
        "mode": registration.spec.settings.mode,
        "exit_code": registration.exit_code,
        "error": text(registration.failure.message if registration.failure else None),
        "notes": [text(note.message) for note in registration.notes],
        **_counts(registration),
        "branch": shown(registration.branch) or None,
        "base_branch": shown(registration.base_branch) or None,
        "pull_request": {
            "number": pull.number,
            "url": shown(pull.url),
            "operation": registration.operation,
        }
        if pull
        else None,
        "standings": by_group(registration.standings),
        "files": [_file(row, text, shown) for row in rows_of(registration)],
    }


def _counts(registration: Record) -> dict[str, int]:
    done = (registration.created, registration.skipped, registration.failed)
    return dict(zip(COUNTS, (*done, *registration.found_of(_FOUND)), strict=True))


def _file(
    row: Row, text: Callable[[Message | None], str | None], shown: Callable[[str], str]
) -> dict[str, object]:
    """Return the known values of a path.

    Unknown values are left out, because over many repositories they would fill the report.
    """
    known = {
        "hides": shown(row.hides),
        "rule": row.rule,
        "parts": list(row.parts),
        "found_path": shown(row.found_path),
        "blob": row.blob,
        "conflicts_with": shown(row.conflicts_with),
    }
    return {
        "path": shown(row.path),
        "done": row.done,
        "standing": row.standing,
        "reason": text(row.reason),
        "commit": shown(row.commit) or None,
        **{name: value for name, value in known.items() if value},
    }


def outputs(result: RunResult, report: str, files: Mapping[str, str]) -> dict[str, str]:
    """Return the outputs of the step, by their names.

    With several registrations, or over many repositories, the counts are sums, and the outputs
    about a branch or a pull request are empty. ``files`` are the names of the written files, by
    their outputs.
    """
    registrations = result.registrations
    only = registrations[0] if len(registrations) == 1 and result.many is None else None
    pull = only.pull_request if only else None
    counts = dict.fromkeys(COUNTS, 0)
    for registration in registrations:
        for name, count in _counts(registration).items():
            counts[name] += count
    if result.many:
        # Also counts repositories without a registration, for example deferred ones
        counts |= {name: result.many.end.found(kind) for kind, name in _FOUND.items()}
    return {
        **{name: str(count) for name, count in counts.items()},
        "branch": only.branch if only else "",
        "pull_request_number": str(pull.number) if pull else "",
        "pull_request_url": pull.url if pull else "",
        "pull_request_operation": only.operation if only else "",
        **_outputs_of_many(result.many),
        "report": report if escaping.characters(report) <= REPORT_CHARACTERS else "",
        **{name: files.get(name, "") for name in FILES},
    }


def _outputs_of_many(result: ManyResult | None) -> dict[str, str]:
    """Return the outputs that only a run over many repositories has; they contain no names."""
    if result is None:
        names = ("repositories", "incomplete", "failed_repositories", "deferred")
        return dict.fromkeys(names, "")
    deferred = result.budget.deferred if result.budget else 0
    if not result.settings.mode.only_reads:
        deferred = result.end.lists[Status.DEFERRED]
    return {
        "repositories": str(result.repositories),
        "incomplete": str(result.end.repositories - result.end.reach(Completeness.DONE)),
        "failed_repositories": str(result.end.states[Status.FAILED]),
        "deferred": str(deferred),
    }


def _many(result: ManyResult, catalogue: Catalogue) -> dict[str, object]:
    counts = result.end.states
    # At the end, a pull request that was to be withdrawn and is still open counts as deferred
    states = {each.value: counts[each] for each in Status if each is not Status.TO_WITHDRAW}
    budget = result.budget
    return {
        "repositories": result.repositories,
        "states": states,
        "standings": by_group(result.end.standings),
        "stopped": catalogue.text(result.stopped) if result.stopped else None,
        "notes": [catalogue.text(note) for note in result.notes],
        "rules": [
            {"list": catalogue.shown(name, str), "rule": number, "repositories": count}
            for (name, number), count in result.rules.items()
        ],
        "budget": {
            "found": budget.found,
            "selected": budget.selected,
            "excluded": {reason.value: count for reason, count in budget.excluded.items()},
            "queries": budget.queries,
            "points_left": budget.points_left,
            "missing": budget.reading.with_missing,
            "proposed": budget.reading.proposed,
            "to_update": budget.reading.needed[Status.TO_UPDATE],
            "to_close": budget.reading.to_close,
            "withdrawable": budget.reading.withdrawable,
            "declined": budget.reading.needed[Status.DECLINED],
            "unset": budget.reading.needed[Status.UNSET],
            "pull_requests_unread": budget.reading.without_pull_requests,
            "guessed": budget.guessed,
            "now": budget.now,
            "updates": budget.updates,
            "closes": budget.closes,
            "descriptions": budget.descriptions,
            "deferred": budget.deferred,
            "seconds": budget.seconds,
        }
        if budget
        else None,
        "rows": [_row(row, catalogue) for row in result.rows],
    }


def _row(row: Record, catalogue: Catalogue) -> dict[str, object]:
    pull, failure = row.pull_request or row.declined_in, row.first_failure
    return {
        "repository": catalogue.shown(row.repository.full_name, str),
        "profile": row.spec.file_list.defaults.name,
        "base_branch": catalogue.shown(row.base_branch, str) or None,
        "state": row.status,
        "missing": row.wanted,
        "reason": catalogue.text(failure.message) if failure else None,
        "pull_request": catalogue.shown(pull.url, str) if pull else None,
    }
