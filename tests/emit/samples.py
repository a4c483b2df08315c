"""Programs put together by hand: every offset and parameter below is chosen here, not by search.

`counter` (int8, three pools of bytes in one): lut0 = x + 2, lut1 = lut0 + 2 (one table for both),
concat2 = lut0 | lut1, reshape3 a view of it as [2, 4], mean4 the mean of its two rows = x + 3.

`lasting` is `counter` whose lut1 is past + 2, and whose lut0 is the past of the next inference.

`mixed` (float32): add0 = min(a + b, 6), clamp1 = clamp(add0, -1.5, 1e6), scale2 = 0.1f * clamp1,
quantize3 = nearest(scale2 / 0.5) - 3.

`bare` (float32, caller's I/O): a view of the input, then clamp to [0, 6]: no pool, no constant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from codegen import ir
from codegen.constants.linking import link
from codegen.ir.ops import OPS, Attrs
from codegen.kernels.call import (
    ArrayArg,
    CallArg,
    ConstantArg,
    ConstantPointer,
    CStruct,
    LiteralArg,
    ResultArg,
    StructArg,
    ValueArg,
    WorkspaceArg,
)
from codegen.kernels.contract import LinkedConstant, Sharing, View, Workspace
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.liveness import liveness
from codegen.problem.problem import BufferKind, MemoryPlan, Placement, Pool
from codegen.program.constants import ConstantLayout
from codegen.program.interface import Edge, IoMode, IoTensor, Signature, StatePair
from codegen.program.program import Program, Steps
from tests.emit.variants import changed
from tests.tensor_types import per_tensor, tensor_type

SHA256 = "00112233445566778899aabbccddeeff" * 2
M4_FLAGS = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")

_FLASH = ir.Region(name="FLASH", address=0x08000000, size_bytes=1 << 20, writable=False, executable=True)
_SRAM = ir.Region(name="SRAM", address=0x20000000, size_bytes=1 << 16, writable=True)

HOST = ir.Board(
    name="host",
    title="the machine the tests run on",
    target=ir.Target(cpu="host"),
    runner=ir.Runner.HOST,
    regions=(_FLASH, _SRAM),
    code_region="FLASH",
    data_region="SRAM",
    stack_bytes=1024,
    reserved_bytes=0,
)

ARM = replace(
    HOST,
    name="netduinoplus2",
    title="an STM32F405",
    runner=ir.Runner.QEMU,
    target=ir.Target(cpu="cortex-m4", features=frozenset({"dsp", "fpu"}), compiler_flags=M4_FLAGS),
    regions=(_FLASH, _SRAM, ir.Region(name="CCM", address=0x10000000, size_bytes=1 << 16, writable=True)),
    uart=ir.Uart(driver="stm32", address=0x40011000),
    counter=ir.Counter(driver="stm32_tim", address=0x40000000, bits=32, instructions_per_tick=1.0),
    clock_hz=168_000_000,
    mpu="v7m",
    startup="stm32f4",
)

QUANTISED = per_tensor(0.5, -3)


def int8(*shape: int, quantization: ir.Quantization | None = QUANTISED) -> ir.TensorType:
    """An int8 tensor."""
    return tensor_type(shape, quantization=quantization)


def float32(*shape: int) -> ir.TensorType:
    """A float tensor."""
    return tensor_type(shape, ir.DType.FLOAT32)


def let(name: str, op: str, type_: ir.TensorType, *args: ir.Var | ir.ConstRef | None) -> ir.Let:
    """A step; attributes do not matter to emit."""
    return ir.Let(var=ir.Var(name=name, type=type_), call=ir.Call(op=OPS[op], args=args, attrs=Attrs()))


def assemble(
    name: str,
    function: ir.Function,
    prims: Sequence[PrimFunc],
    offsets: Mapping[str, tuple[str, int]],
    *,
    io: IoMode,
    fields: Mapping[str, str],
    board: ir.Board = HOST,
    keep_inputs: bool | frozenset[str] = False,
) -> Program:
    """A program whose buffers lie at `offsets`: buffer -> (pool, offset). `fields`: value -> C field."""
    pools = tuple(
        Pool(name=pool, region="SRAM", limit_bytes=4096, section=f".bss.cg.{pool}")
        for pool in ("sram", "ccm")
    )
    edge = Edge(io=io, kept=keep_inputs)
    live = liveness(
        prims,
        function,
        edge=edge,
        pool_candidates=dict.fromkeys(BufferKind, ("sram", "ccm")),
        minimum_alignment=1,
    )
    flash = Pool(name="flash", region="FLASH", limit_bytes=1 << 20, section=".rodata.cg.flash")
    tensors = {var.name: var for var in function.variables()}
    outputs = [result for result in function.results if isinstance(result, ir.Var)]
    plan = MemoryPlan(
        placements={b.id: Placement(pool=offsets[b.id][0], offset=offsets[b.id][1]) for b in live.buffers},
        planner="by_hand",
        solver="a person",
        lower_bounds={"sram": 12, "ccm": 0},
        proved_optimal=False,
    )
    return Program(
        name=name,
        board=board,
        metadata={"file": f"{name}.tflite", "format": "tflite", "sha256": SHA256, "options": "--board host"},
        steps=Steps(function=function, prim_funcs=tuple(prims), times=live.times),
        memory=live.layout(live.problem(pools), plan),
        constants=ConstantLayout(candidates=(flash,), pools=link(prims, (flash,))),
        edge=edge,
        signature=Signature(
            inputs=tuple(_io(var, fields) for var in function.params),
            outputs=tuple(_io(tensors[result.name], fields) for result in outputs),
        ),
    )


def _io(var: ir.Var, fields: Mapping[str, str]) -> IoTensor:
    return IoTensor(field=fields[var.name], origin=var.origin, value=var.name, type=var.type)


def _prim(step: ir.Let, of: str, *args: CallArg, **others: Any) -> PrimFunc:
    """A call of the portable kernel `of`."""
    return PrimFunc(
        name=step.var.name,
        let=step,
        kernel=f"{of}_portable",
        symbol=f"cg_{of}",
        sources=(f"kernels/portable/{of}.c",),
        call_args=args,
        **others,
    )


def _params(c_type: str, *fields: tuple[str, object]) -> tuple[CStruct]:
    return (CStruct(suffix="params", c_type=c_type, fields=fields),)


def _plus_two(step: ir.Let) -> PrimFunc:
    stored = np.arange(256, dtype=np.uint8).view(np.int8).astype(np.int16)
    results = np.minimum(stored + 2, 127).astype(np.int8)
    table = LinkedConstant(role="table", data=results, alignment=1, is_plain=True)
    arguments = (ConstantArg(role="table"), ValueArg(index=0), ResultArg(), LiteralArg(value=4))
    return _prim(step, "lut_s8", *arguments, constants=(table,), sharing=(Sharing(argument=0, below=0),))


def _axes(*values: int) -> tuple[tuple[str, object], ...]:
    return tuple((f"d{axis}", value) for axis, value in enumerate(values))


def counter(
    name: str = "counter", *, io: IoMode = IoMode.POOL, board: ir.Board = HOST, field: str = "x"
) -> Program:
    """The int8 program; its result is x + 3."""
    x = ir.Var(name="x", type=int8(1, 4), origin="serving_default_x:0")
    lut0 = let("lut0", "RELU", int8(1, 4), x)
    lut1 = let("lut1", "RELU", int8(1, 4), lut0.var)
    concat2 = let("concat2", "CONCATENATION", int8(1, 8), lut0.var, lut1.var)
    reshape3 = let("reshape3", "RESHAPE", int8(2, 4), concat2.var)
    mean4 = let("mean4", "MEAN", int8(4), reshape3.var)
    steps = (lut0, lut1, concat2, reshape3, mean4)
    joined = _prim(
        concat2,
        "concat",
        StructArg(suffix="params"),
        ArrayArg(items=(ValueArg(index=0), ValueArg(index=1))),
        ResultArg(),
        constants=(
            LinkedConstant(role="row_bytes", data=np.array([4, 4], np.int32), alignment=4, is_plain=True),
        ),
        structs=_params(
            "cg_concat_params", ("rows", 1), ("count", 2), ("row_bytes", ConstantPointer(role="row_bytes"))
        ),
    )
    extents = (("extent", _axes(1, 1, 1, 2, 4)), ("out_step", _axes(0, 0, 0, 0, 1)))
    numbers = (("sum_offset", 0), ("multiplier", 1 << 30), ("shift", 0), ("out_zero", 0))
    mean = _prim(
        mean4,
        "mean_s8",
        *(StructArg(suffix="params"), ValueArg(index=0), ResultArg(), WorkspaceArg(name="ws")),
        sub_steps=2,
        argument_stops=(1,),
        result_start=1,
        workspaces=(Workspace(name="ws", size_bytes=16, start=0, stop=2),),
        structs=_params("cg_mean_params", ("reduction", (*extents, ("out_len", 4), ("count", 2))), *numbers),
    )
    view = PrimFunc(name="reshape3", let=reshape3, kernel="reshape_view", view=View(argument=0))
    prims = (_plus_two(lut0), _plus_two(lut1), joined, view, mean)
    # x and lut0 share bytes (in place), mean4 takes the bytes that lut0 had.
    offsets = {"x": ("sram", 8), "lut0": ("sram", 8), "lut1": ("sram", 12), "concat2": ("sram", 0x10)}
    offsets |= {"mean4": ("sram", 8), "mean4.ws": ("ccm", 0)}
    function = ir.Function(name="main", params=(x,), body=steps, results=(mean4.var,))
    return assemble(name, function, prims, offsets, io=io, fields={"x": field, "mean4": "sum"}, board=board)


def lasting(name: str = "lasting", *, board: ir.Board = HOST) -> Program:
    """The int8 program with state: its result is the mean of x + 2 and past + 2, then past = x + 2."""
    plain = counter(name, board=board)
    x, past = plain.steps.function.params[0], ir.Var(name="past", type=int8(1, 4), origin="past_in")
    first, second, *others = plain.steps.function.body
    second = replace(second, call=replace(second.call, args=(past,)))
    function = ir.Function(
        name="main",
        params=(x, past),
        body=(first, second, *others),
        results=(*plain.steps.function.results, first.var),
    )
    prims = (plain.steps.prim_funcs[0], _plus_two(second), *plain.steps.prim_funcs[2:])
    offsets = {"x": ("sram", 8), "past": ("sram", 0x18), "lut0": ("sram", 0), "lut1": ("sram", 12)}
    offsets |= {"concat2": ("sram", 0x10), "mean4": ("sram", 8), "mean4.ws": ("ccm", 0)}
    fields = {"x": "x", "past": "past", "mean4": "sum", "lut0": "next"}
    keep = frozenset({"past"})
    found = assemble(
        name, function, prims, offsets, io=IoMode.POOL, fields=fields, board=board, keep_inputs=keep
    )
    state = StatePair(input="past", output="next", initial=bytes([0xFD] * 4))
    return changed(found, "signature", states=(state,))


def bare(name: str = "bare") -> Program:
    """The program without pools and constants; its result is min(max(x, 0), 6)."""
    x = ir.Var(name="x", type=float32(4))
    reshape0 = let("reshape0", "RESHAPE", float32(2, 2), x)
    clamp1 = let("clamp1", "RELU6", float32(2, 2), reshape0.var)
    limits = (LiteralArg(value=0.0), LiteralArg(value=6.0))
    arguments = (*limits, ValueArg(index=0), ResultArg(), LiteralArg(value=4))
    clamp = _prim(clamp1, "clamp_f32", *arguments, argument_alignment=4)
    prims = (PrimFunc(name="reshape0", let=reshape0, kernel="reshape_view", view=View(argument=0)), clamp)
    function = ir.Function(name="main", params=(x,), body=(reshape0, clamp1), results=(clamp1.var,))
    return assemble(name, function, prims, {}, io=IoMode.CALLER, fields={"x": "x", "clamp1": "y"})


def mixed(name: str = "mixed", *, io: IoMode = IoMode.CALLER, board: ir.Board = HOST) -> Program:
    """The float program; its inputs and outputs have the worst names a file could give."""
    a = ir.Var(name="double", type=float32(2, 3), origin="evil */ name /* \\ \u00e9")
    b = ir.Var(name="int8_t", type=float32(3))
    add0 = let("add0", "ADD", float32(2, 3), a, b)
    clamp1 = let("clamp1", "RELU", float32(2, 3), add0.var)
    scale2 = let("scale2", "MUL", float32(2, 3), clamp1.var, ir.ConstRef(id="c5", type=float32(1)))
    quantize3 = let("quantize3", "QUANTIZE", int8(2, 3), scale2.var)
    broadcast = (
        ("extent", _axes(1, 1, 1, 2, 3)),
        ("lhs_step", _axes(0, 0, 0, 3, 1)),
        ("rhs_step", _axes(0, 0, 0, 0, 1)),
    )
    scalar = (
        ("extent", _axes(1, 1, 1, 1, 6)),
        ("lhs_step", _axes(0, 0, 0, 0, 1)),
        ("rhs_step", _axes(0, 0, 0, 0, 0)),
    )

    def binary(step: ir.Let, op: str, shape: object, high: float, rhs: CallArg, **others: Any) -> PrimFunc:
        numbers = (("shape", shape), ("act_min", -3.4028234663852886e38), ("act_max", high))
        structs = _params("cg_binary_params_f32", *numbers)
        arguments = (StructArg(suffix="params"), ValueArg(index=0), rhs, ResultArg())
        return _prim(step, f"{op}_f32", *arguments, argument_alignment=4, structs=structs, **others)

    clamp = _prim(
        clamp1,
        "clamp_f32",
        *(LiteralArg(value=-1.5), LiteralArg(value=1e6), ValueArg(index=0), ResultArg(), LiteralArg(value=6)),
        argument_alignment=4,
        sharing=(Sharing(argument=0, below=0),),
    )
    quantise = _prim(
        quantize3,
        "quantize_f32_s8",
        *(StructArg(suffix="params"), ValueArg(index=0), ResultArg(), LiteralArg(value=6)),
        argument_alignment=4,
        structs=_params("cg_quantize_params", ("scale", 0.5), ("zero", -3)),
    )
    tenth = LinkedConstant(role="rhs", data=np.array([0.1], np.float32), alignment=4)
    prims = (
        binary(add0, "add", broadcast, 6.0, ValueArg(index=1)),
        clamp,
        binary(scale2, "mul", scalar, 3.4028234663852886e38, ConstantArg(role="rhs"), constants=(tenth,)),
        quantise,
    )
    offsets = {"double": ("sram", 0), "int8_t": ("sram", 24), "add0": ("sram", 36), "clamp1": ("sram", 36)}
    offsets |= {"scale2": ("ccm", 0), "quantize3": ("sram", 0)}
    function = ir.Function(
        name="main",
        params=(a, b),
        body=(add0, clamp1, scale2, quantize3),
        results=(scale2.var, quantize3.var),
    )
    fields = {"double": "double", "int8_t": "int8_t", "scale2": "class", "quantize3": "double"}
    return assemble(name, function, prims, offsets, io=io, fields=fields, board=board)
