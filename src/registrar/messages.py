"""What a person reads: one catalogue per language, the same keys and placeholders in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

LANGUAGES = ("ja", "en")
DEFAULT_LANGUAGE = "ja"


@dataclass(frozen=True, slots=True)
class Message:
    """A text of the catalogue with the values of its placeholders, not yet in any language.

    A value may be a message itself.
    """

    key: str
    values: Mapping[str, object] = field(default_factory=dict)


def say(key: str, /, **values: object) -> Message:
    """Short for ``Message(key, values)``."""
    return Message(key, values)


class Catalogue:
    """The texts of one language."""

    def __init__(self, language: str) -> None:
        """Read the catalogue of ``language``, one of `LANGUAGES`."""
        self.language = language
        text = (Path(__file__).parent / "messages" / f"{language}.yml").read_text("utf-8")
        self._texts: dict[str, str] = yaml.load(text, Loader=_FastestSafeLoader)  # noqa: S506 (safe)

    def text(self, message: Message, escape: Callable[[str], str] = str) -> str:
        """Render ``message``; ``escape`` makes each value fit for the place where the text lands.

        Numbers are never escaped, nested messages are rendered by the same rule.
        """
        values = {name: self._value(value, escape) for name, value in message.values.items()}
        return self._texts[message.key].format(**values).strip()

    def _value(self, value: object, escape: Callable[[str], str]) -> str:
        if isinstance(value, Message):
            return self.text(value, escape)
        if isinstance(value, int):
            return str(value)
        if isinstance(value, (list, tuple)):
            return ", ".join(self._value(item, escape) for item in value)
        return escape(value if isinstance(value, str) else str(value))


_FastestSafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
