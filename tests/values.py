"""Build settings, specs and records for unit tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from registrar.inputs import reader
from registrar.many.reading import Guesses
from registrar.models.files import FileDefinition, ListEntry, Text
from registrar.models.paths import (
    Create,
    Done,
    Leave,
    ListedPath,
    Outcome,
    Present,
    Result,
    Unread,
    Update,
    Why,
    by_path,
)
from registrar.models.record import PullRequestOperation, Record, Told
from registrar.models.repository import PullRequest, Repository, RepositoryState
from registrar.models.settings import Defaults, Settings
from registrar.models.spec import ONE_OF_MANY, FileList, RegistrationSpec
from registrar.models.standing import PresentFile, Standing
from registrar.models.status import Need, Status
from registrar.models.task import Facts, Task
from registrar.registration.planning import make_plan
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
    if standing is Standing.TO_CREATE and done in {Done.PENDING, Done.TO_CREATE, Done.NOTHING}:
        return ListedPath(definition, Create(done))
    if standing is Standing.UNREAD:
        return ListedPath(definition, Unread())
    # The last one of a branch says nothing about its content
    why = [each for each in Why if each.standing is standing][-1]
    return ListedPath(definition, Leave(why, done))


def need_of(job: RegistrationSpec, *paths: ListedPath) -> Need | None:
    """Return the need that a plan says if these are the entries, and no pull request is open."""
    task = Task(job, RepositoryState(job.repository, "c0ffee", {}), paths, missing=())
    return make_plan(task, Guesses(task, lambda _: None)).told.need


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
    need = need_of(job, *listed.values())
    return Record(job, repository, Facts("a" * 40), Told(need), paths=listed)


def with_status(given: Record, status: Status) -> Record:
    """Return a record whose repository is in this state."""
    operations = {
        Status.OPENED: PullRequestOperation.CREATED,
        Status.UPDATED: PullRequestOperation.UPDATED,
        Status.WITHDRAWN: PullRequestOperation.WITHDRAWN,
        Status.CLOSED: PullRequestOperation.CLOSED,
    }
    if operation := operations.get(status):
        path, *others = given.files
        written = path._replace(plan=Update("b10b"), outcome=Outcome(Result.DONE))
        pull = PullRequest(1, "https://example.com/1")
        ended = replace(given, is_ended=True, operation=operation, pull_request=pull)
        return replace(ended, paths=by_path([written, *others]))
    needs = {each.value: each for each in Need}
    if status in needs:
        return replace(given, told=Told(needs[status]))
    if status is Status.UNREAD:
        return replace(given, told=Told())
    to_open = replace(given, told=Told(Need.OPEN))
    if status is Status.DEFERRED:
        return replace(to_open, is_deferred=True)
    archived = given.repository._replace(archived=True)
    return replace(to_open, repository=archived, spec=given.spec._replace(policy=ONE_OF_MANY))
