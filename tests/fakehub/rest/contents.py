"""The operations on files: read the entry at a path, and write a file."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import pygit2

from tests.fakehub import store as git
from tests.fakehub.answer import Response
from tests.fakehub.quirks import Symptom
from tests.fakehub.refusals import Refusal, not_found
from tests.fakehub.repository import Repository
from tests.fakehub.store import WEB, check_path

from .call import RepositoryCall, operation, require_fields


@operation("GET /repos/{owner}/{repo}/contents/{path}", "contents=read")
def get_contents(call: RepositoryCall) -> Response:
    repository, path = call.repository, call.parameters["path"]
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


def shown_content(
    call: RepositoryCall, root: pygit2.Tree, path: str, entry: pygit2.Object, ref: str
) -> Any:
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
            if entry.size > (most := call.host.quirks.most_shown):
                error = {"resource": "Blob", "field": "data", "code": "too_large"}
                # tinacms/tinacms#2787
                message = (
                    f"This API returns blobs up to {most >> 20} MB in size. The requested blob is "
                    "too large to fetch via the API, but you can use the Git Data API to request "
                    "blobs up to 100 MB in size."
                )
                raise Refusal(403, message, errors=[error])
            return show.file(repository, path, entry, ref)


def joined(folder: str, target: str) -> str | None:
    """Return the path of the target of a link in a folder; None if it is outside the repository."""
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
def put_contents(call: RepositoryCall) -> Response:
    """Create or replace a file.

    If two requests on one branch overlap, one of them gets a 409.
    """
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
        if call.symptom(f"branch {branch}", Symptom.CONTENTS):
            raise not_found(f"Branch {branch} not found")
        repository.check_protection(branch, verb="update" if body.get("sha") else "create")
        repository.check_secrets(content)
        old = check_target(repository, parent, path, body.get("sha"))
        # Clients of the tests send neither author nor committer, so GitHub signs for Apps
        author = call.token.author()
        committer = WEB if call.token.bot else author
        repository.check_signature(is_signed=call.token.bot)
        new = repository.build_commit(parent, {path: content}, body["message"], author, committer)
    call.host.spend_latency()
    with repository.lock:
        call.acts.advance(branch, parent, new)
        commit = repository.commit_at(new)
        shown = call.show.file_commit(repository, path, commit, branch)
    return Response(201 if old is None else 200, shown)


def decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except binascii.Error:
        raise Refusal(422, "content is not valid Base64") from None


def check_target(
    repository: Repository, parent: str | None, path: str, sha: str | None
) -> pygit2.Object | None:
    """Return the entry that a write replaces; None if there is none.

    Raises `Refusal` 422 if there is an entry and the request has no `sha` (nobody has confirmed
    this for a directory), and 409 if its `sha` is another one.
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
