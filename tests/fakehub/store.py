"""A bare git repository on disk, which is created before the first write."""

from __future__ import annotations

import atexit
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import pygit2
from pygit2.enums import FileMode, ObjectType, SortMode

from .refusals import Refusal

SUBMODULE_URL = "https://example.com/submodule.git"
SOMEBODY = ("Somebody Else", "somebody@example.com")
CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"


@dataclass(frozen=True, slots=True)
class Symlink:
    """A symbolic link to `target`, a path relative to the link's own directory."""

    target: str


@dataclass(frozen=True, slots=True)
class Executable:
    """A file that may be executed. `Store.files` shows only its content, `Store.modes` its mode."""

    content: bytes


@dataclass(frozen=True, slots=True)
class Submodule:
    """A link to commit `sha` of the repository at `url`."""

    sha: str
    url: str = SUBMODULE_URL


Content: TypeAlias = bytes | Executable | Symlink | Submodule


class Person(NamedTuple):
    """Author or committer of a commit."""

    name: str
    email: str

    def signature(self, seconds: float) -> pygit2.Signature:
        return pygit2.Signature(self.name, self.email, int(seconds), 0)


FIRST_COMMIT = 1_700_000_000.0
"""When the first commit of each repository was made; so its id depends only on its files."""
WEB = Person("GitHub", "noreply@github.com")
"""The committer of the commits that GitHub signs."""


@dataclass(frozen=True, slots=True)
class Commit:
    """An entry of `Repository.log`; `paths` are the ones that differ from its first parent."""

    sha: str
    message: str
    author: str
    email: str
    paths: tuple[str, ...]
    parents: tuple[str, ...]


class Store:
    """Commits and references, which are read from a `template` until the first write.

    So thousands of repositories with the same content cost nothing. `lock` guards everything.
    """

    def __init__(
        self,
        path: Path,
        default_branch: str,
        template: Store | None = None,
        now: Callable[[], float] = lambda: FIRST_COMMIT,
    ) -> None:
        self.now = now
        self.lock = threading.RLock()
        self.submodules: dict[str, str] = {} if template is None else dict(template.submodules)
        self._path = path
        self._template = template
        self.default_branch: Final = default_branch
        self._git: pygit2.Repository | None = None

    @property
    def git(self) -> pygit2.Repository:
        """The git repository for reading, which may be the one of the template."""
        if self._git is None and self._template is not None:
            return self._template.git
        return self.own()

    @property
    def path(self) -> Path:
        """The path of the repository on disk; the repository is created if it does not exist."""
        self.own()
        return self._path

    def own(self) -> pygit2.Repository:
        """Return the git repository for writing, and create it if it does not exist."""
        with self.lock:
            if self._git is None:
                if self._template is None:
                    for folder in ("objects", "refs/heads", "refs/tags"):
                        (self._path / folder).mkdir(parents=True)
                    (self._path / "HEAD").write_text(f"ref: refs/heads/{self.default_branch}\n")
                    (self._path / "config").write_text(CONFIG)
                else:
                    shutil.copytree(self._template.path, self._path)
                self._git = pygit2.Repository(str(self._path))
            return self._git

    # Reading

    @property
    def empty(self) -> bool:
        """Whether there is no branch."""
        with self.lock:
            return not any(self.git.branches.local)

    @property
    def branches(self) -> list[str]:
        with self.lock:
            return sorted(self.git.branches.local)

    def heads(self) -> dict[str, str]:
        """Return the commit id of each branch."""
        with self.lock:
            return {name: self.head(name) for name in self.branches}

    def head(self, branch: str | None = None) -> str:
        """Return the commit id of a branch. Raise KeyError if there is no such branch."""
        with self.lock:
            return str(self.git.branches.local[branch or self.default_branch].target)

    def find_head(self, branch: str) -> str | None:
        with self.lock:
            try:
                found = self.git.branches.local.get(branch)
            except ValueError:
                # No branch can have this name
                return None
            return None if found is None else str(found.target)

    def files(self, branch: str | None = None) -> dict[str, Content]:
        """Return the paths of a branch with their content. Raise KeyError without such a branch."""
        with self.lock:
            return {
                path: self._content(path, entry)
                for path, entry in self.walk(self.commit_at(self.head(branch)).tree)
                if not isinstance(entry, pygit2.Tree)
            }

    def modes(self, branch: str | None = None) -> dict[str, int]:
        """Return the paths of a branch with their git file modes, such as 0o100644."""
        with self.lock:
            return {
                path: int(entry.filemode)
                for path, entry in self.walk(self.commit_at(self.head(branch)).tree)
                if not isinstance(entry, pygit2.Tree)
            }

    def log(self, branch: str | None = None) -> list[Commit]:
        """Return the commits of a branch, newest first."""
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
        """Return the commit of a branch, a tag, `HEAD` or a full commit id; None if there is none.

        A name with or without `refs/heads/` or `refs/tags/` is accepted.
        """
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
        """Yield every entry below a tree with its path, each directory before its content."""
        for entry in tree:
            path = f"{prefix}{entry.name}"
            yield path, entry
            if isinstance(entry, pygit2.Tree):
                yield from self.walk(entry, f"{path}/")

    def changes(self, commit: pygit2.Commit) -> pygit2.Diff:
        """Return the changes of a commit against its first parent, or against no files."""
        if commit.parents:
            return commit.parents[0].tree.diff_to_tree(commit.tree)
        return commit.tree.diff_to_tree(swap=True)

    def history(self, sha: str) -> Iterable[pygit2.Commit]:
        """Return a commit and its ancestors, newest first."""
        return self.git.walk(pygit2.Oid(hex=sha), SortMode.TOPOLOGICAL)

    def ahead_behind(self, head: str, base: str) -> tuple[int, int]:
        """Return how many commits `head` has that `base` lacks, and the reverse."""
        return self.git.ahead_behind(pygit2.Oid(hex=head), pygit2.Oid(hex=base))

    def merge_base(self, one: str, other: str) -> pygit2.Commit | None:
        """Return the last common ancestor; None if there is none."""
        found = self.git.merge_base(pygit2.Oid(hex=one), pygit2.Oid(hex=other))
        return self.git[found].peel(pygit2.Commit) if found else None

    def _content(self, path: str, entry: pygit2.Object) -> Content:
        if entry.filemode == FileMode.COMMIT:
            return Submodule(str(entry.id), self.submodules.get(path, SUBMODULE_URL))
        assert isinstance(entry, pygit2.Blob)
        return Symlink(entry.data.decode()) if entry.filemode == FileMode.LINK else entry.data

    # Writing

    def build_commit(
        self,
        parent: str | None,
        changes: Mapping[str, Content | None],
        message: str,
        author: Person,
        committer: Person,
    ) -> str:
        """Write a commit without moving a reference, and return its id.

        None in `changes` deletes a path. A file replaces a directory of the same path, as in git.
        """
        with self.lock:
            git = self.own()
            index = pygit2.Index()
            if parent is not None:
                index.read_tree(self.commit_at(parent).tree)
            for path, content in changes.items():
                if content is None:
                    index.remove(path)
                else:
                    index.remove_directory(path)
                    index.add(self._index_entry(path, content))
            created = git.create_commit(
                None,
                author.signature(self.now()),
                committer.signature(self.now()),
                message,
                index.write_tree(git),
                [] if parent is None else [pygit2.Oid(hex=parent)],
            )
            return str(created)

    def _index_entry(self, path: str, content: Content) -> pygit2.IndexEntry:
        if isinstance(content, Submodule):
            self.submodules[path] = content.url
            return pygit2.IndexEntry(path, pygit2.Oid(hex=content.sha), FileMode.COMMIT)
        if isinstance(content, Symlink):
            return pygit2.IndexEntry(path, self._blob(content.target.encode()), FileMode.LINK)
        if isinstance(content, Executable):
            return pygit2.IndexEntry(path, self._blob(content.content), FileMode.BLOB_EXECUTABLE)
        return pygit2.IndexEntry(path, self._blob(content), FileMode.BLOB)

    def _blob(self, content: bytes) -> pygit2.Oid:
        """Write a blob if it does not exist, because writing it again would take as long."""
        git, known = self.own(), pygit2.hash(content)
        return known if known in git else git.create_blob(content)

    def _point(self, name: str, sha: str) -> None:
        """Point a reference at a commit."""
        self.own().references.create(name, sha, force=True)


@cache
def _memory() -> str | None:
    """Return a folder in memory with enough room, or None if there is none.

    On a disk the tests take half as long again.
    """
    folder = Path("/dev/shm")
    return str(folder) if folder.is_dir() and shutil.disk_usage(folder).free > 1 << 30 else None


def new_folder(prefix: str) -> Path:
    """Create a temporary folder for repositories."""
    return Path(tempfile.mkdtemp(prefix=prefix, dir=_memory()))


@cache
def _templates() -> Path:
    folder = new_folder("stand-in-templates-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@lru_cache(maxsize=256)
def template(default_branch: str, files: frozenset[tuple[str, Content]] | None) -> Store:
    """Return a repository with one commit of these files; without a commit if `files` is None."""
    store = Store(Path(tempfile.mkdtemp(dir=_templates()), "git"), default_branch)
    if files is not None:
        person = Person(*SOMEBODY)
        first = store.build_commit(None, dict(files), "Initial commit", person, person)
        store._point(f"refs/heads/{default_branch}", first)
    return store


def check_path(path: str) -> None:
    """Raise `Refusal` 422 for a path that git or GitHub does not accept."""
    if any(part in {"", ".", "..", ".git"} for part in path.split("/")):
        # jayfk/statuspage#293
        errors = [{"resource": "Commit", "field": "path", "code": "invalid"}]
        raise Refusal(422, "path contains a malformed path component", errors=errors)


def find_entry(tree: pygit2.Tree, path: str) -> pygit2.Object | None:
    """Return the entry at a path; the tree itself if the path is empty, None without an entry."""
    try:
        return tree[path] if path else tree
    except KeyError:
        return None


def check_parents(tree: pygit2.Tree, path: str) -> None:
    """Raise `Refusal` 409 if a parent of the path is a file (Molunerfinn/PicGo#955).

    Links and submodules are assumed to be refused in the same way; nobody has confirmed this.
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
    """Return `file`, `dir`, `symlink` or `submodule`."""
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
    """Return `blob`, `tree` or `commit`, which is git's name for the kind of a tree entry."""
    names = {ObjectType.BLOB: "blob", ObjectType.TREE: "tree"}
    return names.get(ObjectType(entry.type), "commit") if entry.type else "commit"


def octal(entry: pygit2.Object) -> str:
    """Return the mode of an entry as six octal digits, as a listing of a tree shows it."""
    assert stat.S_IFMT(entry.filemode)
    return f"{entry.filemode:06o}"
