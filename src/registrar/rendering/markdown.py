"""The Markdown of step summaries and pull requests: tables of paths, folded parts."""

from collections.abc import Callable, Iterable, Sequence

from registrar.models.paths import Done, ListedPath
from registrar.texts import escaping
from registrar.texts.messages import Catalogue, Message, msg

ROWS_UNFOLDED = 10
"""A table with more rows is folded."""
DESCRIPTION_CHARACTERS = 300
"""A table cuts a longer description of a file."""


def by_urgency(
    files: Iterable[ListedPath], done: Callable[[ListedPath], Done] = lambda file: file.done
) -> list[ListedPath]:
    """Return the files in the order of `Done`, failed ones first, then in the order of the list."""
    order = list(Done)
    return sorted(files, key=lambda file: order.index(done(file)))


class Markdown:
    """Markdown in the language of a catalogue, in which no value from outside acts as markup."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def text(self, *messages: Message) -> str:
        """Return sentences one after the other."""
        return self.catalogue.sentences(messages, escaping.for_markdown_code)

    def line(self, message: Message) -> str:
        """Return a sentence on one line, for the cell of a table or the item of a list."""
        return self.text(message).replace("\n", "<br>")

    def code(self, text: str) -> str:
        """Return a path or another value from outside as code, exactly as it is."""
        return self.catalogue.shown(text, escaping.for_markdown_code)

    def description(self, text: str) -> str:
        """Return the description of a file, in the language of the run if it has a translation."""
        shown = self.catalogue.description(text)
        if len(shown) > DESCRIPTION_CHARACTERS:
            shown = f"{self.catalogue.shown(shown, str)[:DESCRIPTION_CHARACTERS]}…"
        return self.catalogue.shown(shown, escaping.for_markdown)

    def quoted(self, message: Message) -> list[str]:
        return [*(f"> {line}" for line in self.text(message).splitlines()), ""]

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
        """Return the lines of a table; the first two are its heading.

        ``headings`` are keys of the catalogue; ``rows`` have the cells in Markdown.
        """
        heading = [self.text(msg(key)) for key in headings]
        lines = (heading, ["---"] * len(heading), *rows)
        return [f"| {' | '.join(cells)} |" for cells in lines]

    def path_table(
        self, files: Iterable[ListedPath], state: Callable[[ListedPath], Message]
    ) -> list[str]:
        """Return the lines of a table with a row for each path."""
        cells = (
            [
                self.code(file.path),
                self.text(state(file)),
                self.description(file.definition.description),
            ]
            for file in files
        )
        return self.table(["table.path", "table.state", "table.description"], cells)


def folded(title: str, lines: Iterable[str], *, is_open: bool = False) -> list[str]:
    """Return lines that are folded under a title until a reader opens it."""
    tag = "<details open>" if is_open else "<details>"
    return [tag, f"<summary>{title}</summary>", "", *lines, "", "</details>", ""]
