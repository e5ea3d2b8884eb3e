"""The right rules of a list apply to a repository, and add the right files."""

from __future__ import annotations

from functools import partial

import pytest

from registrar.models.conditions import Condition, matches
from registrar.models.files import FileDefinition, ListEntry
from registrar.models.repository import Repository
from registrar.models.rules import ChosenFiles, Replaced, Rule, listed_for
from tests.steps import Counted, steps
from tests.values import file_of

REPOSITORY = Repository(
    "Octo-Org/API-service",
    visibility="private",
    language="Go",
    topics=frozenset({"service", "backend"}),
    properties={"team": ("Platform",), "tier": ("gold", "eu"), "empty": ()},
)
THERE = {"go.mod", "docs/a.md"}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Condition(languages=frozenset({"rust", "go"})), True),
        (Condition(topics=frozenset({"service", "x"})), True),
        (Condition(visibilities=frozenset({"private", "internal"})), True),
        (Condition(names=("api-*",)), True),
        (Condition(names=("web-*", "*service")), True),
        (Condition(names=("api",)), False),
        (Condition(exists=("x", "docs/a.md")), True),
        (Condition(exists=("x", "go.mod/x")), False),
        (Condition(missing=("go.mod", "x")), True),
        (Condition(properties=(("team", frozenset({"platform"})),)), True),
        (Condition(properties=(("tier", frozenset({"eu", "us"})),)), True),
        (Condition(properties=(("tier", frozenset({"us"})),)), False),
        (Condition(properties=(("none", frozenset({"us"})),)), False),
        (Condition(properties=(("empty", frozenset({"us"})),)), False),
        (Condition(negated=Condition(is_fork=False, languages=frozenset({"rust"}))), True),
        (Condition(languages=frozenset({"go"}), exists=("x",)), False),
        (Condition(languages=frozenset({"go"}), exists=("go.mod",)), True),
    ],
)
def test_conditions(condition: Condition, expected: bool) -> None:
    """One value for each key is tried in every way in `tests/contract/test_rules.py`."""
    assert condition.holds(REPOSITORY, THERE.__contains__) is expected


ONE_OF_EACH = Condition(
    languages=frozenset({"rust"}),
    topics=frozenset({"x"}),
    visibilities=frozenset({"public"}),
    is_fork=True,
    names=("web-*",),
    exists=("x",),
    missing=("go.mod",),
    properties=(("team", frozenset({"x"})),),
    negated=Condition(languages=frozenset({"go"})),
)
"""A condition with a value for each key; none of them holds."""


def test_the_words_of_a_condition_are_in_order() -> None:
    """So that they are the same in every run."""
    five = frozenset("edcba")
    condition = Condition(five, five, five, properties=(("team", five),))
    assert condition.described.count(": [a, b, c, d, e]") == 4


@pytest.mark.parametrize("field", Condition._fields)
def test_nothing_that_a_condition_asks_for_is_left_out_of_its_words_or_of_what_must_hold(
    field: str,
) -> None:
    condition = Condition()._replace(**{field: getattr(ONE_OF_EACH, field)})
    assert condition != Condition()
    assert not condition.holds(REPOSITORY, THERE.__contains__)
    assert condition.described


def test_properties_that_are_not_known_are_not_set() -> None:
    condition = Condition(properties=(("team", frozenset({"platform"})),))
    assert not condition.holds(REPOSITORY._replace(properties=None), THERE.__contains__)
    assert condition.property_names
    assert Condition(negated=condition).property_names
    assert not Condition(negated=Condition(is_fork=True)).property_names


def listed_file(path: str) -> ListEntry:
    return ListEntry(FileDefinition(path))


def rule(number: int, language: str, *paths: str) -> Rule:
    files = tuple(ListEntry(file_of(path, b"%d" % number, number)) for path in paths)
    return Rule(number, Condition(languages=frozenset({language})), files)


def test_a_repository_gets_the_list_and_every_rule_that_fits_in_order() -> None:
    top = (listed_file("a"), listed_file("b"))
    rules = (rule(1, "go", "b", "c"), rule(2, "rust", "d"), rule(3, "go", "c", "e/f"))
    listed = listed_for(top, rules, REPOSITORY, THERE.__contains__)
    found = {definition.path: definition.rule for definition in listed.definitions}
    assert found == {"a": 0, "b": 1, "c": 3, "e/f": 3}
    assert listed.not_applying == (2,)
    assert listed.replaced == (Replaced("b", 0, 1), Replaced("c", 1, 3))
    assert list(listed.below) == []


def test_of_very_many_replaced_entries_each_takes_as_many_steps_as_of_few() -> None:
    def taken(count: int) -> int:
        paths = [Counted(number) for number in range(count)]
        rules = [rule(number, "go", *paths) for number in (1, 2)]
        found = list[ChosenFiles]()
        work = partial(listed_for, (), rules, REPOSITORY, THERE.__contains__)
        number = steps(lambda: found.append(work()))
        assert len(found[0].replaced) == count
        return number

    assert taken(4_000) < 5 * taken(1_000)


def test_one_below_another_is_found_for_this_repository_only() -> None:
    top = (listed_file("a"),)
    rules = (rule(1, "go", "x/y"), rule(2, "go", "x"), rule(3, "rust", "a/b"))
    listed = listed_for(top, rules, REPOSITORY, THERE.__contains__)
    assert [(below.path, above.path) for below, above in listed.below] == [("x/y", "x")]


def test_a_file_that_is_the_same_everywhere_takes_its_memory_once() -> None:
    entry = listed_file("a")
    [found] = listed_for((entry,), (), REPOSITORY, THERE.__contains__).definitions
    assert found is entry.file


def test_thousands_of_patterns_are_compiled_once() -> None:
    patterns = [f"{number}-*" for number in range(3_000)]

    def taken() -> int:
        return steps(lambda: [matches(pattern, "api-service") for pattern in patterns])

    first = taken()
    assert first > 5 * taken()
