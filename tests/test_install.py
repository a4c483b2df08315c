"""The name of the distribution, its extras, and what an older Python or another system is told."""

import ast
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from codegen import extras
from tests.checkout import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_TEXTS = {".py", ".md", ".toml", ".ipynb", ".txt", ".html", ".jinja", ".j2", ""}


def test_no_text_installs_what_is_called_codegen_in_registries() -> None:
    """`pip install 'codegen[quantize]'`, in five pages and four messages, installed another product."""
    registry_name = re.compile(r"pip3? install(?:[ \t]+-\S+)*[ \t]+[\"'`]*codegen(?![\w.-])")
    assert registry_name.search("pip install -U 'codegen[onnx]'")
    folders = ("benchmarks", "boards", "codegen", "docs", "examples", "runtime_c", "templates")
    texts = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in _TEXTS]
    texts = [*(path for path in texts if path.is_file()), *ROOT.glob("*.md"), ROOT / "Makefile"]
    assert len(texts) > 500
    installing = [path for path in texts if registry_name.search(path.read_text("utf-8", errors="replace"))]
    assert installing == []


def test_the_distribution_has_one_name() -> None:
    assert PROJECT["name"] == extras.DISTRIBUTION != "codegen"
    assert PROJECT["scripts"] == {"codegen": "codegen.cli:main"}


def test_requirements_are_those_that_are_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the installed metadata, and by pyproject.toml where codegen runs from a checkout."""
    declared = {(name, None) for name in PROJECT["dependencies"]}
    declared |= {(name, key) for key, names in PROJECT["optional-dependencies"].items() for name in names}
    monkeypatch.setattr(extras, "DISTRIBUTION", "no-distribution-has-this-name")
    assert set(extras.requirements()) == declared
    metadata = ["click>=8.1", "onnx>=1.17 ; extra == 'onnx'", 'pyright[nodejs]>=1.1; extra == "lint"']

    def requires(distribution: str) -> list[str]:
        return metadata if distribution == extras.DISTRIBUTION else []

    monkeypatch.setattr(extras.importlib.metadata, "requires", requires)
    assert extras.requirements() == [
        ("click>=8.1", None),
        ("onnx>=1.17", "onnx"),
        ("pyright[nodejs]>=1.1", "lint"),
    ]
    assert extras.install_extra("onnx") == f'{sys.executable} -m pip install "onnx>=1.17"'


def test_an_older_python_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.10 ended in a traceback of a module deep inside."""
    text = (ROOT / "codegen" / "__init__.py").read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 7))  # else Python 3.7 shows a SyntaxError instead
    monkeypatch.setattr(sys, "version_info", (3, 10, 12, "final", 0))
    problem = f"codegen needs Python 3.11 or newer; {sys.executable} is Python 3.10"
    with pytest.raises(ImportError) as caught:
        runpy.run_path(str(ROOT / "codegen" / "__init__.py"))
    assert str(caught.value) == problem
    monkeypatch.undo()
    code = (
        "import runpy, sys; sys.version_info = (3, 10, 12, 'final', 0); sys.argv = ['-m', 'boards'];"
        "runpy.run_module('codegen', run_name='__main__')"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (5, "", f"{problem}\n")


def test_windows_is_sent_to_wsl(monkeypatch: pytest.MonkeyPatch) -> None:
    """File locks and process groups are POSIX's here: `import fcntl` ended in a traceback."""
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ImportError, match="on Windows run it in WSL"):
        runpy.run_path(str(ROOT / "codegen" / "__init__.py"))


def test_make_says_it_before_it_installs_anything(tmp_path: Path) -> None:
    """`make demo` with Python 3.10 printed a conflict of pip's resolver."""
    older = tmp_path / "python3.10"
    patched = 'import sys; sys.version_info = (3, 10, 12, "final", 0); exec(sys.argv.pop(2))'
    older.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{patched}' \"$@\"\n")
    older.chmod(0o755)
    for target in ("demo", "test", "docs"):
        words = ["make", target, f"PYTHON={older}", f"VENV={tmp_path / 'venv'}"]
        ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        assert ran.returncode == 2
        assert f"codegen needs Python 3.11 or newer; {older} is Python 3.10" in ran.stderr
        assert "installing" not in ran.stdout
        assert not (tmp_path / "venv").exists()
