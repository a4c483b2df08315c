"""Portable C kernels: how a call is refused, how its parts become a PrimFunc."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from codegen.ir import DType, Let, Target, TensorType, Var
from codegen.ir.ops.base.operands import operand
from codegen.ir.ops.base.rounding import OnnxRounding, rounding_of
from codegen.kernels.base.registry import Kernel
from codegen.kernels.base.row_price import Predict, RowPrice
from codegen.kernels.base.window import WindowShape
from codegen.kernels.block import RowKernel
from codegen.kernels.call import PARAMS, RESULT, CallArg, ConstantArg, CStruct, Reverse, ValueArg
from codegen.kernels.contract import LinkedConstant, Sharing, Workspace
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.core_family import KernelSet
from codegen.targets.families import runs

ConstantData = Mapping[str, np.ndarray]


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """Parts in which bound calls of the same kernel differ (fields as in `PrimFunc`)."""

    call_args: tuple[CallArg, ...]
    structs: tuple[CStruct, ...] = ()
    constants: tuple[LinkedConstant, ...] = ()
    workspaces: tuple[Workspace, ...] = ()
    sharing: tuple[Sharing, ...] = ()
    sub_steps: int = 1
    argument_stops: tuple[int, ...] = field(default=())
    result_start: int = 0
    rows: RowKernel | None = None
    in_place: int | None = None
    image_reads: float = 1.0
    """How often each byte of argument 0 is read; every other argument is read once."""
    instructions: int | None = None


class PortableKernel(Kernel):
    """A C function of runtime_c/kernels that runs on every target."""

    stem: str
    """Stem of its names: function `cg_<stem>`, file portable/<stem>.c, `<stem>_portable` in the registry."""
    reverse_stem: str = ""
    """Stem of the same function from the last pixel to the first, built on this one; empty: there is none."""
    argument: DType | None = None
    """Element type of the run-time arguments; None: any."""
    result: DType | None = None
    """Element type of the result; None: any."""

    @property
    def header(self) -> str:
        """Header of the runtime that declares the functions."""
        family = "cg_kernels_qlinear" if self.rounding is OnnxRounding else "cg_kernels"
        return f"{family}_s16.h" if DType.INT16 in (self.argument, self.result) else f"{family}.h"

    @property
    def symbol(self) -> str:
        """C function called."""
        return f"cg_{self.stem}"

    def refusal(self, let: Let, target: Target) -> str | None:
        """Refuse another element type than the kernel's, and numbers that it cannot apply."""
        del target
        if type(rounding_of(let.call.attrs)) is not self.rounding:
            return f"the kernel {self.name} is for layers that are rounded otherwise"
        first, result = arg_type(let, 0), let.var.type
        if self.argument not in (None, first.dtype) or self.result not in (None, result.dtype):
            takes = f"{_word(self.argument)} to {_word(self.result)}"
            return f"the kernel {self.name} is for {takes}, not {first.dtype.value} to {result.dtype.value}"
        if result.elements == 0:
            return "the result has no elements"
        try:
            self.check(let)
        except ValueError as problem:
            return str(problem)
        return None

    def check(self, let: Let) -> None:
        """Raise ValueError with a sentence if the kernel lacks something this call needs."""

    @abstractmethod
    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """Parameters, packed constants, workspaces and sharing of this call."""

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        parts = self.parts(let, constants)
        sources = (f"kernels/portable/{self.stem}.c",)
        reverse = None
        if any(rule.above is not None for rule in parts.sharing):
            also = (*sources, f"kernels/portable/{self.reverse_stem}.c")
            reverse = Reverse(symbol=f"cg_{self.reverse_stem}", sources=also)
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=self.symbol,
            sources=sources,
            sub_steps=parts.sub_steps,
            argument_stops=parts.argument_stops,
            result_start=parts.result_start,
            argument_alignment=element_alignment(let),
            reads=(parts.image_reads,),
            workspaces=parts.workspaces,
            constants=parts.constants,
            sharing=parts.sharing,
            reverse=reverse,
            in_place=parts.in_place,
            structs=parts.structs,
            call_args=parts.call_args,
            headers=(self.header,),
            instructions=parts.instructions,
            rows=parts.rows,
        )


class FastKernel(Kernel):
    """A kernel for cores that run `kernel_set`; it refuses what the portable kernel of the call refuses."""

    kernel_set: KernelSet
    portable: PortableKernel
    """The kernel whose conditions hold here too."""
    takes_constants: bool = False
    """The first argument may be a constant as far as `other_reason` permits."""

    def refusal(self, let: Let, target: Target) -> str | None:
        """Refuse another core, a constant image, and numbers that the kernel cannot apply."""
        return self._general_reason(let, target) or self.other_reason(let)

    def refusal_at_size(self, let: Let, target: Target) -> str | None:
        return self._general_reason(let, target) or self.reason_at_size(let)

    def _general_reason(self, let: Let, target: Target) -> str | None:
        reason = self.core_reason(target) or self.portable.refusal(let, target)
        if reason is None and not (self.takes_constants or isinstance(let.call.args[0], Var)):
            reason = "the image is constant"
        return reason

    def core_reason(self, target: Target) -> str | None:
        """Why the core cannot run it, or None."""
        if runs(target, self.kernel_set):
            return None
        return f"the kernel {self.name} {self.kernel_set.condition}"

    def other_reason(self, let: Let) -> str | None:
        """Why only another kernel runs a call that the portable one accepts; None if this kernel runs it."""
        del let
        return None

    def reason_at_size(self, let: Let) -> str | None:
        """Why this kernel cannot run another size of a layer that it runs at the declared one, or None."""
        return self.other_reason(let)


def reverse_stem(stem: str) -> str:
    """`conv2d_s8` -> `conv2d_reverse_s8`."""
    name, _, kind = stem.rpartition("_")
    return f"{name}_reverse_{kind}"


def _word(dtype: DType | None) -> str:
    return "any type" if dtype is None else dtype.value


def element_alignment(let: Let) -> int:
    """Bytes that the elements of arguments and result want, 4 at most: no core here needs more."""
    types = [let.var.type, *(arg.type for arg in let.call.args if isinstance(arg, Var))]
    return min(4, max(type_.dtype.size_bytes for type_ in types))


def arg_type(let: Let, index: int) -> TensorType:
    """Type of argument `index`; raises ValueError if it was left out."""
    return operand(let.call.types, index, f"argument {index}")


def constant_data(let: Let, index: int, constants: ConstantData) -> np.ndarray | None:
    """Data of constant argument `index`, None if it was left out; raises ValueError for a run-time value."""
    arg = let.call.args[index] if index < len(let.call.args) else None
    if isinstance(arg, Var):
        raise ValueError(f"argument {index} is computed at run time")
    return None if arg is None else constants[arg.id]


def row_kernel(
    let: Let, symbol: str, window: WindowShape | None = None, predict: Predict | None = None
) -> RowKernel | None:
    """`symbol` as the row kernel of `let` if a block can run it: images of int8 or float32, all of one type,
    as many in each, all arguments images that are computed at run time (weights and bias aside), without a
    window all of one shape, with one no result from padding alone. `predict`: instructions of a call.

    The rows of a window must be the rows of its values: FULLY_CONNECTED, which sees an image as one line of
    pixels, goes by rows where the image is such a line."""
    images = [let.var, *(arg for arg in let.call.args if isinstance(arg, Var))]
    if {var.type.dtype for var in images} not in ({DType.INT8}, {DType.FLOAT32}):
        return None
    if any(len(var.type.shape) != 4 for var in images) or len({var.type.shape[0] for var in images}) != 1:
        return None
    if window is None:
        alike = all(isinstance(arg, Var) and arg.type.shape == let.var.type.shape for arg in let.call.args)
        return RowKernel(symbol=symbol) if alike else None
    axes = window.axes
    image = let.call.args[0]
    if not isinstance(image, Var) or not all(axis.all_read for axis in axes):
        return None
    if (window.image[:3], window.result[:3]) != (image.type.shape[:3], let.var.type.shape[:3]):
        return None
    price = None if predict is None else RowPrice(window=window, predict=predict)
    return RowKernel(symbol=symbol, window=axes, price=price)


_ELEMENTS_IN_ROWS = frozenset({DType.INT8, DType.UINT8, DType.FLOAT32})


def element_rows(let: Let, symbol: str) -> RowKernel | None:
    """`symbol` as the row kernel of a function of one image's elements, which may change their type."""
    image = let.call.args[0]
    if not isinstance(image, Var) or image.type.shape != let.var.type.shape or len(let.var.type.shape) != 4:
        return None
    types = {image.type.dtype, let.var.type.dtype}
    return RowKernel(symbol=symbol) if types <= _ELEMENTS_IN_ROWS else None


_AS_IN_FILE = "as in the file"


def value_argument(
    let: Let, index: int, role: str, constants: ConstantData
) -> tuple[ValueArg | ConstantArg, tuple[LinkedConstant, ...]]:
    """How the call passes argument `index`, and the linked constant `role` it needs if it is constant."""
    arg = let.call.args[index]
    if arg is None or isinstance(arg, Var):
        return ValueArg(index=index), ()
    data = np.array(constants[arg.id]).reshape(-1)
    linked = LinkedConstant(
        role=role, data=data, alignment=min(4, arg.type.dtype.size_bytes), layout=_AS_IN_FILE, is_plain=True
    )
    return ConstantArg(role=role), (linked,)


def pair_parts(
    let: Let,
    constants: ConstantData,
    numbers: CStruct,
    *,
    sharing: tuple[Sharing, ...] = (),
    rows: RowKernel | None = None,
) -> Parts:
    """Parts of a C function of parameters, arguments `lhs` and `rhs` (values or constants) and the result."""
    lhs, lhs_linked = value_argument(let, 0, "lhs", constants)
    rhs, rhs_linked = value_argument(let, 1, "rhs", constants)
    return Parts(
        structs=(numbers,),
        call_args=(PARAMS, lhs, rhs, RESULT),
        constants=(*lhs_linked, *rhs_linked),
        sharing=sharing,
        rows=rows,
    )
