"""The details that a run shows about a repository depend on who can read the workflow."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from registrar.errors import Failure, Kind
from registrar.models.record import PullRequestOperation, Record, Status
from registrar.models.repository import PullRequest, Repository
from registrar.models.run_result import ManyResult, RunResult
from registrar.models.settings import Settings
from registrar.privacy import Privacy, kind_in_words
from registrar.texts.escaping import FoundPath, Lines
from registrar.texts.messages import Catalogue, msg
from tests.values import spec

INSTEAD = "(not shown)"


def row(visibility: str, name: str = "api", **more: Any) -> Record:
    """Return the result of a repository that an answer of GitHub has described."""
    listed = Repository(f"octo-org/{name}")
    repository = listed._replace(id=7, visibility=visibility)
    return Record(spec()._replace(repository=listed), repository, **more)


def privacy(*, others_read: bool) -> Privacy:
    made = Privacy("", INSTEAD)
    made.of_many(others_read=others_read)
    return made


@pytest.mark.parametrize("visibility", ["public", "private", "internal", ""])
def test_only_what_is_known_to_be_public_has_a_row(visibility: str) -> None:
    given = row(visibility)
    assert privacy(others_read=False).row(given) == given
    assert privacy(others_read=True).row(given) == (given if visibility == "public" else None)


def test_what_its_pull_request_calls_private_has_none() -> None:
    of = Repository("octo-org/new-name", id=7, visibility="private")
    pull = PullRequest(1, "https://github.com/octo-org/new-name/pull/1", "", of=of)
    assert privacy(others_read=True).row(row("public", pull_request=pull)) is None


def test_before_an_answer_has_described_it_only_the_kind_of_its_failure_is_told() -> None:
    failure = Failure.of(msg("preflight.empty", target="octo-org/new-name"), Kind.NOT_BEGUN)
    given = row("public", failure=failure)
    listed = given._replace(spec=given.spec._replace(repository=given.repository))
    shown = privacy(others_read=True).row(listed)
    assert shown
    assert shown.failure
    assert shown.failure.message == shown.failure.cause.message == kind_in_words(Kind.NOT_BEGUN)
    assert privacy(others_read=True).row(given) == given


def test_of_the_others_there_is_a_number_for_each_state_and_kind() -> None:
    nothing: Any = dict.fromkeys(Settings._fields)
    many = ManyResult(Settings(**nothing))
    refused = Failure.of(msg("many.heading"), Kind.REFUSED)
    known = Failure.of(msg("many.heading"), Kind.REFUSED, told=msg("refusal.locked"))
    ended: Any = {"is_ended": True, "pull_request": PullRequest(1, "")}
    opened = {**ended, "operation": PullRequestOperation.CREATED}
    for each in (
        row("private", "a", **opened),
        row("internal", "b", failure=refused),
        row("private", "c", failure=refused),
        # If a repository has two lists, the first state counts
        row("private", "a", **ended),
        row("public", "d", **opened),
        row("private", "e", failure=known),
    ):
        many.add(each)
    result = RunResult()
    result.many = many
    told = privacy(others_read=True).published(result).many
    assert told
    assert [each.repository.visibility for each in told.rows] == ["public"]
    reasons = {each.why and each.why.message.key: n for each, n in told.not_named.items()}
    assert reasons == {None: 1, "kind.refused": 2, "refusal.locked": 1}
    states = Counter(each.status for each in told.not_named.elements())
    assert states == {Status.OPENED: 1, Status.FAILED: 3}
    assert told.end is many.end
    assert len(many.rows) == 6
    assert many.end.states == {Status.OPENED: 2, Status.FAILED: 3}
    assert privacy(others_read=False).published(result).many is many


def test_githubs_words_are_shown_only_where_nobody_else_reads_them() -> None:
    assert privacy(others_read=True).text(Lines("No: x")) == INSTEAD
    assert privacy(others_read=False).text(Lines("No: x")) == "No: x"


def test_of_one_repository_only_listed_paths_are_named_until_it_is_known_to_be_public() -> None:
    made = Privacy("", INSTEAD)
    made.of_one(frozenset({"docs/SECURITY.md"}))
    texts = (FoundPath("docs/SECURITY.md"), FoundPath("acme/x"), Lines("No: x"), "acme")
    for visibility in ("", "private", "internal"):
        made.identify(Repository("o/r", visibility=visibility))
        assert [*map(made.text, texts)] == ["docs/SECURITY.md", "…", INSTEAD, "acme"]
    made.identify(Repository("o/r", visibility="public"))
    assert [*map(made.text, texts)] == [*texts]


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_kind_of_failure_has_words(kind: Kind, language: str) -> None:
    assert Catalogue(language).text(kind_in_words(kind))
