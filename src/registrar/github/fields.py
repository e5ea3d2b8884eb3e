"""Checks of the values in an answer: no value is used before its type is checked.

PyGithub returns ``None`` for an absent attribute, and hardly checks the others. So each attribute
of its objects that is used goes through one of these functions. Each field of JSON that is read
without an object goes through `Fields`.
"""

import base64
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar
from urllib.parse import urlsplit

from registrar.github.answer import Path

_REPOSITORY = re.compile(r"(?!\.\.?/)[\w.-]+/(?!\.\.?$)[\w.-]+", re.ASCII)
Value = TypeVar("Value")
Check: TypeAlias = Callable[[object], Value]
"""Returns a value if its type and its form are right; raises `UnusableAnswer` otherwise."""
_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class UnusableAnswer(ValueError):
    """A field is missing or has another type than it must have."""


class Contradiction(UnusableAnswer):
    """Statements of GitHub contradict each other, in one answer or in several."""


class Absent(UnusableAnswer):
    """A list lacks something although GitHub has said that it exists."""


def text(value: object) -> str:
    """Return a string, which may be empty.

    Like every check of this module, it raises `UnusableAnswer` for anything else.
    """
    if not isinstance(value, str):
        raise UnusableAnswer("not a string")
    return value


def flag(value: object) -> bool:
    """Return a truth value."""
    if not isinstance(value, bool):
        raise UnusableAnswer("not true or false")
    return value


def number(value: object) -> int:
    """Return a whole number from 0."""
    if type(value) is not int or value < 0:
        raise UnusableAnswer("not a whole number")
    return value


def id_number(value: object) -> int:
    """Return the number by which GitHub identifies something: a whole number from 1."""
    if type(value) is not int or value < 1:
        raise UnusableAnswer("not a number from 1")
    return value


def object_id(value: object) -> str:
    """Return the id of a git object: 40 or 64 hexadecimal digits."""
    if not isinstance(value, str) or not _OBJECT_ID.fullmatch(value):
        raise UnusableAnswer("not an id of git")
    return value


def full_name(value: object) -> str:
    """Return the full name of a repository (``owner/repo``), safe as a part of an address."""
    if not isinstance(value, str) or not _REPOSITORY.fullmatch(value):
        raise UnusableAnswer("not owner/repo")
    return value


def url(value: object) -> str:
    """Return an absolute ``http`` or ``https`` URL without blanks or control characters."""
    if not isinstance(value, str):
        raise UnusableAnswer("not a URL")
    try:
        parts = urlsplit(value)
    except ValueError as error:
        raise UnusableAnswer("not a URL") from error
    usable = parts.scheme in {"http", "https"} and parts.hostname and value.isprintable()
    if not usable or any(character in value for character in ' <>"\\^`{|}'):
        raise UnusableAnswer("not a URL")
    return value


def texts(value: object) -> tuple[str, ...]:
    """Return the strings of an array."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UnusableAnswer("not an array of strings")
    return tuple(value)


def text_or_texts(value: object) -> tuple[str, ...]:
    """Return a single string as a tuple, or the strings of an array; an empty tuple for null."""
    if value is None:
        return ()
    return texts(value) if isinstance(value, list) else (text(value),)


class Fields:
    """The fields of a JSON object.

    Every method raises `UnusableAnswer` if the field is missing or of another type.
    """

    __slots__ = ("_data", "path")

    def __init__(self, data: object, path: Path = ()) -> None:
        """``path`` is the place of the object in the answer."""
        if not isinstance(data, dict):
            raise _error(path, "not an object")
        self._data: dict[str, object] = data
        self.path = path

    def __contains__(self, name: str) -> bool:
        """Whether the object has the field, and it is not null."""
        return self._data.get(name) is not None

    def text(self, name: str) -> str:
        return self._checked(name, text)

    def text_or(self, name: str, default: str) -> str:
        """Return a string, or ``default`` if the field is missing or null."""
        return self.text(name) if name in self else default

    def url(self, name: str) -> str:
        return self._checked(name, url)

    def full_name(self, name: str) -> str:
        return self._checked(name, full_name)

    def texts(self, name: str) -> tuple[str, ...]:
        return self._checked(name, texts)

    def number(self, name: str) -> int:
        return self._checked(name, number)

    def id_number(self, name: str) -> int:
        return self._checked(name, id_number)

    def object_id(self, name: str) -> str:
        return self._checked(name, object_id)

    def base64(self, name: str) -> bytes:
        """Return the bytes that a string holds in Base64, which may have line breaks."""
        return self._checked(name, decoded)

    def flag(self, name: str) -> bool:
        return self._checked(name, flag)

    def object(self, name: str) -> "Fields":
        return Fields(self._data.get(name), (*self.path, name))

    def object_or_none(self, name: str) -> "Fields | None":
        """Return an object, or ``None`` if the field is missing or null."""
        return self.object(name) if name in self else None

    def object_or_null(self, name: str) -> "Fields | None":
        """Return an object, or ``None`` if the field is null; it must not be missing."""
        if name not in self._data:
            raise _error((*self.path, name), "missing")
        return self.object_or_none(name)

    def objects_or_null(self, name: str) -> "list[Fields | None]":
        """Return the items of an array, each an object or null."""
        items, path = self._data.get(name), (*self.path, name)
        if not isinstance(items, list):
            raise _error(path, "not an array")
        return [
            None if item is None else Fields(item, (*path, index))
            for index, item in enumerate(items)
        ]

    def objects(self, name: str) -> "Iterator[Fields]":
        return objects(self._data.get(name), (*self.path, name))

    def _checked(self, name: str, check: "Check[Value]") -> Value:
        try:
            return check(self._data.get(name))
        except UnusableAnswer as error:
            raise _error((*self.path, name), str(error)) from error


def _error(path: Path, wrong: str) -> UnusableAnswer:
    return UnusableAnswer(f"{'.'.join(map(str, ('$', *path)))} is {wrong}")


def decoded(value: object) -> bytes:
    """Return the bytes that a string holds in Base64, which may have line breaks."""
    try:
        return base64.b64decode("".join(text(value).split()), validate=True)
    except ValueError as error:
        raise UnusableAnswer("not in Base64") from error


def objects(data: object, path: Path = ()) -> Iterator[Fields]:
    """Return the objects of an array; ``path`` is its place in the answer."""
    if not isinstance(data, list):
        raise _error(path, "not an array")
    return iter([Fields(item, (*path, index)) for index, item in enumerate(data)])
