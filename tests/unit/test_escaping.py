"""Escaping: whatever text comes, it stays text where it lands."""

from __future__ import annotations

import html
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from registrar.texts import escaping
from tests.harness import read_command, unescaped

# Any text, and text that is made of what means something somewhere
anything = st.text() | st.lists(
    st.sampled_from([
        "::", "##[", "error", " ", "]", "%0A", "%", "\r", "\n", "\u2028", "\u0085", "\u202e",
        "\u200b", "\x1b[31m", "@", "octo", "#", "1", "GH-", "Fixes ", "https://", "www.", "|",
        "`", "<", ">", "&", "&lt;", "\\", "[", "(", ")", "*", "_", "~", "skip ci", "]", "x",
        "set-output name=a", ":", ",", "=", "\ud800", "$", "!", "\t",
    ]),
    max_size=12,
).map("".join)  # fmt: skip
INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def invisible(text: str) -> list[str]:
    """The characters that nobody sees; the zero-width space that we put in ourselves is none."""
    return [c for c in text if unicodedata.category(c) in INVISIBLE and c != "\u200b"]


@given(anything)
def test_visible_shows_every_character(text: str) -> None:
    shown = escaping.show_control_characters(text)
    assert not invisible(shown)
    assert "\u200b" not in shown
    if text.isprintable():
        assert shown == text


@given(anything)
@example("##[error]a")
@example(" ##[##[error]a")
@example(" \t::error::a")
@example("\u3000::error::a")
@example("\u0085::error::a")
@example("###[[error]a")
def test_a_console_line_is_one_line_without_a_command(text: str) -> None:
    line = escaping.for_console(text)
    assert len(line.splitlines()) <= 1
    assert not invisible(line)
    assert read_command(line) is None
    assert not line.lstrip().startswith("::")
    assert "##[" not in line


@given(anything)
def test_command_data_comes_back_as_it_was_shown(text: str) -> None:
    data = escaping.for_command_data(text)
    assert len(data.splitlines()) <= 1
    assert not invisible(data)
    back = unescaped(data, {"%0D": "\r", "%0A": "\n"})
    assert back.split("\n") == [
        escaping.show_control_characters(line) for line in text.replace("\r\n", "\n").split("\n")
    ]


@given(anything)
def test_a_command_says_what_it_was_given_and_nothing_else(text: str) -> None:
    place, data = escaping.for_command_property(text), escaping.for_command_data(text)
    line = f"::error file={place},line=1::{data}"
    command = read_command(line)
    assert command
    assert command.name == "error"
    assert set(command.properties) == {"file", "line"} or not text.strip()
    assert command.properties["line"] == "1"


@given(anything)
def test_code_shows_the_text_and_holds_no_markup(text: str) -> None:
    shown = escaping.for_markdown_code(text)
    inside = shown.removeprefix("<code>").removesuffix("</code>")
    assert f"<code>{inside}</code>" == shown
    assert not re.search(r"[<>|`*_~\[\]()\\@:\n]|#(?!\d+;)|&(?!#\d+;)", inside)
    assert not invisible(inside)
    assert html.unescape(inside) == escaping.show_control_characters(text)


@given(anything)
def test_prose_shows_the_text_and_holds_no_markup(text: str) -> None:
    shown = escaping.for_markdown(text)
    assert not re.search(r"[<>|`*_~\[\]()\\@:\n]|#(?!\d+;)|&(?!#\d+;)", shown)
    assert not invisible(shown)
    assert html.unescape(shown).replace("\u200b", "") == escaping.show_control_characters(text)


@given(anything)
def test_prose_mentions_nobody_once_it_is_rendered(text: str) -> None:
    """The host looks for mentions and references in the rendered text."""
    seen = html.unescape(escaping.for_markdown(text))
    assert not re.search(r"@\w|#\d|\bGH-\d|://", seen, re.IGNORECASE)


@given(anything)
def test_plain_is_one_line_without_mention_reference_or_instruction(text: str) -> None:
    line = escaping.for_commit(text)
    assert len(line.splitlines()) <= 1
    assert not invisible(line)
    assert not re.search(r"@\w|#\d|\bGH-\d|://", line, re.IGNORECASE)
    skip = r"\[(skip ci|ci skip|no ci|skip actions|actions skip)\]|\bskip-checks:"
    assert not re.search(skip, line, re.IGNORECASE)


@given(st.text("abcXYZ019-_./ ()日本語", max_size=30))
def test_ordinary_names_stay_as_they_are(text: str) -> None:
    assert escaping.for_console(text) == escaping.show_control_characters(text) == text
    assert escaping.for_commit(text).replace("\u200b", "") == text


@given(anything)
def test_an_address_ends_neither_its_link_nor_its_line(text: str) -> None:
    if "\ud800" in text or any(unicodedata.category(c) == "Cs" for c in text):
        return
    address = escaping.for_link(f"https://example.com/{text}")
    assert address.startswith("https://example.com/")
    assert not re.search(r"[\s()<>\[\]|`\"\\]", address)


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//x", "", "HTTP://x"])
def test_nothing_else_becomes_an_address(url: str) -> None:
    assert escaping.for_link(url) == ""


@given(
    st.from_regex(r"(ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{36}", fullmatch=True)
    | st.from_regex(r"github_pat_[A-Za-z0-9_]{40,82}", fullmatch=True),
    anything,
)
def test_no_token_passes_the_redactor(token: str, around: str) -> None:
    redact = escaping.Redactor(token)
    assert token not in redact(f"{around}{token}{around}")
    # What looks like a token of the host is replaced even when nobody told.
    assert token not in escaping.Redactor("")(f"a {token} b")


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=8), anything)
def test_a_token_of_any_form_does_not_pass_the_redactor(token: str, around: str) -> None:
    if token in escaping.REDACTED or token in around:
        return
    assert token not in escaping.Redactor(token)(f"{around}/{token}/{around}{token}")


@given(st.text())
def test_characters_are_counted_as_utf_16(text: str) -> None:
    assert escaping.characters(text) == sum(2 if ord(c) > 0xFFFF else 1 for c in text)
