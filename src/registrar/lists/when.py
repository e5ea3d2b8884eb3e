"""Reads the `when` of a rule, or of a part of a file -> `Condition`."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import yaml

from registrar.lists import constraints, syntax
from registrar.lists.constraints import value_doubts
from registrar.lists.nodes import NodeReader
from registrar.models.conditions import PATTERN_CHARACTERS, Condition
from registrar.models.selection import TOPIC, VISIBILITIES
from registrar.texts.messages import Excerpt, Message, msg
from registrar.texts.templates import PROPERTY_NAME

CONDITION_KEYS = (
    *("language", "topic", "visibility", "fork", "name", "exists", "missing", "property"),
    "not",
)
"""Keys of a ``when``."""

_NAME = re.compile(r"[A-Za-z0-9._*?-]+")
"""The name of a repository, or a pattern for it (openrewrite/rewrite#8856)."""
_Check: TypeAlias = Callable[[str], Iterable[Message]]


def condition(
    reader: NodeReader,
    node: yaml.Node | None,
    rule: yaml.Node,
    known: Sequence[str] = CONDITION_KEYS,
) -> Condition:
    """Read a condition.

    ``rule`` is the rule or part with the condition, for the error that it has none. ``known`` are
    the keys that the condition may have. An empty object, key or value is an error, because it
    would hold for every repository.
    """
    if not syntax.is_mapping(node):
        reader.error(rule, msg("definitions.when_no_object"))
        return Condition()
    if not node.value:
        reader.error(node, msg("definitions.when_empty"))
    keys = reader.keys(node, known)

    def lowered(key: str, *checks: _Check, doubts: _Check = _no_doubts) -> Iterator[str]:
        values = _values(reader, keys.get(key), key, *checks, doubts=doubts)
        return (value.lower() for value in values)

    def paths(key: str) -> tuple[str, ...]:
        checks = constraints.path_diagnostics
        return tuple(_values(reader, keys.get(key), key, checks, doubts=partial(_no_path, key)))

    negated = keys.get("not")
    return Condition(
        languages=frozenset(lowered("language", doubts=partial(value_doubts, "language"))),
        topics=frozenset(lowered("topic", _no_topic, doubts=partial(value_doubts, "topic"))),
        visibilities=frozenset(lowered("visibility", _no_visibility)),
        is_fork=reader.boolean(keys.get("fork"), "fork"),
        names=tuple(lowered("name", _no_name)),
        exists=paths("exists"),
        missing=paths("missing"),
        properties=tuple(_properties(reader, keys.get("property"))),
        negated=condition(reader, negated, node, CONDITION_KEYS[:-1]) if negated else None,
    )


def _no_doubts(_value: str) -> Iterable[Message]:
    return ()


def _values(
    reader: NodeReader,
    node: yaml.Node | None,
    key: str,
    *checks: _Check,
    doubts: _Check = _no_doubts,
) -> Iterator[str]:
    """Yield the texts of a key, which has one text or an array of texts; report empty ones.

    ``checks`` find errors in a text, and ``doubts`` find reasons for a warning.
    """
    if node is None:
        return
    is_list = isinstance(node, yaml.SequenceNode)
    items = reader.items(node, key) if is_list else [node]
    if not items:
        reader.error(node, msg("definitions.when_no_value", key=key))
    for item in items:
        value = reader.string(item, key, is_item=is_list)
        if value is None:
            continue
        if not value.strip():
            reader.error(item, msg("definitions.when_no_value", key=key))
        elif len(value) > PATTERN_CHARACTERS:
            reader.error(item, msg("definitions.when_too_long", key=key, most=PATTERN_CHARACTERS))
        else:
            reader.error(node, *(message for check in checks for message in check(value)))
            reader.warn(item, *doubts(value))
            yield value


def _no_visibility(value: str) -> Iterator[Message]:
    if value.lower() not in VISIBILITIES:
        yield msg("definitions.when_visibility", value=Excerpt(value), known=VISIBILITIES)


def _no_path(key: str, value: str) -> Iterator[Message]:
    yield from value_doubts(key, value)
    yield from constraints.path_doubts(value)


def _no_name(value: str) -> Iterator[Message]:
    if not _NAME.fullmatch(value):
        yield msg("definitions.when_name", value=Excerpt(value))


def _no_topic(value: str) -> Iterator[Message]:
    # A wildcard is a warning
    if not TOPIC.fullmatch(constraints.WILDCARD.sub("", value.lower()) or "-"):
        yield msg("definitions.when_topic", value=Excerpt(value))


def _properties(reader: NodeReader, node: yaml.Node | None) -> Iterator[tuple[str, frozenset[str]]]:
    if node is None:
        return
    if not (syntax.is_mapping(node) and node.value):
        reader.error(node, msg("definitions.when_property"))
        return
    for name, value in reader.keys(node).items():
        if not PROPERTY_NAME.fullmatch(name):
            reader.error(value, msg("definitions.when_property_name", name=Excerpt(name)))
        values = _values(reader, value, name, doubts=partial(value_doubts, "property"))
        yield name.lower(), frozenset(each.lower() for each in values)
