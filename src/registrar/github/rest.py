"""The calls of GitHub's REST API, which PyGithub sends, and whose answers become our models.

Each call is one function that gets PyGithub's object of a repository and sends one request. The
objects are lazy: making one sends nothing, and PyGithub completes an object only if we ask for it.

Some calls go through `Requester.requestJsonAndCheck`, which returns JSON in place of an object:

- the id of the commit that a reference names, because ``get_commits`` fetches a hundred commits;
- branches by the beginning of their names, because PyGithub adds ``per_page``, which GitHub does
  not describe for this list;
- trees, because 100,000 objects for one tree would cost half a second, and memory;
- the root directory, because PyGithub's address ends with a slash (see `_contents`);
- requests for reviews, because PyGithub does not read the answer;
- lists of repositories (`bulk`), because PyGithub would request each attribute that an item lacks.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from github.ContentFile import ContentFile
from github.GithubObject import GithubObject, NotSet, Opt
from github.GitRef import GitRef
from github.PaginatedList import PaginatedList
from github.PullRequest import PullRequest as GitHubPullRequest
from github.Repository import Repository as GitHubRepository

from registrar.errors import ENDS_THE_READING, GitHubError, Kind, Refused, RegistrarError
from registrar.github import parse
from registrar.github.fields import Absent, Fields, UnusableAnswer, id_number, text
from registrar.github.limits import PER_PAGE
from registrar.github.session import Model, Request, Session
from registrar.github.trees import GitDirectory
from registrar.models.files import FileDefinition
from registrar.models.repository import (
    Comparison,
    Entry,
    PullRequest,
    Repository,
    Tree,
    Unknown,
    Values,
)
from registrar.models.task import Change, NewPullRequest
from registrar.texts.messages import Message, msg
from registrar.texts.spelling import alike

if TYPE_CHECKING:
    from registrar.github.transport import Attempt

Other = TypeVar("Other")
_NOT_FOUND: Mapping[Kind, None] = {Kind.NOT_FOUND: None}
Item = TypeVar("Item", bound=GithubObject)


class _Settled(Exception):
    """A write is not sent, because nothing is to be changed (``None``) or an earlier try did it."""

    def __init__(self, pull_request: PullRequest | None) -> None:
        super().__init__()
        self.pull_request = pull_request


class Rest:
    """The calls of the REST API. May be used from several threads.

    Each call raises `GitHubError` if GitHub refuses the request, or sends no usable answer.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def _ask(
        self,
        repository: Repository,
        operation: Message,
        call: Callable[[GitHubRepository], Model],
        **options: Any,
    ) -> Model:
        """Send a request about a repository; ``options`` are passed on to `Request`."""
        return self._session.request(
            Request(operation, lambda attempt: call(_of(attempt, repository)), **options)
        )

    def _find(
        self,
        repository: Repository,
        operation: Message,
        call: Callable[[GitHubRepository], Model],
        instead: Mapping[Kind, Other],
        **options: Any,
    ) -> Model | Other:
        """Read something that may not exist, as `or_else` does."""
        return or_else(partial(self._ask, repository, operation, call, **options), instead)

    def _write(
        self,
        repository: Repository,
        operation: Message,
        call: Callable[[GitHubRepository], Model],
        **options: Any,
    ) -> Model:
        """Send a write that is about something known to exist, so that "not found" may be lag."""
        return self._ask(repository, operation, call, writes=True, may_lag=True, **options)

    # --- Reads ----------------------------------------------------------------------------

    def repository(self, full_name: str) -> Repository:
        """Read a repository; if it was renamed, the result has its new name.

        Raises `Refused` if the token sees no such repository.
        """
        operation = msg("operation.repository", target=full_name)
        found = self._find(Repository(full_name), operation, self._complete, _NOT_FOUND)
        if found is None:
            raise self.not_found_error(full_name)
        return found

    def again(self, repository: Repository) -> Repository:
        """Read a repository once more, because it may have changed."""
        operation = msg("operation.repository", target=repository.full_name)
        return self._ask(repository, operation, self._complete)

    def takes_pull_requests(self, repository: Repository) -> bool:
        """Read once more whether pull requests are switched on; true if this cannot be read."""
        with suppress(RegistrarError):
            return self.again(repository).takes_pull_requests
        return True

    def not_found_error(self, full_name: str) -> Refused:
        """Return the error for a repository that does not exist, or that the token may not see."""
        key = "preflight.own_token" if self._session.context.is_foreign else "preflight.not_found"
        return Refused(msg(key, target=full_name, own=self._session.context.workflow_repository))

    def described(self, repository: Repository) -> Repository:
        """Return a repository as an answer describes it, with a right that counts.

        ``can_push`` is the right of the token's user. An App's token, and a workflow's own,
        authenticate no user, and GitHub says of them that they may not push, even if they may
        (AlexanderMattTurner/agent-glovebox#5127). For these tokens it becomes ``None``.
        """
        is_installation = self._session.context.is_installation
        return repository._replace(can_push=None) if is_installation else repository

    def with_properties(self, repository: Repository) -> Repository:
        """Return a repository with its custom properties, which are read if it lacks them.

        Raises `Refused` if GitHub does not show them.
        """
        if repository.properties is not None:
            return repository
        properties = self.properties(repository)
        if properties is None:
            raise Refused(msg("preflight.no_properties", target=repository.full_name))
        return repository._replace(properties=properties)

    def properties(self, repository: Repository) -> Values | None:
        """Read the custom properties of a repository; ``None`` if GitHub answers "Not Found"."""

        def call(attempt: "Attempt") -> Values:
            properties = _of(attempt, repository).get_custom_properties()
            _require_array(attempt)
            return parse.property_values(properties)

        operation = msg("operation.properties", target=repository.full_name)
        ask = partial(self._session.request, Request(operation, call))
        return or_else(ask, {Kind.NOT_FOUND: None})

    def may_write(self, repository: Repository, login: str) -> bool | None:
        """Whether an account may write to a repository; ``None`` if GitHub refuses to say it.

        Only tokens that may push get an answer (yegor256/rultor#1407). ``False`` if the account is
        gone, or does not belong to a person (anthropics/claude-code-action#1018).
        """
        return self._find(
            repository,
            msg("operation.role", login=login),
            lambda given: parse.may_write(given.get_collaborator_permission(login)),
            {Kind.NOT_FOUND: False, Kind.PERMISSION: None},
        )

    def branch_head(self, repository: Repository, branch: str) -> str | None:
        """Return the commit id of a branch; ``None`` if there is no such branch.

        If GitHub has said before that the branch exists, "not found" may be lag: the request is
        repeated.
        """
        return self._find(
            repository,
            msg("operation.reference", branch=branch),
            lambda given: self._head_of(branch, given.get_git_ref(f"heads/{branch}")),
            _NOT_FOUND,
            may_lag=branch in self._session.branches,
        )

    def commit(self, repository: Repository, ref: str) -> str | None:
        """Return the id of the commit that a branch, a tag or another reference names, or ``None``.

        The commit is the first one of a list, because this is also right for an annotated tag,
        which is an object of its own.
        """
        parameters = {"sha": ref, "per_page": 1}
        return self._find(
            repository,
            msg("operation.reference", branch=ref),
            lambda given: parse.first_commit(_json(given, "commits", parameters)),
            _NOT_FOUND,
        )

    def entry(
        self, repository: Repository, path: str, ref: str, *, may_lag: bool = False
    ) -> Entry | None:
        """Return the entry at ``path`` of ``ref``; ``None`` if there is none.

        If a file is too large to be shown, its entry has no mode and no id. ``may_lag`` says that
        GitHub has just said that the path exists: "not found" may be lag.
        """
        return self._find(
            repository,
            msg("operation.existence", path=path),
            lambda given: parse.entry(_contents(given, path, ref)),
            {Kind.NOT_FOUND: None, Kind.TOO_LARGE: Entry("blob", "", "")},
            may_lag=may_lag,
        )

    def directory(self, repository: Repository, path: str, ref: str) -> Mapping[str, Entry] | None:
        """Return the entries of a directory of ``ref``; ``None`` if there is no such directory.

        GitHub lists at most `MOST_LISTED` entries.
        """
        return self._find(
            repository,
            msg("operation.existence", path=f"{path}/"),
            lambda given: parse.directory(_contents(given, path, ref)),
            _NOT_FOUND,
        )

    def tree(self, repository: Repository, commit: str) -> Tree | None:
        """Return every path of a commit, without directories; ``None`` if GitHub cuts the list."""
        return self._ask(
            repository,
            msg("operation.tree", commit=commit),
            lambda given: parse.tree(_json(given, f"git/trees/{commit}", {"recursive": 1})),
        )

    def listing(
        self,
        repository: Repository,
        directory: str,
        sha: str,
        read: Callable[[GitDirectory | None], Model],
    ) -> Model:
        """Read the entries of a directory by the id of its tree, and return the result of ``read``.

        ``read`` gets ``None`` if GitHub cuts the list.
        """
        operation = msg("operation.existence", path=f"{directory}/")
        return self._ask(
            repository,
            operation,
            lambda given: read(parse.git_tree(_json(given, f"git/trees/{sha}"))),
        )

    def blob(self, repository: Repository, sha: str) -> bytes:
        """Return the content of a file (up to 100 MB) by the id of its blob."""
        operation = msg("operation.blob", sha=sha)
        return self._ask(repository, operation, lambda given: parse.blob(given.get_git_blob(sha)))

    def compare(self, repository: Repository, base: str, head: str) -> Comparison:
        """Return the changes of ``head`` since its best common ancestor with ``base``.

        Both are commits or branches. If they have no common ancestor, ``merge_base`` is empty.
        """

        def call(given: GitHubRepository) -> Comparison:
            # Only one commit on a page, because the answer would describe every commit in between
            compared = given.compare(base, head, comparison_commits_per_page=1)
            return parse.comparison(compared.complete())

        operation = msg("operation.compare", base=base, head=head)
        return self._find(repository, operation, call, {Kind.UNRELATED: Comparison("", None)})

    def changed(self, repository: Repository, base: str, head: str) -> frozenset[str] | Unknown:
        """Return the paths that ``head`` has changed since its common ancestor with ``base``."""

        def call(given: GitHubRepository) -> frozenset[str] | Unknown:
            compared = given.compare(base, head, comparison_commits_per_page=1)
            return parse.changed(compared.complete())

        ask = partial(self._ask, repository, msg("operation.compare", base=base, head=head), call)
        return or_else(ask, dict.fromkeys({*Kind} - ENDS_THE_READING, Unknown.NOT_SHOWN))

    def branches_from(self, repository: Repository, beginning: str) -> Mapping[str, str] | Unknown:
        """Return the commit ids of all branches whose names begin with ``beginning``, by name."""
        target = f"git/matching-refs/heads/{quote(beginning)}"
        commits = self._find(
            repository,
            msg("operation.reference", branch=f"{beginning}…"),
            lambda given: parse.branches(_json(given, target)),
            {Kind.NOT_FOUND: Unknown.NOT_SHOWN},
        )
        if not isinstance(commits, Unknown):
            for name in commits:
                self._session.note_branch(name)
        return commits

    def no_branch_error(self, repository: Repository, base: str) -> Refused:
        """Return the error for a base branch that does not exist; it shows similar names."""
        target = repository.full_name
        found: Mapping[str, str] | Unknown = Unknown.NOT_SHOWN
        with suppress(GitHubError):
            found = self.branches_from(repository, "")
        if not isinstance(found, Unknown) and (close := alike(base, found)):
            return Refused(msg("preflight.base_close", target=target, base=base, close=close))
        return Refused(msg("preflight.base_missing", target=target, base=base))

    def pull_requests(self, repository: Repository, branch: str) -> tuple[PullRequest, ...]:
        """Return the pull requests from ``branch`` of the repository itself, the newest first.

        ``head=owner:branch`` also finds a fork's branch if the fork has the same owner, and was
        seen to find other branches at the same commit (octokit/octokit.js#2056). So both names are
        compared. In a fork whose parent has the same owner it finds nothing
        (peter-evans/create-pull-request#4064), so in a fork the pull requests of all branches are
        read.
        """
        head = NotSet if repository.is_fork else f"{repository.owner}:{branch}"
        return self._pull_requests(repository, branch, "all", head)

    def open_pull_requests(self, repository: Repository, branch: str) -> tuple[PullRequest, ...]:
        """Return the open pull requests from ``branch``, found without the filter ``head``.

        The caller knows from GitHub that there is one, so a list without it may be lag and is read
        again. The result is empty if no list has it.
        """
        ask = partial(self._pull_requests, repository, branch, "open", must_be_there=True)
        return or_else(ask, {Kind.LAG: ()})

    def pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Read a pull request."""
        return self._ask(
            repository,
            msg("operation.pull_requests", branch=f"#{number}"),
            lambda given: _read(repository, given.get_pull(number).complete()),
            may_lag=True,
        )

    # --- Writes ---------------------------------------------------------------------------

    def create_branch(self, repository: Repository, branch: str, sha: str) -> None:
        """Create a branch at a commit; if the branch exists already, this is an error, too."""
        try:
            self._write(
                repository,
                msg("operation.branch", branch=branch),
                lambda given: self._head_of(
                    branch, given.create_git_ref(f"{parse.HEADS}{branch}", sha)
                ),
            )
        except GitHubError as error:
            if error.already_exists:
                self._session.note_branch(branch)
            raise

    def create_file(
        self,
        repository: Repository,
        file: FileDefinition,
        *,
        branch: str,
        message: str,
        look_again: Callable[[], object] = lambda: None,
    ) -> str:
        """Create a file and return the id of its commit; if the path exists, this is an error, too.

        ``look_again`` is called after each pause; an error that it raises ends the request.

        No ``sha`` is ever sent, so GitHub itself refuses to overwrite. No author is sent, so
        that GitHub signs the commit if it can.
        """

        def call(given: GitHubRepository) -> str:
            created = given.create_file(file.path, message, file.content, branch)
            return text(created["commit"].sha)

        operation = msg("operation.file", path=file.path)
        commit = self._write(repository, operation, call, look=look_again, has_looked=True)
        self._session.note_made()
        return commit

    def create_pull_request(self, repository: Repository, new: NewPullRequest) -> PullRequest:
        """Open a pull request; if one is open already, this is an error, too."""
        # Sent only if it is wanted, because not every plan of GitHub has drafts
        draft = True if new.options.draft else NotSet
        opened = self._write(
            repository,
            msg("operation.pull_request", branch=new.branch),
            lambda given: _read(
                repository,
                given.create_pull(
                    new.base_branch, new.branch, title=new.title, body=new.body, draft=draft
                ),
            ),
            is_worth_waiting=lambda: self.takes_pull_requests(repository),
        )
        self._session.note_made()
        return opened

    def update_pull_request(
        self,
        repository: Repository,
        pull_request: PullRequest,
        change: Callable[[PullRequest], Change | None],
    ) -> PullRequest | None:
        """Read a pull request, and send the change that ``change`` returns for it.

        Before each repetition it is read and passed to ``change`` again. Returns ``None`` if
        ``change`` does, and nothing is sent then.
        """
        fields: dict[str, str] = {}

        def look() -> None:
            now = self.pull_request(repository, pull_request.number)
            if fields and now.has_body(fields["body"]) and now.is_open is ("state" not in fields):
                # An earlier try was applied, but its answer was lost
                raise _Settled(now)
            wanted = change(now)
            if wanted is None:
                raise _Settled(None)
            fields.update({"body": wanted.body} | ({"state": "closed"} if wanted.closes else {}))

        try:
            return self.edit_pull_request(repository, pull_request, fields, look)
        except _Settled as settled:
            return settled.pull_request

    def edit_pull_request(
        self,
        repository: Repository,
        pull_request: PullRequest,
        fields: Mapping[str, Any],
        look: Callable[[], object] = lambda: None,
    ) -> PullRequest:
        """Replace some fields of a pull request; ``look`` is called before each try."""

        def call(given: GitHubRepository) -> PullRequest:
            pull = given.get_pull(pull_request.number)
            pull.edit(**fields)
            return _read(repository, pull)

        operation = msg("operation.pull_request_update", pull_request=pull_request.link)
        return self._write(repository, operation, call, creates_content=False, look=look)

    def add_labels(self, repository: Repository, number: int, labels: Sequence[str]) -> None:
        """Label a pull request; GitHub creates labels that are missing, if the token may do so."""

        def call(attempt: "Attempt") -> None:
            _of(attempt, repository).get_issue(number).add_to_labels(*labels)
            _require_array(attempt)

        operation = msg("operation.labels", names=tuple(labels))
        self._session.request(Request(operation, call, writes=True, may_lag=True))

    def add_assignees(
        self, repository: Repository, number: int, assignees: Sequence[str]
    ) -> frozenset[str]:
        """Assign people, and return the logins (in lower case) of all who are assigned afterwards.

        GitHub silently drops people who cannot be assigned (pozil/auto-assign-issue#148).
        """

        def call(given: GitHubRepository) -> frozenset[str]:
            issue = given.get_issue(number)
            issue.add_to_assignees(*assignees)
            return parse.logins(issue.assignees)

        return self._write(repository, msg("operation.assignees", names=tuple(assignees)), call)

    def request_reviewers(
        self,
        repository: Repository,
        number: int,
        reviewers: Sequence[str],
        team_reviewers: Sequence[str],
    ) -> None:
        """Ask people and teams for a review; if GitHub refuses one of them, nobody is asked."""
        people, teams = [*reviewers], [*team_reviewers]
        asked = {"reviewers": people, "team_reviewers": teams}

        def call(given: GitHubRepository) -> None:
            target = f"{given.url}/pulls/{number}/requested_reviewers"
            _, data = given.requester.requestJsonAndCheck("POST", target, input=asked)
            Fields(data)

        self._write(repository, msg("operation.reviewers", names=(*people, *teams)), call)

    # --- Helpers --------------------------------------------------------------------------

    def _pull_requests(
        self,
        repository: Repository,
        branch: str,
        state: str,
        head: Opt[str] = NotSet,
        *,
        must_be_there: bool = False,
    ) -> tuple[PullRequest, ...]:
        """List the pull requests from ``branch`` of the repository itself.

        With ``must_be_there`` it is an error (`Kind.LAG`) if there is none on any page.
        """
        if not repository.takes_pull_requests:
            return ()
        operation = msg("operation.pull_requests", branch=branch)
        pulls: tuple[PullRequest, ...] = ()
        number, is_full, seen = 0, True, set[int]()

        def call(attempt: "Attempt") -> tuple[tuple[PullRequest, ...], list[int]]:
            pulls_of = _of(attempt, repository).get_pulls(state=state, head=head)
            listed = _page(attempt, pulls_of, number)
            numbers = [id_number(each.number) for each in listed]
            found = [each for each in listed if _is_from(each, branch)]
            if repository.id and any(
                Fields(each.base.raw_data).object("repo").id_number("id") != repository.id
                for each in listed
            ):
                raise UnusableAnswer("another repository has the name by now")
            if numbers and seen.issuperset(numbers):
                # A gateway that drops the parameter `page` returns the same page for ever
                raise UnusableAnswer("a page that brings nothing new")
            if must_be_there and len(numbers) < PER_PAGE and not (pulls or found):
                raise Absent("no pull request of the branch on any page")
            return tuple(_read(repository, each) for each in found), numbers

        while is_full:
            if number:
                self._session.require_time()
            found, numbers = self._session.request(Request(operation, call, may_lag=must_be_there))
            number, is_full = number + 1, len(numbers) == PER_PAGE
            seen.update(numbers)
            pulls += found
        if pulls:
            # One of them may be new: this run opened it and lost the answer, or another run did
            self._session.note_made()
        return pulls

    def _head_of(self, branch: str, ref: GitRef) -> str:
        commit = text(ref.object.sha)
        self._session.note_branch(branch, Fields(ref.raw_data).text_or("node_id", ""))
        return commit

    def _complete(self, given: GitHubRepository) -> Repository:
        repository = given.complete()
        text(repository.default_branch)
        return self.described(parse.repository(repository))


def _read(repository: Repository, given: GitHubPullRequest) -> PullRequest:
    return parse.pull_request(given).at(repository)


def _of(attempt: "Attempt", repository: Repository) -> GitHubRepository:
    """Return PyGithub's object of a repository, by its number if it was chosen by its number."""
    by = repository.id if repository.goes_by_id else repository.full_name
    return attempt.github.get_repo(by)


def _json(given: GitHubRepository, target: str, parameters: Mapping[str, Any] | None = None) -> Any:
    """Read JSON for which PyGithub has no fitting object; see the top of this module."""
    query = dict(parameters or {})
    _, data = given.requester.requestJsonAndCheck("GET", f"{given.url}/{target}", query)
    return data


def _contents(given: GitHubRepository, path: str, ref: str) -> list[ContentFile] | ContentFile:
    """Read the entry at a path, or the entries of a directory.

    PyGithub is not used for the root, because it writes a slash at the end of the address. GitHub
    redirects that to an address without ``ref`` (octokit/octokit.js#1660, PyGithub/PyGithub#2125).
    """
    if path:
        return given.get_contents(path, ref=ref)
    entries = _json(given, "contents", {"ref": ref})
    if not isinstance(entries, list):
        raise UnusableAnswer("not an array")
    return [ContentFile(given.requester, {}, entry, completed=True) for entry in entries]


def _page(attempt: "Attempt", listed: PaginatedList[Item], number: int) -> list[Item]:
    """Read a page of a list; ``number`` counts from 0."""
    items = listed.get_page(number)
    _require_array(attempt)
    return items


def _require_array(attempt: "Attempt") -> None:
    """Raise `UnusableAnswer` for other JSON, because PyGithub reads ``{}`` as an empty list."""
    if not attempt.is_array:
        raise UnusableAnswer("not an array")


def _is_from(pull: GitHubPullRequest, branch: str) -> bool:
    """Whether a pull request is from ``branch`` of its own repository, and not from a fork."""
    head, base = pull.head, Fields(pull.base.raw_data).object("repo")
    fork = parse.or_none(head.repo)
    of = text(fork.full_name) if fork else ""
    return text(head.ref) == branch and of == base.text("full_name")


def or_else(ask: Callable[[], Model], meaning: Mapping[Kind, Other]) -> Model | Other:
    """Return the result of ``ask``, or the value in ``meaning`` for the kind of its refusal.

    A refusal of another kind is raised.
    """
    try:
        return ask()
    except GitHubError as error:
        if error.kind in meaning:
            return meaning[error.kind]
        raise
