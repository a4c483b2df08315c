"""Instructions of kernels without a model, recorded as rates for sums over steps.

python benchmarks/portable_work.py             # writes codegen/kernels/base/portable_work.csv anew
python benchmarks/portable_work.py --compare   # nothing written: the error on each step

Networks of the tests run with these kernels alone on a board of each set of kernels. Of each kernel, by least
squares of relative errors without negative numbers: instructions of a call, of a value of the result, of an
innermost row of the image that is read, of an element of it. Deterministic; about five minutes.
"""

import argparse
import csv
import itertools
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from benchmarks.layers import CHOICES
from codegen import board as boards
from codegen import emit, toolchain
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.options import Options
from codegen.driver.preparing import prepared
from codegen.driver.run import request
from codegen.ir import Module
from codegen.joint import together
from codegen.kernels.base.c_kernel import PortableKernel
from codegen.kernels.base.portable_work import RATES, RECORDED, kernel_stem, work_counts
from codegen.kernels.primfunc import PrimFunc
from codegen.program.image import Trace
from codegen.program.program import Program
from codegen.search import search
from codegen.search.kernels.binding import Binder, step_key
from tests.networks import model_path

BOARDS = {
    "v6m": "benchmarks/boards/mps2-an385-v6m.toml",
    "v7m": "mps2-an385",
    "dsp": "mps2-an386",
    "mve": "mps3-an547",
    "rv32": "qemu-virt-rv32",
}
"""By set of kernels beside which the rates hold."""
NETWORKS = (
    *("ds_cnn", "separable_1d", "residual_pair", "autoencoder_edged", "speech", "mobilenet_v2"),
    *("ds_cnn_float", "dense_chain_float", "resnet8_float"),
)

Sample = tuple[PrimFunc, int]
"""A step and its instructions."""


def without_models(module: Module, binder: Binder) -> frozenset[tuple[str, str]]:
    """Kernels to exclude: all that predict their instructions, where a portable one does without."""
    return frozenset(
        (step_key(let), kernel.name)
        for let in module.main.body
        if any(_is_plain(binder.bind(kernel, let, let.var.name), kernel) for kernel in binder.able(let))
        for kernel in binder.able(let)
        if not _is_plain(binder.bind(kernel, let, let.var.name), kernel)
    )


def _is_plain(prim: PrimFunc, kernel: object) -> bool:
    return isinstance(kernel, PortableKernel) and prim.instructions is None


def samples(name: str, board_name: str) -> Iterator[Sample]:
    """The steps of a network on a board."""
    board = boards.load_board(board_name)
    module = prepared(model_path(name), Options(board=board_name, reduce=False)).module
    binder = Binder({key: constant.data for key, constant in module.constants.items()}, board.target)
    choices = CHOICES.limited({})
    program = search(module, board, choices, name="model", blocks=(), excluded=without_models(module, binder))
    for prim, instructions in zip(program.steps.prim_funcs, _counted(program), strict=True):
        if prim.is_call and prim.instructions is None and prim.block is None:
            yield prim, instructions


def _counted(program: Program) -> list[int]:
    bundle = together([program])
    with tempfile.TemporaryDirectory() as folder:
        sources = emit.render(bundle)
        emit.write(sources, Path(folder))
        image = toolchain.build(sources, Path(folder), program.board)
        cases = [pattern_case([tensor.type for tensor in program.signature.inputs], 0)]
        with boards.session(image, program.board) as target:
            run = target.run(request(program, cases, trace=Trace.COST))
    return [step.instructions or 0 for step in run.trace]


def fitted(found: Sequence[Sample]) -> tuple[float, ...]:
    """The rates of one kernel: of all choices of columns with positive numbers the one that errs least."""
    counts = np.array([work_counts(prim).vector for prim, _ in found], np.float64)
    measured = np.array([instructions for _, instructions in found], np.float64)
    scaled = counts / measured[:, None]
    best, least = np.zeros(len(RATES)), np.inf
    for size in range(1, len(RATES) + 1):
        for columns in itertools.combinations(range(len(RATES)), size):
            part = scaled[:, columns]
            if np.linalg.matrix_rank(part) < size:
                continue
            rates, *_ = np.linalg.lstsq(part, np.ones(len(found)), rcond=None)
            error = float(np.square(part @ rates - 1).sum())
            if rates.min() >= 0 and error < least * 0.99:
                best, least = np.zeros(len(RATES)), error
                best[list(columns)] = rates
    return tuple(float(f"{rate:.4g}") for rate in best)


def main() -> None:
    """Measure, and write or compare."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--compare", action="store_true")
    asked = words.parse_args()
    rows: list[tuple[str, str, tuple[float, ...]]] = []
    for beside, board_name in BOARDS.items():
        by_kernel: dict[str, list[Sample]] = {}
        for name in NETWORKS:
            for prim, instructions in samples(name, board_name):
                by_kernel.setdefault(kernel_stem(prim.kernel), []).append((prim, instructions))
        for kernel, found in sorted(by_kernel.items()):
            rates = fitted(found)
            rows.append((beside, kernel, rates))
            errors = [_estimate(rates, prim) / instructions - 1 for prim, instructions in found]
            least, most = 100 * min(errors), 100 * max(errors)
            print(f"{beside:<5} {kernel:<34} {len(found):>3} {least:+6.1f} {most:+6.1f} %")
    if not asked.compare:
        with RECORDED.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(("beside", "kernel", *RATES))
            table.writerows((beside, kernel, *rates) for beside, kernel, rates in rows)


def _estimate(rates: Sequence[float], prim: PrimFunc) -> float:
    return sum(rate * count for rate, count in zip(rates, work_counts(prim).vector, strict=True))


if __name__ == "__main__":
    main()
