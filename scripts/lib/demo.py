"""`scripts/demo` shows registrar at work on a stand-in for GitHub.

Its exit code is 1 if one of its checks fails.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unicodedata import east_asian_width

from scripts.lib.made_up import Asked, repository_names
from scripts.lib.scene import FILES, Scene, Step, documented_list, stage
from tests.fakehub import Repository

LIST = ".github/registrar.yml"
PAGES = {"en": "README.md", "ja": "README.ja.md"}
CAP = 3
"""The most pull requests that a run over many repositories opens."""
COLUMNS = 78
EXIT_CANCELLED = 130
TEXTS = {
    "en": {
        "list": "The list",
        "refused": "The list is refused. The errors above say what to do.",
        "repositories": "Made-up repositories that suit the list: {count}",
        "plan": "The plan of a run",
        "run": "The run",
        "pull": "The pull request, as GitHub shows it",
        "complete": "Nothing is missing, so there is no pull request.",
        "no": "Somebody declines the files and closes pull request #{number}. The second run",
        "page": "The page and the table of the plan (they stay until you delete them):",
        "passed": "All {count} checks passed.",
        "failed": "{wrong} of {count} checks FAILED: {which}",
    },
    "ja": {
        "list": "一覧",
        "refused": "この一覧は使えません。上の説明を見てください。",
        "repositories": "デモ用の架空のリポジトリ（一覧の条件に合わせて用意）: {count} 件",
        "plan": "プラン: 何をするか",
        "run": "実行",
        "pull": "プルリクエスト（GitHub での表示）",
        "complete": "足りないファイルはないので、プルリクエストはありません。",
        "no": "プルリクエスト #{number} を閉じて却下。もう一度実行",
        "page": "プランのページと表（削除するまで残ります）:",
        "passed": "{count} 件の確認にすべて通りました。",
        "failed": "{count} 件の確認のうち {wrong} 件に失敗しました: {which}",
    },
}


class Demo:
    """The demo of a list: its plan, its pull request, which is declined, and the second run."""

    def __init__(self, scene: Scene, language: str) -> None:
        self.scene = scene
        self.language = language
        self.checks: dict[str, bool] = {}

    def text(self, key: str, **values: object) -> str:
        """Return one of the texts in the language of the demo."""
        return TEXTS[self.language][key].format(**values)

    def play(self, file: Path | None, target_repos: str) -> bool:
        """Run the demo of a list; without a file, of the list in the README.

        Returns whether all checks have passed.
        """
        if file is None:
            file = self.scene.workspace / LIST
            file.parent.mkdir()
            file.write_text(documented_list(PAGES[self.language], LIST), "utf-8")
        listed = file.read_text("utf-8", errors="replace") if file.is_file() else ""
        heading(f"{self.text('list')}: {file.name}")
        print(listed.rstrip())
        made = self.make(Asked.by(listed, target_repos), target_repos)
        before = [(each, each.files(), each.head()) for each in made]
        given = {"definitions": str(file.absolute())}
        if target_repos:
            given |= {"target_repos": target_repos, "max_pull_requests": str(CAP)}
        else:
            given |= {"target_repo": made[0].full_name, "commit_strategy": "single"}

        heading(self.text("plan"))
        plan = self.run(mode="plan", **given)
        if plan.exit_code:
            print(self.text("refused"))
            return False
        self.check("the plan writes nothing", not any(each.pull_requests for each in made))
        kept = self.keep(plan)
        self.register(made, given)
        self.check(
            "the default branches are as they were",
            all((each.files(), each.head()) == (files, head) for each, files, head in before),
        )
        print("\n" + self.text("page"), *kept, sep="\n  ")
        return self.summarise()

    def make(self, asked: Asked, target_repos: str) -> list[Repository]:
        """Create the repositories that the patterns name, or one if there are none."""
        names = repository_names(target_repos) if target_repos else ["octo/another"]
        made = [
            self.scene.host.create_repository(name, **asked.repository(number, FILES))
            for number, name in enumerate(names)
        ]
        if target_repos:
            heading(self.text("repositories", count=len(made)))
            print(", ".join(names))
        return made

    def register(self, made: Sequence[Repository], given: dict[str, str]) -> None:
        """Run, show one of the new pull requests, decline it, and run again."""
        heading(self.text("run"))
        run = self.run(**given)
        self.check("exit code 0", run.exit_code == 0)
        with_pull = [each for each in made if each.pull_requests]
        if not with_pull:
            print(self.text("complete"))
            return
        for each in with_pull:
            [pull] = each.pull_requests
            there, new = each.files(), each.files(pull.head)
            self.check(
                f"{each.full_name}: the pull request adds what the report says, nothing else",
                new.keys() - there.keys() == self.created(run, each)
                and there.items() <= new.items(),
            )
        refused = with_pull[0]
        [pull] = refused.pull_requests
        heading(self.text("pull"))
        print(f"{refused.full_name}#{pull.number} {pull.title}\n({pull.head} -> {pull.base})\n")
        print(as_shown(pull.body or ""))
        heading(self.text("no", number=pull.number))
        refused.person.close(pull.number)
        again = self.run(**given)
        self.check("exit code 0, once more", again.exit_code == 0)
        self.check("declined files stay declined", len(refused.pull_requests) == 1)

    def created(self, run: Step, repository: Repository) -> set[str]:
        """Return the paths that were created in a repository, by the report of a run."""
        report = json.loads((self.scene.temporary / run.outputs["report_path"]).read_text("utf-8"))
        return {
            file["path"]
            for registration in report["registrations"]
            if registration["repository"] == repository.full_name
            for file in registration["files"]
            if file["done"] == "created"
        }

    def keep(self, run: Step) -> list[Path]:
        """Copy the page and the table of a run to a folder that stays; return the copies."""
        folder = Path(tempfile.mkdtemp(prefix="registrar-demo-"))
        found = [self.scene.temporary / run.outputs[f"{name}_path"] for name in ("page", "table")]
        kept = [folder / name for name in ("page.html", "table.csv")]
        for file, copy in zip(found, kept, strict=True):
            shutil.copyfile(file, copy)
        return kept

    def run(self, **inputs: str) -> Step:
        """Run registrar and print its log, without the address of the temporary host."""
        run = self.scene.run("", self.language, **inputs)
        print(run.output.replace(f"{self.scene.host.url}/", "").rstrip())
        written = run.output + run.summary + run.outputs_file
        self.check("the token is in no output", self.scene.token not in written)
        return run

    def check(self, what: str, holds: bool) -> None:  # noqa: FBT001 (what is checked)
        """Record whether a check has passed. A check that failed once stays failed."""
        self.checks[what] = self.checks.get(what, True) and holds

    def summarise(self) -> bool:
        """Print the result of the checks in one line; return whether all have passed."""
        wrong = [what for what, holds in self.checks.items() if not holds]
        key = "failed" if wrong else "passed"
        which = "; ".join(wrong)
        print("\n" + self.text(key, count=len(self.checks), wrong=len(wrong), which=which))
        return not wrong


def as_shown(body: str) -> str:
    """Return the description of a pull request as GitHub shows it, without links."""
    shown = re.sub(r"<!--.*?-->\n?|</?(details|code|br|sub)[^>]*>", "", body, flags=re.DOTALL)
    shown = re.sub(r"<summary>(.*?)</summary>", r"▸ \1", shown, flags=re.DOTALL)
    shown = re.sub(r"(?<!!)\[([^\]]+)\]\([^)]*\)", r"\1", shown)
    return html.unescape(shown).replace("\u200b", "").strip()


def heading(text: str) -> None:
    """Print a heading as wide as a terminal; a Japanese character takes two columns."""
    width = sum(1 + (east_asian_width(char) in "WF") for char in text)
    line = f"━━ {text} {'━' * max(COLUMNS - 4 - width, 2)}"
    bold = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(f"\n\033[1m{line}\033[0m\n" if bold else f"\n{line}\n", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo, and return the exit code; ``arguments`` are those of the command line."""
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    parser = argparse.ArgumentParser(
        prog="scripts/demo",
        description="Runs the action against a stand-in for GitHub on this machine and shows what"
        " it does. No token is needed.",
    )
    parser.add_argument(
        "--language",
        choices=("ja", "en"),
        default="ja" if locale.startswith("ja") else "en",
        help="of the action (default: that of your locale)",
    )
    parser.add_argument("--definitions", type=Path, metavar="FILE", help="try a list of your own")
    parser.add_argument(
        "--target-repos",
        default="",
        metavar="PATTERNS",
        help="try it on many made-up repositories, such as 'my-org/*'",
    )
    given = parser.parse_args(arguments)
    if given.target_repos and not given.definitions:
        parser.error("--target-repos needs --definitions")
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    try:
        with stage() as scene:
            all_went_well = Demo(scene, given.language).play(given.definitions, given.target_repos)
    except KeyboardInterrupt:
        return EXIT_CANCELLED
    except AssertionError as mismatch:
        print(f"WRONG GitHub's published description does not allow this:\n{mismatch}")
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0 if all_went_well else 1


if __name__ == "__main__":
    sys.exit(main())
