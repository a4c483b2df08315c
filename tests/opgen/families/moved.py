"""Layout operators in the types that other modules do not draw: every element type of each of them.

Where no engine has a type, it is asked for the same bytes as another (`tests/opgen/standing.py`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from tests.opgen.dice import Dice
from tests.opgen.elementwise import draw_shape
from tests.opgen.families import rearranged
from tests.opgen.families.rearranged import drawn_kind
from tests.opgen.shapes import bits, draw_range
from tests.opgen.sketch import Drawn, Sketch, Value
from tests.opgen.standing import instead, standing

_RANKS = (4, 3, 2, 1)
_Draw = Callable[..., Drawn]


def _begun(
    dice: Dice, dtype: str, ranks: Sequence[int] = _RANKS
) -> tuple[Sketch, Value, Callable[..., Value]]:
    """A sketch, an input, and what makes a result of its type."""
    sketch, kind = Sketch(dice), drawn_kind(dice, dtype)
    x = sketch.input(draw_shape(dice, ranks=ranks, most=120), kind)
    return sketch, x, partial(sketch.tensor, affine=kind)


def reshape(dice: Dice, dtype: str, name: str) -> Drawn:
    """RESHAPE, EXPAND_DIMS, or SQUEEZE of what EXPAND_DIMS gave."""
    sketch, x, result = _begun(dice, dtype)
    if name == "RESHAPE":
        wanted = dice.pick(([math.prod(x.shape)], dice.shuffled(x.shape), [-1, x.shape[-1]]))
        shape = [math.prod(x.shape) // x.shape[-1] if extent == -1 else extent for extent in wanted]
        y = sketch.op(name, [x, sketch.constant(wanted)], result(shape), new_shape=tuple(wanted))
        return sketch.finish(y)
    axis = dice.integer(0, len(x.shape))
    y = result((*x.shape[:axis], 1, *x.shape[axis:]))
    sketch.op("EXPAND_DIMS", [x, sketch.constant([axis])], y)
    if name == "EXPAND_DIMS":
        return sketch.finish(y)
    return sketch.finish(sketch.op(name, [y], result(x.shape), squeeze_dims=(axis,)))


def transpose(dice: Dice, dtype: str) -> Drawn:
    """TRANSPOSE by any permutation."""
    sketch, x, result = _begun(dice, dtype)
    order = dice.shuffled(range(len(x.shape)))
    y = result([x.shape[axis] for axis in order])
    return sketch.finish(sketch.op("TRANSPOSE", [x, sketch.constant(order)], y))


def concatenation(dice: Dice, dtype: str) -> Drawn:
    """CONCATENATION of two to four values."""
    sketch, kind = Sketch(dice), drawn_kind(dice, dtype)
    shape = draw_shape(dice, ranks=_RANKS, most=120)
    axis = dice.integer(0, len(shape) - 1)
    extents = dice.integers(1, 5, dice.integer(2, 4))
    parts = [sketch.input((*shape[:axis], extent, *shape[axis + 1 :]), kind) for extent in extents]
    y = sketch.tensor((*shape[:axis], sum(extents), *shape[axis + 1 :]), kind)
    return sketch.finish(sketch.op("CONCATENATION", parts, y, axis=axis))


def split(dice: Dice, dtype: str, name: str) -> Drawn:
    """SPLIT into equal parts, SPLIT_V into others."""
    sketch, kind = Sketch(dice), drawn_kind(dice, dtype)
    shape = draw_shape(dice, ranks=_RANKS, most=60)
    axis, count = dice.integer(0, len(shape) - 1), dice.integer(1, 4)
    extent = dice.integer(1, 3)
    sizes = [extent] * count if name == "SPLIT" else list(dice.integers(1, 4, count))
    x = sketch.input((*shape[:axis], sum(sizes), *shape[axis + 1 :]), kind)
    parts = [sketch.tensor((*shape[:axis], size, *shape[axis + 1 :]), kind) for size in sizes]
    at = sketch.model.constant(sketch.name, np.array(axis, np.int32))
    given = [at, x.index] if name == "SPLIT" else [x.index, sketch.constant(sizes), at]
    sketch.model.op(name, given, [part.index for part in parts], num_splits=count)
    return sketch.finish(*parts)


def strided_slice(dice: Dice, dtype: str) -> Drawn:
    """STRIDED_SLICE with negative strides and masks."""
    sketch, x, result = _begun(dice, dtype)
    ranges = [draw_range(dice, extent) for extent in x.shape]
    y = result([part.count(e) for part, e in zip(ranges, x.shape, strict=True) if not part.shrunk])
    ends = [
        (part.begin + 1 if part.begin != -1 else extent) if part.shrunk else part.end
        for part, extent in zip(ranges, x.shape, strict=True)
    ]
    numbers = ([part.begin for part in ranges], ends, [part.stride for part in ranges])
    masks = {
        "begin_mask": bits([part.begin_masked for part in ranges]),
        "end_mask": bits([part.end_masked for part in ranges]),
        "shrink_axis_mask": bits([part.shrunk for part in ranges]),
    }
    return sketch.finish(sketch.op("STRIDED_SLICE", [x, *(sketch.constant(n) for n in numbers)], y, **masks))


def pad(dice: Dice, dtype: str, name: str) -> Drawn:
    """PAD, or PADV2 with a constant."""
    sketch, kind = Sketch(dice), drawn_kind(dice, dtype)
    x = sketch.input(draw_shape(dice, ranks=_RANKS, most=60), kind)
    around = [(dice.integer(0, 2), dice.integer(0, 2)) for _ in x.shape]
    y = sketch.tensor([extent + sum(pair) for extent, pair in zip(x.shape, around, strict=True)], kind)
    given: list[Value | int] = [
        x,
        sketch.constant([each for pair in around for each in pair], (len(around), 2)),
    ]
    if name == "PADV2":
        value = np.full(
            (1,),
            dice.integer(-100 if dtype == "int64" else 0, 1 if dtype == "bool" else 100),
            np.dtype(dtype),
        )
        given.append(sketch.tensor((1,), kind, data=value))
    return sketch.finish(sketch.op(name, given, y))


def embedding_lookup(dice: Dice, dtype: str, *, asked: bool = False) -> Drawn:
    """EMBEDDING_LOOKUP in a table that is an input; `asked`: the GATHER of the same."""
    sketch, table, result = _begun(dice, dtype, (4, 3, 2))
    count = dice.integer(1, 5)
    places = rearranged.Plain(dtype="int32", low=0, high=table.shape[0] - 1)
    indices = sketch.input((count,), places)
    y = result((count, *table.shape[1:]))
    if asked:
        return sketch.finish(sketch.op("GATHER", [table, indices], y, axis=0, batch_dims=0))
    return sketch.finish(sketch.op("EMBEDDING_LOOKUP", [indices, table], y))


_NEW: Mapping[str, _Draw] = {
    **{name: partial(reshape, name=name) for name in ("RESHAPE", "EXPAND_DIMS", "SQUEEZE")},
    "TRANSPOSE": transpose,
    "CONCATENATION": concatenation,
    **{name: partial(split, name=name) for name in ("SPLIT", "SPLIT_V")},
    "STRIDED_SLICE": strided_slice,
    **{name: partial(pad, name=name) for name in ("PAD", "PADV2")},
    "EMBEDDING_LOOKUP": embedding_lookup,
    "PACK": rearranged.pack,
    "UNPACK": rearranged.unpack,
    "SLICE": rearranged.slice_,
    "MIRROR_PAD": rearranged.mirror_pad,
    "REVERSE_V2": rearranged.reverse,
    "SPACE_TO_DEPTH": rearranged.space_to_depth,
    "DEPTH_TO_SPACE": rearranged.depth_to_space,
    "SPACE_TO_BATCH_ND": rearranged.space_to_batch,
    "BATCH_TO_SPACE_ND": rearranged.batch_to_space,
    "GATHER": rearranged.gather,
    "GATHER_ND": rearranged.gather_nd,
    "DYNAMIC_UPDATE_SLICE": rearranged.update_slice,
    "BROADCAST_TO": rearranged.broadcast_to,
    "FILL": rearranged.fill,
}
_ALL = ("int8", "uint8", "int16", "int32", "int64", "uint32", "float32", "bool")
LABELS = frozenset(f"{dtype} moved" for dtype in _ALL)
"""What kinds are called here: their kernels move bytes, of any type, on every core in the fuzz."""
_AS = {"uint8": "int8", "int16": "int8", "uint32": "int32", "bool": "int8"}
_BYTES: Mapping[str, str] = dict.fromkeys(("uint8", "int16", "int32", "int64", "uint32", "bool"), "int8")
_OTHERS: Mapping[str, Mapping[str, str]] = {
    "EMBEDDING_LOOKUP": _BYTES,
    "SPLIT": {dtype: "int8" for dtype in _BYTES if dtype != "int32"},
    "UNPACK": _BYTES,
    "PADV2": {"uint8": "int8", "uint32": "int32", "bool": "int8"},
}


def _drawn(name: str, dtype: str) -> Callable[[Dice], Drawn]:
    draw, others = partial(_NEW[name], dtype=dtype), _OTHERS.get(name, _AS)
    if (name, dtype) == ("EMBEDDING_LOOKUP", "int32"):  # its indices are of this type too
        return instead(draw)
    return standing(draw, dtype, others[dtype]) if dtype in others else draw


DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    name: {
        f"{dtype} moved": _drawn(name, dtype) for dtype in _ALL if dtype not in rearranged.DRAWN.get(name, {})
    }
    for name in _NEW
}
"""By operator and type."""
