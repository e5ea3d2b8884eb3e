"""`scripts/demo`: the action at work on a stand-in for GitHub. Ends with 1 when a check fails."""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import textwrap
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from types import FrameType
from typing import Any
from unicodedata import east_asian_width

import yaml

from scripts.lib.example import BRANCHES, FILES, Example, Run, documented_list, example, expected
from tests.fakehub import Repository
from tests.fakehub.repository import Attributes

EXIT_CANCELLED = 128
READS = {"GET", "HEAD"}
TWO = 2
LONG = 100
LACKING_PART = 5
"""One repository of so many lacks files, where there are many."""
MANY_CAP = 5
LIST = ".github/files.yml"
EVERYBODYS = {"SECURITY.md"}
OF_RULES = {
    1: {".golangci.yml"},
    2: expected("health").keys() - {".github/SECURITY.md", ".github/GOVERNANCE.md"},
    3: {".github/CODEOWNERS"},
    4: {"RUNBOOK.md"},
}
"""What the list of docs/definitions.md gives to everybody, and what each of its rules does."""
ODD: dict[str, Attributes] = {
    "archived": {"archived": True},
    "fork": {"parent": "elsewhere/fork"},
    "legacy-api": {},
    "legacy-web": {},
    "locked": {"locked": True},
    "short-lived": {"properties": {"tier": "bronze"}},
}
"""Repositories that a run over many leaves out, and why."""
HEAD, TAIL = 60, 12
"""Lines that are shown of a longer text, unless everything is asked for."""
TRIED, TRIED_CAP = 12, 3
"""Repositories that a list is tried on, and how many pull requests are opened there."""
TEXTS = {
    "en": {
        "list": "The list",
        "refused": "The list is refused: see above what to do.",
        "repositories": "Repositories of the stand-in, of kinds that the list asks about: {count}",
        "plan": "The plan: what would be done?",
        "run": "The run",
        "pull": "The pull request, as people see it",
        "complete": "Nothing is missing, so there is no pull request.",
        "no": "Somebody says no: pull request #{number} is closed. The second run",
        "page": "To look at, until you delete it: {folder}",
        "passed": "All {count} checks passed (scripts/demo --full lists them).",
        "failed": "{wrong} of {count} checks FAILED: {which}",
    },
    "ja": {
        "list": "一覧",
        "refused": "この一覧は使えません。上の説明を見てください。",
        "repositories": "スタンドインのリポジトリ（一覧の条件に合わせた種類）: {count}",
        "plan": "プラン: 何をするか",
        "run": "実行",
        "pull": "プルリクエスト（人が見る形）",
        "complete": "足りないファイルはないので、プルリクエストはありません。",
        "no": "プルリクエスト #{number} を閉じて断りました。2 回目の実行",
        "page": "表とページ（削除するまで残ります）: {folder}",
        "passed": "{count} 件の確認にすべて通りました（一覧は scripts/demo --full）。",
        "failed": "{count} 件の確認のうち {wrong} 件に失敗しました: {which}",
    },
}


class Demo:
    """The scenes, in order."""

    def __init__(self, scene: Example, language: str, *, full: bool) -> None:
        self.scene = scene
        self.language = language
        self.full = full
        self.checks = 0
        self.wrong: list[str] = []
        self.leaks = 0
        self.refused = False
        self.recap: list[str] = []

    def text(self, key: str, **values: object) -> str:
        return TEXTS[self.language][key].format(**values)

    def play(self) -> None:
        """The list of the README; with `--full` also the built-in lists, request by request."""
        file = self.scene.workspace / ".github/registrar.yml"
        file.parent.mkdir()
        file.write_text(documented_list("README.md", ".github/registrar.yml"), "utf-8")
        self.try_list(file)
        if self.full:
            self.before()
            self.plan("health")
            self.register("health", "single")
            self.register("scaffold", "per-file")
            self.again()

    def try_list(self, file: Path, target_repos: str = "") -> None:
        """A list, its plan, its pull request, a no, and the second run."""
        given = {"definitions": str(file.absolute())}
        heading(f"{self.text('list')}: {file.name}")
        listed = file.read_text("utf-8", errors="replace") if file.is_file() else ""
        self.show(listed)
        if target_repos:
            made = self.fleet(target_repos, listed)
            given |= {"target_repos": target_repos, "max_pull_requests": str(TRIED_CAP)}
            heading(self.text("repositories", count=len(made)))
            print(", ".join(each.full_name for each in made))
        else:
            made = [self.create("octo/another", asked_about("", listed), 0)]
            given |= {"target_repo": made[0].full_name, "commit_strategy": "single"}
        before = [(each, each.files(), each.head()) for each in made]

        heading(self.text("plan"))
        planned, _ = self.run("", mode="plan", **given)
        if planned.exit_code:
            self.refused = True
            print(self.text("refused"))
            return
        self.check("the plan writes nothing", opened(made) == 0)
        folder = self.keep(planned)

        heading(self.text("run"))
        run, _ = self.run("", **given)
        self.check("exit code 0", run.exit_code == 0)
        with_pull = [each for each in made if each.pull_requests]
        if not with_pull:
            print(self.text("complete"))
            return
        pull = with_pull[0].pull_requests[0]
        heading(self.text("pull"))
        print(f"{with_pull[0].full_name}#{pull.number} {pull.title}")
        print(f"({pull.head} -> {pull.base})\n")
        self.show(as_people_see(pull.body or ""))
        report = json.loads((self.scene.temporary / run.outputs["report_path"]).read_text("utf-8"))
        for repository in with_pull:
            [one] = repository.pull_requests
            created = {
                each["path"]
                for registration in report["registrations"]
                if registration["repository"] == repository.full_name
                for each in registration["files"]
                if each["state"] == "created"
            }
            new = repository.files(one.head)
            self.check(
                "the pull request adds what the report says, and changes nothing",
                new.keys() - repository.files().keys() == created
                and repository.files().items() <= new.items(),
            )
        heading(self.text("no", number=pull.number))
        with_pull[0].close(pull.number)
        again, _ = self.run("", **given)
        self.check("exit code 0, once more", again.exit_code == 0)
        self.check("a no holds", len(with_pull[0].pull_requests) == 1)
        self.check(
            "the default branches are as they were",
            all((each.files(), each.head()) == (files, head) for each, files, head in before),
        )
        print("\n" + self.text("page", folder=folder))
        if not self.full:
            self.check("the token is in no output of any run", not self.leaks)

    def fleet(self, target_repos: str, listed: str) -> list[Repository]:
        """Repositories that the patterns name, of the kinds that list and patterns ask about."""
        entries = [each.strip() for each in re.split(r"[,\n]", target_repos)]
        patterns = [each for each in entries if re.fullmatch(r"[\w-]+/[\w.*-]+", each)]
        names = [
            pattern.replace("*", f"service-{number:02}")
            for pattern in patterns
            for number in range(TRIED if "*" in pattern else 1)
        ]
        values = asked_about(target_repos, listed)
        return [
            self.create(name, values, number) for number, name in enumerate(dict.fromkeys(names))
        ]

    def create(self, name: str, values: dict[str, list[str]], number: int) -> Repository:
        """One of them: of each kind of value it has one, or none, in turn."""

        def turn(key: str) -> str | None:
            possible: list[str | None] = [*values.get(key, ()), None]
            return possible[number % len(possible)]

        properties = {
            key.removeprefix("property "): value
            for key in values
            if key.startswith("property ") and (value := turn(key))
        }
        there = {path: b"# There already\n" for key in ["exists"] if (path := turn(key))}
        return self.scene.host.create_repository(
            name,
            FILES | there,
            private=number % 2 == 1,
            language=turn("language"),
            topics=[topic for topic in [turn("topic")] if topic],
            properties=properties,
        )

    def keep(self, run: Run) -> Path:
        """Table and page of a run, in a folder that stays."""
        kept = Path(tempfile.mkdtemp(prefix="registrar-demo-"))
        for name in ("table", "page"):
            found = self.scene.temporary / run.outputs[f"{name}_path"]
            shutil.copy(found, kept / f"{name}{found.suffix}")
        return kept

    def play_many(self, count: int) -> None:
        """Many repositories: a plan, a run up to its cap, and the run that goes on."""
        text = documented_list("docs/definitions.md", LIST)
        file = self.scene.workspace / LIST
        file.parent.mkdir()
        file.write_text(text, "utf-8")
        heading("A list with rules, as in docs/definitions.md")
        self.show(text)
        complete = dict.fromkeys(EVERYBODYS.union(*OF_RULES.values()), b"\n")
        lacking = -(-count // LACKING_PART)
        heading(f"{count} repositories of octo-org, {lacking} of which lack files; {len(ODD)} more")
        made: list[Repository] = []
        fits = Counter[int]()
        for number in range(count):
            files, attributes, rules = kind(number)
            files |= complete if number >= lacking else {}
            name = f"octo-org/service-{number:03}"
            made.append(self.scene.host.create_repository(name, files, **attributes))
            fits.update(rules)
        odd = [
            self.scene.host.create_repository(f"octo-org/{name}", FILES, **attributes)
            for name, attributes in ODD.items()
        ]
        print(f"left out: {', '.join(ODD)}")
        given = {"target_repos": "octo-org/*, !octo-org/legacy-*, -property:tier=bronze"}
        given |= {"definitions": LIST, "max_pull_requests": str(MANY_CAP)}

        heading("Mode plan: what would be done?")
        run, requests = self.run("", mode="plan", **given)
        self.show(run.summary)
        self.check("exit code 0, and no pull request", run.exit_code == 0 and not opened(made))
        self.recap.append(f"plan of {count} repositories: {requests.total()} requests")
        report = (self.scene.temporary / run.outputs["report_path"]).read_text("utf-8")
        fleet = json.loads(report)["fleet"]
        self.check(
            "each rule applies to as many repositories as it is for",
            {each["rule"]: each["repositories"] for each in fleet["rules"]}
            == {rule: fits[rule] for rule in OF_RULES},
        )
        self.recap.append(fleet["notes"][0])
        self.recap.append(self.text("page", folder=self.keep(run)))
        now = min(lacking, MANY_CAP)
        for title, total in (("The run", now), ("The run again", min(lacking, 2 * MANY_CAP))):
            heading(f"{title}: at most {MANY_CAP} new pull requests, 3 seconds apart")
            run, requests = self.run("", **given)
            self.heading_of_checks(f"{title}: what must hold")
            self.check("exit code 0", run.exit_code == 0)
            self.check(
                f"{count} of {count + len(ODD)} repositories are selected",
                run.outputs.get("repositories") == str(count),
            )
            self.check(f"{total} repositories have one pull request each", opened(made) == total)
            self.check(
                "each pull request has the files for its repository, and no other",
                all(
                    repository.files(pull.head).keys() - repository.files().keys()
                    == EVERYBODYS.union(*(OF_RULES[rule] for rule in kind(number)[2]))
                    for number, repository in enumerate(made)
                    for pull in repository.pull_requests
                ),
            )
            self.check(
                f"{lacking - total} are deferred",
                run.outputs.get("deferred") == str(lacking - total),
            )
            self.recap.append(
                f"{title.lower()}: {requests.total()} requests, {total} pull requests so far"
            )
        self.check(
            "what is left out has only its own branch", {len(r.branches) for r in odd} == {1}
        )
        self.check("the token is in no output of any run", not self.leaks)

    def before(self) -> None:
        heading(f"The repository {self.scene.repository.full_name} before")
        self.git("log", "--oneline", "--stat", "main")

    def plan(self, profile: str) -> None:
        listed = expected(profile)
        heading(f"Profile {profile}, mode plan: what would be done?")
        run, requests = self.run(profile, mode="plan")

        self.heading_of_checks("The plan: what must hold")
        self.check("exit code 0", run.exit_code == 0)
        self.check(
            "every missing file is shown",
            all(
                f"{path}: " in run.output or f"+++ b/{path}" in run.output
                for path in listed.keys() - FILES.keys()
            ),
        )
        self.check("no request but reads", set(requests) <= READS)
        self.recap.append(
            f"{profile}, plan: {len(listed.keys() - FILES.keys())} files shown, nothing written"
        )

    def register(self, profile: str, strategy: str) -> None:
        repository, branch = self.scene.repository, BRANCHES[profile]
        listed = expected(profile)
        missing = listed.keys() - FILES.keys()

        heading(f"Profile {profile}, strategy {strategy}: the run")
        run, requests = self.run(profile, commit_strategy=strategy)

        heading(f"Profile {profile}: the pull request")
        pull = repository.pull_requests[-1] if repository.pull_requests else None
        if pull:
            print(f"#{pull.number} {pull.title}   ({pull.head} -> {pull.base})\n")
            self.show(pull.body or "")
            self.recap.append(
                f"{profile}, {strategy}: {requests.total()} requests, {len(missing)} files created,"
                f" pull request #{pull.number}"
            )

        heading(f"Profile {profile}: the working branch")
        if branch in repository.branches:
            self.git("log", "--oneline", f"main..{branch}")
            print()
            self.git("diff", "--stat", f"main...{branch}")

        heading(f"Profile {profile}: step summary and outputs")
        self.show(run.summary)
        for name, value in run.outputs.items():
            self.show(f"{name}={value if len(value) < LONG else value[:LONG] + ' …'}")

        self.heading_of_checks(f"Profile {profile}: what must hold")
        self.check("exit code 0", run.exit_code == 0)
        self.check(
            f"{len(missing)} created, {len(listed) - len(missing)} skipped, 0 failed",
            [run.outputs.get(name) for name in ("created", "skipped", "failed")]
            == [str(len(missing)), str(len(listed) - len(missing)), "0"],
        )
        self.check(
            "the branch holds every listed file byte for byte, and what was there before",
            branch in repository.branches
            and repository.files(branch) == listed | repository.files("main"),
        )
        self.check(
            "one open pull request, and the outputs name it",
            pull is not None
            and pull.state == "open"
            and [one.head for one in repository.pull_requests].count(branch) == 1
            and run.outputs.get("pull_request_url") == pull.html_url,
        )
        if strategy == "single":
            self.check(
                "2 requests: one that reads everything, and one for branch, commit, pull request",
                requests.total() == TWO,
            )
            self.check("one commit", len(self.log(branch)) == 1)
            return
        self.check("a commit for each file", len(self.log(branch)) == len(missing))
        writes = sum(number for method, number in requests.items() if method not in READS)
        self.check(
            f"{requests.total()} requests, {writes} of them writes: "
            "token, 4 reads, a check per path; a branch, a commit per file, a pull request",
            (requests.total(), writes) == (5 + len(listed) + len(missing) + 2, len(missing) + 2),
        )

    def again(self) -> None:
        repository = self.scene.repository
        heading("Both pull requests are merged; everything once more")
        for pull in repository.pull_requests:
            if pull.state == "open":
                repository.merge(pull.number)
        head, branches = repository.head("main"), repository.branches
        run, requests = self.run("all")

        self.heading_of_checks("Second run: what must hold")
        self.check("exit code 0", run.exit_code == 0)
        self.check(
            "nothing created, nothing failed",
            {run.outputs.get(name) for name in ("created", "failed")} == {"0"},
        )
        self.check("no request but reads", set(requests) <= READS)
        self.check(
            "the repository is as it was",
            (repository.head("main"), repository.branches) == (head, branches)
            and all(pull.merged for pull in repository.pull_requests),
        )

        self.recap.append(f"all, once more: {requests.total()} requests, nothing written")
        self.check("the token is in no output of any run", not self.leaks)

    def summarise(self) -> None:
        """End with what happened, and what the checks found, in one line."""
        if self.refused:
            return
        print()
        for number, line in enumerate(self.recap, 1):
            print(f"{number}. {line}")
        if self.wrong:
            which = "; ".join(self.wrong)
            print(self.text("failed", wrong=len(self.wrong), count=self.checks, which=which))
        else:
            print(self.text("passed", count=self.checks))

    def log(self, branch: str) -> list[str]:
        return self.scene.git("log", "--oneline", f"main..{branch}").splitlines()

    def run(self, profile: str, **inputs: str) -> tuple[Run, Counter[str]]:
        """Run the action and show its log; also count its requests by method."""
        before = len(self.scene.host.requests)
        lines: list[str] = []
        run = self.scene.run(profile, self.language, lines.append, **inputs)
        self.show("\n".join(lines))
        self.leaks += self.scene.token in run.output + run.summary + run.outputs_file
        return run, Counter(request.method for request in self.scene.host.requests[before:])

    def git(self, *arguments: str) -> None:
        print(f"$ git {' '.join(arguments)}")
        self.show(self.scene.git(*arguments))

    def show(self, text: str) -> None:
        """Print a text; of a long one, and of a long line, a part."""
        lines = text.splitlines()
        if sys.stdout.isatty() and not self.full:
            lines = [fitting(line, shutil.get_terminal_size().columns) for line in lines]
        left_out = len(lines) - HEAD - TAIL
        if left_out > 1 and not self.full:
            lines[HEAD:-TAIL] = [f"   … {left_out} lines more (scripts/demo --full)"]
        print("\n".join(lines))

    def heading_of_checks(self, text: str) -> None:
        if self.full:
            heading(text)

    def check(self, what: str, holds: bool) -> None:  # noqa: FBT001 (what is checked)
        self.checks += 1
        if not holds:
            self.wrong.append(what)
        if not self.full:
            return
        width = shutil.get_terminal_size().columns
        line = f"{'ok   ' if holds else 'WRONG'} {what}"
        print(textwrap.fill(line, width, subsequent_indent=" " * 6))


def asked_about(target_repos: str, listed: str) -> dict[str, list[str]]:
    """Values that the rules of a list, its templates and a selection ask about, by their kinds."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in re.findall(r"\{property:([^}\s]+)\}", listed):
        found[f"property {name}"].append("example")
    qualifier = r"(?m)(?:^|,)\s*(property|topic|language):([^,\n]+)"
    for key, value in re.findall(qualifier, target_repos):
        name, _, wanted = value.strip().partition("=")
        if key == "property":
            found[f"property {name}"].append(wanted or "example")
        else:
            found[key].append(name)

    def look(node: Any) -> None:
        if isinstance(node, list):
            for each in node:
                look(each)
        for key, value in node.items() if isinstance(node, dict) else ():
            if key == "property" and isinstance(value, dict):
                for name, wanted in value.items():
                    found[f"property {name}"] += wanted if isinstance(wanted, list) else [wanted]
            elif key in {"topic", "language", "exists"}:
                found[key] += value if isinstance(value, list) else [value]
            look(value)

    with suppress(yaml.YAMLError):
        look(yaml.safe_load(listed))
    return {key: list(dict.fromkeys(map(str, values))) for key, values in found.items()}


def as_people_see(body: str) -> str:
    """A pull request's description without what GitHub does not show."""
    shown = re.sub(r"<!--.*?-->\n?|</?(details|code|br|sub)[^>]*>", "", body, flags=re.DOTALL)
    shown = re.sub(r"<summary>(.*?)</summary>", r"▸ \1", shown, flags=re.DOTALL)
    return html.unescape(shown).replace("\u200b", "").strip()


def kind(number: int) -> tuple[dict[str, bytes], Attributes, set[int]]:
    """One of many repositories: files, attributes, and the numbers of the rules that are for it."""
    go, private, gold, service = (number % each == 0 for each in (2, 3, 4, 5))
    attributes: Attributes = {
        "language": "Go" if go else "Python",
        "private": private,
        "properties": {"tier": "gold", "team": "core"} if gold else {},
        "topics": ["service"] if service else [],
    }
    fits = (go, not private, gold, service)
    rules = {rule for rule, is_for_it in zip(OF_RULES, fits, strict=True) if is_for_it}
    return FILES | ({"go.mod": b"module example\n"} if go else {}), attributes, rules


def fitting(line: str, columns: int) -> str:
    """As much of a line as a terminal shows in one; a Japanese character takes two columns."""
    widths = list(accumulate(1 + (east_asian_width(char) in "WF") for char in line))
    if not widths or widths[-1] <= columns:
        return line
    return line[: bisect_right(widths, columns - 1)] + "…"


def number_of_repositories(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


number_of_repositories.__name__ = "number of repositories"


def opened(repositories: Sequence[Repository]) -> int:
    """How many repositories have exactly one pull request; -1 when one has more."""
    counts = [len(repository.pull_requests) for repository in repositories]
    return sum(counts) if max(counts) <= 1 else -1


def heading(text: str) -> None:
    line = f"━━ {text} {'━' * max(70 - len(text), 2)}"
    bold = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(f"\n\033[1m{line}\033[0m\n" if bold else f"\n{line}\n", flush=True)


def on_signal(number: int, _frame: FrameType | None) -> None:
    # What is open is closed on the way out, once
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(EXIT_CANCELLED + number)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/demo",
        description="Runs the action against a stand-in for GitHub on this machine and shows what"
        " it does. No token is needed.",
    )
    parser.add_argument(
        "--language", choices=("ja", "en"), default="ja", help="of the action (default: ja)"
    )
    parser.add_argument(
        "--repositories",
        type=number_of_repositories,
        metavar="N",
        help="show a run over so many repositories",
    )
    parser.add_argument("--definitions", type=Path, metavar="FILE", help="try a list of your own")
    parser.add_argument(
        "--target-repos",
        metavar="PATTERNS",
        help="try it on many repositories: the stand-in makes some for 'my-org/*'",
    )
    parser.add_argument(
        "--full", action="store_true", help="show every line, every check and the built-in lists"
    )
    given = parser.parse_args()
    if given.target_repos and not given.definitions:
        parser.error("--target-repos needs --definitions")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    try:
        with example() as scene:
            demo = Demo(scene, given.language, full=given.full)
            if given.definitions:
                demo.try_list(given.definitions, given.target_repos or "")
            elif given.repositories:
                demo.play_many(given.repositories)
            else:
                demo.play()
            demo.summarise()
    except AssertionError as mismatch:
        print(f"WRONG GitHub's published description does not allow this:\n{mismatch}")
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 1 if demo.wrong or demo.refused else 0


if __name__ == "__main__":
    sys.exit(main())
