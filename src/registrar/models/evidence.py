"""What is really at a listed path, judged by ids that were read anyway: no file is opened."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from enum import StrEnum
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


class Presence(StrEnum):
    """What is at a path that exists."""

    SAME = "same"
    """Exactly the listed content."""
    BLANK = "blank"
    """Nothing, a line feed, or an empty document of JSON or YAML."""
    DIFFERS = "differs"
    """Something else than the list says; which side is ahead is not known."""
    FILLED = "filled"
    """The list's own content is blank, and somebody has filled the file in."""
    NOT_A_FILE = "not a file"
    """A directory, a link or a submodule."""


NOTABLE = (Presence.BLANK, Presence.DIFFERS, Presence.NOT_A_FILE)
"""What deserves a look, in this order."""
KINDS = (*(each.name.lower() for each in NOTABLE), "codeowners")
"""The same with mistakes in ``CODEOWNERS``, by the last part of their keys in the catalogue."""


def is_blank(blob: str) -> bool:
    """Whether ``blob`` is the id of a file without content."""
    return blob in _BLANK_IDS


def presence(content: bytes, blob: str, *, is_file: bool, may_be_blank: bool) -> Presence:
    """Compare what is there with the ``content`` that the list gives.

    ``may_be_blank`` says that a blank file is as good as any other, such as ``.gitkeep``.
    """
    if not is_file:
        return Presence.NOT_A_FILE
    if is_blank(blob) and not may_be_blank:
        return Presence.BLANK
    listed = blob_id(content, like=blob)
    if blob == listed or (is_blank(blob) and is_blank(listed)):
        return Presence.SAME
    return Presence.FILLED if is_blank(listed) else Presence.DIFFERS


CODEOWNERS = frozenset({".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"})
"""Where GitHub looks for that file.

https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
"""


class Found(NamedTuple):
    """A file that is there, at the listed path or at one that counts as it."""

    presence: Presence
    path: str
    """Where it is; in the owner's ``.github`` repository with that name before it."""
    blob: str
    """Its id; empty for a directory that was not opened."""


class CodeownersError(NamedTuple):
    """A mistake that GitHub finds in a ``CODEOWNERS`` file.

    https://docs.github.com/en/rest/repos/repos#list-codeowners-errors
    """

    path: str
    line: int
    column: int
    kind: str
    message: str
    suggestion: str = ""


def notable(
    present: Mapping[str, Found], mistakes: Iterable[CodeownersError]
) -> dict[str, tuple[str, ...]]:
    """Give the listed paths that deserve a look, by `KINDS`; one for each of the ``mistakes``.

    ``present`` says what is there for a listed path.
    """
    paths: dict[str, list[str]] = {}
    for path, found in present.items():
        if found.presence in NOTABLE:
            paths.setdefault(found.presence.name.lower(), []).append(path)
    listed = {found.path: path for path, found in present.items()}
    paths["codeowners"] = [listed[mistake.path] for mistake in mistakes]
    return {kind: tuple(those) for kind, those in paths.items() if those}


class Evidence(NamedTuple):
    """How one listed path stands in one repository: a row of the table.

    Texts that are not known, or must not be published, are empty.
    """

    repository: str
    """``owner/repo``."""
    id: str
    """The repository's number."""
    visibility: str
    default_branch: str
    commit: str
    """The commit that was read."""
    list: str
    """Name of the list."""
    path: str
    state: str
    """A `Presence`, or ``missing``, ``proposed``, ``declined``, ``failed``, ``unread``, ``unset``
    (its template needs a custom property that is not), ``excluded: <reason>``."""
    found_path: str = ""
    """The path that counts, where it is another one than the listed one."""
    blob: str = ""
    """Id of the file that was found."""
    pull_request: str = ""
    """Address of the pull request that proposes the path, or in which it was declined."""
    pull_request_age_days: str = ""
    """Whole days since the open pull request was opened."""
    declined_since: str = ""
    """Day on which the pull request was closed (ISO 8601)."""
    list_digest: str = ""
    """SHA-256 over the paths and contents of the list: tells whether two tables have one list."""
    read_at: str = ""
    """Moment of the reading (ISO 8601, UTC)."""

    def without_names(self) -> Evidence:
        """What may be published of a private repository: its number and the listed path's state."""
        owner = self.repository.partition("/")[0]
        return Evidence(
            repository=f"{owner}/(id {self.id})",
            id=self.id,
            visibility="",
            default_branch="",
            commit="",
            list=self.list,
            path=self.path,
            state=self.state,
            list_digest=self.list_digest,
            read_at=self.read_at,
        )
