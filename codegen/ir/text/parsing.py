"""Reads the text form of a module back (`codegen.ir.text`)."""

import base64
import dataclasses
import json
import re
from collections.abc import Sequence
from enum import Enum
from typing import Any, cast, get_type_hints

import numpy as np

from codegen.ir.function import Arg, Call, Constant, ConstRef, Function, Let, Module, Source, StateValue, Var
from codegen.ir.operator import Attrs, Op, Padding2D
from codegen.ir.ops import Rounding, UserKernel, find_op
from codegen.ir.ops.base.rounding import ROUNDINGS
from codegen.ir.text.printing import attr_fields
from codegen.ir.text.sizes import SizeReader
from codegen.ir.text.tokens import Tokens
from codegen.ir.types import ANYWHERE, DType, Quantization, TensorType, VirtualDevice

LITERALS = frozenset({"none", "true", "false"})
"""Words that stand for values, so that no size is called so."""

Literal = int | float | bool | str | tuple["Literal", ...]


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = Tokens(text)
        self._constants: dict[str, Constant] = {}
        self._vars: dict[str, Var] = {}
        self._sizes = SizeReader(self._tokens)

    def module(self) -> Module:
        take = self._tokens.take
        take("module")
        metadata: dict[str, str] = {}
        while self._tokens.peek() not in ("const", "fn", ""):
            key = take()
            take("=")
            metadata[key] = self._tokens.string()
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

    def alone(self) -> Function:
        """A function that is an attribute: what it reads of constants is said where it reads them."""
        self._tokens.take("fn")
        return self._function()

    def _constant(self) -> Constant:
        take = self._tokens.take
        id_ = take().removeprefix("$")
        take(":")
        type_ = self._type()
        take("align")
        alignment = int(take())
        section = self._tokens.string() if self._tokens.accept("section") else None
        scope = self._tokens.string() if self._tokens.accept("scope") else None
        origin = self._tokens.string() if self._tokens.accept("origin") else ""
        take("=")
        take("base64")
        data = np.frombuffer(base64.b64decode(self._tokens.string()), type_.dtype.numpy).reshape(type_.shape)
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
        self._sizes = SizeReader(self._tokens)
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
            sizes=self._sizes.sizes,
        )

    def _binding(self) -> Var:
        name = self._tokens.take().removeprefix("%")
        self._tokens.take(":")
        type_, device = self._type(), self._device()
        origin = self._tokens.string() if self._tokens.accept("origin") else ""
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
        op_name = self._tokens.string()
        take(",")
        tensor = self._tokens.string()
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
        shape = tuple(self._tokens.several(self._sizes.extent, "]"))
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
        if self._sizes.at_symbolic:
            return self._sizes.symbolic()
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


def _typed(hint: object, value: Literal) -> object:
    if hint is Padding2D and isinstance(value, tuple):
        top, bottom, left, right = (cast(int, item) for item in value)
        return Padding2D(top=top, bottom=bottom, left=left, right=right)
    if hint is Rounding and isinstance(value, tuple):
        kind = ROUNDINGS[str(value[0])]
        names = [field.name for field in dataclasses.fields(kind)]
        return kind(**cast(Any, dict(zip(names, value[1:], strict=True))))
    if hint is UserKernel and isinstance(value, tuple):
        names = [field.name for field in dataclasses.fields(UserKernel)]
        read = {name: None if item == "none" else item for name, item in zip(names, value, strict=True)}
        return UserKernel(**cast(Any, {**read, **_texts(names, value)}))
    if hint is Function and isinstance(value, str):
        return _Parser(value).alone()
    return hint(value) if isinstance(hint, type) and issubclass(hint, Enum) else value


def _texts(names: Sequence[str], value: tuple[Literal, ...]) -> dict[str, Literal]:
    """The strings among a kernel's fields: theirs is the word "none" too."""
    texts = ("op", "symbol", "source", "text")
    return {name: item for name, item in zip(names, value, strict=True) if name in texts}


def parse_module(text: str) -> Module:
    """The module that `print_module` wrote. Raises ValueError, with the line if it can, on anything else."""
    return _Parser(text).module()
