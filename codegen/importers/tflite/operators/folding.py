"""Numbers that follow from shapes alone: known when the file is read, so no step computes them.

Exporters that leave the batch open write the new shape of a RESHAPE as SHAPE, STRIDED_SLICE (the batch of
it), PACK (with the other extents). With the shapes that the file states, an unknown batch being 1, it is a
constant.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from tflite.PackOptions import PackOptions

from codegen.importers.tflite.file.records import FileOperator
from codegen.importers.tflite.operators.site import Site
from codegen.importers.tflite.problems import Refused
from codegen.importers.tflite.tensors import Tensors
from codegen.ir import DType

_MAX_NUMBERS = 64
"""Numbers of one folded tensor: shapes have a few; more of them are left to steps."""


def _shape(site: Site) -> np.ndarray:
    """SHAPE: the extents of its argument."""
    site.need_inputs(1, 1)
    if site.result.dtype not in (DType.INT32, DType.INT64):
        raise Refused("E303", f"the result is {site.result}, it has to be int32 or int64")
    return np.array(site.arg(0).type.shape, site.result.dtype.numpy)


def _pack(site: Site) -> np.ndarray:
    """PACK of numbers along a new axis."""
    options: Any = site.options(PackOptions)
    values = [
        site.constant_data(position).reshape(arg.type.shape)
        for position, arg in enumerate(site.args(len(site.operator.inputs)))
    ]
    if not values or len({(value.shape, value.dtype) for value in values}) != 1:
        raise Refused("E303", f"packs {len(values)} tensors, which have to be alike and at least one")
    axis, rank = int(options.Axis()), values[0].ndim + 1
    if not -rank <= axis < rank:
        raise Refused("E303", f"axis {axis} is outside {rank} dimensions")
    return np.stack(values, axis)


FOLDED: Mapping[str, Callable[[Site], np.ndarray]] = MappingProxyType({"PACK": _pack, "SHAPE": _shape})
"""Operators that are imported where their result is known only; a PACK of values has no kernel."""


def is_folded(operator: FileOperator, tensors: Tensors) -> bool:
    """Whether the results are few numbers that follow from shapes and constants of the file.

    That is every SHAPE, a PACK of known numbers, and whatever else reads known numbers, folded ones among
    them. Raises Refused for an operand that the file does not have.
    """
    if operator.name == "SHAPE":
        return True
    if any(math.prod(tensors.tensor(index).shape) > _MAX_NUMBERS for index in operator.outputs):
        return False
    inputs = [index for index in operator.inputs if index != -1]
    if not all(tensors.has_data(index) for index in inputs):
        return False
    return operator.name in FOLDED or any(tensors.is_folded(index) for index in inputs)
