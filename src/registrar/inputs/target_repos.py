"""The input ``target_repos``: names, patterns and qualifiers -> which repositories are meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from registrar.models.rules import MOST_CHARACTERS
from registrar.models.selection import VISIBILITIES, NamePattern, Selection
from registrar.texts.messages import Excerpt, Message, msg
from registrar.texts.templates import PROPERTY_NAME

_WITH_VALUE = ("topic", "-topic", "visibility", "language", "property", "-property")
QUALIFIERS = (*(f"{name}:" for name in _WITH_VALUE), "fork:true")

_NAME = re.compile(r"(?P<owner>[A-Za-z0-9_-]+)/(?P<repo>[A-Za-z0-9._*-]+)")
_MAY_HAVE_BLANKS = re.compile(r"(language:[^:/]*|-?property:[^\s=:/]+=.*)", re.IGNORECASE)
"""The only entries that may have a blank inside: ``language:Jupyter Notebook``."""


def parse(entries: Sequence[str]) -> tuple[Selection, tuple[Message, ...]]:
    """Read the entries of ``target_repos``; every error at once.

    Qualifiers are those of GitHub's search, with the meaning that they have there:
    https://docs.github.com/en/search-github/searching-on-github/searching-for-repositories
    """
    patterns: list[NamePattern] = []
    named: dict[str, str] = {}
    values: dict[str, list[str]] = {name: [] for name in _WITH_VALUE}
    forks = False
    errors: list[Message] = []
    for entry in entries:
        name, colon, value = entry.partition(":")
        key = name.lower()
        matched = _NAME.fullmatch(entry.removeprefix("!"))
        value = value.strip(" \"'").lower()
        if re.search(r"\s", f"{name}{value}") and not _MAY_HAVE_BLANKS.fullmatch(entry):
            errors.append(msg("fleet.not_separated", value=entry))
        elif colon and key in values and value:
            values[key].append(value)
        elif colon and key in values:
            errors.append(msg("fleet.qualifier_without_value", value=entry, qualifier=key))
        elif entry.lower() == "fork:true":
            forks = True
        elif colon and "/" not in entry:
            errors.append(msg("fleet.unknown_qualifier", value=entry, known=QUALIFIERS))
        elif not matched or matched["repo"] in {".", ".."}:
            errors.append(msg("fleet.pattern_malformed", value=entry))
        elif len(matched["repo"]) > MOST_CHARACTERS:
            value = Excerpt(entry)
            errors.append(msg("fleet.pattern_too_long", value=value, most=MOST_CHARACTERS))
        else:
            includes = not entry.startswith("!")
            owner, repo = matched["owner"].lower(), matched["repo"].lower()
            patterns.append(NamePattern(owner, repo, includes))
            if includes and patterns[-1].is_literal:
                named[entry.lower()] = entry
    errors += _malformed_properties((*values["property"], *values["-property"]))
    errors += (
        msg("fleet.unknown_visibility", value=value, known=VISIBILITIES)
        for value in values["visibility"]
        if value not in VISIBILITIES
    )
    if not errors and not any(pattern.includes for pattern in patterns):
        errors.append(msg("fleet.nothing_included"))
    selection = Selection(
        tuple(patterns),
        topics=frozenset(values["topic"]),
        excluded_topics=frozenset(values["-topic"]),
        visibilities=frozenset(values["visibility"]),
        languages=frozenset(values["language"]),
        forks=forks,
        properties=_properties(values["property"]),
        excluded_properties=_properties(values["-property"]),
        with_properties=bool(values["property"] or values["-property"]),
    )
    literals = tuple(filter(selection.takes, named.values()))
    return selection._replace(literals=literals), tuple(errors)


def _malformed_properties(entries: Sequence[str]) -> Iterator[Message]:
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not PROPERTY_NAME.fullmatch(name.strip()) or (equals and not value.strip(" \"'")):
            yield msg("fleet.property_name", value=Excerpt(entry))


def _properties(entries: Sequence[str]) -> dict[str, frozenset[str]]:
    """Values by the names: ``team=platform`` asks for one of them, ``team`` alone for any."""
    properties: dict[str, frozenset[str]] = {}
    for entry in entries:
        name, equals, value = (part.strip(" \"'") for part in entry.partition("="))
        properties[name] = properties.get(name, frozenset()) | ({value} if equals else frozenset())
    return properties
