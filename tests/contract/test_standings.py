"""Each listed path stands in one way, and every output counts the same."""

from __future__ import annotations

import csv
import io
import random
import re
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from tests.fakehub import Repository, StandInHost
from tests.harness import SINGLE, Action, Run, Start

LISTED: Mapping[str, Mapping[str, Any]] = {
    "a.md": {"content": "a\n"},
    "b.md": {"content": "b\n"},
    "d/e.md": {"content": "e\n"},
    "team.md": {"template": True, "content": "{property:team}\n"},
}
WORDS = {
    "to create": "to create",
    "proposed": "proposed",
    "present": "present",
    "declined": "declined",
    "unset": "whose property is not set",
    "blocked": "blocked",
}
THERE = {"same", "blank", "differs", "filled"}
Standings = dict[str, str]


def made(host: StandInHost, chance: random.Random, number: int) -> tuple[Repository, Standings]:
    """A repository, and how its paths stand as long as nothing is proposed."""
    has_team, standings, files = chance.random() < 0.5, Standings(), {"README.md": b"x\n"}
    for path, entry in LISTED.items():
        own = entry["content"].replace("{property:team}", "red" if has_team else "").encode()
        other = "filled" if own == b"\n" else "differs"
        contents = {"same": own, "blank": b"\n", other: b"theirs\n"}
        absent = "unset" if path == "team.md" and not has_team else "to create"
        standings[path] = chance.choice([*contents, absent, absent, absent])
        if standings[path] == "same" and own == b"\n":
            standings[path] = "blank"
        if standings[path] in contents:
            files[path] = contents[standings[path]]
        elif path == "d/e.md" and chance.random() < 0.3:
            standings[path], files["d"] = "blocked", b"x\n"
    name, properties = f"octo-org/r{number}", {"team": "red"} if has_team else {"tier": "x"}
    return host.create_repository(name, files, properties=properties), standings


def propose(
    repository: Repository, standings: Standings, chance: random.Random, run: Start
) -> None:
    """A pull request, of which some is declined."""
    branch = run(target_repo=repository.full_name).outputs["branch"]
    proposed = [path for path, standing in standings.items() if standing == "to create"]
    if not proposed:
        return
    fate = chance.choice(["open", "closed", "taken out"])
    standings |= dict.fromkeys(proposed, "declined" if fate == "closed" else "proposed")
    if fate == "closed":
        repository.close(1)
    if fate == "taken out":
        gone = chance.choice(proposed)
        repository.commit({gone: None}, branch=branch, author=("A", "a@example.com"))
        standings[gone] = "declined"


def ways(standings: Counter[str]) -> dict[str, int]:
    counts = dict.fromkeys([*WORDS, "unread"], 0)
    for standing, count in standings.items():
        counts["present" if standing in THERE else standing] += count
    return counts


def check_outputs(run: Run, standings: Counter[str]) -> None:
    wanted = sum(standings[each] for each in ("to create", "proposed", "blocked"))
    expected = {"missing": wanted, "differing": standings["differs"]}
    expected |= {name: standings[name] for name in ("declined", "unset", "blank")}
    assert {name: int(run.outputs[name]) for name in expected} == expected


def test_the_description_says_what_is_there_what_was_declined_and_what_is_unset(
    host: StandInHost, action: Action
) -> None:
    repository = host.create_repository("octo-org/a", {"a.md": b"a\n"})
    entries = [{"path": path, **entry} for path, entry in LISTED.items()]
    run = partial(action, target_repo=repository.full_name, language="en", commit_strategy=SINGLE)
    run(definitions=action.listing(*entries[:2], entries[3]))
    repository.close(1)
    run(definitions=action.listing(*entries))
    assert (
        "Adds 1 of 4 listed files. Present already, and unchanged: 1. "
        "Left out, because they were declined in an earlier pull request: 1. "
        "Left out, because a custom property is not set: 1."
    ) in str(repository.pull_requests[1].body)


@pytest.mark.matrix
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.chosen), *range(1, 20)])
def test_for_every_path_the_ways_add_up_to_the_repositories(
    host: StandInHost, action: Action, seed: int
) -> None:
    chance, temp = random.Random(seed), action.directory / "temp"
    temp.mkdir()
    definitions = action.listing(*({"path": path, **entry} for path, entry in LISTED.items()))
    run = partial(action, definitions=definitions, language="en", commit_strategy=SINGLE)
    host.create_repository("octo-org/team", {"x": b""}, archived=True, properties={"team": "red"})
    expected = [made(host, chance, number) for number in range(12)]
    for repository, standings in expected:
        if chance.random() < 0.6:
            propose(repository, standings, chance, run)

    # One by one
    for repository, standings in expected:
        counts = Counter(standings.values())
        one = run(target_repo=repository.full_name, mode="plan")
        found = {file["path"]: file["standing"] for file in one.registration["files"]}
        assert found == standings
        assert one.registration["standings"] == ways(counts)
        check_outputs(one, counts)
        told = re.findall(r"^Files: (.*) \(4 in all\)", one.stdout, re.MULTILINE)
        parts = {f"{n} {WORDS[way]}" for way, n in ways(counts).items() if n}
        assert set(", ".join(told).split(", ")) == (parts if told else {""})
        assert bool(told) == (not set(standings.values()) <= THERE)

    # All together
    every = run(
        target_repo=None, target_repos="octo-org/*", mode="plan", env={"RUNNER_TEMP": str(temp)}
    )
    counts = Counter(each for _, standings in expected for each in standings.values())
    assert every.report["many"]["standings"] == ways(counts)
    check_outputs(every, counts)
    complete = {*THERE, "declined"}
    incomplete = sum(not set(standings.values()) <= complete for _, standings in expected)
    assert every.outputs["incomplete"] == str(incomplete)
    table = (temp / every.outputs["table_path"]).read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    by_path = {
        path: Counter(row["standing"] for row in rows if row["path"] == path) for path in LISTED
    }
    for path, states in by_path.items():
        states.pop("excluded: archived")
        assert states == Counter(standings[path] for _, standings in expected)
