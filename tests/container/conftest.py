from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator

import pytest

from tests.container import tools
from tests.harness import ROOT


@pytest.fixture(scope="session")
def docker() -> str:
    """The path of the Docker client; its engine answers."""
    path = tools.find("docker")
    answer = subprocess.run([path, "version"], capture_output=True, text=True, check=False)
    return path if answer.returncode == 0 else tools.unavailable("docker", answer.stderr.strip())


@pytest.fixture(scope="session")
def image(docker: str) -> Iterator[str]:
    """The project's image, built from the working tree."""
    name = f"registrar-test:{uuid.uuid4().hex}"
    # pip has to reach the package index, which a bridge does not on every machine.
    build = [docker, "build", "--network=host", f"--tag={name}", str(ROOT)]
    subprocess.run(build, check=True, timeout=600)
    yield name
    subprocess.run([docker, "image", "rm", name], check=True, capture_output=True)
