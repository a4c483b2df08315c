"""Programs for all sizes: each member is what a build for its sizes alone would be held to."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.driver.build import Share, plan_model
from codegen.driver.inputs.declared_pools import option_board
from codegen.driver.inputs.dims import parsed
from codegen.driver.options import Options
from codegen.driver.report.size_gaps import sizes_lines
from codegen.errors import CodegenError
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import Module
from codegen.ir.formulas import constant_of, open_sizes, text
from codegen.kernels.call import numbers_in
from codegen.kernels.primfunc import PrimFunc
from codegen.passes import Reduce
from codegen.plan.place.exact import optimal
from codegen.problem.problem import peak_bytes
from codegen.program.program import Program
from codegen.program.size_ranges import breakpoints, looked_at, named_values, number_at, turns
from codegen.search.ranges import block_members
from codegen.search.ranges import ranged as ranged_sizes
from codegen.settings import StageMode
from tests.networks import model_path
from tests.search.ranges.networks import (
    NETWORKS,
    Net,
    Network,
    audio,
    detector,
    narrow,
    overlapping,
    residual,
    rows,
)

POOL = "sram"


def planned(network: Network, folder: Path, board: str = "host", *dims: str) -> Program:
    """The program of a network for all its sizes, or those of `dims`."""
    path = folder / f"{network.name}.tflite"
    path.write_bytes(network.data)
    return planned_file(path, board, *(dims or network.dims))


def planned_file(path: Path, board: str, *dims: str) -> Program:
    """The program of a file for all sizes of `dims`."""
    options = Options(board=board, dims=parsed(dims))
    return plan_model(path, option_board(board, ()), options, emulated=True).program


@pytest.mark.parametrize("board", ["host", "mps2-an386"])
@pytest.mark.parametrize("draw", NETWORKS, ids=lambda draw: draw.__name__)
@pytest.mark.sampled(3)
def test_peaks_over_the_range(draw: Callable[[], Network], board: str, tmp_path: Path) -> None:
    """At the upper end no byte more than the build for it alone; over the range near the bound."""
    network = draw()
    dims = narrow(network)
    program = planned(network, tmp_path, board, *dims)
    ranges = program.ranges
    assert ranges is not None
    assert ranges.proved
    counts = [symbol.count for symbol in ranges.symbols]
    [(pool, peaks)] = [(name, own) for name, own in ranges.peaks.items() if own[-1].planned_bytes]
    assert len(peaks) == np.prod(counts)
    fixed = [f"{dim.partition('=')[0]}={high}..{high}" for dim in dims for high in [dim.rpartition("..")[2]]]
    alone = planned(network, tmp_path, board, *fixed)
    assert peaks[-1].planned_bytes <= alone.memory.peak_bytes(pool)
    for peak in peaks[:: max(1, len(peaks) // 50)]:
        values = dict(zip((symbol.name for symbol in ranges.symbols), peak.values, strict=True))
        assert number_at(ranges, ranges.pools[pool], values) == peak.planned_bytes
        assert peak.planned_bytes >= peak.lower_bound_bytes


@pytest.mark.parametrize("draw", [audio, residual, overlapping], ids=lambda draw: draw.__name__)
@pytest.mark.sampled(1)
def test_the_mean_over_the_range_is_near_the_optimum_of_each_size(
    draw: Callable[[], Network], tmp_path: Path
) -> None:
    network = draw()
    ranges = planned(network, tmp_path, "host", *narrow(network)).ranges
    assert ranges is not None
    gaps: list[float] = []
    for peak in ranges.peaks[POOL][::5]:
        pairs = zip(network.dims, peak.values, strict=True)
        dims = [f"{dim.partition('=')[0]}={value}..{value}" for dim, value in pairs]
        problem = planned(network, tmp_path, "host", *dims).memory.problem
        gaps.append(peak.planned_bytes / peak_bytes(problem, optimal(problem), POOL))
    assert np.mean(gaps) <= 1.25


def test_every_extent_is_what_the_import_at_that_size_has(tmp_path: Path) -> None:
    network = audio()
    ranges = planned(network, tmp_path, "host", "x0.1=16..60").ranges
    assert ranges is not None
    sizes = np.arange(16, 61)
    found = named_values(ranges, {"x0_dim1": sizes})
    assert found["conv0_dim1"].tolist() == [-(-size // 2) for size in sizes.tolist()]
    assert ranges.extents[0].name == "conv0_dim1"


def test_breakpoints_are_the_ends_and_where_an_arm_takes_over(tmp_path: Path) -> None:
    ranges = planned(audio(), tmp_path, "host", "x0.1=16..50").ranges
    assert ranges is not None
    found = [each["x0_dim1"] for each in breakpoints(ranges)]
    assert found[0] == 16
    assert found[-1] == 50
    assert all(later == early + 1 for early, later in zip(found[1:-1:2], found[2:-1:2], strict=True))


def test_an_axis_that_is_no_size_is_told_with_dim(tmp_path: Path) -> None:
    """Channels have to fit the weights at every size: the largest was told as if the file were wrong."""
    with pytest.raises(CodegenError) as caught:
        planned(residual(), tmp_path, "host", "x0.1=40..40", "x0.3=2..5")
    [message] = caught.value.messages
    assert message.code == "E307"
    assert message.text.startswith("x0_dim1=40, x0_dim3=2 is refused: weights [8, 3, 1, 8] do not fit")
    assert message.text.endswith("; it reads x0 [1, x0_dim1, 1, x0_dim3]")
    assert message.help == "no size of the range is possible: look at the model's strides and windows"


@pytest.mark.parametrize("size", ["T=40..40", "T=40"])
def test_one_size_is_no_range(size: str, tmp_path: Path) -> None:
    """Nothing is said or computed at run time then."""
    program = planned(residual(), tmp_path, "host", size)
    assert program.ranges is None
    assert 40 in program.signature.inputs[0].type.shape


def test_a_block_goes_along_the_range(tmp_path: Path) -> None:
    """Its lines hold as many rows at every size; what grows is the input. At the upper end it takes what a
    build for that size alone takes."""
    found = planned(rows(), tmp_path, "host", "T=8..40")
    ranges = found.ranges
    assert ranges is not None
    [block] = [prim.block for prim in found.steps.prim_funcs if prim.block is not None]
    assert [stage.op for stage in block.stages] == ["CONV_2D", "DEPTHWISE_CONV_2D", "CONV_2D"]
    assert [line.ring_rows for line in block.lines[:2]] == [3, 1]
    assert [text(each) for each in block.numbers if constant_of(each) is None]
    assert text(ranges.pools[POOL]) == "16*T + 744"  # 16 bytes of input a row
    alone = planned(rows(), tmp_path, "host", "T=40..40")
    assert found.memory.peak_bytes(POOL) == alone.memory.peak_bytes(POOL) == 16 * 40 + 744


def test_a_block_goes_through_a_batch_image_by_image(tmp_path: Path) -> None:
    """Blocks were of one image, so that a range of batches held all of each image: 2.10 times the bytes of
    the build for one image. Now its lines serve one image after the other, as in a build for so many."""
    found = planned(rows(), tmp_path, "host", "x0.0=1..6", "x0.1=64..64")
    assert found.ranges is not None
    [block] = [prim.block for prim in found.steps.prim_funcs if prim.block is not None]
    assert not isinstance(block.images, int)
    assert text(block.images) == "x0_dim0"
    assert len(block.stages) == 3
    peaks = found.ranges.peaks[POOL]
    alone = [
        planned(rows(), tmp_path, "host", f"x0.0={images}..{images}", "x0.1=64..64") for images in range(1, 7)
    ]
    assert [peak.planned_bytes for peak in peaks] == [each.memory.peak_bytes(POOL) for each in alone]
    assert all(peak.planned_bytes <= 64 * 8 * 2 * peak.values[0] + 1200 for peak in peaks)
    last = alone[-1].steps.prim_funcs[0].block
    assert last is not None
    assert last.images == 6


@pytest.mark.parametrize(
    ("draw", "dims", "limit"),
    [
        (residual, ["x0.0=1..4", "x0.1=40..40"], 1000),
        (overlapping, ["x0.1=16..22"], 600),
        (overlapping, ["x0.0=1..4", "x0.1=40..40"], 1500),
    ],
)
@pytest.mark.sampled(1)
def test_no_order_of_a_range_leaves_its_pools(
    draw: Callable[[], Network], dims: list[str], limit: int, tmp_path: Path
) -> None:
    """The order of a plan for one image holds more in the first pool than eight images leave room for; it was
    taken, as its last byte was lower, and the build ended in a ValueError (vww_96_float on mps3-an547)."""
    network = draw()
    path = tmp_path / "m.tflite"
    path.write_bytes(network.data)
    options = Options(board="mps3-an547", dims=parsed(dims), pool_limits={"dtcm": limit})
    ranges = plan_model(path, option_board("mps3-an547", ()), options, emulated=True).program.ranges
    assert ranges is not None
    assert 0 < max(peak.planned_bytes for peak in ranges.peaks["dtcm"]) <= limit


@pytest.mark.parametrize("board", ["host", "mps2-an385", "mps2-an386", "mps3-an547"])
def test_parameters_of_layers_of_a_batch_say_one_image(board: str, tmp_path: Path) -> None:
    """Sums said how many elements all images have, so each row of them made its parameters anew: 320 bytes of
    code on mps2-an385."""
    data = model_path("resnet8").read_bytes()
    program = planned(Network("resnet", data, (), {}), tmp_path, board, "N=2..3")
    [block] = [prim for prim in program.steps.prim_funcs if prim.block is not None]
    assert block.block is not None
    assert "ADD" in [stage.op for stage in block.block.stages]
    assert [struct.suffix for struct in block.structs if [*numbers_in(struct.fields)]] == []


def test_where_a_block_fails_at_some_size_the_range_goes_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fits_from_12_rows(prim: PrimFunc) -> bool:
        return prim.let.var.type.shape[1] >= 12

    monkeypatch.setattr(block_members, "can_fuse", fits_from_12_rows)
    found = planned(rows(), tmp_path, "host", "T=8..30")
    assert not any(prim.block for prim in found.steps.prim_funcs)
    assert found.ranges is not None
    assert found.ranges.proved


def test_of_many_sizes_all_turns_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few members are made; those at both sides of the turn are among them, found from all sizes."""
    every = planned(overlapping(), tmp_path, "mps2-an386", "x0.1=50..80").ranges
    monkeypatch.setattr(ranged_sizes, "EVERY", 25)
    monkeypatch.setattr(ranged_sizes, "_MORE", 8)
    monkeypatch.setattr(open_sizes, "EVERY", 25)
    monkeypatch.setattr(open_sizes, "_RANDOM", 8)
    few = planned(overlapping(), tmp_path, "mps2-an386", "x0.1=50..80").ranges
    assert every is not None
    assert few is not None
    assert (every.proved, few.proved) == (True, False)
    assert few.pools == every.pools
    assert 10 <= len(looked_at(few)) <= 25
    assert len(turns(every)) >= 2
    seen = looked_at(few)
    assert all(each in seen for each in turns(every))
    assert [each for each in breakpoints(every) if each not in breakpoints(few)] == []


def test_offsets_in_an_image_of_any_width_are_a_table_of_the_step(tmp_path: Path) -> None:
    """So that the kernel is the one of a build for one size, and the peak as well."""
    dims = ("x0.1=8..13", "x0.2=8..13")
    found, alone = (planned(detector(), tmp_path, "mps2-an386", *each) for each in (dims, ENDS))
    assert [prim.kernel for prim in found.steps.prim_funcs] == [p.kernel for p in alone.steps.prim_funcs]
    assert found.memory.peak_bytes(POOL) == alone.memory.peak_bytes(POOL)
    first = found.steps.prim_funcs[0]
    [table] = [struct for struct in first.structs if struct.suffix == "image_offsets_table"]
    said = {text(each) for each in numbers_in(table.fields)}
    assert {"3*x0_dim2", "6*x0_dim2 + 8"} <= said  # rows of 3 channels; the last of 9 values of the third
    assert "image_offsets" not in [constant.role for constant in first.constants]


ENDS = ("x0.1=13..13", "x0.2=13..13")


def test_what_loses_nothing_at_the_largest_sizes_is_not_reduced_at_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To follow the values through a network at each of a thousand large sizes takes most of the time."""
    runs: list[int] = []
    plain = Reduce.run

    def counted(self: Reduce, module: Module) -> Module:
        runs.append(1)
        return plain(self, module)

    monkeypatch.setattr(Reduce, "run", counted)
    found = planned(overlapping(), tmp_path, "host", "x0.1=9..20")
    assert found.ranges is not None and len(looked_at(found.ranges)) == 12
    assert len(runs) == 1


@pytest.mark.parametrize("board", ["mps3-an547", "host"])
def test_constants_that_are_not_copied_at_start_up_are_told(board: str, tmp_path: Path) -> None:
    """Where that would pay: on this machine all memory is alike."""
    net = Net(11)
    x = net.tensor((1, 40, 1, 8), frozenset(), "x0")
    path = tmp_path / "m.tflite"
    path.write_bytes(net.finish([x], [net.conv(net.conv(x, 16, (3, 1)), 4, (1, 1))]))

    def said(*dims: str, stage: StageMode = "auto") -> list[str]:
        limits = {"itcm": 0} if board == "mps3-an547" else {}
        options = Options(board=board, optimize="speed", stage=stage, dims=parsed(dims), pool_limits=limits)
        program = plan_model(
            path, option_board(board, ()), options, emulated=True, share=Share(alone=True)
        ).program
        if not dims:
            assert any(each.copied_at is None for each in program.constants.copied) == (board != "host")
        return [line for line in sizes_lines(program) if "--stage auto" in line]

    line = "          --stage auto copies no constants at start-up: calls of other sizes need their bytes"
    assert said() == said("x0.1=10..11", stage="off") == []
    assert said("x0.1=10..11") == ([line] if board != "host" else [])


def test_a_formula_beyond_32_bits_is_told(tmp_path: Path) -> None:
    """A mean adds 128 for each of its elements to the sum."""
    model = ModelBuilder()
    shape, signature = (1, 16, 1024), (1, -1, 1024)
    x = model.tensor("x", shape, scale=0.05, zero_point=-128, shape_signature=signature)
    axes = model.tensor("axes", (2,), "int32", data=[1, 2])
    y = model.tensor("y", (1,), scale=0.05, zero_point=-128)
    model.op("MEAN", [x, axes], [y], keep_dims=False)
    model.inputs(x)
    model.outputs(y)
    network = Network("mean", model.build(), (), {})
    with pytest.raises(CodegenError) as caught:
        planned(network, tmp_path, "host", "T=16383..16384")  # 2^31 = 128 * 1024 * 16384
    [message] = caught.value.messages
    assert (message.code, message.where) == ("E309", "--dim T=16383..16384")
    assert message.text == "131072*T does not fit in 32 bits"
    assert message.help == "give a smaller upper end"


def test_channels_that_are_constant_at_some_sizes_only_are_told(tmp_path: Path) -> None:
    """What is read of a channel in the padding depends on the length."""
    net = Net(9, largest=3)
    image = net.tensor((1, 40, 1, 8), frozenset({1}), "x0")
    x = net.conv(net.depthwise(net.conv(image, 32, (3, 1), (2, 1)), (3, 1)), 48, (1, 1))
    data = net.finish([image], [net.dense(net.mean(net.conv(x, 16, (1, 1))), 6)])
    with pytest.raises(CodegenError) as caught:
        planned(Network("small", data, (), {}), tmp_path, "host", "T=16..17")
    [message] = caught.value.messages
    assert (message.code, message.where) == ("E308", "T=16..17")
    assert message.text == "constant c10_conv3 is another one there"
    assert message.help == (
        "give a narrower range, leave channels in (--no-reduce), or build the model at fixed sizes"
    )


@pytest.mark.parametrize("board", ["mps2-an385", "mps2-an386"])
def test_a_batch_from_one_on_takes_the_kernels_of_several_rows(board: str, tmp_path: Path) -> None:
    """They leave one row to others, and were left out of the whole range for it: with portable kernels
    instead N=8 took 3.6 times the instructions on mps2-an385, and on mps2-an386 it was E308."""
    path = model_path("dense_chain")
    program, alone = (planned_file(path, board, words) for words in ("N=1..8", "N=8..8"))
    assert program.ranges is not None and program.ranges.proved
    assert [prim.kernel for prim in program.steps.prim_funcs] == [p.kernel for p in alone.steps.prim_funcs]
    assert all("fully_connected_rows" in prim.kernel for prim in program.steps.prim_funcs if prim.macs)
