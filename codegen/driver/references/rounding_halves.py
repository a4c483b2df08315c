"""Integers that differ from expected ones: whether the real values lie at halves between two of them."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from codegen.driver.inputs.cases import Case
from codegen.driver.inputs.planned import Planned
from codegen.ir import Arg, ConstRef, DType, Let, TensorType, Var
from codegen.ir.evaluate import steps
from codegen.ir.ops import USER, Activation, Attrs, OnnxRounding
from codegen.ir.ops.base.rounding import TFLITE, rounding_of
from codegen.ir.ops.base.weighted import WeightedOp
from codegen.ir.ops.layout import MovingOp

_NEAR = 1e-3
"""Part of a step of the integers: float32 sums are that exact."""

ROUNDS = {
    True: "halves to even of exact sums, as onnxruntime where its float32 sums are exact too",
    False: "as TFLite's reference kernels do by fixed-point multipliers",
}
"""How this program rounds, by whether the layer is ONNX's."""


def halves_words(
    planned: Planned, case: Case, index: int, measured: np.ndarray, expected: np.ndarray
) -> tuple[str, str]:
    """How many wrong elements of an integer output lie at halves, and who rounds how; ('', '') where the last
    layer cannot be computed in real numbers."""
    layers = _last_layers(planned, index)
    if any(let.call.op is USER for let in planned.reference.main.body):
        return "", ""
    units = _real_units(layers[0], _values(planned, case, layers[0])) if layers else None
    if units is None:
        return "", ""
    let, *moves = layers
    for move in (step for step in moves if not _turns_sign(step)):
        types = [_floats(let.var.type)]
        units = move.call.op.evaluate(move.call.attrs, [units], types, _floats(move.var.type))
    wrong = (measured != expected).ravel()
    distance = np.abs(units.ravel() - np.floor(units.ravel()) - 0.5)[wrong]
    count = int(np.count_nonzero(distance <= _NEAR))
    text = f"; {count} of them lie at halves between two integers"
    if count < len(distance):
        return text, ""
    rounds = ROUNDS[isinstance(rounding_of(let.call.attrs), OnnxRounding)]
    return text, f"engines round halves otherwise: here {let.where} rounds {rounds}"


def _last_layers(planned: Planned, index: int) -> list[Let]:
    """The step that computes output `index`, and those behind it that move its elements; [] for none."""
    makers = {let.var.name: let for let in planned.reference.main.body}
    layers, at = list[Let](), planned.reference.main.results[index]
    while isinstance(at, Var) and at.name in makers:
        layers.insert(0, makers[at.name])
        args = layers[0].call.args
        if args[0] is None or not (_turns_sign(layers[0]) or isinstance(layers[0].call.op, MovingOp)):
            return layers
        at = args[0]
    return []


def _turns_sign(let: Let) -> bool:
    """True if a step gives the same meaning in the bytes of the other sign: distances to halves stay."""
    kinds = {let.call.types[0] and let.call.types[0].dtype, let.var.type.dtype}
    return kinds == {DType.INT8, DType.UINT8}


def _values(planned: Planned, case: Case, let: Let) -> dict[str, np.ndarray]:
    """All values of one inference, and the constants that `let` reads."""
    module = planned.reference
    values = dict(zip((param.name for param in module.main.params), case.inputs, strict=True))
    values |= {made.var.name: data for made, data in steps(module, module.main, case.inputs)}
    for arg in let.call.args:
        if isinstance(arg, ConstRef):
            values[arg.id] = module.array(arg)
    return values


def _real_units(let: Let, values: dict[str, np.ndarray]) -> np.ndarray | None:
    """The result before it is rounded, in steps of its integers; None where floats are not to be had."""
    rounding, result = rounding_of(let.call.attrs), let.var.type
    scales: tuple[float, ...] = ()
    if isinstance(rounding, OnnxRounding) and isinstance(let.call.op, WeightedOp):
        scales = rounding.scales
    args = [None if arg is None else _real(arg, values, is_scaled=not scales) for arg in let.call.args]
    types = [None if arg is None else _floats(arg.type) for arg in let.call.args]
    try:
        real = let.call.op.evaluate(_unrounded(let.call.attrs), args, types, _floats(result))
    except (ValueError, TypeError, AssertionError, NotImplementedError):
        return None
    if real.shape != tuple(result.shape):
        return None
    factors = np.asarray(scales, np.float64) if scales else 1.0 / result.scale
    return (real.astype(np.float64) * factors + result.zero_point).astype(np.float32)


def _real(arg: Arg, values: dict[str, np.ndarray], *, is_scaled: bool) -> np.ndarray:
    """An argument in real numbers; not `is_scaled`: its integers less their zero point."""
    data = values[arg.id if isinstance(arg, ConstRef) else arg.name]
    meaning = arg.type.quantization
    if meaning is None:
        return data.astype(np.float32)
    scales = _along(meaning.scales, meaning.axis, data.ndim)
    zeros = _along(meaning.zero_points, meaning.axis, data.ndim)
    centred = data.astype(np.float64) - zeros
    return (centred * scales if is_scaled else centred).astype(np.float32)


def _along(numbers: Sequence[float], axis: int | None, rank: int) -> np.ndarray:
    shape = [1] * rank
    if axis is not None:
        shape[axis] = len(numbers)
    return np.asarray(numbers, np.float64).reshape(shape)


def _floats(type_: TensorType) -> TensorType:
    return replace(type_, dtype=DType.FLOAT32, quantization=None)


def _unrounded(attrs: Attrs) -> Attrs:
    """The attributes with no limits and no rounding of integers."""
    plain: dict[str, Any] = {"rounding": TFLITE, "activation": Activation.NONE}
    names = {attribute.name for attribute in fields(attrs)}
    return replace(attrs, **{name: value for name, value in plain.items() if name in names})
