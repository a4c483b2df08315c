"""FPU kernels in models on QEMU: chosen, equal to the NumPy reference bit by bit, predicted instructions.

In the same run measured peaks equal plans, guards hold and two paints agree. Hundreds of random layers of
each kernel on every core, beside closed memory: tests/fuzz.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from codegen import board as boards
from codegen import emit, toolchain
from codegen.driver import run as driver_run
from codegen.driver.build import Planned
from codegen.driver.cases import Case
from codegen.driver.run import Measured, complaints, measure
from codegen.ir.ops import Activation, ConvAttrs, Padding2D
from codegen.plan.bundle import together
from codegen.search import Choices, search
from tests.kernels.dsp.conv_layers import module_of
from tests.kernels.fpu.layers import connected, convolution, depthwise, float_layer
from tests.kernels.layers import Layer

pytestmark = pytest.mark.qemu
LAYERS = 12
RELU, RELU6, NONE = Activation.RELU, Activation.RELU6, Activation.NONE


def run(board_name: str, layers: Sequence[Layer], folder: Path) -> list[tuple[Planned, Measured]]:
    """All in one program; every output must be that of the reference in every bit."""
    board = boards.load_board(board_name)
    choices = Choices(planner="greedy_by_size", optimize="speed")
    made: list[Planned] = []
    for number, layer in enumerate(layers):
        module = module_of(layer)
        program = search(module, board, choices, name=f"layer{number}", blocks=())
        made.append(Planned(module=module, program=program, macs=0))
    sources = emit.render(together([planned.program for planned in made]))
    emit.write(sources, folder / "build")
    image = toolchain.build(sources, folder / "build", board, optimize="speed")
    found: list[tuple[Planned, Measured]] = []
    with boards.session(image, board) as target:
        for number, (planned, layer) in enumerate(zip(made, layers, strict=True)):
            assert layer.values[0] is not None
            case = Case(name=f"layer{number}", inputs=(layer.values[0],))
            request = driver_run.request(planned.program, [case], model=number)
            measured = measure(planned, [case], target.run(request))
            assert not complaints(planned, [case], measured, image.sizes.stack_bound_bytes)
            got = np.frombuffer(measured.result.cases[0].outputs[0], np.float32)
            np.testing.assert_array_equal(got.reshape(layer.expected.shape), layer.expected)
            found.append((planned, measured))
    return found


@pytest.mark.parametrize("board_name", ["netduinoplus2", "mps3-an547"])
def test_random_layers(board_name: str, tmp_path: Path) -> None:
    first = 1000 * len(board_name)
    layers = [float_layer(seed) for seed in range(first, first + LAYERS)]
    # A constant image is folded away before kernels are chosen.
    found = run(board_name, [layer for layer in layers if "c0" not in layer.constants], tmp_path)
    used = Counter(planned.program.prim_funcs[0].symbol for planned, _ in found)
    ending = "_mve" if board_name == "mps3-an547" else "_fpu"
    assert all(planned.program.prim_funcs[0].kernel.endswith((ending, "_portable")) for planned, _ in found)
    assert used["cg_conv2d_f32_fpu"] >= LAYERS // 3, used
    assert used["cg_depthwise_conv2d_f32_fpu"] >= LAYERS // 9, used


@pytest.mark.parametrize("board_name", ["mps2-an386", "mps3-an547"])
def test_predictions_hold(board_name: str, tmp_path: Path) -> None:
    """Of layers that count, within 5 % of what is measured."""
    rng = np.random.default_rng(6)

    def options(stride: int = 1, pad: int = 0, dilation: int = 1, active: Activation = RELU) -> ConvAttrs:
        around = Padding2D(top=pad, bottom=pad, left=pad, right=pad)
        steps = {"stride": (stride, stride), "dilation": (dilation, dilation)}
        return ConvAttrs(padding=around, activation=active, **steps)

    layers = [
        convolution(rng, (1, 12, 12, 32), (1, 1), 32, options()),
        convolution(rng, (1, 12, 12, 31), (1, 1), 19, options(active=NONE)),
        convolution(rng, (1, 16, 16, 16), (3, 3), 16, options(pad=1)),
        convolution(rng, (1, 33, 33, 3), (3, 3), 8, options(stride=2)),
        convolution(rng, (1, 12, 12, 8), (3, 3), 8, options(pad=2, dilation=2, active=RELU6)),
        convolution(rng, (1, 20, 20, 16), (3, 3), 1, options(pad=1)),
        depthwise(rng, (1, 16, 16, 16), (3, 3), options(pad=1, active=RELU6)),
        depthwise(rng, (1, 25, 25, 18), (3, 3), options(pad=1, stride=2)),
        depthwise(rng, (1, 6, 6, 64), (5, 5), options(pad=2)),
        connected(rng, 1, 256, 64, NONE),
        connected(rng, 1, 64, 10, RELU),
        connected(rng, 7, 50, 12, NONE),
    ]
    for number, (planned, measured) in enumerate(run(board_name, layers, tmp_path)):
        instructions = measured.result.cases[0].instructions
        predicted = planned.program.prim_funcs[0].instructions
        assert instructions
        assert predicted
        assert abs(predicted / instructions - 1) < 0.05, number
