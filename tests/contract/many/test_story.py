"""Many repositories: in each part of one story, all outputs say the same numbers."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import Action, Run, Start
from tests.organisation import rows, states

FIRST = {"a.md": "A\n", "b.md": "B\n", ".github/c.yml": "c: 1\n"}
CHANGED = {**FIRST, "a.md": "A, too\n", "d.md": "D\n"}
DAY = 86_400
ALL = {"max_pull_requests": "300", "max_minutes": "120"}
NOT_FOUND = ("octo-org/gone", "octo-org/lost")


@pytest.fixture(params=[60, pytest.param(300, marks=pytest.mark.matrix)])
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
        done = many(of_list, env=env, **inputs)
        action.clock.now += days * DAY
        return done

    return run


@pytest.mark.large
def test_every_output_says_what_the_host_holds(
    register: Register, made: list[Repository], host: StandInHost
) -> None:
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
    register(CHANGED, mode="withdraw")
    again = register(CHANGED, workflow=public, **ALL)
    assert states(again)["opened"] > cap
    register(CHANGED, mode="check")
    register(CHANGED, mode="plan", workflow=public)
    ended = register(CHANGED, **ALL)
    assert "5 repositories in a row failed" in ended.report["many"]["stopped"]

    register(None, mode="plan")
    register(None, max_pull_requests="15")
    # All are read with others, and some of them alone
    dying = host.create_token(requests={60: 8, 300: 12}[len(made)])
    cut = register(CHANGED, mode="plan", host_token=dying)
    assert cut.exit_code == 2
    assert {"not read", "to open", "complete"} <= states(cut).keys()


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
