"""The simulation of blocks against brute force: rings element by element, distances byte by byte.
Slices as views and joined concatenations: which bytes they claim, and what is left to the kernel.
"""

import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

from codegen.ir import DType, Var
from codegen.ir.ops import ConcatAttrs, StridedSliceAttrs
from codegen.kernels import fused
from codegen.kernels.base.portable_work import estimated_work
from codegen.kernels.base.views import joinable, joined, slice_view
from codegen.kernels.block_layout import BlockLayout, macs, work
from codegen.kernels.call import ArrayArg, NullArg, ValueArg
from codegen.kernels.rows import (
    Axis,
    Grid,
    RowImage,
    Stage,
    accesses,
    demanded,
    of_images,
    safe_distance,
    schedule,
    simulate,
)
from codegen.search.blocks.line_floor import LineFloor
from tests.kernels.access import nearest
from tests.kernels.calling import Library, bind
from tests.kernels.layers import Layer, Operand, fill, layer
from tests.kernels.networks_by_rows import row_prims as _prims
from tests.kernels.networks_by_rows import window_taps as _taps
from tests.tensor_types import tensor_type


def _leads_on(stages: tuple[Stage, ...]) -> bool:
    readers = {source for stage in stages for source in stage.sources}
    return all(index in readers for index in range(len(stages) - 1))


def _lines_a_row(depth: int) -> float:
    """Lines of Python that scheduling takes for a row of a chain of 3x3 windows."""
    axis = Axis(count=64, extent=64, window=3, pad=1)
    chain = [Stage(rows=axis, columns=axis, pixel_bytes=1, sources=(index - 1,)) for index in range(depth)]
    lines = 0

    def see(frame: object, event: str, argument: object) -> object:
        nonlocal lines
        lines += event == "line"
        return see

    before = sys.gettrace()
    sys.settrace(see)  # pyright: ignore[reportArgumentType]
    try:
        rows = list(schedule(chain))
    finally:
        sys.settrace(before)
    return lines / len(rows)


def test_a_row_of_a_deep_block_takes_no_longer() -> None:
    """Every row walked from the last stage down: planning 70 steps that fit nowhere took minutes."""
    assert _lines_a_row(60) < 1.2 * _lines_a_row(15)


SEEDS = range(80)


@pytest.mark.parametrize("seed", SEEDS)
def test_rings_hold_every_row_that_is_read_and_no_row_more(seed: int) -> None:
    stages = fused.layout(_prims(seed)).stages
    run = simulate(stages)
    order = list(schedule(stages))
    assert [row for index, row in order if index == len(stages) - 1] == list(range(stages[-1].rows.count))

    def lost(kept: tuple[int, ...]) -> bool:
        """Whether a ring of these heights has overwritten a row that a stage reads, or never held it."""
        rings: list[dict[int, int]] = [{} for _ in stages]
        for index, row in order:
            for source in stages[index].sources:
                if source >= 0:
                    for tap in _taps(stages[index], row, rows=True):
                        if rings[source].get(tap % kept[source]) != tap:
                            return True
            rings[index][row % kept[index]] = row
        return False

    assert not lost(run.kept)
    for index in range(len(stages) - 1):
        if run.kept[index] > 1:
            fewer = (*run.kept[:index], run.kept[index] - 1, *run.kept[index + 1 :])
            assert lost(fewer), f"stage {index} could do with fewer rows"


@pytest.mark.parametrize("stripes", [1, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_stripes_compute_all_columns_that_are_read(seed: int, stripes: int) -> None:
    planned = fused.layout(_prims(seed), Grid(stripes=stripes))
    last = len(planned.stages) - 1
    covered = [column for spans in planned.stripes for column in range(*spans[last])]
    assert covered == list(range(planned.stages[last].columns.count))
    for spans in planned.stripes:
        for index, stage in enumerate(planned.stages):
            for column in range(*spans[index]):
                for tap in _taps(stage, column, rows=False):
                    assert all(spans[s][0] <= tap < spans[s][1] for s in stage.sources if s >= 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_stripes_hold_what_windows_cover(seed: int) -> None:
    """Lines once held no column that only lies between taps: of taps at -1 and 1 only column 1. Three kernels
    copy all that a window covers; they read column 0 in front of the lines, which may begin a pool."""
    planned = fused.layout(_prims(seed), Grid(stripes=1 + seed % 3))
    for spans in planned.stripes:
        for stage, (start, stop) in zip(planned.stages, spans, strict=True):
            axis = stage.columns
            for column in range(start, stop):
                origin = column * axis.stride - axis.pad
                covered = range(max(origin, 0), min(origin + axis.reach + axis.pad + 1, axis.extent))
                held = [spans[source] for source in stage.sources if source >= 0]
                assert all(low <= place < end for low, end in held for place in covered)


def test_a_column_between_taps_is_held() -> None:
    assert Axis(count=2, extent=6, window=2, stride=3, dilation=2, pad=1).cover(0, 2) == (0, 5)
    assert Axis(count=2, extent=6, window=2, stride=3, dilation=2, pad=1).cover(1, 2) == (2, 5)
    assert Axis(count=2, extent=6, window=2, stride=3, dilation=2, pad=1).cover(1, 1) == (0, 0)


def _brute_force(
    planned: BlockLayout, argument: int, image: RowImage, images: int = 1, argument_bytes: int = 0
) -> int | None:
    """Byte by byte: the largest of (byte written + 1 - lowest byte still to be read). A pixel's reads may
    follow its writes, an elementwise stage reads each element before it writes it. Of several images, one
    after the other, the argument's have `argument_bytes` each."""
    stages, last = planned.stages, len(planned.stages) - 1
    result = RowImage(columns=stages[last].columns.count, pixel_bytes=stages[last].pixel_bytes)
    steps: list[tuple[int | None, int | None]] = []
    for band, spans in product(planned.run.bands, planned.stripes):
        for index, row in band.order:
            reads = argument in stages[index].sources
            for column in range(*spans[index]):
                taps = [
                    image.offset(y, x)
                    for y in _taps(stages[index], row, rows=True)
                    for x in _taps(stages[index], column, rows=False)
                ]
                low = min(taps, default=None) if reads else None
                end = result.offset(row, column + 1)
                if index != last:
                    steps.append((None, low))
                elif low is not None and stages[index].is_elementwise:
                    for byte in range(image.pixel_bytes):
                        steps.append((None, low + byte))
                        steps.append((end - image.pixel_bytes + byte + 1, None))
                else:
                    steps.append((end, low))
    result_bytes = result.offset(stages[last].rows.count, 0)
    every = (
        (end and end + number * result_bytes, low if low is None else low + number * argument_bytes)
        for number in range(images)
        for end, low in steps
    )
    return nearest(list(every))


_GRIDS = (Grid(), Grid(stripes=2), Grid(stripes=2, band_rows=1), Grid(stripes=3, band_rows=2))


@pytest.mark.parametrize("grid", _GRIDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_distance_is_safe_and_tight(seed: int, grid: Grid) -> None:
    prims = _prims(seed)
    planned = fused.layout(prims, grid)
    if not _leads_on(planned.stages):
        pytest.skip("a step leads nowhere: the search makes no such block")
    for index, var in enumerate(fused.outside(prims)):
        image = RowImage(columns=var.type.shape[2], pixel_bytes=var.type.shape[3] * var.type.dtype.size_bytes)
        found = safe_distance(*accesses(planned.stages, planned.run, planned.stripes, -1 - index, image))
        expected = _brute_force(planned, -1 - index, image)
        assert found == expected


@pytest.mark.parametrize("images", [2, 5])
@pytest.mark.parametrize("seed", SEEDS[::4])
def test_distance_of_several_images_is_safe_and_tight(seed: int, images: int) -> None:
    """A result that is larger than its argument comes nearer to it with every image, a smaller one is nearest
    at the first, or when the second begins."""
    prims = _prims(seed)
    planned = fused.layout(prims, Grid(stripes=1 + seed % 3))
    if not _leads_on(planned.stages):
        pytest.skip("a step leads nowhere: the search makes no such block")
    result_bytes = prims[-1].let.var.type.size_bytes
    for index, var in enumerate(fused.outside(prims)):
        own_bytes = var.type.size_bytes
        image = RowImage(columns=var.type.shape[2], pixel_bytes=var.type.shape[3] * var.type.dtype.size_bytes)
        first = accesses(planned.stages, planned.run, planned.stripes, -1 - index, image)
        found = safe_distance(*of_images(*first, images, own_bytes, result_bytes))
        assert found == _brute_force(planned, -1 - index, image, images, own_bytes)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_read_until_their_last_write_may_reach_less_far(seed: int) -> None:
    """A last stage that reads its windows anew for every group of channels: all of a row is written before
    the last read for it."""
    prims = _prims(seed)[:1]
    planned = fused.layout(prims)
    [last] = planned.stages
    if last.is_elementwise:
        pytest.skip("the first layer slides no window")
    [var] = fused.outside(prims)
    image = RowImage(columns=var.type.shape[2], pixel_bytes=var.type.shape[3] * var.type.dtype.size_bytes)
    grouped = (replace(last, reads_row_last=True),)
    found = safe_distance(*accesses(grouped, planned.run, planned.stripes, -1, image))
    worst: int | None = None
    lowest: int | None = None
    left = min(x for column in range(last.columns.count) for x in _taps(last, column, rows=False))
    for row in reversed(range(last.rows.count)):
        low = image.offset(min(_taps(last, row, rows=True)), left)
        lowest = low if lowest is None else min(lowest, low)
        end = (row + 1) * last.columns.count * last.pixel_bytes
        worst = end - lowest if worst is None else max(worst, end - lowest)
    assert found == worst


def test_distance_of_nothing_read_is_free() -> None:
    nothing = np.iinfo(np.int64).max
    assert safe_distance(np.array([4, 8]), np.array([nothing, nothing])) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_lines_work_and_overlap_are_no_better_than_the_floor(seed: int) -> None:
    """Also in patches, and of rows that wait for the other side of a join."""
    prims, grids = _prims(seed), (*_GRIDS, Grid(stripes=4), Grid(stripes=8, band_rows=1))
    floor = LineFloor(grids=grids)
    for prim in reversed(prims):
        floor.grow(prim)
    result_bytes = prims[-1].let.var.type.size_bytes
    for index, grid in enumerate(grids):
        planned = fused.layout(prims, grid)
        if not _leads_on(planned.stages):
            pytest.skip("a step leads nowhere: the search makes no such block")
        assert floor.bytes[index] <= sum(planned.line_bytes)
        assert floor.macs[index] <= macs(prims, planned)
        costs = [estimated_work(prim) for prim in prims]
        assert floor.instructions[index] <= work(prims, costs, planned)
        rules = {rule.argument: rule.below for rule in fused.sharing(prims, planned)}
        for number, var in enumerate(fused.outside(prims)):
            below = rules.get(number, result_bytes)
            assert below is not None
            common = min(var.type.size_bytes, result_bytes - max(below, 0))
            assert common <= floor.overlap_bytes(var)[index]


def test_most_floors_of_lines_are_what_a_simulation_finds() -> None:
    """With columns divided by stripes, and without what waits, a network of 73 steps simulated 2,173
    blocks for the least need of its variants; with this 135."""
    met: list[bool] = []
    for seed in SEEDS:
        prims, grids = _prims(seed), (*_GRIDS[:2], Grid(stripes=4))
        floor = LineFloor(grids=grids)
        for prim in reversed(prims):
            floor.grow(prim)
        layouts = [fused.layout(prims, grid) for grid in grids]
        if _leads_on(layouts[0].stages):
            met += [sum(each.line_bytes) == least for each, least in zip(layouts, floor.bytes, strict=True)]
    assert sum(met) >= 0.95 * len(met) > 0


def test_a_chain_of_three_by_three_layers_keeps_three_rows() -> None:
    # Padding 1, stride 1: a row is read by the rows above and below it, so three of the first layer's rows
    # are there at a time; nobody keeps the last one's.
    for seed in range(200):
        prims = _prims(seed)
        stages = fused.layout(prims).stages
        for index, stage in enumerate(stages[1:], start=1):
            if stage.rows.window == 3 and stage.rows.stride == 1 and stage.sources == (index - 1,):
                assert simulate(stages).kept[index - 1] >= min(3, stage.rows.extent)


def test_demanded_columns_shrink_to_what_a_stride_reads() -> None:
    for seed in range(40):
        stages = fused.layout(_prims(seed)).stages
        spans = demanded(stages, 0, stages[-1].columns.count, columns=True)
        assert all(
            0 <= start <= stop <= s.columns.count for s, (start, stop) in zip(stages, spans, strict=True)
        )


def test_arguments_are_named_in_order_of_use() -> None:
    prims = _prims(0)
    first = prims[0].let.call.args[0]
    assert isinstance(first, Var)
    assert fused.outside(prims)[0] == first


def operand(*shape: int, dtype: DType = DType.INT8, constant: bool = False) -> Operand:
    type_ = tensor_type(shape, dtype)
    return Operand(type=type_, data=fill(default_rng(sum(shape)), type_), constant=constant)


def sliced(shape: tuple[int, ...], *axes: tuple[int, int, int], dtype: DType = DType.INT8) -> Layer:
    """`axes`: first index, step, count of each."""
    counts = tuple(count for _, _, count in axes)
    attrs = StridedSliceAttrs(
        begins=tuple(begin for begin, _, _ in axes),
        strides=tuple(step for _, step, _ in axes),
        counts=counts,
        shape=counts,
    )
    given = operand(*shape, dtype=dtype)
    return layer("STRIDED_SLICE", attrs, (given,), given.type)


@pytest.mark.parametrize(
    ("shape", "axes", "dtype"),
    [
        ((1, 12), [(0, 1, 1), (3, 1, 5)], DType.INT8),
        ((4, 3, 2), [(1, 1, 2), (0, 1, 3), (0, 1, 2)], DType.INT8),
        ((4, 3, 2), [(2, 7, 1), (1, 1, 2), (0, 1, 2)], DType.INT8),
        ((4, 3, 2), [(3, -1, 1), (2, -5, 1), (1, 1, 1)], DType.INT8),
        ((5, 4), [(2, 1, 2), (0, 1, 4)], DType.FLOAT32),
    ],
)
def test_a_slice_of_neighbours_is_a_view(
    shape: tuple[int, ...], axes: list[tuple[int, int, int]], dtype: DType
) -> None:
    case = sliced(shape, *axes, dtype=dtype)
    found = slice_view(bind(case))
    assert found is not None
    assert found.view is not None
    given = case.values[0]
    assert given is not None
    first, size = found.view.offset_bytes, case.let.var.type.size_bytes
    assert given.tobytes()[first : first + size] == case.expected.tobytes()
    assert not found.is_call


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((2, 12), [(0, 1, 2), (3, 1, 5)]),
        ((1, 12), [(0, 1, 1), (0, 2, 5)]),
        ((1, 12), [(0, 1, 1), (5, -1, 5)]),
        ((4, 3, 2), [(0, 1, 4), (0, 1, 3), (0, 1, 1)]),
    ],
)
def test_other_slices_are_not(shape: tuple[int, ...], axes: list[tuple[int, int, int]]) -> None:
    assert slice_view(bind(sliced(shape, *axes))) is None


def concat(axis: int, *operands: Operand) -> Layer:
    return layer("CONCATENATION", ConcatAttrs(axis=axis), operands, operands[0].type)


def test_only_what_is_one_run_of_bytes_in_the_result_can_be_joined() -> None:
    assert joinable(bind(concat(1, operand(1, 3), operand(1, 4)))) == (0, 1)
    assert joinable(bind(concat(0, operand(2, 3), operand(4, 3)))) == (0, 1)
    assert joinable(bind(concat(3, operand(1, 1, 1, 3), operand(1, 1, 1, 2)))) == (0, 1)
    assert joinable(bind(concat(1, operand(2, 3), operand(2, 4)))) == ()
    assert joinable(bind(concat(1, operand(1, 3, constant=True), operand(1, 4)))) == (1,)
    assert slice_view(bind(concat(1, operand(1, 3)))) is None


def test_without_anything_to_copy_nothing_is_called() -> None:
    found = joined(bind(concat(1, operand(1, 3), operand(1, 4))), (0, 1))
    assert not found.is_call
    assert (found.structs, found.constants, found.call_args, found.sources) == ((), (), (), ())
    assert [(arg.name, offset) for arg, offset in found.joins] == [("in0", 0), ("in1", 3)]


@pytest.mark.usefixtures("no_reports")
def test_the_kernel_leaves_joined_parts_alone(library: Library) -> None:
    case = concat(1, operand(1, 3), operand(1, 4), operand(1, 5, constant=True), operand(1, 2))
    found = joined(bind(case), (1, 3))
    [array] = [arg for arg in found.call_args if isinstance(arg, ArrayArg)]
    assert [type(item) for item in array.items].count(NullArg) == 2
    assert ValueArg(index=0) in array.items
    for paint in (0xA5, 0x5A):
        got = np.frombuffer(library.run(found, case, paint=paint).result, np.uint8)
        wanted = np.frombuffer(case.expected.tobytes(), np.uint8).copy()
        wanted[3:7] = wanted[12:14] = paint
        np.testing.assert_array_equal(got, wanted)
