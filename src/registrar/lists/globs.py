"""Patterns of paths: ``*`` and ``?`` match within a part, ``**`` matches any number of parts."""

from collections.abc import Callable, Iterable, Sequence

from registrar.models.conditions import matches


def matching(
    paths: Iterable[str], glob: str, part_matches: Callable[[str, str], bool] = matches
) -> set[str]:
    """Return the paths that ``glob`` matches as a whole.

    ``part_matches`` says whether a pattern matches one part of a path.
    """
    parts = glob.split("/")
    # Several `**` in a row mean the same as one
    pairs = zip(parts, ["", *parts], strict=False)
    parts = [part for part, before in pairs if not part == before == "**"]
    return {path for path in paths if _matches(parts, path.split("/"), part_matches)}


def _matches(
    glob: Sequence[str], path: Sequence[str], part_matches: Callable[[str, str], bool]
) -> bool:
    # The numbers of parts of the path that the glob can match up to here, so that no combination is
    # tried twice
    reached = {0}
    for part in glob:
        if part == "**":
            reached = set(range(min(reached), len(path) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(path) and part_matches(part, path[at])}
        if not reached:
            return False
    return len(path) in reached
