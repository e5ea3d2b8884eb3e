"""The `when` of a rule, or of a part of a file -> `Condition`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import yaml

from registrar.lists import constraints, syntax
from registrar.lists.nodes import NodeReader
from registrar.models.conditions import MOST_CHARACTERS, Condition
from registrar.models.selection import VISIBILITIES
from registrar.texts.messages import Excerpt, Message, msg
from registrar.texts.templates import PROPERTY_NAME

CONDITION_KEYS = (
    *("language", "topic", "visibility", "fork", "name", "exists", "missing", "property"),
    "not",
)
"""Keys of a ``when``."""

_Check: TypeAlias = Callable[[str], Iterable[Message]]


def condition(
    reader: NodeReader,
    node: yaml.Node | None,
    rule: yaml.Node,
    known: Sequence[str] = CONDITION_KEYS,
) -> Condition:
    """Read what must hold; nothing of it is empty, or it would hold by mistake."""
    if not syntax.is_mapping(node):
        reader.error(rule, msg("definitions.when_no_object"))
        return Condition()
    if not node.value:
        reader.error(node, msg("definitions.when_empty"))
    keys = reader.keys(node, known)

    def lowered(key: str, *checks: _Check) -> Iterator[str]:
        return (value.lower() for value in _values(reader, keys.get(key), key, *checks))

    def paths(key: str) -> tuple[str, ...]:
        return tuple(_values(reader, keys.get(key), key, constraints.path_diagnostics))

    negated = keys.get("not")
    return Condition(
        languages=frozenset(lowered("language")),
        topics=frozenset(lowered("topic")),
        visibilities=frozenset(lowered("visibility", _no_visibility)),
        is_fork=reader.boolean(keys.get("fork"), "fork"),
        names=tuple(lowered("name", _no_name)),
        exists=paths("exists"),
        missing=paths("missing"),
        properties=tuple(_properties(reader, keys.get("property"))),
        negated=condition(reader, negated, node, CONDITION_KEYS[:-1]) if negated else None,
    )


def _values(reader: NodeReader, node: yaml.Node | None, key: str, *checks: _Check) -> Iterator[str]:
    """A text, or several; ``checks`` tell what is wrong with one."""
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
        elif len(value) > MOST_CHARACTERS:
            reader.error(item, msg("definitions.when_too_long", key=key, most=MOST_CHARACTERS))
        else:
            reader.error(node, *(message for check in checks for message in check(value)))
            yield value


def _no_visibility(value: str) -> Iterator[Message]:
    if value.lower() not in VISIBILITIES:
        yield msg("definitions.when_visibility", value=Excerpt(value), known=VISIBILITIES)


def _no_name(value: str) -> Iterator[Message]:
    if "/" in value:
        yield msg("definitions.when_name", value=Excerpt(value))


def _properties(reader: NodeReader, node: yaml.Node | None) -> Iterator[tuple[str, frozenset[str]]]:
    if node is None:
        return
    if not (syntax.is_mapping(node) and node.value):
        reader.error(node, msg("definitions.when_property"))
        return
    for name, value in reader.keys(node).items():
        if not PROPERTY_NAME.fullmatch(name):
            reader.error(value, msg("definitions.when_property_name", name=Excerpt(name)))
        yield name.lower(), frozenset(each.lower() for each in _values(reader, value, name))
