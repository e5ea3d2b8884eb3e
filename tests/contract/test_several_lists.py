"""Several lists for one repository: each has a pull request of its own."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH, Action, Run, Start, only_reads

MANY = {"target_repos": "octo/*"}


def register(start: Start, action: Action, name: str, paths: str, **more: str | None) -> Run:
    """Run with a list in a file of this name."""
    return start(definitions=action.write(name, f"files: [{paths}]\n"), **more)


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


def test_a_list_without_a_name_is_the_same_wherever_it_is_started(
    action: Action, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = "files: [{path: a, content_file: ../texts/a}]\n"
    assert action(definitions=action.write("config/list.yml", listed)).exit_code == 2
    action.write("texts/a", "text\n")
    action(definitions="config/list.yml").or_fail()
    (action.workspace / "config/deep").mkdir()
    (action.workspace / "config/link.yml").symlink_to("list.yml")
    for place, (directory, written, runners, is_option) in PLACES.items():
        given = written.replace("{workspace}", str(action.workspace))
        monkeypatch.chdir(action.workspace / directory)
        inputs = {"profile": None, "definitions": None if is_option else given}
        environ = action.environment(inputs)
        if runners:
            environ["GITHUB_WORKSPACE"] = str((action.workspace / runners).resolve())
        run = action.start(environ, *(("--definitions", given) if is_option else ()))
        assert (run.exit_code, run.outputs["created"]) == (0, "0"), f"{place}: {run.text}"
        assert shown(repository) == [(LIST_BRANCH, "open")], place


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


# --- Lists at the same path in different repositories -----------------------------------------


@dataclass
class Two:
    """Two repositories with workflows, which have a list without a name at the same path."""

    action: Action
    more: dict[str, str]

    def __call__(self, place: str, paths: str, number: str = "", **more: str) -> Run:
        env = {"GITHUB_REPOSITORY": place, "GITHUB_REPOSITORY_ID": number}
        given = {"definitions": self.action.write("list.yml", f"[{paths}]"), **self.more, **more}
        return self.action(given, env=env, runner=bool(place), language="en")


@pytest.fixture(params=["per-file", "single", "many"])
def two(request: pytest.FixtureRequest, action: Action) -> Two:
    way = {"commit_strategy": request.param} if request.param != "many" else MANY
    return Two(action, way | {"workflow_visibility": "private"})


OTHERS = "a, {path: c, content: x}"
ELSEWHERE = "as it is, because it was opened for a list at the same path in another repository. If"


@pytest.mark.parametrize(
    ("two", "paths"),
    [("per-file", OTHERS), ("single", "a, b"), ("many", OTHERS), ("many", "a, b")],
    indirect=["two"],
)
def test_the_pull_request_of_a_list_in_another_repository_is_left_alone(
    two: Two, repository: Repository, paths: str
) -> None:
    two("octo/one", "a, b").or_fail()
    [pull] = repository.pull_requests
    body, head = pull.body, repository.head(pull.head)
    for mode in ("plan", "register", "withdraw", "register"):
        run = two("octo/two", paths, mode=mode).or_fail()
        assert ELSEWHERE in run.console, run.console
        assert ELSEWHERE in run.summary, run.summary
        assert "octo/one" not in run.text
    assert [*repository.pull_requests] == [pull]
    assert (pull.state, pull.body, repository.head(pull.head)) == ("open", body, head)
    assert {each for each in repository.branches if each != "main"} == {pull.head}
    assert "octo/one" not in (pull.body or "")
    # Also if it has become needless
    if paths == "a, b":
        repository.person.commit({"a": b"\n", "b": b"\n"})
        two("octo/two", "a").or_fail()
        assert (pull.state, pull.body) == ("open", body)
    else:
        run = two("octo/one", "a, b, d").or_fail()
        assert ELSEWHERE not in run.text
        assert "d" in repository.files(pull.head)


@pytest.mark.parametrize(
    ("place", "number"),
    [("Octo/ONE", ""), ("octo/renamed", "7"), ("octo/one", "8"), ("", "")],
    ids=["in another letter case", "renamed", "made anew", "in a shell"],
)
@pytest.mark.parametrize("two", ["single"], indirect=True)
def test_a_list_stays_the_same_in_its_repository(
    two: Two, repository: Repository, place: str, number: str
) -> None:
    two("octo/one", "a, b", "7").or_fail()
    two(place, "a, b, c", number).or_fail()
    [pull] = repository.pull_requests
    assert "c" in repository.files(pull.head)
    # A shell does not know the repository, so it keeps the known one
    assert ELSEWHERE in two("octo/two", "a, b, d", "9").text


def test_what_an_earlier_list_without_its_repository_was_refused_stays_declined(
    two: Two, repository: Repository
) -> None:
    """As for lists in other repositories, because nobody wants to say no twice."""
    two("", "a").or_fail()
    [pull] = repository.pull_requests
    assert "registrar:source" not in (pull.body or "")
    assert "d" in repository.files(two("octo/two", "a, d").or_fail().outputs["branch"] or pull.head)
    assert "registrar:source" in (pull.body or "")
    repository.person.close(1)
    for place in ("octo/one", "octo/two"):
        assert two(place, "a").or_fail().outputs["created"] == "0"
    assert len(repository.pull_requests) == 1


def test_a_list_that_was_moved_continues_after_its_pull_request_was_withdrawn(
    two: Two, repository: Repository
) -> None:
    two("octo/one", "a, b").or_fail()
    two("octo/one", "a, b", mode="withdraw").or_fail()
    two("octo/two", "a, b").or_fail()
    assert shown(repository) == [(LIST_BRANCH, "closed"), (LIST_BRANCH, "open")]
    # Another list does not propose the files of the withdrawn one
    two("octo/two", "a, b", mode="withdraw").or_fail()
    two("octo/three", "a").or_fail()
    assert shown(repository)[-1] == (f"{LIST_BRANCH}-2", "open")
