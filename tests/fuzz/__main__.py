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
from collections.abc import Sequence

from codegen.board import load_board
from codegen.ir import Board, DType
from codegen.kernels import kernels_for
from tests.fuzz.running import Runner
from tests.fuzz.sweep import BOARDS, fuzz
from tests.fuzz.trials import Wanted, of_layer


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
    outcome = fuzz(wanted, [board.name for board in boards], level=options.level, jobs=options.jobs)
    sys.stdout.writelines(f"{line}\n" for line in outcome.lines())
    return 1 if outcome.wrong or not outcome.counts else 0


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
    parser.add_argument("--jobs", type=int, default=2, help="operators at a time (default 2)")
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
