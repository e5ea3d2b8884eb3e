"""Values of ours that unit tests begin with: settings, lists and specs."""

from __future__ import annotations

from registrar.inputs import reader
from registrar.models.files import FileDefinition, ListedFile, Text
from registrar.models.repository import Repository
from registrar.models.settings import Defaults, Settings
from registrar.models.spec import FileList, RegistrationSpec

DEFAULTS = Defaults("scaffold", "work", "Title")


def file_of(path: str, content: bytes, rule: int = 0) -> FileDefinition:
    """A file with this content, the same for every repository."""
    return FileDefinition(path, (Text(content),), rule=rule)


def settings(**inputs: str) -> Settings:
    """What the action is asked to do by these inputs, for one repository."""
    given = {"host_token": "token", "target_repo": "octo/example", "profile": "scaffold", **inputs}
    return reader.read({f"INPUT_{name.upper()}": value for name, value in given.items()})


def spec(*listed: FileDefinition, defaults: Defaults = DEFAULTS, **inputs: str) -> RegistrationSpec:
    """A registration of these files in ``octo/example``, with the working branch ``work``."""
    files = FileList(defaults, tuple(map(ListedFile, listed)), name=defaults.name)
    given = settings(**inputs)
    return RegistrationSpec(given, files, Repository(given.target))
