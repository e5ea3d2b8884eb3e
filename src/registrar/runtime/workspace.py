"""Reads files of the workspace, up to a given size, and never outside the workspace.

Git's own directory may be outside. registrar reads the index, ``HEAD`` and its reference there.
"""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from registrar.errors import Refused
from registrar.runtime.git_index import tracked_paths
from registrar.texts.escaping import SURROGATE
from registrar.texts.messages import Excerpt, msg

_DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
# Otherwise a named pipe without a writer would block, and a terminal would become the controlling
# terminal of the process
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_GIT = ".git"
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SUBMODULE = re.compile(r"^\s*path\s*=\s*(.+)$", re.MULTILINE)
"""The folder of a submodule in `.gitmodules` (https://git-scm.com/docs/gitmodules)."""
_REFERENCE_BYTES, _MODULES_BYTES = 1_000, 100_000
_NOT_ONE_NAME = re.compile(r"""[*?,\n"'`\[\]]|^- """)
"""A pattern, several names, an array, an item of one, or a name in quotes."""
_LEFT_BEHIND = re.compile(
    # macOS, Windows, KDE; vim, emacs and others; LibreOffice and Microsoft Office
    r"\.DS_Store|\._.*|\.AppleDouble|\.Spotlight-V100|\.Trashes|\.fseventsd|__MACOSX|Icon\r"
    r"|(?:eh)?thumbs\.db|desktop\.ini|\.directory|\.nfs[0-9a-f]{8,}"
    r"|.+~|\..*\.sw[a-p]|#.+#|\.#.*|\.~lock\..+#|~\$.*",
    re.IGNORECASE,
)
"""Names of files and directories that desktops and editors leave behind (cookiecutter#810)."""
_MOST_NAMED = 10
_INDEX_BYTES = 50_000_000
"""The largest size of the index of a checkout, which is enough for about 500,000 files."""


class Unreadable(Refused):
    """A file cannot be used. The message names the file and the remedy."""


def around(
    file: str, workspace: Path | None, note: Callable[[object], None] = lambda _: None
) -> tuple["Folder", str]:
    """Return the folder that may be read together with a file, and the path of the file in it.

    With ``workspace`` the folder is the workspace. Otherwise it is the repository that contains the
    file, or the directory of the file if it is in no repository. Raises `Refused` if the working
    directory does not exist any more.
    """
    if workspace:
        return Folder(workspace, note), file
    try:
        path = Path(os.path.normpath(Path.cwd() / file))
    except FileNotFoundError as error:
        raise Refused(msg("file.no_working_directory")) from error
    root = _repository_of(path) or path.parent
    return Folder(root, note), str(path.relative_to(root))


def _written_otherwise(path: Path) -> Excerpt | None:
    """Return the name of a file beside ``path`` that differs in letter case or in its ending."""
    try:
        beside = sorted(path.parent.iterdir())
    except OSError:
        return None
    others = (each for each in beside if each.name != path.name)
    same = (each for each in others if each.stem.casefold() == path.stem.casefold())
    return next((Excerpt(each.name) for each in same), None)


def _repository_of(path: Path) -> Path | None:
    return next((each for each in path.parents if os.path.lexists(each / _GIT)), None)


class Folder:
    """Reads the regular files below one directory, and never a file outside.

    Methods raise `Unreadable` for a file that does not exist, is outside or is not a regular file.
    """

    def __init__(self, root: Path, note: Callable[[object], None] = lambda _: None) -> None:
        """``note`` is called with the device and the number of each file that is read."""
        self._note = note
        self._root = root.resolve()
        self._looked_at = 0
        self._indexes: dict[Path, Mapping[str, bool] | None] = {}

    def files_below(self, name: str, *, most: int, in_all: int) -> Sequence[str]:
        """Return the paths, relative to the directory ``name``, of all files below it, sorted.

        Files that desktops and editors leave behind are left out.

        Raises `Unreadable` if there are more than ``most`` files, or if one cannot be listed, such
        as a symbolic link, or is not there although git tracks it. Also if this object has already
        read more than ``in_all`` names.
        """
        shown = Excerpt(name)
        if self._looked_at > in_all:
            raise Unreadable(msg("file.too_many_in_all", folder=shown, most=in_all))
        root = self._root.joinpath(*self._parts(name))
        names: list[str] = []
        try:
            for directory, folders, files in os.walk(root, onerror=_raise):
                for found in (folders, files):
                    found[:] = [each for each in found if not _LEFT_BEHIND.fullmatch(each)]
                for each in (Path(directory, name) for name in sorted((*folders, *files))):
                    self._require_plain(each)
                names += (Path(directory, file).relative_to(root).as_posix() for file in files)
                if len(names) > most:
                    raise Unreadable(msg("file.too_many", folder=shown, most=most))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise self._missing(name) from error
        except OSError as error:
            raise Unreadable(msg("file.unreadable", file=shown, reason=error.strerror)) from error
        self._require_whole(name)
        return sorted(names)

    def _require_whole(self, name: str) -> None:
        """Raise `Unreadable` if git tracks files below the directory ``name`` that are not there.

        A sparse checkout may have a part of a folder (actions/checkout#1475), and the list would
        lose the files of the other part without a word.
        """
        folder = self._root.joinpath(*self._parts(name))
        root = _repository_of(folder)
        if not root or not root.is_relative_to(self._root):
            return
        if inside := [each for each in self._submodules(root) if each.is_relative_to(folder)]:
            submodule = Excerpt(inside[0].relative_to(self._root))
            raise Unreadable(msg("file.with_submodule", submodule=submodule))
        above = f"{folder.relative_to(root).as_posix()}/"
        below = {k: why for k, why in (self._index(root) or {}).items() if k.startswith(above)}
        gone = {each: why for each, why in below.items() if not os.path.lexists(root / each)}
        if gone:
            key = "file.partly_sparse" if all(gone.values()) else "file.partly_gone"
            shown = [Excerpt(each) for each in sorted(gone)[:_MOST_NAMED]]
            raise Unreadable(msg(key, folder=Excerpt(name), count=len(gone), paths=shown))

    def _require_plain(self, path: Path) -> None:
        self._looked_at += 1
        mode = path.lstat().st_mode
        shown = Excerpt(path.relative_to(self._root))
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise Unreadable(msg("file.not_copied", file=shown))
        if path.name == _GIT and stat.S_ISREG(mode):
            submodule = Excerpt(path.parent.relative_to(self._root))
            raise Unreadable(msg("file.with_submodule", submodule=submodule))
        if path.name.casefold() == _GIT:
            raise Unreadable(msg("file.in_git", file=shown))
        if SURROGATE.search(path.name):
            raise Unreadable(msg("file.name_not_utf8", file=shown))

    def _parts(self, name: str) -> tuple[str, ...]:
        """Return the parts of the real path of ``name``, relative to the root.

        Symbolic links are followed.
        """
        shown = Excerpt(name)
        try:
            parts = (self._root / name).resolve().relative_to(self._root).parts
        except (OSError, RuntimeError) as error:  # a loop of links
            reason = os.strerror(errno.ELOOP)
            raise Unreadable(msg("file.unreadable", file=shown, reason=reason)) from error
        except ValueError as error:  # a null byte, or not below the root
            raise Unreadable(msg("file.outside", file=shown)) from error
        if any(part.casefold() == _GIT for part in parts):
            raise Unreadable(msg("file.in_git", file=shown))
        return parts

    def read(self, name: str, *, most: int) -> bytes:
        """Read the file ``name`` (relative to the root), which has at most ``most`` bytes.

        Symbolic links are followed if they stay inside the folder. No file in a ``.git`` directory
        is read, because older checkouts keep the token there (actions/checkout before v6). Raises
        `Unreadable`.
        """
        shown = Excerpt(name)
        parts = self._parts(name)
        try:
            with self._open(parts) as stream:
                status = os.fstat(stream.fileno())
                self._note((status.st_dev, status.st_ino))
                if not stat.S_ISREG(status.st_mode):
                    raise Unreadable(msg("file.not_regular", file=shown))
                # A file may grow while it is read
                data = stream.read(most + 1) if status.st_size <= most else None
        except (FileNotFoundError, NotADirectoryError) as error:
            raise self._missing(name) from error
        except OSError as error:
            if error.errno in {errno.ENXIO, errno.EISDIR}:  # a socket, a directory
                raise Unreadable(msg("file.not_regular", file=shown)) from error
            raise Unreadable(msg("file.unreadable", file=shown, reason=error.strerror)) from error
        if data is None or len(data) > most:
            raise Unreadable(msg("file.too_large", file=shown, most=most))
        return data

    def _missing(self, name: str) -> Unreadable:
        """Return the error for a file or folder that is not there, with the cause if it shows."""
        path = self._root / name
        root = _repository_of(path)
        submodules = self._submodules(root) if root else []
        inside = [each for each in submodules if path.is_relative_to(each) and path != each]
        causes = (
            ("file.several", _NOT_ONE_NAME.search(name)),
            ("file.in_submodule", inside),
            ("file.not_in_sparse", root and (_git_of(root) / "info/sparse-checkout").exists()),
            ("file.close", close := _written_otherwise(path)),
            ("file.not_in_checkout", root),
            ("file.not_found", True),
        )
        found = next(cause for cause, holds in causes if holds)
        submodule = Excerpt(inside[0].relative_to(self._root)) if inside else ""
        return Unreadable(msg(found, file=Excerpt(name), submodule=submodule, close=close))

    def _submodules(self, root: Path) -> list[Path]:
        """Return the folders of the submodules of a checkout that nothing has filled."""
        try:
            text = (root / ".gitmodules").read_bytes()[:_MODULES_BYTES].decode("utf-8", "replace")
        except OSError:
            return []
        folders = (root / each.strip() for each in _SUBMODULE.findall(text))
        return [each for each in folders if not (each.is_dir() and any(each.iterdir()))]

    def is_executable(self, name: str) -> bool:
        """Whether the owner of a file may execute it. Call this only after `read` has read it."""
        with self._open(self._parts(name)) as stream:
            return bool(os.fstat(stream.fileno()).st_mode & stat.S_IXUSR)

    def path_in_repository(self, name: str) -> str:
        """Return the path of a file, relative to the root of the checkout that contains it.

        If there is no checkout in this folder, the path is relative to the folder. Symbolic links
        are followed.
        """
        path = self._root.joinpath(*self._parts(name))
        root = _repository_of(path)
        if not root or not root.is_relative_to(self._root):
            root = self._root
        return str(path.relative_to(root))

    def commit_with(self, name: str) -> str:
        """Return the id of the checked out commit, if git tracks the file ``name`` in the checkout.

        Empty if it does not, or if the commit is not known.
        """
        directory, _, file = name.rpartition("/")
        root = _repository_of(self._root.joinpath(*self._parts(name)))
        if not (root and self.tracked(directory or ".", [file])):
            return ""
        try:
            commit = _head_of(_git_of(root))
        except Unreadable:
            return ""
        return commit if _COMMIT.fullmatch(commit) else ""

    def tracked(self, name: str, files: Iterable[str]) -> list[str] | None:
        """Return those of ``files`` below the directory ``name`` that git tracks in the checkout.

        The result is empty if there is no checkout, and ``None`` if its index cannot be read.
        """
        root = None
        names = {each: self._root.joinpath(*self._parts(f"{name}/{each}")) for each in files}
        for path in names.values():
            root = root or _repository_of(path)
        index = self._index(root) if root else {}
        if not (root and index):
            return None if index is None else []
        paths = {each: path.relative_to(root).as_posix() for each, path in names.items()}
        return [each for each, path in paths.items() if path in index]

    def _index(self, root: Path) -> Mapping[str, bool] | None:
        """Return `tracked_paths` of a checkout in this folder; empty without an index."""
        if root not in self._indexes:
            git = _git_of(root)
            is_absent = git.is_dir() and not os.path.lexists(git / "index")
            found: Mapping[str, bool] | None = {}
            if root.is_relative_to(self._root) and not is_absent:
                try:
                    found = tracked_paths(Folder(git).read("index", most=_INDEX_BYTES))
                except Unreadable:
                    found = None
            self._indexes[root] = found
        return self._indexes[root]

    def _open(self, parts: tuple[str, ...]) -> BinaryIO:
        """Open a file by its real path, one part after the other, without following a link.

        So the opened file is the one that was checked, even if a part becomes a link meanwhile.
        """
        directory = os.open(self._root, _DIRECTORY)
        try:
            for part in parts[:-1]:
                below = os.open(part, _DIRECTORY, dir_fd=directory)
                os.close(directory)
                directory = below
            file = os.open(parts[-1] if parts else ".", _FILE, dir_fd=directory)
        finally:
            os.close(directory)
        try:
            return os.fdopen(file, "rb")
        except OSError:
            # It is a directory, and `os.fdopen` leaves the descriptor open then
            os.close(file)
            raise


def _git_of(root: Path) -> Path:
    """Return git's directory of a checkout. In a worktree and in a submodule, `.git` is a file with
    its path (https://git-scm.com/docs/gitrepository-layout).
    """
    git = root / _GIT
    if not git.is_file():
        return git
    text = git.read_bytes()[:_REFERENCE_BYTES]
    return root / os.fsdecode(text.removeprefix(b"gitdir:").strip())


def _head_of(git: Path) -> str:
    def read(folder: Path, name: str) -> str:
        text = Folder(folder).read(name, most=_REFERENCE_BYTES)
        return text.decode("ascii", "replace").strip()

    head = read(git, "HEAD")
    _, is_reference, name = head.rpartition("ref: ")
    if not is_reference:
        return head
    # A worktree has its own `HEAD`, and the branches are in a common directory
    is_worktree = os.path.lexists(git / "commondir")
    return read(git / read(git, "commondir") if is_worktree else git, name)


def _raise(error: OSError) -> None:
    raise error
