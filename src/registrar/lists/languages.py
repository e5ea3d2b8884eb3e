"""The programming languages that GitHub knows, for the conditions of rules."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from registrar.texts.spelling import closest


class _Languages(NamedTuple):
    names: Mapping[str, str]
    """Names as GitHub writes them, by the name in lower case."""
    others: Mapping[str, str]
    """Names as GitHub writes them, by another name for the language, such as `golang`."""


def is_known(name: str) -> bool:
    """Whether GitHub knows a language of this name, in any letter case."""
    return name.lower() in _languages().names


def meant(name: str) -> str:
    """Return the language that an unknown name probably means; empty if no name is close."""
    known, given = _languages(), name.lower()
    return known.others.get(given) or known.names.get(closest(given, known.names), "")


@cache
def _languages() -> _Languages:
    names: dict[str, str] = {}
    others: dict[str, str] = {}
    text = (Path(__file__).parent / "languages.txt").read_text("utf-8")
    for line in text.splitlines():
        if line.startswith("# "):
            continue
        name, _, rest = line.partition(": ")
        names[name.lower()] = name
        for other in filter(None, rest.split(", ")):
            others.setdefault(other, name)
    return _Languages(names, others)
