"""The key ``when`` of a rule -> `Condition`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import yaml

from registrar.lists import constraints, syntax
from registrar.lists.diagnostics import Place
from registrar.lists.entries import EntryReader, line_of
from registrar.models.patterns import MOST_CHARACTERS
from registrar.models.rules import Condition
from registrar.models.selection import VISIBILITIES
from registrar.texts.messages import Excerpt, msg
from registrar.texts.templates import PROPERTY_NAME

KEYS = (
    *("language", "topic", "visibility", "fork", "name", "exists", "missing", "property"),
    "not",
)


class ConditionReader:
    """Reads the conditions of one list and notes what is wrong with them."""

    def __init__(self, reader: EntryReader) -> None:
        """``reader`` is that of the list."""
        self._reader = reader

    def condition(
        self, node: yaml.Node | None, place: Place, known: Sequence[str] = KEYS
    ) -> Condition:
        """Read what must hold; nothing of it is empty, or it would hold by mistake."""
        if not (isinstance(node, yaml.MappingNode) and node.tag == syntax.MAPPING):
            self._reader.errors.add(place, msg("definitions.when_no_object"))
            return Condition()
        place = Place(line_of(node))
        if not node.value:
            self._reader.errors.add(place, msg("definitions.when_empty"))
        keys = self._reader.keys(node, known, place)

        def texts(key: str) -> frozenset[str]:
            return frozenset(each.lower() for each in self._strings(keys.get(key), key))

        negated = keys.get("not")
        return Condition(
            languages=texts("language"),
            topics=texts("topic"),
            visibilities=frozenset(self._visibilities(keys.get("visibility"))),
            is_fork=self._fork(keys.get("fork"), place),
            names=tuple(self._names(keys.get("name"))),
            exists=tuple(self._paths(keys.get("exists"), "exists")),
            missing=tuple(self._paths(keys.get("missing"), "missing")),
            properties=tuple(self._properties(keys.get("property"))),
            negated=self.condition(negated, place, KEYS[:-1]) if negated is not None else None,
        )

    def _strings(self, node: yaml.Node | None, key: str) -> Iterator[str]:
        """A text, or several."""
        if node is None:
            return
        place = Place(line_of(node))
        is_list = isinstance(node, yaml.SequenceNode)
        items = self._reader.items(node, key, place) if is_list else [node]
        if not items:
            self._reader.errors.add(place, msg("definitions.when_no_value", key=key))
        for item in items:
            at = Place(line_of(item))
            value = self._reader.string(item, key, at, is_item=is_list)
            if value is not None and not value.strip():
                self._reader.errors.add(at, msg("definitions.when_no_value", key=key))
            elif value is not None and len(value) > MOST_CHARACTERS:
                message = msg("definitions.when_too_long", key=key, most=MOST_CHARACTERS)
                self._reader.errors.add(at, message)
            elif value is not None:
                yield value

    def _visibilities(self, node: yaml.Node | None) -> Iterator[str]:
        for value in self._strings(node, "visibility"):
            if node is not None and value.lower() not in VISIBILITIES:
                values = {"value": Excerpt(value), "known": VISIBILITIES}
                message = msg("definitions.when_visibility", **values)
                self._reader.errors.add(Place(line_of(node)), message)
            yield value.lower()

    def _names(self, node: yaml.Node | None) -> Iterator[str]:
        for value in self._strings(node, "name"):
            if node is not None and "/" in value:
                message = msg("definitions.when_name", value=Excerpt(value))
                self._reader.errors.add(Place(line_of(node)), message)
            yield value.lower()

    def _paths(self, node: yaml.Node | None, key: str) -> Iterator[str]:
        for value in self._strings(node, key):
            if node is not None:
                diagnostics = constraints.path_diagnostics(value)
                self._reader.errors.add(Place(line_of(node)), *diagnostics)
            yield value

    def _fork(self, node: yaml.Node | None, place: Place) -> bool | None:
        return None if node is None else self._reader.boolean(node, "fork", place)

    def _properties(self, node: yaml.Node | None) -> Iterator[tuple[str, frozenset[str]]]:
        if node is None:
            return
        place = Place(line_of(node))
        if not (isinstance(node, yaml.MappingNode) and node.tag == syntax.MAPPING and node.value):
            self._reader.errors.add(place, msg("definitions.when_property"))
            return
        for name, value in self._reader.all_keys(node, place).items():
            if not PROPERTY_NAME.fullmatch(name):
                message = msg("definitions.when_property_name", name=Excerpt(name))
                self._reader.errors.add(Place(line_of(value)), message)
            yield name.lower(), frozenset(each.lower() for each in self._strings(value, name))
