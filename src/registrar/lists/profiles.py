"""The built-in lists, and the texts that each list comes with."""

from pathlib import Path

from registrar.models.settings import Defaults, Profile

ALL = "all"
UNNAMED = "missing"
"""Stands where a list of the caller's own gives no name."""

CONFIG = Path(__file__).parents[3] / "scripts" / "config"
"""Where the built-in lists are: a fixed place, so that users of the commands can edit them."""


def defaults_of(name: str) -> Defaults:
    """Give the texts that follow from the name of a list alone."""
    return Defaults(name, branch=f"chore/add-{name}-files", title=f"chore: add {name} files")


SCAFFOLD = Profile(defaults_of("scaffold"), "repo-scaffold-definitions.json")
HEALTH = Profile(
    Defaults(
        "health",
        branch="chore/add-community-health-files",
        title="docs: add community health files",
        commit_message="docs: add {path}",
    ),
    "repo-health-file-definitions.json",
    content_allowed=False,
)
STARTER = Profile(defaults_of("starter"), "repo-starter-definitions.yml")

PROFILES = {profile.name: profile for profile in (SCAFFOLD, HEALTH, STARTER)}
BOTH = (HEALTH, SCAFFOLD)
"""Those of `ALL`, in the order of the run. Each of them has a command, too."""
CHOICES = (*PROFILES, ALL)


def chosen(name: str) -> tuple[Profile, ...]:
    """Give the built-in lists that the input ``profile`` names: none if it is empty."""
    if not name:
        return ()
    return BOTH if name == ALL else (PROFILES[name],)
