"""The requests to GitHub's REST API; each takes and gives our models."""

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias, TypeVar
from urllib.parse import quote

from registrar.errors import GitHubError, Kind, Refused, RegistrarError
from registrar.github import parse
from registrar.github.exchange import Model, Request, Response
from registrar.github.fields import Fields, UnusableAnswer, objects
from registrar.github.session import Session
from registrar.models.plan import NewPullRequest
from registrar.models.repository import Comparison, Entry, PullRequest, Repository, Tree, Values
from registrar.models.standing import CodeownersError
from registrar.texts.messages import Message, msg

Other = TypeVar("Other")
PER_PAGE = 100
Body: TypeAlias = Mapping[str, object]
Read: TypeAlias = Callable[[object], Model]
"""Builds our model of the JSON of a success."""


_REWRITES = frozenset({"head_ref_force_pushed", "head_ref_deleted"})
"""Events after which a branch may lack commits that it had."""


class Rest:
    """The calls of the REST API. May be used from several threads.

    Each raises `GitHubError` where GitHub refuses it, or gives no usable answer.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def _get(
        self, target: str, operation: Message, read: Read[Model], *, may_lag: bool = False
    ) -> Model:
        return self._session.request(
            Request("GET", target, operation, of_json(read), may_lag=may_lag)
        )

    def _find(
        self, target: str, operation: Message, read: Read[Model], *, may_lag: bool = False
    ) -> Model | None:
        """Read what may not be there: ``None`` where GitHub says so."""
        ask = partial(self._get, target, operation, read, may_lag=may_lag)
        return or_else(ask, {Kind.NOT_FOUND: None})

    def _write(
        self, method: str, target: str, operation: Message, body: Body, read: Read[Model]
    ) -> Model:
        """Send a write that is about what was made or read before."""
        return self._session.request(
            Request(method, target, operation, of_json(read), body, writes=True, may_lag=True)
        )

    # --- Reads ----------------------------------------------------------------------------

    def repository(self, full_name: str) -> Repository:
        """Read a repository; a renamed one answers under its new name.

        `Refused` where there is none that the token may see.
        """
        operation = msg("operation.repository", target=full_name)
        found = self._find(f"/repos/{full_name}", operation, self._repository_of)
        if found is None:
            raise self.not_found_error(full_name)
        return found

    def again(self, repository: Repository) -> Repository:
        """Read a repository once more, as it is by now."""
        operation = msg("operation.repository", target=repository.full_name)
        return self._get(repository.address, operation, self._repository_of)

    def takes_pull_requests(self, repository: Repository) -> bool:
        """Whether pull requests are switched on by now, as far as GitHub says."""
        with suppress(RegistrarError):
            return self.again(repository).takes_pull_requests
        return True

    def not_found_error(self, full_name: str) -> Refused:
        """Give the error for a repository that is not there, or not visible to the token."""
        key = "preflight.own_token" if self._session.context.is_foreign else "preflight.not_found"
        return Refused(msg(key, target=full_name, own=self._session.context.workflow_repository))

    def see(self, repository: Repository) -> Repository:
        """Take note of a repository that an answer describes, before anything is said about it.

        The role in it is that of the token's user. An App's token, and a workflow's own,
        authenticate no user: GitHub then says that it may not push, whatever was granted
        (AlexanderMattTurner/agent-glovebox#5127).
        """
        self._session.see(repository)
        is_installation = self._session.context.is_installation
        return repository._replace(can_push=None) if is_installation else repository

    def with_properties(self, repository: Repository) -> Repository:
        """Give a repository with its custom properties; `Refused` where GitHub does not tell them.

        They are asked for where the answer did not have them.
        """
        if repository.properties is not None:
            return repository
        properties = self.properties(repository)
        if properties is None:
            raise Refused(msg("preflight.no_properties", target=repository.full_name))
        return repository._replace(properties=properties)

    def properties(self, repository: Repository) -> Values | None:
        """Read the custom properties of a repository; ``None`` where GitHub has no such page."""
        return self._find(
            f"{repository.address}/properties/values",
            msg("operation.properties", target=repository.full_name),
            lambda data: parse.property_values(objects(data)),
        )

    def codeowners(self, repository: Repository, ref: str = "") -> tuple[CodeownersError, ...]:
        """What GitHub finds wrong in ``CODEOWNERS`` of ``ref``, or of the default branch."""
        query = f"?ref={ref}" if ref else ""
        errors = self._find(
            f"{repository.address}/codeowners/errors{query}",
            msg("operation.codeowners", target=repository.full_name),
            lambda data: parse.codeowners(Fields(data)),
        )
        return errors or ()

    def may_write(self, repository: Repository, login: str) -> bool:
        """Whether an account may write to a repository; not where the token is not told.

        Only those are told who may push (yegor256/rultor#1407).
        """
        target = f"{repository.address}/collaborators/{quote(login, safe='')}/permission"
        ask = partial(self._get, target, msg("operation.role", login=login), parse.may_write)
        return or_else(ask, {Kind.NOT_FOUND: False, Kind.PERMISSION: False})

    def was_rewritten(self, repository: Repository, number: int) -> bool:
        """Whether its branch was force-pushed, or deleted; also where that is not known.

        See https://docs.github.com/en/rest/using-the-rest-api/issue-event-types, which GitHub lists
        the oldest first: of more than a page nobody knows the rest.
        """
        target = f"{repository.address}/issues/{number}/events?per_page={PER_PAGE}"
        ask = partial(self._get, target, msg("operation.events", number=number), parse.events)
        events = or_else(ask, {Kind.NOT_FOUND: None, Kind.PERMISSION: None})
        return events is None or len(events) >= PER_PAGE or not _REWRITES.isdisjoint(events)

    def branch_head(self, repository: Repository, branch: str) -> str | None:
        """Commit id of a branch; ``None`` when there is no such branch.

        One that was said to exist is asked for until it is there.
        """
        return self._find(
            f"{repository.address}/git/ref/heads/{quote(branch)}",
            msg("operation.reference", branch=branch),
            lambda data: self._head_of(branch, data),
            may_lag=branch in self._session.branches,
        )

    def commit(self, repository: Repository, ref: str) -> str | None:
        """Id of the commit that a branch, a tag or any other reference names; ``None``: none does.

        A list of commits begins with it, also where a tag is an object of its own.
        """
        query = f"sha={quote(ref, safe='')}&per_page=1"
        operation = msg("operation.reference", branch=ref)
        return self._find(f"{repository.address}/commits?{query}", operation, parse.first_commit)

    def entry(
        self, repository: Repository, path: str, ref: str, *, may_lag: bool = False
    ) -> Entry | None:
        """What is at ``path`` of ``ref``; ``None`` when nothing is.

        Of a file that is too large to be shown, only that it is there is known. ``may_lag``: GitHub
        has just said that it is there, so it is asked for until it is.
        """
        target, operation = _contents(repository, path, ref), msg("operation.existence", path=path)
        ask = partial(self._find, target, operation, parse.entry, may_lag=may_lag)
        return or_else(ask, {Kind.TOO_LARGE: Entry("blob", "", "")})

    def directory(self, repository: Repository, path: str, ref: str) -> Mapping[str, Entry] | None:
        """The entries of a directory of ``ref``; ``None`` when there is none.

        GitHub lists `MOST_LISTED` of them at most.
        """
        operation = msg("operation.existence", path=f"{path}/")
        return self._find(_contents(repository, path, ref), operation, parse.directory)

    def tree(self, repository: Repository, commit: str) -> Tree | None:
        """Every path of a commit; ``None`` when GitHub cuts the list."""
        target = f"{repository.address}/git/trees/{commit}?recursive=1"
        return self._get(target, msg("operation.tree", commit=commit), parse.tree)

    def blob(self, repository: Repository, sha: str) -> bytes:
        """The content of a file, by the id of its blob (up to 100 MB)."""
        target = f"{repository.address}/git/blobs/{sha}"
        return self._get(target, msg("operation.blob", sha=sha), parse.blob)

    def removed(
        self, repository: Repository, paths: Iterable[str], since: str, head: str
    ) -> frozenset[str]:
        """Those of ``paths``, which ``head`` lacks, that a commit after ``since`` removed.

        None of them where ``since`` is not in the history of ``head``.
        """

        def is_after(commit: str) -> bool:
            return self.compare(repository, since, commit).merge_base == since != commit

        def ask() -> frozenset[str]:
            if not is_after(head):
                return frozenset()
            last = {path: self._last_change(repository, path, head) for path in paths}
            after = {commit for commit in {*last.values()} if commit and is_after(commit)}
            return frozenset(path for path, commit in last.items() if commit in after)

        return or_else(ask, {Kind.NOT_FOUND: frozenset[str]()})

    def _last_change(self, repository: Repository, path: str, head: str) -> str | None:
        query = f"sha={head}&path={quote(path, safe='')}&per_page=1"
        operation = msg("operation.history", path=path)
        return self._get(f"{repository.address}/commits?{query}", operation, parse.first_commit)

    def compare(self, repository: Repository, base: str, head: str) -> Comparison:
        """Compare two commits, or branches, from their best common ancestor on, if there is one."""
        target = f"{repository.address}/compare/{quote(base, safe='')}...{head}?per_page=1"
        operation = msg("operation.compare", base=base, head=head)
        ask = partial(self._get, target, operation, parse.comparison)
        return or_else(ask, {Kind.UNRELATED: Comparison("", None)})

    def branches_from(self, repository: Repository, beginning: str) -> Mapping[str, str] | None:
        """Commit ids of all branches whose names begin like this; ``None``: GitHub lists none."""
        commits = self._find(
            f"{repository.address}/git/matching-refs/heads/{quote(beginning)}",
            msg("operation.reference", branch=f"{beginning}…"),
            parse.branches,
        )
        for name in commits or ():
            self._session.note_branch(name)
        return commits

    def pull_requests(self, repository: Repository, branch: str) -> tuple[PullRequest, ...]:
        """Pull requests from ``branch`` of this very repository, the newest first.

        ``head=owner:branch`` also finds a fork's branch when the fork has the same owner, and
        was seen to find other branches at the same commit (octokit/octokit.js#2056). So both
        names are compared. In a fork whose parent has the same owner it finds nothing
        (peter-evans/create-pull-request#4064): there those of all branches are read.
        """
        head = quote(f"{repository.owner}:{branch}", safe="")
        query = "state=all" if repository.is_fork else f"state=all&head={head}"
        return self._pull_requests(repository, branch, query)

    def open_pull_requests(self, repository: Repository, branch: str) -> tuple[PullRequest, ...]:
        """Open pull requests from ``branch``, found without the filter ``head``.

        When GitHub has just said that there is one, a list without it is not believed at once.
        """
        ask = partial(self._pull_requests, repository, branch, "state=open", may_lag=True)
        return or_else(ask, {Kind.LAG: ()})

    def pull_request(self, repository: Repository, number: int) -> PullRequest:
        target = f"{repository.address}/pulls/{number}"
        operation = msg("operation.pull_requests", branch=f"#{number}")
        return self._get(target, operation, self._pull_request, may_lag=True)

    # --- Writes ---------------------------------------------------------------------------

    def create_branch(self, repository: Repository, branch: str, sha: str) -> None:
        """Create a branch at a commit; that it exists is an error, too."""
        try:
            self._write(
                "POST",
                f"{repository.address}/git/refs",
                msg("operation.branch", branch=branch),
                {"ref": f"refs/heads/{branch}", "sha": sha},
                lambda data: self._head_of(branch, data),
            )
        except GitHubError as error:
            if error.already_exists:
                self._session.note_branch(branch)
            raise

    def create_file(
        self, repository: Repository, path: str, *, branch: str, content: bytes, message: str
    ) -> str:
        """Create a file and give the id of its commit; that the path exists is an error, too.

        No ``sha`` is ever sent, so GitHub itself refuses to overwrite. No author is sent, so
        that GitHub signs the commit where it can.
        """
        text = base64.b64encode(content).decode("ascii")
        commit = self._write(
            "PUT",
            f"{repository.address}/contents/{quote(path)}",
            msg("operation.file", path=path),
            {"message": message, "content": text, "branch": branch},
            parse.commit_of_file,
        )
        self._session.note_made()
        return commit

    def create_pull_request(self, repository: Repository, new: NewPullRequest) -> PullRequest:
        """Open a pull request to the default branch; that one is open already is an error, too."""
        opened = self._session.request(
            Request(
                "POST",
                f"{repository.address}/pulls",
                msg("operation.pull_request", branch=new.branch),
                of_json(self._pull_request),
                {
                    "title": new.title,
                    "head": new.branch,
                    "base": repository.default_branch,
                    "body": new.body,
                    **({"draft": True} if new.options.draft else {}),
                },
                writes=True,
                may_lag=True,
                is_worth_waiting=lambda: self.takes_pull_requests(repository),
            )
        )
        self._session.note_made()
        return opened

    def update_pull_request(
        self, repository: Repository, pull_request: PullRequest, *, body: str, state: str = ""
    ) -> PullRequest:
        """Replace the body of a pull request; ``state``: ``open`` or ``closed`` from now on."""
        return self._write(
            "PATCH",
            f"{repository.address}/pulls/{pull_request.number}",
            msg("operation.pull_request_update", pull_request=pull_request.link),
            {"body": body, **({"state": state} if state else {})},
            self._pull_request,
        )

    def add_labels(self, repository: Repository, number: int, labels: Sequence[str]) -> None:
        """Label a pull request; GitHub creates labels that are missing, if the token may do so."""
        self._write(
            "POST",
            f"{repository.address}/issues/{number}/labels",
            msg("operation.labels", names=tuple(labels)),
            {"labels": list(labels)},
            objects,
        )

    def add_assignees(
        self, repository: Repository, number: int, assignees: Sequence[str]
    ) -> frozenset[str]:
        """Assign people and give the logins (in lower case) that GitHub took.

        It silently drops those who cannot be assigned (pozil/auto-assign-issue#148).
        """
        return self._write(
            "POST",
            f"{repository.address}/issues/{number}/assignees",
            msg("operation.assignees", names=tuple(assignees)),
            {"assignees": list(assignees)},
            lambda data: parse.logins(Fields(data)),
        )

    def request_reviewers(
        self,
        repository: Repository,
        number: int,
        reviewers: Sequence[str],
        team_reviewers: Sequence[str],
    ) -> None:
        """Ask people and teams for a review; if GitHub refuses one of them, nobody is asked."""
        self._write(
            "POST",
            f"{repository.address}/pulls/{number}/requested_reviewers",
            msg("operation.reviewers", names=(*reviewers, *team_reviewers)),
            {"reviewers": list(reviewers), "team_reviewers": list(team_reviewers)},
            lambda data: Fields(data).identity("number"),
        )

    # --- Helpers --------------------------------------------------------------------------

    def _pull_requests(
        self, repository: Repository, branch: str, query: str, *, may_lag: bool = False
    ) -> tuple[PullRequest, ...]:
        if not repository.takes_pull_requests:
            return ()
        path = f"{repository.address}/pulls?{query}&per_page={PER_PAGE}"
        operation = msg("operation.pull_requests", branch=branch)
        pulls: tuple[PullRequest, ...] = ()
        number, is_full, seen = 1, True, set[int]()

        def lacks_it(answer: Response) -> bool:
            """Whether it is on none of the pages, so far as this one is the last."""
            is_last = len(list(objects(answer.data))) < PER_PAGE
            return is_last and not (pulls or parse.pull_requests_from(answer.data, branch))

        def read(data: object) -> tuple[tuple[PullRequest, ...], list[int]]:
            numbers = [each.identity("number") for each in objects(data)]
            if repository.id and any(
                each.object("base").object("repo").identity("id") != repository.id
                for each in objects(data)
            ):
                raise UnusableAnswer("another repository has the name by now")
            if numbers and seen.issuperset(numbers):
                # A gateway that drops `page` would give the same one for ever
                raise UnusableAnswer("a page that brings nothing new")
            return parse.pull_requests_from(data, branch), numbers

        while is_full:
            if number > 1:
                self._session.require_time()
            found, numbers = self._session.request(
                Request(
                    "GET",
                    path if number == 1 else f"{path}&page={number}",
                    operation,
                    of_json(read),
                    may_lag=may_lag,
                    says_absent=lacks_it,
                )
            )
            number, is_full = number + 1, len(numbers) == PER_PAGE
            seen.update(numbers)
            pulls += found
        for of in filter(None, (pull.of for pull in pulls)):
            self.see(of)
        if pulls:
            # One of them may be new: our own whose answer was lost, or that of another run
            self._session.note_made()
        return pulls

    def _pull_request(self, data: object) -> PullRequest:
        """Take note of the repository that it is in: it may be private, or renamed, by now."""
        pull = parse.pull_request(data)
        if pull.of:
            self.see(pull.of)
        return pull

    def _head_of(self, branch: str, data: object) -> str:
        fields = Fields(data)
        commit = fields.object("object").text("sha")
        self._session.note_branch(branch, fields.text_or("node_id", ""))
        return commit

    def _repository_of(self, data: object) -> Repository:
        fields = Fields(data)
        fields.text("default_branch")
        return self.see(parse.repository(fields))


def of_json(read: Read[Model]) -> Callable[[Response], Model]:
    """Read a model from the JSON of an answer."""
    return lambda response: read(response.data)


def _contents(repository: Repository, path: str, ref: str) -> str:
    """Target of the request for what is at a path.

    The root has no slash at the end: GitHub redirects such an address to one without ``ref``
    (octokit/octokit.js#1660, PyGithub/PyGithub#2125).
    """
    place = f"/{quote(path)}" if path else ""
    return f"{repository.address}/contents{place}?ref={quote(ref, safe='')}"


def or_else(ask: Callable[[], Model], meaning: Mapping[Kind, Other]) -> Model | Other:
    """Give what ``ask`` gives, or what one of these refusals means."""
    try:
        return ask()
    except GitHubError as error:
        if error.kind in meaning:
            return meaning[error.kind]
        raise
