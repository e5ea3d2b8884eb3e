"""Finds listed files that a listed `.gitattributes` wants in Git LFS.

registrar cannot put a file into LFS, because GitHub's API commits files without git's filters.
"""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from registrar.lists.globs import matching
from registrar.models.conditions import MOST_CHARACTERS
from registrar.models.files import FileDefinition, parents

FILE = ".gitattributes"
_MOST_PATTERNS = 100
"""The largest number of filter lines of one file that are compared with the paths of a list. There
may be thousands of paths."""
_FILTER = "filter"


class _Pattern(NamedTuple):
    """A line of a `.gitattributes` that sets the filter of some files."""

    glob: str
    is_lfs: bool

    def matches(self, path: str) -> bool:
        """Whether the line is about ``path``, relative to the directory of the `.gitattributes`."""
        if "/" not in self.glob:
            return fnmatchcase(path.rpartition("/")[2], self.glob)
        return bool(matching([path], self.glob.removeprefix("/"), _matches_part))


def without_lfs(definitions: Iterable[FileDefinition]) -> Iterator[tuple[str, str]]:
    """Find the listed paths that should be in LFS, each with the `.gitattributes` that says so.

    As in git, the last line that matches counts, and the nearest `.gitattributes` comes first.
    """
    given = tuple(definitions)
    files: dict[str, list[list[_Pattern]]] = {}
    for each in given:
        if each.path.rpartition("/")[2] == FILE:
            files.setdefault(each.path, []).append(_patterns_of(each))
    for path in dict.fromkeys(each.path for each in given) if files else ():
        for directory in (*parents(path), ""):
            above = f"{directory}/" if directory else ""
            file = f"{above}{FILE}"
            is_lfs = _is_lfs(files.get(file, ()), path.removeprefix(above))
            if is_lfs:
                yield path, file
            if is_lfs is not None:
                break


def _matches_part(pattern: str, part: str) -> bool:
    return fnmatchcase(part, pattern)


def _is_lfs(files: Iterable[Iterable[_Pattern]], path: str) -> bool | None:
    """Whether the filter of a path is LFS; ``None`` if no line matches the path.

    ``files`` are the versions of one `.gitattributes`, because a rule may replace the one of the
    list. One version with LFS is enough.
    """
    said = [
        next((each.is_lfs for each in patterns if each.matches(path)), None) for patterns in files
    ]
    return True if True in said else False if False in said else None


def _patterns_of(definition: FileDefinition) -> list[_Pattern]:
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
        filters = [word for word in rest.split() if word.lstrip("-!").partition("=")[0] == _FILTER]
        is_pattern = not glob.startswith(("#", "[attr]")) and len(glob) <= MOST_CHARACTERS
        if filters and is_pattern:
            yield _Pattern(glob, filters[-1] == f"{_FILTER}=lfs")
