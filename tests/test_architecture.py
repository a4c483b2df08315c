"""Rules of the code base that no tool checks for us."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.checkout import ROOT

HARD_LIMIT_LINES = 400

SAME_MEANING = {
    "Channels": "output channels with their weights, as one instruction set's kernels read them",
    "Dot": "a dot of a scatter chart",
    "Line": "one axis of an image, in two ways of sampling it",
    "Site": "an operator of the file while it is translated",
    "_Depthwise": "DEPTHWISE_CONV_2D as a kernel sees it",
}
"""Classes that several modules have, and what each of them means."""


FAMILIES = re.compile(
    r"ir/ops/|kernels/\w+/|targets/\w+/|importers/(tflite/operators|onnx/(composed|integer))/"
)
"""Modules that are called after families of operators, and those that every core family has."""

SAME_MODULES = {
    "base": "what operators share, and what kernels share",
    "blocks": "steps that run together row by row: their search, their C",
    "boards": "boards: their descriptions, their verbs",
    "chart_axes": "axes of charts, in two kinds of picture",
    "constants": "linked constants: their choice and layout, their place in a program",
    "file": "the file of an importer",
    "host": "this machine: its core family, and code that is called in process",
    "kernels": "kernels, and their choice",
    "matrices": "products of matrices: their import, their kernels",
    "ranged": "one thing for all sizes of a range: a function, a program",
    "model_format": "a format of model files: its kind, and what the folder of each states",
    "pytest_plugin": "what pytest loads: of all tools, of one",
    "reader": "the reader of an importer's file",
    "sizes": "open sizes of a model: as text, in the search",
    "tools": "tools around the core, and tools that write flash memory",
    "steps": "steps of a function: of one operator of a file, and of all in order",
}
"""Modules and rooms that several rooms have, and what each of them is about."""


def _tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout: the list of files is unknown")
    names = [name for name in listed.stdout.decode().split("\0") if name]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def test_no_module_is_longer_than_400_lines() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in _tracked()
        if path.suffix == ".py" and (lines := len(path.read_text().splitlines())) > HARD_LIMIT_LINES
    }
    assert not long


def _package() -> list[Path]:
    return [path for path in _tracked() if path.suffix == ".py" and path.is_relative_to(ROOT / "codegen")]


def test_a_class_name_means_one_thing() -> None:
    """An operator and its kernels have one name, and so have a thing and what report.json says of it."""
    places: dict[str, list[str]] = {}
    for path in _package():
        module = path.relative_to(ROOT / "codegen").as_posix()
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and module not in ("report_file.py", "report_product.py"):
                places.setdefault(node.name, []).append(module)
    assert {name for name, modules in places.items() if not _is_one_thing(modules)} == {*SAME_MEANING}


def _is_one_thing(modules: list[str]) -> bool:
    operators = [module for module in modules if module.startswith("ir/ops/")]
    kernels = [module for module in modules if module.startswith("kernels/")]
    return len(modules) == 1 or (bool(operators) and len(operators + kernels) == len(modules))


def test_a_module_name_means_one_thing() -> None:
    """Rooms too. What imports, defines and runs a family of operators has its name; kernels of each
    instruction set have the same modules. The module that its room is called after has the room's name."""
    places: dict[str, set[str]] = {}
    for path in _package():
        parts = path.relative_to(ROOT / "codegen").with_suffix("").parts
        parts = parts[:-1] if parts[-1].startswith("__") else parts
        stage = "/".join(parts)
        if FAMILIES.match(stage):
            stage = "operator"
        elif parts[-2:-1] == parts[-1:]:
            stage = "/".join(parts[:-1])
        places.setdefault("".join(parts[-1:]), set()).add(stage)
    assert {name for name, stages in places.items() if len(stages) > 1} == {*SAME_MODULES}


def test_nothing_names_a_machine_or_a_registry() -> None:
    """Paths of one machine and package hosts make a checkout work in one place only."""
    words = re.compile(
        "|".join(
            [
                r"/wo" + r"rk/",
                r"/ro" + r"ot/",
                r"pypi\." + "org",
                r"pythonhosted\." + "org",
                r"/tm" + r"p/w\b",
            ]
        )
    )
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in _tracked()
        if path.suffix not in {".npz", ".tflite", ".png"}
        and (match := words.search(path.read_text(errors="replace")))
    ]
    assert not found


def test_no_merge_left_its_marks() -> None:
    """A page of the docs was on main with both sides of a conflict, and every test passed."""
    marks = re.compile(r"^(<<<<<<<|>>>>>>>) \S", re.MULTILINE)
    paths = [path for path in _tracked() if path.suffix not in {".npz", ".tflite", ".png"}]
    assert not [str(path) for path in paths if marks.search(path.read_text(errors="replace"))]


def test_only_tests_of_the_public_networks_read_them() -> None:
    """In a clone with nothing beside it 436 tests failed and 89 could not even be collected: they read the
    index of the public networks, some at import."""
    words = ("tests.public", "CODEGEN_TESTDATA", "shared/testdata", "../shared")
    readers = {
        str(path.relative_to(ROOT)): word
        for path in _tracked()
        if path.suffix == ".py" and path.is_relative_to(ROOT / "tests") and path != Path(__file__)
        if not path.is_relative_to(ROOT / "tests" / "public")
        for word in words
        if word in path.read_text(encoding="utf-8")
    }
    assert not readers


def test_runtime_c_allocates_nothing() -> None:
    calls = re.compile(r"\b(malloc|calloc|realloc|free|alloca|printf|sprintf)\s*\(")
    product = list((ROOT / "runtime_c" / "kernels").rglob("*.[chS]"))
    assert product
    assert not [path.name for path in product if calls.search(path.read_text())]


def test_the_core_needs_what_it_declares_and_nothing_of_the_extras() -> None:
    """Pages, labs, sweeps, packages: what is heavy is an extra, imported by name where it is asked for."""
    own = {"pyelftools": "elftools", "pyserial": "serial"}
    declared = {own.get(name, name) for name in _distributions("dependencies")}
    beside = {
        "codegen/pages/html_templates.py": {"markupsafe"},  # jinja2 brings it
        "codegen/tools/lab/pytest_plugin.py": {"pytest"},  # only pytest imports the plugin
    }
    found: set[str] = set()
    for path in (ROOT / "codegen").rglob("*.py"):
        imported = _imported(path) - set(sys.stdlib_module_names) - {"codegen"}
        found |= imported - beside.get(path.relative_to(ROOT).as_posix(), set())
    assert found == declared


def _distributions(key: str) -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {re.split(r"[^\w-]", each)[0] for each in project[key]}


def _imported(path: Path) -> set[str]:
    """Packages of its import statements, those inside functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found
