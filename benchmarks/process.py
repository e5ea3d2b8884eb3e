"""Start a program beside the stand-in, wait for its end, and tell what it took."""

from __future__ import annotations

import atexit
import base64
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import certifi

from tests.fakehub import StandInHost
from tests.fakehub.tls import Authority

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).resolve().parent
AUTHORITY = Authority()
"""Who vouches for the stand-in."""
LATENCY = 0.05
"""Seconds of a round trip."""
GIT_CONFIG = """\
[http]
    sslCAInfo = {bundle}
    extraHeader = Authorization: Basic {credentials}
[user]
    name = Somebody
    email = somebody@example.com
[url "{url}/"]
    insteadOf = git@{address}:
"""


class Measured(NamedTuple):
    """What a program took, with all that it started."""

    seconds: float
    cpu: float
    """Seconds of the processor."""
    memory: int
    """The peak in bytes; of several processes that of the largest."""
    requests: int
    moved: int
    """Bytes of the bodies of all requests and answers."""


@cache
def interpreter() -> str:
    """An environment with the packages of the runtime and no others."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    venv.create(folder, symlinks=True, with_pip=True)
    python = f"{folder}/bin/python"
    exactly = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    locked = ["--requirement", str(ROOT / "requirements/runtime.txt")]
    pip = [python, "-I", "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, *exactly, *locked], check=True)  # noqa: S603 (ours)
    return python


def action(
    host: StandInHost,
    folder: Path,
    inputs: Mapping[str, str],
    repository: str,
    command: Sequence[str] = (),
) -> Measured:
    """Run the action in a folder, as a runner does for a workflow of a repository.

    ``command`` is what runs it, if it is not the entry point.
    """
    temporary = Path(tempfile.mkdtemp(dir=folder))
    given = {"host_token": host.create_token(), "api_url": host.url, **inputs}
    environ = {f"INPUT_{name.upper()}": value for name, value in given.items()} | {
        "REQUESTS_CA_BUNDLE": str(bundle(folder)),
        "GITHUB_ACTIONS": "true",
        "GITHUB_OUTPUT": str(temporary / "output"),
        "GITHUB_REPOSITORY": repository,
        "GITHUB_STEP_SUMMARY": str(temporary / "summary"),
        "GITHUB_WORKSPACE": str(folder),
        "RUNNER_TEMP": str(temporary),
    }
    entry_point = (interpreter(), "-I", str(ROOT / "entrypoint.py"))
    return run(host, folder, command or entry_point, environ)


def with_git(host: StandInHost, folder: Path, command: Sequence[str], **environ: str) -> Measured:
    """Run a command in a folder, with settings by which git and others reach the stand-in."""
    token = host.create_token()
    file = str(bundle(folder))
    settings = GIT_CONFIG.format(
        bundle=file,
        credentials=base64.b64encode(f"x-access-token:{token}".encode()).decode(),
        url=host.url,
        address=host.url.partition("//")[2],
    )
    (folder / ".gitconfig").write_text(settings, "utf-8")
    reached = {
        "API_URL": host.url,
        "CURL_CA_BUNDLE": file,
        "GH_CONFIG_DIR": str(folder),
        "GH_ENTERPRISE_TOKEN": token,
        "SSL_CERT_FILE": file,
    }
    return run(host, folder, command, reached | environ)


def bundle(folder: Path) -> Path:
    """The usual bundle with our authority in it: reading it costs what it costs users."""
    ours = AUTHORITY.bundle(folder / "authority.pem").read_text("ascii")
    file = folder / "bundle.pem"
    file.write_text(Path(certifi.where()).read_text("utf-8") + ours, "utf-8")
    return file


def run(
    host: StandInHost, folder: Path, command: Sequence[str], environ: Mapping[str, str]
) -> Measured:
    """Run a command in a folder, which is its home as well."""
    result = folder / "measured"
    measure = [sys.executable, "-I", str(HERE / "measure.py"), str(result)]
    before = len(host.requests)
    ended = subprocess.run(  # noqa: S603 (ours)
        [*measure, *command],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise SystemExit(f"{command} failed:\n{ended.stdout}{ended.stderr}")
    seconds, memory, cpu = result.read_text("ascii").split()
    sent = host.requests[before:]
    moved = sum(each.received + each.sent for each in sent)
    return Measured(float(seconds), float(cpu), int(memory), len(sent), moved)
