"""The result of a run over many repositories: step summary, outputs, its part of the report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from registrar.models.evidence import KINDS
from registrar.models.fleet import FleetResult, FleetRow, FleetState, PullState
from registrar.models.result import FileResult, RegistrationResult
from registrar.models.spec import Mode
from registrar.reporting import fleet_messages, markdown
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message, msg

ROWS_PER_CAUSE = 200
"""Repositories of one state and cause that a table shows at most; the rest is counted."""


def step_summary(
    result: FleetResult, registrations: Sequence[RegistrationResult], catalogue: Catalogue
) -> str:
    """Outcome, budget, then the repositories that are not complete, grouped by cause (Markdown)."""

    def text(message: Message) -> str:
        return catalogue.text(message, escaping.for_markdown_code)

    messages = (fleet_messages.outcome(result), fleet_messages.evidence(result))
    sentences = [each for each in messages if each]
    told = catalogue.sentences(sentences, escaping.for_markdown_code)
    lines = [f"## {text(msg('fleet.heading'))}", "", told, ""]
    if result.stopped:
        lines += [f"**{text(result.stopped)}**", ""]
    if result.budget:
        budget = fleet_messages.budget_sentences(result.budget)
        lines += [*(f"- {text(each)}" for each in budget), ""]
    for note in (*result.notes, *fleet_messages.notes(registrations)):
        lines += markdown.quoted(text(note))
    for rows in fleet_messages.by_cause(result):
        lines += _group(rows[0].state, rows, catalogue)
    if result.mode is not Mode.REGISTER:
        lines += _missing_files(registrations, catalogue)
    for kind in KINDS:
        if kind in result.with_notable:
            lines += _notable(kind, result, catalogue)
    return "\n".join(lines) + "\n"


def _group(kind: FleetState, rows: Sequence[FleetRow], catalogue: Catalogue) -> list[str]:
    def text(message: Message) -> str:
        return catalogue.text(message, escaping.for_markdown_code)

    title = text(msg(f"fleet.count_{kind}", count=len(rows)))
    failure = rows[0].failure
    shown = list(_table(rows[:ROWS_PER_CAUSE], catalogue))
    if len(rows) > ROWS_PER_CAUSE:
        shown += ["", text(msg("fleet.more_rows", count=len(rows) - ROWS_PER_CAUSE))]
    lines: list[str] = []
    if failure:
        lines = [f"**{title}:** " + text(failure.cause.message).replace("\n", "<br>"), ""]
    is_open = kind is FleetState.FAILED or len(rows) <= markdown.ROWS_UNFOLDED
    return [*lines, *markdown.folded(title, shown, is_open=is_open)]


def _missing_files(
    registrations: Sequence[RegistrationResult], catalogue: Catalogue
) -> Iterator[str]:
    """Which files are missing in each repository; what does not fit is counted."""
    lacking = [(each, [_named(file) for file in each.to_create]) for each in registrations]
    lacking = [(each, paths) for each, paths in lacking if paths]
    if not lacking:
        return
    those = (
        (fleet_messages.link(each.repository, each.html_url), each.list_name, paths)
        for each, paths in lacking[:ROWS_PER_CAUSE]
    )
    lines = list(_paths_table("missing", those, catalogue))
    if len(lacking) > ROWS_PER_CAUSE:
        lines += ["", catalogue.text(msg("fleet.more_rows", count=len(lacking) - ROWS_PER_CAUSE))]
    title = catalogue.text(msg("fleet.missing_title", count=len(lacking)))
    yield from markdown.folded(title, lines)


def _notable(kind: str, result: FleetResult, catalogue: Catalogue) -> Iterator[str]:
    """Where something is there that deserves a look; what does not fit is counted."""
    rows = result.with_notable[kind]
    those = ((fleet_messages.name_of(row), row.list_name, row.notable[kind]) for row in rows)
    lines = list(_paths_table("paths", those, catalogue))
    if more := result.rows_with[kind] - len(rows):
        lines += ["", catalogue.text(msg("page.not_shown", count=more))]
    title = msg(f"evidence.{kind}", count=result.notable[kind])
    yield from markdown.folded(catalogue.text(title), lines)


def _paths_table(
    title: str, those: Iterable[tuple[str, str, Sequence[str | Message]]], catalogue: Catalogue
) -> Iterator[str]:
    """Give a row for each repository, list and paths; ``title`` is that of the paths."""
    names = ("repository", "list", title)
    yield markdown.row(*(catalogue.text(msg(f"fleet.table_{name}")) for name in names))
    yield markdown.row(*("---" for _ in names))
    for repository, list_name, paths in those:
        yield markdown.row(
            catalogue.shown(repository, escaping.for_markdown_code),
            markdown.code(list_name, catalogue),
            catalogue.text(msg("fleet.missing_files", paths=paths), escaping.for_markdown_code),
        )


def _named(file: FileResult) -> str | Message:
    """A path, with the rule that it is from."""
    path = file.definition.path
    return msg("state.with_reason", state=path, reason=file.rule) if file.rule else path


def _table(rows: Sequence[FleetRow], catalogue: Catalogue) -> Iterator[str]:
    def text(message: Message) -> str:
        return catalogue.text(message, escaping.for_markdown_code)

    names = ("repository", "list", "files", "outcome")
    yield markdown.row(*(text(msg(f"fleet.table_{name}")) for name in names))
    yield markdown.row(*("---" for _ in names))
    for row in rows:
        yield markdown.row(
            catalogue.shown(fleet_messages.name_of(row), escaping.for_markdown_code),
            markdown.code(row.list_name, catalogue),
            str(row.missing),
            text(fleet_messages.state(row)).replace("\n", "<br>"),
        )


def outputs(result: FleetResult | None) -> dict[str, str]:
    """The outputs that only a run over many repositories has. None of them holds a name."""
    if result is None:
        return dict.fromkeys(("repositories", "incomplete", "deferred", "matrix"), "")
    planned = result.budget.deferred if result.budget else 0
    deferred = result.counts[FleetState.DEFERRED] if result.mode is Mode.REGISTER else planned
    matrix = [str(shard) for shard in result.budget.matrix] if result.budget else []
    return {
        "repositories": str(result.repositories),
        "incomplete": str(result.incomplete),
        "deferred": str(deferred),
        "matrix": json.dumps(matrix),
    }


def document(result: FleetResult, catalogue: Catalogue) -> dict[str, object]:
    """The part ``fleet`` of the report (``schemas/report.schema.json``)."""

    def text(message: Message | None) -> str | None:
        return None if message is None else catalogue.text(message, str)

    budget = result.budget
    counts = budget.counts if budget else None
    return {
        "repositories": result.repositories,
        "states": {each.value: result.counts[each] for each in FleetState},
        "stopped": text(result.stopped),
        "notes": [text(note) for note in result.notes],
        "rules": [
            {"list": catalogue.shown(name, str), "rule": number, "repositories": count}
            for (name, number), count in result.rules.items()
        ],
        "budget": {
            "found": counts.found,
            "selected": counts.selected,
            "excluded": {reason.value: count for reason, count in counts.excluded.items()},
            "queries": counts.queries,
            "points_left": counts.points_left,
            "missing": counts.missing,
            "proposed": counts.proposed,
            "to_update": counts.of[PullState.TO_UPDATE],
            "declined": counts.of[PullState.DECLINED],
            "unread": counts.unread,
            "now": budget.now,
            "deferred": budget.deferred,
            "seconds": budget.seconds,
            "matrix": [str(shard) for shard in budget.matrix],
        }
        if budget and counts
        else None,
        "rows": [
            {
                "repository": catalogue.shown(row.repository, str),
                "profile": row.profile,
                "state": row.state,
                "missing": row.missing,
                "reason": text(row.failure.message if row.failure else None),
                "pull_request": catalogue.shown(row.pull_request.url, str)
                if row.pull_request
                else None,
            }
            for row in result.rows
        ],
    }
