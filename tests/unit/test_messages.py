"""All languages have the same keys and placeholders, and no key is missing or unused."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache

import pytest
import yaml

from registrar.lists import loading
from registrar.lists.profiles import CONFIG, PROFILES
from registrar.runtime.workspace import Folder
from registrar.texts.escaping import Lines, Link, show_lines
from registrar.texts.messages import (
    LANGUAGES,
    LIST_ITEMS,
    SHOWN_CHARACTERS,
    VALUE_CHARACTERS,
    Catalogue,
    Excerpt,
    msg,
    read,
)
from tests.documents import ACTION, riddles
from tests.gfm import Page
from tests.harness import JAPANESE, ROOT

SOURCE = ROOT / "src" / "registrar"
TEXTS = {language: read(f"{language}.yml") for language in LANGUAGES}
KEYS = sorted(TEXTS["ja"])
COUNTS = ("created", "skipped", "failed")
TAKE_VALUES: dict[str, set[str]] = {
    "msg": set(),
    "group": set(),
    "warn": {"about"},
    "note": {"about", "repeats_state"},
}
"""Functions that take the key of a text and its values, with their other arguments."""


def placeholders(text: str) -> set[str]:
    """Return the names between braces."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def strings_of(tree: ast.AST) -> Iterator[str]:
    """Return every text of a module as a pattern, with ``.+`` for each inserted value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                re.escape(str(part.value)) if isinstance(part, ast.Constant) else "[a-z_]+"
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.escape(node.value)


@cache
def modules() -> list[ast.Module]:
    return [ast.parse(file.read_text("utf-8")) for file in sorted(SOURCE.rglob("*.py"))]


def test_every_language_has_the_same_keys() -> None:
    every = {key for texts in TEXTS.values() for key in texts}
    lacking = {f"texts/{name}.yml": sorted(every - texts.keys()) for name, texts in TEXTS.items()}
    assert not any(lacking.values()), f"add these keys: {lacking}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_key_is_there_twice(language: str) -> None:
    node = yaml.compose((SOURCE / f"texts/{language}.yml").read_text("utf-8"))
    assert isinstance(node, yaml.MappingNode)
    keys = [key.value for key, _ in node.value]
    assert len(keys) == len(set(keys))


def test_every_language_has_the_same_placeholders() -> None:
    ja, en = (
        {key: placeholders(text) for key, text in TEXTS[language].items()} for language in LANGUAGES
    )
    assert ja == en
    assert all(re.fullmatch(r"[a-z_]+", name) for names in ja.values() for name in names)


def test_every_text_gets_the_values_that_it_names() -> None:
    """Some texts are shown in no test, and one without its value would end the run."""
    named = {key: placeholders(text) for key, text in TEXTS["en"].items()}
    calls = [
        (function, call.args[0].value, {each.arg for each in call.keywords})
        for call in (node for module in modules() for node in ast.walk(module))
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant)
        if (function := getattr(call.func, "attr", getattr(call.func, "id", ""))) in TAKE_VALUES
        if call.args[0].value in named
    ]
    assert len(calls) > 400
    wrong = [
        (key, given)
        for function, key, given in calls
        # `**values` has the name None
        if None not in given and given - TAKE_VALUES[function] != named[key]
    ]
    assert wrong == []


def test_every_language_says_something_of_its_own() -> None:
    for key in KEYS:
        ja, en = (TEXTS[language][key] for language in LANGUAGES)
        assert ja.strip() or key == "label.gap", key
        assert en.strip() or key == "label.gap", key
        assert not JAPANESE.search(en), key


@pytest.mark.parametrize(
    ("riddle", "plain"),
    [
        ("Where nothing is left, it stops.", "It stops if nothing is left. Where does it stop?"),
        ("Done. **Who wants names** runs it.", "To see names, run it. Who may run it?"),
        ("What was written stays.", "Written files stay. What stays?"),
        ("complete but for what was declined", "complete but for example not done"),
        ("something that is no directory", "There is no directory that is no longer used."),
        ("pull requests of which one is open", "pull requests, one of them open"),
        ("A file by itself; so does a folder.", "each file alone, so do not do it"),
        ("It is kept, whatever it holds.", "It is kept with any content."),
        ("not known to be public", "may be private"),
        ("It sees no repository but its own.", "It sees only its own repository, but not ours."),
    ],
)
def test_a_riddle_is_found_and_its_solution_is_none(riddle: str, plain: str) -> None:
    assert riddles(riddle)
    assert riddles(plain) == []


def test_no_text_is_a_riddle() -> None:
    """The test finds only some patterns of riddles; `.github/MAINTAINING.md` has the rules."""
    outputs = {f"output {key}": each["description"] for key, each in ACTION["outputs"].items()}
    texts = TEXTS["en"] | outputs
    assert {key: found for key, text in texts.items() if (found := riddles(text))} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_address_ends_where_a_link_made_of_it_ends(language: str) -> None:
    """GitHub takes a Japanese bracket or full stop after an address for a part of it."""
    for key, text in TEXTS[language].items():
        plain = text.replace("{", "").replace("}", "")
        addresses = re.findall(r"(?<!`)https://[\w./@-]+", plain, re.ASCII)
        page = Page(plain)
        assert [link.rstrip(".") for link in page.links] == [a.rstrip(".") for a in addresses], key


@pytest.mark.parametrize("profile", PROFILES)
def test_the_descriptions_of_the_built_in_lists_have_a_japanese_text(profile: str) -> None:
    listed = loading.load(Folder(CONFIG), PROFILES[profile].definitions).possible
    for entry in listed:
        assert JAPANESE.search(Catalogue("ja").description(entry.description)), entry
        assert Catalogue("en").description(entry.description) == entry.description


def test_every_key_of_the_catalogue_is_used() -> None:
    patterns = {text for tree in modules() for text in strings_of(tree) if "\\." in text}
    page = (SOURCE / "reporting/page.html.j2").read_text("utf-8")
    patterns |= set(re.findall(r'"(page\.\w+)"', page))
    used = re.compile("|".join(patterns))
    unused = [key for key in KEYS if not used.fullmatch(key)]
    assert unused == []


def messages_of(tree: ast.AST) -> Iterator[tuple[str, set[str] | None]]:
    """Return key and names of every call such as ``msg(…)``; names are ``None`` with ``**``."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        key = node.args[0]
        if name not in {"msg", "print", "note", "warn", "group"} or not isinstance(
            key, ast.Constant
        ):
            continue
        if isinstance(key.value, str):
            names = [keyword.arg for keyword in node.keywords]
            yield key.value, None if None in names else {n for n in names if n}


def test_keys_stand_whole_in_the_code_so_that_they_are_found() -> None:
    put_together = [
        f"{file.name}:{node.lineno}"
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in {"msg", "Malformed"}
        if isinstance(node.args[0], ast.JoinedStr)
    ]
    assert put_together == []


def test_every_message_in_the_code_exists_with_its_values() -> None:
    calls = [call for tree in modules() for call in messages_of(tree)]
    assert len(calls) > 50
    for key, names in calls:
        assert key in TEXTS["en"], key
        if names is not None:
            assert placeholders(TEXTS["en"][key]) <= names, key


@pytest.mark.parametrize("language", LANGUAGES)
def test_values_are_escaped_and_numbers_and_messages_are_not(language: str) -> None:
    catalogue = Catalogue(language)
    inner = msg("state.with_reason", state=msg("state.failed"), reason="<b>")
    shown = catalogue.text(
        msg("progress.path", number=" 1", total=29, path="a", state=inner), lambda text: f"«{text}»"
    )
    assert "«<b>»" in shown
    assert "«a»" in shown
    assert "/29]" in shown
    assert f"«{TEXTS[language]['state.failed']}»" not in shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_value_that_looks_like_a_placeholder_stays_as_it_is(language: str) -> None:
    message = msg("summary.branch", branch="{branch} {0} {branch.__class__}")
    assert "{branch} {0} {branch.__class__}" in Catalogue(language).text(message)


@pytest.mark.parametrize("length", [200, 201, VALUE_CHARACTERS + 1])
def test_of_an_excerpt_only_the_beginning_is_shown(length: int) -> None:
    shown = Catalogue("en").text(msg("path.too_long", path=Excerpt("x" * length)))
    is_cut = length > SHOWN_CHARACTERS
    assert shown.count("x") == SHOWN_CHARACTERS - is_cut
    assert ("x…" in shown) is is_cut


@pytest.mark.parametrize("kind", [str, Lines])
@pytest.mark.parametrize("length", [VALUE_CHARACTERS, VALUE_CHARACTERS + 1])
def test_of_a_long_value_only_the_beginning_is_shown(kind: type[str], length: int) -> None:
    """A message of GitHub keeps its lines."""
    value = kind("x\n" + "x" * (length - 2))
    shown = Catalogue("en").text(msg("refusal.other", words=value, status=422), show_lines)
    assert shown.count("x") == VALUE_CHARACTERS - 1
    assert ("x… (" in shown) is (length > VALUE_CHARACTERS)
    assert ("\n" in shown) is (kind is Lines)


@pytest.mark.parametrize("count", [LIST_ITEMS, LIST_ITEMS + 3])
def test_of_a_long_list_the_beginning_is_shown_and_the_rest_is_counted(count: int) -> None:
    shown = Catalogue("en").text(msg("body.conflicts", paths=["x\t"] * count))
    assert shown.count("x\t") == LIST_ITEMS
    assert ("… and 3 more" in shown) is (count > LIST_ITEMS)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_sentence_in_another_one_has_one_full_stop_behind_it(language: str) -> None:
    reason = msg("refusal.token_rejected", words="x")
    for outer in ("wait.pause", "host.gave_up", "limit.no_waiting"):
        text = Catalogue(language).text(msg(outer, reason=reason, seconds=1, count=2, until="3"))
        assert not re.search(r"[.。]{2}", text), text


@pytest.mark.parametrize(
    ("url", "leads"),
    [("https://x.y/1", True), ("https://x.y/secret", False), ("javascript:alert(1)", False)],
)
def test_an_address_that_leads_nowhere_is_no_link(url: str, *, leads: bool) -> None:
    catalogue = Catalogue("en", lambda text: text.replace("secret", "***"))
    shown = catalogue.shown(Link("#1", url), lambda text: type(text).__name__)
    assert (shown == "Link") is leads
