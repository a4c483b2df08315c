"""USER: an operator computed by a C function of the user's, declared in codegen.toml."""

import re
from dataclasses import dataclass

import numpy as np

from codegen.ir.function import Call
from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.operands import narrow
from codegen.ir.types import TensorType

SYMBOL = re.compile(r"[A-Za-z_]\w*", re.ASCII)
"""Names that a C function may have."""
SOURCE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.[cS]", re.ASCII)
"""Names that a source file may have: safe in a CMakeLists.txt and on a command line."""
MAX_ALIGNMENT = 64
"""Bytes: no pool's base promises more."""


MEMORY_OF = ("arguments", "result", "workspace")
"""Words for which a declared kernel may demand a memory, single arguments aside."""
ARGUMENT = re.compile(r"argument(\d{1,3})", re.ASCII)
"""How it names one argument."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UserKernel:
    """A declared kernel: what `[[kernel]]` of codegen.toml says, its source read.

    Raises ValueError for a name, size or alignment that cannot be.
    """

    op: str
    """TFLite's name of the operator, or the name of a custom operator."""
    symbol: str
    """C function, see runtime_c/include/cg_user_kernel.h."""
    source: str
    """File name of the source, without a folder."""
    text: str
    """Contents of the source."""
    workspace_bytes: int = 0
    workspace_alignment: int = 4
    argument_alignment: int = 1
    """Bytes, of arguments, constants and the result; at least what their elements want."""
    below: int | None = None
    """Overlap distances of the result and argument 0 in bytes, as in `codegen.kernels.primfunc.Sharing`."""
    above: int | None = None
    memory: tuple[tuple[str, str], ...] = ()
    """(one of `MEMORY_OF`, `argument<index>`; name of a pool or `dma`): where it wants what it works on."""
    target: str | None = None
    """The accelerator or core that it drives; None: it runs on the board's core."""
    device_id: int | None = None

    def __post_init__(self) -> None:
        if not self.op or not SYMBOL.fullmatch(self.symbol) or not SOURCE_NAME.fullmatch(self.source):
            raise ValueError(f"kernel {self.op!r}: {self.symbol!r} in {self.source!r}")
        if self.workspace_bytes < 0:
            raise ValueError(f"kernel {self.op}: {self.workspace_bytes} bytes of workspace")
        for what, scope in self.memory:
            if not is_memory_of(what) or not scope or (what == "workspace" and not self.workspace_bytes):
                raise ValueError(f"kernel {self.op}: {what} in memory {scope!r}")
        for alignment in (self.workspace_alignment, self.argument_alignment):
            if not is_alignment(alignment):
                raise ValueError(f"kernel {self.op}: alignment {alignment}")


def is_memory_of(word: str) -> bool:
    """True if a declared kernel may demand a memory for what this word stands for."""
    return word in MEMORY_OF or ARGUMENT.fullmatch(word) is not None


def is_alignment(value: int) -> bool:
    """True if a declared kernel may ask for this alignment in bytes."""
    return 0 < value <= MAX_ALIGNMENT and value & (value - 1) == 0


@dataclass(frozen=True, kw_only=True, slots=True)
class UserAttrs(Attrs):
    """USER: the kernel, the shape that the file declares for the result, and a custom operator's options."""

    kernel: UserKernel
    shape: tuple[int, ...]
    options: tuple[int, ...] = ()
    """Bytes that the file holds for a custom operator, as they are."""


class User(Op):
    """USER: any arguments, one result. Only its C function knows what it computes."""

    name = "USER"
    short = "user"
    attrs_type = UserAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The shape that the file declares: no rule contradicts it."""
        del args
        return narrow(attrs, UserAttrs).shape

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Raises ValueError: there is no reference, and none is made up."""
        del values, args, result
        raise ValueError(f"{narrow(attrs, UserAttrs).kernel.op} is computed by the user's kernel alone")


def operator_name(call: Call) -> str:
    """How people know the operator of a call: by the file's name for it."""
    return call.attrs.kernel.op if isinstance(call.attrs, UserAttrs) else call.op.name
