"""The steps of a release that speak with GitHub, against its stand-in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scripts.lib import release_host
from scripts.lib.release import Refused, Version
from scripts.lib.release_host import Host, begun, publish, tag
from tests.fakehub import FaultKind, Repository, StandInHost
from tests.harness import inject_fault

DIGEST = "sha256:" + "0123456789abcdef" * 4
ACTION = f"name: It\nruns:\n  using: docker\n  image: docker://127.0.0.1:5000/o/r@{DIGEST}\n"
VERSION, FINISHED = Version.parse("1.1.0-rc.1"), Version.parse("1.1.0")
FILES = {".github/workflows/ci.yml": b"on: push\n", "action.yml": b"name: It\n"}


@pytest.fixture
def server() -> Iterator[StandInHost]:
    with StandInHost() as host:
        yield host


@pytest.fixture
def repository(server: StandInHost) -> Repository:
    return server.create_repository("octo/registrar", FILES)


@pytest.fixture
def host(server: StandInHost, repository: Repository) -> Host:
    permissions = {"contents": "write"}
    token = server.create_token("installation", permissions=permissions)
    return Host(server.url, repository.full_name, token)


def test_the_tag_is_one_commit_beside_main(host: Host, repository: Repository) -> None:
    main = repository.head()
    assert begun(host, VERSION, main) == ""
    made = tag(host, VERSION, main, ACTION)
    assert repository.head() == main
    assert host.tagged("v1.1.0-rc.1") == made
    commit = repository.commit_at(made)
    assert [delta.new_file.path for delta in repository.changes(commit).deltas] == ["action.yml"]
    assert [str(parent) for parent in commit.parent_ids] == [main]
    assert release_host.action_yml_at(host, made) == ACTION


def test_a_run_that_was_stopped_after_the_tag_is_finished_by_the_next(
    host: Host, server: StandInHost, repository: Repository
) -> None:
    main = repository.head()
    made = tag(host, FINISHED, main, ACTION)
    assert begun(host, FINISHED, main) == DIGEST
    assert tag(host, FINISHED, main, ACTION) == made
    publish(host, FINISHED, "Notes")
    assert (host.tagged("v1"), repository.releases["v1.1.0"].body) == (made, "Notes")
    with pytest.raises(Refused, match="is released already"):
        begun(host, FINISHED, main)


@pytest.mark.parametrize("call", ["POST git/trees", "POST git/commits", "POST git/refs"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_tag_may_be_tried_again(
    call: str, when: str, host: Host, server: StandInHost, repository: Repository
) -> None:
    inject_fault(server, call, FaultKind.ERROR_500, when=when)
    with pytest.raises(Refused, match="500"):
        tag(host, VERSION, repository.head(), ACTION)
    made = tag(host, VERSION, repository.head(), ACTION)
    assert host.tagged(VERSION.tag) == made


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", ["POST git/refs", "POST releases"])
def test_publishing_may_be_tried_again(
    call: str, when: str, host: Host, server: StandInHost, repository: Repository
) -> None:
    made = tag(host, FINISHED, repository.head(), ACTION)
    inject_fault(server, call, FaultKind.ERROR_500, when=when)
    with pytest.raises(Refused, match="500"):
        publish(host, FINISHED, "Notes")
    publish(host, FINISHED, "Notes")
    assert host.tagged("v1") == made
    assert list(repository.releases) == ["v1.1.0"]


def test_the_major_tag_moves_on(host: Host, repository: Repository) -> None:
    tag(host, FINISHED, repository.head(), ACTION)
    publish(host, FINISHED, "Notes")
    repository.commit({"new": b""})
    following = Version.parse("1.2.0")
    made = tag(host, following, repository.head(), ACTION)
    publish(host, following, "Notes")
    assert host.tagged("v1") == made


def test_a_pre_release_moves_no_tag(host: Host, repository: Repository) -> None:
    tag(host, VERSION, repository.head(), ACTION)
    publish(host, VERSION, "Notes")
    assert host.tagged("v1") == ""
    assert repository.releases["v1.1.0-rc.1"].is_prerelease


def test_a_tag_of_something_else_is_refused(host: Host, repository: Repository) -> None:
    main = repository.head()
    tag(host, VERSION, main, ACTION)
    repository.commit({"new": b""})
    with pytest.raises(Refused, match="was not made from this commit"):
        begun(host, VERSION, repository.head())
    for commit, action in ((repository.head(), ACTION), (main, ACTION + "#")):
        with pytest.raises(Refused, match="is not this release"):
            tag(host, VERSION, commit, action)


def test_no_tag_is_tried_that_github_would_refuse(
    host: Host, server: StandInHost, repository: Repository
) -> None:
    """Workflow files changed on main while the release was stuck."""
    main = repository.head()
    made = tag(host, FINISHED, main, ACTION)
    repository.commit({".github/workflows/ci.yml": b"on: pull_request\n"})
    before = len(server.requests)
    with pytest.raises(Refused, match=r"Workflow files changed on main.* Start a new release"):
        tag(host, VERSION, main, ACTION)
    with pytest.raises(Refused, match=f"git push --force origin {made}:refs/tags/v1"):
        publish(host, FINISHED, "Notes")
    assert {each.method for each in server.requests[before:]} == {"GET"}
