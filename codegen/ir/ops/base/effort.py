"""What evaluating a step in NumPy costs, known from shapes alone: what is bounded before it is begun."""

import math

from codegen.ir.operator import Attrs, Op, Types
from codegen.ir.ops.base.attrs import ConvAttrs, FullyConnectedAttrs, PoolAttrs
from codegen.ir.types import DType, TensorType

_ROUND = 1 << 12
"""Elements that NumPy handles in the time of one round of a loop in Python."""


def effort(op: Op, attrs: Attrs, args: Types, result: TensorType) -> int:
    """Elements read, computed and multiplied; rounds of loops over a window or over input channels (of
    floats) count as the elements that would take as long. Memory goes with it: some 100 bytes each."""
    elements = result.elements + sum(each.elements for each in args if each is not None)
    if isinstance(attrs, PoolAttrs):
        taps = math.prod(attrs.window)
        return elements + taps * (result.elements + _ROUND)
    macs = op.macs(attrs, args, result)
    rounds = macs // result.elements if result.elements else 0
    weights = args[1] if len(args) > 1 else None
    mixes = isinstance(attrs, ConvAttrs | FullyConnectedAttrs)
    if mixes and weights is not None and weights.dtype is not DType.FLOAT32:
        rounds //= max(weights.shape[-1], 1)  # integers take all input channels in one matrix product
    return elements + macs + rounds * _ROUND
