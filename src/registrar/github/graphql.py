"""The requests to GitHub's GraphQL API: reading everything, or writing everything, at once."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import NamedTuple

from registrar.errors import ASK_FOR_LESS, Failure, GitHubError, Kind, Refused
from registrar.github import parse, parse_graphql, queries, trees
from registrar.github.classify import failure_beside_data
from registrar.github.exchange import GRAPHQL, GraphQLError, Model, Request, Response
from registrar.github.fields import Fields
from registrar.github.parse_graphql import Asked, Path
from registrar.github.rest import Rest, none_if_missing, of_json
from registrar.github.session import Session
from registrar.github.trees import Known
from registrar.models.plan import Created, NewCommit, NewPullRequest
from registrar.models.repository import (
    BranchState,
    Directories,
    OwnerFiles,
    Repository,
    RepositoryState,
    entries_in,
)
from registrar.texts.messages import msg

DIRECTORIES_PER_QUERY = 100
"""A query with 227 aliases was refused, one with 120 passed (hermes-ecosystem#825)."""
UNREADABLE = frozenset({"FORBIDDEN", "NOT_FOUND", "INSUFFICIENT_SCOPES"})
"""Types of the errors about what the token may not read; any other is about this one answer."""
_DEFAULT_COMMIT = ("defaultBranchRef", "target")


class PartlyRead(NamedTuple):
    """What a query tells about a repository, the listings that are not proved included."""

    state: RepositoryState
    """Without entries and directories."""
    known: Known


class _Commit(NamedTuple):
    """What is known of the commit that a query was about."""

    repository: Repository
    sha: str
    known: Known


class GraphQL:
    """The calls of the GraphQL API. May be used from several threads."""

    def __init__(self, session: Session, rest: Rest) -> None:
        self._session = session
        self._rest = rest

    def inspect(
        self,
        target: str,
        branches: Sequence[str],
        directories: Sequence[str],
        *,
        with_facts: bool = False,
    ) -> RepositoryState:
        """Read a repository, how the names ``branches`` stand, and ``directories``.

        Everything is read at one commit of the default branch, with the directories above those.
        ``target`` is ``owner/repo``. With facts the repository comes with what rules ask about it,
        its custom properties left out. Where GitHub does not answer all at once, only the first of
        the names is read. It is an error where there is no such repository that the token may see,
        where it is empty, or where GitHub does not list a directory in full.
        """

        def ask(part: Sequence[str]) -> tuple[RepositoryState, _Commit]:
            names = branches if part else branches[:1]
            read = self._repository(target, names, part, with_facts=with_facts)
            state = read.state
            return state, _Commit(state.repository, state.base_sha, read.known)

        state, listed = self._in_full(ask, directories)
        state = state._replace(entries=trees.entries_of(listed), directories=listed)
        return self.with_other_pages(state)

    def read_owner(self, owner: str, directories: Sequence[str]) -> OwnerFiles | None:
        """Read directories of the owner's repository ``.github``; ``None``: nothing is inherited.

        Nothing is inherited from a private one
        (https://docs.github.com/en/communities/setting-up-your-project-for-healthy-contributions).
        """

        def ask(part: Sequence[str]) -> tuple[bool, _Commit | None]:
            return self._owner(owner, part)

        found = none_if_missing(lambda: self._in_full(ask, directories))
        if found is None or not found[1]:
            return None
        is_public, listed = found
        return OwnerFiles(listed, is_public=is_public)

    def _in_full(
        self,
        ask: Callable[[Sequence[str]], tuple[Model, _Commit | None]],
        directories: Sequence[str],
    ) -> tuple[Model, Directories]:
        """Read directories, and those above them, in whatever way GitHub answers.

        ``ask`` sends the first query, with as many of them as one query takes, or with none. It
        gives what else it has read, and the commit, if there is one.
        """
        asked = trees.to_ask(directories)
        try:
            model, commit = ask(asked[:DIRECTORIES_PER_QUERY])
            return model, self._listed(commit, asked[DIRECTORIES_PER_QUERY:], DIRECTORIES_PER_QUERY)
        except GitHubError as error:
            if error.kind not in ASK_FOR_LESS:
                raise
        # GitHub gave up on it, or on some of it, which says nothing about what exists
        model, commit = ask(())
        tree = self._rest.tree(commit.repository, commit.sha) if commit else {}
        if tree is None:
            return model, self._listed(commit, asked, 1)
        listed = {path: entries_in(path, tree) for path in asked}
        return model, {path: entries for path, entries in listed.items() if entries}

    def _listed(
        self, commit: _Commit | None, directories: Sequence[str], at_once: int
    ) -> Directories:
        """Read more directories of a commit, ``at_once`` with a query, and complete them all."""
        if commit is None:
            return {}
        full_name, known = commit.repository.full_name, commit.known
        for start in range(0, len(directories), at_once):
            known = self._more(full_name, commit.sha, known, directories[start : start + at_once])
        return self._whole(full_name, known).directories

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
        if pull := created.pull_request:
            self._session.note_made()
            if pull.of:
                self._rest.see(pull.of)
        return created

    def create_commit(self, repository: Repository, commit: NewCommit) -> str:
        """Create a commit on a branch and give its id.

        No author is sent, so that GitHub signs the commit where it can.
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
                    lambda response: self._read_in(response, branches, directories),
                    queries.body(
                        queries.repository(branches, directories, with_facts=with_facts),
                        variables,
                    ),
                    tolerates=may_be_beside_data,
                    asks_less_after=_asks_less_after(directories),
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
        self, response: Response, branches: Sequence[str], directories: Sequence[str]
    ) -> PartlyRead:
        data = Fields(response.data).object("data")
        asked = Asked(branches, directories, response)
        repository = data.object("repository")
        self._rest.see(parse_graphql.identity(repository))
        for name, node_id in parse_graphql.branch_ids(repository, branches).items():
            self._session.note_branch(name, node_id)
        return self.partly_read(repository, data.object_or_null("pulls"), asked)

    def partly_read(
        self, fields: Fields, pulls: Fields | None, asked: Asked, *index: int
    ) -> PartlyRead:
        """Read a repository, the one with this ``index`` where an answer has several.

        ``pulls`` is where its pull requests stand in the answer.
        """
        repository = self._rest.see(parse_graphql.repository(fields))
        full_name = repository.full_name
        if fields.flag("isEmpty"):
            raise Refused(msg("preflight.empty", target=full_name))
        default = fields.object_or_none("defaultBranchRef")
        if default is None:
            # GraphQL does not name the default branch of an empty repository
            gone = self._rest.repository(full_name).default_branch
            raise Refused(msg("preflight.no_default_branch", target=full_name, branch=gone))
        commit = default.object("target")
        names = parse_graphql.branches(fields, pulls, asked.branches, full_name)
        state = RepositoryState(
            repository,
            commit.text("oid"),
            entries={},
            branches=names or {},
            pull_requests_error=self._unread_pull_requests(asked, index) if names is None else None,
        )
        where: Path = ("nodes", *index) if index else ("repository",)
        answers = parse_graphql.directories(commit, asked, (*where, *_DEFAULT_COMMIT))
        return PartlyRead(state, Known().learn(answers))

    def _owner(self, owner: str, directories: Sequence[str]) -> tuple[bool, _Commit | None]:
        """Read the owner's repository ``.github``: whether it is public, and its commit.

        There is none where nothing is inherited.
        """
        full_name = f"{owner}/.github"

        def read(response: Response) -> tuple[bool, _Commit | None]:
            fields = Fields(response.data).object("data").object("repository")
            default = fields.object_or_none("defaultBranchRef")
            visibility = fields.text("visibility")
            if default is None or visibility == "PRIVATE":
                return False, None
            asked = Asked((), directories, response)
            commit = default.object("target")
            answers = parse_graphql.directories(commit, asked, ("repository", *_DEFAULT_COMMIT))
            sha, known = commit.object_id("oid"), Known().learn(answers)
            return visibility == "PUBLIC", _Commit(Repository(full_name), sha, known)

        return self._session.request(
            Request(
                "POST",
                GRAPHQL,
                msg("operation.repository", target=full_name),
                read,
                queries.body(
                    queries.owner(directories), {"owner": owner, **queries.variables(directories)}
                ),
                tolerates=parse_graphql.is_about_directory,
                asks_less_after=_asks_less_after(directories),
            )
        )

    def _more(self, full_name: str, commit: str, known: Known, directories: Sequence[str]) -> Known:
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
        """Give the state with everything that is known to exist."""
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


def _asks_less_after(parts: Sequence[str]) -> frozenset[Kind]:
    return ASK_FOR_LESS if parts else frozenset()


def may_be_beside_data(error: GraphQLError) -> bool:
    """Whether the rest of the answer can be used: `parse_graphql` judges what it lacks."""
    return is_about_pull_requests(error) or parse_graphql.is_about_directory(error)


def is_about_pull_requests(error: GraphQLError) -> bool:
    """Whether the error is that the token may not read the pull requests, or some of them.

    `parse_graphql.pull_requests` sees what is missing because of it.
    """
    return error.path[:1] == ("pulls",) and error.type in UNREADABLE
