"""How a registration ended: one sentence, and the failures grouped by cause."""

from __future__ import annotations

from collections.abc import Sequence

from registrar.failure import Cause
from registrar.models.result import RegistrationResult, State
from registrar.models.spec import Mode
from registrar.texts.messages import Message, msg


def sentence(registration: RegistrationResult) -> Message:
    """The outcome in numbers."""
    total = len(registration.files)
    if not total:
        return msg("outcome.nothing_checked")
    if registration.skipped == total and not registration.missing:
        return msg("outcome.nothing_missing", count=total)
    reads_only = registration.mode is not Mode.REGISTER
    counts = {
        "missing": registration.count(State.MISSING),
        "created": registration.created,
        "skipped": registration.skipped,
        "failed": registration.failed,
        "pending": registration.count(State.PENDING),
    }
    parts = [msg(f"outcome.{name}", count=count) for name, count in counts.items() if count]
    return msg("outcome.preview" if reads_only else "outcome.files", total=total, parts=parts)


def advice(registration: RegistrationResult) -> Message:
    """What to do about missing files."""
    missing = [file for file in registration.files if file.state is State.MISSING]
    if missing and all(file.reason for file in missing):
        return msg("advice.declined")
    return msg("advice.merge" if registration.pull_request else "advice.register")


def causes(registration: RegistrationResult) -> list[Message]:
    """What happened to which files, and why: each cause once, the most frequent first."""
    found: dict[tuple[State, Cause], list[str]] = {}
    for file in registration.files:
        if file.failure:
            found.setdefault((file.state, file.failure.cause), []).append(file.definition.path)
    return [
        _cause(state, cause, paths)
        for (state, cause), paths in sorted(found.items(), key=lambda item: -len(item[1]))
    ]


def _cause(state: State, cause: Cause, paths: Sequence[str]) -> Message:
    if len(paths) == 1:
        return msg(f"cause.one_{state}", path=paths[0], reason=cause.message)
    common = msg(f"cause.{state}", count=len(paths), reason=cause.message)
    return msg("cause.with_paths", cause=common, paths=tuple(paths))
