"""Repositories with a history, as they are in real life: some hundred commits, a few megabytes."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.fakehub import Repository

COMMITS = 300
FILES = 100
SIZE = 8_000
"""Bytes of a file, which do not compress: text of twice the size does to this."""


def make(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Make a bare repository whose last commit holds ``files`` and a hundred others."""
    git = ["git", "-C", str(folder)]
    folder.mkdir()
    subprocess.run([*git, "init", "--quiet", "--bare", "--initial-branch=main"], check=True)  # noqa: S603 (ours)
    stream = b"".join(_stream(files))
    subprocess.run([*git, "fast-import", "--quiet"], input=stream, check=True)  # noqa: S603
    # As GitHub does: a clone is then hardly more than sending a file
    repack = ["repack", "-a", "-d", "--quiet", "--write-bitmap-index"]
    subprocess.run([*git, *repack], check=True)  # noqa: S603
    return folder


def give(repository: Repository, made: Path) -> None:
    """Let a repository of the stand-in be a copy of one that was made."""
    shutil.copytree(made, repository.path, dirs_exist_ok=True)


def _stream(files: Mapping[str, bytes]) -> Iterator[bytes]:
    """What `git fast-import` reads."""
    chance = random.Random(0)  # noqa: S311 (nothing secret)
    names = [f"src/module{number // 10}/file{number}.bin" for number in range(FILES)]
    first = {**files, **{name: chance.randbytes(SIZE) for name in names}}
    for number in range(COMMITS):
        changes = first if number == 0 else {chance.choice(names): chance.randbytes(SIZE)}
        yield b"commit refs/heads/main\ncommitter Somebody <somebody@example.com> "
        yield b"%d +0000\n" % (1_700_000_000 + number)
        yield b"data <<.\nChange %d\n.\n" % number
        for path, content in changes.items():
            yield b"M 100644 inline %s\ndata %d\n" % (path.encode(), len(content)) + content + b"\n"
