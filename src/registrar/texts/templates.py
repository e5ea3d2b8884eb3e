"""Texts of the caller with placeholders in braces: ``docs: add {path}``."""

import re
import string
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from registrar.texts.messages import Excerpt, Message, msg

PROPERTY = "property:NAME"
"""The placeholder of a custom property, among those that a template may have."""
PROPERTY_NAME = re.compile(r"[A-Za-z0-9_$#-]{1,75}")
"""https://docs.github.com/en/organizations/managing-organization-settings/managing-custom-properties-for-repositories-in-your-organization"""
_OF_PROPERTY = re.compile(f"property:{PROPERTY_NAME.pattern}")
_DOUBLED = re.compile(
    rf"(?<![${{])\{{\{{\s{{0,9}}(?P<name>[a-z_]+(?P<property>:{PROPERTY_NAME.pattern})?)\s{{0,9}}\}}\}}(?!\}})"
)
_REFUSED_DOTS = re.compile(r"^\.+|\.{2,}|\.(?=lock$)|\.+$")
_LINE_END = re.compile(r"[ \t]*(?:\r\n|\r|\n)")
_TRAILER = re.compile(r"[A-Za-z0-9-]+:[ \t]*\S.*")
"""A line of the last paragraph of a message, such as ``Signed-off-by: …``
(https://git-scm.com/docs/git-interpret-trailers)."""
_MOST_UNKNOWN = 10
"""Unknown names that are listed in one diagnostic."""


def diagnostics(name: str, text: str, known: Collection[str]) -> Iterator[Message]:
    """Describe what is wrong with the template of the input ``name``.

    A literal brace is written twice, as in Python's format strings.
    """
    fields = []
    try:
        for _, field, spec, conversion in string.Formatter().parse(text):
            if field is not None:
                ends = f"{'!' + conversion if conversion else ''}{':' + spec if spec else ''}"
                fields.append(f"{field}{ends}")
    except ValueError:
        yield msg("input.template_broken", name=name, value=Excerpt(text))
    if PROPERTY in known:
        fields = [field for field in fields if not _OF_PROPERTY.fullmatch(field)]
    unknown = dict.fromkeys(Excerpt(f"{{{field}}}") for field in fields if field not in known)
    if unknown:
        shown = tuple(f"{{{field}}}" for field in known)
        yield msg(
            "input.template_unknown", name=name, unknown=tuple(unknown)[:_MOST_UNKNOWN], known=shown
        )


class Doubled(NamedTuple):
    """A placeholder as other tools write it, which is not filled in here."""

    found: str
    meant: str


def doubled(text: str, known: Collection[str]) -> Doubled | None:
    """Find ``{{ name }}`` of a known name. ``{{name}}`` may well stand for ``{name}``."""
    for match in _DOUBLED.finditer(text):
        is_known = match["name"] in known or (PROPERTY in known and match["property"])
        if is_known and re.search(r"\s", match[0]):
            return Doubled(match[0], f"{{{match['name']}}}")
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


class CommitTemplate(NamedTuple):
    """A commit message that is still to be filled in, line by line."""

    headline: str
    body: str
    trailers: str
    """The last paragraph, if each of its lines is a trailer."""

    @classmethod
    def of(cls, text: str) -> "CommitTemplate":
        """Divide a template: before it is filled in, so that no value can make a trailer."""
        headline, *lines = _LINE_END.split(text.rstrip())
        rest = "\n".join(lines).strip("\n")
        body, _, last = rest.rpartition("\n\n")
        if all(map(is_trailer, last.split("\n"))):
            return cls(headline, body.rstrip("\n"), last)
        return cls(headline, rest, "")


def is_trailer(line: str) -> bool:
    """Whether a line has a name and a value."""
    return bool(_TRAILER.fullmatch(line))


class _Properties:
    """Gives the value of ``{property:NAME}``: Python's format strings pass on what follows `:`."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __format__(self, name: str) -> str:
        return self._values[name.lower()]


def placeholders(text: str) -> int:
    """Count the placeholders of a template without diagnostics."""
    return sum(field is not None for _, field, _, _ in string.Formatter().parse(text))
