"""Build a package and environments with pip, so that tests download nothing."""

from __future__ import annotations

import hashlib
import venv
from pathlib import Path
from zipfile import ZipFile

import pip

ABOUT = "registrar_tiny-1.dist-info"
FILES = {
    "registrar_tiny.py": "",
    # The requirements of a locked package are not installed, so this one need not exist
    f"{ABOUT}/METADATA": "Metadata-Version: 2.1\nName: registrar-tiny\nVersion: 1\n"
    "Requires-Dist: registrar-left-out",
    f"{ABOUT}/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any",
    f"{ABOUT}/RECORD": "",
}


def project(folder: Path) -> Path:
    """Write a project whose lock files list one package, and return its path.

    The package is in the directory ``wheels`` beside the project.
    """
    made, wheels = folder / "project", folder / "wheels"
    wheels.mkdir()
    packed = wheels / "registrar_tiny-1-py3-none-any.whl"
    with ZipFile(packed, "w") as wheel:
        for name, text in FILES.items():
            wheel.writestr(name, text)
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()
    (made / "requirements").mkdir(parents=True)
    for name in ("runtime", "demo", "dev"):
        listed = f"registrar-tiny==1 --hash=sha256:{digest}\n"
        (made / f"requirements/{name}.txt").write_text(listed)
    return made


def environment(folder: Path) -> Path:
    """Make a virtual environment that uses the pip of this one; return its ``site-packages``.

    Installing pip would take most of the time of a test.
    """
    venv.create(folder, symlinks=True)
    [installed] = folder.glob("lib/*/site-packages")
    (installed / "pip.pth").write_text(str(Path(pip.__file__).parents[1]))
    command = folder / "bin/pip"
    command.write_text(f'#!/bin/sh\nexec {folder}/bin/python -I -m pip "$@"\n')
    command.chmod(0o755)
    return installed
