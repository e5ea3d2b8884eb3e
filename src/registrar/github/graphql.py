"""The requests to GitHub's GraphQL API: reading everything, or writing everything, at once."""

import base64
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from github import GithubException

from registrar.errors import ASK_FOR_LESS, Failure, GitHubError, Kind, Refused
from registrar.github import parse_graphql, queries, trees
from registrar.github.answer import GraphQLError, Path, Response
from registrar.github.case import UNREADABLE
from registrar.github.classify import failure_beside_data
from registrar.github.fields import Fields
from registrar.github.queries import Query
from registrar.github.rest import Rest, or_else
from registrar.github.session import Model, Request, Session
from registrar.github.trees import GitDirectory, ProvedDirectories
from registrar.models.repository import (
    BranchState,
    Directories,
    OwnerFiles,
    Repository,
    RepositoryState,
    Unknown,
    entries_in,
)
from registrar.models.task import Created, NewCommit, NewPullRequest
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.transport import Attempt

_Read: TypeAlias = tuple[Model, Sequence[ProvedDirectories]]
"""A part of an answer, and the directories of each commit that the query has asked about."""
PartialState: TypeAlias = tuple[RepositoryState, ProvedDirectories]
"""A state that still lacks its entries and directories, and the answers of a query about them."""


def may_be_beside_data(error: GraphQLError) -> bool:
    """Whether the data of an answer can be used in spite of this error.

    It can if the token may not read some or all pull requests, or if a directory does not exist.
    `parse_graphql` then judges the parts that the data lacks.
    """
    is_about_pull_requests = error.path[:1] == ("pulls",) and error.type in UNREADABLE
    return is_about_pull_requests or parse_graphql.is_about_directory(error)


class GraphQL:
    """The calls of the GraphQL API. May be used from several threads."""

    def __init__(self, session: Session, rest: Rest) -> None:
        self._session = session
        self._rest = rest

    def ask(
        self,
        operation: Message,
        query: Query,
        read: Callable[[Fields, Response], Model],
        *,
        tolerates: Callable[[GraphQLError], bool] = parse_graphql.is_about_directory,
        writes: bool = False,
        **options: Any,
    ) -> Model:
        """Send a query or a mutation, and return the result of ``read``.

        ``read`` gets the ``data`` of the answer, and the whole answer. ``tolerates`` says of an
        error whether the data can be used in spite of it. ``options`` are passed on to `Request`;
        after `ASK_FOR_LESS`, the callers ask for less if the query asks for directories.
        """

        def call(attempt: "Attempt") -> tuple[Model, Response]:
            answer = _answer(attempt, query, tolerates, writes=writes)
            return read(Fields(answer.field("data")), answer), answer

        if query.directories:
            options = {"asks_less_after": ASK_FOR_LESS, **options}
        request = Request(operation, call, writes, one_at_a_time=True, **options)
        model, answer = self._session.request(request)
        if writes:
            self._session.note_limit_beside(answer)
        return model

    def inspect(
        self,
        target: str,
        branches: Sequence[str],
        directories: Sequence[str],
        *,
        base: str = "",
        with_facts: bool = False,
    ) -> RepositoryState:
        """Read a repository (``owner/repo``), its ``branches`` by their names, and ``directories``.

        The directories, and those above them, are read at the commit of the branch ``base`` (empty:
        the default branch). ``with_facts`` adds the language and the topics, which rules ask about;
        the custom properties are not read.

        Each branch is read with its pull requests. The first one is also read with the directories,
        unless they are too many for one query. Of the names after the first `NAMES_AT_ONCE`, only
        branches that exist are read. If GitHub does not answer all of the query, it is sent again
        without directories. Then the same holds for the names after the first one, and the first
        branch is read without its directories.

        Raises `Refused` if the token sees no such repository, if the repository is empty, if
        ``base`` does not exist, or if GitHub does not list a directory in full.
        """

        def read(query: Query, data: Fields, response: Response) -> _Read[RepositoryState]:
            fields = data.object("repository")
            for name, node_id in parse_graphql.branch_ids(fields, query.branches).items():
                self._session.note_branch(name, node_id)
            pulls = data.object_or_null("pulls")
            state, tree = self.partial_state(fields, pulls, query, response)
            return state, [tree]

        query = partial(
            queries.query,
            queries.repository(target),
            branches=branches,
            base=base,
            with_facts=with_facts,
            looks_into_branch=True,
        )
        ask = partial(self._ask_for, target, query, read, may_be_beside_data)
        state, [listed] = self._in_full(ask, directories)
        if any(branch.pull_requests for branch in state.branches.values()):
            # One of the pull requests may be new, as in a list of REST
            self._session.note_made()
        return self._with_directories(state, listed)

    def inspect_at(
        self,
        target: str,
        commits: Sequence[str],
        directories: Sequence[str],
        *,
        with_facts: bool = False,
    ) -> Sequence[RepositoryState]:
        """Read a repository, and ``directories`` at some of its commits; one state for each commit.

        ``commits`` are their ids. ``with_facts`` is that of `inspect`. Raises `Refused` if the
        token sees no such repository, if a commit does not exist, or if GitHub does not list a
        directory in full.
        """

        def read(query: Query, data: Fields, response: Response) -> _Read[Repository]:
            fields = data.object("repository")
            repository = self._rest.described(parse_graphql.repository(fields))
            found: list[ProvedDirectories] = []
            for index, sha in enumerate(commits):
                commit = fields.object_or_null(f"c{index}")
                if commit is None or "oid" not in commit:
                    raise Refused(msg("preflight.no_ref", ref=sha, target=repository.full_name))
                tree = parse_graphql.directories(repository.full_name, commit, query, response)
                found.append(tree)
            return repository, found

        def tolerates(error: GraphQLError) -> bool:
            is_about_commit = error.path[:-1] == ("repository",) and error.type == "NOT_FOUND"
            return is_about_commit or parse_graphql.is_about_directory(error)

        root = queries.at_commits(target)
        query = partial(queries.query, root, commits=commits, with_facts=with_facts)
        ask = partial(self._ask_for, target, query, read, tolerates)
        repository, listed = self._in_full(ask, directories, len(commits))
        return [
            self._with_directories(RepositoryState(repository, sha, {}), each)
            for sha, each in zip(commits, listed, strict=True)
        ]

    def read_owner(self, owner: str, directories: Sequence[str]) -> OwnerFiles | None:
        """Read directories of the owner's repository ``.github``; ``None``: nothing is inherited.

        A private repository ``.github`` passes on nothing
        (https://docs.github.com/en/communities/setting-up-your-project-for-healthy-contributions).
        """
        ask = partial(self._in_full, partial(self._owner, owner), directories)
        is_public, found = or_else(ask, {Kind.NOT_FOUND: (False, ())})
        return OwnerFiles(found[0], is_public=is_public) if any(found) else None

    def _in_full(
        self,
        ask: "Callable[[Sequence[str]], _Read[Model]]",
        directories: Sequence[str],
        commits: int = 1,
    ) -> tuple[Model, Sequence[Directories]]:
        """Read directories, and those above them, of one or more commits.

        ``ask`` sends the first query, for as many directories as one query may have; further
        queries read the others. It returns the model that it has read besides, and one tree for
        each commit (at most ``commits``). If GitHub does not answer in full, ``ask`` is called
        without directories, which are then read in other ways.
        """
        asked = trees.to_ask(directories)
        first = queries.DIRECTORIES_PER_QUERY // commits
        try:
            model, found = ask(asked[:first])
            rest = asked[first:]
            at_once = queries.DIRECTORIES_PER_QUERY
            return model, [self._listed(tree, rest, at_once) for tree in found]
        except GitHubError as error:
            if error.kind not in ASK_FOR_LESS:
                raise
        # GitHub did not answer all of the query, so nothing is concluded about what exists
        model, found = ask(())
        return model, [self._of_whole_tree(tree, asked) for tree in found]

    def _of_whole_tree(self, tree: ProvedDirectories, asked: Sequence[str]) -> Directories:
        """Read directories of a commit from the list of all its paths.

        If GitHub cuts that list, they are read one by one.
        """
        paths = self._rest.tree(Repository(tree.full_name), tree.commit)
        if paths is None:
            return self._listed(tree, asked, 1)
        listed = {path: entries_in(path, paths) for path in asked}
        return {path: entries for path, entries in listed.items() if entries}

    def _listed(
        self, tree: ProvedDirectories, directories: Sequence[str], at_once: int
    ) -> Directories:
        """Read more directories of a commit, ``at_once`` in a query, and complete all listings."""
        for start in range(0, len(directories), at_once):
            tree = self._more(tree, directories[start : start + at_once])
        return self._whole(tree)

    def create_everything(
        self,
        repository: Repository,
        commit: NewCommit,
        pull_request: NewPullRequest,
        look_again: Callable[[], object] = lambda: None,
    ) -> Created:
        """Create a branch, a commit on it and its pull request, in one request.

        GitHub carries out each of the three even if it has refused the ones before. So the request
        is not sent again if it may have been applied, and the result says which of them were done.
        ``look_again`` is called as for `create_commit`.
        """
        variables = {
            "ref": {
                "repositoryId": repository.node_id,
                "name": f"refs/heads/{commit.branch}",
                "oid": commit.parent,
            },
            # A branch that does not exist yet has no id. If another repository has the name by now,
            # GitHub refuses the commit, because that one has no such branch at this commit
            "commit": self._commit_input(repository, commit),
            "pull": {
                "repositoryId": repository.node_id,
                "baseRefName": pull_request.base_branch,
                "headRefName": pull_request.branch,
                "title": pull_request.title,
                "body": pull_request.body,
                "draft": pull_request.options.draft,
            },
        }
        created = self.ask(
            msg("operation.all_at_once", branch=commit.branch),
            Query(queries.CREATE_EVERYTHING, variables),
            lambda data, _: parse_graphql.created(data, pull_request.body),
            writes=True,
            idempotent=False,
            look=look_again,
            has_looked=True,
        )
        if created.branch_id or created.commit:
            self._session.note_branch(commit.branch, created.branch_id)
        if pull := created.pull_request:
            self._session.note_made()
            return created._replace(pull_request=pull.at(repository))
        return created

    def create_commit(
        self,
        repository: Repository,
        commit: NewCommit,
        look_again: Callable[[], object] = lambda: None,
    ) -> str:
        """Create a commit on a branch and return its id.

        ``look_again`` is called after each pause; an error that it raises ends the request. No
        author is sent, so that GitHub signs the commit if it can.
        """
        commit_id = self.ask(
            msg("operation.commit", branch=commit.branch),
            Query(queries.CREATE_COMMIT, {"commit": self._commit_input(repository, commit)}),
            lambda data, _: parse_graphql.commit_id(data),
            writes=True,
            may_lag=True,
            look=look_again,
            has_looked=True,
        )
        self._session.note_made()
        return commit_id

    def _commit_input(self, repository: Repository, commit: NewCommit) -> dict[str, object]:
        additions = [
            {"path": file.path, "contents": base64.b64encode(file.content).decode("ascii")}
            for file in commit.files
        ]
        by_name = {
            "repositoryNameWithOwner": repository.full_name,
            "branchName": commit.branch,
        }
        branch_id = self._session.branches.get(commit.branch)
        return {
            "branch": {"id": branch_id} if branch_id else by_name,
            "expectedHeadOid": commit.parent,
            "message": {"headline": commit.headline, "body": commit.body},
            "fileChanges": {"additions": additions},
        }

    def completed(self, state: RepositoryState, tree: ProvedDirectories) -> RepositoryState:
        """Return a state from `partial_state` with its entries, directories and branches.

        Listings that are not proved, and pull requests that the query did not return, are read by
        REST. Raises `Refused` if GitHub does not list a directory in full.
        """
        return self._with_directories(state, self._whole(tree))

    def _with_directories(
        self, state: RepositoryState, directories: Directories
    ) -> RepositoryState:
        known = state.branches
        heads: dict[str, str | None] = {name: each.head for name, each in known.items()}
        if not isinstance(state.heads, Unknown):
            heads = {**state.heads, **heads}
        more = {
            name: known.get(name, BranchState(name, head))._replace(
                pull_requests=self._rest.pull_requests(state.repository, name), has_more=False
            )
            for name, head in heads.items()
            if name not in known or known[name].has_more
        }
        return state._replace(
            entries=trees.entries_of(directories),
            directories=directories,
            branches={**known, **more},
        )

    def _ask_for(
        self,
        target: str,
        query: Callable[[Sequence[str]], Query],
        read: Callable[[Query, Fields, Response], Model],
        tolerates: Callable[[GraphQLError], bool],
        directories: Sequence[str],
    ) -> Model:
        """Send a query about one repository; raises `Refused` if the token sees no such one."""
        operation, asked = msg("operation.repository", target=target), query(directories)
        try:
            return self.ask(operation, asked, partial(read, asked), tolerates=tolerates)
        except GitHubError as error:
            if error.kind is Kind.NOT_FOUND:
                raise self._rest.not_found_error(target) from error
            raise

    def partial_state(
        self, fields: Fields, pulls: Fields | None, query: Query, response: Response
    ) -> PartialState:
        """Read a state from the ``fields`` of a repository in an answer.

        ``pulls`` are the fields with its pull requests. Raises `Refused` if the repository is empty
        or lacks its base branch.
        """
        repository = self._rest.described(parse_graphql.repository(fields))
        full_name = repository.full_name
        if fields.flag("isEmpty"):
            raise Refused(msg("preflight.empty", target=full_name))
        base = fields.object_or_null(query.base_field)
        if base is None and query.base:
            raise self._rest.no_branch_error(repository, query.base)
        if base is None:
            # GraphQL does not name a default branch that does not exist
            gone = self._rest.repository(full_name).default_branch
            raise Refused(msg("preflight.no_default_branch", target=full_name, branch=gone))
        tree = parse_graphql.directories(full_name, base.object("target"), query, response)
        state = RepositoryState(repository, tree.commit, {})
        names = parse_graphql.branches(fields, pulls, query, response, full_name)
        if isinstance(names, Unknown):
            unread = self._unread_pull_requests(response, fields.path[1:])
            return state._replace(pull_requests_error=unread), tree
        heads = parse_graphql.heads(fields, query.names, names)
        return state._replace(branches=names, heads=heads), tree

    def _owner(self, owner: str, directories: Sequence[str]) -> "_Read[bool]":
        """Read the owner's repository ``.github``: whether it is public, and its directories.

        If nothing is inherited, there is no tree of directories.
        """
        full_name, query = f"{owner}/.github", queries.query(queries.owner(owner), directories)

        def read(data: Fields, response: Response) -> _Read[bool]:
            fields = data.object("repository")
            default = fields.object_or_null("defaultBranchRef")
            visibility = fields.text("visibility")
            if default is None or visibility == "PRIVATE":
                return False, ()
            commit = default.object("target")
            tree = parse_graphql.directories(full_name, commit, query, response)
            return visibility == "PUBLIC", [tree]

        return self.ask(msg("operation.repository", target=full_name), query, read)

    def _more(self, tree: ProvedDirectories, directories: Sequence[str]) -> ProvedDirectories:
        root = queries.at_commits(tree.full_name)
        query = queries.query(root, directories, commits=[tree.commit])

        def read(data: Fields, response: Response) -> ProvedDirectories:
            commit = data.object("repository").object("c0")
            return tree.learn(parse_graphql.listings(commit, query, response))

        return self.ask(msg("operation.repository", target=tree.full_name), query, read)

    def _whole(self, tree: ProvedDirectories) -> Directories:
        """Replace each unproved listing by that of REST, which says if it lists a tree in full.

        See https://docs.github.com/en/rest/git/trees#get-a-tree. Raises `Refused` if it does not.
        """
        while isinstance(directories := tree.directories, Unknown):
            path, listed = next(iter(tree.unproved.items()))

            def read(
                whole: GitDirectory | None, tree: ProvedDirectories = tree, path: str = path
            ) -> ProvedDirectories | None:
                return whole and tree.complete(path, whole)

            completed = self._rest.listing(Repository(tree.full_name), path, listed.sha, read)
            if completed is None:
                values = {"target": tree.full_name, "directory": f"{path}/"}
                raise Refused(msg("preflight.cut", **values))
            tree = completed
        return directories

    def _unread_pull_requests(self, response: Response, index: Path) -> Failure:
        operation = msg("operation.pull_requests_unread")
        where = ("pulls", *index)
        about = response.with_errors(lambda error: error.path[: len(where)] == where)
        return failure_beside_data(about, self._session.context, operation)


def _answer(
    attempt: "Attempt", query: Query, tolerates: Callable[[GraphQLError], bool], *, writes: bool
) -> Response:
    """Send a query; raises `GithubException` if GitHub did nothing or did not answer the question.

    PyGithub's ``graphql_query`` is not used, because it treats every error beside the data as a
    refusal, with a status that GitHub did not send.
    """
    requester = attempt.github.requester
    body = {"query": query.text, "variables": dict(query.variables)}
    headers, data = requester.requestJsonAndCheck("POST", requester.graphql_url, input=body)
    answer = attempt.response(data)
    if refused := refusal(answer, tolerates, writes=writes):
        raise GithubException(refused.status, refused.data, headers)
    return answer


def refusal(
    answer: Response, tolerates: Callable[[GraphQLError], bool], *, writes: bool
) -> Response | None:
    """Return an answer of GraphQL with status 200 if it refuses the request; otherwise ``None``.

    It is ``None`` if something was done, or the question was answered. The result lacks the errors
    that ``tolerates`` accepts.
    """
    judged = answer.with_errors(lambda error: not tolerates(error))
    if answer.did_something:
        is_refused = not writes and bool(judged.graphql_errors)
    else:
        is_refused = bool(judged.message)
    return judged if is_refused else None
