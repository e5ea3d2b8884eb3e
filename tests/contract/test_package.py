"""The package: the command `registrar`, installed from each source into an empty environment.

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
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias
from zipfile import ZipFile

import pytest
import yaml

from registrar import __version__
from scripts.lib.scene import documented_list
from tests.documents import REFERENCE, blocks
from tests.fakehub import Repository, StandInHost
from tests.harness import LIST_BRANCH, ROOT, TARGET, Action, SignalAt, clean_environment

MACHINE = {**os.environ}
"""The settings of the machine, with its proxy, which the other tests do not see."""
SOURCES = ("wheel", "sdist", "checkout")
Install: TypeAlias = Callable[[str], str]

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
def install(tmp_path_factory: pytest.TempPathFactory) -> Install:
    """Install a source once for all workers, and return the path of the command."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent

    def installed(source: str) -> str:
        environment = folder / f"installed-{source}"
        command = environment / "bin/registrar"
        with (folder / f"{source}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not command.exists():
                built = folder / f"built-{source}"
                given = ROOT if source == "checkout" else build(source, ROOT, built)
                venv.create(environment, clear=True, symlinks=True)
                python = str(environment / "bin/python")
                pip = [sys.executable, "-I", "-m", "pip", "--python", python, "--quiet"]
                subprocess.run(
                    [*pip, "install", "--no-compile", f"{given}[completion]"],
                    env=MACHINE,
                    check=True,
                )
        return str(command)

    return installed


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


@pytest.mark.parametrize("source", SOURCES)
def test_a_new_user_needs_neither_a_clone_nor_a_token(
    action: Action, host: StandInHost, install: Install, source: str
) -> None:
    command = install(source)
    version = action.process({}, command, "--version").or_fail()
    assert (version.stdout, version.stderr) == (f"registrar {__version__}\n", "")
    shown = action.process({}, command, "--help").or_fail()
    assert shown.lines[0] == "Usage: registrar [--name value ...]"
    action.write("list.yml", documented_list("README.md", ".github/registrar.yml"))
    checked = action.process({}, command, "--mode", "validate", "--definitions", "list.yml")
    assert checked.or_fail().stdout == "list.yml has no mistake. Files: 2. Rules: 0.\n"
    action.write("list.yml", "- paths: a\n")
    wrong = action.process({"LANG": "ja"}, command, "--mode", "validate", "--definitions=list.yml")
    assert (wrong.exit_code, host.requests) == (2, [])
    assert "paths というキーはありません" in wrong.stderr


@pytest.mark.parametrize("source", SOURCES)
def test_the_installed_command_does_the_same_as_a_step(
    action: Action, repository: Repository, install: Install, source: str
) -> None:
    """It has the built-in lists, the texts of both languages, and the template of the page."""
    command = install(source)
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
    action: Action, host: StandInHost, repository: Repository, install: Install
) -> None:
    command = install("wheel")
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


def test_completion_is_set_up_as_the_reference_says(install: Install, tmp_path: Path) -> None:
    [script] = (text for _, text in blocks("sh", REFERENCE) if "--print-completion" in text)
    first, *rest = script.splitlines()
    assert first.startswith("pipx install 'registrar[completion] @ git+https://")
    path = f"{Path(install('wheel')).parent}:{os.environ['PATH']}"
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


@pytest.mark.parametrize(
    ("second", "outcome", "words"),
    [
        ("- b\n", "Passed", ".github/registrar-b.yml has no mistake."),
        ("- paths: b\n", "Failed", "Error: .github/registrar-b.yml, entry 1, line 1: unknown key"),
    ],
)
def test_the_hook_checks_the_lists_of_a_repository_in_one_run(
    tmp_path: Path, second: str, outcome: str, words: str
) -> None:
    user = tmp_path / "user"
    for name, text in {
        ".github/registrar.yml": "- a\n",
        ".github/registrar-b.yml": second,
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
    assert (ended.returncode != 0) is (outcome == "Failed"), ended.stdout + ended.stderr
    assert f"lists of registrar{'.' * 55}{outcome}\n- hook id: registrar-validate\n" in ended.stdout
    assert words in ended.stdout
    assert "workflows" not in ended.stdout


def test_python_starts_it_as_a_module(action: Action, install: Install) -> None:
    python = Path(install("wheel")).with_name("python")
    command = [str(python), "-m", "registrar", "--version"]
    said = subprocess.run(
        command, cwd=action.workspace, env=clean_environment(), check=True, capture_output=True
    )
    assert said.stdout.decode() == f"registrar {__version__}\n"
