"""Members of a program: the same steps, kernels and order of buffers at other sizes.

What a member is made of comes from where the program's own parts come from: the importer, the passes, the
kernels' binding, liveness. So nothing here knows what a kernel's parameters mean.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from codegen.constants.compressing import compressed
from codegen.constants.staging import with_copies
from codegen.ir import Arg, Call, ConstRef, Function, Let, Module, Var
from codegen.ir.ops.inserted import FusedAttrs, constants_of
from codegen.ir.ranged import Unlike
from codegen.kernels.base.registry import Kernel, kernels_of_step
from codegen.kernels.base.views import joined, slice_view
from codegen.kernels.contract import Sharing, Workspace
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.liveness import Liveness, liveness
from codegen.plan.place.orientation import Orientation, Pair, placed
from codegen.problem.problem import BufferKind, Problem
from codegen.program.constants import Unpacking
from codegen.program.program import MemoryLayout, Program, Steps
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.cycle_costs import CycleCosts
from codegen.search.ranges.block_members import block_at
from codegen.search.ranges.sizes import REVERSE, unlike


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A program at certain sizes, before anything is placed."""

    values: Mapping[str, int]
    """Symbol -> its value."""
    function: Function
    prim_funcs: tuple[PrimFunc, ...]
    live: Liveness
    problem: Problem


def member(program: Program, module: Module, binder: Binder, values: Mapping[str, int]) -> Member:
    """`program` at the sizes of `module`, which was made of the same file by the same passes.

    Raises Unlike where its structure is another one.
    """
    function = _function(program.steps.function, module)
    pairs = zip(program.steps.prim_funcs, function.body, strict=True)
    decoded = {copy.user: copy.unpacking for copy in program.constants.unpacked if copy.unpacking is not None}
    prims = tuple(_stored(prim, _prim(prim, let, binder), decoded) for prim, let in pairs)
    live = liveness(
        prims,
        function,
        edge=program.edge,
        pool_candidates=dict.fromkeys(BufferKind, tuple(pool.name for pool in program.memory.problem.pools)),
        minimum_alignment=program.board.buffer_alignment_bytes,
    )
    problem = live.problem(program.memory.problem.pools, program.memory.problem.limits)
    problem = with_copies(problem, program.constants.staged, live.times)
    return Member(values=values, function=function, prim_funcs=prims, live=live, problem=problem)


class Members:
    """Members of one program, each made once."""

    def __init__(self, program: Program, costs: CycleCosts | None = None) -> None:
        """`costs`: what their cycles are predicted by, if they are."""
        self._program, self._costs = program, costs
        self._made: dict[tuple[int, ...], Member] = {}

    def at(self, module: Module, values: Mapping[str, int]) -> Member:
        """The member at `values`, at which the model is `module`. Raises Unlike as `member` does."""
        key = tuple(values.values())
        if key not in self._made:
            binder = Binder(module.arrays, self._program.board.target, self._costs)
            self._made[key] = member(self._program, module, binder, values)
        return self._made[key]


def program_of(
    program: Program, other_size: Member, order: Orientation, distances: Mapping[Pair, int]
) -> Program:
    """The member as a program of its own, its buffers in the order of `order`, `distances` apart."""
    types = {var.name: var.type for var in other_size.function.variables()}
    plan = replace(program.memory.plan, placements=placed(order, other_size.problem, distances))
    places = plan.placements
    staged = tuple(
        replace(copy, offset=places[copy.buffer].offset, pool=places[copy.buffer].pool)
        for copy in program.constants.staged
    )
    return replace(
        program,
        constants=replace(program.constants, staged=staged),
        steps=Steps(
            function=other_size.function, prim_funcs=other_size.prim_funcs, times=other_size.live.times
        ),
        memory=MemoryLayout(
            problem=other_size.problem,
            plan=plan,
            slices=other_size.live.slices,
            workspaces=other_size.live.workspaces,
        ),
        signature=program.signature.with_types(types),
    )


# ---- steps ------------------------------------------------------------------------------


def _function(function: Function, module: Module) -> Function:
    """`function` with the types and attributes of `module`."""
    originals = {let.var.name: let for let in module.main.body}
    params = {param.name: param for param in module.main.params}
    if list(params) != [param.name for param in function.params]:
        raise Unlike("the inputs are others")
    values = {param.name: replace(params[param.name], device=param.device) for param in function.params}
    body = tuple(_let(let, originals, values) for let in function.body)
    results = tuple(values[result.name] if isinstance(result, Var) else result for result in function.results)
    params_in_order = tuple(values[param.name] for param in function.params)
    return replace(function, params=params_in_order, body=body, results=results)


def _let(let: Let, originals: Mapping[str, Let], values: dict[str, Var]) -> Let:
    """A step with the types and attributes of the original that it computes; its value goes to `values`."""
    attrs = let.call.attrs
    if isinstance(attrs, FusedAttrs):
        inner = tuple(_let(let, originals, values) for let in attrs.function.body)
        values[let.var.name] = replace(values[let.var.name], device=let.var.device)
        params = tuple(values[param.name] for param in attrs.function.params)
        body = replace(attrs.function, params=params, body=inner, results=(inner[-1].var,))
        call = replace(let.call, args=(*params, *constants_of(body)), attrs=FusedAttrs(function=body))
        return replace(let, var=values[let.var.name], call=call)
    original = originals.get(let.repeats or let.var.name)
    if (
        original is None
        or original.call.op is not let.call.op
        or len(original.call.args) != len(let.call.args)
    ):
        raise Unlike(f"{let.where} is another operator there, or none")
    pairs = zip(let.call.args, original.call.args, strict=True)
    args = tuple(_arg(arg, other, values) for arg, other in pairs)
    var = values[let.var.name] = replace(original.var, name=let.var.name, device=let.var.device)
    return replace(let, var=var, call=Call(op=let.call.op, args=args, attrs=original.call.attrs))


def _arg(arg: Arg | None, other: Arg | None, values: Mapping[str, Var]) -> Arg | None:
    if isinstance(arg, Var):
        return values[arg.name]
    if isinstance(arg, ConstRef) and (not isinstance(other, ConstRef) or other.type != arg.type):
        raise Unlike(f"constant {arg.id} is another one there")
    return arg


def _prim(prim: PrimFunc, let: Let, binder: Binder) -> PrimFunc:
    """The step of `prim` at the sizes of `let`, run by the same kernel in the same way."""
    if prim.block is not None:
        bound = block_at(let, prim.block, binder)
        return replace(bound, memory=prim.memory, sharing=_sharing(prim, bound))
    kernel = _kernel(prim)
    refusal = binder.refusal(kernel, let, at_size=True)
    if refusal is not None:
        raise unlike(prim, refusal)
    bound = binder.bind(kernel, let, prim.name)
    if prim.view is not None and bound.view is None:
        view = slice_view(bound)
        if view is None:
            raise Unlike(f"{let.where}: the slice is not in one piece")
        return view
    if prim.joined:
        bound = joined(bound, prim.joined)
    if prim.kernel.endswith(REVERSE):
        # The same call, also where the kernel has no use for it: where apart is as good.
        bound = replace(bound, kernel=prim.kernel, symbol=prim.symbol, sources=prim.sources)
    bound = replace(
        bound,
        reverse=None,
        memory=prim.memory,
        sharing=_sharing(prim, bound),
        workspaces=_workspaces(prim, bound),
        argument_alignment=max(prim.argument_alignment, bound.argument_alignment),
    )
    if (bound.kernel, bound.symbol) != (prim.kernel, prim.symbol):
        raise unlike(prim, f"{bound.symbol} runs it at some sizes, {prim.symbol} at the largest")
    return bound


def _workspaces(prim: PrimFunc, bound: PrimFunc) -> tuple[Workspace, ...]:
    """The workspaces of `prim`, of no bytes where `bound` runs without."""
    spaces = {space.name: space for space in bound.workspaces}
    if not spaces.keys() <= {space.name for space in prim.workspaces}:
        raise unlike(prim, f"{bound.kernel} has other workspaces")
    return tuple(spaces.get(space.name) or replace(space, size_bytes=0) for space in prim.workspaces)


def _stored(prim: PrimFunc, member_prim: PrimFunc, decoded: Mapping[tuple[str, str], Unpacking]) -> PrimFunc:
    """`member_prim`, which is `prim` at other sizes, with its constants compressed as those of `prim` are."""
    stored = {(prim.name, constant.role): constant.data for constant in prim.constants}
    if any(name == prim.name for name, _ in decoded) and member_prim.split != prim.split:
        raise unlike(prim, f"the calls of {prim.kernel} that take a constant piece by piece are others there")
    return compressed(member_prim, stored, decoded)


def _sharing(prim: PrimFunc, bound: PrimFunc) -> tuple[Sharing, ...]:
    """The rules that `prim` has left, at the distances of `bound`."""
    rules_there = {rule.argument: rule for rule in bound.sharing}
    rules: list[Sharing] = []
    for rule in prim.sharing:
        rule_there = rules_there.get(rule.argument, Sharing(argument=rule.argument))
        below = rule_there.below if rule.below is not None else None
        above = rule_there.above if rule.above is not None else None
        if below is not None or above is not None:
            rules.append(Sharing(argument=rule.argument, below=below, above=above))
    return tuple(rules)


def _kernel(prim: PrimFunc) -> Kernel:
    """The kernel that a step is bound to; what a step without a call is made of."""
    name = prim.kernel.removesuffix(REVERSE)
    every = kernels_of_step(prim.let)
    chosen = [kernel for kernel in every if kernel.name == name]
    if not chosen and (prim.view is not None or prim.joined):
        return every[0]
    if not chosen:
        raise Unlike(f"{prim.let.where}: kernel {prim.kernel} is not bound to one step")
    return chosen[0]


def lasting(program: Program) -> frozenset[str]:
    """Buffers of state, which lie where they lie whatever the sizes of a call are."""
    slices = program.memory.slices
    return frozenset(slices[old.value].buffer for old, _ in program.signature.state_tensors)


def check_lasting(program: Program, other_size: Member) -> None:
    """Raise Unlike for state that is larger at the largest sizes: calls of several sizes share it."""
    types = {param.name: param.type for param in other_size.function.params}
    for old, _ in program.signature.state_tensors:
        if types[old.value] != old.type:
            raise Unlike(f"state {old.field} is {types[old.value]} there, and lasts from call to call")


def check_alike(one: Problem, other: Problem) -> None:
    """The two problems have the same buffers, alive at the same time."""
    buffers = [(b.id, b.start, b.stop, b.alignment) for b in one.buffers]
    if buffers != [(b.id, b.start, b.stop, b.alignment) for b in other.buffers]:
        raise Unlike("its buffers are others")
