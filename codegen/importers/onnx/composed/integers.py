"""Nodes on integers and bits: shifts, rests, bitwise operators, whole products of matrices."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.arithmetic import calculated, convert, pair, plain
from codegen.importers.onnx.composed.element_functions import Real, choice
from codegen.importers.onnx.layouts import Known, Value
from codegen.importers.onnx.matrices import multiplied
from codegen.importers.onnx.node_site import Site, value_type
from codegen.importers.reporting import Refused


def _pair(kind: str) -> Callable[[Site], Value]:
    return lambda site: plain(site, kind, [site.value(0), site.value(1)])


def _shift(site: Site) -> Value:
    direction = site.word("direction", "")
    if direction not in ("LEFT", "RIGHT"):
        raise Refused("E303", f"attribute direction is {direction}")
    return plain(site, "shl" if direction == "LEFT" else "shr", [site.value(0), site.value(1)])


def _not(site: Site) -> Value:
    value = site.value(0)
    ones = np.full((1,) * len(value.shape), -1, np.int64).astype(value_type(value))
    return plain(site, "xor", [value, Known(data=ones)])


def _modulo(site: Site) -> Value:
    """Translate Mod: the remainder has the divisor's sign, with `fmod` the dividend's."""
    first, second, like_c = site.value(0), site.value(1), bool(site.integer("fmod", 0))
    if not like_c:
        return calculated(site, "FLOOR_MOD", [first, second])
    if value_type(first) != "float32":
        return plain(site, "fmod", [first, second])
    site.need_float(second)
    x, y = Real(site, first), Real(site, second)
    size = Real(site, pair(site, "FLOOR_MOD", [x.of("ABS").value, y.of("ABS").value]))
    return choice(site, x.is_below(0.0), (size * -1.0).value, size.value)


MOST_EXACT = 1 << 24
"""Whole numbers up to which float32 holds each."""


def centred(site: Site, position: int, zero: int) -> Value:
    """Integers of 8 bits less their zero points, as float32."""
    value = convert(site, site.value(position), "float32")
    if not site.has(zero):
        return value
    offset = convert(site, site.value(zero), "float32")
    if offset.shape and offset.shape[0] > 1:  # a row of the first factor, a column of the second
        behind = 1 - position
        offset = site.steps.reshape(offset, (*offset.shape, *[1] * behind))
    return pair(site, "SUB", [value, offset])


def need_exact(terms: int, bias: int = 0) -> None:
    """Raise Refused unless sums of a bias and of so many products of 9 bits are exact in float32."""
    if terms * 255 * 255 + bias > MOST_EXACT:
        text = f"sums of {terms} products of 8 bits are not exact in float32"
        raise Refused("E301", text, "quantise with QDQ nodes: their layers run in integers of any length")


def _matmul(site: Site) -> Value:
    first, second = centred(site, 0, 2), centred(site, 1, 3)
    need_exact(first.shape[-1])
    return convert(site, multiplied(site, first, second), "int32")


NODES: Mapping[str, Callable[[Site], Value]] = MappingProxyType(
    {
        "BitShift": _shift,
        "BitwiseAnd": _pair("and"),
        "BitwiseNot": _not,
        "BitwiseOr": _pair("or"),
        "BitwiseXor": _pair("xor"),
        "MatMulInteger": _matmul,
        "Mod": _modulo,
    }
)
