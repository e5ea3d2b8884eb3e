"""GitHub, as one token reaches it, and a client for each repository."""

from __future__ import annotations

from collections.abc import Sequence

from registrar.github.errors import GitHubError, Kind
from registrar.github.explain import Context, TokenKind
from registrar.github.fields import Fields
from registrar.github.graphql import GraphQLClient
from registrar.github.response import Response
from registrar.github.retry import Waiting
from registrar.github.transport import Connection
from registrar.models import OwnerFiles
from registrar.texts.messages import msg


class Client(GraphQLClient):
    """What a run asks of GitHub about one repository. May be used from several threads."""

    def __init__(
        self,
        connection: Connection,
        context: Context,
        owners: dict[tuple[str, Sequence[str]], OwnerFiles | None],
    ) -> None:
        """``owners`` holds what is known of the repositories ``.github`` in this run."""
        super().__init__(connection, context)
        self._owners = owners

    def owner_files(self, owner: str, directories: Sequence[str]) -> OwnerFiles | None:
        """Read directories of the owner's repository ``.github``, once a run."""
        key = (owner.lower(), tuple(directories))
        if key not in self._owners:
            self._owners[key] = self.read_owner(owner, directories)
        return self._owners[key]

    @property
    def scopes(self) -> frozenset[str] | None:
        """Scopes of a classic token; ``None`` where GitHub names none."""
        return self._connection.scopes

    @property
    def wrote(self) -> bool:
        """Whether any write has succeeded."""
        return self._connection.wrote

    def require_budget(self, requests: int) -> None:
        """Refuse to begin what the rate limit would not let end.

        Raises:
            Refused: fewer than ``requests`` requests are left.
        """
        self._connection.waiting.require_budget(requests)


class GitHub:
    """GitHub, as one token reaches it. Made once a run; gives a client for each repository."""

    def __init__(
        self, *, token: str, api_url: str, workflow_repository: str, waiting: Waiting
    ) -> None:
        """Nothing is sent before the first call.

        ``workflow_repository`` is the repository whose workflow runs us, or nothing.
        """
        self._token = token
        self._api_url = api_url
        self._workflow_repository = workflow_repository
        self._waiting = waiting
        self._owners: dict[tuple[str, Sequence[str]], OwnerFiles | None] = {}

    def client(self, target: str) -> Client:
        """Give a client for the registration of one repository (``owner/repo``)."""
        context = Context(target, TokenKind.of(self._token), self._workflow_repository)
        return Client(self._connection(context), context, self._owners)

    def check_token(self) -> None:
        """Learn whether the token is accepted, and the budget, without spending any of it.

        Raises:
            GitHubError: the token was rejected, or no usable response came.
        """
        connection = self._connection(Context("", TokenKind.of(self._token), ""))
        operation = msg("operation.token")
        try:
            response = connection.request("GET", "/rate_limit", operation, _tells_limits)
        except GitHubError as error:
            if error.kind in {Kind.NOT_FOUND, Kind.NO_LIMITS}:
                # An Enterprise Server without rate limits: the token was accepted
                return
            raise
        core = response.data["resources"].get("core") or response.data.get("rate") or {}
        self._waiting.note_budget(
            {f"x-ratelimit-{name}": str(core.get(name)) for name in ("remaining", "reset")}
        )

    def _connection(self, context: Context) -> Connection:
        return Connection(
            token=self._token, api_url=self._api_url, context=context, waiting=self._waiting
        )


def _tells_limits(response: Response) -> bool:
    Fields(response.data).object("resources")
    return True
