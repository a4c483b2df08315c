"""Values of a function: variables, references to constants, calls, bindings."""

from dataclasses import dataclass

import numpy as np

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
class Constant:
    """Data bound into the IR, shared by all functions of a module. `data` is not writable."""

    id: str
    type: TensorType
    data: np.ndarray
    alignment: int = 1
    section: str | None = None
    memory_scope: str | None = None
    origin: str = ""

    def __post_init__(self) -> None:
        if tuple(self.data.shape) != self.type.shape or self.data.dtype != self.type.dtype.numpy:
            raise ValueError(
                f"constant {self.id}: data is {self.data.dtype}{list(self.data.shape)}, type {self.type}"
            )
        self.data.setflags(write=False)

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
    """Where a step comes from in the model file: operator index and the file's word for it."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Let:
    """One step: `var` is bound to the result of `call`."""

    var: Var
    call: Call
    source: Source | None = None

    @property
    def where(self) -> str:
        """How messages name this step."""
        return str(self.source) if self.source else f'{self.call.op.name} "{self.var.name}"'
