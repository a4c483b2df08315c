"""Schedules of functions: what the order search sees is what liveness and its bound see."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.ir import ConstRef, Function, Var
from codegen.kernels.contract import Sharing, View, Workspace
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.order.order_graph import OrderLimits
from codegen.plan.place.bounds import lower_bound
from codegen.plan.place.hill_climb import hill_climb
from codegen.problem.problem import peak_bytes
from codegen.program.interface import Edge, IoMode
from codegen.search.steps.schedule import Scheduled, order_graph, schedule
from tests.plan.build import POOL, function, live, prim, var
from tests.plan.order.order_files import order_peak
from tests.sampling import examples
from tests.tensor_types import tensor_type

X, BIG0, BIG1 = var("x", 10), var("big0", 100), var("big1", 100)
SMALL0, SMALL1, JOIN = var("small0", 1), var("small1", 1), var("join", 1)


def branchy() -> tuple[Function, list[PrimFunc]]:
    """Both big values first, as a file might list them."""
    prims = [prim(BIG0, X), prim(BIG1, X), prim(SMALL0, BIG0), prim(SMALL1, BIG1), prim(JOIN, SMALL0, SMALL1)]
    return function([X], prims, [JOIN]), prims


def scheduled(
    found: Function, prims: list[PrimFunc], *, io: IoMode = IoMode.POOL, keep_inputs: bool = False
) -> Scheduled:
    return schedule(found, prims, mode="optimal", edge=Edge(io=io, kept=keep_inputs))


def test_branches_are_finished_one_by_one() -> None:
    # File: x, big0, big1 = 210. Best: x, a big and a small one = 111.
    found = scheduled(*branchy())
    assert found.reordered
    assert (found.result.file_peak_bytes, found.result.peak_bytes, found.result.proved) == (210, 111, True)
    names = [let.var.name for let in found.function.body]
    assert names in (
        ["big0", "small0", "big1", "small1", "join"],
        ["big1", "small1", "big0", "small0", "join"],
    )
    assert [p.name for p in found.prim_funcs] == names
    assert all(p.let is let for p, let in zip(found.prim_funcs, found.function.body, strict=True))
    problem = live([X], found.prim_funcs, [JOIN]).problem([POOL])
    # Order and placement are one certificate: the plan's peak is the bound over all orders.
    assert peak_bytes(problem, hill_climb(problem), "sram") == found.result.lower_bound_bytes


def test_what_the_caller_owns_has_no_bytes_here() -> None:
    # Without x (10) and join (1): big and small, then small, big and small = 102 in the second branch.
    assert scheduled(*branchy(), io=IoMode.CALLER).result.peak_bytes == 102


def test_inputs_that_are_kept() -> None:
    # x stays: x, small0, big1, small1 = 112.
    assert scheduled(*branchy(), keep_inputs=True).result.peak_bytes == 112


def test_file_mode_moves_nothing() -> None:
    given_function, prims = branchy()
    found = schedule(given_function, prims, mode="file", edge=Edge())
    assert found.function is given_function
    assert found.prim_funcs == tuple(prims)
    assert (found.result.peak_bytes, found.result.proved, found.result.states) == (210, False, 0)
    assert not found.reordered


def test_an_order_that_is_best_already_stays() -> None:
    a, b = var("a", 60), var("b", 70)
    prims = [prim(a, X), prim(b, a)]
    given_function = function([X], prims, [b])
    found = scheduled(given_function, prims)
    assert found.function is given_function
    assert (found.result.peak_bytes, found.result.proved, found.reordered) == (130, True, False)


def test_in_place_lowers_the_peak_only_where_the_argument_dies() -> None:
    # relu may lie in x's bytes only after side has read x. File: relu while x lives = 200, then side.
    x, relu, side, end = var("x", 100), var("relu", 100), var("side", 20), var("end", 1)
    in_place = (Sharing(argument=0, below=0, above=0),)
    prims = [prim(relu, x, sharing=in_place), prim(side, x), prim(end, relu, side)]
    found = scheduled(function([x], prims, [end]), prims)
    assert (found.result.file_peak_bytes, found.result.peak_bytes, found.result.proved) == (220, 121, True)
    assert [p.name for p in found.prim_funcs] == ["side", "relu", "end"]


def test_a_view_keeps_its_argument_and_follows_it() -> None:
    # v lies in a (100): a lives until c has read v. File: a, b; best: c before b, a dies, then b alone.
    a, v, b, c, end = var("a", 100), var("v", 40), var("b", 80), var("c", 5), var("end", 1)
    prims = [
        prim(a, X),
        prim(v, a, view=View(argument=0, offset_bytes=60)),
        prim(b),
        prim(c, v),
        prim(end, b, c),
    ]
    found = scheduled(function([X], prims, [end]), prims)
    # File: a + b + c = 185. Best: x + a = 110, a + c = 105, c + b + end = 86.
    assert (found.result.file_peak_bytes, found.result.peak_bytes, found.result.proved) == (185, 110, True)


def test_a_view_keeps_what_it_is_a_part_of() -> None:
    """The result may lie in the last byte of a. A view of a's first byte is read beside it, and keeps all of
    a: the graph took the view for one byte, and told a peak that no plan has."""
    a, v, end = var("a", 2), var("v", 1), var("end", 1)
    in_place = (Sharing(argument=0, below=None, above=0),)
    prims = [
        prim(a, X),
        prim(v, a, view=View(argument=0)),
        prim(end, a, v, sharing=in_place, workspaces=(Workspace(name="w", size_bytes=9, start=0, stop=1),)),
    ]
    problem = live([X], prims, [end]).problem([POOL])
    assert scheduled(function([X], prims, [end]), prims).result.peak_bytes == lower_bound(problem).bytes == 12


def test_refusals() -> None:
    given_function, prims = branchy()
    with pytest.raises(ValueError, match="not the steps"):
        scheduled(given_function, prims[1:])
    constant = ConstRef(id="c0", type=tensor_type((10,)))
    view = prim(var("v", 5), constant, view=View(argument=0))
    with pytest.raises(ValueError, match="folded"):
        scheduled(function([X], [view], [X]), [view])


@st.composite
def functions(draw: st.DrawFn, *, most_shared: int = 1) -> tuple[list[Var], list[PrimFunc], list[Var]]:
    """Steps with sub-steps, workspaces, views and at most `most_shared` sharing rules each."""
    size = st.integers(1, 12)
    params = [var(f"x{i}", draw(size)) for i in range(draw(st.integers(1, 2)))]
    known = list(params)
    prims: list[PrimFunc] = []
    for step in range(draw(st.integers(1, 6))):
        name = f"v{step}"
        args = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))
        if draw(st.integers(0, 4)) == 0:
            offset = draw(st.integers(0, args[0].type.size_bytes - 1))
            result = var(name, draw(st.integers(1, args[0].type.size_bytes - offset)))
            prims.append(prim(result, args[0], view=View(argument=0, offset_bytes=offset)))
        else:
            result = var(name, draw(size))
            prims.append(draw(kernels(result, args, most_shared)))
        known.append(result)
    results = draw(st.lists(st.sampled_from(known), min_size=1, max_size=2, unique_by=lambda v: v.name))
    return params, prims, results


@st.composite
def kernels(draw: st.DrawFn, result: Var, args: list[Var], most_shared: int) -> PrimFunc:
    sub_steps = draw(st.integers(1, 3))
    workspaces: list[Workspace] = []
    for number in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, sub_steps - 1))
        stop = draw(st.integers(start + 1, sub_steps))
        workspaces.append(
            Workspace(name=f"w{number}", size_bytes=draw(st.integers(1, 6)), start=start, stop=stop)
        )
    distance = st.none() | st.integers(-4, 12)
    indices = draw(st.lists(st.integers(0, len(args) - 1), max_size=most_shared, unique=True))
    sharing = tuple(Sharing(argument=i, below=draw(distance), above=draw(distance)) for i in sorted(indices))
    return prim(
        result,
        *args,
        sub_steps=sub_steps,
        argument_stops=tuple(draw(st.integers(1, sub_steps)) for _ in args),
        result_start=draw(st.integers(0, sub_steps - 1)),
        workspaces=tuple(workspaces),
        sharing=sharing,
    )


@settings(max_examples=examples(300, 6), deadline=None)
@given(functions(), st.booleans())
def test_peaks_are_the_bound_that_planning_uses(
    made: tuple[list[Var], list[PrimFunc], list[Var]], keep_inputs: bool
) -> None:
    params, prims, results = made
    given_function = function(params, prims, results)
    found = scheduled(given_function, prims, keep_inputs=keep_inputs)
    for prim_funcs, peak in (
        (prims, found.result.file_peak_bytes),
        (found.prim_funcs, found.result.peak_bytes),
    ):
        problem = live(params, prim_funcs, results, keep_inputs=keep_inputs).problem([POOL])
        assert lower_bound(problem).bytes == peak
    assert found.result.proved
    assert {let.var.name for let in found.function.body} == {let.var.name for let in given_function.body}


@settings(max_examples=examples(150), deadline=None)
@given(functions(most_shared=3))
def test_with_several_sharing_arguments_the_bound_is_at_least_as_tight_and_holds(
    made: tuple[list[Var], list[PrimFunc], list[Var]],
) -> None:
    params, prims, results = made
    found = scheduled(function(params, prims, results), prims)
    problem = live(params, found.prim_funcs, results).problem([POOL])
    plan = hill_climb(problem)
    assert lower_bound(problem).bytes <= found.result.peak_bytes <= peak_bytes(problem, plan, "sram")


@settings(max_examples=examples(60), deadline=None)
@given(functions())
def test_names_do_not_matter(made: tuple[list[Var], list[PrimFunc], list[Var]]) -> None:
    params, prims, results = made

    def renamed(value: Var) -> Var:
        return replace(value, name=f"z_{value.name[::-1]}")

    def renamed_prim(old: PrimFunc) -> PrimFunc:
        args = tuple(renamed(a) if isinstance(a, Var) else a for a in old.let.call.args)
        let = replace(old.let, var=renamed(old.let.var), call=replace(old.let.call, args=args))
        return replace(old, name=let.var.name, let=let)

    others = [renamed_prim(p) for p in prims]
    found = scheduled(function(params, prims, results), prims)
    other = scheduled(function([renamed(p) for p in params], others, [renamed(r) for r in results]), others)
    assert found.result == other.result


def test_limits_are_passed_on() -> None:
    given_function, prims = branchy()
    limits = OrderLimits(states=0, beam_width=0)
    found = schedule(given_function, prims, mode="optimal", edge=Edge(), limits=limits)
    assert (found.result.peak_bytes, found.result.proved) == (210, False)
    assert order_peak(order_graph(given_function, prims, edge=Edge()), range(5)) == 210
