"""How the scripts answer to mistakes, and with which line a run of the tests ends."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.lib import demo
from tests.harness import JAPANESE, ROOT, clean_environment


def started(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, env=clean_environment(), capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("tests/unti", "tests/unti: there is no such file or folder"),
        ("tests/unit/test_gone.py::test_it", "there is no such file or folder"),
        ("tests/container", "tests/container: scripts/test-container runs these, with Docker"),
        ("tests/container/test_image.py::test_it", "scripts/test-container runs these"),
    ],
)
def test_a_path_that_holds_no_tests_is_named(argument: str, words: str) -> None:
    done = started("scripts/test", "-k", "plan", argument)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.parametrize(
    ("status", "failures", "line"),
    [
        ("0", 0, "0 of 12 tests failed, 2 were skipped."),
        ("1", 3, "4 of 12 tests failed, 2 were skipped."),
        ("2", 0, "0 of 12 tests failed, 2 were skipped. It ended before all were run, or too"),
    ],
)
def test_the_last_line_says_how_many_failed(
    status: str, failures: int, line: str, tmp_path: Path
) -> None:
    errors = min(failures, 1)
    for name, tests in (("a", 10), ("b", 2)):
        counts = f'errors="{errors}" failures="{failures}" skipped="1" tests="{tests}"'
        (tmp_path / name).write_text(f"<testsuites><testsuite {counts}/></testsuites>")
        errors = failures = 0
    files = [str(tmp_path / name) for name in "ab"]
    done = started(sys.executable, "scripts/lib/test_outcome.py", status, *files)
    assert done.stdout.startswith(line)


@pytest.mark.parametrize(
    ("language", "target_repos"),
    [("en", ""), ("ja", "my-org/api, my-org/w*, property:tier")],
)
def test_the_demo_tells_the_story_of_a_list_of_ones_own(
    language: str, target_repos: str, tmp_path: Path
) -> None:
    workflow = "{path: .github/workflows/ci.yml, content: 'on: push'}"
    (tmp_path / "list.yml").write_text(
        f"name: ours\nfiles:\n- {{path: a.md, content_file: a}}\n- {workflow}\n"
    )
    (tmp_path / "a").write_text("# Ours\n")
    many = ("--target-repos", target_repos) if target_repos else ()
    list_file = str(tmp_path / "list.yml")
    done = started("scripts/demo", "--language", language, "--definitions", list_file, *many)
    assert (done.returncode, done.stderr) == (0, "")
    assert "+# Ours\n" in done.stdout, "the plan"
    assert "#1 chore: add ours files\n(chore/add-ours-files -> main)" in done.stdout
    assert ("my-org/w" in done.stdout) == bool(target_repos)
    assert bool(JAPANESE.search(done.stdout)) == (language == "ja")
    *_, passed = done.stdout.splitlines()
    assert re.search(r"^All \d+ checks passed\.$|^\d+ 件の確認にすべて通りました", passed)
    kept = [Path(each) for each in re.findall(r"/\S*registrar-demo-\S+", done.stdout)]
    assert [(each.name, each.is_file()) for each in kept] == [
        ("page.html", True),
        ("table.csv", True),
    ]
    shutil.rmtree(kept[0].parent)
    assert "127.0.0.1" not in done.stdout, "an address that nobody answers any more"


LISTS = {
    "any team": (
        """
files: [README.md]
rules:
  - when: {property: {team: ["*"]}}
    files: [OWNERS.md]
""",
        "Rules that do not apply to this repository: rule 1 (property team: [*])\n",
    ),
    "a team": (
        """
files: [README.md]
rules:
  - when: {property: {team: [payments, "*"]}}
    files: [OWNERS.md]
""",
        "OWNERS.md: created (rule 1)\n",
    ),
    "languages": (
        """
files: [SECURITY.md]
rules:
  - when: {language: [go, python]}
    files: [Makefile]
  - when: {language: ruby}
    files: [.rubocop.yml]
""",
        "Makefile: created (rule 1)\n",
    ),
    "a folder": (
        """
files: [docs/index.md]
rules:
  - when: {exists: [docs, "**/*.tf"], language: hcl, not: {topic: old}}
    extends: health
""",
        "docs/index.md: created\n",
    ),
    "entries of all kinds": (
        """
files:
  - docs/index.md
  - README.md/below.md
  - docs/with space.md
  - docs/日本語 の ファイル.md
  - docs/Ünï+%41#1.md
  - {path: "a 'quoted' \\"name\\".txt", content: "x"}
  - {path: .github/workflows/ci.yml, content: "on: push"}
  - {path: .github/CODEOWNERS, template: true, content: "* @{owner}/{property:team}"}
  - {path: docs/about.md, template: true, content: "{repo}"}
  - path: .github/dependabot.yml
    content: |
      version: 2
    parts:
      - when: {exists: [go.mod, .github]}
        content: |
          # go
      - content: |
          # all
""",
        "docs/日本語 の ファイル.md: created\n",
        ".github/workflows/ci.yml: created\n",
        "+* @octo/example\n",
        "created (parts: 1, 2)\n",
        "README.md/below.md: created\n",
    ),
    "alternatives": (
        """
- {path: README.rst, alternatives: [README.md]}
- {path: SECURITY.md, alternatives: [docs/SECURITY.md]}
""",
        "README.rst: skipped (satisfied by README.md)\n",
    ),
    "built-in": ("{extends: scaffold, exclude: [.idea/**]}", "Created: "),
    "much": ("".join(f"- docs/{number}/index.md\n" for number in range(120)), "Created: 120\n"),
}
"""Lists of all kinds, each with what the demo must say of it."""


@pytest.mark.parametrize("name", LISTS)
def test_in_the_world_of_the_demo_every_valid_list_succeeds(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    listed, *says = LISTS[name]
    (tmp_path / "list.yml").write_text(listed, "utf-8")
    list_file = str(tmp_path / "list.yml")
    exit_code = demo.main(["--language", "en", "--definitions", list_file])
    shown, errors = capfd.readouterr()
    assert (exit_code, errors) == (0, ""), shown
    assert [words for words in says if words not in shown] == []
    shutil.rmtree(Path(re.findall(r"/\S*registrar-demo-\S+", shown)[0]).parent)


def test_the_demo_says_what_is_wrong_with_a_list(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list.yml").write_text("files: [{path: ''}]\n")
    list_file = str(tmp_path / "list.yml")
    assert demo.main(["--language", "en", "--definitions", list_file]) == 1
    shown, _ = capfd.readouterr()
    assert "list.yml, entry 1, line 1: " in shown
    assert "The list is refused" in shown
