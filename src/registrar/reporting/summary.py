"""What a person reads first after a run: the step summary (Markdown), and the end of the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from registrar.models.files import FileDefinition
from registrar.models.result import (
    FileResult,
    PullRequestOperation,
    RegistrationResult,
    Status,
)
from registrar.models.run_result import ManyResult
from registrar.models.settings import Mode
from registrar.models.standing import Finding
from registrar.reporting import markdown, sentences
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message, msg

FILE_LINES = 50
"""Lines of a file that are shown."""
LINE_CHARACTERS = 300
"""Characters of a line that are shown."""
PREVIEW_CHARACTERS = 200_000
"""Characters shown of all files together; files after that are only named."""


def diffs(registration: RegistrationResult, catalogue: Catalogue) -> Iterator[str]:
    """A diff for each file; one that is empty or binary is named."""
    files = [file.definition for file in registration.to_create]
    for key, _, definitions in _without_diff(files):
        for definition in definitions:
            message = msg(key, path=definition.path, size=len(definition.content))
            yield catalogue.text(message, escaping.show_control_characters)
    for line in _diffs(files):
        yield catalogue.shown(line, escaping.show_control_characters)


def _what_would_be_created(registration: RegistrationResult, catalogue: Catalogue) -> list[str]:
    """The same as `diffs`, in Markdown."""
    files = [file.definition for file in registration.to_create]
    lines: list[str] = []
    for _, key, definitions in _without_diff(files):
        paths = [definition.path for definition in definitions]
        message = msg(key, count=len(paths), paths=paths)
        lines += [catalogue.text(message, escaping.for_markdown_code), ""]
    diffs = [catalogue.shown(line, escaping.show_control_characters) for line in _diffs(files)]
    if diffs:
        # No line of a diff can end the fence: each begins with `+`, `-`, `@` or a blank
        lines += ["```diff", *diffs, "```"]
    title = catalogue.text(msg("summary.diff", count=len(files)))
    return markdown.folded(title, lines, is_open=len(lines) <= markdown.ROWS_UNFOLDED)


def _without_diff(
    files: Sequence[FileDefinition],
) -> Iterator[tuple[str, str, list[FileDefinition]]]:
    """Files that no diff can show, with the text for one of them, and for several."""
    if empty := [d for d in files if d.is_empty]:
        yield "preview.empty_file", "preview.empty_files", empty
    if binary := [d for d in files if not d.is_empty and _text(d) is None]:
        yield "preview.binary_file", "preview.binary_files", binary


def _text(definition: FileDefinition) -> str | None:
    """The content as text; ``None`` if it is binary: if it holds a null byte, as in git."""
    if b"\0" in definition.content:
        return None
    try:
        return definition.content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _diffs(files: Sequence[FileDefinition]) -> Iterator[str]:
    room = PREVIEW_CHARACTERS
    for definition in files:
        text = None if definition.is_empty else _text(definition)
        if text is None:
            continue
        lines = list(_diff(definition.path, text)) if room > 0 else [f"+++ b/{definition.path}"]
        room -= sum(map(len, lines))
        yield from lines


def _diff(path: str, text: str) -> Iterator[str]:
    lines = text.split("\n")
    ended = lines[-1] == ""
    lines = lines[:-1] if ended else lines
    yield "--- /dev/null"
    yield f"+++ b/{path}"
    yield f"@@ -0,0 +1,{len(lines)} @@" if len(lines) > 1 else "@@ -0,0 +1 @@"
    for line in lines[:FILE_LINES]:
        cut = len(line) > LINE_CHARACTERS
        yield f"+{line[:LINE_CHARACTERS]}… (+{len(line) - LINE_CHARACTERS})" if cut else f"+{line}"
    if len(lines) > FILE_LINES:
        yield f"+… (+{len(lines) - FILE_LINES})"
    if not ended:
        yield "\\ No newline at end of file"


SEPARATOR = "=" * 50
ROWS_PER_CAUSE = 200
"""Repositories of one state and cause that a table shows at most; the rest is counted."""
_TITLES = {
    Mode.REGISTER: "summary.title_register",
    Mode.PLAN: "summary.title_plan",
    Mode.CHECK: "summary.title_check",
}
_OPERATIONS = {
    PullRequestOperation.CREATED: "summary.pull_request_created",
    PullRequestOperation.UPDATED: "summary.pull_request_updated",
    PullRequestOperation.NONE: "summary.pull_request_none",
}


def log_summary(registration: RegistrationResult, catalogue: Catalogue) -> list[str]:
    """The lines that scripts read: a frame, the repository and the counts."""
    counts = [
        catalogue.text(msg(line, count=count))
        for (line, _), count in sentences.counts(registration).items()
    ]
    repository = catalogue.shown(
        registration.repository.full_name, escaping.show_control_characters
    )
    return [
        SEPARATOR,
        catalogue.text(msg(_TITLES[registration.spec.settings.mode])),
        SEPARATOR,
        f"Repository: {repository}",
        *counts,
        SEPARATOR,
    ]


def of_one(registration: RegistrationResult, catalogue: Catalogue) -> str:
    """The outcome in a sentence, the table of counts, what failed and why; the rest is folded."""

    def text(message: Message) -> str:
        return catalogue.text(message, escaping.for_markdown_code)

    name = registration.repository.full_name
    title = msg("summary.heading", list=registration.spec.files.label, target=name)
    lines = [
        f"## {text(title)}",
        "",
        catalogue.sentences(list(_outcome(registration)), escaping.for_markdown_code),
        "",
        markdown.row(text(msg("table.item")), text(msg("table.count"))),
        markdown.row("---", "---"),
    ]
    lines += [
        markdown.row(text(msg(cell)), str(count))
        for (_, cell), count in sentences.counts(registration).items()
    ]
    lines.append("")
    if failure := registration.failure:
        lines += [
            f"**{text(msg('label.error'))}:** {text(failure.message)}".replace("\n", "<br>"),
            "",
        ]
    for cause in sentences.causes(registration):
        lines.append("- " + text(cause).replace("\n", "<br>"))
    if registration.failed:
        lines.append("")
    advice = sentences.advice(registration)
    if advice and not registration.failure:
        lines += [text(advice), ""]
    for note in registration.notes:
        lines += markdown.quoted(text(note.message))
    if registration.missing or registration.failed or sentences.findings_of(registration):
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
        lines += _what_would_be_created(registration, catalogue)
    return "\n".join(lines) + "\n"


def _outcome(registration: RegistrationResult) -> Iterator[Message]:
    yield sentences.sentence(registration)
    if findings := sentences.findings_of(registration):
        yield findings
    if pull := registration.pull_request:
        yield msg(_OPERATIONS[registration.operation], pull_request=pull.link)
    if registration.branch:
        yield msg("summary.branch", branch=registration.branch)


def of_many(
    result: ManyResult, registrations: Sequence[RegistrationResult], catalogue: Catalogue
) -> str:
    """Outcome, budget, then the repositories that are not complete, grouped by cause (Markdown)."""

    def text(message: Message) -> str:
        return catalogue.text(message, escaping.for_markdown_code)

    messages = (sentences.outcome(result), sentences.findings(result.findings))
    told = catalogue.sentences([each for each in messages if each], escaping.for_markdown_code)
    lines = [f"## {text(msg('fleet.heading'))}", "", told, ""]
    if result.stopped:
        lines += [f"**{text(result.stopped)}**", ""]
    if result.budget:
        lines += [*(f"- {text(each)}" for each in sentences.budget(result.budget)), ""]
    for note in (*result.notes, *sentences.notes(registrations)):
        lines += markdown.quoted(text(note))
    for rows in sentences.by_cause(result):
        lines += _group(rows, catalogue)
    if result.settings.mode is not Mode.REGISTER:
        lines += _missing_files(registrations, catalogue)
    for finding in Finding:
        if finding in result.with_finding:
            lines += _found(finding, result, catalogue)
    return "\n".join(lines) + "\n"


def _group(rows: Sequence[RegistrationResult], catalogue: Catalogue) -> list[str]:
    def text(message: Message) -> str:
        return catalogue.text(message, escaping.for_markdown_code)

    status, failure = rows[0].status, rows[0].first_failure
    title = text(sentences.counted(status, len(rows)))
    shown = list(_table(rows[:ROWS_PER_CAUSE], catalogue))
    if len(rows) > ROWS_PER_CAUSE:
        shown += ["", text(msg("fleet.more_rows", count=len(rows) - ROWS_PER_CAUSE))]
    lines: list[str] = []
    if failure:
        reason = text(failure.cause.message.within(rows[0].scope)).replace("\n", "<br>")
        lines = [f"**{title}:** {reason}", ""]
    is_open = status is Status.FAILED or len(rows) <= markdown.ROWS_UNFOLDED
    return [*lines, *markdown.folded(title, shown, is_open=is_open)]


def _missing_files(
    registrations: Sequence[RegistrationResult], catalogue: Catalogue
) -> Iterator[str]:
    """Which files are missing in each repository; what does not fit is counted."""
    lacking = [(each, [_named(file) for file in each.to_create]) for each in registrations]
    lacking = [(each, paths) for each, paths in lacking if paths]
    if not lacking:
        return
    those = (
        (sentences.name_of(each), each.spec.files.label, paths)
        for each, paths in lacking[:ROWS_PER_CAUSE]
    )
    lines = list(_paths_table("fleet.table_missing", those, catalogue))
    if len(lacking) > ROWS_PER_CAUSE:
        lines += ["", catalogue.text(msg("fleet.more_rows", count=len(lacking) - ROWS_PER_CAUSE))]
    title = catalogue.text(msg("fleet.missing_title", count=len(lacking)))
    yield from markdown.folded(title, lines)


def _found(finding: Finding, result: ManyResult, catalogue: Catalogue) -> Iterator[str]:
    """Where something is there that deserves a look; what does not fit is counted."""
    rows = result.with_finding[finding]
    those = ((sentences.name_of(r), r.spec.files.label, r.findings[finding]) for r in rows)
    lines = list(_paths_table("fleet.table_paths", those, catalogue))
    if more := result.rows_with[finding] - len(rows):
        lines += ["", catalogue.text(msg("page.not_shown", count=more))]
    title = msg(sentences.COUNTED[finding], count=result.findings[finding])
    yield from markdown.folded(catalogue.text(title), lines)


def _paths_table(
    title: str, those: Iterable[tuple[str, str, Sequence[str | Message]]], catalogue: Catalogue
) -> Iterator[str]:
    """Give a row for each repository, list and paths; ``title`` is that of the paths."""
    names = ("fleet.table_repository", "fleet.table_list", title)
    yield markdown.row(*(catalogue.text(msg(name)) for name in names))
    yield markdown.row(*("---" for _ in names))
    for repository, list_name, paths in those:
        yield markdown.row(
            catalogue.shown(repository, escaping.for_markdown_code),
            markdown.code(list_name, catalogue),
            catalogue.text(msg("fleet.missing_files", paths=paths), escaping.for_markdown_code),
        )


def _named(file: FileResult) -> str | Message:
    """A path, with the rule that it is from."""
    path = file.definition.path
    return msg("state.with_reason", state=path, reason=file.rule) if file.rule else path


def _table(rows: Sequence[RegistrationResult], catalogue: Catalogue) -> Iterator[str]:
    def text(message: Message) -> str:
        return catalogue.text(message, escaping.for_markdown_code)

    names = (
        *("fleet.table_repository", "fleet.table_list"),
        *("fleet.table_files", "fleet.table_outcome"),
    )
    yield markdown.row(*(text(msg(name)) for name in names))
    yield markdown.row(*("---" for _ in names))
    for row in rows:
        yield markdown.row(
            catalogue.shown(sentences.name_of(row), escaping.for_markdown_code),
            markdown.code(row.spec.files.label, catalogue),
            str(row.missing),
            text(sentences.state(row)).replace("\n", "<br>"),
        )


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
