"""The journal of the stand-in: everything that anybody did to a repository, in its order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from .repository import Repository

Kind: TypeAlias = Literal["registrar", "person", "tool"]


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody who does something: registrar, a person, or another tool.

    `token` is the value of the token with which a client did it; None if a test did it with a verb.
    """

    kind: Kind
    token: str | None = None


PERSON = Actor("person")
REGISTRAR = Actor("registrar")


class Change(NamedTuple):
    """A path that a commit changed, with the ids of its blobs; None stands for no file."""

    path: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that was done to a repository.

    `number` is its place among all entries of the host, `at` the time of the host's clock.
    """

    number: int
    at: float
    actor: Actor
    repository: Repository


@dataclass(frozen=True, slots=True)
class Write(Entry):
    """A branch or another reference was moved from the commit `old` to `new`.

    None stands for a reference that did not exist, or that does not exist any more. `branch` is the
    name without ``refs/heads/``; other references have their full name.
    """

    branch: str
    old: str | None
    new: str | None

    @property
    def changes(self) -> list[Change]:
        """The paths that differ between both commits; none if the reference is new or gone."""
        if self.old is None or self.new is None:
            return []
        return self.repository.changed(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Act(Entry):
    """Something that was done to a pull request or to the repository itself.

    `verb` is `open`, `close`, `reopen`, `merge` or `edit` for a pull request; for a repository it
    is `change`, `rename` or `delete`. `before` and `after` hold the attributes that it changed.
    """

    verb: str
    pull_request: int | None = None
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)


class Journal:
    """The entries of all repositories of a host."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._entries: list[Write | Act] = []

    def __iter__(self) -> Iterator[Write | Act]:
        return iter(list(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def of(self, repository: Repository) -> list[Write | Act]:
        """Return the entries of one repository."""
        return [each for each in self if each.repository is repository]

    def write(
        self, actor: Actor, repository: Repository, name: str, old: str | None, new: str | None
    ) -> None:
        """Add the move of a reference, which has its full name."""
        with self._lock:
            number, branch = len(self._entries), name.removeprefix("refs/heads/")
            self._entries.append(Write(number, self._now(), actor, repository, branch, old, new))

    def act(
        self,
        actor: Actor,
        repository: Repository,
        verb: str,
        pull_request: int | None = None,
        *,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> None:
        """Add something that was done to a pull request or to a repository."""
        with self._lock:
            number, told = len(self._entries), (before or {}, after or {})
            self._entries.append(
                Act(number, self._now(), actor, repository, verb, pull_request, *told)
            )

    def forget(self, since: int) -> None:
        """Remove the entries from this number on, because they were undone."""
        with self._lock:
            del self._entries[since:]
