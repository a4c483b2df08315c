"""Single layers on RISC-V boards: instructions a multiply-accumulate, measured beside predicted.

python benchmarks/rv32_layers.py                                  # -O3, with and without Zba and Zbb
python benchmarks/rv32_layers.py --boards qemu-virt-rv32          # of one board

No layer takes Winograd or replaces its argument. Results equal NumPy's. Deterministic; half a minute.
"""

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from tests.kernels import runs
from tests.kernels.dsp.conv_layers import module_of, shaped_layer
from tests.kernels.dsp.depthwise_models import DepthwiseModel, Numbers, Shape, run_all
from tests.kernels.layers import Layer

KERNELS = ("conv2d_s8_rv32", "conv2d_1_s8_rv32", "conv3x3_s8_rv32", "depthwise3x3_s8_rv32", "_s8_portable")
POINTWISE = shaped_layer(image=(24, 24, 64), kernel=(1, 1), outputs=64)
WINDOWS = shaped_layer(image=(24, 24, 16), kernel=(3, 3), outputs=16, pad=1)
DEPTHWISE = Shape(image=(24, 24, 32))


def narrow(layer: Layer, limit: int) -> Layer:
    """`layer` with weights of at most `limit`, so that sums of a window need no chunks."""
    constants = {
        name: np.clip(data, -limit, limit) if data.dtype == np.int8 else data
        for name, data in layer.constants.items()
    }
    return replace(layer, constants=constants)


def main() -> None:
    """Print one row a layer and board."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--boards", nargs="+", default=["qemu-virt-rv32", "qemu-virt-rv32b"])
    asked = parser.parse_args()
    print("| board | layer | instructions a MAC | predicted |\n|---|---|---|---|")
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="codegen-layers-") as name:
        runs.only_kernels(patch, *KERNELS)
        for board in asked.boards:
            folder = Path(name) / board
            folder.mkdir()
            _convolutions(board, folder)
            _depthwise(board, folder)


def _convolutions(board: str, folder: Path) -> None:
    layers = {
        "1x1 24x24x64 to 64": POINTWISE,
        "3x3 24x24x16 to 16, two chunks": WINDOWS,
        "3x3 24x24x16 to 16, whole": narrow(WINDOWS, 50),
    }
    made = [runs.planned_alone(module_of(drawn), board, f"l{n}") for n, drawn in enumerate(layers.values())]
    for label, planned, run in zip(layers, made, runs.run_planned(made, board, folder), strict=True):
        steps = planned.program.steps.prim_funcs
        predicted = sum(prim.instructions or 0 for prim in steps)
        _print(board, label, run.result.cases[0].instructions, predicted, sum(prim.macs for prim in steps))


def _depthwise(board: str, folder: Path) -> None:
    layers = {
        "depthwise 24x24x32": DepthwiseModel(shape=DEPTHWISE, numbers=Numbers(result_zero=-5)),
        "depthwise 24x24x32, ReLU": DepthwiseModel(shape=DEPTHWISE),
    }
    outcomes = run_all(list(layers.values()), board, folder, "speed", images=1)
    for label, outcome in zip(layers, outcomes, strict=True):
        _print(board, label, outcome.measured, outcome.predicted or 0, outcome.macs)


def _print(board: str, label: str, measured: int | None, predicted: int, macs: int) -> None:
    assert measured is not None, "every board here counts"
    error = 100 * (predicted / measured - 1)
    print(f"| {board} | {label} | {measured / macs:.3f} | {error:+.1f} % |", flush=True)


if __name__ == "__main__":
    main()
