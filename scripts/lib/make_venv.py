"""Fill .venv with just the packages of a lock file: `make_venv.py` and the name
of the lock file (see `LOCK_FILES`).

venv.sh runs this if .venv differs from the lock file. The copy of the lock file in .venv, which
shows that both agree, is written last. So if this is interrupted, the next run starts over.
"""

import fcntl
import os
import runpy
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PIP_SETTINGS = ROOT / "scripts/lib/pip_settings.py"
LOCK_FILES = {
    name: ROOT / "requirements" / f"{name}.txt" for name in ("runtime", "demo", "dev", "mutate")
}
"""Each lock file has all packages of the one before it, and more."""


def installed(name: str) -> Path:
    """Return the path of the copy, in .venv, of the lock file from which it was filled."""
    return VENV / LOCK_FILES[name].name


def finds_packages() -> bool:
    """Whether the interpreter of .venv has the version for which .venv was made.

    It is a link to an interpreter of the system, which may have been upgraded since.
    """
    python = VENV / "bin/python"
    if not python.exists():
        return False
    ask = "import sys; print('python%d.%d' % sys.version_info[:2])"
    command = [str(python), "-I", "-S", "-c", ask]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return (VENV / "lib" / found).is_dir()


def is_current(name: str) -> bool:
    return (
        finds_packages()
        and installed(name).exists()
        and installed(name).read_bytes() == LOCK_FILES[name].read_bytes()
    )


def fill(name: str) -> None:
    # Packages are added if .venv has just those of current lock files before this one. Otherwise it
    # is made anew, so that no package stays that is no longer listed
    names = list(LOCK_FILES)
    below = names[: names.index(name)]
    is_stale = any(
        installed(each).exists() and (each not in below or not is_current(each)) for each in names
    )
    if is_stale or not is_current("runtime"):
        venv.create(VENV, clear=True, with_pip=True, symlinks=True)
    pip = [str(VENV / "bin/python"), "-I", "-m", "pip"]
    # An isolated interpreter does not import modules beside this file
    settings = runpy.run_path(str(PIP_SETTINGS))
    exactly = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    subprocess.run(
        [
            *(*pip, "--quiet", "--disable-pip-version-check"),
            *("install", *exactly, "--requirement", str(LOCK_FILES[name])),
        ],
        env=settings["environment"](pip, os.environ),
        check=True,
        stdout=sys.stderr,
    )
    for part in (*below, name):
        temporary = installed(part).with_suffix(".new")
        shutil.copyfile(LOCK_FILES[part], temporary)
        temporary.replace(installed(part))


def main(name: str) -> int | str:
    try:
        with (ROOT / ".venv.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Another process may have done it while this one waited
            if not is_current(name):
                print(f"Setting up .venv ({name}) …", file=sys.stderr, flush=True)
                fill(name)
    except subprocess.CalledProcessError:
        said = "The packages could not be installed: see the reason above."
        settings = runpy.run_path(str(PIP_SETTINGS))
        if found := settings["without_packages"]():
            newest = ".".join(map(str, settings["NEWEST"]))
            said += f" They exist for Python 3.11 to {newest} on x86-64 and ARM64, not for {found}."
        return said
    except KeyboardInterrupt:
        return 128 + 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
