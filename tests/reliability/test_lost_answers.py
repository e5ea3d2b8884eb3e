"""If the answer to a write was lost, a run finds that it was applied, and does not repeat it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import pytest

from registrar.registration.mark import BEGIN, EMPTY_MARK, END
from tests.fakehub import Fault, FaultKind, Lag, Refusal, Repository, Request, StandInHost, Symptom
from tests.harness import (
    LIST_BRANCH,
    SINGLE,
    STRATEGIES,
    Action,
    Run,
    calls,
    inject_fault,
    is_read,
    meanwhile,
    refuse,
    shortened,
)

PATHS = ("a.md", "b.md", "c.md")
WRITES = ("POST git/refs", "PUT contents/b.md", "POST pulls")
LOST = (FaultKind.ERROR_502_HTML, FaultKind.CLOSED, FaultKind.EMPTY_200)


def run(action: Action, paths: Sequence[str] = PATHS, /, **inputs: str) -> Run:
    """Run the action with a list of these files; by default there are three."""
    listed = action.listing(*paths)
    return action({"language": "en", "definitions": listed, **inputs})


def lose(host: StandInHost, call: str, kind: FaultKind, times: int | None = 1) -> Fault:
    """Let the host apply a call and lose its answer, ``times`` times (None: always)."""
    return inject_fault(host, call, kind, times=times, when="after")


def all_created_once(ended: Run, repository: Repository) -> None:
    """Assert that the run has created and counted everything once, as without a lost answer."""
    assert ended.exit_code == 0, ended.text
    counts = {name: ended.outputs[name] for name in ("created", "skipped", "failed")}
    assert counts == {"created": "3", "skipped": "0", "failed": "0"}
    assert ended.outputs["branch"] == LIST_BRANCH
    assert ended.outputs["pull_request_operation"] == "created"
    assert repository.branches == [LIST_BRANCH, "main"]
    assert [c.paths for c in repository.log(LIST_BRANCH)[:-1]] == [(p,) for p in PATHS[::-1]]
    assert repository.files(LIST_BRANCH) == repository.files() | dict.fromkeys(PATHS, b"\n")
    [pull] = repository.pull_requests
    assert ended.outputs["pull_request_number"] == str(pull.number)
    assert (pull.body or "").count("| added |") == len(PATHS)


@pytest.mark.parametrize("call", WRITES)
def test_the_answer_is_lost_at_every_try(
    action: Action, host: StandInHost, repository: Repository, call: str
) -> None:
    fault = lose(host, call, FaultKind.ERROR_500, times=None)
    ended = run(action)
    assert len(fault.hits) > 3
    all_created_once(ended, repository)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_branch_of_ones_own_name_whose_making_was_lost_is_used(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    """Only the lost answer shows that the branch without commits is ours."""
    host.refused_mutations = {"createRef": Refusal(422, "Not now", kind="UNPROCESSABLE")}
    lost = lose(host, "POST git/refs", FaultKind.ERROR_500, times=None)
    ended = run(action, branch="own", commit_strategy=strategy)
    assert lost.hits
    assert (ended.exit_code, ended.outputs["created"]) == (0, "3"), ended.text
    assert repository.branches == ["main", "own"]


def states(ended: Run) -> dict[str, str]:
    """Return the outcome of each file."""
    return {file["path"]: file["done"] for file in ended.registration["files"]}


def all_unknown(ended: Run) -> None:
    """Assert that the run does not know whether it has created the files."""
    assert ended.outputs["branch"] == LIST_BRANCH
    assert set(states(ended).values()) == {"unknown"}
    assert "GitHub has refused every commit" not in ended.text


def finished_by_another_run(action: Action, repository: Repository) -> None:
    """Assert that another run finishes the work when GitHub answers again."""
    action.host.faults.clear()
    again = run(action, commit_strategy="single")
    assert (again.exit_code, len(repository.pull_requests)) == (0, 1), again.text
    assert set(repository.files(LIST_BRANCH)) == {*repository.files(), *PATHS}


def creates(path: str) -> str:
    return f"PUT contents/{path}"


def is_call(call: str) -> Callable[[Request], bool]:
    return lambda request: shortened(request) == call


@pytest.mark.parametrize(
    ("content", "is_lost", "created"),
    [(b"somebody's own\n", True, "2"), (b"\n", True, "3"), (b"\n", False, "2")],
    ids=["another", "the same", "the same, and no answer was lost"],
)
def test_who_came_first_is_decided_by_the_content(
    action: Action,
    host: StandInHost,
    repository: Repository,
    content: bytes,
    is_lost: bool,
    created: str,
) -> None:
    come_first = partial(repository.person.commit, {"b.md": content}, branch=LIST_BRANCH)
    meanwhile(host, is_call(creates("b.md")), come_first)
    if is_lost:
        inject_fault(host, creates("b.md"), FaultKind.CLOSED)
    ended = run(action).or_fail()
    assert repository.files(LIST_BRANCH)["b.md"] == content
    skipped = str(len(PATHS) - int(created))
    assert (ended.outputs["created"], ended.outputs["skipped"]) == (created, skipped)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("theirs", [b"mine\n", None], ids=["edited", "deleted"])
def test_a_file_that_somebody_changes_before_the_branch_is_read_again_is_theirs(
    action: Action, host: StandInHost, repository: Repository, strategy: str, theirs: bytes | None
) -> None:
    """The run has skipped the file already, when the branch still had it as listed."""
    run(action, PATHS[:1], commit_strategy=strategy)
    request = commits if strategy == SINGLE else is_call(creates("c.md"))
    lost = host.faults.add(Fault(FaultKind.CLOSED, match=request, when="after", times=1))
    change = partial(repository.person.commit, {"a.md": theirs}, branch=LIST_BRANCH)
    meanwhile(host, lambda _: bool(lost.hits), change)
    ended = run(action, commit_strategy=strategy)
    assert (ended.exit_code, len(lost.hits)) == (0, 1), ended.text
    [first] = (each for each in ended.registration["files"] if each["path"] == "a.md")
    # With `per-file`, only the file of the lost answer is looked at again
    is_seen_again = strategy == SINGLE and theirs is None
    standing = "declined" if is_seen_again else "proposed"
    assert (first["done"], first["standing"]) == ("skipped", standing), ended.text
    listed = action.listing_of(dict.fromkeys(PATHS, "changed\n"))
    action({"language": "en", "definitions": listed, "commit_strategy": strategy}).or_fail()
    files = repository.files(LIST_BRANCH)
    assert (files.get("a.md"), files["b.md"]) == (theirs, b"changed\n")


def test_a_pull_request_that_only_the_whole_list_shows_is_found(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    def of_branch(request: Request) -> bool:
        return shortened(request) == "GET pulls" and "head=" in request.raw_target

    host.faults.change(lambda _, right: replace(right, body=[]), of_branch)
    lose(host, "POST pulls", FaultKind.CLOSED)
    all_created_once(run(action), repository)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_note_is_not_repeated_when_the_branch_is_read_again(
    action: Action, host: StandInHost, repository: Repository, strategy: str
) -> None:
    run(action, PATHS[:2], commit_strategy=strategy)
    repository.person.commit({"a.md": b"mine\n"}, branch=LIST_BRANCH)
    repository.person.commit({"b.md": b"others\n"})
    request = commits if strategy == SINGLE else is_call(creates("c.md"))
    lost = host.faults.add(Fault(FaultKind.CLOSED, match=request, when="after", times=1))
    given = {"definitions": action.listing_of({"a.md": "A\n", "b.md": "B\n", "c.md": "C\n"})}
    ended = action(given, language="en", commit_strategy=strategy).or_fail()
    assert lost.hits
    for note in ("Not updated in #1", "Conflict: #1"):
        assert ended.console.count(note) == 1, ended.console
        assert sum(note in each for each in ended.registration["notes"]) == 1


def test_a_lost_answer_that_cannot_be_read_back_is_unknown(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    lose(host, creates("b.md"), FaultKind.ERROR_500)

    def refuse_to_read(request: Request) -> bool:
        return request.method == "GET" and creates("b.md") in calls(host)

    refuse(host, refuse_to_read, 451, message="No.")
    ended = run(action)
    assert ended.exit_code == 1
    assert (ended.outputs["created"], ended.outputs["failed"]) == ("2", "1")
    assert "`b.md` | unknown" in ended.summary

    host.faults.clear()
    run(action).or_fail()
    assert [c.paths for c in repository.log(LIST_BRANCH)[:-1]] == [(p,) for p in PATHS[::-1]]
    [pull] = repository.pull_requests
    assert (pull.body or "").count("| added |") == len(PATHS)


def test_answers_that_are_lost_for_one_file_after_the_other_are_headway(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    paths = [f"{name}.md" for name in "abcdefghij"]
    lost = host.faults.add(Fault(FaultKind.CLOSED, match=puts, when="after", times=None))
    ended = run(action, paths).or_fail()
    assert (ended.outputs["created"], len(lost.hits) > 9) == ("10", True), ended.text
    assert repository.files(LIST_BRANCH).keys() > set(paths)


def test_after_a_path_was_looked_at_alone_the_branch_is_not_read_again(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    lose(host, creates("b.md"), FaultKind.ERROR_500)
    refuse(host, creates("c.md"), 403, message="No")
    ended = run(action)
    assert (ended.outputs["created"], ended.outputs["failed"]) == ("2", "1"), ended.text
    since = calls(host)[calls(host).index(creates("c.md")) + 1 :]
    assert [each for each in since if each.startswith("GET")] == []
    assert len(repository.pull_requests) == 1


def test_a_token_that_is_rejected_when_the_branch_is_read_again_ends_the_run(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    del repository
    lost = lose(host, creates("b.md"), FaultKind.ERROR_500)
    refuse(host, lambda r: bool(lost.hits), 401, message="Bad credentials")
    ended = run(action)
    assert (ended.exit_code, ended.outputs["created"]) == (1, "1"), ended.text
    assert creates("c.md") not in calls(host)


def test_a_pull_request_of_somebody_faster_is_not_taken_for_our_own(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    """The request with the lost answer was not applied, so this run does not request a review."""

    come_first = partial(repository.person.open_pull_request, head=LIST_BRANCH, body="Theirs")
    meanwhile(host, is_call("POST pulls"), come_first)
    inject_fault(host, "POST pulls", FaultKind.CLOSED)
    ended = run(action, reviewers="monalisa").or_fail()
    assert ended.outputs["pull_request_operation"] == "updated"
    [pull] = repository.pull_requests
    assert pull.reviewers == []


def test_a_pull_request_of_another_list_that_exists_already_stays_as_it_is(
    action: Action, host: StandInHost, repository: Repository
) -> None:
    theirs = f"{BEGIN}\n{EMPTY_MARK.naming('profile other', {}).text}\n{END}"

    come_first = partial(repository.person.open_pull_request, head=LIST_BRANCH, body=theirs)
    meanwhile(host, is_call("POST pulls"), come_first)
    ended = run(action)
    assert (ended.exit_code, ended.outputs["created"]) == (1, "3"), ended.text
    assert [pull.body for pull in repository.pull_requests] == [theirs]


REFUSALS = {404: "Not Found", 401: "Bad credentials", 403: "Forbidden", 429: "Slow down."}


@pytest.mark.parametrize("status", REFUSALS)
@pytest.mark.parametrize("kind", LOST)
def test_one_commit_that_cannot_be_read_back_is_unknown(
    action: Action, host: StandInHost, repository: Repository, kind: FaultKind, status: int
) -> None:
    """If GitHub refuses to read the branch, this does not show that nothing was written."""
    host.faults.add(Fault(kind, at=2, when="after"))
    refused = refuse(host, lambda _: True, status, at=3, message=REFUSALS[status])
    ended = run(action, commit_strategy="single", max_wait_minutes="0.5")
    assert refused.hits
    assert ended.exit_code == 1, ended.text
    assert (ended.outputs["created"], ended.outputs["failed"]) == ("0", "3")
    all_unknown(ended)
    assert "GitHub's answer was lost" in ended.summary
    finished_by_another_run(action, repository)


@pytest.mark.parametrize("status", [403, 429])
def test_a_commit_on_a_branch_that_cannot_be_read_back_is_unknown(
    action: Action, host: StandInHost, repository: Repository, status: int
) -> None:
    """The run then tries each file alone. If GitHub refuses that, the files stay unknown."""
    host.quirks.lag = Lag(answers=1, symptoms=(Symptom.COMMIT_STALE,))
    host.faults.add(Fault(FaultKind.CLOSED, at=3, when="after"))
    refuse(host, reads, 403)
    refuse(host, puts, status)
    ended = run(action, commit_strategy="single", max_wait_minutes="0.5")
    assert ended.exit_code == 1, ended.text
    assert set(repository.files(LIST_BRANCH)) > set(PATHS)
    all_unknown(ended)
    finished_by_another_run(action, repository)


@pytest.mark.parametrize("when", ["before", "after"])
def test_one_commit_whose_branch_is_not_found_is_unknown(
    action: Action, host: StandInHost, repository: Repository, when: Literal["before", "after"]
) -> None:
    """Right after a write, "Not Found" can be lag, which cannot be told from a missing write."""
    host.faults.add(Fault(FaultKind.CLOSED, match=lambda r: not is_read(r), when=when))
    if when == "after":
        refuse(host, lambda r: is_read(r) and "/git/ref" in r.path, 404, message="Not Found")
    refused = inject_fault(host, "POST git/refs", status=403, message="Forbidden")
    ended = run(action, commit_strategy="single")
    assert refused.hits
    assert ended.exit_code == 1, ended.text
    assert (LIST_BRANCH in repository.branches) == (when == "after")
    all_unknown(ended)
    finished_by_another_run(action, repository)


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize("earlier", ["a.md", "b.md"])
def test_a_commit_on_a_continued_branch_that_cannot_be_read_back_is_unknown(
    action: Action, host: StandInHost, repository: Repository, status: int, earlier: str
) -> None:
    """A file of an earlier run is known to exist, and counts as in any other second run."""
    lost, unread = lose_a_later_commit(action, host, earlier)
    unread.times = None
    refused = refuse(host, puts, status)
    ended = run(action, commit_strategy="single", max_wait_minutes="0.5")
    assert lost.hits
    assert unread.hits
    assert refused.hits
    assert ended.exit_code == 1, ended.text
    assert set(repository.files(LIST_BRANCH)) > set(PATHS)
    not_reached = status == 429 and earlier != PATHS[0]
    known = "pending" if not_reached else "skipped"
    assert states(ended) == dict.fromkeys(PATHS, "unknown") | {earlier: known}

    host.faults.clear()
    again = run(action, commit_strategy="single")
    assert (again.exit_code, again.outputs["skipped"]) == (0, "3"), again.text
    assert len(repository.pull_requests) == 1
    assert len(repository.log(LIST_BRANCH)) == 3


@pytest.mark.parametrize(
    ("earlier", "unreadable"),
    # The reads that fail are the last one before the commit is repeated, and the one after it
    [("a.md", 0), ("b.md", 0), ("a.md", 1), ("b.md", 1), ("a.md", 2)],
)
def test_a_commit_on_a_continued_branch_whose_files_can_be_read_back_is_counted(
    action: Action, host: StandInHost, repository: Repository, earlier: str, unreadable: int
) -> None:
    """If GitHub then refuses the single files, the run looks for them on the branch."""
    lost, unread = lose_a_later_commit(action, host, earlier)
    unread.times = unreadable
    refuse(host, puts, 403)
    ended = run(action, commit_strategy="single")
    assert lost.hits
    assert len(unread.hits) == unreadable
    assert ended.exit_code == 0, ended.text
    assert states(ended) == dict.fromkeys(PATHS, "created") | {earlier: "skipped"}
    assert len(repository.log(LIST_BRANCH)) == 3


def lose_a_later_commit(action: Action, host: StandInHost, earlier: str) -> tuple[Fault, Fault]:
    """Open a pull request with one file, and let the answer to the next commit be lost.

    Returns the faults of that commit, and of the reads after it.
    """
    assert run(action, [earlier], commit_strategy="single").exit_code == 0
    lost = Fault(FaultKind.CLOSED, match=commits, when="after")
    unread = Fault(
        FaultKind.CUSTOM, match=lambda request: reads(request) and bool(lost.hits), status=403
    )
    return host.faults.add(lost), host.faults.add(unread)


def reads(request: Request) -> bool:
    return request.method == "GET"


def puts(request: Request) -> bool:
    return request.method == "PUT"


def commits(request: Request) -> bool:
    """Return whether a request can write a commit or create a branch, but not a description."""
    return not is_read(request) and request.method == "POST"
