"""The workspace gives exactly the file that was checked, even if somebody swaps it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from registrar.runtime.workspace import Folder, Unreadable

WORKTREE = (
    "git clone -q --bare . ../bare && rm -rf .git* * &&"
    ' git -C ../bare worktree add -q -b side "$PWD"'
)
"""Makes the checkout a worktree of a repository elsewhere."""
SUBMODULE = '[submodule "t"]\n\tpath = s/t\n\turl = ../t\n'


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"outside")
    inside = tmp_path / "workspace"
    (inside / "docs/deep").mkdir(parents=True)
    (inside / "docs/deep/file").write_bytes(b"inside")
    return inside


def refused(workspace: Path, name: str, most: int = 100) -> str:
    """Return the key of the message that says why a file is not read."""
    with pytest.raises(Unreadable) as error:
        Folder(workspace).read(name, most=most)
    assert error.value.message.values["file"] == name
    return error.value.message.key


@pytest.mark.parametrize(
    "name", ["docs/deep/file", "./docs/../docs/deep/file", "link", "folder/file", "there/and/back"]
)
def test_links_that_stay_inside_are_followed(workspace: Path, name: str) -> None:
    (workspace / "link").symlink_to("docs/deep/file")
    (workspace / "folder").symlink_to(workspace / "docs/deep")
    (workspace / "there").mkdir()
    (workspace / "there/and").symlink_to("../docs")
    (workspace / "docs/back").symlink_to("deep/file")
    assert Folder(workspace).read(name, most=100) == b"inside"
    assert Folder(workspace).read(str(workspace / name), most=100) == b"inside"


def test_a_workspace_that_is_a_link_itself(workspace: Path) -> None:
    link = workspace.parent / "link"
    link.symlink_to(workspace)
    assert Folder(link).read("docs/deep/file", most=100) == b"inside"


@pytest.mark.parametrize(
    ("there", "name", "key"),
    [
        ({}, "a.yml", "file.not_found"),
        ({".git/HEAD": ""}, "a.yml", "file.not_in_checkout"),
        ({".git/HEAD": ""}, "lists/*.yml", "file.several"),
        ({}, "a.yml, b.yml", "file.several"),
        ({}, "a.yml\nb.yml", "file.several"),
        ({"a.yml": ""}, '["a.yml"]', "file.several"),
        ({"a.yml": ""}, "'a.yml'", "file.several"),
        ({"a.yml": ""}, "- a.yml", "file.several"),
        ({"a.yml": ""}, "a.yaml", "file.close"),
        ({".git/HEAD": "", "s/A.yml": ""}, "s/a.yml", "file.close"),
        ({".git/info/sparse-checkout": "/*", "A.yml": ""}, "a.yml", "file.not_in_sparse"),
        ({"ab.yml": ""}, "a.yml", "file.not_found"),
        ({".git/info/sparse-checkout": "/*"}, "a.yml", "file.not_in_sparse"),
        # A submodule of a checkout without `submodules` is an empty folder (actions/checkout#2249)
        ({".git/HEAD": "", ".gitmodules": SUBMODULE, "s/t/": ""}, "s/t/a", "file.in_submodule"),
        ({".git/HEAD": "", ".gitmodules": SUBMODULE}, "s/t/a", "file.in_submodule"),
        ({".git/HEAD": "", ".gitmodules": SUBMODULE, "s/t/b": ""}, "s/t/a", "file.not_in_checkout"),
        ({".git/HEAD": "", ".gitmodules": SUBMODULE, "s/t/": ""}, "s/a", "file.not_in_checkout"),
    ],
)
def test_the_cause_of_a_file_that_is_not_there_is_named(
    tmp_path: Path, there: dict[str, str], name: str, key: str
) -> None:
    for each, text in there.items():
        folder = tmp_path / each.rpartition("/")[0]
        folder.mkdir(parents=True, exist_ok=True)
        if not each.endswith("/"):
            (tmp_path / each).write_text(text)
    assert refused(tmp_path, name) == key
    with pytest.raises(Unreadable) as error:
        Folder(tmp_path).files_below(name, most=1, in_all=1)
    assert error.value.message.key == key


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("../outside/secret", "link"),
        ("../outside", "link/secret"),
        ("/etc", "link/passwd"),
        ("docs", "../outside/secret"),
        ("docs", "\0"),
    ],
)
def test_nothing_outside_is_read(workspace: Path, target: str, name: str) -> None:
    (workspace / "link").symlink_to(target)
    assert refused(workspace, name) == "file.outside"


@pytest.mark.parametrize("name", [".git/config", "link", "sub/.Git/config", "GIT/config"])
def test_nothing_in_a_git_directory_is_read(workspace: Path, name: str) -> None:
    for directory in (".git", "sub/.Git"):
        (workspace / directory).mkdir(parents=True)
        (workspace / directory / "config").write_bytes(b"token")
    (workspace / "link").symlink_to(".git/config")
    (workspace / "GIT").symlink_to(".git")
    assert refused(workspace, name) == "file.in_git"


def test_size_is_looked_at_before_anything_is_read(workspace: Path) -> None:
    with (workspace / "sparse").open("wb") as stream:
        stream.truncate(1 << 40)
    assert refused(workspace, "sparse") == "file.too_large"
    (workspace / "exact").write_bytes(b"x" * 100)
    assert len(Folder(workspace).read("exact", most=100)) == 100
    assert refused(workspace, "exact", most=99) == "file.too_large"


def test_a_file_that_is_longer_than_the_system_says_is_too_large() -> None:
    """It may grow while it is read. Files of Linux about processes have no length at all."""
    with pytest.raises(Unreadable) as error:
        Folder(Path("/proc/self")).read("status", most=10)
    assert error.value.message.key == "file.too_large"


def test_the_systems_words_say_why_a_file_or_a_folder_is_unreadable(workspace: Path) -> None:
    folder, name = Folder(workspace), "x" * 300
    for read in (
        lambda: folder.read(name, most=9),
        lambda: folder.files_below(name, most=9, in_all=9),
    ):
        with pytest.raises(Unreadable) as error:
            read()
        assert error.value.message.key == "file.unreadable"
        assert error.value.message.values["reason"] == "File name too long"


def test_a_folder_holds_as_many_files_as_it_may_and_its_first_mistake_is_named(
    workspace: Path,
) -> None:
    below, folder = workspace / "many/x", Folder(workspace)
    below.mkdir(parents=True)
    for number in range(5):
        (below / f"{number}").write_bytes(b"")
    # Each time it looks at six names: five files and their folder
    for in_all in (0, 6):
        found = folder.files_below("many", most=5, in_all=in_all)
        assert found == [f"x/{number}" for number in range(5)]
    with pytest.raises(Unreadable, match="too_many_in_all"):
        folder.files_below("many", most=5, in_all=11)
    with pytest.raises(Unreadable, match="too_many "):
        folder.files_below("many", most=4, in_all=12)
    for name in "edcba":
        (below / name).symlink_to("0")
    with pytest.raises(Unreadable) as error:
        folder.files_below("many", most=5, in_all=18)
    assert error.value.message.values["file"] == "many/x/a"


@pytest.mark.parametrize("name", ["docs", "docs/deep", "."])
def test_a_directory_is_no_file_and_leaves_nothing_open(workspace: Path, name: str) -> None:
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208 (the names do not matter)
    assert refused(workspace, name) == "file.not_regular"
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208


def test_access_rights_are_reported(workspace: Path) -> None:
    file = workspace / "docs/deep/file"
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("root reads everything")
    assert refused(workspace, "docs/deep/file") == "file.unreadable"


def test_a_part_that_became_a_link_is_not_followed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The swap happens exactly between the check and the opening."""
    resolve = Path.resolve

    def resolve_and_swap(path: Path, strict: bool = False) -> Path:
        real = resolve(path, strict=strict)
        if path.name == "file":
            (workspace / "docs/deep").rename(workspace / "docs/old")
            (workspace / "docs/deep").symlink_to(workspace.parent / "outside")
            (workspace.parent / "outside/file").write_bytes(b"outside")
        return real

    folder = Folder(workspace)
    monkeypatch.setattr(Path, "resolve", resolve_and_swap)
    with pytest.raises(Unreadable):
        folder.read("docs/deep/file", most=100)


# --- The commit of a checkout -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "is_known"),
    [
        ("true", True),
        ("git checkout -q --detach", True),
        ("echo changed > docs/deep/file", True),
        ("git rm -q --cached docs/deep/file", False),
        # The index only has a longer path that ends in the same way
        ("mkdir -p x/docs && mv docs/deep x/docs && git add . && cp -r x/docs .", False),
        ("rm .git/index", False),
        ("rm .git/HEAD && mkfifo .git/HEAD", False),
        ("echo ref: ../../outside/secret > .git/HEAD", False),
        ("echo 0000 > .git/HEAD", False),
        ("mv .git ../outside && echo gitdir: ../outside/.git > .git", True),
        (f"{WORKTREE}", True),
        (f"{WORKTREE} && rm ../bare/worktrees/*/index", False),
        ("rm -r .git && echo gitdir: ../none > .git", False),
        ("git update-index --index-version 4", True),
        ("git update-index --split-index", False),
        (r"printf '\005' | dd of=.git/index bs=1 seek=7 conv=notrunc", False),
        ("git update-index --assume-unchanged docs/deep/file", True),
        ("mv .git ..", False),
    ],
)
def test_the_commit_that_has_a_file(workspace: Path, change: str, is_known: bool) -> None:
    done = git(workspace, "git init -q && git add . && $COMMIT -qm x && git rev-parse HEAD")
    git(workspace, change)
    commit = done.strip() if is_known else ""
    assert Folder(workspace).commit_with("docs/deep/file") == commit


def git(checkout: Path, commands: str) -> str:
    somebody = "-c user.name=x -c user.email=x@example.invalid -c commit.gpgSign=false"
    run = ["sh", "-ec", commands]
    environ = {**os.environ, "COMMIT": f"git {somebody} commit"}
    return subprocess.run(
        run, cwd=checkout, env=environ, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.parametrize(
    ("change", "key", "named"),
    [
        ("git sparse-checkout set docs/deep", "partly_sparse", ["docs/more/file"]),
        ("git sparse-checkout set --no-cone /docs/a*", "partly_sparse", ["docs/deep/file"]),
        ("git sparse-checkout set --no-cone '/docs/'", "", []),
        ("git sparse-checkout set --no-cone '!x' /docs/ && rm docs/r*", "partly_gone", ["docs/ré"]),
        ("rm docs/deep/file", "partly_gone", ["docs/deep/file"]),
        (
            "rm -r docs/more && git update-index --assume-unchanged docs/more/file",
            "partly_gone",
            ["docs/more/file"],
        ),
        ("git rm -qr docs/deep && git mv docs/more docs/other", "", []),
        (
            "git update-index --index-version 4 && rm docs/deep/file",
            "partly_gone",
            ["docs/deep/file"],
        ),
        (
            "git update-index --index-version 4 && git sparse-checkout set docs/deep",
            "partly_sparse",
            ["docs/more/file"],
        ),
        (f"{WORKTREE} && rm docs/deep/file", "partly_gone", ["docs/deep/file"]),
        (f"{WORKTREE} && git sparse-checkout set docs/deep", "partly_sparse", ["docs/more/file"]),
        ("git update-index --split-index && rm docs/deep/file", "", []),
        (
            "mkdir docs/s && printf '[submodule \"s\"]\\npath = docs/s\\n' > .gitmodules",
            "with_submodule",
            [],
        ),
        ("rm .gitignore docs2/file && echo > docs/new", "", []),
        ("mv .git .. && rm docs/deep/file", "", []),
    ],
)
def test_half_a_folder_is_not_taken_for_the_whole(
    workspace: Path, change: str, key: str, named: list[str]
) -> None:
    """A sparse checkout may have a part of a folder (actions/checkout#1475)."""
    for each in (
        "docs/a b",
        "docs/ré",
        "docs/more/file",
        "x/docs/file",
        "docs2/file",
        ".gitignore",
    ):
        (workspace / each).parent.mkdir(parents=True, exist_ok=True)
        (workspace / each).write_bytes(b"x")
    git(workspace, "git init -q && git add . && $COMMIT -qm x")
    git(workspace, change)
    if not key:
        assert Folder(workspace).files_below("docs", most=9, in_all=99)
        return
    with pytest.raises(Unreadable) as error:
        Folder(workspace).files_below("docs", most=9, in_all=99)
    assert error.value.message.key == f"file.{key}"
    paths = error.value.message.values.get("paths", ())
    assert isinstance(paths, tuple | list)
    shown = [str(each) for each in paths]
    assert not set(named) - set(shown), shown
