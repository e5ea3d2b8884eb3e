"""Which files a list would have in Git LFS: the patterns of a `.gitattributes` that it brings.

Nothing that GitHub's API commits goes through a filter of git, so such a file comes without LFS.
"""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from registrar.lists.globs import matching
from registrar.models.conditions import MOST_CHARACTERS
from registrar.models.files import FileDefinition, parents

FILE = ".gitattributes"
_MOST_PATTERNS = 100
"""Lines of one file about filters that are looked at: a list may have thousands of paths."""
_FILTER = "filter"


class _Pattern(NamedTuple):
    """A line that says which filter some files have."""

    glob: str
    is_lfs: bool

    def matches(self, path: str) -> bool:
        """Whether it is about ``path``, which is relative to the directory of its file."""
        if "/" not in self.glob:
            return fnmatchcase(path.rpartition("/")[2], self.glob)
        return bool(matching([path], self.glob.removeprefix("/"), _matches_part))


def without_lfs(definitions: Iterable[FileDefinition]) -> Iterator[tuple[str, str]]:
    """Give each listed path that should be in LFS, and the listed file that says so.

    As in git, the last line that fits counts, and the nearest file goes first.
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
    """Whether the filter of a path is LFS; ``None`` if nothing is said of it.

    A rule may bring another text of the same file: one with LFS is enough.
    """
    said = [
        next((each.is_lfs for each in patterns if each.matches(path)), None) for patterns in files
    ]
    return True if True in said else False if False in said else None


def _patterns_of(definition: FileDefinition) -> list[_Pattern]:
    """Give the patterns of a `.gitattributes`, the last one first: the last that fits counts."""
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
