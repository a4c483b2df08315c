"""The worked examples of CONTRIBUTING.md, done to a copy of the checkout, where they must work."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked
from tests.checkout import ROOT

OPERATOR = ROOT / "docs" / "examples" / "new_operator.patch"
ATTRIBUTES = ROOT / "docs" / "examples" / "new_operator_with_attributes.patch"
FLAG = ROOT / "docs" / "examples" / "new_flag.patch"
COPIED = ("codegen", "runtime_c", "templates", "boards", "benchmarks", "tests", "pyproject.toml", "LICENSE")

CHECK = """
import numpy as np
import codegen
from codegen.importers.tflite.writing.writer import ModelBuilder

model, shape = ModelBuilder(), (1, 3, 5, 2)
image, half, result = (model.tensor(name, shape, "float32") for name in ("image", "half", "result"))
model.op("SIGN", [image], [half])
model.op("RELU", [half], [result])
model.inputs(image)
model.outputs(half, result)
open("sign.tflite", "wb").write(model.build())

given = np.random.default_rng(1).normal(size=shape).astype(np.float32)
given.flat[3] = 0
bits = given.view(np.uint32)  # the sign bit, no operator of ours
sign = np.where(bits == 0, 0, 1 - 2 * (bits >> 31).astype(np.int32)).astype(np.float32)
expected = (sign, np.where(sign > 0, sign, np.float32(0)))
case = codegen.Case(name="one", inputs=(given,), expected=expected)
report = codegen.run("sign.tflite", codegen.Options(board="host"), cases={"sign": [case]})
assert [output.matches for output in report.run.outputs] == [True, True]
print([step.kernel for step in report.steps])
"""

CHECK_ATTRIBUTES = """
import numpy as np
import codegen
from codegen.importers.tflite.writing.writer import ModelBuilder

model, shape = ModelBuilder(), (2, 3, 5)
image, result = (model.tensor(name, shape, "float32") for name in ("image", "result"))
model.op("LOCAL_RESPONSE_NORMALIZATION", [image], [result], radius=1, bias=2.0, alpha=0.5, beta=0.75)
model.inputs(image)
model.outputs(result)
open("norm.tflite", "wb").write(model.build())

given = np.random.default_rng(1).normal(size=shape).astype(np.float32)
expected = np.empty(shape, np.float32)
for place in np.ndindex(shape):
    row, at = given[place[:-1]], place[-1]
    near = sum(float(row[j]) ** 2 for j in (at - 1, at, at + 1) if 0 <= j < 5)
    expected[place] = row[at] / (2.0 + 0.5 * near) ** 0.75
case = codegen.Case(name="one", inputs=(given,), expected=(expected,))
report = codegen.run("norm.tflite", codegen.Options(board="host"), cases={"norm": [case]})
assert [output.matches for output in report.run.outputs] == [True]
print([step.kernel for step in report.steps])
"""


def _call(*words: str, folder: Path) -> str:
    # A suite of its own: as a part of this run it would find the libraries that an earlier one left.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = str(folder)
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout with the new operator and the new flag in it."""
    if shutil.which("git") is None:
        pytest.skip("git applies the patch, and is not installed")
    copy = tmp_path_factory.mktemp("contributing")
    for name in COPIED:
        if (ROOT / name).is_dir():
            # What Python compiled comes along: it stays right, as files keep their times.
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("_data"))
        else:
            shutil.copy(ROOT / name, copy / name)
    _call("git", "apply", str(OPERATOR), str(ATTRIBUTES), str(FLAG), folder=copy)
    return copy


@pytest.mark.parametrize(("patch", "most_files"), [(OPERATOR, 4), (ATTRIBUTES, 8)])
def test_a_new_operator_is_few_files_and_lines(patch: Path, most_files: int) -> None:
    """As CONTRIBUTING.md promises: files, and lines that are added or taken away."""
    text = patch.read_text(encoding="utf-8")
    files = re.findall(r"^diff --git a/(\S+) b/", text, re.MULTILINE)
    changed = re.findall(r"^[+-](?![+-]{2} )", text, re.MULTILINE)
    assert len(files) <= most_files
    assert len(changed) <= 120
    named = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [file for file in files if f"`{file}`" not in named] == []


@pytest.mark.thorough
def test_the_new_operator_is_imported_and_computed(checkout: Path) -> None:
    """A model with it, written, imported, built for this machine, against arithmetic of the test's own."""
    assert "sign_f32_portable" in _call(sys.executable, "-c", CHECK, folder=checkout)
    assert re.search(
        r"^SIGN +sign_f32_portable", _call(sys.executable, "-m", "codegen", "ops", folder=checkout), re.M
    )


def test_the_new_operator_with_attributes_is_imported_and_computed(checkout: Path) -> None:
    """Its options become attributes by their names; compared with sums of squares element by element."""
    assert "local_response_normalization_f32_portable" in _call(
        sys.executable, "-c", CHECK_ATTRIBUTES, folder=checkout
    )


def test_the_suite_finds_the_new_operators_by_the_registries(checkout: Path) -> None:
    """Random layers of it are drawn, run in C and compared, without a line in any test."""
    files = ("kernels/test_binding.py", "kernels/test_analysers.py")
    words = ("-m", "pytest", "-vv", "-p", "no:cacheprovider", "--kernels", "[ls][io][cg][an]*_f32.c")
    words += ("-k", "SIGN- or LOCAL_RESPONSE or every_operator or every_source")
    paths = [f"tests/{name}" for name in files]
    told = _call(sys.executable, *words, *paths, folder=checkout)
    assert "test_result_equals_the_reference[SIGN-" in told
    assert "test_result_equals_the_reference[LOCAL_RESPONSE_NORMALIZATION-" in told
    assert "test_every_operator_has_a_kernel" in told
    assert "test_every_source_is_recorded" in told


WRITE = """
from codegen.importers.tflite.writing.writer import ModelBuilder

model, shape = ModelBuilder(), (1, 4)
x, total, y = (model.tensor(name, shape, "float32") for name in ("x", "total", "y"))
model.op("ADD", [x, x], [total])
model.op("RELU", [total], [y])
model.inputs(x)
model.outputs(y)
open("two.tflite", "wb").write(model.build())
"""


def test_a_new_flag_is_one_row_and_one_use() -> None:
    """The row is the field of `Options`; the other change is where the value is read."""
    text = FLAG.read_text(encoding="utf-8")
    added = re.findall(r"^\+(?!\+\+ )", text, re.MULTILINE)
    assert re.findall(r"^\+\+\+ b/(\S+)", text, re.MULTILINE) == [
        "codegen/driver/options.py",
        "codegen/driver/preparing.py",
    ]
    assert len(added) == 2


def test_the_new_flag_works_wherever_flags_are_said(checkout: Path) -> None:
    """On the command line, in the environment, in codegen.toml, and in the provenance of what is emitted."""
    folder = checkout / "flag"
    folder.mkdir()
    _call(sys.executable, "-c", WRITE, folder=checkout)
    shutil.move(checkout / "two.tflite", folder / "two.tflite")

    with forked.command(folder / "command", checkout) as codegen:

        def built(*flags: str, **variables: str) -> tuple[int, bool]:
            """Steps, and whether the header says the flag."""
            words = ("build", "two.tflite", "--board", "host", "-o", "out", "-q", *flags)
            subprocess.run(
                [codegen, *words], cwd=folder, env={**os.environ, **variables}, check=True, timeout=300
            )
            report = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
            header = (folder / "out" / "two.h").read_text(encoding="utf-8")
            return len(report["steps"]), " --no-fuse" in header

        assert built() == (1, False)
        assert built("--no-fuse") == (2, True)
        assert built(CODEGEN_FUSE="false") == (2, True)
        (folder / "codegen.toml").write_text("fuse = false\n", encoding="utf-8")
        assert built() == (2, True)
        assert built("--fuse") == (1, False)
        assert "--fuse / --no-fuse" in _call(str(codegen), "build", "--help", folder=checkout)
