"""Texts of the caller with placeholders in braces: ``docs: add {path}``."""

import re
import string
from collections.abc import Collection, Mapping

from registrar.texts.messages import Excerpt, Message, msg

PROPERTY = "property:NAME"
"""The placeholder of a custom property, among those that a template may have."""
PROPERTY_NAME = re.compile(r"[A-Za-z0-9_$#-]{1,75}")
"""https://docs.github.com/en/organizations/managing-organization-settings/managing-custom-properties-for-repositories-in-your-organization"""
_OF_PROPERTY = re.compile(f"property:{PROPERTY_NAME.pattern}")
_REFUSED_DOTS = re.compile(r"^\.+|\.{2,}|\.(?=lock$)|\.+$")
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
    if PROPERTY in known:
        fields = [field for field in fields if not _OF_PROPERTY.fullmatch(field)]
    unknown = dict.fromkeys(Excerpt(f"{{{field}}}") for field in fields if field not in known)
    if unknown:
        shown = tuple(f"{{{field}}}" for field in known)
        return msg(
            "input.template_unknown", name=name, unknown=tuple(unknown)[:_MOST_UNKNOWN], known=shown
        )
    return None


def fill(text: str, values: Mapping[str, str], properties: Mapping[str, str] | None = None) -> str:
    """Fill in a template without diagnostics; values it does not name are left out.

    ``properties`` are values of custom properties by their names in lower case.
    """
    return text.format_map({**values, "property": _Properties(properties or {})})


def for_branch(name: str) -> str:
    """Give a repository's name as it stands in a branch, with ``_`` for a dot that git refuses.

    See https://git-scm.com/docs/git-check-ref-format.
    """
    return _REFUSED_DOTS.sub(lambda dots: "_" * len(dots[0]), name)


def properties(text: str) -> tuple[str, ...]:
    """Names in lower case of the custom properties in a template without diagnostics."""
    fields = string.Formatter().parse(text)
    names = (spec.lower() for _, field, spec, _ in fields if field == "property" and spec)
    return tuple(dict.fromkeys(names))


def names_property(text: str) -> bool:
    """Whether a text, which need be no template, has the placeholder of a custom property."""
    return "{property:" in text


class _Properties:
    """Gives the value of ``{property:NAME}``: Python's format strings pass on what follows `:`."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __format__(self, name: str) -> str:
        return self._values[name.lower()]


def placeholders(text: str) -> int:
    """Count the placeholders of a template without diagnostics."""
    return sum(field is not None for _, field, _, _ in string.Formatter().parse(text))
