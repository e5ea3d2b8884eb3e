"""Proves what a directory holds: the id of a git tree is the hash of its entries.

A listing is complete if its entries hash to its id, and belongs to the commit if that id stands in
the listing of the directory above it. Only what such listings lack is missing. An answer about a
single path proves nothing: ``Commit.file(path:)`` is null with an error for a path that is not
there, and for a file of more than 10 MB that is there (sveltia/sveltia-cms#692).
"""

import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Self

from registrar.github.fields import Contradiction
from registrar.models.files import parents
from registrar.models.repository import Directories, Entry

_DIRECTORY = "040000"
_SHA1_DIGITS = 40


class GitTree(NamedTuple):
    """A directory as GitHub lists it."""

    sha: str
    """The id under which git stores it."""
    entries: Mapping[bytes, Entry]
    """Every entry with its mode, by the name as git stores it."""

    @property
    def is_proved(self) -> bool:
        """Whether it is known to be complete."""
        each = self.entries.values()
        types_fit = all((entry.mode == _DIRECTORY) == (entry.type == "tree") for entry in each)
        return types_fit and tree_id(self.entries, len(self.sha)) == self.sha


def tree_id(entries: Mapping[bytes, Entry], digits: int) -> str:
    """Compute the id, of 40 or 64 ``digits``, of the tree that has exactly these entries.

    See https://git-scm.com/book/en/v2/Git-Internals-Git-Objects.
    """

    def place(named: tuple[bytes, Entry]) -> bytes:
        """Where git sorts an entry: a directory as if its name ended with a slash."""
        name, entry = named
        return name + b"/" if entry.mode == _DIRECTORY else name

    body = b"".join(
        b"%b %b\0%b" % (entry.mode.lstrip("0").encode(), name, bytes.fromhex(entry.sha))
        for name, entry in sorted(entries.items(), key=place)
    )
    new = hashlib.sha1 if digits == _SHA1_DIGITS else hashlib.sha256
    return new(b"tree %d\0%b" % (len(body), body), usedforsecurity=False).hexdigest()


class Answer(NamedTuple):
    """What a query answers about one directory."""

    tree: GitTree | None
    """``None`` where the answer describes no directory."""
    is_absent: bool = False
    """Whether it says that nothing is there, and nothing else."""


class ProvedTree(NamedTuple):
    """What is known of the directories of one commit."""

    full_name: str
    """The repository (``owner/repo``)."""
    commit: str
    directories: Directories = MappingProxyType({})
    """Entries of the directories whose listing is complete, by path; that of the root is empty."""
    unproved: Mapping[str, GitTree] = MappingProxyType({})
    """Listings that may lack entries."""
    waiting: Mapping[str, Answer] = MappingProxyType({})
    """Answers about directories below those in ``unproved``."""

    def learn(self, answers: Mapping[str, Answer]) -> Self:
        """Add answers; each comes after those about the directories above it."""
        directories, unproved = dict(self.directories), dict(self.unproved)
        waiting = dict(self.waiting)
        for path, answer in answers.items():
            if any(above in unproved for above in (*parents(path), "")):
                waiting[path] = answer
            elif tree := _tree(path, answer, directories):
                if tree.is_proved:
                    directories[path] = _by_name(tree)
                else:
                    unproved[path] = tree
        return self._replace(directories=directories, unproved=unproved, waiting=waiting)

    def complete(self, path: str, whole: GitTree) -> Self:
        """Put a complete listing in the place of one that is not proved."""
        unproved = dict(self.unproved)
        had = unproved.pop(path)
        ids = {entry.sha for entry in whole.entries.values()}
        if whole.sha != had.sha or not all(entry.sha in ids for entry in had.entries.values()):
            raise Contradiction(f"{path}/ is listed in two ways")
        directories = {**self.directories, path: _by_name(whole)}
        known = self._replace(directories=directories, unproved=unproved, waiting={})
        return known.learn(self.waiting)


def to_ask(directories: Iterable[str]) -> list[str]:
    """Give these directories and those above them, which prove them, each after those above it."""
    asked = {"", *directories}
    return sorted(asked.union(*map(parents, asked)))


def entries_of(directories: Directories) -> Mapping[str, Entry]:
    """Every path in these directories, with what is there."""
    return {
        f"{directory}/{name}" if directory else name: entry
        for directory, names in directories.items()
        for name, entry in names.items()
    }


def _by_name(tree: GitTree) -> Mapping[str, Entry]:
    """The entries of a directory; a name that is not UTF-8 is that of no listed path."""
    return {name.decode("utf-8", "replace"): entry for name, entry in tree.entries.items()}


def _tree(path: str, answer: Answer, directories: Directories) -> GitTree | None:
    """Give the listing of a directory; ``None`` if there is none, as those above it prove."""
    if not path:
        if answer.tree is None:
            raise Contradiction("a commit without a tree")
        return answer.tree
    # What is at the path, or in its way; nothing is where that is None
    entry = None
    for each in (*reversed(tuple(parents(path))), path):
        directory, _, name = each.rpartition("/")
        entry = directories[directory].get(name)
        if entry is None or entry.type != "tree":
            break
    if entry is None:
        if not answer.is_absent:
            raise Contradiction(f"{path}/ is not listed in the directory above it")
        return None
    if entry.type != "tree":
        # Nothing is concluded from an answer about a path below a file, a link or a submodule
        return None
    if answer.tree is None or answer.tree.sha != entry.sha:
        raise Contradiction(f"{path}/ is listed in the directory above it")
    return answer.tree
