"""Markdown that step summary and pull request share: tables of paths, folded parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from registrar.models.result import Done, FileResult, RegistrationResult
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message, msg

ROWS_UNFOLDED = 10
"""A table with more rows is folded."""
DESCRIPTION_CHARACTERS = 300
"""A longer description of a file is cut where it is shown in a table."""
_URGENCY = (
    Done.FAILED,
    Done.UNKNOWN,
    Done.CREATED,
    Done.NOTHING,
    Done.PENDING,
    Done.SKIPPED,
)


def by_urgency(
    files: Sequence[FileResult], done: Callable[[FileResult], Done] = lambda file: file.done
) -> list[FileResult]:
    """What failed, then what was created, then the rest; each in the order of the list."""
    return sorted(files, key=lambda file: _URGENCY.index(done(file)))


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def path_table(
    files: Sequence[FileResult],
    catalogue: Catalogue,
    state: Callable[[FileResult], Message],
    commits: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """A row for each path after two of heading; ``commits`` (path -> link) adds a column."""
    names = ["table.path", "table.state", "table.description"]
    names += ["table.commit"] if commits else []
    yield row(*(catalogue.text(msg(name)) for name in names))
    yield row(*("---" for _ in names))
    for file in files:
        definition = file.definition
        cells = [
            code(definition.path, catalogue),
            catalogue.text(state(file), escaping.for_markdown_code),
            description(definition.description, catalogue),
        ]
        cells += [commits.get(definition.path, "")] if commits else []
        yield row(*cells)


def code(text: str, catalogue: Catalogue) -> str:
    """A path or another value from outside, as code: exactly as it is."""
    return catalogue.shown(text, escaping.for_markdown_code)


def description(text: str, catalogue: Catalogue) -> str:
    """The description of a file, in the language of the run where there is a translation."""
    shown = catalogue.description(text)
    if len(shown) > DESCRIPTION_CHARACTERS:
        shown = f"{catalogue.shown(shown, str)[:DESCRIPTION_CHARACTERS]}…"
    return catalogue.shown(shown, escaping.for_markdown)


def commit_link(registration: RegistrationResult, commit: str, catalogue: Catalogue) -> str:
    """A link to a commit of the repository, by its short id."""
    target = escaping.for_link(
        catalogue.shown(f"{registration.repository.html_url}/commit/{commit}", str)
    )
    return f"[{code(commit[:7], catalogue)}]({target})"


def folded(title: str, lines: Sequence[str], *, is_open: bool = False) -> list[str]:
    """Lines behind a title that a reader opens."""
    tag = "<details open>" if is_open else "<details>"
    return [tag, f"<summary>{title}</summary>", "", *lines, "", "</details>", ""]


def quoted(text: str) -> list[str]:
    return [*(f"> {line}" for line in text.splitlines()), ""]
