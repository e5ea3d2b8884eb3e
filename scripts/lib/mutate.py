"""Make mistakes in the code on purpose, and print those that no test notices (`scripts/mutate`).

First the tests run once under coverage, which tells what each test reaches; the result is kept in
.tools/mutate until the code or the tests change. Then each mistake is made in a copy of the last
commit, and the tests that reach its line run there, until one fails.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from pathlib import Path
from queue import SimpleQueue

import pytest
from coverage import CoverageData

from scripts.lib.mistakes import ROOT, Mistake, again, names_of, sample

_MEASURED = ROOT / ".tools/mutate"
_FIRST = 40
"""Tests that run first, because most mistakes are noticed by one of any few tests."""
_CONFIGURATION = """[run]
source = src
parallel = true
relative_files = true
patch = subprocess
disable_warnings = no-data-collected
"""


@dataclass(frozen=True)
class Result:
    """The result of one mistake."""

    mistake: Mistake
    test: str
    """The test that has noticed it; empty if none has."""
    note: str = ""


@dataclass(frozen=True)
class Reached:
    """Which tests reach which lines."""

    data: CoverageData
    seconds: Mapping[str, float]
    with_process: frozenset[str]

    @cached_property
    def _files(self) -> dict[str, str]:
        return {Path(each).as_posix(): each for each in self.data.measured_files()}

    def tests(self, mistake: Mistake) -> list[str]:
        """Return the tests that reach the lines of a mistake, in the order in which to run them.

        A line outside of functions runs when its module is imported. For such a line, every test
        counts that reaches the module. The measurement cannot tell which test has started a
        process, so all tests that start processes count as well, behind the others.
        """
        name = self._files.get(mistake.file)
        if name is None:
            return []
        by_line = self.data.contexts_by_lineno(name)
        size = len(mistake.before.splitlines()) or 1
        lines = range(mistake.line, mistake.line + size)
        found = {test for line in lines for test in by_line.get(line, ())}
        if not found - {""}:
            found |= set(chain.from_iterable(by_line.values()))
        inside = [test for test in found if test in self.seconds]
        return [*self._mixed(inside), *self._mixed(list(self.with_process - {*inside}))]

    def _mixed(self, tests: Sequence[str]) -> list[str]:
        """Return tests with the quickest ones of each file first."""
        files: dict[str, list[str]] = defaultdict(list)
        for test in sorted(tests, key=lambda each: (self.seconds.get(each, 0), each)):
            files[test.partition("::")[0]].append(test)
        return [test for each in zip_longest(*files.values()) for test in each if test]


def measured(workers: int) -> Reached:
    """Run all tests under coverage, unless that was done for this state of code and tests.

    A test that fails there would notice every mistake, so it does not count.
    """
    state = "-".join(
        _git("rev-parse", f"HEAD:{folder}").strip()[:12] for folder in ("src", "tests")
    )
    folder = _MEASURED / state
    if not (folder / "tests.json").exists():
        shutil.rmtree(_MEASURED, ignore_errors=True)
        folder.mkdir(parents=True)
        print("Measuring which tests reach which lines …", file=sys.stderr, flush=True)
        with copies(1) as [copy]:
            _measure(copy, folder, workers)
    tests = json.loads((folder / "tests.json").read_text("utf-8"))
    data = CoverageData(str(folder / "coverage"))
    data.read()
    return Reached(data, tests["seconds"], frozenset(tests["with_process"]))


def _measure(copy: Path, folder: Path, workers: int) -> None:
    configuration = folder / "coveragerc"
    configuration.write_text(_CONFIGURATION, "utf-8")
    parts = folder / "parts"
    parts.mkdir()
    python = [sys.executable, "-m", "coverage"]
    rc = f"--rcfile={configuration}"
    # The folder of the measurements is elsewhere, so pytest would take another root
    root = ["--rootdir", str(copy), "-c", str(copy / "pyproject.toml")]
    run = ["run", rc, "-m", "pytest", *root, "-p", "scripts.lib.mutation_plugin", "-q"]
    options = ["--measured", str(parts), "-m", "not large", "--ignore", "tests/container"]
    spread = ["--numprocesses", str(workers * 2), "--dist", "worksteal"]
    env = os.environ | {
        "COVERAGE_FILE": str(folder / "coverage"),
        "PYTHONPATH": f"{copy}{os.pathsep}{copy / 'src'}",
    }
    done = subprocess.run([*python, *run, *options, *spread], cwd=copy, env=env, check=False)
    if done.returncode not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        done.check_returncode()
    subprocess.run([*python, "combine", "--quiet", rc], cwd=copy, env=env, check=True)
    seconds: dict[str, float] = {}
    with_process: set[str] = set()
    for part in parts.iterdir():
        data = json.loads(part.read_text("utf-8"))
        seconds |= data["seconds"]
        with_process |= set(data["with_process"]) - {""}
    data = {"seconds": seconds, "with_process": sorted(with_process)}
    (folder / "tests.json").write_text(json.dumps(data), "utf-8")


@contextmanager
def copies(number: int) -> Iterator[list[Path]]:
    """Make copies of the last commit, and remove them afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        made = [Path(folder, str(each)) for each in range(number)]
        for each in made:
            _git("clone", "--quiet", "--shared", str(ROOT), str(each))
            (each / ".venv").symlink_to(ROOT / ".venv")
        yield made


def judge(mistake: Mistake, tests: Sequence[str], copy: Path, limit: float) -> Result:
    """Make a mistake in a copy of the project, and run tests there until one fails."""
    file = copy / mistake.file
    original = file.read_text("utf-8")
    file.write_text(mistake.text, "utf-8")
    # Python compares the time of a file only to the second
    os.utime(file, (time.time() + 5, time.time() + 5))
    end = time.monotonic() + limit
    try:
        # Starting takes longer than most tests do, so those after the first ones run together
        for part in (tests[:_FIRST], tests[_FIRST:]):
            if part and (test := _first_failed(part, copy, end - time.monotonic())):
                is_late = test == _LATE
                return Result(mistake, "" if is_late else test, "not all in time" * is_late)
        return Result(mistake, "", "" if tests else "no test reaches the line")
    finally:
        file.write_text(original, "utf-8")
        os.utime(file, (time.time() + 10, time.time() + 10))


_LATE = "late"


def _first_failed(tests: Sequence[str], copy: Path, limit: float) -> str:
    """Return the first test that fails; empty if all pass, `_LATE` if the time is over."""
    end = time.monotonic() + limit
    arguments = copy / ".tests"
    arguments.write_text("\n".join(tests), "utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-rfE"]
    try:
        run = subprocess.run(
            [*command, "--timeout", "60", "--tb", "no", f"@{arguments}"],
            cwd=copy,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=max(limit, 1),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _LATE
    if run.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S.*?)(?: - |$)", run.stdout, re.MULTILINE)
    if failed:
        return failed[1]
    output = run.stdout + run.stderr
    if "Timeout" in output:
        return "(a test did not end)"
    if run.returncode == pytest.ExitCode.USAGE_ERROR and "not found:" in output:
        # The names of some cases are made by the program, so the mistake has changed them
        whole = list(dict.fromkeys(test.partition("[")[0] for test in tests))
        if whole == list(tests):
            raise RuntimeError(f"The measurement is out of date: {output[-400:]}")
        return _first_failed(whole, copy, end - time.monotonic())
    return "(the program cannot be imported)"


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def _changed_since(commit: str) -> dict[str, set[int]]:
    """Return the lines that are new since a commit, by file."""
    found: dict[str, set[int]] = defaultdict(set)
    file = ""
    for line in _git("diff", "--unified=0", commit, "HEAD", "--", "src").splitlines():
        if line.startswith("+++ b/"):
            file = line.removeprefix("+++ b/")
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            found[file] |= {*range(first, first + count)}
    return found


def chosen(options: argparse.Namespace, rng: random.Random) -> list[Mistake]:
    """Return the mistakes that the options ask for; say which kept ones had to be replaced."""
    if options.kept:
        found = []
        for line in options.kept.read_text("utf-8").splitlines():
            kept = json.loads(line)
            mistake, is_same = again(kept, rng)
            if not is_same:
                by = f"{mistake.file} {mistake.function}" if mistake else "nothing"
                print(f"replaced: {kept['file']} {kept['function']}, by one of {by}")
            found += [mistake] if mistake else []
        return found
    files = names_of(options.paths)
    lines = _changed_since(options.since) if options.since else None
    return sample([f for f in files if lines is None or f in lines], options.sample, rng, lines)


def main() -> int:
    """Run the program; the exit code is 1 if no mistake could be tried."""
    parser = argparse.ArgumentParser("scripts/mutate", description=(__doc__ or "").split("\n\n")[0])
    add = parser.add_argument
    add("paths", nargs="*", help="modules or folders of src; otherwise all")
    add("--sample", type=int, default=100, metavar="N", help="how many mistakes (%(default)s)")
    add("--seed", type=int, default=None, metavar="S", help="gives the same sample again")
    add("--since", metavar="COMMIT", help="only lines that are new since this commit")
    add("--from", dest="kept", type=Path, metavar="FILE", help="the mistakes in a file of --keep")
    add("--keep", type=Path, metavar="FILE", help="write the mistakes that were noticed")
    add("--limit", type=float, default=120, metavar="SECONDS", help="for a mistake (%(default)s)")
    add("--minutes", type=float, default=600, metavar="M", help="begin none after so many minutes")
    options = parser.parse_args()
    seed = secrets.randbelow(10_000) if options.seed is None else options.seed
    workers = os.cpu_count() or 1
    start = time.monotonic()
    reached = measured(workers)
    mistakes = chosen(options, random.Random(seed))  # noqa: S311 (nothing is kept secret)
    results: list[Result] = []
    with copies(workers) as folders, ThreadPoolExecutor(workers) as threads:
        free = SimpleQueue[Path]()
        for folder in folders:
            free.put(folder)

        def tried(mistake: Mistake) -> Result | None:
            if time.monotonic() - start > options.minutes * 60:
                return None
            copy = free.get()
            try:
                return judge(mistake, reached.tests(mistake), copy, options.limit)
            finally:
                free.put(copy)

        for result in filter(None, threads.map(tried, mistakes)):
            results.append(result)
            show(result)
            if options.keep:
                keep(options.keep, results)
    summarize(results, seed, len(mistakes))
    return 0 if results else 1


def show(result: Result) -> None:
    """Print a mistake if nobody has noticed it."""
    if result.test:
        return
    mistake = result.mistake
    place = f"{mistake.file}:{mistake.line} {mistake.function}"
    print(f"\n{place}{f' ({result.note})' if result.note else ''}")
    for sign, text in (("-", mistake.before), ("+", mistake.after)):
        for line in text.splitlines():
            print(f"  {sign} {line.strip()}")
    sys.stdout.flush()


def keep(file: Path, results: Sequence[Result]) -> None:
    """Write the mistakes that were noticed, one in a line, so that --from can try them again."""
    names = ("file", "function", "before", "after")
    kept = [r for r in results if r.test]
    lines = [json.dumps({name: getattr(r.mistake, name) for name in names}) for r in kept]
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def summarize(results: Sequence[Result], seed: int, size: int) -> None:
    """Print how many mistakes were noticed, in all and by package."""
    tried = Counter(result.mistake.package for result in results)
    noticed = Counter(result.mistake.package for result in results if result.test)
    print(f"\nnoticed {noticed.total()} of {tried.total()} (seed {seed})")
    if left := size - len(results):
        print(f"{left} were not tried, because the time was over")
    for package in sorted(tried):
        print(f"  {package:14} {noticed[package]} of {tried[package]}")


if __name__ == "__main__":
    sys.exit(main())
