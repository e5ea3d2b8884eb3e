"""Every state has its words, in every place that lists the states."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import Enum, StrEnum
from itertools import zip_longest
from typing import Any

import pytest

from registrar.errors import Failure, Kind
from registrar.models.paths import (
    CannotCreate,
    Create,
    Done,
    Leave,
    ListedPath,
    Outcome,
    PathPlan,
    Result,
    Update,
    Why,
    by_path,
)
from registrar.models.record import PullRequestOperation, Record
from registrar.models.repository import PullRequest, Repository
from registrar.models.selection import Exclusion
from registrar.models.settings import FailOn, Mode
from registrar.models.spec import ONE_OF_MANY
from registrar.models.standing import FINDINGS, Standing
from registrar.models.status import WRITTEN, Need, Status
from registrar.registration.proposal import Proposal
from registrar.rendering import states
from registrar.reporting import sentences
from registrar.texts.messages import LANGUAGES, Catalogue, msg, read
from tests.documents import REFERENCE
from tests.harness import ROOT
from tests.values import file_of, in_state, need_of, spec, with_status

TABLES: Mapping[type[StrEnum], Mapping[Any, Any]] = {
    Standing: states.STANDINGS,
    Done: states.DONE,
    Status: states.STATUSES,
    PullRequestOperation: states.OPERATIONS,
    Mode: states.MODES,
    Exclusion: states.EXCLUDED,
}
KINDS = pytest.mark.parametrize("kind", TABLES)
REPORT = json.loads((ROOT / "schemas/report.schema.json").read_text("utf-8"))["$defs"]
NEVER_AT_THE_END = {Status.TO_WITHDRAW}
"""States that no repository has at the end: a withdrawal that was not carried out is deferred."""
ABSENT_AT_NO_REF = {Standing.PROPOSED, Standing.DECLINED, Standing.UNREAD}
"""The states that a path never has at a reference, because a run at one has read every path, and
does not read pull requests."""
PAGES = ("concepts", "many-repositories", "reference")
"""The documents that list the states."""


def keys_in(row: object) -> Iterator[str]:
    """Yield the keys of the catalogue in a row and in its parts."""
    if isinstance(row, Enum):
        return
    if isinstance(row, str):
        if re.fullmatch(r"[a-z]+\.\w+", row):
            yield row
    elif isinstance(row, tuple):
        for each in row:
            yield from keys_in(each)


def first_cells(heading: str) -> list[set[str]]:
    """Return the words of the first column, for each table below a heading of the documents."""
    page = "".join((ROOT / f"docs/{each}.md").read_text("utf-8") for each in PAGES)
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    tables = re.findall(r"^\|[^|]*\|.*\n\| ---.*\n((?:\|.*\n)+)", section, re.MULTILINE)
    cells = ([line.split("|")[1] for line in rows.splitlines()] for rows in tables)
    return [set(re.findall(r"[`*]([\w ]+)[`*]", " ".join(column))) for column in cells]


UNKNOWN = Failure.of(msg("reason.unknown"))


@KINDS
def test_every_value_has_a_row(kind: type[StrEnum]) -> None:
    assert set(TABLES[kind]) == set(kind), "src/registrar/rendering/states.py"


def test_a_plan_can_say_every_need() -> None:
    file = "src/registrar/registration/need.py"
    rows = re.findall(r"^ {8}Need\.(\w+): ", (ROOT / file).read_text("utf-8"), re.MULTILINE)
    assert rows.count("COMPLETE") == 1
    assert {Need[each] for each in rows} == set(Need), f"{file}: need_of"


@KINDS
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_key_of_a_row_is_in_the_catalogue(kind: type[StrEnum], language: str) -> None:
    texts = read(f"{language}.yml")
    for each, row in TABLES[kind].items():
        keys = list(keys_in(row))
        assert keys, each
        assert [key for key in keys if key not in texts] == [], each


@KINDS
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_state_has_the_words_of_another_one(kind: type[StrEnum], language: str) -> None:
    texts = read(f"{language}.yml")
    # A row is a text, or has parts with the same place in each row
    rows = [row if isinstance(row, tuple) else (row,) for row in TABLES[kind].values()]
    for column in zip(*rows, strict=True):
        for keys in map(set, zip_longest(*map(keys_in, column), fillvalue=None)):
            words = [texts[key] for key in keys if key]
            assert len(set(words)) == len(words), words


def test_every_way_is_counted_under_its_name() -> None:
    assert {words.group for words in states.STANDINGS.values()} == set(states.GROUPS)
    assert {each: words.group.name for each, words in states.STANDINGS.items()} == {
        each: each.group for each in Standing
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_parts_of_a_bar_are_told_apart(language: str) -> None:
    catalogue, bars = Catalogue(language), states.BARS
    for looks in (
        [catalogue.text(msg(bar.letter)) for bar in bars],
        [catalogue.text(msg(bar.word)) for bar in bars],
        [bar.light for bar in bars],
        [bar.dark for bar in bars],
    ):
        assert len(set(looks)) == len(bars), looks


def test_what_deserves_a_look_or_fails_a_check_has_a_sentence_for_it() -> None:
    for each, words in states.STANDINGS.items():
        assert bool(words.fails) == (each in FINDINGS), each
        assert bool(words.found) == (each in FINDINGS and each.is_present), each
        fails = any(kind.covers(each) for kind in FailOn) and each not in ABSENT_AT_NO_REF
        assert bool(words.fails_at_ref) == fails, each


@pytest.mark.parametrize("standing", Standing)
def test_a_repository_is_complete_only_where_every_path_is_there(standing: Standing) -> None:
    """If an absent path had no state, the repository would count as complete."""
    path = in_state(file_of("a", b"a\n"), standing, Done.SKIPPED)
    need = need_of(spec(path.definition), path)
    # No plan has a path that was not read, so this combination does not occur
    is_complete = standing.is_present or standing is Standing.UNREAD
    assert (need is Need.COMPLETE) == is_complete, "registration/need.py: need_of"


@pytest.mark.parametrize("plan", [Create(), Update("b10b")])
@pytest.mark.parametrize("result", Result)
def test_every_result_of_a_step_is_a_state_of_its_path(
    plan: Create | Update, result: Result
) -> None:
    path = ListedPath(file_of("a", b"a\n"), plan, Outcome(result))
    assert (path.done in {Done.CREATED, Done.UPDATED}) == (result is Result.DONE)
    assert path.standing in {Standing.PROPOSED, Standing.TO_CREATE}


@pytest.mark.parametrize(
    ("plan", "result", "is_said"),
    [
        (Create(), Result.DONE, True),
        (Create(Done.TO_CREATE), None, True),
        (Create(), Result.FOUND, False),
        (Update("b10b"), Result.DONE, False),
    ],
)
def test_where_a_file_comes_from_is_said_of_one_that_is_added(
    plan: Create | Update, result: Result | None, is_said: bool
) -> None:
    outcome = Outcome(result) if result else None
    path = ListedPath(file_of("a", b"", rule=2), plan, outcome, hides="docs/a")
    described = Catalogue("en").text(states.described(path))
    assert ("rule 2" in described) is ("docs/a" in described) is is_said


@pytest.mark.parametrize("operation", PullRequestOperation)
def test_every_operation_is_a_state_of_its_repository(operation: PullRequestOperation) -> None:
    path = in_state(file_of("a", b"a\n"), Standing.PROPOSED, Done.CREATED)
    job = spec(path.definition)
    record = Record(job, job.repository, is_ended=True, paths=by_path([path]), operation=operation)
    ended = replace(record, pull_request=PullRequest(1, "https://example.com"))
    assert (ended.status in WRITTEN) == (operation is not PullRequestOperation.NONE)


@pytest.mark.parametrize(
    ("operation", "kind", "archived", "expected"),
    [
        (PullRequestOperation.NONE, Kind.NOT_BEGUN, True, Status.NOT_WRITABLE),
        (PullRequestOperation.NONE, Kind.NOT_BEGUN, False, Status.FAILED),
        (PullRequestOperation.NONE, Kind.TRANSIENT, True, Status.FAILED),
        # It was closed, and then nothing else could be done
        (PullRequestOperation.CLOSED, Kind.TRANSIENT, False, Status.FAILED),
    ],
)
def test_a_registration_that_ended_early_failed_unless_nothing_may_be_written(
    operation: PullRequestOperation, kind: Kind, archived: bool, expected: Status
) -> None:
    job = spec(target_repos="octo/*")._replace(policy=ONE_OF_MANY)
    repository = Repository("octo/example", archived=archived)
    failure = Failure.of(msg("reason.unknown"), kind)
    record = Record(job, repository, is_ended=True, operation=operation, exit_code=1)
    assert replace(record, failure=failure).status is expected


@pytest.mark.parametrize(
    ("mode", "plan", "expected"),
    [
        ("withdraw", Create(Done.NOTHING), Need.NOT_PROPOSED),
        ("withdraw", CannotCreate(UNKNOWN, Standing.BLOCKED), Need.NOT_PROPOSED),
        ("register", CannotCreate(UNKNOWN, Standing.BLOCKED), Need.BLOCKED),
        ("register", CannotCreate(UNKNOWN), Need.CANNOT),
        ("register", Create(), Need.OPEN),
        # A path may be left for a reason that has nothing to do with a pull request
        ("plan", Leave(Why.FROM_BASE, Done.SKIPPED), Need.NOT_PROPOSED),
    ],
)
def test_what_is_needed_without_a_pull_request(mode: str, plan: PathPlan, expected: Need) -> None:
    path = ListedPath(file_of("a", b""), plan)
    assert need_of(spec(path.definition, mode=mode), path) is expected


@pytest.mark.parametrize("status", Status)
def test_blocked_files_are_a_part_of_the_missing_ones_if_these_are_counted(status: Status) -> None:
    paths = by_path([
        in_state(file_of("a", b""), Standing.TO_CREATE, Done.NOTHING),
        in_state(file_of("b", b""), Standing.BLOCKED, Done.NOTHING),
    ])  # fmt: skip
    job = spec()
    row = with_status(Record(job, job.repository, paths=paths), status)
    assert row.status is status
    text = Catalogue("en").text(sentences.state(row))
    assert ("of these blocked: 1" in text) is ("missing files: 2" in text)
    assert "blocked: 1" in text
    failed = replace(row, failure=Failure.of(msg("reason.unknown")))
    assert "blocked: 1" not in Catalogue("en").text(sentences.state(failed))


def test_a_cause_names_only_the_files_that_failed_for_it() -> None:
    failures = [Failure.of(msg("reason.unknown"), about=each) for each in ("x", "y", "x")]
    files = [
        ListedPath(file_of(path, b""), Create(), Outcome(Result.FAILED, failure=failure))
        for path, failure in zip("abc", failures, strict=True)
    ]
    paths = by_path([*files, in_state(file_of("d", b""), Standing.SAME)])
    record = Record(spec(), Repository("octo/example"), paths=paths)
    assert sentences.cause_of([record], failures[0]).values["paths"] == ["a", "c"]


@pytest.mark.parametrize("standing", [each for each in Standing if each is not Standing.UNREAD])
def test_the_description_of_a_pull_request_counts_every_path(standing: Standing) -> None:
    done = {
        Standing.PROPOSED: Done.CREATED,
        Standing.TO_CREATE: Done.PENDING,
        Standing.BLOCKED: Done.FAILED,
    }.get(standing, Done.SKIPPED)
    path = in_state(file_of("a", b"a\n"), standing, done)
    job = spec(path.definition)
    body = Proposal(job, Catalogue("en")).body(Record(job, job.repository, paths=by_path([path])))
    [numbers] = [line for line in body.splitlines() if line.startswith("Adds ")]
    counts = re.findall(r"(?<=Adds )\d+|(?<=: )\d+", numbers)
    assert sum(map(int, counts)) == 1, numbers


def test_the_schema_of_the_report_lists_every_value() -> None:
    registration, file = REPORT["registration"]["properties"], REPORT["file"]["properties"]
    pull_request = registration["pull_request"]["oneOf"][1]["properties"]
    budget = REPORT["many"]["properties"]["budget"]["oneOf"][1]["properties"]
    assert file["standing"]["enum"] == [*Standing]
    assert set(file["done"]["enum"]) == set(Done)
    assert REPORT["many_state"]["enum"] == [each for each in Status if each not in NEVER_AT_THE_END]
    assert pull_request["operation"]["enum"] == [*PullRequestOperation]
    assert set(registration["mode"]["enum"]) == set(Mode) - {Mode.VALIDATE}
    assert set(REPORT["standings"]["propertyNames"]["enum"]) == {each.group for each in Standing}
    assert set(budget["excluded"]["propertyNames"]["enum"]) == set(Exclusion)


def test_the_documents_list_every_value() -> None:
    [of_repositories] = first_cells("How a repository ends")
    assert of_repositories == set(Status) - NEVER_AT_THE_END
    ways, present = first_cells("States of a path")
    assert ways == {each.group for each in Standing}
    assert present == {each for each in Standing if each.is_present}
    page = REFERENCE.read_text("utf-8")
    [listed] = re.findall(
        r"\[the states of a path\]\(concepts.md#states-of-a-path\): ((?:`[\w ]+`(?:, )?)+)", page
    )
    assert set(re.findall(r"`([\w ]+)`", listed)) == set(Standing)
