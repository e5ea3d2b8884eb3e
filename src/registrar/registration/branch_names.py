"""The names that the working branch of a list may have, and those that it must not have."""

from registrar.errors import Refused
from registrar.texts.messages import msg

LAST_SUFFIX = 50
"""The highest number in the names with `-2`, `-3` … that are tried. It is limited because reading a
name costs requests. A list whose pull requests were merged, and whose branches were all kept, needs
a new name after each merge. After the last name, the run ends with an error that says to delete
branches."""


def branch_names(branch: str, default_branch: str, base_branch: str) -> list[str]:
    """Return the names of the branches that may be written to, the best one first.

    Names that may be the default branch or the base branch are left out. Raises `Refused` if the
    first name, ``branch``, is one of these.
    """
    require_working_branch(branch, default_branch, base_branch)
    first, *later = names_of(branch)
    others = {_short(default_branch), _short(base_branch)}
    return [first, *(name for name in later if _short(name) not in others)]


def names_of(branch: str) -> list[str]:
    """Return all names that a run tries for the working branch, the best one first."""
    return [branch, *(f"{branch}-{suffix}" for suffix in range(2, LAST_SUFFIX + 1))]


def require_working_branch(name: str, default_branch: str, base_branch: str) -> None:
    """Raise `Refused` if a branch may be the default branch or the base branch."""
    if is_same(name, default_branch):
        raise Refused(msg("preflight.branch_is_default", branch=name))
    if is_same(name, base_branch):
        raise Refused(msg("preflight.branch_is_base", branch=name))


def is_same(one: str, other: str) -> bool:
    """Whether both names may mean the same branch, because git also finds ``main`` as
    ``heads/main``.

    See https://git-scm.com/docs/gitrevisions, "<refname>".
    """
    return _short(one) == _short(other)


def _short(name: str) -> str:
    while name.startswith(("refs/", "heads/")):
        name = name.partition("/")[2]
    return name
