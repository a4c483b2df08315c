"""Kernels of instruction sets that go through a reduction by dense blocks, of rows or of lines."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

import numpy as np

from codegen.ir import Let
from codegen.ir.ops import MeanAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import FastKernel, PortableKernel, arg_type
from codegen.kernels.base.overlap import forward_sharing
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT
from codegen.kernels.portable.pooling import MeanInteger
from codegen.kernels.portable.reducing import REDUCE_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.core_family import KernelSet


@dataclass(frozen=True, kw_only=True, slots=True)
class Blocks:
    """Dense blocks of `rows` by `columns`; each becomes a row, or (`is_lines`, there is one) a column."""

    blocks: int
    rows: int
    columns: int
    is_lines: bool

    @property
    def is_odd(self) -> bool:
        """True if rows are no whole words."""
        return self.columns % 4 != 0


def blocks_of(let: Let) -> Blocks | None:
    """Blocks of a reduction, or None where its axes lie apart."""
    reduced = narrow(let.call.attrs, MeanAttrs).axes
    axes = [(axis in reduced, extent) for axis, extent in enumerate(arg_type(let, 0).shape) if extent > 1]
    runs = [
        (is_reduced, math.prod(extent for _, extent in run))
        for is_reduced, run in groupby(axes, key=itemgetter(0))
    ]
    match runs:
        case [] | [(False, _)]:
            return Blocks(blocks=1, rows=1, columns=let.var.type.elements, is_lines=False)
        case [(True, columns)]:
            return Blocks(blocks=1, rows=1, columns=columns, is_lines=True)
        case [(False, rows), (True, columns)]:
            return Blocks(blocks=1, rows=rows, columns=columns, is_lines=True)
        case [(True, rows), (False, columns)]:
            return Blocks(blocks=1, rows=rows, columns=columns, is_lines=False)
        case [(False, blocks), (True, rows), (False, columns)]:
            return Blocks(blocks=blocks, rows=rows, columns=columns, is_lines=False)
        case _:
            return None


Predicted = Callable[[Blocks], int]


@dataclass(frozen=True, kw_only=True, slots=True)
class MeanPrice:
    """Instructions of a MEAN or SUM by four sums of rows, one of a line of words, or one of any elements."""

    call: int
    result: int
    rows: tuple[int, int]
    """Instructions around four sums, and of a row of four."""
    line: tuple[int, int]
    """Instructions around a sum, and of four elements of a line of words."""
    steps: tuple[int, int]
    """Instructions around a sum, and of an element of any line or column."""

    def __call__(self, blocks: Blocks) -> int:
        """Instructions of a call."""
        rows, columns = blocks.rows, blocks.columns
        if blocks.is_lines:
            around, step = self.steps if blocks.is_odd else self.line
            count = columns if blocks.is_odd else columns // 4
            return self.call + rows * (self.result + around + step * count)
        around, step = self.steps if blocks.is_odd else self.rows
        results, count = (1, columns) if blocks.is_odd else (4, columns // 4)
        return self.call + blocks.blocks * count * (results * self.result + around + step * rows)


class FastReduction(FastKernel):
    """A reduction of int8 by functions for rows and for lines, which need no workspace."""

    header: str
    c_type: str
    """C type of the parameters."""
    function: str
    """Prefix of the functions' names."""

    def __init__(
        self, portable: PortableKernel, kernel_set: KernelSet, predicted: Predicted, *, by_words: bool
    ) -> None:
        """`predicted`: instructions of a call; `by_words`: odd rows take functions of their own."""
        self.portable, self.op, self.kernel_set = portable, portable.op, kernel_set
        self.name = f"{self.op.lower()}_s8_{kernel_set.folder}"
        self._predicted, self._by_words = predicted, by_words

    def other_reason(self, let: Let) -> str | None:
        """Refuse axes that lie apart."""
        return None if blocks_of(let) else f"the kernel {self.name} is for axes next to each other"

    @abstractmethod
    def files(self) -> tuple[str, ...]:
        """Names of the functions' sources, in the folder of the instruction set."""

    def numbers(self, let: Let) -> Fields:
        """Parameters behind the sizes."""
        del let
        return ()

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        prim, blocks = self.portable.bind(let, constants, name), blocks_of(let)
        assert blocks is not None
        odd = "odd_" if self._by_words and blocks.is_odd else ""
        form = f"{odd}{'lines' if blocks.is_lines else 'rows'}"
        sizes: Fields = (("blocks", blocks.blocks), ("rows", blocks.rows), ("columns", blocks.columns))
        # A line is read before its result is written, a group of columns in all its rows.
        ahead = blocks.columns - 1 if blocks.is_lines else 0
        every = blocks.is_lines and blocks.rows == 1
        folder = self.kernel_set.folder
        return replace(
            prim,
            kernel=self.name,
            symbol=f"{self.function}_{form}_s8_{folder}",
            sources=tuple(f"kernels/{folder}/{file}" for file in self.files()),
            headers=(self.header,),
            structs=(params(self.c_type, *sizes, *self.numbers(let)),),
            call_args=(PARAMS, ARGUMENT, RESULT),
            argument_alignment=4 if self._by_words and not blocks.is_odd else 1,
            instructions=self._predicted(blocks),
            sharing=forward_sharing(let, 0, None if every else -ahead),
            workspaces=(),
            sub_steps=1,
            argument_stops=(),
            result_start=0,
        )


class FastExtreme(FastReduction):
    """REDUCE_MAX or REDUCE_MIN, in assembly."""

    header, c_type = "cg_reduce.h", "cg_reduce_blocks"

    def __init__(self, op: str, kernel_set: KernelSet, predicted: Predicted, *, by_words: bool) -> None:
        super().__init__(REDUCE_S8[op], kernel_set, predicted, by_words=by_words)
        self.function = f"cg_{op.lower()}"

    def files(self) -> tuple[str, ...]:
        return (f"reduce_s8_{self.kernel_set.folder}.S",)


class FastMean(FastReduction):
    """MEAN or SUM: sums in assembly, requantized in C."""

    header, c_type, function = "cg_mean_blocks.h", "cg_mean_blocks", "cg_mean"

    def __init__(
        self, portable: MeanInteger, kernel_set: KernelSet, predicted: Predicted, *, by_words: bool
    ) -> None:
        super().__init__(portable, kernel_set, predicted, by_words=by_words)
        self._mean = portable

    def files(self) -> tuple[str, ...]:
        folder = self.kernel_set.folder
        return (f"mean_s8_{folder}.c", f"sums_s8_{folder}.S")

    def numbers(self, let: Let) -> Fields:
        return self._mean.scale_fields(let)
