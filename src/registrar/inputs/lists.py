"""Loads the lists of a run: the caller's own list, or built-in lists."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from registrar.errors import Diagnostic, InvalidInput, RegistrarError
from registrar.inputs.environment import value_of
from registrar.inputs.reader import branch_diagnostic
from registrar.lists import loading, profiles
from registrar.models.files import digest_of
from registrar.models.repository import Repository
from registrar.models.settings import Profile, Settings
from registrar.models.spec import FileList, RegistrationSpec
from registrar.runtime.workspace import Folder, around


def load(
    settings: Settings,
    warn: Callable[[Diagnostic], None],
    files: Sequence[str] = (),
    note: Callable[[object], None] = lambda _: None,
) -> list[FileList]:
    """Load the lists of a run, and call ``warn`` with each of their warnings.

    ``files`` are the caller's own lists, if there are several. ``note`` is called with the device
    and the number of each file that is read. Raises `InvalidInput` with every
    error in all of them.
    """
    lists = [_built_in(profile, settings, note) for profile in settings.profiles]
    warnings = [diagnostic for each in lists for diagnostic in each.warnings]
    errors: list[Diagnostic] = []
    for file in files or filter(None, [settings.definitions]):
        try:
            lists.append(_own(settings._replace(definitions=file), note))
            warnings += lists[-1].warnings
        except InvalidInput as error:
            errors += error.diagnostics
            warnings += error.warnings
    for diagnostic in warnings:
        warn(diagnostic)
    if errors:
        raise InvalidInput(errors)
    return lists


def _own(settings: Settings, note: Callable[[object], None]) -> FileList:
    folder, file = around(settings.definitions, settings.workspace, note)
    listed = loading.load(folder, file, secret=settings.token)
    path, commit = folder.path_in_repository(file), ""
    if settings.in_workflow:
        commit = folder.commit_with(file)
    sources = frozenset(map(folder.path_in_repository, listed.sources))
    return _checked(settings, listed._replace(path=path, commit=commit, sources=sources))


def note_files(
    environ: Mapping[str, str], files: Sequence[str], note: Callable[[object], None]
) -> None:
    """Call ``note`` as `load` does, for a run that cannot load its lists because other inputs are
    wrong.
    """
    given = value_of(environ, "definitions")
    for workspace in {None, environ.get("GITHUB_WORKSPACE")}:
        for file in {*files, given} - {""}:
            with suppress(RegistrarError):
                folder, name = around(file, Path(workspace) if workspace else None, note)
                loading.load(folder, name)


def _built_in(profile: Profile, settings: Settings, note: Callable[[object], None]) -> FileList:
    listed = loading.load(
        Folder(profiles.CONFIG, note),
        profile.definitions,
        content_allowed=profile.content_allowed,
        secret=settings.token,
    )
    named = listed._replace(
        name=profile.name,
        defaults=profile.defaults,
        has_fixed_requests=profile.has_fixed_requests,
    )
    return _checked(settings, named)


def _checked(settings: Settings, listed: FileList) -> FileList:
    """Return the list with its digest, after a check of the name of the working branch.

    The name is checked only here, because the name of the list may be a part of it.
    """
    listed = listed._replace(digest=digest_of(listed.possible))
    repository = Repository(settings.target or "owner/repo")
    branch = RegistrationSpec(settings, listed, repository).branch
    if message := branch_diagnostic(branch):
        raise InvalidInput([Diagnostic(message)])
    return listed
