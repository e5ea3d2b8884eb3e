"""The image, started in the way in which the runner starts it."""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.container.runner import RegistrationSpec
from tests.fakehub import StandInHost
from tests.harness import ROOT, SCAFFOLD_BRANCH, TARGET

SCAFFOLD = 29
PRESENT = {"README.md": b"# example\n", ".gitignore": b"*.log\n"}
MISSING = SCAFFOLD - len(PRESENT)
HEADERS = "| 項目 | 件数 |"


def clean(job: RegistrationSpec) -> None:
    """Leave the checkout empty."""


def hostile(job: RegistrationSpec) -> None:
    """Fill checkout and home with files that would leave a trace if the run used one of them."""
    workspace, home = job.directory / "workspace", job.directory / "home"
    site = home / ".local/lib/python3.13/site-packages"
    betray = "open('/github/workspace/betrayed', 'a').write(__name__ + '\\n')\n"
    for module in ("github", "json", "sitecustomize", "socket", "usercustomize", "yaml"):
        write(workspace / f"{module}.py", betray)
        write(site / f"{module}.py", betray)
    write(workspace / "registrar/__init__.py", betray)
    write(workspace / "src/registrar/__init__.py", betray)
    write(workspace / "entrypoint.py", betray)
    write(site / "hostile.pth", 'import sys; exec("' + betray.strip() + '")\n')
    for program in ("git", "python", "python3", "sh"):
        script = workspace / "bin" / program
        write(script, f"#!/bin/sh\necho {program} >>/github/workspace/betrayed\n")
        script.chmod(0o755)
    write(workspace / ".env", "INPUT_PROFILE=health\nHOST_TOKEN=ghp_hostile\n")
    write(workspace / "pyvenv.cfg", "home = /github/workspace/bin\n")
    write(workspace / "scripts/config/repo-scaffold-definitions.json", '[{"path": "hostile"}]')
    write(home / ".netrc", "default login hostile password hostile\n")
    job.env.update(
        PATH="/github/workspace/bin:/usr/local/bin:/usr/bin:/bin",
        PYTHONHOME="/github/workspace",
        PYTHONPATH="/github/workspace",
        PYTHONSTARTUP="/github/workspace/sitecustomize.py",
    )


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("checkout", [clean, hostile])
def test_the_run_is_the_same_whatever_the_checkout_holds(
    checkout: Callable[[RegistrationSpec], None], docker: str, image: str, tmp_path: Path
) -> None:
    job = RegistrationSpec(tmp_path / "job", docker, image)
    checkout(job)
    with StandInHost() as host:
        repository = host.create_repository(TARGET, files=PRESENT)
        token = host.create_token()
        step = job.run({"host_token": token, "target_repo": TARGET, "api_url": host.url})
        requests = list(host.requests)

    assert step.exit_code == 0, step.log
    assert not (job.directory / "workspace/betrayed").exists()
    (pull_request,) = repository.pull_requests
    outputs = step.outputs
    # Later steps find the file in their own RUNNER_TEMP
    report = job.directory / "runner_temp" / outputs.pop("report_path")
    assert json.loads(report.read_text("utf-8")) == json.loads(outputs.pop("report"))
    expected = {
        "created": str(MISSING),
        "skipped": str(len(PRESENT)),
        "failed": "0",
        "missing": str(MISSING),
        "branch": SCAFFOLD_BRANCH,
        "pull_request_number": str(pull_request.number),
        "pull_request_url": pull_request.html_url,
        "pull_request_operation": "created",
    }
    assert {name: outputs[name] for name in expected} == expected
    assert f"作成: {MISSING} 件\nスキップ: {len(PRESENT)} 件\n失敗: 0 件\n" in step.log
    assert HEADERS in step.summary
    assert [request.method for request in requests] == (
        ["GET"] * (5 + SCAFFOLD) + ["POST"] + ["PUT"] * MISSING + ["POST"]
    )
    assert {request.token for request in requests} == {token}
    assert_unseen(token, step.log, step.summary, step.outputs_file, str(pull_request.body))


@pytest.mark.parametrize("place", ["/__w/_temp", "/elsewhere"])
def test_a_runner_on_kubernetes_gets_its_report_where_it_can_be_found(
    place: str, docker: str, image: str, tmp_path: Path
) -> None:
    """There ``RUNNER_TEMP`` is a path in the container of the runner, not of the action."""
    job = RegistrationSpec(tmp_path / "job", docker, image)
    job.places["runner_temp"] = place
    job.env["RUNNER_TEMP"] = "/home/runner/_work/_temp"
    with StandInHost() as host:
        host.create_repository(TARGET, files=PRESENT)
        token = host.create_token()
        step = job.run({"host_token": token, "target_repo": TARGET, "api_url": host.url})
    assert step.exit_code == 0, step.log
    assert "::warning" not in step.log
    written = {path.name: path.read_text("utf-8") for path in job.directory.glob("*/*.json")}
    outputs = step.outputs
    if place == "/elsewhere":
        assert (outputs["report_path"], written) == ("", {})
    else:
        [report] = written.values()
        assert [outputs["report_path"]] == [*written]
        assert json.loads(report) == json.loads(outputs["report"])


def test_refuses_before_any_request(docker: str, image: str, tmp_path: Path) -> None:
    job = RegistrationSpec(tmp_path / "job", docker, image)
    with StandInHost() as host:
        step = job.run(
            {"host_token": "ghp_x", "target_repo": "https://x.invalid/a/b", "api_url": host.url}
        )
        assert not host.requests
    assert step.exit_code == 2
    assert "::error" in step.log
    assert_unseen("ghp_x", step.log, step.summary, step.outputs_file)


def test_a_cancelled_run_does_not_wait_for_an_answer(
    docker: str, image: str, tmp_path: Path
) -> None:
    """A run must end quickly, because the runner kills the container a few seconds later."""
    job = RegistrationSpec(tmp_path / "job", docker, image)
    ended = threading.Event()
    with StandInHost() as host:
        host.create_repository(TARGET, files=PRESENT)
        inputs = {"host_token": host.create_token(), "target_repo": TARGET, "api_url": host.url}

        def cancel_and_never_answer(request: object) -> None:
            if [each.method for each in host.requests].count("PUT") == 3:
                kill = [docker, "kill", "--signal=TERM", container.name]
                subprocess.run(kill, check=True, capture_output=True)
                ended.wait(120)

        host.on_request = cancel_and_never_answer
        container = job.start(inputs)
        try:
            step = job.finish(container)
        finally:
            ended.set()

    assert step.exit_code == 143, step.log
    assert HEADERS in step.summary
    assert step.outputs["created"] == "2"


@pytest.mark.parametrize(("signal", "exit_code"), [("INT", 130), ("TERM", 143)])
def test_a_cancelled_run_leaves_its_summary(
    signal: str, exit_code: int, docker: str, image: str, tmp_path: Path
) -> None:
    """The first process of a container only gets signals for which it has a handler."""
    job = RegistrationSpec(tmp_path / "job", docker, image)
    with StandInHost() as host:
        repository = host.create_repository(TARGET, files=PRESENT)
        token = host.create_token()

        def cancel(request: object) -> None:
            if [each.method for each in host.requests].count("PUT") == 3:
                kill = [docker, "kill", f"--signal={signal}", container.name]
                subprocess.run(kill, check=True, capture_output=True)

        host.on_request = cancel
        container = job.start({"host_token": token, "target_repo": TARGET, "api_url": host.url})
        step = job.finish(container)
        made = repository.files(SCAFFOLD_BRANCH).keys() - PRESENT.keys()

    assert step.exit_code == exit_code, step.log
    assert HEADERS in step.summary
    assert 0 < len(made) < MISSING
    assert step.outputs["created"] == str(len(made))


INSIDE = """
import sys
sys.path.append("/registrar/src")
import registrar.main, registrar.execution, registrar.many.coordinator
imported = dict(sys.modules)
import json, os, re
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from registrar.reporting import page

folders = [*os.get_exec_path(), "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
print(json.dumps({
    "files": [str(each) for each in Path("/registrar").rglob("*") if each.is_file()],
    "installed": [f"{re.sub('[-_.]+', '-', each.name).lower()}=={each.version}"
                  for each in distributions()],
    "programs": [name for folder in folders if Path(folder).is_dir()
                 for name in os.listdir(folder)],
    "pip": find_spec("pip") is not None,
    "template": page._template().filename,
    "system": os.listdir("/var/lib/dpkg/status.d"),
    "compiled at each start": [name for name, module in imported.items()
        if (cached := getattr(module, "__cached__", None)) and not Path(cached).exists()],
}))
"""


@pytest.fixture(scope="module")
def inside(docker: str, image: str) -> dict[str, Any]:
    """The contents of the image, as read by its own interpreter, because it has no shell."""
    # With -B, looking does not write missing bytecode
    look = [docker, "run", "--rm", "--entrypoint=/usr/bin/python3", image, "-IBc", INSIDE]
    said = subprocess.run(look, check=True, capture_output=True)
    found: dict[str, Any] = json.loads(said.stdout)
    return found


def test_the_image_holds_nothing_that_only_development_needs(inside: dict[str, Any]) -> None:
    locked = (ROOT / "requirements/runtime.txt").read_text().splitlines()
    assert sorted(inside["installed"]) == sorted(line.split()[0] for line in locked if "==" in line)
    files = {Path(each) for each in inside["files"]}
    made = {"__pycache__", "compiled"}
    files = {each for each in files if each.parent.name not in made}
    assert files == {Path("/registrar", path.relative_to(ROOT)) for path in shipped()}


def test_nothing_is_compiled_at_a_start(inside: dict[str, Any]) -> None:
    assert inside["compiled at each start"] == []


def test_the_image_has_no_shell_and_no_package_manager(inside: dict[str, Any]) -> None:
    assert "python3" in inside["programs"]
    forbidden = {"sh", "bash", "dash", "busybox", "apt", "apt-get", "dpkg", "perl", "pip", "pip3"}
    assert not forbidden & set(inside["programs"])
    assert not inside["pip"]
    # Scanners read there which packages of Debian the image has
    assert any("python3" in name for name in inside["system"])


def test_the_image_is_small(docker: str, image: str) -> None:
    megabyte = 1_000_000
    inspect = [docker, "image", "inspect", "--format={{.Size}}", image]
    size = int(subprocess.run(inspect, check=True, capture_output=True).stdout)
    assert size <= 80 * megabyte
    packed = 0
    with subprocess.Popen([docker, "save", image], stdout=subprocess.PIPE) as saving:
        assert saving.stdout
        with tarfile.open(fileobj=saving.stdout, mode="r|") as archive:
            for member in archive:
                content = archive.extractfile(member)
                packed += len(zlib.compress(content.read())) if content else 0
    assert packed <= 28 * megabyte


def shipped() -> Iterator[Path]:
    """Yield the files of the working tree that belong into the image."""
    yield ROOT / "entrypoint.py"
    for folder in ("src/registrar", "scripts/config"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.parent.name != "__pycache__":
                yield path


def assert_unseen(secret: str, *texts: str) -> None:
    assert not any(secret in text for text in texts)


def test_the_template_of_the_page_is_compiled_in_the_image(inside: dict[str, Any]) -> None:
    assert re.fullmatch(r"/registrar/src/registrar/reporting/compiled/\w+\.py", inside["template"])
