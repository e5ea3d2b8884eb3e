"""The hidden mark with the paths that the action has committed to a pull request's branch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registrar.lists.constraints import MOST_PATHS
from registrar.models.spec import FileList
from registrar.registration.mark import (
    BEGIN,
    EMPTY_MARK,
    END,
    NEEDLESS,
    WITHDRAWN,
    Mark,
    divide,
    not_withdrawn,
)
from tests.values import DEFAULTS

PATHS = st.lists(st.text(min_size=1), unique=True, max_size=20)
BLOB, OTHER = "2" * 40, "3" * 40


def naming(*paths: str, blob: str = BLOB) -> Mark:
    return EMPTY_MARK.naming("list", dict.fromkeys(paths, blob))


@given(PATHS, PATHS)
def test_a_mark_names_its_paths_and_no_other(named: list[str], others: list[str]) -> None:
    mark = Mark.of(f"Before\r\n{naming(*named).text}\r\nAfter")
    assert mark
    assert {path for path in [*named, *others] if mark.names(path)} == {*named}


@given(PATHS, PATHS, st.text())
def test_a_mark_is_read_as_it_was_written(one: list[str], more: list[str], list_id: str) -> None:
    mark = naming(*one).naming(list_id, dict.fromkeys(more, OTHER))
    assert Mark.of(mark.text) == mark
    assert mark.is_of(list_id)
    assert not mark.is_of(f"{list_id}?")
    assert all(mark.names(path) for path in [*one, *more])


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("scaffold", "", "profile scaffold"),
        ("docs", "lists/docs.yml", "list docs"),
        ("", "lists/docs.yml", "file lists/docs.yml"),
    ],
)
def test_the_id_of_a_list_is_the_one_in_earlier_marks(name: str, path: str, expected: str) -> None:
    assert FileList(DEFAULTS, (), name=name, path=path).id == expected


def test_a_mark_names_each_of_very_many_paths() -> None:
    many = [str(number) for number in range(3_000)]
    assert len(naming(*many[:MOST_PATHS]).text) < 22_000
    text = naming(*many).text
    assert len(text) < 64_000
    assert Mark.of(text) == naming(*many)


MANY = "<!-- registrar:many -->"
"""An earlier version wrote this instead of more than 1,000 paths."""
LEFT = [f"{BEGIN}\nwords\n{END}", MANY, f"{naming('a').text}\n{MANY}", Mark(None, "1" * 10).text]


@pytest.mark.parametrize("text", LEFT)
def test_what_is_left_of_a_mark_stands_for_every_path(text: str) -> None:
    found = Mark.of(text)
    assert found
    assert found.wrote is None
    assert found.names("anything")
    assert not found.has_written("a", BLOB)
    assert found.naming("list", {"one": BLOB}) == naming("one")


@pytest.mark.parametrize("body", ["", "words", "<!-- registrar:wrote zz -->", BEGIN, END])
def test_a_description_without_a_mark_says_nothing(body: str) -> None:
    assert Mark.of(body) is None


def test_only_what_was_written_last_is_ours() -> None:
    mark = Mark.of(naming("one", "two").naming("list", {"one": OTHER}).text)
    assert mark
    assert mark.has_written("one", OTHER)
    assert not mark.has_written("one", BLOB)
    assert mark.has_written("two", BLOB)
    assert not mark.has_written("three", BLOB)
    assert not mark.has_written("three", "")


def test_a_mark_put_together_from_two_knows_what_they_agree_on() -> None:
    text = naming("one", "two").text
    lists = Mark.of(f"{text}\n{EMPTY_MARK.naming('other', {}).text}")
    contents = Mark.of(f"{text}\n{naming('one', blob=OTHER).text}")
    assert lists
    assert contents
    assert (lists.names("one"), lists.has_written("one", BLOB)) == (True, False)
    assert (contents.names("one"), contents.has_written("one", BLOB)) == (True, False)
    assert not contents.has_written("one", OTHER)
    assert contents.has_written("two", BLOB)
    assert Mark.of(contents.text) == contents


def test_a_withdrawn_pull_request_says_so_until_it_is_wanted_again() -> None:
    mark = naming("one")
    text = mark._replace(is_withdrawn=True).text
    assert mark.text + f"\n{WITHDRAWN}" == text
    found = Mark.of(text)
    assert found
    assert found.is_withdrawn
    assert found.naming("list", {}).text == mark.text
    assert Mark.of(not_withdrawn(f"Words {text}")) == mark


def test_one_that_has_become_needless_says_so() -> None:
    mark = naming("one")
    text = mark._replace(is_needless=True).text
    assert text == f"{mark.text}\n{NEEDLESS}"
    assert Mark.of(text) == mark._replace(is_needless=True)
    assert Mark.of(NEEDLESS)
    assert divide(f"{BEGIN}\n{text}\n{END}").ours == text


def test_the_paths_of_conflicts_stand_in_alphabetical_order() -> None:
    paths = [f"{number}.md" for number in range(20)]
    words = EMPTY_MARK.naming("list", {}, paths).text.split("conflicts ")[1].split()[:-1]
    assert words == sorted(words)
    assert len(words) == len(paths)


@pytest.mark.parametrize("body", [f"{BEGIN}\nwords\n> {END}", f"> {BEGIN}\nwords\n{END}"])
def test_without_a_mark_both_ends_of_a_part_stand_on_lines_of_their_own(body: str) -> None:
    assert divide(body) == (body, None, "")


def test_of_two_parts_the_one_that_nobody_has_changed_is_kept() -> None:
    mark = naming("one").text
    changed, whole = f"> {BEGIN}\n> edited\n{mark}\n{END}", f"{BEGIN}\nwords\n{END}"
    for body in (f"{changed}\n{whole}", f"{whole}\n{changed}"):
        assert divide(body).ours == "words"


@pytest.mark.parametrize("around", ["{}", "{}\r\n", "{}\nMine", "Mine\n{}"])
def test_a_part_on_lines_of_its_own_needs_no_mark(around: str) -> None:
    before, after = around.split("{}")
    body = around.format(f"{BEGIN}\nwords\n{END}")
    assert divide(body) == (before, "words", after)
