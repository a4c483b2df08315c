"""Trials: a random layer bound to one kernel, whether selection would take that kernel or not."""

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.driver.report.output_check import FLOAT_TOLERANCE
from codegen.ir import Board, DType
from codegen.kernels.base.registry import Kernel
from codegen.kernels.primfunc import PrimFunc
from tests.fuzz.layers import WEIGHTED, drawn, dtypes_of
from tests.fuzz.rounded import kind_of
from tests.kernels.layers import Layer

TRIES = 60
"""Layers drawn for each one wanted before a kernel that refuses them is given up."""
LEAST_DRAWN = 3000
"""Layers that are drawn at least before a kernel is given up: of a group that shares layers each has few."""
TASTES = 100
"""Layers of an element type that a kernel must refuse, all of them, before no more are drawn for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """`layer` run by `kernel` on `board`."""

    board: str
    kernel: str
    kind: str
    """Of the layer (`kind_of`)."""
    dtype: DType
    seed: int
    layer: Layer
    prim: PrimFunc
    expected: np.ndarray

    @property
    def label(self) -> str:
        """What repeats it."""
        return (
            f"--board {self.board} --layer {self.kind}:{self.dtype.value}:{self.seed} --kernel {self.kernel}"
        )

    @property
    def tolerance(self) -> float | None:
        """How far floats may be apart; None: every bit counts, but for the sign of 0."""
        if self.expected.dtype != np.float32 or self.layer.let.call.op.name in WEIGHTED:
            return None
        finite = np.abs(self.expected[np.isfinite(self.expected)])
        return FLOAT_TOLERANCE * float(finite.max(initial=0.0))


def trials(
    kernel: Kernel, boards: Sequence[Board], *, layers: int, seed: int = 0, counts: Mapping[str, int]
) -> Iterator[Trial]:
    """Layers from number `seed` on that `kernel` takes, each on every board that lacks layers still.

    `counts`: how many of each board are done (by name), kept by the caller: some may not fit. The kernel
    itself decides which layers it gets, by refusing others; ends early where it refuses nearly all.
    """
    drawn_of: Counter[DType] = Counter()
    taken_of: Counter[DType] = Counter()
    number, kind = 0, kind_of(kernel)
    while sum(drawn_of.values()) < max(layers * TRIES, LEAST_DRAWN):
        dtypes = [d for d in dtypes_of(kind) if taken_of[d] or drawn_of[d] < TASTES]
        lacking = [board for board in boards if counts.get(board.name, 0) < layers]
        if not lacking or not dtypes:
            return
        for dtype in dtypes:
            drawn_of[dtype] += 1
            for trial in of_layer(kind, dtype, seed + number, [(board, kernel) for board in lacking]):
                taken_of[dtype] += 1
                yield trial
        number += 1


def of_layer(kind: str, dtype: DType, seed: int, on: Sequence[tuple[Board, Kernel]]) -> Iterator[Trial]:
    """The layer on every board and kernel of `on` that takes it. Of the same binding there is one value."""
    layer = drawn(kind, dtype, seed)
    expected: np.ndarray | None = None
    bound: dict[str, PrimFunc] = {}
    for board, kernel in on:
        if kernel.refusal(layer.let, board.target) is not None:
            continue
        if kernel.name not in bound:
            name = f"t{zlib.crc32(f'{kind} {dtype} {seed} {kernel.name}'.encode()):08x}"
            bound[kernel.name] = kernel.bind(layer.let, layer.constants, name)
        prim = bound[kernel.name]
        # A view has no code; a kernel may hand a layer on to the portable one.
        if not prim.is_call or prim.kernel != kernel.name:
            continue
        expected = layer.expected if expected is None else expected
        yield Trial(
            board=board.name,
            kernel=kernel.name,
            kind=kind,
            dtype=dtype,
            seed=seed,
            layer=layer,
            prim=prim,
            expected=expected,
        )
