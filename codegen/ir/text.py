"""The text form of a module: `print_module` writes it, `parse_module` reads it back.

The text form of a module: `print_module` writes it, `codegen.ir.text.parse_module` reads it back.

    module file="digits.tflite" format="tflite"
    const $c3: int8[8,3,3,1] q(0.1, 0.2; 0, 0; axis 0) align 1 origin "conv/w" = base64 "..."
    fn main(%image: int8[1,8,8,1] q(0.5; -128)) {
      %conv0: int8[1,8,8,8] q(0.05; -128) = CONV_2D(%image, $c3: ..) stride=(1, 1) at (0, "CONV_2D", "")
    } -> (%conv0)

State follows the results: `state (1, 0, "AAA=")`, positions of parameter and result, first bytes. A device is
written `@(target, id, scope)`, `none` for a free part. Floats are written so that they read back to the same
value.

Reads the text form of a module back (see `codegen.ir.text`).
"""

import base64
import dataclasses
import enum
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast, get_type_hints

import numpy as np

from codegen.ir.function import Arg, Call, Constant, ConstRef, Function, Let, Module, Source, StateValue, Var
from codegen.ir.operator import Activation, Attrs, Op, Padding2D
from codegen.ir.ops import UserKernel, find_op
from codegen.ir.types import ANYWHERE, DType, Quantization, TensorType, VirtualDevice


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
    yield f"fn {function.name}({params}) {{"
    for let in function.body:
        yield f"  {_let(let)}"
    yield f"}} -> ({', '.join(_arg(result) for result in function.results)})"
    for each in function.states:
        yield f"state {_literal((each.param, each.result, base64.b64encode(each.initial).decode('ascii')))}"


def _let(let: Let) -> str:
    args = ", ".join(_arg(arg) for arg in let.call.args)
    line = f"{_binding(let.var)} = {let.call.op.name}({args})"
    attrs = [
        f"{field.name}={_literal(getattr(let.call.attrs, field.name))}"
        for field in attr_fields(let.call.attrs)
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
    if isinstance(value, Padding2D):
        return _literal((value.top, value.bottom, value.left, value.right))
    if isinstance(value, UserKernel):
        return _literal(tuple(getattr(value, field.name) for field in dataclasses.fields(value)))
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, tuple):
        items: tuple[object, ...] = value  # pyright: ignore[reportUnknownVariableType]
        return f"({', '.join(_literal(item) for item in items)})"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    raise ValueError(f"attribute value {value!r} has no text form")


_TOKEN = re.compile(
    r"\s*(?:(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<number>-?(?:inf|nan|\d[\d.]*(?:e[+-]?\d+)?))"
    r"|(?P<word>[%$]?[A-Za-z_][\w.]*)|(?P<mark>->|[()\[\]{}:;,=@]))"
)
_Item = TypeVar("_Item")
Literal = int | float | bool | str | tuple["Literal", ...]


class _Tokens:
    """The token stream, with the line of each token for messages."""

    def __init__(self, text: str) -> None:
        self._items: list[tuple[str, int]] = []
        position, line = 0, 1
        text = text.rstrip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                rest = text[position:].lstrip()
                line += text.count("\n", position, len(text) - len(rest))
                raise ValueError(f"line {line}: cannot read {rest[:20]!r}")
            token = match.group().strip()
            # Counted on from the token before: from the first line on it took a minute for a large model.
            line += text.count("\n", position, match.end() - len(token))
            self._items.append((token, line))
            line += token.count("\n")
            position = match.end()
        self._next = 0

    def peek(self) -> str:
        """The next token, empty at the end."""
        return self._items[self._next][0] if self._next < len(self._items) else ""

    def take(self, expected: str | None = None) -> str:
        """Consume a token; raises ValueError with its line if it is not `expected`."""
        token = self.peek()
        if not token or (expected is not None and token != expected):
            line = self._items[min(self._next, len(self._items) - 1)][1] if self._items else 1
            raise ValueError(f"line {line}: expected {expected or 'more'}, found {token or 'the end'}")
        self._next += 1
        return token

    def accept(self, token: str) -> bool:
        """Consume `token` if it is next."""
        if self.peek() != token:
            return False
        self._next += 1
        return True

    def several(self, read: Callable[[], _Item], end: str) -> list[_Item]:
        """Items separated by commas up to and including `end`."""
        found: list[_Item] = []
        while not self.accept(end):
            found.append(read())
            if self.peek() != end:
                self.take(",")
        return found


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _Tokens(text)
        self._constants: dict[str, Constant] = {}
        self._vars: dict[str, Var] = {}

    def module(self) -> Module:
        take = self._tokens.take
        take("module")
        metadata: dict[str, str] = {}
        while self._tokens.peek() not in ("const", "fn", ""):
            key = take()
            take("=")
            metadata[key] = self._string()
        functions: dict[str, Function] = {}
        while self._tokens.accept("const"):
            constant = self._constant()
            self._constants[constant.id] = constant
        while self._tokens.accept("fn"):
            function = self._function()
            functions[function.name] = function
        if self._tokens.peek():
            take("fn")
        return Module(functions=functions, constants=self._constants, metadata=metadata)

    def _constant(self) -> Constant:
        take = self._tokens.take
        id_ = take().removeprefix("$")
        take(":")
        type_ = self._type()
        take("align")
        alignment = int(take())
        section = self._string() if self._tokens.accept("section") else None
        scope = self._string() if self._tokens.accept("scope") else None
        origin = self._string() if self._tokens.accept("origin") else ""
        take("=")
        take("base64")
        data = np.frombuffer(base64.b64decode(self._string()), type_.dtype.numpy).reshape(type_.shape)
        return Constant(
            id=id_,
            type=type_,
            data=data,
            alignment=alignment,
            section=section,
            memory_scope=scope,
            origin=origin,
        )

    def _function(self) -> Function:
        take = self._tokens.take
        self._vars = {}
        name = take()
        take("(")
        params = self._tokens.several(self._binding, ")")
        take("{")
        body: list[Let] = []
        while not self._tokens.accept("}"):
            body.append(self._let())
        take("->")
        take("(")
        results = [arg for arg in self._tokens.several(self._arg, ")") if arg is not None]
        states: list[StateValue] = []
        while self._tokens.accept("state"):
            param, result, initial = cast(tuple[int, int, str], self._literal())
            states.append(StateValue(param=param, result=result, initial=base64.b64decode(initial)))
        return Function(
            name=name,
            params=tuple(params),
            body=tuple(body),
            results=tuple(results),
            states=tuple(states),
        )

    def _binding(self) -> Var:
        name = self._tokens.take().removeprefix("%")
        self._tokens.take(":")
        type_, device = self._type(), self._device()
        origin = self._string() if self._tokens.accept("origin") else ""
        var = Var(name=name, type=type_, device=device, origin=origin)
        self._vars[name] = var
        return var

    def _let(self) -> Let:
        var = self._binding()
        self._tokens.take("=")
        op = find_op(name := self._tokens.take())
        if op is None:
            raise ValueError(f"{var.name}: no operator {name}")
        self._tokens.take("(")
        args = self._tokens.several(self._arg, ")")
        attrs = self._attrs(op)
        source = self._source() if self._tokens.accept("at") else None
        repeats = self._tokens.take().removeprefix("%") if self._tokens.accept("repeats") else ""
        return Let(var=var, call=Call(op=op, args=tuple(args), attrs=attrs), source=source, repeats=repeats)

    def _source(self) -> Source:
        take = self._tokens.take
        take("(")
        index = int(take())
        take(",")
        op_name = self._string()
        take(",")
        tensor = self._string()
        take(")")
        return Source(op_index=index, op_name=op_name, tensor_name=tensor)

    def _attrs(self, op: Op) -> Attrs:
        hints = get_type_hints(op.attrs_type)
        known = {field.name for field in attr_fields(op.attrs_type)}
        values: dict[str, object] = {}
        while self._tokens.peek() in known:
            name = self._tokens.take()
            self._tokens.take("=")
            values[name] = _typed(hints[name], self._literal())
        return op.attrs_type(**values)

    def _arg(self) -> Arg | None:
        token = self._tokens.take()
        if token == "none":
            return None
        if token.startswith("$"):
            self._tokens.take(":")
            return ConstRef(id=token[1:], type=self._type())
        if token[1:] not in self._vars:
            raise ValueError(f"{token} is used before it is defined")
        return self._vars[token[1:]]

    def _type(self) -> TensorType:
        take = self._tokens.take
        dtype = DType(take())
        take("[")
        shape = tuple(self._tokens.several(lambda: int(take()), "]"))
        quantization = self._quantization() if self._tokens.accept("q") else None
        return TensorType(shape=shape, dtype=dtype, quantization=quantization)

    def _quantization(self) -> Quantization:
        take = self._tokens.take
        take("(")
        scales = self._tokens.several(lambda: float(take()), ";")
        zero_points = [int(take())]
        while self._tokens.accept(","):
            zero_points.append(int(take()))
        axis = None
        if self._tokens.accept(";"):
            take("axis")
            axis = int(take())
        take(")")
        return Quantization(scales=tuple(scales), zero_points=tuple(zero_points), axis=axis)

    def _device(self) -> VirtualDevice:
        if not self._tokens.accept("@"):
            return ANYWHERE
        self._tokens.take("(")
        parts = self._tokens.several(self._literal, ")")
        target, device_id, scope = (None if part == "none" else part for part in parts)
        return VirtualDevice(
            target=None if target is None else str(target),
            device_id=None if device_id is None else int(str(device_id)),
            memory_scope=None if scope is None else str(scope),
        )

    def _literal(self) -> Literal:
        token = self._tokens.take()
        if token == "(":
            return tuple(self._tokens.several(self._literal, ")"))
        if token.startswith('"'):
            return str(json.loads(token))
        if token in ("true", "false"):
            return token == "true"
        if token == "none":
            return token
        return int(token) if re.fullmatch(r"-?\d+", token) else float(token)

    def _string(self) -> str:
        token = self._tokens.take()
        if not token.startswith('"'):
            raise ValueError(f"expected a string, found {token}")
        return str(json.loads(token))


def _typed(hint: object, value: Literal) -> object:
    if hint is Padding2D and isinstance(value, tuple):
        top, bottom, left, right = (int(str(item)) for item in value)
        return Padding2D(top=top, bottom=bottom, left=left, right=right)
    if hint is UserKernel and isinstance(value, tuple):
        names = [field.name for field in dataclasses.fields(UserKernel)]
        read = {name: None if item == "none" else item for name, item in zip(names, value, strict=True)}
        return UserKernel(**cast(Any, {**read, **_texts(names, value)}))
    return Activation(value) if hint is Activation else value


def _texts(names: Sequence[str], value: tuple[Literal, ...]) -> dict[str, Literal]:
    """The strings among a kernel's fields: theirs is the word "none" too."""
    texts = ("op", "symbol", "source", "text")
    return {name: item for name, item in zip(names, value, strict=True) if name in texts}


def parse_module(text: str) -> Module:
    """The module that `print_module` wrote. Raises ValueError, with the line if it can, on anything else."""
    return _Parser(text).module()
