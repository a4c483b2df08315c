"""Rules of the code base that no tool checks for us."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.checkout import ROOT

HARD_LIMIT_LINES = 400


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


def test_runtime_c_allocates_nothing() -> None:
    calls = re.compile(r"\b(malloc|calloc|realloc|free|alloca|printf|sprintf)\s*\(")
    product = list((ROOT / "runtime_c" / "kernels").rglob("*.[chS]"))
    assert product
    assert not [path.name for path in product if calls.search(path.read_text())]
