"""Operators that move elements: CONCATENATION, PAD, RESHAPE, TRANSPOSE, STRIDED_SLICE."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.opgen.dice import Dice
from tests.opgen.elementwise import draw_shape
from tests.opgen.sketch import Drawn, Sketch, Value

RANKS = (4, 4, 3, 2, 1, 5)


def _input(sketch: Sketch, shape: Sequence[int], *, quantised: bool) -> Value:
    return sketch.input(shape, sketch.affine() if quantised else None)


def concatenation(dice: Dice, quantised: bool) -> Drawn:
    """CONCATENATION of two to four tensors of one quantisation, one of them perhaps a constant."""
    sketch = Sketch(dice)
    shape = draw_shape(dice, ranks=RANKS, most=120)
    axis = dice.integer(0, len(shape) - 1)
    extents = dice.integers(1, 6, dice.integer(2, 4))
    constant = dice.integer(0, 2 * len(extents))
    affine = sketch.affine() if quantised else None
    parts: list[Value] = []
    for number, extent in enumerate(extents):
        part = (*shape[:axis], extent, *shape[axis + 1 :])
        if number == constant:
            parts.append(sketch.tensor(part, affine, data=sketch.values(part, affine)))
        else:
            parts.append(sketch.input(part, affine))
    y = sketch.tensor((*shape[:axis], sum(extents), *shape[axis + 1 :]), affine)
    written = axis - len(shape) if dice.chance(40) else axis
    return sketch.finish(sketch.op("CONCATENATION", parts, y, axis=written))


def append_pad(
    sketch: Sketch, x: Value, paddings: Sequence[tuple[int, int]], value: int | None = None
) -> Value:
    """PAD of `x` with its zero point, or PADV2 with a constant."""
    shape = [extent + before + after for extent, (before, after) in zip(x.shape, paddings, strict=True)]
    y = sketch.tensor(shape, x.affine)
    amounts = sketch.constant([amount for pair in paddings for amount in pair], (len(paddings), 2))
    if value is None:
        return sketch.op("PAD", [x, amounts], y)
    data = np.array([value], np.float32 if x.affine is None else np.int8)
    return sketch.op("PADV2", [x, amounts, sketch.tensor((1,), x.affine, data=data)], y)


def pad(dice: Dice, quantised: bool) -> Drawn:
    """PAD, and PADV2 in one draw of five."""
    sketch = Sketch(dice)
    x = _input(sketch, draw_shape(dice, ranks=RANKS, most=120), quantised=quantised)
    paddings = [(dice.integer(0, 3), dice.integer(0, 2)) if dice.chance(60) else (0, 0) for _ in x.shape]
    while math.prod(e + sum(p) for e, p in zip(x.shape, paddings, strict=True)) > 600:
        paddings[dice.integer(0, len(paddings) - 1)] = (0, 0)
    value = dice.integer(-128, 127) if dice.chance(20) else None
    return sketch.finish(append_pad(sketch, x, paddings, value))


def reshape(dice: Dice, quantised: bool) -> Drawn:
    """RESHAPE by a constant or by its option, with -1 or without; SQUEEZE and EXPAND_DIMS."""
    sketch = Sketch(dice)
    style = dice.pick(("constant", "constant", "inferred", "option", "SQUEEZE", "EXPAND_DIMS"))
    shape = draw_shape(dice)
    axis = dice.integer(0, len(shape) - 1)
    if style == "SQUEEZE":
        x = _input(sketch, (*shape[:axis], 1, *shape[axis:]), quantised=quantised)
        y = sketch.tensor(shape, x.affine)
        return sketch.finish(sketch.op("SQUEEZE", [x], y, squeeze_dims=(axis,)))
    x = _input(sketch, shape, quantised=quantised)
    if style == "EXPAND_DIMS":
        y = sketch.tensor((*shape[:axis], 1, *shape[axis:]), x.affine)
        return sketch.finish(sketch.op("EXPAND_DIMS", [x, sketch.constant([axis])], y))
    target = [*dice.shuffled(shape)[1:], dice.pick(shape)]
    target = dice.shuffled(shape) if math.prod(target) != math.prod(shape) else target
    if len(target) > 1 and dice.chance(50):
        target = [target[0] * target[1], *target[2:]]
    y = sketch.tensor(target, x.affine)
    written = [-1 if style == "inferred" and place == 0 else extent for place, extent in enumerate(target)]
    if style == "option":
        return sketch.finish(sketch.op("RESHAPE", [x], y, new_shape=tuple(target)))
    return sketch.finish(sketch.op("RESHAPE", [x, sketch.constant(written)], y, new_shape=tuple(written)))


def transpose(dice: Dice, quantised: bool) -> Drawn:
    """TRANSPOSE by any permutation."""
    sketch = Sketch(dice)
    x = _input(sketch, draw_shape(dice, ranks=RANKS), quantised=quantised)
    permutation = dice.shuffled(range(len(x.shape)))
    y = sketch.tensor([x.shape[axis] for axis in permutation], x.affine)
    return sketch.finish(sketch.op("TRANSPOSE", [x, sketch.constant(permutation)], y))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Range:
    """One axis of a slice as written in the file: NumPy's meaning of begin:end:stride, and the masks."""

    begin: int
    end: int
    stride: int
    begin_masked: bool
    end_masked: bool
    shrunk: bool

    def count(self, extent: int) -> int:
        if self.shrunk:
            return 1
        begin = None if self.begin_masked else self.begin
        end = None if self.end_masked else self.end
        return len(range(extent)[begin : end : self.stride])


def draw_range(dice: Dice, extent: int) -> _Range:
    """A range that is not empty, its ends from the front or from the back, perhaps beyond the axis."""
    while True:
        shrunk = dice.chance(12)
        drawn = _Range(
            begin=dice.integer(-extent, extent - 1),
            end=dice.integer(-extent - 2, extent + 2),
            stride=1 if shrunk else dice.pick((1, 1, 1, 2, 3, -1, -1, -2)),
            begin_masked=not shrunk and dice.chance(50),
            end_masked=not shrunk and dice.chance(50),
            shrunk=shrunk,
        )
        if drawn.count(extent):
            return drawn


def bits(flags: Sequence[bool]) -> int:
    """The mask with these bits."""
    return sum(1 << place for place, flag in enumerate(flags) if flag)


def strided_slice(dice: Dice, quantised: bool) -> Drawn:
    """STRIDED_SLICE with negative strides, masks and shrunk axes; the last axes may be left out."""
    sketch = Sketch(dice)
    x = _input(sketch, draw_shape(dice, ranks=RANKS, most=500), quantised=quantised)
    named = len(x.shape) if dice.chance(80) else dice.integer(1, len(x.shape))
    ranges = [draw_range(dice, extent) for extent in x.shape[:named]]
    result = [part.count(e) for part, e in zip(ranges, x.shape, strict=False) if not part.shrunk]
    y = sketch.tensor((*result, *x.shape[named:]), x.affine)
    ends = [
        (part.begin + 1 if part.begin != -1 else x.shape[axis]) if part.shrunk else part.end
        for axis, part in enumerate(ranges)
    ]
    sketch.op(
        "STRIDED_SLICE",
        [
            x,
            sketch.constant([part.begin for part in ranges]),
            sketch.constant(ends),
            sketch.constant([part.stride for part in ranges]),
        ],
        y,
        begin_mask=bits([part.begin_masked for part in ranges]),
        end_mask=bits([part.end_masked for part in ranges]),
        shrink_axis_mask=bits([part.shrunk for part in ranges]),
    )
    return sketch.finish(y)
