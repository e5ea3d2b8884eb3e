"""The strategy `single`: one query reads everything at one commit, and `GraphQLWriter` writes with
one more request.
"""

from typing import TYPE_CHECKING

from registrar.errors import Kind, Refused
from registrar.models.repository import Repository
from registrar.models.spec import RegistrationSpec
from registrar.models.task import Task
from registrar.presence import alternatives
from registrar.presence.special_files import directory_of
from registrar.presence.tasks import make_task
from registrar.registration import at_ref
from registrar.registration.branch_names import names_of
from registrar.registration.graphql_writer import GraphQLWriter
from registrar.registration.progress import Progress
from registrar.registration.work import with_owner
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.client import Client

writer = GraphQLWriter


def directories_to_read(spec: RegistrationSpec) -> list[str]:
    """The directories to read: those of the listed paths, and those that may have an alternative,
    or a file that a new one would hide.

    They cover every file that a rule may add, and every path that a rule asks about.
    """
    definitions, respect = spec.file_list.possible, spec.settings.respect_alternatives
    elsewhere = alternatives.directories_to_read(definitions, respect=respect)
    paths = (*(definition.path for definition in definitions), *spec.file_list.asked_paths)
    listed = map(directory_of, paths)
    return list(dict.fromkeys([*listed, *elsewhere, *alternatives.places_of(definitions)]))


def inspect(client: "Client", progress: Progress) -> Task:
    """Read the repository, the working branch and the directories above every listed path, all at
    one commit.

    The directories show whether a file or a link is in the way of a path, and whether a name
    differs in letter case only. Raises `Refused` if the repository was listed before, and another
    one has its name now.
    """
    spec = progress.spec
    described = spec.repository if spec.was_listed else None
    if described is None and spec.property_names:
        # GraphQL has properties since the end of 2025, and not on an Enterprise Server
        described = client.rest.with_properties(client.rest.repository(spec.target))
    with_facts = spec.file_list.has_conditions and described is None
    directories = directories_to_read(spec)
    if spec.settings.ref:
        at = _commits_at_ref(client, spec, described or spec.repository)
        states = client.graphql.inspect_at(spec.target, at, directories, with_facts=with_facts)
        state = states[0]._replace(before=states[1] if len(states) > 1 else None)
    else:
        names = names_of(spec.branch)
        base = spec.settings.base
        state = client.graphql.inspect(
            spec.target, names, directories, base=base, with_facts=with_facts
        )
    repository = _identified(spec, state.repository)
    if described:
        repository = repository.described_by(described)
    progress.identify(repository)
    return make_task(spec, with_owner(client, spec, state._replace(repository=repository)))


def _commits_at_ref(client: "Client", spec: RegistrationSpec, known: Repository) -> list[str]:
    ref = spec.settings.ref
    is_id = at_ref.COMMIT_ID.fullmatch(ref)
    commit = ref.lower() if is_id else at_ref.commit_of(client, known, ref)
    comparison = at_ref.compared(client, spec, known, commit)
    return [commit, *([comparison.merge_base] if comparison else [])]


def _identified(spec: RegistrationSpec, repository: Repository) -> Repository:
    """Return the repository that was read. If it was listed before, it gets the listed number, and
    `Refused` is raised if it is another one, is not selected by its present name, or is too private
    by now.
    """
    if not spec.was_listed:
        return repository
    listed = spec.repository
    # A list may have node ids of an older form, so they are compared only without a number
    number, node_id = repository.id, repository.node_id
    if (number and number != listed.id) or not (number or node_id == listed.node_id):
        raise Refused(msg("many.another_repository"), Kind.MOVED)
    if spec.hides(repository):
        raise Refused(msg("many.turned_private"), Kind.MOVED)
    if not spec.may_be_called(repository.full_name):
        raise Refused(msg("many.other_name", name=repository.full_name), Kind.OUT_OF_REACH)
    return repository._replace(id=listed.id, goes_by_id=True)
