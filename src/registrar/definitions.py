"""Definition file -> `FileDefinition`; every diagnostic at once, with its entry and line.

Both formats are read as data only. JSON goes through the standard library, entry by entry, so
that each entry's line is known; YAML is composed to nodes and never constructed, because a
constructor raises more than `yaml.YAMLError` and a node knows its line, its tag and its
duplicate keys.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from yaml.reader import ReaderError

from registrar.errors import Diagnostic, InvalidInput
from registrar.models import EMPTY_FILE, FileDefinition, parents
from registrar.texts.escaping import SECRET_CHARACTERS
from registrar.texts.messages import Message, msg

FIELDS = ("path", "description", "content")
PATH_BYTES = 4096
PART_BYTES = 255
"""Longest path and longest part of a path, in bytes of UTF-8, that a checkout can hold."""

_JSON_BLANKS = " \t\n\r"


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry as the file has it: values that are no string stay as ``None``."""

    number: int
    line: int
    fields: dict[str, str | None]
    duplicates: tuple[str, ...] = ()
    is_mapping: bool = True


def load(
    path: Path, *, shown_as: str, content_allowed: bool = True, secret: str = ""
) -> tuple[tuple[FileDefinition, ...], tuple[Diagnostic, ...]]:
    """Read the definition file at ``path`` (``.json``, ``.yml`` or ``.yaml``; UTF-8).

    ``shown_as`` is how messages name the file. Where ``content`` is not allowed, it
    is ignored with a warning. A file that holds ``secret`` is refused: what it lists is published.

    Returns the files in the order of the list, and the warnings.

    Raises:
        InvalidInput: the file cannot be used; carries every diagnostic.
    """
    entries = list(_entries(_text(path, shown_as), path.suffix.lower(), shown_as))
    diagnostics: list[Diagnostic] = []
    warnings: list[Diagnostic] = []
    if not entries:
        diagnostics.append(Diagnostic(msg("definitions.no_entries", file=shown_as), shown_as))

    definitions: list[FileDefinition] = []
    seen: dict[str, int] = {}
    for entry in entries:
        found = list(_diagnostics(entry, secret))
        name = entry.fields.get("path")
        if name in seen:
            found.append(msg("definitions.path_twice", path=name, other=seen[name]))
        elif name is not None:
            seen[name] = entry.number
        diagnostics += [_at_entry(message, entry, shown_as) for message in found]
        if name is None or found:
            continue
        content = entry.fields.get("content")
        if content is not None and not content_allowed:
            warnings.append(_at_entry(msg("definitions.content_ignored"), entry, shown_as))
            content = None
        definitions.append(
            FileDefinition(
                path=name,
                content=EMPTY_FILE if content is None else content.encode(),
                description=entry.fields.get("description") or "",
            )
        )
    for entry in entries:
        name = entry.fields.get("path") or ""
        if seen.get(name) == entry.number:
            for parent in parents(name):
                if parent in seen:
                    message = msg(
                        "definitions.path_below_file", path=name, parent=parent, other=seen[parent]
                    )
                    diagnostics.append(_at_entry(message, entry, shown_as))
    if diagnostics:
        raise InvalidInput(sorted(diagnostics, key=lambda diagnostic: diagnostic.line or 0))
    return tuple(definitions), tuple(warnings)


def _at_entry(message: Message, entry: _Entry, shown_as: str) -> Diagnostic:
    placed = msg(
        "definitions.at", file=shown_as, entry=entry.number, line=entry.line, diagnostic=message
    )
    return Diagnostic(placed, shown_as, entry.line)


def _invalid(message: Message, shown_as: str, line: int | None = None) -> InvalidInput:
    return InvalidInput([Diagnostic(message, shown_as, line)])


def _text(path: Path, shown_as: str) -> str:
    try:
        if not path.exists():
            raise _invalid(msg("definitions.not_found", file=shown_as), shown_as)
        if not path.is_file():
            raise _invalid(msg("definitions.not_a_file", file=shown_as), shown_as)
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = msg("definitions.unreadable", file=shown_as, reason=reason)
        raise _invalid(message, shown_as) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = msg("definitions.not_utf8", file=shown_as, line=line, offset=error.start)
        raise _invalid(message, shown_as, line) from error
    if not text.strip():
        raise _invalid(msg("definitions.empty", file=shown_as), shown_as)
    return text


def _entries(text: str, suffix: str, shown_as: str) -> Iterator[_Entry]:
    if suffix == ".json":
        return _json_entries(text, shown_as)
    if suffix in {".yml", ".yaml"}:
        return _yaml_entries(text, shown_as)
    raise _invalid(msg("definitions.unknown_format", file=shown_as), shown_as)


# --- JSON ---------------------------------------------------------------------------------


def _json_entries(text: str, shown_as: str) -> Iterator[_Entry]:
    pairs = json.JSONDecoder(object_pairs_hook=_Pairs)
    try:
        root = pairs.decode(text)
        if not isinstance(root, list) or isinstance(root, _Pairs):
            raise _invalid(msg("definitions.not_an_array", file=shown_as), shown_as, 1)
    except json.JSONDecodeError as error:
        message = msg(
            "definitions.broken",
            file=shown_as,
            format="JSON",
            line=error.lineno,
            column=error.colno,
            reason=error.msg,
        )
        raise _invalid(message, shown_as, error.lineno) from error
    except (ValueError, RecursionError) as error:
        # A number with thousands of digits, thousands of nested brackets
        raise _invalid(msg("definitions.too_deep", file=shown_as), shown_as) from error

    position = _skip_blanks(text, _skip_blanks(text, 0) + 1)
    line, counted, number = 1, 0, 0
    while text[position] != "]":
        line += text.count("\n", counted, position)
        counted = position
        number += 1
        value, position = pairs.raw_decode(text, position)
        yield _json_entry(value, number, line)
        position = _skip_blanks(text, position)
        if text[position] == ",":
            position = _skip_blanks(text, position + 1)


class _Pairs(list[tuple[str, object]]):
    """An object of JSON with its keys as often as they stand there."""


def _json_entry(value: object, number: int, line: int) -> _Entry:
    if not isinstance(value, _Pairs):
        return _Entry(number, line, {}, is_mapping=False)
    return _entry(
        number, line, [(key, item if isinstance(item, str) else None) for key, item in value]
    )


def _skip_blanks(text: str, position: int) -> int:
    while position < len(text) and text[position] in _JSON_BLANKS:
        position += 1
    return position


# --- YAML ---------------------------------------------------------------------------------

_STRING = "tag:yaml.org,2002:str"
_SEQUENCE = "tag:yaml.org,2002:seq"
_MAPPING = "tag:yaml.org,2002:map"


def _yaml_entries(text: str, shown_as: str) -> Iterator[_Entry]:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise _broken_yaml(line, column, error.problem or "?", shown_as) from error
    except ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise _broken_yaml(line, column, error.reason, shown_as) from error
    except (RecursionError, ValueError, OverflowError) as error:
        # The last two: an escape beyond Unicode ("\U00110000", "\UFFFFFFFF")
        raise _invalid(msg("definitions.too_deep", file=shown_as), shown_as) from error
    if not isinstance(root, yaml.SequenceNode) or root.tag != _SEQUENCE:
        raise _invalid(msg("definitions.not_an_array", file=shown_as), shown_as, 1)
    for number, node in enumerate(root.value, start=1):
        line = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode) and node.tag == _MAPPING:
            yield _entry(number, line, [(_scalar(k) or "?", _scalar(v)) for k, v in node.value])
        else:
            yield _Entry(number, line, {}, is_mapping=False)


def _broken_yaml(line: int, column: int, reason: str, shown_as: str) -> InvalidInput:
    message = msg(
        "definitions.broken", file=shown_as, format="YAML", line=line, column=column, reason=reason
    )
    return _invalid(message, shown_as, line)


def _scalar(node: yaml.Node) -> str | None:
    if not (isinstance(node, yaml.ScalarNode) and node.tag == _STRING):
        return None
    value = str(node.value)
    try:
        # JSON's escapes of one character in two halves, which YAML reads as two
        return value.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return value


def _entry(number: int, line: int, pairs: list[tuple[str, str | None]]) -> _Entry:
    times = Counter(key for key, _ in pairs)
    duplicates = tuple(key for key, count in times.items() if count > 1)
    return _Entry(number, line, dict(pairs), duplicates)


# --- The rules ----------------------------------------------------------------------------


def _diagnostics(entry: _Entry, secret: str) -> Iterator[Message]:
    if not entry.is_mapping:
        yield msg("definitions.entry_no_object")
        return
    for key in entry.fields:
        if key not in FIELDS:
            yield msg("definitions.unknown_key", key=key, known=FIELDS)
    for key in entry.duplicates:
        yield msg("definitions.duplicate_key", key=key)
    for key in FIELDS:
        if key in entry.fields and key not in entry.duplicates:
            value = entry.fields[key]
            if value is None:
                yield msg("definitions.not_a_string", key=key)
            elif any(unicodedata.category(char) == "Cs" for char in value):
                yield msg("definitions.surrogate", key=key)
            elif len(secret) >= SECRET_CHARACTERS and secret in value:
                yield msg("definitions.holds_token", key=key)
            elif key == "path":
                yield from path_diagnostics(value)
    if "path" not in entry.fields:
        yield msg("definitions.path_missing")


def path_diagnostics(path: str) -> Iterator[Message]:
    """Say why no file can be created at ``path`` of a git repository: nothing when one can."""
    if not path:
        yield msg("path.empty")
        return
    parts = path.strip("/").split("/")
    rules = (
        ("path.absolute", path.startswith("/")),
        ("path.trailing_slash", path.endswith("/")),
        ("path.empty_part", "" in parts),
        ("path.dots", "." in parts or ".." in parts),
        ("path.git", any(part.casefold() == ".git" for part in parts)),
        ("path.backslash", "\\" in path),
        ("path.control", any(unicodedata.category(char) == "Cc" for char in path)),
        ("path.too_long", len(path.encode()) > PATH_BYTES),
        ("path.part_too_long", any(len(part.encode()) > PART_BYTES for part in parts)),
    )
    yield from (msg(key, path=path) for key, broken in rules if broken)
