"""The mistakes that `scripts/mutate` makes in the code: one small change of one place each.

The operators come from cosmic-ray, without those that nobody would type by accident. Two are our
own, because the library has none for tables: the next member of an enum, and two neighbouring rows,
values or arguments in the wrong order.
"""

from __future__ import annotations

import ast
import difflib
import random
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path("src/registrar")
_LIKELY = {
    "ReplaceComparisonOperator": "Eq_NotEq NotEq_Eq Lt_LtE LtE_Lt Gt_GtE GtE_Gt Is_IsNot IsNot_Is",
    "ReplaceBinaryOperator": "Add_Sub Sub_Add Mul_Div BitAnd_BitOr BitOr_BitAnd",
    "ReplaceUnaryOperator": "Delete_Not USub_UAdd",
}
_PLAIN = (
    *("AddNot", "ExceptionReplacer", "NumberReplacer", "RemoveDecorator", "ReplaceAndWithOr"),
    *("ReplaceOrWithAnd", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak"),
    *("ReplaceFalseWithTrue", "ReplaceTrueWithFalse", "ZeroIterationForLoop"),
)


@dataclass(frozen=True)
class Mistake:
    """A change of one place in a file of the program."""

    file: str
    """The path of the file from the root of the project."""
    function: str
    """Qualified name of the function or class around the place; empty for the module itself."""
    line: int
    """The first line that the change touches; the lines of a file begin with 1."""
    before: str
    after: str
    text: str
    """The whole file with the change."""

    @property
    def package(self) -> str:
        """The folder below the program's own; the name of the file for a module beside them."""
        return Path(self.file).relative_to(SOURCES).parts[0].removesuffix(".py")


class NextMember(Operator):  # type: ignore[misc]
    """Takes the next member of an enum."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        """Yield the place of ``Name.MEMBER``, if `Name` is an enum of the program."""
        if node.type in {"atom_expr", "power"} and _next_member(node):
            yield (node.start_pos, node.end_pos)

    def mutate(self, node: Any, _index: int) -> Any:
        """Return the node with the next member in place of the one that it has."""
        node.children[1].children[1].value = _next_member(node)
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        """Return no examples; the library shows them in its own documents."""
        return ()


class NeighbouringRows(Operator):  # type: ignore[misc]
    """Exchanges the values of two neighbouring keys, or two neighbouring rows of a table."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        """Yield the place of each value or row that has a neighbour behind it."""
        for first, _ in _neighbours(node):
            yield (node.children[first].start_pos, node.children[first].end_pos)

    def mutate(self, node: Any, index: int) -> Any:
        """Return the node with two of its children exchanged."""
        first, second = list(_neighbours(node))[index]
        one, other = node.children[first], node.children[second]
        one_prefix, other_prefix = (each.get_first_leaf().prefix for each in (one, other))
        one.get_first_leaf().prefix, other.get_first_leaf().prefix = other_prefix, one_prefix
        node.children[first], node.children[second] = other, one
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        """Return no examples; the library shows them in its own documents."""
        return ()


def _neighbours(node: Any) -> Iterator[tuple[int, int]]:
    """Yield the places, among the children, of two values or rows that can be exchanged."""
    if node.type == "dictorsetmaker":
        values = [i + 1 for i, each in enumerate(node.children) if _is(each, ":")]
    elif node.type in {"testlist_comp", "arglist"} and not any(_is(c, "*") for c in node.children):
        rows = {"atom", "atom_expr"}
        values = [i for i, each in enumerate(node.children) if each.type in rows]
        if len(values) * 2 not in range(len(node.children), len(node.children) + 2):
            return
    else:
        return
    for first, second in pairwise(values):
        if node.children[first].get_code().strip() != node.children[second].get_code().strip():
            yield first, second


def _is(node: Any, operator: str) -> bool:
    return bool(node.type == "operator" and node.value == operator)


@cache
def _enums() -> dict[str, list[str]]:
    """The members of each enum of the program, by its name."""
    found: dict[str, list[str]] = {}
    for file in (ROOT / SOURCES).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            bases = {getattr(b, "id", getattr(b, "attr", "")) for b in getattr(node, "bases", [])}
            if isinstance(node, ast.ClassDef) and bases & {"Enum", "StrEnum", "IntEnum"}:
                targets = [e.targets[0] for e in node.body if isinstance(e, ast.Assign)]
                found[node.name] = [t.id for t in targets if isinstance(t, ast.Name)]
    return found


def _next_member(node: Any) -> str | None:
    name, trailer, *_ = node.children
    match (name.type, *getattr(trailer, "children", ())):
        case ("name", dot, member) if _is(dot, "."):
            members = _enums().get(name.value, [])
        case _:
            return None
    if member.value not in members:
        return None
    following = members[(members.index(member.value) + 1) % len(members)]
    return following if following != member.value else None


@cache
def _operators() -> tuple[Operator, ...]:
    names = [f"{kind}_{each}" for kind, those in _LIKELY.items() for each in those.split()]
    of_library = [get_operator(f"core/{name}")() for name in (*_PLAIN, *names)]
    return (*of_library, NextMember(), NeighbouringRows())


def mistakes_in(file: str) -> dict[int, list[tuple[Operator, int]]]:
    """Return the places for mistakes in a file, by line: an operator, and its how-manieth place."""
    source = (ROOT / file).read_text("utf-8")
    nodes = list(ast_nodes(get_ast(source)))
    skipped = _not_run(source)
    found: dict[int, list[tuple[Operator, int]]] = {}
    for operator in _operators():
        places = [place for node in nodes for place in operator.mutation_positions(node)]
        for number, ((line, _), _end) in enumerate(places):
            if line not in skipped:
                found.setdefault(line, []).append((operator, number))
    return found


def make(file: str, operator: Operator, number: int) -> Mistake | None:
    """Make one of the mistakes of `mistakes_in`; ``None`` if it changes only types."""
    source = (ROOT / file).read_text("utf-8")
    text = mutate_code(source, operator, number)
    if text is None or _without_types(text) == _without_types(source):
        return None
    old, new = source.splitlines(), text.splitlines()
    changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    touched = [each for each in changes if each[0] != "equal"]
    first, last = touched[0], touched[-1]
    before = "\n".join(old[first[1] : last[2]])
    after = "\n".join(new[first[3] : last[4]])
    return Mistake(file, function_at(source, first[1] + 1), first[1] + 1, before, after, text)


def sample(
    files: Iterable[str],
    size: int,
    rng: random.Random,
    only: Mapping[str, Container[int]] | None = None,
) -> list[Mistake]:
    """Return so many mistakes in these files, at most one for each line, drawn by lot.

    ``only`` has the lines to draw from, by file; ``None`` means all lines.
    """
    places = {file: mistakes_in(file) for file in sorted(files)}
    lines = [
        (file, line)
        for file, found in places.items()
        for line in sorted(found)
        if only is None or line in only[file]
    ]
    rng.shuffle(lines)
    drawn: list[Mistake] = []
    for file, line in lines:
        if len(drawn) == size:
            break
        if mistake := make(file, *rng.choice(places[file][line])):
            drawn.append(mistake)
    return drawn


def again(kept: dict[str, str], rng: random.Random) -> tuple[Mistake | None, bool]:
    """Return a mistake that was kept, and whether it is the same one.

    If its text is gone, it is another one from the same function, from the same file, or from the
    same folder, whichever there is first.
    """
    path = ROOT / kept["file"]
    if path.exists():
        source = path.read_text("utf-8")
        line = _line_of(source, kept["function"], kept["before"])
        if line is not None:
            size = len(kept["before"].splitlines())
            lines = source.splitlines()
            lines[line - 1 : line - 1 + size] = kept["after"].splitlines()
            text = "\n".join(lines) + "\n"
            return Mistake(**_of(kept), line=line, text=text), True
    files = [kept["file"]] if path.exists() else _beside(kept["file"])
    drawn = sample(files, 10_000, rng)
    own = [each for each in drawn if each.function == kept["function"]]
    return next(iter([*own, *drawn]), None), False


def _of(kept: dict[str, str]) -> Any:
    return {name: kept[name] for name in ("file", "function", "before", "after")}


def _beside(file: str) -> list[str]:
    folder = (ROOT / file).parent
    return [str(each.relative_to(ROOT)) for each in folder.glob("*.py")]


def _line_of(source: str, function: str, before: str) -> int | None:
    """Return the line at which a text stands in a function; ``None`` if it does not."""
    lines, wanted = source.splitlines(), before.splitlines()
    for number in range(1, len(lines) - len(wanted) + 2):
        is_here = lines[number - 1 : number - 1 + len(wanted)] == wanted
        if is_here and function_at(source, number) == function:
            return number
    return None


def function_at(source: str, line: int) -> str:
    """Return the qualified name of the innermost function or class around a line."""
    names: list[str] = []
    node: Any = ast.parse(source)
    while node := next((each for each in _scopes(node) if _spans(each, line)), None):
        names.append(node.name)
    return ".".join(names)


def _scopes(node: ast.AST) -> Iterator[Any]:
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield each
        else:
            yield from _scopes(each)


def _spans(node: Any, line: int) -> bool:
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return bool(first <= line <= node.end_lineno)


def _not_run(source: str) -> set[int]:
    """Return the lines of imports, docstrings and blocks for the type checker."""
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if is_import or is_text or is_for_types:
            skipped |= {*range(node.lineno, node.end_lineno + 1)}  # type: ignore[attr-defined]
    return skipped


class _TypesAway(ast.NodeTransformer):
    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        # How an argument may be given is a matter of mypy
        self.generic_visit(node)
        node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
        node.posonlyargs, node.kwonlyargs = [], []
        node.defaults, node.kw_defaults = [*node.defaults, *filter(None, node.kw_defaults)], []
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        node.annotation = ast.Constant(None)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        return node


def _without_types(source: str) -> str:
    try:
        return ast.dump(_TypesAway().visit(ast.parse(source)))
    except SyntaxError:
        # Python cannot run this text, so nobody would commit the change
        return ""


def names_of(paths: Sequence[str]) -> list[str]:
    """Return the modules of the program below these paths."""
    found: list[str] = []
    for path in paths or [str(SOURCES)]:
        whole = ROOT / path
        files = [whole] if whole.is_file() else whole.rglob("*.py")
        found += [str(each.relative_to(ROOT)) for each in files]
    return sorted(found)
