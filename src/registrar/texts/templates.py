"""Templates of the caller, with placeholders in braces: ``docs: add {path}``."""

import re
import string
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from registrar.texts.messages import Excerpt, Message, msg
from registrar.texts.spelling import closest

PROPERTY = "property:NAME"
"""The entry for custom properties in the names of placeholders that a template may have."""
PROPERTY_NAME = re.compile(r"[A-Za-z0-9_$#-]{1,75}")
"""The name of a custom property:
https://docs.github.com/en/organizations/managing-organization-settings/managing-custom-properties-for-repositories-in-your-organization"""
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
"""The largest number of unknown names in one diagnostic."""


def diagnostics(name: str, text: str, known: Collection[str]) -> Iterator[Message]:
    """Find the errors in ``text``, the template of the input ``name``.

    ``known`` are the names of its placeholders. A literal brace is written twice, as in Python's
    format strings.
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
        values = {"name": name, "unknown": tuple(unknown)[:_MOST_UNKNOWN], "known": shown}
        if close := next(filter(None, (closest(each, shown) for each in unknown)), ""):
            yield msg("input.template_unknown_close", close=close, **values)
        else:
            yield msg("input.template_unknown", **values)


class Doubled(NamedTuple):
    """A placeholder with double braces, as other tools write it. registrar does not fill it in."""

    found: str
    """The text in the template."""
    meant: str
    """The placeholder that it probably means."""


def doubled(text: str, known: Collection[str]) -> Doubled | None:
    """Find the first ``{{ name }}`` with a known name; ``None`` if there is none.

    ``{{name}}`` without blanks does not count, because somebody may want the text ``{name}``.
    """
    for match in _DOUBLED.finditer(text):
        is_known = match["name"] in known or (PROPERTY in known and match["property"])
        if is_known and re.search(r"\s", match[0]):
            return Doubled(match[0], f"{{{match['name']}}}")
    return None


def fill(text: str, values: Mapping[str, str], properties: Mapping[str, str] | None = None) -> str:
    """Fill in a valid template. Names in ``values`` that it does not use are ignored.

    ``properties`` are values of custom properties by their names in lower case. Every custom
    property of the template must have a value.
    """
    return text.format_map({**values, "property": _Properties(properties or {})})


def for_branch(name: str) -> str:
    """Return a repository's name for use in a branch name, with ``_`` for each dot that git refuses
    (https://git-scm.com/docs/git-check-ref-format).
    """
    return _REFUSED_DOTS.sub(lambda dots: "_" * len(dots[0]), name)


def properties(text: str) -> tuple[str, ...]:
    """Return the names of the custom properties in a valid template, in lower case, once each."""
    fields = string.Formatter().parse(text)
    names = (spec.lower() for _, field, spec, _ in fields if field == "property" and spec)
    return tuple(dict.fromkeys(names))


def names_property(text: str) -> bool:
    """Whether a text has the placeholder of a custom property. Any text is allowed."""
    return "{property:" in text


class CommitTemplate(NamedTuple):
    """The template of a commit message, divided into its parts."""

    headline: str
    body: str
    trailers: str
    """The last paragraph if each of its lines is a trailer; otherwise empty."""

    @classmethod
    def of(cls, text: str) -> "CommitTemplate":
        """Divide a template. This is done before it is filled in, so that no value can become a
        trailer.
        """
        headline, *lines = _LINE_END.split(text)
        rest = "\n".join(lines).strip("\n")
        body, _, last = rest.rpartition("\n\n")
        if all(map(is_trailer, last.split("\n"))):
            return cls(headline, body.rstrip("\n"), last)
        return cls(headline, rest, "")


def is_trailer(line: str) -> bool:
    """Whether a line is a trailer: a name, a colon and a value."""
    return bool(_TRAILER.fullmatch(line))


class _Properties:
    """Returns the value of ``{property:NAME}``. Python's format strings pass the name after `:`."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __format__(self, name: str) -> str:
        return self._values[name.lower()]


def placeholders(text: str) -> int:
    """Return the number of placeholders in a valid template."""
    return sum(field is not None for _, field, _, _ in string.Formatter().parse(text))
