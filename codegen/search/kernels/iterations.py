"""Kernels and bytes of a loop: those of one iteration, chosen and planned once, as one step."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from codegen.constants.merging import round_up
from codegen.ir import Call, ConstRef, Function, Let, Target, Var
from codegen.ir.ops import DEVICE_COPY, LOOP, Attrs, LoopAttrs, ReshapeAttrs, StridedSliceAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import element_alignment
from codegen.kernels.base.registry import Kernel
from codegen.kernels.call import RESULT, ValueArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.loop import LOOP_WORKSPACE, InnerPlace
from codegen.kernels.looped import PlacedIteration, bind_loop
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.liveness import liveness
from codegen.plan.place.placing import greedy_by_conflicts
from codegen.problem.problem import NO_LIMIT_BYTES, Pool, peak_bytes
from codegen.program.interface import Edge, IoMode
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.cycle_costs import CycleCosts
from codegen.search.kernels.in_place import permitted, replacing
from codegen.search.kernels.selection import select, sparing

_POOL = Pool(name=LOOP_WORKSPACE, region=LOOP_WORKSPACE, limit_bytes=NO_LIMIT_BYTES, alignment=1)
_EDGE = Edge(io=IoMode.CALLER)
_OWN = WorkspaceArg(name=LOOP_WORKSPACE)
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

    op, name = LOOP.name, "loop"

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
    while var.name in makers and isinstance(makers[var.name].call.attrs, ReshapeAttrs | StridedSliceAttrs):
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
    live = liveness(
        prims,
        function,
        edge=_EDGE,
        pool_candidates=lambda name, kind: (_POOL.name,),
        minimum_alignment=1,
    )
    problem = live.problem((_POOL,))
    plan = greedy_by_conflicts(problem)
    offsets = {id_: front_bytes + place.offset for id_, place in plan.placements.items()}
    for name, part in live.slices.items():
        place = InnerPlace(base=_OWN, offset_bytes=offsets[part.buffer] + part.offset_bytes)
        places.setdefault(name, place)
    return PlacedIteration(
        values=_with_views(places, prims),
        workspaces={
            key: InnerPlace(base=_OWN, offset_bytes=offsets[part.buffer] + part.offset_bytes)
            for key, part in live.workspaces.items()
        },
        size_bytes=front_bytes + peak_bytes(problem, plan, _POOL.name),
        alignment=alignment,
        firsts={
            index: LinkedConstant(
                role=f"first{index}",
                is_plain=True,
                data=np.array(constants[arg.id]).reshape(-1),
                alignment=element_alignment(let),
            )
            for index, arg in enumerate(let.call.args[: attrs.carried])
            if isinstance(arg, ConstRef)
        },
    )


def _carried(attrs: LoopAttrs, alignment: int) -> tuple[dict[str, InnerPlace], int]:
    """Places of carried values, and how many bytes of their own they take."""
    places: dict[str, InnerPlace] = {}
    at = 0
    for index in attrs.returned:
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
    with_views = dict(places)
    for prim in prims:
        tied = prim.tied
        source = None if tied is None else prim.let.call.args[tied[0]]
        if prim.let.var.name not in with_views and tied is not None and isinstance(source, Var):
            place = with_views[source.name]
            with_views[prim.let.var.name] = InnerPlace(
                base=place.base, offset_bytes=place.offset_bytes + tied[1]
            )
    return with_views
