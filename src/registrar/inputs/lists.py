"""Loads the lists of a run: the caller's own list, or built-in lists."""

from collections.abc import Callable, Sequence

from registrar.errors import Diagnostic, InvalidInput
from registrar.inputs.reader import branch_diagnostic
from registrar.lists import loading, profiles
from registrar.models.files import digest_of
from registrar.models.repository import Repository
from registrar.models.settings import Profile, Settings
from registrar.models.spec import FileList, RegistrationSpec
from registrar.runtime.workspace import Folder, around


def load(
    settings: Settings, warn: Callable[[Diagnostic], None], files: Sequence[str] = ()
) -> list[FileList]:
    """Load the lists of a run, and call ``warn`` with each of their warnings.

    ``files`` are the caller's own lists, if there are several. Raises `InvalidInput` with every
    error in all of them.
    """
    lists = [_built_in(profile, settings) for profile in settings.profiles]
    warnings = [diagnostic for each in lists for diagnostic in each.warnings]
    errors: list[Diagnostic] = []
    for file in files or filter(None, [settings.definitions]):
        try:
            lists.append(_own(settings._replace(definitions=file)))
            warnings += lists[-1].warnings
        except InvalidInput as error:
            errors += error.diagnostics
            warnings += error.warnings
    for diagnostic in warnings:
        warn(diagnostic)
    if errors:
        raise InvalidInput(errors)
    return lists


def _own(settings: Settings) -> FileList:
    folder, file = around(settings.definitions, settings.workspace)
    listed = loading.load(folder, file, secret=settings.token)
    path, commit = folder.path_in_repository(file), ""
    if settings.in_workflow:
        commit = folder.commit_with(file)
    return _checked(settings, listed._replace(path=path, commit=commit))


def _built_in(profile: Profile, settings: Settings) -> FileList:
    listed = loading.load(
        Folder(profiles.CONFIG),
        profile.definitions,
        content_allowed=profile.content_allowed,
        secret=settings.token,
    )
    named = listed._replace(name=profile.name, defaults=profile.defaults)
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
