"""What a run over many repositories tells: its budget, a line for each repository, the outcome."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from registrar.models.fleet import Budget, FleetResult, FleetRow, FleetState
from registrar.models.result import RegistrationResult
from registrar.models.selection import Exclusion
from registrar.models.spec import Mode
from registrar.texts.escaping import Link
from registrar.texts.messages import Message, msg

_ADVICE = {
    FleetState.MISSING: "advice.register",
    FleetState.WAITING: "advice.merge",
    FleetState.DECLINED: "advice.declined",
}
"""What to do about repositories that a check finds."""
_WITH_OWN_BRANCH = frozenset({"host.failed", "pull_request.not_opened"})
"""Messages that name the branch of a repository; their reasons may be those of others, too."""
_IN_STATE = "progress.declined"
"""Beginning of the notes that say no more than the state of a repository."""


def budget_sentences(budget: Budget) -> Iterator[Message]:
    """What the run is going to do, before it does it."""
    excluded = left_out(budget.excluded)
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


def left_out(excluded: Mapping[Exclusion, int]) -> list[Message]:
    """How many repositories are left out for which reason."""
    return [msg(f"fleet.excluded_{reason}", count=count) for reason, count in excluded.items()]


def row_line(
    row: FleetRow, number: int, total: int, seconds_left: float = 0.0, *, names_list: bool = False
) -> Message:
    """One repository, as it happens; ``names_list`` where there are two lists for each."""
    name: str | Message = name_of(row)
    if names_list:
        name = msg("fleet.repository_and_list", repository=name, list=row.profile)
    line = msg("fleet.row", number=number, total=total, repository=name, state=state(row))
    if seconds_left <= 0:
        return line
    return msg("fleet.row_with_time", row=line, minutes=_minutes(seconds_left))


def state(row: FleetRow) -> Message:
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


def cause(row: FleetRow) -> Message | None:
    """Why a repository failed, without what is its own about it."""
    reasons = chain(row.reason)
    return next((each for each in reasons if each.key not in _WITH_OWN_BRANCH), None) or row.reason


def chain(message: Message | None) -> list[Message]:
    """A message, its reason, the reason of that one, and so on."""
    found: list[Message] = []
    while message:
        found.append(message)
        inner = message.values.get("reason")
        message = inner if isinstance(inner, Message) else None
    return found


def cause_id(row: FleetRow) -> str:
    """The same for rows that failed for one cause, in the same words but for the names."""
    return _id(chain(row.reason)[-1], row.repository) if row.reason else ""


def _id(message: Message, repository: str) -> str:
    """The same for messages that differ in what is a repository's own only.

    Its branch may hold its name, too.
    """
    words = {name: value for name, value in message.values.items() if name != "branch"}
    text, name = f"{message.key} {words}".lower(), repository.lower()
    return text.replace(name, "").replace(name.partition("/")[2], "")


def notes(registrations: Sequence[RegistrationResult]) -> Iterator[Message]:
    """What is worth knowing about repositories besides their states, the most frequent first."""
    found: dict[str, list[tuple[Message, str]]] = {}
    for each in registrations:
        name = Link(each.repository, each.html_url) if each.html_url else each.repository
        for note in each.notes:
            if not note.key.startswith(_IN_STATE):
                found.setdefault(_id(note, each.repository), []).append((note, name))
    for those in sorted(found.values(), key=len, reverse=True):
        names = tuple(dict.fromkeys(name for _, name in those))
        yield msg("cause.with_repositories", cause=those[0][0], repositories=names)


def failures(result: FleetResult) -> Iterator[Message]:
    """Why the run fails, each cause with the repositories that have it."""
    for rows in by_cause(result):
        kind, reason = rows[0].state, cause(rows[0])
        count = msg(f"fleet.count_{kind}", count=len(rows))
        if kind is FleetState.FAILED:
            found = msg("state.with_reason", state=count, reason=reason) if reason else count
        elif result.mode is Mode.CHECK:
            sentence, advice = msg("fleet.outcome", parts=[count]), _ADVICE[kind]
            found = msg("outcome.check", sentence=sentence, advice=msg(advice))
        else:
            continue
        repositories = tuple(dict.fromkeys(name_of(row) for row in rows))
        yield msg("cause.with_repositories", cause=found, repositories=repositories)


def by_cause(result: FleetResult) -> Iterator[list[FleetRow]]:
    """The rows of one state and cause each, failures first."""
    groups: dict[tuple[FleetState, str], list[FleetRow]] = {}
    for row in result.rows:
        groups.setdefault((row.state, cause_id(row)), []).append(row)
    for kind in FleetState:
        of_kind = [rows for (each, _), rows in groups.items() if each is kind]
        yield from sorted(of_kind, key=len, reverse=True)


def name_of(row: FleetRow) -> str:
    """The name of a row's repository, with its address where that is known."""
    return Link(row.repository, row.url) if row.url else row.repository


def _minutes(seconds: float) -> int:
    return math.ceil(seconds / 60)
