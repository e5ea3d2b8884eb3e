"""`single`: its requests, its one commit, and the steps that finish the work where that fails."""

from __future__ import annotations

import itertools
import signal

import pytest

from registrar.github.queries import DIRECTORIES_PER_QUERY, NAMES_AT_ONCE
from registrar.lists.constraints import MOST_PATHS
from registrar.registration.mark import Mark
from tests.contract.test_users_words import HEALTH, SCAFFOLD
from tests.example import BRANCH, EXPECTED, LIST, MISSING, Example, write_list
from tests.fakehub import Refusal, Repository, Request, StandInHost
from tests.harness import (
    HEALTH_BRANCH,
    LIST_BRANCH,
    SCAFFOLD_BRANCH,
    SINGLE,
    TARGET,
    Action,
    SignalAt,
    Start,
    calls,
    inject_fault,
    meanwhile,
    mutations,
    queries,
)

GRAPHQL = "POST /graphql"
# A platform team's list: every service has the files of the default set.
MANY = {
    f"services/s{number:02}/{path}": f"# {number}\n" for number in range(100) for path in SCAFFOLD
}
LARGEST_MEMORY = 150_000_000


def test_one_commit_for_each_list_whose_message_lists_the_paths(
    single: Start, host: StandInHost, repository: Repository
) -> None:
    before = repository.files()
    run = single(profile="all").or_fail()
    assert calls(host) == [GRAPHQL] * 4
    assert (run.outputs["created"], run.outputs["skipped"]) == ("34", "2")
    for listed, branch, headline, pull in (
        (HEALTH, HEALTH_BRANCH, "docs: add community health files", repository.pull_requests[0]),
        (SCAFFOLD, SCAFFOLD_BRANCH, "chore: add scaffold files", repository.pull_requests[1]),
    ):
        created = [path for path in listed if path not in before]
        first, *others = repository.log(branch)
        assert [commit.sha for commit in others] == [commit.sha for commit in repository.log()]
        assert sorted(first.paths) == sorted(created)
        lines = first.message.rstrip("\n").split("\n")
        assert lines == [headline, "", *(f"- {path}" for path in created)]
        assert (pull.title, pull.head) == (headline, branch)
        assert f"Pull request opened: {pull.html_url}" in run.lines
    # No author is sent, so GitHub signs
    sent = {"branch", "expectedHeadOid", "fileChanges", "message"}
    assert [set(each.json["variables"]["commit"]) for each in mutations(host)] == [sent, sent]
    commit = repository.git[repository.head(SCAFFOLD_BRANCH)]
    assert commit.committer.email == "noreply@github.com"


def test_one_request_when_nothing_is_missing(single: Start, host: StandInHost) -> None:
    repository = host.create_repository(TARGET, dict.fromkeys(SCAFFOLD, b"theirs\n"))
    run = single().or_fail()
    assert calls(host) == [GRAPHQL]
    assert repository.branches == ["main"]
    assert run.outputs["skipped"] == "29"


@pytest.mark.parametrize(
    ("directories", "most_entries", "trees"),
    [(49, None, 0), (50, None, 1), (1, 0, 1), (1, 5, 1)],
    ids=["read with it", "too many directories", "cut listings", "cut below the root"],
)
def test_what_an_open_pull_request_holds_is_read_with_the_repository(
    single: Start,
    host: StandInHost,
    repository: Repository,
    action: Action,
    directories: int,
    most_entries: int | None,
    trees: int,
) -> None:
    paths = ["new.md", *(f"d{number}/new.md" for number in range(directories))]
    paths += [f"d0/{number}.md" for number in range(most_entries or 0)]
    listed = action.listing(*paths)
    single(definitions=listed)
    host.quirks.most_entries = most_entries
    many = {"target_repo": None, "target_repos": TARGET, "mode": "plan"}
    for inputs in (many, {"mode": "plan"}):
        run = single(definitions=listed, **inputs)
        assert run.standings == dict.fromkeys(paths, "proposed"), inputs
    host.requests.clear()
    run = single(definitions=listed)
    assert run.standings == dict.fromkeys(paths, "proposed")
    assert run.outputs["pull_request_operation"] == "none"
    tree = f"GET git/trees/{repository.head(LIST_BRANCH)}"
    assert sum(call.startswith(tree) for call in calls(host)) == trees
    if most_entries is None:
        assert len(host.requests) == 1 + trees
        host.requests.clear()
        run = single(definitions=action.listing(*paths, "d0/other.md"))
        assert run.outputs["pull_request_operation"] == "updated"
        update = ["GET pulls/1", GRAPHQL, "GET pulls/1", "PATCH pulls/1"]
        assert [call.partition("?")[0] for call in calls(host)] == [
            GRAPHQL,
            *[tree] * trees,
            *update,
        ]


def test_the_largest_list_is_one_commit_and_one_description_names_its_files(
    single: Start, host: StandInHost, repository: Repository, action: Action
) -> None:
    """One of as many bytes as may be is in `test_preflight`, where values of properties grow."""
    paths = [f"{number:04}" for number in range(MOST_PATHS)]
    run = single(definitions=action.listing(*paths), body="x" * 30_000).or_fail()
    assert run.outputs["created"] == str(MOST_PATHS)
    assert calls(host) == [GRAPHQL, GRAPHQL]
    [commit] = repository.log(LIST_BRANCH)[:-1]
    assert sorted(commit.paths) == paths
    mark = Mark.of(repository.pull_requests[0].body or "")
    assert mark
    assert all(mark.wrote and mark.names(path) for path in paths)


@pytest.mark.large
@pytest.mark.parametrize(("count", "most"), [(290, 8), (1_000, 30)])
def test_requests_grow_with_the_hundreds_and_memory_stays_small(
    host: StandInHost, repository: Repository, action: Action, count: int, most: int
) -> None:
    listed = dict(list(MANY.items())[:count])
    inputs = {"commit_strategy": "single", "definitions": action.listing_of(listed)}
    run, memory = action.measure(action.environment(inputs))
    assert run.exit_code == 0, run.console
    assert len(host.requests) <= most
    assert memory < LARGEST_MEMORY
    before = repository.files()
    after = repository.files(LIST_BRANCH)
    assert after == before | {path: content.encode() for path, content in listed.items()}
    assert len(repository.pull_requests) == 1


def test_a_path_is_a_variable_and_never_part_of_the_query(
    single: Start, host: StandInHost, repository: Repository, action: Action
) -> None:
    hostile = {
        'x") { oid } } evil: repository(owner: "octo", name: "other") { id } #': "1",
        "$p1/${p0}": "2",
        "%(files)s %s {} {0}": "3",
        "-rf": "4",
        "tab é 日本語 😀.md": "5",
        "[skip ci] @octocat #1 Fixes #2": "6",
    }
    run = single(definitions=action.listing_of({f"{name}/x": hostile[name] for name in hostile}))
    assert run.exit_code == 0, run.text
    assert calls(host) == [GRAPHQL, GRAPHQL]
    added = {f"{name}/x": content.encode() for name, content in hostile.items()}
    assert repository.files(LIST_BRANCH) == repository.files() | added
    for request in host.requests:
        for path in hostile:
            assert path not in request.json["query"]
    assert hostile.keys() <= set(queries(host)[0].json["variables"].values())


def test_no_query_asks_for_more_than_github_answers(
    single: Start, host: StandInHost, repository: Repository, action: Action
) -> None:
    # And one for each name of the branch, and one for the pull requests
    host.quirks.partial_above = DIRECTORIES_PER_QUERY + NAMES_AT_ONCE + 1
    count = DIRECTORIES_PER_QUERY
    run = single(definitions=action.listing_of({f"{number}/x": "x" for number in range(count)}))
    assert run.exit_code == 0, run.text
    assert calls(host) == [GRAPHQL] * 3
    assert len(repository.files(LIST_BRANCH)) == count + len(repository.files())


def test_later_queries_look_at_the_commit_of_the_first(
    single: Start, host: StandInHost, repository: Repository, action: Action
) -> None:
    base = repository.head()
    names = [f"{number:03}/x" for number in range(DIRECTORIES_PER_QUERY)]
    theirs = {names[-1]: b"theirs\n"}
    meanwhile(
        host, lambda request: request.number == 2, lambda: repository.person.commit(dict(theirs))
    )
    single(definitions=action.listing_of(dict.fromkeys(names, "ours"))).or_fail()
    assert queries(host)[1].json["variables"]["c0"] == base
    [commit, *_] = repository.log(LIST_BRANCH)
    assert commit.parents == (base,)
    assert repository.files()[names[-1]] == b"theirs\n"
    assert len(mutations(host)) == 1


# --- Where the one request fails half-way ---------------------------------------------------------

PARTS = ("createRef", "createCommitOnBranch", "createPullRequest")
SECOND = f"{BRANCH}-2"
REFUSED = Refusal(422, "Something went wrong here", kind="UNPROCESSABLE")
SOME_PARTS = [chosen for count in (1, 2, 3) for chosen in itertools.combinations(PARTS, count)]


@pytest.fixture
def example(action: Action) -> Example:
    return Example(action, SINGLE)


@pytest.mark.parametrize(
    ("refused", "is_empty"), [*((each, False) for each in SOME_PARTS), (PARTS[:1], True)]
)
def test_what_is_refused_is_finished_file_by_file(
    host: StandInHost, example: Example, refused: tuple[str, ...], is_empty: bool
) -> None:
    """The payload of a refused mutation is null, or an object of null."""
    host.quirks.empty_payloads = is_empty
    host.refused_mutations = dict.fromkeys(refused, REFUSED)
    run = example.run()
    assert (run.exit_code, example.state) == (0, example.done), run.console
    assert f"Created: {len(MISSING)}\n" in run.console
    assert "Skipped: 2\n" in run.console

    host.refused_mutations = {}
    head = example.repository.head(BRANCH)
    again = example.run()
    assert (again.exit_code, example.state) == (0, example.done), again.console
    assert example.repository.head(BRANCH) == head


@pytest.mark.parametrize("folder", ["", ".github/workflows/"], ids=["files", "workflows alone"])
def test_a_commit_that_is_refused_for_one_file_registers_the_others(
    action: Action, host: StandInHost, repository: Repository, folder: str
) -> None:
    token = host.create_token(scopes=["repo", "workflow"])
    host.refused_mutations = {"createCommitOnBranch": REFUSED}
    bad, good, fine = (f"{folder}{name}.yml" for name in ("bad", "good", "fine"))
    inject_fault(host, f"PUT contents/{bad}", times=None, message="this path is not to our liking")
    run = action(
        commit_strategy="single",
        host_token=token,
        definitions=action.listing_of(dict.fromkeys((good, bad, fine))),
        language="en",
    )
    assert run.exit_code == 1
    assert (run.outputs["created"], run.outputs["failed"]) == ("2", "1")
    assert f"{bad} was not created: this path is not to our" in run.stderr
    assert set(repository.files(LIST_BRANCH)) - set(repository.files()) == {good, fine}


def test_a_claim_of_somebodys_branch_declines_nothing_where_the_run_is_killed(
    host: StandInHost, example: Example
) -> None:
    """Its description names what is not there, and nobody was left to say otherwise."""
    repository, theirs = example.repository, {"mine.txt": b"mine\n"}
    kill = SignalAt(signal.SIGKILL, lambda each: "createRef(" in str(each.fields.get("query")))

    def act(request: Request) -> None:
        if not kill.sent and "createRef(" in str(request.fields.get("query")):
            repository.person.commit(dict(theirs), branch=BRANCH)
        kill(request)

    host.on_request = act
    process = kill.to(example.begin_without_waiting())
    assert example.action.end(process, {}).exit_code == -signal.SIGKILL
    host.on_request = None
    host.settle()
    assert [pull.state for pull in repository.pull_requests] == ["open"]
    again = example.run()
    assert (again.exit_code, again.outputs["declined"]) == (0, "0"), again.console
    assert repository.files(BRANCH) == EXPECTED | theirs
    assert example.run().outputs["pull_request_operation"] == "none"


@pytest.mark.parametrize("is_listed", [False, True])
def test_a_branch_that_moves_on_before_every_commit_is_not_read_for_ever(
    host: StandInHost, example: Example, is_listed: bool
) -> None:
    """Somebody pushes another file each time, or adds a listed one and takes it out again."""
    first, *_, last = MISSING
    listed = example.action.listing_of({first: MISSING[first].decode()}, name=LIST)
    example.run(definitions=listed).or_fail()
    write_list(example.action)
    expected = set[str]()

    def act(request: Request) -> None:
        if request.json and "createCommitOnBranch" in request.json.get("query", ""):
            expected.add(request.json["variables"]["commit"]["expectedHeadOid"])
            if len(expected) < 40:
                there = is_listed and last in example.repository.files(BRANCH)
                path = last if is_listed else f"{request.number}.txt"
                changes = {path: None if there else b"theirs\n"}
                example.repository.person.commit(changes, branch=BRANCH)

    host.on_request = act
    example.run().or_fail()
    # The first commit, and one after each of the readings, which begin again once with headway
    assert len(expected) == 7 + is_listed
    assert example.repository.files(BRANCH).keys() | {last} >= EXPECTED.keys()
