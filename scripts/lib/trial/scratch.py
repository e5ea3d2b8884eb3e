"""The scratch repositories: whether they are ones, and what is put into them."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pygit2
import requests
from pygit2.enums import FileMode

from registrar.github.case import API_VERSION
from registrar.runtime.cancellation import Clock

FORM = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
SECONDS = 60
EMPTY = "Git Repository is empty."
LARGE = b"0" * (11 << 20)
"""More than 10 MB."""
MANY = 1001
"""Entries of a directory: one more than REST lists."""
PRESENT = (
    *("README.md", "docs/guide.md", "docs/with blank.md", "docs/日本語.md", "large.bin"),
    *("folders", "link", "folder", "module", f"many/{MANY - 1:04}"),
)
MISSING = (
    *("new.md", "deep/er/new.md", "with blank/new file.md", "odd/日本語.md", "odd/100%.md"),
    *("odd/a#b?.md", "odd/[x]{y}.md", "docs/new.md", "many/new.md"),
)
BLOCKED = (
    *("file-above/below.md", "large-above.bin/below.md", "link-above/below.md"),
    *("folder-above/below.md", "module-above/below.md"),
)
"""Paths that are there in the first repository, are not, and cannot be."""
AUTHOR = pygit2.Signature("Scratch", "scratch@example.com", 1_700_000_000)
"""Of the first commit: nobody at GitHub, and always at the same moment, so that its id is known."""
TRIES = 4
PAUSE_SECONDS = 5.0


class NotScratch(Exception):
    """A repository that must not be written to, and why."""


class NotFilled(Exception):
    """The first commit did not get there, and why."""


class Scratch(NamedTuple):
    """An empty repository of the caller's, or one with nothing but the first commit and tries."""

    full_name: str
    number: int
    node_id: str
    owner_is_person: bool
    clone_url: str
    default_branch: str
    is_filled: bool

    @property
    def web_host(self) -> str:
        """Where people see it."""
        return urlsplit(self.clone_url).netloc

    @property
    def owner(self) -> str:
        """The part before the slash."""
        return self.full_name.partition("/")[0]


def find(ask: Ask, full_name: str, first_commit: str) -> Scratch:
    """Find a repository that was made for this; ``first_commit`` is what an earlier try left.

    Raises:
        NotScratch: there is none, or it looks used: it has other commits, issues, or is a fork.
    """
    if not FORM.fullmatch(full_name):
        raise NotScratch(f"{full_name!r} is not of the form OWNER/REPOSITORY.")
    status, found = ask(f"/repos/{full_name}")
    if status == requests.codes.unauthorized:
        raise NotScratch(
            "GitHub does not accept the token (HOST_TOKEN): it is wrong, or has ended."
        )
    if status != requests.codes.ok:
        raise NotScratch(
            f"There is no repository {full_name} that the token may see (HTTP {status}). "
            f"Make it, empty: gh repo create {full_name} --private"
        )
    branch = found["default_branch"]
    status, answer = ask(f"/repos/{full_name}/git/ref/heads/{branch}")
    is_empty = status == requests.codes.conflict and answer.get("message") == EMPTY
    is_filled = status == requests.codes.ok and answer["object"]["sha"] == first_commit
    used = {
        "is a fork": found.get("fork"),
        "is archived": found.get("archived"),
        "has issues or pull requests": found.get("open_issues_count") and not is_filled,
        "has stars": found.get("stargazers_count"),
        "has forks": found.get("forks_count"),
        "has commits": not is_empty and not is_filled,
    }
    if reasons := [reason for reason, holds in used.items() if holds]:
        raise NotScratch(
            f"{full_name} looks used: it {', '.join(reasons)}. This writes to the repository, so "
            f"it takes only an empty one, made for it: gh repo create OWNER/NAME --private"
        )
    return Scratch(
        found["full_name"],
        found["id"],
        found["node_id"],
        found["owner"]["type"] == "User",
        found["clone_url"],
        branch,
        is_filled,
    )


class FirstCommit:
    """The first commit of a repository: these files, and one entry of each odd kind."""

    def __init__(self, directory: Path, files: Mapping[str, bytes]) -> None:
        """It is made in a directory, which is to be empty."""
        self._directory = directory
        git = pygit2.init_repository(str(directory), bare=True)
        index = pygit2.Index()
        for path, content in files.items():
            index.add(pygit2.IndexEntry(path, git.create_blob(content), FileMode.BLOB))
        to_file, to_folder = git.create_blob(b"docs/guide.md"), git.create_blob(b"docs")
        for end in ("", "-above"):
            index.add(pygit2.IndexEntry(f"link{end}", to_file, FileMode.LINK))
            index.add(pygit2.IndexEntry(f"folder{end}", to_folder, FileMode.LINK))
            module = pygit2.Oid(hex="a" * 40)
            index.add(pygit2.IndexEntry(f"module{end}", module, FileMode.COMMIT))
        tree = index.write_tree(git)
        self.id = str(git.create_commit("refs/heads/first", AUTHOR, AUTHOR, "Begin", tree, []))

    def push(self, scratch: Scratch, token: str, clock: Clock) -> None:
        """Push it to the default branch; where it is there, nothing happens.

        Raises:
            NotFilled: the push was refused.
        """
        refusal = ""
        target = f"refs/heads/first:refs/heads/{scratch.default_branch}"
        for _ in range(TRIES):
            refusal = _push(self._directory, scratch.clone_url, target, token)
            if not refusal:
                return
            clock.sleep(PAUSE_SECONDS)
        raise NotFilled(f"The first commit could not be pushed to {scratch.full_name}: {refusal}")


def files_of_first() -> dict[str, bytes]:
    """What the first repository holds."""
    many = {f"many/{number:04}": b"\n" for number in range(MANY)}
    return {
        "README.md": b"# Scratch\n\nMade by scripts/try-on-github of registrar. Delete it.\n",
        "docs/guide.md": b"guide\n",
        "docs/with blank.md": b"blank\n",
        "docs/日本語.md": b"odd\n",
        "docs/more/more.md": b"more\n",
        "folders/one.md": b"one\n",
        "folders/more/two.md": b"two\n",
        "large.bin": LARGE,
        "large-above.bin": LARGE,
        "file-above": b"x\n",
        **many,
    }


def files_of_second() -> dict[str, bytes]:
    """What the second repository holds."""
    return {"README.md": b"# Scratch\n"}


def _push(directory: Path, url: str, reference: str, token: str) -> str:
    """Push, and give the reason of a refusal, or nothing.

    The token is in the environment of git, where no list of processes shows it.
    """
    credentials = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    environ = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {credentials}",
    }
    command = ["git", f"--git-dir={directory}", "push", "--quiet", url, reference]
    done = subprocess.run(command, check=False, env=environ, capture_output=True, text=True)
    return (done.stderr.strip() or "git failed") if done.returncode else ""


class Ask(NamedTuple):
    """Reads from the API, beside the relay: what it answers is not compared."""

    api_url: str
    token: str
    clock: Clock

    def __call__(self, path: str) -> tuple[int, Any]:
        """Give status and JSON; a failure of GitHub is asked again."""
        answer = self._once(path)
        for _ in range(TRIES):
            if answer.status_code < requests.codes.server_error:
                break
            self.clock.sleep(PAUSE_SECONDS)
            answer = self._once(path)
        try:
            return answer.status_code, answer.json()
        except ValueError:
            return answer.status_code, {}

    def _once(self, path: str) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.token}", "X-GitHub-Api-Version": API_VERSION}
        with requests.Session() as session:
            # As in the relay: no password of ~/.netrc in place of the token
            session.auth = lambda request: request
            return session.get(self.api_url + path, headers=headers, timeout=SECONDS)
