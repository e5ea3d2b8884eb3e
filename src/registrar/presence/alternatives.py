"""Where else a listed file may be: at the paths a list names, or where GitHub itself looks.

No requests here: the strategies read the directories that `directories_to_read` names, and pass
their entries as a `DirectoryListing`.
"""

from collections.abc import Iterable, Iterator, Sequence

from registrar.models.files import FileDefinition, parents
from registrar.models.repository import Directories
from registrar.presence.names import folded
from registrar.presence.special_files import (
    EVERYWHERE,
    ISSUE_TEMPLATES,
    Inherited,
    SpecialFile,
    directory_of,
    is_configuration,
    is_named,
    same_yaml,
    special_file,
)


class DirectoryListing:
    """The entries of some directories of one commit."""

    def __init__(self, directories: Directories) -> None:
        """Everything except a directory counts as a file. Paths that were not read or do not exist
        are left out.
        """
        self._paths = set[str]()
        """Paths of everything in these directories; that of a directory ends with a slash."""
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
        """Whether there is a file at exactly this path."""
        return path in self._paths

    def in_any_case(self, path: str) -> str | None:
        """Path of an entry that differs in letter case at most; an exact match comes first."""
        return path if path in self._paths else self._any_case.get(folded(path))

    def files_in(self, directory: str) -> Sequence[str]:
        """Paths of the files directly in a directory, whose name may be in any letter case."""
        return self._in.get(folded(directory), ())


def directories_to_read(definitions: Iterable[FileDefinition], *, respect: bool) -> tuple[str, ...]:
    """Directories of the target whose listing decides what counts as present; the root is empty.

    Without ``respect`` only those of the alternatives that the list itself names.
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
    """Whether the owner's ``.github`` repository can have anything that does for these.

    The repository ``.github`` itself inherits nothing: do not ask for it.
    """
    return any(
        directory_of(definition.path) == ISSUE_TEMPLATES
        or ((kind := special_file(definition.path)) and kind.inherited is not Inherited.NEVER)
        for definition in definitions
    )


def satisfied_by(
    definition: FileDefinition, listing: DirectoryListing, *, respect: bool
) -> str | None:
    """Path of a file of the target that counts as ``definition``; ``None`` if there is none.

    The alternatives of the list always count, in exactly their letter case. With ``respect``
    also what differs in letter case only, and what GitHub itself would use.
    """
    named = next((path for path in definition.alternatives if path in listing), None)
    if named or not respect:
        return named
    same = listing.in_any_case(definition.path)
    return same or next(_equivalents(definition.path, listing), None)


def has_its_own(definition: FileDefinition, listing: DirectoryListing) -> bool:
    """Whether the target has a file of the same kind, or a folder of them, so inherits none."""
    kind = special_file(definition.path)
    folders = kind.folders if kind else (directory_of(definition.path),)
    is_there = any(listing.in_any_case(f"{folder}/") for folder in folders)
    return is_there or satisfied_by(definition, listing, respect=True) is not None


def inherited_from(
    definition: FileDefinition,
    listing: DirectoryListing,
    owner_listing: DirectoryListing,
    *,
    is_public: bool,
) -> str | None:
    """Path in the owner's ``.github`` repository that GitHub uses as long as the target has none.

    ``listing`` is the target's, ``owner_listing`` that of the repository ``.github``, which is
    internal where it is not public. The folder of issue templates is inherited as a whole, and not
    at all where the target has a file in its own: one file more would hide all of them.
    """
    kind = special_file(definition.path)
    in_folder = directory_of(definition.path) == ISSUE_TEMPLATES
    is_issue_template = in_folder or (kind is not None and ISSUE_TEMPLATES in kind.folders)
    if is_issue_template and listing.files_in(ISSUE_TEMPLATES):
        return None
    if in_folder:
        inherited = owner_listing.files_in(ISSUE_TEMPLATES) if is_public else ()
        same = owner_listing.in_any_case(definition.path)
        return same if same in inherited else next(iter(inherited), None)
    if kind is None or kind.inherited is Inherited.NEVER:
        return None
    if kind.inherited is Inherited.IF_PUBLIC and not is_public:
        return None
    return next(_of_kind(kind, EVERYWHERE, owner_listing), None)


def places_of(definitions: Iterable[FileDefinition]) -> tuple[str, ...]:
    """Directories where GitHub looks for files of the kinds that are listed; the root is empty.

    Of their folders only those above them: these show whether there is one.
    """
    places: dict[str, None] = {}
    for path in (definition.path for definition in definitions):
        if kind := special_file(path):
            places |= dict.fromkeys(kind.places)
        elif directory_of(path) == ISSUE_TEMPLATES:
            places[directory_of(ISSUE_TEMPLATES)] = None
    return tuple(places)


def hidden_by(path: str, listing: DirectoryListing) -> str | None:
    """The file that GitHub uses today, and would not use any more once there is one at ``path``.

    ``None`` if there is none, or if it would stay in use.
    """
    kind = special_file(path)
    if kind is None or (directory := directory_of(path)) not in kind.places:
        return None
    # The first of its places wins: what comes before keeps the file at `path` out of use
    for place in kind.places:
        if name := next((each for each in listing.files_in(place) if is_named(kind, each)), None):
            is_later = kind.places.index(place) > kind.places.index(directory)
            return name if is_later else None
    return None


def letter_case_conflict(path: str, listing: DirectoryListing) -> str | None:
    """What exists and differs from ``path``, or a directory above it, in letter case only.

    A checkout on Windows or macOS cannot hold both. A directory is named with a slash at its end.
    """
    for candidate in (path, *(f"{parent}/" for parent in parents(path))):
        other = listing.in_any_case(candidate)
        if other not in {None, candidate}:
            return other
    return None


def _equivalents(path: str, listing: DirectoryListing) -> Iterator[str]:
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


def _of_kind(kind: SpecialFile, places: Iterable[str], listing: DirectoryListing) -> Iterator[str]:
    in_places = (path for place in places for path in listing.files_in(place))
    yield from (path for path in in_places if is_named(kind, path))
    for path in (path for folder in kind.folders for path in listing.files_in(folder)):
        if folded(path).endswith(kind.extensions) and not is_configuration(path):
            yield path
