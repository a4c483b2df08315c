"""The name of the distribution, its extras, the lock file, and what an older Python is told."""

import ast
import re
import runpy
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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
    declared_there = ["click>=8.1", "onnx>=1.17 ; extra == 'onnx'", 'pyright[nodejs]>=1.1; extra == "lint"']

    def requires(distribution: str) -> list[str]:
        return declared_there if distribution == extras.DISTRIBUTION else []

    monkeypatch.setattr(metadata, "requires", requires)
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


# ---- the lock file ------------------------------------------------------------------------

_ENTRY = re.compile(
    r"^# (.+)\n([\w.-]+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)
LOCK = (ROOT / "develop.lock").read_text(encoding="utf-8")
ENTRIES = [
    (canonicalize_name(name), version, groups.split()) for groups, name, version, _ in _ENTRY.findall(LOCK)
]
GROUPS = {"demo": [], "test": ["test"], "lint": ["test", "lint"], "docs": ["docs"]}


def _versions(group: str) -> dict[str, str]:
    return {name: version for name, version, groups in ENTRIES if group in groups}


def test_all_of_the_lock_is_packages_with_hashes() -> None:
    """A line that pip reads in another way would switch its check of hashes off, or take another index."""
    comments = "".join(line for line in LOCK.splitlines(keepends=True)[:4] if line.startswith("#"))
    assert comments + "".join(match[0] for match in _ENTRY.finditer(LOCK)) == LOCK
    assert len(ENTRIES) == LOCK.count("==") > 100


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_is_complete(group: str) -> None:
    """pip installs it without looking for what else is needed: all that is declared, by pyproject.toml and by
    each package of the group that is installed here, is in the group, in a version that will do."""
    requirements = [
        *PROJECT["dependencies"],
        *(line for key in GROUPS[group] for line in PROJECT["optional-dependencies"][key]),
    ]
    versions, looked_at = _versions(group), 0
    for name in versions:
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        looked_at += 1
        for python in ("3.11", "3.12", "3.13", "3.14"):
            environment = {"extra": "", "python_version": python, "python_full_version": f"{python}.2"}
            parsed = map(Requirement, needs)
            requirements += [
                str(need) for need in parsed if need.marker is None or need.marker.evaluate(environment)
            ]
    for requirement in map(Requirement, set(requirements)):
        name = canonicalize_name(requirement.name)
        assert name in versions, requirement
        assert requirement.specifier.contains(versions[name], prereleases=True), requirement
    assert looked_at > len(versions) / 2 or group == "docs"


def test_what_builds_is_in_the_lock() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert {*(Requirement(line).name for line in build), "editables", "setuptools"} <= set(_versions("build"))


def test_the_makefile_installs_by_hashes_alone(tmp_path: Path) -> None:
    """Nothing reaches pip but requirements of the lock with their hashes, and the checkout by itself."""
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "pip").write_text(
        '#!/bin/sh\necho "$@" >> "$0.calls"\nfor word; do :; done\ncat "$word" >> "$0.read" 2>&-; :\n'
    )
    (venv / "bin" / "pip").chmod(0o755)
    words = ["make", "-o", "tools-demo", "-o", "tools-test", str(venv / ".lint"), f"VENV={venv}"]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    calls = [line.split() for line in (venv / "bin" / "pip.calls").read_text().splitlines()]
    assert len(calls) == 4
    for call in calls:
        assert call[0] == "install" and "--no-deps" in call and "--no-build-isolation" in call
        assert "--require-hashes" in call or call[-2:] == ["-e", "."]
    read = _ENTRY.findall((venv / "bin" / "pip.read").read_text())
    assert {canonicalize_name(name) for _, name, _, _ in read} == {*_versions("lint"), *_versions("build")}
    assert read[-1][1] == "pyserial" and "last" in read[-1][0]
