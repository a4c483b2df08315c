"""Liveness of arguments that lie in the result which joins them; distances are worked out in the comments."""

from dataclasses import replace

import pytest

from codegen.ir import ConstRef, Var
from codegen.kernels.contract import Sharing, View
from codegen.kernels.primfunc import PrimFunc
from codegen.program.interface import IoMode
from tests.lifetimes.test_liveness import conflict, spans
from tests.plan.build import live, prim, var
from tests.tensor_types import tensor_type

X, A, B, C = var("x", 100), var("a", 60), var("b", 60), var("c", 10)


def joined(result: Var, *args: Var, indices: tuple[int, ...] | None = None) -> PrimFunc:
    """`result` is `args` side by side, those of `indices` (None: all) in its bytes."""
    step = prim(result, *args)
    every = tuple(range(len(args)))
    chosen = every if indices is None else indices
    return replace(step, joined=chosen, symbol="" if chosen == every else "probe")


def test_joined_arguments_are_born_in_the_result() -> None:
    # r is a (60), b (60), c (10). a is born in step 0, b in step 1, c in step 2.
    r, t = var("r", 130), var("t", 7)
    steps = [prim(A, X), prim(B, X), prim(C, t), joined(r, A, B, C), prim(var("end", 1), r)]
    found = live([X, t], steps, [steps[-1].let.var])
    assert spans(found) == {"x": (0, 2), "t": (0, 3), "r": (0, 5), "end": (4, 5)}
    assert {name: found.slices[name].offset_bytes for name in ("a", "b", "c", "r")} == {
        "a": 0,
        "b": 60,
        "c": 120,
        "r": 0,
    }
    # x is there with a and b: above both, where c will be, or below r. t is there with all three.
    assert conflict(found, "r", "x") == (120, 100)
    assert conflict(found, "r", "t") == (130, 7)


def test_a_joined_result_shares_with_its_argument_by_its_own_address() -> None:
    # b may start 5 bytes above x already, and lies 60 bytes into r; a is there too and stays below x.
    r = var("r", 120)
    rule = (Sharing(argument=0, below=-5),)
    steps = [prim(A, X), prim(B, X, sharing=rule), joined(r, A, B)]
    assert conflict(live([X], steps, [r]), "r", "x") == (60, 100)
    # b + -5 <= x is r + 60 - 5 <= x, less than the 60 bytes of a. The mirror: x + 100 <= r, for a's sake.
    alone = [
        prim(A, var("y", 3)),
        prim(B, X, sharing=(Sharing(argument=0, below=7, above=2),)),
        joined(r, B, A),
    ]
    found = live([X, var("y", 3)], [alone[1], alone[0], alone[2]], [r])
    # b is born first, x dies then: r + 0 + 7 <= x, or x + 2 <= r + 0.
    assert conflict(found, "r", "x") == (7, 2)


def test_joins_nest_and_take_views_along() -> None:
    v, r, outer, w = var("v", 60), var("r", 120), var("outer", 130), var("w", 30)
    steps = [
        prim(A, X),
        prim(v, A, view=View(argument=0)),
        prim(B, X),
        joined(r, B, v),
        prim(C, X),
        joined(outer, C, r),
        prim(w, outer, view=View(argument=0, offset_bytes=70)),
    ]
    found = live([X], steps, [w])
    offsets = {name: part.offset_bytes for name, part in found.slices.items() if part.buffer == "outer"}
    assert offsets == {"outer": 0, "c": 0, "r": 10, "b": 10, "v": 70, "a": 70, "w": 70}


def test_a_partly_joined_result_is_written_from_its_own_start() -> None:
    # b is joined, a copied in sub-step 1: x (read in step 1) dies before.
    r = var("r", 120)
    copy = replace(joined(r, A, B, indices=(1,)), sub_steps=2, result_start=1, argument_stops=(2, 2))
    found = live([X], [prim(A, X), prim(B, X), copy], [r])
    assert spans(found) == {"x": (0, 2), "a": (0, 4), "r": (1, 4)}
    # a is there with b, and with all of r while it is copied.
    assert conflict(found, "r", "a") == (120, 60)
    assert conflict(found, "r", "x") == (120, 40)


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("part", "v is not all of the bytes of a, it cannot be joined"),
        ("two joins", "a is not all of the bytes of r, it cannot be joined"),
        ("alignment", "b: at byte 10 of r, needs alignment 4"),
        ("device", "share bytes, but memory scope is"),
    ],
)
def test_what_cannot_be_joined(case: str, text: str) -> None:
    v, r, other = var("v", 30), var("r", 70), var("other", 70)
    far = var("far", 60, scope="ccm")
    steps, result = {
        "part": ([prim(A, X), prim(v, A, view=View(argument=0)), prim(B, X)], joined(var("s", 90), v, B)),
        "two joins": ([prim(A, X), prim(C, X), joined(r, A, C)], joined(other, C, A, indices=(1,))),
        "alignment": ([prim(C, X), prim(B, X, alignment=4)], joined(r, C, B)),
        "device": ([prim(C, X), prim(far, X)], joined(var("s", 70, scope="sram"), C, far)),
    }[case]
    with pytest.raises(ValueError, match=text):
        live([X], [*steps, result], [result.let.var], pools=("sram", "ccm"))


@pytest.mark.parametrize("indices", [(0, 1), (0,), (1,)])
def test_nothing_is_joined_in_bytes_of_the_caller(indices: tuple[int, ...]) -> None:
    r = var("r", 160)
    steps = [prim(A, X), joined(r, X, A, indices=indices), prim(C, r)]
    # The input may not be joined, nor an output, nor anything in an output.
    for results in ([A], [r, C]):
        live([X], steps, results)
        if 0 in indices or r in results:
            with pytest.raises(ValueError, match="r: joins its arguments in bytes of the caller"):
                live([X], steps, results, io=IoMode.CALLER)
    if indices == (1,):
        assert set(live([X], steps, [C], io=IoMode.CALLER).slices) == {"a", "r"}


def test_joined_arguments_are_run_time_values_passed_once() -> None:
    constant = ConstRef(id="c0", type=tensor_type((60,)))
    r = var("r", 120)
    with pytest.raises(ValueError, match="argument 0 cannot lie"):
        replace(prim(r, constant, A), joined=(0,))
    with pytest.raises(ValueError, match="argument 1 cannot lie"):
        replace(prim(r, A, A), joined=(1,))
    with pytest.raises(ValueError, match="side by side are not as large"):
        replace(prim(r, A, C), joined=(0,))
    with pytest.raises(ValueError, match="in order, once each"):
        replace(prim(r, A, B), joined=(1, 0), symbol="")
    with pytest.raises(ValueError, match="calls a symbol unless"):
        replace(prim(r, A, B), joined=(0, 1))
    with pytest.raises(ValueError, match="in no other way"):
        replace(prim(r, A, B, sharing=(Sharing(argument=0, below=0),)), joined=(1,))
