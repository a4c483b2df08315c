"""The kernels of NPU and NPU_VALUE: a call that hands a command stream to the device, and a copy."""

from dataclasses import replace

from codegen.ethos_u import payload
from codegen.ethos_u.payload import ALIGNMENT
from codegen.ethos_u.register_commands import FAST_SCRATCH, SCRATCH, written_bytes
from codegen.ir import ConstRef, Let, Var
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.npu_layers import CONSTANTS, FIXED, STREAM, NpuAttrs, NpuValueAttrs
from codegen.kernels.base.c_kernel import ConstantData, Parts, PortableKernel, arg_type
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.call import (
    ARGUMENT,
    PARAMS,
    RESULT,
    ArrayArg,
    ConstantArg,
    ConstantPointer,
    CStruct,
    LiteralArg,
    NullArg,
    StructPointer,
    ValueArg,
    WorkspaceArg,
)
from codegen.kernels.contract import NPU, Inlet, LinkedConstant, MemoryDemand, Workspace
from codegen.kernels.primfunc import PrimFunc

_FAST = "fast_scratch"
_ROLES = {STREAM: "command_stream", CONSTANTS: "constants"}
_LAYOUTS = {STREAM: "as Vela wrote it, with the driver's header", CONSTANTS: "as Vela wrote them"}


class NpuCall(PortableKernel):
    """NPU: arguments are born in the scratch where they can, else copied there; then the device runs."""

    op, stem, name = "NPU", "npu_run", "npu_run"

    @property
    def header(self) -> str:
        return "cg_npu.h"

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        attrs = narrow(let.call.attrs, NpuAttrs)
        space = (Workspace(name=_FAST, size_bytes=attrs.fast_bytes, alignment=ALIGNMENT),)
        linked = tuple(self._linked(let, constants))
        roles = {constant.role for constant in linked}
        values: list[ValueArg | ConstantArg | NullArg] = [
            ValueArg(index=index) if isinstance(arg, Var) else ConstantArg(role=_role(index))
            for index, arg in enumerate(let.call.args[FIXED:], FIXED)
        ]
        return Parts(
            structs=_structs(let, attrs, roles),
            constants=linked,
            workspaces=space if attrs.fast_bytes else (),
            call_args=(
                PARAMS,
                ArrayArg(items=tuple(values)),
                RESULT,
                WorkspaceArg(name=_FAST) if attrs.fast_bytes else NullArg(),
            ),
        )

    def _linked(self, let: Let, constants: ConstantData) -> list[LinkedConstant]:
        linked: list[LinkedConstant] = []
        for index, arg in enumerate(let.call.args):
            if arg is not None and not isinstance(arg, Var):
                data = constants[arg.id].reshape(-1).copy()
                layout = _LAYOUTS.get(index, "as in the file")
                linked.append(
                    LinkedConstant(role=_role(index), data=data, alignment=ALIGNMENT, layout=layout)
                )
        return linked

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        attrs = narrow(let.call.attrs, NpuAttrs)
        demands = [MemoryDemand(scopes=(NPU,))]
        if attrs.fast_bytes:
            demands.append(MemoryDemand(scopes=(NPU,), workspace=_FAST))
        stream = let.call.args[STREAM]
        assert isinstance(stream, ConstRef)
        commands = payload.split(constants[stream.id].tobytes()).stream
        regions = {SCRATCH} if attrs.fast_bytes else {SCRATCH, FAST_SCRATCH}
        tail = (attrs.scratch_bytes - attrs.tail_bytes, attrs.scratch_bytes)
        return replace(
            super().bind(let, constants, name),
            changed=(*written_bytes(commands, regions), *((tail,) if attrs.tail_bytes else ())),
            result_alignment=ALIGNMENT,
            memory=tuple(demands),
            inlets=tuple(
                Inlet(argument=index, offset_bytes=offset)
                for index, offset in enumerate(attrs.offsets, FIXED)
            ),
        )


def _role(index: int) -> str:
    return _ROLES.get(index, f"argument{index - FIXED}")


def _structs(let: Let, attrs: NpuAttrs, roles: set[str]) -> tuple[CStruct, ...]:
    """`cg_npu_place` of every argument, and the `cg_npu_params` that point to them."""
    values = tuple(
        (f"[{index}]", (("offset", offset), ("size_bytes", arg_type(let, FIXED + index).size_bytes)))
        for index, offset in enumerate(attrs.offsets)
    )
    stream = arg_type(let, STREAM).size_bytes
    held = _ROLES[CONSTANTS] if _ROLES[CONSTANTS] in roles else None
    return (
        CStruct(suffix="places", c_type="cg_npu_place", fields=values, is_array=True),
        params(
            "cg_npu_params",
            ("stream", ConstantPointer(role=_ROLES[STREAM])),
            ("stream_bytes", stream),
            ("constants", None if held is None else ConstantPointer(role=held)),
            ("constants_bytes", 0 if held is None else arg_type(let, CONSTANTS).size_bytes),
            ("scratch_bytes", attrs.scratch_bytes),
            ("tail_bytes", attrs.tail_bytes),
            ("fast_bytes", attrs.fast_bytes),
            ("place_count", len(values)),
            ("places", StructPointer(suffix="places")),
        ),
    )


class NpuValue(PortableKernel):
    """NPU_VALUE where it cannot stay in the scratch: a copy."""

    op, stem, name = "NPU_VALUE", "npu_value", "npu_value"

    @property
    def header(self) -> str:
        return "cg_npu.h"

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        del constants
        offset = narrow(let.call.attrs, NpuValueAttrs).offset
        return Parts(
            call_args=(ARGUMENT, LiteralArg(value=offset), LiteralArg(value=let.var.type.size_bytes), RESULT)
        )


register(NpuCall())
register(NpuValue())
