"""How states are called: one table for each kind, which every output reads."""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from registrar.models.paths import Done, ListedPath
from registrar.models.record import PullRequestOperation, Record, Status
from registrar.models.rules import origin_of
from registrar.models.selection import Exclusion
from registrar.models.settings import Mode
from registrar.models.standing import Standing
from registrar.texts.messages import Message, msg


class Tone(Enum):
    """What a line is about; the value is its colour on a terminal (SGR parameter)."""

    PLAIN = ""
    GOOD = "32"
    NOTABLE = "33"
    BAD = "31"


class DoneWords(NamedTuple):
    """What is said of a path about which something was done; keys of the catalogue."""

    one: str
    """What was done, said of one path."""
    tone: Tone = Tone.PLAIN
    cause: str = ""
    """Why the run fails, of several paths together."""
    cause_of_one: str = ""
    """The same of one path, which it names."""
    sentence: str = ""
    """Which paths of a repository these are."""


DONE: Mapping[Done, DoneWords] = {
    Done.FAILED: DoneWords("state.failed", Tone.BAD, "cause.failed", "cause.one_failed"),
    Done.UNKNOWN: DoneWords("state.unknown", Tone.BAD, "cause.unknown", "cause.one_unknown"),
    Done.CREATED: DoneWords("state.created", Tone.GOOD),
    Done.UPDATED: DoneWords("state.updated", sentence="outcome.follows"),
    Done.TO_UPDATE: DoneWords("state.to_update", sentence="outcome.would_follow"),
    Done.TO_CREATE: DoneWords("state.to_create"),
    Done.NOTHING: DoneWords("state.missing"),
    Done.PENDING: DoneWords("state.pending"),
    Done.SKIPPED: DoneWords("state.skipped"),
}


class Way(NamedTuple):
    """How listed paths stand, as they are counted; keys of the catalogue."""

    name: str
    """As in the report (`Standing.way`)."""
    sentence: str
    """How many, in a sentence."""
    line: str
    """How many, as a line of the log."""
    cell: str
    """How many, as a row of the step summary."""
    one: str
    """How one path stands."""


_PRESENT = Way("present", "outcome.present", "summary.present", "table.present", "state.present")
_PROPOSED = Way(
    "proposed", "outcome.proposed", "summary.proposed", "table.proposed", "state.proposed"
)
_TO_CREATE = Way(
    "to create", "outcome.to_create", "summary.to_create", "table.to_create", "state.to_create"
)
_DECLINED = Way(
    "declined", "outcome.declined", "summary.declined", "table.declined", "state.declined"
)
_UNSET = Way("unset", "outcome.unset", "summary.unset", "table.unset", "state.unset")
_BLOCKED = Way("blocked", "outcome.blocked", "summary.blocked", "table.blocked", "state.blocked")
_UNREAD = Way("unread", "outcome.unread", "summary.unread", "table.unread", "state.unread")
WAYS = (_TO_CREATE, _PROPOSED, _PRESENT, _DECLINED, _UNSET, _BLOCKED, _UNREAD)
"""In the order in which they are counted."""


class Bar(NamedTuple):
    """A part of a bar of the page, with its tile and its cells; keys of the catalogue."""

    name: str
    """The class of the part in the page's CSS."""
    word: str
    letter: str
    """In the matrix."""
    light: str
    dark: str
    """``light`` and ``dark``: its colour (CSS) on such ground."""
    is_shade: bool = False
    """Whether it is a part of what is present."""
    has_column: bool = False
    """Whether the table of paths has a column for it also if no path stands so."""


_BAR_PRESENT = Bar(
    "present", "page.bar_present", "page.letter_present", "#1a7f37", "#3fb950", has_column=True
)


class StandingWords(NamedTuple):
    """What is said of listed paths that stand in one way; keys of the catalogue."""

    way: Way
    bar: Bar
    shade: str = ""
    """What a file that is there holds, in brackets behind the reason."""
    found: str = ""
    """How many of those that are there deserve a look."""
    fails: str = ""
    """How many fail a check."""
    fails_at_ref: str = ""
    """Why one path fails a check at a reference."""
    body: str = ""
    """How many, in the description of a pull request, where that counts them by themselves."""
    beside: str = ""
    """How many, beside the state of a repository, if that does not say it."""


STANDINGS: Mapping[Standing, StandingWords] = {
    Standing.SAME: StandingWords(_PRESENT, _BAR_PRESENT),
    Standing.FILLED: StandingWords(_PRESENT, _BAR_PRESENT),
    Standing.BLANK: StandingWords(
        _PRESENT,
        Bar("blank", "page.bar_blank", "page.letter_blank", "#8fd19e", "#1f5f2e", is_shade=True),
        shade="presence.blank",
        found="evidence.blank",
        fails="check.fails_blank",
        fails_at_ref="change.blank",
    ),
    Standing.DIFFERS: StandingWords(
        _PRESENT,
        Bar(
            "differs",
            "page.bar_differs",
            "page.letter_differs",
            "#4dac68",
            "#2b8a3e",
            is_shade=True,
        ),
        shade="presence.differs",
        found="evidence.differs",
        fails="check.fails_differs",
        fails_at_ref="change.differs",
    ),
    Standing.NO_FILE: StandingWords(
        _PRESENT,
        Bar(
            "not_a_file",
            "page.bar_not_a_file",
            "page.letter_not_a_file",
            "#8250df",
            "#ab7df8",
            is_shade=True,
        ),
        shade="presence.not_a_file",
        found="evidence.not_a_file",
        fails="check.fails_not_a_file",
        fails_at_ref="change.no_file",
    ),
    Standing.PROPOSED: StandingWords(
        _PROPOSED,
        Bar(
            "proposed",
            "page.bar_proposed",
            "page.letter_proposed",
            "#0969da",
            "#4493f8",
            has_column=True,
        ),
    ),
    Standing.TO_CREATE: StandingWords(
        _TO_CREATE,
        Bar(
            "to_create",
            "page.bar_to_create",
            "page.letter_to_create",
            "#cf222e",
            "#f85149",
            has_column=True,
        ),
        fails_at_ref="change.absent",
    ),
    Standing.DECLINED: StandingWords(
        _DECLINED,
        Bar("declined", "page.bar_declined", "page.letter_declined", "#6e7781", "#8d96a0"),
        fails="check.fails_declined",
        body="body.declined",
        beside="many.state_with_declined",
    ),
    Standing.UNSET: StandingWords(
        _UNSET,
        Bar("unset", "page.bar_unset", "page.letter_unset", "#bc4c00", "#e0823d"),
        fails="check.fails_unset",
        fails_at_ref="change.unset",
        body="body.unset",
        beside="many.state_with_unset",
    ),
    Standing.BLOCKED: StandingWords(
        _BLOCKED,
        Bar("blocked", "page.bar_blocked", "page.letter_blocked", "#82071e", "#ff938a"),
        fails_at_ref="change.absent",
    ),
    Standing.UNREAD: StandingWords(
        _UNREAD,
        Bar("unread", "page.bar_unread", "page.letter_unread", "#afb8c1", "#545d68"),
    ),
}
BARS = tuple(dict.fromkeys(words.bar for words in STANDINGS.values()))
"""The parts of a bar, in this order."""


class StatusWords(NamedTuple):
    """What is said of repositories of a run over many; keys of the catalogue."""

    one: str
    """How one stands."""
    several: str
    """How many stand so."""
    advice: str = ""
    """What to do about those that fail a check, whose files are missing or not known."""
    next_run: str = ""
    """How many the next run is going to write to, on the page."""


STATUSES: Mapping[Status, StatusWords] = {
    Status.FAILED: StatusWords("many.state_failed", "many.count_failed"),
    Status.OPENED: StatusWords("many.state_opened", "many.count_opened"),
    Status.UPDATED: StatusWords("many.state_updated", "many.count_updated"),
    Status.WITHDRAWN: StatusWords("many.state_withdrawn", "many.count_withdrawn"),
    Status.CLOSED: StatusWords("many.state_closed", "many.count_closed"),
    Status.TO_OPEN: StatusWords(
        "many.state_to_open", "many.count_to_open", "advice.register", "page.to_open"
    ),
    Status.TO_UPDATE: StatusWords(
        "many.state_to_update", "many.count_to_update", "advice.update", "page.to_update"
    ),
    Status.TO_CLOSE: StatusWords(
        "many.state_to_close", "many.count_to_close", next_run="page.to_close"
    ),
    Status.TO_WITHDRAW: StatusWords("many.state_deferred", "many.count_deferred"),
    Status.DEFERRED: StatusWords(
        "many.state_deferred", "many.count_deferred", next_run="page.deferred"
    ),
    Status.UNREAD: StatusWords("many.state_unread", "many.count_not_read", "advice.unread"),
    Status.CONFLICTING: StatusWords(
        "many.state_conflicting", "many.count_conflicting", "advice.conflict"
    ),
    Status.WAITING: StatusWords("many.state_waiting", "many.count_waiting", "advice.merge"),
    Status.BLOCKED: StatusWords("many.state_nothing", "many.count_blocked", "advice.blocked"),
    Status.UNSET: StatusWords("many.state_nothing", "many.count_unset"),
    Status.DECLINED: StatusWords("many.state_nothing", "many.count_declined"),
    Status.COMPLETE: StatusWords("many.state_complete", "many.count_complete"),
}


class OperationWords(NamedTuple):
    """What is said of something that was done about a pull request; keys of the catalogue."""

    line: str
    """In the log, when it is done."""
    sentence: str
    """In the step summary."""


OPERATIONS: Mapping[PullRequestOperation, OperationWords] = {
    PullRequestOperation.CREATED: OperationWords(
        "progress.pull_request_created", "summary.pull_request_created"
    ),
    PullRequestOperation.UPDATED: OperationWords(
        "progress.pull_request_updated", "summary.pull_request_updated"
    ),
    PullRequestOperation.WITHDRAWN: OperationWords(
        "progress.pull_request_withdrawn", "summary.pull_request_withdrawn"
    ),
    PullRequestOperation.CLOSED: OperationWords(
        "progress.pull_request_closed", "summary.pull_request_closed"
    ),
    PullRequestOperation.NONE: OperationWords(
        "progress.pull_request_none", "summary.pull_request_none"
    ),
}


class ModeWords(NamedTuple):
    """What is said of what a run was asked to do; keys of the catalogue."""

    title: str
    """Over the end of the log."""
    read: str = ""
    """On the page, with the moment of the reading."""


MODES: Mapping[Mode, ModeWords] = {
    Mode.REGISTER: ModeWords("summary.title_register", "page.read_register"),
    Mode.PLAN: ModeWords("summary.title_plan", "page.read_plan"),
    Mode.CHECK: ModeWords("summary.title_check", "page.read_check"),
    Mode.WITHDRAW: ModeWords("summary.title_withdraw", "page.read_withdraw"),
    Mode.VALIDATE: ModeWords("summary.title_validate"),
}

EXCLUDED = {
    Exclusion.ARCHIVED: "many.excluded_archived",
    Exclusion.DISABLED: "many.excluded_disabled",
    Exclusion.LOCKED: "many.excluded_locked",
    Exclusion.EMPTY: "many.excluded_empty",
    Exclusion.NO_BASE: "many.excluded_no_base",
    Exclusion.FORK: "many.excluded_fork",
    Exclusion.NO_PULL_REQUESTS: "many.excluded_no_pull_requests",
    Exclusion.NOT_MEANT: "many.excluded_excluded",
}


def exclusions(excluded: Mapping[Exclusion, int]) -> list[Message]:
    """How many repositories are left out for which reason."""
    return [msg(EXCLUDED[reason], count=count) for reason, count in excluded.items()]


def counted_apart(
    record: Record, key: Callable[[StandingWords], str], taken_out: str
) -> dict[str, int]:
    """Count the paths that a text counts by themselves, by the keys of the catalogue.

    ``key`` gives that of a way to stand, or nothing; ``taken_out`` is that of declined paths which
    somebody took out of a pull request that was not closed.
    """
    standings = record.standings
    counts = {name: standings[each] for each, words in STANDINGS.items() if (name := key(words))}
    out = sum(file.was_taken_out for file in record.files)
    declined = key(STANDINGS[Standing.DECLINED])
    return {declined: counts.pop(declined) - out, taken_out: out, **counts}


# --- Of a listed path ---------------------------------------------------------------------------


def explanation(path: ListedPath) -> Message | None:
    """Why something was done about a path, or failed; of one that is present also what is in it."""
    reason = path.failure.message if path.failure else path.reason
    return _with_shade(path, reason)


def described_at_first(path: ListedPath) -> Message:
    """How a path stands before anything is done, with its reason if it is not simply there."""
    if path.standing.is_present and not path.counts_elsewhere:
        state, reason = msg("state.present"), None
    elif path.done is Done.SKIPPED:
        state, reason = _with_reasons(msg("state.skipped"), path.reason), None
    else:
        state = msg("state.missing")
        reason = path.failure.message if path.failure else path.reason
    state = _with_reasons(state, *origin_of(path.definition))
    return _with_reasons(state, reason)


def described(path: ListedPath) -> Message:
    """What was done, with its reason if there is one; nothing in it names the path."""
    reason = path.failure.cause.message if path.failure else path.reason
    reasons = [_with_shade(path, reason)]
    if pull := path.conflicts_with:
        reasons.append(msg("reason.conflicts", pull_request=pull.link))
    is_undone = path.done is Done.NOTHING
    if is_undone or path.done in {Done.CREATED, Done.TO_CREATE}:
        reasons += [*_besides(path), *origin_of(path.definition)]
    word = STANDINGS[path.standing].way.one if is_undone else DONE[path.done].one
    return _with_reasons(msg(word), *reasons)


def described_again(path: ListedPath) -> Message:
    """What was done, with a reason that only refers to that of the path before it."""
    return _with_reasons(msg(DONE[path.done].one), msg("reason.same"))


def described_as_added(path: ListedPath) -> Message:
    """What a reviewer reads of a file that the working branch adds, whichever run did it."""
    reason = path.reason if path.done is Done.CREATED else None
    return _with_reasons(msg("state.added"), reason, *_besides(path))


def _with_shade(path: ListedPath, reason: Message | None) -> Message | None:
    shade = STANDINGS[path.standing].shade
    if not (reason and shade):
        return reason
    return msg("reason.with_presence", reason=reason, presence=msg(shade))


def _besides(path: ListedPath) -> Iterator[Message]:
    if path.hides:
        yield msg("reason.hides", other=path.hides)
    if pull := path.deleted_since:
        yield msg("reason.deleted", pull_request=pull.link)


def _with_reasons(described: Message, *given: Message | None) -> Message:
    reasons = [each for each in given if each]
    return msg("state.with_reason", state=described, reason=reasons) if reasons else described
