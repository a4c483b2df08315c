"""UNIDIRECTIONAL_SEQUENCE_LSTM: bit-exact to tflite-micro (float32: within the tolerance of `run`), with a
state that goes on from inference to inference.

Generated layers: a long sequence in one inference is compared with the engine; the same layer over its parts,
one inference after the other, gives the same only if the state goes on.
"""

from pathlib import Path

import numpy as np
import pytest

from codegen.cli.case_files import model_cases
from codegen.driver.build import build
from codegen.driver.inputs.cases import ArraySource, Case
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, complaints, execute
from codegen.program.image import Trace
from tests.public.testdata import golden, model_path

KEY = "tflm/trained_lstm_int8"
INSTRUCTIONS = 200_000
"""The most of one inference on a Cortex-M4; tflite-micro with CMSIS-NN takes 576,360."""


@pytest.mark.parametrize(
    "board",
    [
        "host",
        *(
            pytest.param(board, marks=pytest.mark.qemu)
            for board in ("mps2-an386", "mps2-an385", "mps3-an547", "mps2-an505")
        ),
    ],
)
def test_trained_network(board: str, tmp_path: Path) -> None:
    """Each case begins with fresh state; the measured peak is the planned one."""
    options, arrays = Options(board=board), tmp_path / "golden.npz"
    built = build([model_path(KEY)], options, tmp_path / "build", emulated=True)
    np.savez(arrays, **golden(KEY))  # type: ignore[arg-type]
    cases: list[Case] = []
    for name in ("a", "b", "bar0"):
        source = {built.models[0].program.name: ArraySource(path=arrays, prefix=name)}
        [own] = model_cases(built, [model_path(KEY)], source, source, options)
        cases.extend(own)
    measured = execute(built, cases, RunConditions(trace=Trace.COST))
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
    if board == "mps2-an386":
        instructions = measured.result.cases[0].instructions
        assert instructions is not None and instructions <= INSTRUCTIONS
        prims = built.models[0].program.steps.prim_funcs
        assert prims[0].macs == 28 * 4 * 20 * (28 + 20)
        assert abs(sum(prim.instructions or 0 for prim in prims) / instructions - 1) < 0.02
