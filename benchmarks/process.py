"""Start a program, wait for its end, and tell what it took."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import certifi

from tests.fakehub import StandInHost
from tests.fakehub.tls import Authority

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).resolve().parent
ENTRYPOINT = ROOT / "entrypoint.py"
UNPACED = HERE / "unpaced.py"
AUTHORITY = Authority()
"""Who vouches for the stand-in where it speaks TLS."""


class Cost(NamedTuple):
    """What a program took."""

    seconds: float
    memory: int
    """Its peak, in bytes; of its child processes the largest counts."""


def action(
    host: StandInHost,
    folder: Path,
    inputs: Mapping[str, str],
    *,
    entry_point: Path = ENTRYPOINT,
) -> Cost:
    """Run the action in a folder."""
    given = {"host_token": host.create_token(), "api_url": host.url, **inputs}
    environ = {f"INPUT_{name.upper()}": value for name, value in given.items()}
    environ["REQUESTS_CA_BUNDLE"] = str(bundle(folder))
    return run([sys.executable, "-I", str(entry_point)], environ, folder)


def bundle(folder: Path) -> Path:
    """The usual bundle with our authority in it: reading it costs what it costs users."""
    ours = AUTHORITY.bundle(folder / "authority.pem").read_text("ascii")
    file = folder / "bundle.pem"
    file.write_text(Path(certifi.where()).read_text("utf-8") + ours, "utf-8")
    return file


def run(command: Sequence[str], environ: Mapping[str, str], folder: Path) -> Cost:
    """Run a command in a folder, which is its home as well."""
    result = folder / "measured"
    measure = [sys.executable, "-I", str(HERE / "measure.py"), str(result)]
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
    seconds, memory = result.read_text("ascii").split()
    return Cost(float(seconds), int(memory))
