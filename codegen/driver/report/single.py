"""report.json: what was planned, built and measured. Field names are part of the user interface."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from codegen.driver.report.buffers import program_buffers
from codegen.driver.report.certificate import certificate, origin
from codegen.driver.report.code_sizes import CodeSizes
from codegen.driver.report.npu_report import npu_report
from codegen.driver.report.output_check import Comparison, ReferenceUsed
from codegen.driver.report.rounding_certificate import rounding_report
from codegen.driver.report.sections import copies_report, reduction_report, window_report
from codegen.driver.report.size_gaps import sizes_report
from codegen.driver.report.step_layers import layers_report
from codegen.driver.report.summary_sentence import summary
from codegen.driver.report.time_and_energy import add_time
from codegen.driver.report.totals import predicted_instructions, steps_not_predicted, totals
from codegen.ir.ops.user import operator_name
from codegen.kernels.primfunc import PrimFunc
from codegen.passes import Reduction
from codegen.passes.sliding import Sliding
from codegen.plan.place.access import access_cost, pool_access_cost
from codegen.problem.problem import BufferKind, pool_alignment
from codegen.program.constants import ConstantPool
from codegen.program.image import CaseResult, ElfSizes, RunResult, StepTrace
from codegen.program.program import Program, core_of, second_core_steps

if TYPE_CHECKING:
    from codegen.targets.instructions import Waits
    from codegen.toolchain.cycles import CycleEstimate

SCHEMA = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """A run of one model with the comparison of every output of every case."""

    result: RunResult
    comparisons: tuple[tuple[Comparison, ...], ...]
    reference: ReferenceUsed = field(default_factory=ReferenceUsed)
    estimate: "CycleEstimate | None" = None
    """Estimated cycles of each step (`estimate_cycles`)."""


class ReportedModel(Protocol):
    """A model after search, as far as report.json tells of it."""

    @property
    def program(self) -> Program:
        """The program that was searched."""
        ...

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the file's graph, before any pass."""
        ...

    @property
    def reduction(self) -> Reduction | None:
        """Channels and constants that were removed; None if the reduction was turned off."""
        ...

    @property
    def sliding(self) -> Sliding | None:
        """Account of an input that slides; None without one."""
        ...


def report(
    planned: ReportedModel,
    requested: str,
    sizes: ElfSizes | None = None,
    measured: Measured | None = None,
    *,
    called: Sequence[PrimFunc] = (),
) -> dict[str, object]:
    """The report document. Without `sizes` it is the `plan` verb's, without `measured` the `build` verb's.

    `called`: the steps as C calls them (`in_smallest_forms`), with `sizes`.
    """
    program = planned.program
    document: dict[str, object] = {
        "schema": SCHEMA,
        "model": _model(program, planned.macs),
        "board": {"name": program.board.name, "requested": requested, "cpu": program.board.target.cpu},
        "options": program.metadata.get("options"),
        "plan": _plan(program, requested),
        "device_copies": copies_report(program),
        "constants": _constants(program),
        "reduction": reduction_report(planned.reduction),
        "window": window_report(planned.sliding),
        "rounding": rounding_report(program),
        "sizes": sizes_report(program),
    }
    npu = npu_report(program)
    if npu is not None:
        document["npu"] = npu
    if sizes is not None:
        document["elf"] = _elf(sizes)
    code = CodeSizes(sizes, called)
    steps = range(len(program.steps.prim_funcs))
    workspaces = _workspace_bytes(program)
    document["steps"] = [_step(program, step, code, workspaces, measured) for step in steps]
    document["instructions_predicted"] = predicted_instructions(program.steps.prim_funcs)
    document["steps_not_predicted"] = steps_not_predicted(program.steps.prim_funcs)
    if measured is not None:
        document["run"] = _run(program, measured)
    document["totals"] = totals(document, program.board, program.memory.problem.pools)
    add_time(document, program.board)
    document["summary"] = summary(document, program.board)
    return document


def _model(program: Program, macs: int) -> dict[str, object]:
    return {
        "name": program.name,
        "sha256": program.metadata["sha256"],
        "format": program.metadata["format"],
        "macs": macs,
        "macs_executed": program.steps.macs,
        "without_elements": list(program.without_elements),
        "notes": list(program.notes),
    }


def workspace_bytes(program: Program, pool: str) -> int:
    """How much lower the pool's peak would be without kernel workspaces."""
    ends = (
        program.memory.plan.placements[buffer.id].offset + buffer.size_bytes
        for buffer in program.memory.problem.buffers
        if buffer.kind is not BufferKind.WORKSPACE and program.memory.plan.placements[buffer.id].pool == pool
    )
    return program.memory.peak_bytes(pool) - max(ends, default=0)


def _plan(program: Program, requested: str | None) -> dict[str, object]:
    problem, plan = program.memory.problem, program.memory.plan
    pools: list[dict[str, object]] = []
    for pool in problem.pools:
        peak = program.memory.peak_bytes(pool.name)
        if peak == 0:
            continue
        pools.append(
            {
                "name": pool.name,
                "region": pool.region,
                "section": pool.section,
                "alignment_bytes": pool_alignment(problem, plan, pool.name),
                "peak_bytes": peak,
                "size_bytes": peak,
                "limit_bytes": pool.limit_bytes if requested else None,
                "workspace_bytes": workspace_bytes(program, pool.name),
                "lower_bound_bytes": plan.lower_bounds[pool.name],
                "access_cost": pool_access_cost(problem, plan, pool.name),
            }
        )
    return {
        "planner": plan.planner,
        "solver": plan.solver,
        "proved_optimal": plan.proved_optimal,
        "peak_bytes": sum(int(str(pool["peak_bytes"])) for pool in pools),
        "lower_bound_bytes": sum(int(str(pool["lower_bound_bytes"])) for pool in pools),
        "access_cost": access_cost(problem, plan),
        "access_cost_bound": plan.access_cost_bound,
        "reproducible": plan.reproducible,
        "core1_steps": list(second_core_steps(program)),
        "certificate": certificate(program),
        "pools": pools,
        "buffers": program_buffers(program),
    }


def _constants(program: Program) -> dict[str, object]:
    external = program.interface.external
    return {
        "total_bytes": program.constants.size_bytes,
        "merged_bytes": sum(pool.merged_bytes for pool in program.constants.pools),
        "mode": program.interface.constants.value,
        "pools": [
            {
                "name": pool.name,
                # The caller's constants are in no image: they lie where the application has put them.
                "region": None if external else pool.region,
                "section": None if external else pool.section,
                "size_bytes": pool.size_bytes,
                "unique_bytes": pool.unique_bytes,
                "access_cost": pool.access_cost,
                "members": members_report(pool),
            }
            for pool in program.constants.pools
        ],
        "staged": staged_report(program),
        "compressed": compressed_report(program),
    }


def members_report(pool: ConstantPool) -> list[dict[str, object]]:
    """Entries of a constant pool, in the order of their offsets."""
    return [
        {
            "name": member.name,
            "offset": member.offset,
            "bytes": member.data.nbytes,
            "users": list(dict.fromkeys(prim for prim, _ in member.users)),
        }
        for member in pool.members
    ]


def compressed_report(program: Program) -> dict[str, object]:
    """Constants that are stored compressed; instructions are predicted, of one inference."""
    summary, linked = program.constants.compression, program.constants.size_bytes
    return {
        "original_bytes": summary.original_bytes if summary else linked,
        "least_bytes": summary.least_bytes if summary else None,
        "instructions": summary.instructions if summary else 0,
        "instructions_bound": summary.instructions_bound if summary else 0,
        "raised_bytes": summary.raised_bytes if summary else 0,
        "constants": [
            {
                "step": copy.used_at,
                "name": copy.user[0],
                "role": copy.user[1],
                "bytes": unpacking.original_bytes,
                "stored_bytes": unpacking.packing.stored_bytes,
                "table_bytes": unpacking.packing.table_bytes,
                "pieces": len(unpacking.packing.piece_bytes),
                "buffer_bytes": copy.size_bytes,
                "pool": copy.pool,
                "offset": copy.offset,
                "instructions": unpacking.instructions,
            }
            for copy in program.constants.unpacked
            if (unpacking := copy.unpacking) is not None
        ],
    }


def staged_report(program: Program) -> dict[str, object]:
    """Copies of constants in faster memory; costs are those of reads of constants and copies."""
    copies = [copy for copy in program.constants.copied if copy.copied_at is not None]
    return {
        "bytes": sum(copy.size_bytes for copy in program.constants.copied),
        "start_bytes": sum(copy.size_bytes for copy in program.constants.copied if copy.copied_at is None),
        "copies_per_inference": len(copies),
        "copied_bytes_per_inference": sum(copy.size_bytes for copy in copies),
        "cost_linked": program.constants.costs.linked,
        "cost": program.constants.costs.chosen,
        "cost_bound": program.constants.costs.bound,
        "constants": [
            {
                "step": copy.used_at,
                "name": copy.user[0],
                "role": copy.user[1],
                "bytes": copy.size_bytes,
                "pool": copy.pool,
                "offset": copy.offset,
                "copied_at": copy.copied_at,
            }
            for copy in program.constants.copied
        ],
    }


def _elf(sizes: ElfSizes) -> dict[str, object]:
    return {
        "text_bytes": sizes.text_bytes,
        "rodata_bytes": sizes.rodata_bytes,
        "data_bytes": sizes.data_bytes,
        "bss_bytes": sizes.bss_bytes,
        "model_code_bytes": sizes.model_code_bytes,
        "stack_bound_bytes": sizes.stack_bound_bytes,
        "core1_stack_bound_bytes": sizes.core1_stack_bound_bytes,
        "functions": [
            {
                "name": function.name,
                "bytes": function.size_bytes,
                "stack_bound_bytes": function.stack_bound_bytes,
            }
            for function in sizes.functions
        ],
    }


def _workspace_bytes(program: Program) -> Counter[str]:
    """Bytes of workspace of each PrimFunc, by name."""
    workspaces: Counter[str] = Counter()
    for (name, _), part in program.memory.workspaces.items():
        workspaces[name] += part.size_bytes
    return workspaces


def _step(
    program: Program, step: int, code: CodeSizes, workspaces: Counter[str], run: Measured | None
) -> dict[str, object]:
    prim = program.steps.prim_funcs[step]
    trace: tuple[StepTrace, ...] = run.result.trace if run else ()
    measured = next((step_trace for step_trace in trace if step_trace.step == step), None)
    estimate = run.estimate if run else None
    start, stop = program.steps.times[step]
    return {
        "step": step,
        "op": operator_name(prim.let.call),
        "name": prim.name,
        "origin": origin(prim),
        "kernel": prim.kernel,
        "layers": layers_report(prim),
        "core": core_of(prim),
        "start": start,
        "stop": stop,
        "macs": prim.macs,
        "workspace_bytes": workspaces[prim.name],
        "constant_bytes": prim.constant_bytes,
        "code_bytes": code.code_bytes(step),
        "stack_bound_bytes": code.stack_bound_bytes(step),
        "instructions_predicted": prim.instructions,
        "instructions": measured.instructions if measured else None,
        "cycles": measured.cycles if measured else None,
        "cycles_estimate": estimate.cycles[step] if estimate else None,
        "flash_waits_estimate": _waits(estimate.waits[step]) if estimate and estimate.waits else None,
    }


def _waits(waits: "Waits | None") -> dict[str, int] | None:
    return {"code": waits.code, "data": waits.data} if waits else None


def _largest(values: list[int]) -> int | None:
    return max(values, default=None)


def _run(program: Program, measured: Measured) -> dict[str, object]:
    cases: tuple[CaseResult, ...] = measured.result.cases
    outputs: list[dict[str, object]] = []
    for index, tensor in enumerate(program.signature.outputs):
        comparisons = [case[index] for case in measured.comparisons]
        outputs.append(
            {
                "name": tensor.field,
                "dtype": tensor.type.dtype.value,
                "shape": [int(extent) for extent in tensor.type.shape],
                "sha256": comparisons[0].sha256,
                "matches": all(one.matches for one in comparisons),
                "max_abs_difference": max(one.max_abs_difference for one in comparisons),
            }
        )
    pools = {name for case in cases for name in case.pool_peaks}
    estimate = measured.estimate
    return {
        "runner": measured.result.runner,
        "cases": len(cases),
        "sequence": measured.result.sequence,
        "planning_seconds": round(program.memory.plan.seconds, 3),
        "reference": measured.reference.document,
        "outputs": outputs,
        "pools": [
            {"name": pool.name, "peak_bytes": max(case.pool_peaks[pool.name] for case in cases)}
            for pool in program.memory.problem.pools
            if pool.name in pools
        ],
        "guards_intact": all(case.guards_intact for case in cases),
        "stack_peak_bytes": _largest(
            [case.stack_peak_bytes for case in cases if case.stack_peak_bytes is not None]
        ),
        "core1_stack_peak_bytes": _largest(
            [case.core1_stack_peak_bytes for case in cases if case.core1_stack_peak_bytes is not None]
        ),
        "instructions": cases[0].instructions,
        "instructions_resolution": cases[0].counter_resolution,
        "cycles_estimate": estimate.total if estimate else None,
        "memory_model": estimate.memory.name if estimate and estimate.memory else None,
        "flash_waits_estimate": _waits(estimate.total_waits) if estimate else None,
        "cycles": cases[0].cycles,
    }
