"""The built-in lists, and what each list comes with: a branch and texts."""

from pathlib import Path

from registrar.models.settings import Profile

ALL = "all"
UNNAMED = "missing"
"""Stands where a list of the caller's own gives no name."""

CONFIG = Path(__file__).parents[3] / "scripts" / "config"
"""Where the built-in lists are: a fixed place, so that users of the commands can edit them."""


def of_list(name: str, definitions: str = "") -> Profile:
    """Give what a list comes with by its name alone; one of the caller's own has nothing else."""
    return Profile(
        name,
        branch=f"chore/add-{name}-files",
        title=f"chore: add {name} files",
        definitions=definitions,
    )


SCAFFOLD = of_list("scaffold", "repo-scaffold-definitions.json")
HEALTH = Profile(
    name="health",
    branch="chore/add-community-health-files",
    title="docs: add community health files",
    commit_message="docs: add {path}",
    definitions="repo-health-file-definitions.json",
    content_allowed=False,
)
STARTER = of_list("starter", "repo-starter-definitions.yml")

PROFILES = {profile.name: profile for profile in (SCAFFOLD, HEALTH, STARTER)}
BOTH = (HEALTH, SCAFFOLD)
"""Those of `ALL`, in the order of the run. Each of them has a command, too."""
CHOICES = (*PROFILES, ALL)


def chosen(name: str) -> tuple[Profile, ...]:
    """What the input ``profile`` names; without one, the list is the caller's own.

    Its file is not read here, so it has no name yet.
    """
    if not name:
        return (of_list(UNNAMED),)
    return BOTH if name == ALL else (PROFILES[name],)
