"""Random functions over three memories, and what brute force says about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product

from hypothesis import strategies as st

from codegen.ir import Call, Function, Let, Var, VirtualDevice
from codegen.ir.operator import Attrs
from codegen.ir.ops import DEVICE_COPY
from codegen.kernels.contract import MemoryDemand, View
from codegen.kernels.portable.inserted import DEVICE_COPY_KERNEL
from codegen.kernels.primfunc import PrimFunc
from codegen.search.devices.offers import BoardOffer, Owners
from tests.plan.build import function, prim, var

POOLS = ("a", "b", "c")
OUTSIDE = "outside"
OFFER = BoardOffer(
    name="probe",
    pools=POOLS,
    dma_pools=("b", "c"),
    constants=("flash",),
    dma_constants=True,
    core=VirtualDevice(target="core", device_id=0),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """A function with demands. `owners` as `plan_devices` takes them."""

    function: Function
    prims: tuple[PrimFunc, ...]
    owners: Owners


@st.composite
def given_functions(draw: st.DrawFn, *, copies: bool = True) -> Given:
    """Up to five steps: calls, views and (with `copies`) copies that are there already; scopes on some
    values, demands of some kernels, inputs and results sometimes the caller's."""
    params = [_variable(draw, f"in{i}") for i in range(draw(st.integers(1, 2)))]
    values, prims = list(params), list[PrimFunc]()
    for step in range(draw(st.integers(1, 5))):
        source = draw(st.sampled_from(values))
        kind = draw(st.sampled_from(["call", "call", "call", "view", "copy" if copies else "call"]))
        made = _variable(draw, f"v{step}")
        if kind == "view":
            prims.append(prim(made, source, view=View(argument=0)))
        elif kind == "copy":
            let = Let(var=made, call=Call(op=DEVICE_COPY, args=(source,), attrs=Attrs()))
            prims.append(DEVICE_COPY_KERNEL.bind(let, {}, made.name))
        else:
            args = [source, *draw(st.lists(st.sampled_from(values), max_size=2))]
            prims.append(prim(made, *args, memory=tuple(_demands(draw, len(args)))))
        values.append(made)
    results = draw(st.lists(st.sampled_from(values), min_size=1, max_size=2))
    callers = draw(st.sampled_from([False, False, False, True]))
    inputs = frozenset(p.name for p in params) if callers else frozenset[str]()
    owners = Owners(inputs=inputs, owns_results=callers)
    return Given(function=function(params, prims, results), prims=tuple(prims), owners=owners)


def _variable(draw: st.DrawFn, name: str) -> Var:
    return var(name, 4, scope=draw(st.sampled_from([None, None, *POOLS])))


def _demands(draw: st.DrawFn, arity: int) -> list[MemoryDemand]:
    found: list[MemoryDemand] = []
    for argument in (*range(arity), None):
        scopes = draw(st.sampled_from([(), (), ("a",), ("c",), ("a", "b"), ("dma",)]))
        if scopes:
            found.append(MemoryDemand(scopes=scopes, argument=argument))
    return found


def _wanted(prim_: PrimFunc, argument: int | None) -> set[str] | None:
    """Pools that a kernel demands, with the word for DMA spelled out."""
    for demand in prim_.memory:
        if demand.argument == argument:
            return set(chain.from_iterable(("b", "c") if s == "dma" else (s,) for s in demand.scopes))
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Task:
    """What has to hold, without the copies that are there: `content` of every value that stays."""

    content: Mapping[str, str]
    bound: Sequence[tuple[str, set[str]]]
    uses: Sequence[tuple[str, set[str]]]
    results: frozenset[str]


def fewest_copies(given: Given) -> int | None:
    """The least number of copies with which everything is where it should be; None: there is no way."""
    task = _task(given)
    names = list(task.content)
    memories = (*POOLS, OUTSIDE)
    best: int | None = None
    for choice in product(memories, repeat=len(names)):
        home = dict(zip(names, choice, strict=True))
        if any(home[name] != home[task.content[name]] for name in names):
            continue
        if any(home[name] not in pools for name, pools in task.bound):
            continue
        outside = {task.content[n] for n in names if home[n] == OUTSIDE}
        if not outside <= {
            task.content[n] for n in (*given.owners.inputs, *task.results) if n in task.content
        }:
            continue
        count = sum(
            _least(home[c], [pools for name, pools in task.uses if task.content[name] == c])
            for c in set(task.content.values())
        )
        best = count if best is None else min(best, count)
    return best


def _least(home: str, wanted: Sequence[set[str]]) -> int:
    memories = [m for m in (*POOLS, OUTSIDE) if m != home]
    for size in range(len(memories) + 1):
        for others in combinations(memories, size):
            if all(pools & {home, *others} for pools in wanted):
                return size
    raise AssertionError("every use can be served somewhere")


def _task(given: Given) -> _Task:
    content = {param.name: param.name for param in given.function.params}
    stands: dict[str, tuple[str, str | None]] = {}
    """Copies and views of them: the value they are of, and the memory they are for."""
    bound = [(p.name, {p.device.memory_scope}) for p in given.function.params if p.device.memory_scope]
    bound += [(name, {OUTSIDE}) for name in given.owners.inputs]
    uses: list[tuple[str, set[str]]] = []

    def read(name: str, demand: set[str] | None) -> None:
        base, wish = stands.get(name, (name, None))
        if wish is not None and (demand is None or wish in demand):
            demand = {wish}
        if demand is not None:
            uses.append((base, demand))

    for each in given.prims:
        let, scope = each.let, each.let.var.device.memory_scope
        args = [arg for arg in let.call.args if isinstance(arg, Var)]
        copy = let.call.op is DEVICE_COPY
        if copy or (each.view is not None and args[0].name in stands):
            base, wish = stands.get(args[0].name, (args[0].name, None))
            stands[let.var.name] = (base, scope or wish)
            continue
        content[let.var.name] = content[args[0].name] if each.view is not None else let.var.name
        if scope:
            bound.append((let.var.name, {scope}))
        demand = _wanted(each, None)
        if demand is not None:
            bound.append((let.var.name, demand))
        for index, arg in enumerate(args if each.view is None else []):
            read(arg.name, _wanted(each, index))
    results = [result.name for result in given.function.results if isinstance(result, Var)]
    for name in results:
        read(name, {OUTSIDE} if given.owners.owns_results else None)
    wanted = frozenset(results) if given.owners.owns_results else frozenset[str]()
    return _Task(content=content, bound=bound, uses=uses, results=wanted)
