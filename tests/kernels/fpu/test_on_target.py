"""Random float32 layers for the FPU kernels: the builders', and wider ones with several tiles in a row.
FPU kernels in models on QEMU: chosen, equal to the NumPy reference bit by bit, predicted instructions.

In the same run measured peaks equal plans, guards hold and two paints agree. Hundreds of random layers of
each kernel on every core, beside closed memory: tests/fuzz.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.random import Generator

from codegen import board as boards
from codegen.driver.build import Planned
from codegen.driver.inputs.cases import Case
from codegen.driver.run import Measured
from codegen.ir import ConstRef, DType
from codegen.ir.builder import Builder
from codegen.ir.evaluate import evaluate
from codegen.ir.ops import OPS, Activation, ConvAttrs, DepthwiseConvAttrs, FullyConnectedAttrs, Padding2D
from codegen.search import Choices, search
from tests.kernels.builders import random_layer
from tests.kernels.dsp.conv_layers import module_of
from tests.kernels.layers import Layer, Operand, activation, fill, integer, layer
from tests.kernels.runs import check_predictions, planned_alone, planned_chain, run_cases
from tests.sampling import examples
from tests.search.chains import METADATA, random_chain, random_image
from tests.tensor_types import REAL, tensor_type

WEIGHTED = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def float_layer(seed: int) -> Layer:
    """Layer number `seed`: every third as the builders draw it (small, all options), the others wider."""
    op = WEIGHTED[seed // 3 % 3]
    if seed % 3 == 0:
        return random_layer(op, DType.FLOAT32, seed)
    rng = np.random.default_rng([seed, 31])
    if op == "FULLY_CONNECTED":
        rows, inputs, outputs = int(rng.choice([1, 1, 2, 5, 9])), integer(rng, 1, 90), integer(rng, 1, 30)
        return connected(rng, rows, inputs, outputs, activation(rng))
    return _sliding(rng, is_depthwise=op != "CONV_2D")


def operand(rng: Generator, shape: tuple[int, ...], *, constant: bool = False) -> Operand:
    """Normal numbers."""
    type_ = tensor_type(shape, DType.FLOAT32)
    return Operand(type=type_, data=fill(rng, type_), constant=constant)


def connected(rng: Generator, rows: int, inputs: int, outputs: int, active: Activation) -> Layer:
    """FULLY_CONNECTED."""
    operands = (
        operand(rng, (rows, inputs)),
        operand(rng, (outputs, inputs), constant=True),
        operand(rng, (outputs,), constant=True),
    )
    return layer("FULLY_CONNECTED", FullyConnectedAttrs(activation=active), operands, REAL)


def _sliding(rng: Generator, *, is_depthwise: bool) -> Layer:
    kernel = [(1, 1), (3, 3), (integer(rng, 1, 4), integer(rng, 1, 5))][integer(rng, 0, 2)]
    dilation = (integer(rng, 1, 2), integer(rng, 1, 3)) if rng.random() < 0.25 else (1, 1)
    spans = [(kernel[axis] - 1) * dilation[axis] + 1 for axis in (0, 1)]
    pads = [integer(rng, 0, spans[side // 2]) if rng.random() < 0.6 else 0 for side in range(4)]
    extents = [max(1, spans[axis] - pads[2 * axis] - pads[2 * axis + 1]) for axis in (0, 1)]
    image = (integer(rng, 1, 2), extents[0] + integer(rng, 0, 4), extents[1] + integer(rng, 0, 12))
    attrs = ConvAttrs(
        stride=(integer(rng, 1, 2), integer(rng, 1, 3)) if rng.random() < 0.5 else (1, 1),
        dilation=dilation,
        padding=Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
        activation=activation(rng),
    )
    inputs = 1 if rng.random() < 0.2 else integer(rng, 1, 19)
    if is_depthwise:
        return depthwise(rng, (*image, inputs), kernel, attrs)
    return convolution(rng, (*image, inputs), kernel, integer(rng, 1, 15), attrs)


def convolution(
    rng: Generator, image: tuple[int, ...], kernel: tuple[int, int], outputs: int, attrs: ConvAttrs
) -> Layer:
    """CONV_2D of an image NHWC."""
    x = operand(rng, image)
    weights = operand(rng, (outputs, *kernel, image[3]), constant=True)
    bias = operand(rng, (outputs,), constant=True)
    return layer("CONV_2D", attrs, (x, weights, bias), REAL)


def depthwise(rng: Generator, image: tuple[int, ...], kernel: tuple[int, int], like: ConvAttrs) -> Layer:
    """DEPTHWISE_CONV_2D of an image NHWC, one output channel an input channel, with the options of `like`."""
    x = operand(rng, image)
    weights = operand(rng, (1, *kernel, image[3]), constant=True)
    bias = operand(rng, (image[3],), constant=True)
    attrs = DepthwiseConvAttrs(
        multiplier=1,
        stride=like.stride,
        dilation=like.dilation,
        padding=like.padding,
        activation=like.activation,
    )
    return layer("DEPTHWISE_CONV_2D", attrs, (x, weights, bias), REAL)


LAYERS = examples(12, 2)
CHAINS = 18
CHOICES = Choices(planner="greedy_by_size", optimize="speed")
RELU, RELU6, NONE = Activation.RELU, Activation.RELU6, Activation.NONE


def run_bitwise(
    board_name: str, made: Sequence[Planned], inputs: Sequence[np.ndarray | None], folder: Path
) -> list[Measured]:
    """All networks in one program, each on its input; outputs must be the reference's in every bit."""
    cases = [
        [Case(name=planned.program.name, inputs=(data,))]
        for planned, data in zip(made, inputs, strict=True)
        if data is not None
    ]
    found = run_cases(made, cases, board_name, folder)
    for planned, [case], measured in zip(made, cases, found, strict=True):
        [expected] = evaluate(planned.module, planned.module.main, case.inputs)
        got = np.frombuffer(measured.result.cases[0].outputs[0], np.float32)
        np.testing.assert_array_equal(got.reshape(expected.shape), expected, planned.program.name)
    return found


def planned_layers(board_name: str, layers: Sequence[Layer]) -> list[Planned]:
    modules = [module_of(drawn) for drawn in layers]
    return [planned_alone(each, board_name, f"layer{n}", (), CHOICES) for n, each in enumerate(modules)]


@pytest.mark.qemu
@pytest.mark.parametrize("board_name", ["netduinoplus2", "mps3-an547"])
@pytest.mark.sampled(1)
def test_random_layers(board_name: str, tmp_path: Path) -> None:
    first = 1000 * len(board_name)
    drawn = [float_layer(seed) for seed in range(first, first + LAYERS)]
    # A constant image is folded away before kernels are chosen.
    layers = [each for each in drawn if "c0" not in each.constants]
    made = planned_layers(board_name, layers)
    run_bitwise(board_name, made, [each.values[0] for each in layers], tmp_path)
    used = Counter(planned.program.steps.prim_funcs[0].symbol for planned in made)
    ending = "_mve" if board_name == "mps3-an547" else "_fpu"
    assert all(planned.program.steps.prim_funcs[0].kernel.endswith((ending, "_portable")) for planned in made)
    assert used["cg_conv2d_f32_fpu"] >= LAYERS // 3, used
    assert used["cg_depthwise_conv2d_f32_fpu"] >= LAYERS // 9, used


@pytest.mark.qemu
@pytest.mark.parametrize("board_name", ["mps2-an386", "mps3-an547"])
@pytest.mark.sampled(1)
def test_rows_in_blocks(board_name: str, tmp_path: Path) -> None:
    """Floats went row by row nowhere: blocks were for int8. Random networks, each in as long a block as can
    be, some of them in stripes; row kernels read rows from rings that begin again within a window."""
    rng = np.random.default_rng(5)
    made: list[Planned] = []
    for seed in range(CHAINS):
        module = random_chain(seed, 3 + seed % 6, joins=seed % 3 > 0, dtype=DType.FLOAT32)
        planned = planned_chain(module, board_name, seed, least=0, choices=CHOICES)
        assert planned
        made.append(planned)
    blocks = [prim.block for each in made for prim in each.program.steps.prim_funcs if prim.block]
    text = " ".join(map(str, blocks))
    assert len(blocks) == CHAINS
    for symbol in ("cg_conv2d_f32_fpu_row", "cg_depthwise_conv2d_f32_fpu_row", "cg_max_pool2d_f32_row"):
        assert text.count(symbol) > 2, symbol
    run_bitwise(board_name, made, [random_image(planned.module, rng) for planned in made], tmp_path)


@pytest.mark.qemu
@pytest.mark.parametrize("board_name", ["mps2-an386", "mps3-an547"])
@pytest.mark.sampled(1)
def test_predictions_hold(board_name: str, tmp_path: Path) -> None:
    """Of layers that count, within 5 % of what is measured."""
    rng = np.random.default_rng(6)

    def options(stride: int = 1, pad: int = 0, dilation: int = 1, active: Activation = RELU) -> ConvAttrs:
        around = Padding2D(top=pad, bottom=pad, left=pad, right=pad)
        return ConvAttrs(
            stride=(stride, stride), dilation=(dilation, dilation), padding=around, activation=active
        )

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
    made = [*planned_layers(board_name, layers), _with_a_layer_in_place(board_name, rng)]
    images = [*(layer.values[0] for layer in layers), random_image(made[-1].module, rng)]
    check_predictions(made, run_bitwise(board_name, made, images, tmp_path))


def _with_a_layer_in_place(board_name: str, rng: np.random.Generator) -> Planned:
    """Three layers, the one in the middle depthwise: in its bytes it needs fewer than over them."""
    image = tensor_type((1, 12, 12, 64), DType.FLOAT32)
    net = Builder()

    def weights(*shape: int) -> list[ConstRef]:
        drawn = (rng.normal(0, 0.3, extents).astype(np.float32) for extents in (shape, (64,)))
        return [net.constant(data) for data in drawn]

    around = Padding2D(top=1, bottom=1, left=1, right=1)
    x = net.param("image", image)
    x = net.call(OPS["CONV_2D"], [x, *weights(64, 1, 1, 64)], ConvAttrs(), image)
    attrs = DepthwiseConvAttrs(multiplier=1, padding=around, activation=RELU6)
    x = net.call(OPS["DEPTHWISE_CONV_2D"], [x, *weights(1, 3, 3, 64)], attrs, image)
    x = net.call(OPS["CONV_2D"], [x, *weights(64, 1, 1, 64)], ConvAttrs(), image)
    module = net.build([x], METADATA)
    choices = Choices(planner="optimal")
    program = search(module, boards.load_board(board_name), choices, name="in_place", blocks=())
    assert [prim.in_place for prim in program.steps.prim_funcs] == [None, 0, None]
    assert program.steps.prim_funcs[1].symbol == "cg_depthwise_in_place_f32_fpu"
    return Planned(module=module, program=program, macs=0)
