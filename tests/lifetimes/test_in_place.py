"""Results that replace an argument: when that may be, what liveness and the checkers make of it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from codegen.ir import Function, Var
from codegen.kernels.contract import View
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes import ties as sharing
from codegen.lifetimes.liveness import Liveness
from codegen.lifetimes.ties import Ties, may_replace, ties
from codegen.plan.place.placing import greedy_by_size
from codegen.problem.problem import peak_bytes
from codegen.program.interface import Edge, IoMode
from codegen.program.program import BufferSlice
from tests.lifetimes.execution import Case
from tests.plan.build import POOL, function, live, placed, prim, var

X, A, B, C = var("x", 100), var("a", 100), var("b", 100), var("c", 10)


def over(result: Var, *args: Var) -> PrimFunc:
    return replace(prim(result, *args), in_place=0)


def case_of(prims: list[PrimFunc], results: list[Var], found: Liveness) -> Case:
    problem = found.problem([POOL])
    return Case(
        function=function([X], prims, results),
        prim_funcs=tuple(prims),
        slices=found.slices,
        workspaces=found.workspaces,
        problem=problem,
        plan=greedy_by_size(problem),
        edge=Edge(),
    )


def test_argument_and_result_are_one_buffer() -> None:
    prims = [prim(A, X), over(B, A), prim(C, B)]
    found = live([X], prims, [C])
    assert found.slices["b"] == BufferSlice(buffer="a", offset_bytes=0, size_bytes=100)
    assert {b.id: (b.start, b.stop) for b in found.buffers} == {"x": (0, 1), "a": (0, 3), "c": (2, 3)}
    case = case_of(prims, [C], found)
    assert case.checked() == []
    assert case.harm() == []
    assert peak_bytes(case.problem, case.plan, "sram") == 200


@pytest.mark.parametrize(
    ("prims", "results", "keep", "legal"),
    [
        ([prim(A, X), over(B, A), prim(C, B)], [C], False, True),
        ([prim(A, X), over(B, A), prim(C, A)], [B, C], False, False),
        ([prim(A, X), over(B, A), prim(C, B)], [A, C], False, False),
        ([over(A, X), over(B, A), prim(C, B)], [C], False, True),
        ([over(A, X), over(B, A), prim(C, B)], [C], True, False),
        # A view of the argument that is read later, and one that is not.
        ([prim(A, X), prim(C, A, view=View(argument=0)), over(B, A)], [B, C], False, False),
        ([prim(A, X), prim(C, A, view=View(argument=0)), over(B, A)], [B], False, True),
    ],
)
def test_only_what_nobody_reads_later(
    prims: list[PrimFunc], results: list[Var], keep: bool, legal: bool
) -> None:
    step = next(i for i, p in enumerate(prims) if p.in_place is not None)
    assert may_replace(function([X], prims, results), prims, step, edge=Edge(kept=keep)) is legal
    if legal:
        live([X], prims, results, keep_inputs=keep)
    else:
        with pytest.raises(ValueError, match="the argument it replaces is needed later"):
            live([X], prims, results, keep_inputs=keep)


def test_a_view_of_other_bytes_does_not_matter() -> None:
    """b replaces the first half of x while somebody still needs the second."""
    first, second, b = var("first", 50), var("second", 50), var("b", 50)
    prims = [
        prim(first, X, view=View(argument=0)),
        prim(second, X, view=View(argument=0, offset_bytes=50)),
        over(b, first),
        prim(C, b, second),
    ]
    found = live([X], prims, [C])
    assert found.slices["b"] == BufferSlice(buffer="x", offset_bytes=0, size_bytes=50)
    case = case_of(prims, [C], found)
    assert case.checked() == []
    assert case.harm() == []


def test_the_program_checker_sees_later_reads_by_itself() -> None:
    """With slices as liveness would make them, were it not to refuse."""
    prims = [prim(A, X), over(B, A), prim(C, B)]
    case = case_of(prims, [C], live([X], prims, [C]))
    late = [*prims[:2], prim(C, A)]
    wrong = replace(case, function=function([X], late, [C]), prim_funcs=tuple(late))
    assert wrong.replayed()[0] == (
        'step 2 PROBE "c": 100 bytes of argument a (pool sram, from byte '
        f"{case.plan.placements['a'].offset}) belong to b by then"
    )
    assert wrong.harm() != []


def test_the_program_checker_wants_it_in_place() -> None:
    prims = [prim(A, X), over(B, A), prim(C, B)]
    case = case_of(prims, [C], live([X], prims, [C]))
    problem = replace(case.problem, buffers=tuple(replace(b, size_bytes=101) for b in case.problem.buffers))
    slices = {**case.slices, "b": BufferSlice(buffer="a", offset_bytes=1, size_bytes=100)}
    wrong = replace(case, slices=slices, problem=problem, plan=placed(x=0, a=200, c=400))
    texts = wrong.replayed()
    assert (
        texts[0]
        == 'step 1 PROBE "b": in-place result b lies at byte 201 of pool sram, its bytes at 200 of sram'
    )
    assert wrong.harm() != []


def test_the_callers_input_is_not_replaced() -> None:
    prims = [over(A, X), prim(C, A)]
    with pytest.raises(ValueError, match="needed later"):
        live([X], prims, [C], io=IoMode.CALLER)


def test_a_prim_func_that_cannot_replace() -> None:
    with pytest.raises(ValueError, match="not as large"):
        over(C, X)
    with pytest.raises(ValueError, match="another argument too"):
        over(A, X, X)


def test_a_chain_of_replacements_is_tied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every step that replaces its argument tied all steps in front of it anew: 600 of them took seconds."""
    count = 0

    def counted(function: Function, prim_funcs: Sequence[PrimFunc]) -> Ties:
        nonlocal count
        count += 1
        return ties(function, prim_funcs)

    monkeypatch.setattr(sharing, "ties", counted)
    values = [X, *(var(f"v{index}", 100) for index in range(40))]
    prims = [over(result, value) for value, result in pairwise(values)]
    found = live([X], prims, [values[-1]])
    assert {part.buffer for part in found.slices.values()} == {"x"}
    assert count == 1
