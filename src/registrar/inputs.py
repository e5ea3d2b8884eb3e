"""Environment -> `Inputs`; every diagnostic at once, before any request."""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from registrar import profiles
from registrar.errors import Diagnostic, InvalidInput
from registrar.models import CommitStrategy, Mode, PullRequestOptions
from registrar.profiles import Profile
from registrar.texts import templates
from registrar.texts.escaping import SECRET_CHARACTERS
from registrar.texts.messages import DEFAULT_LANGUAGE, LANGUAGES, Message, msg

DEFAULT_API_URL = "https://api.github.com"
DEFAULT_MAX_WAIT_MINUTES = 15
MOST_WAIT_MINUTES = 360
"""A job of the host's own runners ends then."""
LINE_CHARACTERS = 200
"""The host takes 256 characters of a title; some are left for what placeholders stand for."""
BODY_CHARACTERS = 30_000
"""The host takes 65,536 characters of a pull request's body; the rest is for our own part."""
BRANCH_BYTES = 240
"""The host takes 255 with ``refs/heads/``; some are left for ``-2`` behind a name that is taken."""

NAMES = (
    "host_token",
    "target_repo",
    "profile",
    "definitions",
    "mode",
    "commit_strategy",
    "branch",
    "commit_message",
    "title",
    "body",
    "labels",
    "assignees",
    "reviewers",
    "team_reviewers",
    "draft",
    "language",
    "max_wait_minutes",
    "api_url",
)
"""The inputs of ``action.yml``."""

PLACEHOLDERS = {
    # A name must be the same in the next run, so it cannot tell how many files are missing
    "branch": ("profile", "owner", "repo"),
    "commit_message": ("path", "profile", "count", "owner", "repo", "run_url"),
    "title": ("profile", "count", "owner", "repo", "run_url"),
    "body": ("profile", "count", "owner", "repo", "run_url"),
}

_FALLBACKS = {
    # The names of the two commands; a plain LANGUAGE or BRANCH is set for other reasons
    "host_token": ("HOST_TOKEN",),
    "target_repo": ("TARGET_REPO",),
    "api_url": ("HOST_API_URL", "GITHUB_API_URL"),
}
_RUNNER_NAMES = ("args", "entrypoint")
"""What `with:` of a container action means to the runner itself."""
_TARGET = re.compile(r"(?P<owner>[A-Za-z0-9_-]+)/(?P<repo>[A-Za-z0-9._-]+)")
_MINUTES = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3})?")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750, section 2.1: b64token
_NO_BRANCH = re.compile(  # git-check-ref-format
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[/.-]|/\.|[/.]$|\.lock(/|$)|^@$|^HEAD$|^(refs|heads)/"
)


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
    mode: Mode
    commit_strategy: CommitStrategy
    branch: str
    """Template of the working branch's name; empty: the profile's own."""
    commit_message: str
    """Template; empty: the profile's own."""
    title: str
    """Template; empty: the profile's own."""
    pull_request: PullRequestOptions
    language: str
    api_url: str
    max_wait_seconds: float
    workflow_repository: str
    """The repository whose workflow runs us (``GITHUB_REPOSITORY``), or nothing."""
    run_url: str
    """Address of the workflow run, or nothing."""
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
        InvalidInput: with every diagnostic.
    """
    reader = _Reader(environ)
    profile = reader.choice("profile", profiles.CHOICES, profiles.SCAFFOLD.name)
    inputs = Inputs(
        token=reader.token(),
        target=reader.target(),
        profiles=profiles.chosen(profile) if profile in profiles.CHOICES else (),
        definitions=reader.definitions(profile),
        definitions_name=_given(environ, "definitions"),
        mode=Mode(reader.choice("mode", tuple(Mode), Mode.REGISTER)),
        commit_strategy=CommitStrategy(
            reader.choice("commit_strategy", tuple(CommitStrategy), CommitStrategy.PER_FILE)
        ),
        branch=reader.branch(profile),
        commit_message=reader.line("commit_message"),
        title=reader.line("title"),
        pull_request=PullRequestOptions(
            body=reader.body(),
            labels=reader.names("labels"),
            assignees=reader.names("assignees"),
            reviewers=reader.names("reviewers"),
            team_reviewers=reader.names("team_reviewers"),
            draft=reader.choice("draft", ("true", "false"), "false") == "true",
        ),
        language=reader.choice("language", LANGUAGES, DEFAULT_LANGUAGE),
        api_url=reader.api_url(),
        max_wait_seconds=reader.minutes() * 60,
        workflow_repository=environ.get("GITHUB_REPOSITORY", ""),
        run_url=_run_url(environ),
        warnings=tuple(_unknown(environ)),
    )
    reader.diagnostics += _leaks(environ, inputs.token)
    if reader.diagnostics:
        # A mistyped name is told too: it may be why a value is missing
        raise InvalidInput([Diagnostic(text) for text in (*reader.diagnostics, *inputs.warnings)])
    return inputs


class _Reader:
    """Reads one input after the other and collects the diagnostics."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.diagnostics: list[Message] = []

    def token(self) -> str:
        value = token(self._environ)
        if not value:
            self.diagnostics.append(msg("input.token_missing"))
        elif not _TOKEN.fullmatch(value):
            self.diagnostics.append(msg("input.token_malformed"))
        return value

    def target(self) -> str:
        value = self._given("target_repo")
        matched = _TARGET.fullmatch(value)
        if not value:
            self.diagnostics.append(msg("input.target_missing"))
        elif not matched or matched["repo"] in {".", ".."}:
            self.diagnostics.append(msg("input.target_malformed", value=value))
        return value

    def choice(self, name: str, accepted: Sequence[str], default: str) -> str:
        value = self._given(name) or default
        if value not in accepted:
            message = msg("input.unknown_value", name=name, value=value, accepted=tuple(accepted))
            self.diagnostics.append(message)
            return default
        return value

    def template(self, name: str) -> str:
        value = self._given(name)
        if message := templates.diagnostic(name, value, PLACEHOLDERS[name]):
            self.diagnostics.append(message)
        return value

    def body(self) -> str:
        value = self.template("body")
        if len(value) > BODY_CHARACTERS:
            self.diagnostics.append(msg("input.too_long", name="body", most=BODY_CHARACTERS))
        return value

    def line(self, name: str) -> str:
        value = self.template(name)
        if len(value) > LINE_CHARACTERS:
            self.diagnostics.append(msg("input.too_long", name=name, most=LINE_CHARACTERS))
        if "\n" in value or "\r" in value:
            self.diagnostics.append(msg("input.several_lines", name=name))
        return value

    def branch(self, profile: str) -> str:
        earlier = len(self.diagnostics)
        value = self.template("branch")
        if not value or len(self.diagnostics) > earlier or profile not in profiles.CHOICES:
            return value
        target = _TARGET.fullmatch(self._given("target_repo"))
        values = target.groupdict() if target else {"owner": "o", "repo": "r"}
        chosen = profiles.chosen(profile)
        names = [templates.fill(value, values | {"profile": each.name}) for each in chosen]
        if len(set(names)) < len(chosen):
            self.diagnostics.append(msg("input.branch_with_all", value=value))
        for name in dict.fromkeys(names):
            if _NO_BRANCH.search(name) or len(name.encode()) > BRANCH_BYTES:
                self.diagnostics.append(msg("input.branch_malformed", value=name))
        return value

    def names(self, name: str) -> tuple[str, ...]:
        """A list, separated by commas or line ends; each name once."""
        values = (value.strip() for value in re.split(r"[,\n\r]", self._given(name)))
        return tuple(dict.fromkeys(value for value in values if value))

    def api_url(self) -> str:
        value = self._given("api_url") or DEFAULT_API_URL
        if message := _check_api_url(value):
            self.diagnostics.append(message)
        return value.rstrip("/")

    def minutes(self) -> float:
        value = self._given("max_wait_minutes") or str(DEFAULT_MAX_WAIT_MINUTES)
        if _MINUTES.fullmatch(value) and float(value) <= MOST_WAIT_MINUTES:
            return float(value)
        self.diagnostics.append(msg("input.max_wait", value=value, most=MOST_WAIT_MINUTES))
        return 0.0

    def definitions(self, profile: str) -> Path | None:
        name = self._given("definitions")
        if not name:
            return None
        if profile == profiles.ALL:
            self.diagnostics.append(msg("input.definitions_with_all"))
            return None
        workspace = Path(self._environ.get("GITHUB_WORKSPACE") or os.curdir).resolve()
        path = _inside(workspace, name)
        if path is None:
            self.diagnostics.append(msg("input.definitions_outside", value=name))
        return path

    def _given(self, name: str) -> str:
        return _given(self._environ, name)


def _given(environ: Mapping[str, str], name: str) -> str:
    """Value of an input, blanks around it trimmed; empty means not given."""
    variables = (f"INPUT_{name.upper()}", *_FALLBACKS.get(name, ()))
    values = (environ.get(variable, "").strip() for variable in variables)
    return next((value for value in values if value), "")


def _leaks(environ: Mapping[str, str], secret: str) -> Iterator[Message]:
    """Name the inputs that hold the token: what most of them say is published."""
    for name in NAMES:
        value = _given(environ, name)
        if name != "host_token" and len(secret) >= SECRET_CHARACTERS and secret in value:
            yield msg("input.holds_token", name=name)


def _unknown(environ: Mapping[str, str]) -> Iterator[Message]:
    for variable in sorted(environ):
        name = variable.removeprefix("INPUT_").lower()
        if variable.startswith("INPUT_") and name not in (*NAMES, *_RUNNER_NAMES):
            close = difflib.get_close_matches(name, NAMES, n=1)
            if close:
                yield msg("input.unknown_name_close", name=name, close=close[0])
            else:
                yield msg("input.unknown_name", name=name, known=NAMES)


def _run_url(environ: Mapping[str, str]) -> str:
    parts = [environ.get(f"GITHUB_{n}", "") for n in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
    server, repository, run = parts
    return f"{server}/{repository}/actions/runs/{run}" if all(parts) else ""


def _check_api_url(url: str) -> Message | None:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return msg("input.api_url_malformed", value=url)
    clean = url.isascii() and url.isprintable() and not re.search(r"[\s\\]", url)
    extra = parts.query or parts.fragment or parts.username or parts.password or "@" in url
    if parts.scheme not in {"http", "https"} or not host or extra or not clean:
        return msg("input.api_url_malformed", value=url)
    if parts.scheme == "http" and not _is_loopback(host):
        return msg("input.api_url_plain_http", value=url)
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
