"""Reads the entries of the input ``target_repos``, which select repositories."""

import re
from collections.abc import Iterator, Sequence
from datetime import date

from registrar.lists import constraints
from registrar.models.conditions import PATTERN_CHARACTERS
from registrar.models.selection import TOPIC, VISIBILITIES, NamePattern, Selection
from registrar.texts import templates
from registrar.texts.messages import Excerpt, Message, msg

_WITH_VALUE = ("topic", "-topic", "visibility", "language", "property", "-property", "created")
_QUALIFIERS = (*(f"{name}:" for name in _WITH_VALUE), "fork:true")
PATTERN = re.compile(
    # Names of owners begin with no hyphen, and those of repositories have neither end
    # (github/docs#44518)
    r"(?P<owner>[A-Za-z0-9_][A-Za-z0-9_-]*)/(?P<repo>[A-Za-z0-9._*-]+)(?<!\.git)(?<!\.wiki)",
    re.IGNORECASE,
)
_SLIP = re.compile(
    r"(?P<not>(?:[-!~^\\\uff01\uff0d\u2212\u2013]|(?:not|exclude|except)[ :=])[-!\s]*)?"
    r"(?:@|repo:|(?:(?:[a-z+]+://|git@)(?:[^\s/]*@)?[^\s/:@]+(?::\d+)?|(?:www\.)?github\.com)[/:])?"
    r"(?!orgs/)(?P<rest>[^\s/]+/[^\s/]+?|\S.*?)"
    r"(?:\.git|/(?:tree|blob|pulls?|issues|actions|settings)\b.*|/)*",
    re.IGNORECASE,
)
"""An entry of ``target_repos``, also as other tools write one that leaves something out
(ohbarye/review-waiting-list-bot#8), or that is an address."""
_NOT_EQUAL = re.compile(
    r"(?P<key>topic)(?:!=|<>|[:=][!-])(?P<topic>\S+)"
    r"|(?P<property>property:[^\s!=<>]+)(?:!=|<>|=!)(?P<value>.+)",
    re.IGNORECASE,
)
"""A qualifier with a negation in its value."""
_CREATED = re.compile(r"(?P<sign>[<>]=)(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})")
_MAY_HAVE_BLANKS = re.compile(r"(language:[^:/]*|-?property:[^\s=:/]+=.*)", re.IGNORECASE)
"""The only entries that may contain a blank, for example ``language:Jupyter Notebook``."""


def read_selection(entries: Sequence[str]) -> tuple[Selection, list[Message]]:
    """Read the entries of ``target_repos``, and return the selection with every error.

    Qualifiers have the same meaning as in GitHub's search:
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
        matched = PATTERN.fullmatch(entry.removeprefix("!"))
        value = value.strip(" \"'").lower()
        if close := _meant(entry):
            errors.append(msg("many.meant", value=Excerpt(entry), close=Excerpt(close)))
        elif re.search(r"\s", f"{name}{value}") and not _MAY_HAVE_BLANKS.fullmatch(entry):
            errors.append(msg("many.not_separated", value=entry))
        elif colon and key in values and value:
            values[key].append(value)
        elif colon and key in values:
            errors.append(msg("many.qualifier_without_value", value=entry))
        elif entry.lower() == "fork:true":
            forks = True
        elif colon and "/" not in entry:
            errors.append(msg("many.unknown_qualifier", value=entry, known=_QUALIFIERS))
        elif not matched or matched["repo"] in {".", ".."}:
            errors.append(msg("many.pattern_malformed", value=entry))
        elif len(matched["repo"]) > PATTERN_CHARACTERS:
            value = Excerpt(entry)
            errors.append(msg("many.pattern_too_long", value=value, most=PATTERN_CHARACTERS))
        else:
            includes = not entry.startswith("!")
            owner, repo = matched["owner"].lower(), matched["repo"].lower()
            patterns.append(NamePattern(owner, repo, includes))
            if includes and patterns[-1].is_literal:
                named[entry.lower()] = entry
    errors += (
        msg("many.no_topic", value=Excerpt(f"{name}:{value}"))
        for name in ("topic", "-topic")
        for value in values[name]
        if not TOPIC.fullmatch(value)
    )
    properties = _properties(values["property"], errors)
    excluded_properties = _properties(values["-property"], errors)
    first_days, last_days = _days(values["created"], errors)
    errors += (
        msg("many.unknown_visibility", value=value, known=VISIBILITIES)
        for value in values["visibility"]
        if value not in VISIBILITIES
    )
    if not errors and not any(pattern.includes for pattern in patterns):
        errors.append(msg("many.nothing_included"))
    selection = Selection(
        tuple(patterns),
        topics=frozenset(values["topic"]),
        excluded_topics=frozenset(values["-topic"]),
        visibilities=frozenset(values["visibility"]),
        languages=frozenset(values["language"]),
        created_from=max(first_days, default=""),
        created_until=min(last_days, default=""),
        forks=forks,
        properties=properties,
        excluded_properties=excluded_properties,
    )
    literals = tuple(filter(selection.matches, named.values()))
    return selection._replace(literals=literals), errors


def _meant(entry: str) -> str:
    """Return the entry of ``target_repos`` that was probably meant; empty if this one is right."""
    if found := _NOT_EQUAL.fullmatch(entry):
        pairs = (f"-{found['key']}:{found['topic']}", f"-{found['property']}={found['value']}")
        return pairs[0] if found["key"] else pairs[1]
    start, _, end = entry.partition("=")
    if start.lower() in _WITH_VALUE:
        return f"{start}:{end}"
    slip = _SLIP.fullmatch(entry)
    if not slip:
        return ""
    close, excludes = slip["rest"], slip["not"]
    if PATTERN.fullmatch(close):
        close = f"!{close}" if excludes else close
    elif excludes and f"-{close.partition(':')[0].lower()}" in _WITH_VALUE:
        close = f"-{entry[slip.start('rest') :]}"
    else:
        return ""
    return close if close != entry else ""


def repository(name: str) -> re.Match[str] | None:
    """Return ``owner`` and ``repo`` of the name of one repository; ``None`` if it is none."""
    matched = PATTERN.fullmatch(name)
    return matched if matched and "*" not in name and matched["repo"] not in {".", ".."} else None


def repository_meant(value: str) -> str:
    """Return the name or pattern that was probably meant; empty if there is none."""
    slip = _SLIP.fullmatch(value.strip("[]\"'`<>, "))
    return slip["rest"] if slip and PATTERN.fullmatch(slip["rest"]) else ""


def doubts(selection: Selection) -> Iterator[Message]:
    """Warn of values that probably no repository has, as the conditions of a list do."""
    properties = (*selection.properties.items(), *selection.excluded_properties.items())
    values = [("language", each) for each in sorted(selection.languages)]
    values += [
        ("property", f"{name}={each}") for name, those in properties for each in sorted(those)
    ]
    for key, value in values:
        for doubt in constraints.value_doubts(key, value):
            yield msg("many.doubt", doubt=doubt)


def _days(entries: Sequence[str], errors: list[Message]) -> tuple[list[str], list[str]]:
    """Return the days after ``>=`` and the days after ``<=``, and add the errors."""
    days: dict[str, list[str]] = {">=": [], "<=": []}
    for entry in entries:
        matched = _CREATED.fullmatch(entry)
        if matched and _is_day(matched["day"]):
            days[matched["sign"]].append(matched["day"])
        else:
            errors.append(msg("many.created_malformed", value=Excerpt(f"created:{entry}")))
    return days[">="], days["<="]


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _properties(entries: Sequence[str], errors: list[Message]) -> dict[str, frozenset[str]]:
    """Return the wanted values by the names of custom properties, and add the errors.

    ``team=platform`` adds a value. With ``team`` alone the set is empty, which accepts any value.
    """
    properties: dict[str, set[str]] = {}
    any_value = set[str]()
    for entry in entries:
        name, equals, value = entry.partition("=")
        value = value.strip(" \"'")
        if not templates.PROPERTY_NAME.fullmatch(name) or (equals and not value):
            errors.append(msg("many.property_name", value=Excerpt(entry)))
        properties.setdefault(name, set()).add(value)
        any_value |= set() if equals else {name}
    return {
        name: frozenset() if name in any_value else frozenset(those)
        for name, those in properties.items()
    }
