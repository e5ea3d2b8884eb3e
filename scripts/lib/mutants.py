"""`python mutants.py [WORD]`, in the project's root, checks that tests notice mistakes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

MUTANTS = Path("tests/mutants.toml")
SOME_FAILED = 1
"""Exit code of pytest if tests failed; any other code except 0 says that they did not run."""
TAIL = 30
"""Number of the last lines of pytest that are shown."""


class Mutant(NamedTuple):
    """A mistake: the text ``before`` of a file is replaced by ``after``."""

    promise: str
    file: str
    before: str
    after: str
    tests: Sequence[str]

    def put_into(self, folder: Path) -> bool:
        """Make the mistake in a copy of the project; false if it does not fit exactly one place."""
        file = folder / self.file
        text = file.read_text("utf-8") if file.exists() else ""
        if text.count(self.before) != 1:
            return False
        file.write_text(text.replace(self.before, self.after), "utf-8")
        return True


def main(word: str = "") -> int:
    """Try the mistakes, and return the exit code."""
    listed = [Mutant(**entry) for entry in tomllib.loads(MUTANTS.read_text("utf-8"))["mutant"]]
    mutants = [each for each in listed if word.lower() in f"{each.promise} {each.file}".lower()]
    if not mutants:
        print(f"No mistake has the word {word} in its promise or its file.")
        return 1
    named = sorted({test for each in mutants for test in each.tests})
    with _copy() as folder:
        ended = _test(folder, named)
    if ended.returncode:
        print(_tail(ended), "Without any mistake, these tests do not pass.", sep="\n")
        return 1
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        wrong = sum(map(bool, map(_report, mutants, threads.map(_try, mutants))))
    print(f"{wrong} of {len(mutants)} mistakes were not noticed, or could not be tried.")
    return 1 if wrong else 0


def _try(mutant: Mutant) -> str:
    """Return the problem, or an empty text if the tests notice the mistake."""
    with _copy() as folder:
        if not mutant.put_into(folder):
            return "does not fit the code any more: it has to be in exactly one place"
        ended = _test(folder, mutant.tests, "--exitfirst")
    if ended.returncode == SOME_FAILED:
        return ""
    return "was not noticed" if ended.returncode == 0 else f"could not be tried:\n{_tail(ended)}"


def _report(mutant: Mutant, wrong: str) -> str:
    print(f"{'FAILED' if wrong else 'ok':6} {mutant.file}: {mutant.promise}", flush=True)
    if wrong:
        print(f"       {wrong}", f"       {' '.join(mutant.tests)}", sep="\n", flush=True)
    return wrong


@contextmanager
def _copy() -> Iterator[Path]:
    """Make a copy of the project with all changes; a new one each time, to have no old bytecode."""
    git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, check=True, stdout=subprocess.PIPE).stdout.decode()
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        folder = Path(name)
        for path in filter(os.path.exists, listed.split("\0")):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, folder / path)
        yield folder


def _test(folder: Path, tests: Sequence[str], *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *more, *tests],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _tail(ended: subprocess.CompletedProcess[str]) -> str:
    return "\n".join(ended.stdout.splitlines()[-TAIL:])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
