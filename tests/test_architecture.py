"""Rules of the code base that no tool checks for us."""

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.checkout import ROOT

HARD_LIMIT_LINES = 400
MOST_MODULES = 12

SAME_MEANING = {
    "Dot": "a dot of a scatter chart",
    "Line": "one axis of an image, in two ways of sampling it",
    "Site": "an operator of the file while it is translated",
}
"""Classes that several modules have, and what each of them means."""

TWO_MEANINGS = frozenset(
    (
        "Column",
        "Function",
        "Group",
        "Image",
        "Inlined",
        "Kind",
        "Layout",
        "Lookup",
        "Pool",
        "Problem",
        "State",
        "Steps",
        "Sum",
        "Table",
        "Target",
        "Tile",
        "Tiling",
    )
)
"""Classes that are still called alike and are not: none comes to these."""


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


def test_no_room_has_more_than_twelve_modules() -> None:
    rooms = Counter(path.parent for path in _package() if not path.stem.startswith("__"))
    assert not {str(room.relative_to(ROOT)): count for room, count in rooms.items() if count > MOST_MODULES}


def test_a_class_name_means_one_thing() -> None:
    """An operator and its kernels have one name, and so have a thing and what report.json says of it. A class
    that begins with `_` is its module's own."""
    places: dict[str, set[str]] = {}
    for path in _package():
        stage = path.relative_to(ROOT / "codegen").as_posix()
        stage = "operator" if stage.startswith(("ir/ops/", "kernels/")) else stage
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and stage != "report_file.py":
                places.setdefault(node.name, set()).add(stage)
    assert {name for name, found in places.items() if len(found) > 1} <= {*SAME_MEANING, *TWO_MEANINGS}


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
