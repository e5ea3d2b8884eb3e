"""The built-in lists, and the default texts of lists."""

from pathlib import Path

from registrar.models.settings import Defaults, Profile

ALL = "all"
UNNAMED = "missing"
"""The name of a caller's own list that gives none."""

_IN_PACKAGE = Path(__file__).parents[1] / "config"
IS_INSTALLED = _IN_PACKAGE.is_dir()
"""Whether registrar is an installed package, not a checkout."""
CONFIG = _IN_PACKAGE if IS_INSTALLED else Path(__file__).parents[3] / "scripts" / "config"
"""The directory of the built-in lists. In a checkout it does not change, because users of the
scripts edit the lists there; a package has a copy of it (`pyproject.toml`)."""


def defaults_of(name: str) -> Defaults:
    """Return the default texts of a list with this name."""
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
STARTER = Profile(defaults_of("starter"), "repo-starter-definitions.yml", has_fixed_requests=False)

PROFILES = {profile.name: profile for profile in (SCAFFOLD, HEALTH, STARTER)}
BOTH = (HEALTH, SCAFFOLD)
"""The lists of `ALL`, in the order of the run. Each of them also has a command."""
CHOICES = (*PROFILES, ALL)


def chosen(name: str) -> tuple[Profile, ...]:
    """Return the built-in lists that the input ``profile`` names; none if it is empty."""
    if not name:
        return ()
    return BOTH if name == ALL else (PROFILES[name],)
