"""Reduce pip's settings on this machine to those that say from where packages come.

Other settings may break the installation: `target` and `user` put packages elsewhere, `constraint`
and `no-binary` contradict our options. Neither an option of pip nor an empty variable can switch
off a single setting, because pip then uses the value of a file.
"""

import ast
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

FROM_WHERE = (
    *("index-url", "extra-index-url", "no-index", "find-links", "trusted-host"),
    *("proxy", "cert", "client-cert", "keyring-provider"),
    *("retries", "resume-retries", "timeout"),
)
ALIASES = {"pypi-url": "index-url", "default-timeout": "timeout"}
CERTIFICATES = {"use-feature": "truststore", "use-deprecated": "legacy-certs"}
"""Settings that are kept only with this value, which says which certificates count."""
NEWEST = (3, 15)
"""The newest Python for which all locked packages have wheels (yaml/pyyaml#951)."""
_MACHINES = {"x86_64", "amd64", "aarch64", "arm64"}
_LISTED = re.compile(r"(global|install)\.([\w-]+)=(.+)")


def without_packages() -> str:
    """Describe this Python if some locked package has no wheel for it; empty if all have one."""
    is_known = platform.machine().lower() in _MACHINES and sys.maxsize > 2**32
    if is_known and sys.version_info[:2] <= NEWEST:
        return ""
    bits = sys.maxsize.bit_length() + 1
    version = ".".join(map(str, sys.version_info[:2]))
    return f"Python {version} on {platform.machine()} ({bits} bits)"


def environment(pip: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which ``pip`` installs; ``environ`` is the present one.

    Raises `subprocess.CalledProcessError` if pip cannot read its files; pip prints the reason.
    """
    others = {name: value for name, value in environ.items() if not name.startswith("PIP_")}
    told = {**_of_files(pip, others, environ.get("PIP_CONFIG_FILE")), **_of_variables(environ)}
    kept = {
        **{name: _from_here(name, told[name]) for name in FROM_WHERE if name in told},
        **{name: one for name, one in CERTIFICATES.items() if one in told.get(name, "").split()},
    }
    variables = {f"PIP_{name.upper().replace('-', '_')}": value for name, value in kept.items()}
    return {**others, **variables, "PIP_CONFIG_FILE": os.devnull}


def _of_files(
    pip: Sequence[str], environ: Mapping[str, str], config_file: str | None
) -> dict[str, str]:
    # If a file says `quiet`, pip would list nothing
    aloud = {"PIP_QUIET": "0", "PIP_VERBOSE": "0"}
    named = {} if config_file is None else {"PIP_CONFIG_FILE": config_file}
    listed = subprocess.run(
        [*pip, "--disable-pip-version-check", "config", "list"],
        env={**environ, **aloud, **named},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    of_section: dict[str, dict[str, str]] = {"global": {}, "install": {}}
    for section, name, value in _LISTED.findall(listed.stdout):
        of_section[section] |= _given(name, ast.literal_eval(value))
    return {**of_section["global"], **of_section["install"]}


def _of_variables(environ: Mapping[str, str]) -> dict[str, str]:
    told: dict[str, str] = {}
    for variable, value in environ.items():
        prefix, name = variable[:4], variable[4:].lower().replace("_", "-")
        if prefix == "PIP_":
            told |= _given(name, value)
    return told


def _given(name: str, value: str) -> dict[str, str]:
    """Return a setting under its main name; nothing if it is empty, because pip ignores it then."""
    return {ALIASES.get(name, name): value} if value else {}


def _from_here(name: str, value: str) -> str:
    """Make paths absolute, because pip may run in another directory."""
    if name in {"cert", "client-cert"}:
        return str(Path(value).expanduser().absolute())
    if name == "find-links":
        paths = ((each, Path(each)) for each in value.split())
        return " ".join(str(path.absolute()) if path.exists() else each for each, path in paths)
    return value
