"""`scripts/release` does its work in a repository of its own."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import packaging.version
import pytest
import yaml

from scripts.lib import release

ROOT = Path(__file__).resolve().parents[2]
DIGEST = "sha256:" + "0123456789abcdef" * 4
EXAMPLE = "      - uses: OWNER/registrar@{0}\n      - uses: OWNER/registrar/composite@{0} # v1\n"
PINNED = "OWNER/registrar@v1.2.3\n"
EXAMPLES = ("README.md", "README.ja.md", "docs/examples.md", "workflow-templates/many.yml")
EXPLAINED = "`OWNER/registrar@v1`, `OWNER/registrar@main`, `OWNER/registrar@v1.2.3`\n"
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

    @property
    def project(self) -> release.Project:
        return release.Project(self.root)

    def git(self, *arguments: str) -> str:
        return self.project.git(*arguments)

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (self.root / name).write_text(text, "utf-8")

    def release(self, version: str) -> None:
        release.prepare(self.project, release.Version.parse(version), "2026-02-03")

    def refusal(self, version: str) -> list[str]:
        """Release a version, which must be refused and change nothing; return the reasons."""
        before = self.state()
        with pytest.raises(release.Refused) as refused:
            self.release(version)
        assert self.state() == before
        return str(refused.value).splitlines()

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command."""
        return subprocess.run(
            [str(self.root / "scripts/release"), *arguments],
            cwd="/",
            check=False,
            capture_output=True,
            text=True,
        )

    def state(self) -> str:
        return self.git("rev-parse", "HEAD") + self.git("status", "--porcelain") + self.git("diff")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project whose version 1.0.0 is released, with a newer change."""
    root = tmp_path_factory.mktemp("release")
    scripts = [f"scripts/{name}" for name in ("release", "lib/release.py", "lib/venv.sh")]
    for name in (*scripts, "scripts/lib/pip_settings.py", ".gitignore", "action.yml", "Dockerfile"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    for name in (*EXAMPLES, release.PACKAGE):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
    checkout = Checkout(root)
    checkout.write(dict.fromkeys(EXAMPLES, EXAMPLE.format("v1") + PINNED))
    checkout.write({release.CHANGELOG: CHANGELOG, release.EXPLAINS: EXPLAINED})
    checkout.write({release.PACKAGE: '"""Text."""\n\n__version__ = "1.0.0"\n'})
    with pytest.MonkeyPatch.context() as patch:
        # The settings of a person, such as signing, must not have an effect
        for variable in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
            patch.setenv(variable, "/dev/null")
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_NAME", "test")
            patch.setenv(f"GIT_{role}_EMAIL", "test@example.invalid")
        checkout.git("init", "--quiet", "--initial-branch=main")
        checkout.git("add", "--all")
        checkout.git("commit", "--quiet", "--message=project")
        checkout.git("tag", "v1.0.0")
        checkout.git("tag", "v1")
        yield root


@pytest.fixture
def checkout(original: Path, tmp_path: Path) -> Checkout:
    return Checkout(shutil.copytree(original, tmp_path / "checkout"))


def test_preparing_makes_one_commit_that_the_workflow_accepts(checkout: Checkout) -> None:
    said = checkout.run("1.1.0")
    assert (said.returncode, said.stderr) == (0, "")
    assert "nothing is pushed" in said.stdout
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
    before = checkout.state()
    checkout.release("1.1.0")
    assert checkout.state() == before, "preparing again changes nothing"
    assert "agree" in checkout.run("--check", "1.1.0").stdout


@pytest.mark.parametrize(
    ("version", "reference"),
    [("1.1.0-alpha.1", "v1"), ("1.1.0-beta.12", "v1"), ("2.0.0-rc.1", "v1"), ("2.0.0", "v2")],
)
def test_the_package_and_the_examples_have_the_version_of_a_release(
    checkout: Checkout, version: str, reference: str
) -> None:
    """The build tool reads it where the script writes it, and keeps its order."""
    checkout.release(version)
    for name in EXAMPLES:
        text = (checkout.root / name).read_text("utf-8")
        assert text == f"{EXAMPLE.format(reference)}{PINNED}"
    assert (checkout.root / release.EXPLAINS).read_text("utf-8") == EXPLAINED
    assert not checkout.git("status", "--porcelain")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]
    assert settings["version"]["path"] == release.PACKAGE
    built = re.search(r'__version__ = "(.+)"', (checkout.root / release.PACKAGE).read_text("utf-8"))
    assert built
    assert packaging.version.Version(built[1]).base_version == version.partition("-")[0]
    order = [packaging.version.Version(each) for each in ("1.0.0", built[1], "2.0.0")]
    assert order == sorted(order)


def test_the_examples_of_the_project_use_what_exists() -> None:
    """Before the first release they use the branch."""
    assert release.Changelog("# Changelog\n\n## [Unreleased]\n\n- x\n").reference == "main"
    project = release.Project(ROOT)
    used = {
        (str(path.relative_to(ROOT)), reference)
        for path in project.examples
        for _, reference in release.REFERENCE.findall(path.read_text("utf-8"))
    }
    assert {reference for _, reference in used} == {project.changelog.reference}
    names = {name for name, _ in used}
    assert {"README.md", "README.ja.md", "docs/examples.md"} < names
    assert {"workflow-templates/many-repositories.yml"} < names


def test_every_reason_is_reported_at_once(checkout: Checkout) -> None:
    checkout.git("switch", "--quiet", "--create", "topic")
    checkout.write({release.CHANGELOG: "# Changelog\n", release.PACKAGE: '__version__ = "3.0.0"\n'})
    checkout.git("commit", "--quiet", "--all", "--message=change")
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


@pytest.mark.parametrize("arguments", [["--version"], ["--check", "--help"]], ids=" ".join)
def test_no_version_is_taken_for_an_option(checkout: Checkout, arguments: list[str]) -> None:
    ended = checkout.run(*arguments)
    said, reason = ended.stderr.splitlines()
    assert (ended.returncode, ended.stdout, said) == (1, "", "Refused.")
    assert "is no version" in reason


@pytest.mark.parametrize("version", ["1.1.0-x.7", "1.1.0-rc", "1.1.0-beta.x", "1.1.0-rc.1.2"])
def test_a_version_that_no_package_can_have_is_refused(version: str) -> None:
    [reason] = release.tag_problems(release.Project(ROOT), release.Version.parse(version))
    assert reason.startswith(f"A package cannot have the version {version}: end it like -rc.1")


def test_a_release_has_the_schema_of_lists() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))
    *_, step = workflow["jobs"]["publish"]["steps"]
    *_, command = step["run"].replace("\\\n", " ").split("gh release create ")
    [attached] = [word for word in command.split() if word.endswith(".json")]
    schema = json.loads((ROOT / attached).read_text("utf-8"))
    assert schema["$id"].endswith(f"/OWNER/registrar/main/{attached}")


def test_what_is_released_or_has_entries_in_two_places_is_refused(checkout: Checkout) -> None:
    entries = "CHANGELOG.md has a section for {}, and entries under Unreleased: move them into one."
    assert checkout.refusal("1.0.0") == [
        "The tag v1.0.0 exists: a released version stays as it is, take the next.",
        entries.format("1.0.0"),
    ]
    checkout.write({release.CHANGELOG: CHANGELOG.replace("[1.0.0]", "[1.1.0]")})
    checkout.git("commit", "--quiet", "--all", "--message=change")
    assert checkout.refusal("1.1.0") == [entries.format("1.1.0")]


def test_the_workflow_refuses_what_does_not_agree(checkout: Checkout) -> None:
    checkout.release("1.1.0")
    version = release.Version.parse("1.1.0")
    dated = "## [1.1.0] - 2026-01-01\n\n"
    for name, text, reason in (
        (release.PACKAGE, '__version__ = "1.0.0"\n', f"{release.PACKAGE} says 1.0.0, not 1.1.0."),
        (release.CHANGELOG, "## [Unreleased]\n", "CHANGELOG.md has no entries for 1.1.0."),
        (
            release.CHANGELOG,
            f"{dated}## [1.0.0] - 2026-01-01\n\n- x\n",
            "CHANGELOG.md has no entries for 1.1.0.",
        ),
        (release.CHANGELOG, "## [1.1.0]\n\n- x\n", "CHANGELOG.md has no date for 1.1.0."),
        (
            release.CHANGELOG,
            f"## [Unreleased]\n\n- y\n\n{dated}- x\n",
            (
                "CHANGELOG.md has entries under Unreleased: "
                "they would be released with 1.1.0 and be missing in its notes."
            ),
        ),
        ("README.md", EXAMPLE.format("main"), "README.md uses main, not v1."),
    ):
        before = (checkout.root / name).read_text("utf-8")
        checkout.write({name: text})
        with pytest.raises(release.Refused) as refused:
            release.check(checkout.project, version)
        assert str(refused.value) == reason
        checkout.write({name: before})


def test_the_project_itself_can_be_released() -> None:
    """The files of the project have all forms that a release rewrites."""
    project = release.Project(ROOT)
    assert project.changelog.section("Unreleased")
    assert project.version.text in (ROOT / release.PACKAGE).read_text("utf-8")


def test_versions_are_ordered_as_the_specification_says() -> None:
    order = "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 "
    order += "1.0.0-rc.1 1.0.0 1.0.1 1.9.0 1.10.0 2.0.0-rc.1 2.0.0"
    versions = [release.Version.parse(text) for text in order.split()]
    assert all(one.precedence < next_.precedence for one, next_ in pairwise(versions))


def test_the_released_action_has_the_image_and_the_entrypoint_of_the_dockerfile(
    checkout: Checkout,
) -> None:
    source = (ROOT / "action.yml").read_text("utf-8")
    image = f"ghcr.io/owner/registrar@{DIGEST}"
    release.pin(checkout.root, image)
    released = (checkout.root / "action.yml").read_text("utf-8")
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
        release.pin(ROOT, image)
