"""What a run that writes nothing would create, for log and step summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registrar.models.files import FileDefinition
from registrar.models.result import RegistrationResult
from registrar.reporting import markdown
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, msg

FILE_LINES = 50
"""Lines of a file that are shown."""
LINE_CHARACTERS = 300
"""Characters of a line that are shown."""
PREVIEW_CHARACTERS = 200_000
"""Characters shown of all files together; files after that are only named."""


def console(registration: RegistrationResult, catalogue: Catalogue) -> Iterator[str]:
    """A diff for each file; one that is empty or binary is named."""
    files = [file.definition for file in registration.to_create]
    for key, _, definitions in _without_diff(files):
        for definition in definitions:
            message = msg(key, path=definition.path, size=len(definition.content))
            yield catalogue.text(message, escaping.show_control_characters)
    for line in _diffs(files):
        yield catalogue.shown(line, escaping.show_control_characters)


def step_summary(registration: RegistrationResult, catalogue: Catalogue) -> list[str]:
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
