"""Imports point one way, and other packages import only the documented parts (docs/design.md)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from registrar.inputs.interface import INPUTS
from registrar.models.run_result import RunResult
from registrar.reporting.report import outputs
from tests.documents import ACTION, table
from tests.harness import ROOT, clean_environment

SOURCE = ROOT / "src" / "registrar"
FILES = sorted(SOURCE.rglob("*.py"))
LAYERS = [
    tuple(re.findall(r"`(\w+)/?`", modules))
    for modules, *_ in table(ROOT / "docs/design.md", "Modules")
]
"""A module imports from its own package and from layers below its own."""
CORE = (
    "models.task",
    "models.run_result",
    "presence.tasks",
    "presence.alternatives",
    "lists.syntax",
    "lists.constraints",
    "reporting.summary",
    "rendering.description",
    "reporting.report",
)


def name_of(file: Path) -> str:
    """Return the name of a module without ``registrar.``: ``registration.per_file``."""
    return ".".join(file.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


@cache
def parsed(file: Path) -> ast.Module:
    """Return the syntax of a module."""
    return ast.parse(file.read_text("utf-8"))


@cache
def imported(file: Path) -> set[str]:
    """Return the full names of all modules that a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


NAMES = {name_of(file): file for file in FILES}


@cache
def graph() -> Mapping[str, set[str]]:
    """Return the modules of ours that each one imports."""
    return {
        name: {module.removeprefix("registrar.") for module in imported(file)} & NAMES.keys()
        for name, file in NAMES.items()
    }


def reached(start: str) -> set[str]:
    """Return the modules of ours that are imported with ``start``, and ``start`` itself."""
    found, waiting = set[str](), [start]
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += graph()[name]
    return found


def test_imports_point_down() -> None:
    layer = {name: level for level, names in enumerate(LAYERS) for name in names}
    upwards = [
        (importer, imported_module)
        for importer, others in graph().items()
        for imported_module in others
        if (own := importer.split(".")[0]) != (other := imported_module.split(".")[0])
        and layer[own] >= layer[other]
    ]
    assert upwards == []


def test_others_import_from_a_package_what_it_has_for_them() -> None:
    faces = {
        package: set(re.findall(r"`(\w+)`", docstring.partition("For others: ")[2]))
        for package, file in NAMES.items()
        if file.name == "__init__.py"
        and "For others: " in (docstring := ast.get_docstring(parsed(file)) or "")
    }
    used: dict[str, set[str]] = {package: set() for package in faces}
    for importer, others in graph().items():
        for package, _, module in (other.partition(".") for other in others):
            if module and package in faces and importer.partition(".")[0] != package:
                used[package].add(module)
    assert used == faces


def test_no_modules_import_each_other() -> None:
    assert len(graph()) > 15
    circles = [(one, other) for one in graph() for other in graph()[one] if one in reached(other)]
    assert circles == []


def test_other_packages_import_from_the_face_of_github_alone() -> None:
    docstring = ast.get_docstring(parsed(NAMES["github"])) or ""
    _, _, face = docstring.partition("Other packages import from")
    imported_elsewhere = {
        other
        for importer, others in graph().items()
        for other in others
        if other.startswith("github.") and not importer.startswith("github")
    }
    assert imported_elsewhere == {f"github.{name}" for name in re.findall(r"`(\w+)`", face)}


def test_everything_is_reached_from_the_entry_point_and_nothing_imports_what_it_opens() -> None:
    packages = {name_of(f) for f in FILES if f.name == "__init__.py"}
    opened = {
        own
        for module in imported(ROOT / "entrypoint.py")
        if (own := module.removeprefix("registrar.")) in graph()
    }
    assert opened == {"__main__"}
    assert graph()["__main__"] == {"main", "runtime.cancellation"}
    assert set(graph()) - reached("__main__") <= packages
    assert [name for name, others in graph().items() if "__main__" in others] == []
    assert [name for name, others in graph().items() if "main" in others] == ["__main__"]


@pytest.mark.parametrize(
    ("library", "modules"),
    [
        (
            "github",
            [
                "execution",
                "github.bulk",
                "github.graphql",
                "github.parse",
                "github.rest",
                "github.session",
                "github.transport",
            ],
        ),
        ("requests", ["github.transport"]),
        ("urllib3", ["github.transport"]),
    ],
)
def test_no_other_module_imports_the_library(library: str, modules: list[str]) -> None:
    importers = [
        name_of(file)
        for file in FILES
        if any(module.partition(".")[0] == library for module in imported(file))
    ]
    assert importers == modules


@pytest.mark.parametrize("module", CORE)
def test_the_core_knows_neither_github_nor_the_system(module: str) -> None:
    for name in reached(module):
        file = SOURCE / f"{name.replace('.', '/')}.py"
        if file.exists():
            roots = {each.partition(".")[0] for each in imported(file)}
            assert not roots & {"github", "requests", "os", "subprocess", "socket"}, name


def test_nothing_is_decided_by_the_key_of_a_message() -> None:
    """In ``lists`` an attribute called ``key`` belongs to an error, before there is a message."""
    readers = {
        name
        for name, file in NAMES.items()
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.Attribute) and node.attr == "key"
    }
    assert {name for name in readers if not name.startswith("lists.")} == {
        "reporting.reporter",
        "texts.messages",
    }


def test_only_a_plan_says_what_a_list_needs() -> None:
    """Everybody else gets the need of a plan, and passes it on."""
    made = set[str]()
    for name, file in NAMES.items():
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.FunctionDef) and node.returns and node.args.args:
                returns = re.search(r"\bNeed\b", ast.unparse(node.returns))
                if returns and [each.arg for each in node.args.args] != ["self"]:
                    made.add(f"{name}.{node.name}")
            if isinstance(node, ast.keyword) and node.arg == "need":
                is_passed_on = isinstance(node.value, ast.Attribute) and node.value.attr == "need"
                made |= set() if is_passed_on else {f"{name}: need={ast.unparse(node.value)}"}
    # The second one returns numbers of requests by their need
    assert made == {
        "registration.need.need_of",
        "registration.planning: need=need_of(task.spec, plan)",
        "many.writing.writes_of",
    }


def test_every_input_is_read() -> None:
    files = NAMES["inputs.reader"], NAMES["inputs.environment"]
    nodes = (node for file in files for node in ast.walk(parsed(file)))
    read = {node.value for node in nodes if isinstance(node, ast.Constant)}
    assert [each for each in INPUTS if each not in read] == [], "src/registrar/inputs/reader.py"


def test_bad_input_is_reported_without_importing_pygithub() -> None:
    """The import of PyGithub takes most of the start-up time."""
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r})\n"
        "import registrar.main\n"
        "sys.exit(bool({'github', 'requests', 'registrar.registration.run'} & sys.modules.keys()))"
    )
    command = [sys.executable, "-I", "-c", program]
    assert subprocess.run(command, env=clean_environment(), check=False).returncode == 0


def test_the_outputs_of_the_action_are_those_that_are_written() -> None:
    assert set(ACTION["outputs"]) == set(outputs(RunResult(), "", {}))


@pytest.mark.parametrize("kind", ["inputs", "outputs"])
def test_everything_in_the_action_is_described(kind: str) -> None:
    for name, each in ACTION[kind].items():
        assert each["description"].strip(), name
        assert name.islower()
        assert "-" not in name, "the shell drops variables with a hyphen"
