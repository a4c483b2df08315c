"""The kernel of USER: a C function of the user's with a fixed signature (cg_user_kernel.h)."""

from collections.abc import Iterator, Mapping

import numpy as np

from codegen.ir import DType, Let, Target, TensorType, Var, VirtualDevice
from codegen.ir.ops import UserAttrs, UserKernel
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.user import ARGUMENT
from codegen.kernels.base.c_kernel import element_alignment
from codegen.kernels.base.registry import Kernel, register
from codegen.kernels.call import (
    ArrayArg,
    CallArg,
    ConstantArg,
    ConstantPointer,
    CStruct,
    NullArg,
    ResultArg,
    StructArg,
    StructPointer,
    UserSource,
    ValueArg,
    WorkspaceArg,
)
from codegen.kernels.contract import LinkedConstant, MemoryDemand, Sharing, Workspace
from codegen.kernels.primfunc import PrimFunc

FOLDER = "user"
"""Folder of the emitted files that users wrote."""

MAX_RANK = 8
"""Dimensions of a tensor, at most: CG_USER_MAX_RANK."""

_DTYPES: Mapping[DType, int] = {
    DType.INT8: 1,
    DType.UINT8: 2,
    DType.INT16: 3,
    DType.INT32: 4,
    DType.INT64: 5,
    DType.FLOAT32: 6,
    DType.BOOL: 7,
    DType.UINT32: 8,
    DType.UINT64: 9,
    DType.UINT16: 10,
    DType.FLOAT64: 11,
}
"""`cg_user_dtype` by element type."""

_WORKSPACE = "workspace"
_OPTIONS = "options"


class User(Kernel):
    """The kernel of a declared operator, on every target."""

    op, name = "USER", "user"

    def refusal(self, let: Let, target: Target) -> str | None:
        """Refuse more dimensions than its struct has room for, and demands of arguments that are not
        there."""
        del target
        kernel, arity = narrow(let.call.attrs, UserAttrs).kernel, len(let.call.args)
        for index in _single(kernel):
            if index >= arity:
                return f"kernel {kernel.symbol} wants a memory for argument {index}, there are {arity}"
        ranks = [len(type_.shape) for type_ in (*let.call.types, let.var.type) if type_ is not None]
        return f"declared kernels take up to {MAX_RANK} dimensions" if max(ranks) > MAX_RANK else None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        attrs = narrow(let.call.attrs, UserAttrs)
        kernel = attrs.kernel
        alignment = max(kernel.argument_alignment, element_alignment(let))
        linked = [*_data(let, constants, alignment), *_scales(let), *_options(attrs)]
        space = _workspaces(kernel)
        workspace: CallArg = WorkspaceArg(name=_WORKSPACE) if space else NullArg()
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol=kernel.symbol,
            user_source=UserSource(path=f"{FOLDER}/{kernel.source}", text=kernel.text),
            argument_alignment=alignment,
            workspaces=space,
            memory=tuple(_memory(kernel, let)),
            device=VirtualDevice(target=kernel.target, device_id=kernel.device_id),
            constants=tuple(linked),
            sharing=_sharing(kernel, let),
            structs=_structs(let, attrs),
            call_args=(StructArg(suffix="call"), ArrayArg(items=_addresses(let)), ResultArg(), workspace),
            headers=("cg_user_kernel.h",),
        )


def _workspaces(kernel: UserKernel) -> tuple[Workspace, ...]:
    if not kernel.workspace_bytes:
        return ()
    size, alignment = kernel.workspace_bytes, kernel.workspace_alignment
    return (Workspace(name=_WORKSPACE, size_bytes=size, alignment=alignment),)


def _single(kernel: UserKernel) -> Iterator[int]:
    """Arguments that are named one by one where memory is demanded."""
    for what, _ in kernel.memory:
        match = ARGUMENT.fullmatch(what)
        if match is not None:
            yield int(match[1])


def _memory(kernel: UserKernel, let: Let) -> Iterator[MemoryDemand]:
    """Memories that the kernel demands; `arguments` stands for those that are there at run time."""
    for what, scope in kernel.memory:
        match = ARGUMENT.fullmatch(what)
        if what == "result":
            yield MemoryDemand(scopes=(scope,))
        elif what == _WORKSPACE:
            yield MemoryDemand(scopes=(scope,), workspace=_WORKSPACE)
        for index, arg in enumerate(let.call.args):
            listed = isinstance(arg, Var) if match is None else arg is not None and int(match[1]) == index
            if listed and (match is not None or what == "arguments"):
                yield MemoryDemand(scopes=(scope,), argument=index)


def _sharing(kernel: UserKernel, let: Let) -> tuple[Sharing, ...]:
    """The declared distances, never further apart than side by side."""
    first = let.call.args[0]
    if not isinstance(first, Var) or (kernel.below is None and kernel.above is None):
        return ()
    below = None if kernel.below is None else min(kernel.below, let.var.type.size_bytes)
    above = None if kernel.above is None else min(kernel.above, first.type.size_bytes)
    return (Sharing(argument=0, below=below, above=above),)


def _addresses(let: Let) -> tuple[ValueArg | ConstantArg | NullArg, ...]:
    addresses: list[ValueArg | ConstantArg | NullArg] = []
    for index, arg in enumerate(let.call.args):
        if arg is None:
            addresses.append(NullArg())
        else:
            addresses.append(
                ValueArg(index=index) if isinstance(arg, Var) else ConstantArg(role=_role(index))
            )
    return tuple(addresses)


def _role(index: int) -> str:
    return f"argument{index}"


def _data(let: Let, constants: Mapping[str, np.ndarray], alignment: int) -> Iterator[LinkedConstant]:
    """Constant arguments as the file holds them."""
    for index, arg in enumerate(let.call.args):
        if arg is not None and not isinstance(arg, Var):
            data = np.array(constants[arg.id]).reshape(-1)
            yield LinkedConstant(
                role=_role(index), data=data, alignment=alignment, layout="as in the file", is_plain=True
            )


def _scales(let: Let) -> Iterator[LinkedConstant]:
    """Scales and zero points of tensors that have one a channel."""
    for role, type_ in _named(let):
        if type_ is not None and type_.quantization is not None and type_.quantization.axis is not None:
            scales = np.array(type_.quantization.scales, np.float32)
            zero_points = np.array(type_.quantization.zero_points, np.int32)
            yield LinkedConstant(role=f"{role}_scales", data=scales, alignment=4)
            yield LinkedConstant(role=f"{role}_zero_points", data=zero_points, alignment=4, is_plain=True)


def _named(let: Let) -> Iterator[tuple[str, TensorType | None]]:
    for index, type_ in enumerate(let.call.types):
        yield _role(index), type_
    yield "result", let.var.type


def _options(attrs: UserAttrs) -> Iterator[LinkedConstant]:
    if attrs.options:
        yield LinkedConstant(
            role=_OPTIONS, data=np.array(attrs.options, np.uint8), alignment=4, is_plain=True
        )


def _structs(let: Let, attrs: UserAttrs) -> tuple[CStruct, ...]:
    """`cg_user_tensor` of every argument, and the `cg_user_call` that points to them."""
    named = list(_named(let))
    tensors = tuple((f"[{index}]", _tensor(role, type_)) for index, (role, type_) in enumerate(named[:-1]))
    options = ConstantPointer(role=_OPTIONS) if attrs.options else None
    call = (
        ("argument_count", len(tensors)),
        ("arguments", StructPointer(suffix="arguments")),
        ("result", _tensor(*named[-1])),
        ("workspace_bytes", attrs.kernel.workspace_bytes),
        ("options", options),
        ("options_bytes", len(attrs.options)),
    )
    return (
        CStruct(suffix="arguments", c_type="cg_user_tensor", fields=tensors, is_array=True),
        CStruct(suffix="call", c_type="cg_user_call", fields=call),
    )


def _tensor(role: str, type_: TensorType | None) -> tuple[tuple[str, object], ...]:
    """Fields of a `cg_user_tensor`; all zero for an argument left out."""
    if type_ is None:
        return (("dtype", 0),)
    quantization = type_.quantization
    fields: list[tuple[str, object]] = [
        ("dtype", _DTYPES[type_.dtype]),
        ("rank", len(type_.shape)),
        ("dims", tuple((f"[{axis}]", extent) for axis, extent in enumerate(type_.shape or (1,)))),
        ("size_bytes", type_.size_bytes),
    ]
    if quantization is None:
        return tuple(fields)
    if quantization.axis is None:
        return (*fields, ("scale", quantization.scale), ("zero_point", quantization.zero_point))
    fields += [(name, ConstantPointer(role=f"{role}_{name}")) for name in ("scales", "zero_points")]
    return (*fields, ("channel_axis", quantization.axis))


register(User())
