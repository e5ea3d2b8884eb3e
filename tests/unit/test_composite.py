"""The action for runners without Docker: its file, and what it says where something is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

from tests.documents import ROOT

FOLDER = ROOT / "composite"
[STEP] = yaml.safe_load((FOLDER / "action.yml").read_text("utf-8"))["runs"]["steps"]


def start(path: Path, **env: str) -> tuple[int, str]:
    """Run the step with only these programs; its exit code and what it said."""
    given = {
        "PATH": str(path),
        "GITHUB_ACTION_PATH": str(FOLDER),
        "REGISTRAR_INPUTS": "{}",
    }
    ended = subprocess.run(
        ["/bin/sh", "-e", "-c", STEP["run"]],
        env=given | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout


def python3(path: Path, code: str) -> None:
    """Put an interpreter there that wants to be isolated, and runs some code first."""
    program = path / "python3"
    first = f"import runpy, sys; {code}; runpy.run_path(sys.argv[2], run_name='__main__')"
    program.write_text(
        f"""#!/bin/sh\n[ "$1" = -I ] && exec {sys.executable} -I -c "{first}" "$@"\n"""
    )
    program.chmod(0o755)


def test_without_python_it_says_so(tmp_path: Path) -> None:
    code, said = start(tmp_path)
    assert code == 2
    assert said.startswith("::error::Python 3.11 以上が必要です")
    assert said.endswith("Python 3.11 or newer is needed: use actions/setup-python before.\n")


def test_an_older_python_is_refused(tmp_path: Path) -> None:
    python3(tmp_path, "sys.version_info = (3, 9, 18)")
    code, said = start(tmp_path)
    assert code == 2
    assert "Python 3.11 or newer is needed, and this is 3.9: use actions/setup-python" in said


def test_nothing_of_the_caller_is_imported(tmp_path: Path) -> None:
    """Neither while the packages are installed nor by the run itself."""
    started, program = tmp_path / "started", tmp_path / "other"
    program.write_text(f"""#!/bin/sh\n{{ echo "$1"; env | grep ^PYTHON || :; }} >> {started}\n""")
    program.chmod(0o755)
    python3(tmp_path, f"sys.executable = sys._base_executable = '{program}'")
    path = f"{tmp_path}:/usr/bin:/bin"
    code, said = start(tmp_path, PATH=path, PYTHONPATH="/hostile", RUNNER_TEMP=str(tmp_path))
    assert (code, said) == (0, "")
    *installs, run, hostile = started.read_text().splitlines()
    assert (installs, run, hostile) == (["-I"], "-I", "PYTHONPATH=/hostile")
