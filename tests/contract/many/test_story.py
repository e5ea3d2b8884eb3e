"""Many repositories: in each part of one story, all outputs say the same numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import HEALTH_BRANCH, LIST_BRANCH, ROOT, SCAFFOLD_BRANCH, Action, Run, Start
from tests.organisation import rows, states
from tests.outputs import DAY, Listed, Outputs, World, compare

FIRST = {"a.md": "A\n", "b.md": "B\n", ".github/c.yml": "c: 1\n"}
LIST = Listed("list.json", LIST_BRANCH, FIRST)
CORRECTED = Listed(
    "list.json", LIST_BRANCH, {**FIRST, "a.md": "A, too\n", "d.md": "D\n"}, {"a.md": "A\n"}
)
ALL = {"max_pull_requests": "300", "max_minutes": "120"}
NOT_FOUND = ("octo-org/gone", "octo-org/lost")


def built_in(name: str, branch: str) -> Listed:
    """A list that comes with the action."""
    file = ROOT / f"scripts/config/repo-{name}-definitions.json"
    entries = json.loads(file.read_text("utf-8"))
    files = {each["path"]: each.get("content", "\n") for each in entries}
    return Listed(name.removesuffix("-file"), branch, files)


BOTH = (built_in("health-file", HEALTH_BRANCH), built_in("scaffold", SCAFFOLD_BRANCH))


@pytest.fixture(params=[60, pytest.param(300, marks=pytest.mark.matrix)])
def world(host: StandInHost, request: pytest.FixtureRequest) -> World:
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
    return World(made, len(made) + 3, refuses={each.id for each in refusing})


Register = Callable[..., Run]


@pytest.fixture
def register(action: Action, many: Start, world: World) -> Register:
    """Run, and compare every output with what the stand-in holds."""

    def run_and_compare(
        *lists: Listed, ends_early: bool = False, days: float = 2, **inputs: str
    ) -> Run:
        before, sent = world.now(), len(action.host.requests)
        of_list = {"definitions": action.listing_of(lists[0].files), "profile": None}
        given = {"profile": "all"} if lists == BOTH else of_list
        env = action.keeping
        if "workflow" in inputs:
            env["GITHUB_REPOSITORY"] = inputs.pop("workflow")
        moment = action.clock.now
        run = many(**given, env=env, **inputs)
        report, table, page = (action.kept(run, name) for name in ("report", "table", "page"))
        mode = inputs.get("mode", "register")
        cap = int(inputs.get("max_pull_requests", "100"))
        says = Outputs(run, mode, moment, json.loads(report), table, page, cap)
        gone = NOT_FOUND if NOT_FOUND[0] in inputs.get("target_repos", "") else ()
        stands = world.expect(lists, mode, before, action.host.requests[sent:], gone)
        if ends_early:
            stands = says.as_far_as_read(stands)
        foreseen = world.foresee(lists, mode, before, gone)
        compare(says, stands, foreseen, world.found + len(gone))
        action.clock.now += days * DAY
        return run

    return run_and_compare


@pytest.mark.large
def test_every_output_says_what_the_host_holds(
    register: Register, world: World, host: StandInHost
) -> None:
    cap = len(world.repositories) // 10
    plan = register(LIST, mode="plan", max_pull_requests=str(cap), days=0.1)
    first = register(LIST, max_pull_requests=str(cap))
    assert states(first)["opened"] == cap
    tried = {name for name, state in rows(first).items() if state in {"opened", "failed"}}
    assert {*named(plan)} <= tried
    # What the run tells of the next one is what a plan tells then
    assert named(first) == named(register(LIST, mode="plan", max_pull_requests=str(cap)))
    register(LIST, target_repos=", ".join(("octo-org/*", *NOT_FOUND)), **ALL)
    people_work(world)
    public = world.repositories[0].full_name

    plan = register(CORRECTED, mode="plan")
    found = {"waiting", "to update", "to close", "declined", "blocked", "not writable"}
    assert found <= states(plan).keys()
    run = register(CORRECTED, **ALL)
    assert states(run)["updated"] == states(plan)["to update"]
    register(CORRECTED, mode="withdraw")
    again = register(CORRECTED, workflow=public, **ALL)
    assert states(again)["opened"] > cap
    register(CORRECTED, mode="check")
    register(CORRECTED, mode="plan", workflow=public)
    ended = register(CORRECTED, ends_early=True, **ALL)
    assert "5 repositories in a row failed" in ended.report["many"]["stopped"]

    register(*BOTH, mode="plan")
    register(*BOTH, max_pull_requests="15")
    # All are read with others, and some of them alone
    dying = host.create_token(requests={60: 8, 300: 12}[len(world.repositories)])
    cut = register(CORRECTED, ends_early=True, mode="plan", host_token=dying)
    assert cut.exit_code == 2
    assert {"not read", "to open", "complete"} <= states(cut).keys()


def named(run: Run) -> list[str]:
    """Return the repositories with which the next run begins, as the log has them."""
    [found] = re.findall(r"these repositories first: (.*?)\. It", run.stdout)
    return [*found.split(", ")]


def people_work(world: World) -> None:
    """Merge, close, take a file out, edit, and do by hand what a pull request proposes."""
    with_one = [each for each in world.repositories if each.pull_requests]
    for number, each in enumerate(with_one):
        [pull] = each.pull_requests
        held = each.files(pull.head)
        proposed = held.keys() - each.files().keys()
        if number % 10 == 0:
            each.person.merge(pull.number)
        elif number % 10 == 1:
            each.person.close(pull.number)
            world.declined[each.id] = {*proposed}
        elif number % 10 == 2 and "b.md" in proposed:
            each.person.commit({"b.md": None}, branch=pull.head)
            world.declined[each.id] = {"b.md"}
        elif number % 10 == 3 and "b.md" in proposed:
            each.person.commit({"b.md": b"mine\n"}, branch=pull.head)
            world.edited.add(each.id)
        elif number % 10 == 4:
            each.person.commit(dict.fromkeys(proposed, b"by hand\n"))
