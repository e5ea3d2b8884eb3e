"""What a user of all-repos writes to add the files that its clones lack.

`python autofixer.py LIST OPTIONS`, with the interpreter for which all-repos is installed. The
options are those of all-repos.
"""

import argparse
import json
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from all_repos import autofix_lib


def lacking(paths: list[str], config: "autofix_lib.Config") -> Iterator[str]:
    """Give the clones that lack a file."""
    for name in config.get_cloned_repos():
        clone = Path(config.output_dir, name)
        if not all((clone / path).exists() for path in paths):
            yield str(clone)


def add(paths: list[str]) -> None:
    """Add them to the clone that is the working directory."""
    for path in map(Path, paths):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"\n")
    subprocess.run(["git", "add", "--all"], check=True)  # noqa: S607 (git of the path)


def main() -> None:
    """Let all-repos go through its clones."""
    parser = argparse.ArgumentParser()
    parser.add_argument("list", type=Path)
    autofix_lib.add_fixer_args(parser)
    given = parser.parse_args()
    paths = json.loads(given.list.read_text("utf-8"))
    repositories, config, commit, settings = autofix_lib.from_cli(
        given, find_repos=partial(lacking, paths), msg="chore: add files", branch_name="files"
    )
    autofix_lib.fix(
        repositories,
        apply_fix=partial(add, paths),
        config=config,
        commit=commit,
        autofix_settings=settings,
    )


if __name__ == "__main__":
    main()
