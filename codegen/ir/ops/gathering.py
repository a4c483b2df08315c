"""Operators whose elements are chosen while the model runs: GATHER, GATHER_ND, DYNAMIC_UPDATE_SLICE."""

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.attrs import (
    GatherAttrs,
)
from codegen.ir.ops.base.operands import (
    narrow,
    need_count,
    need_dtype,
    need_elements,
    operand,
    present,
)
from codegen.ir.ops.layout import MovingOp
from codegen.ir.types import DType, TensorType


class _Gather(MovingOp):
    """Values chosen by indices, which may be known only while the model runs.

    TFLite refuses to run with an index beyond its axis; here it is clamped. Of an int64 the low word counts.
    """

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Any element type, the same in values and result; indices of int32 or int64."""
        Op.check(self, attrs, args, result)
        need_elements(result)
        values = operand(args, 0, "values")
        need_dtype(operand(args, 1, "indices"), "indices", DType.INT32, DType.INT64)
        if values.dtype is not result.dtype:
            raise ValueError(f"the values are {values.dtype.value}, the result {result.dtype.value}")


class Gather(_Gather):
    """GATHER(values, indices) along an axis."""

    name = "GATHER"
    short = "gather"
    attrs_type = GatherAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """Extents of the values, the indices' in place of the axis (their batch axes are there already)."""
        gather = narrow(attrs, GatherAttrs)
        need_count(args, 2, 2)
        values, indices = operand(args, 0, "values").shape, operand(args, 1, "indices").shape
        axis, shared = gather.axis, gather.batch_axes
        fits = 0 <= shared <= min(axis, len(indices)) and axis < len(values)
        if not fits or values[:shared] != indices[:shared]:
            raise ValueError(
                f"axis {axis} with {shared} batch axes does not fit values {list(values)}, "
                f"indices {list(indices)}"
            )
        return (*values[:axis], *indices[shared:], *values[axis + 1 :])

    def domain(self, attrs: Attrs, args: Types, position: int) -> tuple[float, float] | None:
        """Indices of the axis."""
        axis = narrow(attrs, GatherAttrs).axis
        return (0, operand(args, 0, "values").shape[axis] - 1) if position == 1 else None

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::Gather."""
        del args
        gather = narrow(attrs, GatherAttrs)
        data, indices = present(values, 0, "values"), present(values, 1, "indices")
        shape, axis, shared = data.shape, gather.axis, gather.batch_axes
        batches = int(np.prod(shape[:shared], dtype=np.int64))
        rows = data.reshape(batches, -1, shape[axis], int(np.prod(shape[axis + 1 :], dtype=np.int64)))
        chosen = np.clip(indices.astype(np.int32), 0, shape[axis] - 1).reshape(batches, -1)
        taken = [rows[batch].take(chosen[batch], axis=1) for batch in range(batches)]
        return np.ascontiguousarray(np.stack(taken)).reshape(result.shape)


class GatherNd(_Gather):
    """GATHER_ND(values, indices): the last axis of the indices holds one index for each leading axis."""

    name = "GATHER_ND"
    short = "gathernd"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """Extents of the indices but the last, then those of the values that no index is for."""
        narrow(attrs, Attrs)
        need_count(args, 2, 2)
        values, indices = operand(args, 0, "values").shape, operand(args, 1, "indices").shape
        if not indices or not 1 <= indices[-1] <= len(values):
            raise ValueError(f"indices {list(indices)} do not fit values {list(values)}")
        return (*indices[:-1], *values[indices[-1] :])

    def domain(self, attrs: Attrs, args: Types, position: int) -> tuple[float, float] | None:
        """Indices that every one of the leading axes has."""
        del attrs
        depth = operand(args, 1, "indices").shape[-1]
        return (0, min(operand(args, 0, "values").shape[:depth]) - 1) if position == 1 else None

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::GatherNd."""
        del attrs, args
        data, indices = present(values, 0, "values"), present(values, 1, "indices")
        depth = indices.shape[-1]
        places = np.clip(indices.astype(np.int32), 0, np.array(data.shape[:depth]) - 1).reshape(-1, depth)
        return np.ascontiguousarray(data[tuple(places.T)]).reshape(result.shape)


class DynamicUpdateSlice(Op):
    """DYNAMIC_UPDATE_SLICE(value, part, starts): the value with the part in it.

    Starts are clamped so that it lies inside.
    """

    name = "DYNAMIC_UPDATE_SLICE"
    short = "update"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The value's shape."""
        narrow(attrs, Attrs)
        need_count(args, 3, 3)
        shape, part = operand(args, 0, "value").shape, operand(args, 1, "part").shape
        starts = operand(args, 2, "starts").shape
        fits = len(part) == len(shape) and all(size <= room for size, room in zip(part, shape, strict=True))
        if not shape or not fits or starts != (len(shape),):
            raise ValueError(
                f"a part {list(part)} at starts {list(starts)} does not fit a value {list(shape)}"
            )
        return shape

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Any element type, the same in value, part and result; starts of int32 or int64."""
        super().check(attrs, args, result)
        need_elements(operand(args, 1, "part"))
        need_dtype(operand(args, 2, "starts"), "starts", DType.INT32, DType.INT64)
        for index, what in enumerate(("value", "part")):
            need_dtype(operand(args, index, what), what, result.dtype)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: reference_ops::DynamicUpdateSlice."""
        del attrs, args, result
        updated, part = present(values, 0, "value").copy(), present(values, 1, "part")
        room = np.array(updated.shape) - np.array(part.shape)
        starts = np.clip(present(values, 2, "starts").astype(np.int64), 0, room).tolist()
        updated[tuple(slice(at, at + n) for at, n in zip(starts, part.shape, strict=True))] = part
        return updated


OPERATORS: tuple[Op, ...] = (Gather(), GatherNd(), DynamicUpdateSlice())
"""All of this family."""
