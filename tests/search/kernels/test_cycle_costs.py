"""What kernels cost in cycles behind a part's flash."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board, load_memory_model
from codegen.driver.build import build
from codegen.driver.cycle_estimate import estimate_cycles
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.inputs.declared_pools import option_board
from codegen.driver.options import Options
from codegen.ir import FlashCache, Target
from codegen.kernels.base.code_bytes import constant_reads
from codegen.kernels.base.registry import kernels_for, supported_ops
from codegen.kernels.primfunc import PrimFunc
from codegen.search import Choices, search
from codegen.search.kernels import cycle_costs
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.costs import cheapest, cost
from codegen.search.kernels.cycle_costs import CycleCosts, KernelCycles, layer_counts, recorded
from codegen.search.kernels.selection import select
from tests.checkout import ROOT
from tests.networks import model_path
from tests.search.chains import Chain

PART = load_memory_model("stm32l4r5")
MADE_UP = KernelCycles(
    cycles=1.5,
    data=0.5,
    misses={0: (0.4, 0, 0, 0, 0, 0), 1024: (0, 10, 3, 0, 2, 0), 4096: (0, 1, 0, 0, 0, 0)},
)


@pytest.fixture
def prim(monkeypatch: pytest.MonkeyPatch) -> PrimFunc:
    """A convolution of 1,000 instructions, of whose kernel `MADE_UP` is recorded."""
    module = Chain(np.random.default_rng(1)).module(1)
    data = {id_: constant.data for id_, constant in module.constants.items()}
    (found,) = select(module.main, Binder(data, Target(cpu="cortex-m3")))

    def known(core: str) -> Mapping[str, KernelCycles]:
        return {found.kernel: MADE_UP} if core == "cortex-m3" else {}

    monkeypatch.setattr(cycle_costs, "recorded", known)
    return replace(found, instructions=1000)


def test_cycles_are_those_of_instructions_and_waits_for_code(prim: PrimFunc):
    costs = CycleCosts(core="cortex-m3", memory=PART, is_staged=True)
    _, rows, columns, _ = prim.let.var.type.shape
    tiles = -(-rows * columns // 4)
    readings = 10 + 3 * rows + 2 * tiles
    assert costs.priced(prim).cycles == 1500 + 5 * readings
    # Two readings of eight bytes are one of sixteen.
    wide = replace(costs, memory=replace(PART, read_bytes=16))
    assert wide.priced(prim).cycles == round(1500 + 5 * readings / 2)
    # Figures of the largest recorded cache that is not larger; none: of no cache.
    large = replace(costs, memory=replace(PART, instruction_cache=FlashCache(rows=200, row_bytes=32)))
    assert large.priced(prim).cycles == 1500 + 5 * 1
    without = replace(costs, memory=replace(PART, instruction_cache=None))
    assert without.priced(prim).cycles == 1500 + 5 * 400


def test_constants_in_flash_wait_for_every_reading(prim: PrimFunc):
    costs = CycleCosts(core="cortex-m3", memory=replace(PART, data_cache=None), is_staged=False)
    staged = replace(costs, is_staged=True).priced(prim).cycles
    waits = sum(5 * -(-each.data.nbytes // 8) * constant_reads(prim, each) for each in prim.constants)
    assert waits and costs.priced(prim).cycles == round((staged or 0) + waits)
    # What a cache holds whole is read once, of more constants what was measured.
    held = replace(costs, memory=PART)
    lines = {each.role: 5 * -(-each.data.nbytes // 8) for each in prim.constants}
    assert prim.constant_bytes > 256 or held.data_waits(prim) == lines
    small = replace(costs, memory=replace(PART, data_cache=FlashCache(rows=1, row_bytes=8)))
    reads = {each.role: max(constant_reads(prim, each) / 2, 1) for each in prim.constants}
    assert small.data_waits(prim) == {role: lines[role] * reads[role] for role in lines}


def test_the_fewest_cycles_win_not_the_fewest_instructions(prim: PrimFunc):
    short, calm = replace(prim, instructions=1000), replace(prim, instructions=1100)
    assert cheapest([short, calm]) is short
    short, calm = replace(short, cycles=2000), replace(calm, cycles=1500)
    assert cheapest([short, calm]) is calm
    assert cost(calm, 0) < 1600


def test_kernels_that_are_not_recorded_cost_their_instructions(prim: PrimFunc):
    other = CycleCosts(core="cortex-m7", memory=PART, is_staged=True)
    assert other.priced(prim).cycles == 1000
    # Of a core that is: the mean.
    unknown = replace(prim, kernel="other")
    assert replace(other, core="cortex-m3").priced(unknown).cycles == 1500
    assert other.priced(replace(prim, instructions=None)).cycles is None


def test_what_is_recorded_are_kernels_of_today():
    names = {kernel.name for op in supported_ops() for kernel in kernels_for(op)}
    found = recorded("cortex-m4")
    assert found and not set(found) - names
    for each in found.values():
        assert 1 <= each.cycles < 2 and 0 <= each.data < 1.1
        # A large cache keeps what none does, and no layer fetches less than nothing.
        for counts in ((20_000, 1, 8, 64, 32, 32), (400_000, 1, 24, 192, 144, 0)):
            sums = [np.dot(figures, counts) for _, figures in sorted(each.misses.items())]
            assert sums[0] > sums[2] >= 0 <= sums[1]


def test_counts_of_a_layer(prim: PrimFunc):
    counts = layer_counts(prim)
    assert counts is not None
    _, rows, columns, channels = prim.let.var.type.shape
    bands, tiles = rows * -(-channels // 4), -(-rows * columns // 4)
    assert counts.vector[:5] == (1000, 1, rows, bands, tiles)
    assert layer_counts(replace(prim, instructions=None)) is None


def test_a_board_behind_a_flash_is_as_the_board_of_that_part():
    part = load_board("nucleo-l4r5zi").region("FLASH")
    board = option_board("mps2-an386", (), PART)
    flash = board.region(board.code_region)
    assert (flash.access_cost, flash.wait_states, flash.fetch_bytes) == (3.5, 5, 8)
    assert (part.access_cost, part.wait_states, part.fetch_bytes) == (3.5, 5, 8)
    assert "-falign-functions=32" in board.target.compiler_flags
    assert load_board("mps2-an386").target.compiler_flags == board.target.compiler_flags[:-2]


def test_constants_that_find_no_room_in_ram_count_where_they_lie():
    """Kernels are chosen for constants in flash where nothing is copied; what they cost together says so."""
    module = Chain(np.random.default_rng(3)).module(3)
    board = option_board("mps2-an386", (), PART)
    copied, linked = (
        search(module, board, Choices(optimize="speed", memory=PART, alone=True, stage=stage), name="m")
        for stage in ("auto", "off")
    )
    costs = CycleCosts(core=board.target.cpu, memory=PART, is_staged=False)
    assert costs.linked_waits(copied) == 0 < costs.linked_waits(linked)


def test_kws_is_chosen_by_cycles_as_predicted(tmp_path: Path):
    """By instructions `speed` takes depthwise kernels in place: they are 6 in 100 longer, and with their
    driver do not fit the cache of 1 KiB, so they take 1.6 times the cycles."""
    board = ROOT / "benchmarks" / "boards" / "mps2-an386-l4r5.toml"
    options = Options(board=str(board), optimize="speed", memory_model=PART.name)
    built = build([model_path("ds_cnn")], options, tmp_path / "b", emulated=True)
    program = built.models[0].program
    assert "--memory-model stm32l4r5" in program.metadata["options"]
    case = pattern_case([tensor.type for tensor in program.signature.inputs], 0)
    estimate = estimate_cycles(built, case, memory=PART)
    waits = estimate.total_waits
    assert waits is not None
    total = estimate.total + waits.total
    assert total < 5_100_000  # the best published latency is 5.18 million cycles
    steps = program.steps.prim_funcs
    assert not [prim.kernel for prim in steps if prim.in_place is not None]
    assert sum(prim.cycles or 0 for prim in steps) == pytest.approx(total, rel=0.06)
