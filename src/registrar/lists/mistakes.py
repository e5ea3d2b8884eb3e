"""What a parser's complaint mostly means: the mistake in people's words, and where it is.

A parser names the place where it could not go on, which is often not the place of the mistake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import yaml

from registrar.texts.messages import Excerpt

_KEY = re.compile(r"""[\s-]*+(?:"[^"]*"|'[^']*'|[^\s"'#][^"'#]*?):(?=\s|$)""")
"""The beginning of a line that has a key."""
_OPENS_BLOCK = re.compile(r".*:\s+[|>][-+0-9]*\s*(#.*)?")


class Mistake(NamedTuple):
    """A key of the catalogue with its values, and the place; both numbers count from 1."""

    key: str
    line: int
    column: int
    values: Mapping[str, object] = MappingProxyType({})


def in_yaml(error: yaml.MarkedYAMLError, text: str) -> Mistake:
    """Explain why ``text`` is not YAML."""
    mark = error.problem_mark or error.context_mark
    problem = error.problem or "?"
    if mark is None:
        return broken("YAML", 1, 1, problem)
    began = error.context_mark or mark
    complaint = _Complaint(problem, error.context or "", mark, began, text.split("\n"))
    explained = (explain(complaint) for explain in _EXPLANATIONS)
    own_words = broken("YAML", mark.line + 1, mark.column + 1, problem)
    return next((mistake for mistake in explained if mistake), own_words)


def in_json(error: json.JSONDecodeError, text: str) -> Mistake:
    """Explain why ``text`` is not JSON."""
    place = error.lineno, error.colno
    character = text[error.pos : error.pos + 1]
    # Python 3.13 names the place of the comma, earlier ones what follows it
    comma = error.pos if character == "," else len(text[: error.pos].rstrip()) - 1
    if text[comma : comma + 1] == "," and text[comma + 1 :].lstrip()[:1] in {"]", "}"}:
        line = text.count("\n", 0, comma) + 1
        return Mistake("definitions.last_comma", line, comma - text.rfind("\n", 0, comma))
    if error.msg.startswith("Expecting property name") or character == "'":
        return Mistake("definitions.double_quotes", *place)
    if error.msg.startswith("Expecting ',' delimiter"):
        return Mistake("definitions.no_comma", *place)
    return broken("JSON", *place, error.msg)


def broken(name: str, line: int, column: int, reason: str) -> Mistake:
    """Give what the parser itself says, where nothing better is known."""
    values = {"format": name, "reason": Excerpt(reason)}
    return Mistake("definitions.broken", line, column, values)


class _Complaint(NamedTuple):
    """What PyYAML says, and the text that it is about."""

    problem: str
    context: str
    mark: yaml.Mark
    """Where it could not go on."""
    began: yaml.Mark
    """Where that began which it was reading."""
    lines: Sequence[str]

    def before(self) -> str:
        """The line up to the mark."""
        return self.line(self.mark)[: self.mark.column]

    def line(self, mark: yaml.Mark) -> str:
        return self.lines[mark.line] if mark.line < len(self.lines) else ""

    def character(self, mark: yaml.Mark) -> str:
        return self.line(mark)[mark.column : mark.column + 1]

    def above(self, mark: yaml.Mark) -> int | None:
        """The nearest line above that is not blank and no comment, from 0."""
        for number in range(min(mark.line, len(self.lines)) - 1, -1, -1):
            if self.lines[number].strip() and not self.lines[number].lstrip().startswith("#"):
                return number
        return None


def _at(key: str, mark: yaml.Mark, **values: object) -> Mistake:
    return Mistake(key, mark.line + 1, mark.column + 1, values)


def _tab(it: _Complaint) -> Mistake | None:
    return _at("definitions.tab", it.mark) if it.character(it.mark) == "\t" else None


def _colon(it: _Complaint) -> Mistake | None:
    if it.problem != "mapping values are not allowed here":
        return None
    if _KEY.match(it.before()):
        return _at("definitions.colon_in_text", it.mark)
    above = it.above(it.mark)
    if above is not None and not _KEY.match(it.lines[above]):
        return Mistake("definitions.no_key", above + 1, 1)
    return Mistake("definitions.indentation", it.mark.line + 1, 1)


def _first_character(it: _Complaint) -> Mistake | None:
    if it.problem.startswith(("found character", "found undefined alias")):
        return _at("definitions.begins_with", it.mark, character=it.character(it.mark))
    if it.context in {"while scanning an alias", "while scanning an anchor"}:
        return _at("definitions.begins_with", it.began, character=it.character(it.began))
    return None


def _bracket(it: _Complaint) -> Mistake | None:
    return _at("definitions.open_bracket", it.began) if "a flow " in it.context else None


def _second_document(it: _Complaint) -> Mistake | None:
    return _at("definitions.two_documents", it.mark) if "another document" in it.problem else None


def _text_without_key(it: _Complaint) -> Mistake | None:
    is_text = it.problem == "could not find expected ':'"
    above = it.above(it.began if is_text else it.mark)
    if above is not None and _OPENS_BLOCK.fullmatch(it.lines[above]):
        return Mistake("definitions.block_not_indented", above + 1, 1)
    return _at("definitions.no_key", it.began) if is_text else None


def _indentation(it: _Complaint) -> Mistake | None:
    is_first = it.before().strip(" -") == "" and it.character(it.mark) not in {"}", "]"}
    return (
        _at("definitions.indentation", it.mark)
        if is_first and it.problem.startswith("expected")
        else None
    )


def _after_quote(it: _Complaint) -> Mistake | None:
    return (
        _at("definitions.after_quote", it.mark) if it.before().rstrip()[-1:] in {'"', "'"} else None
    )


_EXPLANATIONS: Sequence[Callable[[_Complaint], Mistake | None]] = (
    _tab,
    _colon,
    _first_character,
    _bracket,
    _second_document,
    _text_without_key,
    _indentation,
    _after_quote,
)
"""The first one that has a word for it is right."""
