"""How notes begin and what variables are called, counted: both counts may only fall."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from tests.checkout import ROOT

MOST_RIDDLES = 0
"""Notes of `codegen/` that begin with a word that hides their subject. Lower it when a room is rewritten."""
MOST_FILLERS = 1
"""Names bound in `codegen/` that say nothing of their value."""

CLEAN = (
    "api",
    "board",
    "cli",
    "command",
    "constants",
    "draw",
    "driver",
    "emit",
    "engines",
    "importers",
    "ir",
    "kernels",
    "lifetimes",
    "passes",
    "plan",
    "problem",
    "program",
    "targets",
    "toolchain",
    "tools",
    *(f"search/{room}" for room in ("devices", "kernels", "ranges", "steps")),
    *(f"{name}.py" for name in ("disk", "documents", "errors", "progress", "resources", "settings", "toml")),
)
"""Rooms and modules of `codegen/` without one such note."""

_RIDDLE = re.compile(r"(What|Of|Where|As|See|Those|The same|Whether)\b")
_RIDDLE_OF_C = re.compile(r"(?:/\*|@)[ \n*]+(?:What|Of|Where|As|See|Those|The same|Whether)\b.*")
_FILLERS = {"found", "each", "own", "theirs", "wanted", "given"}


def notes(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Docstrings, and notes below fields and constants, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                match statement:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        yield statement.lineno, text
                    case _:
                        pass


def bound_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Names of variables, parameters, functions, classes, fields and captures, with their lines."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case (
                ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.ExceptHandler(name=str(name))
            ):
                yield node.lineno, name
            case _:
                pass


def methods(node: ast.ClassDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    yield from ((child.name, child) for child in node.body if isinstance(child, ast.FunctionDef))


def is_explained(name: str, node: ast.ClassDef, classes: dict[str, list[ast.ClassDef]]) -> bool:
    """True if method `name` of the class has a note, or a base's method or field of that name has."""
    fields = {
        child.target.id: following
        for child, following in pairwise(node.body)
        if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name)
    }
    match fields.get(name), dict(methods(node)).get(name):
        case ast.Expr(value=ast.Constant(value=str())), _:
            return True
        case _, ast.FunctionDef() as method if ast.get_docstring(method):
            return True
        case _:
            names = [ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases]
            return any(
                is_explained(name, base, classes)
                for base_name in names
                for base in classes.get(base_name, ())
            )


def unexplained(trees: dict[str, ast.Module]) -> list[str]:
    """Public methods without a note of their own or a base's: class and method."""
    classes: dict[str, list[ast.ClassDef]] = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(node)
    return [
        f"{path}: {node.name}.{name}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        for name, _ in methods(node)
        if not name.startswith("_") and not is_explained(name, node, classes)
    ]


def riddles(tree: ast.Module) -> list[str]:
    return [f"{line}: {text.splitlines()[0]}" for line, text in notes(tree) if _RIDDLE.match(text)]


def fillers(tree: ast.Module) -> list[str]:
    return [f"{line}: {name}" for line, name in bound_names(tree) if name in _FILLERS]


@cache
def trees() -> dict[str, ast.Module]:
    """All modules of codegen, by path; parsed by the process that asks, not wherever tests are collected."""
    package = ROOT / "codegen"
    paths = sorted(package.rglob("*.py"))
    return {
        path.relative_to(package).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths
    }


def test_no_more_notes_hide_their_subject() -> None:
    """ "Of a step: what it reads." is understood by nobody who lands there by a search."""
    counts = {path: len(riddles(tree)) for path, tree in trees().items()}
    assert sum(counts.values()) <= MOST_RIDDLES, {path: count for path, count in counts.items() if count}


def test_notes_of_c_name_their_subject() -> None:
    """ "The same." above a macro is a riddle in the folder that a user reads."""
    left = {
        f"{path.relative_to(ROOT)}: {match.group()}"
        for folder in ("runtime_c", "templates")
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".c", ".h", ".inc", ".S", ".j2")
        for match in _RIDDLE_OF_C.finditer(path.read_text(encoding="utf-8"))
    }
    assert left == set()


def test_no_more_names_say_nothing() -> None:
    counts = {path: len(fillers(tree)) for path, tree in trees().items()}
    assert sum(counts.values()) <= MOST_FILLERS, {path: count for path, count in counts.items() if count}


def test_rewritten_rooms_stay_so() -> None:
    for room in CLEAN:
        assert (ROOT / "codegen" / room).exists(), f"{room} has moved"
    left = {
        path: riddles(tree)
        for path, tree in trees().items()
        if any(Path(path).is_relative_to(room) for room in CLEAN)
    }
    assert {path: words for path, words in left.items() if words} == {}


def test_methods_without_notes_override_one_that_has() -> None:
    assert unexplained(trees()) == []


def test_a_note_of_a_base_is_enough() -> None:
    source = """
class Kernel:
    symbol: str
    'C function called.'
    def bind(self): 'Bind a call.'
class Conv(Kernel):
    def bind(self): ...
    def symbol(self): ...
    def reason(self): ...
class _Hidden:
    def reason(self): ...
"""
    assert unexplained({"conv.py": ast.parse(source)}) == ["conv.py: Conv.reason"]


def test_what_counts_is_seen() -> None:
    source = '''"""Where it begins."""
LIMIT = 3
"""Of what is left."""
class Found:
    """A step, and the plan it has."""
    given: int
    def each(self, own: int) -> None:
        """Whether it fits."""
        for wanted, plan in ():
            """As text in a body: no note."""
'''
    tree = ast.parse(source)
    assert sorted(riddles(tree)) == ["1: Where it begins.", "3: Of what is left.", "8: Whether it fits."]
    assert sorted(fillers(tree)) == ["6: given", "7: each", "7: own", "9: wanted"]
