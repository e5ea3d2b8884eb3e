"""JSON or YAML -> nodes that know their type, their duplicate keys and, in YAML, their line.

Both formats are read as data only and give the same nodes, those of PyYAML before any value is
constructed: a constructor raises more than `yaml.YAMLError`, and a value has no line. Nodes are
counted, so that a small text with aliases cannot become a large tree.

What parsers say is passed on, but for the mistakes that nearly everybody makes once: where a parser
could not go on is then not where the mistake is, or its words name neither cause nor remedy.
"""

import json
import re
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
_MERGE = "tag:yaml.org,2002:merge"


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
    """Compose the only document of ``text``; ``None`` if there is none."""
    try:
        node: yaml.Node | None = _YamlLoader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        raise _in_yaml(error, text) from error
    except ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise _broken("YAML", line, column, error.reason) from error
    except (ValueError, OverflowError) as error:
        # An escape beyond Unicode ("\U00110000", "\UFFFFFFFF")
        raise Malformed("definitions.too_deep", most=MOST_LEVELS) from error
    return node


def parse_json(text: str) -> yaml.Node:
    """Give the nodes of ``text``; none of them has a line, because `json` gives none."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_Pairs,
            parse_int=_OtherValue,
            parse_float=_OtherValue,
            parse_constant=_OtherValue,
        )
    except json.JSONDecodeError as error:
        raise _in_json(error, text) from error
    except RecursionError as error:
        raise Malformed("definitions.too_deep", most=MOST_LEVELS) from error
    return _json_node(value, _NodeCounter())


def is_mapping(node: yaml.Node | None) -> TypeGuard[yaml.MappingNode]:
    return isinstance(node, yaml.MappingNode) and node.tag == _MAPPING


def is_sequence(node: yaml.Node | None) -> TypeGuard[yaml.SequenceNode]:
    return isinstance(node, yaml.SequenceNode) and node.tag == _SEQUENCE


def is_merge(key: yaml.Node) -> bool:
    """Whether a key is YAML's `<<`, which is left only where what it names cannot be merged."""
    return key.tag == _MERGE


def text_of(node: yaml.Node) -> str | None:
    """The string that a node holds; ``None`` if it holds anything else."""
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
    """Composes nodes within the limits."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nodes = _NodeCounter()
        self._sizes: dict[int, tuple[int, int]] = {}
        """Nodes and characters of each node that is complete, by its identity."""

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
            if isinstance(node, yaml.MappingNode):
                node.value = self._with_merged(node.value)
            size = counted.nodes - before[0], counted.characters - before[1]
            self._sizes[id(node)] = size
        counted.leave()
        return node

    def _with_merged(
        self, pairs: list[tuple[yaml.Node, yaml.Node]]
    ) -> list[tuple[yaml.Node, yaml.Node]]:
        """Put what the key `<<` names in its place (https://yaml.org/type/merge.html).

        An own key wins, and of several objects the first one that has the key. What is merged keeps
        its own lines. A `<<` that cannot be read so stays, for the reader to tell of.
        """
        own = [pair for pair in pairs if not is_merge(pair[0])]
        named = [value for key, value in pairs if is_merge(key)]
        if len(named) != 1:
            return pairs
        objects = list(named[0].value) if is_sequence(named[0]) else named
        # An object that is not complete yet holds this very object
        if not all(is_mapping(each) and id(each) in self._sizes for each in objects):
            return pairs
        merged = list(own)
        for each in objects:
            taken = {text_of(key) for key, _ in merged}
            merged += [pair for pair in each.value if text_of(pair[0]) not in taken]
        return merged


class _Pairs(list[tuple[str, object]]):
    """The keys and values of an object of JSON, in which a key may stand twice."""


class _OtherValue(str):
    """A number of JSON as it is written: no number is of use in a list."""

    __slots__ = ()


def _json_node(value: object, nodes: _NodeCounter) -> yaml.Node:
    """Build the node of a value that `json` has read."""
    if not isinstance(value, list):
        nodes.count()
        if isinstance(value, bool):
            return yaml.ScalarNode(BOOLEAN, str(value).lower())
        is_text = isinstance(value, str) and not isinstance(value, _OtherValue)
        return yaml.ScalarNode(_STRING if is_text else _OTHER, str(value))
    nodes.enter()
    node: yaml.Node
    if isinstance(value, _Pairs):
        pairs = [(_json_node(key, nodes), _json_node(each, nodes)) for key, each in value]
        node = yaml.MappingNode(_MAPPING, pairs)
    else:
        node = yaml.SequenceNode(_SEQUENCE, [_json_node(each, nodes) for each in value])
    nodes.leave()
    return node


_KEY = re.compile(r"""[\s-]*+(?:"[^"]*"|'[^']*'|[^\s"'#][^"'#]*?):(?=\s|$)""")
"""The beginning of a line that has a key."""
_NO_COMMENT = re.compile(r"\s*[^\s#]")
"""The beginning of a line that is neither blank nor a comment."""
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
"""What begins a line to YAML (yaml.org/spec/1.1), which counts more than line feeds."""
_MISPLACED = tuple(
    f"but found {name!r}" for name in ("?", "-", "<block mapping start>", "<block sequence start>")
)
"""How PyYAML speaks of a key or an entry in a column where none can begin."""


def _in_yaml(error: yaml.MarkedYAMLError, text: str) -> Malformed:
    """Give the mistake that PyYAML's complaint mostly means, or else what it says itself."""
    mark = error.problem_mark or error.context_mark
    problem, context = error.problem or "?", error.context or ""
    if mark is None:
        return _broken("YAML", 1, 1, problem)
    began, quote = error.context_mark or mark, _open_quote(text, mark.line)
    lines = [*_LINE_BREAK.split(text), ""]
    line = lines[min(mark.line, len(lines) - 1)]
    # The nearest line above that is not blank and no comment; itself if there is none
    numbers = range(mark.line - 1, -1, -1)
    last = next((each for each in numbers if _NO_COMMENT.match(lines[each])), mark.line)
    is_colon = problem == "mapping values are not allowed here"
    is_alias = context in {"while scanning an alias", "while scanning an anchor"}
    is_character = problem.startswith(("found character", "found undefined alias"))
    is_misplaced = problem.startswith("expected ") and problem.endswith(_MISPLACED)
    is_text = problem == "could not find expected ':'"
    is_second = problem == "but found another document"
    here, first = (mark.line, mark.column), (mark.line, _indentation(line))
    start, above = (began.line, began.column), (last, _indentation(lines[last]))
    # The first one that holds is right
    mistakes = (
        ("definitions.second_document", here, is_second),
        ("definitions.open_quote", (quote.line, quote.column) if quote else here, quote),
        ("definitions.tab", here, line[mark.column : mark.column + 1] == "\t"),
        ("definitions.colon_in_text", here, is_colon and _KEY.match(line[: mark.column])),
        ("definitions.no_key", above, is_colon and not _KEY.match(lines[last])),
        ("definitions.indentation", first, is_colon or is_misplaced),
        ("definitions.no_key", start, is_text),
        ("definitions.begins_with", here, is_character),
        ("definitions.begins_with", start, is_alias),
    )
    for key, (at, column), holds in mistakes:
        if holds:
            character = lines[at][column : column + 1]
            return Malformed(key, at + 1, column + 1, character=character)
    reason = f"{context} (line {began.line + 1}): {problem}" if context else problem
    return _broken("YAML", mark.line + 1, mark.column + 1, reason)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _open_quote(text: str, line: int) -> yaml.Mark | None:
    """Give where a quote opens that is the likely cause of a mistake at ``line`` (from 0).

    A text whose closing quote was forgotten ends at the next quote, often lines below, and only
    what follows there is a mistake to a parser. ``None``: no text of several lines ends there.
    """
    opened, ends = None, -1
    try:
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            start, end = token.start_mark, token.end_mark
            if start.line > line:
                break
            is_quoted = isinstance(token, yaml.ScalarToken) and token.style in {"'", '"'}
            if is_quoted and end.line > start.line:
                # One that begins where another one ends is what is left behind a forgotten quote
                opened = opened if start.line == ends else start
                ends = end.line
    except yaml.MarkedYAMLError as error:
        if error.context == "while scanning a quoted scalar" and (start := error.context_mark):
            return opened if start.line == ends else start
    except (ValueError, OverflowError):  # an escape beyond Unicode, behind the mistake
        pass
    return opened if ends == line else None


def _in_json(error: json.JSONDecodeError, text: str) -> Malformed:
    """Give what `json` says, except for the mistakes that nearly everybody makes once, which have
    their own words.
    """
    # Python 3.13 names the place of the comma, earlier ones what follows it
    is_comma = text[error.pos : error.pos + 1] == ","
    comma = error.pos if is_comma else len(text[: error.pos].rstrip()) - 1
    is_last = text[comma : comma + 1] == "," and text[comma + 1 :].lstrip()[:1] in {"]", "}"}
    is_more = error.msg == "Extra data"
    mistakes = (
        ("definitions.json_comment", error.pos, text.startswith(("//", "/*", "#"), error.pos)),
        ("definitions.second_document", error.pos, is_more and text[error.pos] in "[{"),
        ("definitions.last_comma", comma, is_last),
    )
    for key, at, holds in mistakes:
        if holds:
            line = text.count("\n", 0, at) + 1
            return Malformed(key, line, at - text.rfind("\n", 0, at))
    return _broken("JSON", error.lineno, error.colno, error.msg)


def _broken(name: str, line: int, column: int, reason: str) -> Malformed:
    """Give what the parser itself says, if nothing better is known."""
    return Malformed("definitions.broken", line, column, format=name, reason=Excerpt(reason))
