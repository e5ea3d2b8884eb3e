"""What a person reads: one catalogue per language, the same keys and placeholders in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

LANGUAGES = ("ja", "en")
DEFAULT_LANGUAGE = "ja"


SHOWN_CHARACTERS = 200


class Excerpt(str):
    """A text from outside that may be of any length: no more than its beginning is shown.

    It is cut where it is shown, after the token was taken out: half a token is not found.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Message:
    """A text of the catalogue with the values of its placeholders, not yet in any language.

    A value may be a message itself.
    """

    key: str
    values: Mapping[str, object] = field(default_factory=dict)


def msg(key: str, /, **values: object) -> Message:
    """Short for ``Message(key, values)``."""
    return Message(key, values)


class Catalogue:
    """The texts of one language."""

    def __init__(self, language: str, redact: Callable[[str], str] = str) -> None:
        """Read the catalogue of ``language``, one of `LANGUAGES`.

        ``redact`` takes the token out of what a text is filled with: before it is escaped,
        because an escaped token would no longer be found.
        """
        self._redact = redact
        text = (Path(__file__).parent / f"{language}.yml").read_text("utf-8")
        self._texts: dict[str, str] = yaml.load(text, Loader=_FastestSafeLoader)  # noqa: S506 (safe)

    def text(self, message: Message, escape: Callable[[str], str] = str) -> str:
        """Render ``message``; ``escape`` makes each value fit for the place where the text lands.

        Numbers are never escaped, nested messages are rendered by the same rule.
        """
        values = {name: self._value(value, escape) for name, value in message.values.items()}
        return self._texts[message.key].format(**values).strip()

    def shown(self, value: str, escape: Callable[[str], str]) -> str:
        """Show a value from outside by itself."""
        if isinstance(value, Excerpt):
            clean = self._redact(str(value))
            fits = len(clean) <= SHOWN_CHARACTERS
            return escape(clean if fits else f"{clean[: SHOWN_CHARACTERS - 1]}…")
        return escape(self._redact(value)) if type(value) is str else escape(value)

    def _value(self, value: object, escape: Callable[[str], str]) -> str:
        if isinstance(value, Message):
            return self.text(value, escape)
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return f"{value:g}"
        if isinstance(value, (list, tuple)):
            return ", ".join(self._value(item, escape) for item in value)
        return self.shown(value if isinstance(value, str) else str(value), escape)


_FastestSafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
