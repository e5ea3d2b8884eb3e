from __future__ import annotations

import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.container import tools
from tests.container.act import JOB_IMAGE, Act, commit
from tests.harness import ROOT


@pytest.fixture(scope="session")
def docker() -> str:
    """The path of the Docker client, whose engine has answered."""
    path = tools.find("docker")
    answer = subprocess.run([path, "version"], capture_output=True, text=True, check=False)
    return path if answer.returncode == 0 else tools.unavailable("docker", answer.stderr.strip())


@pytest.fixture(scope="session")
def image(docker: str) -> Iterator[str]:
    """The project's image, built from the working tree."""
    name = f"registrar-test:{uuid.uuid4().hex}"
    # pip has to reach the package index, and a bridge network cannot do so on every machine
    build = [docker, "build", "--network=host", f"--tag={name}", str(ROOT)]
    subprocess.run(build, check=True, timeout=600)
    yield name
    subprocess.run([docker, "image", "rm", name], check=True, capture_output=True)


@pytest.fixture
def act(docker: str, image: str, tmp_path: Path) -> Act:
    """The program act.

    The fixture `image` comes first, because then act's own build finds its layers.
    """
    path = tools.find("act")
    inspect = [docker, "image", "inspect", JOB_IMAGE]
    if subprocess.run(inspect, capture_output=True, check=False).returncode != 0:
        subprocess.run([docker, "pull", "--quiet", JOB_IMAGE], check=True)
    home = tmp_path / "home"
    home.mkdir()
    return Act(path, docker, home)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the working tree as a repository of its own, without ignored files."""
    directory = tmp_path / "project"
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True)
    for file in files.stdout.splitlines():
        if (ROOT / file).is_file():
            (directory / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, directory / file)
    return commit(directory)
