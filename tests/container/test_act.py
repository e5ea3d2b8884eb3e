"""The action as a step of workflows, executed by act."""

from __future__ import annotations

import itertools
import json
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from registrar.lists.profiles import chosen
from scripts.lib.release import action_yml
from tests.container.act import (
    CHECKOUT,
    COMPOSITE,
    PRESENT,
    PUBLISHED,
    REFERENCE,
    Act,
    commit,
    register_and_compare,
    write_workflow,
)
from tests.documents import MANY_WORKFLOW, for_several_organisations
from tests.fakehub import Repository, Request, StandInHost
from tests.fakehub.answer import Answer, Response
from tests.harness import HEALTH_BRANCH, ROOT, SCAFFOLD_BRANCH, TARGET

DISPATCH = ".github/workflows/register-files.yml"
WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / DISPATCH).read_text("utf-8"))
# YAML 1.1 reads the key `on` as true
CHOICES = {
    name: each["options"]
    for name, each in WORKFLOW[True]["workflow_dispatch"]["inputs"].items()
    if each["type"] == "choice"
}

BRANCHES = {name: [each.defaults.branch for each in chosen(name)] for name in CHOICES["profile"]}
MISSING = {SCAFFOLD_BRANCH: ".claude/settings.json"}
MISSING_ELSE = ".github/CONTRIBUTING.md"
SEVERAL = for_several_organisations(ROOT / "docs/many-repositories.md")
OURS = f"OWNER/registrar/composite@{REFERENCE}"
PLAN = "mode: plan # remove this line once the plan is right"
LIST = "files: [README.md, SECURITY.md]\n"
OWNER = TARGET.partition("/")[0]
"""The owner of the repository whose workflow runs."""
USUAL = {"contents": "write", "pull_requests": "write"}
CallMany = Callable[..., str]
GRANTS = re.compile(r"/app/installations/([a-z-]+)/access_tokens")
ASK = """python3 - <<'END'
import json, os, urllib.request
named = {k[11:].lower(): v for k, v in os.environ.items() if k.startswith("PERMISSION_")}
asked = json.dumps({name: level for name, level in named.items() if level}).encode()
place = f"/app/installations/{os.environ['OWNER']}/access_tokens"
request = urllib.request.Request(os.environ["HOST_API_URL"] + place, asked)
request.add_header("Authorization", "Bearer " + os.environ["PRIVATE_KEY"])
token = json.load(urllib.request.urlopen(request))["token"]
print("::add-mask::" + token)
print("token=" + token, file=open(os.environ["GITHUB_OUTPUT"], "a"))
END"""
"""A script that asks for a token with exactly the permissions that a step names."""


class Granting(StandInHost):
    """A stand-in that also creates tokens of an App, each for the repositories of one owner."""

    def __init__(self) -> None:
        super().__init__()
        self.granted: dict[str, dict[str, str]] = {}
        """The permissions of each token, by the owner."""

    def respond(self, record: Request, prefix: str, raw_path: str, body: bytes) -> Answer:
        """Create a token with the requested permissions, and answer other requests as usual."""
        asked = GRANTS.fullmatch(raw_path)
        if not asked:
            return super().respond(record, prefix, raw_path, body)
        owner = asked[1]
        assert owner not in self.granted
        self.granted[owner] = record.json
        names = [each.full_name for each in self.repositories if each.owner == owner]
        token = self.create_token("installation", permissions=record.json, repositories=names)
        return Response(201, {"token": token})


def test_a_step_hands_its_outputs_to_the_next(act: Act, project: Path) -> None:
    workflow = write_workflow(project, CHECKOUT, *register_and_compare("./"))
    with StandInHost() as host:
        host.create_repository(TARGET, files=PRESENT)
        secrets = {"GITHUB_TOKEN": host.create_token(kind="installation")}
        log = act.run(project, workflow, host, secrets=secrets)
    assert "compared outputs" in log


@pytest.mark.parametrize("form", ["source", "released"])
def test_the_action_is_pinned_by_another_repository(
    form: str, act: Act, project: Path, image: str, tmp_path: Path
) -> None:
    if form == "released":
        source, dockerfile = (ROOT / name for name in ("action.yml", "Dockerfile"))
        # A real release names the image by its digest, which only a registry can give
        released = action_yml(source.read_text("utf-8"), dockerfile.read_text("utf-8"), image)
        (project / "action.yml").write_text(released, "utf-8")
        (project / "Dockerfile").unlink()
    caller = tmp_path / "caller"
    workflow = write_workflow(caller, *register_and_compare(PUBLISHED))
    commit(caller)
    with StandInHost() as host:
        host.create_repository(TARGET, files=PRESENT)
        secrets = {"GITHUB_TOKEN": host.create_token(kind="installation")}
        log = act.run(caller, workflow, host, secrets=secrets, local={PUBLISHED: project})
    assert "compared outputs" in log
    assert ("docker build" in log) == (form == "source")


@pytest.mark.parametrize(
    ("profile", "mode", "language"),
    [
        (*choice, language)
        for choice, language in zip(
            itertools.product(CHOICES["profile"], CHOICES["mode"]),
            itertools.cycle(CHOICES["language"]),
            strict=False,
        )
    ],
)
def test_the_workflow_that_is_started_by_hand(
    profile: str, mode: str, language: str, act: Act, project: Path
) -> None:
    inputs = {"profile": profile, "mode": mode, "language": language}
    with StandInHost() as host:
        repository = host.create_repository(TARGET, files=PRESENT)
        access = "write" if mode == "register" else "read"
        permissions = {"contents": access, "pull_requests": access}
        token = host.create_token(kind="installation", permissions=permissions)
        exit_code = 1 if mode == "check" else 0
        secrets = {"GITHUB_TOKEN": token}
        log = act.run(project, DISPATCH, host, secrets=secrets, inputs=inputs, exit_code=exit_code)
        branches = set(repository.branches)
    proposed = [each.head for each in repository.pull_requests]
    assert proposed == (BRANCHES[profile] if mode == "register" else [])
    assert branches == {"main", *proposed}
    # act prints the step summaries
    assert log.count("| Item | Count |" if language == "en" else "| 項目 | 件数 |") == len(
        BRANCHES[profile]
    )
    if mode == "register":
        return
    for branch in BRANCHES[profile]:
        assert re.search(rf"\] {re.escape(MISSING.get(branch, MISSING_ELSE))}: ", log)
    errors = [line for line in log.splitlines() if "::error::" in line]
    assert len(errors) == (len(BRANCHES[profile]) if mode == "check" else 0)
    assert all("mode: register" in error for error in errors)


def test_the_workflow_reaches_another_repository_with_a_token_of_its_own(
    act: Act, project: Path
) -> None:
    with StandInHost() as host:
        host.create_repository(TARGET)
        other = host.create_repository("octo/other")
        secrets = {
            "GITHUB_TOKEN": host.create_token(kind="installation", repositories=[TARGET]),
            "REGISTRAR_TOKEN": host.create_token(kind="classic"),
        }
        inputs = {"profile": "health", "target_repo": "octo/other", "mode": "register"}
        act.run(project, DISPATCH, host, secrets=secrets, inputs=inputs)
    assert [each.head for each in other.pull_requests] == [HEALTH_BRANCH]


@pytest.fixture
def call_many(act: Act, project: Path, tmp_path: Path) -> CallMany:
    """A function that runs a workflow that people copy, with changed lines, and returns the log."""

    def call(host: StandInHost, text: str, changes: Mapping[str, str]) -> str:
        for old, new in {OURS: COMPOSITE, **changes}.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        keep = 'for file in $GIVEN_PATH; do test -s "$file"; echo "$NAME: ${file##*/}"; done'
        stubs = {}
        for name, script in {"create-github-app-token": ASK, "upload-artifact": keep}.items():
            [action] = set(re.findall(rf"actions/{name}@\w+", text))
            stubs[action] = stub(Path(tempfile.mkdtemp(dir=tmp_path)), text, action, script)
        workflow = ".github/workflows/use.yml"
        (project / workflow).write_text(text)
        (project / ".github/registrar.yml").write_text(LIST)
        return act.run(
            project,
            workflow,
            host,
            secrets={"REGISTRAR_PRIVATE_KEY": host.create_token(kind="installation")},
            local={PUBLISHED: project, **stubs},
            timeout=400,
        )

    return call


def stub(directory: Path, workflow: str, action: str, script: str) -> Path:
    """Write an action that runs ``script`` instead of ``action``, and return its directory.

    It declares the inputs that the workflow gives to ``action``.
    """
    steps = [re.split(r"\n      - |\n\n", after)[0] for after in workflow.split(action)[1:]]
    names = set(re.findall(r"(?m)^          ([a-z-]+): .*$", "".join(steps)))
    step = {
        "id": "made",
        "run": script,
        "shell": "bash",
        # A variable PATH would hide the programs from the script
        "env": {
            name.upper()
            .replace("-", "_")
            .replace("PATH", "GIVEN_PATH"): f"${{{{ inputs.{name} }}}}"
            for name in names
        },
    }
    made = {
        "name": action,
        "description": "A stub",
        "inputs": {name: {"description": name} for name in names},
        "outputs": {"token": {"description": "It", "value": "${{ steps.made.outputs.token }}"}},
        "runs": {"using": "composite", "steps": [step]},
    }
    (directory / "action.yml").write_text(json.dumps(made))
    return commit(directory)


def test_the_workflow_for_many_repositories_plans_as_it_stands(call_many: CallMany) -> None:
    with Granting() as host:
        made = [host.create_repository(f"{OWNER}/r{number}", PRESENT) for number in range(3)]
        log = call_many(host, MANY_WORKFLOW.read_text("utf-8"), {})
        assert not any(repository.pull_requests for repository in made)
    assert "With missing files: 3 (to open: 3)." in log
    kept = re.findall(r"registrar: registrar-(table|page)-\w+\.(csv|html)", log)
    assert kept == [("page", "html"), ("table", "csv")]
    assert host.granted == {OWNER: USUAL}


def test_what_a_run_of_the_workflow_has_no_time_for_the_next_one_does(
    call_many: CallMany,
) -> None:
    """One write begins each second, so at most eight of them begin within the 7 s of the run."""
    with Granting() as host:
        made = [host.create_repository(f"{OWNER}/r{number}", PRESENT) for number in range(10)]
        log = call_many(host, MANY_WORKFLOW.read_text("utf-8"), {PLAN: "max_minutes: 0.12"})
        first = sum(len(repository.pull_requests) for repository in made)
        host.granted.clear()
        call_many(host, MANY_WORKFLOW.read_text("utf-8"), {PLAN: "mode: register"})
        assert [len(repository.pull_requests) for repository in made] == [1] * 10
    assert 0 < first < 10
    assert re.search(rf"Outcome: {first} opened, {10 - first} deferred\.", log)


def test_several_organisations_each_with_a_job_and_a_token_of_its_own(call_many: CallMany) -> None:
    with Granting() as host:
        owners = ("octo-org", "octo-labs")
        made = {owner: host.create_repository(f"{owner}/r0", PRESENT) for owner in owners}
        log = call_many(host, SEVERAL, {"mode: plan": "mode: register"})
        assert all(len(repository.pull_requests) == 1 for repository in made.values())
    assert host.granted == dict.fromkeys(owners, USUAL)
    ends = re.findall(r"/register-(\d)\] +\| Outcome: 1 opened\.", log)
    assert sorted(set(ends)) == ["1", "2"]
    for owner in owners:
        assert re.search(rf"registrar-{owner}: registrar-page-", log)


def has_team(repository: Repository) -> bool:
    return repository.pull_requests[0].team_reviewers == ["docs"]


def has_label(repository: Repository) -> bool:
    return "brand-new" in repository.labels


def has_file_of_rule(repository: Repository) -> bool:
    return "GOLD.md" in repository.files(repository.pull_requests[0].head)


def has_workflow(repository: Repository) -> bool:
    return ".github/workflows/ci.yml" in repository.files(repository.pull_requests[0].head)


@pytest.mark.parametrize(
    ("line", "given", "asked", "holds"),
    [
        ("members: read", "team_reviewers: docs", {"members": "read"}, has_team),
        ("issues: write", "labels: brand-new", {"issues": "write"}, has_label),
        ("workflows: write", "definitions: workflow.yml", {"workflows": "write"}, has_workflow),
        (
            "organization-custom-properties: read",
            "definitions: gold.yml",
            {"organization_custom_properties": "read"},
            has_file_of_rule,
        ),
    ],
    ids=["team", "label", "workflow file", "properties"],
)
def test_each_line_that_is_a_comment_gives_what_it_says(
    line: str,
    given: str,
    asked: dict[str, str],
    holds: Callable[[Repository], bool],
    call_many: CallMany,
    project: Path,
) -> None:
    """The token has exactly the requested permissions, and they suffice for the run."""
    rule = {"when": {"property": {"tier": "gold"}}, "files": ["GOLD.md"]}
    (project / "gold.yml").write_text(json.dumps({"files": ["README.md"], "rules": [rule]}))
    (project / "workflow.yml").write_text(json.dumps([".github/workflows/ci.yml"]))
    listed = "definitions: .github/registrar.yml"
    changes = {f"# permission-{line}": f"permission-{line}", PLAN: "mode: register"}
    changes[listed] = given if given.startswith("definitions") else f"{listed}\n{' ' * 10}{given}"
    with Granting() as host:
        host.quirks.without_properties = True
        repository = host.create_repository(f"{OWNER}/r0", PRESENT, properties={"tier": "gold"})
        repository.person.change(teams=repository.teams | {"docs"})
        log = call_many(host, MANY_WORKFLOW.read_text("utf-8"), changes)
        assert holds(repository)
    assert len(repository.pull_requests) == 1
    assert "::warning::" not in log
    assert host.granted == {OWNER: USUAL | asked}
