"""Small functions, PrimFuncs and problems for tests, built by hand."""

from collections.abc import Sequence

import numpy as np

from codegen.ir import ANYWHERE, Arg, Call, DType, Function, Let, TensorType, Var, VirtualDevice
from codegen.ir.operator import Attrs, Op
from codegen.kernels.contract import MemoryDemand, Sharing, View, Workspace
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.liveness import Liveness, liveness
from codegen.problem.problem import (
    Buffer,
    BufferKind,
    Limits,
    MemoryPlan,
    Placement,
    Pool,
    Problem,
    interval_conflicts,
)
from codegen.program.interface import Edge, IoMode
from tests.tensor_types import tensor_type

POOL = Pool(name="sram", region="SRAM", limit_bytes=1 << 30)


class Probe(Op):
    """An operator without rules: planning never evaluates it."""

    name = "PROBE"
    short = "probe"

    def result_shape(self, attrs: Attrs, args: Sequence[TensorType | None]) -> tuple[int, ...]:
        raise NotImplementedError

    def evaluate(
        self,
        attrs: Attrs,
        values: Sequence[np.ndarray | None],
        args: Sequence[TensorType | None],
        result: TensorType,
    ) -> np.ndarray:
        raise NotImplementedError


PROBE = Probe()


def var(name: str, size: int, dtype: DType = DType.INT8, scope: str | None = None) -> Var:
    return Var(name=name, type=tensor_type((size,), dtype), device=VirtualDevice(memory_scope=scope))


def prim(
    result: Var,
    *args: Arg | None,
    sub_steps: int = 1,
    argument_stops: tuple[int, ...] = (),
    result_start: int = 0,
    alignment: int = 1,
    workspaces: tuple[Workspace, ...] = (),
    sharing: tuple[Sharing, ...] = (),
    view: View | None = None,
    memory: tuple[MemoryDemand, ...] = (),
    device: VirtualDevice = ANYWHERE,
) -> PrimFunc:
    return PrimFunc(
        name=result.name,
        let=Let(var=result, call=Call(op=PROBE, args=args, attrs=Attrs())),
        kernel="probe",
        symbol="" if view else "probe",
        sub_steps=sub_steps,
        argument_stops=argument_stops,
        result_start=result_start,
        argument_alignment=alignment,
        workspaces=workspaces,
        sharing=sharing,
        view=view,
        memory=memory,
        device=device,
    )


def function(params: Sequence[Var], prims: Sequence[PrimFunc], results: Sequence[Arg]) -> Function:
    return Function(
        name="main", params=tuple(params), body=tuple(p.let for p in prims), results=tuple(results)
    )


def live(
    params: Sequence[Var],
    prims: Sequence[PrimFunc],
    results: Sequence[Arg],
    *,
    io: IoMode = IoMode.POOL,
    keep_inputs: bool = False,
    pools: Sequence[str] = ("sram",),
    minimum_alignment: int = 1,
) -> Liveness:
    return liveness(
        prims,
        function(params, prims, results),
        edge=Edge(io=io, kept=keep_inputs),
        pool_candidates=dict.fromkeys(BufferKind, tuple(pools)),
        minimum_alignment=minimum_alignment,
    )


def buffer(
    id_: str, size: int, start: int, stop: int, alignment: int = 1, pools: tuple[str, ...] = ("sram",)
) -> Buffer:
    return Buffer(id=id_, size_bytes=size, start=start, stop=stop, alignment=alignment, pool_candidates=pools)


def problem(*buffers: Buffer, pools: tuple[Pool, ...] = (POOL,), effort: int = 200) -> Problem:
    """Buffers kept apart wherever their intervals intersect."""
    return Problem(
        buffers=buffers, conflicts=interval_conflicts(buffers), pools=pools, limits=Limits(effort=effort)
    )


def placed(**offsets: int) -> MemoryPlan:
    """A plan made by hand, in pool `sram`."""
    return MemoryPlan(
        placements={id_: Placement(pool="sram", offset=offset) for id_, offset in offsets.items()},
        planner="hand",
        solver="hand",
        lower_bounds={},
        proved_optimal=False,
    )
