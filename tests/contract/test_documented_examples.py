"""The examples that people copy from the documents work without a change."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from registrar import errors
from registrar.lists import loading
from registrar.registration.mark import WITHDRAWN
from registrar.reporting.reporter import HELP_PAGES
from registrar.runtime.workspace import Folder
from registrar.texts.messages import Catalogue, msg
from scripts.lib.release import REFERENCE
from tests import packages
from tests.documents import (
    MANY_WORKFLOW,
    README,
    README_JA,
    ROOT,
    blocks,
    command,
    for_several_organisations,
    name,
)
from tests.fakehub import Repository, StandInHost
from tests.harness import (
    JAPANESE,
    TARGET,
    Action,
    Run,
    only_reads,
)

LIST = ".github/registrar.yml"
OURS = re.compile(rf"{REFERENCE.pattern}|\./")
EXPRESSION = re.compile(r"\${{ *(.+?) *}}")
DEFINITIONS_PAGE = ROOT / "docs/definitions.md"
MANY_PAGE = ROOT / "docs/many-repositories.md"
EXAMPLES = ROOT / "docs/examples.md"
REQUIRED = ROOT / "workflow-templates/required-files.yml"
TEMPLATES = sorted((ROOT / "workflow-templates").glob("*.yml"))


def texts() -> list[tuple[str, str]]:
    """Every block of YAML with its place, the workflow that is shown by its changes alone, and
    those to which the documents only lead.
    """
    several = (f"{name(MANY_PAGE)}:several", for_several_organisations(MANY_PAGE))
    linked = [(name(each), each.read_text("utf-8")) for each in TEMPLATES]
    return [*blocks("ya?ml"), several, *linked]


def workflows() -> list[tuple[str, dict[Any, Any]]]:
    found = [(place, yaml.safe_load(text)) for place, text in texts()]
    return [(place, read) for place, read in found if isinstance(read, dict) and "jobs" in read]


def runs() -> Iterator[Any]:
    """Every workflow with every choice that it offers and every entry of its matrix."""
    for place, workflow in workflows():
        trigger = workflow[True]  # `on` is a boolean to YAML 1.1
        dispatch = trigger.get("workflow_dispatch") if isinstance(trigger, dict) else None
        offered = {
            f"inputs.{key}": given.get("options", [given.get("default", "")])
            for key, given in ((dispatch or {}).get("inputs") or {}).items()
        }
        for given in workflow["jobs"].values():
            job = {"permissions": workflow.get("permissions"), **given}
            if not any(OURS.fullmatch(step.get("uses", "")) for step in job.get("steps", ())):
                continue
            matrix = job.get("strategy", {}).get("matrix", {})
            values = offered | {f"matrix.{key}": entries for key, entries in matrix.items()}
            for chosen in itertools.product(*values.values()):
                context = dict(zip(values, chosen, strict=True))
                yield pytest.param(job, context, place, id="-".join([place, *chosen]))


def own_list(place: str) -> str:
    """The list that belongs to an example: that of its page, else that of the README."""
    page = ROOT / place.partition(":")[0]
    for _, text in [*blocks("ya?ml", page), *blocks("ya?ml", README)]:
        if text.startswith(f"# {LIST}"):
            return text
    pytest.fail(f"no list for {place}")


def test_workflows_are_complete(tmp_path: Path) -> None:
    for number, (place, _) in enumerate(workflows()):
        text = dict(texts())[place]
        (tmp_path / f"{number}.yml").write_text(f"# {place}\n{text}", "utf-8")
    command = ["check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run(
        [sys.executable, "-m", *command, *map(str, tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "jobs:\n" not in "".join(
        text for place, text in blocks("ya?ml") if place not in dict(workflows())
    )


@pytest.mark.parametrize(("job", "context", "place"), list(runs()))
def test_a_workflow_runs_as_it_stands(
    job: dict[str, Any],
    context: dict[str, str],
    place: str,
    action: Action,
    host: StandInHost,
    tmp_path: Path,
) -> None:
    # The workflow's own token can do what the job's permissions say, and no more
    own = job["permissions"]
    permissions = {scope.replace("-", "_"): access for scope, access in own.items()}
    action.default_token = host.create_token("installation", permissions=permissions)
    other = host.create_token("installation")
    action.secrets += [action.default_token, other]
    secrets = dict.fromkeys(("secrets.REGISTRAR_TOKEN", "steps.app.outputs.token"), other)
    values = {**context, **secrets, "github.sha": "", "github.repository_owner": "octo-org"}

    steps = job["steps"]
    (ours,) = (step for step in steps if OURS.fullmatch(step.get("uses", "")))
    if any(step.get("uses", "").startswith("actions/checkout@") for step in steps):
        assert own.get("contents"), "a private repository cannot be checked out"
        action.write(LIST, own_list(place))
        action.write(".github/templates/issues/bug.yml", "name: Bug\n")
    given = {key: evaluated(text, values) for key, text in ours["with"].items()}
    assert own or "host_token" in given, "the workflow's own token has no permission"
    many = given.get("target_repos", "").replace("*", "example")
    target = many or given.get("target_repo", TARGET)
    repository = host.create_repository(target, {"README.md": b"# Example\n"})
    if "ref" in given:
        repository.person.commit({"SECURITY.md": b"x\n"})
        removed = repository.person.commit({"SECURITY.md": None}, branch="change")
        given["ref"] = repository.test_merge("main", removed)
    own_profile = given.get("profile")
    run = action(given, profile=own_profile, runner=True, env={"RUNNER_TEMP": str(tmp_path)})
    check_run(run, given, repository, host)
    values |= {f"steps.{ours.get('id')}.outputs.{name}": v for name, v in run.outputs.items()}
    values["runner.temp"] = str(tmp_path)
    for step in steps:
        if re.search("git switch|gh issue", step.get("run", "")):
            continue  # `test_what_changed_is_told_by_the_next_run`
        if "site/" in step.get("run", ""):
            assert in_runner(step, values, action.workspace, tmp_path) == ""
        elif "upload-" in step.get("uses", ""):
            paths = evaluated(step["with"]["path"], values).split()
            assert all((action.workspace / path).exists() for path in paths)
            assert any("<!doctype html>" in page_in(action.workspace / path) for path in paths)


def page_in(place: Path) -> str:
    """The text of a file, or of the page that a directory is served with."""
    return (place / "index.html" if place.is_dir() else place).read_text("utf-8")


def test_what_changed_is_told_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runs of the workflow are tried above, so here are only their tables."""
    [(_, _, compare, tell)] = (
        job["steps"]
        for _, each in workflows()
        for job in each["jobs"].values()
        if any("gh issue" in step.get("run", "") for step in job.get("steps", ()))
    )
    origin, checkout = tmp_path / "origin", tmp_path / "checkout"
    stub(tmp_path, "gh", 'echo "$@"')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def git(arguments: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@localhost", *arguments.split()]
        return subprocess.run(
            command, cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    git("init --quiet --bare --initial-branch=main origin")
    git("init --quiet --initial-branch=main checkout")
    git(f"-C checkout remote add origin {origin}")
    git("-C checkout commit --quiet --allow-empty -m Begin")

    def week(*rows: str) -> str:
        """Return the comment after a run with these rows in its table."""
        temporary = Path(tempfile.mkdtemp(dir=tmp_path))
        table = "".join(f"{row}\n" for row in ("repository,list,path,standing", *rows))
        (temporary / "table.csv").write_text(table)
        values = {"steps.registrar.outputs.table_path": "table.csv"}
        assert in_runner(compare, values, checkout, temporary) == ""
        issue = {"github.token": "x", "vars.REGISTRAR_ISSUE": "7"}
        try:
            said = in_runner(tell, issue, checkout, temporary)
        finally:
            # The next run begins with a new checkout
            for back in ("switch --quiet main", "branch --quiet -D files", "fetch --quiet origin"):
                git(f"-C checkout {back}")
        found = re.fullmatch(r"issue comment 7 --body-file (.*)\n", said)
        return Path(found[1]).read_text("utf-8") if found else said

    before, after = (
        f"octo-org/a-b,starter,.editorconfig,{each}" for each in ("to create", "blank")
    )
    assert f"\n+{before}\n" in week(before)
    assert week(before) == ""
    stub(tmp_path, "gh", 'echo "no such issue" >&2; exit 1')
    with pytest.raises(AssertionError, match="no such issue"):
        week(after)
    stub(tmp_path, "gh", 'echo "$@"')
    fence, *lines, end, more = week(after).splitlines()
    assert (fence, end, "files.csv" in more) == ("```diff", "```", True)
    changes = [line for line in lines if re.match("[+-][^+-]", line)]
    assert changes == [f"-{before}", f"+{after}"]
    long = week(*(f"octo-org/{'a' * 90}-{row},starter,a,to create" for row in range(900)))
    *_, end, more = long.splitlines()
    assert (end, "files.csv" in more) == ("```", True)
    assert 50_000 < len(long) < 65_536
    assert git("-C origin log --oneline files").count("Files") == 3


def test_the_links_that_fill_in_an_app_ask_for_what_the_workflow_asks_for() -> None:
    """Names: docs.github.com, "Registering a GitHub App using URL parameters"."""
    text = MANY_PAGE.read_text("utf-8")
    links = re.findall(r"\(https://\S+/settings/apps/new\?([^\s)]+)\)", text)
    reads, least, most = (dict(urllib.parse.parse_qsl(link)) for link in links)
    for given in (reads, least, most):
        assert (given.pop("public"), given.pop("webhook_active")) == ("false", "false")
    lines = re.findall(r"(?m)^ +(# )?permission-([a-z-]+): (\w+)", MANY_WORKFLOW.read_text("utf-8"))
    asked = {name.replace("-", "_"): level for _, name, level in lines}
    always = {name.replace("-", "_"): level for comment, name, level in lines if not comment}
    assert (reads, least, most) == (dict.fromkeys(always, "read"), always, asked)


def test_github_can_offer_a_workflow_template() -> None:
    for template in TEMPLATES:
        properties = json.loads(template.with_suffix(".properties.json").read_text("utf-8"))
        assert {"name", "description"} <= properties.keys()
        assert all(re.search(pattern, LIST) for pattern in properties["filePatterns"])


@pytest.mark.parametrize("document", [README_JA, REQUIRED], ids=name)
def test_what_holds_pull_requests_to_the_list_runs_again_for_another_base(document: Path) -> None:
    """It also warns that a pull request can change the list, or the workflow, that judges it."""
    texts = [text for _, text in blocks("ya?ml", document)] or [document.read_text("utf-8")]
    [found] = [text for text in texts if "fail_on: removed" in text]
    types = yaml.safe_load(found)[True]["pull_request"]["types"]
    assert types == ["opened", "synchronize", "reopened", "edited"]
    assert "# edited: " in found
    assert re.search("ruleset|ルールセット", found.partition("\nname:")[0])


def evaluated(text: str, values: Mapping[str, str]) -> str:
    """The text with the values of its expressions."""
    return EXPRESSION.sub(lambda match: values[match[1]], text)


def check_run(
    run: Run, given: Mapping[str, str], repository: Repository, host: StandInHost
) -> None:
    mode = given.get("mode", "register")
    assert run.exit_code == (errors.EXIT_FAILED if mode == "check" else errors.EXIT_DONE), run.text
    assert not run.annotations("warning"), run.annotations("warning")
    assert len(run.annotations()) == (mode == "check") * len(run.report["registrations"])
    if mode == "register":
        opened = [pull.html_url for pull in repository.pull_requests]
        assert opened == [each["pull_request"]["url"] for each in run.report["registrations"]]
        assert int(run.outputs["created"]) > 0
    else:
        assert only_reads(host)
        assert not repository.pull_requests


def in_runner(
    step: Mapping[str, Any], values: Mapping[str, str], workspace: Path, temporary: Path
) -> str:
    """Return the text that a script prints and adds to the summary."""
    summary = temporary / "summary.md"
    env = {key: evaluated(text, values) for key, text in step.get("env", {}).items()}
    done = subprocess.run(
        command(step, temporary),
        cwd=workspace,
        env={
            "PATH": os.environ["PATH"],
            "RUNNER_TEMP": str(temporary),
            "GITHUB_STEP_SUMMARY": str(summary),
            **env,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    expected = "fatal: invalid reference: files\n" if "git switch" in step["run"] else ""
    assert done.returncode == 0, done.stderr
    assert done.stderr in {"", expected}
    return done.stdout + (summary.read_text("utf-8") if summary.exists() else "")


def step_of_an_example(word: str) -> dict[str, Any]:
    """The step that an example adds to the workflow of another one."""
    [[step]] = (yaml.safe_load(text) for _, text in blocks("ya?ml") if word in text)
    return dict(step)


def test_a_step_prints_the_missing_files(action: Action, host: StandInHost, tmp_path: Path) -> None:
    if not shutil.which("jq"):
        pytest.skip("jq is not installed")
    host.create_repository(TARGET)
    run = action(profile="all", mode="plan", runner=True, env={"RUNNER_TEMP": str(tmp_path)})
    values = {"steps.registrar.outputs.report_path": run.outputs["report_path"]}
    missing = [
        f"{registration['profile']}: {file['path']}"
        for registration in run.report["registrations"]
        for file in registration["files"]
        if file["done"] == "to create"
    ]
    said = in_runner(step_of_an_example("jq "), values, action.workspace, tmp_path)
    assert said.splitlines() == missing


def test_a_step_asks_github_to_merge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub(tmp_path, "gh", 'echo "$*"')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    address = "https://github.example/octo-org/example/pull/1"
    outputs = {"pull_request_url": address}
    values = {f"steps.registrar.outputs.{key}": value for key, value in outputs.items()}
    step = step_of_an_example("gh pr merge")
    asked = in_runner(step, {**values, "steps.app.outputs.token": "x"}, tmp_path, tmp_path)
    assert asked == f"pr merge --auto --squash {address}\n"


# --- In a shell ---------------------------------------------------------------------------


def shell(readme: Path, word: str) -> str:
    (found,) = (text for _, text in blocks("sh", readme) if word in text)
    return found


def in_shell(script: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-eu", "-c", script],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def locale_of(document: Path) -> dict[str, str]:
    """Return the locale of the readers of a document."""
    return {"LANG": "ja_JP.UTF-8" if document == README_JA else "en_GB.UTF-8"}


def at_home(home: Path, host: StandInHost) -> dict[str, str]:
    """Write a list into a checkout in a home, and return the environment of a shell there."""
    listed = home / "checkout" / LIST
    listed.parent.mkdir(parents=True)
    listed.write_text("files: [a]\n")
    return {"HOME": str(home), "HOST_API_URL": host.url}


BOTH = pytest.mark.parametrize("readme", [README, README_JA], ids=name)


@BOTH
def test_the_command_of_the_readme_plans_and_registers(
    readme: Path, action: Action, repository: Repository
) -> None:
    script = shell(readme, "export HOST_TOKEN")
    script = script.replace("…", action.default_token).replace("owner/repo", TARGET)
    environ = {"HOST_API_URL": action.host.url, **locale_of(readme)}
    plan = in_shell(script, environ)
    assert plan.returncode == 0, plan.stderr
    assert repository.pull_requests == []
    assert only_reads(action.host)
    assert bool(JAPANESE.search(plan.stdout)) is (readme == README_JA)
    done = in_shell(script.replace("--mode plan", ""), environ)
    assert done.returncode == 0, done.stderr
    assert len(repository.pull_requests) == script.count("--mode plan")
    assert (ROOT / "scripts/setup-repository-scaffold-files.sh").is_file()


@pytest.mark.parametrize("document", [README, README_JA, MANY_PAGE], ids=name)
def test_the_first_plan_of_an_organisation(document: Path, action: Action, tmp_path: Path) -> None:
    script = shell(document, "gh auth token")
    if document == MANY_PAGE:
        # After the pilot
        first, _, _ = script.partition("scripts/registrar ")
        script = first + shell(document, "'octo-org/*' --mode plan")
    clone, _, rest = script.partition("\n")
    script = rest if clone.startswith("git clone ") else script
    replaced = {"FILE": "~/checkout/.github/registrar.yml", "my-org": "octo-org"}
    for written, given in {**replaced, "page.html": f"{tmp_path}/page.html"}.items():
        script = script.replace(written, given)
    stub(tmp_path, "gh", f'[ "$*" = "auth token" ] && echo {action.default_token}')
    for number in range(3):
        action.host.create_repository(f"octo-org/r{number}")
    path = f"{tmp_path}:{os.environ['PATH']}"
    environ = {**at_home(tmp_path, action.host), "PATH": path}
    done = in_shell(script, environ | locale_of(document))
    assert (done.returncode, done.stderr) == (0, "")
    is_japanese = document == README_JA
    assert ("With missing files: 3 (to open: 3)." in done.stdout) is not is_japanese
    assert bool(JAPANESE.search(done.stdout)) is is_japanese
    assert (tmp_path / "page.html").is_file() is ("--page" in script)
    assert only_reads(action.host)


def test_the_pilot_opens_one_pull_request(action: Action, tmp_path: Path) -> None:
    _, _, script = shell(MANY_PAGE, "--max-pull-requests 1").partition("\n")
    script = script.replace("$(gh auth token)", action.default_token)
    made = [action.host.create_repository(f"octo-org/{name}") for name in ("one", "two", "three")]
    # The reader is asked, and here nobody answers
    environ = {**at_home(tmp_path, action.host), "CI": "true"}
    done = in_shell(script, environ | locale_of(MANY_PAGE))
    assert (done.returncode, done.stderr) == (0, "")
    [taken] = [each.full_name for each in made if each.pull_requests]
    # The plan names both, and the run the one that is left
    named = re.findall(r"these repositories first: (.*?)\. It", done.stdout)
    assert named == ["octo-org/one, octo-org/two", "octo-org/two"]
    assert taken == "octo-org/one"


def test_a_list_is_checked_without_a_token(tmp_path: Path) -> None:
    for text, code in (("[a]", 0), ("[a, a/b]", 2)):
        (tmp_path / "list.yml").write_text(text)
        script = shell(DEFINITIONS_PAGE, "--mode validate").replace(
            "FILE", str(tmp_path / "list.yml")
        )
        assert in_shell(script, {}).returncode == code


@pytest.mark.parametrize(
    ("names", "search"),
    [
        (["one", "two"], "echo"),
        # `gh pr merge` without an argument merges the pull request of the branch where it is run
        # (GitAlias/gitalias#70)
        ([], "echo"),
        ([], "false"),
        ([], "echo '<html>' #"),
    ],
    ids=["found", "none found", "the search fails", "another answer"],
)
def test_what_merges_and_closes_all_pull_requests(
    tmp_path: Path, names: list[str], search: str
) -> None:
    if not shutil.which("jq"):
        pytest.skip("jq is not installed")
    found = [f"https://github.com/octo-org/{each}/pull/1" for each in names]
    answer = json.dumps([{"url": url} for url in found])
    # One that fails does not stop the others
    act = 'echo "$@" >> said; exit 1'
    stub(tmp_path, "gh", f"if [ \"$1\" = search ]; then {search} '{answer}'; else {act}; fi")
    (tmp_path / "said").touch()
    for each in ("--state open", "gh pr merge", "gh pr close"):
        in_shell(f"set +e\ncd {tmp_path}\n{shell(MANY_PAGE, each)}", with_stubs(tmp_path))
    assert (tmp_path / "said").read_text().splitlines() == [
        *(f"pr merge --auto --squash {url}" for url in found),
        *(f"pr close --delete-branch {url}" for url in found),
    ]


def test_only_branches_of_withdrawn_pull_requests_are_deleted(tmp_path: Path) -> None:
    """Of four, one was closed by somebody, one was pushed to, and one is proposed again."""
    if not shutil.which("jq"):
        pytest.skip("jq is not installed")
    bodies = dict.fromkeys(("good", "pushed", "open"), WITHDRAWN) | {"declined": "no"}
    answer = json.dumps(
        [
            {"url": f"https://github.com/octo-org/{name}/pull/1", "body": body}
            for name, body in bodies.items()
        ]
    )
    stub(
        tmp_path,
        "gh",
        f"""case "$*" in
        search*) echo '{answer}' ;;
        *headRefName) echo chore/add-platform-files ;;
        *headRefOid) echo abc ;;
        "pr list --repo https://github.com/octo-org/open "*) echo 1 ;;
        "pr list"*) echo 0 ;;
        api*/pushed/git/ref/heads/chore/add-platform-files*) echo def ;;
        api*/git/ref/heads/chore/add-platform-files*) echo abc ;;
        *) echo "$*" >> said ;;
        esac""",
    )
    for each in ("--state closed", "gh api --method DELETE"):
        in_shell(f"set +e\ncd {tmp_path}\n{shell(MANY_PAGE, each)}", with_stubs(tmp_path))
    deleted = "api --method DELETE repos/octo-org/good/git/refs/heads/chore/add-platform-files"
    assert (tmp_path / "said").read_text().splitlines() == [deleted]


def stub(directory: Path, program: str, script: str) -> None:
    """Make a program of others, which runs in place of the real one."""
    (directory / program).write_text(f"#!/bin/sh\n{script}\n")
    (directory / program).chmod(0o755)


def with_stubs(directory: Path) -> dict[str, str]:
    return {"PATH": f"{directory}:{os.environ['PATH']}", "HOME": str(directory)}


def test_after_a_command_that_fails_none_changes_anything(tmp_path: Path) -> None:
    """Every program of others fails, and registrar is not there."""
    for program in ("docker", "gh", "git", "jq", "pipx", "registrar"):
        stub(tmp_path, program, f'echo {program} "$@" >> said; exit 1')
    for number, (place, script) in enumerate(blocks("sh")):
        directory = tmp_path / f"block-{number}"
        directory.mkdir()
        in_shell(f"set +eu\ncd {directory}\n{script}", with_stubs(tmp_path))
        said = directory / "said"
        calls = said.read_text().splitlines() if said.exists() else []
        begun = [each for each in calls[1:] if each != "gh auth token"]
        assert begun == [], place
        names = {each.name for each in directory.iterdir()}
        assert names <= {"said", "open.json", "withdrawn.json"}, place
        assert not list(tmp_path.glob(".local/**/registrar")), place


def test_the_remedy_for_a_missing_package_installs_what_is_locked(tmp_path: Path) -> None:
    pages = [(ROOT / document).read_text("utf-8") for document in HELP_PAGES.values()]
    [script] = {
        " ".join(found.split())
        for page in pages
        for found in re.findall(r"`(pip install [^`]+)`", page)
    }
    project = packages.project(tmp_path)
    installed = packages.environment(tmp_path / "venv")
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "wheels")}
    path = f"{tmp_path}/venv/bin:{os.environ['PATH']}"
    done = in_shell(f"cd {project}\n{script}", {"PATH": path, **offline})
    assert done.returncode == 0, done.stderr
    assert (installed / "registrar_tiny.py").is_file()
    for language, page in zip(HELP_PAGES, pages, strict=True):
        assert script in " ".join(page.split())
        assert script in Catalogue(language).text(msg("run.package_missing", name="x"))


TRIED = {
    "scripts/demo": "tests/contract/test_scripts.py",
    "HOST_TOKEN=…": test_the_command_of_the_readme_plans_and_registers,
    "$(gh auth token)": test_the_first_plan_of_an_organisation,
    "--mode validate": test_a_list_is_checked_without_a_token,
    "registrar --print-completion": "tests/contract/test_package.py",
    "gh search prs": test_what_merges_and_closes_all_pull_requests,
    "gh pr merge": test_what_merges_and_closes_all_pull_requests,
    "gh pr close": test_what_merges_and_closes_all_pull_requests,
    "gh api --method DELETE": test_only_branches_of_withdrawn_pull_requests_are_deleted,
    "registrar --target-repos 'octo-org/": test_the_pilot_opens_one_pull_request,
    "gh attestation verify": "of no release that there is",
}
"""The test that tries each command of the documents, or the reason why none does."""


def test_every_command_of_the_documents_is_tried() -> None:
    texts = dict(blocks("sh"))
    by = {place: [each for each in TRIED if each in text] for place, text in texts.items()}
    assert [place for place, found in by.items() if not found] == []
    assert {each for found in by.values() for each in found} == TRIED.keys()


# --- Lists --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [text for _, text in blocks("ya?ml", DEFINITIONS_PAGE)])
def test_the_examples_of_a_list_follow_the_schema(text: str, action: Action) -> None:
    action.write("templates/SECURITY.md", "Write to security@example.com.\n")
    action.write("templates/issues/bug.yml", "name: Bug\n")
    action.write("templates/golangci.yml", "version: 2\n")
    schema = json.loads((ROOT / "scripts/config/definitions.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(text))
    read = loading.load(Folder(action.workspace), action.write("list.yml", text))
    assert read.files
    assert not read.warnings
