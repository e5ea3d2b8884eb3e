"""The nodes of a list: what stands in them, and what is wrong with it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import yaml

from registrar.errors import Diagnostic
from registrar.lists import syntax
from registrar.texts.escaping import SECRET_CHARACTERS, SURROGATE
from registrar.texts.messages import Excerpt, Message, msg
from registrar.texts.spelling import closest

_MOST_OF_ONE_KIND = 10
"""How many diagnostics of one kind are listed; the last of them says how many follow."""
_SHOWN_ENTRIES = 20


class Place(NamedTuple):
    """A place in the file, by numbers that count from 1; ``None`` if there is none."""

    line: int | None = None
    """Only YAML has lines."""
    entry: int | None = None
    """Within the rule, or else within the list."""
    rule: int | None = None

    @property
    def order(self) -> tuple[int, int, int]:
        return self.line or 0, self.rule or 0, self.entry or 0

    @property
    def parts(self) -> Iterator[Message]:
        """The place as people read it, from the outside in."""
        if self.rule is not None:
            yield msg("label.rule", number=self.rule)
        if self.entry is not None:
            yield msg("label.entry", number=self.entry)
        if self.line is not None:
            yield msg("label.line", number=self.line)


class Diagnostics:
    """The errors, or the warnings, of one file."""

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
        """All diagnostics in the order of their places; of many of one kind the rest is counted."""
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
    """Reads the nodes of one list and notes what is wrong with them."""

    def __init__(self, name: str, secret: str) -> None:
        """``name`` is the list's own file; ``secret`` must not be in it."""
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

    def keys(self, node: yaml.MappingNode, known: Sequence[str] = ()) -> dict[str, yaml.Node]:
        """Values of the known keys (of all, if none is); a key that is there twice has none."""
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
        unknown = [name for name in given if known and name not in known]
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
            if len(pairs) == 1 and name not in unknown
        }

    def string(self, node: yaml.Node | None, key: str, *, is_item: bool = False) -> str | None:
        """Value of a key, or item of its array; ``None`` if there is none, or no usable one."""
        if node is None:
            return None
        value = syntax.text_of(node)
        if value is None:
            wrong = "definitions.item_not_a_string" if is_item else "definitions.not_a_string"
            self.error(node, msg(wrong, key=key))
        elif SURROGATE.search(value):
            self.error(node, msg("definitions.surrogate", key=key))
        elif self.secret and self.secret in value:
            self.error(node, msg("definitions.holds_token", key=key))
        else:
            return value
        return None

    def items(self, node: yaml.Node | None, key: str) -> Sequence[yaml.Node]:
        """Elements of a key's array; none if there is none."""
        if node is None:
            return ()
        if syntax.is_sequence(node):
            return list(node.value)
        self.error(node, msg("definitions.not_an_array", key=key))
        return ()

    def boolean(self, node: yaml.Node | None, key: str) -> bool | None:
        """Value of a key; ``None`` if there is none."""
        if node is None:
            return None
        value = node.value.lower() if node.tag == syntax.BOOLEAN else ""
        if value not in {"true", "false"}:
            self.error(node, msg("definitions.not_a_boolean", key=key))
        return bool(value == "true")
