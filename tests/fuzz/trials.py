"""Trials: a random layer bound to one kernel, whether selection would take that kernel or not."""

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.driver.compare import FLOAT_TOLERANCE
from codegen.ir import Board, DType
from codegen.kernels import kernels_for, supported_ops
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.registry import Kernel
from tests.fuzz.layers import WEIGHTED, drawn, dtypes_of
from tests.kernels.layers import Layer

TRIES = 30
"""Layers drawn for each one wanted before a kernel that refuses them is given up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """`layer` run by `kernel` on `board`."""

    board: str
    kernel: str
    dtype: DType
    seed: int
    layer: Layer
    prim: PrimFunc
    expected: np.ndarray

    @property
    def label(self) -> str:
        """What repeats it."""
        op = self.layer.let.call.op.name
        return f"--board {self.board} --layer {op}:{self.dtype.value}:{self.seed} --kernel {self.kernel}"

    @property
    def tolerance(self) -> float | None:
        """How far floats may be apart; None: every bit counts, but for the sign of 0."""
        if self.expected.dtype != np.float32 or self.layer.let.call.op.name in WEIGHTED:
            return None
        finite = np.abs(self.expected[np.isfinite(self.expected)])
        return FLOAT_TOLERANCE * float(finite.max(initial=0.0))


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What to draw: so many layers for each kernel, from seed `seed` on; of these operators and kernels
    only, where any are named."""

    layers: int
    seed: int = 0
    ops: frozenset[str] = frozenset()
    kernels: frozenset[str] = frozenset()


def trials(wanted: Wanted, boards: Sequence[Board]) -> Iterator[Trial]:
    """Layer by layer, each on every board and kernel that takes it and lacks layers still."""
    for op in supported_ops():
        if (not wanted.ops or op in wanted.ops) and dtypes_of(op):
            yield from _of_operator(op, wanted, boards)


def _of_operator(op: str, wanted: Wanted, boards: Sequence[Board]) -> Iterator[Trial]:
    kernels = [k for k in kernels_for(op) if not wanted.kernels or k.name in wanted.kernels]
    counts: Counter[tuple[str, str]] = Counter()
    for number in range(wanted.layers * TRIES):
        dtypes = dtypes_of(op)
        dtype = dtypes[number % len(dtypes)]
        seed = wanted.seed + number // len(dtypes)
        lacking = [
            (board, kernel)
            for board in boards
            for kernel in kernels
            if counts[board.name, kernel.name] < wanted.layers
        ]
        if not lacking:
            return
        for trial in of_layer(op, dtype, seed, lacking):
            counts[trial.board, trial.kernel] += 1
            yield trial


def of_layer(op: str, dtype: DType, seed: int, on: Sequence[tuple[Board, Kernel]]) -> Iterator[Trial]:
    """The layer on every board and kernel of `on` that takes it. Of the same binding there is one value."""
    layer = drawn(op, dtype, seed)
    expected: np.ndarray | None = None
    bound: dict[str, PrimFunc] = {}
    for board, kernel in on:
        if kernel.refusal(layer.let, board.target) is not None:
            continue
        if kernel.name not in bound:
            name = f"t{zlib.crc32(f'{op} {dtype} {seed} {kernel.name}'.encode()):08x}"
            bound[kernel.name] = kernel.bind(layer.let, layer.constants, name)
        prim = bound[kernel.name]
        # A view has no code; a kernel may hand a layer on to the portable one.
        if not prim.is_call or prim.kernel != kernel.name:
            continue
        expected = layer.expected if expected is None else expected
        yield Trial(
            board=board.name,
            kernel=kernel.name,
            dtype=dtype,
            seed=seed,
            layer=layer,
            prim=prim,
            expected=expected,
        )
