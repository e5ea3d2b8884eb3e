"""Finds listed files that do not fit to a listed `.gitattributes`.

GitHub's API commits files without git's filters and conversions, so registrar can neither put a
file into LFS nor convert its line endings.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from registrar.lists.globs import matching
from registrar.models.conditions import PATTERN_CHARACTERS
from registrar.models.files import FileDefinition, parents

FILE = ".gitattributes"
_MOST_PATTERNS = 300
"""The largest number of lines of one file that are compared with the paths of a list. There may be
thousands of paths."""
_ATTRIBUTES = frozenset({"filter", "text", "eol"})
_SET, _UNSET, _UNSPECIFIED = "set", "unset", ""


class _Pattern(NamedTuple):
    """A line of a `.gitattributes` that sets one of `_ATTRIBUTES` for some files."""

    glob: str
    states: Mapping[str, str]
    """The states by the names of the attributes: a value, or one of the three states above."""

    def matches(self, path: str) -> bool:
        """Whether the line is about ``path``, relative to the directory of the `.gitattributes`."""
        if "/" not in self.glob:
            return fnmatchcase(path.rpartition("/")[2], self.glob)
        return bool(matching([path], self.glob.removeprefix("/"), _matches_part))


class _State(NamedTuple):
    """The state of one attribute of a path."""

    values: frozenset[str] = frozenset()
    """Several if a rule replaces the `.gitattributes` of the list; empty if no line matches."""
    file: str = ""
    """The `.gitattributes` that says so."""


def doubts(definitions: Iterable[FileDefinition]) -> Iterator[tuple[str, str, str]]:
    """Find the listed paths that do not fit to a listed `.gitattributes`.

    Yields the key of the warning, the path and the `.gitattributes`. As in git, the last line that
    matches counts, and the nearest `.gitattributes` comes first. If a rule replaces a file, one
    version that does not fit is enough.
    """
    given = tuple(definitions)
    files: dict[str, list[Sequence[_Pattern]]] = {}
    for each in given:
        if each.path.rpartition("/")[2] == FILE:
            files.setdefault(each.path, []).append(_patterns_of(each))
    with_crlf = {each.path for each in given if any(b"\r\n" in t.source for t in each.texts)}
    for path in dict.fromkeys(each.path for each in given) if files else ():
        if "lfs" in (found := _state(files, path, "filter")).values:
            yield "definitions.without_lfs", path, found.file
        # With `text=auto`, git leaves a file alone that was committed with CRLF
        # (https://git-scm.com/docs/gitattributes). Otherwise the file is modified in every clone
        # (net-snmp/net-snmp#922)
        text, eol = _state(files, path, "text"), _state(files, path, "eol")
        is_text = text if _SET in text.values else eol
        by_eol = text.values <= {_UNSPECIFIED} and not eol.values.isdisjoint({"lf", "crlf"})
        if path in with_crlf and (_SET in text.values or by_eol):
            yield "definitions.line_ends", path, is_text.file


def _matches_part(pattern: str, part: str) -> bool:
    return fnmatchcase(part, pattern)


def _state(files: Mapping[str, Sequence[Sequence[_Pattern]]], path: str, name: str) -> _State:
    """Return the state of the attribute ``name``. ``files`` has the versions of each file."""
    for directory in (*parents(path), ""):
        above = f"{directory}/" if directory else ""
        relative = path.removeprefix(above)
        found = (
            next(
                (p.states[name] for p in patterns if name in p.states and p.matches(relative)), None
            )
            for patterns in files.get(f"{above}{FILE}", ())
        )
        if values := frozenset(each for each in found if each is not None):
            return _State(values, f"{above}{FILE}")
    return _State()


def _patterns_of(definition: FileDefinition) -> Sequence[_Pattern]:
    """Return the patterns of a `.gitattributes`, the last one first, because that one counts."""
    text = b"".join(part.source for part in definition.texts).decode("utf-8", "replace")
    return list(_patterns(text))[:_MOST_PATTERNS][::-1]


def _patterns(text: str) -> Iterator[_Pattern]:
    for line in map(str.strip, text.splitlines()):
        if line.startswith('"'):
            end = line.find('"', 1)
            glob, rest = line[1:end], line[end + 1 :]
        else:
            glob, rest = (*line.split(maxsplit=1), "", "")[:2]
        states = {name: state for word in rest.split() for name, state in [_state_in(word)]}
        is_pattern = not glob.startswith(("#", "[attr]")) and len(glob) <= PATTERN_CHARACTERS
        if is_pattern and not _ATTRIBUTES.isdisjoint(states):
            yield _Pattern(glob, states)


def _state_in(word: str) -> tuple[str, str]:
    """Return an attribute with its state, from a word such as ``-text`` or ``eol=lf``."""
    if word == "binary":
        return "text", _UNSET
    name, equals, value = word.lstrip("-!").partition("=")
    signs = {"-": _UNSET, "!": _UNSPECIFIED}
    return name, signs.get(word[0], value if equals else _SET)
