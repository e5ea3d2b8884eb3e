"""What we keep in a pull request's description, hidden from readers.

Our part stands between two comments, `BEGIN` and `END`. In it the mark says which list the pull
request is from, which paths it proposes, which of them somebody has removed from its branch, and at
which commit that was so. It also says what we wrote at these paths, so that a file that is still so
can follow the list, and whether we have withdrawn the pull request. Paths are kept as hashes,
because a path is any text, and could end the comment. Marks of earlier versions hold the paths
alone.

People edit descriptions: what is left of our comments counts wherever it stands, and all of it
together. Writing puts it back into one part.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

BEGIN = "<!-- registrar:begin -->"
END = "<!-- registrar:end -->"
CLOSED_BY_US = "<!-- registrar:closed-by-us -->"
"""Marks a pull request that we closed ourselves, so that it does not count as declined."""
WITHDRAWN = "<!-- registrar:withdrawn -->"
"""Marks a pull request that `Mode.WITHDRAW` closed."""
MOST_PATHS = 1000
"""Hashes in a mark at most; a mark without any means every path."""
_DIGITS = 10
_VALUES = frozenset({"paths", "removed", "list", "commit", "wrote", "earlier", "withdrawn"})
# Possessive: a hostile description takes no longer than another one
_COMMENT = re.compile(r"<!--\s*+registrar:([a-z]++)((?:\s++[0-9a-f]{10,64}+)*+)\s*+-->")


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
    wrote: frozenset[str] = frozenset()
    """Hashes of the paths with the contents that the list gave when we wrote last."""
    earlier: frozenset[str] = frozenset()
    """Hashes of the paths with contents that we wrote before those."""
    is_withdrawn: bool = False
    """Whether we closed it, to be opened again when it is wanted again."""

    @classmethod
    def begin(cls, list_id: str, commit: str, earlier: "Mark | None" = None) -> "Mark":
        """Give the mark for a branch that is at ``commit`` before this run writes to it.

        ``earlier`` is the mark as it stands: what it names and is not listed any more stays, and
        its commit, before which none of that was there.
        """
        was = earlier or NO_MARK
        paths = (was.paths or frozenset()) | was.removed
        since = was.commit or commit
        return cls(paths, was.removed, hashed(list_id), since, was.wrote, was.earlier)

    def proposing(self, files: Mapping[str, str]) -> "Mark":
        """Give the mark once the branch brings paths, for which the list gives these blob ids."""
        shown = hashes(files)
        known = self.paths or frozenset()
        wrote = frozenset(self._content(path, blob) for path, blob in files.items())
        return self._replace(
            paths=shown | known,
            removed=self.removed - shown,
            wrote=wrote,
            earlier=(self.earlier | self.wrote) - wrote,
        )

    @classmethod
    def of(cls, body: str) -> "Mark | None":
        """Read a description; ``None`` where we wrote nothing in it.

        Where several name different lists or commits, none of these is known.
        """
        found: dict[str, list[list[str]]] = defaultdict(list)
        for name, values in _COMMENT.findall(body):
            found[name].append(values.split())
        if found.keys().isdisjoint(_VALUES) and not (BEGIN in body and END in body):
            return None
        sets = {name: frozenset().union(*values) for name, values in found.items()}
        return cls(
            paths=sets.get("paths") if all(found.get("paths", ())) else None,
            removed=sets.get("removed", frozenset()),
            list=_only(sets.get("list", ())),
            commit=_only(sets.get("commit", ())),
            wrote=sets.get("wrote", frozenset()),
            earlier=sets.get("earlier", frozenset()),
            is_withdrawn="withdrawn" in found,
        )

    def holds(self, path: str) -> bool:
        """Whether the pull request proposes ``path``, or did until somebody removed it."""
        return self.paths is None or hashed(path) in self.paths

    def has_written(self, path: str, blob: str) -> bool:
        """Whether this content of ``path``, with its blob id, is one that we wrote.

        Not where it is not known of which list, or since when, the mark is.
        """
        is_whole = bool(self.list and self.commit)
        return is_whole and self._content(path, blob) in self.wrote | self.earlier

    def is_current(self, path: str, blob: str) -> bool:
        """Whether this content is the one that we wrote last."""
        return self._content(path, blob) in self.wrote

    def _content(self, path: str, blob: str) -> str:
        # Another pull request's mark, or one put together from two, knows nothing of this one
        return hashed(f"{self.list} {self.commit} {blob} {path}")

    def was_removed(self, path: str) -> bool:
        """Whether somebody is known to have removed ``path`` from the branch."""
        return hashed(path) in self.removed

    def at(self, tree: Iterable[str] | None) -> "Mark":
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
            "wrote": self.wrote if few else (),
            "earlier": self.earlier if few else (),
        }
        lines = [
            f"<!-- registrar:{name}{''.join(f' {each}' for each in sorted(those))} -->"
            for name, those in values.items()
            if those or name == "paths"
        ]
        return "\n".join([*lines, *([WITHDRAWN] if self.is_withdrawn else [])])


def _only(values: Iterable[str]) -> str:
    one, *more = [*values] or [""]
    return "" if more else one


class Divided(NamedTuple):
    """A description, divided; what is left of our comments elsewhere is left out."""

    before: str
    ours: str | None
    """What stands between `BEGIN` and `END`; ``None`` where there is no part of ours, and
    everything is before."""
    after: str = ""


def divide(body: str) -> Divided:
    """Find our part, so that another one can take its place.

    Its markers stand on lines of their own, or a mark is between them: then it was indented or
    quoted, or has text beside it, which stays. Of several parts the others are left out.
    """
    begin: re.Match[str] | None = None
    has_mark = False
    strays: list[tuple[int, int]] = []
    parts: list[tuple[bool, re.Match[str], re.Match[str]]] = []
    for each in _COMMENT.finditer(body):
        if each[1] == "begin":
            begin, has_mark = each, False
        elif each[1] == "end" and begin:
            is_whole = _is_alone(begin, body) and _is_alone(each, body)
            if is_whole or has_mark:
                parts.append((not is_whole, begin, each))
            begin = None
        elif each[1] in _VALUES:
            has_mark = True
            strays.append(each.span())
    if not parts:
        return Divided(_without(body, 0, len(body), strays), None)
    is_changed, first, last = min(parts, key=lambda part: part[0])
    strays += [(one.start(), other.end()) for _, one, other in parts]
    before = _without(body, 0, first.start(), strays)
    after = _without(body, last.end(), len(body), strays)
    ours = body[first.end() : last.start()]
    if is_changed:
        line = before.rpartition("\n")[2]
        before = f"{before}\n\n" if line.strip(" \t>") else before.removesuffix(line)
        after = f"\n\n{after}" if after.partition("\n")[0].strip() else after
        ours = re.sub(r"(?m)^[ \t>]+", "", ours)
    return Divided(before, ours.strip("\r\n"), after)


def _is_alone(comment: re.Match[str], body: str) -> bool:
    start, end = comment.span()
    return body[max(start - 1, 0) : start] in {"", "\n"} and body[end : end + 1] in {"", "\r", "\n"}


def _without(body: str, start: int, end: int, strays: Sequence[tuple[int, int]]) -> str:
    """The text from ``start`` to ``end`` without these parts of it, which may overlap."""
    kept = ""
    for first, last in sorted(strays):
        if start <= first and last <= end:
            kept, start = kept + body[start:first], last
    return kept + body[start:end]


def unmarked(ours: str) -> str:
    """What people read of our part."""
    return _COMMENT.sub("", ours).strip()


NO_MARK = Mark(frozenset())
"""The mark of a branch without files, for a list without identity."""


def hashed(text: str) -> str:
    """A path, or the identity of a list, as a mark holds it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def hashes(paths: Iterable[str]) -> frozenset[str]:
    """Paths as a mark holds them."""
    return frozenset(map(hashed, paths))
