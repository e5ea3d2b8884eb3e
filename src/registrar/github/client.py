"""GitHub, as one token reaches it, and a client for each repository."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from registrar.errors import GitHubError, Kind, Refused, RegistrarError
from registrar.github.bulk import BulkClient
from registrar.github.case import OF_INSTALLATION, Context
from registrar.github.exchange import Request, Response
from registrar.github.fields import Fields
from registrar.github.graphql import GraphQL
from registrar.github.limits import Resource, RetryPolicy, TokenLimits
from registrar.github.rest import Rest, or_else
from registrar.github.session import See, Session
from registrar.models.repository import OwnerFiles
from registrar.texts.messages import msg

if TYPE_CHECKING:
    from registrar.github.transport import Transport


_OwnerFiles: TypeAlias = OwnerFiles | RegistrarError | None
"""What an owner's ``.github`` holds, or why it could not be read."""


class Client:
    """What a run asks of GitHub about one repository. May be used from several threads."""

    def __init__(self, session: Session, owner_files: dict[str, _OwnerFiles]) -> None:
        """``owner_files`` caches what the repositories ``.github`` hold, for all clients."""
        self.session = session
        """Knows what was written."""
        self._owner_files = owner_files
        self.limits = session.limits
        self.rest = Rest(session)
        self.graphql = GraphQL(session, self.rest)

    def owner_files(self, owner: str, directories: Sequence[str]) -> OwnerFiles | None:
        """Read the owner's repository ``.github``, once a run: ``directories`` never change."""
        key = owner.lower()
        if key not in self._owner_files:
            try:
                self._owner_files[key] = self.graphql.read_owner(owner, directories)
            except (Refused, GitHubError) as error:
                # Asked again for each repository, it would take the time of all others
                self._owner_files[key] = error
        found = self._owner_files[key]
        if isinstance(found, RegistrarError):
            raise found
        return found


class GitHub:
    """GitHub, as one token reaches it. Made once a run; gives a client for each repository."""

    def __init__(
        self,
        transport: "Transport",
        *,
        token: str,
        workflow_repository: str,
        policy: RetryPolicy,
        see: See = lambda _: None,
    ) -> None:
        """Nothing is sent before the first call.

        ``workflow_repository`` is the repository whose workflow runs us, or nothing; ``see`` takes
        note of each repository that an answer describes.
        """
        self.limits = TokenLimits(token, policy.clock)
        """What GitHub has reported about the token, to any client."""
        self._session = partial(Session, transport, self.limits, policy, see=see)
        self._owner_files: dict[str, _OwnerFiles] = {}
        self._context = Context(
            transport.host, "", token.startswith(OF_INSTALLATION), workflow_repository
        )

    def client(self, target: str) -> Client:
        """Give a client for the registration of one repository (``owner/repo``)."""
        context = self._context._replace(target=target)
        return Client(self._session(context), self._owner_files)

    def many(self, require_time: Callable[[], None]) -> BulkClient:
        """Give a client for requests about many repositories; see `BulkClient` for the time."""
        return BulkClient(self._session(self._context), require_time)

    def check_token(self) -> None:
        """Learn whether the token is accepted, and its rate limits; the request counts to none."""
        request = Request("GET", "/rate_limit", msg("operation.token"), _rate_limits)
        ask = partial(self._session(self._context).request, request)
        # An Enterprise Server without rate limits: the token was accepted
        for limit in or_else(ask, {Kind.NOT_FOUND: (), Kind.NO_LIMITS: ()}):
            self.limits.note_rate_limit(*limit)


def _rate_limits(response: Response) -> list[tuple[Resource, int, int]]:
    resources = Fields(response.data).object("resources")
    return [
        (resource, limit.number("remaining"), limit.number("reset"))
        for resource in Resource
        if (limit := resources.object_or_none(resource))
    ]
