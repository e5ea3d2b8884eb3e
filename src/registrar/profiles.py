"""The two profiles: each has a list, a branch and texts; the code is the same."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ALL = "all"

_CONFIG = Path(__file__).parents[2] / "scripts" / "config"


class Profile(NamedTuple):
    """What distinguishes one list from the other."""

    name: str
    definitions: Path
    branch: str
    commit_message: str
    title: str
    content_allowed: bool
    """Whether its own list, and any array, may have content; else every file is empty."""


SCAFFOLD = Profile(
    name="scaffold",
    definitions=_CONFIG / "repo-scaffold-definitions.json",
    branch="chore/add-scaffold-files",
    commit_message="chore: add {path}",
    title="chore: add scaffold files",
    content_allowed=True,
)
HEALTH = Profile(
    name="health",
    definitions=_CONFIG / "repo-health-file-definitions.json",
    branch="chore/add-community-health-files",
    commit_message="docs: add {path}",
    title="docs: add community health files",
    content_allowed=False,
)

PROFILES = {profile.name: profile for profile in (SCAFFOLD, HEALTH)}
CHOICES = (*PROFILES, ALL)


def chosen(name: str) -> tuple[Profile, ...]:
    """Profiles to register for the input ``profile``, in the order of the run."""
    return (HEALTH, SCAFFOLD) if name == ALL else (PROFILES[name],)
