"""The sentences of log and summary: about one repository, then about many."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from registrar.errors import FROM_ELSEWHERE, Cause, Diagnostic, Failure
from registrar.models.paths import Done
from registrar.models.record import Record
from registrar.models.run_result import Budget, ManyResult
from registrar.models.selection import Exclusion
from registrar.models.settings import FailOn, Mode, Settings
from registrar.models.spec import FileList
from registrar.models.standing import FINDINGS, WANTED, Standing, by_group
from registrar.models.status import WRITTEN, Need, Status
from registrar.models.tally import Tally
from registrar.rendering.states import (
    DONE,
    GROUPS,
    STANDINGS,
    STATUSES,
    counted_apart,
    exclusions,
    explanation,
    handed_down,
)
from registrar.texts.escaping import Link
from registrar.texts.messages import Message, msg

_COUNT_MISSING = frozenset(
    f"many.state_{each}"
    for each in (
        "opened",
        "updated",
        "to_open",
        "to_update",
        "deferred",
        "not_writable",
        "not_named",
    )
)
"""Texts for the state of a repository that count its missing files, blocked ones included."""
_NAMES = 40
"""The most repositories that one sentence names. Others are counted."""

# --- One repository -----------------------------------------------------------------------------


def sentence(registration: Record) -> Message:
    """Return the outcome of a registration in numbers."""
    files, writes = registration.files, registration.spec.writes
    mode = registration.spec.settings.mode
    if not files:
        return msg("outcome.nothing_checked")
    if mode is not Mode.WITHDRAW and all(file.standing.is_present for file in files):
        return msg("outcome.nothing_missing", count=len(files))
    counts = {
        "outcome.created": registration.created,
        "outcome.updated": registration.count(Done.UPDATED),
        "outcome.failed": registration.failed,
    }
    done = [msg(key, count=count) for key, count in counts.items() if count and writes]
    # Paths about which nothing was done are counted by their states
    left = Counter(f.standing for f in files if not writes or f.done is Done.SKIPPED)
    key = "outcome.preview" if mode.only_reads else "outcome.files"
    stand = by_group(left)
    rest = [msg(group.sentence, count=stand[group.name]) for group in GROUPS if stand[group.name]]
    return msg(key, total=len(files), parts=[*done, *rest])


def counts(registration: Record) -> Mapping[tuple[str, str], int]:
    """Return the counts, by the keys of their line in the log and of their cell in the summary."""
    if not (registration.files or registration.spec.writes):
        # The registration ended before anything was counted
        return {}
    if registration.spec.writes:
        return {
            ("summary.created", "table.created"): registration.created,
            ("summary.skipped", "table.skipped"): registration.skipped,
            ("summary.failed", "table.failed"): registration.failed,
        }
    counts = by_group(registration.standings)
    # Shown even if their number is 0
    at_ref = registration.spec.settings.ref
    always = ("to create", "present") if at_ref else ("to create", "present", "declined")
    shown = (group for group in GROUPS if counts[group.name] or group.name in always)
    return {(group.line, group.cell): counts[group.name] for group in shown}


def findings(counts: Mapping[Standing, int]) -> Message | None:
    """Return a sentence about the findings among present files; ``None`` if there are none."""
    found = ((words.found, counts.get(each, 0)) for each, words in STANDINGS.items())
    parts = [msg(key, count=count) for key, count in found if key and count]
    return msg("evidence.present", parts=parts) if parts else None


def failed_checks(registration: Record) -> Iterator[Message]:
    """Yield a message for each reason for which a check fails, with the paths."""
    fail_on = registration.spec.settings.fail_on
    wanted = [f.path for f in registration.files if f.standing in WANTED]
    if FailOn.MISSING in fail_on and wanted:
        next_step = advice(registration) or ""
        failed = msg("outcome.check", sentence=sentence(registration), advice=next_step)
        yield msg("cause.with_paths", cause=failed, paths=wanted)
    for standing in FINDINGS:
        files = [file for file in registration.files if file.standing is standing]
        if files and any(each.covers(standing) for each in fail_on):
            common = msg(STANDINGS[standing].fails, count=len(files))
            paths = [f.present.path if f.present else f.path for f in files]
            yield msg("cause.with_paths", cause=common, paths=paths)


def failed_at_ref(registration: Record) -> Iterator[Diagnostic]:
    """Yield a message for each file for which a check at a reference fails, placed at the file."""
    fail_on, files = registration.spec.settings.fail_on, registration.spec.file_list
    for file in registration.files:
        path, rule = file.path, file.definition.rule
        key = STANDINGS[file.standing].fails_at_ref
        if path in registration.facts.removed:
            key = "change.replaced" if file.standing is Standing.NO_FILE else "change.removed"
        elif not any(each.covers(file.standing) for each in fail_on):
            continue
        label = "label.listed_by_rule" if rule else "label.listed"
        listed = msg(label, list=files.path or files.label, number=rule)
        yield Diagnostic(msg(key, path=path, listed=listed), path)


def outcome(registration: Record) -> Iterator[Message]:
    """The outcome: the listed files that a change removes (only with `fail_on: removed`), the
    numbers, the updated files, and the findings.
    """
    settings, paths = registration.spec.settings, registration.facts.removed
    if FailOn.REMOVED in settings.fail_on and not registration.failure:
        key = "outcome.takes_away" if paths else "outcome.takes_nothing_away"
        yield msg(key, count=len(paths), total=len(registration.files), paths=paths)
    yield sentence(registration)
    for done, words in DONE.items():
        if words.sentence and (
            paths := tuple(file.path for file in registration.files if file.done is done)
        ):
            yield msg(words.sentence, paths=paths)
    found = registration.findings.items()
    if deserving := findings({standing: len(paths) for standing, paths in found}):
        yield deserving


def advice(registration: Record) -> Message | None:
    """Return the advice about absent files; ``None`` if there is none.

    There is none for a run that writes, and for one that does not propose files.
    """
    if registration.spec.writes or not registration.spec.proposes:
        return None
    if registration.wanted and registration.repository.archived:
        return msg("advice.archived")
    if registration.wanted and not registration.repository.takes_pull_requests:
        return msg("advice.no_pull_requests")
    if registration.need is Need.OPEN and registration.spec.settings.mode is Mode.PLAN:
        return msg("advice.remove_plan")
    if registration.need is Need.DECLINED:
        return msg("advice.declined")
    advice = (
        "advice.conflict" if registration.told.conflicts else STATUSES[registration.needed].advice
    )
    return msg(advice) if advice else None


def causes(registration: Record) -> Iterator[Message]:
    """Yield each cause of failures once, with its files; the most frequent cause comes first."""
    of_cause: dict[tuple[Done, Cause], list[str]] = {}
    for file in registration.files:
        if file.failure:
            of_cause.setdefault((file.done, file.failure.cause), []).append(file.path)
    for (done, cause), paths in sorted(of_cause.items(), key=lambda item: -len(item[1])):
        words = DONE[done]
        if len(paths) == 1:
            yield msg(words.cause_of_one, path=paths[0], reason=cause.message)
        else:
            common = msg(words.cause, count=len(paths), reason=cause.message)
            yield msg("cause.with_paths", cause=common, paths=tuple(paths))


# --- Many repositories --------------------------------------------------------------------------


def read(budget: Budget) -> Iterator[Message]:
    """Yield sentences about the repositories that were read, and the queries that this took."""
    excluded = exclusions(budget.excluded)
    selected = {"selected": budget.selected, "found": budget.found}
    yield (
        msg("many.selected_of", **selected, parts=excluded)
        if excluded
        else msg("many.selected", **selected)
    )
    if hidden := budget.excluded.get(Exclusion.MORE_PRIVATE):
        yield msg("many.more_private", count=hidden)
    if budget.selected == budget.not_found:
        yield msg("many.nothing_read")
    elif budget.points_left is None:
        yield msg("many.queries", count=budget.queries)
    else:
        yield msg("many.queries_and_points", count=budget.queries, left=budget.points_left)


def budget(budget: Budget, settings: Settings) -> Iterator[Message]:
    """Yield sentences about the writing that the run plans."""
    mode = settings.mode
    if budget.selected == budget.not_found:
        return
    if mode is Mode.WITHDRAW:
        yield msg(
            "many.to_withdraw", count=budget.reading.withdrawable, minutes=minutes(budget.seconds)
        )
    else:
        yield from _missing(budget)
    if mode.only_reads and (count := budget.reading.to_close):
        yield msg("many.to_close", count=count)
    if mode is Mode.PLAN and budget.reading.withdrawable:
        yield msg("many.withdrawable", count=budget.reading.withdrawable)
    if mode is not Mode.CHECK:
        yield from _writing(budget, settings.max_seconds)


def taken_next(result: ManyResult) -> Iterator[Message]:
    """Yield a sentence about the repositories that the next run writes to, if any."""
    if result.next and result.settings.mode in {Mode.PLAN, Mode.REGISTER}:
        yield msg("many.next", repositories=_names_of(result.next))


def _names_of(records: Sequence[Record]) -> list[str | Message]:
    names = list(dict.fromkeys(each.repository.link for each in records))
    return _named(names, len(names))


def question(budget: Budget, settings: Settings) -> Iterator[Message]:
    """Yield the question whether the run may write as planned, after a sentence about each
    repository whose files others inherit.
    """
    names = _names_of(budget.next)
    if settings.mode is Mode.WITHDRAW:
        count = budget.reading.needed[Status.TO_WITHDRAW]
        yield msg("many.ask_to_withdraw", count=count, repositories=names)
        return
    opened = (each.repository for each in budget.next if each.work is Need.OPEN)
    yield from filter(None, map(handed_down, opened))
    counts = {
        "page.to_open": budget.now,
        "page.to_update": budget.updates,
        "many.at_most_to_close": budget.closes,
        "many.to_describe": budget.descriptions,
    }
    parts = [msg(key, count=n) for key, n in counts.items() if n]
    yield msg("many.ask", parts=parts, repositories=names)


def _missing(budget: Budget) -> Iterator[Message]:
    of_missing = {
        "many.missing_proposed": budget.reading.proposed,
        "many.missing_to_update": budget.reading.needed[Status.TO_UPDATE],
        "many.missing_to_open": budget.reading.needed[Status.TO_OPEN],
        "many.missing_refused": budget.reading.refused_whole,
    }
    parts = [msg(key, count=n) for key, n in of_missing.items() if n]
    if budget.reading.with_missing:
        yield msg("many.missing", count=budget.reading.with_missing, parts=parts)
    else:
        yield msg("many.nothing_missing")
    counts = budget.reading.needed
    if count := counts[Status.NOT_WRITABLE]:
        yield msg("many.not_writable", count=count)
    if count := counts[Status.NOT_NAMED]:
        yield msg("many.not_named", count=count)
    if budget.reading.refused:
        yield msg("many.refused", count=budget.reading.refused, total=budget.reading.with_missing)
    others = (
        *(Status.FAILED, Status.NOT_WRITABLE, Status.NOT_NAMED, Status.BLOCKED),
        *(Status.UNSET, Status.DECLINED, Status.UNREAD),
    )
    if parts := [counted(each, counts[each]) for each in others if counts[each]]:
        yield msg("many.missing_besides", parts=parts)
    if budget.reading.without_pull_requests:
        yield msg("many.missing_unread", count=budget.reading.without_pull_requests)


def _writing(budget: Budget, max_seconds: float) -> Iterator[Message]:
    if (budget.writes or budget.deferred) and not budget.reading.needed[Status.TO_WITHDRAW]:
        values = {"now": budget.now, "updates": budget.updates, "deferred": budget.deferred}
        yield msg("many.now", **values, minutes=minutes(budget.seconds))
        if budget.closes:
            yield msg("many.may_close", count=budget.closes)
        if budget.descriptions:
            yield msg("many.descriptions", count=budget.descriptions)
        if budget.guessed:
            yield msg("many.guessed", count=budget.guessed)
    if budget.seconds > max_seconds:
        yield msg("many.longer", minutes=max_seconds / 60)
    if budget.points_left is not None and budget.points > budget.points_left:
        yield msg("many.points", needed=budget.points, left=budget.points_left)


def line(
    row: Record,
    place: tuple[int, int] | None,
    seconds_left: float,
    *,
    names_list: bool,
) -> Message:
    """Return the line about one repository that is printed when it is done.

    ``place`` is its number and the number of all repositories, if known. ``seconds_left`` is the
    expected time for the others; 0 if it is not shown. ``names_list`` adds the name of the list.
    """
    name: str | Message = row.repository.link
    if names_list:
        name = msg("many.repository_and_list", repository=name, list=row.spec.file_list.label)
    line = msg("many.row_state", repository=name, state=state(row, in_log=True))
    if place:
        number, total = place
        line = msg("many.row", number=number, total=total, row=line)
    if seconds_left <= 0:
        return line
    return msg("many.row_with_time", row=line, minutes=minutes(seconds_left))


def state(row: Record, *, in_log: bool = False) -> Message:
    """Return the state of a repository with its details, pull request and failure.

    With ``in_log`` a pull request is shown as its address, because a log has no links.
    """
    of_one = STATUSES[row.status].one
    if row.standings[Standing.UNREAD]:
        of_unread = {
            Status.DEFERRED: "many.state_deferred_unread",
            Status.WAITING: "many.state_waiting_unread",
        }
        of_one = of_unread.get(row.status, of_one)
    text, counts_missing = msg(of_one, count=row.wanted), of_one in _COUNT_MISSING
    blocked = [explanation(file) for file in row.files if file.standing is Standing.BLOCKED]
    besides = counted_apart(row, lambda words: words.beside, "many.state_with_removed")
    parts = [msg(key, count=count) for key, count in besides.items() if count]
    if closed := [each for each in row.closed if each != row.pull_request]:
        links = [Link(each.url) if in_log else each.link for each in closed]
        key = "many.state_withdrawn_too" if row.spec.withdraws else "many.state_closed_too"
        parts.append(msg(key, pull_requests=links))
    if row.is_described:
        parts.append(msg("many.state_described"))
    if row.told.conflicts:
        parts.append(msg("many.state_with_conflict", paths=row.told.conflicts))
    if blocked and not row.first_failure:
        key = "many.state_of_these_blocked" if counts_missing else "many.state_with_blocked"
        of_blocked = msg(key, count=len(blocked), reason=blocked[0])
        # "Of these" means the missing files, whose number is the last word before
        parts.insert(0 if counts_missing else len(parts), of_blocked)
    if parts:
        # Details that are not part of the number in brackets stand outside of the brackets
        key = "many.state_besides" if counts_missing else "state.with_reason"
        text = msg(key, state=text, reason=parts)
    if pull := row.pull_request or row.declined_in:
        link = Link(pull.url) if in_log else pull.link
        text = msg("many.with_pull_request", state=text, pull_request=link)
    if failure := row.first_failure:
        text = msg("state.with_reason", state=text, reason=failure.message)
    return text


def counted(status: Status, count: int) -> Message:
    """Return the number of repositories in a state, in words."""
    return msg(STATUSES[status].several, count=count)


def closing(result: ManyResult) -> Iterator[Message]:
    """Yield sentences about the final states, the findings, and the lists left for later runs."""
    states = result.end.states
    parts = [counted(each, states[each]) for each in Status if states[each]]
    key = "many.outcome_preview" if result.settings.mode.only_reads else "many.outcome"
    yield msg(key, parts=parts)
    if left := states[Status.WITHDRAWN]:
        yield msg("many.branches_left", count=left)
    if result.settings.mode is Mode.REGISTER and any(map(_fails_for_own_reason, result.rows)):
        yield msg("many.leave_out")
    if described := result.end.described:
        yield msg("many.described", count=described)
    if found := findings(result.end.standings):
        yield found
    if result.budget and result.budget.deferred and not result.stopped:
        yield from _capped(result, result.budget)
    yield from taken_next(result)


def _fails_for_own_reason(row: Record) -> bool:
    failure = row.first_failure if row.status is Status.FAILED else None
    return failure is not None and failure.kind not in FROM_ELSEWHERE


def _capped(result: ManyResult, budget: Budget) -> Iterator[Message]:
    """Yield a sentence about the lists that are left because of the caps, if there are any."""
    most, reading = result.settings.max_pull_requests, budget.reading
    if result.settings.mode is Mode.REGISTER:
        # What this run has done is not to be done again
        reading = Tally()
        for row in result.rows:
            if row.is_deferred:
                reading.add(row)
        budget = budget._replace(now=0, updates=0, closes=0)
    opened = reading.needed[Status.TO_OPEN]
    changed = reading.needed[Status.TO_UPDATE] + reading.to_close
    left = {
        "many.left_to_open": opened - budget.now,
        "many.left_to_change": changed - budget.updates - budget.closes,
    }
    if any(left.values()):
        needed = max(opened, changed)
        key = "many.capped" if needed > most else "many.capped_once"
        parts = [msg(each, count=count) for each, count in left.items() if count]
        of_kinds = "many.left_both_kinds" if len(parts) > 1 else "many.left_one_kind"
        count = msg(of_kinds, count=sum(left.values()), parts=parts)
        yield msg(key, left=count, most=most, needed=needed)


def notes(registrations: Iterable[Record]) -> Iterator[Message]:
    """Yield each note once, with its repositories, the most frequent first.

    Notes that only repeat the state of a repository are left out.
    """
    found: dict[str, dict[str, Message]] = {}
    for each in registrations:
        for note in each.notes:
            message, name = note.message, each.repository.link
            if isinstance(pull := message.values.get("pull_request"), Link):
                # The number goes to the name, so that one sentence is about all pull requests
                values = {**message.values, "pull_request": msg("label.pull_request")}
                message, name = message._replace(values=values), Link(f"{name}{pull}", pull.url)
            if not note.repeats_state:
                found.setdefault(note.identity, {}).setdefault(name, message)
    for by_name in sorted(found.values(), key=len, reverse=True):
        cause, names = next(iter(by_name.values())), _named([*by_name], len(by_name))
        yield msg("cause.with_repositories", cause=cause, repositories=names)


def failures(result: ManyResult) -> Iterator[Message]:
    """Yield each cause for which the run fails, with its repositories."""
    for rows in by_cause(result):
        failure = rows[0].first_failure
        reason = cause_of(rows, failure) if failure else None
        names = list(dict.fromkeys(row.repository.link for row in rows))
        if found := _fails(result.settings, rows[0].status, len(names), reason):
            repositories = _named(names, len(names))
            yield msg("cause.with_repositories", cause=found, repositories=repositories)
    for standing, rows in result.with_finding.items():
        if any(each.covers(standing) for each in result.settings.fail_on):
            named = _named(
                [row.repository.link for row in rows],
                len(rows) + result.more_with_finding[standing],
            )
            found = msg(STANDINGS[standing].fails, count=result.end.standings[standing])
            yield msg("cause.with_repositories", cause=found, repositories=named)


def _fails(
    settings: Settings, status: Status, count: int, reason: Message | None
) -> Message | None:
    """Return a sentence about ``count`` repositories in a state for which the run fails.

    ``None`` if the run does not fail because of them. ``reason`` is why they failed, if known.
    """
    found = counted(status, count)
    if status is Status.FAILED or (reason and status in WRITTEN):
        return msg("state.with_reason", state=found, reason=reason) if reason else found
    # A check with any `fail_on` fails if a repository was not read
    fails = settings.fail_on if status is Status.UNREAD else FailOn.MISSING in settings.fail_on
    advice = STATUSES[status].advice
    if advice and fails:
        found_in_words = msg("many.outcome", parts=[found])
        return msg("outcome.check", sentence=found_in_words, advice=msg(advice))
    return None


def _named(names: Sequence[str], count: int) -> list[str | Message]:
    """Return the first names, and the number of the other ones of ``count`` repositories."""
    named: list[str | Message] = [*names[:_NAMES]]
    more = count - len(named)
    return [*named, msg("label.more", count=more)] if more else named


def cause_of(rows: Sequence[Record], failure: Failure) -> Message:
    """Return the reason why the rows of one cause have failed, with the files that failed."""
    reason = _about_all(rows, failure.cause.message)
    failed = [file for row in rows if not row.failure for file in row.files if file.failure]
    same = (f for f in failed if f.failure and f.failure.cause == failure.cause)
    if paths := list(dict.fromkeys(each.path for each in same)):
        reason = msg("cause.of_files", paths=paths, reason=reason)
    return reason


def _about_all(rows: Sequence[Record], reason: Message) -> Message:
    """Return a reason with the number of the other repositories after the name of the first one."""
    first = rows[0].repository.full_name
    others = {row.repository.full_name for row in rows} - {first}
    if not others:
        return reason
    named = [first, msg("label.more", count=len(others))]

    def about_all(value: object) -> object:
        if isinstance(value, Message):
            return _about_all(rows, value)
        return named if value == first else value

    values = {name: about_all(value) for name, value in reason.values.items()}
    return reason._replace(values=values)


def by_cause(result: ManyResult) -> Iterator[list[Record]]:
    """Yield the rows in groups with the same state and cause, failures first."""
    groups: dict[tuple[Status, Cause | None], list[Record]] = {}
    for row in result.rows:
        failure = row.first_failure
        cause = failure.cause if failure else None
        groups.setdefault((row.status, cause), []).append(row)
    in_order = sorted(groups.items(), key=lambda group: (group[0][0].place, -len(group[1])))
    yield from (rows for _, rows in in_order)


def minutes(seconds: float) -> int:
    """Return a time in whole minutes, rounded up."""
    return math.ceil(seconds / 60)


def valid(lists: Iterable[FileList]) -> Iterator[Message]:
    """Yield a sentence for each list: it has no mistake, and so many files and rules."""
    for each in lists:
        counts = {"files": len(each.possible), "rules": len(each.rules)}
        if each.warnings:
            yield msg(
                "summary.doubtful_list", list=each.label, warnings=len(each.warnings), **counts
            )
        else:
            yield msg("summary.valid_list", list=each.label, **counts)
