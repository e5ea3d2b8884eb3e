"""Messages for people. Each language has a catalogue with the same keys and placeholders."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import yaml

from registrar.texts.escaping import Lines, Link

LANGUAGES = ("ja", "en")
VALUE_CHARACTERS = 5_000
"""The largest number of characters of a value in a sentence, such as a message of GitHub."""
LIST_ITEMS = 50
"""The largest number of items of a value that are shown. The others are counted."""
SHOWN_CHARACTERS = 200
"""The largest number of characters of an `Excerpt` that are shown."""


class Languages(NamedTuple):
    """The languages of a run (`LANGUAGES`)."""

    reader: str
    """Language of the log, the summary and the report."""
    texts: str
    """Language of texts on GitHub, such as descriptions. It never depends on a locale."""
    are_chosen: bool = True
    """Whether somebody chose the languages, with the input or, in a shell, with the locale."""


class Excerpt(str):
    """A text from outside with any length. Only its beginning is shown.

    It is cut only after the token was replaced, because half a token might not be found.
    """

    __slots__ = ()


_STOPS = (".", "。")


class Message(NamedTuple):
    """A text of the catalogue with the values of its placeholders, in no language yet.

    A value may be a message, too.
    """

    key: str
    values: Mapping[str, object] = MappingProxyType({})

    @property
    def identity(self) -> str:
        """The key of the text, which does not depend on the values of its placeholders."""
        return self.key


def msg(key: str, /, **values: object) -> Message:
    """Return ``Message(key, values)``."""
    return Message(key, values)


class Catalogue:
    """The texts of one language."""

    def __init__(self, language: str, redact: Callable[[str], str] = str) -> None:
        """Read the catalogue of ``language``, one of `LANGUAGES`.

        ``redact`` replaces text that must not be published, such as the token, in the values of
        placeholders. It is called before a value is escaped, because it would not find an escaped
        token.
        """
        self.language = language
        self._redact = redact
        self._texts = read(f"{language}.yml")
        self._descriptions = read(f"descriptions.{language}.yml")

    def text(self, message: Message, escape: Callable[[str], str] = str) -> str:
        """Return ``message`` in this language, with each value escaped by ``escape``.

        Numbers are not escaped. Nested messages are rendered in the same way. A nested sentence
        loses its full stop if the text has a full stop behind the placeholder.
        """
        template = self._texts[message.key]
        values = {name: self._value(value, escape) for name, value in message.values.items()}
        for name, value in message.values.items():
            has_stop = any(f"{{{name}}}{stop}" in template for stop in _STOPS)
            if has_stop and isinstance(value, Message) and values[name].endswith(_STOPS):
                values[name] = values[name][:-1]
        return template.format(**values).strip()

    def shown(self, value: str, escape: Callable[[str], str]) -> str:
        """Return a value from outside, without the token, shortened and escaped."""
        shown = self._redact(value)
        if isinstance(value, Link):
            url = self._redact(value.url)
            # A redacted address leads nowhere
            leads = url == value.url and url.startswith("http")
            return escape(Link(shown, url) if leads else shown)
        if isinstance(value, Excerpt) and len(shown) > SHOWN_CHARACTERS:
            shown = f"{shown[: SHOWN_CHARACTERS - 1]}…"
        return escape(Lines(shown) if isinstance(value, Lines) else shown)

    def sentences(self, messages: Sequence[Message], escape: Callable[[str], str]) -> str:
        """Return the messages as one text. English has a blank between them, Japanese has none."""
        return self._texts["label.gap"].join(self.text(message, escape) for message in messages)

    def description(self, text: str) -> str:
        """Return the description of a listed file, translated if it is of a built-in list."""
        return self._descriptions.get(text, text)

    def _value(self, value: object, escape: Callable[[str], str]) -> str:
        if isinstance(value, Message):
            return self.text(value, escape)
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return f"{value:g}"
        if isinstance(value, (list, tuple)):
            items = [self._value(item, escape) for item in value[:LIST_ITEMS]]
            if more := len(value) - len(items):
                items.append(self.text(msg("label.more", count=more)))
            return self._texts["label.separator"].join(items)
        text = value if isinstance(value, str) else str(value)
        if len(text) > VALUE_CHARACTERS and not isinstance(text, (Link, Excerpt)):
            # The text is cut before it is escaped, so that no escape is cut in two
            shown = f"{self._redact(text)[:VALUE_CHARACTERS]}…"
            return escape(Lines(shown) if isinstance(text, Lines) else shown)
        return self.shown(text, escape)


@cache
def read(name: str) -> dict[str, str]:
    """Read a YAML file of this directory: texts by their keys. Empty if there is no such file."""
    file = Path(__file__).parent / name
    if not file.exists():
        return {}
    texts: dict[str, str] = yaml.load(file.read_text("utf-8"), Loader=_FastestSafeLoader)  # noqa: S506 (safe)
    return texts


_FastestSafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
