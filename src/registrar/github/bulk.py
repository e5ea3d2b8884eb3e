"""The requests of a run over many repositories that are not about a single one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple
from urllib.parse import quote

from registrar.errors import ASK_FOR_LESS, ENDS_THE_READING, Failure, GitHubError, Kind, Refused
from registrar.github import parse, parse_graphql, queries, trees
from registrar.github.case import TokenKind, words_alone
from registrar.github.classify import failure_beside_data
from registrar.github.exchange import GRAPHQL, GraphQLError, Request, Response
from registrar.github.fields import Fields, UnusableAnswer, objects
from registrar.github.graphql import UNREADABLE, GraphQL, PartlyRead, may_be_beside_data
from registrar.github.limits import Resource
from registrar.github.parse_graphql import Asked
from registrar.github.rest import Rest, none_if_missing
from registrar.github.session import Session
from registrar.models.repository import Repository, RepositoryState, Values
from registrar.models.selection import Exclusion
from registrar.models.standing import CodeownersError
from registrar.texts.messages import msg

PER_PAGE = 100
_ASK_ABOUT_FEWER_AFTER = frozenset({Kind.TIMED_OUT, Kind.TRANSIENT, Kind.UNUSABLE})
_OLDEST_FIRST = "sort=created&direction=asc"
"""What is created meanwhile moves no page."""


class _Page(NamedTuple):
    repositories: tuple[Repository, ...]
    is_last: bool
    is_partial: bool
    """Whether organisations that want single sign-on are missing from it."""


class BulkClient:
    """Lists repositories, and reads many of them at once; it writes nothing."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._rest = Rest(session)
        self._graphql = GraphQL(session, self._rest)

    @property
    def points_left(self) -> int | None:
        """Points of GraphQL that are left; ``None`` where GitHub has not said."""
        return self._session.limits.remaining(Resource.GRAPHQL)

    @property
    def left(self) -> tuple[int | None, ...]:
        """Requests and points that are left; ``None`` where GitHub has not said."""
        return tuple(map(self._session.limits.remaining, Resource))

    @property
    def is_installation(self) -> bool:
        """Whether the token is an App's, or a workflow's own."""
        return self._session.context.token_kind is TokenKind.INSTALLATION

    def of_installation(self) -> Iterator[Repository]:
        """List what an App's token may see (docs: "List repositories accessible to the app")."""
        return self._pages("/installation/repositories?", "repositories")

    def of_owner(self, owner: str) -> Iterator[Repository]:
        """List the repositories of an organisation or a person that the token may see.

        A person's private ones are in no list of that person, but in that of the token's user.
        That list may lack organisations, which have nothing to do with the person.
        """
        name = quote(owner)
        try:
            yield from self._pages(f"/orgs/{name}/repos?{_OLDEST_FIRST}")
        except GitHubError as error:
            if error.kind is not Kind.NOT_FOUND:
                raise
            yield from self._of_person(owner)

    def _of_person(self, owner: str) -> Iterator[Repository]:
        try:
            yield from self._pages(f"/users/{quote(owner)}/repos?{_OLDEST_FIRST}")
        except GitHubError as error:
            if error.kind is Kind.NOT_FOUND:
                raise Refused(msg("fleet.no_owner", owner=owner)) from error
            raise
        if not self.is_installation:
            own = f"/user/repos?affiliation=owner&{_OLDEST_FIRST}"
            yield from self._pages(own, may_lack_organisations=True)

    def properties_of(self, owner: str, require_time: Callable[[], None]) -> Mapping[int, Values]:
        """List the custom properties of an organisation's repositories, by their numbers.

        ``require_time`` raises where the run is to end.
        """
        name, number, by_number = quote(owner), 1, dict[int, Values]()
        while True:
            request = Request(
                "GET",
                f"/orgs/{name}/properties/values?per_page={PER_PAGE}&page={number}",
                msg("operation.properties", target=owner),
                _properties,
            )
            require_time()
            page = none_if_missing(partial(self._session.request, request))
            if page is None:
                raise Refused(msg("preflight.no_properties", target=owner))
            values, is_last = page
            if not (is_last or values.keys() - by_number.keys()):
                raise Refused(msg("fleet.listing_repeats", number=number))
            by_number |= values
            if is_last:
                return by_number
            number += 1

    def properties_of_one(self, repository: Repository) -> Values:
        """Give the custom properties of one repository; none where it is gone."""
        return self._rest.properties(repository._replace(goes_by_id=True)) or {}

    def listed(self, full_name: str) -> Repository:
        """Describe one repository as a list would."""
        return self._rest.repository(full_name)

    def inspect_many(
        self,
        repositories: Sequence[Repository],
        branches: Sequence[str],
        directories: Sequence[str],
    ) -> list[RepositoryState | Exclusion | Failure]:
        """Read what `GraphQL.inspect` reads of each of up to 100 repositories, in their order.

        Where there is no state there is the reason: why it is not worked on, or why it cannot be
        read. After a failure the caller asks about fewer of them, if there are several.
        """
        directories = trees.to_ask(directories)
        answers = self._session.request(
            Request(
                "POST",
                GRAPHQL,
                msg("operation.repositories", count=len(repositories)),
                lambda response: self._read_of(response, repositories, branches, directories),
                queries.body(
                    queries.repositories(branches, directories),
                    {
                        "ids": [repository.node_id for repository in repositories],
                        **queries.variables(directories),
                        **queries.branch_variables(branches),
                    },
                ),
                tolerates=_is_about_one,
                asks_less_after=_ASK_ABOUT_FEWER_AFTER if len(repositories) > 1 else ASK_FOR_LESS,
            )
        )
        return [self._state(each) if isinstance(each, PartlyRead) else each for each in answers]

    def codeowners(self, ids: Sequence[str]) -> list[tuple[CodeownersError, ...] | None]:
        """What GitHub finds wrong in ``CODEOWNERS`` of up to 100 repositories.

        ``ids`` are what GraphQL calls them. ``None`` where GitHub does not say.
        """

        def read(response: Response) -> list[tuple[CodeownersError, ...] | None]:
            refused = {error.path[:2] for error in response.graphql_errors}
            nodes = Fields(response.data).object("data").objects_or_null("nodes")
            if len(nodes) != len(ids):
                raise UnusableAnswer("nodes has not one item for each id")
            return [
                None if node is None or ("nodes", index) in refused else _codeowners(node)
                for index, node in enumerate(nodes)
            ]

        return self._session.request(
            Request(
                "POST",
                GRAPHQL,
                msg("operation.repositories", count=len(ids)),
                read,
                queries.body(queries.CODEOWNERS, {"ids": list(ids)}),
                tolerates=lambda error: error.path[:1] == ("nodes",),
                asks_less_after=_ASK_ABOUT_FEWER_AFTER if len(ids) > 1 else frozenset(),
            )
        )

    def _state(self, repository: PartlyRead) -> RepositoryState | Failure:
        """Give the whole state, or why it cannot be read."""
        try:
            return self._graphql.with_other_pages(self._graphql.completed(repository))
        except (Refused, GitHubError) as error:
            if error.kind in ENDS_THE_READING:
                raise
            return error.failure

    def _read_of(
        self,
        response: Response,
        repositories: Sequence[Repository],
        branches: Sequence[str],
        directories: Sequence[str],
    ) -> list[PartlyRead | Exclusion | Failure]:
        data = Fields(response.data).object("data")
        asked = Asked(branches, directories, response)
        unreadable = _unreadable(response.graphql_errors)
        nodes, all_pulls = data.objects_or_null("nodes"), data.objects_or_null("pulls")
        if not len(nodes) == len(all_pulls) == len(repositories):
            raise UnusableAnswer("nodes and pulls have not one item for each id")
        states: list[PartlyRead | Exclusion | Failure] = []
        for index, (repository, node, pulls) in enumerate(
            zip(repositories, nodes, all_pulls, strict=True)
        ):
            error = unreadable.get(index)
            if node is not None:
                self._rest.see(parse_graphql.identity(node))
            if node is not None and error is None:
                states.append(self._read_or_reason(node, pulls, asked, index))
            elif error and (node is not None or error.type != parse_graphql.NOT_FOUND):
                about = response.with_errors(error.__eq__)
                operation = msg("operation.repository", target=repository.full_name)
                why = failure_beside_data(about, self._session.context, operation)
                message = msg("fleet.unreadable", reason=why.cause.message)
                words = words_alone(error.message, repository.full_name)
                states.append(Failure.of(message, Kind.PERMISSION, about=words))
            else:
                states.append(self._rest.not_found_error(repository.full_name).failure)
        return states

    def _read_or_reason(
        self, fields: Fields, pulls: Fields | None, asked: Asked, index: int
    ) -> PartlyRead | Exclusion | Failure:
        for field, reason in (
            ("isArchived", Exclusion.ARCHIVED),
            ("isDisabled", Exclusion.DISABLED),
            ("isLocked", Exclusion.LOCKED),
            ("isEmpty", Exclusion.EMPTY),
        ):
            if fields.flag(field):
                return reason
        try:
            return self._graphql.partly_read(fields, pulls, asked, index)
        except Refused as refused:
            return refused.failure

    def _pages(
        self, target: str, name: str = "", *, may_lack_organisations: bool = False
    ) -> Iterator[Repository]:
        number, is_last = 1, False
        seen = set[int]()
        while not is_last:
            page: _Page = self._session.request(
                Request(
                    "GET",
                    f"{target}&per_page={PER_PAGE}&page={number}".replace("?&", "?"),
                    msg("operation.listing", number=number),
                    lambda response: self._page(response, name),
                )
            )
            if page.is_partial and not may_lack_organisations:
                raise Refused(msg("fleet.sso_partial"))
            new = {each.id for each in page.repositories} - seen
            if not (new or page.is_last):
                # A gateway that drops `page` would give the same one for ever
                raise Refused(msg("fleet.listing_repeats", number=number))
            seen |= new
            yield from page.repositories
            number, is_last = number + 1, page.is_last

    def _page(self, response: Response, name: str) -> _Page:
        listed = Fields(response.data).objects(name) if name else objects(response.data)
        repositories = tuple(self._rest.see(parse.repository(each)) for each in listed)
        if not all(each.id for each in repositories):
            raise UnusableAnswer("a repository without a number")
        return _Page(
            repositories,
            is_last='rel="next"' not in response.headers.get("link", ""),
            is_partial="partial-results" in response.headers.get("x-github-sso", ""),
        )


def _is_about_one(error: GraphQLError) -> bool:
    """Whether it is about one repository, and not a part of the answer that is left out."""
    return may_be_beside_data(error) or (error.path[:1] == ("nodes",) and error.type in UNREADABLE)


def _codeowners(node: Fields) -> tuple[CodeownersError, ...]:
    listed = node.object_or_none("codeowners")
    return parse.codeowners(listed) if listed else ()


def _unreadable(errors: Iterable[GraphQLError]) -> Mapping[int, GraphQLError]:
    """The first error about each repository, or about a part of it that is always there.

    Where the token may not read the contents it is about ``defaultBranchRef`` (cli/cli#12798).
    """
    of_index: dict[int, GraphQLError] = {}
    for error in errors:
        if error.path[:1] != ("nodes",) or may_be_beside_data(error):
            continue
        for index in error.path[1:2]:
            if isinstance(index, int):
                of_index.setdefault(index, error)
    return of_index


def _properties(response: Response) -> tuple[dict[int, Values], bool]:
    """Custom properties of repositories, and whether this is the last page."""
    values = {
        each.identity("repository_id"): parse.property_values(each.objects("properties"))
        for each in objects(response.data)
    }
    return values, 'rel="next"' not in response.headers.get("link", "")
