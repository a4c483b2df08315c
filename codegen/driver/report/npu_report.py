"""Layers on an NPU in the report: operations and bytes moved by step, figures of Vela, layers on the core."""

import json
from collections.abc import Iterator

from codegen.errors import counted
from codegen.ethos_u import payload
from codegen.ethos_u.register_commands import CONSTANTS, FAST_SCRATCH, SCRATCH, kinds, moved_bytes
from codegen.ir.ops.npu_layers import NpuAttrs, NpuValueAttrs
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.ties import ties
from codegen.program.program import Program

_REGIONS = {CONSTANTS: "constants", SCRATCH: "scratch", FAST_SCRATCH: "fast scratch"}


def npu_report(program: Program) -> dict[str, object] | None:
    """Operations and traffic of each step on the NPU; None where there is none."""
    prims = program.steps.prim_funcs
    steps = [
        _step(step, prim) for step, prim in enumerate(prims) if isinstance(prim.let.call.attrs, NpuAttrs)
    ]
    if not steps:
        return None
    metadata = program.metadata
    return {
        "vela": metadata.get("vela"),
        "vela_cycles": _number(metadata.get("vela_cycles")),
        "vela_arena_bytes": _number(metadata.get("vela_arena_bytes")),
        "plan_bytes": sum(program.memory.peak_bytes(pool.name) for pool in program.memory.problem.pools),
        "in_hollows_bytes": _in_hollows_bytes(program),
        "steps": steps,
        "on_the_core": list(_on_the_core(program)),
    }


def _in_hollows_bytes(program: Program) -> int:
    """Bytes of values and workspaces that lie between what streams have at fixed places in a scratch."""
    prims, memory = program.steps.prim_funcs, program.memory
    anchors = ties(program.steps.function, prims).anchors
    scratches = {anchors[prim.let.var.name][0] for prim in prims if prim.inlets}
    values = {name: part for name, part in memory.slices.items() if anchors[name] == (name, 0)}
    filled = [part for name, part in values.items() if name != part.buffer]
    parts = (*filled, *memory.workspaces.values())
    return sum(part.size_bytes for part in parts if part.buffer in scratches)


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _step(step: int, prim: PrimFunc) -> dict[str, object]:
    commands = payload.split(prim.constant("command_stream").data.tobytes())
    moved = moved_bytes(commands.stream)
    return {
        "step": step,
        "device": commands.device,
        "words": len(commands.stream),
        "operations": [
            {"kind": kind, "count": count} for kind, count in sorted(kinds(commands.stream).items())
        ],
        "scratch_bytes": prim.let.var.type.size_bytes,
        "born_in_scratch": len(prim.joined),
        "copied_in": len(prim.inlets) - len(prim.joined),
        "moved": [
            {
                "memory": _REGIONS.get(region, f"region {region}"),
                "read_bytes": moved.get((region, False), 0),
                "written_bytes": moved.get((region, True), 0),
            }
            for region in sorted({region for region, _ in moved})
        ],
    }


def _on_the_core(program: Program) -> Iterator[dict[str, object]]:
    """Steps of layers that Vela left to the core, each with the reason that Vela gives, if it was asked."""
    reasons: dict[str, str] = json.loads(program.metadata.get("vela_reasons", "{}"))
    for step, prim in enumerate(program.steps.prim_funcs):
        source = prim.let.source
        if source and prim.is_call and not isinstance(prim.let.call.attrs, NpuAttrs | NpuValueAttrs):
            yield {"step": step, "op": source.op_name, "why": reasons.get(source.tensor_name)}


def npu_lines(program: Program) -> Iterator[str]:
    """Lines of a summary; none where no step is on an NPU."""
    document = npu_report(program)
    if document is None:
        return
    for step, prim in enumerate(program.steps.prim_funcs):
        if not isinstance(prim.let.call.attrs, NpuAttrs):
            continue
        commands = payload.split(prim.constant("command_stream").data.tobytes())
        count = sum(kinds(commands.stream).values())
        moved = sum(moved_bytes(commands.stream).values())
        words = f"{counted(count, 'operation')}, {moved:,} bytes moved"
        yield f"npu       step {step} on {commands.device}: {words}"
    for left in _on_the_core(program):
        yield f"core      step {left['step']} {left['op']}: {left['why'] or 'Vela left it there'}"
    if document["in_hollows_bytes"]:
        yield f"          {document['in_hollows_bytes']:,} bytes of others lie in hollows of its scratch"
    if document["vela"] is not None:
        figures = f"Vela {document['vela']} estimates {document['vela_cycles']:,} cycles of the NPU"
        yield f"          {figures}; its own arena has {document['vela_arena_bytes']:,} bytes"
