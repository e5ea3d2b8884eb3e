"""Lists whose rules give each repository its own files."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from registrar.lists.when import CONDITION_KEYS
from tests.documents import ROOT, blocks
from tests.fakehub import RateLimit, Repository, Request, StandInHost
from tests.fakehub.tokens import Kind
from tests.harness import (
    LIST_BRANCH,
    PER_FILE,
    SINGLE,
    STRATEGIES,
    TARGET,
    Action,
    Run,
    Start,
    calls,
    is_read,
    only_reads,
    queries,
    refuse,
)
from tests.organisation import states

LIST: dict[str, Any] = {
    "files": ["SECURITY.md"],
    "rules": [
        {"when": {"language": "go", "exists": "go.mod"}, "files": [".golangci.yml"]},
        {
            "when": {"visibility": "public"},
            "extends": "health",
            "exclude": [".github/**"],
            "files": ["PUBLIC.md"],
        },
        {"when": {"property": {"tier": ["gold", "silver"]}}, "files": ["GOLD.md"]},
        {"when": {"topic": "service", "not": {"name": "*-old"}}, "files": ["SERVICE.md"]},
    ],
}
CASES: dict[str, tuple[dict[str, Any], dict[str, bytes], set[str]]] = {
    "alpha": ({"language": "Go"}, {"go.mod": b"x"}, {".golangci.yml", "PUBLIC.md"}),
    "beta": ({"language": "Go"}, {"README.md": b"x"}, {"PUBLIC.md"}),
    "gamma": ({"private": True, "properties": {"Tier": "gold"}}, {"a": b""}, {"GOLD.md"}),
    "delta": (
        {"private": True, "topics": ["service"], "properties": {"tier": ["silver", "x"]}},
        {"go.mod": b""},
        {"GOLD.md", "SERVICE.md"},
    ),
    "delta-old": ({"private": True, "topics": ["service"]}, {"a": b""}, set()),
}


def listing(action: Action, listed: Any = LIST, suffix: str = "json") -> str:
    """Write the list."""
    return action.write(f"rules.{suffix}", json.dumps(listed))


def proposed(repository: Repository, before: dict[str, bytes]) -> set[str]:
    """Return the files of the branch that the repository did not have."""
    if LIST_BRANCH not in repository.branches:
        return set()
    return set(repository.files(LIST_BRANCH)) - set(before)


@pytest.fixture(params=[True, False])
def properties_in_answer(request: pytest.FixtureRequest, host: StandInHost) -> bool:
    """Whether GitHub gives the properties with each repository, or they have to be asked for."""
    host.quirks.without_properties = not request.param
    return bool(request.param)


@pytest.mark.usefixtures("properties_in_answer")
def test_one_repository_gets_the_files_of_the_rules_that_fit(
    start: Start, action: Action, host: StandInHost
) -> None:
    for name, (attributes, files, expected) in CASES.items():
        repository = host.create_repository(f"octo/{name}", files, **attributes)
        given = {"definitions": listing(action), "target_repo": f"octo/{name}"}
        run = start(given).or_fail()
        assert proposed(repository, files) == {"SECURITY.md", *expected}, name
        rules = {each["path"]: each.get("rule") for each in run.registration["files"]}
        assert rules["SECURITY.md"] is None
        assert {path for path, rule in rules.items() if rule} >= expected
        assert "belong to a person" not in run.text
        assert start(given).or_fail().outputs["created"] == "0"
        repository.person.merge(1)
        start({**given, "mode": "check"}).or_fail()


def test_requests_of_one_repository(
    start: Start, action: Action, host: StandInHost, strategy: str
) -> None:
    repository = host.create_repository(TARGET, {"go.mod": b""}, language="Go", private=True)
    given = {"definitions": listing(action)}
    assert start(given).exit_code == 0
    assert proposed(repository, {"go.mod": b""}) == {"SECURITY.md", ".golangci.yml"}
    if strategy == SINGLE:
        # One query is about the files of the owner that `SECURITY.md` may hide
        assert calls(host) == ["GET", *["POST /graphql"] * 3]
        host.requests.clear()
        without = {**LIST, "rules": LIST["rules"][:2]}
        assert start({**given, "definitions": listing(action, without)}).exit_code == 0
        assert calls(host)[0] == "POST /graphql"
    else:
        asked = calls(host)
        assert asked[:3] == ["GET /rate_limit", "GET", "GET git/ref/heads/main"]
        assert asked[3] == "GET contents/go.mod"
        # Beside these, the branches and pull requests may be read already
        checks = [call for call in asked[4:] if call.startswith("GET contents/")]
        assert sorted(checks) == ["GET contents/.golangci.yml", "GET contents/SECURITY.md"]


RULE = {"when": {"exists": "go.mod"}, "files": [".golangci.yml"]}


@pytest.mark.parametrize(
    ("listed", "there", "asked"),
    [
        # Neither branches nor pull requests are read because a path is not there that is not listed
        ("SECURITY.md", ["SECURITY.md"], ["go.mod", "SECURITY.md"]),
        ("go.mod", ["go.mod", ".golangci.yml"], ["go.mod", ".golangci.yml"]),
    ],
)
def test_a_path_that_a_rule_asks_about_is_looked_up_once_and_is_not_missing(
    action: Action, host: StandInHost, listed: str, there: list[str], asked: list[str]
) -> None:
    host.create_repository(TARGET, dict.fromkeys(there, b"x\n"))
    given = {"definitions": listing(action, {"files": [listed], "rules": [RULE]})}
    action(given, mode="check").or_fail()
    first = ["GET /rate_limit", "GET", "GET git/ref/heads/main"]
    assert calls(host) == [*first, *(f"GET contents/{path}" for path in asked)]
    # Each of them is counted
    host.rate_limit = RateLimit(remaining=4)
    run = action(given, language="en")
    assert run.exit_code == 2
    assert "Requests needed: 5, left: 4" in run.stderr


REQUESTS = {
    PER_FILE: [
        *("GET /rate_limit", "GET", "GET git/ref/heads/main", "GET contents/b"),
        *("GET git/matching-refs/heads/chore/add-missing-files", "GET pulls"),
        *("POST git/refs", "PUT contents/b", "POST pulls", "POST issues/1/labels"),
    ],
    SINGLE: ["POST /graphql", "POST /graphql", "POST issues/1/labels"],
    "many": [
        *("GET /rate_limit", "GET /orgs/octo-org/repos", "POST /graphql"),
        *("POST /graphql", "POST /graphql", "POST /repositories/1000/issues/1/labels"),
    ],
}
"""All that is sent for a list in which no custom property is named."""


def test_what_names_no_property_asks_for_none(
    any_way: Start,
    action: Action,
    host: StandInHost,
    way: str,
) -> None:
    host.quirks.without_properties = True
    host.create_repository("octo-org/a", {"a": b""}, properties={"team": "red"})
    rules = [{"when": {"visibility": "public", "not": {"topic": "x"}}, "files": ["b"]}]
    texts = {"title": "{count} of {repo}", "body": "property: {run_url}", "labels": "team"}
    any_way(texts, definitions=listing(action, {"rules": rules})).or_fail()
    assert sorted(calls(host)) == sorted(REQUESTS[way])


def test_a_list_without_rules_asks_for_nothing_more(single: Start, action: Action) -> None:
    action.host.create_repository(TARGET, {"a": b""})
    single(definitions=action.listing("b"))
    [query] = queries(action.host)
    assert not any(word in query.json["query"] for word in ("Topics", "Language"))


def test_the_log_says_which_rule_and_what_does_not_apply(
    single: Start, action: Action, host: StandInHost
) -> None:
    host.create_repository(TARGET, {"go.mod": b""}, language="Go")
    listed = {
        "files": [{"path": "PUBLIC.md", "content": "top"}],
        "rules": LIST["rules"],
    }
    run = single(definitions=listing(action, listed), mode="plan")
    assert ".golangci.yml: missing (rule 1)" in run.stdout
    assert "| `.golangci.yml` | to create (rule 1) |" in run.summary
    unfit = (
        "rule 3 (property tier: [gold, silver]), rule 4 (topic: [service], not: [name: [*-old]])"
    )
    assert f"Rules that do not apply to this repository: {unfit}" in run.stdout
    replaced = "PUBLIC.md of rule 2 instead of the list itself"
    assert replaced in run.stdout
    assert any(replaced in note for note in run.registration["notes"])


def test_rules_that_contradict_each_other_are_an_error_of_that_repository(
    single: Start, action: Action, host: StandInHost
) -> None:
    repository = host.create_repository(TARGET, {"a": b""}, language="Go")
    listed = {
        "files": ["docs"],
        "rules": [{"when": {"language": "go"}, "files": ["docs/a.md"]}],
    }
    run = single(definitions=listing(action, listed))
    assert (run.exit_code, repository.branches) == (2, ["main"])
    assert "docs/a.md (rule 1) lies below the file docs (the list itself)" in run.stderr
    repository.person.change(language="Rust")
    assert single(definitions=listing(action, listed)).exit_code == 0


@pytest.fixture
def many(action: Action) -> Start:
    """The action on all repositories of an organisation, in English."""
    return partial(action, target_repos="octo-org/*", language="en", definitions=listing(action))


@pytest.fixture(params=[*STRATEGIES, "many"])
def way(request: pytest.FixtureRequest) -> str:
    """Each strategy for one repository, and the run over many."""
    return str(request.param)


@pytest.fixture
def any_way(way: str, action: Action) -> Start:
    """The action on one repository by each strategy, and on many, in English.

    Of ``target_repo`` and ``target_repos`` it takes what is right.
    """
    listed = listing(action)

    def run(inputs: Mapping[str, str] | None = None, /, **given: str) -> Run:
        one = {"target_repo": "octo-org/a", "commit_strategy": way}
        where = {"target_repos": "octo-org/*"} if way == "many" else one
        given = {"definitions": listed, "language": "en", **where, **(inputs or {}), **given}
        given.pop("target_repo" if way == "many" else "target_repos", None)
        return action(given)

    return run


HOLDS: dict[str, tuple[object, object]] = {
    "language": ("go", "rust"),
    "topic": ("service", "other"),
    "visibility": ("private", "public"),
    "fork": (True, False),
    "name": ("a*", "b*"),
    "exists": ("go.mod", "other"),
    "missing": ("other", "go.mod"),
    "property": ({"tier": "GOLD"}, {"tier": "silver"}),
    "not": ({"topic": "other"}, {"topic": "service"}),
}
"""For each key of a condition what holds of the repository below, and what does not."""


@pytest.mark.parametrize("asks_for_properties", [True, False])
def test_every_condition_holds_or_not_however_the_repository_is_read(
    any_way: Start, way: str, action: Action, host: StandInHost, asks_for_properties: bool
) -> None:
    """One strategy, a reading at a `ref` and a run over many could each forget to read something.

    A list that asks for properties has its repository read in another way.
    """
    assert tuple(HOLDS) == CONDITION_KEYS
    before = {"go.mod": b""}
    repository = host.create_repository(
        "octo-org/a",
        before,
        private=True,
        language="Go",
        topics=["service"],
        properties={"tier": "gold"},
        parent="octo-org/parent",
    )
    asked = [key for key in HOLDS if asks_for_properties or key != "property"]
    rules = [
        {"when": {key: value}, "files": [f"{key}-{value == holds}"]}
        for key in asked
        for holds in [HOLDS[key][0]]
        for value in HOLDS[key]
    ]
    listed = listing(action, {"rules": rules})
    fitting = {f"{key}-True" for key in asked}
    if way == SINGLE:
        run = any_way(definitions=listed, mode="plan", ref="main")
        assert {each["path"] for each in run.registration["files"]} == fitting
    run = any_way(definitions=listed, target_repos="octo-org/*, fork:true").or_fail()
    assert proposed(repository, before) == fitting


def written(host: StandInHost) -> list[str]:
    """The paths that were written since the requests were cleared."""
    sent = [request for request in host.requests if not is_read(request)]
    puts = [r.path.partition("/contents/")[2] for r in sent if r.method == "PUT"]
    commits = [json.dumps(r.json["variables"]) for r in sent if r.path == "/graphql"]
    return puts + [path for each in commits for path in re.findall('"path": "([^"]+)"', each)]


def test_a_property_that_changes_while_the_pull_request_is_open_is_followed_there(
    any_way: Start, action: Action, host: StandInHost
) -> None:
    repository = host.create_repository("octo-org/a", {"a": b""}, private=True)
    team = {"path": "OWNERS", "template": True, "content": "{property:team}"}
    listed = listing(action, {**LIST, "files": ["SECURITY.md", team]})
    for properties, new in (
        ({}, ["SECURITY.md"]),
        ({"tier": "gold", "team": "red"}, ["OWNERS", "GOLD.md"]),
        ({"tier": "silver", "team": "blue"}, ["OWNERS"]),
        ({"team": "blue"}, []),
        ({}, []),
        ({"tier": "gold"}, []),
    ):
        repository.person.change(properties=dict(properties))
        host.requests.clear()
        run = any_way(definitions=listed).or_fail()
        assert sorted(written(host)) == sorted(new), run.text
    files = repository.files(LIST_BRANCH)
    assert files == {"a": b"", "SECURITY.md": b"\n", "OWNERS": b"blue", "GOLD.md": b"\n"}
    [pull] = repository.pull_requests
    assert (pull.state, repository.branches) == ("open", [LIST_BRANCH, "main"])


def test_what_rules_came_to_is_in_log_summary_and_report_once(
    many: Start, action: Action, host: StandInHost
) -> None:
    for name, private in (("a", False), ("b", False), ("c", True)):
        host.create_repository(f"octo-org/{name}", {"a": b""}, private=private)
    listed = {**LIST, "files": ["SECURITY.md", "PUBLIC.md"]}
    entry = "PUBLIC.md of rule 2 instead of the list itself (repositories: 2)"
    unfit = (
        "rule 1 (language: [go], exists: [go.mod]), rule 3 (property tier: [gold, silver]), "
        "rule 4 (topic: [service], not: [name: [*-old]])"
    )
    notes = [
        "Repositories by rule of the list rules.json: rule 1: 0, rule 2: 2, rule 3: 0, rule 4: 0",
        f"Rules of the list rules.json that apply to no repository: {unfit}",
        f"A later entry replaces an earlier one: {entry}",
    ]
    for mode in ("plan", "register"):
        run = many(mode=mode, definitions=listing(action, listed))
        of_many = run.report["many"]
        assert of_many["notes"] == notes
        assert [run.stdout.count(note) for note in notes] == [1, 1, 1]
        assert [run.summary.replace("`", "").count(note) for note in notes] == [1, 1, 1]
        counted = {each["rule"]: each["repositories"] for each in of_many["rules"]}
        assert counted == {1: 0, 2: 2, 3: 0, 4: 0}
        assert "do not apply to this repository" not in run.text
        if mode == "plan":
            assert "| to create: `SECURITY.md`, `PUBLIC.md` (rule 2) |" in run.summary


def test_that_a_persons_repositories_have_no_properties_is_said_once(
    any_way: Start, host: StandInHost
) -> None:
    host.quirks.without_properties = True
    made = [host.create_repository(f"octocat/{each}", {"a": b""}, private=True) for each in "abc"]
    run = any_way(target_repo="octocat/a", target_repos="octocat/*").or_fail()
    assert proposed(made[0], {"a": b""}) == {"SECURITY.md"}
    note = "The repositories of octocat belong to a person and have no custom properties"
    notes = run.report["many"]["notes"] if "many" in run.report else run.registration["notes"]
    assert [each.startswith(note) for each in notes].count(True) == 1
    assert run.stdout.count(note) == 1
    assert run.summary.replace("`", "").count(note) == 1
    assert not any(each.path.endswith("/properties/values") for each in host.requests)


def test_persons_whose_repositories_have_no_properties_are_named_in_their_order(
    many: Start, host: StandInHost
) -> None:
    host.users |= {*"edcba"}
    for name in "edcba":
        host.create_repository(f"{name}/x", {"a": b""})
    run = many(target_repos="e/*, d/*, c/*, b/*, a/*", mode="plan")
    assert "The repositories of a, b, c, d, e belong to a person" in run.stdout


def test_properties_that_may_not_be_read_are_an_error_before_anything_is_written(
    any_way: Start, host: StandInHost
) -> None:
    # Its name and the input have different letter cases
    repository = host.create_repository("Octo-Org/a", {"a": b""})
    host.quirks.without_properties = True
    asked = {"X-Accepted-GitHub-Permissions": "organization_custom_properties=read"}
    values = "/properties/values"
    for status, words, said in (
        (403, "Resource not accessible by integration", "organization_custom_properties=read"),
        (404, "Not Found", "need *Metadata: read* for it"),
    ):
        host.faults.clear()
        refuse(host, lambda r: r.path.endswith(values), status, message=words, headers=asked)
        run = any_way(host_token=host.create_token("installation"))
        assert run.exit_code == 2
        assert only_reads(host)
        assert repository.branches == ["main"]
        assert said in run.stderr


def test_what_is_written_to_many_is_what_the_list_said(many: Start, host: StandInHost) -> None:
    made = [
        host.create_repository(
            f"octo-org/{n}", {"a": b""}, private=True, properties={"tier": "gold"}
        )
        for n in "ab"
    ]

    def meanwhile(request: Request) -> None:
        if not is_read(request):
            for repository in made:
                repository.person.change(properties={})

    host.on_request = meanwhile
    assert many().exit_code == 0
    for repository in made:
        assert proposed(repository, {"a": b""}) == {"SECURITY.md", "GOLD.md"}
    assert not any(each.path.endswith("/properties/values") for each in host.requests)


# --- target_repos -------------------------------------------------------------------------


def selected(run: Run) -> set[str]:
    """The repositories that were worked on."""
    return {row["repository"].removeprefix("octo-org/") for row in run.report["many"]["rows"]}


@pytest.mark.usefixtures("properties_in_answer")
def test_repositories_are_selected_by_their_properties(
    many: Start, action: Action, host: StandInHost
) -> None:
    """A table in `tests/unit/test_selection.py` says what the qualifiers mean."""
    properties: dict[str, dict[str, str | list[str]]] = {
        "a": {"Team": "Platform"},
        "b": {"Team": "platform", "tier": ["eu", "us west"]},
        "c": {"Team": "data"},
        "d": {},
    }
    for name, values in properties.items():
        host.create_repository(f"octo-org/{name}", {"x": b""}, properties=values)
    for qualifiers, expected in (
        ("property:team=PLATFORM, -property:tier=eu", {"a"}),
        ("-property:team=data", {"a", "b", "d"}),
    ):
        target = f"octo-org/*, {qualifiers}"
        run = many(target_repos=target, mode="plan", definitions=action.listing("y")).or_fail()
        assert selected(run) == expected


# --- Values of properties in templates -----------------------------------------------------

OWNERS = {
    "files": [
        {
            "path": "OWNERS",
            "template": True,
            "content": "* @{owner}/{property:Team} {{x}} {property:team}\n",
        },
        "README.md",
    ]
}


def test_a_template_holds_the_value_of_a_property(
    single: Start, action: Action, host: StandInHost
) -> None:
    value = "x, y [skip ci] @org/all {repo}"
    repository = host.create_repository(TARGET, {"a": b""}, properties={"team": value})
    given = {"definitions": listing(action, OWNERS)}
    single(given).or_fail()
    written = repository.files(LIST_BRANCH)["OWNERS"]
    assert written == f"* @octo/{value} {{x}} {value}\n".encode()
    again = single(given)
    assert (again.exit_code, len(repository.pull_requests)) == (0, 1)


@pytest.mark.parametrize("mode", ["plan", "register"])
def test_a_file_whose_property_is_not_set_is_skipped(
    single: Start, action: Action, host: StandInHost, mode: str
) -> None:
    repository = host.create_repository(TARGET, {"a": b""})
    there = "to create" if mode == "plan" else "proposed"
    for value in (None, "", [], [""]):
        repository.person.change(properties={} if value is None else {"team": value})
        run = single(definitions=listing(action, OWNERS), mode=mode).or_fail()
        assert run.standings == {"OWNERS": "unset", "README.md": there}, value


def test_a_property_that_fills_no_single_place_is_an_error(
    single: Start, action: Action, host: StandInHost
) -> None:
    repository = host.create_repository(TARGET, {"a": b""})
    several, lines = "which has several values", "whose value has several lines"
    for value, why in (
        (["x", "y"], several),
        ("x\n* @evil", lines),
        ("x\r", lines),
        ("x\u2028y", lines),
    ):
        repository.person.change(properties={"team": value})
        for mode in ("plan", "register"):
            run = single(definitions=listing(action, OWNERS), mode=mode)
            assert (run.exit_code, repository.branches) == (2, ["main"])
            assert f"The template of OWNERS names the custom property team, {why}" in run.stderr


def test_a_property_with_several_values_is_none_where_another_file_counts(
    single: Start, action: Action, host: StandInHost
) -> None:
    host.create_repository(TARGET, {"a": b""}, properties={"team": ["x", "y"]})
    owners = {"path": "OWNERS", "template": True, "content": "{property:team}"}
    listed = listing(action, {"files": [{**owners, "alternatives": ["a"]}]})
    run = single(definitions=listed).or_fail()
    assert "satisfied by a" in run.stdout


def test_each_of_many_repositories_gets_its_own_value(
    many: Start, action: Action, host: StandInHost
) -> None:
    made = {
        name: host.create_repository(f"octo-org/{name}", {"a": b""}, properties=properties)
        for name, properties in {"a": {"team": "red"}, "b": {"team": "blue"}, "c": {}}.items()
    }
    run = many(definitions=listing(action, OWNERS)).or_fail()
    for name, team in (("a", b"red"), ("b", b"blue")):
        written = made[name].files(LIST_BRANCH)["OWNERS"]
        assert written == b"* @octo-org/%b {x} %b\n" % (team, team)
    assert "OWNERS" not in made["c"].files(LIST_BRANCH)
    told = "in which the property team is not set.\n  Repositories: octo-org/c"
    assert told in run.stdout
    assert many(definitions=listing(action, OWNERS)).exit_code == 0
    assert all(len(repository.pull_requests) == 1 for repository in made.values())


# --- An organisation ------------------------------------------------------------------------

HEALTH = (
    *("CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SUPPORT.md", "PULL_REQUEST_TEMPLATE.md"),
    "ISSUE_TEMPLATE/config.yml",
)


def documented() -> str:
    """The list of docs/definitions.md."""
    page = ROOT / "docs/definitions.md"
    [text] = [text for _, text in blocks("ya?ml", page) if text.startswith("# .github/files.yml")]
    return text


def organisation(
    host: StandInHost, count: int, seed: int
) -> dict[str, tuple[Repository, set[str]]]:
    """Repositories of all kinds, each with the files that it must get; those left out get none."""
    rng = random.Random(seed)
    made: dict[str, tuple[Repository, set[str]]] = {}
    for number in range(count):
        language = rng.choice(["Go", "Rust", None])
        private = rng.random() < 0.5
        topics = rng.choice([[], ["service"], ["service", "x"]])
        tier = rng.choice(["gold", "silver", "bronze", None])
        team = rng.choice(["red", "blue", None])
        files = {name: b"there" for name in ("go.mod", "docs/RUNBOOK.md") if rng.random() < 0.5}
        files["README.md"] = b"there"
        name = f"octo-org/r{number}{rng.choice(['', '-sandbox'])}"
        given = {"tier": tier, "team": team}
        properties: dict[str, str | list[str]] = {k: v for k, v in given.items() if v}
        repository = host.create_repository(
            name, files, private=private, language=language, topics=topics, properties=properties
        )
        expected = {"SECURITY.md"}
        if language == "Go" and "go.mod" in files:
            expected.add(".golangci.yml")
        if not private:
            expected |= {f".github/{each}" for each in HEALTH}
        if tier in {"gold", "silver"} and team:
            expected.add(".github/CODEOWNERS")
        if "service" in topics and "sandbox" not in name and "docs/RUNBOOK.md" not in files:
            expected.add("RUNBOOK.md")
        made[name] = repository, set() if tier == "bronze" else expected
    return made


@pytest.mark.large
@pytest.mark.parametrize(("kind", "in_answer"), [("classic", True), ("installation", False)])
def test_an_organisation_gets_exactly_the_right_files(
    action: Action, host: StandInHost, kind: Kind, in_answer: bool
) -> None:
    host.quirks.without_properties = not in_answer
    made = organisation(host, 40, seed=1)
    given = {
        "host_token": host.create_token(kind),
        "target_repos": "octo-org/*, -property:tier=bronze",
        "max_pull_requests": "100",
        "definitions": action.write("files.yml", documented()),
        "max_minutes": "360",
        "language": "en",
    }
    run = action(given).or_fail()
    asked = [each for each in host.requests if each.path.endswith("/properties/values")]
    assert len(asked) == (not in_answer)
    again = action(given)
    assert states(again) == {"waiting": states(run)["opened"]}
    for repository, expected in made.values():
        before = set(repository.files())
        branches = [name for name in repository.branches if name != "main"]
        found = {path for name in branches for path in repository.files(name)} - before
        assert found == expected, repository.full_name
        assert len(repository.pull_requests) == bool(expected)
        if ".github/CODEOWNERS" in found:
            owners = repository.files(branches[0])[".github/CODEOWNERS"]
            assert owners == f"* @octo-org/{repository.properties['team']}\n".encode()
        if expected:
            repository.person.merge(1)
            repository.person.delete_branch(branches[0])
    host.requests.clear()
    again = action({**given, "mode": "check"}).or_fail()
    assert only_reads(host)


@pytest.mark.large
def test_rules_take_hardly_more_requests_than_one_list(
    action: Action, host: StandInHost, properties_in_answer: bool
) -> None:
    organisation(host, 120, seed=2)
    given = {"target_repos": "octo-org/*", "mode": "plan", "language": "en"}
    requests = []
    for listed in (action.listing("SECURITY.md"), action.write("files.yml", documented())):
        host.requests.clear()
        action({**given, "definitions": listed}).or_fail()
        requests.append(len(host.requests))
    plain, with_rules = requests
    assert with_rules <= 1.3 * plain + (0 if properties_in_answer else 6)


# --- A name that is misspelled ------------------------------------------------------------------

TEAM = {"path": "team.md", "template": True, "content": "{property:owning_team}\n"}


def test_a_property_that_nobody_has_and_that_is_close_to_one_is_a_mistake(
    any_way: Start, action: Action, host: StandInHost, way: str
) -> None:
    host.create_repository("octo-org/a", {"a": b""}, properties={"owning-team": "red"})
    rules = {"rules": [{"when": {"property": {"owning_team": "red"}}, "files": ["b"]}]}
    cases: list[tuple[str, Mapping[str, str], Any]] = [
        ("register", {}, [TEAM]),
        ("plan", {}, rules),
        ("check", {"labels": "{property:owning_team}"}, ["b"]),
    ]
    if way == "many":
        targets = {"target_repos": "octo-org/*, property:owning_team=red"}
        cases.append(("register", targets, ["b"]))
    for mode, given, listed in cases:
        run = any_way(given, definitions=listing(action, listed), mode=mode)
        assert run.exit_code == 2, run.text
        assert "the custom property owning_team. Did you mean owning-team?" in run.console
        assert only_reads(host)
    # What is set nowhere, and like nothing else, may be set some day
    host.repositories[-1].person.change(properties={"tier": "1"})
    any_way(definitions=listing(action, [TEAM]), mode="plan").or_fail()
