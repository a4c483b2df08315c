"""Kernels and bytes of a loop: those of one iteration, chosen and planned once, as one step.
Bytes of layers that run one after the other in a step."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.ir import Call, ConstRef, Function, Let, Target, Var
from codegen.ir.ops import DEVICE_COPY, Attrs, LoopAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.inserted import FusedAttrs
from codegen.kernels.base.c_kernel import element_alignment
from codegen.kernels.base.registry import Kernel
from codegen.kernels.call import RESULT, ValueArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, WorkspaceSharing
from codegen.kernels.loop import LOOP_WORKSPACE, InnerPlace
from codegen.kernels.looped import PlacedIteration, bind_layers, bind_loop, most_aligned
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.constants.merging import round_up
from codegen.plan.live.liveness import liveness
from codegen.plan.live.ties import ties
from codegen.plan.place.placing import greedy_by_conflicts
from codegen.plan.place.planners import Planner
from codegen.program.interface import Edge, IoMode
from codegen.program.problem import NO_LIMIT_BYTES, Pool, Problem
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.cycle_costs import CycleCosts
from codegen.search.kernels.in_place import directed, permitted, replacing
from codegen.search.kernels.selection import select, sparing

_POOL = Pool(name=LOOP_WORKSPACE, region=LOOP_WORKSPACE, limit_bytes=NO_LIMIT_BYTES, alignment=1)
_EDGE = Edge(io=IoMode.CALLER)
_FAR = 1 << 30
"""Bytes beyond which nothing lies."""
_LITTLE = 8
"""Arguments and result of layers stay apart from their bytes where they are this part of them at most: where
they lie over each other, offsets are more code."""
_OWN = WorkspaceArg(name=LOOP_WORKSPACE)
_Within = tuple[tuple[PrimFunc, ...], PlacedIteration, tuple[WorkspaceSharing, ...]]
"""Inner steps, where all of them is, and how what has a place of its own may lie over that."""
Select = Callable[[Function], tuple[PrimFunc, ...]]
"""The kernels of the steps of a function."""


def binder_of(
    constants: Mapping[str, np.ndarray], target: Target, costs: CycleCosts | None, optimize: str
) -> Binder:
    """Binds steps, those of loops too, for what `optimize` asks for."""

    def chosen(function: Function) -> tuple[PrimFunc, ...]:
        binder = sparing(function, binder_of(constants, target, costs, optimize), optimize)
        return select(function, binder, optimize)

    return Binder(constants, target, costs, LoopKernel(chosen))


class LoopKernel(Kernel):
    """WHILE: a function of the model's own, which calls the kernels that `select` finds for an iteration."""

    op, name = "WHILE", "loop"

    def __init__(self, select: Select) -> None:
        self._select = select

    def refusal(self, let: Let, target: Target) -> str | None:
        """None: whether its steps have kernels shows when it is bound."""
        del let, target
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Raises CodegenError as `select` does of the steps."""
        del name
        function, nexts = _iteration(narrow(let.call.attrs, LoopAttrs))
        prims = replacing(function, permitted(self._select(function), "in-place"), _EDGE)
        kept = prims[: len(prims) - len(nexts)]
        return bind_loop(let, kept, _placed(let, function, prims, constants), nexts)


def _iteration(attrs: LoopAttrs) -> tuple[Function, tuple[Var, ...]]:
    """The steps of an iteration, and what the carried values become: each lies apart from all carried ones,
    so that they can be replaced one after the other."""
    function = attrs.function
    carried = {param.name for param in function.params[: attrs.carried]}
    makers = {let.var.name: let for let in function.body}
    copies: list[Let] = []
    nexts: list[Var] = []
    for param, after in zip(function.params, attrs.nexts, strict=False):
        assert isinstance(after, Var), "an importer refuses constants"
        if after != param and _root(after, makers) in carried:
            var = Var(name=f"{param.name}_next", type=after.type)
            copies.append(Let(var=var, call=Call(op=DEVICE_COPY, args=(after,), attrs=Attrs())))
            after = var
        nexts.append(after)
    body = (*function.body, *copies)
    # Results lie where the caller says, and these have to lie in the bytes of an iteration.
    lasts = tuple(
        Let(
            var=Var(name=f"{after.name}_kept{number}", type=after.type),
            call=Call(op=DEVICE_COPY, args=(after,), attrs=Attrs()),
        )
        for number, after in enumerate(nexts)
    )
    whole = Function(
        name=function.name,
        params=function.params,
        body=(*body, *lasts),
        results=tuple(let.var for let in lasts),
    )
    return whole, tuple(nexts)


def _root(var: Var, makers: Mapping[str, Let]) -> str:
    """The value whose bytes `var` may be."""
    while var.name in makers and makers[var.name].call.op.name in ("RESHAPE", "STRIDED_SLICE"):
        source = makers[var.name].call.args[0]
        if not isinstance(source, Var):
            break
        var = source
    return var.name


def _placed(
    let: Let, function: Function, prims: Sequence[PrimFunc], constants: Mapping[str, np.ndarray]
) -> PlacedIteration:
    """Carried values where the result has them, if that is aligned, else in front of all that an iteration
    needs by itself."""
    attrs = narrow(let.call.attrs, LoopAttrs)
    alignment = max(4, element_alignment(let), *(prim.argument_alignment for prim in prims))
    places, front_bytes = _carried(attrs, alignment)
    variables = [arg for arg in let.call.args if isinstance(arg, Var)]
    for index, (param, arg) in enumerate(zip(function.params, let.call.args, strict=False)):
        if index >= attrs.carried:
            assert arg in variables, "an importer takes constants in"
            places[param.name] = InnerPlace(base=ValueArg(index=index))
    _, found, _ = _within(function, prims, places, front_bytes, greedy_by_conflicts)
    firsts = {
        index: LinkedConstant(
            role=f"first{index}",
            data=np.array(constants[arg.id]).reshape(-1),
            alignment=element_alignment(let),
        )
        for index, arg in enumerate(let.call.args[: attrs.carried])
        if isinstance(arg, ConstRef)
    }
    return replace(found, alignment=alignment, firsts=firsts)


def _within(
    function: Function,
    prims: Sequence[PrimFunc],
    places: Mapping[str, InnerPlace],
    front_bytes: int,
    planner: Planner,
    edge: Edge = _EDGE,
    highest: str = "",
) -> _Within:
    """Inner steps, each in one direction, and where all of them is: what has no place yet lies behind the
    first bytes of the step's own. Of values that have a place, as far as they are planned with the others,
    how they lie over these bytes: argument i, or the result. Value `highest` is planned above all others."""
    live = liveness(
        prims,
        function,
        edge=edge,
        pool_candidates=lambda name, kind: (_POOL.name,),
        minimum_alignment=1,
    )
    problem = live.problem((_POOL,))
    plan = planner(_with_highest(problem, highest))
    buffers = [buffer for buffer in problem.buffers if buffer.id not in places]
    starts = {buffer.id: plan.placements[buffer.id].offset for buffer in buffers}
    base = min(starts.values(), default=0)
    ends = [starts[buffer.id] + buffer.size_bytes - base for buffer in buffers]
    offsets = {name: front_bytes + start - base for name, start in starts.items()}
    own = {
        name: InnerPlace(base=_OWN, offset_bytes=offsets[part.buffer] + part.offset_bytes)
        for name, part in live.slices.items()
        if part.buffer in offsets
    }
    placed = PlacedIteration(
        values=_with_views({**own, **places}, prims),
        workspaces={
            key: InnerPlace(base=_OWN, offset_bytes=offsets[id_]) for key, id_ in live.workspaces.items()
        },
        size_bytes=front_bytes + max(ends, default=0),
        alignment=max((buffer.alignment for buffer in buffers), default=1),
        firsts={},
    )
    return directed(prims, live.slices, plan), placed, tuple(_over(problem, places, offsets))


def _with_highest(problem: Problem, name: str) -> Problem:
    """The same where what is in conflict with buffer `name` lies below it."""
    far = sum(round_up(buffer.size_bytes, buffer.alignment) for buffer in problem.buffers)
    conflicts = (
        replace(
            each,
            first_below=far if each.first == name else each.first_below,
            second_below=far if each.second == name else each.second_below,
        )
        for each in problem.conflicts
    )
    return replace(problem, conflicts=tuple(conflicts))


def _over(
    problem: Problem, places: Mapping[str, InnerPlace], offsets: Mapping[str, int]
) -> Iterator[WorkspaceSharing]:
    """How values with places of their own may lie over bytes in which all else has these offsets."""
    for name, place in places.items():
        belows, aboves = [-_FAR], [-_FAR]
        for each in problem.conflicts:
            first, second = each.first_below, each.second_below
            if each.second == name and each.first in offsets:
                belows.append(second - offsets[each.first])
                aboves.append(first + offsets[each.first])
            elif each.first == name and each.second in offsets:
                belows.append(first - offsets[each.second])
                aboves.append(second + offsets[each.second])
        if any(buffer.id == name for buffer in problem.buffers):
            argument = place.base.index if isinstance(place.base, ValueArg) else None
            yield WorkspaceSharing(
                workspace=_OWN.name, argument=argument, below=max(belows), above=max(aboves)
            )


def layers_of(
    block: PrimFunc,
    prims: Sequence[PrimFunc],
    minimum_alignment: int,
    planner: Planner,
    *,
    is_given: bool,
) -> PrimFunc | None:
    """`block` at the size of its layers `prims`, which run one after the other in one of its workspaces. None
    where one of them works in the bytes of what the whole step is given, or wants bytes aligned further.
    `is_given`: an argument, or where the result goes, is the caller's."""
    let, result = block.let, prims[-1].let.var
    variables = [(index, arg) for index, arg in enumerate(let.call.args) if isinstance(arg, Var)]
    function = narrow(let.call.attrs, FusedAttrs).function
    types = {arg.name: arg for prim in prims for arg in prim.let.call.args if isinstance(arg, Var)}
    function = replace(
        function,
        params=tuple(types[param.name] for param in function.params),
        body=tuple(prim.let for prim in prims),
        results=(result,),
    )
    members = ties(function, prims).members()
    edges = {result.name, *(arg.name for _, arg in variables)}
    if any(len(names) > 1 and not edges.isdisjoint(names) for names in members.values()):
        return None
    places = {arg.name: InnerPlace(base=ValueArg(index=index)) for index, arg in variables}
    places[result.name] = InnerPlace(base=RESULT)
    found, placed, over = _within(function, prims, places, 0, planner)
    sizes = {name: types.get(name, result).type.size_bytes for name in places}
    if not is_given and sum(sizes.values()) * _LITTLE > placed.size_bytes:
        ways = (_within(function, prims, places, 0, planner, Edge(), each) for each in ("", *places))
        names = {None: result.name, **{index: arg.name for index, arg in variables}}
        found, placed, over = min(ways, key=lambda way: _all_bytes(way, names, sizes))
    is_aligned = placed.alignment <= max(most_aligned(block).alignment, minimum_alignment)
    if not is_aligned or any(prim.argument_alignment > block.argument_alignment for prim in prims):
        return None
    return bind_layers(block, result, found, placed, over)


def _all_bytes(way: _Within, names: Mapping[int | None, str], sizes: Mapping[str, int]) -> int:
    """Bytes of a plan and of what lies over them, as far as its rules let it: each as the nearest it may."""
    _, placed, over = way
    total = placed.size_bytes
    for rule in over:
        assert rule.below is not None and rule.above is not None
        end = rule.above + sizes[names[rule.argument]]
        total += min(max(rule.below, 0), max(end - placed.size_bytes, 0))
    return total


def _carried(attrs: LoopAttrs, alignment: int) -> tuple[dict[str, InnerPlace], int]:
    """Where carried values lie, and how many bytes of their own they take."""
    places: dict[str, InnerPlace] = {}
    at = 0
    for index in attrs.given:
        var = attrs.function.params[index]
        if at % alignment == 0:
            places[var.name] = InnerPlace(base=RESULT, offset_bytes=at)
        at += var.type.size_bytes
    front = 0
    for var in attrs.function.params[: attrs.carried]:
        if var.name not in places:
            places[var.name] = InnerPlace(base=_OWN, offset_bytes=front)
            front = round_up(front + var.type.size_bytes, alignment)
    return places, front


def _with_views(places: Mapping[str, InnerPlace], prims: Sequence[PrimFunc]) -> dict[str, InnerPlace]:
    """`places`, and views of what is not in the bytes of an iteration."""
    found = dict(places)
    for prim in prims:
        tied = prim.tied
        source = None if tied is None else prim.let.call.args[tied[0]]
        if prim.let.var.name not in found and tied is not None and isinstance(source, Var):
            place = found[source.name]
            found[prim.let.var.name] = InnerPlace(base=place.base, offset_bytes=place.offset_bytes + tied[1])
    return found
