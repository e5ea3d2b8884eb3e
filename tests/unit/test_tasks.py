"""The files to create, and the refusals before any write, follow from existing and listed files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registrar.errors import Refused
from registrar.github.limits import TokenLimits
from registrar.models.files import FileDefinition, parents
from registrar.models.repository import Entry, Repository, RepositoryState
from registrar.models.standing import Standing
from registrar.models.task import Task
from registrar.presence.tasks import make_task, require_known_properties
from registrar.registration.preflight import require_writable
from registrar.rendering.states import explanation
from tests.clocks import FakeClock
from tests.values import spec

REPOSITORY = Repository("octo/example", "main", "https://github.com/octo/example", can_push=True)
paths = st.lists(st.text("abc/", min_size=1), unique=True, max_size=12).filter(
    lambda listed: not any(above in listed for path in listed for above in parents(path))
)


def entry(kind: str = "blob") -> Entry:
    """Return an entry of this kind, with any content."""
    return Entry(kind, "", "")


def task(*missing: str, repository: Repository = REPOSITORY) -> Task:
    """Return a task in which these paths are missing."""
    listed = tuple(FileDefinition(path) for path in missing)
    return make_task(
        spec(*listed),
        RepositoryState(repository, "1" * 40, {}),
    )


def limits_of(scopes: frozenset[str] | None) -> TokenLimits:
    """Return the limits of a token with these scopes."""
    limits = TokenLimits("", FakeClock())
    limits.scopes = scopes
    return limits


@given(paths, st.sets(st.text("abc/", min_size=1), max_size=12))
def test_missing_is_what_is_listed_and_does_not_exist_in_the_order_of_the_list(
    listed: list[str], existing: set[str]
) -> None:
    job = spec(*map(FileDefinition, listed))
    made = make_task(
        job, RepositoryState(REPOSITORY, "1" * 40, dict.fromkeys(existing, entry("tree")))
    )
    assert [d.path for d in made.definitions] == listed
    assert [d.path for d in made.missing] == [path for path in listed if path not in existing]


@pytest.mark.parametrize(
    ("above", "blocked"),
    [
        ({}, None),
        ({"a": "tree"}, None),
        ({"a": "blob"}, "a"),
        ({"a": "commit"}, "a"),
        ({"a": "tree", "a/b": "blob"}, "a/b"),
    ],
)
def test_nothing_can_be_created_below_what_is_no_directory(
    above: dict[str, str], blocked: str | None
) -> None:
    listed = (FileDefinition("a/b/c"), FileDefinition("d"))
    job = spec(*listed)
    entries = {path: entry(kind) for path, kind in above.items()}
    made = make_task(job, RepositoryState(REPOSITORY, "1" * 40, entries))
    found = [explanation(each) for each in made.paths if each.standing is Standing.BLOCKED]
    assert [each and each.values["parent"] for each in found] == ([blocked] if blocked else [])
    assert [d.path for d in made.missing] == (["d"] if blocked else ["a/b/c", "d"])


@pytest.mark.parametrize(
    "scopes",
    [
        None,
        frozenset({"public_repo"}),
        frozenset({"repo"}),
        frozenset({"repo", "workflow", "gist"}),
    ],
)
def test_a_writable_repository_passes(scopes: frozenset[str] | None) -> None:
    for can_push in (True, None):
        made = task("a", repository=REPOSITORY._replace(can_push=can_push))
        require_writable(made, made.missing, limits_of(scopes))


@pytest.mark.parametrize(
    "path", [".github/workflows.yml", "workflows/a.yml", "a/.github/workflows/b.yml"]
)
def test_other_paths_need_no_scope_for_workflows(path: str) -> None:
    made = task(path)
    require_writable(made, made.missing, limits_of(frozenset({"repo"})))


def test_parents_come_nearest_first() -> None:
    assert list(parents("a/b/c.md")) == ["a/b", "a"]
    assert list(parents("c.md")) == []


def test_of_several_properties_with_a_mistake_the_first_one_is_named() -> None:
    names = ("tiers", "teams", "areas", "zones", "owners")
    known = REPOSITORY._replace(properties={name[:-1]: ("x",) for name in names})
    with pytest.raises(Refused) as refused:
        require_known_properties(["other", *names], [REPOSITORY, known])
    assert refused.value.failure.message.values == {"name": "areas", "close": "area"}
    require_known_properties(["other"], [REPOSITORY, known])
