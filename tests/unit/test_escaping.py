"""Escaping: every text from outside stays text in every output."""

from __future__ import annotations

import random
import re
import string
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from registrar.texts import escaping
from tests.gfm import only_ours
from tests.harness import read_command, unescaped

# Any text, and text of parts that have a meaning in some format
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
    """Return the invisible characters of a text, without zero-width spaces, which we add."""
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
def test_a_workflow_command_shows_exactly_what_it_was_given(text: str) -> None:
    place, data = escaping.for_command_property(text), escaping.for_command_data(text)
    line = f"::error file={place},line=1::{data}"
    command = read_command(line)
    assert command
    assert command.name == "error"
    assert set(command.properties) == {"file", "line"} or not text.strip()
    assert command.properties["line"] == "1"


AROUND = [("x {}", 0), ("- x {}", 0), ("a\n\n| a | b |\n| --- | --- |\n| {} | x |\n", 2)]
"""Places for a value in Markdown, each with the number of cells in its row."""


@pytest.mark.parametrize("escape", [escaping.for_markdown, escaping.for_markdown_code])
@pytest.mark.parametrize(("around", "cells"), AROUND)
@given(anything)
@example("a@b.cd")
@example("`a@b.cd")
@example("| mailto:a@b.cd")
@example("` xmpp:a@b.cd/c")
@example("a|https://b.cd www.b.cd")
@example("`")
@example(" a ")
@example("\\")
@example("\\|")
@example("a\n\nb")
@example("<!-- registrar:end -->")
@example("$`x`$ :smile: $x$")
def test_github_renders_a_text_as_it_is(
    escape: Callable[[str], str], around: str, cells: int, text: str
) -> None:
    page = only_ours(around.format(escape(text)))
    assert page.links == []
    assert page.columns <= {cells}
    seen = page.rows[1][0] if cells else page.text.strip().removeprefix("x")
    plain = escaping.show_control_characters
    expected = (escaping.show_lines if escape is escaping.for_markdown_code else plain)(text)
    # Markdown does not show blanks around a text, and shows several blanks as one
    assert words(seen) == words(expected if not cells else expected.replace("\n", ""))


def words(text: str) -> str:
    return " ".join(text.replace("\u200b", "").split())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("docs/a b.md", "`docs/a b.md`"),
        ("@octo/x#1", "`@octo/x#1`"),
        ("a_b*c", "`a_b*c`"),
        ("a|b", "<code>a&#124;b</code>"),
        ("`a`", "<code>&#96;a&#96;</code>"),
        (escaping.Lines("first\r\n\r\nsecond"), "`first`<br>`second`"),
        ("a\nb", r"`a\nb`"),
        (escaping.Link("#12", "https://x.y/12"), "[#12](https://x.y/12)"),
        (escaping.Link("https://x.y/（z）"), "<https://x.y/%EF%BC%88z%EF%BC%89>"),
    ],
)
def test_code_is_readable_as_raw_text_too(text: str, shown: str) -> None:
    assert escaping.for_markdown_code(text) == shown


@pytest.mark.parametrize(
    "text", ["Code of conduct", "What's this: a list (short)", "日本語、です。"]
)
def test_ordinary_words_are_readable_as_raw_text_too(text: str) -> None:
    assert escaping.for_markdown(text) == text


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


_RANDOM = random.Random(1)
_BASE64 = string.ascii_letters + string.digits + "-_"
CLASSIC = "ghp_" + "".join(_RANDOM.choices(string.ascii_letters + string.digits, k=36))
JWT = "ghs_1234567_eyJhbGciOiJSUzI1NiJ9.eyJ" + "".join(_RANDOM.choices(_BASE64, k=140))
JWT += "." + "".join(_RANDOM.choices(_BASE64, k=342))
assert len(JWT) > 500


@pytest.mark.parametrize("around", ["{}", "x{}y", "_{}_", "トークン{}です", "ü{}", "1{}", "={}&"])
@given(
    st.booleans(),
    st.from_regex(r"(ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{36}", fullmatch=True)
    | st.from_regex(r"github_pat_[A-Za-z0-9_]{40,82}", fullmatch=True)
    | st.just(JWT),
)
def test_no_token_passes_the_redactor_wherever_it_stands(
    around: str, known: bool, token: str
) -> None:
    redact = escaping.Redactor(token if known else "")
    shown = redact(around.format(token))
    assert token not in shown
    assert token[8:20] not in shown
    assert shown.startswith(around.partition("{}")[0] + escaping.REDACTED)


@pytest.mark.parametrize("token", [CLASSIC, JWT, "0123456789abcdefghij4567", "x" * 40])
@given(st.data())
def test_a_part_of_the_token_does_not_pass_either(token: str, data: st.DataObject) -> None:
    """A part of 20 characters counts, half of the shortest token that GitHub issues."""
    start = data.draw(st.integers(0, len(token) - 20))
    end = data.draw(st.integers(start + 20, len(token)))
    assert escaping.Redactor(token)(f"日{token[start:end]}本") == "日***本"


def test_what_is_no_token_stays() -> None:
    redact = escaping.Redactor(JWT)
    part = JWT[4:23]
    names = ("ghs_short", "highs_and_lows_of_the_year", "github_patterns")
    for text in (*names, part, f"the part {part} of it"):
        assert redact(text) == text


def test_a_long_text_full_of_tokens_takes_no_time() -> None:
    text = f"{CLASSIC} {CLASSIC[:25]} " * 20_000
    assert escaping.Redactor(CLASSIC)(text) == "*** *** " * 20_000


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=8), anything)
def test_a_token_of_any_form_does_not_pass_the_redactor(token: str, around: str) -> None:
    if token in escaping.REDACTED or token in around:
        return
    assert token not in escaping.Redactor(token)(f"{around}/{token}/{around}{token}")


@given(st.text())
def test_characters_are_counted_as_utf_16(text: str) -> None:
    assert escaping.characters(text) == sum(2 if ord(c) > 0xFFFF else 1 for c in text)
