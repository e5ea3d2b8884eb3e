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


@pytest.mark.parametrize(
    ("template", "text", "shown"),
    [
        ("", "octo-org/api, Octo-Org/API-users.", "octo-org/(id 1), Octo-Org/(id 2)."),
        ("", "https://x/octo-org/api.git?q=octo-org%2Fapi", None),
        ("", "docs/api and api", "docs/api and api"),
        ("add/{repo}", "add/api add/api-users-3. docs/api", "add/(id 1) add/(id 2)-3. docs/api"),
        ("add/{repo}", "main...add/api?quick_pull=1", "main...add/(id 1)?quick_pull=1"),
        ("add/{repo}", "octo-org/api-2: add/api-2, add/Api-2-2", None),
        ("{repo}", "main...api api-users-2", "main...(id 1) (id 2)-2"),
        ("{repo}", "API-2 and Api-2", "API-2 and Api-2"),
        ("{owner}{repo}{profile}", "octo-orgapihealth", "octo-org(id 1)health"),
        ("{profile}{repo}", "scaffoldapi-users", "scaffold(id 2)"),
        ("{count} für {repo}", "title=3%20f%C3%BCr%20.github", "title=3%20f%C3%BCr%20(id 3)"),
        ("{repo}: {repo}", "api: api", "(id 1): (id 1)"),
        ("{{repo}}", "{repo} api", "{repo} api"),
    ],
)
def test_what_is_hidden(template: str, text: str, shown: str | None) -> None:
    names = HiddenNames()
    repositories = [
        ListedRepository(number, "", name, "public" if number == PUBLIC else "private")
        for number, name in NAMES.items()
    ]
    names.hide(repositories, [template])
    if shown is None:
        shown = text.replace("octo-org/api.", "octo-org/(id 1).").replace("Fapi", "F(id 1)")
    assert names(text) == shown
    assert names(shown) == shown
