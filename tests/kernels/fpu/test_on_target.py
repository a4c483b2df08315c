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
from codegen.driver.inputs.cases import Case
from codegen.driver.run import Measured, complaints, measure
from codegen.ir import ConstRef, DType, Module, TensorType
from codegen.ir.builder import Builder
from codegen.ir.evaluate import evaluate
from codegen.ir.ops import OPS, Activation, ConvAttrs, DepthwiseConvAttrs, Padding2D
from codegen.plan.models.bundling import together
from codegen.search import Choices, Segment, search
from codegen.search.blocks.row_blocks import row_steps
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from tests.joining import joined
from tests.kernels.dsp.conv_layers import module_of
from tests.kernels.fpu.layers import connected, convolution, depthwise, float_layer
from tests.kernels.layers import Layer
from tests.search.chains import METADATA, random_chain, random_image, segments

pytestmark = pytest.mark.qemu
LAYERS = 12
CHAINS = 18
RELU, RELU6, NONE = Activation.RELU, Activation.RELU6, Activation.NONE


def run(board_name: str, layers: Sequence[Layer], folder: Path) -> list[tuple[Planned, Measured]]:
    """All in one program; every output must be that of the reference in every bit."""
    made: list[Planned] = []
    inputs: list[np.ndarray] = []
    for number, layer in enumerate(layers):
        assert layer.values[0] is not None
        inputs.append(layer.values[0])
        made.append(planned_module(module_of(layer), board_name, f"layer{number}", ()))
    return run_all(board_name, made, inputs, folder)


def planned_module(module: Module, board_name: str, name: str, blocks: Sequence[Segment]) -> Planned:
    """The network with these blocks."""
    choices = Choices(planner="greedy_by_size", optimize="speed")
    program = search(module, boards.load_board(board_name), choices, name=name, blocks=blocks)
    return Planned(module=module, program=program, macs=0)


def run_all(
    board_name: str, made: Sequence[Planned], inputs: Sequence[np.ndarray], folder: Path
) -> list[tuple[Planned, Measured]]:
    """All networks in one program, each on its input; outputs must be the reference's in every bit."""
    board = boards.load_board(board_name)
    sources = joined(emit.render(together([planned.program for planned in made])))
    emit.write(sources, folder / "build")
    image = toolchain.build(sources, folder / "build", board, optimize="speed")
    found: list[tuple[Planned, Measured]] = []
    with boards.session(image, board) as target:
        for number, (planned, image_data) in enumerate(zip(made, inputs, strict=True)):
            case = Case(name=planned.program.name, inputs=(image_data,))
            request = driver_run.request(planned.program, [case], model=number)
            measured = measure(planned, [case], target.run(request))
            assert not complaints(planned, [case], measured, image.sizes.stack_bound_bytes)
            [expected] = evaluate(planned.module, planned.module.main, case.inputs)
            got = np.frombuffer(measured.result.cases[0].outputs[0], np.float32)
            np.testing.assert_array_equal(got.reshape(expected.shape), expected, planned.program.name)
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
def test_rows_in_blocks(board_name: str, tmp_path: Path) -> None:
    """Floats went row by row nowhere: blocks were for int8. Random networks, each in as long a block as can
    be, some of them in stripes; row kernels read rows from rings that begin again within a window."""
    target, rng = boards.load_board(board_name).target, np.random.default_rng(5)
    made: list[Planned] = []
    for seed in range(CHAINS):
        module = random_chain(seed, 3 + seed % 6, joins=seed % 3 > 0, dtype=DType.FLOAT32)
        data = {id_: constant.data for id_, constant in module.constants.items()}
        binder = Binder(data, target)
        steps = row_steps(select(module.main, binder), binder)
        start, stop = max(segments(module.main, steps), key=lambda pair: pair[1] - pair[0])
        stripes = min(1 + seed % 3, module.main.body[stop - 1].var.type.shape[2])
        block = Segment(start=start, stop=stop, stripes=stripes)
        made.append(planned_module(module, board_name, f"chain{seed}", [block]))
    blocks = [prim.block for each in made for prim in each.program.prim_funcs if prim.block]
    text = " ".join(map(str, blocks))
    assert len(blocks) == CHAINS
    for symbol in ("cg_conv2d_f32_fpu_row", "cg_depthwise_conv2d_f32_fpu_row", "cg_max_pool2d_f32_row"):
        assert text.count(symbol) > 2, symbol
    run_all(board_name, made, [random_image(planned.module, rng) for planned in made], tmp_path)


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
    images = [layer.values[0] for layer in layers if layer.values[0] is not None]
    made = [
        planned_module(module_of(layer), board_name, f"layer{number}", ())
        for number, layer in enumerate(layers)
    ]
    made.append(_with_a_layer_in_place(board_name, rng))
    images.append(random_image(made[-1].module, rng))
    for planned, measured in run_all(board_name, made, images, tmp_path):
        instructions = measured.result.cases[0].instructions
        predicted = sum(prim.instructions or 0 for prim in planned.program.prim_funcs)
        assert instructions
        assert abs(predicted / instructions - 1) < 0.05, planned.program.name


def _with_a_layer_in_place(board_name: str, rng: np.random.Generator) -> Planned:
    """Three layers, the one in the middle depthwise: in its bytes it needs fewer than over them."""
    image = TensorType(shape=(1, 12, 12, 64), dtype=DType.FLOAT32)
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
    assert [prim.in_place for prim in program.prim_funcs] == [None, 0, None]
    assert program.prim_funcs[1].symbol == "cg_depthwise_in_place_f32_fpu"
    return Planned(module=module, program=program, macs=0)
