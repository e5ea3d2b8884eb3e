"""How a listed path stands in a repository, judged by ids that were read anyway."""

import hashlib
from collections.abc import Iterable, Mapping
from enum import IntEnum, StrEnum, auto
from typing import NamedTuple

_BLANK = (b"", b"\n", b"\r\n", b"{}", b"{}\n", b"[]", b"[]\n", b"---", b"---\n")
_SHA256_DIGITS = 64


def blob_id(content: bytes, *, like: str = "") -> str:
    """The id under which git stores ``content``: a hash over ``blob <size>\\0<content>``.

    ``like`` is an id of the same repository: one of 64 digits means SHA-256, else it is SHA-1
    (https://git-scm.com/docs/hash-function-transition).
    """
    algorithm = hashlib.sha256 if len(like) == _SHA256_DIGITS else hashlib.sha1
    header = b"blob %d\0" % len(content)
    return algorithm(header + content, usedforsecurity=False).hexdigest()


_BLANK_IDS = frozenset(
    blob_id(content, like=like) for content in _BLANK for like in ("", "0" * _SHA256_DIGITS)
)


class Standing(StrEnum):
    """How a listed path stands; what a run did about it is `result.Done`."""

    SAME = "same"
    """There, with exactly the listed content."""
    BLANK = "blank"
    """There, with nothing in it, a line feed, or an empty document of JSON or YAML."""
    DIFFERS = "differs"
    """There, with something else than the list says; which side is ahead is not known."""
    FILLED = "filled"
    """There, filled in by somebody; the list's own content is blank, or a property for it has no
    value."""
    NO_FILE = "not a file"
    """There, but a directory, a link or a submodule."""
    PROPOSED = "proposed"
    """The working branch brings it to the default branch."""
    TO_CREATE = "to create"
    """Not there, and to be created."""
    DECLINED = "declined"
    """Not there, and somebody does not want it."""
    UNSET = "unset"
    """Not there, and a custom property that its template needs is not set."""
    BLOCKED = "blocked"
    """It does not exist and cannot be created, because a file, a link or a submodule is where it
    needs a directory.
    """
    UNREAD = "unread"
    """Nobody has looked."""

    @property
    def is_present(self) -> bool:
        """Whether there is something at the path, or at one that counts as it."""
        return self in _PRESENT

    @property
    def way(self) -> str:
        """The value, but ``present`` for every standing that means that something is there."""
        return "present" if self.is_present else self.value


_PRESENT = frozenset(
    {Standing.SAME, Standing.BLANK, Standing.DIFFERS, Standing.FILLED, Standing.NO_FILE}
)


class Completeness(IntEnum):
    """How far a list is carried out in a repository; of several lists the least counts."""

    TO_DO = auto()
    DONE = auto()
    """Nothing is left to do: every listed path is there, or somebody does not want it."""
    COMPLETE = auto()
    """Every listed path is there."""

    @classmethod
    def of(cls, standings: Iterable[Standing], *, has_failed: bool) -> "Completeness":
        """Say it of one list, whose paths stand like this."""
        absent = {each for each in standings if not each.is_present}
        if has_failed or absent - {Standing.DECLINED}:
            return cls.TO_DO
        return cls.DONE if absent else cls.COMPLETE


WANTED = frozenset({Standing.TO_CREATE, Standing.PROPOSED, Standing.BLOCKED})
"""How a path stands that is absent and wanted."""
FINDINGS = (
    Standing.BLANK,
    Standing.DIFFERS,
    Standing.NO_FILE,
    Standing.DECLINED,
    Standing.UNSET,
)
"""How a path stands that deserves a look, though it is not missing: in the order of tables."""


def by_way(standings: Mapping[Standing, int]) -> dict[str, int]:
    """Add up what is present; every way is named, so that all together are all paths."""
    ways = dict.fromkeys((each.way for each in Standing), 0)
    for each, count in standings.items():
        ways[each.way] += count
    return ways


class PresentFile(NamedTuple):
    """What is there, at the listed path or at one that counts as it."""

    standing: Standing
    path: str
    """Where it is; in the owner's ``.github`` repository with that name before it."""
    blob: str
    """Id of its blob; empty if it is not a file."""


def is_blank(blob: str) -> bool:
    """Whether ``blob`` is the id of a file without content."""
    return blob in _BLANK_IDS


def standing_of(content: bytes, blob: str, *, is_file: bool, may_be_blank: bool) -> Standing:
    """Compare what is there with the ``content`` that the list gives.

    ``may_be_blank`` says that a blank file is as good as any other, such as ``.gitkeep``.
    """
    if not is_file:
        return Standing.NO_FILE
    if is_blank(blob) and not may_be_blank:
        return Standing.BLANK
    listed = blob_id(content, like=blob)
    if blob == listed or (is_blank(blob) and is_blank(listed)):
        return Standing.SAME
    return Standing.FILLED if is_blank(listed) else Standing.DIFFERS
