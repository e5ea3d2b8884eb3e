"""`scripts/release` in a repository of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from scripts.lib import release

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))
DIGEST = "sha256:" + "0123456789abcdef" * 4
CHANGELOG = """# Changelog

## [Unreleased]

### Added

- Something new.

## [1.0.0] - 2026-01-01

- The first.
"""


@dataclass(frozen=True)
class Checkout:
    root: Path

    def git(self, *arguments: str) -> str:
        ended = subprocess.run(
            ["git", *arguments], cwd=self.root, check=True, capture_output=True, text=True
        )
        return ended.stdout.strip()

    def commit(self, **files: str) -> None:
        paths = {"changelog": release.CHANGELOG, "package": release.PACKAGE}
        for name, text in files.items():
            (self.root / paths[name]).write_text(text, "utf-8")
        self.git("commit", "--quiet", "--all", "--message=change")

    def release(self, *arguments: str) -> str:
        """Run the command to its good end."""
        ended = self.run(*arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def refusal(self, *arguments: str) -> list[str]:
        """Run the command, which refuses and changes nothing, and give its reasons."""
        before = self.state()
        ended = self.run(*arguments)
        assert ended.returncode == 1
        assert not ended.stdout
        assert self.state() == before
        said, *reasons = ended.stderr.splitlines()
        assert said == "Refused."
        return reasons

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.root / "scripts/release"), *arguments],
            cwd="/",
            check=False,
            capture_output=True,
            text=True,
        )

    def state(self) -> str:
        return self.git("rev-parse", "HEAD") + self.git("status", "--porcelain") + self.git("diff")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """A project whose version 1.0.0 is released, with something new on top."""
    # A person's own settings, signing among them, have no say.
    for variable in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(variable, "/dev/null")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test@example.invalid")
    used = ("release", "lib/release.py", "lib/venv.sh", "lib/require-current-workflows.sh")
    scripts = [f"scripts/{name}" for name in used]
    for name in (*scripts, "action.yml", "Dockerfile", release.PACKAGE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / release.CHANGELOG).write_text(CHANGELOG, "utf-8")
    (tmp_path / release.PACKAGE).write_text('"""Text."""\n\n__version__ = "1.0.0"\n', "utf-8")
    checkout = Checkout(tmp_path)
    checkout.git("init", "--quiet", "--initial-branch=main")
    checkout.git("add", "--all")
    checkout.git("commit", "--quiet", "--message=project")
    checkout.git("tag", "v1.0.0")
    checkout.git("tag", "v1")
    return checkout


def test_preparing_makes_one_commit_that_the_workflow_accepts(checkout: Checkout) -> None:
    said = checkout.release("1.1.0")
    assert "nothing is pushed" in said
    assert checkout.git("log", "-1", "--format=%s") == "Release 1.1.0"
    changed = checkout.git("diff", "--name-only", "HEAD~1").splitlines()
    assert changed == [release.CHANGELOG, release.PACKAGE]
    assert not checkout.git("status", "--porcelain")
    assert checkout.git("tag").splitlines() == ["v1", "v1.0.0"]

    changelog = (checkout.root / release.CHANGELOG).read_text("utf-8")
    headings = [line for line in changelog.splitlines() if line.startswith("## ")]
    dated = re.sub(r"\d{4}-\d{2}-\d{2}", "DATE", headings[1])
    assert (headings[0], dated, headings[2]) == (
        "## [Unreleased]",
        "## [1.1.0] - DATE",
        "## [1.0.0] - 2026-01-01",
    )
    assert release.Changelog(changelog).entries("Unreleased") == ""
    assert release.Changelog(changelog).entries("1.1.0") == "### Added\n\n- Something new."
    assert '__version__ = "1.1.0"' in (checkout.root / release.PACKAGE).read_text("utf-8")
    assert "agree" in checkout.release("--check", "1.1.0")


def test_preparing_again_changes_nothing(checkout: Checkout) -> None:
    checkout.release("1.1.0")
    before = checkout.state()
    checkout.release("1.1.0")
    assert checkout.state() == before


def test_every_reason_is_reported_at_once(checkout: Checkout) -> None:
    checkout.git("switch", "--quiet", "--create", "topic")
    checkout.commit(changelog="# Changelog\n", package='__version__ = "3.0.0"\n')
    checkout.git("tag", "v2.0.0")
    (checkout.root / "new").touch()
    assert checkout.refusal("1.1.0") == [
        "2.0.0 is released already, and 1.1.0 comes before it.",
        "A release is prepared on main; this is topic.",
        "There are changes that are not committed: commit or remove them.",
        "src/registrar/__init__.py says 3.0.0, which comes after 1.1.0.",
        "CHANGELOG.md has no entries under Unreleased: nothing to release.",
    ]


NO_VERSIONS = ["", "1", "1.2", "v1.2.3", "1.2.3+build", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3\n"]
NO_VERSIONS += ["１.2.3", "--version", "-x", "--image=x"]


def test_what_is_no_version_is_refused() -> None:
    for text in NO_VERSIONS:
        with pytest.raises(release.Refused, match=r"is no version: write it like 1\.2\.3"):
            release.Version.parse(text)


@pytest.mark.parametrize(
    "arguments", [["v1.2.3"], ["--version"], ["--check", "--help"], ["--check", "-h"]], ids=" ".join
)
def test_no_version_is_taken_for_an_option(checkout: Checkout, arguments: list[str]) -> None:
    (reason,) = checkout.refusal(*arguments)
    assert "is no version" in reason


def test_a_tag_that_exists_is_refused(checkout: Checkout) -> None:
    (reason,) = checkout.refusal("1.0.0")[:1]
    assert reason.startswith("The tag v1.0.0 exists")


def test_entries_in_two_places_are_refused(checkout: Checkout) -> None:
    checkout.commit(changelog=CHANGELOG.replace("[1.0.0]", "[1.1.0]"))
    assert checkout.refusal("1.1.0") == [
        "CHANGELOG.md has a section for 1.1.0, and entries under Unreleased: move them into one."
    ]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (
            {"package": '__version__ = "1.0.0"\n'},
            "src/registrar/__init__.py says 1.0.0, not 1.1.0.",
        ),
        ({"changelog": "## [Unreleased]\n"}, "CHANGELOG.md has no entries for 1.1.0."),
        (
            {"changelog": "## [1.1.0] - 2026-01-01\n\n## [1.0.0] - 2026-01-01\n\n- x\n"},
            "CHANGELOG.md has no entries for 1.1.0.",
        ),
        ({"changelog": "## [1.1.0]\n\n- x\n"}, "CHANGELOG.md has no date for 1.1.0."),
        (
            {"changelog": "## [Unreleased]\n\n- y\n\n## [1.1.0] - 2026-01-01\n\n- x\n"},
            (
                "CHANGELOG.md has entries under Unreleased: "
                "they would be released with 1.1.0 and be missing in its notes."
            ),
        ),
    ],
)
def test_the_workflow_refuses_what_does_not_agree(
    checkout: Checkout, files: dict[str, str], reason: str
) -> None:
    checkout.release("1.1.0")
    checkout.commit(**files)
    assert checkout.refusal("--check", "1.1.0") == [reason]


def test_the_project_itself_can_be_released() -> None:
    """The forms that a release rewrites are there."""
    project = release.Project(ROOT)
    assert project.changelog.section("Unreleased")
    assert project.version.text in (ROOT / release.PACKAGE).read_text("utf-8")


def test_versions_are_ordered_as_the_specification_says() -> None:
    order = "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 "
    order += "1.0.0-rc.1 1.0.0 1.0.1 1.9.0 1.10.0 2.0.0-rc.1 2.0.0"
    versions = [release.Version.parse(text) for text in order.split()]
    assert all(one.precedence < next_.precedence for one, next_ in pairwise(versions))


@pytest.mark.parametrize(("version", "tag"), [("1.2.3", "v1"), ("0.1.0", "v0"), ("2.0.0-rc.1", "")])
def test_only_a_finished_version_moves_the_major_tag(version: str, tag: str) -> None:
    assert release.Version.parse(version).major_tag == tag


def test_the_released_action_has_the_image_and_the_entrypoint_of_the_dockerfile() -> None:
    source = (ROOT / "action.yml").read_text("utf-8")
    image = f"ghcr.io/owner/registrar@{DIGEST}"
    released = release.released_action_yml(ROOT, image)
    before, after = yaml.safe_load(source), yaml.safe_load(released)
    assert after.pop("runs") == {
        "using": "docker",
        "image": f"docker://{image}",
        "entrypoint": "/usr/bin/python3",
        "args": ["-I", "/registrar/entrypoint.py"],
    }
    del before["runs"]
    assert after == before
    assert released.startswith(source.partition("\nruns:")[0])


@pytest.mark.parametrize(
    "image", ["ghcr.io/owner/registrar:1", f"ghcr.io/Owner/x@{DIGEST}", DIGEST]
)
def test_a_released_action_names_a_digest(image: str) -> None:
    with pytest.raises(release.Refused, match="names no digest"):
        release.released_action_yml(ROOT, image)


# --- The workflow -------------------------------------------------------------------------

STAND_IN = r"""#!/usr/bin/env bash
# For `docker` and `gh`: writes down how it was called, and answers what the workflow reads.
echo "${0##*/} $*" >>"$CALLS"
case "${0##*/} $*" in
  "docker login"*) cat >/dev/null ;;
  "docker buildx build"*) echo '{"containerimage.digest": "sha256:built"}' >"${*: -1}" ;;
  "docker buildx imagetools inspect"*SPDX*) echo '{"spdxVersion": "SPDX-2.3"}' ;;
  "docker buildx imagetools inspect"*) echo "$DIGEST" ;;
  "docker run"*) echo "registrar $VERSION" ;;
  "gh api"*"/git/trees "*) cat >"$RUNNER_TEMP/tree.json" && echo the-tree ;;
  "gh api"*"/git/commits "*) cat >"$RUNNER_TEMP/commit.json" && echo the-commit ;;
  "gh api"*"/git/ref/tags/v1 "*) [[ $MAJOR_TAG == exists ]] ;;
  "gh api"*"/contents/.github?ref=main "*) echo "$WORKFLOWS_OF_MAIN" ;;
  "gh api"*"/contents/.github?ref="*) echo the-workflows ;;
  "gh release view"*) false ;;
esac
"""


@pytest.mark.skipif(not shutil.which("jq"), reason="jq, which runners have, is not here")
@pytest.mark.parametrize(
    ("version", "major_tag", "last"),
    [
        (
            "1.1.0",
            "exists",
            (
                "gh api --method PATCH repos/Octo/Registrar/git/refs/tags/v1 --silent"
                " --raw-field sha=the-commit --field force=true"
            ),
        ),
        (
            "1.1.0",
            "missing",
            (
                "gh api repos/Octo/Registrar/git/refs --silent"
                " --raw-field ref=refs/tags/v1 --raw-field sha=the-commit"
            ),
        ),
        (
            "1.1.0-rc.1",
            "exists",
            (
                "gh release create v1.1.0-rc.1 --verify-tag --title 1.1.0-rc.1"
                " --notes-file TEMP/notes.md --prerelease"
            ),
        ),
    ],
)
def test_the_steps_of_the_workflow(
    version: str,
    major_tag: str,
    last: str,
    checkout: Checkout,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Every command of `release.yml` in order, with a stand-in for the engine and the host."""
    checkout.release(version)
    temp = tmp_path_factory.mktemp("runner")
    for name in ("docker", "gh"):
        (temp / name).write_text(STAND_IN, "utf-8")
        (temp / name).chmod(0o755)
    env = {
        "CALLS": str(temp / "calls"),
        "DIGEST": DIGEST,
        "GITHUB_ACTOR": "octo",
        "GITHUB_OUTPUT": str(temp / "output"),
        "GITHUB_REF": "refs/heads/main",
        "GITHUB_REPOSITORY": "Octo/Registrar",
        "GITHUB_SERVER_URL": "https://github.invalid",
        "GITHUB_SHA": checkout.git("rev-parse", "HEAD"),
        "MAJOR_TAG": major_tag,
        "PATH": f"{temp}:{os.environ['PATH']}",
        "RUNNER_TEMP": str(temp),
        "VERSION": version,
        "WORKFLOWS_OF_MAIN": "the-workflows",
    }
    values = {"github.token": "a-token", "matrix.architecture": "arm64"}
    for name, job in WORKFLOW["jobs"].items():
        for step in job.get("steps", []):
            if "run" in step:
                given = {key: evaluated(text, values) for key, text in step.get("env", {}).items()}
                command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
                subprocess.run(command, cwd=checkout.root, env=env | given, check=True)
        if (temp / "output").exists():
            lines = (temp / "output").read_text().splitlines()
            values |= {
                f"needs.{name}.outputs.{k}": v
                for k, _, v in (line.partition("=") for line in lines)
            }
            # One job of the matrix has run here
            values |= {"needs.build.outputs.amd64": "sha256:other"}
            (temp / "output").unlink()

    image = f"ghcr.io/octo/registrar@{DIGEST}"
    tree, made = (json.loads((temp / f"{name}.json").read_text()) for name in ("tree", "commit"))
    assert tree["base_tree"] == checkout.git("rev-parse", "HEAD^{tree}")
    (file,) = tree["tree"]
    source, dockerfile = ((checkout.root / n).read_text() for n in ("action.yml", "Dockerfile"))
    assert file.pop("content") == release.action_yml(source, dockerfile, image)
    assert file == {"path": "action.yml", "mode": "100644", "type": "blob"}
    assert (made["tree"], made["parents"]) == ("the-tree", [env["GITHUB_SHA"]])
    assert (temp / "notes.md").read_text() == f"### Added\n\n- Something new.\n\nImage: {image}\n"
    calls = (temp / "calls").read_text().replace(str(temp), "TEMP").splitlines()
    assert (
        f"docker buildx imagetools create --tag ghcr.io/octo/registrar:{version} "
        "ghcr.io/octo/registrar@sha256:other ghcr.io/octo/registrar@sha256:built"
    ) in calls
    tag = f"--raw-field ref=refs/tags/v{version} --raw-field sha=the-commit"
    assert f"gh api repos/Octo/Registrar/git/refs --silent {tag}" in calls
    assert calls[-1] == last
    assert "a-token" not in "".join(calls)


@pytest.mark.parametrize(
    ("job", "step", "remedy"),
    [
        ("check", "Changelog, version and tags agree, and the tag can be made", "Start a new"),
        ("tag", "Commit action.yml with the image's digest, and tag it", "Start a new"),
        ("release", "Move the major tag", "git push --force origin the-commit:refs/tags/v1"),
    ],
)
def test_no_tag_is_tried_that_github_would_refuse(
    job: str, step: str, remedy: str, checkout: Checkout, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Workflow files changed on main while the release was stuck."""
    checkout.release("1.1.0")
    temp = tmp_path_factory.mktemp("runner")
    (temp / "gh").write_text(STAND_IN, "utf-8")
    (temp / "gh").chmod(0o755)
    (script,) = (each["run"] for each in WORKFLOW["jobs"][job]["steps"] if each.get("name") == step)
    ended = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=checkout.root,
        env={
            "CALLS": str(temp / "calls"),
            "COMMIT": "the-commit",
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_REPOSITORY": "Octo/Registrar",
            "GITHUB_SHA": "1" * 40,
            "IMAGE": f"ghcr.io/octo/registrar@{DIGEST}",
            "PATH": f"{temp}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(temp),
            "VERSION": "1.1.0",
            "WORKFLOWS_OF_MAIN": "others",
        },
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert "::error::Workflow files changed on main" in ended.stdout
    assert remedy in ended.stdout
    calls = (temp / "calls").read_text().splitlines()
    assert all("/contents/.github?ref=" in call for call in calls), "nothing was written"


def evaluated(text: str, values: dict[str, str]) -> str:
    """The text with the values of its expressions."""
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: values[match[1]], text)
