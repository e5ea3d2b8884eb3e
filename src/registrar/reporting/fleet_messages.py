"""What a run over many repositories tells: its budget, a line for each repository, the outcome."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from registrar.failure import Cause
from registrar.models.fleet import Budget, FleetResult, FleetRow, FleetState, PullState
from registrar.models.result import RegistrationResult
from registrar.models.rules import place_of
from registrar.models.selection import Exclusion
from registrar.models.spec import FailOn, Mode
from registrar.reporting.outcome import evidence_of
from registrar.texts.escaping import Link
from registrar.texts.messages import Message, msg

_ADVICE = {
    FleetState.MISSING: "advice.register",
    FleetState.WAITING: "advice.merge",
    FleetState.DECLINED: "advice.declined",
    FleetState.UNREAD: "advice.unread",
}
"""What to do about repositories that a check finds."""
_NAMES = 40
"""Repositories with notable files that an error names; the rest is counted."""


def budget_sentences(budget: Budget) -> Iterator[Message]:
    """What the run is going to do, before it does it."""
    counts = budget.counts
    excluded = left_out(counts.excluded)
    selected = {"selected": counts.selected, "found": counts.found}
    yield (
        msg("fleet.selected_of", **selected, parts=excluded)
        if excluded
        else msg("fleet.selected", **selected)
    )
    if not counts.selected:
        yield msg("fleet.nothing_read")
        return
    if counts.points_left is None:
        yield msg("fleet.queries", count=counts.queries)
    else:
        yield msg("fleet.queries_and_points", count=counts.queries, left=counts.points_left)
    if not counts.missing:
        yield msg("fleet.nothing_missing")
        return
    of_missing = {
        "proposed": counts.proposed,
        "to_update": counts.of[PullState.TO_UPDATE],
        "declined": counts.of[PullState.DECLINED],
        "to_open": counts.of[PullState.TO_OPEN],
    }
    parts = [msg(f"fleet.missing_{name}", count=n) for name, n in of_missing.items() if n]
    yield msg("fleet.missing", count=counts.missing, parts=parts)
    if counts.unread:
        yield msg("fleet.missing_unread", count=counts.unread)
    if budget.writes or budget.deferred:
        minutes = _minutes(budget.seconds)
        yield msg("fleet.now", now=budget.now, deferred=budget.deferred, minutes=minutes)
    if counts.points_left is not None and budget.points > counts.points_left:
        yield msg("fleet.points", needed=budget.points, left=counts.points_left)
    if len(budget.matrix) > 1:
        yield msg("fleet.shards", count=len(budget.matrix))


def rules(result: FleetResult) -> Iterator[Message]:
    """To how many repositories the rules of each list apply, and what of that deserves a note."""
    of_list: dict[str, dict[int, int]] = {}
    for (name, number), count in result.rules.items():
        of_list.setdefault(name, {})[number] = count
    for name, counts in of_list.items():
        parts = [msg("fleet.rule", number=number, count=n) for number, n in counts.items()]
        yield msg("fleet.rules", list=name, parts=parts)
        if unfit := [number for number, count in counts.items() if not count]:
            yield msg("fleet.unfit_rules", list=name, numbers=unfit)
    for (path, *places), count in result.replaced.items():
        earlier, later = map(place_of, places)
        taken = msg("progress.replaced", path=path, earlier=earlier, later=later)
        yield msg("fleet.counted", note=taken, count=count)
    for (path, name), count in result.unset.items():
        skipped = msg("fleet.unset", path=path, name=name)
        yield msg("fleet.counted", note=skipped, count=count)


def left_out(excluded: Mapping[Exclusion, int]) -> list[Message]:
    """How many repositories are left out for which reason."""
    return [msg(f"fleet.excluded_{reason}", count=count) for reason, count in excluded.items()]


def row_line(
    row: FleetRow, place: tuple[int, int] | None, seconds_left: float, *, names_list: bool
) -> Message:
    """One repository, as it happens; ``names_list`` where there are two lists for each.

    ``place`` is its number and that of all, where that is known.
    """
    name: str | Message = name_of(row)
    if names_list:
        name = msg("fleet.repository_and_list", repository=name, list=row.list_name)
    line = msg("fleet.row_state", repository=name, state=state(row))
    if place:
        number, total = place
        line = msg("fleet.row", number=number, total=total, row=line)
    if seconds_left <= 0:
        return line
    return msg("fleet.row_with_time", row=line, minutes=_minutes(seconds_left))


def state(row: FleetRow) -> Message:
    """The state of a repository with what belongs to it."""
    text = msg(f"fleet.state_{row.state}", count=row.missing)
    if row.pull_request:
        text = msg("fleet.with_pull_request", state=text, pull_request=row.pull_request.link)
    if row.failure is None:
        return text
    return msg("state.with_reason", state=text, reason=row.failure.message)


def outcome(result: FleetResult) -> Message:
    """The counts of all states in one sentence."""
    counts = ((each, result.counts[each]) for each in FleetState)
    parts = [msg(f"fleet.count_{each}", count=count) for each, count in counts if count]
    return msg("fleet.outcome", parts=parts) if parts else msg("fleet.outcome_empty")


def evidence(result: FleetResult) -> Message | None:
    """What deserves a look among the files that are there; ``None``: nothing does."""
    return evidence_of(result.notable)


def notes(registrations: Sequence[RegistrationResult]) -> Iterator[Message]:
    """What is worth knowing about repositories besides their states, the most frequent first."""
    found: dict[str, list[tuple[Message, str]]] = {}
    for each in registrations:
        name = link(each.repository, each.html_url)
        for note in each.notes:
            if not note.repeats_state:
                found.setdefault(note.identity, []).append((note.message, name))
    for those in sorted(found.values(), key=len, reverse=True):
        names = tuple(dict.fromkeys(name for _, name in those))
        yield msg("cause.with_repositories", cause=those[0][0], repositories=names)


def failures(result: FleetResult) -> Iterator[Message]:
    """Why the run fails, each cause with the repositories that have it."""
    for rows in by_cause(result):
        kind, failure = rows[0].state, rows[0].failure
        count = msg(f"fleet.count_{kind}", count=len(rows))
        if kind is FleetState.FAILED:
            found = count
            if failure:
                found = msg("state.with_reason", state=count, reason=failure.cause.message)
        elif result.mode is Mode.CHECK and FailOn.MISSING in result.fail_on:
            sentence, advice = msg("fleet.outcome", parts=[count]), _ADVICE[kind]
            found = msg("outcome.check", sentence=sentence, advice=msg(advice))
        else:
            continue
        repositories = tuple(dict.fromkeys(name_of(row) for row in rows))
        yield msg("cause.with_repositories", cause=found, repositories=repositories)
    if result.mode is not Mode.CHECK:
        return
    for name, rows in result.with_notable.items():
        if any(name in each.notable for each in result.fail_on):
            names: list[str | Message] = [name_of(row) for row in rows[:_NAMES]]
            if more := result.rows_with[name] - len(names):
                names.append(msg("label.more", count=more))
            found = msg(f"check.fails_{name}", count=result.notable[name])
            yield msg("cause.with_repositories", cause=found, repositories=names)


def by_cause(result: FleetResult) -> Iterator[list[FleetRow]]:
    """The rows of one state and cause each, failures first."""
    groups: dict[tuple[FleetState, Cause | None], list[FleetRow]] = {}
    for row in result.rows:
        cause = row.failure.cause if row.failure else None
        groups.setdefault((row.state, cause), []).append(row)
    for kind in FleetState:
        of_kind = [rows for (each, _), rows in groups.items() if each is kind]
        yield from sorted(of_kind, key=len, reverse=True)


def name_of(row: FleetRow) -> str:
    """The name of a row's repository, with its address where that is known."""
    return link(row.repository, row.url)


def link(name: str, url: str) -> str:
    """A name with its address, where that is known."""
    return Link(name, url) if url else name


def _minutes(seconds: float) -> int:
    return math.ceil(seconds / 60)
