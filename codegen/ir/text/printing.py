"""Writes a module as text (`codegen.ir.text`)."""

import base64
import dataclasses
import enum
import json
from collections.abc import Iterator

from codegen.ir.formulas import OpenSizes, SymbolicInt, said, text
from codegen.ir.function import Arg, Constant, ConstRef, Function, Let, Module, Var
from codegen.ir.operator import Attrs, Padding2D
from codegen.ir.ops import TFLITE, Rounding, UserKernel
from codegen.ir.ops.base.rounding import ROUNDINGS
from codegen.ir.types import Quantization, TensorType, VirtualDevice


def print_module(module: Module) -> str:
    """The module as text; equal modules give equal text."""
    lines = [
        " ".join(["module", *(f"{key}={json.dumps(text)}" for key, text in sorted(module.metadata.items()))])
    ]
    lines += [_constant(constant) for constant in module.constants.values()]
    for function in module.functions.values():
        lines += _function(function)
    return "\n".join(lines) + "\n"


def _constant(constant: Constant) -> str:
    data = base64.b64encode(constant.data.tobytes()).decode("ascii")
    parts = [f"const ${constant.id}: {_type(constant.type)} align {constant.alignment}"]
    if constant.section is not None:
        parts.append(f"section {json.dumps(constant.section)}")
    if constant.memory_scope is not None:
        parts.append(f"scope {json.dumps(constant.memory_scope)}")
    return " ".join([*parts, *_origin(constant.origin), "=", "base64", json.dumps(data)])


def _function(function: Function) -> Iterator[str]:
    params = ", ".join(_binding(param) for param in function.params)
    yield f"fn {function.name}{_sizes(function.sizes)}({params}) {{"
    for let in function.body:
        yield f"  {_let(let)}"
    yield f"}} -> ({', '.join(_arg(result) for result in function.results)})"
    for state in function.states:
        initial = base64.b64encode(state.initial).decode("ascii")
        yield f"state {_literal((state.param, state.result, initial))}"


def _sizes(sizes: OpenSizes) -> str:
    if not sizes.symbols:
        return ""
    parts = [f"{symbol.name} in {symbol.low}..{symbol.high}" for symbol in sizes.symbols]
    parts += [
        f"{size.name} in {size.low}..{size.high} = {text(size.formula, whole=True)} of {json.dumps(size.of)}"
        for size in sizes.extents
    ]
    return f"<{', '.join(parts)}>"


def _let(let: Let) -> str:
    args = ", ".join(_arg(arg) for arg in let.call.args)
    line = f"{_binding(let.var)} = {let.call.op.name}({args})"
    attrs = [
        f"{field.name}={_literal(value)}"
        for field in attr_fields(let.call.attrs)
        if (value := getattr(let.call.attrs, field.name)) != TFLITE
    ]
    if let.source is not None:
        name, tensor = json.dumps(let.source.op_name), json.dumps(let.source.tensor_name)
        attrs.append(f"at ({let.source.op_index}, {name}, {tensor})")
    if let.repeats:
        attrs.append(f"repeats %{let.repeats}")
    return " ".join([line, *attrs])


def attr_fields(attrs: Attrs | type[Attrs]) -> tuple[dataclasses.Field[object], ...]:
    """Fields of an attribute set, in order."""
    return dataclasses.fields(attrs)


def _kind(rounding: Rounding) -> str:
    return next(word for word, kind in ROUNDINGS.items() if type(rounding) is kind)


def _binding(var: Var) -> str:
    return " ".join([f"%{var.name}: {_type(var.type)}", *_device(var.device), *_origin(var.origin)])


def _arg(arg: Arg | None) -> str:
    if arg is None:
        return "none"
    return f"${arg.id}: {_type(arg.type)}" if isinstance(arg, ConstRef) else f"%{arg.name}"


def _type(type_: TensorType) -> str:
    return " ".join([str(type_), *_quantization(type_.quantization)])


def _quantization(quantization: Quantization | None) -> list[str]:
    if quantization is None:
        return []
    scales = ", ".join(repr(scale) for scale in quantization.scales)
    zero_points = ", ".join(str(zero_point) for zero_point in quantization.zero_points)
    axis = "" if quantization.axis is None else f"; axis {quantization.axis}"
    return [f"q({scales}; {zero_points}{axis})"]


def _device(device: VirtualDevice) -> list[str]:
    if device.is_free:
        return []
    parts = (device.target, device.device_id, device.memory_scope)
    return [f"@({', '.join('none' if part is None else json.dumps(part) for part in parts)})"]


def _origin(origin: str) -> list[str]:
    return [f"origin {json.dumps(origin)}"] if origin else []


def _literal(value: object) -> str:
    if isinstance(value, enum.Enum):
        return json.dumps(value.value)
    if isinstance(value, Padding2D | Rounding | UserKernel):
        kind = (_kind(value),) if isinstance(value, Rounding) else ()
        return _literal((*kind, *(getattr(value, field.name) for field in dataclasses.fields(value))))
    if isinstance(value, Function | str):
        return json.dumps(value if isinstance(value, str) else "\n".join(_function(value)))
    if isinstance(value, tuple):
        items: tuple[object, ...] = value  # pyright: ignore[reportUnknownVariableType]
        return f"({', '.join(_literal(item) for item in items)})"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, SymbolicInt):
        return said(value)
    if isinstance(value, int | float):
        return repr(value)
    raise ValueError(f"attribute value {value!r} has no text form")
