"""Compiled for M0, M3, M4 and M55 and run: results at exactly the stated distance, and one element nearer.

The models are sums of their image and 3 (weights of one, scales of one), so that a lost byte shows; on int16
eighths of sums of large numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import board as boards
from codegen import emit, toolchain
from codegen.driver.build import Planned, plan_model
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.run import measure, reference, request
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import Board, DType
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.models.bundling import together
from codegen.program.image import RunResult
from codegen.program.problem import Placement
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from tests.checkout import ROOT
from tests.joining import joined

BASE = 4096
"""Where the image lies: far enough from the pool's start for every result below it."""

IMAGES = 6

FORWARDS = ("_dsp", "_dsp_2", "_v6m", "_v6m_2", "_v7m", "_v7m_2")
"""Kernels of these names go forwards alone."""
V6M = str(ROOT / "benchmarks" / "boards" / "mps2-an385-v6m.toml")


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """A layer: operator, kernel, stride, padding, channels of image and result."""

    op: str
    kernel: int
    stride: int
    padding: str
    inputs: int
    outputs: int
    dtype: str = "int8"


SHAPES = (
    Shape(op="CONV_2D", kernel=3, stride=1, padding="SAME", inputs=3, outputs=5),
    Shape(op="CONV_2D", kernel=1, stride=1, padding="SAME", inputs=4, outputs=4),
    Shape(op="CONV_2D", kernel=3, stride=2, padding="VALID", inputs=4, outputs=3),
    Shape(op="DEPTHWISE_CONV_2D", kernel=3, stride=1, padding="SAME", inputs=4, outputs=4),
    Shape(op="DEPTHWISE_CONV_2D", kernel=3, stride=2, padding="SAME", inputs=3, outputs=6),
    Shape(op="MAX_POOL_2D", kernel=2, stride=1, padding="SAME", inputs=3, outputs=3),
    Shape(op="AVERAGE_POOL_2D", kernel=3, stride=2, padding="SAME", inputs=3, outputs=3),
    # More channels than any kernel computes at a time.
    Shape(op="CONV_2D", kernel=3, stride=1, padding="SAME", inputs=5, outputs=21),
    Shape(op="DEPTHWISE_CONV_2D", kernel=3, stride=1, padding="SAME", inputs=21, outputs=21),
    Shape(op="DEPTHWISE_CONV_2D", kernel=5, stride=1, padding="SAME", inputs=21, outputs=21),
    Shape(op="MAX_POOL_2D", kernel=2, stride=1, padding="SAME", inputs=21, outputs=21),
    Shape(op="AVERAGE_POOL_2D", kernel=3, stride=2, padding="SAME", inputs=21, outputs=21),
    *(
        Shape(
            op=op, kernel=kernel, stride=stride, padding="SAME", inputs=inputs, outputs=outputs, dtype="int16"
        )
        for op, kernel, stride, inputs, outputs in (
            ("CONV_2D", 3, 1, 3, 5),
            ("CONV_2D", 3, 1, 4, 7),
            ("CONV_2D", 1, 1, 4, 6),
            ("DEPTHWISE_CONV_2D", 3, 1, 4, 4),
            ("MAX_POOL_2D", 2, 1, 3, 3),
            ("AVERAGE_POOL_2D", 3, 2, 3, 3),
        )
    ),
)


def model_of(shape: Shape) -> bytes:
    model = ModelBuilder()
    extent = 7
    x = model.tensor("x", (1, extent, extent, shape.inputs), shape.dtype, scale=1.0)
    out = (
        -(-extent // shape.stride) if shape.padding == "SAME" else (extent - shape.kernel) // shape.stride + 1
    )
    is_pool = shape.op.endswith("POOL_2D")
    scale, zero_point = (1.0, 0) if is_pool else ((1.0, 3) if shape.dtype == "int8" else (8.0, 0))
    dims = (1, out, out, shape.outputs)
    y = model.tensor("y", dims, shape.dtype, scale=scale, zero_point=zero_point)
    options: dict[str, Any] = {"stride_h": shape.stride, "stride_w": shape.stride, "padding": shape.padding}
    if is_pool:
        size: dict[str, Any] = {"filter_height": shape.kernel, "filter_width": shape.kernel}
        model.op(shape.op, [x], [y], **options, **size)
    else:
        is_conv = shape.op == "CONV_2D"
        dims = (shape.outputs, shape.kernel, shape.kernel, shape.inputs)
        dims = dims if is_conv else (1, shape.kernel, shape.kernel, shape.outputs)
        weights = model.tensor("w", dims, scale=1.0, data=np.ones(dims, np.int8))
        sums = "int32" if shape.dtype == "int8" else "int64"
        bias = model.tensor("b", (shape.outputs,), sums, scale=1.0, data=[0] * shape.outputs)
        more: dict[str, Any] = {} if is_conv else {"depth_multiplier": shape.outputs // shape.inputs}
        model.op(shape.op, [x, weights, bias], [y], **options, **more)
    model.inputs(x)
    model.outputs(y)
    return model.build()


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """A layer whose result lies at the stated distance, or (not `exact`) one element nearer."""

    planned: Planned
    cases: tuple[Case, ...]
    exact: bool


def variants(folder: Path, board: Board) -> Iterator[Variant]:
    """Every shape, both sides: its result at the stated distance, and one element nearer."""
    for number, shape in enumerate(SHAPES):
        path = folder / f"m{number}.tflite"
        path.write_bytes(model_of(shape))
        planned = plan_model(path, board, Options(board=board.name, optimize="speed"), emulated=True)
        constants = {id_: constant.data for id_, constant in planned.module.constants.items()}
        [prim] = select(planned.module.main, Binder(constants, board.target))
        [rule] = prim.sharing
        assert rule.below is not None
        element = np.dtype(shape.dtype).itemsize
        cases = cases_of(planned)
        sides = [("below", -rule.below, element)]
        if rule.above is None:
            assert prim.kernel.endswith(FORWARDS), "the others have a reverse"
        else:
            sides.append(("above", rule.above, -element))
        for side, distance, nearer in sides:
            for exact in (True, False):
                name = f"m{number}_{side}_{'at' if exact else 'nearer'}"
                place = distance if exact else distance + nearer
                placed = _placed(planned, prim, name, place, reverse=side == "above")
                yield Variant(planned=placed, cases=cases, exact=exact)


def _placed(planned: Planned, prim: PrimFunc, name: str, distance: int, *, reverse: bool) -> Planned:
    """The program with its result `distance` bytes above its image, run in that direction."""
    program = planned.program
    pool = program.problem.pools[0].name
    image, result = program.slices[program.inputs[0].value], program.slices[program.outputs[0].value]
    places = {
        image.buffer: Placement(pool=pool, offset=BASE),
        result.buffer: Placement(pool=pool, offset=BASE + distance),
    }
    spaces = [each for each in program.plan.placements if each not in places]
    for number, space in enumerate(spaces, start=2):
        places[space] = Placement(pool=pool, offset=number * BASE)
    if reverse:
        assert prim.reverse is not None
        prim = replace(prim, symbol=prim.reverse.symbol, sources=prim.reverse.sources)
    plan = replace(program.plan, placements=places)
    return replace(planned, program=replace(program, name=name, plan=plan, prim_funcs=(prim,)))


@pytest.mark.parametrize(
    "board_name",
    [
        "host",
        pytest.param("mps2-an385", marks=pytest.mark.qemu),
        pytest.param("mps2-an386", marks=pytest.mark.qemu),
        pytest.param("mps3-an547", marks=pytest.mark.qemu),
        pytest.param(V6M, marks=pytest.mark.qemu),
    ],
)
def test_distances_on_target(board_name: str, tmp_path: Path) -> None:
    board = boards.load_board(board_name)
    made = list(variants(tmp_path, board))
    sources = joined(emit.render(together([variant.planned.program for variant in made])))
    emit.write(sources, tmp_path / "build")
    image = toolchain.build(sources, tmp_path / "build", board, optimize="speed")
    results: list[RunResult] = []
    with boards.session(image, board) as target:
        for model, variant in enumerate(made):
            # One paint: what is asked here is the same under both.
            asked = request(variant.planned.program, variant.cases, model=model)
            results.append(target.run(replace(asked, paints=asked.paints[:1])))
    for variant, result in zip(made, results, strict=True):
        found = measure(variant.planned, variant.cases, result).comparisons
        right = [one.matches for case in found for one in case]
        assert all(right) if variant.exact else not all(right), variant.planned.program.name


def cases_of(planned: Planned) -> tuple[Case, ...]:
    """Images with what NumPy makes of them, once for all places of the result."""
    cases = [_case(planned, number) for number in range(IMAGES)]
    return tuple(replace(case, expected=reference(planned, case)) for case in cases)


def _case(planned: Planned, number: int) -> Case:
    """Numbers so small that sums of a window stay inside an int8, or eighths of them inside an int16."""
    [tensor] = planned.program.inputs
    most = 2 if tensor.type.dtype is DType.INT8 else 2000
    image = np.random.default_rng([number, 5]).integers(-most, most + 1, tensor.type.shape)
    image = image.astype(tensor.type.dtype.numpy)
    return Case(name=str(number), inputs=(image,))
