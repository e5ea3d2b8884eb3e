"""Names of private repositories in texts of every kind."""

from __future__ import annotations

import pytest

from registrar.models.selection import ListedRepository
from registrar.reporting.privacy import HiddenNames

NAMES = {
    1: "octo-org/api",
    2: "octo-org/api-users",
    3: "octo/.github",
    4: "octo-org/API-2",
}
PUBLIC = 4
INSTEAD = "(not shown)"


@pytest.mark.parametrize(
    ("template", "text", "shown"),
    [
        ("", "octo-org/api, Octo-Org/API-users.", "octo-org/(id 1), Octo-Org/(id 2)."),
        ("", "https://x/octo-org/api.git?q=octo-org%2Fapi", None),
        ("", "（octo-org/api）\nocto-org/api-users", "（octo-org/(id 1)）\nocto-org/(id 2)"),
        ("", "docs/api and api", "docs/api and api"),
        ("add/{repo}", "add/api add/api-users-3. docs/api", "add/(id 1) add/(id 2)-3. docs/api"),
        ("add/{repo}", "main...add/api?quick_pull=1", "main...add/(id 1)?quick_pull=1"),
        ("add/{repo}", "octo-org/api-2: add/api-2, add/Api-2-2", None),
        ("{repo}", "main...api api-users-2", "main...(id 1) (id 2)-2"),
        ("{repo}", "API-2 and Api-2", "API-2 and Api-2"),
        ("{owner}{repo}{profile}", "octo-orgapihealth", "octo-org(id 1)health"),
        ("{profile}{repo}", "scaffoldapi-users", "scaffold(id 2)"),
        ("{profile}-{repo}", "my-list-api-users my-api", "my-list-(id 2) my-(id 1)"),
        ("{count} für {repo}", "title=3%20f%C3%BCr%20.github", "title=3%20f%C3%BCr%20(id 3)"),
        ("{repo}: {repo}", "api: api", "(id 1): (id 1)"),
        ("{{repo}}", "{repo} api", "{repo} api"),
    ],
)
def test_what_is_hidden(template: str, text: str, shown: str | None) -> None:
    names = hidden([template])
    if shown is None:
        shown = text.replace("octo-org/api.", "octo-org/(id 1).").replace("Fapi", "F(id 1)")
    assert names(text) == shown
    assert names(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("api-users: refused; see api-users.", "(id 2): refused; see (id 2)."),
        ("octo-org/API-users and API-USERS", "octo-org/(id 2) and (id 2)"),
        ("octo-org/api: 'api' refused", "octo-org/(id 1): '(id 1)' refused"),
        ("（api-users）\napi-users", "（(id 2)）\n(id 2)"),
        ("the repository 'api'", "the repository '(id 1)'"),
        ("the api of `api`", "the api of `(id 1)`"),
        ("docs/api-users and api-users/x", INSTEAD),
        ("docs%2Fapi-users%2F", INSTEAD),
        ("docs%252fAPI-users%252f", INSTEAD),
        ("%61pi-users/x", INSTEAD),
        ("_octo-org/api-users_", INSTEAD),
        ("x_api-users_", INSTEAD),
        ("octo-org/api-users.wiki.git", INSTEAD),
        ("octo-org/unheard-of", INSTEAD),
        ("the api, an api. api: api", "the api, an api. api: api"),
        ("docs/api and docs/rest", INSTEAD),
        ("https://docs.github.com/rest/api#api", "https://docs.github.com/rest/api#api"),
        ("https://docs.github.com/rest?x=api", INSTEAD),
        ("https://api.github.com/x", "https://api.github.com/x"),
        ("https://github.com/orgs/octo-org/sso?x=1", "https://github.com/orgs/octo-org/sso?x=1"),
        ("by @octo-org/team", "by @octo-org/team"),
        ("by @octo-org/api-users", "by @octo-org/(id 2)"),
        ("octo-org/api-2.git. octo-org/API-2.wiki", "octo-org/api-2.git. octo-org/API-2.wiki"),
        (
            "not api-usersx nor xapi-users nor api-users-x",
            "not api-usersx nor xapi-users nor api-users-x",
        ),
        ("a%2525252525b", INSTEAD),
        ("100% and 50%", "100% and 50%"),
        (f"{'a.' * 200}b", INSTEAD),
        (".github/workflows/a.yml", ".github/workflows/a.yml"),
        ("not api-users-2 nor api-2", "not api-users-2 nor api-2"),
    ],
)
def test_githubs_words_may_name_a_repository_without_its_owner(text: str, shown: str) -> None:
    assert hidden([]).in_message(text) == shown


def hidden(templates: list[str]) -> HiddenNames:
    names = HiddenNames(INSTEAD)
    repositories = [
        ListedRepository(number, "", name, "public" if number == PUBLIC else "private")
        for number, name in NAMES.items()
    ]
    lists = ["scaffold", "health", "my-list", "my"]
    names.hide(repositories, templates, property_names=(), lists=lists, is_public=False)
    return names


def test_githubs_words_may_repeat_the_property_of_a_private_repository() -> None:
    names = HiddenNames(INSTEAD)
    repositories = [
        ListedRepository(number, "", f"o/r{number}", visibility, properties={"team": (team,)})
        for number, visibility, team in ((1, "private", "Sesame"), (2, "public", "barley"))
    ]
    names.hide(repositories, [], property_names=["team"], lists=["my"], is_public=True)
    assert names.in_message("No such label: sesame") == INSTEAD
    assert names.in_message("No such label: barley") == "No such label: barley"
