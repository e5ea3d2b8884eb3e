"""What we keep in a pull request's description, hidden from readers.

Our part stands between two comments, `BEGIN` and `END`. In it the mark says which list the pull
request is from, which paths it proposes, which of them somebody has removed from its branch, and at
which commit that was so. Paths are kept as hashes, because a path is any text, and could end the
comment. Marks of earlier versions hold the paths alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import NamedTuple

BEGIN = "<!-- registrar:begin -->"
END = "<!-- registrar:end -->"
CLOSED_BY_US = "<!-- registrar:closed-by-us -->"
"""Marks a pull request that we closed ourselves, so that it does not count as declined."""
MOST_PATHS = 1000
"""Hashes in a mark at most; a mark without any means every path."""
_DIGITS = 10
_COMMENT = re.compile(r"<!-- registrar:(paths|removed|list|commit)((?: [0-9a-f]{10,64})*) -->")


class Mark(NamedTuple):
    """The mark of one pull request."""

    paths: frozenset[str] | None
    """Hashes of the paths that it proposes, or has proposed; ``None``: every path."""
    removed: frozenset[str] = frozenset()
    """Hashes of proposed paths that somebody removed from its branch."""
    list: str = ""
    """Hash of the list's identity; empty in marks of earlier versions."""
    commit: str = ""
    """Commit of the branch before the run wrote to it that opened the pull request: what the branch
    lacks now, and a commit since then has changed, was removed. Empty in marks of earlier versions.
    """

    @classmethod
    def begin(cls, list_id: str, commit: str, earlier: Mark | None = None) -> Mark:
        """Give the mark for a branch that is at ``commit`` before this run writes to it.

        ``earlier`` is the mark as it stands: what it names and is not listed any more stays, and
        its commit, before which none of that was there.
        """
        was = earlier or NO_MARK
        return cls(was.paths or frozenset(), was.removed, hashed(list_id), was.commit or commit)

    def proposing(self, paths: Iterable[str]) -> Mark:
        """Give the mark once the branch brings ``paths``."""
        shown = hashes(paths)
        known = self.paths or frozenset()
        return self._replace(paths=shown | known, removed=self.removed - shown)

    @classmethod
    def of(cls, body: str) -> Mark | None:
        """Read a description; ``None`` where we wrote nothing in it."""
        comments = {name: values.split() for name, values in reversed(_COMMENT.findall(body))}
        if "paths" not in comments and not (BEGIN in body and END in body):
            return None
        return cls(
            paths=frozenset(comments.get("paths", ())) or None,
            removed=frozenset(comments.get("removed", ())),
            list="".join(comments.get("list", ())[:1]),
            commit="".join(comments.get("commit", ())[:1]),
        )

    def holds(self, path: str) -> bool:
        """Whether the pull request proposes ``path``, or did until somebody removed it."""
        return self.paths is None or hashed(path) in self.paths

    def was_removed(self, path: str) -> bool:
        """Whether somebody is known to have removed ``path`` from the branch."""
        return hashed(path) in self.removed

    def at(self, tree: Iterable[str] | None) -> Mark:
        """The mark with what was removed until the branch held the paths ``tree``."""
        if tree is None or self.paths is None:
            return self
        return self._replace(removed=self.removed | (self.paths - hashes(tree)))

    def is_of(self, list_id: str) -> bool:
        """Whether it is from the list ``list_id``, as far as it says."""
        return self.list in {"", hashed(list_id)}

    @property
    def text(self) -> str:
        """The mark as it stands in a description: nothing of it is shown."""
        paths = self.paths or frozenset()
        few = len(paths) <= MOST_PATHS
        values = {
            "paths": paths if few else (),
            "removed": self.removed if few else (),
            "list": [self.list] if self.list else (),
            "commit": [self.commit] if self.commit else (),
        }
        return "\n".join(
            f"<!-- registrar:{name}{''.join(f' {each}' for each in sorted(those))} -->"
            for name, those in values.items()
            if those or name == "paths"
        )


NO_MARK = Mark(frozenset())
"""The mark of a branch without files, for a list without identity."""


def hashed(text: str) -> str:
    """A path, or the identity of a list, as a mark holds it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def hashes(paths: Iterable[str]) -> frozenset[str]:
    """Paths as a mark holds them."""
    return frozenset(map(hashed, paths))


def was_closed_by_us(body: str) -> bool:
    """Whether we closed the pull request with this description ourselves."""
    return CLOSED_BY_US in body
