"""An autofixer for all-repos: adds the listed files that a repository lacks.

Run by the Python that all-repos is installed for; LIST names the definition file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from all_repos import autofix_lib
from all_repos.find_files import ls_files


def listed() -> dict[str, str]:
    """Contents by path."""
    entries = json.loads(Path(os.environ["LIST"]).read_text("utf-8"))
    return {entry["path"]: entry.get("content", "\n") for entry in entries}


def find_repos(config: Any) -> Iterable[str]:
    """Give the clones that lack a file."""
    for name in config.get_cloned_repos():
        path, present = ls_files(config, name)
        if listed().keys() - {each.decode() for each in present}:
            yield path


def apply_fix() -> None:
    """Add what is missing to the clone in the working directory."""
    missing = {path: text for path, text in listed().items() if not Path(path).exists()}
    for path, text in missing.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, "utf-8")
    subprocess.run(["git", "add", "--force", *missing], check=True)  # noqa: S603, S607


def main() -> None:
    """Do as the autofixers of all-repos do."""
    parser = argparse.ArgumentParser()
    autofix_lib.add_fixer_args(parser)
    repos, config, commit, settings = autofix_lib.from_cli(
        parser.parse_args(),
        find_repos=find_repos,
        msg="chore: add scaffold files",
        branch_name="add-scaffold-files",
    )
    autofix_lib.fix(
        repos, apply_fix=apply_fix, config=config, commit=commit, autofix_settings=settings
    )


if __name__ == "__main__":
    main()
