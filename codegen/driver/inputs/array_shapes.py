"""Shapes of arrays beside those of the model's tensors: what fits, and advice where one does not.

Extents of 1 do not change the order of elements, so they may be missing or stand elsewhere. An array of one
axis holds the elements in the model's order. Every other shape is refused, even with as many elements: an
image in another layout would be read in the wrong order.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from codegen.errors import Message, counted
from codegen.ir import DType, TensorType

Shape = Sequence[int]


def has_order_of(shape: Shape, tensor: Shape) -> bool:
    """True if an array of this shape holds its elements in the order of the tensor's."""
    extents = _without_ones(tensor)
    return _without_ones(shape) in (extents, [int(np.prod(extents))])


def fits(data: np.ndarray, type_: TensorType) -> bool:
    """True if `data` has the type's elements in their order."""
    is_equal = data.dtype == type_.dtype.numpy and data.size == type_.elements
    return is_equal and has_order_of(data.shape, type_.shape)


def fits_in_rows(data: np.ndarray, type_: TensorType) -> bool:
    """True if `data[k]` fits the type, for one row or more."""
    return bool(data.ndim) and len(data) > 0 and fits(data[0], type_)


def advice(data: np.ndarray, type_: TensorType, name: str, *, sequence: bool) -> str:
    """Says how array `name` becomes one that fits; `sequence`: `--sequence` is to be had."""
    if data.dtype != type_.dtype.numpy:
        if type_.dtype is DType.FLOAT32:
            return f"arrays have the model's own element type: {name}.astype(numpy.float32)"
        return "arrays hold the stored (quantised) values in the model's own element type"
    if turned := layout_advice(data.shape, type_.shape, name):
        return turned
    if fits_in_rows(data, type_):
        one = f"{name}[:1]" if data.ndim == len(type_.shape) else f"{name}[0]"
        every = ", or all as a sequence with `--sequence`" if sequence else ""
        return f"it holds {len(data)} samples: run one of them, `{one}`{every}"
    return "give an array of the model's shape, its axes in the model's order"


def layout_advice(shape: Shape, tensor: Shape, name: str) -> str:
    """The transposition that turns `shape`, of one sample or of several, to the tensor's; else ''."""
    is_batched = len(shape) == len(tensor)
    full = shape if is_batched else (1, *shape)
    rank = len(full)
    if rank != len(tensor) or rank < 3 or has_order_of(full[1:], tensor[1:]):
        return ""
    letters = {4: "HW", 5: "DHW"}.get(rank, "")
    channels_last, channels_first = f"N{letters}C", f"NC{letters}"
    turns = (
        ((0, rank - 1, *range(1, rank - 1)), channels_last, channels_first),
        ((0, *range(2, rank), 1), channels_first, channels_last),
    )
    for permutation, layout, expected in turns:
        if [full[axis] for axis in permutation[1:]] == list(tensor[1:]):
            looks = (
                f"it looks like {layout}, the model takes {expected}" if letters else "its axes look swapped"
            )
            array = name if is_batched else f"{name}[None]"
            return f"{looks}: {array}.transpose({', '.join(map(str, permutation))})"
    return ""


def fitted(
    data: np.ndarray,
    type_: TensorType,
    key: str,
    what: str,
    where: str,
    *,
    sequence: bool = False,
) -> np.ndarray | Message:
    """Array `key` in the shape of `type_`, or E222 if it does not fit."""
    if fits(data, type_):
        return data.reshape(type_.shape)
    name = f"array {key}" if key else "an array"
    text = f"{name} is {data.dtype}{list(data.shape)}, {what} is {type_}"
    help_ = advice(data, type_, key or "x", sequence=sequence)
    return Message(code="E222", where=where, text=text, help=help_)


def surplus(
    arrays: Iterable[str],
    stem: str,
    count: int,
    names: Sequence[str],
    what: str,
    where: str,
) -> Iterator[Message]:
    """E221 for arrays `stem` with a number from `count` on, which no tensor of `names` has."""
    for key in arrays:
        number = key.removeprefix(stem)
        if key != number and key not in names and number.isdecimal() and int(number) >= count:
            help_ = (
                f"the model has {counted(count, what)}: leave it out, or see that the file is for this model"
            )
            text = f"array {key} is no {what} of the model"
            yield Message(code="E221", where=where, text=text, help=help_)


def uneven_rows(text: str, path: Path) -> Message:
    """E222 for arrays of a sequence that are not equally long."""
    help_ = "row k of every array is what the k-th inference takes or gives: all have as many"
    return Message(code="E222", text=text, where=str(path), help=help_)


def _without_ones(shape: Shape) -> list[int]:
    return [extent for extent in shape if extent != 1]
