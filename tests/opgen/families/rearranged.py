"""Operators that put elements elsewhere, on every element type."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from tests.opgen.dice import Dice
from tests.opgen.elementwise import broadcast_shape, draw_shape
from tests.opgen.sketch import Affine, Drawn, Kind, Plain, Sketch


def drawn_kind(dice: Dice, dtype: str) -> Kind:
    """An element type: int8 and int16 quantised, float32, others plain."""
    if dtype == "float32":
        return None
    if dtype == "uint8":
        return Plain(dtype=dtype, low=0, high=255)
    if dtype == "bool":
        return Plain(dtype=dtype, low=0, high=1)
    if dtype in ("int8", "int16"):
        zero = dice.zero_point() if dtype == "int8" else 0
        return Affine(scale=dice.float32(-12, -3), zero_point=zero, dtype=dtype)
    reach = 1 << (40 if dtype == "int64" else 30)
    return Plain(dtype=dtype, low=0 if dtype == "uint32" else -reach, high=reach)


def _shape(dice: Dice, ranks: Sequence[int] = (4, 3, 2, 1), most: int = 120) -> tuple[int, ...]:
    return draw_shape(dice, ranks=ranks, most=most)


def pack(dice: Dice, dtype: str) -> Drawn:
    """PACK of one to four values along any axis."""
    sketch, kind = Sketch(dice), drawn_kind(dice, dtype)
    shape, count = _shape(dice, (3, 2, 1)), dice.integer(1, 4)
    axis = dice.integer(0, len(shape))
    values = [sketch.input(shape, kind) for _ in range(count)]
    y = sketch.tensor((*shape[:axis], count, *shape[axis:]), kind)
    given = axis if dice.chance(70) else axis - len(shape) - 1
    return sketch.finish(sketch.op("PACK", values, y, values_count=count, axis=given))


def unpack(dice: Dice, dtype: str) -> Drawn:
    """UNPACK along any axis."""
    sketch, kind = Sketch(dice), drawn_kind(dice, dtype)
    shape = _shape(dice, (4, 3, 2))
    axis = min(range(len(shape)), key=lambda each: shape[each]) if dice.chance(50) else len(shape) - 1
    x = sketch.input(shape, kind)
    parts = [sketch.tensor((*shape[:axis], *shape[axis + 1 :]), kind) for _ in range(shape[axis])]
    sketch.model.op("UNPACK", [x.index], [part.index for part in parts], num=len(parts), axis=axis)
    return sketch.finish(*parts)


def slice_(dice: Dice, dtype: str) -> Drawn:
    """SLICE; some extents go to the end."""
    sketch, kind = Sketch(dice), drawn_kind(dice, dtype)
    shape = _shape(dice)
    begins = [dice.integer(0, extent - 1) for extent in shape]
    counts = [dice.integer(1, extent - begin) for extent, begin in zip(shape, begins, strict=True)]
    sizes = [-1 if b + c == e else c for e, b, c in zip(shape, begins, counts, strict=True)]
    x, y = sketch.input(shape, kind), sketch.tensor(counts, kind)
    return sketch.finish(sketch.op("SLICE", [x, sketch.constant(begins), sketch.constant(sizes)], y))


def reverse(dice: Dice, dtype: str) -> Drawn:
    """REVERSE_V2 of neighbouring axes, as tflite-micro wants them."""
    sketch, kind = Sketch(dice), drawn_kind(dice, dtype)
    shape = _shape(dice)
    first = dice.integer(0, len(shape) - 1)
    axes = list(range(first, dice.integer(first, len(shape) - 1) + 1)) if dice.chance(40) else [first]
    x, y = sketch.input(shape, kind), sketch.tensor(shape, kind)
    return sketch.finish(sketch.op("REVERSE_V2", [x, sketch.constant(axes)], y))


def space_to_depth(dice: Dice, dtype: str) -> Drawn:
    """SPACE_TO_DEPTH of blocks of 1 to 3."""
    sketch, kind, block = Sketch(dice), drawn_kind(dice, dtype), dice.pick((2, 2, 3, 1))
    batch, rows, columns, channels = (dice.integer(1, high) for high in (2, 3, 3, 4))
    x = sketch.input((batch, rows * block, columns * block, channels), kind)
    y = sketch.tensor((batch, rows, columns, channels * block * block), kind)
    return sketch.finish(sketch.op("SPACE_TO_DEPTH", [x], y, block_size=block))


def depth_to_space(dice: Dice, dtype: str) -> Drawn:
    """DEPTH_TO_SPACE of blocks of 1 to 3."""
    sketch, kind, block = Sketch(dice), drawn_kind(dice, dtype), dice.pick((2, 2, 3, 1))
    batch, rows, columns, channels = (dice.integer(1, high) for high in (2, 3, 3, 4))
    x = sketch.input((batch, rows, columns, channels * block * block), kind)
    y = sketch.tensor((batch, rows * block, columns * block, channels), kind)
    return sketch.finish(sketch.op("DEPTH_TO_SPACE", [x], y, block_size=block))


def space_to_batch(dice: Dice, dtype: str) -> Drawn:
    """SPACE_TO_BATCH_ND of images, or of signals (one axis of blocks)."""
    sketch, kind = Sketch(dice), drawn_kind(dice, dtype)
    blocks = dice.integers(1, 3, dice.pick((2, 2, 1)))
    results = dice.integers(1, 3, len(blocks))
    batch, channels = dice.integer(1, 2), dice.integer(1, 4)
    pads: list[int] = []
    extents: list[int] = []
    for block, count in zip(blocks, results, strict=True):
        before = dice.integer(0, min(2, block * count - 1))
        after = dice.integer(0, min(2, block * count - 1 - before))
        pads += [before, after]
        extents.append(block * count - before - after)
    x = sketch.input((batch, *extents, channels), kind)
    y = sketch.tensor((batch * math.prod(blocks), *results, channels), kind)
    given = [sketch.constant(blocks), sketch.constant(pads, (len(blocks), 2))]
    return sketch.finish(sketch.op("SPACE_TO_BATCH_ND", [x, *given], y))


def batch_to_space(dice: Dice, dtype: str) -> Drawn:
    """BATCH_TO_SPACE_ND of images, or of signals (one axis of blocks)."""
    sketch, kind = Sketch(dice), drawn_kind(dice, dtype)
    blocks = dice.integers(1, 3, dice.pick((2, 2, 1)))
    extents = dice.integers(1, 3, len(blocks))
    batch, channels = dice.integer(1, 2), dice.integer(1, 4)
    crops: list[int] = []
    results: list[int] = []
    for block, extent in zip(blocks, extents, strict=True):
        before = dice.integer(0, min(2, block * extent - 1))
        after = dice.integer(0, min(2, block * extent - 1 - before))
        crops += [before, after]
        results.append(block * extent - before - after)
    x = sketch.input((batch * math.prod(blocks), *extents, channels), kind)
    y = sketch.tensor((batch, *results, channels), kind)
    given = [sketch.constant(blocks), sketch.constant(crops, (len(blocks), 2))]
    return sketch.finish(sketch.op("BATCH_TO_SPACE_ND", [x, *given], y))


def tile(dice: Dice, dtype: str) -> Drawn:
    """TILE of any axes."""
    sketch, kind, shape = Sketch(dice), drawn_kind(dice, dtype), _shape(dice, most=40)
    counts = [dice.pick((1, 1, 2, 3)) for _ in shape]
    x = sketch.input(shape, kind)
    y = sketch.tensor([extent * count for extent, count in zip(shape, counts, strict=True)], kind)
    return sketch.finish(sketch.op("TILE", [x, sketch.constant(counts)], y))


def update_slice(dice: Dice, dtype: str) -> Drawn:
    """DYNAMIC_UPDATE_SLICE at starts inside and beyond."""
    sketch, kind, shape = Sketch(dice), drawn_kind(dice, dtype), _shape(dice)
    part = [dice.integer(1, extent) for extent in shape]
    x, y = sketch.input(shape, kind), sketch.input(part, kind)
    starts = sketch.input((len(shape),), Plain(dtype="int32", low=-2, high=max(shape)))
    return sketch.finish(sketch.op("DYNAMIC_UPDATE_SLICE", [x, y, starts], sketch.tensor(shape, kind)))


def mirror_pad(dice: Dice, dtype: str) -> Drawn:
    """MIRROR_PAD in both modes."""
    sketch, kind, mode = Sketch(dice), drawn_kind(dice, dtype), dice.integer(0, 1)
    shape = tuple(extent + 1 for extent in dice.integers(1, 4, dice.integer(1, 4)))
    limits = [extent if mode else extent - 1 for extent in shape]
    pads = [(dice.integer(0, min(2, most)), dice.integer(0, min(2, most))) for most in limits]
    x = sketch.input(shape, kind)
    y = sketch.tensor([extent + sum(pair) for extent, pair in zip(shape, pads, strict=True)], kind)
    amounts = sketch.constant([amount for pair in pads for amount in pair], (len(pads), 2))
    return sketch.finish(sketch.op("MIRROR_PAD", [x, amounts], y, mode=mode))


def broadcast_to(dice: Dice, dtype: str) -> Drawn:
    """BROADCAST_TO a shape of as many axes or more."""
    sketch, kind = Sketch(dice), drawn_kind(dice, dtype)
    wanted = _shape(dice)
    given = tuple(1 if dice.chance(50) else extent for extent in wanted)[dice.integer(0, len(wanted) - 1) :]
    x, y = sketch.input(given, kind), sketch.tensor(broadcast_shape(wanted, given), kind)
    return sketch.finish(sketch.op("BROADCAST_TO", [x, sketch.constant(wanted)], y))


def fill(dice: Dice, dtype: str) -> Drawn:
    """FILL with an input of the model."""
    sketch, kind, shape = Sketch(dice), drawn_kind(dice, dtype), _shape(dice)
    x, y = sketch.input((), kind), sketch.tensor(shape, kind)
    return sketch.finish(sketch.op("FILL", [sketch.constant(shape), x], y))


def gather(dice: Dice, dtype: str) -> Drawn:
    """GATHER by indices of the model or of the file, some with batch axes."""
    sketch, kind, shape = Sketch(dice), drawn_kind(dice, dtype), _shape(dice)
    axis = dice.integer(0, len(shape) - 1)
    shared = dice.integer(0, axis) if dice.chance(40) else 0
    own = dice.integers(1, 3, dice.integer(1, 2))
    places = Plain(dtype="int32", low=0, high=shape[axis] - 1)
    x = sketch.input(shape, kind)
    index_shape = (*shape[:shared], *own)
    if dice.chance(40):
        indices = sketch.tensor(index_shape, places, data=sketch.values(index_shape, places))
    else:
        indices = sketch.input(index_shape, places)
    y = sketch.tensor((*shape[:axis], *own, *shape[axis + 1 :]), kind)
    given = axis if shared or dice.chance(70) else axis - len(shape)
    return sketch.finish(sketch.op("GATHER", [x, indices], y, axis=given, batch_dims=shared))


def gather_nd(dice: Dice, dtype: str) -> Drawn:
    """GATHER_ND by indices of the model or of the file."""
    sketch, kind, shape = Sketch(dice), drawn_kind(dice, dtype), _shape(dice)
    depth = dice.integer(1, len(shape))
    index_shape = (*dice.integers(1, 3, dice.integer(1, 2)), depth)
    places = Plain(dtype="int32", low=0, high=min(shape[:depth]) - 1)
    x = sketch.input(shape, kind)
    if dice.chance(40):
        data = np.stack([dice.within(index_shape[:-1], 0, extent - 1) for extent in shape[:depth]], -1)
        indices = sketch.tensor(index_shape, places, data=data.astype(np.int32))
    else:
        indices = sketch.input(index_shape, places)
    y = sketch.tensor((*index_shape[:-1], *shape[depth:]), kind)
    return sketch.finish(sketch.op("GATHER_ND", [x, indices], y))


def embedding_lookup(dice: Dice, dtype: str) -> Drawn:
    """EMBEDDING_LOOKUP in a table of the file."""
    sketch, kind, shape = Sketch(dice), drawn_kind(dice, dtype), _shape(dice, (3, 2))
    count = dice.integer(1, 5)
    indices = sketch.input((count,), Plain(dtype="int32", low=0, high=shape[0] - 1))
    table = sketch.tensor(shape, kind, data=sketch.values(shape, kind))
    y = sketch.tensor((count, *shape[1:]), kind)
    return sketch.finish(sketch.op("EMBEDDING_LOOKUP", [indices, table], y))


_ALL = ("int8", "int16", "int32", "int64", "float32", "bool")
_DRAW: Mapping[str, tuple[Callable[[Dice, str], Drawn], Sequence[str]]] = {
    "PACK": (pack, ("int8", "int16", "int32", "int64", "float32")),
    "UNPACK": (unpack, ("int8", "int16", "int32", "float32", "bool")),
    "SLICE": (slice_, _ALL),
    "REVERSE_V2": (reverse, _ALL),
    "SPACE_TO_DEPTH": (space_to_depth, ("int8", "int32", "int64", "float32")),
    "DEPTH_TO_SPACE": (depth_to_space, ("int8", "int32", "int64", "float32")),
    "SPACE_TO_BATCH_ND": (space_to_batch, ("int8", "int32", "int64", "float32")),
    "BATCH_TO_SPACE_ND": (batch_to_space, ("int8", "int32", "int64", "float32")),
    "DYNAMIC_UPDATE_SLICE": (update_slice, ("int8", "int32", "int64", "float32", "bool")),
    "DYNAMIC_UPDATE_SLICE int16": (update_slice, ("int16",)),
    "TILE": (tile, ("int8", "int32", "int64", "float32", "bool")),
    "MIRROR_PAD": (mirror_pad, ("int8", "int32", "int64", "float32")),
    "BROADCAST_TO": (broadcast_to, ("int8", "int16", "int32", "int64", "float32", "bool")),
    "FILL": (fill, _ALL),
    "GATHER": (gather, ("int8", "int16", "int32", "int64", "float32", "bool")),
    "GATHER_ND": (gather_nd, ("int8", "int16", "int32", "int64", "float32")),
    "EMBEDDING_LOOKUP": (embedding_lookup, ("int8", "float32")),
}
"""By operator: how to draw one, and the types that its ruling engine takes."""

DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    name: {dtype: partial(draw, dtype=dtype) for dtype in dtypes} for name, (draw, dtypes) in _DRAW.items()
}
