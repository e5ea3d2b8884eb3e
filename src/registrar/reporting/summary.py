"""What a person reads first after a run: the step summary (Markdown), and the end of the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registrar.models.result import RegistrationResult
from registrar.reporting import markdown, outcome, preview
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message, msg

SEPARATOR = "=" * 50


def log_summary(registration: RegistrationResult, catalogue: Catalogue) -> list[str]:
    """The lines that scripts read: a frame, the repository and the counts."""
    counts = [
        catalogue.text(msg(f"summary.{name}", count=count))
        for name, count in outcome.counts(registration).items()
    ]
    repository = catalogue.shown(registration.repository, escaping.show_control_characters)
    return [
        SEPARATOR,
        catalogue.text(msg(f"summary.title_{registration.mode}")),
        SEPARATOR,
        f"Repository: {repository}",
        *counts,
        SEPARATOR,
    ]


def step_summary(registration: RegistrationResult, catalogue: Catalogue) -> str:
    """The outcome in a sentence, the table of counts, what failed and why; the rest is folded."""

    def text(message: Message) -> str:
        return catalogue.text(message, escaping.for_markdown_code)

    title = msg("summary.heading", list=registration.list_name, target=registration.repository)
    lines = [
        f"## {text(title)}",
        "",
        catalogue.sentences(list(_outcome(registration)), escaping.for_markdown_code),
        "",
        markdown.row(text(msg("table.item")), text(msg("table.count"))),
        markdown.row("---", "---"),
    ]
    lines += [
        markdown.row(text(msg(f"table.{name}")), str(count))
        for name, count in outcome.counts(registration).items()
    ]
    lines.append("")
    if failure := registration.failure:
        lines += [
            f"**{text(msg('label.error'))}:** {text(failure.message)}".replace("\n", "<br>"),
            "",
        ]
    for cause in outcome.causes(registration):
        lines.append("- " + text(cause).replace("\n", "<br>"))
    if registration.failed:
        lines.append("")
    advice = outcome.advice(registration)
    if advice and not registration.failure:
        lines += [text(advice), ""]
    for note in registration.notes:
        lines += markdown.quoted(text(note.message))
    if registration.missing or registration.failed or outcome.evidence(registration):
        files = markdown.by_urgency(registration.files)
        table = list(markdown.path_table(files, catalogue, lambda file: file.described))
        title = msg("summary.paths", count=len(files))
        is_open = len(files) <= markdown.ROWS_UNFOLDED
        lines += markdown.folded(text(title), table, is_open=is_open)
    if mistakes := registration.codeowners:
        title = msg("evidence.codeowners", count=len(mistakes))
        items = (text(msg("check.codeowners", **each._asdict())) for each in mistakes)
        lines += markdown.folded(text(title), [f"- {each}".replace("\n", "<br>") for each in items])
    if registration.to_create:
        lines += preview.step_summary(registration, catalogue)
    return "\n".join(lines) + "\n"


def _outcome(registration: RegistrationResult) -> Iterator[Message]:
    yield outcome.sentence(registration)
    if evidence := outcome.evidence(registration):
        yield evidence
    if pull := registration.pull_request:
        yield msg(f"summary.pull_request_{registration.operation}", pull_request=pull.link)
    if registration.branch:
        yield msg("summary.branch", branch=registration.branch)


def error_summary(errors: Sequence[Message], catalogue: Catalogue, *, has_results: bool) -> str:
    """What ended a run early, before it could register anything or afterwards (Markdown)."""
    title = msg("summary.ended_early" if has_results else "summary.not_run")
    lines = [f"## {catalogue.text(title)}", ""]
    for error in errors:
        lines += markdown.quoted(catalogue.text(error, escaping.for_markdown_code))
    return "\n".join(lines) + "\n"


def cut(text: str, size: int, note: str) -> str:
    """Shorten Markdown to ``size`` bytes, whole lines, and say so in ``note``.

    What the cut leaves open (a fence, a folded part) is closed, so that the note is seen. Nothing
    is left where there is no room for more than that.
    """
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= size:
        return text
    closing = "\n```\n\n</details>\n"
    room = size - len(f"{closing}\n\n{note}\n".encode())
    if room <= 0:
        return ""
    kept = data[:room].rpartition(b"\n")[0].decode("utf-8", "ignore")
    fence = "\n```\n" if kept.count("\n```") % 2 else ""
    folded = "\n</details>\n" if kept.count("\n<details") > kept.count("\n</details>") else ""
    return f"{kept}{fence}{folded}\n\n{note}\n"
