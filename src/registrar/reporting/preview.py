"""Diffs of files that would be written: in one repository, or of each content once over many."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from itertools import chain
from typing import NamedTuple

from registrar.models.files import FileDefinition
from registrar.models.record import Record
from registrar.models.run_result import Content
from registrar.rendering.markdown import ROWS_UNFOLDED, Markdown, folded
from registrar.texts import escaping
from registrar.texts.escaping import Link
from registrar.texts.messages import Catalogue, Message, msg

FILE_LINES = 50
"""The most lines of a file that are shown."""
LINE_CHARACTERS = 300
"""The most characters of a line that are shown."""
PREVIEW_CHARACTERS = 200_000
"""The most characters that are shown of all files together; later files are only named."""


class _Change(NamedTuple):
    """A file that would be written, and the id and content of a file that it would replace."""

    file: FileDefinition
    replaces: str = ""
    before: bytes | None = None

    @property
    def texts(self) -> tuple[str, str] | None:
        """The text before and afterwards; ``None`` if one of them is binary.

        A content is binary if it has a null byte, as in git, or if it is not UTF-8.
        """
        contents = (self.before or b"", self.file.content)
        if any(b"\0" in each for each in contents):
            return None
        try:
            before, after = (each.decode("utf-8") for each in contents)
        except UnicodeDecodeError:
            return None
        return before, after


def _headed(registration: Record) -> Iterator[tuple[str, list[_Change]]]:
    for key, files in (
        ("preview.created", registration.to_create),
        ("preview.updated", registration.to_update),
    ):
        if files:
            yield key, [_Change(file.definition, file.replaces, file.before) for file in files]


def diffs(registration: Record, catalogue: Catalogue) -> Iterator[tuple[str, list[str]]]:
    """Yield headings with the lines below them: a diff of each file, or its name if it has none."""
    for key, changes in _headed(registration):
        lines = [
            catalogue.text(_named(one, change), escaping.show_control_characters)
            for one, _, those in _without_diff(changes)
            for change in those
        ]
        shown = _shown(chain.from_iterable(_diffs(changes)), catalogue)
        yield catalogue.text(msg(key, count=len(changes))), [*lines, *shown]


def of_one(registration: Record, markdown: Markdown) -> list[str]:
    """Return the files that a registration would create or update, as in `diffs`, in Markdown."""
    lines: list[str] = []
    for key, changes in _headed(registration):
        shown: list[str] = []
        for _, several, those in _without_diff(changes):
            paths = [change.file.path for change in those]
            shown += [markdown.text(msg(several, count=len(paths), paths=paths)), ""]
        shown += _fenced(chain.from_iterable(_diffs(changes)), markdown)
        heading = markdown.text(msg(key, count=len(changes)))
        lines += folded(heading, shown, is_open=len(shown) <= ROWS_UNFOLDED)
    return lines


def title(wanted: Sequence[Content]) -> Message:
    """Return the heading of the contents for many repositories."""
    is_update = any(each.replaces for each in wanted)
    return msg("preview.written" if is_update else "preview.created", count=len(wanted))


def contents(wanted: Sequence[Content]) -> Iterator[tuple[Message, list[str]]]:
    """Yield each content that would be written: a heading with its repositories, and a diff."""
    changes = [_Change(each.example, each.replaces, each.before) for each in wanted]
    for content, change, diff in zip(wanted, changes, _diffs(changes), strict=True):
        file: str | Message = change.file.path
        for key, _, without in _without_diff([change]):
            file = _named(key, *without)
        heading = msg("preview.repositories", file=file, count=content.repositories)
        if content.replaces:
            heading = msg("preview.in_open", content=heading)
        if content.listed.has_template or content.listed.parts:
            example = Link(content.of.full_name, content.of.html_url)
            heading = msg("preview.example", content=heading, example=example)
        yield heading, diff


def of_many(wanted: Sequence[Content], markdown: Markdown) -> list[str]:
    """Return the files that a run over many would write, as in `contents`, in Markdown."""
    lines: list[str] = []
    for heading, diff in contents(wanted):
        lines += [markdown.text(heading), "", *_fenced(diff, markdown)]
    return folded(markdown.text(title(wanted)), lines, is_open=len(lines) <= ROWS_UNFOLDED)


def _fenced(diff: Iterable[str], markdown: Markdown) -> list[str]:
    # No line of a diff can end the fence, because each begins with `+`, `-`, `@` or a blank
    lines = list(_shown(diff, markdown.catalogue))
    return ["```diff", *lines, "```", ""] if lines else []


def _shown(lines: Iterable[str], catalogue: Catalogue) -> Iterator[str]:
    return (catalogue.shown(line, escaping.show_control_characters) for line in lines)


def _named(key: str, change: _Change) -> Message:
    return msg(key, path=change.file.path, size=len(change.file.content))


def _without_diff(changes: Sequence[_Change]) -> Iterator[tuple[str, str, list[_Change]]]:
    """Yield files that a diff cannot show, after the keys of the text for one and for several."""
    if empty := [each for each in changes if each.file.is_empty and not each.replaces]:
        yield "preview.empty_file", "preview.empty_files", empty
    if unread := [each for each in changes if each.replaces and each.before is None]:
        yield "preview.unread_file", "preview.unread_files", unread
    rest = [each for each in changes if each not in empty and each not in unread]
    if binary := [each for each in rest if each.texts is None]:
        yield "preview.binary_file", "preview.binary_files", binary


def _diffs(changes: Sequence[_Change]) -> Iterator[list[str]]:
    room = PREVIEW_CHARACTERS
    for change in changes:
        path, lines = change.file.path, list[str]()
        if change.texts and not [*_without_diff([change])]:
            lines = list(_diff(path, *change.texts)) if room > 0 else [f"+++ b/{path}"]
        room -= sum(map(len, lines))
        yield lines


def _diff(path: str, before: str, after: str) -> Iterator[str]:
    old, new = before.split("\n"), after.split("\n")
    ended = new[-1] == ""
    if old[-1] == new[-1] == "":
        old, new = old[:-1], new[:-1]
    elif not before:
        old = []
    from_file = f"a/{path}" if before else "/dev/null"
    lines = list(unified_diff(old, new, from_file, f"b/{path}", lineterm=""))
    yield from map(_cut, lines[: FILE_LINES + 3])
    if (left := len(lines) - FILE_LINES - 3) > 0:
        yield f"+… (+{left})"
    if not ended:
        yield "\\ No newline at end of file"


def _cut(line: str) -> str:
    over = len(line) - 1 - LINE_CHARACTERS
    return f"{line[: LINE_CHARACTERS + 1]}… (+{over})" if over > 0 else line
