"""The nodes of a list: what stands in them, and what is wrong with it."""

from collections.abc import Sequence
from typing import NamedTuple

import yaml

from registrar.errors import Diagnostic
from registrar.lists import syntax
from registrar.texts.escaping import SECRET_CHARACTERS, SURROGATE
from registrar.texts.messages import Excerpt, Message, msg

_MOST_OF_ONE_KIND = 10
"""How many diagnostics of one kind are listed; the last of them says how many follow."""
_SHOWN_ENTRIES = 20


class Place(NamedTuple):
    """A place in the file: a line, and the entry in it. Both count from 1."""

    line: int | None = None
    entry: int | None = None


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
            self._kinds.setdefault(message.sentence, []).append((message, place))

    def diagnostics(self) -> list[Diagnostic]:
        """All diagnostics in the order of the lines; of many of one kind the rest is counted."""
        listed = list[Diagnostic]()
        for same in self._kinds.values():
            *first, (last, place) = same[:_MOST_OF_ONE_KIND]
            listed += [self._diagnostic(*each) for each in first]
            if rest := same[_MOST_OF_ONE_KIND:]:
                numbers = tuple(where.entry or where.line for _, where in rest[:_SHOWN_ENTRIES])
                more = ("…",) if len(rest) > _SHOWN_ENTRIES else ()
                values = {"diagnostic": last, "count": len(rest), "entries": (*numbers, *more)}
                last = msg("definitions.repeated", **values)
            listed.append(self._diagnostic(last, place))
        return sorted(listed, key=lambda diagnostic: diagnostic.line or 0)

    def _diagnostic(self, message: Message, place: Place) -> Diagnostic:
        values = {"file": self._name, "line": place.line, "diagnostic": message}
        if place.entry is not None:
            message = msg("definitions.at", entry=place.entry, **values)
        elif place.line is not None:
            message = msg("definitions.at_line", **values)
        return Diagnostic(message, self._name, place.line)


class NodeReader:
    """Reads the nodes of one list and notes what is wrong with them."""

    def __init__(self, name: str, secret: str) -> None:
        """``name`` is the list's own file; ``secret`` must not be in it."""
        self.secret = secret if len(secret) >= SECRET_CHARACTERS else ""
        self.number: int | None = None
        """Number of the entry that is being read."""
        self.errors = Diagnostics(name)
        self.warnings = Diagnostics(name)

    def error(self, node: yaml.Node, *messages: Message) -> None:
        self.errors.add(self.place(node), *messages)

    def warn(self, node: yaml.Node, message: Message) -> None:
        self.warnings.add(self.place(node), message)

    def place(self, node: yaml.Node) -> Place:
        return Place(int(node.start_mark.line) + 1, self.number)

    def keys(self, node: yaml.MappingNode, known: Sequence[str] = ()) -> dict[str, yaml.Node]:
        """Values of the known keys (of all, where none is); a key that is there twice has none."""
        given: dict[str, list[tuple[yaml.Node, yaml.Node]]] = {}
        for key, value in node.value:
            given.setdefault(syntax.text_of(key) or "?", []).append((key, value))
        unknown = [name for name in given if known and name not in known]
        for name in unknown:
            key, _ = given[name][-1]
            self.error(key, msg("definitions.unknown_key", key=Excerpt(name), known=known))
        for name, [*earlier, (key, _)] in given.items():
            if earlier:
                self.error(key, msg("definitions.duplicate_key", key=Excerpt(name)))
        return {
            name: pairs[0][1]
            for name, pairs in given.items()
            if len(pairs) == 1 and name not in unknown
        }

    def string(self, node: yaml.Node | None, key: str, *, is_item: bool = False) -> str | None:
        """Value of a key, or item of its array; ``None`` where there is none, or no usable one."""
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
        """Elements of a key's array; none where there is none."""
        if node is None:
            return ()
        if syntax.is_sequence(node):
            return list(node.value)
        self.error(node, msg("definitions.not_an_array", key=key))
        return ()

    def boolean(self, node: yaml.Node | None, key: str) -> bool | None:
        """Value of a key; ``None`` where there is none."""
        if node is None:
            return None
        value = node.value.lower() if node.tag == syntax.BOOLEAN else ""
        if value not in {"true", "false"}:
            self.error(node, msg("definitions.not_a_boolean", key=key))
        return bool(value == "true")
