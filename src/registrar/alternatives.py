"""Where else a listed file may be: at the paths a list names, or where GitHub itself looks.

No requests here: the strategies read the directories that `directories_to_read` names, and pass
their entries as a `Listing`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from registrar.models.files import FileDefinition, parents

_DOCS = "https://docs.github.com/en"
_DEFAULTS = (
    f"{_DOCS}/communities/setting-up-your-project-for-healthy-contributions"
    "/creating-a-default-community-health-file"
)
_TEMPLATES = (
    f"{_DOCS}/communities/using-templates-to-encourage-useful-issues-and-pull-requests"
    "/about-issue-and-pull-request-templates"
)

_EVERYWHERE = (".github", "", "docs")
"""Where GitHub looks for a community health file, in its own order (`_DEFAULTS`)."""
ISSUE_TEMPLATES = ".github/ISSUE_TEMPLATE"
_TEXT = r"(\.(md|markdown|txt|rst|adoc))?"


class Inherited(Enum):
    """Whether GitHub takes a file from the owner's ``.github`` repository (`_DEFAULTS`)."""

    NEVER = "never"
    UNLESS_PRIVATE = "unless private"
    """From a public one, and inside an enterprise from an internal one."""
    IF_PUBLIC = "if public"


@dataclass(frozen=True, slots=True)
class Kind:
    """Files that GitHub uses for the same purpose: one of them is enough."""

    name: str
    """Regular expression of the file's name, in any letter case."""
    places: tuple[str, ...]
    """Directories where GitHub looks, the first one wins; the root is empty."""
    inherited: Inherited
    source: str
    listed: tuple[str, ...] | None = None
    """Where a listed file is one of this kind, if not in all of ``places``."""
    folders: tuple[str, ...] = ()
    """Directories in which any file with one of ``extensions`` counts, too."""
    extensions: tuple[str, ...] = ()


KINDS = (
    *(
        Kind(rf"{name}{_TEXT}", _EVERYWHERE, Inherited.UNLESS_PRIVATE, _DEFAULTS)
        for name in ("CODE_OF_CONDUCT", "CONTRIBUTING", "GOVERNANCE", "SECURITY", "SUPPORT")
    ),
    Kind(
        r"FUNDING\.yml",
        (".github",),
        Inherited.UNLESS_PRIVATE,
        f"{_DOCS}/repositories/managing-your-repositorys-settings-and-features"
        "/customizing-your-repository/displaying-a-sponsor-button-in-your-repository",
    ),
    Kind(
        r"PULL_REQUEST_TEMPLATE(\.(md|txt))?",
        _EVERYWHERE,
        Inherited.IF_PUBLIC,
        _TEMPLATES,
        folders=(
            ".github/PULL_REQUEST_TEMPLATE",
            "PULL_REQUEST_TEMPLATE",
            "docs/PULL_REQUEST_TEMPLATE",
        ),
        extensions=(".md", ".txt"),
    ),
    Kind(
        r"ISSUE_TEMPLATE(\.md)?",
        _EVERYWHERE,
        Inherited.IF_PUBLIC,
        _TEMPLATES,
        folders=(ISSUE_TEMPLATES, "ISSUE_TEMPLATE", "docs/ISSUE_TEMPLATE"),
        extensions=(".md", ".yml"),
    ),
    Kind(
        "CODEOWNERS",
        _EVERYWHERE,
        Inherited.NEVER,
        f"{_DOCS}/repositories/managing-your-repositorys-settings-and-features"
        "/customizing-your-repository/about-code-owners#codeowners-file-location",
    ),
    Kind(
        r"((un)?licen[sc]e|copying)(\.[^.]+|-.+)?|[^.]+-(licen[sc]e|copying)(\.[^.]+)?",
        ("",),
        Inherited.NEVER,
        "https://github.com/licensee/licensee/blob/main/docs/what-we-look-at.md",
    ),
    Kind(
        r"README(\.[^.]+)?",
        _EVERYWHERE,
        Inherited.NEVER,
        f"{_DOCS}/repositories/managing-your-repositorys-settings-and-features"
        "/customizing-your-repository/about-readmes",
        # What stands in `docs/` is shown for that directory as well, so it is wanted by itself
        listed=(".github", ""),
    ),
)
"""The order within ``places`` is GitHub's; it decides nothing but which path is named."""
OWNER_DIRECTORIES = tuple(
    dict.fromkeys(
        directory
        for kind in KINDS
        if kind.inherited is not Inherited.NEVER
        for directory in (*_EVERYWHERE, *kind.folders)
    )
)
"""Where files of the owner's ``.github`` repository are inherited from, whatever is listed: so one
reading of it does for every list."""


class Listing:
    """The entries of some directories of one commit."""

    def __init__(self, directories: Mapping[str, Iterable[str]]) -> None:
        """``directories`` maps a directory (the root is empty) to the names in it.

        The name of a directory ends with a slash; everything else counts as a file. What was
        not read, or is not there, is left out.
        """
        self._files = set[str]()
        self._directories = set[str]()
        self._any_case: dict[str, str] = {}
        self._in: dict[str, list[str]] = {}
        for directory, names in directories.items():
            for name in sorted(names):
                path = f"{directory}/{name}" if directory else name
                if path.endswith("/"):
                    self._directories.add(path)
                else:
                    self._files.add(path)
                    self._in.setdefault(_folded(directory), []).append(path)
                self._any_case.setdefault(_folded(path), path)

    def __contains__(self, path: str) -> bool:
        """Whether there is a file at exactly this path."""
        return path in self._files

    def in_any_case(self, path: str) -> str | None:
        """Path of an entry that differs in letter case at most; an exact match comes first."""
        if path in self._files or path in self._directories:
            return path
        return self._any_case.get(_folded(path))

    def files_in(self, directory: str) -> Sequence[str]:
        """Paths of the files directly in a directory, whose name may be in any letter case."""
        return self._in.get(_folded(directory), ())


@dataclass(frozen=True, slots=True)
class OwnerDefaults:
    """The repository ``.github`` of the target's owner. A private one offers nothing."""

    listing: Listing
    public: bool
    """``False``: internal."""


def directories_to_read(definitions: Iterable[FileDefinition], *, respect: bool) -> tuple[str, ...]:
    """Directories of the target whose listing decides what counts as present; the root is empty.

    Without ``respect`` only those of the alternatives that the list itself names.
    """
    needed: dict[str, None] = {}
    for definition in definitions:
        needed |= dict.fromkeys(_directory(path) for path in definition.alternatives)
        if respect:
            needed[_directory(definition.path)] = None
            kind = _kind(definition.path)
            needed |= dict.fromkeys((*kind.places, *kind.folders) if kind else ())
    return tuple(needed)


def may_inherit(definitions: Iterable[FileDefinition]) -> bool:
    """Whether the owner's ``.github`` repository can have anything that does for these.

    The repository ``.github`` itself inherits nothing: do not ask for it.
    """
    for definition in definitions:
        kind = _kind(definition.path)
        if kind and kind.inherited is not Inherited.NEVER:
            return True
        if _directory(definition.path) == ISSUE_TEMPLATES:
            return True
    return False


def satisfied_by(definition: FileDefinition, listing: Listing, *, respect: bool) -> str | None:
    """Path of a file of the target that counts as ``definition``; ``None`` where there is none.

    The alternatives of the list always count, in exactly their letter case. With ``respect``
    also what differs in letter case only, and what GitHub itself would use.
    """
    for path in definition.alternatives:
        if path in listing:
            return path
    if not respect:
        return None
    same = listing.in_any_case(definition.path)
    if same is not None:
        return same
    return next(_equivalents(definition.path, listing), None)


def inherited_from(
    definition: FileDefinition, listing: Listing, owner: OwnerDefaults
) -> str | None:
    """Path in the owner's ``.github`` repository that GitHub uses as long as the target has none.

    ``listing`` is the target's. The folder of issue templates is inherited as a whole, and not at
    all where the target has a file in its own: one file more would hide all of them.
    """
    kind = _kind(definition.path)
    in_folder = _directory(definition.path) == ISSUE_TEMPLATES
    is_issue_template = in_folder or (kind is not None and ISSUE_TEMPLATES in kind.folders)
    if is_issue_template and listing.files_in(ISSUE_TEMPLATES):
        return None
    if in_folder:
        inherited = owner.listing.files_in(ISSUE_TEMPLATES) if owner.public else ()
        same = owner.listing.in_any_case(definition.path)
        return same if same in inherited else next(iter(inherited), None)
    if kind is None or kind.inherited is Inherited.NEVER:
        return None
    if kind.inherited is Inherited.IF_PUBLIC and not owner.public:
        return None
    return next(_of_kind(kind, _EVERYWHERE, owner.listing), None)


def letter_case_conflict(path: str, listing: Listing) -> str | None:
    """What exists and differs from ``path``, or a directory above it, in letter case only.

    A checkout on Windows or macOS cannot hold both. A directory is named with a slash at its end.
    """
    for candidate in (path, *(f"{parent}/" for parent in parents(path))):
        other = listing.in_any_case(candidate)
        if other not in {None, candidate}:
            return other
    return None


def _equivalents(path: str, listing: Listing) -> Iterator[str]:
    if _directory(path) == ISSUE_TEMPLATES and not _folded(path).endswith("/config.yml"):
        # A form (`.yml`) counts as a template (`.md`) of the same name: `_TEMPLATES`
        stem = path.rpartition(".")[0]
        for extension in (".md", ".yml"):
            if other := listing.in_any_case(f"{stem}{extension}"):
                yield other
    if kind := _kind(path):
        yield from _of_kind(kind, kind.places, listing)


def _of_kind(kind: Kind, places: Iterable[str], listing: Listing) -> Iterator[str]:
    for place in places:
        for path in listing.files_in(place):
            if _is_named(kind, path):
                yield path
    for folder in kind.folders:
        for path in listing.files_in(folder):
            folded = _folded(path)
            if folded.endswith(kind.extensions) and not folded.endswith("/config.yml"):
                yield path


def _kind(path: str) -> Kind | None:
    """The kind of a listed path, if GitHub knows one."""
    for kind in KINDS:
        listed = kind.places if kind.listed is None else kind.listed
        if _directory(path) in listed and _is_named(kind, path):
            return kind
    return None


def _is_named(kind: Kind, path: str) -> bool:
    name = path.rpartition("/")[2]
    found = re.fullmatch(kind.name, name, re.IGNORECASE | re.ASCII)
    return bool(found)


def _directory(path: str) -> str:
    return path.rpartition("/")[0]


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
