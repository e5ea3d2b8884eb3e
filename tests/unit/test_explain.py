"""Which of GitHub's words give the same cause."""

from __future__ import annotations

import pytest

from registrar.github.case import words_alone


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("octo/app: refused", "octo/rule: refused"),
        ("'app' is not a branch", "'rule' is not a branch"),
        ("The branch add/app exists", "The branch add/rule exists"),
        ("See https://github.com/octo/app.", "See https://github.com/octo/rule."),
        ("See github.com/octo/app/rules now", "See github.com/octo/rule/rules now"),
        ("It is at 4c1b but expected 77aa1f", "It is at 9d but expected 0"),
        ("Request 8A1F:2B7C:77 failed", "Request 11AF:0000:9 failed"),
        ("Refused at 2026-11-22T04:05:06Z", "Refused at 2027-01-01T00:00:00Z"),
        ("Repository rule violations found", "Repository rule violations found"),
        ("path '.editorconfig' is bad", "path '.github/labels.yml' is bad"),
        ("path .editorconfig: bad", "path .github/labels.yml: bad"),
        ("Repository 'app' is locked", "Repository 'rule' is locked"),
        ("No 'My app.md' here", "No 'Rules of my house.md' here"),
    ],
)
def test_names_addresses_ids_and_numbers_do_not_count(one: str, other: str) -> None:
    app = ("octo/app", "add/app", ".editorconfig", "My app.md")
    rule = ("octo/rule", "add/rule", ".github/labels.yml", "docs/Rules of my house.md")
    assert words_alone(one, *app) == words_alone(other, *rule)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Changes must be made through a pull request", "Commits must have a signature"),
        ("A rule forbids it", "A role forbids it"),
    ],
)
def test_other_words_are_another_cause(one: str, other: str) -> None:
    assert words_alone(one, "octo/rule", "rule") != words_alone(other, "octo/rule", "rule")


@pytest.mark.parametrize("part", ["x", "x-", "x.", "a.b/ ", "x://", "- ", "'x' "])
def test_of_long_words_each_is_looked_at_once(part: str) -> None:
    """It is, where the expressions take linear time; else the test would not end."""
    said = f"octo/app {part * (900_000 // len(part))}"
    assert "octo/app" not in words_alone(said, "octo/app")
