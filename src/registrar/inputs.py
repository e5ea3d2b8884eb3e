"""Environment -> `Inputs`; every mistake at once, before any request."""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from registrar import profiles
from registrar.errors import InvalidInput, Mistake
from registrar.messages import DEFAULT_LANGUAGE, LANGUAGES, Message, say
from registrar.profiles import Profile

DEFAULT_API_URL = "https://api.github.com"
NAMES = (
    "host_token",
    "target_repo",
    "profile",
    "definitions",
    "language",
    "api_url",
    "commit_strategy",
    "max_wait_minutes",
)
"""The inputs of ``action.yml``."""

_FALLBACKS = {
    # Contract, "Environment variables"; design §2: no other plain variable means anything to us
    "host_token": ("HOST_TOKEN",),
    "target_repo": ("TARGET_REPO",),
    "api_url": ("HOST_API_URL", "GITHUB_API_URL"),
}
PER_FILE, SINGLE = STRATEGIES = ("per-file", "single")
DEFAULT_MAX_WAIT_MINUTES = 15
MOST_WAIT_MINUTES = 360
"""A job of the host's own runners ends then."""

_RUNNER_NAMES = ("args", "entrypoint")
"""What `with:` of a container action means to the runner itself."""
_TARGET = re.compile(r"(?P<owner>[A-Za-z0-9_-]+)/(?P<repo>[A-Za-z0-9._-]+)")
_MINUTES = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3})?")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750, section 2.1: b64token


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a run was asked to do; every value is valid."""

    token: str = field(repr=False)
    target: str
    """``owner/repo``, as it was given."""
    profiles: tuple[Profile, ...]
    definitions: Path | None
    """The caller's own definition file (real path, inside the workspace)."""
    definitions_name: str
    """The same as the caller wrote it."""
    language: str
    api_url: str
    commit_strategy: str
    max_wait_seconds: float
    workflow_repository: str
    """The repository whose workflow runs us (``GITHUB_REPOSITORY``), or nothing."""
    warnings: tuple[Message, ...] = ()


def language(environ: Mapping[str, str]) -> str:
    """Language of the input ``language``, the default where it is unknown."""
    value = _given(environ, "language")
    return value if value in LANGUAGES else DEFAULT_LANGUAGE


def token(environ: Mapping[str, str]) -> str:
    """The token as given, valid or not, so that it can be kept out of every text."""
    return _given(environ, "host_token")


def read(environ: Mapping[str, str]) -> Inputs:
    """Read and check the inputs.

    Raises:
        InvalidInput: with every mistake.
    """
    mistakes: list[Message] = []

    token_value = token(environ)
    if not token_value:
        mistakes.append(say("input.token_missing"))
    elif not _TOKEN.fullmatch(token_value):
        mistakes.append(say("input.token_malformed"))

    target = _given(environ, "target_repo")
    matched = _TARGET.fullmatch(target)
    if not target:
        mistakes.append(say("input.target_missing"))
    elif not matched or matched["repo"] in {".", ".."}:
        mistakes.append(say("input.target_malformed", value=target))

    profile = _choice(environ, "profile", profiles.CHOICES, profiles.SCAFFOLD.name, mistakes)
    chosen_language = _choice(environ, "language", LANGUAGES, DEFAULT_LANGUAGE, mistakes)

    strategy = _choice(environ, "commit_strategy", STRATEGIES, PER_FILE, mistakes)
    api_url = _given(environ, "api_url") or DEFAULT_API_URL
    if mistake := _api_url_mistake(api_url):
        mistakes.append(mistake)

    max_wait = _given(environ, "max_wait_minutes") or str(DEFAULT_MAX_WAIT_MINUTES)
    if not (_MINUTES.fullmatch(max_wait) and float(max_wait) <= MOST_WAIT_MINUTES):
        mistakes.append(say("input.max_wait", value=max_wait, most=MOST_WAIT_MINUTES))

    definitions_name = _given(environ, "definitions")
    definitions = None
    if definitions_name and profile == profiles.ALL:
        mistakes.append(say("input.definitions_with_all"))
    elif definitions_name:
        workspace = Path(environ.get("GITHUB_WORKSPACE") or os.curdir).resolve()
        definitions = _inside(workspace, definitions_name)
        if definitions is None:
            mistakes.append(say("input.definitions_outside", value=definitions_name))

    unknown = list(_unknown(environ))
    if mistakes:
        # A mistyped name is told too: it may be why a value is missing
        raise InvalidInput([Mistake(message) for message in (*mistakes, *unknown)])
    return Inputs(
        token=token_value,
        target=target,
        profiles=profiles.chosen(profile),
        definitions=definitions,
        definitions_name=definitions_name,
        language=chosen_language,
        api_url=api_url.rstrip("/"),
        commit_strategy=strategy,
        max_wait_seconds=float(max_wait) * 60,
        workflow_repository=environ.get("GITHUB_REPOSITORY", ""),
        warnings=tuple(unknown),
    )


def _given(environ: Mapping[str, str], name: str) -> str:
    """Value of an input, blanks around it trimmed; empty means not given."""
    variables = (f"INPUT_{name.upper()}", *_FALLBACKS.get(name, ()))
    values = (environ.get(variable, "").strip() for variable in variables)
    return next((value for value in values if value), "")


def _choice(
    environ: Mapping[str, str],
    name: str,
    accepted: Iterable[str],
    default: str,
    mistakes: list[Message],
) -> str:
    value = _given(environ, name)
    if value and value not in accepted:
        mistakes.append(
            say("input.unknown_value", name=name, value=value, accepted=tuple(accepted))
        )
    return value or default


def _unknown(environ: Mapping[str, str]) -> Iterator[Message]:
    for variable in sorted(environ):
        name = variable.removeprefix("INPUT_").lower()
        if variable.startswith("INPUT_") and name not in (*NAMES, *_RUNNER_NAMES):
            close = difflib.get_close_matches(name, NAMES, n=1)
            if close:
                yield say("input.unknown_name_close", name=name, close=close[0])
            else:
                yield say("input.unknown_name", name=name, known=NAMES)


def _api_url_mistake(url: str) -> Message | None:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return say("input.api_url_malformed", value=url)
    clean = url.isascii() and url.isprintable() and not re.search(r"[\s\\]", url)
    extra = parts.query or parts.fragment or parts.username or parts.password or "@" in url
    if parts.scheme not in {"http", "https"} or not host or extra or not clean:
        return say("input.api_url_malformed", value=url)
    if parts.scheme == "http" and not _is_loopback(host):
        return say("input.api_url_plain_http", value=url)
    return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _inside(workspace: Path, name: str) -> Path | None:
    """Real path of ``name`` in the workspace; ``None`` when it is not inside (links resolved)."""
    try:
        path = (workspace / name).resolve()
    except (OSError, ValueError, RuntimeError):  # a null byte, a loop of links
        return None
    return path if path.is_relative_to(workspace) else None
