"""Many repositories: in each part of one story, all outputs say the same numbers."""

from __future__ import annotations

import itertools
import re
import signal
from collections.abc import Callable

import pytest

from tests.fakehub import Act, Repository, StandInHost
from tests.harness import Action, Run, SignalAt, Start, is_read
from tests.organisation import rows, states

FIRST = {"a.md": "A\n", "b.md": "B\n", ".github/c.yml": "c: 1\n"}
CHANGED = {**FIRST, "a.md": "A, too\n", "d.md": "D\n"}
DAY = 86_400
ALL = {"max_pull_requests": "300", "max_minutes": "120"}
NOT_FOUND = ("octo-org/gone", "octo-org/lost")


@pytest.fixture(params=[60, pytest.param(300, marks=pytest.mark.large)])
def made(host: StandInHost, request: pytest.FixtureRequest) -> list[Repository]:
    """Repositories in many states. Some take no file, and others are left out."""
    made: list[Repository] = []
    for number in range(request.param):
        files: dict[str, bytes] = {"README.md": b"# Here\n"}
        if number % 5 < 3:
            files |= {path: text.encode() for path, text in FIRST.items()}
        if number % 2 == 0:
            files["d.md"] = b"D\n"
        if number % 7 == 2:
            files["a.md"] = b"\n"
        if number % 10 == 6:
            files["b.md"] = b"theirs\n"
        if number % 11 == 1:
            files = {path: held for path, held in files.items() if "/" not in path}
            files[".github"] = b"a file\n"
        name = f"octo-org/r{number:03}"
        private = number % 3 == 1
        made.append(host.create_repository(name, files, private=private))
    refusing = made[3 :: len(made) // 8]
    for each in refusing:
        each.person.protect("chore/*", "ruleset")
    for each in made[5 :: len(made) // 6]:
        each.person.change(read_only=True)
    host.create_repository("octo-org/.github", {"README.md": b"# The defaults\n"})
    host.create_repository("octo-org/old", archived=True)
    host.create_repository("octo-org/new", empty=True)
    host.create_repository("octo-org/copy", parent="other/copy")
    return made


Register = Callable[..., Run]


@pytest.fixture
def register(action: Action, many: Start) -> Register:
    """Run, and leave the report, the table and the page, which the oracle compares."""

    def run(listed: dict[str, str] | None, days: float = 2, **inputs: str) -> Run:
        of_list = {"definitions": action.listing_of(listed)} if listed else {"profile": "all"}
        env = action.keeping
        if "workflow" in inputs:
            env["GITHUB_REPOSITORY"] = inputs.pop("workflow")
        done = many(**of_list, env=env, **inputs)
        if done.exit_code != 2:
            found = len(action.host.repositories) + sum(
                each in inputs.get("target_repos", "") for each in NOT_FOUND
            )
            selected = done.outputs["repositories"]
            assert f"Repositories selected: {selected} of {found}." in done.stdout
        action.clock.now += days * DAY
        return done

    return run


def test_every_output_says_what_the_host_holds(
    register: Register, made: list[Repository], host: StandInHost, action: Action
) -> None:
    """The oracle compares log, summary, page, table and report with each other and the host."""
    cap = len(made) // 10
    plan = register(FIRST, mode="plan", max_pull_requests=str(cap), days=0.1)
    run = register(FIRST, max_pull_requests=str(cap))
    assert states(run)["opened"] == cap
    tried = {name for name, state in rows(run).items() if state in {"opened", "failed"}}
    assert {*named(plan)} <= tried
    # What the run tells of the next one is what a plan tells then
    assert named(run) == named(register(FIRST, mode="plan", max_pull_requests=str(cap)))
    register(FIRST, target_repos=", ".join(("octo-org/*", *NOT_FOUND)), **ALL)
    people_work(made)
    public = made[0].full_name

    plan = register(CHANGED, mode="plan")
    found = {"waiting", "to update", "to close", "declined", "blocked", "not writable"}
    assert found <= states(plan).keys()
    run = register(CHANGED, **ALL)
    assert states(run)["updated"] == states(plan)["to update"]
    people_leave_descriptions(made)
    failed = [f"!{name}" for name, state in rows(run).items() if state == "failed"]
    without = {**ALL, "target_repos": ", ".join(("octo-org/*", *failed))}
    plan = register(CHANGED, mode="plan", days=0, **without)
    budget = plan.report["many"]["budget"]
    assert (budget["descriptions"], budget["updates"]) == (2 * len(made) // 30, 0)
    run = register(CHANGED, **without).or_fail()
    assert states(run)["conflicting"] == states(plan)["conflicting"] == len(made) // 30
    assert f"Descriptions updated: {budget['descriptions']}." in run.stdout
    register(CHANGED, mode="withdraw")
    killed(action, CHANGED, at=2 * cap)
    again = register(CHANGED, workflow=public, **ALL)
    assert states(again)["opened"] > cap
    assert "deferred" not in states(again)
    register(CHANGED, mode="check")
    register(CHANGED, mode="plan", workflow=public)
    ended = register(CHANGED, **ALL)
    assert "5 repositories in a row failed" in ended.report["many"]["stopped"]

    first = named(register(None, mode="plan"))[0]
    leaving = next(each for each in made if each.full_name == first)
    host.on_request = lambda request: None if is_read(request) else leaving.person.archive()
    table = action.rows(register(None, max_pull_requests="15"))
    assert (first, "not writable") in {(row["repository"], row["outcome"]) for row in table}
    host.on_request = None
    # All are read with others, and some of them alone
    dying = host.create_token(requests={60: 8, 300: 12}[len(made)])
    cut = register(CHANGED, mode="plan", host_token=dying)
    assert cut.exit_code == 2
    assert {"not read", "to open", "complete"} <= states(cut).keys()


def killed(action: Action, listed: dict[str, str], at: int) -> None:
    """Kill a run at one of its writes; its log names each pull request that it had opened."""
    given = {"definitions": action.listing_of(listed), "target_repos": "octo-org/*"}
    environ = action.environment({**given, **ALL, "language": "en"}) | {"CI": "true"}
    began, writes = len(action.host.journal), itertools.count(1)
    action.host.on_request = kill = SignalAt(
        signal.SIGKILL, lambda each: not is_read(each) and next(writes) == at
    )
    run = action.end(kill.to(action.begin_without_waiting(environ)), environ)
    action.host.on_request = None
    acts = [each for each in action.host.journal if each.number >= began and isinstance(each, Act)]
    opened = [each.repository.pull_request(each.pull_request or 0).html_url for each in acts]
    told = re.findall(r"http\S+/pull/\d+", run.stdout)
    # The answer about the last one may be lost
    assert (run.exit_code, len(opened) > 1) == (-signal.SIGKILL, True)
    assert [each for each in opened if each not in told] in ([], opened[-1:])


def people_leave_descriptions(made: list[Repository]) -> None:
    """Clear descriptions, and add other files at the paths of open pull requests, in some each."""
    pulls = {each: each.pull_requests[-1] for each in made if each.pull_requests}
    absent = {
        each: each.files(pull.head).keys() - each.files().keys()
        for each, pull in pulls.items()
        if pull.state == "open" and CHANGED.keys() <= each.files(pull.head).keys()
    }
    whole = sorted(absent, key=lambda each: len(absent[each]))
    for each in whole[: len(made) // 30]:
        each.person.edit(pulls[each].number, body="")
    for each in whole[-len(made) // 30 :]:
        each.person.commit({min(absent[each]): b"another\n"})


def named(run: Run) -> list[str]:
    """Return the repositories with which the next run begins, as the log has them."""
    [found] = re.findall(r"these repositories first: (.*?)\. It", run.stdout)
    return [*found.split(", ")]


def people_work(made: list[Repository]) -> None:
    """Merge, close, take a file out, edit, and do by hand what a pull request proposes."""
    with_one = [each for each in made if each.pull_requests]
    for number, each in enumerate(with_one):
        [pull] = each.pull_requests
        held = each.files(pull.head)
        proposed = held.keys() - each.files().keys()
        if number % 10 == 0:
            each.person.merge(pull.number)
        elif number % 10 == 1:
            each.person.close(pull.number)
        elif number % 10 == 2 and "b.md" in proposed:
            each.person.commit({"b.md": None}, branch=pull.head)
        elif number % 10 == 3 and "b.md" in proposed:
            each.person.commit({"b.md": b"mine\n"}, branch=pull.head)
        elif number % 10 == 4:
            each.person.commit(dict.fromkeys(proposed, b"by hand\n"))
