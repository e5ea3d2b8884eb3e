"""What a repository has and what is listed -> what is to be done."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches

from registrar.errors import Refused
from registrar.models.files import FileDefinition, parents
from registrar.models.plan import Plan
from registrar.models.repository import Directories, Entry, Repository, RepositoryState, Tree
from registrar.models.rules import LeftOut, Listed, listed_for, place_of
from registrar.models.spec import RegistrationSpec
from registrar.models.standing import PresentFile, Standing, standing_of
from registrar.presence.alternatives import (
    DirectoryListing,
    hidden_by,
    inherited_from,
    letter_case_conflict,
    satisfied_by,
)
from registrar.texts.messages import Message, msg

_DIRECTORY = "tree"
_CLOSE = 0.7
"""How alike two names are of which one is probably the other, misspelled (`difflib`)."""


def make_plan(spec: RegistrationSpec, state: RepositoryState) -> Plan:
    """Sort the list into what is present, what can be created, and what cannot."""
    entries, listed = state.entries, listed_in(spec, state)
    for below, above in listed.below if spec.files.rules else ():
        values = {"path": below.path, "parent": above.path}
        rules = {"rule": place_of(below.rule), "other": place_of(above.rule)}
        raise Refused(msg("preflight.rules", **values, **rules))
    repository = state.repository
    listed_files = tuple(d.filled_in(repository) for d in listed.definitions)
    definitions = tuple(map(_with_set_parts, listed_files))
    absent = [d for d in definitions if d.path not in entries]
    listing = DirectoryListing(state.directories)
    present, satisfied = _present_in(definitions, listing, spec, state)
    unset = _without_value([d for d in absent if d.path not in satisfied])
    satisfied |= {path: msg("reason.no_property", name=name) for path, name in unset.items()}
    blocked = {
        definition.path: parent
        for definition in absent
        for parent in parents(definition.path)
        if parent in entries and entries[parent].type != _DIRECTORY
        if definition.path not in satisfied
    }
    missing = tuple(d for d in absent if d.path not in {*satisfied, *blocked})

    def others(find: Callable[[str, DirectoryListing], str | None]) -> dict[str, str]:
        return {d.path: other for d in missing if (other := find(d.path, listing))}

    return Plan(
        spec,
        state,
        definitions,
        missing=missing,
        unfit=listed.unfit,
        replaced=listed.replaced,
        left_out=(
            *listed.left_out,
            *(
                LeftOut(kept.path, tuple(p.number for p in every.parts if p not in kept.parts))
                for every, kept in zip(listed_files, definitions, strict=True)
                if every.parts != kept.parts
            ),
        ),
        blocked=blocked,
        satisfied=satisfied,
        unset=unset,
        present=present,
        removed=_removed(spec, state, definitions, present),
        other_case=others(letter_case_conflict),
        hides={} if spec.settings.ref else others(hidden_by),
    )


def _removed(
    spec: RegistrationSpec,
    state: RepositoryState,
    definitions: Sequence[FileDefinition],
    present: Mapping[str, PresentFile],
) -> tuple[str, ...]:
    """The listed paths that were there before, and are gone, or are no files any more."""
    if state.before is None:
        return ()
    # What the owner's repository `.github` has now counts for both
    before = state.before._replace(owner=state.owner)
    had, _ = _present_in(definitions, DirectoryListing(before.directories), spec, before)
    return tuple(
        each.path
        for each in definitions
        if each.path in had
        if each.path not in present
        or (present[each.path].standing is Standing.NO_FILE is not had[each.path].standing)
    )


def require_known_properties(
    names: Iterable[str], repositories: Iterable[Repository], *, is_public: bool = False
) -> None:
    """Refuse a custom property that none of ``repositories`` knows, where a close name exists.

    Where the log is public, names are shown that a public repository has.
    """
    known: dict[str, bool] = {}
    for repository in repositories:
        for name in repository.properties or ():
            known[name] = known.get(name, False) or repository.is_public or not is_public
    for name in sorted(set(names) - known.keys()):
        for close in get_close_matches(name, known, n=1, cutoff=_CLOSE):
            if known[close]:
                raise Refused(msg("preflight.property_close", name=name, close=close))
            raise Refused(msg("preflight.property_unknown", name=name))


def listed_in(spec: RegistrationSpec, state: RepositoryState) -> Listed:
    """Give what the list has for a repository, as its rules say."""
    files, has = spec.files, state.entries.__contains__
    return listed_for(files.definitions, files.rules, state.repository, has)


def blob_ids_at(plan: Plan, tree: Tree) -> dict[str, str]:
    """Blob ids of what the list gives for a commit of the repository, by path."""
    there = {*tree, *(parent for path in tree for parent in parents(path))}
    files = plan.spec.files
    listed = listed_for(files.definitions, files.rules, plan.repository, there.__contains__)
    filled_in = (each.filled_in(plan.repository) for each in listed.definitions)
    return {each.path: each.blob_id for each in map(_with_set_parts, filled_in)}


def _with_set_parts(definition: FileDefinition) -> FileDefinition:
    """Leave out parts that name a custom property which is not set, as long as one remains."""
    values = (definition.repository and definition.repository.properties) or {}
    parts = tuple(part for part in definition.parts if all(map(values.get, part.properties)))
    return definition._replace(parts=parts) if parts else definition


def _without_value(absent: Sequence[FileDefinition]) -> dict[str, str]:
    """Those whose templates name a custom property that is not set, and its name."""
    unset: dict[str, str] = {}
    for definition in absent:
        values = (definition.repository and definition.repository.properties) or {}
        for name in definition.named_properties:
            if len(values.get(name, ())) > 1:
                raise Refused(msg("preflight.property_list", path=definition.path, name=name))
            if not values.get(name):
                unset.setdefault(definition.path, name)
    return unset


def _present_in(
    definitions: Sequence[FileDefinition],
    listing: DirectoryListing,
    spec: RegistrationSpec,
    state: RepositoryState,
) -> tuple[dict[str, PresentFile], dict[str, Message]]:
    """What is there for listed paths, and why, where it is another file that counts."""
    owner = state.owner
    inherited = DirectoryListing(owner.directories) if owner else None
    there: dict[str, PresentFile] = {}
    reasons: dict[str, Message] = {}
    for definition in definitions:
        listed = definition.path
        if entry := state.entries.get(listed):
            there[listed] = _present(definition, listed, entry)
        elif path := satisfied_by(definition, listing, respect=spec.settings.respect_alternatives):
            there[listed] = _present(definition, path, _entry(state.directories, path))
            reasons[listed] = msg("reason.satisfied", path=path)
        elif (
            owner
            and inherited
            and (path := inherited_from(definition, listing, inherited, is_public=owner.is_public))
        ):
            repository = f"{state.repository.owner}/.github"
            entry = _entry(owner.directories, path)
            there[listed] = _present(definition, f"{repository}/{path}", entry)
            reasons[listed] = msg("reason.inherited", path=path, repository=repository)
    return there, reasons


def _entry(directories: Directories, path: str) -> Entry:
    directory, _, name = path.rpartition("/")
    return directories[directory][name]


def _present(definition: FileDefinition, path: str, entry: Entry) -> PresentFile:
    values = (definition.repository and definition.repository.properties) or {}
    standing = standing_of(
        definition.content, entry.sha, is_file=entry.is_file, may_be_blank=definition.may_be_blank
    )
    if standing is Standing.DIFFERS and not all(map(values.get, definition.named_properties)):
        # Without a value the list gives no content that it could differ from
        standing = Standing.FILLED
    return PresentFile(standing, path, entry.sha if entry.is_file else "")
