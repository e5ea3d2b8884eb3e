"""What people and programs get of a run over many repositories. Text only."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence

from registrar.models.fleet import Budget, FleetResult, FleetState, Row
from registrar.models.spec import Mode
from registrar.reporting import markdown
from registrar.texts import escaping
from registrar.texts.escaping import Link
from registrar.texts.messages import Catalogue, Message, msg

ROWS_PER_CAUSE = 200
"""So many repositories of one state and cause are shown in a table; the rest is counted."""


_ADVICE = {
    FleetState.MISSING: "advice.register",
    FleetState.WAITING: "advice.merge",
    FleetState.DECLINED: "advice.declined",
}
"""What to do about repositories that a check finds."""


_ITS_OWN = frozenset({"host.failed", "pull_request.not_opened"})
"""They name the branch of a repository; their reasons may be those of others, too."""
_IN_STATE = "progress.declined"
"""Beginning of the notes that say no more than the state of a repository."""


def budget_sentences(budget: Budget) -> Iterator[Message]:
    """What the run is going to do, before it does it."""
    excluded = [
        msg(f"fleet.excluded_{reason}", count=count) for reason, count in budget.excluded.items()
    ]
    selected = {"selected": budget.selected, "found": budget.found}
    yield (
        msg("fleet.selected_of", **selected, parts=excluded)
        if excluded
        else msg("fleet.selected", **selected)
    )
    if not budget.selected:
        yield msg("fleet.nothing_read")
        return
    if budget.points_left is None:
        yield msg("fleet.queries", count=budget.queries)
    else:
        yield msg("fleet.queries_and_points", count=budget.queries, left=budget.points_left)
    if not budget.missing:
        yield msg("fleet.nothing_missing")
        return
    counts = {
        "proposed": budget.proposed,
        "to_update": budget.to_update,
        "declined": budget.declined,
        "to_open": budget.now + budget.deferred,
    }
    parts = [msg(f"fleet.missing_{each}", count=count) for each, count in counts.items() if count]
    yield msg("fleet.missing", count=budget.missing, parts=parts)
    if budget.unread:
        yield msg("fleet.missing_unread", count=budget.unread)
    if budget.writes or budget.deferred:
        minutes = _minutes(budget.seconds)
        yield msg("fleet.now", now=budget.now, deferred=budget.deferred, minutes=minutes)
    if budget.points_left is not None and budget.points > budget.points_left:
        yield msg("fleet.points", needed=budget.points, left=budget.points_left)
    if len(budget.matrix) > 1:
        yield msg("fleet.shards", count=len(budget.matrix))


def row_line(row: Row, number: int, total: int, seconds_left: float = 0.0) -> Message:
    """One repository, as it happens."""
    line = msg("fleet.row", number=number, total=total, repository=_name(row), state=state(row))
    if seconds_left <= 0:
        return line
    return msg("fleet.row_with_time", row=line, minutes=_minutes(seconds_left))


def state(row: Row) -> Message:
    """The state of a repository with what belongs to it."""
    text = msg(f"fleet.state_{row.state}", count=row.missing)
    if row.pull_request:
        text = msg("fleet.with_pull_request", state=text, pull_request=row.pull_request.link)
    return msg("state.with_reason", state=text, reason=row.reason) if row.reason else text


def outcome(result: FleetResult) -> Message:
    """The counts of all states in one sentence."""
    counts = ((each, result.counts[each]) for each in FleetState)
    parts = [msg(f"fleet.count_{each}", count=count) for each, count in counts if count]
    return msg("fleet.outcome", parts=parts) if parts else msg("fleet.outcome_empty")


def cause(row: Row) -> Message | None:
    """Why a repository failed, without what is its own about it."""
    reasons = chain(row.reason)
    return next((each for each in reasons if each.key not in _ITS_OWN), None) or row.reason


def chain(message: Message | None) -> list[Message]:
    """A message, its reason, the reason of that one, and so on."""
    found: list[Message] = []
    while message:
        found.append(message)
        inner = message.values.get("reason")
        message = inner if isinstance(inner, Message) else None
    return found


def cause_id(row: Row) -> str:
    """The same for rows that failed for one cause, in the same words but for the names."""
    return _id(chain(row.reason)[-1], row.repository) if row.reason else ""


def _id(message: Message, repository: str) -> str:
    """The same for messages that differ in what is a repository's own only.

    Its branch may hold its name, too.
    """
    words = {name: value for name, value in message.values.items() if name != "branch"}
    text, name = f"{message.key} {words}".lower(), repository.lower()
    return text.replace(name, "").replace(name.partition("/")[2], "")


def notes(result: FleetResult) -> Iterator[Message]:
    """What is worth knowing about repositories besides their states, the most frequent first."""
    found: dict[str, list[tuple[Message, str]]] = {}
    for each in result.registrations:
        name = Link(each.repository, each.html_url) if each.html_url else each.repository
        for note in each.notes:
            if not note.key.startswith(_IN_STATE):
                found.setdefault(_id(note, each.repository), []).append((note, name))
    for those in sorted(found.values(), key=len, reverse=True):
        names = tuple(name for _, name in those)
        yield msg("cause.with_repositories", cause=those[0][0], repositories=names)


def failures(result: FleetResult) -> Iterator[Message]:
    """Why the run fails, each cause with the repositories that have it."""
    for rows in _groups(result):
        kind, reason = rows[0].state, cause(rows[0])
        count = msg(f"fleet.count_{kind}", count=len(rows))
        if kind is FleetState.FAILED:
            found = msg("state.with_reason", state=count, reason=reason) if reason else count
        elif result.mode is Mode.CHECK:
            sentence, advice = msg("fleet.outcome", parts=[count]), _ADVICE[kind]
            found = msg("outcome.check", sentence=sentence, advice=msg(advice))
        else:
            continue
        repositories = tuple(_name(row) for row in rows)
        yield msg("cause.with_repositories", cause=found, repositories=repositories)


def _groups(result: FleetResult) -> Iterator[list[Row]]:
    """The rows of one state and cause each, failures first."""
    groups: dict[tuple[FleetState, str], list[Row]] = {}
    for row in result.rows:
        groups.setdefault((row.state, cause_id(row)), []).append(row)
    for kind in FleetState:
        of_kind = [rows for (each, _), rows in groups.items() if each is kind]
        yield from sorted(of_kind, key=len, reverse=True)


def step_summary(result: FleetResult, catalogue: Catalogue) -> str:
    """Outcome, budget, then the repositories that are not complete, grouped by cause (Markdown)."""

    def text(message: Message) -> str:
        return catalogue.text(message, escaping.for_markdown_code)

    lines = [f"## {text(msg('fleet.heading'))}", "", text(outcome(result)), ""]
    if result.stopped:
        lines += [f"**{text(result.stopped)}**", ""]
    if result.budget:
        lines += [*(f"- {text(each)}" for each in budget_sentences(result.budget)), ""]
    for note in notes(result):
        lines += markdown.quoted(text(note))
    for rows in _groups(result):
        lines += _group(rows[0].state, rows, catalogue)
    return "\n".join(lines) + "\n"


def _group(kind: FleetState, rows: Sequence[Row], catalogue: Catalogue) -> list[str]:
    def text(message: Message) -> str:
        return catalogue.text(message, escaping.for_markdown_code)

    title = text(msg(f"fleet.count_{kind}", count=len(rows)))
    reason = cause(rows[0])
    shown = list(_table(rows[:ROWS_PER_CAUSE], catalogue))
    if len(rows) > ROWS_PER_CAUSE:
        shown += ["", text(msg("fleet.more_rows", count=len(rows) - ROWS_PER_CAUSE))]
    lines = [f"**{title}:** " + text(reason).replace("\n", "<br>"), ""] if reason else []
    is_open = kind is FleetState.FAILED or len(rows) <= markdown.ROWS_UNFOLDED
    return [*lines, *markdown.folded(title, shown, is_open=is_open)]


def _table(rows: Sequence[Row], catalogue: Catalogue) -> Iterator[str]:
    def text(message: Message) -> str:
        return catalogue.text(message, escaping.for_markdown_code)

    names = ("repository", "list", "files", "outcome")
    yield markdown.row(*(text(msg(f"fleet.table_{name}")) for name in names))
    yield markdown.row(*("---" for _ in names))
    for row in rows:
        yield markdown.row(
            catalogue.shown(_name(row), escaping.for_markdown_code),
            row.profile,
            str(row.missing),
            text(state(row)).replace("\n", "<br>"),
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
    return {
        "repositories": result.repositories,
        "states": {each.value: result.counts[each] for each in FleetState},
        "stopped": text(result.stopped),
        "budget": {
            "found": budget.found,
            "selected": budget.selected,
            "excluded": {reason.value: count for reason, count in budget.excluded.items()},
            "queries": budget.queries,
            "points_left": budget.points_left,
            "missing": budget.missing,
            "proposed": budget.proposed,
            "to_update": budget.to_update,
            "declined": budget.declined,
            "unread": budget.unread,
            "now": budget.now,
            "deferred": budget.deferred,
            "seconds": budget.seconds,
            "matrix": [str(shard) for shard in budget.matrix],
        }
        if budget
        else None,
        "rows": [
            {
                "repository": catalogue.shown(row.repository, str),
                "profile": row.profile,
                "state": row.state,
                "missing": row.missing,
                "reason": text(row.reason),
                "pull_request": catalogue.shown(row.pull_request.url, str)
                if row.pull_request
                else None,
            }
            for row in result.rows
        ],
    }


def _name(row: Row) -> str:
    return Link(row.repository, row.url) if row.url else row.repository


def _minutes(seconds: float) -> int:
    return math.ceil(seconds / 60)
