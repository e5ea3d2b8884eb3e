"""Several lists for one repository: each has a pull request of its own."""

from __future__ import annotations

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH, Action, Run, Start, only_reads

MANY = {"target_repos": "octo/*"}


def register(start: Start, action: Action, name: str, paths: str, **more: str | None) -> Run:
    """Run with a list in a file of this name."""
    return start(definitions=action.write(name, f"files: [{paths}]\n"), **more)


def named(start: Start, action: Action, name: str, path: str = "list.yml", **more: str) -> None:
    """Run with a list of this name."""
    listed = action.write(path, f"name: {name}\nfiles: [a]\n")
    start(more, definitions=listed).or_fail()


def shown(repository: Repository) -> list[tuple[str, str]]:
    """Branch and state of every pull request."""
    return [(pull.head, pull.state) for pull in repository.pull_requests]


def test_lists_without_names_are_told_apart_by_their_paths(
    single: Start, action: Action, repository: Repository
) -> None:
    assert register(single, action, "one.yml", "a").exit_code == 0
    [first] = repository.pull_requests
    text = first.body
    run = register(single, action, "two.yml", "b", body="Mine")
    assert (run.exit_code, run.outputs["branch"]) == (0, f"{LIST_BRANCH}-2"), run.text
    assert shown(repository) == [(LIST_BRANCH, "open"), (f"{LIST_BRANCH}-2", "open")]
    assert first.body == text
    assert repository.files(LIST_BRANCH).keys() - repository.files().keys() == {"a"}
    second = repository.pull_requests[1]
    for place in (run.stdout, run.summary, second.body or ""):
        assert "#1" in place, "that it goes around another list's"
    text_of_second = second.body
    again = register(single, action, "two.yml", "b")
    assert (again.outputs["pull_request_operation"], second.body) == ("none", text_of_second)
    assert "#1" in again.summary
    for name, paths in (("./one.yml", "a, c"), ("x/../two.yml", "b, d")):
        action.write("x/.keep", "")
        again = register(single, action, name, paths).or_fail()
    assert len(repository.pull_requests) == 2
    assert repository.files(LIST_BRANCH).keys() - repository.files().keys() == {"a", "c"}
    assert repository.files(f"{LIST_BRANCH}-2").keys() - repository.files().keys() == {"b", "d"}


PLACES = {
    "a shell at the root": (".", "config/list.yml", "", False),
    "a shell in a folder": ("config/deep", "../list.yml", "", False),
    "a shell elsewhere": ("..", "workspace/config/list.yml", "", False),
    "a workflow": (".", "config/list.yml", ".", False),
    "a workflow in a folder": ("config", "config/list.yml", ".", False),
    "a workflow with several checkouts": ("..", "workspace/config/list.yml", "..", False),
    "an option in a workflow": ("config", "list.yml", ".", True),
    "an absolute path": ("..", "{workspace}/config/list.yml", "", True),
    "an absolute path in a workflow": ("..", "{workspace}/config/list.yml", ".", False),
    "a link to it": (".", "config/link.yml", "", False),
}
"""Working directory, path of the list, workspace of the runner, and whether it is an option."""


@pytest.mark.parametrize("place", PLACES)
def test_a_list_without_a_name_is_the_same_wherever_it_is_started(
    place: str, action: Action, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, given, runners, is_option = PLACES[place]
    listed = "files: [{path: a, content_file: ../texts/a}]\n"
    assert action(definitions=action.write("config/list.yml", listed)).exit_code == 2
    action.write("texts/a", "text\n")
    assert action(definitions="config/list.yml").exit_code == 0
    (action.workspace / "config/deep").mkdir()
    (action.workspace / "config/link.yml").symlink_to("list.yml")
    given = given.replace("{workspace}", str(action.workspace))
    monkeypatch.chdir(action.workspace / directory)
    inputs = {"profile": None, "definitions": None if is_option else given}
    environ = action.environment(inputs)
    if runners:
        environ["GITHUB_WORKSPACE"] = str((action.workspace / runners).resolve())
    run = action.start(environ, *(("--definitions", given) if is_option else ()))
    assert (run.exit_code, run.outputs["created"]) == (0, "0"), run.text
    assert shown(repository) == [(LIST_BRANCH, "open")]


def test_in_a_shell_nothing_outside_of_the_lists_repository_is_read(
    action: Action, host: StandInHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a repository, nothing outside of its folder."""
    action.write("list.yml", "files: [{path: a, content_file: ../outside}]\n")
    (action.directory / "outside").write_text("secret")
    monkeypatch.chdir(action.directory)
    for remove in (True, False):
        run = action(definitions="workspace/list.yml", language="en")
        assert "../outside: the file is outside the workspace." in run.stderr
        if remove:
            (action.workspace / ".git").rmdir()
    assert host.requests == []


def test_what_one_list_was_refused_another_one_may_propose(
    single: Start, action: Action, repository: Repository
) -> None:
    register(single, action, "one.yml", "a, b")
    repository.person.close(1)
    assert register(single, action, "one.yml", "a, b").outputs["created"] == "0"
    assert register(single, action, "two.yml", "a").outputs["created"] == "1"
    assert shown(repository) == [(LIST_BRANCH, "closed"), (f"{LIST_BRANCH}-2", "open")]


def test_a_list_with_another_name_starts_anew(
    single: Start, action: Action, repository: Repository
) -> None:
    for name in ("old", "new", "new"):
        named(single, action, name)
    both = ["chore/add-old-files", "chore/add-new-files"]
    assert shown(repository) == [(branch, "open") for branch in both]
    repository.person.close(1)
    repository.person.close(2)
    named(single, action, "newest")
    assert shown(repository)[-1] == ("chore/add-newest-files", "open")
    # As long as it has a name, it keeps its pull request when its file is moved
    named(single, action, "newest", ".github/other.yml")
    assert len(shown(repository)) == 3


@pytest.mark.parametrize(
    ("name", "given", "empty", "used"),
    [
        # Nobody but us would choose the name of the list: an empty branch is a run's leftover
        ("", {}, LIST_BRANCH, LIST_BRANCH),
        ("", {"branch": LIST_BRANCH}, LIST_BRANCH, LIST_BRANCH),
        ("service", {}, "chore/add-service-files", "chore/add-service-files"),
        # Without its name there, nobody knows whose it is
        ("service", {"branch": "service"}, "service", "service-2"),
        ("", {"branch": "wip"}, "wip", "wip-2"),
    ],
)
def test_a_branch_without_a_commit_is_continued_where_the_list_has_named_it(
    single: Start,
    action: Action,
    repository: Repository,
    name: str,
    given: dict[str, str],
    empty: str,
    used: str,
) -> None:
    repository.person.create_branch(empty)
    listed = action.write("list.yml", f"name: {name}\nfiles: [a]\n" if name else "[a]")
    single(given, definitions=listed).or_fail()
    assert shown(repository) == [(used, "open")]
    assert used == empty or repository.head(empty) == repository.head()


def test_many_repositories_and_one_agree_on_which_list_it_is(
    single: Start, action: Action, repository: Repository
) -> None:
    def many(name: str, paths: str, mode: str = "register") -> Run:
        more = {**MANY, "mode": mode}
        return register(action, action, name, paths, language="en", **more)

    register(single, action, "one.yml", "a")
    assert many("one.yml", "a").outputs["created"] == "0"
    many("two.yml", "b", "plan").or_fail()
    many("two.yml", "b").or_fail()
    register(single, action, "two.yml", "b, c")
    assert shown(repository) == [(LIST_BRANCH, "open"), (f"{LIST_BRANCH}-2", "open")]
    added = repository.files(f"{LIST_BRANCH}-2").keys() - repository.files().keys()
    assert added == {"b", "c"}


def test_over_many_the_text_is_brought_up_to_date_only_together_with_the_branch(
    single: Start, action: Action, host: StandInHost, repository: Repository
) -> None:
    register(single, action, "list.yml", "a, old", **MANY)
    [pull] = repository.pull_requests
    text = pull.body
    host.requests.clear()
    register(single, action, "list.yml", "a", **MANY)
    assert (pull.body, only_reads(host)) == (text, True)
    register(single, action, "list.yml", "a, new", **MANY)
    assert "| `old` | added (no longer listed) |" in (pull.body or "")
    assert len(repository.pull_requests) == 1
