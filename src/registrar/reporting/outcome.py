"""How a registration ended: one sentence, and the failures grouped by cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from registrar.models.result import FAILED_STATES, FileResult, RegistrationResult, State
from registrar.models.spec import Mode
from registrar.texts.messages import Message, msg


class Cause(NamedTuple):
    """Why files failed; they all have the same state and the same reason."""

    state: State
    reason: Message | None
    paths: tuple[str, ...]

    @property
    def message(self) -> Message:
        """What happened to which files, and why."""
        reason = self.reason or ""
        if len(self.paths) == 1:
            return msg(f"cause.one_{self.state}", path=self.paths[0], reason=reason)
        cause = msg(f"cause.{self.state}", count=len(self.paths), reason=reason)
        return msg("cause.with_paths", cause=cause, paths=self.paths)


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


def causes(registration: RegistrationResult) -> Sequence[Cause]:
    """What failed, the most frequent cause first."""
    found: dict[str, list[FileResult]] = {}
    for file in registration.files:
        if file.state in FAILED_STATES:
            found.setdefault(f"{file.state} {file.cause!r}", []).append(file)
    return [
        Cause(first.state, first.cause, tuple(f.definition.path for f in files))
        for files in sorted(found.values(), key=len, reverse=True)
        for first in files[:1]
    ]
