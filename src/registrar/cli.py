"""From a shell: ``--help`` and ``--version``. What to do is told by the environment."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from registrar import __version__, inputs

_TEXT = """\
Create the files of a list that a repository lacks, and open one pull request.
What to do is read from the environment; HOST_TOKEN and TARGET_REPO are needed.

  HOST_TOKEN         token with write access to the repository
  TARGET_REPO        the repository, as owner/repo
  HOST_API_URL       root of the REST API (default: https://api.github.com)
  HOST_STEP_SUMMARY  file that the summary is appended to

Every other input of the action is a variable INPUT_ and its name in capitals:
"""


def parse(arguments: Sequence[str]) -> None:
    """Response ``--help`` and ``--version``; anything else is refused.

    Raises:
        SystemExit: always, unless ``arguments`` is empty.
    """
    parser = argparse.ArgumentParser(
        prog="registrar",
        description=_TEXT + "".join(f"\n  INPUT_{name.upper()}" for name in inputs.NAMES),
        epilog="Exit codes: 0 done, 1 something failed, 2 nothing was written, 130/143 cancelled.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"registrar {__version__}")
    parser.parse_args(arguments)
