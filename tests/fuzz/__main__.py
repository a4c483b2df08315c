"""Every kernel on random layers, on QEMU, against the NumPy reference, and that against the engines.

python -m tests.fuzz --layers 300                         # every kernel on every core
python -m tests.fuzz --board mps2-an386 --layers 3000 --seed 7
python -m tests.fuzz --board mps2-an386 --layer CONV_2D:int8:17 --kernel conv2d_s8_dsp   # one trial again

Each layer is bound to every registered kernel that takes it, not only to the one selection prefers, and run
with its buffers against closed memory (MPU) on either side, and with its result over its argument at exactly
the distances the kernel states. The C of kernels is compiled for speed and for size, half of the layers each.
NumPy's result of each layer is compared with its reference engine's: with the recorded one, or with the
engine itself where none is recorded (layers beyond those of the suite) or `--engines` is given.
Prints a table of layers, kernels by cores. Exit status 1 if anything differs, or if a kernel had fewer layers
than asked for on a core that can run it.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from codegen.board import load_board
from codegen.ir import Board, DType
from tests.fuzz.reference import Name, Reference, read
from tests.fuzz.rounded import WITHOUT_ENGINE, kernels_of_kind, kind_of
from tests.fuzz.running import Failure, Runner
from tests.fuzz.sweep import BOARDS, Task, boards_of, every_kernel, fuzz
from tests.fuzz.trials import Trial, of_layer

_ELSEWHERE = "layers with state are drawn by tests/fuzz/test_recurrent.py (with --long: 320 of each type)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    boards = [_board(name) for name in options.board or BOARDS]
    if options.layer:
        return _again(options, boards)
    kernels = [
        kernel
        for kernel in every_kernel()
        if (not options.op or kind_of(kernel) in options.op)
        and (not options.kernel or kernel.name in options.kernel)
        and boards_of(kernel.name)
    ]
    kinds, named = {kind_of(kernel) for kernel in kernels}, {kernel.name for kernel in kernels}
    for given, drawn in ((options.op, kinds), (options.kernel, named)):
        for name in sorted({*given} - drawn):
            parser.error(f"nothing draws layers for {name}; {_ELSEWHERE}")
    names = [board.name for board in boards]
    task = Task(layers=options.layers, seed=options.seed, live=options.engines, is_whole=True)
    if options.level:
        task = replace(task, levels=tuple(options.level))
    outcome = fuzz(kernels, names, task, jobs=options.jobs)
    lacking = outcome.lacking(options.layers, names)
    sys.stdout.writelines(f"{line}\n" for line in [*outcome.lines(names), *lacking])
    return 1 if outcome.wrong or outcome.unlike or lacking or not outcome.counts else 0


def _again(options: argparse.Namespace, boards: Sequence[Board]) -> int:
    op, dtype, seed = options.layer.split(":")
    named = [kernel for kernel in kernels_of_kind(op) if not options.kernel or kernel.name in options.kernel]
    on = [(board, kernel) for board in boards for kernel in named]
    by_name = {board.name: board for board in boards}
    ran: list[Trial] = []
    failures: list[Failure] = []
    for level in options.level or Task(layers=1).levels:
        with Runner(levels={board.name: (level,) for board in boards}) as runner:
            drawn = of_layer(op, DType(dtype), int(seed), on)
            ran = [trial for trial in drawn if runner.add(trial, by_name[trial.board])]
            failures += runner.finish()
    for trial in ran:
        sys.stdout.write(f"ran {trial.label}\n")
    reference = Reference(read(), live=options.engines)
    for trial in ran[:1] if op not in WITHOUT_ENGINE else ():  # TFLite's engines do not have them
        name = Name(op=op, dtype=dtype, seed=int(seed))
        reference.check(name, trial.layer, trial.expected)
    unlike = reference.finish()
    sys.stdout.writelines(f"{line}\n" for line in [*failures, *unlike])
    return 1 if failures or unlike or not ran else 0


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
    parser.add_argument("--engines", action="store_true", help="ask the reference engines for every layer")
    parser.add_argument("--jobs", type=int, default=2, help="kernels at a time (default 2)")
    parser.add_argument(
        "--level",
        action="append",
        help="compile kernels so, as --level=-O2; several times (default -O3 and -Os)",
    )
    return parser


def _board(name: str) -> Board:
    """A board by its name, or the board of a core."""
    for each in BOARDS if name.startswith("cortex-") else ():
        if load_board(each).target.cpu == name:
            return load_board(each)
    return load_board(name)


if __name__ == "__main__":
    sys.exit(main())
