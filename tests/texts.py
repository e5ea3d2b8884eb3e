"""Recognise messages by the texts of the catalogue."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from functools import cache

from registrar.texts.messages import read

TEXTS: Mapping[str, str] = read("en.yml")


@cache
def pattern_of(key: str) -> re.Pattern[str]:
    """Return the pattern of the messages with a text of the catalogue, without their place."""
    names = {name for _, name, _, _ in string.Formatter().parse(TEXTS[key]) if name}
    filled = TEXTS[key].format_map(dict.fromkeys(names, "\0"))
    plain = re.sub(r"^\0, line \0(, column \0)?: |^\0: ", "", filled)
    return re.compile(re.escape(plain).replace("\0", ".*?"), re.DOTALL)


def key_of(words: str, *areas: str) -> str:
    """Return the key of the text that a message has: of those that fit, the longest."""
    keys = (key for key in TEXTS if key.partition(".")[0] in areas)
    fitting = [key for key in keys if pattern_of(key).search(words)]
    return max(fitting, key=lambda key: len(pattern_of(key).pattern), default="")
