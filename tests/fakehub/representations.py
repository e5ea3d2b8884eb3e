"""The JSON forms of repositories, commits and pull requests, as GitHub's schemas want them."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Set
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pygit2
from pygit2.enums import DeltaStatus

from .repository import PullRequest, Repository
from .store import WEB, git_type, kind_of, octal
from .tokens import Token

MAX_ENCODED = 1_000_000
MAX_COMPARED_FILES = 300
WEB_FLOW = WEB.email

REPOSITORY_URLS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}
USER_URLS = {
    "events_url": "/events{/privacy}",
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "organizations_url": "/orgs",
    "received_events_url": "/received_events",
    "repos_url": "/repos",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
}
STATUSES = {
    DeltaStatus.ADDED: "added",
    DeltaStatus.DELETED: "removed",
    DeltaStatus.RENAMED: "renamed",
    DeltaStatus.TYPECHANGE: "changed",
}


def node_id(kind: str, *key: object) -> str:
    """Return a global id; REST and GraphQL have the same one."""
    return f"{kind}_{base64.urlsafe_b64encode('|'.join(map(str, key)).encode()).decode()}"


def old_node_id(number: int) -> str:
    """Return an id of a repository in the form from before 2021: `MDEwOlJlcG9zaXRvcnkxMjk2MjY5`."""
    return base64.b64encode(f"010:Repository{number}".encode()).decode()


def parse_node_id(text: str) -> tuple[str, list[str]]:
    """Return the kind and the key of a global id, old or new. Raise ValueError for other text."""
    kind, underscore, encoded = text.partition("_")
    if not underscore:
        _, old, number = base64.b64decode(text).decode().partition("010:Repository")
        return "R" if old else "", [number]
    return kind, base64.urlsafe_b64decode(encoded).decode().split("|")


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_or_none(seconds: float | None) -> str | None:
    return None if seconds is None else moment(seconds)


def user_id(login: str) -> int:
    return zlib.crc32(login.encode())


class Representations:
    """Builds JSON forms; `api` and `web` are the roots of the addresses in them."""

    def __init__(
        self,
        api: str,
        web: str,
        *,
        people: Set[str] = frozenset(),
        old_ids: bool = False,
        with_properties: bool = True,
        empty_properties: bool = False,
    ) -> None:
        """Prepare the forms; `people` are the owners that are people, in lower case."""
        self.people = people
        self.api = api
        self.web = web
        self.old_ids = old_ids
        self.with_properties = with_properties
        self.empty_properties = empty_properties

    def root(self, repository: Repository) -> str:
        return f"{self.api}/repos/{repository.full_name}"

    def user(self, login: str) -> dict[str, Any]:
        url = f"{self.api}/users/{quote(login)}"
        return {
            "login": login,
            "id": user_id(login),
            "node_id": node_id("U", login),
            "avatar_url": f"{self.web}/avatars/{user_id(login)}",
            "gravatar_id": "",
            "url": url,
            "html_url": f"{self.web}/{quote(login)}",
            "type": "Bot" if login.endswith("[bot]") else "User",
            "site_admin": False,
        } | {name: url + path for name, path in USER_URLS.items()}

    def owner(self, login: str) -> dict[str, Any]:
        """Return the form of an owner: a user or an organisation."""
        kind = "User" if login.lower() in self.people else "Organization"
        return self.user(login) | {"type": kind}

    def _properties(self, repository: Repository) -> dict[str, Any]:
        """Return the field for custom properties; nothing for repositories of people."""
        of_person = repository.owner.lower() in self.people
        if of_person or not self.with_properties:
            return {}
        return {"custom_properties": {} if self.empty_properties else dict(repository.properties)}

    def property_values(self, repository: Repository) -> list[dict[str, Any]]:
        """Return the custom properties of a repository as a list of names and values."""
        return [
            {"property_name": name, "value": value} for name, value in repository.properties.items()
        ]

    def repository(
        self, repository: Repository, token: Token, full_name: str | None = None
    ) -> dict[str, Any]:
        """Return the full form of a repository, or of a fork of it called `full_name`."""
        name = full_name or repository.full_name
        of_fork = name != repository.full_name
        root, html_url = f"{self.api}/repos/{name}", f"{self.web}/{name}"
        number = user_id(name) if of_fork else repository.id
        opened = sum(each.state == "open" for each in repository.pull_requests)
        git = f"{name}.git"
        host = self.web.partition("//")[2]
        return {
            "id": number,
            "node_id": old_node_id(number) if self.old_ids else node_id("R", number),
            "name": name.partition("/")[2],
            "full_name": name,
            "owner": self.owner(name.partition("/")[0]),
            "private": repository.private,
            "visibility": repository.visibility,
            "html_url": html_url,
            "description": None,
            "fork": of_fork or repository.parent is not None,
            "url": root,
            "git_url": f"git://{host}/{git}",
            "ssh_url": f"git@{host}:{git}",
            "clone_url": f"{self.web}/{git}",
            "svn_url": html_url,
            "mirror_url": None,
            "homepage": None,
            "language": repository.language,
            "license": None,
            "topics": list(repository.topics),
            **self._properties(repository),
            "archived": repository.archived,
            "disabled": repository.disabled,
            "default_branch": repository.default_branch,
            "created_at": moment(repository.created_at),
            "updated_at": moment(repository.pushed_at),
            "pushed_at": moment(repository.pushed_at),
            "size": 0,
            "stargazers_count": 0,
            "watchers_count": 0,
            "watchers": 0,
            "subscribers_count": 0,
            "network_count": 0,
            "forks_count": 0,
            "forks": 0,
            "open_issues_count": opened,
            "open_issues": opened,
            "has_issues": True,
            "has_projects": True,
            "has_downloads": True,
            "has_wiki": True,
            "has_pages": False,
            "has_discussions": False,
            "has_pull_requests": repository.has_pull_requests,
            "allow_forking": True,
            "is_template": False,
            "web_commit_signoff_required": False,
            "permissions": token.role(repository),
        } | {key: root + path for key, path in REPOSITORY_URLS.items()}

    def reference(self, repository: Repository, name: str) -> dict[str, Any]:
        target = repository.git.references[name].target
        kind = git_type(repository.git[target])
        return {
            "ref": name,
            "node_id": node_id("REF", repository.id, name),
            "url": f"{self.root(repository)}/git/{quote(name)}",
            "object": {
                "sha": str(target),
                "type": kind,
                "url": f"{self.root(repository)}/git/{kind}s/{target}",
            },
        }

    # Contents

    def content_entry(
        self, repository: Repository, path: str, entry: pygit2.Object, ref: str
    ) -> dict[str, Any]:
        """Return the fields that every kind of entry has; `size` is in bytes."""
        kind = kind_of(entry)
        escaped = quote(path)
        url = f"{self.root(repository)}/contents/{escaped}?ref={quote(ref, safe='')}"
        git_url: str | None = f"{self.root(repository)}/git/{git_type(entry)}s/{entry.id}"
        shown = "tree" if kind == "dir" else "blob"
        html_url: str | None = f"{repository.html_url}/{shown}/{quote(ref)}/{escaped}"
        if kind == "submodule":
            git_url = html_url = None
        raw = f"{self.web}/raw/{repository.full_name}/{quote(ref)}/{escaped}"
        return {
            "name": path.rpartition("/")[2],
            "path": path,
            "sha": str(entry.id),
            "size": entry.size if isinstance(entry, pygit2.Blob) else 0,
            "url": url,
            "html_url": html_url,
            "git_url": git_url,
            "download_url": raw if isinstance(entry, pygit2.Blob) else None,
            "type": kind,
            "_links": {"self": url, "git": git_url, "html": html_url},
        }

    def directory(
        self, repository: Repository, path: str, tree: pygit2.Tree, ref: str
    ) -> list[dict[str, Any]]:
        """Return at most 1,000 entries of a directory.

        The type of a submodule is `file` there (OpenAPI text).
        """
        prefix = f"{path}/" if path else ""
        listed = [
            self.content_entry(repository, f"{prefix}{entry.name}", entry, ref) for entry in tree
        ]
        for item in listed:
            if item["type"] == "submodule":
                item["type"] = "file"
        return listed[:1000]

    def file(
        self, repository: Repository, path: str, blob: pygit2.Blob, ref: str
    ) -> dict[str, Any]:
        """Return a file with its content. Above 1 MB `encoding` is `none` and `content` empty."""
        large = blob.size > MAX_ENCODED
        return self.content_entry(repository, path, blob, ref) | {
            "type": "file",
            "content": "" if large else base64.encodebytes(blob.data).decode(),
            "encoding": "none" if large else "base64",
        }

    # Commits and trees

    def person(self, signature: pygit2.Signature) -> dict[str, Any]:
        return {
            "name": signature.name,
            "email": signature.email,
            "date": moment(signature.time),
        }

    def git_commit(self, repository: Repository, commit: pygit2.Commit) -> dict[str, Any]:
        root, html_url = f"{self.root(repository)}/git/commits", f"{repository.html_url}/commit"
        signed = commit.committer.email == WEB_FLOW
        return {
            "sha": str(commit.id),
            "node_id": node_id("C", repository.id, commit.id),
            "url": f"{root}/{commit.id}",
            "html_url": f"{html_url}/{commit.id}",
            "author": self.person(commit.author),
            "committer": self.person(commit.committer),
            "tree": {
                "sha": str(commit.tree_id),
                "url": f"{self.root(repository)}/git/trees/{commit.tree_id}",
            },
            "message": commit.message,
            "parents": [
                {"sha": str(sha), "url": f"{root}/{sha}", "html_url": f"{html_url}/{sha}"}
                for sha in commit.parent_ids
            ],
            "verification": {
                "verified": signed,
                "reason": "valid" if signed else "unsigned",
                "signature": None,
                "payload": None,
                "verified_at": moment(commit.commit_time) if signed else None,
            },
        }

    def commit(self, repository: Repository, commit: pygit2.Commit) -> dict[str, Any]:
        inner = self.git_commit(repository, commit)
        url = f"{self.root(repository)}/commits/{commit.id}"
        logins = [
            signature.name if signature.email.endswith("users.noreply.github.com") else None
            for signature in (commit.author, commit.committer)
        ]
        author, committer = (login and self.user(login) for login in logins)
        moved = {"sha", "node_id", "html_url", "parents"}
        return {
            **{key: inner[key] for key in sorted(moved)},
            "url": url,
            "comments_url": f"{url}/comments",
            "author": author,
            "committer": committer,
            "commit": {key: value for key, value in inner.items() if key not in moved}
            | {"comment_count": 0},
        }

    def file_commit(
        self, repository: Repository, path: str, commit: pygit2.Commit, branch: str
    ) -> dict[str, Any]:
        return {
            "content": self.content_entry(repository, path, commit.tree[path], branch),
            "commit": self.git_commit(repository, commit),
        }

    def tree(self, repository: Repository, tree: pygit2.Tree, *, deep: bool) -> dict[str, Any]:
        root = f"{self.root(repository)}/git"

        def item(path: str, entry: pygit2.Object) -> dict[str, Any]:
            kind = git_type(entry)
            shown: dict[str, Any] = {
                # If a name is not UTF-8, JSON shows replacement characters
                "path": path.encode(errors="surrogateescape").decode(errors="replace"),
                "mode": octal(entry),
                "type": kind,
                "sha": str(entry.id),
            }
            if isinstance(entry, pygit2.Blob):
                shown["size"] = entry.size
            if kind != "commit":
                shown["url"] = f"{root}/{kind}s/{entry.id}"
            return shown

        entries: Iterable[tuple[str, pygit2.Object]] = (
            repository.walk(tree) if deep else ((entry.name or "", entry) for entry in tree)
        )
        return {
            "sha": str(tree.id),
            "url": f"{root}/trees/{tree.id}",
            "tree": [item(path, entry) for path, entry in entries],
            "truncated": False,
        }

    def changed_files(
        self, repository: Repository, diff: pygit2.Diff, sha: str
    ) -> list[dict[str, Any]]:
        """Return at most 300 changed files of a comparison (OpenAPI text)."""
        files = []
        for patch in [patch for patch in diff if patch][:MAX_COMPARED_FILES]:
            delta = patch.delta
            _, additions, deletions = patch.line_stats
            file = delta.old_file if delta.status == DeltaStatus.DELETED else delta.new_file
            path = quote(file.path)
            files.append(
                {
                    "sha": str(file.id),
                    "filename": file.path,
                    "status": STATUSES.get(DeltaStatus(delta.status), "modified"),
                    "additions": additions,
                    "deletions": deletions,
                    "changes": additions + deletions,
                    "blob_url": f"{repository.html_url}/blob/{sha}/{path}",
                    "raw_url": f"{repository.html_url}/raw/{sha}/{path}",
                    "contents_url": f"{self.root(repository)}/contents/{path}?ref={sha}",
                }
            )
        return files

    # Pull requests

    def _of_both(self, repository: Repository, pull_request: PullRequest) -> dict[str, Any]:
        """Return the fields that a pull request has in common with its issue."""
        assignees = [self.user(login) for login in pull_request.assignees]
        return {
            "id": repository.id * 100_000 + pull_request.number,
            "node_id": node_id("PR", repository.id, pull_request.number),
            "number": pull_request.number,
            "html_url": pull_request.html_url,
            "state": pull_request.state,
            "locked": False,
            "title": pull_request.title,
            "body": pull_request.body,
            "user": self.user(pull_request.author),
            "labels": [self.label(repository, name) for name in pull_request.labels],
            "assignee": assignees[0] if assignees else None,
            "assignees": assignees,
            "milestone": None,
            "created_at": moment(pull_request.created_at),
            "updated_at": moment(pull_request.updated_at),
            "closed_at": moment_or_none(pull_request.closed_at),
            "author_association": repository.association(pull_request.author),
        }

    def pull_request_simple(
        self, repository: Repository, pull_request: PullRequest, token: Token
    ) -> dict[str, Any]:
        """Return the form of a pull request in a list."""
        number, root = pull_request.number, self.root(repository)
        url, issue = f"{root}/pulls/{number}", f"{root}/issues/{number}"
        html_url, sha = pull_request.html_url, pull_request.head_sha
        links = {
            "self": url,
            "html": html_url,
            "issue": issue,
            "comments": f"{issue}/comments",
            "review_comments": f"{url}/comments",
            "review_comment": f"{root}/pulls/comments{{/number}}",
            "commits": f"{url}/commits",
            "statuses": f"{root}/statuses/{sha}",
        }

        def side(full_name: str, branch: str, sha: str) -> dict[str, Any]:
            owner = full_name.partition("/")[0]
            return {
                "label": f"{owner}:{branch}",
                "ref": branch,
                "sha": sha,
                "user": self.user(owner),
                "repo": self.repository(repository, token, full_name),
            }

        head = side(pull_request.head_repository, pull_request.head, sha)
        if pull_request.is_fork_deleted:
            # github/rest-api-description#1811
            head |= {"user": None, "repo": None}

        return {
            **self._of_both(repository, pull_request),
            "url": url,
            "diff_url": f"{html_url}.diff",
            "patch_url": f"{html_url}.patch",
            "issue_url": issue,
            **{f"{key}_url": links[key] for key in list(links)[3:]},
            "requested_reviewers": [self.user(login) for login in pull_request.reviewers],
            "requested_teams": [
                self.team(repository, slug) for slug in pull_request.team_reviewers
            ],
            "draft": pull_request.draft,
            "merged_at": moment_or_none(pull_request.merged_at),
            "merge_commit_sha": pull_request.merge_commit_sha,
            "auto_merge": None,
            "active_lock_reason": None,
            "head": head,
            "base": side(repository.full_name, pull_request.base, pull_request.base_sha),
            "_links": {name: {"href": href} for name, href in links.items()},
        }

    def pull_request(
        self, repository: Repository, pull_request: PullRequest, token: Token
    ) -> dict[str, Any]:
        """Return the form of a single pull request, which also has `merged` and counts."""
        base_sha, head_sha = pull_request.base_sha, pull_request.head_sha
        ahead, _ = repository.ahead_behind(head_sha, base_sha)
        base = repository.merge_base(base_sha, head_sha) or repository.commit_at(base_sha)
        stats = base.tree.diff_to_tree(repository.commit_at(head_sha).tree).stats
        return self.pull_request_simple(repository, pull_request, token) | {
            "merged": pull_request.merged,
            "merged_by": None,
            "mergeable": None,
            "mergeable_state": "unknown",
            "rebaseable": None,
            "maintainer_can_modify": pull_request.maintainer_can_modify,
            "comments": 0,
            "review_comments": 0,
            "commits": ahead,
            "additions": stats.insertions,
            "deletions": stats.deletions,
            "changed_files": stats.files_changed,
        }

    def issue(self, repository: Repository, pull_request: PullRequest) -> dict[str, Any]:
        """Return the form of the issue that belongs to a pull request."""
        number, root = pull_request.number, self.root(repository)
        url, html_url = f"{root}/issues/{number}", pull_request.html_url
        return {
            **self._of_both(repository, pull_request),
            "url": url,
            "repository_url": root,
            "labels_url": f"{url}/labels{{/name}}",
            "comments_url": f"{url}/comments",
            "events_url": f"{url}/events",
            "comments": 0,
            "pull_request": {
                "url": f"{root}/pulls/{number}",
                "html_url": html_url,
                "diff_url": f"{html_url}.diff",
                "patch_url": f"{html_url}.patch",
            },
        }

    def blob(self, repository: Repository, blob: pygit2.Blob) -> dict[str, Any]:
        return {
            "sha": str(blob.id),
            "node_id": node_id("B", repository.id, str(blob.id)),
            "size": blob.size,
            "url": f"{self.root(repository)}/git/blobs/{blob.id}",
            "content": base64.encodebytes(blob.data).decode(),
            "encoding": "base64",
        }

    def label(self, repository: Repository, name: str) -> dict[str, Any]:
        return {
            "id": user_id(f"{repository.id}/{name}"),
            "node_id": node_id("LA", repository.id, name),
            "url": f"{self.root(repository)}/labels/{quote(name, safe='')}",
            "name": name,
            "color": "ededed",
            "default": False,
            "description": None,
        }

    def team(self, repository: Repository, slug: str) -> dict[str, Any]:
        number = user_id(f"{repository.owner}/{slug}")
        url = f"{self.api}/organizations/{user_id(repository.owner)}/team/{number}"
        return {
            "id": number,
            "node_id": node_id("T", repository.owner, slug),
            "url": url,
            "html_url": f"{self.web}/orgs/{repository.owner}/teams/{slug}",
            "name": slug,
            "slug": slug,
            "description": None,
            "privacy": "closed",
            "permission": "push",
            "members_url": f"{url}/members{{/member}}",
            "repositories_url": f"{url}/repos",
            "type": "organization",
            "parent": None,
        }
