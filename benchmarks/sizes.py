"""Sizes as ranges: six networks over their whole range, at every turn, both ends and 20 random values.

    python benchmarks/sizes.py mps2-an386 [audio residual]

A row a network: at how many sizes it ran, how many figures were not as they should be (outputs against NumPy,
measured against planned peaks, guards), then at the upper end against the build for that size alone: bytes of
the peak, instructions, bytes of code; then the planned peak over the lower bound, on average and at worst.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from codegen.driver.build import Built, build
from codegen.driver.inputs.dims import parsed
from codegen.driver.options import Options
from codegen.driver.report.size_gaps import gap
from codegen.driver.sized_run import complaints_at, run_at
from codegen.program.size_ranges import breakpoints, looked_at
from tests.search.ranges.networks import NETWORKS, Network

_RANDOM = 20


def _built(network: Network, board: str, dims: tuple[str, ...], folder: Path) -> Built:
    path = folder / f"{network.name}.tflite"
    path.write_bytes(network.data)
    return build([path], Options(board=board, dims=parsed(dims)), folder / "out", emulated=True)


def _code_bytes(built: Built) -> int:
    """Of the model's own files and kernels."""
    return built.image.sizes.model_code_bytes


def _row(network: Network, board: str, folder: Path) -> str:
    whole = _built(network, board, network.dims, folder)
    ranges = whole.models[0].program.ranges
    assert ranges is not None
    every = looked_at(ranges)
    drawn = np.random.default_rng(7).choice(len(every), min(_RANDOM, len(every)), replace=False)
    sizes = [*breakpoints(ranges), *(every[int(index)] for index in drawn), every[-1]]
    found = run_at(whole, sizes, seed=3, port=None)
    highs = tuple(
        f"{dim.partition('=')[0]}={dim.rpartition('.')[2]}..{dim.rpartition('.')[2]}" for dim in network.dims
    )
    alone = _built(network, board, highs, folder)
    [single] = run_at(alone, [{symbol.name: symbol.high for symbol in ranges.symbols}], seed=3, port=None)
    [ours], [theirs] = found[-1].measured.result.cases, single.measured.result.cases
    [(pool, gaps)] = [(name, own) for name, peaks in ranges.peaks.items() if (own := gap(peaks)) is not None]
    ratio = (ours.instructions or 0) / (theirs.instructions or 1)
    return (
        f"{network.name:12} {len(sizes):5} {len(complaints_at(found)):6}"
        f" {ours.pool_peaks[pool] - theirs.pool_peaks[pool]:+6} {ratio:8.4f}"
        f" {_code_bytes(whole) - _code_bytes(alone):+6} {gaps.mean:7.3f} {gaps.worst:7.3f}"
    )


def main() -> None:
    """Print a row for each network on one board."""
    board, *wanted = sys.argv[1:] or ["mps2-an386"]
    print(f"{board:12} sizes  wrong   peak   instr.   code    mean   worst")
    for draw in NETWORKS:
        network = draw()
        if not wanted or network.name in wanted:
            with tempfile.TemporaryDirectory() as folder:
                print(_row(network, board, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
