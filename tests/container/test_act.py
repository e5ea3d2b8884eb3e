"""The action as a step of workflows, executed by act."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
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
    Act,
    commit,
    register_and_compare,
    write_workflow,
)
from tests.fakehub import Repository, Request, StandInHost
from tests.fakehub.answer import Answer, Response
from tests.harness import HEALTH_BRANCH, ROOT, SCAFFOLD_BRANCH, TARGET

DISPATCH = ".github/workflows/register-files.yml"
WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / DISPATCH).read_text("utf-8"))
# YAML 1.1 takes `on` for a truth value.
CHOICES = {
    name: each["options"]
    for name, each in WORKFLOW[True]["workflow_dispatch"]["inputs"].items()
    if each["type"] == "choice"
}

BRANCHES = {name: [each.branch for each in chosen(name)] for name in CHOICES["profile"]}
MISSING = {SCAFFOLD_BRANCH: ".claude/settings.json"}
MISSING_ELSE = ".github/CONTRIBUTING.md"
CallMany = Callable[..., str]
GRANTS = "/app/installations/1/access_tokens"
ASK = f"""python3 - <<'END'
import json, os, urllib.request
named = {{k[11:].lower(): v for k, v in os.environ.items() if k.startswith("PERMISSION_")}}
asked = json.dumps({{name: level for name, level in named.items() if level}}).encode()
request = urllib.request.Request(os.environ["HOST_API_URL"] + "{GRANTS}", asked)
request.add_header("Authorization", "Bearer " + os.environ["PRIVATE_KEY"])
token = json.load(urllib.request.urlopen(request))["token"]
print("::add-mask::" + token)
print("token=" + token, file=open(os.environ["GITHUB_OUTPUT"], "a"))
END"""
"""Asks for a token with the permissions that a step names, and no others."""


class Granting(StandInHost):
    """Gives an App the token that it asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.granted: list[dict[str, str]] = []
        """The permissions of each, in the order of the jobs."""

    def respond(self, record: Request, prefix: str, raw_path: str, body: bytes) -> Answer:
        """Grant what is asked for, and answer everything else as usual."""
        if raw_path != GRANTS:
            return super().respond(record, prefix, raw_path, body)
        self.granted.append(record.json)
        return Response(201, {"token": self.create_token("installation", permissions=record.json)})


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
        # A released image is named by a digest, which only a registry gives.
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
    """Calls the reusable workflow on a host, with more inputs, and gives the log."""
    many = project / ".github/workflows/register-many.yml"
    text = many.read_text("utf-8")
    # act knows neither this form nor, without a download, the action for an App's token
    assert text.count("uses: $/composite\n") == 3
    many.write_text(text.replace("uses: $/composite", f"uses: {COMPOSITE}"), "utf-8")
    [app] = set(re.findall(r"actions/create-github-app-token@\w+", text))
    [upload] = set(re.findall(r"actions/upload-artifact@\w+", text))
    stubs = {
        app: stub(tmp_path / "app", text, app, ASK),
        upload: stub(
            tmp_path / "upload",
            text,
            upload,
            'for file in $GIVEN_PATH; do test -s "$file"; echo "kept in $NAME: ${file##*/}"; done',
        ),
    }

    def call(host: StandInHost, exit_code: int = 0, visibility: str = "", **more: object) -> str:
        given = {
            "target_repos": "octo-org/*",
            "client_id": "Iv23example",
            "owner": "octo-org",
            "language": "en",
            "profile": "health",
            **more,
        }
        job = {
            "uses": "./.github/workflows/register-many.yml",
            "with": given,
            "secrets": {"REGISTRAR_PRIVATE_KEY": "${{ secrets.REGISTRAR_PRIVATE_KEY }}"},
        }
        workflow = ".github/workflows/use.yml"
        jobs = {"on": "workflow_dispatch", "jobs": {"use": job}}
        (project / workflow).write_text(json.dumps(jobs))
        event = tmp_path / "event.json"
        event.write_text(json.dumps({"repository": {"visibility": visibility}}))
        return act.run(
            project,
            workflow,
            host,
            secrets={"REGISTRAR_PRIVATE_KEY": host.create_token(kind="installation")},
            local={PUBLISHED: project, **stubs},
            options=[f"--eventpath={event}"] if visibility else [],
            exit_code=exit_code,
            timeout=400,
        )

    return call


def stub(directory: Path, workflow: str, action: str, script: str) -> Path:
    """An action in place of another one, with the inputs that the workflow gives to that one."""
    steps = [re.split("      - name:|\n\n", after)[0] for after in workflow.split(action)[1:]]
    names = set(re.findall(r"(?m)^          ([a-z-]+): .*$", "".join(steps)))
    step = {
        "id": "made",
        "run": script,
        "shell": "bash",
        # Not PATH itself
        "env": {
            name.upper()
            .replace("-", "_")
            .replace("PATH", "GIVEN_PATH"): f"${{{{ inputs.{name} }}}}"
            for name in names
        },
    }
    directory.mkdir()
    made = {
        "name": action,
        "description": "A stub",
        "inputs": {name: {"description": name} for name in names},
        "outputs": {"token": {"description": "It", "value": "${{ steps.made.outputs.token }}"}},
        "runs": {"using": "composite", "steps": [step]},
    }
    (directory / "action.yml").write_text(json.dumps(made))
    return commit(directory)


def test_the_reusable_workflow_makes_a_plan_its_shards_and_a_last_plan(
    call_many: CallMany,
) -> None:
    # Nine at intervals of 3 s: each shard has 7 s left for all else that takes time
    with Granting() as host:
        made = [host.create_repository(f"octo-org/r{number}", PRESENT) for number in range(9)]
        given = {"max_minutes": 0.22, "runs_on": '["self-hosted", "ubuntu-latest"]'}
        log = call_many(host, visibility="private", **given)
        assert [len(repository.pull_requests) for repository in made] == [1] * 9
        withdrawn = call_many(host, mode="withdraw")
        assert {pull.state for each in made for pull in each.pull_requests} == {"closed"}
    assert "With missing files: 9 (to open: 9)." in log
    assert "Shards, one after the other: 3." in log
    assert all(f"Shard {number}/3" in log for number in (1, 2, 3))
    assert "Outcome: 9 waiting." in log
    kept = re.findall(r"kept in registrar-([a-z0-9-]+)-: registrar-(table|page)-", log)
    jobs = ("plan", "shard-1", "shard-2", "shard-3", "result")
    assert kept == [(job, kind) for job in jobs for kind in ("table", "page")]
    assert "With open pull requests that `mode: withdraw` could close: at most 9." in withdrawn
    assert "Shard 1/1" in withdrawn
    assert "Outcome: 9 with files to propose." in withdrawn


@pytest.mark.parametrize("visibility", ["public", "internal", ""])
def test_where_others_may_read_it_the_reusable_workflow_keeps_no_table(
    visibility: str, call_many: CallMany
) -> None:
    with Granting() as host:
        host.create_repository("octo-org/r0", PRESENT)
        log = call_many(host, visibility=visibility, mode="plan")
    assert "With missing files: 1 (to open: 1)." in log
    assert "kept in" not in log


@pytest.mark.parametrize("given", [{"mode": "check"}, {"mode": "plam"}, {"max_minutes": 56}])
def test_the_reusable_workflow_refuses_what_its_jobs_cannot_do(
    given: dict[str, object], call_many: CallMany
) -> None:
    with Granting() as host:
        host.create_repository("octo-org/r0", PRESENT)
        log = call_many(host, exit_code=1, **given)
        assert not host.requests
    assert "In this workflow mode is register, plan or withdraw, and max_minutes at most 55" in log


def has_team(repository: Repository) -> bool:
    return repository.pull_requests[0].team_reviewers == ["docs"]


def has_label(repository: Repository) -> bool:
    return "brand-new" in repository.labels


def has_file_of_rule(repository: Repository) -> bool:
    return "GOLD.md" in repository.files(repository.pull_requests[0].head)


@pytest.mark.parametrize(
    ("given", "asked", "holds"),
    [
        ({"team_reviewers": "docs"}, {"members": "read"}, has_team),
        ({"labels": "brand-new", "create_labels": True}, {"issues": "write"}, has_label),
        (
            {"properties": True, "profile": "", "definitions": "gold.json"},
            {"organization_custom_properties": "read"},
            has_file_of_rule,
        ),
        (
            {"target_repos": "octo-org/*, property:tier=gold"},
            {"organization_custom_properties": "read"},
            lambda _: True,
        ),
    ],
    ids=["team", "label", "properties in the list", "properties in target_repos"],
)
def test_the_reusable_workflow_asks_for_what_its_inputs_need(
    given: dict[str, object],
    asked: dict[str, str],
    holds: Callable[[Repository], bool],
    call_many: CallMany,
    project: Path,
) -> None:
    """The token may do what was asked for, and nothing else."""
    rule = {"when": {"property": {"tier": "gold"}}, "files": ["GOLD.md"]}
    (project / "gold.json").write_text(json.dumps({"files": ["README.md"], "rules": [rule]}))
    with Granting() as host:
        host.quirks.without_properties = True
        repository = host.create_repository("octo-org/r0", PRESENT, properties={"tier": "gold"})
        repository.teams.add("docs")
        log = call_many(host, **given)
        assert holds(repository)
    assert len(repository.pull_requests) == 1
    assert "::warning::" not in log
    usual = {"contents": "write", "pull_requests": "write", "metadata": "read"}
    plan, shard, result = host.granted
    assert shard == usual | asked
    read = {name: level for name, level in asked.items() if name.startswith("organization")}
    assert plan == result == dict.fromkeys(usual, "read") | read
