"""Finds other files that count as a listed one, in directories that were read before.

They are at the alternatives of the list, or at other paths where GitHub looks for the same file.
`directories_to_read` names the directories for the strategies, which pass the entries as a
`DirectoryEntries`.
"""

from collections.abc import Iterable, Iterator, Sequence

from registrar.models.files import FileDefinition, parents
from registrar.models.repository import Directories
from registrar.presence.names import folded
from registrar.presence.special_files import (
    EVERYWHERE,
    FORM_FOLDERS,
    ISSUE_TEMPLATES,
    Inherited,
    SpecialFile,
    directory_of,
    is_configuration,
    is_named,
    same_yaml,
    special_file,
)


class DirectoryEntries:
    """The entries of some directories of one commit."""

    def __init__(self, directories: Directories) -> None:
        """Links and submodules count as files, too. Paths that were not read count as missing."""
        self._paths = set[str]()
        """Paths of all entries in these directories. The path of a directory ends with a slash."""
        self._any_case: dict[str, str] = {}
        self._in: dict[str, list[str]] = {}
        for directory, entries in directories.items():
            for name, entry in sorted(entries.items()):
                path = f"{directory}/{name}" if directory else name
                if entry.type == "tree":
                    path = f"{path}/"
                else:
                    self._in.setdefault(folded(directory), []).append(path)
                self._paths.add(path)
                self._any_case.setdefault(folded(path), path)

    def __contains__(self, path: str) -> bool:
        """Whether there is a file at exactly this path, or a directory if it ends with a slash."""
        return path in self._paths

    def in_any_case(self, path: str) -> str | None:
        """Return the path of an entry that is equal except for letter case and Unicode form.

        An exact match comes first. ``None`` if there is no such entry.
        """
        return path if path in self._paths else self._any_case.get(folded(path))

    def files_in(self, directory: str) -> Sequence[str]:
        """Return the paths of the files in a directory, without those in its subdirectories.

        The path of the directory may differ in letter case.
        """
        return self._in.get(folded(directory), ())


def directories_to_read(definitions: Iterable[FileDefinition], *, respect: bool) -> tuple[str, ...]:
    """Return the directories of the target that may have a file which counts as a listed one.

    The root is empty. Without ``respect`` only the directories of the list's own alternatives.
    """
    needed: dict[str, None] = {}
    for definition in definitions:
        needed |= dict.fromkeys(directory_of(path) for path in definition.alternatives)
        if respect:
            needed[directory_of(definition.path)] = None
            kind = special_file(definition.path)
            needed |= dict.fromkeys((*kind.places, *kind.folders) if kind else ())
    return tuple(needed)


def may_inherit(definitions: Iterable[FileDefinition]) -> bool:
    """Whether a repository can inherit one of these files from the owner's ``.github`` repository.

    Callers must not ask this about the ``.github`` repository itself, which inherits nothing.
    """
    return any(
        directory_of(definition.path) in FORM_FOLDERS
        or ((kind := special_file(definition.path)) and kind.inherited is not Inherited.NEVER)
        for definition in definitions
    )


def satisfied_by(
    definition: FileDefinition, listing: DirectoryEntries, *, respect: bool
) -> str | None:
    """Return the path of a file of the target that counts as ``definition``; ``None`` without one.

    The list's own alternatives always count, if they are written in exactly this way. With
    ``respect`` a path that differs only in letter case or Unicode form counts, too, and a file that
    GitHub would use for the same purpose.
    """
    named = next((path for path in definition.alternatives if path in listing), None)
    if named or not respect:
        return named
    same = listing.in_any_case(definition.path)
    return same or next(_equivalents(definition.path, listing), None)


def has_its_own(definition: FileDefinition, listing: DirectoryEntries) -> bool:
    """Whether the target has a file of the same kind, or a folder for such files.

    If it has, it does not inherit such a file.
    """
    kind = special_file(definition.path)
    folders = kind.folders if kind else (directory_of(definition.path),)
    is_there = any(listing.in_any_case(f"{folder}/") for folder in folders)
    return is_there or satisfied_by(definition, listing, respect=True) is not None


def inherited_from(
    definition: FileDefinition,
    listing: DirectoryEntries,
    owner_listing: DirectoryEntries,
    *,
    is_public: bool,
) -> str | None:
    """Return the file of the owner's ``.github`` repository that the target inherits.

    The result is a path in that repository; ``None`` if nothing is inherited. ``listing`` is the
    target's, and ``owner_listing`` that of the ``.github`` repository. Without ``is_public`` that
    repository is internal. A folder of forms is inherited as a whole, and only if the target has no
    file in its own folder. Any issue template counts as the listed one, but only the same form for
    discussions.
    """
    kind, folder = special_file(definition.path), directory_of(definition.path)
    if kind is not None and ISSUE_TEMPLATES in kind.folders:
        folder = ISSUE_TEMPLATES
    if folder in FORM_FOLDERS and listing.files_in(folder):
        return None
    if folder in FORM_FOLDERS and kind is None:
        inherited = owner_listing.files_in(folder) if is_public else ()
        same = owner_listing.in_any_case(definition.path)
        any_other = next(iter(inherited), None) if folder == ISSUE_TEMPLATES else None
        return same if same in inherited else any_other
    if kind is None or kind.inherited is Inherited.NEVER:
        return None
    if kind.inherited is Inherited.IF_PUBLIC and not is_public:
        return None
    return next(_of_kind(kind, EVERYWHERE, owner_listing), None)


def places_of(definitions: Iterable[FileDefinition]) -> tuple[str, ...]:
    """Return the directories in which GitHub looks for the listed kinds of files.

    The root is empty. For forms it is the directory above their folder, whose entries show whether
    the folder exists.
    """
    places: dict[str, None] = {}
    for path in (definition.path for definition in definitions):
        if kind := special_file(path):
            places |= dict.fromkeys(kind.places)
        elif (folder := directory_of(path)) in FORM_FOLDERS:
            places[directory_of(folder)] = None
    return tuple(places)


def rivals_of(path: str, listing: DirectoryEntries) -> tuple[str, str]:
    """Return the existing file that GitHub would no longer use if there were a file at ``path``,
    and the existing file that GitHub would use instead of ``path``.

    Both are empty if there is no such file, or if it is not known which one GitHub uses.
    """
    kind = special_file(path)
    if kind is None:
        return "", ""
    present = (
        (number, other.endswith(".yaml"), other)
        for number, place in enumerate(kind.places)
        for other in listing.files_in(place)
        if is_named(kind, other)
    )
    # GitHub uses the file that comes first
    *rank, first = min(present, default=(0, False, ""))
    own = [kind.places.index(directory_of(path)), path.endswith(".yaml")]
    if own == rank:
        return "", ""
    return (first, "") if own < rank else ("", first)


def letter_case_conflict(path: str, listing: DirectoryEntries) -> str | None:
    """Return an existing path that is equal to ``path``, or to a directory above it, except for
    letter case or Unicode form.

    A checkout on Windows or macOS cannot have both. The path of a directory ends with a slash.
    ``None`` if there is no such path.
    """
    for each in (path, *parents(path)):
        # A file and a directory cannot stand beside each other either
        candidates = (each, f"{each}/")
        others = (listing.in_any_case(candidate) for candidate in candidates)
        other = next(filter(None, others), None)
        if other not in {None, *candidates}:
            return other
    return None


def _equivalents(path: str, listing: DirectoryEntries) -> Iterator[str]:
    if (same := same_yaml(path)) and (other := listing.in_any_case(same)):
        yield other
    if directory_of(path) == ISSUE_TEMPLATES and not is_configuration(path):
        # A form (`.yml`) counts as a template (`.md`) of the same name (`special_files`)
        stem = path.rpartition(".")[0]
        for extension in (".md", ".yml", ".yaml"):
            other = listing.in_any_case(f"{stem}{extension}")
            if other and not is_configuration(other):
                yield other
    if kind := special_file(path):
        yield from _of_kind(kind, kind.places, listing)


def _of_kind(kind: SpecialFile, places: Iterable[str], listing: DirectoryEntries) -> Iterator[str]:
    in_places = (path for place in places for path in listing.files_in(place))
    yield from (path for path in in_places if is_named(kind, path))
    for path in (path for folder in kind.folders for path in listing.files_in(folder)):
        if folded(path).endswith(kind.extensions) and not is_configuration(path):
            yield path
