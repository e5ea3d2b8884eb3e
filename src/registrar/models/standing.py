"""The state of a listed path in a repository, which the blob ids of a directory listing show."""

import hashlib
from collections.abc import Iterable, Mapping
from enum import IntEnum, StrEnum, auto
from typing import NamedTuple

_BLANK = (b"", b"\n", b"\r\n", b"{}", b"{}\n", b"[]", b"[]\n", b"---", b"---\n")
_SHA256_DIGITS = 64


def blob_id(content: bytes, *, like: str = "") -> str:
    """Return the id under which git stores ``content``: a hash of ``blob <size>\\0<content>``.

    ``like`` is any id of the same repository. If it has 64 digits, the repository uses SHA-256,
    otherwise SHA-1 (https://git-scm.com/docs/hash-function-transition).
    """
    algorithm = hashlib.sha256 if len(like) == _SHA256_DIGITS else hashlib.sha1
    header = b"blob %d\0" % len(content)
    return algorithm(header + content, usedforsecurity=False).hexdigest()


_BLANK_IDS = frozenset(
    blob_id(content, like=like) for content in _BLANK for like in ("", "0" * _SHA256_DIGITS)
)


class Standing(StrEnum):
    """The state of a listed path. `paths.Done` says what a run did about the path."""

    SAME = "same"
    """Present, with exactly the content of the list. Two blank contents count as the same."""
    BLANK = "blank"
    """Present, but blank, although the file needs content."""
    DIFFERS = "differs"
    """Present, with other content than the list. It is not known which of the two is newer."""
    FILLED = "filled"
    """Present, with content of somebody's own, because the list has only blank content, or because
    a custom property that the content needs is unset."""
    NO_FILE = "not a file"
    """Present, but as a directory, a link or a submodule."""
    PROPOSED = "proposed"
    """Absent. An open pull request adds it, or while the run goes on, the working branch does."""
    TO_CREATE = "to create"
    """Absent. `Mode.REGISTER` creates it."""
    DECLINED = "declined"
    """Absent. Somebody does not want it."""
    UNSET = "unset"
    """Absent. A custom property that its template needs is unset."""
    BLOCKED = "blocked"
    """Absent. It cannot be created, because a file, a link or a submodule is in the place of a
    directory that it needs."""
    UNREAD = "unread"
    """The path was not read."""

    @property
    def is_present(self) -> bool:
        """Whether something exists at the path, or at an accepted alternative."""
        return self in _PRESENT

    @property
    def group(self) -> str:
        """``present`` for every state of a present path, otherwise the value of the state."""
        return "present" if self.is_present else self.value


_PRESENT = frozenset(
    {Standing.SAME, Standing.BLANK, Standing.DIFFERS, Standing.FILLED, Standing.NO_FILE}
)


class Completeness(IntEnum):
    """How far a list is carried out in a repository. The lowest value of several lists counts."""

    TO_DO = auto()
    """Something is left to do, or something failed."""
    DONE = auto()
    """Every listed path is present or declined."""
    COMPLETE = auto()
    """Every listed path is present."""

    @classmethod
    def of(cls, standings: Iterable[Standing], *, has_failed: bool) -> "Completeness":
        """Return the value for one list, whose paths have these states."""
        absent = {each for each in standings if not each.is_present}
        if has_failed or absent - {Standing.DECLINED}:
            return cls.TO_DO
        return cls.DONE if absent else cls.COMPLETE


WANTED = frozenset({Standing.TO_CREATE, Standing.PROPOSED, Standing.BLOCKED})
"""The states of an absent path that somebody has to create, merge or unblock."""
FINDINGS = (
    Standing.BLANK,
    Standing.DIFFERS,
    Standing.NO_FILE,
    Standing.DECLINED,
    Standing.UNSET,
)
"""The states, in the order of tables, that a person should look at although `Mode.REGISTER` would
not propose the path."""


def by_group(standings: Mapping[Standing, int]) -> dict[str, int]:
    """Return the number of paths for each `Standing.group`, with 0 for those without a path."""
    counts = dict.fromkeys((each.group for each in Standing), 0)
    for each, count in standings.items():
        counts[each.group] += count
    return counts


class PresentFile(NamedTuple):
    """The entry that makes a listed path present: at the path, or an accepted alternative."""

    standing: Standing
    path: str
    """Path of the entry. It begins with ``owner/.github/`` if the file is in that repository."""
    blob: str
    """Id of the blob; empty if the entry is not a file."""


def is_blank(blob: str) -> bool:
    """Whether ``blob`` is the id of a blank file, in a repository with SHA-1 or SHA-256."""
    return blob in _BLANK_IDS


def standing_of(content: bytes, blob: str, *, is_file: bool, may_be_blank: bool) -> Standing:
    """Return the state of a present path.

    ``content`` is the content of the list. ``blob`` is the id of the existing file. Without
    ``is_file`` the path has a directory, a link or a submodule. With ``may_be_blank`` the file
    needs no content, such as ``.gitkeep``.
    """
    if not is_file:
        return Standing.NO_FILE
    if is_blank(blob) and not may_be_blank:
        return Standing.BLANK
    listed = blob_id(content, like=blob)
    if blob == listed or (is_blank(blob) and is_blank(listed)):
        return Standing.SAME
    return Standing.FILLED if is_blank(listed) else Standing.DIFFERS
