"""Values of ours that unit tests begin with: settings, lists and specs."""

from __future__ import annotations

from registrar.inputs import reader
from registrar.models.files import FileDefinition
from registrar.models.repository import Repository
from registrar.models.settings import Profile, Settings
from registrar.models.spec import FileList, RegistrationSpec

PROFILE = Profile("scaffold", "work", "Title")


def settings(**inputs: str) -> Settings:
    """What the action is asked to do by these inputs, for one repository."""
    given = {"host_token": "token", "target_repo": "octo/example", "profile": "scaffold", **inputs}
    return reader.read({f"INPUT_{name.upper()}": value for name, value in given.items()})


def spec(*listed: FileDefinition, profile: Profile = PROFILE, **inputs: str) -> RegistrationSpec:
    """A registration of these files in ``octo/example``, with the working branch ``work``."""
    files = FileList(profile, listed, name=profile.name)
    given = settings(**inputs)
    return RegistrationSpec(given, files, Repository(given.target))
