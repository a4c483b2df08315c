"""What evaluating a step in NumPy costs, known from shapes alone: what is bounded before it is begun."""

import math
from collections.abc import Sequence

from codegen.ir.ops.attrs import PoolAttrs
from codegen.ir.ops.base import Attrs, Op
from codegen.ir.types import TensorType

_ROUND = 1 << 12
"""Elements that NumPy handles in the time of one round of a loop in Python."""


def effort(op: Op, attrs: Attrs, args: Sequence[TensorType | None], result: TensorType) -> int:
    """Elements read, computed and multiplied; rounds of loops over a window or over input channels count as
    the elements that would take as long. Memory goes with it too: at most some 100 bytes each."""
    elements = result.elements + sum(each.elements for each in args if each is not None)
    if isinstance(attrs, PoolAttrs):
        taps = math.prod(attrs.window)
        return elements + taps * (result.elements + _ROUND)
    macs = op.macs(attrs, args, result)
    return elements + macs + (macs // result.elements * _ROUND if result.elements else 0)
