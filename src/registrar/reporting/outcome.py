"""How a registration ended: one sentence, and the failures grouped by cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from registrar.failure import Cause
from registrar.models.evidence import KINDS, NOTABLE
from registrar.models.result import RegistrationResult, State
from registrar.models.spec import FailOn, Mode
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
        "present" if reads_only else "skipped": registration.skipped,
        "failed": registration.failed,
        "pending": registration.count(State.PENDING),
    }
    parts = [msg(f"outcome.{name}", count=count) for name, count in counts.items() if count]
    return msg("outcome.preview" if reads_only else "outcome.files", total=total, parts=parts)


def counts(registration: RegistrationResult) -> Mapping[str, int]:
    """What is counted in log and summary, by the last part of its key in the catalogue."""
    if registration.mode is Mode.REGISTER:
        return {name: getattr(registration, name) for name in ("created", "skipped", "failed")}
    to_create = len(registration.to_create)
    counts = {
        "to_create": to_create,
        "present": registration.skipped,
        "declined": registration.count(State.MISSING) - to_create,
    }
    return {**counts, "failed": registration.failed} if registration.failed else counts


def evidence(registration: RegistrationResult) -> Message | None:
    """What deserves a look among the files that are there; ``None``: nothing does."""
    return evidence_of({name: len(paths) for name, paths in registration.notable.items()})


def evidence_of(counts: Mapping[str, int]) -> Message | None:
    """What deserves a look, by the last part of its key in the catalogue."""
    parts = [msg(f"evidence.{name}", count=counts[name]) for name in KINDS if counts.get(name)]
    return msg("evidence.present", parts=parts) if parts else None


def failed_checks(registration: RegistrationResult) -> Iterator[Message]:
    """What fails a check: one message for each reason, with the paths."""
    fail_on = registration.fail_on
    next_step = advice(registration)
    if FailOn.MISSING in fail_on and next_step:
        failed = msg("outcome.check", sentence=sentence(registration), advice=next_step)
        missing = [f.definition.path for f in registration.files if f.state is State.MISSING]
        yield msg("cause.with_paths", cause=failed, paths=missing)
    for presence in NOTABLE:
        kind, files = presence.name.lower(), registration.in_presence(presence)
        if files and any(kind in each.notable for each in fail_on):
            common = msg(f"check.fails_{kind}", count=len(files))
            paths = [file.found.path for file in files if file.found]
            yield msg("cause.with_paths", cause=common, paths=paths)
    if FailOn.INVALID in fail_on:
        for error in registration.codeowners:
            yield msg("check.codeowners", **error._asdict())


def advice(registration: RegistrationResult) -> Message | None:
    """What to do next about missing files; ``None`` where there are none, or it is being done."""
    if registration.mode is Mode.REGISTER or not registration.count(State.MISSING):
        return None
    if not registration.to_create:
        return msg("advice.declined")
    if registration.archived:
        return msg("advice.archived")
    if registration.pull_request:
        return msg("advice.merge")
    return msg("advice.remove_plan" if registration.mode is Mode.PLAN else "advice.register")


def causes(registration: RegistrationResult) -> list[Message]:
    """What happened to which files, and why: each cause once, the most frequent first."""
    of_cause: dict[tuple[State, Cause], list[str]] = {}
    for file in registration.files:
        if file.failure:
            of_cause.setdefault((file.state, file.failure.cause), []).append(file.definition.path)
    return [
        _cause(state, cause, paths)
        for (state, cause), paths in sorted(of_cause.items(), key=lambda item: -len(item[1]))
    ]


def _cause(state: State, cause: Cause, paths: Sequence[str]) -> Message:
    if len(paths) == 1:
        return msg(f"cause.one_{state}", path=paths[0], reason=cause.message)
    common = msg(f"cause.{state}", count=len(paths), reason=cause.message)
    return msg("cause.with_paths", cause=common, paths=tuple(paths))
