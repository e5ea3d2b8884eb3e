"""Start registrar on a runner without Docker: `python3 -I start.py`, a step of `action.yml`.

What it installs is below RUNNER_TEMP, which the runner empties with each job: in a directory that
outlives jobs, another job could leave code of its own.
"""

import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
SETUP = "actions/setup-python"


def refuse(japanese: str, english: str) -> NoReturn:
    """End with an error of the step; nothing was done. The catalogues need a package."""
    print(f"::error::{japanese} / {english}", flush=True)
    sys.exit(2)


def install(temporary: str) -> str:
    """Install what is locked into an environment of its own; give its interpreter."""
    import venv  # noqa: PLC0415 (Python 3.11 is known to be there only now)
    from importlib.util import find_spec  # noqa: PLC0415

    # A package of the machine may be called `scripts`, too
    settings = runpy.run_path(str(ROOT / "scripts/lib/pip_settings.py"))
    folder = Path(tempfile.mkdtemp(prefix="registrar-", dir=temporary))
    interpreter = str(folder / "bin/python")
    has_pip = find_spec("pip") is not None
    if not has_pip and find_spec("ensurepip") is None:
        refuse(
            f"この Python には pip がありません。先に {SETUP} を使ってください。",
            f"This Python has no pip: use {SETUP} before.",
        )
    venv.create(folder, symlinks=True, with_pip=not has_pip)
    pip = [sys.executable if has_pip else interpreter, "-I", "-m", "pip"]
    # pip starts the other interpreter without -I
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        subprocess.run(
            [
                *(*pip, *(("--python", interpreter) if has_pip else ())),
                *("--quiet", "--disable-pip-version-check", "--no-input", "--no-cache-dir"),
                *("install", "--no-compile", "--no-deps", "--require-hashes"),
                *("--only-binary=:all:", "--requirement", str(ROOT / "requirements/runtime.txt")),
            ],
            cwd=folder,
            env={**settings["environment"](pip, environ), "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
            check=True,
        )
    except subprocess.CalledProcessError:
        if found := settings["without_packages"]():
            newest = ".".join(map(str, settings["NEWEST"]))
            refuse(
                f"パッケージがあるのは、x86-64 と ARM64 の Python 3.11～{newest} だけですが、"
                f"{found} です。先に {SETUP} を使うか、別のランナーを使ってください。",
                f"The packages exist for Python 3.11 to {newest} on x86-64 and ARM64, and this is "
                f"{found}: use {SETUP} before, or another runner.",
            )
        refuse(
            "パッケージをインストールできませんでした。理由は上の行にあります。"
            "PyPI に接続できないランナーでは、env の PIP_INDEX_URL にミラーを指定してください。",
            "The packages could not be installed: see the reason above. Where the runner does not "
            "reach PyPI, name a mirror in PIP_INDEX_URL of env.",
        )
    return interpreter


def main() -> NoReturn:
    """Check, install and become registrar."""
    # Nothing is done before registrar itself handles signals
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform == "win32":
        refuse(
            "このステップは Linux か macOS のランナーで動作します。runs-on を変更してください。",
            "This step runs on a runner with Linux or macOS: change runs-on.",
        )
    if sys.version_info < (3, 11):  # noqa: UP036 (it is the runner's)
        found = ".".join(map(str, sys.version_info[:2]))
        refuse(
            f"Python 3.11 以上が必要ですが、{found} です。先に {SETUP} を使ってください。",
            f"Python 3.11 or newer is needed, and this is {found}: use {SETUP} before.",
        )
    inputs = json.loads(os.environ.pop("REGISTRAR_INPUTS"))
    environ = {name: value for name, value in os.environ.items() if not name.startswith("INPUT_")}
    # As the runner does for an action in a container
    environ.update((f"INPUT_{name.replace(' ', '_').upper()}", inputs[name]) for name in inputs)
    for name in ("REPOSITORY", "REF"):
        environ[f"GITHUB_ACTION_{name}"] = environ.pop(f"REGISTRAR_{name}", "")
    temporary = environ.get("RUNNER_TEMP", "")
    if not os.access(temporary, os.W_OK):
        refuse("RUNNER_TEMP に書き込めません。", "RUNNER_TEMP cannot be written to.")
    interpreter = install(temporary)
    os.execve(interpreter, [interpreter, "-I", str(ROOT / "entrypoint.py")], environ)


main()
