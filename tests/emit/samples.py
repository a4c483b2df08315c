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

import numpy as np

from codegen.ir import (
    Board,
    Call,
    ConstRef,
    Counter,
    DType,
    Function,
    Let,
    Quantization,
    Region,
    Runner,
    Target,
    TensorType,
    Uart,
    Var,
)
from codegen.ir.ops import OPS, Attrs
from codegen.kernels.call import (
    ArrayArg,
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
from codegen.plan.constants.linking import link
from codegen.plan.live.kept_inputs import Keep
from codegen.plan.live.liveness import liveness
from codegen.program.interface import IoMode, IoTensor, State
from codegen.program.problem import BufferKind, MemoryPlan, Placement, Pool
from codegen.program.program import Program

SHA256 = "00112233445566778899aabbccddeeff" * 2
M4_FLAGS = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")

_FLASH = Region(name="FLASH", address=0x08000000, size_bytes=1 << 20, writable=False, executable=True)
_SRAM = Region(name="SRAM", address=0x20000000, size_bytes=1 << 16, writable=True)

HOST = Board(
    name="host",
    title="the machine the tests run on",
    target=Target(cpu="host"),
    runner=Runner.HOST,
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
    runner=Runner.QEMU,
    target=Target(cpu="cortex-m4", features=frozenset({"dsp", "fpu"}), compiler_flags=M4_FLAGS),
    regions=(_FLASH, _SRAM, Region(name="CCM", address=0x10000000, size_bytes=1 << 16, writable=True)),
    uart=Uart(driver="stm32", address=0x40011000),
    counter=Counter(driver="stm32_tim", address=0x40000000, bits=32, instructions_per_tick=1.0),
    clock_hz=168_000_000,
    mpu="v7m",
    startup="stm32f4",
)

QUANTISED = Quantization(scales=(0.5,), zero_points=(-3,))


def int8(*shape: int, quantization: Quantization | None = QUANTISED) -> TensorType:
    """An int8 tensor."""
    return TensorType(shape=shape, dtype=DType.INT8, quantization=quantization)


def float32(*shape: int) -> TensorType:
    """A float tensor."""
    return TensorType(shape=shape, dtype=DType.FLOAT32)


def let(name: str, op: str, type_: TensorType, *args: Var | ConstRef | None) -> Let:
    """A step; attributes do not matter to emit."""
    return Let(var=Var(name=name, type=type_), call=Call(op=OPS[op], args=args, attrs=Attrs()))


def assemble(
    name: str,
    function: Function,
    prims: Sequence[PrimFunc],
    offsets: Mapping[str, tuple[str, int]],
    *,
    io: IoMode,
    fields: Mapping[str, str],
    board: Board = HOST,
    keep_inputs: Keep = False,
) -> Program:
    """A program whose buffers lie at `offsets`: buffer -> (pool, offset). `fields`: value -> C field."""
    pools = tuple(
        Pool(name=pool, region="SRAM", limit_bytes=4096, section=f".bss.cg.{pool}")
        for pool in ("sram", "ccm")
    )
    live = liveness(
        prims,
        function,
        io=io,
        keep_inputs=keep_inputs,
        pool_candidates=dict.fromkeys(BufferKind, ("sram", "ccm")),
        minimum_alignment=1,
    )
    flash = Pool(name="flash", region="FLASH", limit_bytes=1 << 20, section=".rodata.cg.flash")
    tensors = {var.name: var for var in function.variables()}
    outputs = [result for result in function.results if isinstance(result, Var)]
    return Program(
        name=name,
        function=function,
        prim_funcs=tuple(prims),
        board=board,
        problem=live.problem(pools),
        plan=MemoryPlan(
            placements={
                b.id: Placement(pool=offsets[b.id][0], offset=offsets[b.id][1]) for b in live.buffers
            },
            planner="by_hand",
            solver="a person",
            lower_bounds={"sram": 12, "ccm": 0},
            proved_optimal=False,
        ),
        slices=live.slices,
        workspaces=live.workspaces,
        constants=link(prims, (flash,)),
        constant_pools=(flash,),
        io=io,
        inputs=tuple(_io(var, fields) for var in function.params),
        outputs=tuple(_io(tensors[result.name], fields) for result in outputs),
        times=live.times,
        metadata={"file": f"{name}.tflite", "format": "tflite", "sha256": SHA256, "options": "--board host"},
    )


def _io(var: Var, fields: Mapping[str, str]) -> IoTensor:
    return IoTensor(field=fields[var.name], origin=var.origin, value=var.name, type=var.type)


def _plus_two(name: str, step: Let) -> PrimFunc:
    stored = np.arange(256, dtype=np.uint8).view(np.int8).astype(np.int16)
    table = np.minimum(stored + 2, 127).astype(np.int8)
    return PrimFunc(
        name=name,
        let=step,
        kernel="lut_s8_portable",
        symbol="cg_lut_s8",
        sources=("kernels/portable/lut_s8.c",),
        constants=(LinkedConstant(role="table", data=table, alignment=1),),
        sharing=(Sharing(argument=0, below=0),),
        call_args=(ConstantArg(role="table"), ValueArg(index=0), ResultArg(), LiteralArg(value=4)),
    )


def _axes(*values: int) -> tuple[tuple[str, object], ...]:
    return tuple((f"d{axis}", value) for axis, value in enumerate(values))


def counter(
    name: str = "counter", *, io: IoMode = IoMode.POOL, board: Board = HOST, field: str = "x"
) -> Program:
    """The int8 program; its result is x + 3."""
    x = Var(name="x", type=int8(1, 4), origin="serving_default_x:0")
    lut0 = let("lut0", "RELU", int8(1, 4), x)
    lut1 = let("lut1", "RELU", int8(1, 4), lut0.var)
    concat2 = let("concat2", "CONCATENATION", int8(1, 8), lut0.var, lut1.var)
    reshape3 = let("reshape3", "RESHAPE", int8(2, 4), concat2.var)
    mean4 = let("mean4", "MEAN", int8(4), reshape3.var)
    steps = (lut0, lut1, concat2, reshape3, mean4)
    joined = PrimFunc(
        name="concat2",
        let=concat2,
        kernel="concat_portable",
        symbol="cg_concat",
        sources=("kernels/portable/concat.c",),
        constants=(LinkedConstant(role="row_bytes", data=np.array([4, 4], np.int32), alignment=4),),
        structs=(
            CStruct(
                suffix="params",
                c_type="cg_concat_params",
                fields=(("rows", 1), ("count", 2), ("row_bytes", ConstantPointer(role="row_bytes"))),
            ),
        ),
        call_args=(
            StructArg(suffix="params"),
            ArrayArg(items=(ValueArg(index=0), ValueArg(index=1))),
            ResultArg(),
        ),
    )
    reduction = (
        ("extent", _axes(1, 1, 1, 2, 4)),
        ("out_step", _axes(0, 0, 0, 0, 1)),
        ("out_len", 4),
        ("count", 2),
    )
    mean = PrimFunc(
        name="mean4",
        let=mean4,
        kernel="mean_s8_portable",
        symbol="cg_mean_s8",
        sources=("kernels/portable/mean_s8.c",),
        sub_steps=2,
        argument_stops=(1,),
        result_start=1,
        workspaces=(Workspace(name="ws", size_bytes=16, start=0, stop=2),),
        structs=(
            CStruct(
                suffix="params",
                c_type="cg_mean_params",
                fields=(
                    ("reduction", reduction),
                    ("sum_offset", 0),
                    ("multiplier", 1 << 30),
                    ("shift", 0),
                    ("out_zero", 0),
                ),
            ),
        ),
        call_args=(StructArg(suffix="params"), ValueArg(index=0), ResultArg(), WorkspaceArg(name="ws")),
    )
    view = PrimFunc(name="reshape3", let=reshape3, kernel="reshape_view", view=View(argument=0))
    prims = (_plus_two("lut0", lut0), _plus_two("lut1", lut1), joined, view, mean)
    # x and lut0 share bytes (in place), mean4 takes the bytes that lut0 had.
    offsets = {"x": ("sram", 8), "lut0": ("sram", 8), "lut1": ("sram", 12), "concat2": ("sram", 0x10)}
    offsets |= {"mean4": ("sram", 8), "mean4.ws": ("ccm", 0)}
    function = Function(name="main", params=(x,), body=steps, results=(mean4.var,))
    return assemble(name, function, prims, offsets, io=io, fields={"x": field, "mean4": "sum"}, board=board)


def lasting(name: str = "lasting", *, board: Board = HOST) -> Program:
    """The int8 program with state: its result is the mean of x + 2 and past + 2, then past = x + 2."""
    plain = counter(name, board=board)
    x, past = plain.function.params[0], Var(name="past", type=int8(1, 4), origin="past_in")
    first, second, *others = plain.function.body
    second = replace(second, call=replace(second.call, args=(past,)))
    function = Function(
        name="main",
        params=(x, past),
        body=(first, second, *others),
        results=(*plain.function.results, first.var),
    )
    prims = (plain.prim_funcs[0], _plus_two("lut1", second), *plain.prim_funcs[2:])
    offsets = {"x": ("sram", 8), "past": ("sram", 0x18), "lut0": ("sram", 0), "lut1": ("sram", 12)}
    offsets |= {"concat2": ("sram", 0x10), "mean4": ("sram", 8), "mean4.ws": ("ccm", 0)}
    fields = {"x": "x", "past": "past", "mean4": "sum", "lut0": "next"}
    keep = frozenset({"past"})
    found = assemble(
        name, function, prims, offsets, io=IoMode.POOL, fields=fields, board=board, keep_inputs=keep
    )
    return replace(found, states=(State(input="past", output="next"),))


def bare(name: str = "bare") -> Program:
    """The program without pools and constants; its result is min(max(x, 0), 6)."""
    x = Var(name="x", type=float32(4))
    reshape0 = let("reshape0", "RESHAPE", float32(2, 2), x)
    clamp1 = let("clamp1", "RELU6", float32(2, 2), reshape0.var)
    clamp = PrimFunc(
        name="clamp1",
        let=clamp1,
        kernel="clamp_f32_portable",
        symbol="cg_clamp_f32",
        sources=("kernels/portable/clamp_f32.c",),
        argument_alignment=4,
        call_args=(
            *(LiteralArg(value=0.0), LiteralArg(value=6.0)),
            *(ValueArg(index=0), ResultArg(), LiteralArg(value=4)),
        ),
    )
    prims = (PrimFunc(name="reshape0", let=reshape0, kernel="reshape_view", view=View(argument=0)), clamp)
    function = Function(name="main", params=(x,), body=(reshape0, clamp1), results=(clamp1.var,))
    return assemble(name, function, prims, {}, io=IoMode.CALLER, fields={"x": "x", "clamp1": "y"})


def mixed(name: str = "mixed", *, io: IoMode = IoMode.CALLER, board: Board = HOST) -> Program:
    """The float program; its inputs and outputs have the worst names a file could give."""
    a = Var(name="double", type=float32(2, 3), origin="evil */ name /* \\ \u00e9")
    b = Var(name="int8_t", type=float32(3))
    add0 = let("add0", "ADD", float32(2, 3), a, b)
    clamp1 = let("clamp1", "RELU", float32(2, 3), add0.var)
    scale2 = let("scale2", "MUL", float32(2, 3), clamp1.var, ConstRef(id="c5", type=float32(1)))
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

    def binary(prim: str, step: Let, op: str, shape: object, high: float, rhs: ValueArg | ConstantArg,
               constants: tuple[LinkedConstant, ...] = ()) -> PrimFunc:  # fmt: skip
        numbers = (("shape", shape), ("act_min", -3.4028234663852886e38), ("act_max", high))
        return PrimFunc(
            name=prim,
            let=step,
            kernel=f"{op}_f32_portable",
            symbol=f"cg_{op}_f32",
            sources=(f"kernels/portable/{op}_f32.c",),
            argument_alignment=4,
            constants=constants,
            structs=(CStruct(suffix="params", c_type="cg_binary_params_f32", fields=numbers),),
            call_args=(StructArg(suffix="params"), ValueArg(index=0), rhs, ResultArg()),
        )

    clamp = PrimFunc(
        name="clamp1",
        let=clamp1,
        kernel="clamp_f32_portable",
        symbol="cg_clamp_f32",
        sources=("kernels/portable/clamp_f32.c",),
        argument_alignment=4,
        sharing=(Sharing(argument=0, below=0),),
        call_args=(
            LiteralArg(value=-1.5),
            LiteralArg(value=1e6),
            ValueArg(index=0),
            ResultArg(),
            LiteralArg(value=6),
        ),
    )
    quantise = PrimFunc(
        name="quantize3",
        let=quantize3,
        kernel="quantize_f32_s8_portable",
        symbol="cg_quantize_f32_s8",
        sources=("kernels/portable/quantize_f32_s8.c",),
        argument_alignment=4,
        structs=(
            CStruct(
                suffix="params",
                c_type="cg_quantize_params",
                fields=(("count", 6), ("scale", 0.5), ("zero", -3)),
            ),
        ),
        call_args=(StructArg(suffix="params"), ValueArg(index=0), ResultArg()),
    )
    tenth = LinkedConstant(role="rhs", data=np.array([0.1], np.float32), alignment=4)
    prims = (
        binary("add0", add0, "add", broadcast, 6.0, ValueArg(index=1)),
        clamp,
        binary("scale2", scale2, "mul", scalar, 3.4028234663852886e38, ConstantArg(role="rhs"), (tenth,)),
        quantise,
    )
    offsets = {"double": ("sram", 0), "int8_t": ("sram", 24), "add0": ("sram", 36), "clamp1": ("sram", 36)}
    offsets |= {"scale2": ("ccm", 0), "quantize3": ("sram", 0)}
    function = Function(
        name="main",
        params=(a, b),
        body=(add0, clamp1, scale2, quantize3),
        results=(scale2.var, quantize3.var),
    )
    fields = {"double": "double", "int8_t": "int8_t", "scale2": "class", "quantize3": "double"}
    return assemble(name, function, prims, offsets, io=io, fields=fields, board=board)
