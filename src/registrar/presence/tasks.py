"""Compares a repository with a list, and makes the task of a registration: `RepositoryState` and
`RegistrationSpec` -> `Task`."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from registrar.errors import Failure, Refused
from registrar.models.files import FileDefinition, parents
from registrar.models.paths import CannotCreate, Create, Done, Leave, ListedPath, Present, Why
from registrar.models.repository import (
    Directories,
    Entry,
    OwnerFiles,
    Repository,
    RepositoryState,
    Tree,
)
from registrar.models.rules import ChosenFiles, listed_for, place_of
from registrar.models.settings import Mode
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import PresentFile, Standing, standing_of
from registrar.models.task import Facts, Task
from registrar.presence.alternatives import (
    DirectoryEntries,
    has_its_own,
    inherited_from,
    letter_case_conflict,
    rivals_of,
    satisfied_by,
)
from registrar.texts.escaping import FoundPath
from registrar.texts.messages import Message, msg
from registrar.texts.spelling import closest

_DIRECTORY = "tree"


def make_task(
    spec: RegistrationSpec, state: RepositoryState, listed: ChosenFiles | None = None
) -> Task:
    """Decide the state of each listed path: present, missing, unset or blocked.

    ``listed`` are the files that the repository gets, if the caller knows them already. Raises
    `Refused` if rules list a file below another one, or if a template names a custom property with
    several values or a line break.
    """
    listed = listed or listed_in(spec, state)
    entries, definitions = state.entries, listed.definitions
    for below, above in listed.below if spec.file_list.rules else ():
        values = {"path": below.path, "parent": above.path}
        places = {"rule": place_of(below.rule), "other": place_of(above.rule)}
        raise Refused(msg("preflight.rules", **values, **places))
    listing = DirectoryEntries(state.directories)
    present, elsewhere = _present_in(definitions, listing, spec, state)
    unset = _without_value([d for d in definitions if d.path not in present])
    exists = msg("reason.exists", branch=spec.settings.ref or spec.base_of(state.repository))
    said = Done.TO_CREATE if spec.proposes else Done.NOTHING
    create = Create(Done.PENDING if spec.writes else said)
    hides_inherited = _hides_inherited(spec, state, listing)

    def found(definition: FileDefinition) -> ListedPath:
        path = definition.path
        if file := present.get(path):
            return ListedPath(definition, Present(file, elsewhere.get(path, exists)))
        if name := unset.get(path):
            reason = msg("reason.no_property", name=name)
            left = Leave(Why.UNSET, Done.SKIPPED, reason, unset=name)
            return ListedPath(definition, left)
        above = (each for each in parents(path) if each in entries)
        if below := next((each for each in above if entries[each].type != _DIRECTORY), ""):
            return ListedPath(definition, blocked(spec, msg("reason.blocked", parent=below), below))
        adds = spec.settings.mode is not Mode.WITHDRAW
        other_case = letter_case_conflict(path, listing) if adds else ""
        hides, used_instead = rivals_of(path, listing) if spec.proposes else ("", "")
        # Most paths have neither, and thousands of empty `FoundPath` objects would take memory
        return ListedPath(
            definition,
            create,
            other_case=FoundPath(other_case) if other_case else "",
            hides=FoundPath(hides) if hides else "",
            used_instead=FoundPath(used_instead) if used_instead else "",
            hides_inherited=hides_inherited(definition),
        )

    paths = tuple(map(found, definitions))
    missing = tuple(each.definition for each in paths if each.plan is create)
    rules = frozenset(rule.number for rule in spec.file_list.rules)
    facts = Facts(
        state.base_sha,
        _has_list(spec, state),
        applying=rules.difference(listed.not_applying),
        replaced=listed.replaced,
        unused_parts=listed.unused_parts,
        removed=_removed(spec, state, definitions, present),
    )
    return Task(spec, state, paths, missing, facts)


def _has_list(spec: RegistrationSpec, state: RepositoryState) -> bool:
    """Whether the repository is known to have the caller's own list, at the same path.

    True if the workflow's checkout has the commit that was read. Otherwise the path has to be among
    the paths that were read. If the commit of the checkout is known, the content must be the same,
    too, because the checkout may be of another repository.
    """
    files = spec.file_list
    if files.commit and files.commit == state.base_sha:
        return True
    directory, _, name = files.path.rpartition("/")
    listed = state.directories.get(directory, {})
    entry = state.entries.get(files.path) or listed.get(name)
    return entry is not None and (not files.commit or entry.sha == files.blob_id)


def blocked(spec: RegistrationSpec, reason: Message, about: str) -> Leave | CannotCreate:
    """Return the plan for a path that cannot be created, because of the path ``about`` above it.

    Over many repositories, it does not fail a run, because no run can change it.
    """
    if spec.writes and spec.policy.tells_paths:
        return CannotCreate(Failure.of(reason, about=about), Standing.BLOCKED)
    return Leave(Why.BLOCKED, Done.NOTHING, reason)


def _hides_inherited(
    spec: RegistrationSpec, state: RepositoryState, listing: DirectoryEntries
) -> Callable[[FileDefinition], bool]:
    """Return whether a missing file would replace one which the repository inherits."""
    if not (isinstance(owner := state.owner, OwnerFiles) and spec.tells_what_is_lost):
        return lambda _: False
    handed_down, is_public = DirectoryEntries(owner.directories), owner.is_public
    return lambda file: (
        not has_its_own(file, listing)
        and bool(inherited_from(file, listing, handed_down, is_public=is_public))
    )


def _removed(
    spec: RegistrationSpec,
    state: RepositoryState,
    definitions: Sequence[FileDefinition],
    present: Mapping[str, PresentFile],
) -> tuple[str, ...]:
    """Return the listed paths that are present in `RepositoryState.before`, but not any more.

    A file that has become a directory, a link or a submodule counts as removed, too.
    """
    if state.before is None:
        return ()
    # The owner's `.github` repository is read only once, so its present files count for both
    before = state.before._replace(owner=state.owner)
    had, _ = _present_in(definitions, DirectoryEntries(before.directories), spec, before)

    def is_gone(path: str) -> bool:
        if path not in present:
            return True
        was_file = had[path].standing is not Standing.NO_FILE
        return was_file and present[path].standing is Standing.NO_FILE

    return tuple(each.path for each in definitions if each.path in had and is_gone(each.path))


def require_known_properties(names: Iterable[str], repositories: Iterable[Repository]) -> None:
    """Raise `Refused` if a custom property seems to be misspelled.

    This is so if none of ``repositories`` has a property with this name, but one with a close name.
    """
    known = {name for repository in repositories for name in repository.properties or ()}
    for name in sorted(set(names) - known):
        if close := closest(name, known):
            raise Refused(msg("preflight.property_close", name=name, close=close))


def listed_in(spec: RegistrationSpec, state: RepositoryState) -> ChosenFiles:
    """Choose the files that the repository gets from the list, with the rules that apply."""
    files, has = spec.file_list, state.entries.__contains__
    return listed_for(files.files, files.rules, state.repository, has)


def blob_ids_at(task: Task, tree: Tree) -> dict[str, str]:
    """Return the blob ids of the files that the list would give to a commit, by path.

    ``tree`` has every entry of that commit, because conditions may depend on its paths.
    """
    paths = {*tree, *(parent for path in tree for parent in parents(path))}
    files = task.spec.file_list
    listed = listed_for(files.files, files.rules, task.repository, paths.__contains__)
    return {each.path: each.blob_id for each in listed.definitions}


def _without_value(absent: Sequence[FileDefinition]) -> dict[str, str]:
    """Find the files that cannot be filled in: the first unset custom property, by path.

    Raises `Refused` if a template names a property with several values, or with a line break, which
    would write a second line that nobody has listed.
    """
    unset: dict[str, str] = {}
    for definition in absent:
        values = (definition.repository and definition.repository.properties) or {}
        for name in definition.named_properties:
            of_property = values.get(name, ())
            if len(of_property) > 1:
                raise Refused(msg("preflight.property_list", path=definition.path, name=name))
            if any(value.splitlines() != [value] for value in of_property):
                raise Refused(msg("preflight.property_lines", path=definition.path, name=name))
            if not of_property:
                unset.setdefault(definition.path, name)
    return unset


def _present_in(
    definitions: Sequence[FileDefinition],
    listing: DirectoryEntries,
    spec: RegistrationSpec,
    state: RepositoryState,
) -> tuple[dict[str, PresentFile], dict[str, Message]]:
    """Find the files that make listed paths present.

    Returns these files by the listed path. For files at other paths, also the reason why they
    count, by the listed path.
    """
    respect = spec.settings.respect_alternatives
    owner = state.owner if respect and isinstance(state.owner, OwnerFiles) else None
    inherited = DirectoryEntries(owner.directories) if owner else None
    present: dict[str, PresentFile] = {}
    reasons: dict[str, Message] = {}
    for definition in definitions:
        listed = definition.path
        if entry := state.entries.get(listed):
            present[listed] = _present(definition, listed, entry)
        elif path := satisfied_by(definition, listing, respect=respect):
            present[listed] = _present(definition, path, _entry(state.directories, path))
            reasons[listed] = msg("reason.satisfied", path=FoundPath(path))
        elif (
            owner
            and inherited
            and (path := inherited_from(definition, listing, inherited, is_public=owner.is_public))
        ):
            repository = f"{state.repository.owner}/.github"
            entry = _entry(owner.directories, path)
            present[listed] = _present(definition, f"{repository}/{path}", entry)
            reasons[listed] = msg("reason.inherited", path=FoundPath(path), repository=repository)
    return present, reasons


def _entry(directories: Directories, path: str) -> Entry:
    directory, _, name = path.rpartition("/")
    return directories[directory][name]


def _present(definition: FileDefinition, path: str, entry: Entry) -> PresentFile:
    standing = standing_of(
        definition.content, entry.sha, is_file=entry.is_file, may_be_blank=definition.may_be_blank
    )
    if standing is Standing.DIFFERS and definition.unset_properties:
        # Without a value the content of the list is not known, so the file cannot differ from it
        standing = Standing.FILLED
    return PresentFile(standing, path, entry.sha if entry.is_file else "")
