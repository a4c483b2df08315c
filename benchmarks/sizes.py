"""Sizes as ranges: six networks over their whole range, at every turn, both ends and 20 random values.

    python benchmarks/sizes.py mps2-an386 [audio residual]   # the table, and rows of results/sizes.csv anew
    python benchmarks/sizes.py host batches    # networks of the tests whose batch is open, 1 to 8
    python benchmarks/sizes.py host kws.tflite # a file with an open batch, 1 to 8
    python benchmarks/sizes.py host batches missing     # of these, the ones that have no row yet

A row a network: at how many sizes it ran, how many figures were not as they should be (outputs against NumPy,
measured against planned peaks, guards), then at the upper end against the build for that size alone: bytes of
the peak, instructions (0: nothing counts them), bytes of code; then the planned peak over the lower bound
at all sizes, on average and at worst; then over the peak of a build for one size alone, at up to 25 sizes,
evenly over the range, and how many of these builds are proved to need no byte less. Bytes of several pools
are added.
"""

import csv
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from codegen.driver.build import Built, build, plan_model
from codegen.driver.inputs.declared_pools import option_board
from codegen.driver.inputs.dims import parsed
from codegen.driver.options import Options
from codegen.driver.report.size_gaps import gap
from codegen.driver.run import execute
from codegen.driver.sized_run import complaints_at, run_at
from codegen.program.size_ranges import Peak, Ranges, breakpoints, looked_at
from tests.e2e.test_sizes import BATCHED, MORE_BATCHED
from tests.networks import model_path
from tests.search.ranges.networks import NETWORKS

RECORDED = Path(__file__).parent / "results" / "sizes.csv"
COLUMNS: tuple[str, ...] = (
    "board",
    "network",
    "sizes",
    "wrong",
    "peak_bytes_more",
    "instructions_ratio",
    "code_bytes_more",
    "bound_mean",
    "bound_worst",
    "alone_mean",
    "alone_worst",
    "alone_proved",
)

_LIMITS: Mapping[tuple[str, str], Mapping[str, int]] = {
    ("mps3-an547", "simple_add_model"): {"dtcm": 0},
}
"""Pools of (board, network) that stay empty: the test firmware needs the region for its own copies of the
inputs."""

_BOARDS: Mapping[tuple[str, str], Path] = {
    ("mps3-an547", "vww_96_float"): Path(__file__).parent / "boards" / "mps3-an547-sram.toml"
}
"""Boards with other memory for the test firmware: its copy of eight images has 884,736 bytes, DTCM 524,288.
"""

_RANDOM = 20
_ALONE = 24

Row = Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """A network, and the words of `--dim` that say its range."""

    name: str
    data: bytes
    dims: tuple[str, ...]


def _networks(wanted: Sequence[str]) -> Iterator[Measured]:
    """Those that are asked for; without a word those of the tests."""
    for draw in NETWORKS:
        own = draw()
        if not wanted or own.name in wanted:
            yield Measured(name=own.name, data=own.data, dims=own.dims)
    batched = [model_path(name) for name in (*BATCHED, *MORE_BATCHED) if {name, "batches"} & {*wanted}]
    for path in (*batched, *(Path(word) for word in wanted if word.endswith(".tflite"))):
        yield Measured(name=path.stem, data=path.read_bytes(), dims=("N=1..8",))


def _path(network: Measured, folder: Path) -> Path:
    path = folder / f"{network.name}.tflite"
    path.write_bytes(network.data)
    return path


def _built(network: Measured, board: str, dims: Sequence[str], folder: Path) -> Built:
    return build([_path(network, folder)], _options(network, board, dims), folder / "out", emulated=True)


def _options(network: Measured, board: str, dims: Sequence[str]) -> Options:
    limits = _LIMITS.get((board, network.name), {})
    return Options(board=_board(network, board), dims=parsed(dims), pool_limits=limits)


def _board(network: Measured, board: str) -> str:
    return str(_BOARDS.get((board, network.name), board))


def _fixed(network: Measured, values: Iterable[int]) -> list[str]:
    """The words of `--dim` for one size alone."""
    pairs = zip(network.dims, values, strict=True)
    return [f"{dim.partition('=')[0]}={value}..{value}" for dim, value in pairs]


def _code_bytes(built: Built) -> int:
    """Of the model's own files and kernels."""
    return built.image.sizes.model_code_bytes


def _together(ranges: Ranges) -> tuple[Peak, ...]:
    """The peaks of all pools, added."""
    return tuple(
        replace(
            own[0],
            planned_bytes=sum(each.planned_bytes for each in own),
            lower_bound_bytes=sum(each.lower_bound_bytes for each in own),
        )
        for own in zip(*ranges.peaks.values(), strict=True)
    )


def _alone(network: Measured, board: str, peaks: Sequence[Peak], folder: Path) -> dict[str, str]:
    """The planned peaks over those of builds for each size alone."""
    target, gaps, proved = option_board(_board(network, board), ()), list[float](), 0
    for peak in peaks:
        options = _options(network, board, _fixed(network, peak.values))
        memory = plan_model(_path(network, folder), target, options, emulated=True).program.memory
        gaps.append(peak.planned_bytes / sum(memory.peak_bytes(pool.name) for pool in memory.problem.pools))
        proved += memory.plan.proved_optimal
    return {
        "alone_mean": f"{np.mean(gaps):.3f}",
        "alone_worst": f"{max(gaps):.3f}",
        "alone_proved": f"{proved}/{len(gaps)}",
    }


def _row(network: Measured, board: str, folder: Path) -> Row:
    whole = _built(network, board, network.dims, folder)
    ranges = whole.models[0].program.ranges
    assert ranges is not None
    every = looked_at(ranges)
    drawn = np.random.default_rng(7).choice(len(every), min(_RANDOM, len(every)), replace=False)
    looked = [*breakpoints(ranges), *(every[int(index)] for index in drawn), every[-1]]
    sizes = list({tuple(each.values()): each for each in reversed(looked)}.values())[::-1]
    found = run_at(whole, sizes, seed=3)
    alone = _built(network, board, _fixed(network, every[-1].values()), folder)
    [ours], [theirs] = found[-1].measured.result.cases, execute(alone, [found[-1].case]).result.cases
    peaks = _together(ranges)
    gaps = gap(peaks)
    assert gaps is not None
    evenly = dict.fromkeys((*peaks[:: -(-len(every) // _ALONE)], peaks[-1]))
    return {
        "board": board,
        "network": network.name,
        "sizes": str(len(sizes)),
        "wrong": str(len(complaints_at(found))),
        "peak_bytes_more": str(sum(ours.pool_peaks.values()) - sum(theirs.pool_peaks.values())),
        "instructions_ratio": f"{(ours.instructions or 0) / (theirs.instructions or 1):.4f}",
        "code_bytes_more": str(_code_bytes(whole) - _code_bytes(alone)),
        "bound_mean": f"{gaps.mean:.3f}",
        "bound_worst": f"{gaps.worst:.3f}",
        **_alone(network, board, tuple(evenly), folder),
    }


def _recorded() -> list[Row]:
    if not RECORDED.exists():
        return []
    with RECORDED.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _write(rows: Iterable[Row]) -> None:
    with RECORDED.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(sorted(rows, key=lambda row: (row["board"], row["network"])))


def main() -> None:
    """Print and record a row for each network on one board."""
    board, *wanted = sys.argv[1:] or ["mps2-an386"]
    widths = [max(len(name), 12) for name in COLUMNS]
    print(*(name.rjust(width) for name, width in zip(COLUMNS, widths, strict=True)))
    known = {row["network"] for row in _recorded() if row["board"] == board and "missing" in wanted}
    for network in _networks([each for each in wanted if each != "missing"]):
        if network.name in known:
            continue
        with tempfile.TemporaryDirectory() as folder:
            row = _row(network, board, Path(folder))
        print(*(row[n].rjust(w) for n, w in zip(COLUMNS, widths, strict=True)), flush=True)
        _write([row, *(r for r in _recorded() if (r["board"], r["network"]) != (board, network.name))])


if __name__ == "__main__":
    main()
