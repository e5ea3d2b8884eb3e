"""Reads the values of YAML and JSON nodes, and collects the errors and warnings about them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import yaml

from registrar.errors import Diagnostic
from registrar.lists import syntax
from registrar.texts.escaping import SECRET_CHARACTERS, SURROGATE
from registrar.texts.messages import Excerpt, Message, msg
from registrar.texts.spelling import closest

_MOST_OF_ONE_KIND = 10
"""The largest number of diagnostics of one kind. The last one says how many more there are."""
_SHOWN_ENTRIES = 20
"""The largest number of entries that the last diagnostic of one kind names."""


class Place(NamedTuple):
    """A place in a definition file. The numbers begin with 1."""

    line: int | None = None
    """Number of the line; ``None`` in JSON."""
    entry: int | None = None
    """Number of the entry in its rule, or in the list if it is in no rule; ``None`` if the place is
    in no entry."""
    rule: int | None = None
    """Number of the rule; ``None`` if the place is in no rule."""

    @property
    def order(self) -> tuple[int, int, int]:
        return self.line or 0, self.rule or 0, self.entry or 0

    @property
    def parts(self) -> Iterator[Message]:
        """The place in words for people: the rule, then the entry, then the line."""
        if self.rule is not None:
            yield msg("label.rule", number=self.rule)
        if self.entry is not None:
            yield msg("label.entry", number=self.entry)
        if self.line is not None:
            yield msg("label.line", number=self.line)


class Diagnostics:
    """Collects the errors, or the warnings, of one file."""

    def __init__(self, name: str) -> None:
        """``name`` is the file's name in the diagnostics."""
        self._name = name
        self._kinds: dict[str, list[tuple[Message, Place]]] = {}
        self.count = 0

    def add(self, place: Place, *messages: Message) -> None:
        for message in messages:
            self.count += 1
            self._kinds.setdefault(message.identity, []).append((message, place))

    def diagnostics(self) -> list[Diagnostic]:
        """Return the diagnostics in the order of their places.

        If there are many of one kind, the last one that is returned counts the others.
        """
        listed = list[tuple[Message, Place]]()
        for same in self._kinds.values():
            *first, (last, place) = same[:_MOST_OF_ONE_KIND]
            listed += first
            if rest := same[_MOST_OF_ONE_KIND:]:
                found = [where.entry or where.line for _, where in rest[:_SHOWN_ENTRIES]]
                numbers = tuple(number for number in found if number)
                more = ("…",) if len(rest) > len(numbers) else ()
                values = {"diagnostic": last, "count": len(rest), "entries": (*numbers, *more)}
                last = msg("definitions.repeated", **values)
            listed.append((last, place))
        return [self._diagnostic(*each) for each in sorted(listed, key=lambda each: each[1].order)]

    def _diagnostic(self, message: Message, place: Place) -> Diagnostic:
        where = (self._name, *place.parts)
        located = msg("definitions.at", place=where, diagnostic=message)
        return Diagnostic(located, self._name, place.line)


class NodeReader:
    """Reads the nodes of one list, and collects errors and warnings about them."""

    def __init__(self, name: str, secret: str) -> None:
        """``name`` is the definition file in diagnostics. A text with ``secret`` is an error."""
        self.secret = secret if len(secret) >= SECRET_CHARACTERS else ""
        self.number: int | None = None
        """Number of the entry that is being read."""
        self.rule: int | None = None
        """Number of the rule that is being read."""
        self.errors = Diagnostics(name)
        self.warnings = Diagnostics(name)

    def error(self, node: yaml.Node, *messages: Message) -> None:
        self.errors.add(self.place(node), *messages)

    def warn(self, node: yaml.Node, *messages: Message) -> None:
        self.warnings.add(self.place(node), *messages)

    def place(self, node: yaml.Node) -> Place:
        mark = node.start_mark
        return Place(int(mark.line) + 1 if mark else None, self.number, self.rule)

    def keys(
        self, node: yaml.MappingNode, known: Sequence[str] = (), ignored: tuple[str, ...] = ()
    ) -> dict[str, yaml.Node]:
        """Return the values of an object by key, and report unknown and repeated keys.

        Both are left out. Without ``known`` every key is accepted. Keys that begin with one of
        ``ignored`` are not reported as unknown.
        """
        given: dict[str, list[tuple[yaml.Node, yaml.Node]]] = {}
        merges = []
        for key, value in node.value:
            if syntax.is_merge(key):
                merges.append(key)
            else:
                given.setdefault(syntax.text_of(key) or "?", []).append((key, value))
        if merges:
            [*earlier, merge] = merges
            twice = msg("definitions.duplicate_key", key="<<")
            self.error(merge, twice if earlier else msg("definitions.merge"))
        others = [name for name in given if known and name not in known]
        unknown = [name for name in others if not name.startswith(ignored)]
        for name in unknown:
            key, _ = given[name][-1]
            values = {"key": Excerpt(name), "known": known}
            if close := closest(name.lower(), known):
                self.error(key, msg("definitions.unknown_key_close", close=close, **values))
            else:
                self.error(key, msg("definitions.unknown_key", **values))
        for name, [*earlier, (key, _)] in given.items():
            if earlier:
                self.error(key, msg("definitions.duplicate_key", key=Excerpt(name)))
        return {
            name: pairs[0][1]
            for name, pairs in given.items()
            if len(pairs) == 1 and name not in others
        }

    def string(self, node: yaml.Node | None, key: str, *, is_item: bool = False) -> str | None:
        """Return the text of a node, which is the value of ``key``, or an item of that array.

        Return ``None`` without a node, and after an error about the value.
        """
        if node is None:
            return None
        value = syntax.text_of(node)
        if value is None:
            self.error(node, msg(_why_no_string(node, is_item=is_item), key=key))
        elif SURROGATE.search(value):
            self.error(node, msg("definitions.surrogate", key=key))
        elif self.secret and self.secret in value:
            self.error(node, msg("definitions.holds_token", key=key))
        else:
            return value
        return None

    def items(self, node: yaml.Node | None, key: str) -> Sequence[yaml.Node]:
        """Return the items of the array that is the value of ``key``.

        Empty without a node, and after the error that it is not an array.
        """
        if node is None:
            return ()
        if syntax.is_sequence(node):
            return list(node.value)
        self.error(node, msg("definitions.not_an_array", key=key))
        return ()

    def boolean(self, node: yaml.Node | None, key: str) -> bool | None:
        """Return the Boolean value of ``key``; ``None`` without a node.

        Any other value is reported, and counts as false.
        """
        if node is None:
            return None
        value = node.value.lower() if node.tag == syntax.BOOLEAN else ""
        if value not in {"true", "false"}:
            self.error(node, msg("definitions.not_a_boolean", key=key))
        return bool(value == "true")


def _why_no_string(node: yaml.Node, *, is_item: bool) -> str:
    """Return the key of the error about a node that is not a string."""
    if not isinstance(node, yaml.ScalarNode):
        return "definitions.string_is_nested"
    if node.value.lower() in {"", "~", "null", "none"}:
        return "definitions.no_value"
    return "definitions.item_not_a_string" if is_item else "definitions.not_a_string"
