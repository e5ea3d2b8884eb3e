"""What a run was asked to do."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from registrar.lists.profiles import Profile
from registrar.models.selection import Selection, Shard
from registrar.models.spec import CommitStrategy, FailOn, Mode, PullRequestOptions
from registrar.texts.messages import Message


class Settings(NamedTuple):
    """What a run was asked to do; every value is valid."""

    token: str
    target: str
    """``owner/repo``, as it was given."""
    selection: Selection | None
    """The repositories of a run over many; then ``target`` is ignored."""
    max_pull_requests: int
    """How many pull requests a run over many repositories opens at most."""
    max_seconds: float
    """After this time a run over many repositories begins nothing new."""
    shard: Shard | None
    """Part of the repositories that a run over many works on; ``None``: all of them."""
    profiles: tuple[Profile, ...]
    """One for each list: what it comes with."""
    workspace: Path
    """The checkout of the caller: no file outside of it is read."""
    definitions: str
    """The caller's own definition file, from the workspace; empty: the profile's own."""
    respect_alternatives: bool
    """Whether a file counts as present where GitHub itself would find it."""
    mode: Mode
    fail_on: frozenset[FailOn]
    """What fails a run in `Mode.CHECK`."""
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
    in_workflow: bool
    """Whether a workflow runs us."""
    workflow_repository: str
    """The repository whose workflow runs us (``GITHUB_REPOSITORY``), or nothing."""
    event: Path | None
    """The file that describes what started the workflow (``GITHUB_EVENT_PATH``)."""
    run_url: str
    """Address of the workflow run, or nothing."""
    action_url: str
    """Address of the action's repository, or nothing."""
    warnings: tuple[Message, ...] = ()
    """What is worth a warning, though the run goes on."""

    @property
    def part(self) -> Shard:
        """The part of the repositories that a run over many works on."""
        return self.shard or Shard()

    def __repr__(self) -> str:
        """Without the token."""
        return f"Settings(target={self.target!r})"
