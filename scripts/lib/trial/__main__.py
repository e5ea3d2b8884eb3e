"""`scripts/try-on-github`: does the real GitHub answer as our tests believe?"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path

import requests

from registrar.errors import RegistrarError
from registrar.inputs.reader import DEFAULT_API_URL, api_url_diagnostic
from registrar.runtime.cancellation import Clock
from scripts.lib.trial.answers import COMPARED, NEW, OK, PASSING, WRONG, Row
from scripts.lib.trial.scratch import (
    Ask,
    FirstCommit,
    NotFilled,
    NotScratch,
    Scratch,
    files_of_first,
    files_of_second,
    find,
)
from scripts.lib.trial.steps import Trial

EXIT_AS_EXPECTED, EXIT_OTHERWISE, EXIT_REFUSED = 0, 1, 2
DESCRIPTION = """\
Sends every kind of request that the action sends to the real GitHub, once, and compares each answer
with what the tests believe (tests/recordings). Prints a table, and writes the answers to a file.

It needs two empty repositories, made for it, because it writes: files, branches, pull requests. Any
other repository is refused. What it makes stays there for you to look at; delete both afterwards.
Stopped halfway, it can be started again with the same two. With --short it needs one.

  gh repo create OWNER/SCRATCH --private
  gh repo create OWNER/SCRATCH-2 --private
  HOST_TOKEN=... scripts/try-on-github OWNER/SCRATCH
  gh auth refresh -s delete_repo
  gh repo delete OWNER/SCRATCH
  gh repo delete OWNER/SCRATCH-2
"""
EPILOG = """\
The token is read from HOST_TOKEN: a classic one with the scope repo, a fine-grained one or an App's
with Contents, Pull requests and Issues (read and write), for both repositories. It takes about 430
requests, some 60 of them writes, and five minutes (--short: about 45 requests, and less than three
minutes); at a limit it waits, and says so. Each answer
is written to the file as soon as it is there: the words of GitHub's messages are kept, of
everything else the type, so that it holds no name, address, number or text of yours.
Exit code: 0 all as expected (what nobody had confirmed may be new), 1 something is not, or it was
stopped, 2 nothing was written.
"""


def main(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    tell: Callable[[str], object],
    clock: Clock | None = None,
) -> int:
    """Try everything once, and give the exit code."""
    commands = parser()
    given = commands.parse_args(arguments)
    if given.short and given.second:
        commands.error("--short takes one repository")
    root = (given.api_url or environ.get("HOST_API_URL") or DEFAULT_API_URL).rstrip("/")
    ask = Ask(root, environ.get("HOST_TOKEN", "").strip(), clock or time)
    names = [given.repository]
    if not given.short:
        names.append(given.second or f"{given.repository}-2")
    with tempfile.TemporaryDirectory(prefix="try-on-github-") as directory:
        commits = [
            FirstCommit(Path(directory, str(number)), files())
            for number, files in enumerate((files_of_first, files_of_second)[: len(names)])
        ]
        try:
            repositories = scratch_repositories(ask, names, commits)
        except (NotScratch, requests.RequestException) as error:
            tell(f"Error: {without(ask.token, error)}")
            return EXIT_REFUSED
        except KeyboardInterrupt:
            tell("Error: interrupted, nothing was written.")
            return EXIT_REFUSED
        file = unused(given.save)
        with file.open("w", encoding="utf-8", buffering=1) as saved:
            trial = Trial(
                api_url=root,
                token=ask.token,
                names=names_of_caller(repositories),
                repositories=repositories,
                commits=commits,
                directory=Path(directory),
                tell=tell,
                keep_line=saved.write,
                clock=ask.clock,
            )
            return play(trial, trial.play_short if given.short else trial.play, tell, file)


def play(trial: Trial, steps: Callable[[], None], tell: Callable[[str], object], file: Path) -> int:
    """Try these steps of a trial, and say what came of it, also where it could not go on."""
    began = trial.clock.monotonic()
    stopped = ""
    try:
        with trial.recorder.serving():
            steps()
    except (NotFilled, requests.RequestException) as error:
        stopped = without(trial.token, error)
    except RegistrarError as error:
        stopped = f"{error.message.key}: {without(trial.token, error)}"
    except KeyboardInterrupt:
        stopped = "interrupted"
    finally:
        show(trial.rows, tell)
        minutes = (trial.clock.monotonic() - began) / 60
        tell(f"{trial.requests} requests, {trial.writes} of them writes, {minutes:.0f} min.")
        if stopped:
            tell(f"\nStopped: {stopped}. Run the same again: it begins anew.")
        tell(f"\nAttach {file} and the table above to an issue of registrar, so that the answers")
        tell("become recordings. Then delete what was made:")
        tell("  gh auth refresh -s delete_repo")
        for each in trial.repositories:
            tell(f"  gh repo delete {each.full_name}")
    is_wrong = stopped or any(row.verdict == WRONG for row in trial.rows)
    return EXIT_OTHERWISE if is_wrong else EXIT_AS_EXPECTED


def without(token: str, error: Exception) -> str:
    """What an error says, without the token."""
    return str(error).replace(token, "***") if token else str(error)


def unused(file: Path) -> Path:
    """The file, or one beside it with a number: an earlier try's answers stay."""
    numbered = (file.with_stem(f"{file.stem}-{number}") for number in count(2))
    return next(each for each in chain([file], numbered) if not each.exists())


def names_of_caller(repositories: Sequence[Scratch]) -> dict[str, str]:
    """Names of ours by those of the repositories."""
    first = repositories[0]
    ours = zip(repositories, ("octo/example", "octo/second"), strict=False)
    return {
        **{each.full_name: name for each, name in ours},
        **{each.owner: "octo" for each in repositories},
        first.web_host: "github.com",
        first.default_branch: "main",
    }


def scratch_repositories(
    ask: Ask, names: Sequence[str], commits: Sequence[FirstCommit]
) -> list[Scratch]:
    """Find them.

    Raises:
        NotScratch: one of them, the token or the address is not what it must be.
    """
    if api_url_diagnostic(ask.api_url):
        raise NotScratch(
            f"{ask.api_url} is not the address of a REST API, such as {DEFAULT_API_URL}."
        )
    if not ask.token:
        where = "https://github.com/settings/tokens"
        raise NotScratch(f"HOST_TOKEN is empty: set it to a token ({where}).")
    if len({name.lower() for name in names}) < len(names):
        raise NotScratch("The two repositories are the same one.")
    return [find(ask, name, commit.id) for name, commit in zip(names, commits, strict=True)]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="scripts/try-on-github",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("repository", metavar="OWNER/SCRATCH", help="an empty repository of yours")
    made.add_argument(
        "second",
        metavar="OWNER/SECOND",
        nargs="?",
        help="another one, for the run over two (default: OWNER/SCRATCH-2)",
    )
    made.add_argument(
        "--short",
        action="store_true",
        help="one repository and a small list: plan, register, say no, again, with both strategies",
    )
    made.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        default=Path("try-on-github.yml"),
        help="where the answers go (default: try-on-github.yml)",
    )
    made.add_argument("--api-url", metavar="URL", help=f"default: {DEFAULT_API_URL}")
    return made


def show(rows: Sequence[Row], tell: Callable[[str], object]) -> None:
    """Print the table: expected and real."""
    step = ""
    for row in rows:
        if row.step != step:
            step = row.step
            tell(f"\n{step}")
        tell(f"  {row.verdict:7} {row.expected}")
        if row.verdict != OK:
            tell(f"          got {row.real}")
        for detail in row.details:
            tell(f"            {detail}")
    counts = Counter(row.verdict for row in rows)
    tell(
        f"\n{counts[OK]} as expected, {counts[PASSING]} passing, {counts[NEW]} new, "
        f"{counts[WRONG]} not as expected.\n{COMPARED}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ, lambda line: print(line, flush=True)))
