"""The texts that a person reads first after a run: step summary (Markdown), and end of the log."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from registrar.models.record import Record
from registrar.models.rules import origin_of
from registrar.models.run_result import ManyResult
from registrar.models.spec import FileList
from registrar.models.standing import Standing
from registrar.models.status import Status
from registrar.rendering import states
from registrar.rendering.markdown import ROWS_UNFOLDED, Markdown, by_urgency, folded
from registrar.reporting import preview, sentences
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message, msg

SEPARATOR = "=" * 50
ROWS = 500
"""The most repositories that a table shows. Others are counted."""

# --- One repository -----------------------------------------------------------------------------


def log_summary(registration: Record, catalogue: Catalogue) -> list[str]:
    """Return the lines that scripts read: a frame, the repository and the counts."""
    counts = [
        catalogue.text(msg(line, count=count))
        for (line, _), count in sentences.counts(registration).items()
    ]
    name = catalogue.shown(registration.repository.full_name, escaping.show_control_characters)
    return [
        SEPARATOR,
        catalogue.text(msg(states.MODES[registration.spec.settings.mode].title)),
        SEPARATOR,
        f"Repository: {name}",
        *counts,
        SEPARATOR,
    ]


def of_one(registration: Record, catalogue: Catalogue) -> str:
    """Return the summary of one repository (Markdown).

    It has the outcome in sentences, the counts, the failures, the advice and the notes, then the
    table of paths and the diffs, which can be folded.
    """
    markdown, name = Markdown(catalogue), registration.repository.full_name
    title = msg("summary.heading", list=registration.spec.file_list.label, target=name)
    counts = [
        [markdown.text(msg(cell)), str(count)]
        for (_, cell), count in sentences.counts(registration).items()
    ]
    lines = [
        f"## {markdown.text(title)}",
        "",
        markdown.text(*_outcome(registration)),
        "",
    ]
    if counts:
        lines += [*markdown.table(["table.item", "table.count"], counts), ""]
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
    if registration.wanted or registration.findings:
        files = by_urgency(registration.files)
        table = markdown.path_table(files, states.described)
        title = msg("summary.paths", count=len(files))
        lines += folded(markdown.text(title), table, is_open=len(files) <= ROWS_UNFOLDED)
    lines += preview.of_one(registration, markdown)
    return "\n".join(lines) + "\n"


def _outcome(registration: Record) -> Iterator[Message]:
    yield from sentences.outcome(registration)
    if pull := registration.pull_request:
        yield msg(states.OPERATIONS[registration.operation].sentence, pull_request=pull.link)
    if registration.branch:
        yield msg("summary.branch", branch=registration.branch)


# --- Many repositories --------------------------------------------------------------------------


def of_many(
    result: ManyResult,
    registrations: Sequence[Record],
    catalogue: Catalogue,
) -> str:
    """Return the summary of many repositories (Markdown).

    It has the outcome, the budget, the notes, the causes of failures, the repositories that are not
    complete, the findings, and the contents that a plan would write.
    """
    markdown = Markdown(catalogue)
    outcome = markdown.text(*sentences.closing(result))
    lines = [f"## {markdown.text(msg('many.heading'))}", "", outcome, ""]
    if result.stopped:
        lines += [f"**{markdown.text(result.stopped)}**", ""]
    if result.budget:
        # After writing, the outcome has the real numbers in place of the budget's estimates
        settings = result.settings
        planned = sentences.budget(result.budget, settings) if settings.mode.only_reads else ()
        lines_read = (*sentences.read(result.budget), *planned)
        lines += [*(f"- {markdown.text(each)}" for each in lines_read), ""]
    for note in (*result.notes, *sentences.notes(registrations)):
        lines += markdown.quoted(note)
    groups = list(sentences.by_cause(result))
    for rows in groups:
        if failure := rows[0].first_failure:
            names = {row.repository.full_name for row in rows}
            title = markdown.text(sentences.counted(rows[0].status, len(names)))
            reason = sentences.cause_of(rows, failure)
            lines += [f"**{title}:** {markdown.line(reason)}", ""]
    if rows := [row for group in groups for row in group]:
        columns: _Columns = {
            "many.table_outcome": lambda row: markdown.line(sentences.state(row)),
            "many.table_paths": lambda row: _paths(row, markdown),
        }
        heading = msg("many.not_complete", count=len({row.repository.full_name for row in rows}))
        is_open = result.end.states[Status.FAILED] > 0 or len(rows) <= ROWS_UNFOLDED
        lines += folded(markdown.text(heading), _table(rows, columns, markdown), is_open=is_open)
    for standing, words in states.STANDINGS.items():
        if words.found and standing in result.with_finding:
            lines += _found(standing, result, markdown)
    if wanted := list(result.contents.values()):
        lines += preview.of_many(wanted, markdown)
    return "\n".join(lines) + "\n"


def _paths(row: Record, markdown: Markdown) -> str:
    standings: dict[Standing, list[str | Message]] = {}
    for file in row.files:
        if not file.standing.is_present:
            path, origin = file.path, origin_of(file.definition)
            named: str | Message = path
            if origin:
                named = msg("state.with_reason", state=path, reason=origin)
            standings.setdefault(file.standing, []).append(named)
    lines = (
        msg("many.paths", state=msg(states.STANDINGS[standing].group.one), paths=paths)
        for standing, paths in standings.items()
    )
    return "<br>".join(map(markdown.line, lines))


def _found(standing: Standing, result: ManyResult, markdown: Markdown) -> list[str]:
    rows = result.with_finding[standing]

    def paths(row: Record) -> str:
        return markdown.text(msg("many.missing_files", paths=row.findings[standing]))

    table = _table(rows, {"many.table_paths": paths}, markdown)
    if more := result.more_with_finding[standing]:
        table += ["", markdown.text(msg("page.not_shown", count=more))]
    title = msg(states.STANDINGS[standing].found, count=result.end.standings[standing])
    return folded(markdown.text(title), table)


_Columns = Mapping[str, Callable[[Record], str]]
"""Functions that return the cell of a column, by the keys of the columns' headings."""


def _table(rows: Sequence[Record], columns: _Columns, markdown: Markdown) -> list[str]:
    """Return a table with a row for each repository and list; rows after `ROWS` are counted."""
    if len({row.spec.file_list.label for row in rows}) > 1:
        columns = {
            "many.table_list": lambda row: markdown.code(row.spec.file_list.label),
            **columns,
        }
    shown = (
        [markdown.code(row.repository.link), *(cell(row) for cell in columns.values())]
        for row in rows[:ROWS]
    )
    table = markdown.table(["many.table_repository", *columns], shown)
    if len(rows) > ROWS:
        table += ["", markdown.text(msg("many.more_rows", count=len(rows) - ROWS))]
    return table


# --- Errors, lists, and a summary that is too large ---------------------------------------------


def error_summary(errors: Sequence[Message], catalogue: Catalogue, *, has_results: bool) -> str:
    """Return the errors that ended a run early (Markdown).

    ``has_results`` says that the run had results before it ended.
    """
    markdown = Markdown(catalogue)
    title = msg("summary.ended_early" if has_results else "summary.not_run")
    lines = [f"## {markdown.text(title)}", ""]
    for error in errors:
        lines += markdown.quoted(error)
    return "\n".join(lines) + "\n"


def of_lists(lists: Sequence[FileList], catalogue: Catalogue) -> str:
    """Return the lists of a run that only reads lists (Markdown)."""
    markdown = Markdown(catalogue)
    lines = [f"## {markdown.text(msg('summary.title_validate'))}", ""]
    lines += [f"- {markdown.text(each)}" for each in sentences.valid(lists)]
    return "\n".join(lines) + "\n"


def cut(text: str, size: int, note: str) -> str:
    """Shorten Markdown to whole lines in ``size`` bytes, and add ``note``, which says so.

    A fence or a folded part that the cut leaves open is closed, so that the note is seen. The
    result is empty if there is no room for more than the note.
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
