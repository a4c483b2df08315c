"""Walks over tensors: axes merged into at most five loops, as `cg_axes` of the C kernels takes them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from codegen.kernels.call import CStruct

AXES = 5
"""Loops of a C kernel that walks over axes (`cg_axes`)."""

Fields = tuple[tuple[str, object], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Walk:
    """Loops, outermost first: their `extents`, and for each operand how far one turn of a loop moves in
    it."""

    extents: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]


def dense_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Elements between neighbours along each axis of a dense row-major tensor."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def broadcast_steps(shape: Sequence[int], rank: int) -> tuple[int, ...]:
    """Elements from one index to the next along each of `rank` result axes; 0 where `shape` is broadcast."""
    full = (1,) * (rank - len(shape)) + tuple(shape)
    return tuple(0 if extent == 1 else step for extent, step in zip(full, dense_strides(full), strict=True))


def merge(extents: Sequence[int], *steps: Sequence[int]) -> Walk:
    """Merge a walk into as few loops as possible: drop axes of extent 1, join axes that continue each other.

    Order is kept, so operands without steps here may be walked densely.
    """
    loops: list[tuple[int, tuple[int, ...]]] = []
    for extent, *moves in zip(extents, *steps, strict=True):
        if extent == 1:
            continue
        inner = tuple(moves)
        if loops and loops[-1][1] == tuple(extent * move for move in inner):
            loops[-1] = (loops[-1][0] * extent, inner)
        else:
            loops.append((extent, inner))
    return Walk(
        extents=tuple(extent for extent, _ in loops),
        steps=tuple(tuple(moves[operand] for _, moves in loops) for operand in range(len(steps))),
    )


def axes(values: Sequence[int], fill: int) -> Fields:
    """Fields of a `cg_axes`: `values` innermost last, `fill` for unused outer loops.

    Raises ValueError if there are more than five.
    """
    if len(values) > AXES:
        raise ValueError(f"the shapes need {len(values)} nested loops, the portable kernels have {AXES}")
    padded = (fill,) * (AXES - len(values)) + tuple(values)
    return tuple((f"d{axis}", value) for axis, value in enumerate(padded))


def block_walk(extents: Sequence[int], strides: Sequence[int], first: int, element_bytes: int) -> Fields:
    """Fields of a `cg_block_walk` over one strided tensor, all in elements here and in bytes there.

    Runs that are contiguous in it become one block.
    """
    walk = merge(extents, strides)
    counts, steps = list(walk.extents), list(walk.steps[0])
    block = 1
    if steps and steps[-1] == 1:
        block = counts.pop()
        steps.pop()
    return (
        ("extent", axes(counts, 1)),
        ("step_bytes", axes([step * element_bytes for step in steps], 0)),
        ("first_bytes", first * element_bytes),
        ("block_bytes", block * element_bytes),
    )


def params(c_type: str, *fields: tuple[str, object]) -> CStruct:
    """The parameter struct of a kernel: a C object `<primfunc>_params`."""
    return CStruct(suffix="params", c_type=c_type, fields=fields)
