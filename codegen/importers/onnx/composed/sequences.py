"""Sequences of tensors: lists that are known when the file is read, of values that the model computes.

How many tensors there are and which one is asked for has to be known; then nothing of a sequence is left in
the model. Sequences as inputs or outputs of a model, or carried by a loop, are refused.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.arranging import joined, part
from codegen.importers.onnx.layouts import Computed, Known, Listed, Value
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused

MAX_LENGTH = 1024
"""Tensors of a sequence."""


def _sequence(site: Site, values: list[Value]) -> Listed:
    """Its tensors are read by other names from now on."""
    if len(values) > MAX_LENGTH:
        raise Refused("E305", f"a sequence of {len(values)} tensors, up to {MAX_LENGTH} are imported")
    site.steps.share(value for value in values if isinstance(value, Computed))
    return Listed(values=tuple(values))


def _empty(site: Site) -> Listed:
    site.integer("dtype", 1)
    return Listed(values=())


def _place(site: Site, position: int, count: int, *, behind: bool = False) -> int:
    """Input `position`, counted from the end of `count` if it is negative; `behind`: or behind the last."""
    places = site.numbers(position, "the position in a sequence")
    if len(places) != 1 or not -count <= places[0] < count + behind:
        raise Refused("E303", f"position {list(places)} is outside a sequence of {count}")
    return places[0] if places[0] >= 0 else places[0] + count


def _inserted(site: Site) -> Listed:
    values = list(site.listed(0))
    place = _place(site, 2, len(values), behind=True) if site.has(2) else len(values)
    return _sequence(site, [*values[:place], site.value(1), *values[place:]])


def _erased(site: Site) -> Listed:
    values = list(site.listed(0))
    if not values:
        raise Refused("E303", "takes a tensor out of an empty sequence")
    del values[_place(site, 1, len(values)) if site.has(1) else -1]
    return Listed(values=tuple(values))


def _at(site: Site) -> Value:
    values = site.listed(0)
    return values[_place(site, 1, len(values))]


def _concatenated(site: Site) -> Value:
    """ConcatFromSequence: one behind the other, with `new_axis` along an axis of its own."""
    values = list(site.listed(0))
    if not values:
        raise Refused("E303", "joins an empty sequence")
    if site.integer("new_axis", 0):
        rank = len(values[0].shape) + 1
        axis = site.axis(site.integer("axis"), rank)
        if any(len(value.shape) != rank - 1 for value in values):
            raise Refused("E303", "joins values of several ranks")
        values = [
            site.steps.reshape(value, (*value.shape[:axis], 1, *value.shape[axis:])) for value in values
        ]
    return joined(site, values)


def _split(site: Site) -> Listed:
    """SplitToSequence: parts of given sizes, or of one; without sizes at will without the axis."""
    value = site.value(0)
    axis = site.axis(site.integer("axis", 0), len(value.shape))
    extent, keeps = value.shape[axis], bool(site.integer("keepdims", 1)) or site.has(1)
    stated = site.known(1, "the sizes").reshape(-1) if site.has(1) else np.ones(1, np.int64)
    if not np.issubdtype(stated.dtype, np.integer):
        raise Refused("E303", f"the sizes are {stated.dtype}, they have to be integers")
    each_size = int(stated[0]) if stated.size == 1 else 0
    if site.has(1) and site.known(1, "the sizes").ndim == 1:
        sizes = stated.astype(np.int64).tolist()
    elif each_size < 1 or -(-extent // each_size) > MAX_LENGTH:
        raise Refused("E305", f"parts of {each_size} of {extent}, up to {MAX_LENGTH} parts are imported")
    else:
        sizes = [min(each_size, extent - start) for start in range(0, extent, each_size)]
    if sum(sizes) != extent or min(sizes, default=0) < 0:
        raise Refused("E303", f"parts of {sizes} do not make up {extent}")
    starts = np.cumsum([0, *sizes]).tolist()
    pieces: list[Value] = []
    for start, size in zip(starts, sizes, strict=False):
        slices = [slice(0, whole, 1) for whole in value.shape]
        slices[axis] = slice(start, start + size, 1)
        piece = part(site, value, slices)
        shape = (*value.shape[:axis], *value.shape[axis + 1 :])
        pieces.append(piece if keeps else site.steps.reshape(piece, shape))
    return _sequence(site, pieces)


def _length(site: Site) -> Value:
    return Known(data=np.array(len(site.listed(0)), np.int64))


SEQUENCES: Mapping[str, Callable[[Site], Value | Listed]] = MappingProxyType(
    {
        "ConcatFromSequence": _concatenated,
        "SequenceAt": _at,
        "SequenceConstruct": lambda site: _sequence(site, site.all_values()),
        "SequenceEmpty": _empty,
        "SequenceErase": _erased,
        "SequenceInsert": _inserted,
        "SequenceLength": _length,
        "SplitToSequence": _split,
    }
)
