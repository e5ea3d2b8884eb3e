"""Results -> texts: console, step summary, pull request body, outputs, report. Text only."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence

from registrar.models import FileDefinition, FileResult, RegistrationResult, State
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message, msg

SEPARATOR = "=" * 50
OUTPUT_CHARACTERS = 500_000
"""A larger report is a file only: the runner takes 1 MB for all outputs of a job."""
REPORT_VERSION = 1
SHOWN_LINES = 50
"""So many lines of a file's content are shown before it exists."""
_FOLDED = 10
_COUNTS = ("created", "skipped", "failed")
_URGENCY = (
    State.FAILED,
    State.UNKNOWN,
    State.CREATED,
    State.MISSING,
    State.PENDING,
    State.SKIPPED,
)
_EFFECTS = {
    # What an empty file means to GitHub: docs/github-behaviour.md, "Files that GitHub reads"
    ".github/ISSUE_TEMPLATE/config.yml": "effect.issue_templates",
    ".github/CODE_OF_CONDUCT.md": "effect.inherited",
    ".github/CONTRIBUTING.md": "effect.contributing",
    ".github/GOVERNANCE.md": "effect.inherited",
    ".github/PULL_REQUEST_TEMPLATE.md": "effect.inherited",
    ".github/SECURITY.md": "effect.inherited",
    ".github/SUPPORT.md": "effect.inherited",
    ".mcp.json": "effect.no_servers",
}
_EMPTY = (b"", b"{}")
_COMMIT_CELL = re.compile(r"(?m)^\| (<code>.*?</code>) \|.*\| (\[`[0-9a-f]{7}`\]\(\S+\)) \|$")


def console_summary(registration: RegistrationResult, catalogue: Catalogue) -> list[str]:
    """The eight lines that scripts read: a frame, the repository and the three counts."""
    counts = [
        catalogue.text(msg(f"summary.{name}", count=getattr(registration, name)))
        for name in _COUNTS
    ]
    return [
        SEPARATOR,
        catalogue.text(msg("summary.title")),
        SEPARATOR,
        f"Repository: {registration.repository}",
        *counts,
        SEPARATOR,
    ]


def console_diff(registration: RegistrationResult) -> list[str]:
    """What a run that writes nothing would create, as the lines of a diff."""
    return [line for file in _missing(registration) for line in _diff(file)]


def step_summary(registration: RegistrationResult, catalogue: Catalogue) -> str:
    """The table of the three counts, then the pull request, then every path (Markdown)."""

    def text(message: Message) -> str:
        return catalogue.text(message, escaping.for_markdown_code)

    title = msg("summary.heading", profile=registration.profile, target=registration.repository)
    lines = [
        f"## {text(title)}",
        "",
        f"| {text(msg('table.item'))} | {text(msg('table.count'))} |",
        "| --- | --- |",
    ]
    for name in _COUNTS:
        label = text(msg(f"table.{name}"))
        lines.append(f"| {label} | {getattr(registration, name)} |")
    lines.append("")
    if registration.error:
        lines += [_quoted(text(registration.error)), ""]
    if pull := registration.pull_request:
        link = f"[#{pull.number}]({escaping.for_link(pull.url)})"
        lines += [f"{text(msg(f'summary.pull_request_{registration.operation}'))} {link}", ""]
    if registration.branch:
        lines += [text(msg("summary.branch", branch=registration.branch)), ""]
    lines += [line for note in registration.notes for line in (_quoted(text(note)), "")]
    if registration.files:
        table = _table(_sorted(registration.files), catalogue, _state)
        lines += _folded(text(msg("summary.paths", count=len(registration.files))), table)
    if missing := _missing(registration):
        shown = [
            catalogue.shown(line, escaping.show_control_characters)
            for f in missing
            for line in _diff(f)
        ]
        # No line of a diff can end the fence: each begins with a sign of its own
        diff = ["```diff", *shown, "```"]
        lines += _folded(text(msg("summary.diff", count=len(missing))), diff)
    return "\n".join(lines) + "\n"


def error_summary(errors: Sequence[Message], catalogue: Catalogue) -> str:
    """What ended a run before it could register anything (Markdown)."""
    lines = [f"## {catalogue.text(msg('summary.not_run'))}", ""]
    for error in errors:
        lines += [_quoted(catalogue.text(error, escaping.for_markdown_code)), ""]
    return "\n".join(lines) + "\n"


def cut(markdown: str, size: int, note: str) -> str:
    """Shorten Markdown to ``size`` bytes, whole lines, and say so in ``note``.

    What the cut leaves open (a fence, a folded part) is closed, so that the note is seen.
    """
    data = markdown.encode("utf-8", "backslashreplace")
    if len(data) <= size:
        return markdown
    closing = "\n```\n\n</details>\n"
    room = max(size - len(f"{closing}\n{note}\n".encode()), 0)
    kept = data[:room].rpartition(b"\n")[0].decode("utf-8", "ignore")
    fence = "\n```\n" if kept.count("\n```") % 2 else ""
    folded = "\n</details>\n" if kept.count("\n<details") > kept.count("\n</details>") else ""
    return f"{kept}{fence}{folded}\n\n{note}\n"


def pull_request_body(
    registration: RegistrationResult,
    catalogue: Catalogue,
    room: int,
    earlier: str = "",
    *,
    own_list: bool = False,
) -> str:
    """What a reviewer has to know, in at most ``room`` characters (UTF-16 units).

    The table shows what the branch brings, whichever run created it. Created and failed paths
    come first; those that do not fit are counted. ``earlier`` is our part as it stands: it knows
    the commits of earlier runs.
    """
    commits = dict(_COMMIT_CELL.findall(earlier.replace("\r\n", "\n")))
    commits |= {
        escaping.for_markdown_code(file.definition.path): _commit_link(registration, file.commit)
        for file in registration.files
        if file.commit
    }
    files = _sorted(registration.files, by_branch=True)
    rows = _table(files, catalogue, _state_on_branch, commits)
    head = [
        catalogue.text(msg("body.intro", profile=registration.profile), escaping.for_markdown_code),
        "",
        *rows[:2],
    ]
    change = msg("body.change_the_file" if own_list else "body.change_the_set")
    tail = ["", *_effects(registration, catalogue), catalogue.text(change)]
    rest = rows[2:]
    more = catalogue.text(msg("body.more", count=10**9))
    room -= escaping.characters("\n".join([*head, *tail, "", more])) + 2
    kept: list[str] = []
    for row in rest:
        room -= escaping.characters(row) + 1
        if room < 0:
            break
        kept.append(row)
    left = len(rest) - len(kept)
    rest_counted = ["", catalogue.text(msg("body.more", count=left))] if left else []
    return "\n".join([*head, *kept, *rest_counted, *tail])


def outputs(registrations: Sequence[RegistrationResult], report: str, path: str) -> dict[str, str]:
    """The outputs of the step; of several registrations only the counts, summed."""
    only = registrations[0] if len(registrations) == 1 else None
    pull = only.pull_request if only else None
    return {
        **{name: str(sum(getattr(r, name) for r in registrations)) for name in _COUNTS},
        "branch": only.branch if only else "",
        "pull_request_number": str(pull.number) if pull else "",
        "pull_request_url": pull.url if pull else "",
        "pull_request_operation": only.operation if only else "",
        "report": report if escaping.characters(report) <= OUTPUT_CHARACTERS else "",
        "report_path": path,
    }


def report_json(
    registrations: Sequence[RegistrationResult],
    errors: Sequence[Message],
    exit_code: int,
    catalogue: Catalogue,
) -> str:
    """Everything about a run, for programs (``schemas/report.schema.json``); one line."""

    def text(message: Message | None) -> str | None:
        return None if message is None else catalogue.text(message, str)

    def shown(value: str) -> str:
        return catalogue.shown(value, str)

    document = {
        "version": REPORT_VERSION,
        "exit_code": exit_code,
        "errors": [text(error) for error in errors],
        "registrations": [
            {
                "profile": registration.profile,
                "repository": shown(registration.repository),
                "mode": registration.mode,
                "exit_code": registration.exit_code,
                "error": text(registration.error),
                "notes": [text(note) for note in registration.notes],
                **{name: getattr(registration, name) for name in _COUNTS},
                "branch": shown(registration.branch) or None,
                "base_branch": shown(registration.base_branch) or None,
                "pull_request": {
                    "number": registration.pull_request.number,
                    "url": shown(registration.pull_request.url),
                    "operation": registration.operation,
                }
                if registration.pull_request
                else None,
                "files": [
                    {
                        "path": shown(file.definition.path),
                        "state": file.state,
                        "reason": text(file.reason),
                        "commit": file.commit or None,
                    }
                    for file in registration.files
                ],
            }
            for registration in registrations
        ],
    }
    # ASCII, so that nothing in it can be taken for the end of a line or of an output
    return json.dumps(document)


def _missing(registration: RegistrationResult) -> list[FileDefinition]:
    return [file.definition for file in registration.files if file.state is State.MISSING]


def _diff(definition: FileDefinition) -> Iterator[str]:
    try:
        lines = definition.content.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        yield f"Binary files /dev/null and b/{definition.path} differ"
        return
    ended = lines[-1] == ""
    lines = lines[:-1] if ended else lines
    yield "--- /dev/null"
    yield f"+++ b/{definition.path}"
    if lines:
        yield f"@@ -0,0 +1,{len(lines)} @@" if len(lines) > 1 else "@@ -0,0 +1 @@"
    yield from (f"+{line}" for line in lines[:SHOWN_LINES])
    if len(lines) > SHOWN_LINES:
        yield f"+… (+{len(lines) - SHOWN_LINES})"
    if lines and not ended:
        yield "\\ No newline at end of file"


def _effects(registration: RegistrationResult, catalogue: Catalogue) -> list[str]:
    """What the files that are added mean to the host while they are as they are."""
    found: dict[str, list[str]] = {}
    for file in registration.files:
        path = file.definition.path
        if file.on_branch and path in _EFFECTS and file.definition.content.strip() in _EMPTY:
            found.setdefault(_EFFECTS[path], []).append(path)
    lines = [
        f"- {catalogue.text(msg(key, paths=paths), escaping.for_markdown_code)}"
        for key, paths in found.items()
    ]
    return [*lines, ""] if lines else []


def _sorted(files: Sequence[FileResult], *, by_branch: bool = False) -> list[FileResult]:
    def urgency(file: FileResult) -> int:
        state = State.CREATED if by_branch and file.on_branch else file.state
        return _URGENCY.index(state)

    return sorted(files, key=urgency)


def _table(
    files: Sequence[FileResult],
    catalogue: Catalogue,
    state: Callable[[FileResult], Message],
    commits: dict[str, str] | None = None,
) -> list[str]:
    """A row for each path, with a column for ``commits`` (cell of a path -> link) if any."""
    names = ["table.path", "table.state", "table.description"]
    names += ["table.commit"] if commits else []
    lines = [
        f"| {' | '.join(catalogue.text(msg(name)) for name in names)} |",
        f"| {' | '.join('---' for _ in names)} |",
    ]
    for file in files:
        path = catalogue.shown(file.definition.path, escaping.for_markdown_code)
        cells = [
            path,
            _one_line(catalogue.text(state(file), escaping.for_markdown_code)),
            catalogue.shown(file.definition.description, escaping.for_markdown),
        ]
        cells += [commits.get(path, "")] if commits else []
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _commit_link(registration: RegistrationResult, commit: str) -> str:
    return f"[`{commit[:7]}`]({escaping.for_link(f'{registration.html_url}/commit/{commit}')})"


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    opened = " open" if len(lines) <= _FOLDED else ""
    return [f"<details{opened}>", f"<summary>{title}</summary>", "", *lines, "", "</details>", ""]


def _state(file: FileResult) -> Message:
    return file.described


def _state_on_branch(file: FileResult) -> Message:
    return msg("state.added") if file.on_branch else file.described


def _one_line(text: str) -> str:
    return "<br>".join(line.strip() for line in text.splitlines() if line.strip())


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())
