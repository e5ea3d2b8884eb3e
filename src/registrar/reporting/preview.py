"""What would be created, as diffs: in one repository, or each listed content of many once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from registrar.models.files import FileDefinition
from registrar.models.result import RegistrationResult
from registrar.models.run_result import Content
from registrar.reporting.markdown import ROWS_UNFOLDED, Markdown, folded
from registrar.texts import escaping
from registrar.texts.escaping import Link
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
            yield catalogue.text(_named(key, definition), escaping.show_control_characters)
    yield from _shown(chain.from_iterable(_diffs(files)), catalogue)


def of_one(registration: RegistrationResult, markdown: Markdown) -> list[str]:
    """The same as `diffs`, in Markdown."""
    files = [file.definition for file in registration.to_create]
    lines: list[str] = []
    for _, key, definitions in _without_diff(files):
        paths = [definition.path for definition in definitions]
        message = msg(key, count=len(paths), paths=paths)
        lines += [markdown.text(message), ""]
    lines += _fenced(chain.from_iterable(_diffs(files)), markdown)
    title = markdown.text(msg("summary.diff", count=len(files)))
    return folded(title, lines, is_open=len(lines) <= ROWS_UNFOLDED)


def contents(wanted: Sequence[Content], *, is_public: bool) -> Iterator[tuple[Message, list[str]]]:
    """Each content that repositories would get: how many do, and its diff.

    ``is_public`` says that others read it: then a private repository is no example.
    """
    definitions = [
        each.example if each.of.is_public or not is_public else each.listed for each in wanted
    ]
    for content, definition, diff in zip(wanted, definitions, _diffs(definitions), strict=True):
        file: str | Message = definition.path
        for key, _, without in _without_diff([definition]):
            file = _named(key, *without)
        heading = msg("preview.repositories", file=file, count=content.repositories)
        if content.listed.template or content.listed.parts:
            example = Link(content.of.full_name, content.of.html_url)
            heading = (
                msg("preview.example", content=heading, example=example)
                if definition is content.example
                else msg("preview.template", content=heading)
            )
        yield heading, diff


def log_of_many(
    wanted: Sequence[Content], catalogue: Catalogue, *, is_public: bool
) -> Iterator[str]:
    """The same as `contents`, as lines of the log."""
    for heading, diff in contents(wanted, is_public=is_public):
        yield catalogue.text(heading, escaping.show_control_characters)
        yield from _shown(diff, catalogue)


def of_many(wanted: Sequence[Content], markdown: Markdown, *, is_public: bool) -> list[str]:
    """The same as `contents`, in Markdown."""
    lines: list[str] = []
    for heading, diff in contents(wanted, is_public=is_public):
        lines += [markdown.text(heading), "", *_fenced(diff, markdown)]
    title = markdown.text(msg("summary.diff", count=len(wanted)))
    return folded(title, lines, is_open=len(lines) <= ROWS_UNFOLDED)


def _fenced(diff: Iterable[str], markdown: Markdown) -> list[str]:
    # No line of a diff can end the fence: each begins with `+`, `-`, `@` or a blank
    lines = list(_shown(diff, markdown.catalogue))
    return ["```diff", *lines, "```", ""] if lines else []


def _shown(lines: Iterable[str], catalogue: Catalogue) -> Iterator[str]:
    return (catalogue.shown(line, escaping.show_control_characters) for line in lines)


def _named(key: str, definition: FileDefinition) -> Message:
    return msg(key, path=definition.path, size=len(definition.content))


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


def _diffs(files: Sequence[FileDefinition]) -> Iterator[list[str]]:
    """Give the diff of each file, which is empty where none can show it."""
    room = PREVIEW_CHARACTERS
    for definition in files:
        text = None if definition.is_empty else _text(definition)
        lines: list[str] = []
        if text is not None:
            lines = list(_diff(definition.path, text)) if room > 0 else [f"+++ b/{definition.path}"]
        room -= sum(map(len, lines))
        yield lines


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
