"""Models whose sizes are ranges, run: outputs as the engine's at every size, peaks as the formulas say."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from codegen.driver.build import build
from codegen.driver.inputs.dims import parsed
from codegen.driver.options import Options
from codegen.driver.report.output_check import FLOAT_TOLERANCE, array
from codegen.driver.run import RunConditions
from codegen.driver.sized_run import AtSizes, complaints_at, run_at, steps_at
from codegen.program.image import Trace
from codegen.program.interface import ConstantsMode, EntryMode, Interface, IoMode, PoolOwner
from codegen.program.size_ranges import breakpoints, looked_at
from tests import engines
from tests.checkout import ROOT
from tests.networks import model_path
from tests.search.ranges.networks import NETWORKS, Network, narrow, overlapping, rows

BOARDS = ("host", "mps2-an386", "mps3-an547", "mps2-an385")


RECORDED = ROOT / "benchmarks" / "results" / "sizes.csv"


def _recorded() -> list[dict[str, str]]:
    with RECORDED.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", _recorded(), ids=lambda row: f"{row['board']}-{row['network']}")
def test_what_is_recorded_of_a_range_keeps_to_its_bounds(row: dict[str, str]) -> None:
    """A range of batches took 2,186 bytes of code more than its largest size alone for a day: nothing looked
    at what `benchmarks/sizes.py` had written."""
    assert (row["wrong"], row["peak_bytes_more"]) == ("0", "0")
    assert float(row["instructions_ratio"]) <= 1.05
    assert float(row["alone_mean"]) <= 1.25
    assert int(row["code_bytes_more"]) <= 2048


def ran(
    network: Network, board: str, folder: Path, *, whole: bool = False, **options: object
) -> list[AtSizes]:
    """At the ends, where the plan turns, and at random sizes: of part of the range, or of the `whole`."""
    path = folder / f"{network.name}.tflite"
    path.write_bytes(network.data)
    dims = network.dims if whole else narrow(network)
    return ran_file(path, board, dims, folder, random=20 if whole else 5, **options)


def ran_file(
    path: Path, board: str, dims: Sequence[str], folder: Path, *, random: int, **options: object
) -> list[AtSizes]:
    settings = Options(board=board, dims=parsed(dims), **options)  # pyright: ignore[reportArgumentType]
    built = build([path], settings, folder / "out", emulated=True)
    ranges = built.models[0].program.ranges
    assert ranges is not None
    every = looked_at(ranges)
    drawn = np.random.default_rng(7).choice(len(every), min(random, len(every)), replace=False)
    sizes = [*breakpoints(ranges), *(every[int(index)] for index in drawn)]
    is_traced = board == "host"
    trace = Trace.RESULTS if is_traced else Trace.NONE
    found = run_at(built, sizes, seed=3, conditions=RunConditions(trace=trace))
    assert not complaints_at(found)
    if is_traced:
        checks = steps_at(found)
        assert not [message for each in checks for message in each.complaints]
        assert all(any(step.comparison for step in each.steps) for each in checks)
    return found


def check_engine(data: bytes, found: Sequence[AtSizes]) -> None:
    """The outputs are those of the engine, its inputs resized."""
    requests = [
        engines.Request(engine=engines.TFLITE_RUNTIME, model=data, inputs=(each.case.inputs,))
        for each in found
    ]
    for each, answer in zip(found, engines.evaluate(requests), strict=True):
        assert not answer.error
        [expected], [got] = answer.outputs, each.measured.result.cases
        for tensor, own, theirs in zip(
            each.planned.program.signature.outputs, got.outputs, expected, strict=True
        ):
            mine = array(own, tensor.type)
            assert mine.shape == theirs.shape
            if mine.dtype.kind == "f":
                assert np.abs(mine - theirs).max() <= FLOAT_TOLERANCE * np.abs(theirs).max()
            else:
                assert np.array_equal(mine, theirs)


needs_engine = pytest.mark.skipif(
    engines.interpreter() is None or engines.TFLITE_RUNTIME not in engines.available(),
    reason="no tflite-runtime here",
)


@needs_engine
@pytest.mark.parametrize("draw", NETWORKS, ids=lambda draw: draw.__name__)
@pytest.mark.sampled(2)
def test_outputs_are_the_engines(draw: Callable[[], Network], tmp_path: Path) -> None:
    network = draw()
    check_engine(network.data, ran(network, "host", tmp_path))


@pytest.mark.parametrize(
    ("draw", "board"),
    [
        pytest.param(draw, board, marks=[pytest.mark.thorough] if number % 2 else [])
        for number, (draw, board) in enumerate(
            zip(NETWORKS, [*BOARDS[1:], *reversed(BOARDS[1:])], strict=True)
        )
    ],
)  # floats on a core with an FPU: QEMU needs four times as long without
@pytest.mark.sampled(1)
def test_on_boards_outputs_peaks_and_guards_hold(
    draw: Callable[[], Network], board: str, tmp_path: Path
) -> None:
    ran(draw(), board, tmp_path)


@needs_engine
@pytest.mark.long
@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("draw", NETWORKS, ids=lambda draw: draw.__name__)
def test_the_whole_range_of_every_network_on_every_board(
    draw: Callable[[], Network], board: str, tmp_path: Path
) -> None:
    network = draw()
    check_engine(network.data, ran(network, board, tmp_path, whole=True))


WAYS: dict[str, dict[str, object]] = {
    "caller": {"io": IoMode.CALLER},
    "pools": {"interface": Interface(pools=PoolOwner.CALLER)},
    "steps": {"interface": Interface(entry=EntryMode.STEPS)},
    "both": {"io": IoMode.CALLER, "interface": Interface(entry=EntryMode.STEPS, pools=PoolOwner.CALLER)},
    "external": {
        "interface": Interface(
            entry=EntryMode.STEPS, pools=PoolOwner.CALLER, constants=ConstantsMode.EXTERNAL
        )
    },
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.sampled(2)
def test_however_firmware_calls_it(way: str, tmp_path: Path) -> None:
    """`rows` has a block, whose function is told the sizes."""
    network = overlapping() if way in ("caller", "pools") else rows()
    ran(network, "host", tmp_path, whole=False, **WAYS[way])


@needs_engine
@pytest.mark.parametrize("board", ["host", "mps2-an386"])
@pytest.mark.sampled(1)
def test_batches_go_row_by_row_image_by_image(board: str, tmp_path: Path) -> None:
    """Images and rows of each, two sizes: the block goes on by an image of as many rows as the call has."""
    path = tmp_path / "rows.tflite"
    path.write_bytes(rows().data)
    found = ran_file(path, board, ["x0.0=1..3", "x0.1=8..10"], tmp_path, random=2)
    [block] = [prim.block for prim in found[-1].planned.program.steps.prim_funcs if prim.block]
    assert not isinstance(block.images, int)
    check_engine(path.read_bytes(), found)


BATCHED = ("ds_cnn", "dense_chain", "dense_chain_float")
MORE_BATCHED = (
    "autoencoder",
    "autoencoder_float",
    "separable_1d",
    "resnet8_float",
    "resnet8",
    "resnet8_wide",
    "autoencoder_edged",
    "mobilenet_v1",
    "mobilenet_v1_float",
    "two_images",
)


@needs_engine
@pytest.mark.parametrize(
    "name", [*BATCHED, *(pytest.param(name, marks=pytest.mark.long) for name in MORE_BATCHED)]
)
@pytest.mark.sampled(1)
def test_models_with_an_open_batch(name: str, tmp_path: Path) -> None:
    path = model_path(name)
    found = ran_file(path, "host", ["N=1..8"], tmp_path, random=8)
    check_engine(path.read_bytes(), found)
