"""How states are called: one table for each kind, which every output reads."""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from registrar.models.paths import Done, ListedPath
from registrar.models.rules import origin_of
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
    """Of the path itself."""
    tone: Tone = Tone.PLAIN
    cause: str = ""
    """Why it came to that, of several paths together."""
    cause_of_one: str = ""
    sentence: str = ""
    """Which paths of a repository these are."""


DONE: Mapping[Done, DoneWords] = {
    Done.FAILED: DoneWords("state.failed", Tone.BAD, "cause.failed", "cause.one_failed"),
    Done.UNKNOWN: DoneWords("state.unknown", Tone.BAD, "cause.unknown", "cause.one_unknown"),
    Done.CREATED: DoneWords("state.created", Tone.GOOD),
    Done.UPDATED: DoneWords("state.updated", sentence="outcome.follows"),
    Done.TO_UPDATE: DoneWords("state.to_update", sentence="outcome.would_follow"),
    Done.NOTHING: DoneWords("state.missing"),
    Done.PENDING: DoneWords("state.pending"),
    Done.SKIPPED: DoneWords("state.skipped"),
}
_NOTHING_DONE = {Standing.PROPOSED: "state.proposed", Standing.BLOCKED: "page.state_blocked"}
_SHADES = {
    Standing.BLANK: "presence.blank",
    Standing.DIFFERS: "presence.differs",
    Standing.NO_FILE: "presence.not_a_file",
}

# --- Of a listed path ---------------------------------------------------------------------------


def explanation(path: ListedPath) -> Message | None:
    """Why something was done about a path, or failed; of one that is present also what is in it."""
    reason = path.failure.message if path.failure else path.reason
    return _with_shade(path, reason)


def described_at_first(path: ListedPath) -> Message:
    """How a path stands before anything is done, with its reason where it is not simply there."""
    if path.standing.is_present and not path.counts_elsewhere:
        state, reason = msg("check.present"), None
    elif path.done is Done.SKIPPED:
        state, reason = _with_reasons(msg("state.skipped"), path.reason), None
    else:
        state = msg("check.missing")
        reason = path.failure.message if path.failure else path.reason
    state = _with_reasons(state, *origin_of(path.definition))
    return _with_reasons(state, reason)


def described(path: ListedPath) -> Message:
    """What was done, with its reason where there is one; nothing in it names the path."""
    reason = path.failure.cause.message if path.failure else path.reason
    reasons = [_with_shade(path, reason)]
    key = DONE[path.done].one
    if path.done in {Done.CREATED, Done.NOTHING}:
        reasons += [*_besides(path), *origin_of(path.definition)]
    if path.done is Done.NOTHING:
        key = _NOTHING_DONE.get(path.standing, key)
    return _with_reasons(msg(key), *reasons)


def described_again(path: ListedPath) -> Message:
    """The same for a path that fails for the reason of the one before it."""
    return _with_reasons(msg(DONE[path.done].one), msg("reason.same"))


def described_as_added(path: ListedPath) -> Message:
    """What a reviewer reads of a file that the working branch adds, whichever run did it."""
    reason = path.reason if path.done is Done.CREATED else None
    return _with_reasons(msg("state.added"), reason, *_besides(path))


def _with_shade(path: ListedPath, reason: Message | None) -> Message | None:
    shade = _SHADES.get(path.standing)
    if reason and shade:
        return msg("reason.with_presence", reason=reason, presence=msg(shade))
    return reason


def _besides(path: ListedPath) -> Iterator[Message]:
    if path.hides:
        yield msg("reason.hides", other=path.hides)
    if pull := path.deleted_since:
        yield msg("reason.deleted", pull_request=pull.link)


def _with_reasons(described: Message, *given: Message | None) -> Message:
    reasons = [each for each in given if each]
    return msg("state.with_reason", state=described, reason=reasons) if reasons else described
