"""Values held as another element type: the other sign, another float, bytes looked up in a table."""

from functools import partial
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.layouts import Computed, StepList, StoredAs, computed
from codegen.ir import DType, Quantization
from codegen.ir.ops import Attrs
from codegen.ir.ops.plain import ConvertAttrs, PlainAttrs

_OTHER_SIGN = MappingProxyType(
    {DType.UINT8: (DType.INT8, -128), DType.INT8: (DType.UINT8, 128)}
    | {DType.UINT16: (DType.INT16, -32768), DType.INT16: (DType.UINT16, 32768)}
)
"""Type of integers -> the one of the other sign, and what is added to their meaning."""


def other_sign(steps: StepList, value: Computed) -> Computed:
    """Unsigned integers as signed ones with 128 or 32768 less, or the other way; what they mean stays.

    The steps are shared by all who read the value so.
    """
    kind, was = value.var.type.dtype, value.var.type.quantization
    to, more = _OTHER_SIGN[kind]
    meaning = was and Quantization(scales=was.scales, zero_points=(was.zero_point + more,))
    if kind.size_bytes == 1:
        return looked_up(steps, value, (np.arange(256) ^ 0x80).astype(np.uint8), meaning, to)
    step, bits, plain = (
        partial(steps.step, axes=value.axes, shared=True),
        ConvertAttrs(bits=True),
        DType.UINT16,
    )
    args = [value.var]
    if kind is not plain:
        args = [computed(step("PLAIN_CONVERT", args, bits, stored=StoredAs(dtype=plain))).var]
    turned = [*args, steps.constant(np.full((1,) * len(args[0].type.shape), 0x8000, np.uint16))]
    made = step("PLAIN_PAIR", turned, PlainAttrs(kind="xor"), stored=StoredAs(quantization=meaning))
    if to is not plain:
        args = [computed(made).var]
        made = step("PLAIN_CONVERT", args, bits, stored=StoredAs(dtype=to, quantization=meaning))
    return computed(made)


def looked_up(
    steps: StepList,
    value: Computed,
    table: np.ndarray,
    quantization: Quantization | None,
    dtype: DType = DType.INT8,
) -> Computed:
    """A function of one byte by its 256 results."""
    args = [value.var, steps.constant(table.view(np.int8))]
    stored = StoredAs(dtype=dtype, quantization=quantization)
    return computed(steps.step("LOOKUP", args, Attrs(), axes=value.axes, stored=stored, shared=True))


def other_float(steps: StepList, value: Computed, dtype: DType) -> Computed:
    """Give the numbers of a value as another type of float."""
    return computed(
        steps.step(
            "PLAIN_CONVERT", [value.var], ConvertAttrs(), axes=value.axes, stored=StoredAs(dtype=dtype)
        )
    )
