"""Every kernel on random layers, on QEMU, against the NumPy reference.

python -m tests.fuzz --layers 300                         # every kernel on every core
python -m tests.fuzz --board mps2-an386 --layers 3000 --seed 7
python -m tests.fuzz --board mps2-an386 --layer CONV_2D:int8:17 --kernel conv2d_s8_dsp   # one trial again

Each layer is bound to every registered kernel that takes it, not only to the one selection prefers, and run
with its buffers against closed memory (MPU) on either side, and with its result over its argument at exactly
the distances the kernel states. Exit status 1 if anything differs.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence

from codegen.board import load_board
from codegen.ir import Board, DType
from codegen.kernels import kernels_for
from tests.fuzz.running import Runner
from tests.fuzz.trials import Wanted, of_layer, trials

BOARDS = ("microbit", "mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547")
"""A board of each core: Cortex-M0, M3, M4, M7, M33, M55."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status."""
    options = _parser().parse_args(arguments)
    boards = [_board(name) for name in options.board or BOARDS]
    if options.layer:
        return _again(options.layer, options.kernel, boards)
    wanted = Wanted(
        layers=options.layers,
        seed=options.seed,
        ops=frozenset(options.op),
        kernels=frozenset(options.kernel),
    )
    return fuzz(wanted, boards, level=options.level)


def fuzz(wanted: Wanted, boards: Sequence[Board], *, level: str = "-O3") -> int:
    """Run what is wanted, print a line for each kernel and board; 1 if anything went wrong."""
    by_name = {board.name: board for board in boards}
    counts: Counter[tuple[str, str]] = Counter()
    start = time.monotonic()
    with Runner(level=level) as runner:
        for number, trial in enumerate(trials(wanted, boards), start=1):
            if runner.add(trial, by_name[trial.board]):
                counts[trial.kernel, trial.board] += 1
            if number % 1000 == 0:
                seconds = time.monotonic() - start
                op = trial.layer.let.call.op.name
                sys.stderr.write(f"\r{number} layers, {number / seconds:.0f} a second, {op:24}")
        failures = runner.finish()
        too_large = runner.too_large
    sys.stderr.write(f"\r{time.monotonic() - start:.0f} seconds{'':50}\n")
    wrong = Counter((failure.trial.kernel, failure.trial.board) for failure in failures)
    for (kernel, board), count in sorted(counts.items()):
        sys.stdout.write(f"{kernel:36} {board:16} {count:6} layers, {wrong[kernel, board]} wrong\n")
    for failure in failures[:50]:
        sys.stdout.write(f"{failure}\n")
    sys.stdout.write(f"{sum(counts.values())} layers, {too_large} too large for their board, ")
    sys.stdout.write(f"{len(failures)} failures\n")
    return 1 if failures else 0


def _again(layer: str, kernels: Sequence[str], boards: Sequence[Board]) -> int:
    op, dtype, seed = layer.split(":")
    named = [kernel for kernel in kernels_for(op) if not kernels or kernel.name in kernels]
    on = [(board, kernel) for board in boards for kernel in named]
    by_name = {board.name: board for board in boards}
    with Runner() as runner:
        ran = [
            trial
            for trial in of_layer(op, DType(dtype), int(seed), on)
            if runner.add(trial, by_name[trial.board])
        ]
        failures = runner.finish()
    for trial in ran:
        sys.stdout.write(f"ran {trial.label}\n")
    for failure in failures:
        sys.stdout.write(f"{failure}\n")
    return 1 if failures or not ran else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--board", "--core", action="append", help="board or core (cortex-m4); several times")
    parser.add_argument("--layers", type=int, default=300, help="of each kernel and board (default 300)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first layer")
    parser.add_argument("--op", action="append", default=[], help="only this operator; several times")
    parser.add_argument("--kernel", action="append", default=[], help="only this kernel; several times")
    parser.add_argument("--layer", help="OPERATOR:TYPE:SEED, this layer only")
    parser.add_argument("--level", default="-O3", help="optimisation of the kernels' C (default -O3)")
    return parser


def _board(name: str) -> Board:
    """A board by its name, or the board of a core."""
    for each in BOARDS if name.startswith("cortex-") else ():
        if load_board(each).target.cpu == name:
            return load_board(each)
    return load_board(name)


if __name__ == "__main__":
    sys.exit(main())
