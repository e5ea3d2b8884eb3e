"""`scripts/try-on-github`: does the real GitHub answer as our tests believe?"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import requests

from registrar.inputs.reader import DEFAULT_API_URL, api_url_diagnostic
from registrar.runtime.cancellation import Clock
from scripts.lib.trial.answers import NEW, OK, WRONG, Names, Row, save
from scripts.lib.trial.recorder import Recorder
from scripts.lib.trial.scratch import NotScratch, Scratch, find
from scripts.lib.trial.steps import Trial

EXIT_AS_EXPECTED, EXIT_OTHERWISE, EXIT_REFUSED = 0, 1, 2
DESCRIPTION = """\
Sends every kind of request that the action sends to the real GitHub, once, and compares each answer
with what the tests believe (tests/recordings). Prints a table, and writes the answers to a file.

It needs two empty repositories, made for it, because it writes: files, branches, pull requests. Any
other repository is refused. What it makes stays there for you to look at; delete both afterwards.

  gh repo create OWNER/SCRATCH --private
  gh repo create OWNER/SCRATCH-2 --private
  HOST_TOKEN=... scripts/try-on-github OWNER/SCRATCH
  gh repo delete OWNER/SCRATCH
  gh repo delete OWNER/SCRATCH-2
"""
EPILOG = """\
The token is read from HOST_TOKEN: a classic one with the scope repo, a fine-grained one or an App's
with Contents, Pull requests and Issues (read and write), for both repositories. It takes about 240
requests and two minutes. In the file, the token, names and e-mail addresses are replaced: attach it
to an issue, so that the answers become recordings. Exit code: 0 all as expected (what nobody had
confirmed may be new), 1 something is not, 2 nothing was written.
"""


def main(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    tell: Callable[[str], object],
    clock: Clock | None = None,
) -> int:
    """Try everything once, and give the exit code."""
    given = parser().parse_args(arguments)
    root = (given.api_url or environ.get("HOST_API_URL") or DEFAULT_API_URL).rstrip("/")
    token = environ.get("HOST_TOKEN", "").strip()
    try:
        names = (given.repository, given.second or f"{given.repository}-2")
        repositories = scratch_repositories(root, token, names)
        found = play(root, token, repositories, tell, clock or time)
    except (NotScratch, requests.RequestException) as error:
        tell(f"Error: {str(error).replace(token, '***') if token else error}")
        return EXIT_REFUSED
    show(found.rows, tell)
    save(given.save, found.answers, found.names)
    tell(f"\nThe answers are in {given.save}. It holds no token and no names; look through it, and")
    tell("attach it to an issue. To delete what was made:")
    for each in repositories:
        tell(f"  gh repo delete {each.full_name}")
    return EXIT_OTHERWISE if any(row.verdict == WRONG for row in found.rows) else EXIT_AS_EXPECTED


def scratch_repositories(root: str, token: str, names: Sequence[str]) -> list[Scratch]:
    """Find them.

    Raises:
        NotScratch: one of them, the token or the address is not what it must be.
    """
    if api_url_diagnostic(root):
        raise NotScratch(f"{root} is not the address of a REST API, such as {DEFAULT_API_URL}.")
    if not token:
        where = "https://github.com/settings/tokens"
        raise NotScratch(f"HOST_TOKEN is empty: set it to a token ({where}).")
    if len({name.lower() for name in names}) < len(names):
        raise NotScratch("The two repositories are the same one.")
    return [find(root, token, name) for name in names]


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
        "--save",
        type=Path,
        metavar="FILE",
        default=Path("try-on-github.json"),
        help="where the answers go (default: try-on-github.json)",
    )
    made.add_argument("--api-url", metavar="URL", help=f"default: {DEFAULT_API_URL}")
    return made


def play(
    root: str,
    token: str,
    repositories: Sequence[Scratch],
    tell: Callable[[str], object],
    clock: Clock,
) -> Trial:
    """Try everything once."""
    first, second = repositories
    recorder = Recorder(root)
    names = {
        first.full_name: "octo/example",
        second.full_name: "octo/second",
        first.owner: "octo",
        second.owner: "octo",
        recorder.host: "api.github.com",
        first.web_host: "github.com",
    }
    with recorder.serving(), tempfile.TemporaryDirectory(prefix="try-on-github-") as directory:
        trial = Trial(
            recorder=recorder,
            names=Names([token], names),
            token=token,
            first=first,
            second=second,
            directory=Path(directory),
            tell=tell,
            clock=clock,
        )
        trial.play()
    return trial


def show(rows: Sequence[Row], tell: Callable[[str], object]) -> None:
    """Print the table: expected and real."""
    step = ""
    for row in rows:
        if row.step != step:
            step = row.step
            tell(f"\n{step}")
        tell(f"  {row.verdict:5} {row.expected}")
        if row.verdict != OK:
            tell(f"        got {row.real}")
        for detail in row.details:
            tell(f"          {detail}")
    count = Counter(row.verdict for row in rows)
    tell(
        f"\n{count[OK]} as expected, {count[NEW]} that nobody had confirmed, "
        f"{count[WRONG]} not as expected."
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ, lambda line: print(line, flush=True)))
