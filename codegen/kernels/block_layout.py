"""How a block is laid out, and the work that follows: pixels, multiply-accumulates, instructions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from codegen.kernels.base.window import nhwc
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import BlockRun, Stage

CALL_INSTRUCTIONS = 500
"""Instructions of a row kernel's call beyond its pixels, where it has no price: 300 to 2,000, by kernel and
channels."""
ELEMENTS_CALL_INSTRUCTIONS = 150
"""Instructions of the call of a row kernel without a window beyond its elements."""

Count = TypeVar("Count", int, NDArray[np.int64])
"""A number, or one for each of several blocks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockLayout:
    """A block as it runs for each of its images: its stages, the schedule, the columns of each stripe, line
    buffers in bytes."""

    stages: tuple[Stage, ...]
    run: BlockRun
    stripes: tuple[tuple[tuple[int, int], ...], ...]
    images: int

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns that the lines of each stage hold."""
        return tuple(max(span[1] - span[0] for span in spans) for spans in zip(*self.stripes, strict=True))

    @property
    def line_bytes(self) -> tuple[int, ...]:
        """Bytes of the lines of every stage but the last, which writes the result."""
        return tuple(
            max(1, width * stage.pixel_bytes * kept)
            for width, stage, kept in zip(self.widths, self.stages, self.run.kept, strict=True)
        )[:-1]

    def pixels(self, stage: int) -> int:
        """Pixels of an image that a stage computes, those of overlapping patches each time."""
        if self.stages[stage].is_delivered:
            return self.run.counts[stage] * self.stages[stage].columns.count
        return self.run.counts[stage] * sum(spans[stage][1] - spans[stage][0] for spans in self.stripes)


def macs(prims: Sequence[PrimFunc], planned: BlockLayout) -> int:
    """Multiply-accumulates of one run: recomputed columns count again, what nobody reads does not count."""
    total = 0
    for index, prim in enumerate(prims, start=len(planned.stages) - len(prims)):
        total += prim.macs * planned.pixels(index) // pixels_of(prim)
    return total


def work(prims: Sequence[PrimFunc], costs: Sequence[int], planned: BlockLayout) -> int:
    """Instructions or cycles of a block, from those of its steps alone (`costs`)."""
    total = 0
    steps = zip(prims, costs, strict=True)
    for index, (prim, cost) in enumerate(steps, start=len(planned.stages) - len(prims)):
        rows, spans = planned.run.counts[index], [stripe[index] for stripe in planned.stripes]
        price = prim.rows.price if prim.rows else None
        if price is not None and prim.instructions:
            priced = sum(price(rows, span) for span in spans)
            total += round(cost * planned.images * priced / prim.instructions)
        else:
            calls = rows * len(spans) - planned.stages[index].rows.count
            total += stage_work(prim, cost, planned.pixels(index), max(calls, 0))
    return total


def stage_work(prim: PrimFunc, cost: int, pixels: Count, further_calls: Count) -> Count:
    """Instructions or cycles of a step in a block: those of it alone in proportion to the pixels of an image
    that it computes, and some for further calls."""
    images = nhwc(prim.let.var.type.shape)[0]
    has_window = prim.rows is not None and prim.rows.window is not None
    call = CALL_INSTRUCTIONS if has_window else ELEMENTS_CALL_INSTRUCTIONS
    return pixels * cost // pixels_of(prim) + further_calls * (images * call)


def pixels_of(prim: PrimFunc) -> int:
    """Pixels of an image of a step's result."""
    _, height, width, _ = nhwc(prim.let.var.type.shape)
    return height * width
