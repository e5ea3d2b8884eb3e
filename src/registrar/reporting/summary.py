"""What a person reads first after a run: the step summary (Markdown), and the end of the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

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
from registrar.reporting import sentences
from registrar.reporting.markdown import ROWS_UNFOLDED, Markdown, by_urgency, folded
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message, msg

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
FILE_LINES = 50
"""Lines of a file that are shown."""
LINE_CHARACTERS = 300
"""Characters of a line that are shown."""
PREVIEW_CHARACTERS = 200_000
"""Characters shown of all files together; files after that are only named."""

# --- One repository -----------------------------------------------------------------------------


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
    markdown, name = Markdown(catalogue), registration.repository.full_name
    title = msg("summary.heading", list=registration.spec.files.label, target=name)
    counts = [
        [markdown.text(msg(cell)), str(count)]
        for (_, cell), count in sentences.counts(registration).items()
    ]
    lines = [
        f"## {markdown.text(title)}",
        "",
        markdown.text(*_outcome(registration)),
        "",
        *markdown.table(["table.item", "table.count"], counts),
        "",
    ]
    if failure := registration.failure:
        error = markdown.text(msg("label.error"))
        lines += [f"**{error}:** {markdown.line(failure.message)}", ""]
    lines += [f"- {markdown.line(cause)}" for cause in sentences.causes(registration)]
    if registration.failed:
        lines.append("")
    advice = sentences.advice(registration)
    if advice and not registration.failure:
        lines += [markdown.text(advice), ""]
    for note in registration.notes:
        lines += markdown.quoted(note.message)
    if registration.missing or registration.failed or sentences.findings_of(registration):
        files = by_urgency(registration.files)
        table = markdown.path_table(files, lambda file: file.described)
        title = msg("summary.paths", count=len(files))
        lines += folded(markdown.text(title), table, is_open=len(files) <= ROWS_UNFOLDED)
    if mistakes := registration.codeowners:
        title = msg("evidence.codeowners", count=len(mistakes))
        items = (markdown.line(msg("check.codeowners", **each._asdict())) for each in mistakes)
        lines += folded(markdown.text(title), [f"- {each}" for each in items])
    if registration.to_create:
        lines += _what_would_be_created(registration, markdown)
    return "\n".join(lines) + "\n"


def _outcome(registration: RegistrationResult) -> Iterator[Message]:
    yield sentences.sentence(registration)
    if findings := sentences.findings_of(registration):
        yield findings
    if pull := registration.pull_request:
        yield msg(_OPERATIONS[registration.operation], pull_request=pull.link)
    if registration.branch:
        yield msg("summary.branch", branch=registration.branch)


# --- Many repositories --------------------------------------------------------------------------


def of_many(
    result: ManyResult, registrations: Sequence[RegistrationResult], catalogue: Catalogue
) -> str:
    """Outcome, budget, then the repositories that are not complete, grouped by cause (Markdown)."""
    markdown = Markdown(catalogue)
    outcome = [sentences.outcome(result)]
    if findings := sentences.findings(result.findings):
        outcome.append(findings)
    lines = [f"## {markdown.text(msg('fleet.heading'))}", "", markdown.text(*outcome), ""]
    if result.stopped:
        lines += [f"**{markdown.text(result.stopped)}**", ""]
    if result.budget:
        budget = sentences.budget(result.budget)
        lines += [*(f"- {markdown.text(each)}" for each in budget), ""]
    for note in (*result.notes, *sentences.notes(registrations)):
        lines += markdown.quoted(note)
    for rows in sentences.by_cause(result):
        lines += _group(rows, markdown)
    if result.settings.mode is not Mode.REGISTER:
        lines += _missing_files(registrations, markdown)
    for finding in Finding:
        if finding in result.with_finding:
            lines += _found(finding, result, markdown)
    return "\n".join(lines) + "\n"


def _group(rows: Sequence[RegistrationResult], markdown: Markdown) -> list[str]:
    status, failure = rows[0].status, rows[0].first_failure
    title = markdown.text(sentences.counted(status, len(rows)))
    columns: _Columns = {
        "fleet.table_files": lambda row: str(row.missing),
        "fleet.table_outcome": lambda row: markdown.line(sentences.state(row)),
    }
    table = _table(rows, columns, markdown)
    is_open = status is Status.FAILED or len(rows) <= ROWS_UNFOLDED
    lines: list[str] = []
    if failure:
        reason = failure.cause.message.within(rows[0].scope)
        lines = [f"**{title}:** {markdown.line(reason)}", ""]
    return [*lines, *folded(title, table, is_open=is_open)]


def _missing_files(registrations: Sequence[RegistrationResult], markdown: Markdown) -> list[str]:
    """Which files are missing in each repository."""
    rows = [each for each in registrations if each.to_create]
    if not rows:
        return []

    def paths(row: RegistrationResult) -> str:
        return markdown.text(msg("fleet.missing_files", paths=[*map(_named, row.to_create)]))

    table = _table(rows, {"fleet.table_missing": paths}, markdown)
    return folded(markdown.text(msg("fleet.missing_title", count=len(rows))), table)


def _found(finding: Finding, result: ManyResult, markdown: Markdown) -> list[str]:
    """Where something is there that deserves a look; what does not fit is counted."""
    rows = result.with_finding[finding]

    def paths(row: RegistrationResult) -> str:
        return markdown.text(msg("fleet.missing_files", paths=row.findings[finding]))

    table = _table(rows, {"fleet.table_paths": paths}, markdown)
    if more := result.rows_with[finding] - len(rows):
        table += ["", markdown.text(msg("page.not_shown", count=more))]
    title = msg(sentences.COUNTED[finding], count=result.findings[finding])
    return folded(markdown.text(title), table)


_Columns = Mapping[str, Callable[[RegistrationResult], str]]
"""What stands in columns of a table, by the keys of their headings."""


def _table(rows: Sequence[RegistrationResult], columns: _Columns, markdown: Markdown) -> list[str]:
    """Give a row for each repository and list; what does not fit is counted."""
    shown = (
        [
            markdown.code(sentences.name_of(row)),
            markdown.code(row.spec.files.label),
            *(cell(row) for cell in columns.values()),
        ]
        for row in rows[:ROWS_PER_CAUSE]
    )
    table = markdown.table(["fleet.table_repository", "fleet.table_list", *columns], shown)
    if len(rows) > ROWS_PER_CAUSE:
        table += ["", markdown.text(msg("fleet.more_rows", count=len(rows) - ROWS_PER_CAUSE))]
    return table


def _named(file: FileResult) -> str | Message:
    """A path, with the rule that it is from."""
    path = file.definition.path
    return msg("state.with_reason", state=path, reason=file.rule) if file.rule else path


# --- What ended it, and what does not fit -------------------------------------------------------


def error_summary(errors: Sequence[Message], catalogue: Catalogue, *, has_results: bool) -> str:
    """What ended a run early, before it could register anything or afterwards (Markdown)."""
    markdown = Markdown(catalogue)
    title = msg("summary.ended_early" if has_results else "summary.not_run")
    lines = [f"## {markdown.text(title)}", ""]
    for error in errors:
        lines += markdown.quoted(error)
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


# --- What would be created ----------------------------------------------------------------------


def diffs(registration: RegistrationResult, catalogue: Catalogue) -> Iterator[str]:
    """A diff for each file; one that is empty or binary is named."""
    files = [file.definition for file in registration.to_create]
    for key, _, definitions in _without_diff(files):
        for definition in definitions:
            message = msg(key, path=definition.path, size=len(definition.content))
            yield catalogue.text(message, escaping.show_control_characters)
    for line in _diffs(files):
        yield catalogue.shown(line, escaping.show_control_characters)


def _what_would_be_created(registration: RegistrationResult, markdown: Markdown) -> list[str]:
    """The same as `diffs`, in Markdown."""
    files = [file.definition for file in registration.to_create]
    lines: list[str] = []
    for _, key, definitions in _without_diff(files):
        paths = [definition.path for definition in definitions]
        message = msg(key, count=len(paths), paths=paths)
        lines += [markdown.text(message), ""]
    diffs = [
        markdown.catalogue.shown(line, escaping.show_control_characters) for line in _diffs(files)
    ]
    if diffs:
        # No line of a diff can end the fence: each begins with `+`, `-`, `@` or a blank
        lines += ["```diff", *diffs, "```"]
    title = markdown.text(msg("summary.diff", count=len(files)))
    return folded(title, lines, is_open=len(lines) <= ROWS_UNFOLDED)


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
