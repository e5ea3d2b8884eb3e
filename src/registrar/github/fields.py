"""Typed access to the JSON of an answer: no value is used before its type is checked."""

import base64
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from urllib.parse import urlsplit

_REPOSITORY = re.compile(r"(?!\.\.?/)[\w.-]+/(?!\.\.?$)[\w.-]+", re.ASCII)
Value = TypeVar("Value")
_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class UnusableAnswer(ValueError):
    """A field is missing or has another type than it must have."""


class Contradiction(UnusableAnswer):
    """What an answer says cannot all be true, or is not clear."""


class Fields:
    """The fields of a JSON object.

    Every method raises `UnusableAnswer` when the field is missing or of another type.
    """

    __slots__ = ("_data", "_where")

    def __init__(self, data: object, where: str = "$") -> None:
        """``where`` names the object for the error, as a path from the root ``$``."""
        if not isinstance(data, dict):
            raise UnusableAnswer(f"{where} is not an object")
        self._data: dict[str, object] = data
        self._where = where

    def __contains__(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self._data.get(name) is not None

    def text(self, name: str) -> str:
        """A string; it may be empty."""
        return self._value(name, str, "a string")

    def text_or(self, name: str, default: str) -> str:
        """A string, or ``default`` where the field is missing or null."""
        return self.text(name) if name in self else default

    def url(self, name: str) -> str:
        """An absolute ``http`` or ``https`` URL without blanks or control characters."""
        value = self.text(name)
        try:
            parts = urlsplit(value)
        except ValueError as error:
            raise self._error(name, "a URL") from error
        usable = parts.scheme in {"http", "https"} and parts.hostname and value.isprintable()
        if not usable or any(character in value for character in ' <>"\\^`{|}'):
            raise self._error(name, "a URL")
        return value

    def repository(self, name: str) -> str:
        """The name of a repository, ``owner/repo``: it becomes part of the path of requests."""
        return self._value(name, str, "owner/repo", _REPOSITORY.fullmatch)

    def texts(self, name: str) -> tuple[str, ...]:
        items = self._value(name, list, "an array of strings")
        if not all(isinstance(item, str) for item in items):
            raise self._error(name, "an array of strings")
        return tuple(items)

    def names(self) -> tuple[str, ...]:
        return tuple(self._data)

    def text_or_texts(self, name: str) -> tuple[str, ...]:
        """A string by itself, or an array of strings; nothing for null."""
        if name not in self:
            return ()
        is_array = isinstance(self._data.get(name), list)
        return self.texts(name) if is_array else (self.text(name),)

    def number(self, name: str) -> int:
        """A whole number from 0."""
        return self._value(name, int, "a whole number", lambda n: n >= 0 and type(n) is int)

    def identity(self, name: str) -> int:
        """The number by which GitHub knows something: a whole number from 1."""
        return self._value(name, int, "a number from 1", lambda n: n >= 1 and type(n) is int)

    def object_id(self, name: str) -> str:
        """The id of a git object: 40 or 64 hexadecimal digits."""
        return self._value(name, str, "an id of git", _OBJECT_ID.fullmatch)

    def base64(self, name: str) -> bytes:
        """The bytes that a string holds in Base64, which may have line breaks."""
        try:
            return base64.b64decode("".join(self.text(name).split()), validate=True)
        except ValueError as error:
            raise self._error(name, "in Base64") from error

    def flag(self, name: str) -> bool:
        return self._value(name, bool, "true or false")

    def object(self, name: str) -> "Fields":
        return Fields(self._data.get(name), f"{self._where}.{name}")

    def object_or_none(self, name: str) -> "Fields | None":
        """An object, or ``None`` where the field is missing or null."""
        return self.object(name) if name in self else None

    def object_or_null(self, name: str) -> "Fields | None":
        """An object, or ``None`` where the field is null; it must not be missing."""
        if name not in self._data:
            raise self._error(name, "an object or null")
        return self.object_or_none(name)

    def objects_or_null(self, name: str) -> "list[Fields | None]":
        """The items of an array, each an object or null."""
        return [
            None if item is None else Fields(item, f"{self._where}.{name}[{index}]")
            for index, item in enumerate(self._value(name, list, "an array"))
        ]

    def objects(self, name: str) -> Iterator["Fields"]:
        return objects(self._data.get(name), f"{self._where}.{name}")

    def _value(
        self,
        name: str,
        kind: type[Value],
        needed: str,
        is_right: Callable[[Value], Any] = lambda _: True,
    ) -> Value:
        value = self._data.get(name)
        if not isinstance(value, kind) or not is_right(value):
            raise self._error(name, needed)
        return value

    def _error(self, name: str, needed: str) -> UnusableAnswer:
        return UnusableAnswer(f"{self._where}.{name} is not {needed}")


def objects(data: object, where: str = "$") -> Iterator[Fields]:
    if not isinstance(data, list):
        raise UnusableAnswer(f"{where} is not an array")
    return iter([Fields(item, f"{where}[{index}]") for index, item in enumerate(data)])
