"""Several lists for one repository: each has a pull request of its own."""

from __future__ import annotations

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import TARGET, Action, Run, Start, only_reads

UNNAMED = "chore/add-missing-files"


def register(action: Action, strategy: str, name: str, paths: str, **more: str | None) -> Run:
    """Run with a list in a file of this name."""
    listed = action.write(name, f"files: [{paths}]\n")
    given = {"definitions": listed, "profile": None, "commit_strategy": strategy, **more}
    return action(**{"language": "en", **given})  # type: ignore[arg-type]


def shown(repository: Repository) -> list[tuple[str, str]]:
    """Branch and state of every pull request."""
    return [(pull.head, pull.state) for pull in repository.pull_requests]


def test_lists_without_names_are_told_apart_by_their_paths(
    strategy: str, action: Action, repository: Repository
) -> None:
    assert register(action, strategy, "one.yml", "a").exit_code == 0
    [first] = repository.pull_requests
    text = first.body
    run = register(action, strategy, "two.yml", "b", body="Mine")
    assert (run.exit_code, run.outputs["branch"]) == (0, f"{UNNAMED}-2"), run.text
    assert shown(repository) == [(UNNAMED, "open"), (f"{UNNAMED}-2", "open")]
    assert first.body == text
    assert repository.files(UNNAMED).keys() - repository.files().keys() == {"a"}
    second = repository.pull_requests[1]
    for place in (run.stdout, run.summary, second.body or ""):
        assert "#1" in place, "that it goes around another list's"
    text_of_second = second.body
    again = register(action, strategy, "two.yml", "b")
    assert (again.outputs["pull_request_operation"], second.body) == ("none", text_of_second)
    assert "#1" in again.summary
    for name, paths in (("./one.yml", "a, c"), ("x/../two.yml", "b, d")):
        action.write("x/.keep", "")
        again = register(action, strategy, name, paths)
        assert again.exit_code == 0, again.text
    assert len(repository.pull_requests) == 2
    assert repository.files(UNNAMED).keys() - repository.files().keys() == {"a", "c"}
    assert repository.files(f"{UNNAMED}-2").keys() - repository.files().keys() == {"b", "d"}


def test_what_one_list_was_refused_another_one_may_propose(
    strategy: str, action: Action, repository: Repository
) -> None:
    register(action, strategy, "one.yml", "a, b")
    repository.close(1)
    assert register(action, strategy, "one.yml", "a, b").outputs["created"] == "0"
    assert register(action, strategy, "two.yml", "a").outputs["created"] == "1"
    assert shown(repository) == [(UNNAMED, "closed"), (f"{UNNAMED}-2", "open")]


def test_a_list_with_another_name_starts_anew(
    start: Start, action: Action, repository: Repository
) -> None:
    for name in ("old", "new", "new"):
        listed = action.write("list.yml", f"name: {name}\nfiles: [a]\n")
        run = start(definitions=listed, profile=None)
        assert run.exit_code == 0, run.text
    assert shown(repository) == [
        ("chore/add-old-files", "open"),
        ("chore/add-new-files", "open"),
    ]
    repository.close(1)
    repository.close(2)
    listed = action.write("list.yml", "name: newest\nfiles: [a]\n")
    assert start(definitions=listed, profile=None).exit_code == 0
    assert shown(repository)[-1] == ("chore/add-newest-files", "open")


def test_a_list_keeps_its_pull_request_when_its_file_is_moved(
    start: Start, action: Action, repository: Repository
) -> None:
    """As long as it has a name."""
    for path in ("list.yml", ".github/other.yml"):
        listed = action.write(path, "name: service\nfiles: [a]\n")
        run = start(definitions=listed, profile=None)
        assert run.exit_code == 0, run.text
    assert shown(repository) == [("chore/add-service-files", "open")]


@pytest.mark.parametrize(
    ("given", "branch"),
    [
        ({}, "chore/add-service-files"),
        # Nobody knows whose it is
        ({"branch": "service"}, "service-2"),
    ],
)
def test_a_branch_without_a_commit_is_continued_where_the_list_has_named_it(
    start: Start, action: Action, repository: Repository, given: dict[str, str], branch: str
) -> None:
    repository.create_branch(branch.removesuffix("-2"))
    listed = action.write("list.yml", "name: service\nfiles: [a]\n")
    run = start(given, definitions=listed, profile=None)
    assert run.exit_code == 0, run.text
    assert shown(repository) == [(branch, "open")]


def test_a_list_of_ones_own_with_a_profile_is_not_the_built_in_one(
    start: Start, action: Action, repository: Repository
) -> None:
    assert start(profile="health").exit_code == 0
    listed = action.write("list.yml", "files: [a]\n")
    run = start(profile="health", definitions=listed)
    assert run.exit_code == 0, run.text
    branch = repository.pull_requests[0].head
    assert shown(repository) == [(branch, "open"), (f"{branch}-2", "open")]


def test_many_repositories_and_one_agree_on_which_list_it_is(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    def many(name: str, paths: str, mode: str = "register") -> Run:
        more = {"target_repo": "", "target_repos": "octo/*", "mode": mode}
        return register(action, "single", name, paths, **more)

    register(action, "single", "one.yml", "a")
    assert many("one.yml", "a").outputs["created"] == "0"
    plan = many("two.yml", "b", "plan")
    assert plan.exit_code == 0, plan.text
    run = many("two.yml", "b")
    assert run.exit_code == 0, run.text
    register(action, "per-file", "two.yml", "b, c")
    assert shown(repository) == [(UNNAMED, "open"), (f"{UNNAMED}-2", "open")]
    added = repository.files(f"{UNNAMED}-2").keys() - repository.files().keys()
    assert added == {"b", "c"}
    assert repository.full_name == TARGET


def test_over_many_the_text_is_brought_up_to_date_only_together_with_the_branch(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    more = {"target_repo": "", "target_repos": "octo/*"}
    register(action, "single", "list.yml", "a, old", **more)
    [pull] = repository.pull_requests
    text = pull.body
    host.requests.clear()
    register(action, "single", "list.yml", "a", **more)
    assert (pull.body, only_reads(host)) == (text, True)
    register(action, "single", "list.yml", "a, new", **more)
    assert "| `old` | added (no longer listed) |" in (pull.body or "")
    assert len(repository.pull_requests) == 1
