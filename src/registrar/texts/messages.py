"""What a person reads: one catalogue per language, the same keys and placeholders in each."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import yaml

from registrar.texts.escaping import Lines, Link

LANGUAGES = ("ja", "en")
VALUE_CHARACTERS = 5_000
"""Characters of a value in a sentence (a message of GitHub, a value of a definition file)."""
LIST_ITEMS = 50
"""Items of a list that are named; the rest is counted."""
SHOWN_CHARACTERS = 200
"""Characters of an `Excerpt` that are shown."""


class Languages(NamedTuple):
    """Which languages a run speaks."""

    reader: str
    """Language of what the run says of itself."""
    texts: str
    """Language of what is written to GitHub; never a matter of a locale."""
    are_chosen: bool = True
    """Whether somebody chose them, by the input or, in a shell, by the locale."""


class Excerpt(str):
    """A text from outside that may be of any length: only its beginning is shown.

    It is cut after the token was taken out, which would not find half a token.
    """

    __slots__ = ()


_STOPS = (".", "。")


class Message(NamedTuple):
    """A text of the catalogue with the values of its placeholders, not yet in any language.

    A value may be a message itself.
    """

    key: str
    values: Mapping[str, object] = MappingProxyType({})

    @property
    def identity(self) -> str:
        """What tells this text from others, whatever its placeholders hold."""
        return self.key


def msg(key: str, /, **values: object) -> Message:
    """Short for ``Message(key, values)``."""
    return Message(key, values)


class Catalogue:
    """The texts of one language."""

    def __init__(self, language: str, redact: Callable[[str], str] = str) -> None:
        """Read the catalogue of ``language``, one of `LANGUAGES`.

        ``redact`` takes out of what a text is filled with what must not be published, such as the
        token: before it is escaped, because an escaped token would no longer be found.
        """
        self.language = language
        self._redact = redact
        self._texts = read(f"{language}.yml")
        self._descriptions = read(f"descriptions.{language}.yml")

    def text(self, message: Message, escape: Callable[[str], str] = str) -> str:
        """Render ``message``; ``escape`` makes each value fit for the place where the text lands.

        Numbers are never escaped, nested messages are rendered by the same rule. A nested sentence
        loses its full stop if the text has one of its own behind it.
        """
        template = self._texts[message.key]
        values = {name: self._value(value, escape) for name, value in message.values.items()}
        for name, value in message.values.items():
            has_stop = any(f"{{{name}}}{stop}" in template for stop in _STOPS)
            if has_stop and isinstance(value, Message) and values[name].endswith(_STOPS):
                values[name] = values[name][:-1]
        return template.format(**values).strip()

    def shown(self, value: str, escape: Callable[[str], str]) -> str:
        """Show a value from outside by itself."""
        shown = self._redact(value)
        if isinstance(value, Link):
            url = self._redact(value.url)
            # An address that had to be changed leads nowhere
            leads = url == value.url and url.startswith("http")
            return escape(Link(shown, url) if leads else shown)
        if isinstance(value, Excerpt) and len(shown) > SHOWN_CHARACTERS:
            shown = f"{shown[: SHOWN_CHARACTERS - 1]}…"
        return escape(Lines(shown) if isinstance(value, Lines) else shown)

    def sentences(self, messages: Sequence[Message], escape: Callable[[str], str]) -> str:
        """Render messages one after the other: Japanese puts no blank between sentences."""
        return self._texts["label.gap"].join(self.text(message, escape) for message in messages)

    def description(self, text: str) -> str:
        """The description of a listed file; those of the built-in lists are translated."""
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
            # Cut before it is escaped, so that no escape is cut in two
            shown = f"{self._redact(text)[:VALUE_CHARACTERS]}…"
            return escape(Lines(shown) if isinstance(text, Lines) else shown)
        return self.shown(text, escape)


@cache
def read(name: str) -> dict[str, str]:
    """Read a file of texts by their keys; none if there is no such file."""
    file = Path(__file__).parent / name
    if not file.exists():
        return {}
    texts: dict[str, str] = yaml.load(file.read_text("utf-8"), Loader=_FastestSafeLoader)  # noqa: S506 (safe)
    return texts


_FastestSafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
