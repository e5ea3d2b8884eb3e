"""JSON or YAML -> nodes that know their line, their type and their duplicate keys.

Both formats are read as data only and give the same nodes, those of PyYAML before any value is
constructed: a constructor raises more than `yaml.YAMLError`, and a value has no line. Nodes are
counted while they are read, so that a small text cannot become a large tree.

A parser's complaint becomes the mistake that it mostly means, in people's words, and where that is:
a parser names the place where it could not go on, which is often not the place of the mistake.
"""

import json
import re
from collections.abc import Iterator
from typing import TypeGuard

import yaml
from yaml.reader import ReaderError

from registrar.texts.messages import Excerpt

MOST_NODES = 50_000
"""Values of a definition file, keys and nested ones included."""
MOST_CHARACTERS = 20_000_000
"""Characters of them together, what aliases repeat included: ten files of the largest size."""
MOST_LEVELS = 32
"""Levels that its values are nested."""
_STRING = "tag:yaml.org,2002:str"
BOOLEAN = "tag:yaml.org,2002:bool"
_SEQUENCE = "tag:yaml.org,2002:seq"
_MAPPING = "tag:yaml.org,2002:map"
_OTHER = "tag:yaml.org,2002:other"


class Malformed(Exception):
    """The text is not valid in its format, or too much: a key of the catalogue and its values."""

    def __init__(
        self, key: str, line: int | None = None, column: int | None = None, **values: object
    ) -> None:
        """``line`` and ``column`` count from 1."""
        super().__init__(key)
        self.key = key
        self.line = line
        self.values = {"line": line, "column": column, **values}


def parse_yaml(text: str) -> yaml.Node | None:
    """Compose the only document of ``text``; ``None`` where there is none."""
    loader = None
    try:
        loader = _YamlLoader(text)
        node: yaml.Node | None = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mistake = _in_yaml(error, text)
        if loader and mistake.line and (quote := loader.open_quote(mistake.line - 1)):
            mistake = Malformed("definitions.open_quote", quote.line + 1, quote.column + 1)
        raise mistake from error
    except ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise _broken("YAML", line, column, error.reason) from error
    except (ValueError, OverflowError) as error:
        # An escape beyond Unicode ("\U00110000", "\UFFFFFFFF")
        raise Malformed("definitions.too_deep", most=MOST_LEVELS) from error
    return node


def parse_json(text: str) -> yaml.Node:
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
        raise _in_json(error, text) from error
    tokens = _tokens(text)
    return _json_node(*next(tokens), tokens)


def is_mapping(node: yaml.Node | None) -> TypeGuard[yaml.MappingNode]:
    return isinstance(node, yaml.MappingNode) and node.tag == _MAPPING


def is_sequence(node: yaml.Node | None) -> TypeGuard[yaml.SequenceNode]:
    return isinstance(node, yaml.SequenceNode) and node.tag == _SEQUENCE


def text_of(node: yaml.Node) -> str | None:
    """The string that a node holds; ``None`` where it holds anything else."""
    if not (isinstance(node, yaml.ScalarNode) and node.tag == _STRING):
        return None
    value = str(node.value)
    if value.isascii():
        return value
    try:
        # JSON's escapes of one character in two halves, which YAML reads as two
        return value.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return value


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
        return yaml.SequenceNode(_SEQUENCE, items, mark, mark)
    if first == "{":
        pairs: list[tuple[yaml.Node, yaml.Node]] = []
        while (following := next(rest))[0] != "}":
            pairs.append((_json_node(*following, rest), _json_node(*next(rest), rest)))
        return yaml.MappingNode(_MAPPING, pairs, mark, mark)
    if first[0] == '"':
        return yaml.ScalarNode(_STRING, json.loads(first), mark, mark)
    return yaml.ScalarNode(BOOLEAN if first in {"true", "false"} else _OTHER, first, mark, mark)


_KEY = re.compile(r"""[\s-]*+(?:"[^"]*"|'[^']*'|[^\s"'#][^"'#]*?):(?=\s|$)""")
"""The beginning of a line that has a key."""
_NO_COMMENT = re.compile(r"\s*[^\s#]")
"""The beginning of a line that is neither blank nor a comment."""
_OPENS_BLOCK = re.compile(r".*:\s+[|>][-+0-9]*\s*(#.*)?")


def _in_yaml(error: yaml.MarkedYAMLError, text: str) -> Malformed:
    """Give the mistake that PyYAML's complaint mostly means."""
    mark = error.problem_mark or error.context_mark
    problem, context = error.problem or "?", error.context or ""
    if mark is None:
        return _broken("YAML", 1, 1, problem)
    lines = text.split("\n")

    def line_at(number: int) -> str:
        return lines[number] if number < len(lines) else ""

    def above(number: int) -> int:
        """The nearest line above that is not blank and no comment, from 0; -1: there is none."""
        numbers = range(min(number, len(lines)) - 1, -1, -1)
        return next((each for each in numbers if _NO_COMMENT.match(lines[each])), -1)

    # Where it could not go on, and where that began which it was reading
    here, began = ((at.line, at.column) for at in (mark, error.context_mark or mark))
    before = line_at(mark.line)[: mark.column]
    character = line_at(mark.line)[mark.column : mark.column + 1]
    last, is_colon = above(mark.line), problem == "mapping values are not allowed here"
    is_text = problem == "could not find expected ':'"
    block = above(began[0] if is_text else mark.line)
    is_block = block >= 0 and _OPENS_BLOCK.fullmatch(lines[block])
    is_alias = context in {"while scanning an alias", "while scanning an anchor"}
    is_character = problem.startswith(("found character", "found undefined alias"))
    is_first = before.strip(" -") == "" and character not in {"}", "]"}
    # The first one that holds is right
    mistakes = (
        ("definitions.tab", here, character == "\t"),
        ("definitions.colon_in_text", here, is_colon and _KEY.match(before)),
        ("definitions.no_key", (last, 0), is_colon and last >= 0 and not _KEY.match(lines[last])),
        ("definitions.indentation", (mark.line, 0), is_colon),
        ("definitions.begins_with", here, is_character),
        ("definitions.begins_with", began, is_alias),
        ("definitions.open_bracket", began, "a flow " in context),
        ("definitions.two_documents", here, "another document" in problem),
        ("definitions.block_not_indented", (block, 0), is_block),
        ("definitions.no_key", began, is_text),
        ("definitions.indentation", here, is_first and problem.startswith("expected")),
        ("definitions.after_quote", here, before.rstrip()[-1:] in {'"', "'"}),
    )
    for key, (line, column), holds in mistakes:
        if holds:
            named = line_at(line)[column : column + 1]
            return Malformed(key, line + 1, column + 1, character=named)
    return _broken("YAML", mark.line + 1, mark.column + 1, problem)


def _in_json(error: json.JSONDecodeError, text: str) -> Malformed:
    place = error.lineno, error.colno
    character = text[error.pos : error.pos + 1]
    # Python 3.13 names the place of the comma, earlier ones what follows it
    comma = error.pos if character == "," else len(text[: error.pos].rstrip()) - 1
    if text[comma : comma + 1] == "," and text[comma + 1 :].lstrip()[:1] in {"]", "}"}:
        line = text.count("\n", 0, comma) + 1
        return Malformed("definitions.last_comma", line, comma - text.rfind("\n", 0, comma))
    if error.msg.startswith("Expecting property name") or character == "'":
        return Malformed("definitions.double_quotes", *place)
    if error.msg.startswith("Expecting ',' delimiter"):
        return Malformed("definitions.no_comma", *place)
    return _broken("JSON", *place, error.msg)


def _broken(name: str, line: int, column: int, reason: str) -> Malformed:
    """Give what the parser itself says, where nothing better is known."""
    return Malformed("definitions.broken", line, column, format=name, reason=Excerpt(reason))
