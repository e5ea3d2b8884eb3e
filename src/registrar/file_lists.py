"""Loads the list of a profile, or the one that is given in its place."""

from __future__ import annotations

import itertools
import os

from registrar.errors import Diagnostic, InvalidInput
from registrar.inputs.reader import branch_diagnostic
from registrar.lists import loading, profiles
from registrar.models.files import digest_of
from registrar.models.repository import Repository
from registrar.models.settings import Profile, Settings
from registrar.models.spec import FileList, RegistrationSpec
from registrar.reporting.reporter import Reporter
from registrar.runtime.workspace import Folder


def load(profile: Profile, settings: Settings, reporter: Reporter) -> FileList:
    """Load the list of a profile, or the one that is given in its place.

    It is refused with every diagnostic.
    """
    own_list = bool(settings.definitions)
    loaded = loading.load(
        Folder(settings.workspace if own_list else profiles.CONFIG),
        settings.definitions or profile.definitions,
        content_allowed=own_list or profile.content_allowed,
        secret=settings.token,
    )
    for diagnostic in loaded.warnings:
        reporter.warn(diagnostic)
    if not profile.definitions:
        profile = profiles.of_list(loaded.name or profiles.UNNAMED)
    path = ""
    if own_list:
        path = os.path.relpath(settings.workspace / settings.definitions, settings.workspace)
    file_list = FileList(
        profile,
        loaded.definitions,
        loaded.rules,
        name=loaded.name if own_list else profile.name,
        path=path,
        digest=digest_of(
            itertools.chain(loaded.definitions, *(r.definitions for r in loaded.rules))
        ),
    )
    # Only now the name of the list is known, which may be a part of the branch's
    branch = RegistrationSpec(
        settings, file_list, Repository(settings.target or "owner/repo")
    ).branch
    if message := branch_diagnostic(branch):
        raise InvalidInput([Diagnostic(message)])
    return file_list
