"""JSON or YAML -> nodes that know their line, their type and their duplicate keys.

Both formats are read as data only and give the same nodes, those of PyYAML before any value is
constructed: a constructor raises more than `yaml.YAMLError`, and a value has no line. Nodes are
counted while they are read, so that a small text cannot become a large tree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import yaml
from yaml.reader import ReaderError

from registrar.lists import mistakes

MOST_NODES = 50_000
"""Values of a definition file, keys and nested ones included."""
MOST_CHARACTERS = 20_000_000
"""Characters of them together, what aliases repeat included: ten files of the largest size."""
MOST_LEVELS = 32
"""Levels that its values are nested."""
STRING = "tag:yaml.org,2002:str"
BOOLEAN = "tag:yaml.org,2002:bool"
SEQUENCE = "tag:yaml.org,2002:seq"
MAPPING = "tag:yaml.org,2002:map"
_OTHER = "tag:yaml.org,2002:other"


class Malformed(Exception):
    """The text is not valid in its format, or too much: a key of the catalogue and its values."""

    def __init__(self, key: str, line: int | None = None, **values: object) -> None:
        """``line`` counts from 1."""
        super().__init__(key)
        self.key = key
        self.line = line
        self.values = values if line is None else {"line": line, **values}


def parse_yaml(text: str) -> yaml.Node | None:
    """Compose the only document of ``text``; ``None`` where there is none.

    Raises:
        Malformed: with the place.
    """
    loader = None
    try:
        loader = _YamlLoader(text)
        node: yaml.Node | None = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mistake = mistakes.in_yaml(error, text)
        if loader and (quote := loader.open_quote(mistake.line - 1)):
            line, column = quote.line + 1, quote.column + 1
            raise Malformed("definitions.open_quote", line, column=column) from error
        raise _malformed(mistake) from error
    except ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise _malformed(mistakes.broken("YAML", line, column, error.reason)) from error
    except (ValueError, OverflowError) as error:
        # An escape beyond Unicode ("\U00110000", "\UFFFFFFFF")
        raise Malformed("definitions.too_deep", most=MOST_LEVELS) from error
    return node


def parse_json(text: str) -> yaml.Node:
    """Read the value that ``text`` is.

    Raises:
        Malformed: with the place.
    """
    nodes = _NodeCounter()
    for matched in _TOKEN.finditer(text):
        if matched[0] in "[{":
            nodes.enter()
        elif matched[0] in "]}":
            nodes.leave()
        else:
            nodes.count()
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        raise _malformed(mistakes.in_json(error, text)) from error
    tokens = _tokens(text)
    return _json_node(*next(tokens), tokens)


def text_of(node: yaml.Node) -> str | None:
    """The string that a node holds; ``None`` where it holds anything else."""
    if not (isinstance(node, yaml.ScalarNode) and node.tag == STRING):
        return None
    value = str(node.value)
    if value.isascii():
        return value
    try:
        # JSON's escapes of one character in two halves, which YAML reads as two
        return value.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return value


def _malformed(mistake: mistakes.Mistake) -> Malformed:
    return Malformed(mistake.key, mistake.line, column=mistake.column, **mistake.values)


class _NodeCounter:
    """Counts what is read, and stops at the limits.

    What an alias stands for counts wherever it stands: so often it is read.
    """

    def __init__(self) -> None:
        self.nodes = 0
        self.characters = 0
        self._levels = 0

    def count(self, nodes: int = 1, characters: int = 0) -> None:
        self.nodes += nodes
        self.characters += characters
        if self.nodes > MOST_NODES:
            raise Malformed("definitions.too_many_values", most=MOST_NODES)
        if self.characters > MOST_CHARACTERS:
            raise Malformed("definitions.too_many_characters", most=MOST_CHARACTERS)

    def enter(self) -> None:
        self.count()
        self._levels += 1
        if self._levels > MOST_LEVELS:
            raise Malformed("definitions.too_deep", most=MOST_LEVELS)

    def leave(self) -> None:
        self._levels -= 1


class _YamlLoader(yaml.SafeLoader):
    """Composes nodes within the limits, and remembers quotes that may have been left open."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nodes = _NodeCounter()
        self._sizes: dict[int, tuple[int, int]] = {}
        """Nodes and characters of each node that is complete, by its identity."""
        self._quote: yaml.Mark | None = None
        self._quote_ends = -1
        """Line where the last quoted text of several lines ended; -1: none, or not yet."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        counted = self._nodes
        is_alias = self.check_event(yaml.AliasEvent)
        before = counted.nodes, counted.characters
        counted.enter()
        node: yaml.Node | None = super().compose_node(parent, index)
        if is_alias:
            counted.count(*self._sizes.get(id(node), (0, 0)))
        else:
            if isinstance(node, yaml.ScalarNode):
                counted.count(0, len(node.value))
            size = counted.nodes - before[0], counted.characters - before[1]
            self._sizes[id(node)] = size
        counted.leave()
        return node

    def scan_flow_scalar(self, style: str) -> yaml.ScalarToken:
        mark: yaml.Mark = self.get_mark()
        follows = self._quote is not None and mark.line == self._quote_ends
        if not follows:
            self._quote = mark
        ends, self._quote_ends = self._quote_ends, -1
        token: yaml.ScalarToken = super().scan_flow_scalar(style)
        if token.end_mark.line > mark.line:
            self._quote_ends = token.end_mark.line
        elif follows:
            self._quote_ends = ends
        else:
            self._quote = None
        return token

    def open_quote(self, line: int) -> yaml.Mark | None:
        """Where a quote opens that is the likely cause of an error at ``line`` (from 0).

        A text whose quote was forgotten ends at the next one, often lines below.
        """
        return self._quote if self._quote_ends in {-1, line} else None


_TOKEN = re.compile(r'[][{}]|"(?:[^"\\]++|\\.)*+"?|[^][{}:,"\s]++', re.DOTALL)


def _tokens(text: str) -> Iterator[tuple[str, yaml.Mark]]:
    line = position = 0
    for matched in _TOKEN.finditer(text):
        line += text.count("\n", position, matched.start())
        position = matched.start()
        yield matched[0], yaml.Mark("", position, line, 0, None, 0)


def _json_node(first: str, mark: yaml.Mark, rest: Iterator[tuple[str, yaml.Mark]]) -> yaml.Node:
    """Build the node that begins with ``first``, of a text that is known to be JSON."""
    if first == "[":
        items: list[yaml.Node] = []
        while (following := next(rest))[0] != "]":
            items.append(_json_node(*following, rest))
        return yaml.SequenceNode(SEQUENCE, items, mark, mark)
    if first == "{":
        pairs: list[tuple[yaml.Node, yaml.Node]] = []
        while (following := next(rest))[0] != "}":
            pairs.append((_json_node(*following, rest), _json_node(*next(rest), rest)))
        return yaml.MappingNode(MAPPING, pairs, mark, mark)
    if first[0] == '"':
        return yaml.ScalarNode(STRING, json.loads(first), mark, mark)
    return yaml.ScalarNode(BOOLEAN if first in {"true", "false"} else _OTHER, first, mark, mark)
