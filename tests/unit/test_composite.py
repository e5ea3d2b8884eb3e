"""The action for runners without Docker: its file, and its messages if something is missing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts.lib import pip_settings
from tests import packages
from tests.documents import ROOT

FOLDER = ROOT / "composite"
[STEP] = yaml.safe_load((FOLDER / "action.yml").read_text("utf-8"))["runs"]["steps"]


def start(path: Path, **env: str) -> tuple[int, str]:
    """Run the step with only the programs in ``path``; return its exit code and its output."""
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
    """Write a `python3` that works only with `-I`, and that runs ``code`` first."""
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


def test_windows_is_refused(tmp_path: Path) -> None:
    python3(tmp_path, "import subprocess, tempfile; sys.platform = 'win32'")
    code, said = start(tmp_path)
    assert code == 2
    assert said.endswith("This step runs on a runner with Linux or macOS: change runs-on.\n")


def test_an_older_python_is_refused(tmp_path: Path) -> None:
    python3(tmp_path, "sys.version_info = (3, 9, 18)")
    code, said = start(tmp_path)
    assert code == 2
    assert "Python 3.11 or newer is needed, and this is 3.9: use actions/setup-python" in said


@pytest.mark.parametrize(
    ("version", "machine", "largest", "found"),
    [
        ((3, 15, 0), "AMD64", 2**63 - 1, ""),
        ((3, 16, 0), "x86_64", 2**63 - 1, "Python 3.16 on x86_64 (64 bits)"),
        ((3, 15, 0), "armv7l", 2**63 - 1, "Python 3.15 on armv7l (64 bits)"),
        ((3, 11, 0), "arm64", 2**31 - 1, "Python 3.11 on arm64 (32 bits)"),
    ],
)
def test_for_some_pythons_no_packages_exist(
    version: tuple[int, ...], machine: str, largest: int, found: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "version_info", version)
        patch.setattr(sys, "maxsize", largest)
        patch.setattr(platform, "machine", lambda: machine)
        said = pip_settings.without_packages()
    assert said == found


@pytest.mark.parametrize(
    ("minor", "words"),
    [
        (16, "Python 3.11 to 3.15 on x86-64 and ARM64, and this is Python 3.16 on "),
        (15, "a mirror in PIP_INDEX_URL"),
    ],
)
def test_without_packages_it_says_for_which_python_they_exist(
    tmp_path: Path, minor: int, words: str
) -> None:
    python3(tmp_path, f"sys.version_info = (3, {minor}, 0)")
    path = f"{tmp_path}:/usr/bin:/bin"
    status, said = start(tmp_path, PATH=path, RUNNER_TEMP=str(tmp_path), PIP_NO_INDEX="1")
    assert status == 2
    assert words in said.splitlines()[-1]
    assert ("PIP_INDEX_URL" in said) == (minor == 15)


@pytest.mark.parametrize(
    ("versions", "found"),
    [
        ({"python3": 16, "python3.14": 14}, "python3.14"),
        ({"python3": 15, "python3.14": 14}, "python3"),
        ({"python3": 10, "python3.15": 15, "python3.11": 11}, "python3.15"),
        ({"python3": 16}, "python3"),
        ({"python3": 10}, ""),
    ],
)
def test_the_scripts_take_a_python_for_which_all_packages_exist(
    tmp_path: Path, versions: dict[str, int], found: str
) -> None:
    for name, minor in versions.items():
        code = f"import sys; sys.version_info = (3, {minor}, 0); exec(sys.argv.pop(1))"
        program = tmp_path / name
        program.write_text(f"""#!/bin/sh\nshift 2; exec {sys.executable} -I -c "{code}" "$@"\n""")
        program.chmod(0o755)
    (tmp_path / "dirname").symlink_to(str(shutil.which("dirname")))
    script = f". {ROOT}/scripts/lib/venv.sh; find_python"
    ended = subprocess.run(
        ["/bin/bash", "-c", script],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout.strip() == found, ended.stderr
    assert ("No Python >= 3.11" in ended.stderr) == (not found)


def test_the_pages_name_the_newest_python() -> None:
    newest = ".".join(map(str, pip_settings.NEWEST))
    for page, words in (("", "Python 3.11 to {}, "), (".ja", "Python 3.11～{} ")):
        text = (ROOT / f"docs/troubleshooting{page}.md").read_text("utf-8")
        assert words.format(newest) in text


def test_nothing_of_the_caller_is_imported(tmp_path: Path) -> None:
    """This holds while the packages are installed, and for the run itself."""
    started, program = tmp_path / "started", tmp_path / "other"
    program.write_text(f"""#!/bin/sh\n{{ echo "$1"; env | grep ^PYTHON || :; }} >> {started}\n""")
    program.chmod(0o755)
    python3(tmp_path, f"sys.executable = sys._base_executable = '{program}'")
    path = f"{tmp_path}:/usr/bin:/bin"
    code, said = start(tmp_path, PATH=path, PYTHONPATH="/hostile", RUNNER_TEMP=str(tmp_path))
    assert (code, said) == (0, "")
    *pip, run, hostile = started.read_text().splitlines()
    assert (pip, run, hostile) == (["-I"] * 2, "-I", "PYTHONPATH=/hostile")


# --- pip's settings of the machine ------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files that install packages, with a list of one package, and an entry point.

    The package is built here, and the entry point prints its path.
    """
    made = packages.project(tmp_path)
    for name in ("composite/start.py", "scripts/lib/make_venv.py", "scripts/lib/pip_settings.py"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, made / name)
    (made / "entrypoint.py").write_text("import registrar_tiny as t; print(t.__file__)")
    return made


def hostile(folder: Path) -> dict[str, str]:
    """Return variables with settings of pip, and write a file with more.

    Most of them would break an installation; the others say where the package is.
    """
    (folder / "pip.conf").write_text(
        f"""
[global]
target = {folder}/elsewhere
quiet = 3
no-index = true
[install]
find-links = {folder}
    {folder}/wheels
"""
    )
    return {
        "PIP_CONFIG_FILE": str(folder / "pip.conf"),
        "PIP_TARGET": "",
        "PIP_USER": "1",
        "PIP_ROOT": str(folder / "root"),
        "PIP_DRY_RUN": "1",
        "PIP_NO_BINARY": ":all:",
        "PIP_CONSTRAINT": "/nowhere.txt",
        "PIP_PYTHON": "/nowhere",
        "PIP_PRE": "x",
    }


def test_composite_takes_from_pips_settings_where_packages_are_alone(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "temporary").mkdir()
    ended = subprocess.run(
        [sys.executable, "-I", str(project / "composite/start.py")],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "REGISTRAR_INPUTS": "{}",
            "RUNNER_TEMP": str(tmp_path / "temporary"),
            **hostile(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith(f"{tmp_path}/temporary/registrar-")


def test_so_do_the_commands(project: Path, tmp_path: Path) -> None:
    installed = packages.environment(project / ".venv")
    shutil.copy(project / "requirements/runtime.txt", project / ".venv")
    ended = subprocess.run(
        [sys.executable, "-I", str(project / "scripts/lib/make_venv.py"), "demo"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **hostile(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "Setting up .venv (demo) …\n")
    assert (installed / "registrar_tiny.py").is_file()


FILE = """
[global]
index-url = https://global.example/simple
timeout = 20
[install]
index-url = https://install.example/simple
extra-index-url = https://a.example/simple
    https://b.example/simple
use-feature = fast-deps truststore
[download]
index-url = https://download.example/simple
"""


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"PIP_INDEX_URL": ""}, {}),
        (
            {
                "PIP_PYPI_URL": "https://x.example",
                "PIP_DEFAULT_TIMEOUT": "5",
                "PIP_QUIET": "2",
                "PIP_CERT": "ca.pem",
                "PIP_FIND_LINKS": "https://y.example src",
                "PIP_NO_CACHE_DIR": "1",
                "PIP_RETRIES": "0",
            },
            {
                "PIP_INDEX_URL": "https://x.example",
                "PIP_TIMEOUT": "5",
                "PIP_CERT": f"{Path.cwd()}/ca.pem",
                "PIP_FIND_LINKS": f"https://y.example {Path.cwd()}/src",
                "PIP_RETRIES": "0",
            },
        ),
    ],
)
def test_from_where_packages_come(
    tmp_path: Path, variables: dict[str, str], expected: dict[str, str]
) -> None:
    (tmp_path / "pip.conf").write_text(FILE)
    run_pip = [sys.executable, "-I", "-m", "pip"]
    environ = {"PATH": "x", "HOME": str(tmp_path), "PIP_CONFIG_FILE": str(tmp_path / "pip.conf")}
    found = pip_settings.environment(run_pip, environ | variables)
    assert found.pop("PIP_EXTRA_INDEX_URL").split() == [
        "https://a.example/simple",
        "https://b.example/simple",
    ]
    wanted = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "https://install.example/simple",
        "PIP_TIMEOUT": "20",
        "PIP_USE_FEATURE": "truststore",
        **expected,
    }
    # The machine may have further settings in a file
    assert found.items() >= wanted.items()
    assert not found.keys() & variables.keys() - wanted.keys()
