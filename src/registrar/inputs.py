"""Environment -> `Inputs`, with every diagnostic at once, before any request."""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from registrar import profiles
from registrar.errors import Diagnostic, InvalidInput
from registrar.fleet import selection as selections
from registrar.fleet.schedule import Shard
from registrar.fleet.selection import Selection
from registrar.models import CommitStrategy, Mode, PullRequestOptions
from registrar.profiles import Profile
from registrar.texts import templates
from registrar.texts.escaping import SECRET_CHARACTERS
from registrar.texts.messages import DEFAULT_LANGUAGE, LANGUAGES, Message, msg

DEFAULT_API_URL = "https://api.github.com"
MOST_MINUTES = 360
"""A job on a GitHub-hosted runner ends after this time (minutes)."""
LINE_CHARACTERS = 200
"""A title may have 256 characters on GitHub; the rest is for the values of placeholders."""
BODY_CHARACTERS = 30_000
"""A pull request's body may have 65,536 characters on GitHub; the rest is for our own part."""
BRANCH_BYTES = 240
"""GitHub allows 255 with ``refs/heads/``; the rest is for ``-2`` behind a name that is taken."""

CLOSE = 0.7
"""From this similarity on (0 to 1), a name counts as a misspelling of another.

``INPUT_METHOD``, a variable that many desktops set, and ``mode`` have 0.6.
"""

_SWITCH = ("true", "false")


@dataclass(frozen=True, slots=True)
class Input:
    """One input, wherever it is given: ``action.yml``, a variable or an option.

    Its description is the text ``option.<name>`` of the catalogues.
    """

    name: str
    default: str = ""
    choices: tuple[str, ...] = ()
    placeholders: tuple[str, ...] = ()
    plain_variables: tuple[str, ...] = ()
    """Variables without ``INPUT_`` that are read after the input's own, in this order.

    The names of the two commands; a plain ``LANGUAGE`` or ``BRANCH`` is set for other reasons.
    """
    other_names: tuple[str, ...] = ()
    """Its names in similar actions, and names that people remember wrongly."""
    workflow_default: str = ""
    """Default in ``action.yml`` where only a workflow has one."""

    @property
    def variable(self) -> str:
        """The variable that the runner sets for it."""
        return f"INPUT_{self.name.upper()}"

    @property
    def option(self) -> str:
        """The same on a command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def is_switch(self) -> bool:
        """Whether it is either true or false."""
        return self.choices == _SWITCH


_TEXT = ("profile", "count", "owner", "repo", "run_url")
INPUTS = {
    each.name: each
    for each in (
        Input(
            "host_token",
            plain_variables=("HOST_TOKEN",),
            other_names=("token", "github_token", "gh_token", "gh_pat"),
            workflow_default="${{ github.token }}",
        ),
        Input(
            "target_repo",
            plain_variables=("TARGET_REPO",),
            other_names=("repo", "repository", "github_repository"),
            workflow_default="${{ github.repository }}",
        ),
        Input("target_repos", other_names=("repos", "repositories", "target_repositories")),
        Input("profile", profiles.SCAFFOLD.name, profiles.CHOICES),
        Input("definitions", other_names=("definition_file", "definitions_file", "config_path")),
        Input("respect_alternatives", "false", _SWITCH),
        Input("mode", Mode.REGISTER, tuple(Mode), other_names=("dry_run", "plan")),
        Input(
            # Without one: a commit for each file in one repository, a single one in many
            "commit_strategy",
            choices=tuple(CommitStrategy),
            other_names=("strategy",),
        ),
        # A name must be the same in the next run, so it cannot tell how many files are missing
        Input("branch", placeholders=("profile", "owner", "repo"), other_names=("branch_name",)),
        Input("commit_message", placeholders=("path", *_TEXT)),
        Input("title", placeholders=_TEXT, other_names=("pr_title", "pull_request_title")),
        Input("body", placeholders=_TEXT, other_names=("pr_body", "pull_request_body")),
        Input("labels", other_names=("pr_labels",)),
        Input("assignees"),
        Input("reviewers"),
        Input("team_reviewers"),
        Input("draft", "false", _SWITCH),
        Input("language", DEFAULT_LANGUAGE, LANGUAGES, other_names=("lang", "locale")),
        Input("max_wait_minutes", "15", other_names=("max_wait",)),
        Input("max_pull_requests", "100", other_names=("max_prs",)),
        Input("max_minutes", "50"),
        Input("shard"),
        # The runner sets the address of the GitHub that the workflow runs on
        Input("api_url", plain_variables=("HOST_API_URL", "GITHUB_API_URL")),
    )
}
"""Every input, in the order of ``action.yml``: what is read, described and offered as an option."""

NAMES = tuple(INPUTS)
PLACEHOLDERS = {each.name: each.placeholders for each in INPUTS.values() if each.placeholders}

_VARIABLES = {each.variable: each for each in INPUTS.values()}
_RUNNERS_OWN = ("INPUT_ARGS", "INPUT_ENTRYPOINT")
"""Keys of `with:` that the runner itself reads for a container action."""
_RUNNERS_TEXTS = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
"""Variables of the runner whose values appear in our texts."""
_TARGET = re.compile(r"(?P<owner>[A-Za-z0-9_-]+)/(?P<repo>[A-Za-z0-9._-]+)")
_MINUTES = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3})?")
_COUNT = re.compile(r"[0-9]{1,6}")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750, section 2.1: b64token
_NO_BRANCH = re.compile(  # git-check-ref-format
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[/.-]|/\.|[/.]$|\.lock(/|$)|^@$"
)
_OTHER_REFERENCE = re.compile(
    # gitrevisions(7): what a name is looked up as beside refs/heads/<name>. GitHub takes no name
    # like a commit's id either (docs, "Dealing with special characters in branch and tag names")
    r"(refs|heads|tags|remotes)/|pull/[0-9]+/|([A-Z]+_)?HEAD$|[0-9A-Fa-f]{40}([0-9A-Fa-f]{24})?$"
)
_WEB_HOSTS = ("api.github.com", "github.com", "www.github.com")
_CLOUD = ".ghe.com"
"""End of the host names of GitHub Enterprise Cloud with data residency."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
"""What Python makes of a byte that is not UTF-8 (PEP 383)."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a run was asked to do; every value is valid."""

    token: str = field(repr=False)
    target: str
    """``owner/repo``, as it was given."""
    selection: Selection | None
    """The repositories of a run over many; then ``target`` is ignored."""
    max_pull_requests: int
    """How many pull requests a run over many repositories opens at most."""
    max_seconds: float
    """After this time a run over many repositories begins nothing new."""
    shard: Shard
    profiles: tuple[Profile, ...]
    workspace: Path
    """The checkout of the caller: no file outside of it is read."""
    definitions: str
    """The caller's own definition file, from the workspace; empty: the profile's own."""
    respect_alternatives: bool
    """Whether a file counts as present where GitHub itself would find it."""
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
    event: Path | None
    """The file that describes what started the workflow (``GITHUB_EVENT_PATH``)."""
    run_url: str
    """Address of the workflow run, or nothing."""


def language(environ: Mapping[str, str]) -> str:
    """Language of the input ``language``, the default where it is unknown."""
    return _accepted(_given(environ, "language"), LANGUAGES) or DEFAULT_LANGUAGE


def token(environ: Mapping[str, str]) -> str:
    """The token as given, valid or not, so that it can be kept out of every text."""
    return _given(environ, "host_token")


def meant(name: str) -> str:
    """Name of the input that ``name`` was probably meant to be, or nothing."""
    names = {other: each.name for each in INPUTS.values() for other in each.other_names}
    names |= {known: known for known in INPUTS}
    return names.get(_closest(name.lower().replace("-", "_"), names), "")


def read(environ: Mapping[str, str], errors: Sequence[Message] = ()) -> Inputs:
    """Read and check the inputs.

    ``errors`` were found on the command line, and are reported together with ours.

    Raises:
        InvalidInput: with every diagnostic.
    """
    reader = _Reader(environ)
    profile = reader.choice("profile")
    inputs = Inputs(
        token=reader.token(),
        target=reader.target(),
        selection=reader.selection,
        max_pull_requests=reader.max_pull_requests(),
        max_seconds=reader.minutes("max_minutes") * 60,
        shard=reader.shard(),
        profiles=profiles.chosen(profile),
        workspace=Path(environ.get("GITHUB_WORKSPACE") or os.curdir),
        definitions=reader.definitions(profile),
        respect_alternatives=reader.switch("respect_alternatives"),
        mode=Mode(reader.choice("mode")),
        commit_strategy=reader.commit_strategy(),
        branch=reader.branch(profile),
        commit_message=reader.line("commit_message"),
        title=reader.line("title"),
        pull_request=PullRequestOptions(
            body=reader.body(),
            labels=reader.names("labels"),
            assignees=reader.people("assignees"),
            reviewers=reader.people("reviewers"),
            team_reviewers=reader.teams(),
            draft=reader.switch("draft"),
        ),
        language=reader.choice("language"),
        api_url=reader.api_url(),
        max_wait_seconds=reader.minutes("max_wait_minutes") * 60,
        workflow_repository=environ.get("GITHUB_REPOSITORY", ""),
        event=Path(event) if (event := environ.get("GITHUB_EVENT_PATH")) else None,
        run_url=_run_url(environ),
    )
    # A mistyped name comes first: it may be why a value is missing
    diagnostics = [
        *errors,
        *_unknown(environ),
        *reader.diagnostics,
        *_leaks(environ, inputs.token),
    ]
    if diagnostics:
        raise InvalidInput([Diagnostic(text) for text in diagnostics])
    return inputs


class _Reader:
    """Reads one input after the other and collects the diagnostics."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        values = {name: _given(environ, name) for name in INPUTS}
        values |= {name: environ.get(name, "") for name in _RUNNERS_TEXTS}
        self._unreadable = {name for name, value in values.items() if _SURROGATE.search(value)}
        self.diagnostics = [msg("input.not_utf8", name=name) for name in sorted(self._unreadable)]
        self.selection = self._selection()

    def token(self) -> str:
        value = token(self._environ)
        if not value:
            self._report("host_token", msg("input.token_missing"))
        elif not _TOKEN.fullmatch(value):
            self._report("host_token", msg("input.token_malformed"))
        return value

    def target(self) -> str:
        value = self._given("target_repo")
        if self.selection:
            return value
        matched = _TARGET.fullmatch(value)
        if not value:
            self._report("target_repo", msg("input.target_missing"))
        elif not matched or matched["repo"] in {".", ".."}:
            self._report("target_repo", msg("input.target_malformed", value=value))
        return value

    def choice(self, name: str) -> str:
        """One of the valid values; the default where it is none of them."""
        default, choices = INPUTS[name].default, INPUTS[name].choices
        value = self._given(name) or default
        if accepted := _accepted(value, choices):
            return accepted
        values = {"name": name, "value": value, "accepted": choices}
        if close := _closest(value.lower(), choices):
            self._report(name, msg("input.unknown_value_close", close=close, **values))
        else:
            self._report(name, msg("input.unknown_value", **values))
        return default

    def switch(self, name: str) -> bool:
        return self.choice(name) == "true"

    def template(self, name: str) -> str:
        value = self._given(name)
        if message := templates.diagnostic(name, value, INPUTS[name].placeholders):
            self._report(name, message)
        return value

    def body(self) -> str:
        value = self.template("body")
        if len(value) > BODY_CHARACTERS:
            self._report("body", msg("input.too_long", name="body", most=BODY_CHARACTERS))
        return value

    def line(self, name: str) -> str:
        value = self.template(name)
        if len(value) > LINE_CHARACTERS:
            self._report(name, msg("input.too_long", name=name, most=LINE_CHARACTERS))
        if "\n" in value or "\r" in value:
            self._report(name, msg("input.several_lines", name=name))
        return value

    def branch(self, profile: str) -> str:
        earlier = len(self.diagnostics)
        value = self.template("branch")
        if not value or len(self.diagnostics) > earlier:
            return value
        target = _TARGET.fullmatch(self._given("target_repo"))
        values = target.groupdict() if target else {"owner": "o", "repo": "r"}
        chosen = profiles.chosen(profile)
        names = [templates.fill(value, values | {"profile": each.name}) for each in chosen]
        if len(set(names)) < len(chosen):
            self._report("branch", msg("input.branch_with_all", value=value))
        for name in dict.fromkeys(names):
            if _OTHER_REFERENCE.match(name):
                self._report("branch", msg("input.branch_other_reference", value=name))
            elif _NO_BRANCH.search(name) or len(name.encode()) > BRANCH_BYTES:
                self._report("branch", msg("input.branch_malformed", value=name))
        return value

    def names(self, name: str) -> tuple[str, ...]:
        """A list, comma- or newline-separated; each name once."""
        return _once(re.split(r"[,\n\r]", self._given(name)))

    def people(self, name: str) -> tuple[str, ...]:
        """Logins, given as ``name`` or ``@name``."""
        return _once(each.removeprefix("@") for each in self.names(name))

    def teams(self) -> tuple[str, ...]:
        """Slugs of teams, given as ``team``, ``@team``, ``org/team`` or ``@org/team``.

        GitHub takes the slug alone, as a team of the repository's own organisation
        (peter-evans/create-pull-request#130).
        """
        owners: tuple[str, ...] = (self._given("target_repo").partition("/")[0].casefold(),)
        if self.selection:
            owners = self.selection.all_owners
        slugs = []
        for team in self.people("team_reviewers"):
            organisation, _, slug = team.rpartition("/")
            if organisation and {organisation.casefold()} != set(owners):
                message = msg("input.team_elsewhere", value=team, owner=owners)
                self._report("team_reviewers", message)
            slugs.append(slug)
        return _once(slugs)

    def api_url(self) -> str:
        value = self._given("api_url") or DEFAULT_API_URL
        if message := _check_api_url(value):
            self._report("api_url", message)
        return value.rstrip("/")

    def minutes(self, name: str) -> float:
        value = self._given(name) or INPUTS[name].default
        if _MINUTES.fullmatch(value) and float(value) <= MOST_MINUTES:
            return float(value)
        self._report(name, msg("input.minutes", name=name, value=value, most=MOST_MINUTES))
        return 0.0

    def max_pull_requests(self) -> int:
        name = "max_pull_requests"
        value = self._given(name) or INPUTS[name].default
        if _COUNT.fullmatch(value):
            return int(value)
        self._report(name, msg("input.max_pull_requests", value=value))
        return 0

    def shard(self) -> Shard:
        value = self._given("shard")
        shard = Shard.parse(value) if value else Shard()
        if shard is None:
            self._report("shard", msg("input.shard", value=value))
        return shard or Shard()

    def commit_strategy(self) -> CommitStrategy:
        """In many repositories a single commit: one for each file would take hours."""
        name = "commit_strategy"
        chosen = self.choice(name) if self._given(name) else ""
        value = CommitStrategy(chosen) if chosen else None
        if not self.selection:
            return value or CommitStrategy.PER_FILE
        if value is CommitStrategy.PER_FILE:
            self._report(name, msg("input.per_file_with_many"))
        return CommitStrategy.SINGLE

    def _selection(self) -> Selection | None:
        entries = self.names("target_repos")
        if not entries:
            return None
        selection, errors = selections.parse(entries)
        self.diagnostics += errors
        return selection

    def definitions(self, profile: str) -> str:
        name = self._given("definitions")
        if name and profile == profiles.ALL:
            self._report("definitions", msg("input.definitions_with_all"))
        if _ADDRESS.match(name):
            self._report("definitions", msg("input.definitions_address", value=name))
        return name

    def _given(self, name: str) -> str:
        return "" if name in self._unreadable else _given(self._environ, name)

    def _report(self, name: str, message: Message) -> None:
        """Add a diagnostic, unless the value could not even be read."""
        if name not in self._unreadable:
            self.diagnostics.append(message)


def _given(environ: Mapping[str, str], name: str) -> str:
    """Value of an input, blanks around it trimmed; empty means not given."""
    variables = (INPUTS[name].variable, *INPUTS[name].plain_variables)
    values = (environ.get(variable, "").strip() for variable in variables)
    return next((value for value in values if value), "")


def _accepted(value: str, choices: Sequence[str]) -> str:
    """The choice that ``value`` is, in any letter case, or nothing."""
    return next((choice for choice in choices if choice == value.lower()), "")


def _closest(value: str, known: Iterable[str]) -> str:
    return next(iter(difflib.get_close_matches(value, known, n=1, cutoff=CLOSE)), "")


def _once(values: Iterable[str]) -> tuple[str, ...]:
    stripped = (value.strip() for value in values)
    return tuple(dict.fromkeys(value for value in stripped if value))


def _leaks(environ: Mapping[str, str], secret: str) -> Iterator[Message]:
    """Name the inputs that hold the token: most of their values are published."""
    for name in INPUTS:
        value = _given(environ, name)
        if name != "host_token" and len(secret) >= SECRET_CHARACTERS and secret in value:
            yield msg("input.holds_token", name=name)


def _unknown(environ: Mapping[str, str]) -> Iterator[Message]:
    """Name the variables ``INPUT_…`` that are no input.

    On a runner each is an input of the step. Elsewhere only one that resembles an input is
    taken for a misspelling: many desktops set ``INPUT_METHOD``.
    """
    on_runner = environ.get("GITHUB_ACTIONS") == "true"
    for variable in sorted(environ):
        prefix, name = variable[: len("INPUT_")], variable[len("INPUT_") :]
        if prefix.upper() != "INPUT_" or variable in _VARIABLES or variable in _RUNNERS_OWN:
            continue
        # The runner itself writes capitals; elsewhere only the letter case may be wrong
        shown = name.lower() if variable.isupper() else variable
        if close := meant(name):
            suggestion = close if variable.isupper() else INPUTS[close].variable
            yield msg("input.unknown_name_close", name=shown, close=suggestion)
        elif on_runner:
            yield msg("input.unknown_name", name=shown, known=NAMES)


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
    if not _is_api_path(host, parts.path.rstrip("/")):
        return msg("input.api_url_path", value=url, close=_api_root(parts))
    return None


def _is_api_path(host: str, path: str) -> bool:
    """Whether GitHub's REST API can begin there: an Enterprise Server has it below ``/api/v3``.

    https://docs.github.com/en/enterprise-server@latest/rest/using-the-rest-api
    """
    if host in _WEB_HOSTS or host.endswith(_CLOUD):
        return host.startswith("api.") and not path
    return path.endswith("/api/v3") or (not path and _is_loopback(host))


def _api_root(parts: SplitResult) -> str:
    """The address that was probably meant."""
    host = parts.hostname or ""
    if host in _WEB_HOSTS:
        return DEFAULT_API_URL
    if host.endswith(_CLOUD):
        return f"https://api.{host.removeprefix('api.')}"
    return f"{parts.scheme}://{parts.netloc}/api/v3"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
