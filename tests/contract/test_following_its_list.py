"""An open pull request follows its list: what is still as this action wrote it, no more."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.example import Example
from tests.fakehub import (
    Executable,
    FaultKind,
    Repository,
    Request,
    StandInHost,
    Submodule,
    Symlink,
)
from tests.harness import LIST_BRANCH as BRANCH
from tests.harness import PER_FILE, Action, Run, inject_fault, is_read, shortened

OLD = {"SECURITY.md": "Write to security@example.com\n", "a.md": "A\n", "b.md": "B\n"}
NEW = OLD | {"SECURITY.md": "Write to psirt@example.com\n"}
BOTH = NEW | {"a.md": "A, too\n"}


def run(example: Example, contents: dict[str, str], **inputs: str) -> Run:
    done = example.run(definitions=example.action.listing_of(contents), **inputs)
    assert done.exit_code == 0, done.console
    return done


def content(repository: Repository, path: str = "SECURITY.md") -> str:
    written = repository.files(BRANCH)[path]
    assert isinstance(written, bytes)
    return written.decode()


def written(host: StandInHost) -> list[str]:
    return [shortened(each) for each in host.requests if not is_read(each)]


def states(done: Run) -> dict[str, str]:
    return {file["path"]: file["state"] for file in done.registration["files"]}


def test_what_the_action_wrote_gets_the_present_content(
    example: Example, host: StandInHost
) -> None:
    run(example, OLD)
    host.requests.clear()
    unchanged = run(example, OLD)
    before = len(host.requests)
    assert all(map(is_read, host.requests))
    assert unchanged.outputs["pull_request_operation"] == "none"
    host.requests.clear()
    done = run(example, NEW)
    assert content(example.repository) == NEW["SECURITY.md"]
    assert states(done) == {"SECURITY.md": "updated", "a.md": "skipped", "b.md": "skipped"}
    assert done.outputs["pull_request_operation"] == "updated"
    assert "to what the list gives now: SECURITY.md" in done.text
    assert written(host) == ["PATCH pulls/1", "POST /graphql"]
    assert len(host.requests) == before + 2
    [pull] = example.repository.pull_requests
    assert f"[updated]({pull.html_url}/commits)" in (pull.body or "")
    host.requests.clear()
    again = run(example, NEW)
    assert all(map(is_read, host.requests))
    assert len(host.requests) == before
    assert states(again) == dict.fromkeys(NEW, "skipped")
    back = run(example, OLD)
    assert content(example.repository) == OLD["SECURITY.md"]
    assert states(back)["SECURITY.md"] == "updated"


def test_with_new_files_the_description_comes_first(example: Example, host: StandInHost) -> None:
    run(example, OLD)
    host.requests.clear()
    done = run(example, BOTH | {"c.md": "C\n"})
    assert states(done) == {
        "SECURITY.md": "updated",
        "a.md": "updated",
        "b.md": "skipped",
        "c.md": "created",
    }
    assert content(example.repository, "c.md") == "C\n"
    assert content(example.repository, "a.md") == BOTH["a.md"]
    first, *rest = written(host)
    assert first == "PATCH pulls/1"
    assert "PATCH pulls/1" not in rest
    assert "GraphQL" not in done.text
    host.requests.clear()
    run(example, BOTH | {"c.md": "C\n"})
    assert all(map(is_read, host.requests))


def _edit(repository: Repository) -> None:
    repository.commit({"SECURITY.md": b"Mine"}, branch=BRANCH)


def _edit_and_back(repository: Repository) -> None:
    _edit(repository)
    repository.commit({"SECURITY.md": OLD["SECURITY.md"].encode()}, branch=BRANCH)


def _edit_another(repository: Repository) -> None:
    repository.commit({"x": b"x"}, branch=BRANCH)


def _rewrite_description(repository: Repository) -> None:
    repository.pull_requests[0].body = "Mine\n\n<!-- registrar:paths -->"


def _link(repository: Repository) -> None:
    repository.commit({"SECURITY.md": Symlink("a.md")}, branch=BRANCH)


def _submodule(repository: Repository) -> None:
    repository.commit({"SECURITY.md": Submodule("1" * 40)}, branch=BRANCH)


def _executable(repository: Repository) -> None:
    content = OLD["SECURITY.md"].encode()
    repository.commit({"SECURITY.md": Executable(content)}, branch=BRANCH)


def _mark_of_another(repository: Repository) -> None:
    """The description that an earlier pull request would have: its list began at another commit."""
    body = repository.pull_requests[0].body or ""
    head = repository.head(BRANCH)
    assert head
    begun = re.sub(r"(?<=registrar:commit )[0-9a-f]{40}", head, body)
    repository.pull_requests[0].body = begun


PEOPLE: dict[str, tuple[Callable[[Repository], None], str]] = {
    "edited": (_edit, "Mine"),
    "edited and back": (_edit_and_back, NEW["SECURITY.md"]),
    "another file": (_edit_another, NEW["SECURITY.md"]),
    "description without what was written": (_rewrite_description, OLD["SECURITY.md"]),
    "a link": (_link, ""),
    "a submodule": (_submodule, ""),
    "executable": (_executable, ""),
    "a mark of another pull request": (_mark_of_another, OLD["SECURITY.md"]),
}


@pytest.mark.parametrize("people", PEOPLE)
def test_what_people_changed_is_left_alone_and_named(example: Example, people: str) -> None:
    run(example, OLD)
    do, expected = PEOPLE[people]
    do(example.repository)
    before = example.repository.files(BRANCH)["SECURITY.md"]
    plan = run(example, NEW, mode="plan")
    done = run(example, NEW)
    after = example.repository.files(BRANCH)["SECURITY.md"]
    assert after == (expected.encode() if expected else before)
    is_left = expected != NEW["SECURITY.md"]
    for each in (plan, done):
        assert ("Left as they are in" in each.text) == is_left
    assert states(done)["SECURITY.md"] == ("skipped" if is_left else "updated")
    assert states(plan)["SECURITY.md"] == ("missing" if is_left else "to update")


def test_update_false_leaves_the_pull_request_as_it_is(example: Example, host: StandInHost) -> None:
    run(example, OLD)
    host.requests.clear()
    done = run(example, NEW | {"c.md": "C\n"}, update="false")
    assert all(map(is_read, host.requests))
    assert states(done) == dict.fromkeys([*NEW, "c.md"], "skipped")
    assert "`update: false` leaves the open pull request as it is" in done.summary.replace("\\", "")
    plan = run(example, NEW | {"c.md": "C\n"}, update="false", mode="plan")
    assert plan.registration["standings"]["missing"] == 1
    assert not re.search("To update|Run this", plan.text)
    assert plan.lines[-1] == "To add them, merge the open pull request."
    check = example.run(definitions="list.json", update="false", mode="check")
    assert "merge the open pull request.\n  Files: SECURITY.md, a.md, b.md, c.md" in check.stderr


def test_a_plan_shows_what_would_change(example: Example, host: StandInHost) -> None:
    run(example, OLD)
    host.requests.clear()
    plan = run(example, NEW | {"c.md": "C\n"}, mode="plan")
    assert all(map(is_read, host.requests))
    for text in (plan.stdout, plan.summary):
        change = ["-Write to security@example.com", "+Write to psirt@example.com"]
        assert "\n".join(["@@ -1 +1 @@", *change]) in text
        assert text.index("What would be created (1)") < text.index("What would change in the pull")
    assert len([each for each in host.requests if "/git/blobs/" in each.path]) == 1
    assert "To update in the pull request, to what the list gives now: SECURITY" in plan.text
    check = example.run(definitions="list.json", mode="check")
    assert check.exit_code == 1
    assert "The pull request does not hold what the list gives now." in check.text


def test_of_many_contents_only_the_paths_are_shown(example: Example, host: StandInHost) -> None:
    run(example, {f"{number}.md": f"{number}\n" for number in range(51)}, commit_strategy="single")
    host.requests.clear()
    plan = run(example, {f"{number}.md": f"New {number}\n" for number in range(51)}, mode="plan")
    assert not [each for each in host.requests if "/git/blobs/" in each.path]
    assert "0.md: to update (what it replaces was not read)" in plan.stdout


def test_a_branch_that_was_reset_to_an_earlier_commit_of_ours(example: Example) -> None:
    run(example, OLD)
    first = example.repository.head(BRANCH)
    run(example, NEW)
    example.repository.create_branch(BRANCH, first)
    run(example, NEW)
    assert content(example.repository) == NEW["SECURITY.md"]
    first = example.repository.head(BRANCH)
    run(example, NEW | {"c.md": "C\n"})
    example.repository.create_branch(BRANCH, first)
    # Nobody knows whether the file was dropped on purpose
    done = run(example, BOTH | {"c.md": "C\n"})
    assert "because they were rewritten" in done.text
    assert content(example.repository, "a.md") == OLD["a.md"]


def test_a_pull_request_to_another_branch_is_left_alone(example: Example) -> None:
    run(example, OLD)
    example.repository.create_branch("docs")
    example.repository.pull_requests[0].base = "docs"
    head = example.repository.head(BRANCH)
    run(example, NEW)
    assert example.repository.head(BRANCH) == head
    assert example.repository.files(f"{BRANCH}-2")["SECURITY.md"] == NEW["SECURITY.md"].encode()


def test_of_two_lists_with_one_name_of_the_branch_each_corrects_its_own(example: Example) -> None:
    run(example, OLD)
    other = {"SECURITY.md": "Theirs\n", "d.md": "D\n"}
    listing = example.action.listing_of(other)
    example.action.write("other.json", (example.action.workspace / listing).read_bytes())
    assert example.run(definitions="other.json").exit_code == 0
    run(example, NEW)
    assert content(example.repository) == NEW["SECURITY.md"]
    assert example.repository.files(f"{BRANCH}-2")["SECURITY.md"] == b"Theirs\n"


@pytest.mark.parametrize("kind", [FaultKind.HTML_200, FaultKind.ERROR_502_HTML, FaultKind.CLOSED])
def test_where_graphql_cannot_be_reached_it_stays_and_follows_later(
    action: Action, host: StandInHost, kind: FaultKind
) -> None:
    example = Example(action, PER_FILE)
    run(example, OLD)
    inject_fault(host, "POST /graphql", kind, times=None)
    done = run(example, NEW | {"c.md": "C\n"})
    assert content(example.repository) == OLD["SECURITY.md"]
    assert content(example.repository, "c.md") == "C\n"
    assert states(done)["SECURITY.md"] == "skipped"
    assert "GitHub's GraphQL API could not be reached" in done.text
    host.faults.clear()
    done = run(example, NEW | {"c.md": "C\n"})
    assert content(example.repository) == NEW["SECURITY.md"]
    assert "Left as they are in" not in done.text


def test_a_rule_that_refuses_the_commit_fails_the_file_and_nothing_is_lost(
    example: Example, host: StandInHost
) -> None:
    run(example, OLD)
    example.repository.protect(BRANCH)
    definitions = example.action.listing_of(NEW)
    for _ in range(2):
        done = example.run(definitions=definitions)
        assert (done.exit_code, states(done)["SECURITY.md"]) == (1, "failed"), done.console
        assert content(example.repository) == OLD["SECURITY.md"]
    example.repository.protections.clear()
    run(example, NEW)
    assert content(example.repository) == NEW["SECURITY.md"]


def test_what_somebody_removes_during_the_run_stays_away(
    example: Example, host: StandInHost
) -> None:
    run(example, OLD)

    def remove(request: Request) -> None:
        if request.method == "PATCH":
            host.on_request = lambda _: None
            example.repository.commit({"SECURITY.md": None}, branch=BRANCH)

    host.on_request = remove
    run(example, BOTH)
    assert "SECURITY.md" not in example.repository.files(BRANCH)
    assert content(example.repository, "a.md") == BOTH["a.md"]
    assert run(example, BOTH).outputs["declined"] == "1"


def test_where_the_description_has_no_room_it_stays(example: Example) -> None:
    run(example, OLD)
    [pull] = example.repository.pull_requests
    marks = (pull.body or "").partition("<!-- registrar:paths")[2]
    pull.body = f"{'x' * (65_536 - len(marks) - 90)}\n\n{pull.body}"
    head = example.repository.head(BRANCH)
    done = run(example, NEW)
    assert example.repository.head(BRANCH) == head
    assert "Its description has no room" in done.text
    assert states(done)["SECURITY.md"] == "skipped"
