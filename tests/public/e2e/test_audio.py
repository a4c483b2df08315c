"""TFLM's audio front end: operators with state, the whole front end, and with a wake word in one firmware.

Operators with state are compared with tflite-micro over a sequence on one interpreter, in NumPy and, an image
of several, as C on the host.
"""

from pathlib import Path

import numpy as np
import pytest

from codegen import importers
from codegen.cli.case_files import model_cases
from codegen.driver.build import build
from codegen.driver.inputs.cases import ArraySource, Case, sequence_cases
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, complaints, execute, execute_all
from codegen.errors import CodegenError
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from codegen.program.image import Trace
from tests.opgen.families.signal import flexible
from tests.public.testdata import golden, model_path

KEY, WAKE_WORD = "tflm/audio_preprocessor_int8", "wake_word/v2_okay_nabu"
INSTRUCTIONS = 80_000
"""The most of one inference on a Cortex-M4; tflite-micro with CMSIS-NN takes 105,480."""


@pytest.mark.qemu
def test_the_front_end_takes_few_instructions(tmp_path: Path) -> None:
    """Each case begins with fresh state; the measured peak is the planned one."""
    options, arrays = Options(board="mps2-an386"), tmp_path / "golden.npz"
    built = build([model_path(KEY)], options, tmp_path / "build", emulated=True)
    np.savez(arrays, **golden(KEY))  # type: ignore[arg-type]
    cases: list[Case] = []
    for name in "abc":
        source = {built.models[0].program.name: ArraySource(path=arrays, prefix=name)}
        [own] = model_cases(built, [model_path(KEY)], source, source, options)
        cases.extend(own)
    measured = execute(built, cases, RunConditions(trace=Trace.COST))
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
    assert all(case.instructions is not None for case in measured.result.cases)
    assert max(case.instructions or 0 for case in measured.result.cases) <= INSTRUCTIONS


_TFLM_WAKE_WORD_BYTES = 19_268
"""The arena that tflite-micro takes for the wake word alone on a Cortex-M4."""


@pytest.mark.parametrize("board", ["host", pytest.param("mps2-an386", marks=pytest.mark.qemu)])
def test_samples_in_decision_out(board: str, tmp_path: Path) -> None:
    """The front end and a wake word in one firmware: both sequences exact, workspaces shared, state apart."""
    keys, rows = (KEY, WAKE_WORD), 49 if board == "host" else 5
    sources: list[ArraySource] = []
    for key, prefix in zip(keys, ("yes", "real"), strict=True):
        arrays = {
            name: np.asarray(data)[:rows] for name, data in golden(key).items() if name.startswith(prefix)
        }
        arrays = {name: data for name, data in arrays.items() if name.rpartition("_")[2][0] in "xy"}
        path = tmp_path / f"{prefix}.npz"
        np.savez(path, **arrays)  # type: ignore[arg-type]
        sources.append(ArraySource(path=path, prefix=prefix))
    built = build([model_path(key) for key in keys], Options(board=board), tmp_path / "build", emulated=True)
    cases = [
        sequence_cases(model.program, source, source, 0)
        for model, source in zip(built.models, sources, strict=True)
    ]
    assert all(len(own) == rows for own in cases)
    for model, own, measured in zip(
        built.models, cases, execute_all(built, cases, RunConditions(sequence=True)), strict=True
    ):
        assert complaints(model, own, measured, built.image.sizes.stack_bound_bytes) == []
    together = sum(pool.size_bytes for pool in built.bundle.pools)
    apart = sum(sum(model.program.memory.peaks.values()) for model in built.models)
    assert together < apart
    assert together < _TFLM_WAKE_WORD_BYTES


def test_a_circular_buffer_that_ends_inferences_is_refused(tmp_path: Path) -> None:
    model, path = ModelBuilder(), tmp_path / "model.tflite"
    x = model.tensor("x", (1, 1, 1, 4), "int8", scale=0.5)
    y = model.tensor("y", (1, 3, 1, 4), "int8", scale=0.5, variable=True)
    model.op("CUSTOM", [x], [y], custom=Custom(code="CIRCULAR_BUFFER", options=flexible(cycles_max=2)))
    model.inputs(x)
    model.outputs(y)
    path.write_bytes(model.build())
    with pytest.raises(CodegenError, match=r"ends inferences, all but some: steps of a plan always run"):
        importers.load(path)
