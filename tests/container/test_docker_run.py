"""The examples of the documents that start the image without a workflow."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
import yaml

from registrar import errors
from tests.documents import ROOT, blocks
from tests.fakehub import StandInHost

PAGE = ROOT / "docs/examples.md"
RELEASED = "ghcr.io/OWNER/registrar:1.2.3"
LIST = "- path: SECURITY.md\n  content: Write to us.\n"
SOME_REPOSITORY = "octo-org/example"


def documented(language: str, first_line: str) -> str:
    [found] = (text for _, text in blocks(language, PAGE) if first_line in text)
    return found


@pytest.fixture
def path(docker: str, tmp_path: Path) -> str:
    """A `PATH` with a `docker` whose containers reach the stand-in, which listens on loopback."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "docker"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = run ] || exit 64\nshift\n'
        f'exec {docker} run --network=host --env HOST_API_URL="$HOST_API_URL" "$@"\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return f"{folder}:{os.environ['PATH']}"


def test_a_pipeline_of_gitlab(image: str, path: str, tmp_path: Path) -> None:
    job = yaml.safe_load(documented("yaml", "# .gitlab-ci.yml"))["register"]
    assert job["retry"]["exit_codes"] == errors.EXIT_FAILED
    (tmp_path / "files.yml").write_text(LIST)

    def run(token: str) -> int:
        [command] = job["script"]
        return subprocess.run(
            ["sh", "-e", "-c", command.replace(RELEASED, image)],
            env={
                "PATH": path,
                "CI_PROJECT_DIR": str(tmp_path),
                "HOST_API_URL": host.url,
                "HOST_TOKEN": token,
            },
            check=False,
        ).returncode

    with StandInHost() as host:
        repository = host.create_repository(SOME_REPOSITORY, {"README.md": b"# Example\n"})
        assert run(host.create_token()) == errors.EXIT_DONE
        [pull] = repository.pull_requests
        assert repository.files(pull.head)["SECURITY.md"] == b"Write to us."
        assert run("ghp_wrong") == errors.EXIT_REFUSED
