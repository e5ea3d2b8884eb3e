"""The values that travel through a run. All of them are frozen."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from registrar.texts import templates
from registrar.texts.escaping import Link
from registrar.texts.messages import Message, msg

TEMPLATE_NAMES = ("owner", "repo", "default_branch")
"""Placeholders of the content of a template."""
EMPTY_FILE = b"\n"
"""An empty file is a single line feed."""


def parents(path: str) -> Iterator[str]:
    """Every directory above ``path``, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


class Mode(StrEnum):
    """What a run does with what is missing."""

    REGISTER = "register"
    PLAN = "plan"
    """Reads only, and shows what would be done."""
    CHECK = "check"
    """Like `PLAN`; a missing file is a failure."""


class CommitStrategy(StrEnum):
    """How missing files are written."""

    PER_FILE = "per-file"
    SINGLE = "single"


@dataclass(frozen=True, slots=True)
class FileDefinition:
    """One file of a definition file: where it belongs, and its bytes."""

    path: str
    content: bytes = EMPTY_FILE
    description: str = ""
    alternatives: tuple[str, ...] = ()
    """Other paths for the same file: where one of them exists, this one counts as present."""
    template: bool = False
    """Whether the content is a template, to be filled in once the repository was read."""

    def filled_in(self, repository: Repository) -> FileDefinition:
        """Give the file as ``repository`` gets it. The same in every run, so that it is known."""
        if not self.template:
            return self
        owner, _, repo = repository.full_name.partition("/")
        names = dict(zip(TEMPLATE_NAMES, (owner, repo, repository.default_branch), strict=True))
        content = templates.fill(self.content.decode(), names).encode()
        return replace(self, content=content, template=False)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it but a line break."""
        return self.content in {b"", EMPTY_FILE, b"\r\n"}

    @property
    def is_placeholder(self) -> bool:
        """Whether somebody has to give it a content: it is blank, or an empty JSON object."""
        return self.content.strip() in {b"", b"{}"}

    @property
    def blob_id(self) -> str:
        """The id under which git stores this content (SHA-1 over ``blob <size>\\0<content>``)."""
        header = b"blob %d\0" % len(self.content)
        return hashlib.sha1(header + self.content, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class RegistrationSpec:
    """One registration to be done."""

    target: str
    """``owner/repo``, as it was given."""
    definitions: tuple[FileDefinition, ...]
    branch: str
    """Name of the working branch, as far as it is free."""
    built_in: bool = True
    """Whether it is the profile's own name, which nobody else is likely to choose."""
    respect_alternatives: bool = False
    """Whether a path counts as present when GitHub would use another file in its place."""
    mode: Mode = Mode.REGISTER
    strategy: CommitStrategy = CommitStrategy.PER_FILE
    falls_back: bool = True
    """Whether files are created one by one where a commit of all is refused."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as GitHub describes it."""

    full_name: str
    """``owner/repo`` in GitHub's own spelling, the new one when it was renamed."""
    default_branch: str
    html_url: str
    archived: bool = False
    can_push: bool | None = None
    """Whether the token's user may push; ``None`` where GitHub does not say."""
    is_fork: bool = False
    node_id: str = ""
    """What GraphQL calls the repository."""

    @property
    def owner(self) -> str:
        """The part before the slash."""
        return self.full_name.partition("/")[0]


@dataclass(frozen=True, slots=True)
class ListedRepository:
    """A repository as GitHub lists it, for a run over many of them."""

    id: int
    """Its number: stays the same when the repository is renamed."""
    node_id: str
    full_name: str
    visibility: str = "public"
    """``public``, ``private`` or ``internal``."""
    archived: bool = False
    disabled: bool = False
    fork: bool = False
    html_url: str = ""
    """Its address for people."""
    language: str = ""
    """The main one; empty where GitHub found none."""
    topics: frozenset[str] = frozenset()


class Exclusion(StrEnum):
    """Why a repository that was found is not worked on."""

    ARCHIVED = "archived"
    DISABLED = "disabled"
    LOCKED = "locked"
    EMPTY = "empty"
    FORK = "fork"
    PATTERN = "excluded"
    """No pattern takes it, or a qualifier leaves it out."""


@dataclass(frozen=True, slots=True)
class PullRequestOptions:
    """What the caller wants of the pull request, apart from its title."""

    body: str = ""
    """Template of the text at the top of the description."""
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    team_reviewers: tuple[str, ...] = ()
    draft: bool = False


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request of the target repository."""

    number: int
    url: str
    body: str = ""
    is_open: bool = True
    merged: bool = False
    head_branch: str = ""
    head_sha: str = ""
    head_repository: str = ""
    base_branch: str = ""
    labels: frozenset[str] = frozenset()
    """In lower case: GitHub ignores the case of labels and of logins."""
    assignees: frozenset[str] = frozenset()
    """Logins in lower case."""

    def has_body(self, text: str) -> bool:
        """Whether the body is ``text``; GitHub's own editor ends lines with CRLF."""
        return _lines(self.body) == _lines(text)

    @property
    def repository(self) -> str:
        """``owner/repo`` as the address has it: the new one when it was renamed meanwhile."""
        return "/".join(self.url.split("/")[-4:-2])

    @property
    def link(self) -> Link:
        """The number as a reader sees it, with its address."""
        return Link(f"#{self.number}", self.url)


class PullRequestOperation(StrEnum):
    """What a run did about its pull request."""

    CREATED = "created"
    UPDATED = "updated"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a commit has beyond another one."""

    merge_base: str
    added: Mapping[str, str] | None
    """Blob ids of the added paths; ``None`` where anything else changed, or too much did."""


@dataclass(frozen=True, slots=True)
class BranchState:
    """A branch that exists: its commit, and the pull requests from it."""

    name: str
    head: str
    pull_requests: tuple[PullRequest, ...]
    """Only those of the repository itself, no fork's; the newest first."""


Directories = Mapping[str, Sequence[str]]
"""The names in some directories (the root is empty); that of a directory ends with a slash."""


@dataclass(frozen=True, slots=True)
class OwnerFiles:
    """What the repository ``.github`` of the target's owner has."""

    directories: Directories
    is_public: bool
    """Else it is internal: what a private one has is not inherited."""


@dataclass(frozen=True, slots=True)
class RepositoryState:
    """What a repository has of the listed paths, all read at the commit ``base_sha``."""

    repository: Repository
    base_sha: str
    entries: Mapping[str, str]
    """Path -> type of what is there: ``blob``, ``tree`` or ``commit``; empty where only presence
    was asked for. A path that is not a key is missing."""
    branch: BranchState | None = None
    """The branch of the working branch's name, where it was looked for."""
    pull_requests: tuple[PullRequest, ...] | None = None
    """Pull requests from a branch of that name, which may be gone; ``None``: not looked for."""
    directories: Directories = field(default_factory=dict[str, tuple[str, ...]])
    owner: OwnerFiles | None = None
    """``None`` where nothing is inherited from the owner, or it was not looked for."""
    unreadable: Message | None = None
    """Why the pull requests could not be read."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a registration has to do."""

    spec: RegistrationSpec
    state: RepositoryState
    definitions: tuple[FileDefinition, ...]
    """The list, its templates filled in for this repository."""
    missing: tuple[FileDefinition, ...]
    """What is to be created, in the order of the list."""
    blocked: Mapping[str, str] = field(default_factory=dict[str, str])
    """Missing paths below something that is no directory, and what that is."""
    satisfied: Mapping[str, Message] = field(default_factory=dict[str, Message])
    """Paths that are not there, and why that is all right."""
    declined: Mapping[str, PullRequest] = field(default_factory=dict[str, PullRequest])
    """Missing paths that somebody declined, and where."""
    other_case: Mapping[str, str] = field(default_factory=dict[str, str])
    """Missing paths, and what exists that differs in letter case only."""

    @property
    def repository(self) -> Repository:
        """The repository that is registered in."""
        return self.state.repository


@dataclass(frozen=True, slots=True)
class NewCommit:
    """A commit to be made: it adds files to a branch that is at the commit ``parent``."""

    branch: str
    parent: str
    headline: str
    body: str
    files: Sequence[FileDefinition]


@dataclass(frozen=True, slots=True)
class NewPullRequest:
    """A pull request to be opened, from ``branch`` to the default branch."""

    branch: str
    title: str
    body: str
    draft: bool = False


@dataclass(frozen=True, slots=True)
class Created:
    """What became of a request for a branch, a commit and a pull request."""

    branch: bool
    commit: str
    """Id of the commit; empty when it was refused."""
    pull_request: PullRequest | None


class State(StrEnum):
    """What became of a listed path."""

    CREATED = "created"
    SKIPPED = "skipped"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """The response to the write never came. Counts as failed."""
    PENDING = "pending"
    """The run ended before it was this path's turn."""
    MISSING = "missing"
    """A run that writes nothing found it missing."""


FAILED_STATES = (State.FAILED, State.UNKNOWN)


@dataclass(frozen=True, slots=True)
class FileResult:
    """A listed path with its state, the reason of the state, and the commit that created it."""

    definition: FileDefinition
    state: State
    reason: Message | None = None
    commit: str = ""
    on_branch: bool = False
    """Whether the working branch brings this path to the default branch."""

    @property
    def cause(self) -> Message | None:
        """The reason as other paths may share it: nothing in it names the path."""
        if self.reason is None:
            return None
        operation, inner = self.reason.values.get("operation"), self.reason.values.get("reason")
        if self.reason.key == "host.failed" and isinstance(inner, Message):
            return inner
        if isinstance(operation, Message) and operation.key == "operation.file":
            values = {**self.reason.values, "operation": msg("operation.files")}
            return Message(self.reason.key, values)
        return self.reason

    @property
    def described(self) -> Message:
        """The state, with its cause where there is one."""
        state = msg(f"state.{self.state}")
        return msg("state.with_reason", state=state, reason=self.cause) if self.cause else state


@dataclass(frozen=True, slots=True)
class RegistrationResult:
    """The result of one profile: what the report is made of."""

    profile: str
    repository: str
    mode: Mode = Mode.REGISTER
    files: tuple[FileResult, ...] = ()
    branch: str = ""
    base_branch: str = ""
    html_url: str = ""
    """Address of the repository for people."""
    missing: int = 0
    """Number of listed files that the default branch lacks."""
    pull_request: PullRequest | None = None
    operation: PullRequestOperation = PullRequestOperation.NONE
    exit_code: int = 0
    error: Message | None = None
    notes: tuple[Message, ...] = field(default=())

    def count(self, *states: State) -> int:
        """Count the paths in one of ``states``."""
        return sum(1 for file in self.files if file.state in states)

    @property
    def created(self) -> int:
        """Number of files that this run has created."""
        return self.count(State.CREATED)

    @property
    def skipped(self) -> int:
        """Number of paths that were left alone."""
        return self.count(State.SKIPPED)

    @property
    def failed(self) -> int:
        """Number of files that could not be created, or whose write was never answered."""
        return self.count(*FAILED_STATES)


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """What is at a path of a commit: git mode (``100644`` …) and object id."""

    mode: str
    sha: str


Tree = Mapping[str, TreeEntry]
"""Every path of a commit, directories left out."""
