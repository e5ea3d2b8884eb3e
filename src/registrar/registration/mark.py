"""The mark: the hidden record that registrar keeps in the description of a pull request.

registrar's own part of the description stands between two comments, `BEGIN` and `END`. In it, the
mark says which list the pull request is from; which paths registrar has committed to its branch,
each with the content that it wrote last; whether registrar has closed the pull request, and why;
and for which paths the description reports a conflict. The mark names files that have been
committed, never files that are planned. So if the branch lacks a path that the mark names, somebody
has removed the file; a path that the mark does not name belongs to somebody else. Paths are kept as
hashes, because a path can contain any text, also the end of a comment.

People edit descriptions. All of registrar's comments that are left are read, wherever they are, and
their contents are added up. The next write puts them into one part again.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

BEGIN = "<!-- registrar:begin -->"
END = "<!-- registrar:end -->"
CLOSED_BY_US = "<!-- registrar:closed-by-us -->"
"""Marks a pull request that registrar opened by mistake and has closed again, so that it does not
count as declined."""
WITHDRAWN = "<!-- registrar:withdrawn -->"
"""Marks a pull request that `Mode.WITHDRAW` closed."""
NEEDLESS = "<!-- registrar:needless -->"
"""Marks a pull request that was closed because the default branch has all of its files."""
_DIGITS = 10
"""Digits that a mark keeps of the hash of a path, and of the id of a blob."""
_VALUES = frozenset({"wrote", "many", "list", "source", "withdrawn", "needless", "conflicts"})
"""The comments of a mark. Earlier versions wrote `many` instead of more than 1,000 paths."""
# Possessive quantifiers: a hostile description cannot make matching slow
_COMMENT = re.compile(r"<!--\s*+registrar:([a-z]++)((?:\s++[0-9a-f]{10,64}+)*+)\s*+-->")


class Mark(NamedTuple):
    """The mark of one pull request."""

    wrote: Mapping[str, str] | None
    """Hashes of the paths that were committed to the branch, each with the first digits of the id
    of the blob that was written last (empty if it is not known). ``None`` if somebody has removed
    this comment, so that it may be any path.
    """
    list: str = ""
    """Hash of the id of the list; empty if it is not known."""
    is_withdrawn: bool = False
    """Whether registrar has withdrawn the pull request. A later run may continue its branch."""
    is_needless: bool = False
    """Whether registrar has closed the pull request for good, because the base branch has every
    path that the mark names. If such a pull request is open, a person has reopened it, and it is
    theirs.
    """
    conflicts: frozenset[str] = frozenset()
    """Hashes of the paths for which the description reports a conflict."""
    source: frozenset[str] = frozenset()
    """Hashes of the texts that identify the repository of a list without a name
    (`RegistrationSpec.source`); empty if it is not known."""

    @classmethod
    def of(cls, body: str) -> "Mark | None":
        """Read the mark of a description; ``None`` if nothing in it is from registrar.

        If it names several lists, or several contents of one path, the list or the content counts
        as not known.
        """
        found: dict[str, list[str]] = defaultdict(list)
        for name, values in _COMMENT.findall(body):
            found[name] += values.split()
        if found.keys().isdisjoint(_VALUES) and not (BEGIN in body and END in body):
            return None
        wrote: dict[str, str] = {}
        for each in found.get("wrote", ()):
            path, blob = each[:_DIGITS], each[_DIGITS:]
            wrote[path] = blob if wrote.get(path, blob) == blob else ""
        is_known = "wrote" in found and "many" not in found
        lists = {*found.get("list", ())}
        list_id = lists.pop() if len(lists) == 1 else ""
        wrote_known = wrote if is_known else None
        conflicts, source = (frozenset(found.get(each, ())) for each in ("conflicts", "source"))
        is_withdrawn, is_needless = "withdrawn" in found, "needless" in found
        return cls(wrote_known, list_id, is_withdrawn, is_needless, conflicts, source)

    def naming(
        self,
        list_id: str,
        files: Mapping[str, str],
        conflicts: Iterable[str] = (),
        source: Iterable[str] = (),
    ) -> "Mark":
        """Return the mark of an open pull request that also names the paths of ``files``.

        The new mark is neither withdrawn nor needless. If this mark may name any path (``wrote`` is
        `None`), the new one names only the paths of ``files``.

        ``files`` has the blob ids by path. ``conflicts`` are the paths for which the description
        reports a conflict. ``source`` is that of the list; if it is empty, the known one is kept.
        """
        named = {hashed(path): blob[:_DIGITS] for path, blob in files.items()}
        wrote, list_hash = {**(self.wrote or {}), **named}, hashed(list_id)
        reported, from_there = frozenset(map(hashed, conflicts)), frozenset(map(hashed, source))
        return Mark(wrote, list_hash, conflicts=reported, source=from_there or self.source)

    def names(self, path: str) -> bool:
        """Whether registrar has, or may have, committed ``path``."""
        return self.wrote is None or hashed(path) in self.wrote

    def has_written(self, path: str, blob: str) -> bool:
        """Whether this content of ``path`` (its blob id) is the one that registrar wrote last.

        False if the mark does not say which list it belongs to.
        """
        named = self.wrote.get(hashed(path), "") if self.wrote and self.list else ""
        return bool(named) and named == blob[:_DIGITS]

    def is_of(self, list_id: str) -> bool:
        """Whether the mark is from the list ``list_id``, or does not name its list."""
        return self.list in {"", hashed(list_id)}

    def is_elsewhere(self, source: Iterable[str]) -> bool:
        """Whether the mark is from a list in another repository than ``source``, as far as both are
        known.
        """
        here = frozenset(map(hashed, source))
        return bool(here and self.source) and here.isdisjoint(self.source)

    @property
    def text(self) -> str:
        """The mark as comments of a description, which GitHub does not show."""
        named = "".join(sorted(f" {path}{blob}" for path, blob in (self.wrote or {}).items()))
        lines = [] if self.wrote is None else [f"<!-- registrar:wrote{named} -->"]
        lines += [f"<!-- registrar:list {self.list} -->"] if self.list else []
        source = " ".join(sorted(self.source))
        lines += [f"<!-- registrar:source {source} -->"] if source else []
        lines += [WITHDRAWN] if self.is_withdrawn else []
        lines += [NEEDLESS] if self.is_needless else []
        conflicts = " ".join(sorted(self.conflicts))
        lines += [f"<!-- registrar:conflicts {conflicts} -->"] if conflicts else []
        return "\n".join(lines)


class Divided(NamedTuple):
    """A description, divided into registrar's own part and the text around it. Marks and other
    parts in that text are left out.
    """

    before: str
    ours: str | None
    """The text between `BEGIN` and `END`. ``None`` if the description has no such part; then all
    text is in ``before``."""
    after: str = ""


def divide(body: str) -> Divided:
    """Find registrar's own part of a description, so that another one can replace it.

    `BEGIN` and `END` enclose the part if both stand on lines of their own, or if there is a comment
    of the mark between them. In the second case somebody has indented or quoted the part, or
    written text beside one of the two; that text is kept. If there are several parts, only one is
    kept.
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
    """Return the text from ``start`` to ``end`` without the parts ``strays``, which may overlap."""
    kept = ""
    for first, last in sorted(strays):
        if start <= first and last <= end:
            kept, start = kept + body[start:first], last
    return kept + body[start:end]


def unmarked(ours: str) -> str:
    """Return the visible text of registrar's own part."""
    return _COMMENT.sub("", ours).strip()


def not_withdrawn(body: str) -> str:
    """Return a description without the comment which says that the pull request was withdrawn."""
    return _COMMENT.sub(lambda each: "" if each[1] == "withdrawn" else each[0], body)


EMPTY_MARK = Mark({})
"""The mark of a branch to which nothing was committed. `Mark.of` returns `None` instead if a
description has no mark."""


def hashed(text: str) -> str:
    """Return the hash that a mark has for a path, or for the id of a list."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
