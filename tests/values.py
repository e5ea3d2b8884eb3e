"""Build settings, specs and records for unit tests."""

from __future__ import annotations

from collections.abc import Mapping

from registrar.inputs import reader
from registrar.models.files import FileDefinition, ListEntry, Text
from registrar.models.paths import Done, Leave, ListedPath, Present, Why, by_path
from registrar.models.record import Record
from registrar.models.repository import Repository
from registrar.models.settings import Defaults, Settings
from registrar.models.spec import FileList, RegistrationSpec
from registrar.models.standing import PresentFile, Standing
from registrar.texts.messages import msg

DEFAULTS = Defaults("scaffold", "work", "Title")


def file_of(path: str, content: bytes, rule: int = 0) -> FileDefinition:
    """Return the definition of a file with this content, the same for every repository."""
    return FileDefinition(path, (Text(content),), rule=rule)


def settings(**inputs: str) -> Settings:
    """Return the settings of a run with these inputs, by default for one repository."""
    target = {} if "target_repos" in inputs else {"target_repo": "octo/example"}
    given = {"host_token": "token", "profile": "scaffold", **target, **inputs}
    return reader.read({f"INPUT_{name.upper()}": value for name, value in given.items()})


def spec(*listed: FileDefinition, defaults: Defaults = DEFAULTS, **inputs: str) -> RegistrationSpec:
    """Return a registration of these files in ``octo/example``, on the working branch ``work``."""
    files = FileList(defaults, tuple(map(ListEntry, listed)), name=defaults.name)
    given = settings(**inputs)
    return RegistrationSpec(given, files, Repository(given.target))


def in_state(
    definition: FileDefinition, standing: Standing, done: Done = Done.PENDING
) -> ListedPath:
    """Return a listed path in this state, with this outcome if the path is absent."""
    if standing.is_present:
        present = PresentFile(standing, definition.path, "b" * 40)
        return ListedPath(definition, Present(present, msg("reason.exists", branch="main")))
    return ListedPath(definition, Leave(Why.NOT_UPDATED, standing, done))


def record(name: str, paths: Mapping[str, Standing], team: str = "x") -> Record:
    """Return the record of a plan for a repository whose property ``team`` has this value."""
    repository = Repository(
        name,
        "main",
        f"https://github.com/{name}",
        visibility="public",
        properties={"team": (team,)},
    )
    listed = by_path(in_state(FileDefinition(path), each) for path, each in paths.items())
    job = spec(mode="plan", title="{property:team}")._replace(repository=repository)
    return Record(job, repository, paths=listed, commit="a" * 40)
