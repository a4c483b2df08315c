"""Fields of classes and parameters of functions: a value that needs more is two ideas."""

import ast
from collections.abc import Iterator

from tests.checkout import ROOT

MOST_FIELDS, MOST_PARAMETERS = 12, 6

KNOWN_LARGER = {
    "report_file.py": "a class is an object of report.json, its fields are keys that people read",
    "tools/sweep/combination_results.py:Result": "a row of results.csv: a field is a column",
    "tools/lab/results.py:JobResult": "a row of lab.json: a field is a key that people read",
    "program/search_options.py:SearchOptions": "a field is a flag, a variable and a key of codegen.toml",
    "driver/options.py:Options": "a field is a flag, a variable and a key of codegen.toml",
    "ir/hardware.py:Board": "a field is a key of a board's file",
    "kernels/primfunc.py:PrimFunc": "all that is true of one bound call; every kernel and stage reads it",
    "api/calls.py:run": "a parameter is a keyword that programs write",
    "importers/tflite/writing/writer.py:tensor": "a parameter is a field of the file format's Tensor table",
    "verbs": "a parameter of a click command is an argument or flag of the command line",
}
"""Module, or module and name, with the reason. `verbs`: functions that are click commands."""


def _fields(node: ast.ClassDef) -> int:
    """Fields that a dataclass declares, without those of its bases."""
    declared = (each for each in node.body if isinstance(each, ast.AnnAssign))
    return sum("ClassVar" not in ast.unparse(each.annotation) for each in declared)


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Parameters without `self` and `cls`; `*args` and `**options` count as one each."""
    args = node.args
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    variadic = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return len(names) - (names[:1] in (["self"], ["cls"])) + len(variadic)


def _is_verb(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(".command" in ast.unparse(decorator) for decorator in node.decorator_list)


def larger(tree: ast.Module, module: str) -> Iterator[str]:
    """The entry of the list that each larger class or function of a module needs."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) if _fields(node) > MOST_FIELDS:
                pass
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if (
                _parameters(node) > MOST_PARAMETERS
            ):
                name = "verbs" if _is_verb(node) else name
            case _:
                continue
        if name == "verbs" or module in KNOWN_LARGER:
            yield name if name == "verbs" else module
        else:
            yield f"{module}:{name}"


def test_classes_have_few_fields_and_functions_few_parameters() -> None:
    package = ROOT / "codegen"
    needed = {
        entry
        for path in package.rglob("*.py")
        for entry in larger(ast.parse(path.read_text("utf-8")), path.relative_to(package).as_posix())
    }
    assert needed == {*KNOWN_LARGER}
    assert len(KNOWN_LARGER) <= 10


def test_what_is_counted() -> None:
    fields = "".join(f"    f{number}: int = 0\n" for number in range(MOST_FIELDS + 1))
    many = ", ".join(f"p{number}" for number in range(MOST_PARAMETERS))
    code = f"class A:\n    k: ClassVar[int] = 1\n{fields}\n    def m(self, {many}): ...\n"
    code += f"def f({many}, **options): ...\n@click.command()\ndef v({many}, one_more): ...\n"
    assert sorted(larger(ast.parse(code), "m.py")) == ["m.py:A", "m.py:f", "verbs"]
