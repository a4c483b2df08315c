"""The choice of blocks: against every possible grouping, under budgets, and its messages."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codegen import board as boards
from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.ir import Module, VirtualDevice
from codegen.ir.builder import Builder
from codegen.ir.ops import OPS, Attrs, BinaryAttrs
from codegen.ir.rules import Place
from codegen.kernels import fused
from codegen.kernels.rows import BlockRun, Stage, simulate
from codegen.lifetimes.liveness import liveness
from codegen.passes import place_values
from codegen.plan.place.bounds import lower_bound
from codegen.problem.problem import BufferKind, Pool
from codegen.problem.shortage import DoesNotFit
from codegen.program.interface import Edge
from codegen.program.program import Program
from codegen.search import Choices, search
from codegen.search.blocks.block_costs import GRIDS, BlockCosts
from codegen.search.blocks.line_floor import LineFloor
from codegen.search.blocks.row_blocks import BlockRuns, Segment, apply, row_steps
from codegen.search.blocks.tiling import StepKernels, Tiler
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from codegen.search.steps.schedule import Lifetimes
from tests.networks import model_path
from tests.plan.growth import wired
from tests.search.chains import METADATA, random_chain, segments
from tests.tensor_types import tensor_type

HOST = boards.load_board("host")
POOL = Pool(name="ram", region="RAM", limit_bytes=1 << 28, alignment=1)


class _Case:
    """A random network with its steps and its tiler."""

    def __init__(self, seed: int) -> None:
        module = random_chain(seed, 2 + seed % 5)
        data = {id_: constant.data for id_, constant in module.constants.items()}
        self.function = module.main
        binder = Binder(data, HOST.target)
        self.prims = select(self.function, binder)
        self.steps = row_steps(self.prims, binder)
        lives = Lifetimes(self.function, self.prims, edge=Edge())
        self.tiler = Tiler(self.function, StepKernels(chosen=self.prims, as_rows=self.steps), lives)

    def groupings(self, start: int = 0) -> Iterator[tuple[Segment, ...]]:
        """Every set of disjoint blocks without stripes."""
        possible = [pair for pair in segments(self.function, self.steps) if pair[1] - pair[0] > 1]
        if start >= len(self.prims):
            yield ()
            return
        yield from self.groupings(start + 1)
        for first, stop in possible:
            if first == start:
                for rest in self.groupings(stop):
                    yield (Segment(start=first, stop=stop), *rest)

    def bound(self, grouping: tuple[Segment, ...]) -> int:
        """The planning problem's own lower bound."""
        function, prims = apply(self.function, self.prims, self.steps, grouping)
        live = liveness(
            prims,
            function,
            edge=Edge(),
            pool_candidates=dict.fromkeys(BufferKind, ("ram",)),
            minimum_alignment=1,
        )
        return lower_bound(live.problem([POOL])).bytes


@pytest.mark.parametrize("seed", range(40))
def test_no_other_grouping_needs_less(seed: int) -> None:
    case = _Case(seed)
    found = case.tiler.smallest(recompute=False)
    bounds = [case.bound(grouping) for grouping in case.groupings()]
    # Needs count one overlap per step, as the bound does for a step's own buffers; a bound over several
    # overlapping arguments may be a little lower than the need.
    assert case.bound(found.segments) <= min(bounds) * 1.05 + 8
    assert found.extra_macs == 0


@pytest.mark.parametrize("seed", range(40))
def test_a_tiling_within_a_limit_needs_no_more(seed: int) -> None:
    tiler = _Case(seed).tiler
    least = tiler.smallest(recompute=True)
    middle = (least.need_bytes + tiler.plain_bytes) // 2
    for limit in (least.need_bytes, middle, tiler.plain_bytes):
        found = tiler.within(limit, recompute=True)
        assert found is not None
        assert found.need_bytes <= limit
    assert tiler.within(least.need_bytes - 1, recompute=True) is None
    plain = tiler.within(tiler.plain_bytes, recompute=True)
    assert plain is not None
    assert plain.segments == ()


@pytest.mark.parametrize("seed", range(12))
def test_what_lines_take_is_found_once_for_blocks_that_begin_alike(seed: int) -> None:
    """A block that goes on where another one stopped has the floors of one that is looked at alone."""
    case, costs, longest = _Case(seed), BlockCosts(), 0
    runs = BlockRuns(case.function, case.steps)
    for stop in range(1, len(case.prims) + 1):
        starts = list(runs.starts(stop))
        for length in range(1, len(starts) + 1):
            block, lines = costs.growing(None), LineFloor(None, GRIDS)
            for start in starts[:length]:
                prim = case.steps[start]
                assert prim is not None
                lines.grow(prim)
                grown = block.grow(prim)
                assert (grown.arguments, grown.lines_bytes) == (lines.arguments, lines.bytes)
                assert (grown.instructions, grown.macs) == (lines.instructions, lines.macs)
                alone = {argument.name: lines.overlap_bytes(argument) for argument in lines.arguments}
                assert grown.overlap_bytes == alone
            longest = max(longest, length)
    assert longest > 1 or len(case.prims) < 3


@pytest.mark.parametrize("core", [0, 1])
def test_a_step_on_another_core_ends_no_block(core: int) -> None:
    """The steps in front of it were not placed there; it may be a block by itself."""
    case, module = _Case(3), random_chain(3, 5)
    last = max(stop for start, stop in segments(case.function, case.steps) if stop - start > 1) - 1
    name = case.function.body[last].var.name
    place = Place(who="a place", device=VirtualDevice(device_id=core), tensor=name)
    placed = place_values(module, (place,), ()).module
    assert placed.main.body[last].var.device == place.device
    lengths = [stop - start for start, stop in segments(placed.main, case.steps) if stop == last + 1]
    assert 1 in lengths and (max(lengths) > 1) == (core == 0)


def _plan(key: str, **options: object) -> Program:
    made = replace(Options(board="host"), **options)  # pyright: ignore[reportArgumentType]
    return plan_model(model_path(key), HOST, made).program


def _peak(program: Program) -> int:
    return sum(program.memory.peaks.values())


RESNET = "resnet8"


def _blocks(program: Program) -> int:
    return sum(prim.block is not None for prim in program.steps.prim_funcs)


def test_speed_makes_no_block_until_a_limit_asks_for_one() -> None:
    assert _blocks(_plan(RESNET, optimize="speed")) == 0
    tight = _plan(RESNET, optimize="speed", pool_limits={"sram": 24_000})
    assert _blocks(tight) == 1
    assert _peak(tight) <= 24_000
    # Nothing was recomputed for it: blocks without stripes suffice.
    assert all(len(prim.block.stripes) == 1 for prim in tight.steps.prim_funcs if prim.block)


def test_balanced_recomputes_only_when_a_limit_asks_for_it() -> None:
    free = _plan(RESNET)
    limit = _peak(free) - 1_000
    tight = _plan(RESNET, pool_limits={"sram": limit})
    assert _peak(tight) <= limit
    assert sum(p.macs for p in tight.steps.prim_funcs) > sum(p.macs for p in free.steps.prim_funcs)


def test_what_fits_no_tiling_is_said() -> None:
    with pytest.raises(DoesNotFit) as caught:
        _plan(RESNET, pool_limits={"sram": 4_000})
    assert caught.value.missing_bytes > 0


def test_size_recomputes_where_that_lowers_the_peak() -> None:
    assert _peak(_plan(RESNET, optimize="size")) < _peak(_plan(RESNET))


def _message(module: Module, **choices: object) -> str:
    made = replace(Choices(planner="greedy_by_size", stream_input=True), **choices)  # pyright: ignore[reportArgumentType]
    with pytest.raises(CodegenError) as caught:
        search(module, HOST, made, name="model")
    assert caught.value.messages[0].code == "E217"
    return caught.value.messages[0].text


IMAGE = tensor_type((1, 4, 4, 2), scale=0.5)


def test_streaming_needs_one_input() -> None:
    builder = Builder()
    left, right = builder.param("left", IMAGE), builder.param("right", IMAGE)
    total = builder.call(OPS["ADD"], [left, right], BinaryAttrs(), IMAGE)
    assert _message(builder.build([total], METADATA)) == "the model has 2 inputs, supported is one"


def test_streaming_needs_readers_that_go_row_by_row() -> None:
    builder = Builder()
    image = builder.param("image", replace(IMAGE, shape=(1, 32)))
    raised = builder.call(OPS["RELU"], [image], Attrs(), image.type)
    text = _message(builder.build([raised], METADATA))
    assert text == 'input image is read by RELU "relu0", which cannot go row by row together'


def test_streaming_and_keeping_inputs_contradict() -> None:
    text = _message(random_chain(0, 2), keep_inputs=True)
    assert text == "--keep-inputs keeps the bytes of an input that has none"


def test_joins_that_wait_are_seen_without_a_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 ADDs wired at random took 19 s: blocks of dozens of joins were simulated, each join twice, though
    the rows that wait for its other side alone were more than such a block may keep. (Of 60 ADDs 1,306.)"""
    count = 0

    def counted(stages: Sequence[Stage], band_rows: int | None = None) -> BlockRun:
        nonlocal count
        count += 1
        return simulate(stages, band_rows)

    monkeypatch.setattr(fused, "simulate", counted)
    path = tmp_path / "model.tflite"
    path.write_bytes(wired(60))
    plan_model(path, HOST, Options(board="host"))
    assert 0 < count <= 250
