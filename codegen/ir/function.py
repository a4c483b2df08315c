"""Values and functions in A-normal form: what a network is between import and emit.

A function's order is its schedule.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from codegen.ir.formulas import FIXED, OpenSizes, evaluate, found_in, names_of, said
from codegen.ir.operator import Attrs, Op
from codegen.ir.types import ANYWHERE, TensorType, VirtualDevice


@dataclass(frozen=True, kw_only=True, slots=True)
class Var:
    """A tensor computed at run time. `name` is a C identifier, unique in its function.

    `origin` is the tensor's name in the model file, for messages.
    """

    name: str
    type: TensorType
    device: VirtualDevice = ANYWHERE
    origin: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstRef:
    """A use of the module's constant `id`; `type` is how this use reads it."""

    id: str
    type: TensorType


Arg = Var | ConstRef


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ReadOnlyData(ABC):
    """Read-only numbers and where they may lie. `data` is not writable."""

    data: np.ndarray
    alignment: int
    section: str | None = None
    memory_scope: str | None = None

    def __post_init__(self) -> None:
        mistake = self.mistake(self.data.shape, self.data.dtype)
        if mistake is not None:
            raise ValueError(mistake)
        self.data.setflags(write=False)

    @abstractmethod
    def mistake(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> str | None:
        """The reason why numbers of this shape and type do not fit; None if they do."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Constant(ReadOnlyData):
    """Data bound into the IR, shared by all functions of a module."""

    id: str
    type: TensorType
    alignment: int = 1
    origin: str = ""

    def mistake(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> str | None:
        """The reason why numbers do not fit the constant's type; None if they do."""
        if shape == self.type.shape and dtype == self.type.dtype.numpy:
            return None
        return f"constant {self.id}: data is {dtype}{list(shape)}, type {self.type}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        bits = self.data.tobytes()
        return (self.id, self.type, bits, self.alignment, self.section, self.memory_scope, self.origin)


_SHOWN = 64
"""Characters of a tensor's name that messages show."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Origin of a step in the model file: index of the operator, and the file's word for it."""

    op_index: int
    op_name: str
    tensor_name: str = ""

    def __str__(self) -> str:
        # Fused graphs join dozens of names by `;`: the start is enough to find the operator.
        full = self.tensor_name
        short = full if len(full) <= _SHOWN else full[: _SHOWN - 1] + "…"
        name = f' "{short}"' if short else ""
        return f"op {self.op_index} {self.op_name}{name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """An operator applied to atomic arguments (None: an optional argument left out)."""

    op: Op
    args: tuple[Arg | None, ...]
    attrs: Attrs

    @property
    def types(self) -> tuple[TensorType | None, ...]:
        """Types of the arguments, None for one left out."""
        return tuple(None if arg is None else arg.type for arg in self.args)

    def times_passed(self) -> Counter[str]:
        """How often each variable is an argument, by name."""
        return Counter(arg.name for arg in self.args if isinstance(arg, Var))


@dataclass(frozen=True, kw_only=True, slots=True)
class Let:
    """One step: `var` is bound to the result of `call`."""

    var: Var
    call: Call
    source: Source | None = None
    repeats: str = ""
    """Name of the step that it runs again, from the same values; empty if it is no repetition."""

    def __hash__(self) -> int:
        # Names are unique in a function; types hold thousands of scales.
        return hash(self.var.name)

    @property
    def where(self) -> str:
        """How messages name this step."""
        return str(self.source) if self.source else f'{self.call.op.name} "{self.var.name}"'

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the call."""
        return self.call.op.macs(self.call.attrs, self.call.types, self.var.type)


@dataclass(frozen=True, kw_only=True, slots=True)
class StateValue:
    """A value that lives from inference to inference: result `result` is parameter `param` of the next one.

    Both by their positions, which no pass changes.
    """

    param: int
    result: int
    initial: bytes
    """Bytes of the state before the first inference."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Function:
    """`params` in, `body` step by step, `results` out. A step is an index into `body`."""

    name: str
    params: tuple[Var, ...]
    body: tuple[Let, ...]
    results: tuple[Arg, ...]
    states: tuple[StateValue, ...] = ()
    """Parameters and results that are the model's state: nobody outside writes or reads them."""
    sizes: OpenSizes = FIXED
    """Symbols and extents from which every `SymbolicInt` follows. As plain numbers these are those of the
    largest sizes."""

    def __post_init__(self) -> None:
        """Every use is defined before, every name bound once, what is kept is alike on both sides."""
        if self.sizes.symbols:
            self._check_sizes()
        defined: dict[str, Var] = {}
        for param in self.params:
            self._define(defined, param)
        for let in self.body:
            for arg in let.call.args:
                self._check_use(defined, arg)
            self._define(defined, let.var)
        for result in self.results:
            self._check_use(defined, result)
        for state in self.states:
            old, new = self.params[state.param].type, self.results[state.result].type
            if (old.shape, old.dtype, len(state.initial)) != (new.shape, new.dtype, old.size_bytes):
                raise ValueError(f"{self.name}: {self.params[state.param].name} is {old}, becomes {new}")

    def _check_sizes(self) -> None:
        known = self.sizes.values({name: np.asarray(high) for name, high in self.sizes.largest.items()})
        for number in found_in((self.params, self.body, self.results)):
            unknown = sorted(set(names_of(number.formula)) - self.sizes.names)
            if unknown or evaluate(number.formula, known) != number:
                reason = f"follows from unknown sizes {unknown}" if unknown else "is not that at the largest"
                raise ValueError(f"{self.name}: {said(number)} {reason}")

    def _define(self, defined: dict[str, Var], var: Var) -> None:
        if var.name in defined:
            raise ValueError(f"{self.name}: {var.name} is bound twice")
        defined[var.name] = var

    def _check_use(self, defined: dict[str, Var], arg: Arg | None) -> None:
        if isinstance(arg, Var) and defined.get(arg.name) != arg:
            raise ValueError(f"{self.name}: {arg.name} is used before it is defined, or with another type")

    def variables(self) -> Iterator[Var]:
        """All variables in order of definition."""
        yield from self.params
        for let in self.body:
            yield let.var

    def uses(self) -> dict[str, list[int]]:
        """Steps that read each variable; `len(body)` stands for being a result."""
        readers: dict[str, list[int]] = {var.name: [] for var in self.variables()}
        for step, let in enumerate(self.body):
            for arg in let.call.args:
                if isinstance(arg, Var):
                    readers[arg.name].append(step)
        for result in self.results:
            if isinstance(result, Var):
                readers[result.name].append(len(self.body))
        return readers


@dataclass(frozen=True, kw_only=True, slots=True)
class Module:
    """Functions by name and constants by id; constants live once and functions refer to them."""

    functions: Mapping[str, Function]
    constants: Mapping[str, Constant]
    metadata: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Provenance: `format`, `sha256`, `file` (its name, no folder)."""

    def __post_init__(self) -> None:
        for mapping_name in ("functions", "constants", "metadata"):
            object.__setattr__(self, mapping_name, MappingProxyType(dict(getattr(self, mapping_name))))
        for function in self.functions.values():
            for arg in (*(a for let in function.body for a in let.call.args), *function.results):
                if isinstance(arg, ConstRef):
                    self._check_constant(function, arg)

    def _check_constant(self, function: Function, ref: ConstRef) -> None:
        constant = self.constants.get(ref.id)
        if constant is None:
            raise ValueError(f"{function.name}: no constant {ref.id}")
        if constant.type.size_bytes != ref.type.size_bytes:
            raise ValueError(f"{function.name}: constant {ref.id} is {constant.type}, read as {ref.type}")

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The constants' data, by id."""
        return {id_: constant.data for id_, constant in self.constants.items()}

    def array(self, ref: ConstRef) -> np.ndarray:
        """The data of a constant, as `ref` reads it."""
        return self.constants[ref.id].data.reshape(ref.type.shape)

    @property
    def main(self) -> Function:
        """The module's only function; raises ValueError if there are several."""
        if len(self.functions) != 1:
            raise ValueError(f"module has {len(self.functions)} functions")
        return next(iter(self.functions.values()))
