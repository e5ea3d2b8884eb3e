"""The words for states: one table for each kind of state, which all outputs use."""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from registrar.models.paths import Done, ListedPath
from registrar.models.record import PullRequestOperation, Record
from registrar.models.repository import Repository
from registrar.models.rules import origin_of
from registrar.models.selection import Exclusion
from registrar.models.settings import Mode
from registrar.models.standing import Standing
from registrar.models.status import Status
from registrar.presence.names import forms_of
from registrar.texts.messages import Message, msg


class Tone(Enum):
    """The kind of news in a line; the value is its colour on a terminal (SGR parameter)."""

    PLAIN = ""
    GOOD = "32"
    NOTABLE = "33"
    BAD = "31"


class DoneWords(NamedTuple):
    """The texts about paths with one outcome; keys of the catalogue."""

    one: str
    """The outcome of one path."""
    tone: Tone = Tone.PLAIN
    cause: str = ""
    """The failure of several paths with the same cause."""
    cause_of_one: str = ""
    """The failure of one path, which is named."""
    sentence: str = ""
    """A sentence that names all paths with this outcome; empty if there is none."""


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


class GroupWords(NamedTuple):
    """The texts about a state of listed paths; all kinds of present paths count as one state.

    Except for ``name`` they are keys of the catalogue.
    """

    name: str
    """The name of the state in the report (`Standing.group`)."""
    sentence: str
    """The number of paths, in a sentence."""
    line: str
    """The number of paths, as a line of the log."""
    cell: str
    """The number of paths, as a row of the step summary."""
    one: str
    """The state of one path."""


_PRESENT = GroupWords(
    "present", "outcome.present", "summary.present", "table.present", "state.present"
)
_PROPOSED = GroupWords(
    "proposed", "outcome.proposed", "summary.proposed", "table.proposed", "state.proposed"
)
_TO_CREATE = GroupWords(
    "to create", "outcome.to_create", "summary.to_create", "table.to_create", "state.to_create"
)
_DECLINED = GroupWords(
    "declined", "outcome.declined", "summary.declined", "table.declined", "state.declined"
)
_UNSET = GroupWords("unset", "outcome.unset", "summary.unset", "table.unset", "state.unset")
_BLOCKED = GroupWords(
    "blocked", "outcome.blocked", "summary.blocked", "table.blocked", "state.blocked"
)
_UNREAD = GroupWords("unread", "outcome.unread", "summary.unread", "table.unread", "state.unread")
GROUPS = (_TO_CREATE, _PROPOSED, _PRESENT, _DECLINED, _UNSET, _BLOCKED, _UNREAD)
"""The states, in the order in which outputs count them."""


class Bar(NamedTuple):
    """A part of a bar of the page, with its tile and its cells; keys of the catalogue."""

    name: str
    """The class of the part in the page's CSS."""
    word: str
    letter: str
    """The letter in the cells of the matrix."""
    light: str
    dark: str
    """``light`` and ``dark`` are its colours (CSS) on a light and on a dark background."""
    is_shade: bool = False
    """Whether its paths are a part of the present ones."""
    has_column: bool = False
    """Whether the table of paths has a column for it even if no path is in this part."""


_BAR_PRESENT = Bar(
    "present", "page.bar_present", "page.letter_present", "#1a7f37", "#3fb950", has_column=True
)


class StandingWords(NamedTuple):
    """The texts about listed paths in one state; keys of the catalogue, empty if not needed."""

    group: GroupWords
    bar: Bar
    shade: str = ""
    """The kind of a present file, in brackets behind the reason."""
    found: str = ""
    """The number of present paths with this finding."""
    fails: str = ""
    """The number of paths for which a check fails."""
    fails_at_ref: str = ""
    """The reason why a check at a reference fails for one path."""
    body: str = ""
    """The number of paths, in the description of a pull request, which counts them separately."""
    beside: str = ""
    """The number of paths, beside the state of a repository that does not show it."""


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
    """The texts about repositories in one state, in a run over many; keys of the catalogue."""

    one: str
    """The state of one repository."""
    several: str
    """The number of repositories in this state."""
    advice: str = ""
    """The advice for such repositories, for example if a check fails; empty if there is none."""
    next_run: str = ""
    """The number of repositories to which the next run is going to write, on the page."""


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
    Status.NOT_WRITABLE: StatusWords("many.state_not_writable", "many.count_not_writable"),
    Status.NOT_NAMED: StatusWords("many.state_not_named", "many.count_not_named"),
    Status.UNREAD: StatusWords("many.state_unread", "many.count_not_read", "advice.unread"),
    Status.CONFLICTING: StatusWords(
        "many.state_conflicting", "many.count_conflicting", "advice.conflict"
    ),
    Status.WAITING: StatusWords("many.state_waiting", "many.count_waiting", "advice.merge"),
    Status.NOT_PROPOSED: StatusWords("many.state_not_proposed", "many.count_not_proposed"),
    Status.BLOCKED: StatusWords("many.state_nothing", "many.count_blocked", "advice.blocked"),
    Status.UNSET: StatusWords("many.state_nothing", "many.count_unset"),
    Status.DECLINED: StatusWords("many.state_nothing", "many.count_declined"),
    Status.COMPLETE: StatusWords("many.state_complete", "many.count_complete"),
}


class OperationWords(NamedTuple):
    """The texts about one thing that a run does to a pull request; keys of the catalogue."""

    line: str
    """The line of the log at the moment when it is done."""
    sentence: str
    """The sentence of the step summary."""


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
    """The texts about one mode; keys of the catalogue."""

    title: str
    """The heading of the summary at the end of the log."""
    read: str = ""
    """The sentence of the page with the moment of the reading."""


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
    Exclusion.MORE_PRIVATE: "many.excluded_more_private",
}


def exclusions(excluded: Mapping[Exclusion, int]) -> list[Message]:
    """Return the number of repositories that are left out, in words, for each reason."""
    return [msg(EXCLUDED[reason], count=count) for reason, count in excluded.items()]


def handed_down(repository: Repository) -> Message | None:
    """Return a sentence about the repositories that inherit files of this one, if any do."""
    if not repository.hands_down:
        return None
    return msg("body.hands_down", repository=repository.full_name, owner=repository.owner)


def counted_apart(
    record: Record, key: Callable[[StandingWords], str], deleted_key: str
) -> dict[str, int]:
    """Count the paths that a text counts separately, by keys of the catalogue.

    ``key`` returns the key for a state, or an empty text if the state is not counted.
    ``deleted_key`` is the key for declined paths that somebody has deleted from the branch of a
    pull request.
    """
    standings = record.standings
    counts = {name: standings[each] for each, words in STANDINGS.items() if (name := key(words))}
    deleted = sum(file.was_deleted_from_branch for file in record.files)
    declined = key(STANDINGS[Standing.DECLINED])
    return {declined: counts.pop(declined) - deleted, deleted_key: deleted, **counts}


# --- One listed path ----------------------------------------------------------------------------


def explanation(path: ListedPath) -> Message | None:
    """Return the reason for the outcome of a path, with the kind of a present file.

    ``None`` if there is no reason.
    """
    reason = path.failure.message if path.failure else path.reason
    return _with_shade(path, reason)


def described_at_first(path: ListedPath) -> Message:
    """Return the state of a path before anything is done, with a reason unless it is present."""
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
    """Return the outcome of a path with its reasons; the path itself is not named."""
    reason = path.failure.cause.message if path.failure else path.reason
    reasons = [_with_shade(path, reason)]
    if pull := path.conflicts_with:
        reasons.append(msg("reason.conflicts", pull_request=pull.link))
    is_undone = path.done is Done.NOTHING
    if is_undone or path.done in {Done.CREATED, Done.TO_CREATE}:
        reasons += [*_besides(path), *origin_of(path.definition)]
    word = STANDINGS[path.standing].group.one if is_undone else DONE[path.done].one
    return _with_reasons(msg(word), *reasons)


def described_again(path: ListedPath) -> Message:
    """Return the outcome of a path; its reason only refers to that of the path before it."""
    return _with_reasons(msg(DONE[path.done].one), msg("reason.same"))


def described_as_added(path: ListedPath) -> Message:
    """Return the text for reviewers about a file that the working branch adds.

    It is the same if an earlier run added the file.
    """
    reason = path.reason if path.done is Done.CREATED else None
    return _with_reasons(msg("state.added"), reason, *_besides(path))


def _with_shade(path: ListedPath, reason: Message | None) -> Message | None:
    if not (reason and (shade := STANDINGS[path.standing].shade)):
        return reason
    return msg("reason.with_presence", reason=reason, presence=msg(shade))


def other_case_reason(listed: ListedPath) -> Message | None:
    """Return a sentence about an existing file whose name differs only in case or form."""
    if not (other := listed.other_case):
        return None
    key = "reason.unicode_form" if forms_of(listed.path, other) else "reason.other_case"
    return msg(key, other=other)


def warnings(path: ListedPath) -> Iterator[tuple[str, Message]]:
    """Yield warnings for those who merge a pull request that adds the path, each behind the key of
    its heading on the page. One that was declined has at most the warning that its pull request
    cannot be reopened.
    """
    if pull := path.declined_in:
        if pull.base_is_gone:
            yield "page.base_gone", msg("reason.base_gone", base=pull.base_branch)
        return
    yield from _rivals(path)
    if path.hides_inherited:
        yield "page.hides_inherited", msg("reason.hides_inherited")
    if reason := other_case_reason(path):
        is_form = forms_of(path.path, path.other_case)
        yield "page.unicode_form" if is_form else "page.other_case", reason


def _rivals(path: ListedPath) -> Iterator[tuple[str, Message]]:
    if path.hides:
        yield "page.hides", msg("reason.hides", other=path.hides)
    if path.used_instead:
        yield "page.used_instead", msg("reason.used_instead", other=path.used_instead)


def _besides(path: ListedPath) -> Iterator[Message]:
    yield from (warning for _, warning in _rivals(path))
    if pull := path.deleted_since:
        yield msg("reason.deleted", pull_request=pull.link)


def _with_reasons(described: Message, *given: Message | None) -> Message:
    reasons = [each for each in given if each]
    return msg("state.with_reason", state=described, reason=reasons) if reasons else described
