"""Tools around the core: each lies in folders of its own, and the rest works without it."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from codegen.cli.installed_tools import installed_tools
from codegen.cli.verb_table import VERBS
from tests.checkout import ROOT

TOOLS = sorted(path.parent.name for path in (ROOT / "codegen" / "tools").glob("*/__init__.py"))
FOLDERS = ("codegen/tools", "templates/tools", "tests/tools", "tests/public")
COPIED = (
    "codegen",
    "templates",
    "runtime_c",
    "boards",
    "examples",
    "tests",
    "docs/errors.md",
    "pyproject.toml",
)
QUICK = (
    "tests/cli/test_telling.py",
    "tests/test_template_cache.py",
    "tests/ir/test_operator_rules.py",
    "tests/cli/test_init.py",
)
"""Tests of the core that take seconds."""
_PROGRAM = """
import contextlib, importlib, io, json, pkgutil, sys
import codegen, pytest
from codegen.cli.main import main
from importlinter.cli import lint_imports

def printed(*words):
    with contextlib.redirect_stdout(io.StringIO()) as text, contextlib.suppress(SystemExit):
        main(words)
    return text.getvalue()

for module in pkgutil.walk_packages(codegen.__path__, "codegen."):
    if not module.name.endswith(("__main__", "pytest_plugin")):
        importlib.import_module(module.name)
with contextlib.redirect_stdout(io.StringIO()) as contracts:
    lint_imports(no_cache=True)
told = {
    "imported": codegen.__file__,
    "help": printed("--help"),
    "flags": printed("build", "--help"),
    "contracts": contracts.getvalue(),
    "tests": int(pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *sys.argv[1:]])),
}
print(json.dumps(told))
"""
"""All checks in one process: importing took most of each."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in COPIED:
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)  # with its bytecode: compiling all took half of each test
        else:
            shutil.copy(source, target)
    return tmp_path


def _output(folder: Path, *words: str) -> str:
    environment = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "tools",
    [
        pytest.param(TOOLS, id="all"),
        *(pytest.param([tool], id=tool, marks=pytest.mark.thorough) for tool in TOOLS),
    ],
)
def test_the_rest_works_without(tools: list[str], copy: Path) -> None:
    for folder in FOLDERS:
        for tool in tools:
            shutil.rmtree(copy / folder / tool, ignore_errors=True)
    modules = [f".{tool}." for tool in tools]
    gone = [
        each
        for each in installed_tools()
        if any(name in verb.module for name in modules for verb in each.verbs.values())
    ]
    assert len(gone) == len(tools)
    *said, told = _output(copy, sys.executable, "-c", _PROGRAM, *QUICK).splitlines()
    found = json.loads(told)
    assert found["imported"] == str(copy / "codegen" / "__init__.py")
    verbs = set(re.findall(r"^  (\w+) ", found["help"].partition("Commands:")[2], re.MULTILINE))
    assert verbs == set(VERBS) - {verb for each in gone for verb in each.verbs}
    assert all(
        (flag.flag in found["flags"]) == (each not in gone)
        for each in installed_tools()
        for flag in each.report_flags
    )
    assert "0 broken" in found["contracts"]
    assert found["tests"] == 0, said


def test_nothing_else_names_a_tool() -> None:
    """Tests and modules of one tool are needed by no other and not by the core."""
    pattern = re.compile(r"\b(?:codegen|tests)\.tools(?: import |\.)([a-z]+)\b")
    named = {
        f"{path.relative_to(ROOT)}: {name}"
        for root in ("codegen", "tests")
        for path in (ROOT / root).rglob("*.py")
        for name in pattern.findall(path.read_text(encoding="utf-8"))
        if name in TOOLS and name not in path.relative_to(ROOT).parts
    }
    assert named == set()


def test_tools_may_import_no_other_room() -> None:
    """The contract lists every room but the interface, so that a new room is on it too."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    [contract] = [each for each in contracts["contracts"] if each.get("source_modules") == ["codegen.tools"]]
    permitted = {"api", "report_file", "report_product", "tools", "late_imports", "pytest_plugin", "py"}
    rooms = {path.stem for path in (ROOT / "codegen").iterdir() if path.suffix == ".py" or path.is_dir()}
    rooms = {name for name in rooms if not name.startswith("_")} - permitted
    assert {name.removeprefix("codegen.") for name in contract["forbidden_modules"]} == rooms


@pytest.mark.parametrize("tool", installed_tools(), ids=lambda tool: " ".join(tool.verbs))
def test_pages_of_a_tool_are_there(tool: object) -> None:
    docs = getattr(tool, "docs", ())
    assert docs
    assert [page for page in docs if not (ROOT / "docs" / page).is_file()] == []
