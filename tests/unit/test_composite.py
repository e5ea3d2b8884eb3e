"""The action for runners without Docker: its file, and what it says where something is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from scripts.lib.composite import SOURCE, TARGET, composite

ACTION, COMPOSITE = (yaml.safe_load(file.read_text("utf-8")) for file in (SOURCE, TARGET))
[STEP] = COMPOSITE["runs"]["steps"]


def test_it_has_the_inputs_and_outputs_of_the_action() -> None:
    assert COMPOSITE["inputs"] == ACTION["inputs"], "run scripts/composite"
    values = {
        name: {**each, "value": f"${{{{ steps.{STEP['id']}.outputs.{name} }}}}"}
        for name, each in ACTION["outputs"].items()
    }
    assert COMPOSITE["outputs"] == values, "run scripts/composite"


def test_the_script_writes_the_file_as_it_is() -> None:
    text = TARGET.read_text("utf-8")
    assert composite(SOURCE.read_text("utf-8"), text) == text


def test_a_new_input_and_a_new_output_are_taken_over() -> None:
    more = "  new: {}\n\noutputs:\n  made:\n    description: It\n"
    source = SOURCE.read_text("utf-8").replace("\noutputs:\n", more)
    written: dict[str, Any] = yaml.safe_load(composite(source, TARGET.read_text("utf-8")))
    assert "new" in written["inputs"]
    assert written["outputs"]["made"]["value"] == "${{ steps.registrar.outputs.made }}"


def start(path: Path, **env: str) -> tuple[int, str]:
    """Run the step with only these programs; its exit code and what it said."""
    given = {"PATH": str(path), "GITHUB_ACTION_PATH": str(TARGET.parent), "REGISTRAR_INPUTS": "{}"}
    ended = subprocess.run(
        ["/bin/sh", "-e", "-c", STEP["run"]],
        env=given | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout


def python3(path: Path, code: str) -> None:
    """Put an interpreter there that runs some code first."""
    program = path / "python3"
    first = f"import runpy, sys; {code}; runpy.run_path(sys.argv[2], run_name='__main__')"
    program.write_text(f"""#!/bin/sh\nexec {sys.executable} -I -c "{first}" "$@"\n""")
    program.chmod(0o755)


def test_without_python_it_says_so(tmp_path: Path) -> None:
    code, said = start(tmp_path)
    assert code == 2
    assert said.startswith("::error::Python 3.11 以上が必要です")
    assert said.endswith("Python 3.11 or newer is needed: use actions/setup-python before.\n")


def test_an_older_python_is_refused(tmp_path: Path) -> None:
    python3(tmp_path, "sys.version_info = (3, 9, 18)")
    code, said = start(tmp_path)
    assert code == 2
    assert "Python 3.11 or newer is needed, and this is 3.9: use actions/setup-python" in said
