"""A builder of modules with one function, for importers, tests and people."""

from collections.abc import Mapping, Sequence

import numpy as np

from codegen.ir.function import Arg, Call, Constant, ConstRef, Function, Let, Module, Source, StateValue, Var
from codegen.ir.operator import Attrs, Op
from codegen.ir.types import ANYWHERE, DType, Quantization, TensorType, VirtualDevice


class Builder:
    """Collects parameters, constants and steps in order; `build` gives the verified Module."""

    def __init__(self, name: str = "main") -> None:
        self._name = name
        self._params: list[Var] = []
        self._body: list[Let] = []
        self._constants: dict[str, Constant] = {}

    def param(
        self, name: str, type: TensorType, *, origin: str = "", device: VirtualDevice = ANYWHERE
    ) -> Var:
        """Add a graph input."""
        var = Var(name=name, type=type, origin=origin or name, device=device)
        self._params.append(var)
        return var

    def constant(
        self,
        data: np.ndarray,
        *,
        quantization: Quantization | None = None,
        id: str | None = None,
        origin: str = "",
    ) -> ConstRef:
        """Add constant data (its NumPy dtype decides the element type)."""
        type_ = TensorType(shape=tuple(data.shape), dtype=DType(str(data.dtype)), quantization=quantization)
        key = id or f"c{len(self._constants)}"
        if key in self._constants:
            raise ValueError(f"constant {key} exists already")
        self._constants[key] = Constant(id=key, type=type_, data=np.ascontiguousarray(data), origin=origin)
        return ConstRef(id=key, type=type_)

    def call(
        self,
        op: Op,
        args: Sequence[Arg | None],
        attrs: Attrs,
        result: TensorType | Var,
        *,
        name: str | None = None,
        source: Source | None = None,
    ) -> Var:
        """Add one step and return its result, of which the type alone may be given."""
        var = result
        if isinstance(var, TensorType):
            var = Var(name=name or f"{op.short}{len(self._body)}", type=var)
        self._body.append(Let(var=var, call=Call(op=op, args=tuple(args), attrs=attrs), source=source))
        return var

    def build(
        self,
        results: Sequence[Arg],
        metadata: Mapping[str, str] | None = None,
        states: Sequence[StateValue] = (),
    ) -> Module:
        """The module; raises ValueError if it is not well formed."""
        function = Function(
            name=self._name,
            params=tuple(self._params),
            body=tuple(self._body),
            results=tuple(results),
            states=tuple(states),
        )
        return Module(functions={self._name: function}, constants=self._constants, metadata=metadata or {})
