"""The calls of GitHub's REST API: PyGithub's methods, and our models of what they give.

Each call is one function that is given PyGithub's object of a repository and sends one request. The
objects are lazy: nothing is sent to make one, and none is completed behind our back.

Some calls go through `Requester.requestJsonAndCheck`, which has no object for the answer:

- the id of the commit that a reference names: ``get_commits`` fetches a hundred commits for one;
- branches by the beginning of their names: PyGithub adds ``per_page``, which GitHub does not
  describe for this list;
- trees: 100,000 objects of one tree would cost half a second, and memory;
- the root directory: PyGithub asks for it with a slash at the end (see `_contents`);
- requests for reviews: PyGithub drops the answer, which says what the repository is by now;
- lists of repositories (`bulk`): items lack attributes, for each of which PyGithub would ask again.
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

from registrar.errors import GitHubError, Kind, Refused, RegistrarError
from registrar.github import parse
from registrar.github.fields import Absent, Fields, UnusableAnswer, identity, text
from registrar.github.limits import PER_PAGE
from registrar.github.session import Model, Request, Session
from registrar.github.trees import GitTree
from registrar.models.files import FileDefinition
from registrar.models.repository import Comparison, Entry, PullRequest, Repository, Tree, Values
from registrar.models.task import Change, NewPullRequest
from registrar.texts.messages import Message, msg
from registrar.texts.spelling import alike

if TYPE_CHECKING:
    from registrar.github.transport import Attempt

Other = TypeVar("Other")
Item = TypeVar("Item", bound=GithubObject)


class _Settled(Exception):
    """A write is not sent: there is nothing to change, or an earlier try has done it."""

    def __init__(self, pull_request: PullRequest | None) -> None:
        super().__init__()
        self.pull_request = pull_request


class Rest:
    """The calls of the REST API. May be used from several threads.

    Each raises `GitHubError` if GitHub refuses it, or gives no usable answer.
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
        """Send a request about a repository; ``options`` are those of `Request`."""
        return self._session.request(
            Request(operation, lambda attempt: call(_of(attempt, repository)), **options)
        )

    def _find(
        self,
        repository: Repository,
        operation: Message,
        call: Callable[[GitHubRepository], Model],
        *,
        may_lag: bool = False,
    ) -> Model | None:
        """Read what may not be there: ``None`` if GitHub says so."""
        ask = partial(self._ask, repository, operation, call, may_lag=may_lag)
        return or_else(ask, {Kind.NOT_FOUND: None})

    def _write(
        self,
        repository: Repository,
        operation: Message,
        call: Callable[[GitHubRepository], Model],
        **options: Any,
    ) -> Model:
        """Send a write that is about what was made or read before."""
        return self._ask(repository, operation, call, writes=True, may_lag=True, **options)

    # --- Reads ----------------------------------------------------------------------------

    def repository(self, full_name: str) -> Repository:
        """Read a repository; a renamed one answers under its new name.

        `Refused` if there is none that the token may see.
        """
        operation = msg("operation.repository", target=full_name)
        found = self._find(Repository(full_name), operation, self._complete)
        if found is None:
            raise self.not_found_error(full_name)
        return found

    def again(self, repository: Repository) -> Repository:
        """Read a repository once more, as it is by now."""
        operation = msg("operation.repository", target=repository.full_name)
        return self._ask(repository, operation, self._complete)

    def takes_pull_requests(self, repository: Repository) -> bool:
        """Whether pull requests are switched on by now, as far as GitHub says."""
        with suppress(RegistrarError):
            return self.again(repository).takes_pull_requests
        return True

    def not_found_error(self, full_name: str) -> Refused:
        """Give the error for a repository that is not there, or not visible to the token."""
        key = "preflight.own_token" if self._session.context.is_foreign else "preflight.not_found"
        return Refused(msg(key, target=full_name, own=self._session.context.workflow_repository))

    def described(self, repository: Repository) -> Repository:
        """Take note of how an answer describes a repository; give it without a role that means
        nothing.

        The role in it is that of the token's user. An App's token, and a workflow's own,
        authenticate no user: GitHub then says that it may not push, whatever was granted
        (AlexanderMattTurner/agent-glovebox#5127).
        """
        self._session.note_described(repository)
        is_installation = self._session.context.is_installation
        return repository._replace(can_push=None) if is_installation else repository

    def with_properties(self, repository: Repository) -> Repository:
        """Give a repository with its custom properties; `Refused` if GitHub does not show them.

        They are asked for where the answer did not have them.
        """
        if repository.properties is not None:
            return repository
        properties = self.properties(repository)
        if properties is None:
            raise Refused(msg("preflight.no_properties", target=repository.full_name))
        return repository._replace(properties=properties)

    def properties(self, repository: Repository) -> Values | None:
        """Read the custom properties of a repository; ``None`` if GitHub has no such page."""

        def call(attempt: "Attempt") -> Values:
            properties = _of(attempt, repository).get_custom_properties()
            _require_array(attempt)
            return parse.property_values(properties)

        operation = msg("operation.properties", target=repository.full_name)
        ask = partial(self._session.request, Request(operation, call))
        return or_else(ask, {Kind.NOT_FOUND: None})

    def may_write(self, repository: Repository, login: str) -> bool | None:
        """Whether an account may write to a repository; ``None`` if the token may not know.

        Only tokens that may push get an answer (yegor256/rultor#1407). ``False`` if the account is
        gone, or is not a person's (anthropics/claude-code-action#1018).
        """
        ask = partial(
            self._ask,
            repository,
            msg("operation.role", login=login),
            lambda given: parse.may_write(given.get_collaborator_permission(login)),
        )
        return or_else(ask, {Kind.NOT_FOUND: False, Kind.PERMISSION: None})

    def branch_head(self, repository: Repository, branch: str) -> str | None:
        """Commit id of a branch; ``None`` when there is no such branch.

        A branch that GitHub has said to exist is asked for until it is there.
        """
        return self._find(
            repository,
            msg("operation.reference", branch=branch),
            lambda given: self._head_of(branch, given.get_git_ref(f"heads/{branch}")),
            may_lag=branch in self._session.branches,
        )

    def commit(self, repository: Repository, ref: str) -> str | None:
        """Id of the commit that a branch, a tag or any other reference names; ``None``: none does.

        A list of commits begins with it, also if a tag is an object of its own.
        """
        parameters = {"sha": ref, "per_page": 1}
        return self._find(
            repository,
            msg("operation.reference", branch=ref),
            lambda given: parse.first_commit(_json(given, "commits", parameters)),
        )

    def entry(
        self, repository: Repository, path: str, ref: str, *, may_lag: bool = False
    ) -> Entry | None:
        """What is at ``path`` of ``ref``; ``None`` when nothing is.

        Of a file that is too large to be shown, only that it is there is known. ``may_lag``: GitHub
        has just said that it is there, so it is asked for until it is.
        """
        ask = partial(
            self._find,
            repository,
            msg("operation.existence", path=path),
            lambda given: parse.entry(_contents(given, path, ref)),
            may_lag=may_lag,
        )
        return or_else(ask, {Kind.TOO_LARGE: Entry("blob", "", "")})

    def directory(self, repository: Repository, path: str, ref: str) -> Mapping[str, Entry] | None:
        """The entries of a directory of ``ref``; ``None`` when there is none.

        GitHub lists `MOST_LISTED` of them at most.
        """
        return self._find(
            repository,
            msg("operation.existence", path=f"{path}/"),
            lambda given: parse.directory(_contents(given, path, ref)),
        )

    def tree(self, repository: Repository, commit: str) -> Tree | None:
        """Every path of a commit; ``None`` when GitHub cuts the list."""
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
        read: Callable[[GitTree | None], Model],
    ) -> Model:
        """Read the entries of a directory by the id of its tree; ``read`` gets ``None``: cut."""
        operation = msg("operation.existence", path=f"{directory}/")
        return self._ask(
            repository,
            operation,
            lambda given: read(parse.git_tree(_json(given, f"git/trees/{sha}"))),
        )

    def blob(self, repository: Repository, sha: str) -> bytes:
        """The content of a file, by the id of its blob (up to 100 MB)."""
        return self._ask(
            repository,
            msg("operation.blob", sha=sha),
            lambda given: parse.blob(given.get_git_blob(sha)),
        )

    def compare(self, repository: Repository, base: str, head: str) -> Comparison:
        """Compare two commits, or branches, from their best common ancestor on, if there is one."""

        def call(given: GitHubRepository) -> Comparison:
            # A comparison of branches would be one of their commits, and each is listed
            compared = given.compare(base, head, comparison_commits_per_page=1)
            return parse.comparison(compared.complete())

        ask = partial(self._ask, repository, msg("operation.compare", base=base, head=head), call)
        return or_else(ask, {Kind.UNRELATED: Comparison("", None)})

    def branches_from(self, repository: Repository, beginning: str) -> Mapping[str, str] | None:
        """Commit ids of all branches whose names begin like this; ``None``: GitHub lists none."""
        target = f"git/matching-refs/heads/{quote(beginning)}"
        commits = self._find(
            repository,
            msg("operation.reference", branch=f"{beginning}…"),
            lambda given: parse.branches(_json(given, target)),
        )
        for name in commits or ():
            self._session.note_branch(name)
        return commits

    def no_branch_error(self, repository: Repository, base: str) -> Refused:
        """Say that there is no branch that an input names, and which ones look alike."""
        target = repository.full_name
        try:
            found = self.branches_from(repository, "")
        except GitHubError:
            found = None
        if close := alike(base, found or ()):
            return Refused(msg("preflight.base_close", target=target, base=base, close=close))
        return Refused(msg("preflight.base_missing", target=target, base=base))

    def pull_requests(self, repository: Repository, branch: str) -> tuple[PullRequest, ...]:
        """Pull requests from ``branch`` of this very repository, the newest first.

        ``head=owner:branch`` also finds a fork's branch when the fork has the same owner, and
        was seen to find other branches at the same commit (octokit/octokit.js#2056). So both
        names are compared. In a fork whose parent has the same owner it finds nothing
        (peter-evans/create-pull-request#4064): there those of all branches are read.
        """
        head = NotSet if repository.is_fork else f"{repository.owner}:{branch}"
        return self._pull_requests(repository, branch, "all", head)

    def open_pull_requests(self, repository: Repository, branch: str) -> tuple[PullRequest, ...]:
        """Open pull requests from ``branch``, found without the filter ``head``.

        GitHub has just said that there is one: a list without it is not believed at once.
        """
        ask = partial(self._pull_requests, repository, branch, "open", must_be_there=True)
        return or_else(ask, {Kind.LAG: ()})

    def pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Read a pull request."""
        return self._ask(
            repository,
            msg("operation.pull_requests", branch=f"#{number}"),
            lambda given: self._read(given.get_pull(number).complete()),
            may_lag=True,
        )

    # --- Writes ---------------------------------------------------------------------------

    def create_branch(self, repository: Repository, branch: str, sha: str) -> None:
        """Create a branch at a commit; that it exists is an error, too."""
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
        """Create a file and give the id of its commit; that the path exists is an error, too.

        ``look_again`` is called before a repetition, and may raise.

        No ``sha`` is ever sent, so GitHub itself refuses to overwrite. No author is sent, so
        that GitHub signs the commit if it can.
        """

        def call(given: GitHubRepository) -> str:
            created = given.create_file(file.path, message, file.content, branch)
            return text(created["commit"].sha)

        commit = self._write(
            repository,
            msg("operation.file", path=file.path),
            call,
            look=look_again,
            has_looked=True,
        )
        self._session.note_made()
        return commit

    def create_pull_request(self, repository: Repository, new: NewPullRequest) -> PullRequest:
        """Open a pull request; that one is open already is an error, too."""
        # Sent only if it is wanted: not every plan of GitHub knows drafts
        draft = True if new.options.draft else NotSet
        opened = self._write(
            repository,
            msg("operation.pull_request", branch=new.branch),
            lambda given: self._read(
                given.create_pull(new.base, new.branch, title=new.title, body=new.body, draft=draft)
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
        """Read a pull request, and change it as ``change`` says of what was read.

        Before each repetition it is read and asked about again. ``None``: nothing was to be
        changed.
        """
        fields: dict[str, str] = {}

        def look() -> None:
            now = self.pull_request(repository, pull_request.number)
            if fields and now.has_body(fields["body"]) and now.is_open is ("state" not in fields):
                # The answer to an earlier try was lost
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
            return self._read(pull)

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
        """Assign people and give the logins (in lower case) that GitHub took.

        It silently drops those who cannot be assigned (pozil/auto-assign-issue#148).
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
            self._session.note_described(parse.repository_beside(data))

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
        """List pull requests; `Kind.LAG` where the one that ``must_be_there`` is on no page."""
        if not repository.takes_pull_requests:
            return ()
        operation = msg("operation.pull_requests", branch=branch)
        pulls: tuple[PullRequest, ...] = ()
        number, is_full, seen = 0, True, set[int]()

        def call(attempt: "Attempt") -> tuple[tuple[PullRequest, ...], list[int]]:
            pulls_of = _of(attempt, repository).get_pulls(state=state, head=head)
            listed = _page(attempt, pulls_of, number)
            numbers = [identity(each.number) for each in listed]
            found = [each for each in listed if _is_from(each, branch)]
            if repository.id and any(
                Fields(each.base.raw_data).object("repo").identity("id") != repository.id
                for each in listed
            ):
                raise UnusableAnswer("another repository has the name by now")
            if numbers and seen.issuperset(numbers):
                # A gateway that drops `page` would give the same one for ever
                raise UnusableAnswer("a page that brings nothing new")
            if must_be_there and len(numbers) < PER_PAGE and not (pulls or found):
                raise Absent("no pull request of the branch on any page")
            return tuple(map(self._read, found)), numbers

        while is_full:
            if number:
                self._session.require_time()
            found, numbers = self._session.request(Request(operation, call, may_lag=must_be_there))
            number, is_full = number + 1, len(numbers) == PER_PAGE
            seen.update(numbers)
            pulls += found
        if pulls:
            # One of them may be new: our own whose answer was lost, or that of another run
            self._session.note_made()
        return pulls

    def _read(self, given: GitHubPullRequest) -> PullRequest:
        pull_request = parse.pull_request(given)
        self._session.note_described(pull_request.of)
        return pull_request

    def _head_of(self, branch: str, ref: GitRef) -> str:
        commit = text(ref.object.sha)
        self._session.note_branch(branch, Fields(ref.raw_data).text_or("node_id", ""))
        return commit

    def _complete(self, given: GitHubRepository) -> Repository:
        repository = given.complete()
        text(repository.default_branch)
        return self.described(parse.repository(repository))


def _of(attempt: "Attempt", repository: Repository) -> GitHubRepository:
    """PyGithub's object of a repository, by its number if that is how it was chosen."""
    by = repository.id if repository.goes_by_id else repository.full_name
    return attempt.github.get_repo(by)


def _json(given: GitHubRepository, target: str, parameters: Mapping[str, Any] | None = None) -> Any:
    """Read what PyGithub has no fitting object for; see the top of this module."""
    query = dict(parameters or {})
    _, data = given.requester.requestJsonAndCheck("GET", f"{given.url}/{target}", query)
    return data


def _contents(given: GitHubRepository, path: str, ref: str) -> list[ContentFile] | ContentFile:
    """Read what is at a path.

    The root has no slash at the end, as PyGithub would write it: GitHub redirects such an address
    to one without ``ref`` (octokit/octokit.js#1660, PyGithub/PyGithub#2125).
    """
    if path:
        return given.get_contents(path, ref=ref)
    entries = _json(given, "contents", {"ref": ref})
    if not isinstance(entries, list):
        raise UnusableAnswer("not an array")
    return [ContentFile(given.requester, {}, entry, completed=True) for entry in entries]


def _page(attempt: "Attempt", listed: PaginatedList[Item], number: int = 0) -> list[Item]:
    """Read a page of a list; ``number`` counts from 0."""
    items = listed.get_page(number)
    _require_array(attempt)
    return items


def _require_array(attempt: "Attempt") -> None:
    """Refuse any other JSON: PyGithub reads ``{}`` as a list without items."""
    if not attempt.is_array:
        raise UnusableAnswer("not an array")


def _is_from(pull: GitHubPullRequest, branch: str) -> bool:
    """Whether a pull request is from ``branch`` of its own repository, whatever its name is."""
    head, base = pull.head, Fields(pull.base.raw_data).object("repo")
    fork = parse.or_none(head.repo)
    of = text(fork.full_name) if fork else ""
    return text(head.ref) == branch and of == base.text("full_name")


def or_else(ask: Callable[[], Model], meaning: Mapping[Kind, Other]) -> Model | Other:
    """Give what ``ask`` gives, or what one of these refusals means."""
    try:
        return ask()
    except GitHubError as error:
        if error.kind in meaning:
            return meaning[error.kind]
        raise
