"""Loads the list of a profile, or the caller's own."""

from registrar.errors import Diagnostic, InvalidInput
from registrar.inputs.reader import branch_diagnostic
from registrar.lists import loading, profiles
from registrar.models.files import digest_of
from registrar.models.repository import Repository
from registrar.models.settings import Profile, Settings
from registrar.models.spec import FileList, RegistrationSpec
from registrar.reporting.reporter import Reporter
from registrar.runtime.workspace import Folder, around


def load(profile: Profile, settings: Settings, reporter: Reporter) -> FileList:
    """Load the list of a profile, or the caller's own; it is refused with every diagnostic."""
    own_list = bool(settings.definitions)
    folder, file = Folder(profiles.CONFIG), profile.definitions
    if own_list:
        folder, file = around(settings.definitions, settings.workspace)
    file_list = loading.load(
        folder, file, content_allowed=profile.content_allowed, secret=settings.token
    )
    for diagnostic in file_list.warnings:
        reporter.warn(diagnostic)
    if own_list:
        file_list = file_list._replace(path=folder.path_in_repository(file))
    else:
        file_list = file_list._replace(profile=profile, name=profile.name)
    file_list = file_list._replace(digest=digest_of(file_list.possible))
    # Only now the name of the list is known, which may be a part of the branch's
    branch = RegistrationSpec(
        settings, file_list, Repository(settings.target or "owner/repo")
    ).branch
    if message := branch_diagnostic(branch):
        raise InvalidInput([Diagnostic(message)])
    return file_list
