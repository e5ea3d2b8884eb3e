"""`single`: its requests, the one commit with its bytes, and what it costs in memory."""

from __future__ import annotations

import pytest

from registrar.github import graphql
from registrar.github.queries import NAMES_AT_ONCE
from registrar.registration.rest_writer import FILES_PER_COMMIT
from tests.contract.test_built_in_lists import HEALTH, SCAFFOLD
from tests.fakehub import Repository, StandInHost
from tests.harness import (
    HEALTH_BRANCH,
    LIST_BRANCH,
    SCAFFOLD_BRANCH,
    TARGET,
    Action,
    Start,
    calls,
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
    [(49, None, 0), (50, None, 1), (1, 0, 1)],
    ids=["read with it", "too many directories", "cut listings"],
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
    single(definitions=action.listing(*paths))
    host.requests.clear()
    host.quirks.most_entries = most_entries
    run = single(definitions=action.listing(*paths))
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


def test_more_files_than_one_commit_takes(
    single: Start, host: StandInHost, repository: Repository, action: Action
) -> None:
    count = FILES_PER_COMMIT + 1
    run = single(definitions=action.listing_of({f"{number:04}": "x" for number in range(count)}))
    assert run.exit_code == 0, run.text
    sizes = [len(commit.paths) for commit in repository.log(LIST_BRANCH)[:-1]]
    assert sizes == [1, FILES_PER_COMMIT]
    assert run.outputs["created"] == str(count)
    assert calls(host)[1:] == ["POST git/refs", GRAPHQL, GRAPHQL, "POST pulls"]
    assert len(repository.pull_requests) == 1


@pytest.mark.large
@pytest.mark.parametrize(("count", "most"), [(290, 8), (2_900, 80)])
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
    host.quirks.partial_above = graphql.DIRECTORIES_PER_QUERY + NAMES_AT_ONCE + 1
    count = graphql.DIRECTORIES_PER_QUERY
    run = single(definitions=action.listing_of({f"{number}/x": "x" for number in range(count)}))
    assert run.exit_code == 0, run.text
    assert calls(host) == [GRAPHQL] * 3
    assert len(repository.files(LIST_BRANCH)) == count + len(repository.files())


def test_later_queries_look_at_the_commit_of_the_first(
    single: Start, host: StandInHost, repository: Repository, action: Action
) -> None:
    base = repository.head()
    names = [f"{number:03}/x" for number in range(graphql.DIRECTORIES_PER_QUERY)]
    theirs = {names[-1]: b"theirs\n"}
    meanwhile(host, lambda request: request.number == 2, lambda: repository.commit(dict(theirs)))
    single(definitions=action.listing_of(dict.fromkeys(names, "ours"))).or_fail()
    assert queries(host)[1].json["variables"]["oid"] == base
    [commit, *_] = repository.log(LIST_BRANCH)
    assert commit.parents == (base,)
    assert repository.files()[names[-1]] == b"theirs\n"
    assert len(mutations(host)) == 1
