"""The users' own words: each text, path and order on which users of the first scripts rely.

The two scripts that registrar replaces printed these lines, created these files and sent these
requests in this order. So no change to our language, our structure or our tests changes a literal
of this module: if a test here fails, the code is wrong. The literals are written out once. They are
not read from the catalogues, from the definition files or from any other place of the product.
"""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.fakehub import Repository, Request, StandInHost
from tests.fakehub.tokens import Kind
from tests.harness import ROOT, TARGET, Action, Run, calls, meanwhile, refuse, shortened, writes

EMPTY = "\n"
"""The content of an empty file: a single line feed."""
SCAFFOLD = {
    ".agents/skills/.gitignore": EMPTY,
    ".agents/skills/.gitkeep": EMPTY,
    ".claude/.gitignore": EMPTY,
    ".claude/.gitkeep": EMPTY,
    ".claude/settings.json": "{}",
    ".cline/.gitignore": EMPTY,
    ".cline/.gitkeep": EMPTY,
    ".codex/.gitignore": EMPTY,
    ".codex/.gitkeep": EMPTY,
    ".cursor/.gitignore": EMPTY,
    ".cursor/.gitkeep": EMPTY,
    ".gemini/.gitignore": EMPTY,
    ".gemini/.gitkeep": EMPTY,
    ".github/copilot-instructions.md": EMPTY,
    ".github/release.yml": EMPTY,
    ".idea/.gitkeep": EMPTY,
    ".vscode/.gitkeep": EMPTY,
    ".vscode/extensions.json": "{}",
    ".vscode/launch.json": "{}",
    ".vscode/settings.json": "{}",
    ".windsurf/.gitignore": EMPTY,
    ".windsurf/.gitkeep": EMPTY,
    ".editorconfig": EMPTY,
    ".gitattributes": EMPTY,
    ".gitignore": EMPTY,
    ".mcp.json": "{}",
    "AGENTS.md": EMPTY,
    "DESIGN.md": EMPTY,
    "README.md": EMPTY,
}
HEALTH = {
    ".github/CODE_OF_CONDUCT.md": EMPTY,
    ".github/CONTRIBUTING.md": EMPTY,
    ".github/GOVERNANCE.md": EMPTY,
    ".github/SECURITY.md": EMPTY,
    ".github/SUPPORT.md": EMPTY,
    ".github/PULL_REQUEST_TEMPLATE.md": EMPTY,
    ".github/ISSUE_TEMPLATE/config.yml": EMPTY,
}
LOCALES = ("", "C", "C.UTF-8", "en_US.UTF-8", "ja_JP.UTF-8", "de_DE.UTF-8")


class Script(NamedTuple):
    """One of the two scripts."""

    profile: str
    command: str
    definitions: str
    files: Mapping[str, str]
    most_requests: int
    """One existence check and one creation for each file, the branch and the pull request."""

    def of_checkout(self, checkout: Path) -> Path:
        """Return the definition file that users of a checkout edit."""
        return checkout / self.definitions


SCRIPTS = [
    Script(
        "scaffold",
        "scripts/setup-repository-scaffold-files.sh",
        "scripts/config/repo-scaffold-definitions.json",
        SCAFFOLD,
        60,
    ),
    Script(
        "health",
        "scripts/setup-repository-health-files.sh",
        "scripts/config/repo-health-file-definitions.json",
        HEALTH,
        16,
    ),
]
each_script = pytest.mark.parametrize("script", [pytest.param(s, id=s.profile) for s in SCRIPTS])
DEFAULT_BRANCH = "release/1.x"


@pytest.fixture
def target(host: StandInHost) -> Repository:
    """A repository that has no listed file."""
    return host.create_repository(
        TARGET, {"src/main.c": b"int x;\n"}, default_branch=DEFAULT_BRANCH
    )


@pytest.fixture
def environ(action: Action, host: StandInHost) -> dict[str, str]:
    """The two variables of the scripts, and the address of the stand-in."""
    return {
        "HOST_TOKEN": action.default_token,
        "TARGET_REPO": TARGET,
        "HOST_API_URL": host.url,
    }


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the product, whose definition files a test may edit."""
    copied = tmp_path / "checkout"
    copied.mkdir()
    shutil.copy(ROOT / "entrypoint.py", copied)
    for folder in ("src", "scripts"):
        shutil.copytree(
            ROOT / folder, copied / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    return copied


def summary(created: int, skipped: int, failed: int) -> list[str]:
    """Return the eight lines of the console summary."""
    return [
        "=" * 50,
        "完了サマリー",
        "=" * 50,
        "Repository: octo/example",
        f"作成: {created} 件",
        f"スキップ: {skipped} 件",
        f"失敗: {failed} 件",
        "=" * 50,
    ]


def table(created: int, skipped: int, failed: int) -> str:
    """Return the table in the file that ``HOST_STEP_SUMMARY`` names."""
    rows = f"| 作成 | {created} |\n| スキップ | {skipped} |\n| 失敗 | {failed} |\n"
    return f"\n\n| 項目 | 件数 |\n| --- | --- |\n{rows}\n"


# --- The two variables and the token --------------------------------------------------------------


@pytest.mark.parametrize("locale", LOCALES)
@each_script
def test_each_command_needs_two_variables_and_prints_eight_lines_in_every_locale(
    action: Action,
    target: Repository,
    environ: dict[str, str],
    script: Script,
    locale: str,
    tmp_path: Path,
) -> None:
    environ |= {"LANG": locale, "LC_ALL": locale} if locale else {}
    environ["INPUT_PROFILE"] = "all"  # a command is for the list in its name
    file = tmp_path / "summary.md"
    run = action.process({**environ, "HOST_STEP_SUMMARY": str(file)}, script.command).or_fail()
    files = script.files
    assert run.lines[-8:] == summary(len(files), 0, 0)
    assert table(len(files), 0, 0) in file.read_text("utf-8")
    [pull] = target.pull_requests
    added = {path: content.encode() for path, content in files.items()}
    assert target.files(pull.head) == {"src/main.c": b"int x;\n", **added}


@pytest.mark.parametrize("name", ["HOST_TOKEN", "TARGET_REPO"])
@pytest.mark.parametrize("value", [None, "", " "])
@each_script
def test_without_one_of_the_variables_a_command_stops_before_any_request(
    action: Action,
    host: StandInHost,
    environ: dict[str, str],
    script: Script,
    name: str,
    value: str | None,
) -> None:
    del environ[name]
    given = environ if value is None else {**environ, name: value}
    run = action.start(given, f"--command={script.profile}")
    assert (run.exit_code, host.requests) == (2, [])
    assert f"（{name}）がないか、空です" in run.stderr


@pytest.mark.parametrize("repository", ["octo", "octo/", "/example", "octo/example/x", "a b/c"])
def test_the_target_has_the_form_of_owner_and_repository(
    action: Action, host: StandInHost, environ: dict[str, str], repository: str
) -> None:
    run = action.start({**environ, "TARGET_REPO": repository}, "--command=health")
    assert (run.exit_code, host.requests) == (2, [])
    assert "`owner/repo`" in run.stderr


@each_script
def test_an_invalid_token_stops_a_script_before_any_work(
    action: Action, host: StandInHost, target: Repository, environ: dict[str, str], script: Script
) -> None:
    host.revoke_token(action.default_token)
    run = action.start(environ, f"--command={script.profile}")
    assert run.exit_code == 2
    assert calls(host) == ["GET /rate_limit"]


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("classic", {"scopes": ["repo"]}),
        ("fine-grained", {"permissions": {"contents": "write", "pull_requests": "write"}}),
    ],
)
@each_script
def test_these_rights_of_a_token_suffice(
    action: Action, host: StandInHost, script: Script, kind: Kind, more: Mapping[str, object]
) -> None:
    private = host.create_repository(TARGET, private=True)
    token = host.create_token(kind, **more)  # type: ignore[arg-type]
    action(profile=script.profile, host_token=token).or_fail()
    assert len(private.pull_requests) == 1


@pytest.mark.parametrize(
    ("hides", "expected"),
    [
        ("sys.modules['github'] = None", "The Python package github is missing"),
        (
            "sys.modules['yaml'] = None",
            "必要なパッケージがありません / missing package: yaml\n",
        ),
        (
            "sys.modules['signal'] = sys.modules['fcntl'] = None; import os; os.name = 'nt'",
            "registrar runs on Linux, macOS and WSL. On Windows, use WSL.\n",
        ),
        # Not every package says its name if it cannot be imported
        ("sys.path.insert(0, '{}')", "The Python package OpenSSL 1.1.1 is missing"),
    ],
)
def test_a_missing_client_parser_or_system_is_an_error(
    action: Action, host: StandInHost, hides: str, expected: str
) -> None:
    """A clear error, exit code 2 and no traceback."""
    hidden = action.directory / "hide.py"
    (action.directory / "urllib3.py").write_text("raise ImportError('OpenSSL 1.1.1')")
    entry = f"{hides.format(action.directory)}\nrunpy.run_path({str(ROOT / 'entrypoint.py')!r})\n"
    hidden.write_text(f"import runpy, sys\n{entry}")
    run = action.process(action.environment({"language": "en"}), str(hidden))
    assert run.exit_code == 2
    assert expected in run.stderr
    assert host.requests == []


# --- The definition files -------------------------------------------------------------------------


@each_script
def test_users_choose_the_files_by_editing_the_definition_file(
    action: Action, target: Repository, environ: dict[str, str], script: Script, checkout: Path
) -> None:
    """An entry needs only ``path``. Script B creates every file empty."""
    entries = [
        {"path": "a"},
        {"path": "b/c.json", "description": "with a content", "content": "{ }"},
    ]
    script.of_checkout(checkout).write_text(json.dumps(entries))
    command = str(checkout / "entrypoint.py"), f"--command={script.profile}"
    run = action.process(environ, *command).or_fail()
    [pull] = target.pull_requests
    content = b"{ }" if script.profile == "scaffold" else b"\n"
    added = {"a": b"\n", "b/c.json": content}
    assert target.files(pull.head) == {"src/main.c": b"int x;\n", **added}
    assert run.lines[-8:] == summary(2, 0, 0)


@pytest.mark.parametrize("text", [None, "", "[", "{}", '[{"description": "no path"}]'])
@each_script
def test_the_definition_file_is_loaded_before_any_request(
    action: Action,
    host: StandInHost,
    environ: dict[str, str],
    script: Script,
    checkout: Path,
    text: str | None,
) -> None:
    file = script.of_checkout(checkout)
    file.unlink() if text is None else file.write_text(text)
    command = str(checkout / "entrypoint.py"), f"--command={script.profile}"
    run = action.process(environ, *command)
    assert (run.exit_code, host.requests) == (2, [])
    assert file.name in run.stderr


def test_the_lists_have_these_numbers_of_files_and_no_funding_file() -> None:
    assert (len(SCAFFOLD), len(HEALTH)) == (29, 7)
    for script in SCRIPTS:
        entries = json.loads(script.of_checkout(ROOT).read_text("utf-8"))
        contents = {entry["path"]: entry.get("content", EMPTY) for entry in entries}
        assert [*contents.items()] == [*script.files.items()]
        assert not [path for path in contents if "FUNDING" in path]
    assert [path for path, content in SCAFFOLD.items() if content != EMPTY] == [
        ".claude/settings.json",
        ".vscode/extensions.json",
        ".vscode/launch.json",
        ".vscode/settings.json",
        ".mcp.json",
    ]


# --- The requests and their order -----------------------------------------------------------------


@pytest.mark.parametrize("present", [0, 2, 5])
@each_script
def test_the_requests_their_order_and_their_number(
    action: Action, host: StandInHost, script: Script, present: int
) -> None:
    """A run that is alone sends at most 60 or 16 requests of the six kinds.

    The token is checked before them. Two reads of the branch, which are needed to decide nothing
    twice, take place beside the existence checks.
    """
    there = [*script.files][:present]
    theirs = dict.fromkeys(there, b"mine\n")
    repository = host.create_repository(TARGET, {**theirs, "x": b""}, default_branch=DEFAULT_BRANCH)
    action(profile=script.profile).or_fail()
    [pull] = repository.pull_requests
    missing = [path for path in script.files if path not in there]
    made = calls(host)
    first = ["GET /rate_limit", "GET", f"GET git/ref/heads/{DEFAULT_BRANCH}"]
    last = ["POST git/refs", *(f"PUT contents/{path}" for path in missing), "POST pulls"]
    assert made[:3] == first
    assert made[-len(last) :] == last
    between = made[3 : -len(last)]
    checks = [f"GET contents/{path}" for path in script.files]
    about_branch = [f"GET git/matching-refs/heads/{pull.head}", "GET pulls"]
    # The checks take place at the same time
    assert sorted(between) == sorted([*checks, *about_branch])
    # The document does not count the first two reads
    assert len(checks) + len(last) == script.most_requests - present
    assert repository.files() == {**theirs, "x": b""}


@each_script
def test_the_requests_say_this(
    action: Action, host: StandInHost, target: Repository, script: Script
) -> None:
    head = target.head(DEFAULT_BRANCH)
    action(profile=script.profile).or_fail()
    [pull] = target.pull_requests
    [branch] = [r.json for r in host.requests if shortened(r) == "POST git/refs"]
    assert branch == {"ref": f"refs/heads/{pull.head}", "sha": head}
    assert (pull.head_repository, pull.base, pull.state) == (TARGET, DEFAULT_BRANCH, "open")
    sent = {
        shortened(r): (
            base64.b64decode(r.json["content"]).decode(),
            r.json["branch"],
            "sha" in r.json,
        )
        for r in host.requests
        if r.method == "PUT"
    }
    assert sent == {
        f"PUT contents/{path}": (content, pull.head, False)
        for path, content in script.files.items()
    }
    assert {r.path.partition(TARGET)[0] for r in host.requests[1:]} == {"/repos/"}
    assert {r.token for r in host.requests} == {action.default_token}


@each_script
def test_every_path_is_checked_once_before_anything_is_written(
    action: Action, host: StandInHost, target: Repository, script: Script
) -> None:
    ended: list[Request] = []

    def note(request: Request) -> None:
        if request.method != "GET" and not ended:
            ended.extend(host.requests[: request.number - 1])

    host.latency = 0.02
    host.on_request = note
    action(profile=script.profile).or_fail()
    assert all(request.ended for request in ended)
    checks = sorted(call for call in calls(host) if call.startswith("GET contents/"))
    assert checks == sorted(f"GET contents/{path}" for path in script.files)
    before = [shortened(request) for request in ended]
    assert sorted(call for call in before if call.startswith("GET contents/")) == checks


# --- What happens to a file, and what a run prints ------------------------------------------------


@pytest.fixture(params=["a step", "a command"])
def started(
    request: pytest.FixtureRequest, action: Action, environ: dict[str, str]
) -> Callable[[Script], Run]:
    """Start a script as a step of a workflow, and as a command."""

    def run(script: Script) -> Run:
        if request.param == "a command":
            return action.start(environ, f"--command={script.profile}")
        inputs = {"profile": script.profile, "language": ""}
        return action(
            inputs, env={"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(action.workspace)}
        )

    return run


def counts_of_summary(run: Run, script: Script, *counts: int) -> None:
    """Check the eight last lines, and the counts in the file of the step summary."""
    assert run.lines[-8:] == summary(*counts)
    if script.profile == "health":
        assert table(*counts) in run.summary
    for count in counts:
        assert f" {count} " in run.summary
    assert [run.outputs[name] for name in ("created", "skipped", "failed")] == [*map(str, counts)]


@each_script
def test_an_existing_file_is_skipped_and_never_overwritten(
    started: Callable[[Script], Run], host: StandInHost, script: Script
) -> None:
    theirs = {path: f"of {path}".encode() for path in [*script.files][1::2]}
    repository = host.create_repository(TARGET, theirs)
    run = started(script).or_fail()
    created = len(script.files) - len(theirs)
    counts_of_summary(run, script, created, len(theirs), 0)
    [pull] = repository.pull_requests
    for branch in (pull.head, "main"):
        assert theirs.items() <= repository.files(branch).items()
    assert len(repository.files(pull.head)) == len(script.files)


@each_script
def test_if_every_path_exists_nothing_is_made_and_the_summary_is_printed(
    started: Callable[[Script], Run], host: StandInHost, script: Script
) -> None:
    repository = host.create_repository(TARGET, dict.fromkeys(script.files, b"mine\n"))
    run = started(script).or_fail()
    counts_of_summary(run, script, 0, len(script.files), 0)
    assert (writes(host), repository.branches) == ([], ["main"])


@each_script
def test_a_failed_file_is_counted_and_the_next_file_is_created(
    started: Callable[[Script], Run], host: StandInHost, target: Repository, script: Script
) -> None:
    path = [*script.files][1]
    refuse(host, f"PUT contents/{path}", message="No")
    run = started(script)
    assert run.exit_code == 1
    counts_of_summary(run, script, len(script.files) - 1, 0, 1)
    [pull] = target.pull_requests
    added = target.files(pull.head).keys() - target.files(DEFAULT_BRANCH).keys()
    assert added == script.files.keys() - {path}


@pytest.mark.parametrize("only_one", [False, True])
@each_script
def test_a_pull_request_is_opened_only_if_at_least_one_file_was_created(
    started: Callable[[Script], Run],
    host: StandInHost,
    target: Repository,
    script: Script,
    only_one: bool,
) -> None:
    first, *others = script.files
    refused = {f"PUT contents/{path}" for path in (others if only_one else script.files)}
    refuse(host, lambda request: shortened(request) in refused, message="No")
    run = started(script)
    assert run.exit_code == 1
    counts_of_summary(run, script, int(only_one), 0, len(refused))
    tried = ["POST git/refs", *(f"PUT contents/{path}" for path in script.files)]
    assert writes(host) == tried + ["POST pulls"] * only_one
    assert [target.files(pull.head).keys() - {"src/main.c"} for pull in target.pull_requests] == (
        [{first}] if only_one else []
    )


@each_script
def test_a_file_that_appears_after_its_check_is_not_overwritten(
    action: Action, host: StandInHost, target: Repository, script: Script
) -> None:
    path = next(iter(script.files))
    meanwhile(
        host,
        lambda request: shortened(request) == "POST git/refs",
        lambda: target.person.commit({path: b"mine\n"}),
    )
    action(profile=script.profile).or_fail()
    assert target.files(DEFAULT_BRANCH)[path] == b"mine\n"
