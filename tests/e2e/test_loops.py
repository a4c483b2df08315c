"""Loops that are not unrolled, as C: one iteration planned once, with every way to call a model."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from codegen.driver.build import build
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.run import complaints, execute_all
from codegen.program.interface import ConstantsMode, EntryMode, Interface, IoMode
from tests.importers.loops import adding, carrying, choosing

EXTERNAL = Interface(constants=ConstantsMode.EXTERNAL)
STEPS = Interface(entry=EntryMode.STEPS)
INT = np.int32
X, Z = np.array([[1, 2]], np.float32), np.array([[3, 4]], np.float32)
LOOPS = {
    "long": (adding(400), [((INT(7),), INT(7 + sum(range(400))))]),
    "ended": (adding(9, below=10), [((INT(x),), INT(y)) for x, y in ((0, 10), (8, 11), (10, 10), (-40, -4))]),
    "nested": (adding(40, below=600, inner=3), [((INT(x),), INT(y)) for x, y in ((0, 630), (600, 600))]),
    "places": (carrying([4, 1, 3, 2]), [((INT(n), X, Z), Z if n % 2 else X) for n in range(4)]),
    "branch": (choosing(), [((np.bool_(1), X), X * 2), ((np.bool_(0), X), X * 3 + 1)]),
}
"""Models, and inputs with the result that arithmetic gives."""


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (Options(board="host", interface=EXTERNAL, io=IoMode.CALLER), ["nested"]),
        pytest.param(Options(board="mps2-an386"), LOOPS, marks=pytest.mark.qemu),
        pytest.param(
            Options(board="microbit", optimize="size", interface=STEPS), ["ended"], marks=pytest.mark.qemu
        ),
        pytest.param(Options(board="mps3-an547", io=IoMode.CALLER), ["places"], marks=pytest.mark.qemu),
    ],
    ids=["host", "m4", "m0", "m55"],
)
@pytest.mark.sampled(2)
def test_loops_give_what_arithmetic_gives(options: Options, names: Iterable[str], tmp_path: Path) -> None:
    """In one firmware, peaks as planned."""
    paths: list[Path] = []
    cases: list[list[Case]] = []
    for name in names:
        data, wanted = LOOPS[name]
        paths.append(tmp_path / f"{name}.tflite")
        paths[-1].write_bytes(data)
        cases.append(
            [
                Case(
                    name=f"{name} {n}", inputs=tuple(map(np.asarray, inputs)), expected=(np.asarray(result),)
                )
                for n, (inputs, result) in enumerate(wanted)
            ]
        )
    built = build(paths, options, tmp_path / "build", emulated=True)
    outcomes = execute_all(built, cases)
    for model, own, measured in zip(built.models, cases, outcomes, strict=True):
        assert complaints(model, own, measured, built.image.sizes.stack_bound_bytes) == []
        assert any(prim.kernel == "loop" for prim in model.program.steps.prim_funcs)
