"""The requests to GitHub's GraphQL API: reading everything, or writing everything, at once."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import NamedTuple

from registrar.errors import GitHubError, Refused
from registrar.failure import ASK_FOR_LESS, Failure, Kind
from registrar.github import parse, parse_graphql, queries, trees
from registrar.github.classify import failure_beside_data
from registrar.github.fields import Fields
from registrar.github.parse_graphql import Asked, Path
from registrar.github.request import GRAPHQL, Model, Request
from registrar.github.response import GraphQLError, Response
from registrar.github.rest import Rest, none_if_missing, of_json
from registrar.github.session import Session
from registrar.github.trees import Known
from registrar.models.plan import Created, NewCommit, NewPullRequest
from registrar.models.repository import (
    BranchState,
    OwnerFiles,
    Repository,
    RepositoryState,
)
from registrar.texts.messages import msg

DIRECTORIES_PER_QUERY = 100
"""A query with 227 aliases was refused, one with 120 passed (hermes-ecosystem#825)."""
UNREADABLE = frozenset({"FORBIDDEN", "NOT_FOUND", "INSUFFICIENT_SCOPES"})
"""Types of the errors about what the token may not read; any other is about this one answer."""
_MAY_PUSH = frozenset({"WRITE", "MAINTAIN", "ADMIN"})
_DEFAULT_COMMIT = ("defaultBranchRef", "target")


class PartlyRead(NamedTuple):
    """What a query tells about a repository, the listings that are not proved included."""

    state: RepositoryState
    """Without entries and directories."""
    known: Known


class _Defaults(NamedTuple):
    """The same of an owner's repository ``.github``."""

    sha: str
    """The commit that was read; empty where nothing is inherited."""
    known: Known
    is_public: bool


class GraphQL:
    """The calls of the GraphQL API. May be used from several threads."""

    def __init__(self, session: Session, rest: Rest) -> None:
        """Nothing is sent before the first call."""
        self._session = session
        self._rest = rest

    def inspect(
        self,
        target: str,
        branches: Sequence[str],
        directories: Sequence[str],
        *,
        with_facts: bool = False,
        with_codeowners: bool = False,
    ) -> RepositoryState:
        """Read a repository, how the names ``branches`` stand, and ``directories``.

        Everything is read at one commit of the default branch, with the directories above those.
        ``target`` is ``owner/repo``. With facts the repository comes with what rules ask about it,
        its custom properties left out; with codeowners, with what GitHub finds wrong in that file.
        Where GitHub does not answer all at once, only the first of
        the names may be read.

        Raises:
            Refused: there is no such repository that the token may see, it is empty, or GitHub
                does not list a directory in full.
            GitHubError: no usable response.
        """

        names = list(branches)

        def ask(part: Sequence[str]) -> PartlyRead:
            return self._repository(
                target, names, part, with_facts=with_facts, with_codeowners=with_codeowners
            )

        def read(before: PartlyRead | None, part: Sequence[str]) -> PartlyRead:
            if before:
                state = before.state
                known = self._more(state.repository.full_name, state.base_sha, before.known, part)
                return before._replace(known=known)
            try:
                return ask(part)
            except GitHubError as error:
                if error.kind not in ASK_FOR_LESS or len(names) == 1:
                    raise
                del names[1:]
                if len(part) > 1:
                    raise
                return ask(part)

        repository = _in_parts(directories, read)
        return self.with_other_pages(self.completed(repository))

    def read_owner(self, owner: str, directories: Sequence[str]) -> OwnerFiles | None:
        """Read directories of the owner's repository ``.github``; ``None``: nothing is inherited.

        Nothing is inherited from a private one
        (https://docs.github.com/en/communities/setting-up-your-project-for-healthy-contributions).

        Raises:
            Refused: GitHub does not list a directory in full.
            GitHubError: no usable response.
        """
        full_name = f"{owner}/.github"

        def read(before: _Defaults | None, part: Sequence[str]) -> _Defaults:
            if before is None:
                return self._owner(owner, part)
            if not before.sha:
                return before
            return before._replace(known=self._more(full_name, before.sha, before.known, part))

        defaults = none_if_missing(lambda: _in_parts(directories, read))
        if defaults is None or not defaults.sha:
            return None
        known = self._whole(full_name, defaults.known)
        return OwnerFiles(known.directories, is_public=defaults.is_public)

    def create_everything(
        self, repository: Repository, commit: NewCommit, pull_request: NewPullRequest
    ) -> Created:
        """Create a branch, a commit on it and its pull request, in one request.

        GitHub does each of the three whether or not those before it were refused. So the request
        is not sent again when it may have been applied.

        Raises:
            GitHubError: no usable response.
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
                "baseRefName": repository.default_branch,
                "headRefName": pull_request.branch,
                "title": pull_request.title,
                "body": pull_request.body,
                "draft": pull_request.draft,
            },
        }
        created = self._session.request(
            Request(
                "POST",
                GRAPHQL,
                msg("operation.all_at_once", branch=commit.branch),
                lambda response: parse_graphql.created(response, pull_request.body),
                queries.body(queries.CREATE_EVERYTHING, variables),
                writes=True,
                idempotent=False,
            )
        )
        if created.branch_id or created.commit:
            self._session.note_branch(commit.branch, created.branch_id)
        if created.pull_request:
            self._session.note_made()
        return created

    def create_commit(self, repository: Repository, commit: NewCommit) -> str:
        """Create a commit on a branch and give its id.

        No author is sent, so that GitHub signs the commit where it can.

        Raises:
            GitHubError: also when the branch is no longer at ``commit.parent``.
        """
        commit_id = self._session.request(
            Request(
                "POST",
                GRAPHQL,
                msg("operation.commit", branch=commit.branch),
                parse_graphql.commit_id,
                queries.body(
                    queries.CREATE_COMMIT, {"commit": self._commit_input(repository, commit)}
                ),
                writes=True,
                may_lag=True,
            )
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

    def with_other_pages(self, state: RepositoryState) -> RepositoryState:
        """Read the pull requests of names that have more of them than one answer holds."""
        more = {
            name: BranchState(name, branch.head, self._rest.pull_requests(state.repository, name))
            for name, branch in state.branches.items()
            if branch.has_more
        }
        return state._replace(branches={**state.branches, **more}) if more else state

    def _repository(
        self,
        target: str,
        branches: Sequence[str],
        directories: Sequence[str],
        *,
        with_facts: bool,
        with_codeowners: bool,
    ) -> PartlyRead:
        owner, _, name = target.partition("/")
        variables = {
            "owner": owner,
            "name": name,
            **queries.variables(directories),
            **queries.branch_variables(branches),
        }
        try:
            repository = self._session.request(
                Request(
                    "POST",
                    GRAPHQL,
                    msg("operation.repository", target=target),
                    lambda response: self._read_in(response, target, branches, directories),
                    queries.body(
                        queries.repository(
                            branches,
                            directories,
                            with_facts=with_facts,
                            with_codeowners=with_codeowners,
                        ),
                        variables,
                    ),
                    tolerates=may_be_beside_data,
                    asks_less_after=_asks_less_after([*directories, *branches[1:]]),
                )
            )
        except GitHubError as error:
            if error.kind is Kind.NOT_FOUND:
                raise self._rest.not_found_error(target) from error
            raise
        if any(branch.pull_requests for branch in repository.state.branches.values()):
            # As with REST: one of them may be new
            self._session.note_made()
        return repository

    def _read_in(
        self, response: Response, target: str, branches: Sequence[str], directories: Sequence[str]
    ) -> PartlyRead:
        data = Fields(response.data).object("data")
        asked = Asked(branches, directories, response)
        repository = data.object("repository")
        self.note_seen(target, repository)
        for name, node_id in parse_graphql.branch_ids(repository, branches).items():
            self._session.note_branch(name, node_id)
        return self.partly_read(repository, data.object_or_null("pulls"), asked)

    def note_seen(self, known_as: str, fields: Fields) -> None:
        """Tell whether a repository is private now, before anything is said about it."""
        self._session.saw(known_as, fields.repository("nameWithOwner"), fields.flag("isPrivate"))

    def partly_read(
        self, fields: Fields, pulls: Fields | None, asked: Asked, *index: int
    ) -> PartlyRead:
        """Read a repository, the one with this ``index`` where an answer has several.

        ``pulls`` is where its pull requests stand in the answer.
        """
        full_name = fields.repository("nameWithOwner")
        if fields.flag("isEmpty"):
            raise Refused(msg("preflight.empty", target=full_name))
        default = fields.object_or_none("defaultBranchRef")
        if default is None:
            # GraphQL does not name the default branch of an empty repository
            gone = self._rest.repository(full_name).default_branch
            raise Refused(msg("preflight.no_default_branch", target=full_name, branch=gone))
        may_push = None
        if "viewerPermission" in fields:
            may_push = fields.text("viewerPermission") in _MAY_PUSH
        repository = Repository(
            full_name=full_name,
            default_branch=default.text("name"),
            html_url=fields.url("url"),
            archived=fields.flag("isArchived"),
            can_push=self._rest.user_may_push(says=may_push),
            is_fork=fields.flag("isFork"),
            node_id=fields.text("id"),
            facts=parse_graphql.facts(fields) if "repositoryTopics" in fields else None,
            number=fields.identity("databaseId") if "databaseId" in fields else 0,
            visibility=fields.text_or("visibility", "").lower(),
        )
        commit = default.object("target")
        names = parse_graphql.branches(fields, pulls, asked.branches, full_name)
        state = RepositoryState(
            repository,
            commit.text("oid"),
            entries={},
            branches=names or {},
            pull_requests_error=self._unread_pull_requests(asked, index) if names is None else None,
            codeowners=parse_graphql.codeowners(fields, asked, index),
        )
        where: Path = ("nodes", *index) if index else ("repository",)
        answers = parse_graphql.directories(commit, asked, (*where, *_DEFAULT_COMMIT))
        return PartlyRead(state, Known().learn(answers))

    def _owner(self, owner: str, directories: Sequence[str]) -> _Defaults:
        """Read the owner's repository ``.github``."""

        def read(response: Response) -> _Defaults:
            fields = Fields(response.data).object("data").object("repository")
            default = fields.object_or_none("defaultBranchRef")
            visibility = fields.text("visibility")
            if default is None or visibility == "PRIVATE":
                return _Defaults("", Known(), is_public=False)
            asked = Asked((), directories, response)
            commit = default.object("target")
            answers = parse_graphql.directories(commit, asked, ("repository", *_DEFAULT_COMMIT))
            is_public = visibility == "PUBLIC"
            return _Defaults(commit.object_id("oid"), Known().learn(answers), is_public)

        return self._session.request(
            Request(
                "POST",
                GRAPHQL,
                msg("operation.repository", target=f"{owner}/.github"),
                read,
                queries.body(
                    queries.owner(directories), {"owner": owner, **queries.variables(directories)}
                ),
                tolerates=parse_graphql.is_about_directory,
                asks_less_after=_asks_less_after(directories),
            )
        )

    def _more(self, full_name: str, commit: str, known: Known, directories: Sequence[str]) -> Known:
        """Read more directories of a commit."""
        owner, _, name = full_name.partition("/")

        def read(response: Response) -> Known:
            data = Fields(response.data).object("data")
            asked = Asked((), directories, response)
            fields = data.object("repository").object("object")
            answers = parse_graphql.directories(fields, asked, ("repository", "object"))
            return known.learn(answers)

        return self._session.request(
            Request(
                "POST",
                GRAPHQL,
                msg("operation.repository", target=full_name),
                read,
                queries.body(
                    queries.more_directories(directories),
                    {"owner": owner, "name": name, "oid": commit, **queries.variables(directories)},
                ),
                tolerates=parse_graphql.is_about_directory,
                asks_less_after=_asks_less_after(directories),
            )
        )

    def completed(self, repository: PartlyRead) -> RepositoryState:
        """Give the state with everything that is known to exist.

        Raises:
            Refused: GitHub does not list a directory in full.
            GitHubError: no usable response.
        """
        known = self._whole(repository.state.repository.full_name, repository.known)
        return repository.state._replace(
            entries=trees.entries_of(known.directories), directories=known.directories
        )

    def _whole(self, full_name: str, known: Known) -> Known:
        """Ask REST, which says whether it lists a tree in full, for each listing not proved.

        See https://docs.github.com/en/rest/git/trees#get-a-tree.
        """
        while known.unproved:
            path, listing = next(iter(known.unproved.items()))

            def read(data: object, known: Known = known, path: str = path) -> Known | None:
                whole = parse.listing(data)
                return whole and known.complete(path, whole)

            request = Request(
                "GET",
                f"/repos/{full_name}/git/trees/{listing.sha}",
                msg("operation.existence", path=f"{path}/"),
                of_json(read),
            )
            completed = self._session.request(request)
            if completed is None:
                raise Refused(msg("preflight.cut", target=full_name, directory=f"{path}/"))
            known = completed
        return known

    def _unread_pull_requests(self, asked: Asked, index: tuple[int, ...]) -> Failure:
        """Explain why pull requests could not be read, by the errors that are about them."""
        operation = msg("operation.pull_requests_unread")
        where = ("pulls", *index)
        about = asked.response.with_errors(lambda error: error.path[: len(where)] == where)
        return failure_beside_data(about, self._session.context, operation)


def _in_parts(
    directories: Sequence[str], read: Callable[[Model | None, Sequence[str]], Model]
) -> Model:
    """Read directories, and those above them, in parts that GitHub answers.

    ``read`` adds a part to what was read before it, which is ``None`` at first.
    """
    before: Model | None = None
    rest, size = trees.to_ask(directories), DIRECTORIES_PER_QUERY
    while True:
        part = rest[:size]
        try:
            before = read(before, part)
        except GitHubError as error:
            if error.kind not in ASK_FOR_LESS or len(part) == 1:
                raise
            # GitHub gave up on it, or on some of it, which says nothing about what exists
            size = len(part) // 2
        else:
            rest = rest[len(part) :]
            if not rest:
                return before


def _asks_less_after(parts: Sequence[str]) -> frozenset[Kind]:
    return ASK_FOR_LESS if len(parts) > 1 else frozenset()


def may_be_beside_data(error: GraphQLError) -> bool:
    """Whether the rest of the answer can be used: `parse_graphql` judges what it lacks."""
    return (
        is_about_pull_requests(error)
        or parse_graphql.is_about_directory(error)
        or parse_graphql.is_about_codeowners(error)
    )


def is_about_pull_requests(error: GraphQLError) -> bool:
    """Whether the error is that the token may not read the pull requests, or some of them.

    `parse_graphql.pull_requests` sees what is missing because of it.
    """
    return error.path[:1] == ("pulls",) and error.type in UNREADABLE
