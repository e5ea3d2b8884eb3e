"""The package: the command `registrar`, installed into an empty environment.

These tests install packages from the registry of the machine, so they need a network.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tarfile
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

from registrar import __version__
from scripts.lib.scene import documented_list
from tests.documents import REFERENCE, blocks
from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH, ROOT, TARGET, Action, SignalAt

MACHINE = {**os.environ}
"""The settings of the machine, with its proxy, which the other tests do not see."""

pytestmark = pytest.mark.large


def build(kind: str, project: Path, into: Path) -> Path:
    """Build a ``wheel`` or an ``sdist`` with the locked build tool, and return its path."""
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        kind,
        "--directory",
        str(into),
    ]
    subprocess.run(command, cwd=project, env=MACHINE, check=True, capture_output=True)
    [built] = into.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Install the checkout once for all workers, and return the path of the command.

    A wheel and a source distribution hold the same, as the first test says.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    environment = folder / "installed"
    with (folder / "installed.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (environment / "bin/registrar").exists():
            venv.create(environment, clear=True, symlinks=True)
            python = str(environment / "bin/python")
            pip = [sys.executable, "-I", "-m", "pip", "--python", python, "--quiet"]
            subprocess.run(
                [*pip, "install", "--no-compile", f"{ROOT}[completion]"], env=MACHINE, check=True
            )
    return str(environment / "bin/registrar")


def contents(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def test_a_source_distribution_builds_the_wheel_of_the_checkout(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", ROOT, tmp_path / "sdist")) as opened:
        opened.extractall(tmp_path, filter="data")
    [unpacked] = tmp_path.glob(f"registrar-{__version__}")
    found = contents(build("wheel", unpacked, tmp_path / "from-sdist"))
    assert found == contents(build("wheel", ROOT, tmp_path / "from-checkout"))
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src", "scripts/config"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    files = {
        name.removeprefix("src/").replace("scripts/config", "registrar/config"): name
        for name in tracked
    }
    packed = {name for name in found if not name.startswith(f"registrar-{__version__}.dist-info/")}
    assert packed == set(files)
    assert all(found[name] == (ROOT / files[name]).read_bytes() for name in packed)


def test_a_new_user_needs_neither_a_clone_nor_a_token(
    action: Action, host: StandInHost, command: str
) -> None:
    version = action.process({}, command, "--version").or_fail()
    assert (version.stdout, version.stderr) == (f"registrar {__version__}\n", "")
    module = action.process({}, str(Path(command).with_name("python")), "-m", "registrar", "--help")
    shown = action.process({}, command, "--help").or_fail()
    assert module.or_fail().stdout == shown.stdout
    assert shown.lines[0] == "Usage: registrar [--name value ...]"
    action.write("list.yml", documented_list("README.md", ".github/registrar.yml"))
    checked = action.process({}, command, "--mode", "validate", "--definitions", "list.yml")
    assert checked.or_fail().stdout == "list.yml has no mistake. Files: 2. Rules: 0.\n"
    action.write("list.yml", "- paths: a\n")
    wrong = action.process({"LANG": "ja"}, command, "--mode", "validate", "--definitions=list.yml")
    assert (wrong.exit_code, host.requests) == (2, [])
    assert "paths というキーはありません" in wrong.stderr


def test_the_installed_command_does_the_same_as_a_step(
    action: Action, repository: Repository, command: str
) -> None:
    """It has the built-in lists, the texts of both languages, and the template of the page."""
    environ = action.environment({"profile": None})
    action.write("list.yml", documented_list("README.md", ".github/registrar.yml"))
    action.process(environ, command, "--definitions", "list.yml").or_fail()
    assert {".editorconfig", "SECURITY.md"} < set(repository.files(LIST_BRANCH))
    assert [pull.head for pull in repository.pull_requests] == [LIST_BRANCH]
    asked = ("--profile", "all", "--mode", "plan", "--page", "page.html", "--table", "table.csv")
    action.process({**environ, "INPUT_LANGUAGE": "ja"}, command, *asked).or_fail()
    page, table = (
        (action.workspace / name).read_text("utf-8") for name in ("page.html", "table.csv")
    )
    assert page.startswith("<!doctype html>")
    # 7 files of `health`, and 29 of `scaffold`
    assert table.count(f'"{TARGET}",') == 36


def test_the_installed_command_handles_signals_and_closed_streams(
    action: Action, host: StandInHost, repository: Repository, command: str
) -> None:
    environ = action.environment({"profile": "health", "language": "en"})
    cancel = host.on_request = SignalAt(signal.SIGINT, lambda request: request.method == "PUT")
    run = action.end(cancel.to(action.begin(environ, command)), environ)
    assert run.exit_code == 128 + signal.SIGINT
    assert "| Created | 1 |" in run.summary
    script = action.directory / "closed.sh"
    script.write_text(f'#!/bin/sh\nexec "{command}" >&- 2>&-\n')
    script.chmod(0o755)
    run = action.process(environ, str(script))
    assert (run.exit_code, run.outputs["created"]) == (0, "6")
    assert len(repository.pull_requests) == 1


def test_completion_is_set_up_as_the_reference_says(command: str, tmp_path: Path) -> None:
    [script] = (text for _, text in blocks("sh", REFERENCE) if "--print-completion" in text)
    first, *rest = script.splitlines()
    assert first.startswith("pipx install 'registrar[completion] @ git+https://")
    path = f"{Path(command).parent}:{os.environ['PATH']}"
    ask = "COMP_WORDS=(registrar --mode v); COMP_CWORD=2; _shtab_registrar registrar v --mode"
    lines = [*rest, f". {rest[-1].rpartition('> ')[2]}", ask, 'echo "${COMPREPLY[@]}"']
    said = subprocess.run(
        ["bash", "--norc", "-ec", "\n".join(lines)],
        cwd=tmp_path,
        env={"PATH": path, "HOME": str(tmp_path)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert (said.stdout, said.stderr) == ("validate\n", "")


def test_pre_commit_takes_the_hook_and_the_documented_settings(tmp_path: Path) -> None:
    [(_, shown)] = blocks("yaml", REFERENCE)
    (tmp_path / "config.yaml").write_text(shown)
    manifest = ROOT / ".pre-commit-hooks.yaml"
    for kind, file in (("config", tmp_path / "config.yaml"), ("manifest", manifest)):
        command = [sys.executable, "-m", "pre_commit", f"validate-{kind}", str(file)]
        subprocess.run(command, check=True, capture_output=True)
    [hook] = yaml.safe_load(shown)["repos"][0]["hooks"]
    assert hook["id"] == yaml.safe_load(manifest.read_text("utf-8"))[0]["id"]


def test_the_hook_checks_the_lists_of_a_repository_in_one_run(tmp_path: Path) -> None:
    user = tmp_path / "user"
    for name, text in {
        ".github/registrar.yml": "- paths: a\n",
        ".github/registrar-b.json": '[{"paths": "b"}]',
        ".github/workflows/registrar.yml": "on: push\n",
    }.items():
        (user / name).parent.mkdir(parents=True, exist_ok=True)
        (user / name).write_text(text)
    environ = {
        **MACHINE,
        "LANG": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "PRE_COMMIT_HOME": str(tmp_path / "home"),
    }
    for arguments in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *arguments], cwd=user, env=environ, check=True)
    hook = [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), "--verbose", "--all-files"]
    ended = subprocess.run(hook, cwd=user, env=environ, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert f"lists of registrar{'.' * 55}Failed\n- hook id: registrar-validate\n" in ended.stdout
    for place in (".yml, entry 1, line 1", "-b.json, entry 1"):
        assert f"Error: .github/registrar{place}: unknown key" in ended.stdout
    assert "workflows" not in ended.stdout
