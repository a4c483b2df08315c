"""Compiled for M0, M3, M4 and M55 and run: results at exactly the stated distance, and one element nearer.

The models are sums of their image and 3 (weights of one, scales of one), so that a lost byte shows; on int16
eighths of sums of large numbers.
Steps that run twice, measured: outputs bit-equal to the goldens, peaks equal to the plan.
The reduction through the whole chain: real models against goldens, random networks compiled and run.
"""

from collections.abc import Iterator, Sequence
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
from codegen.driver.report.several import used_pools
from codegen.driver.run import RunConditions, check_steps, complaints, execute, measure, reference, request
from codegen.errors import CodegenError
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import Board, DType, Module, Runner
from codegen.ir.evaluate import steps
from codegen.joint import together
from codegen.kernels.primfunc import PrimFunc
from codegen.passes import FoldConstants, RemoveDead, run_passes
from codegen.passes.reduce import reduce
from codegen.problem.problem import Placement
from codegen.program.image import RunResult, Trace
from codegen.search import Choices, search
from codegen.search.kernels import fewest_bytes
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from codegen.settings import Optimize
from tests.checkout import ROOT
from tests.e2e.models import build_model, golden_cases
from tests.emit.variants import replanned
from tests.joining import joined
from tests.networks import model_path
from tests.passes.networks import inputs_of, random_network

BASE = 4096
"""Where the image lies: far enough from the pool's start for every result below it."""
IMAGES = 3
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


def variants(folder: Path, board: Board, shapes: Sequence[Shape]) -> Iterator[Variant]:
    """Every shape, both sides: its result at the stated distance, and one element nearer."""
    for number, shape in enumerate(shapes):
        # Without the DSP extension int16 has portable kernels alone: the host's.
        if shape.dtype == "int16" and board.runner is Runner.QEMU and "dsp" not in board.target.features:
            continue
        path = folder / f"m{number}.tflite"
        path.write_bytes(model_of(shape))
        planned = plan_model(path, board, Options(board=board.name, optimize="speed"), emulated=True)
        constants = {id_: constant.data for id_, constant in planned.module.constants.items()}
        [prim] = select(planned.module.main, Binder(constants, board.target))
        [used] = planned.program.steps.prim_funcs
        assert used.workspaces == prim.workspaces, "the plan has no room for the workspace of another kernel"
        [rule] = prim.sharing
        assert rule.below is not None
        # Pairs of int16 are stored as words, which have to be aligned; int8 may lie anywhere.
        element = (
            max(np.dtype(shape.dtype).itemsize, prim.argument_alignment) if shape.dtype == "int16" else 1
        )
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
    pool = program.memory.problem.pools[0].name
    image, result = (
        program.memory.slices[program.signature.inputs[0].value],
        program.memory.slices[program.signature.outputs[0].value],
    )
    places = {
        image.buffer: Placement(pool=pool, offset=BASE),
        result.buffer: Placement(pool=pool, offset=BASE + distance),
    }
    spaces = [each for each in program.memory.plan.placements if each not in places]
    for number, space in enumerate(spaces, start=2):
        places[space] = Placement(pool=pool, offset=number * BASE)
    if reverse:
        assert prim.reverse is not None
        prim = replace(prim, symbol=prim.reverse.symbol, sources=prim.reverse.sources)
    program = replanned(program.running((prim,)), placements=places)
    return replace(planned, program=replace(program, name=name))


@pytest.mark.parametrize(
    ("board_name", "shapes"),
    [
        pytest.param("host", SHAPES, id="host"),
        pytest.param("mps2-an386", SHAPES[::3], marks=pytest.mark.qemu, id="mps2-an386"),
        *(
            pytest.param("mps2-an386", SHAPES[turn::3], marks=[pytest.mark.qemu, pytest.mark.thorough])
            for turn in (1, 2)
        ),
        *(
            pytest.param(name, SHAPES, marks=[pytest.mark.qemu, pytest.mark.long])
            for name in ("mps2-an385", "mps3-an547", V6M)
        ),
    ],
)
def test_distances_on_target(
    board_name: str, shapes: Sequence[Shape], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fastest kernels, also where one nearly as fast needs less room: those that have a workspace."""
    monkeypatch.setattr(fewest_bytes, "GAIN_PERCENT", 100)
    board = boards.load_board(board_name)
    made = list(variants(tmp_path, board, shapes))
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
    [tensor] = planned.program.signature.inputs
    most = 2 if tensor.type.dtype is DType.INT8 else 2000
    image = np.random.default_rng([number, 5]).integers(-most, most + 1, tensor.type.shape)
    image = image.astype(tensor.type.dtype.numpy)
    return Case(name=str(number), inputs=(image,))


MACS = 12_501_632


def measured(options: Options, folder: Path) -> tuple[int, int]:
    """Measured peak in bytes, multiply-accumulates executed."""
    key = "resnet8"
    built = build_model(key, options, folder)
    program, cases = built.models[0].program, golden_cases(key)
    found = execute(built, cases)
    assert complaints(built.models[0], cases, found, built.image.sizes.stack_bound_bytes) == []
    [pool] = used_pools(program)
    peaks = {case.pool_peaks[pool] for case in found.result.cases}
    assert peaks == {program.memory.peak_bytes(pool)}
    return peaks.pop(), sum(prim.macs for prim in program.steps.prim_funcs)


@pytest.mark.qemu
@pytest.mark.parametrize(
    ("optimize", "peak", "most_macs"), [("balanced", 49_152, MACS), ("size", 35_840, MACS * 1.036)]
)
def test_whole_tensors_in_place(optimize: Optimize, peak: int, most_macs: float, tmp_path: Path) -> None:
    # A core whose kernels need no workspace: the figures are those of the values alone.
    options = Options(board="host", optimize=optimize, blocks=False, sharing="in-place")
    found, macs = measured(options, tmp_path / "build")
    assert found == peak
    assert MACS <= macs <= most_macs


def test_steps_that_run_again_are_validated(tmp_path: Path) -> None:
    """Their names are in no reference: `validate` stopped with a KeyError."""
    key, options = "resnet8", Options(board="host", optimize="size", blocks=False)
    built = build_model(key, options, tmp_path / "build")
    case = golden_cases(key)[0]
    checks = check_steps(built.models[0], case, execute(built, [case], RunConditions(trace=Trace.RESULTS)))
    again = [check for check in checks if check.name.endswith("_again")]
    assert again
    assert all(check.comparison is not None and check.comparison.matches for check in again)


@pytest.mark.qemu
@pytest.mark.thorough
def test_recomputed_steps_inside_blocks(tmp_path: Path) -> None:
    """With everything permitted, `size` computes the first two stages again rather than keep their result."""
    peak, macs = measured(Options(board="mps2-an386", optimize="size"), tmp_path / "build")
    assert peak <= 20_400
    assert macs > MACS


HOST = boards.load_board("host")
WANTED = 40
"""Reduced networks that one program holds."""


def test_constant_neurons_are_those_that_all_inputs_show() -> None:
    """hello_world has one int8 input: its first layer is known from 256 inferences."""
    planned = plan_model(model_path("dense_chain_pruned"), HOST, Options(board="host"))
    whole = planned.reference
    first = [next(steps(whole, whole.main, [np.full((1, 1), x, np.int8)])) for x in range(-128, 128)]
    values = np.concatenate([value for _, value in first])
    assert planned.reduction is not None
    left = planned.reduction.surviving[first[0][0].var.name]
    assert left == tuple(np.flatnonzero(values.min(axis=0) != values.max(axis=0)))


@pytest.mark.parametrize("shrunk", ["dense_chain_pruned", "person_detect"])
def test_validated_steps_are_those_of_the_whole_network(shrunk: str, tmp_path: Path) -> None:
    built = build_model(shrunk, Options(board="host"), tmp_path / "build")
    (planned,) = built.models
    case = golden_cases(shrunk)[0]
    checks = check_steps(planned, case, execute(built, [case], RunConditions(trace=Trace.RESULTS)))
    assert all(check.comparison is None or check.comparison.matches for check in checks)
    cut = [check.channels for check in checks if check.channels is not None]
    assert cut
    assert all(left < every for left, every in cut)


def _searched(module: Module, name: str, board: Board) -> Planned | None:
    """The reduced network, planned; None if the search refuses the network as it was."""
    reduction = reduce(module)
    try:
        search(module, board, Choices(planner="greedy_by_size"), name=name)
    except CodegenError:
        return None
    program = search(reduction.module, board, Choices(planner="greedy_by_size"), name=name)
    return Planned(module=reduction.module, program=program, macs=0, reduction=reduction)


def test_random_networks_run_as_before(tmp_path: Path) -> None:
    """What can be built can be built reduced (E312 and kernels that refuse included), with equal outputs."""
    models: list[Planned] = []
    seeds: list[int] = []
    for seed in range(10_000):
        module = run_passes(random_network(seed), (FoldConstants(), RemoveDead()))
        planned = _searched(module, f"net{seed}", HOST) if reduce(module).removed else None
        if planned is not None:
            models.append(planned)
            seeds.append(seed)
        if len(models) == WANTED:
            break
    sources = joined(emit.render(together([model.program for model in models])))
    emit.write(sources, tmp_path / "build")
    image = toolchain.build(sources, tmp_path / "build", HOST, optimize="size")
    wrong: list[str] = []
    with boards.session(image, HOST) as target:
        for number, (seed, model) in enumerate(zip(seeds, models, strict=True)):
            assert model.reduction is not None
            cases = [
                Case(name=f"net{seed} {index}", inputs=tuple(inputs))
                for index, inputs in enumerate(inputs_of(model.reduction.original, seed))
            ]
            measured = measure(model, cases, target.run(request(model.program, cases, model=number)))
            wrong += [str(message) for message in complaints(model, cases, measured, None)]
    assert not wrong, "\n".join(wrong[:20])
