"""GitHub for one token, with the clients for one repository and for many."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from registrar.errors import GitHubError, Kind, Refused, RegistrarError
from registrar.github.bulk import BulkClient
from registrar.github.case import Context, prefix_of
from registrar.github.fields import Fields, number
from registrar.github.graphql import GraphQL
from registrar.github.limits import Resource, RetryPolicy, TokenLimits
from registrar.github.parse import or_none
from registrar.github.rest import Rest, or_else
from registrar.github.session import Request, Session
from registrar.models.repository import OwnerFiles, Repository, Unknown
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.transport import Attempt, Transport


_OwnerFiles: TypeAlias = OwnerFiles | RegistrarError | None
"""The files of an owner's repository ``.github``, or the error that kept them from being read;
``None`` if nothing is inherited."""
_Roles: TypeAlias = dict[tuple[str, str], bool | None]
"""Whether an account may write, by the name of the repository and the login."""
_Changes: TypeAlias = dict[tuple[str, str, str], frozenset[str] | Unknown]
"""Changed paths, by the name of a repository and two commits or branches."""


class Client:
    """The requests of a run about one repository. May be used from several threads."""

    def __init__(
        self,
        session: Session,
        owner_files: dict[str, _OwnerFiles],
        roles: _Roles,
        changes: _Changes,
    ) -> None:
        """``owner_files`` caches the files of the repositories ``.github`` by their owners.

        ``roles`` caches who may write to which repository, and ``changes`` the answers of
        `changed`. All clients of a run share these caches.
        """
        self.session = session
        """It also says whether anything was written."""
        self._owner_files = owner_files
        self._roles = roles
        self.limits = session.limits
        self.rest = Rest(session)
        self._changes = changes
        self.graphql = GraphQL(session, self.rest)

    def may_write(self, repository: Repository, login: str) -> bool | None:
        """Whether an account may write to a repository; ``None`` if GitHub does not say it.

        GitHub is asked once a run about each account and repository.
        """
        key = repository.full_name, login
        if key not in self._roles:
            self._roles[key] = self.rest.may_write(repository, login)
        return self._roles[key]

    def changed(self, full_name: str, base: str, head: str) -> frozenset[str] | Unknown:
        """Return the paths that ``head`` has changed since ``base``.

        GitHub is asked once a run.
        """
        key = full_name, base, head
        if key not in self._changes:
            self._changes[key] = self.rest.changed(Repository(full_name), base, head)
        return self._changes[key]

    def owner_files(self, owner: str, directories: Sequence[str]) -> OwnerFiles | None:
        """Return the files in ``directories`` of the owner's ``.github``; ``None``: none inherited.

        They are read once a run for each owner, because ``directories`` are the same in a run. If
        reading them failed, each later call raises the same error.
        """
        if owner not in self._owner_files:
            try:
                self._owner_files[owner] = self.graphql.read_owner(owner, directories)
            except (Refused, GitHubError) as error:
                # Reading them again for each repository would use up the time of all others
                self._owner_files[owner] = error
        found = self._owner_files[owner]
        if isinstance(found, RegistrarError):
            raise found
        return found


class GitHub:
    """GitHub for one token: made once a run, it makes the client for each repository."""

    def __init__(
        self,
        transport: "Transport",
        *,
        token: str,
        workflow_repository: str,
        is_of_fork: bool = False,
        policy: RetryPolicy,
    ) -> None:
        """Nothing is sent before the first call.

        ``workflow_repository`` is the repository whose workflow runs registrar; empty if there is
        none. ``is_of_fork`` says that a pull request from a fork started the workflow.
        """
        self.limits = TokenLimits(token, policy.clock)
        """Limits and scopes of the token, as GitHub has reported them to any client."""
        self.policy = policy
        """It does all the waiting of the run."""
        self._session = partial(Session, transport, self.limits, policy)
        self._owner_files: dict[str, _OwnerFiles] = {}
        self._roles: _Roles = {}
        self._changes: _Changes = {}
        self._context = Context(
            transport.host, "", prefix_of(token), workflow_repository, is_of_fork=is_of_fork
        )

    def client(self, target: str) -> Client:
        """Return a client for requests about one repository (``owner/repo``)."""
        context = self._context._replace(target=target)
        return Client(self._session(context), self._owner_files, self._roles, self._changes)

    def many(self, require_time: Callable[[], None]) -> BulkClient:
        """Return a client for requests about many repositories.

        ``require_time`` is called before each page of a list; it raises if the run must end.
        """
        return BulkClient(self._session(self._context), require_time)

    def check_token(self) -> None:
        """Ask for the rate limits of the token; this request does not count against them.

        Raises `GitHubError` if GitHub rejects the token.
        """
        request = Request(msg("operation.token"), _rate_limits)
        ask = partial(self._session(self._context).request, request)
        # An Enterprise Server without rate limits answers so, and it has accepted the token
        for limit in or_else(ask, {Kind.NOT_FOUND: (), Kind.NO_LIMITS: ()}):
            self.limits.note_rate_limit(*limit)


def _rate_limits(attempt: "Attempt") -> list[tuple[Resource, int, int]]:
    given = attempt.github.get_rate_limit().resources
    limits = {Resource.REST: given.core, Resource.GRAPHQL: given.graphql}
    return [
        # Read from the JSON, because PyGithub makes a date of it, for which it may be too large
        (resource, number(limit.remaining), Fields(limit.raw_data).number("reset"))
        for resource, limit in limits.items()
        # An Enterprise Server may have one of them only
        if or_none(limit)
    ]
