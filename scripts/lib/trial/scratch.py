"""The scratch repositories: whether they are ones, and what is put into them."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pygit2
import requests
from pygit2.enums import FileMode

from registrar.github.case import API_VERSION

FORM = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
SECONDS = 60
EMPTY = "Git Repository is empty."
LARGE = b"0" * (11 << 20)
"""More than 10 MB."""
MANY = 1001
"""Entries of a directory: one more than REST lists."""
_AUTHOR = pygit2.Signature("registrar", "registrar@users.noreply.github.com")


class NotScratch(Exception):
    """A repository that must not be written to, and why."""


class Scratch(NamedTuple):
    """An empty repository of the caller's."""

    full_name: str
    node_id: str
    owner_is_person: bool
    clone_url: str
    default_branch: str

    @property
    def web_host(self) -> str:
        """Where people see it."""
        return urlsplit(self.clone_url).netloc

    @property
    def owner(self) -> str:
        """The part before the slash."""
        return self.full_name.partition("/")[0]


def find(api_url: str, token: str, full_name: str) -> Scratch:
    """Find a repository that was made for this.

    Raises:
        NotScratch: there is none, or it looks used: it has commits, issues, or is a fork.
    """
    if not FORM.fullmatch(full_name):
        raise NotScratch(f"{full_name!r} is not of the form OWNER/REPOSITORY.")
    status, found = _get(api_url, token, f"/repos/{full_name}")
    if status == requests.codes.unauthorized:
        raise NotScratch(
            "GitHub does not accept the token (HOST_TOKEN): it is wrong, or has ended."
        )
    if status != requests.codes.ok:
        raise NotScratch(
            f"There is no repository {full_name} that the token may see (HTTP {status}). "
            f"Make it, empty: gh repo create {full_name} --private"
        )
    used = {
        "is a fork": found.get("fork"),
        "is archived": found.get("archived"),
        "has issues or pull requests": found.get("open_issues_count"),
        "has stars": found.get("stargazers_count"),
        "has forks": found.get("forks_count"),
    }
    branch = found["default_branch"]
    status, answer = _get(api_url, token, f"/repos/{full_name}/git/ref/heads/{branch}")
    is_empty = status == requests.codes.conflict and answer.get("message") == EMPTY
    reasons = [reason for reason, holds in used.items() if holds]
    reasons += [] if is_empty else ["has commits"]
    if reasons:
        raise NotScratch(
            f"{full_name} looks used: it {', '.join(reasons)}. This writes to the repository, so "
            f"it takes only an empty one, made for it: gh repo create OWNER/NAME --private"
        )
    return Scratch(
        found["full_name"],
        found["node_id"],
        found["owner"]["type"] == "User",
        found["clone_url"],
        branch,
    )


def fill(scratch: Scratch, token: str, files: Mapping[str, bytes]) -> None:
    """Push the first commit: these files, and one entry of each odd kind.

    Raises:
        NotScratch: the push was refused.
    """
    with tempfile.TemporaryDirectory(prefix="try-on-github-") as directory:
        git = pygit2.init_repository(directory, bare=True)
        index = pygit2.Index()
        for path, content in files.items():
            index.add(pygit2.IndexEntry(path, git.create_blob(content), FileMode.BLOB))
        to_file, to_folder = git.create_blob(b"docs/guide.md"), git.create_blob(b"docs")
        for end in ("", "-above"):
            index.add(pygit2.IndexEntry(f"link{end}", to_file, FileMode.LINK))
            index.add(pygit2.IndexEntry(f"folder{end}", to_folder, FileMode.LINK))
            module = pygit2.Oid(hex="a" * 40)
            index.add(pygit2.IndexEntry(f"module{end}", module, FileMode.COMMIT))
        name = f"refs/heads/{scratch.default_branch}"
        git.create_commit(name, _AUTHOR, _AUTHOR, "Begin", index.write_tree(git), [])
        _push(Path(directory), scratch.clone_url, f"{name}:{name}", token)


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


def _push(directory: Path, url: str, reference: str, token: str) -> None:
    """Push; the token is in the environment of git, where no list of processes shows it."""
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
    if done.returncode:
        raise NotScratch(f"The first commit could not be pushed: {done.stderr.strip()}")


def _get(api_url: str, token: str, path: str) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {token}", "X-GitHub-Api-Version": API_VERSION}
    with requests.Session() as session:
        # As in the relay: no password of ~/.netrc in place of the token
        session.auth = lambda request: request
        answer = session.get(api_url + path, headers=headers, timeout=SECONDS)
    try:
        return answer.status_code, answer.json()
    except ValueError:
        return answer.status_code, {}
