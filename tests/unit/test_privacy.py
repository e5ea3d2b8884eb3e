"""Names of private repositories in texts of every kind."""

from __future__ import annotations

import pytest

from registrar.models.repository import Repository
from registrar.reporting.privacy import HiddenNames, Redaction
from registrar.texts.escaping import FromProperty, Lines, Open

NAMES = {1: "octo-org/api", 2: "octo-org/api-users", 3: "octo/.github", 4: "octo-org/API-2"}
PUBLIC = 4
INSTEAD = "(not shown)"


def redaction() -> Redaction:
    """What others read of a run over these repositories."""
    made = Redaction("", INSTEAD)
    made.is_log_public = True
    for number, name in NAMES.items():
        visibility = "public" if number == PUBLIC else "private"
        made.hidden_names.see(Repository(name, id=number, visibility=visibility))
    return made


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("octo-org/api, Octo-Org/API-users.", "octo-org/(id 1), Octo-Org/(id 2)."),
        (
            "https://x/octo-org/api.git?q=octo-org%2Fapi",
            "https://x/octo-org/(id 1).git?q=octo-org%2F(id 1)",
        ),
        ("（octo-org/api）\nocto-org/api-users", "（octo-org/(id 1)）\nocto-org/(id 2)"),
        ("docs/api and api", "docs/api and api"),
        ("octo-org/api-2 and octo-org/api-20", "octo-org/api-2 and octo-org/api-20"),
        ("x-octo-org/api", "x-octo-org/api"),
    ],
)
def test_a_name_is_replaced_wherever_it_stands(text: str, shown: str) -> None:
    redact = redaction()
    assert redact.for_log(text) == redact.for_outputs(text) == shown
    assert redact.for_log(shown) == shown


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("api-users: refused; see api-users.", "(id 2): refused; see (id 2)."),
        ("octo-org/api: 'api' refused", "octo-org/(id 1): '(id 1)' refused"),
        ("（api-users）\napi-users.git", "（(id 2)）\n(id 2).git"),
        ("not api-usersx nor xapi-users nor api-2", "not api-usersx nor xapi-users nor api-2"),
        ("octo-org/api.wiki.git", "octo-org/(id 1).wiki.git"),
        ("see 100%25 of &lt;it&gt;", "see 100%25 of &lt;it&gt;"),
        ("see octo%2Dorg%2Fapi", INSTEAD),
        ("api&#x2d;users", INSTEAD),
        ("api\\u002dusers", INSTEAD),
        ("%2525" * 20 + "61pi-users", INSTEAD),
    ],
)
def test_words_about_a_public_repository_may_name_a_private_one(words: str, shown: str) -> None:
    assert redaction().for_log(Lines(words, is_public=True)) == shown


def test_words_about_anything_else_are_not_shown() -> None:
    redact = redaction()
    assert redact.for_log(Lines("No: x")) == redact.for_outputs(Lines("No: x")) == INSTEAD
    redact.is_log_public = False
    assert redact.for_log(Lines("No: x")) == "No: x"
    assert redact.for_outputs(Lines("No: x")) == INSTEAD


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("SECURITY.md", "SECURITY.md"),
        ("add/api", "add/{repo}"),
        ("merger-acme-main", "…"),
        (Lines("words"), INSTEAD),
        (Lines("words of a public one", is_public=True), INSTEAD),
        (Open("contents=write"), "contents=write"),
        (FromProperty("merger-acme", "{property:team}"), "{property:team}"),
    ],
)
def test_of_a_private_repository_nothing_is_shown_but_what_the_list_names(
    text: str, shown: str
) -> None:
    scope = {"SECURITY.md": "SECURITY.md", "add/api": "add/{repo}"}
    redact = redaction()
    assert redact.for_log(text, scope) == shown
    redact.is_log_public = False
    assert redact.for_log(text, scope) == text


def test_what_becomes_private_is_hidden_under_all_its_names() -> None:
    names = HiddenNames()
    for name, visibility in (("o/old", "public"), ("o/new", "internal"), ("o/last", "public")):
        names.see(Repository(name, id=7, visibility=visibility))
    assert names.in_text("o/old o/new o/last") == "o/(id 7) o/(id 7) o/(id 7)"
