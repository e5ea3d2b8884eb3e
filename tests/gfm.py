"""Render Markdown with GitHub's own library, and take the result apart."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options

OURS = re.compile(
    # Pages of a repository at the stand-in, GitHub's documentation, and GitHub's status page
    r"http://127\.0\.0\.1:\d+/[\w.-]+/[\w.-]+/(pull/\d+(/commits)?|commit/[0-9a-f]{40}|compare/[\w./%?&=-]+)"
    r"|https://docs\.github\.com/[\w./@-]+|https://www\.githubstatus\.com"
)
TAGS = {"p", "br", "code", "a", "strong", "h2", "blockquote", "details", "summary", "pre"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td", "ul", "li", "input"}
ATTRIBUTES = frozenset(
    [("open", None), ("lang", "diff"), ("type", "checkbox"), ("checked", ""),
     ("disabled", "")]
)  # fmt: skip
# Text that GitHub turns into a mention, a reference or a link, unless it is code
REFERENCE = re.compile(r"@\w|#\d|GH-\d|://", re.IGNORECASE)
COMMENT = re.compile(
    r"registrar:(begin|end|withdrawn|needless|list [0-9a-f]{10}"
    r"|many|wrote( [0-9a-f]{10,20})*)"
)


INVISIBLE = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)


@dataclass
class Page(HTMLParser):
    """A piece of Markdown as a reader sees it."""

    markdown: str
    links: list[str] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    attributes: set[tuple[str, str | None]] = field(default_factory=set)
    comments: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    """The texts of the cells of all tables, row by row, with the headings."""
    items: list[str] = field(default_factory=list)
    """The texts of the items of all lists."""
    prose: str = ""
    """The text that is neither code nor part of a link."""
    text: str = ""
    html: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []
        self.html = cmarkgfm.github_flavored_markdown_to_html(
            self.markdown, Options.CMARK_OPT_UNSAFE
        )
        self.feed(self.html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(name, value) for name, value in attrs if name != "href"}
        self.links += [value or "" for name, value in attrs if name == "href"]
        if tag in {"br", "input"}:
            self.text += "\n" if tag == "br" else ""
            return
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")
        elif tag == "li":
            self.items.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_comment(self, data: str) -> None:
        self.comments.append(data.strip())

    def handle_data(self, data: str) -> None:
        self.text += data
        if not {"code", "pre", "a"} & set(self._open):
            self.prose += data
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data
        if "li" in self._open:
            self.items[-1] += data

    @property
    def columns(self) -> set[int]:
        """The numbers of cells that rows have."""
        return {len(row) for row in self.rows}

    @property
    def paths(self) -> dict[str, list[str]]:
        """The other cells of each row in the table of paths, by path; empty without the table."""
        heading = next((n for n, row in enumerate(self.rows) if row[0] in {"Path", "パス"}), None)
        return {} if heading is None else {row[0]: row[1:] for row in self.rows[heading + 1 :]}


def only_ours(markdown: str, *, answered: str = "") -> Page:
    """Check that Markdown has only our own markup, links and comments; return the page.

    Links that begin with ``answered`` are allowed, too, because GitHub has given this address.
    """
    page = Page(markdown)
    assert page.tags <= TAGS, page.tags - TAGS
    assert page.attributes <= ATTRIBUTES, page.attributes - ATTRIBUTES
    for link in page.links:
        assert OURS.fullmatch(link) or (answered and link.startswith(answered)), link
    assert not REFERENCE.search(page.prose), REFERENCE.search(page.prose)
    assert all(COMMENT.fullmatch(comment) for comment in page.comments), page.comments
    shown = page.text.replace("\u200b", "")
    assert not INVISIBLE.search(shown)
    return page
