"""A repository of the stand-in host: a real bare git repository, and its pull requests."""

from __future__ import annotations

import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import pygit2
from pygit2.enums import FileMode, ObjectType, SortMode

from .quirks import Written
from .refusals import Refusal, invalid, not_found

MAX_BODY = 65_536
SUBMODULE_URL = "https://example.com/submodule.git"
SOMEBODY = ("Somebody Else", "somebody@example.com")


@dataclass(frozen=True, slots=True)
class Symlink:
    """A symbolic link to `target`, a path relative to the link's own directory."""

    target: str


@dataclass(frozen=True, slots=True)
class Submodule:
    """A link to commit `sha` of the repository at `url`."""

    sha: str
    url: str = SUBMODULE_URL


Content: TypeAlias = bytes | Symlink | Submodule
Protection: TypeAlias = Literal["classic", "ruleset"]


class Person(NamedTuple):
    """Author or committer of a commit; without a date it is now."""

    name: str
    email: str
    date: int | None = None

    def signature(self) -> pygit2.Signature:
        return pygit2.Signature(self.name, self.email, self.date or int(time.time()), 0)


@dataclass(frozen=True, slots=True)
class Commit:
    """One entry of `Repository.log`; `paths` are those it changes against its first parent."""

    sha: str
    message: str
    author: str
    email: str
    paths: tuple[str, ...]
    parents: tuple[str, ...]


@dataclass(slots=True)
class PullRequest:
    """A pull request; `head` and `base` are branch names, `head_repository` an owner/name."""

    number: int
    title: str
    body: str | None
    head: str
    base: str
    head_repository: str
    head_sha: str
    base_sha: str
    author: str
    html_url: str
    created_at: float
    updated_at: float
    draft: bool = False
    state: Literal["open", "closed"] = "open"
    maintainer_can_modify: bool = False
    labels: list[str] = field(default_factory=list)
    assignees: list[str] = field(default_factory=list)
    reviewers: list[str] = field(default_factory=list)
    team_reviewers: list[str] = field(default_factory=list)
    closed_at: float | None = None
    merged_at: float | None = None
    merge_commit_sha: str | None = None

    @property
    def merged(self) -> bool:
        return self.merged_at is not None


class Repository:
    """A bare git repository on disk and what the host knows about it beyond git.

    Attributes may be changed at any time. `lock` guards the git repository and the pull
    requests; it is never held while a request spends its latency, so writes really overlap.
    """

    def __init__(
        self,
        path: Path,
        full_name: str,
        number: int,
        *,
        web: str,
        now: Callable[[], float],
        default_branch: str = "main",
        private: bool = False,
        archived: bool = False,
        disabled: bool = False,
        parent: str | None = None,
    ) -> None:
        self.path = path
        self.full_name = full_name
        self.former_names: list[str] = []
        self.id = number
        self.web = web
        self.default_branch = default_branch
        self.private = private
        self.archived = archived
        self.disabled = disabled
        self.parent = parent
        self.written = Written(now)
        self.collaborators = {"octocat", "hubot", "monalisa"}
        self.teams = {"maintainers"}
        self._now = now
        self.created_at = self.pushed_at = now()
        self.protections: list[tuple[str, Protection]] = []
        self.submodules: dict[str, str] = {}
        self.lock = threading.RLock()
        self.git = pygit2.init_repository(str(path), bare=True, initial_head=default_branch)
        self._pull_requests: list[PullRequest] = []

    @property
    def owner(self) -> str:
        return self.full_name.partition("/")[0]

    @property
    def name(self) -> str:
        return self.full_name.partition("/")[2]

    @property
    def html_url(self) -> str:
        return f"{self.web}/{self.full_name}"

    # Reading

    @property
    def empty(self) -> bool:
        """True as long as there is no commit on any branch."""
        with self.lock:
            return not any(self.git.branches.local)

    @property
    def branches(self) -> list[str]:
        with self.lock:
            return sorted(self.git.branches.local)

    def head(self, branch: str | None = None) -> str:
        """The commit id a branch points at; KeyError when there is no such branch."""
        with self.lock:
            return str(self.git.branches.local[branch or self.default_branch].target)

    def find_head(self, branch: str) -> str | None:
        with self.lock:
            found = self.git.branches.local.get(branch)
            return None if found is None else str(found.target)

    def files(self, branch: str | None = None) -> dict[str, Content]:
        """Every path of a branch with its content; KeyError when there is no such branch."""
        with self.lock:
            return {
                path: self._content(path, entry)
                for path, entry in self.walk(self.commit_at(self.head(branch)).tree)
                if not isinstance(entry, pygit2.Tree)
            }

    def modes(self, branch: str | None = None) -> dict[str, int]:
        """Every path of a branch with its git file mode, such as 0o100644."""
        with self.lock:
            return {
                path: int(entry.filemode)
                for path, entry in self.walk(self.commit_at(self.head(branch)).tree)
                if not isinstance(entry, pygit2.Tree)
            }

    def log(self, branch: str | None = None) -> list[Commit]:
        """The commits of a branch, newest first."""
        with self.lock:
            walker = self.git.walk(pygit2.Oid(hex=self.head(branch)), SortMode.TOPOLOGICAL)
            return [
                Commit(
                    sha=str(commit.id),
                    message=commit.message,
                    author=commit.author.name,
                    email=commit.author.email,
                    paths=tuple(delta.new_file.path for delta in self.changes(commit).deltas),
                    parents=tuple(str(parent) for parent in commit.parent_ids),
                )
                for commit in walker
            ]

    def commit_at(self, sha: str) -> pygit2.Commit:
        return self.git[sha].peel(pygit2.Commit)

    def resolve(self, name: str) -> pygit2.Commit | None:
        """The commit that a branch, a tag, `HEAD` or a full commit id names."""
        if name == "HEAD":
            name = self.default_branch
        for prefix in ("refs/heads/", "refs/tags/", ""):
            try:
                reference = self.git.references.get(prefix + name)
            except (KeyError, ValueError):
                continue
            if reference is not None:
                return reference.peel(pygit2.Commit)
        try:
            return self.commit_at(name) if len(name) == 40 else None
        except (KeyError, ValueError):
            return None

    def walk(self, tree: pygit2.Tree, prefix: str = "") -> Iterator[tuple[str, pygit2.Object]]:
        """Every entry below a tree, directories before what they contain."""
        for entry in tree:
            path = f"{prefix}{entry.name}"
            yield path, entry
            if isinstance(entry, pygit2.Tree):
                yield from self.walk(entry, f"{path}/")

    def changes(self, commit: pygit2.Commit) -> pygit2.Diff:
        """What a commit changes against its first parent."""
        if commit.parents:
            return commit.parents[0].tree.diff_to_tree(commit.tree)
        return commit.tree.diff_to_tree(swap=True)

    def ahead_behind(self, head: str, base: str) -> tuple[int, int]:
        """How many commits `head` has that `base` lacks, and the reverse."""
        return self.git.ahead_behind(pygit2.Oid(hex=head), pygit2.Oid(hex=base))

    def merge_base(self, one: str, other: str) -> pygit2.Commit | None:
        """The last common commit, if there is one."""
        found = self.git.merge_base(pygit2.Oid(hex=one), pygit2.Oid(hex=other))
        return self.git[found].peel(pygit2.Commit) if found else None

    def _content(self, path: str, entry: pygit2.Object) -> Content:
        if entry.filemode == FileMode.COMMIT:
            return Submodule(str(entry.id), self.submodules.get(path, SUBMODULE_URL))
        assert isinstance(entry, pygit2.Blob)
        return Symlink(entry.data.decode()) if entry.filemode == FileMode.LINK else entry.data

    # Commits and references

    def build_commit(
        self,
        parent: str | None,
        changes: Mapping[str, Content | None],
        message: str,
        author: Person,
        committer: Person,
    ) -> str:
        """Write a commit that no reference shows yet; None in `changes` deletes a path."""
        with self.lock:
            index = pygit2.Index()
            if parent is not None:
                index.read_tree(self.commit_at(parent).tree)
            for path, content in changes.items():
                if content is None:
                    index.remove(path)
                else:
                    index.add(self._index_entry(path, content))
            created = self.git.create_commit(
                None,
                author.signature(),
                committer.signature(),
                message,
                index.write_tree(self.git),
                [] if parent is None else [pygit2.Oid(hex=parent)],
            )
            return str(created)

    def _index_entry(self, path: str, content: Content) -> pygit2.IndexEntry:
        if isinstance(content, Submodule):
            self.submodules[path] = content.url
            return pygit2.IndexEntry(path, pygit2.Oid(hex=content.sha), FileMode.COMMIT)
        if isinstance(content, Symlink):
            blob = self.git.create_blob(content.target.encode())
            return pygit2.IndexEntry(path, blob, FileMode.LINK)
        return pygit2.IndexEntry(path, self.git.create_blob(content), FileMode.BLOB)

    def advance(self, branch: str, expected: str | None, new: str) -> None:
        """Move a branch from one commit to the next.

        Raises `Refusal` 409 when the branch is no longer at `expected`
        (PyGithub/PyGithub#1787).
        """
        with self.lock:
            current = self.find_head(branch)
            if current != expected:
                raise Refusal(409, f"is at {current} but expected {expected}")
            self._set_reference(f"refs/heads/{branch}", new)
            self.written.note(f"head {branch}")

    def _set_reference(self, name: str, sha: str) -> None:
        self.git.references.create(name, sha, force=True)
        self.pushed_at = self._now()
        branch = name.removeprefix("refs/heads/")
        for pull_request in self._pull_requests:
            if pull_request.state == "open" and self.is_head(pull_request, branch):
                pull_request.head_sha = sha

    def commit(
        self,
        changes: Mapping[str, Content | None],
        *,
        branch: str | None = None,
        message: str = "Change by somebody else",
        author: Person | tuple[str, str] = SOMEBODY,
    ) -> str:
        """Commit as somebody else, past every rule of the host; creates the branch if needed.

        A new branch starts at the default branch. Returns the commit id.
        """
        with self.lock:
            branch = branch or self.default_branch
            parent = self.find_head(branch) or self.find_head(self.default_branch)
            person = Person(*author)
            sha = self.build_commit(parent, changes, message, person, person)
            self._set_reference(f"refs/heads/{branch}", sha)
            return sha

    def create_branch(self, name: str, at: str | None = None) -> str:
        """Create or move a branch to a commit or branch (the default branch if not given)."""
        with self.lock:
            commit = self.resolve(at or self.default_branch)
            if commit is None:
                raise KeyError(at)
            self._set_reference(f"refs/heads/{name}", str(commit.id))
            return str(commit.id)

    def delete_branch(self, name: str) -> None:
        """Delete a branch, which closes its open pull requests."""
        with self.lock:
            self.git.references.delete(f"refs/heads/{name}")
            for pull_request in self._pull_requests:
                if pull_request.state == "open" and self.is_head(pull_request, name):
                    self.close(pull_request.number)

    def create_reference(self, name: str, sha: str) -> None:
        """Create a reference as a client of the host does.

        Raises `Refusal` 422 `Reference already exists` (renovatebot/renovate#20281), 422
        `Reference update failed` for a name below or above another one or where a ruleset
        forbids it (actions/github-script#455), 422 otherwise.
        """
        with self.lock:
            if not name.startswith("refs/") or name.count("/") < 2:
                raise Refusal(
                    422, "Reference name must start with 'refs/' and have at least two slashes."
                )
            if not pygit2.reference_is_valid_name(name):
                raise Refusal(422, f"{name} is not a valid ref name.")
            if len(sha) != 40 or sha not in self.git:
                raise Refusal(422, "Object does not exist")
            if name in self.git.references:
                raise Refusal(422, "Reference already exists")
            if any(
                other.startswith(f"{name}/") or name.startswith(f"{other}/")
                for other in self.git.references
            ) or "ruleset" in self.protections_of(name.removeprefix("refs/heads/")):
                raise Refusal(422, "Reference update failed")
            self._set_reference(name, sha)
            branch = name.removeprefix("refs/heads/")
            self.written.note(f"branch {branch}", f"head {branch}")

    # Rules

    def protect(self, branch_pattern: str, kind: Protection = "classic") -> None:
        """Refuse direct writes to branches of a pattern; a ruleset also refuses to create them."""
        self.protections.append((branch_pattern, kind))

    def protections_of(self, branch: str) -> set[Protection]:
        return {kind for pattern, kind in self.protections if fnmatchcase(branch, pattern)}

    def check_protection(self, branch: str) -> None:
        """Raise `Refusal` 409 in the words of the rule that forbids a direct write.

        BobAnkh/auto-generate-changelog#78 for a protection, the OpenAPI 409 for a ruleset.
        """
        reason = "Changes must be made through a pull request."
        kinds = self.protections_of(branch)
        if "classic" in kinds:
            raise Refusal(409, f"Could not create/update file: {reason}")
        if kinds:
            raise Refusal(409, f"Repository rule violations found\n\n{reason}\n\n")

    def rename(self, full_name: str) -> None:
        """Give the repository another name; the old one redirects."""
        self.former_names.append(self.full_name)
        self.full_name = full_name

    # Pull requests

    @property
    def pull_requests(self) -> list[PullRequest]:
        with self.lock:
            return list(self._pull_requests)

    def pull_request(self, number: int) -> PullRequest:
        """A pull request by its number; `Refusal` 404 when there is none."""
        for pull_request in self._pull_requests:
            if pull_request.number == number:
                return pull_request
        raise not_found()

    def is_head(self, pull_request: PullRequest, branch: str) -> bool:
        return pull_request.head == branch and pull_request.head_repository == self.full_name

    def open_pull_request(
        self,
        *,
        head: str,
        base: str | None = None,
        title: str = "A pull request by somebody else",
        body: str | None = None,
        draft: bool = False,
        author: str = "somebody",
        head_repository: str | None = None,
        maintainer_can_modify: bool = False,
    ) -> PullRequest:
        """Open a pull request past every rule of the host.

        With `head_repository` it comes from a branch of that fork, which stands at the same
        commit as the branch of this name here, or else at the base; the fork itself is not
        served.
        """
        with self.lock:
            base = base or self.default_branch
            base_sha = self.head(base)
            head_sha = self.find_head(head)
            if head_sha is None:
                if head_repository is None:
                    raise KeyError(head)
                head_sha = base_sha
            number = len(self._pull_requests) + 1
            pull_request = PullRequest(
                number=number,
                title=title,
                body=body,
                head=head,
                base=base,
                head_repository=head_repository or self.full_name,
                head_sha=head_sha,
                base_sha=base_sha,
                author=author,
                html_url=f"{self.html_url}/pull/{number}",
                created_at=self._now(),
                updated_at=self._now(),
                draft=draft,
                maintainer_can_modify=maintainer_can_modify,
            )
            self._pull_requests.append(pull_request)
            return pull_request

    def request_pull(
        self,
        *,
        head: str,
        base: str,
        title: str,
        body: str | None,
        draft: bool,
        author: str,
        maintainer_can_modify: bool,
    ) -> PullRequest:
        """Open a pull request as a client of the host does.

        Raises `Refusal` 422 with the reason in `errors[].message`, as recorded by
        hub4j/github-api and third parties.
        """
        with self.lock:
            owner, separator, branch = head.rpartition(":")
            base_sha, head_sha = self.find_head(base), self.find_head(branch)
            if base_sha is None:
                raise invalid("PullRequest", "base")
            if head_sha is None or (separator and owner.lower() != self.owner.lower()):
                raise invalid("PullRequest", "head")
            check_body(body)
            if any(
                each.state == "open" and self.is_head(each, branch) and each.base == base
                for each in self._pull_requests
            ):
                raise custom(f"A pull request already exists for {self.owner}:{branch}.")
            if self.merge_base(base_sha, head_sha) is None:
                raise custom(f"The {branch} branch has no history in common with {base}")
            if not self.ahead_behind(head_sha, base_sha)[0]:
                raise custom(f"No commits between {base} and {branch}")
            opened = self.open_pull_request(
                head=branch,
                base=base,
                title=title,
                body=body,
                draft=draft,
                author=author,
                maintainer_can_modify=maintainer_can_modify,
            )
            self.written.note(f"pull request {opened.number}")
            return opened

    def close(self, number: int) -> None:
        """Close a pull request unmerged."""
        with self.lock:
            pull_request = self.pull_request(number)
            pull_request.state = "closed"
            pull_request.closed_at = pull_request.updated_at = self._now()

    def reopen(self, number: int) -> None:
        """Open a closed pull request again; `Refusal` 422 when it is merged or lost its head."""
        with self.lock:
            pull_request = self.pull_request(number)
            if pull_request.merged or self.find_head(pull_request.head) is None:
                raise invalid("PullRequest", "state")
            pull_request.state, pull_request.closed_at = "open", None
            pull_request.head_sha = self.head(pull_request.head)

    def merge(self, number: int) -> str:
        """Merge a pull request with a merge commit, whose id is returned."""
        with self.lock:
            pull_request = self.pull_request(number)
            ours = pygit2.Oid(hex=self.head(pull_request.base))
            theirs = pygit2.Oid(hex=pull_request.head_sha)
            person = Person(*SOMEBODY).signature()
            merged = self.git.create_commit(
                None,
                person,
                person,
                f"Merge pull request #{number}",
                self.git.merge_commits(ours, theirs).write_tree(self.git),
                [ours, theirs],
            )
            self._set_reference(f"refs/heads/{pull_request.base}", str(merged))
            self.close(number)
            pull_request.merged_at = pull_request.closed_at
            pull_request.merge_commit_sha = str(merged)
            return str(merged)


def custom(message: str) -> Refusal:
    error = {"resource": "PullRequest", "code": "custom", "message": message}
    return Refusal(422, "Validation Failed", errors=[error])


def check_body(body: str | None) -> None:
    """Raise `Refusal` 422 when a pull request's body is too long (github/issue-metrics#258)."""
    if body is not None and len(body) > MAX_BODY:
        message = f"body is too long (maximum is {MAX_BODY} characters)"
        raise invalid("PullRequest", "body", "custom", message=message)


def check_path(path: str) -> None:
    """Raise `Refusal` 422 for a path that git or the host does not take."""
    if any(part in {"", ".", "..", ".git"} for part in path.split("/")):
        raise Refusal(422, "path contains a malformed path component")


def find_entry(tree: pygit2.Tree, path: str) -> pygit2.Object | None:
    """The entry at a path, the tree itself for an empty one."""
    try:
        return tree[path] if path else tree
    except KeyError:
        return None


def check_parents(tree: pygit2.Tree, path: str) -> None:
    """Raise `Refusal` 409 where a parent of the path is no directory (Molunerfinn/PicGo#955).

    A symbolic link is taken to be the same, which nobody has confirmed.
    """
    parts = path.split("/")
    for depth in range(1, len(parts)):
        above = find_entry(tree, "/".join(parts[:depth]))
        if above is not None and not isinstance(above, pygit2.Tree):
            raise Refusal(
                409,
                "Sorry, a file exists where you’re trying to create a subdirectory. "
                "Choose a new path and try again.",
            )


def kind_of(entry: pygit2.Object) -> str:
    """`file`, `dir`, `symlink` or `submodule`."""
    match entry.filemode:
        case FileMode.TREE:
            return "dir"
        case FileMode.LINK:
            return "symlink"
        case FileMode.COMMIT:
            return "submodule"
        case _:
            return "file"


def git_type(entry: pygit2.Object) -> str:
    """`blob`, `tree` or `commit`, as git names it in a tree."""
    names = {ObjectType.BLOB: "blob", ObjectType.TREE: "tree"}
    return names.get(ObjectType(entry.type), "commit") if entry.type else "commit"


def octal(entry: pygit2.Object) -> str:
    """A mode as a tree listing writes it: six octal digits."""
    assert stat.S_IFMT(entry.filemode)
    return f"{entry.filemode:06o}"
