"""Texts of the caller with placeholders in braces: ``docs: add {path}``."""

from __future__ import annotations

import string
from collections.abc import Collection, Mapping

from registrar.texts.messages import Excerpt, Message, msg

_MOST_UNKNOWN = 10
"""Unknown names that are listed in one diagnostic."""


def diagnostic(name: str, text: str, known: Collection[str]) -> Message | None:
    """Describe what is wrong with the template of the input ``name``; ``None`` when nothing is.

    A literal brace is written twice, as in Python's format strings.
    """
    try:
        fields = [
            f"{field}{'!' + conversion if conversion else ''}{':' + spec if spec else ''}"
            for _, field, spec, conversion in string.Formatter().parse(text)
            if field is not None
        ]
    except ValueError:
        return msg("input.template_broken", name=name, value=Excerpt(text))
    unknown = dict.fromkeys(Excerpt(f"{{{field}}}") for field in fields if field not in known)
    if unknown:
        shown = tuple(f"{{{field}}}" for field in known)
        return msg(
            "input.template_unknown", name=name, unknown=tuple(unknown)[:_MOST_UNKNOWN], known=shown
        )
    return None


def fill(text: str, values: Mapping[str, str]) -> str:
    """Fill in a template without diagnostics; values it does not name are left out."""
    return text.format_map(values)


def placeholders(text: str) -> int:
    """Count the placeholders of a template without diagnostics."""
    return sum(field is not None for _, field, _, _ in string.Formatter().parse(text))
