"""The operations on repositories, references, commits, trees and comparisons."""

from __future__ import annotations

import pygit2

from tests.fakehub import store as git
from tests.fakehub.answer import Response
from tests.fakehub.quirks import Symptom
from tests.fakehub.refusals import Refusal, not_found
from tests.fakehub.tokens import WORKFLOWS

from .call import RepositoryCall, operation, require_fields

MAX_COMMITS = 250
EMPTY = "Git Repository is empty."
HEADS = "refs/heads/"


@operation("GET /repos/{owner}/{repo}")
def get_repository(call: RepositoryCall) -> Response:
    return Response(200, call.show.repository(call.repository, call.token))


@operation("GET /repos/{owner}/{repo}/properties/values")
def get_properties(call: RepositoryCall) -> Response:
    return Response(200, call.show.property_values(call.repository))


@operation("GET /repos/{owner}/{repo}/collaborators/{username}/permission")
def get_permission(call: RepositoryCall) -> Response:
    """Return somebody's role, but only to a user who may push (yegor256/rultor#1407)."""
    if not call.token.bot and not call.token.may_push(call.repository):
        raise Refusal(403, "Must have push access to view collaborator permission.")
    if call.host.quirks.hides_permissions:
        raise not_found()
    login = call.parameters["username"]
    if login in call.repository.mannequins:
        raise Refusal(404, f"{login} is not a user")
    role = call.repository.permission(login)
    if role == "write" and call.host.quirks.role == "ADMIN":
        role = "admin"
    user = call.show.user(login) | {"role_name": role}
    return Response(200, {"permission": role, "role_name": role, "user": user})


def need_commits(call: RepositoryCall) -> None:
    """Raise `Refusal` 409 if the repository is empty (github/rest-api-description#385)."""
    if call.repository.empty:
        raise Refusal(409, EMPTY)


@operation("GET /repos/{owner}/{repo}/git/ref/{ref}", "contents=read")
def get_ref(call: RepositoryCall) -> Response:
    need_commits(call)
    name = f"refs/{call.parameters['ref']}"
    if not pygit2.reference_is_valid_name(name) or name not in call.git.references:
        raise not_found()
    if unseen(call, name):
        raise not_found()
    return Response(200, call.show.reference(call.repository, name))


@operation("GET /repos/{owner}/{repo}/git/matching-refs/{ref}", "contents=read")
def get_matching_refs(call: RepositoryCall) -> Response:
    need_commits(call)
    prefix = f"refs/{call.parameters['ref']}"
    names = sorted(name for name in call.git.references if name.startswith(prefix))
    names = [name for name in names if not unseen(call, name)]
    return Response(200, [call.show.reference(call.repository, name) for name in names])


def unseen(call: RepositoryCall, name: str) -> bool:
    return call.symptom(f"branch {name.removeprefix(HEADS)}", Symptom.REFERENCE) is not None


@operation("POST /repos/{owner}/{repo}/git/refs", "contents=write")
def create_ref(call: RepositoryCall) -> Response:
    need_commits(call)
    is_narrow = call.token.kind == "classic" and "repo" not in call.token.scopes
    if is_narrow and call.host.quirks.public_repo_makes_no_branch:
        raise not_found()
    require_fields(call.body, "ref", "sha")
    if flaky := call.host.quirks.flaky_references:
        status = flaky.pop(0)
        raise Refusal(status, "Reference update failed" if status == 422 else "Server Error")
    check_workflows(call, call.body["sha"])
    call.acts.create_reference(call.body["ref"], call.body["sha"])
    shown = call.show.reference(call.repository, call.body["ref"])
    return Response(201, shown, {"Location": shown["url"]})


def check_workflows(call: RepositoryCall, sha: str) -> None:
    """Raise `Refusal` if a new reference needs the permission for workflow files.

    It does unless a branch has the same workflow files (mkb79/Audible#882,
    DataDog/datadog-agent#54090).
    """
    repository = call.repository

    def workflows(name: str) -> str | None:
        commit = repository.resolve(name)
        entry = commit and git.find_entry(commit.tree, WORKFLOWS.rstrip("/"))
        return str(entry.id) if entry else None

    if workflows(sha) not in map(workflows, repository.branches):
        call.token.require_workflows(WORKFLOWS)


@operation("GET /repos/{owner}/{repo}/git/blobs/{file_sha}", "contents=read")
def get_blob(call: RepositoryCall) -> Response:
    need_commits(call)
    found = find_object(call, call.parameters["file_sha"])
    if not isinstance(found, pygit2.Blob):
        raise not_found()
    return Response(200, call.show.blob(call.repository, found))


@operation("GET /repos/{owner}/{repo}/git/trees/{tree_sha}", "contents=read")
def get_tree(call: RepositoryCall) -> Response:
    need_commits(call)
    name = call.parameters["tree_sha"]
    commit = call.repository.resolve(name)
    found = commit.tree if commit else find_object(call, name)
    if not isinstance(found, pygit2.Tree):
        raise not_found()
    deep = "recursive" in call.query
    shown = call.show.tree(call.repository, found, deep=deep)
    most = call.host.quirks.most_in_tree
    shown["truncated"] = len(shown["tree"]) > most
    shown["tree"] = shown["tree"][:most]
    return Response(200, shown)


@operation("GET /repos/{owner}/{repo}/commits", "contents=read")
def list_commits(call: RepositoryCall) -> Response:
    need_commits(call)
    repository = call.repository
    commit = find_commit(call, call.query.get("sha") or repository.default_branch)
    found = list(repository.history(str(commit.id)))
    shown = [call.show.commit(repository, each) for each in call.page(found)]
    headers = call.links(f"{call.show.root(repository)}/commits", len(found))
    return Response(200, shown, headers)


@operation("GET /repos/{owner}/{repo}/compare/{basehead}", "contents=read")
def compare(call: RepositoryCall) -> Response:
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
    shown = call.page(commits) if paged else commits[-MAX_COMMITS:]
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


def find_commit(call: RepositoryCall, name: str) -> pygit2.Commit:
    found = call.repository.resolve(name)
    if found is None:
        raise not_found()
    return found


def find_object(call: RepositoryCall, sha: str) -> pygit2.Object | None:
    try:
        return call.git.get(sha)
    except ValueError:
        return None
