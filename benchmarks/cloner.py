"""all-repos, in an environment of its own: installed, set up, and its commands."""

from __future__ import annotations

import base64
import filecmp
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from benchmarks import process
from benchmarks.process import HERE, ROOT
from benchmarks.runs import SCAFFOLD
from tests.fakehub import StandInHost

TOOLS = ROOT / ".tools/all-repos"
LOCKED = ROOT / "requirements/all-repos.txt"
GIT_CONFIG = """\
[user]
    name = Somebody
    email = somebody@example.com
[http]
    sslCAInfo = {bundle}
    extraHeader = Authorization: Basic {credentials}
[url "{url}/"]
    insteadOf = git@{host}:
"""
COMMANDS = TOOLS / "bin"
UPDATE = [str(COMMANDS / "all-repos-clone")]
FIND = [str(COMMANDS / "all-repos-find-files")]
FIX = [str(COMMANDS / "python"), str(HERE / "all_repos_fixer.py")]


def install() -> None:
    """Make an environment with exactly the locked packages, unless there is one."""
    installed = TOOLS / LOCKED.name
    if installed.exists() and filecmp.cmp(installed, LOCKED, shallow=False):
        return
    venv.create(TOOLS, clear=True, with_pip=True, symlinks=True)
    exactly = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    pip = [str(COMMANDS / "python"), "-I", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    install = [*pip, "install", *exactly, "--requirement", str(LOCKED)]
    subprocess.run(install, check=True, stdout=sys.stderr)  # noqa: S603 (locked)
    shutil.copyfile(LOCKED, installed)


def configure(host: StandInHost, folder: Path) -> dict[str, str]:
    """Set all-repos and git up in the folder, and give the environment."""
    url, token = host.url, host.create_token()
    credentials = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    bundle = process.bundle(folder)
    (folder / ".gitconfig").write_text(
        GIT_CONFIG.format(
            bundle=bundle, credentials=credentials, url=url, host=url.partition("//")[2]
        ),
        "utf-8",
    )
    access = {"api_key": token, "base_url": url}
    settings = {
        "output_dir": "clones",
        "source": "all_repos.source.github_org",
        "source_settings": {"org": "octo-org", **access},
        "push": "all_repos.push.github_pull_request",
        "push_settings": {"username": "octocat", **access},
    }
    file = folder / "all-repos.json"
    file.write_text(json.dumps(settings), "utf-8")
    file.chmod(0o600)
    return {
        "PATH": f"{COMMANDS}:{os.environ['PATH']}",
        "LIST": str(SCAFFOLD),
        "SSL_CERT_FILE": str(bundle),
        "GIT_TERMINAL_PROMPT": "0",
    }


def shallow_clones(host: StandInHost, names: Sequence[str]) -> list[str]:
    """Clone only the last commit of each, eight at once: what multi-gitter begins with."""
    clone = ["git", "clone", "--quiet", "--depth=1"]
    urls = " ".join(f"{host.url}/{name}.git shallow/{name}" for name in names)
    return ["sh", "-c", f"echo {urls} | xargs -n 2 -P 8 {' '.join(clone)}"]


def version() -> str:
    """The locked one."""
    return LOCKED.read_text("utf-8").partition("all-repos==")[2].split()[0]
