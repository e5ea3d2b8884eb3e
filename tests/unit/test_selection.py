"""`target_repos` selects the right repositories."""

from __future__ import annotations

import pytest

from registrar.inputs.targets import read_selection, repository_meant
from registrar.models.repository import Repository
from registrar.models.selection import Exclusion

REPOSITORY = Repository(
    "Octo-Org/API-users",
    id=1,
    visibility="public",
    language="Go",
    topics=frozenset({"a"}),
    created_at="2026-02-03T23:59:59Z",
)


@pytest.mark.parametrize(
    ("entries", "taken"),
    [
        (["octo-org/*"], True),
        (["octo-org/api-*"], True),
        (["OCTO-ORG/Api-*"], True),
        (["octo-org/*-users"], True),
        (["octo-org/api-users"], True),
        (["octo-org/api"], False),
        (["octo-org/users*"], False),
        (["other/*"], False),
        (["octo-org/*", "!octo-org/api-*"], False),
        (["octo-org/*", "!octo-org/api-*", "octo-org/api-users"], True),
        (["!octo-org/api-*", "octo-org/*"], True),
        (["octo-org/a.i-*"], False),
    ],
)
def test_the_last_pattern_that_matches_decides(entries: list[str], taken: bool) -> None:
    selection, errors = read_selection(entries)
    assert not errors
    assert selection.matches(REPOSITORY.full_name) is taken


@pytest.mark.parametrize(
    ("qualifiers", "excluded"),
    [
        ([], None),
        (["topic:a"], None),
        (["topic:A"], None),
        (['topic: "a"'], None),
        (["topic:a", "topic:b"], Exclusion.NOT_MEANT),
        (["-topic:a"], Exclusion.NOT_MEANT),
        (["-topic:b"], None),
        (["visibility:public"], None),
        (["visibility:private"], Exclusion.NOT_MEANT),
        (["visibility:private", "visibility:public"], None),
        (["visibility:internal"], Exclusion.NOT_MEANT),
        (["visibility:internal", "visibility:PUBLIC"], None),
        (["language:go"], None),
        (["language:Python"], Exclusion.NOT_MEANT),
        (["language:Python", "language:Go"], None),
        (["language: Jupyter Notebook", "language:go"], None),
        (["created:>=2026-02-03"], None),
        (["created:<=2026-02-03"], None),
        (["created:>=2026-02-04"], Exclusion.NOT_MEANT),
        (["created:<=2026-02-02"], Exclusion.NOT_MEANT),
        (["created:>=2026-02-01", "Created:'<=2026-02-28'"], None),
        # All conditions on the date must hold, whereas one of several languages suffices
        (["created:>=2026-02-01", "created:>=2026-02-04"], Exclusion.NOT_MEANT),
        (["created:<=2026-02-02", "created:<=2026-02-28"], Exclusion.NOT_MEANT),
    ],
)
def test_qualifiers_narrow_what_the_patterns_take(
    qualifiers: list[str], excluded: Exclusion | None
) -> None:
    selection, errors = read_selection(["octo-org/*", *qualifiers])
    assert not errors
    assert selection.exclusion(REPOSITORY) is excluded


@pytest.mark.parametrize(
    ("qualifiers", "selected"),
    [
        (["property:team=platform"], "ab"),
        (["property:Team=PLATFORM"], "ab"),
        (["property:team"], "abc"),
        (["-property:team"], "d"),
        (["property:team=platform", "property:team=data"], "abc"),
        (["property:team=platform", "property:tier=eu"], "b"),
        (["-property:tier=eu"], "acd"),
        (["property:tier=us west"], "b"),
        (['property:tier="us, east"'], "d"),
        (['-property:tier="us, east"', "-property:tier=eu"], "ac"),
        # Any value is more than one of them
        (["property:team=data", "property:team"], "abc"),
        (["-property:team", "-property:team=data"], "d"),
    ],
)
def test_properties_narrow_what_the_patterns_take(qualifiers: list[str], selected: str) -> None:
    selection, errors = read_selection(["octo-org/*", *qualifiers])
    assert not errors
    properties: dict[str, dict[str, tuple[str, ...]]] = {
        "a": {"team": ("Platform",)},
        "b": {"team": ("platform",), "tier": ("eu", "us west")},
        "c": {"team": ("data",)},
        "d": {"tier": ("us, east",)},
    }
    made = {name: REPOSITORY._replace(properties=each) for name, each in properties.items()}
    assert "".join(name for name in made if not selection.exclusion(made[name])) == selected


def test_blanks_and_quotes_around_the_value_of_a_property_are_no_part_of_it() -> None:
    entries = ['property:Team= "Red Blue"', "property:team='x'", "-property:tier= y"]
    selection, errors = read_selection(["octo-org/*", *entries])
    assert not errors
    assert selection.properties == {"team": {"red blue", "x"}}
    assert selection.excluded_properties == {"tier": {"y"}}


def test_archived_disabled_and_forks_are_never_selected_unless_asked_for() -> None:
    selection, _ = read_selection(["octo-org/*"])
    assert selection.exclusion(REPOSITORY._replace(archived=True)) is Exclusion.ARCHIVED
    assert selection.exclusion(REPOSITORY._replace(disabled=True)) is Exclusion.DISABLED
    assert selection.exclusion(REPOSITORY._replace(is_fork=True)) is Exclusion.FORK
    with_forks, _ = read_selection(["octo-org/*", "fork:true"])
    assert with_forks.exclusion(REPOSITORY._replace(is_fork=True)) is None


@pytest.mark.parametrize("qualifier", ["created:>=2000-01-01", "created:<=2100-01-01"])
def test_one_of_which_nobody_says_when_it_was_created_is_left_out(qualifier: str) -> None:
    selection, _ = read_selection(["octo-org/*", qualifier])
    assert selection.exclusion(REPOSITORY._replace(created_at="")) is Exclusion.NOT_MEANT


def test_owners_are_listed_for_patterns_and_literal_names_are_kept_as_written() -> None:
    selection, _ = read_selection(["b/*", "a/x*", "C/One", "c/one", "d/two", "!d/*", "b/y"])
    assert selection.owners == ("b", "a")
    assert selection.literals == ("c/one", "b/y")


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ("stars:>5", "many.unknown_qualifier"),
        ("fork:only", "many.unknown_qualifier"),
        ("topic:", "many.qualifier_without_value"),
        ("-Topic:''", "many.qualifier_without_value"),
        ("-topic:legacy-*", "many.no_topic"),
        ("topic:{repo}", "many.no_topic"),
        ("topic:c++", "many.no_topic"),
        ("property:", "many.qualifier_without_value"),
        ("property:=x", "many.property_name"),
        ("property:a=", "many.property_name"),
        ("property:a b=x", "many.not_separated"),
        ("visibility:secret", "many.unknown_visibility"),
        ("created:", "many.qualifier_without_value"),
        ("created:2026-02-03", "many.created_malformed"),
        ("created:>2026-02-03", "many.created_malformed"),
        ("created:>=2026-02-30", "many.created_malformed"),
        ("created:>=20260203", "many.created_malformed"),
        ("created:2026-01-01..2026-02-03", "many.created_malformed"),
        ("octo-org", "many.pattern_malformed"),
        ("https://github.com/orgs/octo-org", "many.pattern_malformed"),
        ("*/x", "many.pattern_malformed"),
        ("o/a?", "many.pattern_malformed"),
        ("o/[ab]", "many.pattern_malformed"),
        ("o/..", "many.pattern_malformed"),
        ("o/.", "many.pattern_malformed"),
        ("!octo-org/*", "many.nothing_included"),
        # If this were one condition, the second topic would not exclude anything
        ("-topic:frozen -topic:old", "many.not_separated"),
        ("topic:a b", "many.not_separated"),
        ("octo-org/* topic:a", "many.not_separated"),
        ("octo-org/a octo-org/b", "many.not_separated"),
        ("language:c fork:true", "many.not_separated"),
    ],
)
def test_what_cannot_be_understood_is_an_error(entry: str, key: str) -> None:
    _, errors = read_selection([entry])
    assert [error.key for error in errors] == [key]


@pytest.mark.parametrize(
    ("entries", "meant"),
    [
        # The leading hyphen of GitHub's search, and signs that other tools have for it
        (("-o/x", "--o/x", "!-o/x", "-!o/x", "- o/x", "! o/x", "!!o/x", "~o/x", "^o/x"), "!o/x"),
        (("\\!o/x", "\uff01o/x", "\uff0do/x", "\u2013o/x", "!@o/x", "!o/x/"), "!o/x"),
        (("not o/x", "NOT:o/x", "exclude=o/x", "except o/x", "-repo:o/x", "!repo:o/x"), "!o/x"),
        (("!https://github.com/o/x", "-git@github.com:o/x.git", "!o/x.git", "!o/x.GIT"), "!o/x"),
        (("-o/*", "!o/*/"), "!o/*"),
        (("-o/issues", "!o/issues/actions"), "!o/issues"),
        (("https://github.com/o/x", "o/x.git", "repo:o/x", "@o/x", "o/x/"), "o/x"),
        (
            ("github.com/o/x", "http://www.github.com/o/x/", "ssh://git@github.com:22/o/x.git"),
            "o/x",
        ),
        (("https://u:p@ghe.example.com:8443/o/x", "https://github.com/o/x/tree/main/a"), "o/x"),
        (("!topic:x", "topic!=x", "topic:!x", "topic:-x", "topic<>x", "-topic=x"), "-topic:x"),
        (("!property:a=x", "property:a!=x", "property:a=!x", "property:a<>x"), "-property:a=x"),
        (("! property:a", "not property:a"), "-property:a"),
        (("topic=x",), "topic:x"),
    ],
)
def test_what_is_nearly_an_entry_is_an_error_with_the_right_one(
    entries: tuple[str, ...], meant: str
) -> None:
    for entry in entries:
        _, errors = read_selection(["o/*", entry])
        assert [(each.key, each.values["close"]) for each in errors] == [("many.meant", meant)]
        name = meant.removeprefix("!")
        assert repository_meant(entry) == (name if name.startswith("o/") else "")
    assert not read_selection(["o/*", meant])[1]
