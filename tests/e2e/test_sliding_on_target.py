"""Windows that slide on Cortex-M: calls of a random stream against each window computed whole.

A core each, as kernels, alignment and the shifting of state are its own.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board
from codegen.driver.inputs.cases import Case
from codegen.driver.inputs.planned import Planned
from codegen.ir import DType
from codegen.passes.sliding import SlidingInput, slid
from codegen.program.program import Program
from codegen.search import search
from tests.commands import codegen
from tests.kernels.runs import CHOICES, run_cases
from tests.networks import model_path
from tests.passes.sliding import STREAMS, stream
from tests.search.chains import METADATA

BOARDS = ["mps2-an385", "mps2-an386", "mps3-an547"]
CALLS = 50


@pytest.mark.qemu
@pytest.mark.parametrize("board", BOARDS)
def test_a_stream_on_a_core(board: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = np.random.default_rng(5).integers(-128, 128, (CALLS, 1, 1, 40), dtype=np.int8)
    np.savez(tmp_path / "stream.npz", x0=rows)
    words = ["--board", board, "--sequence", "--window", "input_1=1", "--input", tmp_path / "stream.npz"]
    assert codegen("run", model_path("separable_1d"), *words) == 0
    assert f"{CALLS} of {CALLS} inferences of one sequence equal" in capsys.readouterr().out


def calls_of(program: Program, rows: np.ndarray, step: int) -> list[Case]:
    """An inference for every `step` rows of a stream, in order; state begins as the network says."""
    states = [
        np.frombuffer(state.initial, tensor.type.dtype.numpy).reshape(tensor.type.shape)
        for state, tensor in zip(program.signature.states, program.signature.inputs[1:], strict=True)
    ]
    return [
        Case(name=f"call {call}", inputs=(rows[:, call * step : (call + 1) * step], *states))
        for call in range(rows.shape[1] // step)
    ]


@pytest.mark.long
@pytest.mark.qemu
@pytest.mark.parametrize("dtype", [DType.INT8, DType.INT16, DType.FLOAT32], ids=lambda dtype: dtype.value)
@pytest.mark.parametrize("board", ["host", *BOARDS])
def test_a_thousand_full_windows(board: str, dtype: DType, tmp_path: Path) -> None:
    """Dilations, strides of 2 and 4, SAME padding, residual branches, stacked frames."""
    made: list[Planned] = []
    cases: list[list[Case]] = []
    for network, step in STREAMS:
        module = replace(network(dtype), metadata=METADATA)
        image = module.main.params[0].type
        sliding = slid(module, SlidingInput(name="x", axis=1, step=step, rows=image.shape[1]))
        name = f"{network.__name__}{step}"
        program = search(sliding.module, load_board(board), CHOICES, name=name)
        made.append(Planned(module=sliding.module, program=program, macs=0, sliding=sliding))
        rows = stream(image, 1, (sliding.calls + 999) * step, step)
        cases.append(calls_of(program, rows, step))
    run_cases(made, cases, board, tmp_path, sequence=True)
