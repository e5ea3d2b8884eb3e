"""The hidden mark in a pull request's description that names the paths it proposes.

With it, declined paths are not proposed again, even if the branch is gone. The mark holds hashes
of the paths, because a path is any text, and could end the comment.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

MOST_PATHS = 1000
"""Hashes in a mark at most; a mark without any means every path."""
CLOSED_BY_US = "<!-- registrar:closed-by-us -->"
"""Marks a pull request that we closed ourselves, so that it does not count as declined."""
_DIGITS = 10
_MARK = re.compile(rf"<!-- registrar:paths((?: [0-9a-f]{{{_DIGITS}}})*) -->")


def of_paths(paths: Iterable[str]) -> str:
    """Give the mark of a pull request that proposes ``paths``."""
    hashes = sorted({_hash(path) for path in paths})
    shown = hashes if len(hashes) <= MOST_PATHS else []
    return f"<!-- registrar:paths{''.join(f' {each}' for each in shown)} -->"


def proposed(body: str, paths: Iterable[str]) -> frozenset[str] | None:
    """Those of ``paths`` that a description proposes; ``None`` where it holds no mark."""
    found = _MARK.search(body)
    if found is None:
        return None
    hashes = frozenset(found[1].split())
    return frozenset(path for path in paths if not hashes or _hash(path) in hashes)


def _hash(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
