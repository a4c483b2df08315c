"""Operators on elements one by one: arithmetic, activations, requantization, SOFTMAX."""

import math
from collections.abc import Callable, Sequence

from codegen.importers.reporting import Refused
from codegen.importers.tflite.operators.site import InnerStep, Site, Translated
from codegen.importers.tflite.tensors import as_in_file
from codegen.ir import Arg, DType, TensorType
from codegen.ir.ops import (
    OPS,
    Attrs,
    BinaryAttrs,
    ConvertAttrs,
    ReshapeAttrs,
    RoundedAttrs,
)
from codegen.ir.ops.elementwise import CASTS
from codegen.ir.ops.layout import SAME_BITS


def binary(site: Site) -> Translated:
    """ADD, SUB, MUL, DIV."""
    site.need_inputs(2, 2)
    options = site.fused_options(required=False)
    args = site.args(2)
    if site.operator.name in ("ADD", "SUB") and options.flag("pot_scale_int16"):
        _need_general_scales(site, [args[0].type, args[1].type, site.result])
    return Translated(op=site.operator.name, args=args, attrs=site.activated(BinaryAttrs()))


def _need_general_scales(site: Site, types: Sequence[TensorType]) -> None:
    """Report int16 scales that are all powers of two, for which the option asks for TFLite's shifting kernel.

    TFLite rounds there before it adds, tflite-micro never does: no result would be right for both.
    """
    if any(type_.dtype is not DType.INT16 or type_.quantization is None for type_ in types):
        return
    scales = [scale for type_ in types if type_.quantization for scale in type_.quantization.scales]
    if all(math.frexp(scale)[0] == 0.5 for scale in scales):
        site.unsupported(
            "int16 scales that are all powers of two are not supported with the option pot_scale_int16",
            "convert with a TensorFlow that leaves pot_scale_int16 off (2.4 and later, 16x8 quantisation)",
        )


def plain(name: str, count: int = 2, *, swapped: bool = False) -> Callable[[Site], Translated]:
    """Operators of `count` operands whose options, if any, say nothing: `name` of the IR, the operands
    `swapped` for those that are another one the other way round."""

    def translate(site: Site) -> Translated:
        site.need_inputs(count, count)
        args = site.args(count)
        return Translated(op=name, args=args[::-1] if swapped else args, attrs=Attrs())

    return translate


def square(site: Site) -> Translated:
    """SQUARE: a MUL by itself."""
    site.need_inputs(1, 1)
    value = site.arg(0)
    return Translated(op="MUL", args=(value, value), attrs=BinaryAttrs())


def add_n(site: Site) -> Translated:
    """ADD_N."""
    return Translated(op="ADD_N", args=site.args(len(site.operator.inputs)), attrs=Attrs())


def l2_normalization(site: Site) -> Translated:
    """L2_NORMALIZATION over the last axis."""
    site.need_inputs(1, 1)
    site.fused_options(required=False)
    site.need_no_activation()
    return Translated(op="L2_NORMALIZATION", args=(site.arg(0),), attrs=Attrs())


def select(site: Site) -> Translated:
    """SELECT of tensors of one shape, which is a SELECT_V2."""
    site.need_inputs(3, 3)
    args = site.args(3)
    if len({arg.type.shape for arg in args}) != 1:
        shapes = ", ".join(str(list(arg.type.shape)) for arg in args)
        raise Refused("E301", f"selects by rows ({shapes}), supported are three tensors of one shape")
    return Translated(op="SELECT_V2", args=args, attrs=Attrs())


def unary(site: Site) -> Translated:
    """Operators with one operand whose options have the names of their attributes."""
    site.need_inputs(1, 1)
    name = site.operator.name
    return Translated(op=name, args=(site.arg(0),), attrs=site.attributes(OPS[name].attrs_type))


def cast(site: Site) -> Translated:
    """CAST; numbers of one width that are the same bits are looked at, not copied."""
    site.need_inputs(1, 1)
    value = site.arg(0)
    pair = value.type.dtype, site.result.dtype
    if site.is_unsigned(0) or site.gives_unsigned:
        return _cast_unsigned(site, value)
    if frozenset(pair) in SAME_BITS:
        return Translated(op="RESHAPE", args=(value,), attrs=ReshapeAttrs(shape=value.type.shape))
    if pair in CASTS:
        return Translated(op="CAST", args=(value,), attrs=Attrs())
    return Translated(op="PLAIN_CONVERT", args=(value,), attrs=ConvertAttrs())


def _cast_unsigned(site: Site, value: Arg) -> Translated:
    """CAST of the numbers that the file has: what is held as int8 becomes uint8 before, or int8 after."""
    number: Arg | InnerStep = value
    if site.is_unsigned(0):
        turned = Translated(op="QUANTIZE", args=(value,), attrs=RoundedAttrs())
        number = turned.giving(as_in_file(value.type))
    converted = Translated(op="PLAIN_CONVERT", args=(number,), attrs=ConvertAttrs())
    if not site.gives_unsigned:
        return converted
    return Translated(op="QUANTIZE", args=(converted.giving(as_in_file(site.result)),), attrs=RoundedAttrs())
