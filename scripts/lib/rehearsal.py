"""Rehearse a release on this machine: `scripts/rehearse-release 0.0.1-rc.1`.

The steps are those of `release.yml`, run as a runner runs them. A registry on loopback takes the
images, the stand-in of the tests plays GitHub, and one for buildx uses the engine's own builder.
What takes the real ones is left out, and said.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from scripts.lib import release
from scripts.lib.registry import registry
from tests.container import act as workflows
from tests.fakehub import Repository, StandInHost
from tests.harness import TARGET

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ".github/workflows/release.yml"
PROJECT = "Octo/Registrar"
BUILDX = Path(__file__).with_name("buildx_stand_in.py")
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")
BEFORE_THE_FIRST = "0.0.0"


class Wrong(Exception):
    """What did not go as it must."""


def require(holds: object, what: str) -> None:
    """Raise `Wrong` unless something holds."""
    if not holds:
        raise Wrong(what)


def say(text: str) -> None:
    """Tell how far it is."""
    print(text, flush=True)


def run(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command to its good end, and give what it printed."""
    ended = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    require(ended.returncode == 0, f"{' '.join(map(str, command))}\n{ended.stdout}")
    return ended.stdout.strip()


@dataclass
class Rehearsal:
    """A project on a stand-in for GitHub, and runs of its release workflow."""

    folder: Path
    host: StandInHost
    registry: str
    repository: Repository = field(init=False)
    checkout: Path = field(init=False)
    runs: int = 0
    left_out: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.repository = self.host.create_repository(PROJECT)
        self.checkout = self.folder / "checkout"
        plugins = self.folder / "docker/cli-plugins"
        plugins.mkdir(parents=True)
        plugin = plugins / "docker-buildx"
        plugin.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{BUILDX}" "$@"\n', "utf-8")
        plugin.chmod(0o755)
        self.env = {
            "DOCKER_CONFIG": str(plugins.parent),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "HOME": str(self.folder),
            "PATH": os.environ["PATH"],
        } | {
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in (("NAME", "test"), ("EMAIL", "test@example.invalid"))
        }

    def leave_out(self, what: str) -> None:
        """Say once that something is not rehearsed."""
        if what not in self.left_out:
            self.left_out.add(what)
            say(f"    left out: {what}")

    def git(self, *arguments: str | Path, cwd: Path | None = None) -> str:
        """Run git in the checkout."""
        return run("git", *arguments, cwd=cwd or self.checkout, env=self.env)

    def take_over(self) -> None:
        """Make the working tree the project's only commit, with nothing released yet."""
        listing = ["ls-files", "--cached", "--others", "--exclude-standard"]
        for name in self.git(*listing, cwd=ROOT).splitlines():
            if (ROOT / name).is_file():
                (self.checkout / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.checkout / name)
        package, changelog = self.checkout / release.PACKAGE, self.checkout / release.CHANGELOG
        text = release.ASSIGNED.sub(
            f'__version__ = "{BEFORE_THE_FIRST}"', package.read_text("utf-8")
        )
        package.write_text(text, "utf-8")
        changelog.write_text("# Changelog\n\n## [Unreleased]\n\n- The first.\n", "utf-8")
        self.git("init", "--quiet", f"--initial-branch={release.BRANCH}")
        self.git("remote", "add", "origin", self.repository.path)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=project")
        self.git("push", "--quiet", "--force", "origin", release.BRANCH)

    def prepare(self, version: release.Version) -> None:
        """Make the commit of a release, and bring it to main."""
        changelog = self.checkout / release.CHANGELOG
        if not release.Changelog(changelog.read_text("utf-8")).entries("Unreleased"):
            text = changelog.read_text("utf-8")
            changelog.write_text(text.replace("## [Unreleased]\n", "## [Unreleased]\n\n- More.\n"))
            self.git("commit", "--quiet", "--all", "--message=more")
        self.git("fetch", "--quiet", "--tags", "--force")
        run(self.checkout / "scripts/release", version.text, cwd=self.checkout, env=self.env)
        self.git("push", "--quiet", "origin", release.BRANCH)

    def release(self, version: release.Version, until: str = "") -> None:
        """Run the workflow, and stop it after a job where one is given."""
        self.runs += 1
        WorkflowRun(self, version, self.folder / f"run-{self.runs}").jobs(until)


@dataclass
class WorkflowRun:
    """One run of `release.yml`, job after job."""

    rehearsal: Rehearsal
    version: release.Version
    folder: Path
    values: dict[str, str] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)

    def jobs(self, until: str) -> None:
        """Run the jobs in their order, which is that of the file."""
        sha = self.rehearsal.git("rev-parse", "HEAD")
        workflow = yaml.safe_load(self.rehearsal.git("show", f"{sha}:{WORKFLOW}"))
        for name, job in workflow["jobs"].items():
            if "uses" in job:
                self.rehearsal.leave_out(f"the job {name}, which is {job['uses']}")
            elif not self.is_wanted(name, job):
                say(f"  {name}: not needed")
                self.skipped.add(name)
            else:
                say(f"  {name}")
                self.job(name, job, workflow["env"], sha)
            if name == until:
                say("  (stopped)")
                return

    def is_wanted(self, name: str, job: Mapping[str, Any]) -> bool:
        """What `if` says, or that no job is skipped that it needs."""
        condition = job.get("if")
        if condition is None:
            return not self.skipped & set(job.get("needs", ()))
        if condition == "${{ !failure() && !cancelled() }}":
            return True
        variable, equals, nothing = condition.partition(" == ")
        require((equals, nothing) == (" == ", "''"), f"{name}: unknown condition {condition}")
        return not self.values.get(variable)

    def job(self, name: str, job: Mapping[str, Any], common: Mapping[str, str], sha: str) -> None:
        """Run the steps of a job, on this machine's architecture where there are several."""
        for entry in job.get("strategy", {}).get("matrix", {}).get("include", ()):
            if entry["architecture"] != ARCHITECTURE:
                self.rehearsal.leave_out(f"the architecture {entry['architecture']}")
        folder = self.folder / name
        workspace, temporary = folder / "workspace", folder / "temporary"
        for each in (workspace, temporary):
            each.mkdir(parents=True)
        scopes = {k.replace("-", "_"): v for k, v in (job.get("permissions") or {}).items()}
        token = self.rehearsal.host.create_token("installation", permissions=scopes)
        self.values |= {"github.token": token, "matrix.architecture": ARCHITECTURE}
        outputs: dict[str, str] = {}
        for step in job["steps"]:
            if "uses" not in step:
                file = temporary / "output"
                file.touch()
                self.step(step, workspace, temporary, common, sha)
                lines = [line.partition("=") for line in file.read_text("utf-8").splitlines()]
                file.unlink()
                outputs |= {f"steps.{step.get('id')}.outputs.{k}": v for k, _, v in lines}
            elif step["uses"].startswith("actions/checkout@"):
                self.rehearsal.git("clone", "--quiet", self.rehearsal.repository.path, workspace)
                self.rehearsal.git("checkout", "--quiet", sha, cwd=workspace)
            else:
                self.rehearsal.leave_out(f"{step['name']}, which needs GitHub")
        self.values |= {
            f"needs.{name}.outputs.{key}": evaluated(text, outputs)
            for key, text in job.get("outputs", {}).items()
        }
        if name == "build":
            # The other architecture is played by this one
            built = self.values[f"needs.build.outputs.{ARCHITECTURE}"]
            self.values |= {f"needs.build.outputs.{each}": built for each in ("amd64", "arm64")}

    def step(
        self,
        step: Mapping[str, Any],
        workspace: Path,
        temporary: Path,
        common: Mapping[str, str],
        sha: str,
    ) -> None:
        """Run the script of a step."""
        if ".SBOM" in step["run"]:
            self.rehearsal.leave_out(
                "what the bill of materials lists, which BuildKit finds in the image:"
                " the stand-in for buildx has an empty one"
            )
        given = {key: evaluated(text, self.values) for key, text in step.get("env", {}).items()}
        host = self.rehearsal.host
        env = {
            **self.rehearsal.env,
            **common,
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTOR": "octocat",
            "GITHUB_API_URL": host.url,
            "GITHUB_OUTPUT": str(temporary / "output"),
            "GITHUB_REF": f"refs/heads/{release.BRANCH}",
            "GITHUB_REPOSITORY": PROJECT,
            "GITHUB_SERVER_URL": "https://github.invalid",
            "GITHUB_SHA": sha,
            "REGISTRY": self.rehearsal.registry,
            "RUNNER_TEMP": str(temporary),
            "VERSION": self.version.text,
            **given,
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        said = run(*command, cwd=workspace, env=env)
        token = self.values["github.token"]
        require(token not in said, f"{step['name']}: the token is in the log")


def evaluated(text: str, values: Mapping[str, str]) -> str:
    """The text with the values of its expressions, of which only `||` has an operator."""

    def value(expression: re.Match[str]) -> str:
        found = (values.get(name, "") for name in expression[1].split(" || "))
        return next((each for each in found if each), "")

    return EXPRESSION.sub(value, text)


@contextmanager
def images_removed(address: str) -> Iterator[None]:
    """Leave no image of this registry in the engine."""
    try:
        yield
    finally:
        name = '{{.Repository}}{{if eq .Tag "<none>"}}@{{.Digest}}{{else}}:{{.Tag}}{{end}}'
        patterns = (f"--filter=reference={address}/{depth}" for depth in ("*", "*/*", "*/*/*"))
        listing = ["image", "ls", "--digests", f"--format={name}"]
        for pattern in patterns:
            found = run("docker", *listing, pattern, cwd=ROOT).split()
            if found:
                run("docker", "image", "rm", "--force", *found, cwd=ROOT)


def check(rehearsal: Rehearsal, version: release.Version, act: str) -> None:
    """Look at what a release has left, as its users see it."""
    tagged = rehearsal.git("ls-remote", "origin", f"refs/tags/{version.tag}").partition("\t")[0]
    rehearsal.git("fetch", "--quiet", "--tags", "--force")
    changed = rehearsal.git("diff", "--name-only", "HEAD", tagged)
    require(changed == "action.yml", f"The tag changes {changed}.")
    text = rehearsal.git("show", f"{version.tag}:action.yml") + "\n"
    found = release.RELEASED.search(text)
    require(found, "The action.yml of the tag names no image.")
    image = yaml.safe_load(text)["runs"]["image"].removeprefix("docker://")
    require(image.startswith(f"{rehearsal.registry}/{PROJECT.lower()}@sha256:"), image)

    docker = shutil.which("docker") or "docker"
    run(docker, "pull", "--quiet", image, cwd=ROOT)
    [about] = json.loads(run(docker, "image", "inspect", image, cwd=ROOT))
    labels = about["Config"]["Labels"]
    expected = {
        "revision": rehearsal.git("rev-parse", "HEAD"),
        "source": f"https://github.invalid/{PROJECT}",
        "version": version.text,
        "title": "registrar",
    }
    said = {key: labels.get(f"org.opencontainers.image.{key}") for key in expected}
    require(said == expected, f"Labels: {said}")
    published = rehearsal.repository.releases[version.tag]
    require(image in published.body and "- " in published.body, f"Notes: {published.body}")
    require(published.is_prerelease == bool(version.pre), "The kind of the release is wrong.")
    if version.major_tag:
        moved = rehearsal.git("rev-parse", version.major_tag)
        require(moved == tagged, f"{version.major_tag} is at {moved}.")
    used_by_a_workflow(rehearsal, version, workflows.Act(act, docker, rehearsal.folder))
    say(f"  {version.tag} names {image}, which runs as a step")


def used_by_a_workflow(rehearsal: Rehearsal, version: release.Version, act: workflows.Act) -> None:
    """Use the action by its tag, in a plan of another repository."""
    folder = rehearsal.folder / f"use-{version.text}"
    action, caller = folder / "action", folder / "caller"
    rehearsal.git("clone", "--quiet", rehearsal.repository.path, action)
    rehearsal.git("checkout", "--quiet", version.tag, cwd=action)
    uses = f"{PROJECT}@{version.tag}"
    inputs = {"profile": "health", "mode": "plan", "language": "en"}
    show = {"run": "echo missing=$MISSING", "env": {"MISSING": "${{ steps.it.outputs.missing }}"}}
    name = workflows.write_workflow(caller, {"uses": uses, "id": "it", "with": inputs}, show)
    workflows.commit(caller)
    secrets = {"GITHUB_TOKEN": rehearsal.host.create_token("installation")}
    local = {uses: action}
    log = act.run(caller, name, rehearsal.host, secrets=secrets, local=local, echo=False)
    require("missing=7" in log and "docker build" not in log, log)


def refused(rehearsal: Rehearsal, version: release.Version) -> None:
    """Try to make the same release once more."""
    try:
        rehearsal.release(version)
    except Wrong as wrong:
        require("is released already" in str(wrong), str(wrong))
        say("  refused")
    else:
        raise Wrong(f"{version.text} was released twice.")


def rehearse(version: release.Version, folder: Path, act: str) -> None:
    """Release a version by pieces, and once more; then the finished version of a pre-release."""
    with (
        StandInHost(root=folder / "host") as host,
        registry(folder) as address,
        images_removed(address),
    ):
        host.create_repository(TARGET)
        rehearsal = Rehearsal(folder, host, address)
        rehearsal.take_over()
        say(f"{version.text}, stopped after each of its jobs")
        rehearsal.prepare(version)
        for job in ("check", "build", "publish", "try", "tag", ""):
            rehearsal.release(version, until=job)
        check(rehearsal, version, act)
        say(f"{version.text} once more")
        refused(rehearsal, version)
        if version.pre:
            finished = release.Version.parse(".".join(map(str, version.numbers)))
            say(f"{finished.text}, which moves {finished.major_tag}")
            rehearsal.prepare(finished)
            rehearsal.release(finished)
            check(rehearsal, finished, act)


def main() -> None:
    """Rehearse, and end with 1 and the reason when something is wrong."""
    parser = argparse.ArgumentParser(prog="scripts/rehearse-release", description=__doc__)
    parser.add_argument("version")
    given = parser.parse_args()
    act = os.environ.get("ACT") or shutil.which("act") or ""
    for program, name in ((act, "act"), *((shutil.which(p), p) for p in PROGRAMS)):
        if not program:
            parser.error(f"{name} is missing: install it first")
    try:
        version = release.Version.parse(given.version)
        with tempfile.TemporaryDirectory(prefix="rehearsal-") as folder:
            rehearse(version, Path(folder), act)
    except (Wrong, release.Refused) as wrong:
        sys.exit(f"The rehearsal failed.\n{wrong}")


PROGRAMS = ("docker", "docker-registry", "git", "jq")

if __name__ == "__main__":
    main()
