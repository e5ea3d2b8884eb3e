"""The requests of a run over many repositories that are about several repositories at once."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import closing
from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from github.Repository import Repository as GitHubRepository

from registrar.errors import ASK_FOR_LESS, ENDS_THE_READING, Failure, GitHubError, Kind, Refused
from registrar.github import parse, parse_graphql, queries, trees
from registrar.github.answer import GraphQLError, Response
from registrar.github.case import UNREADABLE, words_alone
from registrar.github.classify import failure_beside_data
from registrar.github.fields import Fields, UnusableAnswer, id_number
from registrar.github.graphql import GraphQL, PartialState, may_be_beside_data
from registrar.github.limits import PER_PAGE, Resource
from registrar.github.queries import Query
from registrar.github.rest import Rest
from registrar.github.session import Request, Session
from registrar.github.trees import ProvedDirectories
from registrar.models.repository import Repository, RepositoryState, Values
from registrar.models.selection import Exclusion
from registrar.runtime.concurrency import concurrently
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.transport import Attempt

_ASK_ABOUT_FEWER_AFTER = frozenset({Kind.TIMED_OUT, Kind.TRANSIENT, Kind.UNUSABLE})
_OLDEST_FIRST = {"sort": "created", "direction": "asc"}
"""In this order, a repository that is created meanwhile moves no other one to another page."""
PAGES_AT_ONCE = 3
"""The most pages of a list that are requested at the same time. They are few, because GitHub limits
the CPU time of a token (docs/github-behaviour.md, "Rate limits")."""
MOST_PAGES = 1000
"""The most pages that are requested in parallel because a ``Link`` announces them. Later pages are
requested one after the other."""
_LAST_PAGE = re.compile(r'[?&]page=(\d{1,9})[^<>]*>; *rel="last"')
Item = TypeVar("Item")


def points(repositories: int) -> int:
    """Return the points of the rate limit that a query about so many repositories costs."""
    query = queries.query(queries.repositories([]), [""], [""] * queries.NAMES_AT_ONCE)
    return query.points(repositories)


class BulkClient:
    """Lists repositories, and reads many of them at once; it writes nothing."""

    def __init__(self, session: Session, require_time: Callable[[], None]) -> None:
        """``require_time`` is called before each page of a list; it raises if the run must end."""
        self.require_time = require_time
        self.is_installation = session.context.is_installation
        """Whether the token is an App's, or a workflow's own."""
        self._session = session
        self.rest = Rest(session)
        self._graphql = GraphQL(session, self.rest)

    def of_installation(self) -> Iterator[Repository]:
        """List the repositories that an App's token may see.

        See "List repositories accessible to the app installation" in GitHub's documentation.
        """
        return self._listed("/installation/repositories", {}, "repositories")

    def of_owner(self, owner: str) -> Iterator[Repository]:
        """List the repositories of an organisation or a person that the token may see.

        GitHub's list for a person lacks private repositories. So the list of the token's user is
        read, too: it has them if the token is that person's, and otherwise repositories of another
        owner, which the caller leaves out. Single sign-on may hide organisations in this list,
        which does not matter. Raises `Refused` if no organisation or person has this name.
        """
        try:
            yield from self._listed(f"/orgs/{owner}/repos", _OLDEST_FIRST)
        except GitHubError as error:
            if error.kind is not Kind.NOT_FOUND:
                raise
            yield from self._of_person(owner)

    def _of_person(self, owner: str) -> Iterator[Repository]:
        try:
            yield from self._listed(f"/users/{owner}/repos", _OLDEST_FIRST)
        except GitHubError as error:
            if error.kind is Kind.NOT_FOUND:
                raise Refused(msg("many.no_owner", owner=owner)) from error
            raise
        if not self.is_installation:
            own = {"affiliation": "owner", **_OLDEST_FIRST}
            yield from self._listed("/user/repos", own, may_lack_organisations=True)

    def properties_of(self, owner: str) -> Mapping[int, Values]:
        """Return the custom properties of an organisation's repositories by their numbers."""
        operation = msg("operation.properties", target=owner)
        by_number: dict[int, Values] = {}
        for page in self._pages(partial(_properties, owner), operation):
            by_number |= page
        return by_number

    def require_requests(self, count: int) -> None:
        """Raise `Refused` if GitHub has said that fewer than ``count`` REST requests are left."""
        self._session.limits.require(Resource.REST, count)

    def inspect_many(
        self,
        repositories: Sequence[Repository],
        branches: Sequence[str],
        directories: Sequence[str],
        *,
        base: str,
        looks_into_branch: bool,
    ) -> list[RepositoryState | Exclusion | Failure]:
        """Read the state of up to 100 repositories with one query, as `GraphQL.inspect` does.

        The results are in the order of ``repositories``. In place of a state there is an
        `Exclusion` if nothing is to be done in the repository, or a `Failure` if it cannot be read.
        With ``looks_into_branch``, the directories are also read on the first of ``branches``.

        Raises `GitHubError` if the whole query fails; the caller then asks about fewer
        repositories, if there are several.
        """
        root = queries.repositories([repository.node_id for repository in repositories])
        asked = trees.to_ask(directories)
        query = queries.query(root, asked, branches, base=base, looks_into_branch=looks_into_branch)
        # After a failure that may be due to their number, the caller asks about fewer
        asks_less_after = _ASK_ABOUT_FEWER_AFTER if len(repositories) > 1 else ASK_FOR_LESS
        answers = self._graphql.ask(
            msg("operation.repositories", count=len(repositories)),
            query,
            partial(self._read_of, repositories, query),
            tolerates=_is_about_one,
            asks_less_after=asks_less_after,
        )
        return [
            each if isinstance(each, (Exclusion, Failure)) else self._state(*each)
            for each in answers
        ]

    def _state(self, state: RepositoryState, tree: ProvedDirectories) -> RepositoryState | Failure:
        try:
            return self._graphql.completed(state, tree)
        except (Refused, GitHubError) as error:
            if error.kind in ENDS_THE_READING:
                raise
            return error.failure

    def _read_of(
        self,
        repositories: Sequence[Repository],
        query: Query,
        data: Fields,
        response: Response,
    ) -> list[PartialState | Exclusion | Failure]:
        unreadable = _unreadable(response.graphql_errors)
        nodes, all_pulls = data.objects_or_null("nodes"), data.objects_or_null("pulls")
        if not len(nodes) == len(all_pulls) == len(repositories):
            raise UnusableAnswer("nodes and pulls have not one item for each id")
        states: list[PartialState | Exclusion | Failure] = []
        for index, (repository, node, pulls) in enumerate(
            zip(repositories, nodes, all_pulls, strict=True)
        ):
            error = unreadable.get(index)
            if node is not None and error is None:
                states.append(self._read_or_reason(node, pulls, query, response))
            elif error and (node is not None or error.type != parse_graphql.NOT_FOUND):
                about = response.with_errors(error.__eq__)
                operation = msg("operation.repository", target=repository.full_name)
                why = failure_beside_data(about, self._session.context, operation)
                message = msg("many.unreadable", reason=why.cause.message)
                words = words_alone(error.message, repository.full_name)
                states.append(Failure.of(message, Kind.PERMISSION, about=words))
            else:
                states.append(self.rest.not_found_error(repository.full_name).failure)
        return states

    def _read_or_reason(
        self,
        fields: Fields,
        pulls: Fields | None,
        query: Query,
        response: Response,
    ) -> PartialState | Exclusion | Failure:
        for field, reason in (
            ("isArchived", Exclusion.ARCHIVED),
            ("isDisabled", Exclusion.DISABLED),
            ("isLocked", Exclusion.LOCKED),
            ("isEmpty", Exclusion.EMPTY),
        ):
            if fields.flag(field):
                return reason
        if query.base and fields.object_or_null(query.base_field) is None:
            return Exclusion.NO_BASE
        try:
            return self._graphql.partial_state(fields, pulls, query, response)
        except Refused as refused:
            return refused.failure

    def _listed(
        self,
        target: str,
        parameters: Mapping[str, str],
        name: str = "",
        *,
        may_lack_organisations: bool = False,
    ) -> Iterator[Repository]:
        """List repositories; ``name`` is the field that has them, if the answer is an object.

        Raises `Refused` if single sign-on hides organisations in the list, unless
        ``may_lack_organisations``.
        """

        def read(attempt: "Attempt", page: int) -> "_Page[Repository]":
            # PyGithub's own lists would send a request for each attribute that an item lacks
            _, data = attempt.github.requester.requestJsonAndCheck(
                "GET", target, {**parameters, "per_page": PER_PAGE, "page": page}
            )
            is_partial = "partial-results" in attempt.headers.get("x-github-sso", "")
            if is_partial and not may_lack_organisations:
                raise Refused(msg("many.sso_partial"))
            items = data[name] if name else data
            if not isinstance(items, list):
                raise UnusableAnswer("not an array")
            requester = attempt.github.requester
            listed = [GitHubRepository(requester, {}, item, completed=True) for item in items]
            found = {
                id_number(each.id): self.rest.described(parse.repository(each)) for each in listed
            }
            return found, data.get("total_count") if name else None

        for page in self._pages(read):
            yield from page.values()

    def _pages(
        self,
        read: "Callable[[Attempt, int], _Page[Item]]",
        operation: Message | None = None,
    ) -> Iterator[dict[int, Item]]:
        """Yield the pages of a list, in their order.

        After the first page, which says how many there are, several are requested at a time. Raises
        `Refused` if a page repeats earlier ones.
        """
        seen = set[int]()

        def ask(number: int) -> tuple[dict[int, Item], object, str]:
            def call(attempt: "Attempt") -> tuple[dict[int, Item], object, str]:
                return *read(attempt, number), attempt.headers.get("link", "")

            self.require_time()
            what = operation or msg("operation.listing", number=number)
            return self._session.request(Request(what, call))

        first = ask(1)
        rest = range(2, 1 + _number_of_pages(first[-1]))
        with closing(concurrently(ask, rest, PAGES_AT_ONCE)) as known:
            answers = chain([first], known, map(ask, count(rest.stop)))
            for number, (page, total, link) in enumerate(answers, start=1):
                is_last = _is_last(link, total, page, len(seen | page.keys()))
                if not (is_last or page.keys() - seen):
                    # A gateway that drops the parameter `page` returns the same page for ever
                    raise Refused(msg("many.listing_repeats", number=number))
                yield page
                if is_last:
                    return
                seen |= page.keys()


_Page: TypeAlias = tuple[dict[int, Item], object]
"""The items of a page by their numbers, and the length of the whole list, if GitHub says it."""


def _number_of_pages(link: str) -> int:
    """Return how many pages the ``Link`` of the first one announces; 1 if it does not say it."""
    found = _LAST_PAGE.search(link)
    return min(int(found[1]), MOST_PAGES) if found else 1


def _is_last(link: str, total: object, page: Sized, listed: int) -> bool:
    """Whether this page is the last one; ``listed`` counts the items up to its end.

    Each page of a list of several pages has a ``Link``, but a gateway may drop it. Then the
    ``total`` decides. If GitHub does not say it, a page that is not full is the last one.
    """
    if link:
        return 'rel="next"' not in link
    if isinstance(total, int):
        return not page or listed >= total
    return len(page) < PER_PAGE


def _is_about_one(error: GraphQLError) -> bool:
    return may_be_beside_data(error) or (error.path[:1] == ("nodes",) and error.type in UNREADABLE)


def _unreadable(errors: Iterable[GraphQLError]) -> Mapping[int, GraphQLError]:
    """Return the first error about each repository, by its index in the query.

    Errors beside usable data do not count. If the token may not read the contents of a repository,
    the error is about ``defaultBranchRef`` (cli/cli#12798).
    """
    of_index: dict[int, GraphQLError] = {}
    for error in errors:
        match error.path:
            case ("nodes", int(index), *_) if not may_be_beside_data(error):
                of_index.setdefault(index, error)
    return of_index


def _properties(owner: str, attempt: "Attempt", number: int) -> _Page[Values]:
    listed = attempt.github.get_organization(owner).list_custom_property_values()
    page = listed.get_page(number - 1)
    if not attempt.is_array:
        raise UnusableAnswer("not an array")
    return {
        id_number(each.repository_id): parse.property_values(each.properties) for each in page
    }, None
