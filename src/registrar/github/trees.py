"""Proves what a directory holds: the id of a git tree is the hash of its entries.

A listing is complete if its entries hash to its id, and belongs to the commit if that id stands in
the listing of the directory above it. Only what such listings lack is missing. An answer about a
single path proves nothing: ``Commit.file(path:)`` is null with an error for a path that is not
there, and for a file of more than 10 MB that is there (sveltia/sveltia-cms#692).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from registrar.github.fields import Contradiction
from registrar.models.files import parents
from registrar.models.repository import Directories, Entry

_TREE = 0o40000
_SHA1_DIGITS = 40


class Item(NamedTuple):
    """One entry of a directory, as git stores it."""

    mode: int
    name: bytes
    type: str
    """``blob``, ``tree`` or ``commit`` (a submodule), as GitHub says."""
    sha: str


class Listing(NamedTuple):
    """A directory as GitHub lists it."""

    sha: str
    """Id of the tree that is listed."""
    items: tuple[Item, ...]

    @property
    def is_proved(self) -> bool:
        """Whether it is known to be complete."""
        types_fit = all((item.mode == _TREE) == (item.type == "tree") for item in self.items)
        return types_fit and tree_id(self.items, len(self.sha)) == self.sha

    @property
    def entries(self) -> Mapping[str, Entry]:
        """The entries by their names; a name that is not UTF-8 is that of no listed path."""
        return {
            item.name.decode("utf-8", "replace"): Entry(item.type, f"{item.mode:06o}", item.sha)
            for item in self.items
        }


def tree_id(items: Iterable[Item], digits: int) -> str:
    """Compute the id, of 40 or 64 ``digits``, of the tree that has exactly these entries.

    See https://git-scm.com/book/en/v2/Git-Internals-Git-Objects.
    """
    body = b"".join(
        b"%o %b\0%b" % (item.mode, item.name, bytes.fromhex(item.sha))
        for item in sorted(items, key=_place)
    )
    new = hashlib.sha1 if digits == _SHA1_DIGITS else hashlib.sha256
    return new(b"tree %d\0%b" % (len(body), body), usedforsecurity=False).hexdigest()


def _place(item: Item) -> bytes:
    """Where git sorts an entry: a directory as if its name ended with a slash."""
    return item.name + b"/" if item.mode == _TREE else item.name


class Answer(NamedTuple):
    """What a query answers about one directory."""

    listing: Listing | None
    """``None`` where the answer describes no directory."""
    is_absent: bool = False
    """Whether it says that nothing is there, and nothing else."""


class Known(NamedTuple):
    """What is known of the directories of one commit."""

    directories: Directories = MappingProxyType({})
    """Those whose listing is complete; the root is empty."""
    unproved: Mapping[str, Listing] = MappingProxyType({})
    """Listings that may lack entries."""
    waiting: Mapping[str, Answer] = MappingProxyType({})
    """Answers about directories below those."""

    def learn(self, answers: Mapping[str, Answer]) -> Known:
        """Add answers; each comes after those about the directories above it."""
        directories, unproved = dict(self.directories), dict(self.unproved)
        waiting = dict(self.waiting)
        for path, answer in answers.items():
            if any(above in unproved for above in (*parents(path), "")):
                waiting[path] = answer
            elif listing := _listing(path, answer, directories):
                if listing.is_proved:
                    directories[path] = listing.entries
                else:
                    unproved[path] = listing
        return Known(directories, unproved, waiting)

    def complete(self, path: str, whole: Listing) -> Known:
        """Put a complete listing in the place of one that is not proved."""
        had = {item.sha for item in self.unproved[path].items}
        if whole.sha != self.unproved[path].sha or not had <= {item.sha for item in whole.items}:
            raise Contradiction(f"{path}/ is listed in two ways")
        unproved = {each: listing for each, listing in self.unproved.items() if each != path}
        known = Known({**self.directories, path: whole.entries}, unproved)
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


def _listing(path: str, answer: Answer, directories: Directories) -> Listing | None:
    """Give the listing of a directory; ``None`` where there is none, as those above it prove."""
    if not path:
        if answer.listing is None:
            raise Contradiction("a commit without a tree")
        return answer.listing
    entry = _highest(path, directories)
    if entry is None:
        if not answer.is_absent:
            raise Contradiction(f"{path}/ is not listed in the directory above it")
        return None
    if entry.type != "tree":
        # Nothing is concluded from an answer about a path below a file, a link or a submodule
        return None
    if answer.listing is None or answer.listing.sha != entry.sha:
        raise Contradiction(f"{path}/ is listed in the directory above it")
    return answer.listing


def _highest(path: str, directories: Directories) -> Entry | None:
    """Give what is at ``path``, or in its way; ``None`` where nothing is."""
    entry = None
    for each in (*reversed(tuple(parents(path))), path):
        directory, _, name = each.rpartition("/")
        entry = directories[directory].get(name)
        if entry is None or entry.type != "tree":
            break
    return entry
