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
from registrar.github.trees import GitTree, ProvedTree
from registrar.models.repository import (
    BranchState,
    Directories,
    OwnerFiles,
    Repository,
    RepositoryState,
    entries_in,
)
from registrar.models.task import Created, NewCommit, NewPullRequest
from registrar.texts.messages import Message, msg

if TYPE_CHECKING:
    from registrar.github.transport import Attempt

DIRECTORIES_PER_QUERY = 100
"""A query with 227 aliases was refused, one with 120 passed (hermes-ecosystem#825)."""
PartialState: TypeAlias = tuple[RepositoryState, ProvedTree]
"""A state without entries and directories, and what a query says of those."""


def is_room_for_branch(directories: Sequence[str]) -> bool:
    """Whether a query may ask for these directories of two commits."""
    return 2 * len(directories) <= DIRECTORIES_PER_QUERY


def may_be_beside_data(error: GraphQLError) -> bool:
    """Whether the rest of the answer can be used: `parse_graphql` judges what it lacks.

    The token may not read the pull requests, or some of them, or a directory is not there.
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
        tolerates: Callable[[GraphQLError], bool] = parse_graphql.is_about_directory,
        asks_less_after: frozenset[Kind] | None = None,
    ) -> Model:
        """Send a query; ``read`` is given the ``data`` of the answer, and the whole of it.

        ``asks_less_after`` are the failures after which the caller asks for less; those that less
        may mend if directories are asked for.
        """
        if asks_less_after is None:
            asks_less_after = ASK_FOR_LESS if query.directories else frozenset()
        return self._send(
            operation, query, read, tolerates=tolerates, asks_less_after=asks_less_after
        )

    def _send(
        self,
        operation: Message,
        query: Query,
        read: Callable[[Fields, Response], Model],
        *,
        tolerates: Callable[[GraphQLError], bool] = lambda _: False,
        writes: bool = False,
        **options: Any,
    ) -> Model:
        """Send a request; ``options`` are those of `Request`."""

        def call(attempt: "Attempt") -> tuple[Model, Response]:
            answer = _answer(attempt, query, tolerates, writes=writes)
            return read(Fields(answer.data).object("data"), answer), answer

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
        """Read a repository, how the names ``branches`` stand, and ``directories``.

        Everything is read at one commit of the branch ``base`` (empty: the default branch), with
        the directories above those. That it does not exist is an error.
        ``target`` is ``owner/repo``. With facts the repository comes with what rules ask about it,
        its custom properties left out. The directories are also read of the first of the names,
        unless they are too many. Of the later names only branches that exist are read; where GitHub
        does not answer all at once, so are all but the first, which is read without its
        directories. It is an error if there is no such repository that the token may see, if it is
        empty, or if GitHub does not list a directory in full.
        """

        def ask(part: Sequence[str]) -> tuple[RepositoryState, Sequence[ProvedTree]]:
            query = queries.repository(
                target,
                branches,
                part,
                queries.NAMES_AT_ONCE if part else 1,
                base=base,
                with_facts=with_facts,
                looks_into_branch=bool(part) and is_room_for_branch(asked),
            )
            state, tree = self._repository(target, query)
            return state, [tree]

        asked = trees.to_ask(directories)
        state, [listed] = self._in_full(ask, directories)
        return self._with_directories(state, listed)

    def inspect_at(
        self,
        target: str,
        commits: Sequence[str],
        directories: Sequence[str],
        *,
        with_facts: bool = False,
    ) -> Sequence[RepositoryState]:
        """Read a repository, and ``directories`` at some of its commits, by their ids.

        With facts as `inspect`; it is an error if there is no such commit, too.
        """

        def ask(part: Sequence[str]) -> tuple[Repository, Sequence[ProvedTree]]:
            query = queries.at_commits(target, commits, part, with_facts=with_facts)
            return self._commits(target, commits, query)

        repository, listed = self._in_full(ask, directories, len(commits))
        return [
            self._with_directories(RepositoryState(repository, sha, {}), each)
            for sha, each in zip(commits, listed, strict=True)
        ]

    def read_owner(self, owner: str, directories: Sequence[str]) -> OwnerFiles | None:
        """Read directories of the owner's repository ``.github``; ``None``: nothing is inherited.

        Nothing is inherited from a private one
        (https://docs.github.com/en/communities/setting-up-your-project-for-healthy-contributions).
        """
        ask = partial(self._in_full, partial(self._owner, owner), directories)
        is_public, found = or_else(ask, {Kind.NOT_FOUND: (False, ())})
        return OwnerFiles(found[0], is_public=is_public) if any(found) else None

    def _in_full(
        self,
        ask: Callable[[Sequence[str]], tuple[Model, Sequence[ProvedTree]]],
        directories: Sequence[str],
        commits: int = 1,
    ) -> tuple[Model, Sequence[Directories]]:
        """Read directories, and those above them; in other ways if GitHub gives up on one query.

        ``ask`` sends the first query, with as many of them as one query may have, or with none. It
        gives what else it has read, and the trees of the ``commits`` that there are.
        """
        asked = trees.to_ask(directories)
        first = DIRECTORIES_PER_QUERY // commits
        try:
            model, found = ask(asked[:first])
            rest = asked[first:]
            return model, [self._listed(tree, rest, DIRECTORIES_PER_QUERY) for tree in found]
        except GitHubError as error:
            if error.kind not in ASK_FOR_LESS:
                raise
        # GitHub gave up on it, or on some of it, which says nothing about what exists
        model, found = ask(())
        return model, [self._of_whole_tree(tree, asked) for tree in found]

    def _of_whole_tree(self, tree: ProvedTree, asked: Sequence[str]) -> Directories:
        """Read directories of a commit from the list of all its paths, or one by one."""
        paths = self._rest.tree(Repository(tree.full_name), tree.commit)
        if paths is None:
            return self._listed(tree, asked, 1)
        listed = {path: entries_in(path, paths) for path in asked}
        return {path: entries for path, entries in listed.items() if entries}

    def _listed(self, tree: ProvedTree, directories: Sequence[str], at_once: int) -> Directories:
        """Read more directories of a commit, ``at_once`` with a query, and complete them all."""
        for start in range(0, len(directories), at_once):
            tree = self._more(tree, directories[start : start + at_once])
        return self._whole(tree)

    def create_everything(
        self, repository: Repository, commit: NewCommit, pull_request: NewPullRequest
    ) -> Created:
        """Create a branch, a commit on it and its pull request, in one request.

        GitHub does each of the three whether or not those before it were refused. So the request
        is not sent again when it may have been applied.
        """
        variables = {
            "ref": {
                "repositoryId": repository.node_id,
                "name": f"refs/heads/{commit.branch}",
                "oid": commit.parent,
            },
            # A branch that does not exist yet has no id. Where another repository has the name by
            # now, this is refused: it has no such branch at this commit
            "commit": self._commit_input(repository, commit),
            "pull": {
                "repositoryId": repository.node_id,
                "baseRefName": pull_request.base,
                "headRefName": pull_request.branch,
                "title": pull_request.title,
                "body": pull_request.body,
                "draft": pull_request.options.draft,
            },
        }
        created = self._send(
            msg("operation.all_at_once", branch=commit.branch),
            Query(queries.CREATE_EVERYTHING, variables),
            lambda data, _: parse_graphql.created(data, pull_request.body),
            writes=True,
            idempotent=False,
        )
        if created.branch_id or created.commit:
            self._session.note_branch(commit.branch, created.branch_id)
        if created.pull_request:
            self._session.note_described(created.pull_request.of)
            self._session.note_made()
        return created

    def create_commit(
        self,
        repository: Repository,
        commit: NewCommit,
        look_again: Callable[[], object] = lambda: None,
    ) -> str:
        """Create a commit on a branch and give its id.

        ``look_again`` is called before a repetition, and may raise.
        No author is sent, so that GitHub signs the commit if it can.
        """
        commit_id = self._send(
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

    def completed(self, state: RepositoryState, tree: ProvedTree) -> RepositoryState:
        """Give the state with everything that is known to exist."""
        return self._with_directories(state, self._whole(tree))

    def _with_directories(
        self, state: RepositoryState, directories: Directories
    ) -> RepositoryState:
        known = state.branches
        heads = {**(state.heads or {}), **{name: each.head for name, each in known.items()}}
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

    def _repository(self, target: str, query: Query) -> PartialState:
        def read(data: Fields, response: Response) -> PartialState:
            fields = data.object("repository")
            for name, node_id in parse_graphql.branch_ids(fields, query.branches).items():
                self._session.note_branch(name, node_id)
            return self.partial_state(fields, data.object_or_null("pulls"), query, response)

        state, tree = self._ask_for(target, query, read, may_be_beside_data)
        if any(branch.pull_requests for branch in state.branches.values()):
            # As with REST: one of them may be new
            self._session.note_made()
        return state, tree

    def _commits(
        self, target: str, commits: Sequence[str], query: Query
    ) -> tuple[Repository, Sequence[ProvedTree]]:
        def read(data: Fields, response: Response) -> tuple[Repository, Sequence[ProvedTree]]:
            fields = data.object("repository")
            repository = self._rest.described(parse_graphql.repository(fields))
            found: list[ProvedTree] = []
            for index, sha in enumerate(commits):
                commit = fields.object_or_null(f"c{index}")
                if commit is None or "oid" not in commit:
                    raise Refused(msg("preflight.no_ref", ref=sha, target=repository.full_name))
                where: Path = ("repository", f"c{index}")
                answers = parse_graphql.directories(commit, query, response, where)
                found.append(ProvedTree(repository.full_name, sha).learn(answers))
            return repository, found

        def tolerates(error: GraphQLError) -> bool:
            is_about_commit = error.path[:-1] == ("repository",) and error.type == "NOT_FOUND"
            return is_about_commit or parse_graphql.is_about_directory(error)

        return self._ask_for(target, query, read, tolerates)

    def _ask_for(
        self,
        target: str,
        query: Query,
        read: Callable[[Fields, Response], Model],
        tolerates: Callable[[GraphQLError], bool],
    ) -> Model:
        """Send a query about one repository; it is an error if the repository does not exist."""
        operation = msg("operation.repository", target=target)
        try:
            return self.ask(operation, query, read, tolerates)
        except GitHubError as error:
            if error.kind is Kind.NOT_FOUND:
                raise self._rest.not_found_error(target) from error
            raise

    def partial_state(
        self,
        fields: Fields,
        pulls: Fields | None,
        query: Query,
        response: Response,
        *index: int,
    ) -> PartialState:
        """Read a repository, the one with this ``index`` if an answer has several.

        ``pulls`` is where its pull requests stand in the answer.
        """
        repository = self._rest.described(parse_graphql.repository(fields))
        full_name = repository.full_name
        if fields.flag("isEmpty"):
            raise Refused(msg("preflight.empty", target=full_name))
        base = fields.object_or_none(query.base_field)
        if base is None and query.base:
            raise self._rest.no_branch_error(repository, query.base)
        if base is None:
            # GraphQL does not name the default branch of an empty repository
            gone = self._rest.repository(full_name).default_branch
            raise Refused(msg("preflight.no_default_branch", target=full_name, branch=gone))
        commit = base.object("target")
        sha = commit.text("oid")
        names = parse_graphql.branches(fields, pulls, query.branches, full_name)
        unread = self._unread_pull_requests(response, index) if names is None else None
        heads = parse_graphql.heads(fields, query.names, names) if names else None
        where: Path = ("nodes", *index) if index else ("repository",)
        if names and query.looks_into_branch:
            names = parse_graphql.with_entries(fields, query, response, where, names)
        state = RepositoryState(repository, sha, {}, names or {}, heads, pull_requests_error=unread)
        where = (*where, query.base_field, "target")
        answers = parse_graphql.directories(commit, query, response, where)
        return state, ProvedTree(full_name, sha).learn(answers)

    def _owner(self, owner: str, directories: Sequence[str]) -> tuple[bool, Sequence[ProvedTree]]:
        """Read the owner's repository ``.github``: whether it is public, and its files.

        There are none if nothing is inherited.
        """
        full_name, query = f"{owner}/.github", queries.owner(owner, directories)

        def read(data: Fields, response: Response) -> tuple[bool, Sequence[ProvedTree]]:
            fields = data.object("repository")
            default = fields.object_or_none("defaultBranchRef")
            visibility = fields.text("visibility")
            if default is None or visibility == "PRIVATE":
                return False, ()
            commit = default.object("target")
            where = ("repository", query.base_field, "target")
            answers = parse_graphql.directories(commit, query, response, where)
            tree = ProvedTree(full_name, commit.object_id("oid"))
            return visibility == "PUBLIC", [tree.learn(answers)]

        return self.ask(msg("operation.repository", target=full_name), query, read)

    def _more(self, tree: ProvedTree, directories: Sequence[str]) -> ProvedTree:
        query = queries.more_directories(tree.full_name, tree.commit, directories)

        def read(data: Fields, response: Response) -> ProvedTree:
            commit = data.object("repository").object("object")
            where = ("repository", "object")
            return tree.learn(parse_graphql.directories(commit, query, response, where))

        return self.ask(msg("operation.repository", target=tree.full_name), query, read)

    def _whole(self, tree: ProvedTree) -> Directories:
        """Ask REST, which says whether it lists a tree in full, for each listing not proved.

        See https://docs.github.com/en/rest/git/trees#get-a-tree.
        """
        while tree.unproved:
            path, listed = next(iter(tree.unproved.items()))

            def read(
                whole: GitTree | None, tree: ProvedTree = tree, path: str = path
            ) -> ProvedTree | None:
                return whole and tree.complete(path, whole)

            completed = self._rest.listing(Repository(tree.full_name), path, listed.sha, read)
            if completed is None:
                values = {"target": tree.full_name, "directory": f"{path}/"}
                raise Refused(msg("preflight.cut", **values))
            tree = completed
        return tree.directories

    def _unread_pull_requests(self, response: Response, index: Path) -> Failure:
        operation = msg("operation.pull_requests_unread")
        where = ("pulls", *index)
        about = response.with_errors(lambda error: error.path[: len(where)] == where)
        return failure_beside_data(about, self._session.context, operation)


def _answer(
    attempt: "Attempt", query: Query, tolerates: Callable[[GraphQLError], bool], *, writes: bool
) -> Response:
    """Ask PyGithub; raises `GithubException` if nothing was done, or the question not answered.

    Its ``graphql_query`` would treat every error beside the data as a refusal, with a status of its
    own.
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
    """Give what refuses a request in an answer with status 200, without the errors it expects.

    ``None`` if something was done, or the question was answered.
    """
    judged = answer.with_errors(lambda error: not tolerates(error))
    if answer.did_something:
        is_refused = not writes and bool(judged.graphql_errors)
    else:
        is_refused = bool(judged.message)
    return judged if is_refused else None
