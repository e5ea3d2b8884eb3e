"""The REST operations: from a described request to an answer."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import urlencode

import pygit2

from . import repository as git
from .answer import Response
from .refusals import Refusal, invalid, not_found
from .repository import Person, PullRequest, Repository, check_path
from .representations import WEB_FLOW, Representations
from .tokens import BOT, Token

if TYPE_CHECKING:
    from .server import StandInHost

MAX_BLOB = 100_000_000
MAX_COMMITS = 250
WEB = Person("GitHub", WEB_FLOW)
EMPTY = "Git Repository is empty."

T = TypeVar("T")


@dataclass(slots=True)
class Call:
    """A request that is described, authenticated and addressed to a visible repository."""

    host: StandInHost
    repository: Repository
    token: Token
    show: Representations
    parameters: dict[str, str]
    query: dict[str, str]
    body: Any

    @property
    def git(self) -> pygit2.Repository:
        return self.repository.git

    def number(self) -> PullRequest:
        text = self.parameters.get("pull_number") or self.parameters["issue_number"]
        if not text.isdigit():
            raise not_found()
        return self.repository.pull_request(int(text))

    def page(self, items: list[T], default: int) -> list[T]:
        size = min(100, int(self.query.get("per_page", default))) or default
        start = (max(1, int(self.query.get("page", 1))) - 1) * size
        return items[start : start + size]


Handler: TypeAlias = Callable[[Call], Response]


@dataclass(frozen=True, slots=True)
class Route:
    """A handler and the permissions of which it needs one; `locked` as a whole by default."""

    handler: Handler
    needs: tuple[str, ...]
    locked: bool


ROUTES: dict[str, Route] = {}


def operation(name: str, *needs: str, locked: bool = True) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        ROUTES[name] = Route(handler, needs, locked)
        return handler

    return register


@operation("GET /repos/{owner}/{repo}")
def get_repository(call: Call) -> Response:
    return Response(200, call.show.repository(call.repository, call.token))


# References, commits, trees


def need_commits(call: Call) -> None:
    """Git data of an empty repository is a 409 (github/rest-api-description#385)."""
    if call.repository.empty:
        raise Refusal(409, EMPTY)


@operation("GET /repos/{owner}/{repo}/git/ref/{ref}", "contents=read")
def get_ref(call: Call) -> Response:
    need_commits(call)
    name = f"refs/{call.parameters['ref']}"
    if not pygit2.reference_is_valid_name(name) or name not in call.git.references:
        raise not_found()
    return Response(200, call.show.reference(call.repository, name))


@operation("GET /repos/{owner}/{repo}/git/matching-refs/{ref}", "contents=read")
def get_matching_refs(call: Call) -> Response:
    need_commits(call)
    prefix = f"refs/{call.parameters['ref']}"
    names = sorted(name for name in call.git.references if name.startswith(prefix))
    return Response(200, [call.show.reference(call.repository, name) for name in names])


@operation("POST /repos/{owner}/{repo}/git/refs", "contents=write")
def create_ref(call: Call) -> Response:
    need_commits(call)
    # A public repository and `public_repo` alone: WordPress/contributor-toolkit#179.
    if call.token.kind == "classic" and "repo" not in call.token.scopes:
        raise not_found()
    require_fields(call.body, "ref", "sha")
    call.repository.create_reference(call.body["ref"], call.body["sha"])
    shown = call.show.reference(call.repository, call.body["ref"])
    return Response(201, shown, {"Location": shown["url"]})


@operation("GET /repos/{owner}/{repo}/git/commits/{commit_sha}", "contents=read")
def get_git_commit(call: Call) -> Response:
    need_commits(call)
    commit = find_commit(call, call.parameters["commit_sha"])
    return Response(200, call.show.git_commit(call.repository, commit))


@operation("GET /repos/{owner}/{repo}/git/trees/{tree_sha}", "contents=read")
def get_tree(call: Call) -> Response:
    need_commits(call)
    name = call.parameters["tree_sha"]
    commit = call.repository.resolve(name)
    found = commit.tree if commit else find_object(call, name)
    if not isinstance(found, pygit2.Tree):
        raise not_found()
    deep = "recursive" in call.query
    return Response(200, call.show.tree(call.repository, found, deep=deep))


@operation("GET /repos/{owner}/{repo}/compare/{basehead}", "contents=read")
def compare(call: Call) -> Response:
    show, repository = call.show, call.repository
    names = call.parameters["basehead"].split("...")
    if len(names) != 2 or not all(names):
        raise not_found()
    base, head = (find_commit(call, name.removeprefix(f"{repository.owner}:")) for name in names)
    ancestor = repository.merge_base(str(base.id), str(head.id))
    if ancestor is None:
        raise not_found(f"No common ancestor between {names[0]} and {names[1]}.")
    ahead, behind = repository.ahead_behind(str(head.id), str(base.id))
    walker = call.git.walk(head.id)
    walker.hide(base.id)
    commits = list(walker)[::-1]
    paged = {"page", "per_page"} & call.query.keys()
    shown = call.page(commits, 30) if paged else commits[-MAX_COMMITS:]
    link = f"{repository.html_url}/compare/{call.parameters['basehead']}"
    body = {
        "url": f"{show.root(repository)}/compare/{call.parameters['basehead']}",
        "html_url": link,
        "permalink_url": f"{repository.html_url}/compare/{base.id}...{head.id}",
        "diff_url": f"{link}.diff",
        "patch_url": f"{link}.patch",
        "base_commit": show.commit(repository, base),
        "merge_base_commit": show.commit(repository, ancestor),
        "status": {
            (False, False): "identical",
            (True, False): "ahead",
            (False, True): "behind",
            (True, True): "diverged",
        }[bool(ahead), bool(behind)],
        "ahead_by": ahead,
        "behind_by": behind,
        "total_commits": ahead,
        "commits": [show.commit(repository, commit) for commit in shown],
        "files": show.changed_files(
            repository, ancestor.tree.diff_to_tree(head.tree), str(head.id)
        ),
    }
    return Response(200, body)


def find_commit(call: Call, name: str) -> pygit2.Commit:
    found = call.repository.resolve(name)
    if found is None:
        raise not_found()
    return found


def find_object(call: Call, sha: str) -> pygit2.Object | None:
    try:
        return call.git.get(sha)
    except ValueError:
        return None


# Contents


@operation("GET /repos/{owner}/{repo}/contents/{path}", "contents=read")
def get_contents(call: Call) -> Response:
    repository, path = call.repository, call.parameters["path"].removesuffix("/")
    if path:
        check_path(path)
    if repository.empty:
        raise not_found("This repository is empty.")
    ref = call.query.get("ref") or repository.default_branch
    commit = repository.resolve(ref)
    if commit is None:
        raise not_found(f"No commit found for the ref {ref}")
    entry = git.find_entry(commit.tree, path)
    if entry is None:
        raise not_found()
    return Response(200, shown_content(call, commit.tree, path, entry, ref))


def shown_content(call: Call, root: pygit2.Tree, path: str, entry: pygit2.Object, ref: str) -> Any:
    show, repository = call.show, call.repository
    if isinstance(entry, pygit2.Tree):
        return show.directory(repository, path, entry, ref)
    match git.kind_of(entry):
        case "submodule":
            url = repository.submodules.get(path, git.SUBMODULE_URL)
            listed = show.content_entry(repository, path, entry, ref)
            return listed | {"submodule_git_url": url}
        case "symlink":
            assert isinstance(entry, pygit2.Blob)
            target = entry.data.decode()
            pointed = git.find_entry(root, joined(path.rpartition("/")[0], target) or "")
            if isinstance(pointed, pygit2.Blob) and git.kind_of(pointed) == "file":
                return show.file(repository, path, pointed, ref)
            return show.content_entry(repository, path, entry, ref) | {"target": target}
        case _:
            assert isinstance(entry, pygit2.Blob)
            if entry.size > MAX_BLOB:
                error = {"resource": "Blob", "field": "data", "code": "too_large"}
                raise Refusal(403, "This API returns blobs up to 100 MB in size.", errors=[error])
            return show.file(repository, path, entry, ref)


def joined(folder: str, target: str) -> str | None:
    """Where a link in a folder leads; None for a place outside the repository."""
    parts = [] if target.startswith("/") else [part for part in folder.split("/") if part]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return None if target.startswith("/") else "/".join(parts)


@operation("PUT /repos/{owner}/{repo}/contents/{path}", "contents=write", locked=False)
def put_contents(call: Call) -> Response:
    """Create or replace a file; two at once on one branch overlap, and one gets a 409."""
    repository, path, body = call.repository, call.parameters["path"], call.body
    check_path(path)
    require_fields(body, "message", "content")
    call.token.require_workflows(path)
    content = decoded(body["content"])
    branch = body.get("branch") or repository.default_branch
    with repository.lock:
        parent = repository.find_head(branch)
        if parent is None and (branch != repository.default_branch or not repository.empty):
            raise not_found(f"Branch {branch} not found")
        repository.check_protection(branch)
        old = check_target(repository, parent, path, body.get("sha"))
        author, committer = people(call)
        new = repository.build_commit(parent, {path: content}, body["message"], author, committer)
    call.host.spend_latency()
    with repository.lock:
        repository.advance(branch, parent, new)
        commit = repository.commit_at(new)
        shown = call.show.file_commit(repository, path, commit, branch)
    return Response(201 if old is None else 200, shown)


def require_fields(body: dict[str, Any], *names: str) -> None:
    for name in names:
        if not isinstance(body.get(name), str):
            raise Refusal(422, f'Invalid request.\n\n"{name}" wasn\'t supplied.')


def decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except binascii.Error:
        raise Refusal(422, "content is not valid Base64") from None


def check_target(
    repository: Repository, parent: str | None, path: str, sha: str | None
) -> pygit2.Object | None:
    """The entry that a write replaces.

    Raises `Refusal` 422 where there is one and no `sha` was sent, also for a directory (which
    nobody has confirmed).
    """
    if parent is None:
        return None
    tree = repository.commit_at(parent).tree
    git.check_parents(tree, path)
    old = git.find_entry(tree, path)
    if old is not None and sha is None:
        raise Refusal(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    if old is not None and sha != str(old.id):
        raise Refusal(409, f"{path} does not match {sha}")
    return old


def people(call: Call) -> tuple[Person, Person]:
    """Author and committer; the host signs for Apps as long as neither is sent."""
    own = call.token.author()

    def sent(role: str, default: Person) -> Person:
        given = call.body.get(role)
        if given is None:
            return default
        date = given.get("date")
        when = None if date is None else int(datetime.fromisoformat(date).timestamp())
        return Person(given["name"], given["email"], when)

    if call.token.bot and not {"author", "committer"} & call.body.keys():
        return own, WEB
    committer = sent("committer", own)
    return sent("author", committer), committer


# Pull requests


@operation("GET /repos/{owner}/{repo}/pulls", "pull_requests=read")
def list_pulls(call: Call) -> Response:
    state, head, base = (call.query.get(name) for name in ("state", "head", "base"))
    owner, separator, branch = (head or "").partition(":")
    found = [
        each
        for each in call.repository.pull_requests
        if (state or "open") in {each.state, "all"}
        and (base is None or each.base == base)
        and (
            # A head without an owner is ignored (docs of "List pull requests").
            not separator
            or (
                each.head == branch
                and each.head_repository.partition("/")[0].lower() == owner.lower()
            )
        )
    ]
    newest = call.query.get("sort", "created") == "created"
    found.sort(key=lambda each: each.number if newest else each.updated_at)
    default = "desc" if newest and "sort" not in call.query else "asc"
    if call.query.get("direction", default) == "desc":
        found.reverse()
    shown = call.page(found, 30)
    headers = {}
    if shown and shown[-1] is not found[-1]:
        page = int(call.query.get("page", 1)) + 1
        target = f"{call.show.root(call.repository)}/pulls"
        query = urlencode(call.query | {"page": str(page)})
        headers["Link"] = f'<{target}?{query}>; rel="next"'
    body = [call.show.pull_request_simple(call.repository, each, call.token) for each in shown]
    return Response(200, body, headers)


@operation("POST /repos/{owner}/{repo}/pulls", "pull_requests=write")
def create_pull(call: Call) -> Response:
    body = call.body
    refuse_actions(call.host, call.token)
    for name in ("title", "head", "base"):
        if not body.get(name):
            raise invalid("PullRequest", name, "missing_field")
    pull_request = call.repository.request_pull(
        head=body["head"],
        base=body["base"],
        title=body["title"],
        body=body.get("body"),
        draft=body.get("draft", False),
        author=call.token.login,
        maintainer_can_modify=body.get("maintainer_can_modify", False),
    )
    shown = call.show.pull_request(call.repository, pull_request, call.token)
    return Response(201, shown, {"Location": shown["url"]})


def refuse_actions(host: StandInHost, token: Token) -> None:
    if token.login == BOT and not host.actions_may_create_pull_requests:
        raise Refusal(403, "GitHub Actions is not permitted to create or approve pull requests.")


@operation("GET /repos/{owner}/{repo}/pulls/{pull_number}", "pull_requests=read")
def get_pull(call: Call) -> Response:
    shown = call.show.pull_request(call.repository, call.number(), call.token)
    return Response(200, shown)


@operation("PATCH /repos/{owner}/{repo}/pulls/{pull_number}", "pull_requests=write")
def update_pull(call: Call) -> Response:
    pull_request = call.number()
    git.check_body(call.body.get("body"))
    state = call.body.get("state", pull_request.state)
    if state != pull_request.state:
        change = call.repository.reopen if state == "open" else call.repository.close
        change(pull_request.number)
    for name in ("title", "body", "base", "maintainer_can_modify"):
        if name in call.body:
            setattr(pull_request, name, call.body[name])
    pull_request.updated_at = time.time()
    return Response(200, call.show.pull_request(call.repository, pull_request, call.token))


@operation(
    "POST /repos/{owner}/{repo}/issues/{issue_number}/labels",
    "issues=write",
    "pull_requests=write",
)
def add_labels(call: Call) -> Response:
    """Add labels; the host creates missing ones (fotingo#5)."""
    pull_request = call.number()
    given = call.body.get("labels", []) if isinstance(call.body, dict) else call.body
    for item in given:
        name = item if isinstance(item, str) else item["name"]
        if name not in pull_request.labels:
            pull_request.labels.append(name)
    shown = [call.show.label(call.repository, name) for name in pull_request.labels]
    return Response(200, shown)


@operation(
    "POST /repos/{owner}/{repo}/issues/{issue_number}/assignees",
    "issues=write",
    "pull_requests=write",
)
def add_assignees(call: Call) -> Response:
    """Assign people; those who cannot be assigned are left out (auto-assign-issue#148)."""
    pull_request = call.number()
    for item in call.body.get("assignees", []):
        login = item if isinstance(item, str) else item["login"]
        if login in call.repository.collaborators and login not in pull_request.assignees:
            pull_request.assignees.append(login)
    return Response(201, call.show.issue(call.repository, pull_request))


@operation(
    "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers", "pull_requests=write"
)
def request_reviewers(call: Call) -> Response:
    """Ask for reviews; one bad reviewer refuses the whole call (pr-helper#55)."""
    repository, pull_request = call.repository, call.number()
    people, teams = call.body.get("reviewers", []), call.body.get("team_reviewers", [])
    if pull_request.author in people:
        raise Refusal(422, "Review cannot be requested from pull request author.")
    if set(people) - repository.collaborators or set(teams) - repository.teams:
        raise Refusal(
            422,
            "Reviews may only be requested from collaborators. One or more of the users or teams "
            f"you specified is not a collaborator of the {repository.full_name} repository.",
        )
    pull_request.reviewers += [each for each in people if each not in pull_request.reviewers]
    pull_request.team_reviewers += [
        each for each in teams if each not in pull_request.team_reviewers
    ]
    return Response(201, call.show.pull_request_simple(repository, pull_request, call.token))
