"""Proves that a listing of a directory is complete, because a tree's id is a hash of its entries.

A listing is complete if its entries hash to its id. It belongs to the commit if the listing of the
directory above it has that id. A path is missing only if such a listing lacks it. An answer about a
single path proves nothing, because ``Commit.file(path:)`` is null with an error for a path that
does not exist, but also for an existing file of more than 10 MB (sveltia/sveltia-cms#692).
"""

import hashlib
from collections.abc import Iterable, Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import NamedTuple, Self, TypeAlias

from registrar.github.fields import Contradiction
from registrar.models.files import parents
from registrar.models.repository import Directories, Entry, Unknown

_DIRECTORY = "040000"
_SHA1_DIGITS = 40


class GitDirectory(NamedTuple):
    """A directory as GitHub lists it."""

    sha: str
    """The id under which git stores it."""
    entries: Mapping[bytes, Entry]
    """Every entry by its name, in the bytes in which git stores it."""

    @property
    def is_proved(self) -> bool:
        """Whether the listing is certain to be complete, because its entries hash to its id."""
        each = self.entries.values()
        types_fit = all((entry.mode == _DIRECTORY) == (entry.type == "tree") for entry in each)
        return types_fit and tree_id(self.entries, len(self.sha)) == self.sha


def tree_id(entries: Mapping[bytes, Entry], digits: int) -> str:
    """Compute the id, of 40 or 64 ``digits``, of the tree that has exactly these entries.

    See https://git-scm.com/book/en/v2/Git-Internals-Git-Objects.
    """

    def place(named: tuple[bytes, Entry]) -> bytes:
        """Return the key by which git sorts an entry: a directory's name ends with a slash."""
        name, entry = named
        return name + b"/" if entry.mode == _DIRECTORY else name

    body = b"".join(
        b"%b %b\0%b" % (entry.mode.lstrip("0").encode(), name, bytes.fromhex(entry.sha))
        for name, entry in sorted(entries.items(), key=place)
    )
    new = hashlib.sha1 if digits == _SHA1_DIGITS else hashlib.sha256
    return new(b"tree %d\0%b" % (len(body), body), usedforsecurity=False).hexdigest()


class NoListing(Enum):
    """An answer about a directory that does not list it."""

    ABSENT = auto()
    """GitHub only says that the path does not exist."""
    UNCLEAR = auto()


DirectoryAnswer: TypeAlias = GitDirectory | NoListing
"""The answer of a query about one directory."""


class ProvedDirectories(NamedTuple):
    """The directories of one commit, as far as queries have answered."""

    full_name: str
    """The repository (``owner/repo``)."""
    commit: str
    proved: Directories = MappingProxyType({})
    """Entries of the directories whose listing is complete, by path (the root's path is empty)."""
    unproved: Mapping[str, GitDirectory] = MappingProxyType({})
    """Listings that may lack entries."""
    waiting: Mapping[str, DirectoryAnswer] = MappingProxyType({})
    """Answers about directories below those in ``unproved``, which cannot be judged yet."""

    @property
    def directories(self) -> Directories | Unknown:
        """The entries of all directories that exist among those that were asked for."""
        return Unknown.NOT_PROVED if self.unproved else self.proved

    def learn(self, answers: Mapping[str, DirectoryAnswer]) -> Self:
        """Return the directories with these answers; those about directories above come first.

        Raises `Contradiction` if an answer contradicts the listing of a directory above it.
        """
        proved, unproved, waiting = dict(self.proved), dict(self.unproved), dict(self.waiting)
        for path, answer in answers.items():
            if any(above in unproved for above in (*parents(path), "")):
                waiting[path] = answer
            elif tree := _tree(path, answer, proved):
                if tree.is_proved:
                    proved[path] = _by_name(tree)
                else:
                    unproved[path] = tree
        return self._replace(proved=proved, unproved=unproved, waiting=waiting)

    def complete(self, path: str, whole: GitDirectory) -> Self:
        """Return the directories with a complete listing in the place of one that is not proved.

        Raises `Contradiction` if the two listings do not agree.
        """
        unproved = dict(self.unproved)
        had = unproved.pop(path)
        ids = {entry.sha for entry in whole.entries.values()}
        if whole.sha != had.sha or not all(entry.sha in ids for entry in had.entries.values()):
            raise Contradiction(f"{path}/ is listed in two ways")
        proved = {**self.proved, path: _by_name(whole)}
        known = self._replace(proved=proved, unproved=unproved, waiting={})
        return known.learn(self.waiting)


def to_ask(directories: Iterable[str]) -> list[str]:
    """Return these directories and those above, which prove them; each after those above it."""
    asked = {"", *directories}
    return sorted(asked.union(*map(parents, asked)))


def entries_of(directories: Directories) -> Mapping[str, Entry]:
    """Return the entries of these directories by their whole paths."""
    return {
        f"{directory}/{name}" if directory else name: entry
        for directory, names in directories.items()
        for name, entry in names.items()
    }


def _by_name(tree: GitDirectory) -> Mapping[str, Entry]:
    """Return the entries by their names as text.

    A name that is not UTF-8 changes, which does no harm, because a list cannot have such a path.
    """
    return {name.decode("utf-8", "replace"): entry for name, entry in tree.entries.items()}


def _tree(path: str, answer: DirectoryAnswer, directories: Directories) -> GitDirectory | None:
    """Return the listing of a directory; ``None`` if the listings above it prove that none exists.

    Raises `Contradiction` if the answer contradicts the listings above it.
    """
    if not path:
        if isinstance(answer, NoListing):
            raise Contradiction("a commit without a tree")
        return answer
    # The entry at the path, or the one in its way; None if neither exists
    entry = None
    for each in (*reversed(tuple(parents(path))), path):
        directory, _, name = each.rpartition("/")
        entry = directories[directory].get(name)
        if entry is None or entry.type != "tree":
            break
    if entry is None:
        if answer is not NoListing.ABSENT:
            raise Contradiction(f"{path}/ is not listed in the directory above it")
        return None
    if entry.type != "tree":
        # Nothing is concluded from an answer about a path below a file, a link or a submodule
        return None
    if isinstance(answer, NoListing) or answer.sha != entry.sha:
        raise Contradiction(f"{path}/ is listed in the directory above it")
    return answer
