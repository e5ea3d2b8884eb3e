"""Parses JSON and YAML into nodes with their type, repeated keys and, in YAML, their line.

Both formats give nodes of PyYAML. No values are constructed from them, because a constructor can
raise other errors than `yaml.YAMLError`, and a value has no line. Nodes are counted, so that a
small text with aliases cannot become a large tree.

An error has the words of the parser, except for common mistakes. For these the parser's place is
not that of the mistake, or its words do not help, so they have a message of their own.
"""

import json
import re
from typing import TypeGuard

import yaml
from yaml.reader import ReaderError

from registrar.texts.messages import Excerpt

MOST_NODES = 50_000
"""The largest number of values in a definition file, with keys and nested values."""
MOST_CHARACTERS = 20_000_000
"""The largest number of characters of all values. A value counts each time that an alias repeats
it. This is ten times the largest size of a file."""
MOST_LEVELS = 32
"""The largest number of levels that values are nested."""
_STRING = "tag:yaml.org,2002:str"
BOOLEAN = "tag:yaml.org,2002:bool"
_SEQUENCE = "tag:yaml.org,2002:seq"
_MAPPING = "tag:yaml.org,2002:map"
_OTHER = "tag:yaml.org,2002:other"
_MERGE = "tag:yaml.org,2002:merge"


class Malformed(Exception):
    """The text is not valid in its format, or exceeds a limit."""

    def __init__(
        self, key: str, line: int | None = None, column: int | None = None, **values: object
    ) -> None:
        """``key`` and ``values`` are those of the message. ``line`` and ``column`` begin with 1."""
        super().__init__(key)
        self.key = key
        self.line = line
        self.values = {"line": line, "column": column, **values}


def parse_yaml(text: str) -> yaml.Node | None:
    """Return the root node of ``text``; ``None`` if the text has no document.

    Raises `Malformed`.
    """
    try:
        node: yaml.Node | None = _YamlLoader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        raise _in_yaml(error, text) from error
    except ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise _broken("YAML", line, column, error.reason) from error
    except (ValueError, OverflowError) as error:
        # An escape above the last code point of Unicode ("\U00110000", "\UFFFFFFFF")
        raise Malformed("definitions.too_deep", most=MOST_LEVELS) from error
    return node


def parse_json(text: str) -> yaml.Node:
    """Return the root node of ``text``, without lines, because `json` does not give them.

    Raises `Malformed`.
    """
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
    """Whether a key is YAML's `<<`. After parsing it only remains if it could not be merged."""
    return key.tag == _MERGE


def text_of(node: yaml.Node) -> str | None:
    """Return the string of a node; ``None`` if the node is anything else."""
    if not (isinstance(node, yaml.ScalarNode) and node.tag == _STRING):
        return None
    value = str(node.value)
    if value.isascii():
        return value
    try:
        # JSON escapes one character in two halves, which YAML reads as two characters
        return value.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return value


def is_folded(node: yaml.Node) -> bool:
    """Whether YAML has joined lines of a text, as it does after `>`, in quotes and without them."""
    start, end = node.start_mark, node.end_mark
    if not isinstance(node, yaml.ScalarNode) or node.style == "|" or not (start and end):
        return False
    written = (end.buffer or "")[start.pointer : end.pointer].split("\n")[node.style == ">" :]
    kept = sum(map(_has_text, node.value.splitlines()))
    return max(kept, 1) < sum(map(_has_text, written))


def _has_text(line: str) -> bool:
    return bool(line.strip())


def comment_behind(node: yaml.Node) -> str:
    """Return the comment behind an unquoted text if it may be the rest of that text.

    It may be so if it is one word with a file ending, right behind the `#`, and the text has none:
    ``docs/issue #12.md``.
    """
    end = node.end_mark
    if end is None or not isinstance(node, yaml.ScalarNode) or node.style:
        return ""
    has_ending = "." in node.value.rpartition("/")[2]
    found = None if has_ending else _REST_OF_PATH.match(end.buffer or "", end.pointer)
    return found[1] if found else ""


_REST_OF_PATH = re.compile(r" +(#[^\s:]*\.[A-Za-z0-9]{1,5})[ \t]*(?=[\r\n\0])")


class _NodeCounter:
    """Counts nodes, characters and levels. Raises `Malformed` above a limit.

    The nodes of an alias are counted at each place of the alias, because they are read there again.
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
    """Composes the nodes of a document, and counts them against the limits."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nodes = _NodeCounter()
        self._sizes: dict[int, tuple[int, int]] = {}
        """The number of nodes and characters of each complete node, by the `id` of the node."""

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
        """Replace the key `<<` by the pairs of its objects (https://yaml.org/type/merge.html).

        A key of the object itself comes first, then the first object that has the key. Merged
        nodes keep their lines. If `<<` occurs twice, or its value is neither a complete object nor
        an array of such objects, it is kept, so that `NodeReader.keys` reports it.
        """
        own = [pair for pair in pairs if not is_merge(pair[0])]
        named = [value for key, value in pairs if is_merge(key)]
        if len(named) != 1:
            return pairs
        objects = list(named[0].value) if is_sequence(named[0]) else named
        # An object that is not complete yet contains this one, so it would contain itself
        if not all(is_mapping(each) and id(each) in self._sizes for each in objects):
            return pairs
        merged = list(own)
        for each in objects:
            taken = {text_of(key) for key, _ in merged}
            merged += [pair for pair in each.value if text_of(pair[0]) not in taken]
        return merged


class _Pairs(list[tuple[str, object]]):
    """The keys and values of a JSON object, which may have a key twice."""


class _OtherValue(str):
    """A number of JSON as it is written. A list never needs its value."""

    __slots__ = ()


def _json_node(value: object, nodes: _NodeCounter) -> yaml.Node:
    """Make the node of a value from `json`."""
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
_CLOSED = re.compile(r"""(?:\{+[^{}]*\}+|\[+[^\[\]]*\]+|"[^"]*"|'[^']*')\s*$""")
"""A text in brackets or quotes before another text: the beginning of ``[slug]/page.tsx``."""
_NO_COMMENT = re.compile(r"\s*[^\s#]")
"""The beginning of a line that is neither blank nor a comment."""
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
"""A line break in YAML (yaml.org/spec/1.1), which knows more of them than line feeds."""
_MISPLACED = tuple(
    f"but found {name!r}" for name in ("?", "-", "<block mapping start>", "<block sequence start>")
)
"""PyYAML's words for a key or an entry in a column in which it cannot begin."""


def _in_yaml(error: yaml.MarkedYAMLError, text: str) -> Malformed:
    """Return the most likely mistake behind an error of PyYAML, or else its own words."""
    mark = error.problem_mark
    problem, context = error.problem or "?", error.context or ""
    if mark is None:
        return _broken("YAML", 1, 1, problem)
    began, quote = error.context_mark or mark, _open_quote(text, mark)
    lines = [*_LINE_BREAK.split(text), ""]
    line = lines[min(mark.line, len(lines) - 1)]
    # The nearest line above that is neither blank nor a comment, or else the line of the error
    numbers = range(mark.line - 1, -1, -1)
    last = next((each for each in numbers if _NO_COMMENT.match(lines[each])), mark.line)
    is_colon = problem == "mapping values are not allowed here"
    is_alias = context in {"while scanning an alias", "while scanning an anchor"}
    is_character = problem.startswith(("found character", "found undefined alias"))
    is_misplaced = problem.endswith(_MISPLACED)
    is_dash = problem == "sequence entries are not allowed here"
    is_question = problem == "mapping keys are not allowed here"
    is_text = problem == "could not find expected ':'"
    is_rest = problem.endswith(("found '<scalar>'", "got '<scalar>'", "found '{'", "found '['"))
    closed = _CLOSED.search(line[: mark.column]) if is_rest else None
    is_second = problem == "but found another document"
    here, first = (mark.line, mark.column), (mark.line, _indentation(line))
    start, above = (began.line, began.column), (last, _indentation(lines[last]))
    # The first one that applies is the mistake
    mistakes = (
        ("definitions.second_document", here, is_second),
        ("definitions.open_quote", (quote.line, quote.column) if quote else here, quote),
        ("definitions.tab", here, line[mark.column : mark.column + 1] == "\t"),
        ("definitions.colon_in_text", here, is_colon and _KEY.match(line[: mark.column])),
        ("definitions.no_key", above, is_colon and not _KEY.match(lines[last])),
        ("definitions.indentation", first, is_colon or is_misplaced),
        ("definitions.no_key", start, is_text),
        ("definitions.no_key", first, is_rest and here == first),
        ("definitions.dash", here, is_dash),
        ("definitions.begins_with", here, is_character or is_question),
        ("definitions.begins_with", start, is_alias),
        ("definitions.begins_with", (mark.line, closed.start() if closed else 0), closed),
    )
    for key, (at, column), holds in mistakes:
        if holds:
            character = lines[at][column : column + 1]
            return Malformed(key, at + 1, column + 1, character=character)
    reason = f"{context} (line {began.line + 1}): {problem}" if context else problem
    return _broken("YAML", mark.line + 1, mark.column + 1, reason)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _open_quote(text: str, mark: yaml.Mark) -> yaml.Mark | None:
    """Find the opening quote that probably caused an error at ``mark``.

    If somebody forgets a closing quote, the text ends at the next quote, which may be many lines
    below. The parser finds the mistake only there. Return ``None`` if no text of several lines ends
    in the line of ``mark``.
    """
    opened, ends = None, -1
    try:
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            start, end = token.start_mark, token.end_mark
            if start.index > mark.index:
                # The scanner alone has no limit of levels, and takes the square of their number
                break
            is_quoted = isinstance(token, yaml.ScalarToken) and token.style in {"'", '"'}
            if is_quoted and end.line > start.line:
                # A text that begins on the line where another one ends is the rest behind a
                # forgotten quote, so the first of them has the cause
                opened = opened if start.line == ends else start
                ends = end.line
    except yaml.MarkedYAMLError as error:
        if error.context == "while scanning a quoted scalar" and (start := error.context_mark):
            return opened if start.line == ends else start
    except (ValueError, OverflowError):  # an invalid escape, behind the mistake
        pass
    return opened if ends == mark.line else None


def _in_json(error: json.JSONDecodeError, text: str) -> Malformed:
    """Return the words of `json`, except for a comment, a second document and a last comma.

    These common mistakes have messages of their own.
    """
    # Python 3.13 gives the place of the comma, earlier versions the place behind it
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
    """Return an error with the words of the parser."""
    return Malformed("definitions.broken", line, column, format=name, reason=Excerpt(reason))
