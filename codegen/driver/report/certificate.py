"""Certificate of a plan, for report and people: what was fixed, what was searched, what is proved."""

from codegen.errors import counted
from codegen.ir.function import Let
from codegen.ir.ops.inserted import FusedAttrs
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.place.access import access_cost
from codegen.plan.place.bounds import lower_bounds
from codegen.program.program import OrderCertificate, Program

CUT_SHORT = "--deadline cut the search short"
"""Note on plans that need not be the same next time."""


def certificate(program: Program) -> dict[str, object]:
    """`plan.certificate` of report.json."""
    order = program.order
    closed = closed_by(program)
    return {
        "fixed": ["kernels", "traversal", "tiling", *([] if order.proved else ["order"])],
        "optimised": [*(["order"] if order.proved else []), "placement"],
        "reordered": order.reordered,
        "closed_by": closed,
        "nodes": program.memory.plan.nodes,
        "order": {
            "searched": order.searched,
            "exhausted": order.exhausted,
            "states": order.states,
            "peak_bytes": order.peak_bytes,
            "file_peak_bytes": order.file_peak_bytes,
            "lower_bound_bytes": order.lower_bound_bytes,
        },
        "blocks": block_reports(program),
        "words": [_proof_text(program, closed), f"order: {order_text(program.order)}"],
    }


def closed_by(program: Program) -> str | None:
    """The proof that the plan is optimal; None without one.

    `bound`: the peak of each pool meets its lower bound. `search`: every placement was looked at.
    """
    plan = program.memory.plan
    if not plan.proved_optimal:
        return None
    pools = {id_: place.pool for id_, place in plan.placements.items()}
    live = lower_bounds(program.memory.problem, pools)
    met = all(program.memory.peak_bytes(name) <= bytes_ for name, bytes_ in live.items())
    return "bound" if met else "search"


def block_reports(program: Program) -> list[dict[str, object]]:
    """The blocks of a report: the layers of each and their kernels, its stripes and images, what it costs."""
    return [
        {
            "step": step,
            "name": prim.name,
            "ops": [stage.op for stage in prim.block.stages if stage.op],
            "kernels": [stage.binding for stage in prim.block.stages if stage.op],
            "stripes": len(prim.block.stripes),
            "bands": max(len(prim.block.bands), 1),
            "images": _images(prim),
            "macs": prim.macs,
            "extra_macs": prim.macs - inner_macs(prim),
        }
        for step, prim in enumerate(program.steps.prim_funcs)
        if prim.block is not None
    ]


def _images(prim: PrimFunc) -> int:
    """How many images go through a block one after the other, of a range of sizes at the largest."""
    return int(prim.let.var.type.shape[0])


def inner_macs(prim: PrimFunc) -> int:
    """Multiply-accumulates of a block's layers if each ran once over its whole result."""
    return sum(let.macs for let in inner_lets(prim))


def proof_text(program: Program) -> str:
    """One line: is the plan proved optimal, by whom, and for what."""
    return _proof_text(program, closed_by(program))


def _proof_text(program: Program, closed: str | None) -> str:
    plan = program.memory.plan
    bound = sum(plan.lower_bounds.values())
    nodes = f", {counted(plan.nodes, 'node')}" if plan.nodes else ""
    if closed is None:
        cut = "" if plan.reproducible else f"; {CUT_SHORT}"
        return f"{plan.planner}: not proved optimal, {_gap(program, bound)} ({plan.solver}{nodes}){cut}"
    in_blocks = any(prim.block for prim in program.steps.prim_funcs)
    held = "these kernels and blocks" if in_blocks else "these kernels"
    order = "any order" if program.order.proved else "this order"
    how = "meets the lower bound" if closed == "bound" else "exhausted all that is lower"
    cut = "" if plan.reproducible else f"; other kernels, blocks and orders: {CUT_SHORT}"
    return f"{plan.planner}: proved optimal for {held}, {order} ({plan.solver} {how}{nodes}){cut}"


def _gap(program: Program, bound: int) -> str:
    """The open question of a plan that is not proved: how low its peaks, or how good its choice of pools, can
    be.

    If the bounds of cost and of every pool are met, another choice of pools may still cost the same, or
    copies of constants, which are made after the plan, may be better placed.
    """
    problem, plan = program.memory.problem, program.memory.plan
    peak = sum(program.memory.peaks.values())
    if peak > bound:
        return f"{counted(peak - bound, 'byte')} above the lower bound"
    if access_cost(problem, plan) > plan.access_cost_bound:
        return "another choice of pools may cost less"
    if len(problem.pools) > 1:
        return "another choice of pools that costs as much may need fewer bytes"
    copies = program.constants.staged
    return "copies of constants raise the peak" if copies else "though it meets the lower bound"


def order_text(order: OrderCertificate) -> str:
    """One line: which order, and what is known about others."""
    chosen = "searched" if order.reordered else "the file's"
    if not order.searched:
        return f"{chosen}; no other was looked at"
    saved = order.file_peak_bytes - order.peak_bytes
    gain = f" and needs {counted(saved, 'byte')} less than the file's" if order.reordered else ""
    states = "one state" if order.states == 1 else f"{order.states:,} states"
    if order.exhausted:
        searched = f"{states} searched" if order.states else "its peak bounds them all"
        return f"{chosen}{gain}; with whole tensors none needs less ({searched})"
    gap = order.peak_bytes - order.lower_bound_bytes
    return (
        f"{chosen}{gain}; with whole tensors at most {counted(gap, 'byte')} above the best "
        f"(the search stopped after {states})"
    )


def work_text(program: Program, model_macs: int) -> str:
    """One line: multiply-accumulates executed, those beyond the model's own, and how it runs."""
    executed = program.steps.macs
    extra = executed - model_macs
    more = "none extra"
    if extra > 0:
        more = f"{extra:,} ({100 * extra / model_macs:.1f} %) beyond the model's own"
    return f"{executed:,} multiply-accumulates, {more}; {ways_text(program)}"


def again(program: Program) -> list[str]:
    """Names of the steps that run a second time, inside blocks too."""
    lets = [let for prim in program.steps.prim_funcs for let in inner_lets(prim)]
    return [let.var.name for let in lets if let.source is not None and let.source.op_name.endswith(" again")]


def ways_text(program: Program) -> str:
    """Which operators of the file run in blocks, for how many images (of a range of sizes at the largest), in
    how many stripes, and how many steps run twice."""
    parts: list[str] = []
    for prim in program.steps.prim_funcs:
        if prim.block is not None:
            numbers = [let.source.op_index for let in inner_lets(prim) if let.source is not None]
            stripes, bands, images = len(prim.block.stripes), len(prim.block.bands), _images(prim)
            told = f"ops {min(numbers)}-{max(numbers)} row by row" if numbers else f"{prim.name} row by row"
            told += f" for each of {images} images" if images > 1 else ""
            told += f" in {stripes} stripes" if stripes > 1 and not bands else ""
            parts.append(told + (f" in {stripes} x {bands} patches" if bands else ""))
    repeated = len(again(program))
    if repeated:
        parts.append(f"{repeated} steps twice" if repeated > 1 else "one step twice")
    return ", ".join(parts) or "every value whole"


def origin(prim: PrimFunc) -> str | None:
    """The file's name for the result of a step, for a block of its last layer; None for inserted steps."""
    sources = [let.source for let in (prim.let, *reversed(inner_lets(prim)))]
    return next((source.tensor_name for source in sources if source is not None and source.tensor_name), None)


def inner_lets(prim: PrimFunc) -> tuple[Let, ...]:
    """The layers of a block in order, or the only one of another step."""
    attrs = prim.let.call.attrs
    return attrs.function.body if isinstance(attrs, FusedAttrs) else (prim.let,)
