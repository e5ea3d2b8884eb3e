"""Results -> texts: console summary, step summary, pull request body, outputs. Text only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from registrar import escaping
from registrar.messages import Catalogue, Message, say
from registrar.models import FileResult, Registration, State

SEPARATOR = "=" * 50
_COUNTS = ("created", "skipped", "failed")
_URGENCY = (State.FAILED, State.UNKNOWN, State.CREATED, State.PENDING, State.SKIPPED)


def console_summary(registration: Registration, catalogue: Catalogue) -> list[str]:
    """The eight lines of the contract ("Output formats")."""
    counts = [
        catalogue.text(say(f"summary.{name}", count=getattr(registration, name)))
        for name in _COUNTS
    ]
    return [
        SEPARATOR,
        catalogue.text(say("summary.title")),
        SEPARATOR,
        f"Repository: {registration.repository}",
        *counts,
        SEPARATOR,
    ]


def step_summary(registration: Registration, catalogue: Catalogue) -> str:
    """The contract's table of counts, then the pull request, then every path (Markdown)."""

    def text(message: Message) -> str:
        return catalogue.text(message, escaping.code)

    title = say("summary.heading", profile=registration.profile, target=registration.repository)
    lines = [
        f"## {text(title)}",
        "",
        f"| {text(say('table.item'))} | {text(say('table.count'))} |",
        "| --- | --- |",
    ]
    for name in _COUNTS:
        label = text(say(f"table.{name}"))
        lines.append(f"| {label} | {getattr(registration, name)} |")
    lines.append("")
    if registration.error:
        lines += [_quoted(text(registration.error)), ""]
    lines += [line for note in registration.notes for line in (_quoted(text(note)), "")]
    if registration.branch:
        lines += [text(say("summary.branch", branch=registration.branch)), ""]
    if pull := registration.pull_request:
        link = f"[#{pull.number}]({escaping.address(pull.url)})"
        lines += [f"{text(say(f'summary.pull_request_{registration.operation}'))} {link}", ""]
    if registration.files:
        summary = text(say("summary.paths", count=len(registration.files)))
        lines += ["<details>", f"<summary>{summary}</summary>", ""]
        lines += _table(_sorted(registration.files), catalogue, _state)
        lines += ["", "</details>", ""]
    return "\n".join(lines) + "\n"


def error_summary(errors: Sequence[Message], catalogue: Catalogue) -> str:
    """What ended a run before it could register anything (Markdown)."""
    lines = [f"## {catalogue.text(say('summary.not_run'))}", ""]
    for error in errors:
        lines += [_quoted(catalogue.text(error, escaping.code)), ""]
    return "\n".join(lines) + "\n"


def pull_request_body(registration: Registration, catalogue: Catalogue, room: int) -> str:
    """What a reviewer has to know, in at most ``room`` characters (UTF-16 units).

    The table shows what the branch brings, whichever run created it. Created and failed paths
    come first; those that do not fit are counted.
    """
    rows = _table(_sorted(registration.files, by_branch=True), catalogue, _state_on_branch)
    head = [
        catalogue.text(say("body.intro", profile=registration.profile), escaping.code),
        "",
        *rows[:2],
    ]
    rest = rows[2:]
    room -= (
        escaping.characters("\n".join(head))
        + escaping.characters(catalogue.text(say("body.more", count=10**9)))
        + 8
    )
    kept: list[str] = []
    for row in rest:
        room -= escaping.characters(row) + 1
        if room < 0:
            break
        kept.append(row)
    left = len(rest) - len(kept)
    tail = ["", catalogue.text(say("body.more", count=left))] if left else []
    return "\n".join([*head, *kept, *tail])


def outputs(registrations: Sequence[Registration]) -> dict[str, str]:
    """The outputs of the step; of several registrations only the counts (design §2)."""
    only = registrations[0] if len(registrations) == 1 else None
    pull = only.pull_request if only else None
    return {
        **{name: str(sum(getattr(r, name) for r in registrations)) for name in _COUNTS},
        "branch": only.branch if only else "",
        "pull_request_number": str(pull.number) if pull else "",
        "pull_request_url": pull.url if pull else "",
        "pull_request_operation": only.operation if only else "",
    }


def _sorted(files: Sequence[FileResult], *, by_branch: bool = False) -> list[FileResult]:
    def urgency(file: FileResult) -> int:
        state = State.CREATED if by_branch and file.on_branch else file.state
        return _URGENCY.index(state)

    return sorted(files, key=urgency)


def _table(
    files: Sequence[FileResult], catalogue: Catalogue, state: Callable[[FileResult], Message]
) -> list[str]:
    names = ("table.path", "table.state", "table.description")
    lines = [
        f"| {' | '.join(catalogue.text(say(name)) for name in names)} |",
        "| --- | --- | --- |",
    ]
    for file in files:
        path = catalogue.shown(file.definition.path, escaping.code)
        described = catalogue.text(state(file), escaping.code)
        description = catalogue.shown(file.definition.description, escaping.prose)
        lines.append(f"| {path} | {_one_line(described)} | {description} |")
    return lines


def _state(file: FileResult) -> Message:
    return file.described


def _state_on_branch(file: FileResult) -> Message:
    return say("state.added") if file.on_branch else file.described


def _one_line(text: str) -> str:
    return "<br>".join(line.strip() for line in text.splitlines() if line.strip())


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())
