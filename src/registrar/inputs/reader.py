"""Reads the environment into `Settings`, and reports every diagnostic before any request."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from registrar.errors import Diagnostic, InvalidInput
from registrar.inputs import environment, targets
from registrar.inputs.interface import INPUTS
from registrar.lists import profiles
from registrar.models.files import TEMPLATE_NAMES
from registrar.models.selection import Selection
from registrar.models.settings import (
    CommitStrategy,
    FailOn,
    Mode,
    PullRequestOptions,
    Settings,
)
from registrar.runtime.addresses import is_loopback
from registrar.texts import templates
from registrar.texts.messages import Excerpt, Message, msg
from registrar.texts.spelling import closest

DEFAULT_API_URL = "https://api.github.com"
_WEB_HOSTS = ("api.github.com", "github.com", "www.github.com")
_OTHER_HOST = re.compile(
    r"(?:^|\.)(?:codeberg\.org|gitea\.com|gitlab\.com|bitbucket\.org|dev\.azure\.com)$"
)
_OTHER_PATH = re.compile(r"/(?:api/v[14]|2\.0|rest/api)(?:/|$)")
"""Hosts and paths of the APIs of Forgejo and Gitea, GitLab, Bitbucket and Azure DevOps. The runners
of the first two set ``GITHUB_API_URL`` (peter-evans/create-pull-request#3569)."""
_CLOUD = ".ghe.com"
"""The end of host names of GitHub Enterprise Cloud with data residency."""

MOST_MINUTES = 360
"""The largest time limit: a job on a GitHub-hosted runner ends after this many minutes."""
LINE_CHARACTERS = 200
"""The largest number of characters in a title or headline. GitHub allows 256 in a title, and the
values of placeholders need some of them."""
BODY_CHARACTERS = 30_000
"""The largest number of characters in the caller's text. GitHub allows 65,536 in a description, and
registrar's own part needs the others."""
BRANCH_BYTES = 240
"""The largest number of bytes in a branch name. GitHub allows 255 with ``refs/heads/``, and a
number such as ``-2`` may be added if the name is in use."""

_MINUTES = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3})?")
_COUNT = re.compile(r"[0-9]{1,6}")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750, section 2.1: b64token
_OTHER_TOKENS = ("GH_TOKEN", "GITHUB_TOKEN")
"""Variables in which other tools expect a token."""
_NO_BRANCH = re.compile(  # git-check-ref-format
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[/.-]|/\.|[/.]$|\.lock(/|$)|^@$"
)
_OTHER_REFERENCE = re.compile(
    # Names that git also looks up as something else than refs/heads/<name> (gitrevisions(7)), and
    # names like a commit id, which GitHub refuses (docs, "Dealing with special characters in branch
    # and tag names")
    r"(refs|heads|tags|remotes)/|pull/[0-9]+/|([A-Z]+_)?HEAD$|[0-9A-Fa-f]{40}([0-9A-Fa-f]{24})?$"
)
_EXPRESSION = re.compile(r"\$\{\{(?!\{).*?\}\}", re.DOTALL)
"""An expression of GitHub. In a template, the text ``${{ … }}`` has twice as many braces."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_ARRAY = re.compile(r"""\[[^\[\]]*[,"'][^\[\]]*\]""")
"""An array of JSON or YAML. A label may be ``[bug]``, but not ``[bug, docs]``."""
_MOST_OF_LABEL = 50
"""The most characters that GitHub accepts in the name of a label (github/docs#32156)."""
_ITEM = re.compile(r"""[-*]\s+(?P<text>.+)|(?P<quote>["'])(?P<quoted>.*)(?P=quote)""")
"""An item of an array in YAML or of a list in Markdown, or a text in quotes."""
_NAMES = re.compile(r'(?:"[^"\n\r]*"|[^,\n\r])+')
"""Names that are separated by commas or line breaks. A comma in double quotes separates none."""
_LOGIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(?:\[bot\])?")
_TEAM = re.compile(rf"(?:{_LOGIN.pattern}/)?[^\s/:;!'\"-][^\s/:;!'\"]*")
_PLACEHOLDERS = {*TEMPLATE_NAMES, *(name for each in INPUTS.values() for name in each.placeholders)}
_OTHER_PLACEHOLDER = re.compile(
    rf"\$?\{{+ *(?:{'|'.join(sorted(_PLACEHOLDERS - {templates.PROPERTY}))}) *\}}+"
)
"""A placeholder that only other inputs, or the templates of a list, have."""


def read(
    environ: Mapping[str, str], errors: Sequence[Message] = (), *, in_workspace: bool = True
) -> Settings:
    """Read and check the inputs. Raises `InvalidInput` with every error.

    ``errors`` are those of the command line, which are reported together with the others. Without
    ``in_workspace``, the path of a list starts from the working directory even in a workflow.
    """
    reader = _Reader(environ)
    profile, mode = reader.profile(), Mode(reader.choice("mode"))
    target = reader.target(mode)
    fail_on = reader.fail_on()
    reader.check_language()
    if mode is not Mode.VALIDATE:
        reader.require_selection("max_pull_requests", "max_minutes")
    workspace = environ.get("GITHUB_WORKSPACE") if in_workspace else None
    api_url = reader.api_url()
    own = environment.workflow_repository(environ, api_url)
    visibility = reader.choice("workflow_visibility")
    settings = Settings(
        token=reader.token(mode),
        target=target,
        selection=reader.selection,
        max_pull_requests=reader.max_pull_requests(),
        max_seconds=reader.minutes("max_minutes") * 60,
        profiles=profiles.chosen(profile),
        workspace=Path(workspace) if workspace else None,
        definitions=reader.definitions(profile),
        respect_alternatives=reader.switch("respect_alternatives"),
        update=reader.switch("update"),
        mode=mode,
        fail_on=fail_on if mode is Mode.CHECK else frozenset(),
        ref=reader.ref(mode, fail_on),
        base=reader.base(),
        event_base=environment.event_base(environ, own, target),
        commit_strategy=reader.commit_strategy(),
        branch=reader.branch(profile),
        commit_message=reader.message("commit_message"),
        title=reader.template_line("title"),
        pull_request=PullRequestOptions(
            body=reader.template_text("body", BODY_CHARACTERS),
            labels=reader.labels(),
            assignees=reader.people("assignees"),
            reviewers=reader.people("reviewers"),
            team_reviewers=reader.teams(),
            draft=reader.switch("draft"),
        ),
        api_url=api_url,
        max_wait_seconds=reader.minutes("max_wait_minutes") * 60,
        in_workflow=environment.on_runner(environ) or bool(environ.get("GITHUB_REPOSITORY")),
        workflow_repository=own,
        workflow_repository_id=environ.get("GITHUB_REPOSITORY_ID", ""),
        attempt_of=environment.attempt_of(environ),
        workflow_visibility=environment.workflow_visibility(environ, visibility),
        is_of_fork=environment.is_of_fork(environ),
        run_url=environment.run_url(environ),
        action_url=environment.action_url(environ),
        warnings=reader.warnings(mode),
    )
    # A misspelled name comes first, because it may be the reason for a missing value
    diagnostics = [
        *errors,
        *environment.unknown(environ),
        *reader.diagnostics,
        *environment.leaks(environ, settings.token),
    ]
    if diagnostics:
        raise InvalidInput([Diagnostic(text) for text in diagnostics])
    return settings


def branch_diagnostic(value: str, name: str = "branch") -> Message | None:
    """Explain why a branch cannot have the name ``value``; ``None`` if it can.

    ``name`` is the input that gives the name.
    """
    if _OTHER_REFERENCE.match(value):
        return msg("input.branch_other_reference", name=name, value=value)
    if _NO_BRANCH.search(value) or len(value.encode()) > BRANCH_BYTES:
        return msg("input.branch_malformed", name=name, value=value)
    return None


class _Reader:
    """Reads the inputs one after the other, and collects the diagnostics."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._unreadable = environment.not_utf8(environ)
        self.diagnostics = [msg("input.not_utf8", name=name) for name in self._unreadable]
        for name in (each for each in INPUTS if each != "host_token"):
            if found := _EXPRESSION.search(environment.value_of(environ, name)):
                self._report(name, msg("input.expression", name=name, found=found[0]))
                self._unreadable.append(name)
        self._warnings: list[Message] = []
        self.selection: Selection | None = None
        if entries := self.names("target_repos"):
            self.selection, errors = targets.read_selection(entries)
            self.diagnostics += errors
            self._warnings += targets.doubts(self.selection)

    def token(self, mode: Mode) -> str:
        value = environment.value_of(self._environ, "host_token")
        if not value and mode is Mode.VALIDATE:
            return ""
        if not value:
            key = "input.token_missing"
            if self._environ.get("ACT"):
                key = "input.token_missing_act"
            elif environment.is_of_dependabot(self._environ):
                key = "input.token_missing_dependabot"
            elif environment.is_of_fork(self._environ):
                key = "input.token_missing_fork"
            elif name := next(filter(self._environ.get, _OTHER_TOKENS), ""):
                # It may be for another account, so it is never used unasked
                self._report("host_token", msg("input.token_not_passed_on", name=name))
                return ""
            elif environment.on_runner(self._environ):
                key = "input.token_missing_workflow"
            self._report("host_token", msg(key))
        elif not _TOKEN.fullmatch(value):
            key = "input.token_malformed"
            if value.lower().startswith(("bearer ", "token ")):
                key = "input.token_with_scheme"
            elif value.startswith("${{"):
                key = "input.token_expression"
            self._report("host_token", msg(key))
        return value

    def target(self, mode: Mode) -> str:
        value = self._given("target_repo")
        # A workflow passes its own repository if the input is not given
        own = self._environ.get("GITHUB_REPOSITORY", "")
        if self.selection and value and value.lower() != own.lower():
            self._report("target_repo", msg("input.target_twice", value=value))
        is_of_many = self.selection or "target_repos" in self._unreadable
        if is_of_many or (not value and mode is Mode.VALIDATE):
            return value
        several = re.split(r"[,\s]+", value)
        close = targets.repository_meant(value)
        if not value:
            self._report("target_repo", msg("input.target_missing"))
        elif "*" in close or (len(several) > 1 and all(map(targets.repository_meant, several))):
            self._report("target_repo", msg("input.target_pattern", value=value))
        elif not targets.repository(value) and targets.repository(close):
            self._report("target_repo", msg("input.target_meant", value=value, close=close))
        elif not targets.repository(value):
            self._report("target_repo", msg("input.target_malformed", value=value))
        return value

    def choice(self, name: str) -> str:
        """Return the valid value of an input. Report any other value, and return the default."""
        known = INPUTS[name]
        value = self._given(name)
        if accepted := known.accepted(value):
            return accepted
        if not (value or known.default):
            return ""
        self._report_unknown(name, value)
        return known.default

    def _report_unknown(self, name: str, value: str) -> None:
        """Report a value of an input that is none of its valid values."""
        values = {"name": name, "value": value, "accepted": INPUTS[name].choices}
        if close := closest(value.lower(), INPUTS[name].choices):
            self._report(name, msg("input.unknown_value_close", close=close, **values))
        else:
            self._report(name, msg("input.unknown_value", **values))

    def check_language(self) -> None:
        """Report an unknown language. `environment.languages` has already chosen the language."""
        name = "language"
        value = self._given(name)
        if value and not INPUTS[name].accepted(value):
            values = {"name": name, "value": value, "accepted": INPUTS[name].choices}
            self._report(name, msg("input.unknown_language", **values))

    def fail_on(self) -> frozenset[FailOn]:
        """Return the valid values of ``fail_on``, and report the others."""
        name = "fail_on"
        given = [each.lower() for each in self.names(name)]
        accepted = INPUTS[name].choices
        for value in given:
            if value not in accepted:
                self._report_unknown(name, value)
        return frozenset(FailOn(value) for value in given if value in accepted)

    def ref(self, mode: Mode, fail_on: frozenset[FailOn]) -> str:
        """Return the reference to read in place of the default branch.

        Report it in a run that writes, and in a run over many repositories.
        """
        value = self._given("ref")
        if FailOn.REMOVED in fail_on and not value:
            self._report("fail_on", msg("input.removed_without_ref"))
        if value and not mode.only_reads:
            self._report("ref", msg("input.ref_with_register"))
        if value and self.selection:
            self._report("ref", msg("input.ref_with_many"))
        if value and _NO_BRANCH.search(value):
            self._report("ref", msg("input.ref_malformed", value=value))
        return value

    def warnings(self, mode: Mode) -> tuple[Message, ...]:
        # A workflow passes the default, too
        if self._given("fail_on") != FailOn.MISSING and mode is not Mode.CHECK:
            self._warnings.append(msg("input.fail_on_unused", mode=mode))
        return tuple(self._warnings)

    def profile(self) -> str:
        """Return the name of the built-in list; empty if the list is the caller's own."""
        if self._given("profile"):
            return self.choice("profile")
        if not self._given("definitions") and "definitions" not in self._unreadable:
            self._report("profile", msg("input.no_list", accepted=INPUTS["profile"].choices))
        return ""

    def switch(self, name: str) -> bool:
        return self.choice(name) == "true"

    def template(self, name: str) -> str:
        """Return an input that may have placeholders."""
        value = self._given(name)
        for message in templates.diagnostics(name, value, INPUTS[name].placeholders):
            self._report(name, message)
        self._warn_of_doubled(name, value)
        return value

    def template_text(self, name: str, most: int) -> str:
        """Return an input that may have placeholders and at most ``most`` characters."""
        value = self.template(name)
        if len(value) > most:
            self._report(name, msg("input.too_long", name=name, most=most))
        return value

    def template_line(self, name: str) -> str:
        """Return an input that may have placeholders, and that is a single line."""
        value = self.template_text(name, LINE_CHARACTERS)
        if "\n" in value or "\r" in value:
            self._report(name, msg("input.several_lines", name=name))
        return value

    def message(self, name: str) -> str:
        """Return a commit message of one or several lines."""
        value = self.template_text(name, BODY_CHARACTERS)
        if len(templates.CommitTemplate.of(value).headline) > LINE_CHARACTERS:
            self._report(name, msg("input.headline_too_long", name=name, most=LINE_CHARACTERS))
        return value

    def branch(self, profile: str) -> str:
        earlier = len(self.diagnostics)
        value = self.template("branch")
        if not value or len(self.diagnostics) > earlier:
            return value
        target = targets.repository(self._given("target_repo"))
        values = target.groupdict() if target else {"owner": "o", "repo": "r"}
        values["repo"] = templates.for_branch(values["repo"])
        lists = [each.name for each in profiles.chosen(profile)] or [profiles.UNNAMED]
        names = [templates.fill(value, values | {"profile": each}) for each in lists]
        if len(set(names)) < len(lists):
            self._report("branch", msg("input.branch_with_all", value=value))
        for name in dict.fromkeys(names):
            if message := branch_diagnostic(name):
                self._report("branch", message)
        return value

    def base(self) -> str:
        """Return the name of the base branch, which has no placeholders."""
        value = self._given("base")
        if value and (message := branch_diagnostic(value, "base")):
            self._report("base", message)
        return value

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of an input, which are separated by commas or line breaks, once each.

        An array is an error, because its brackets, quotes and hyphens would become parts of names.
        """
        value = self._given(name)
        names = _once(_NAMES.findall(value))
        if _ARRAY.fullmatch(value) or any(map(_ITEM.fullmatch, names)):
            self._report(name, msg("input.array", name=name, value=Excerpt(value)))
            return _once(re.sub(r"^[-*]\s+", "", each).strip("[]\"' ") for each in names)
        return names

    def filled_names(self, name: str) -> tuple[str, ...]:
        """Return names that may have placeholders of custom properties.

        A name without any placeholder of registrar may contain braces.
        """
        names = self.names(name)
        known = tuple(f"{{{each}}}" for each in INPUTS[name].placeholders)
        if found := _OTHER_PLACEHOLDER.search(self._given(name)):
            values = {"name": name, "unknown": found[0], "known": known}
            self._report(name, msg("input.template_unknown", **values))
        for each in filter(templates.names_property, names):
            for message in templates.diagnostics(name, each, INPUTS[name].placeholders):
                self._report(name, message)
        self._warn_of_doubled(name, self._given(name))
        return names

    def labels(self) -> tuple[str, ...]:
        """Return the labels, and report every label that GitHub would refuse as too long."""
        labels = self.filled_names("labels")
        for each in labels:
            if len(each) > _MOST_OF_LABEL and not templates.names_property(each):
                values = {"value": Excerpt(each), "most": _MOST_OF_LABEL}
                self._report("labels", msg("input.label_too_long", **values))
        return labels

    def _warn_of_doubled(self, name: str, value: str) -> None:
        if doubled := templates.doubled(value, INPUTS[name].placeholders):
            self._warnings.append(msg("input.doubled", name=name, **doubled._asdict()))

    def people(self, name: str, form: re.Pattern[str] = _LOGIN) -> tuple[str, ...]:
        """Return logins, which are given as ``name`` or ``@name``.

        Report every name of another form, because GitHub would refuse it only after the files were
        written. A placeholder may stand for any name.
        """
        people = _once(each.removeprefix("@") for each in self.filled_names(name))
        key = "input.no_login" if form is _LOGIN else "input.no_team"
        for each in people:
            if not (form.fullmatch(each) or "{" in each or "}" in each):
                self._report(name, msg(key, name=name, value=Excerpt(each)))
        return people

    def teams(self) -> tuple[str, ...]:
        """Return slugs of teams, which are given as ``team``, ``@team``, ``org/team`` or
        ``@org/team``.

        The organisation must be the owner of every target, because GitHub accepts only the slug of
        a team in the repository's organisation (peter-evans/create-pull-request#130).
        """
        owners: tuple[str, ...] = (self._given("target_repo").partition("/")[0].casefold(),)
        if self.selection:
            owners = self.selection.all_owners
        slugs = []
        for team in self.people("team_reviewers", _TEAM):
            organisation, _, slug = team.rpartition("/")
            if organisation and {organisation.casefold()} != set(owners):
                message = msg("input.team_elsewhere", value=team, owner=owners)
                self._report("team_reviewers", message)
            slugs.append(slug)
        return _once(slugs)

    def api_url(self) -> str:
        value = self._given("api_url") or DEFAULT_API_URL
        if message := api_url_diagnostic(value):
            self._report("api_url", message)
        return value.rstrip("/")

    def require_selection(self, *names: str) -> None:
        """Report the inputs that would be ignored, because they are only for many repositories.

        A workflow passes their defaults, too.
        """
        in_workflow = environment.on_runner(self._environ)
        for name in () if self.selection else names:
            value = environment.value_of(self._environ, name)
            if value and not (in_workflow and value == INPUTS[name].default):
                self._report(name, msg("input.only_for_many", name=name))

    def minutes(self, name: str) -> float:
        value = self._given(name)
        if _MINUTES.fullmatch(value) and float(value) <= MOST_MINUTES:
            return float(value)
        self._report(name, msg("input.minutes", name=name, value=value, most=MOST_MINUTES))
        return 0.0

    def max_pull_requests(self) -> int:
        value = self._given("max_pull_requests")
        if _COUNT.fullmatch(value):
            return int(value)
        self._report("max_pull_requests", msg("input.max_pull_requests", value=value))
        return 0

    def commit_strategy(self) -> CommitStrategy:
        """Return how files are committed.

        Over many repositories always in a single commit, because one for each file would take
        hours. The default at a reference is ``single``, too: nothing is written there, but the
        query of this strategy can tell files from links and submodules.
        """
        name = "commit_strategy"
        value = self.choice(name) if self._given(name) else ""
        if self.selection and value == CommitStrategy.PER_FILE:
            self._report(name, msg("input.per_file_with_many"))
        if self._given("ref") and value == CommitStrategy.PER_FILE:
            self._report(name, msg("input.per_file_with_ref"))
        if self.selection or (not value and self._given("ref")):
            return CommitStrategy.SINGLE
        return CommitStrategy(value or CommitStrategy.PER_FILE)

    def definitions(self, profile: str) -> str:
        name = self._given("definitions")
        if name and profile:
            self._report("definitions", msg("input.definitions_with_profile"))
        if _ADDRESS.match(name):
            self._report("definitions", msg("input.definitions_address", value=name))
        return name

    def _given(self, name: str) -> str:
        """Return the value of an input, or its default; empty if the value is not UTF-8."""
        if name in self._unreadable:
            return ""
        return environment.value_of(self._environ, name) or INPUTS[name].default

    def _report(self, name: str, message: Message) -> None:
        """Add a diagnostic, unless the input has one already because its value is not UTF-8."""
        if name not in self._unreadable:
            self.diagnostics.append(message)


def _once(values: Iterable[str]) -> tuple[str, ...]:
    stripped = (value.strip() for value in values)
    return tuple(dict.fromkeys(value for value in stripped if value))


def api_url_diagnostic(url: str) -> Message | None:
    """Explain why the API cannot be at ``url``; ``None`` if it can.

    The message does not repeat an address that may contain a user and a password, because everybody
    who reads the log would see them.
    """
    if "@" in unquote(unquote(url)):
        return msg("input.api_url_login")
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return msg("input.api_url_malformed", value=url)
    clean = re.fullmatch(r"[!-\[\]-~]+", url)
    extra = parts.query or parts.fragment
    if parts.scheme not in {"http", "https"} or not host or extra or not clean:
        return msg("input.api_url_malformed", value=url)
    if parts.scheme == "http" and not is_loopback(host):
        return msg("input.api_url_plain_http", value=url)
    is_other = _OTHER_HOST.search(host) or _OTHER_PATH.search(parts.path)
    if is_other or not _is_api_path(host, parts.path.rstrip("/")):
        key = "input.api_url_other" if is_other else "input.api_url_path"
        return msg(key, value=url, close=_api_root(parts))
    return None


def _is_api_path(host: str, path: str) -> bool:
    """Whether the root of GitHub's REST API can have this path on ``host``.

    On an Enterprise Server it is ``/api/v3``
    (https://docs.github.com/en/enterprise-server@latest/rest/using-the-rest-api).
    """
    if host in _WEB_HOSTS or host.endswith(_CLOUD):
        return host.startswith("api.") and not path
    return path.endswith("/api/v3") or (not path and is_loopback(host))


def _api_root(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if host in _WEB_HOSTS:
        return DEFAULT_API_URL
    if host.endswith(_CLOUD):
        return f"https://api.{host.removeprefix('api.')}"
    return f"{parts.scheme}://{parts.netloc}/api/v3"
