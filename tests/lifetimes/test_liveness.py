"""Liveness on hand-made functions; expected intervals and distances are worked out in the comments."""

import pytest

from codegen.errors import CodegenError
from codegen.ir import ConstRef, DType
from codegen.kernels.contract import Sharing, View, Workspace
from codegen.lifetimes.liveness import Liveness, liveness
from codegen.problem.problem import BufferKind, Conflict
from codegen.program.interface import Edge, IoMode
from codegen.program.program import BufferSlice
from tests.plan.build import POOL, function, live, prim, var
from tests.tensor_types import tensor_type


def spans(found: Liveness) -> dict[str, tuple[int, int]]:
    return {b.id: (b.start, b.stop) for b in found.buffers}


def conflict(found: Liveness, first: str, second: str) -> tuple[int, int] | None:
    """Distances (first below second, second below first), or None where the pair may share everything."""
    for item in found.conflicts:
        if (item.first, item.second) == (first, second):
            return item.first_below, item.second_below
        if (item.first, item.second) == (second, first):
            return item.second_below, item.first_below
    return None


X, A, B, C = var("x", 100), var("a", 60), var("b", 60), var("c", 10)


def chain() -> Liveness:
    return live([X], [prim(A, X), prim(B, A), prim(C, B)], [C])


def test_chain() -> None:
    found = chain()
    assert spans(found) == {"x": (0, 1), "a": (0, 2), "b": (1, 3), "c": (2, 3)}
    assert found.times == ((0, 1), (1, 2), (2, 3))
    assert conflict(found, "x", "a") == (100, 60)
    assert conflict(found, "x", "b") is None
    assert conflict(found, "a", "c") is None
    assert found.slices["a"] == BufferSlice(buffer="a", offset_bytes=0, size_bytes=60)
    assert [b.kind for b in found.buffers] == [
        BufferKind.IO,
        BufferKind.ACTIVATION,
        BufferKind.ACTIVATION,
        BufferKind.IO,
    ]


def test_values_are_read_again_later() -> None:
    # a is read by steps 1 and 2, so it lives through step 2 = [2, 3).
    found = live([X], [prim(A, X), prim(B, A), prim(C, B, A)], [C])
    assert spans(found)["a"] == (0, 3)


def test_a_result_nobody_reads_lives_while_it_is_written() -> None:
    found = live([X], [prim(A, X), prim(B, X, sub_steps=2), prim(C, X)], [C])
    assert spans(found)["a"] == (0, 1)
    assert spans(found)["b"] == (1, 3)


def test_results_live_to_the_end_and_inputs_if_kept() -> None:
    steps = [prim(A, X), prim(B, A), prim(C, B)]
    found = live([X], steps, [A, C], keep_inputs=True)
    assert spans(found)["a"] == (0, 3)
    assert spans(found)["x"] == (0, 3)


def test_an_input_nobody_reads_lies_beside_the_others() -> None:
    unread = var("unread", 8)
    found = live([X, unread], [prim(A, X)], [A])
    assert spans(found)["unread"] == (0, 1)
    assert conflict(found, "x", "unread") == (100, 8)


def test_no_steps() -> None:
    found = live([X], [], [X])
    assert spans(found) == {"x": (0, 1)}
    assert found.times == ()


def test_sub_steps() -> None:
    # Step 1 takes [1, 5): its argument is read up to sub-step 2, the result written from 3 on, one workspace
    # lives in sub-steps [0, 2), another in [1, 4).
    early = Workspace(name="early", size_bytes=32, alignment=8, start=0, stop=2)
    late = Workspace(name="late", size_bytes=16, start=1, stop=4)
    step = prim(B, A, sub_steps=4, argument_stops=(2,), result_start=3, workspaces=(early, late))
    found = live([X], [prim(A, X), step, prim(C, B)], [C])
    assert found.times == ((0, 1), (1, 5), (5, 6))
    assert spans(found) == {
        "x": (0, 1),
        "a": (0, 3),
        "b": (4, 6),
        "c": (5, 6),
        "b.early": (1, 3),
        "b.late": (2, 5),
    }
    assert conflict(found, "a", "b") is None
    assert conflict(found, "b.early", "b") is None
    assert conflict(found, "b.late", "b") == (16, 60)
    assert conflict(found, "b.early", "a") == (32, 60)
    assert {key: part.buffer for key, part in found.workspaces.items()} == {
        ("b", "early"): "b.early",
        ("b", "late"): "b.late",
    }
    kinds = {b.id: (b.kind, b.alignment) for b in found.buffers}
    assert kinds["b.early"] == (BufferKind.WORKSPACE, 8)
    assert kinds["b.late"] == (BufferKind.WORKSPACE, 4)


def test_views_are_one_buffer() -> None:
    # v is bytes 40..59 of a, w bytes 50..59 (a view of a view); w is read in step 4.
    v, w = var("v", 20), var("w", 10)
    steps = [
        prim(A, X),
        prim(v, A, view=View(argument=0, offset_bytes=40)),
        prim(w, v, view=View(argument=0, offset_bytes=10)),
        prim(B, X),
        prim(C, w),
    ]
    found = live([X], steps, [C])
    assert spans(found) == {"x": (0, 4), "a": (0, 5), "b": (3, 4), "c": (4, 5)}
    assert found.slices["v"] == BufferSlice(buffer="a", offset_bytes=40, size_bytes=20)
    assert found.slices["w"] == BufferSlice(buffer="a", offset_bytes=50, size_bytes=10)


def test_view_errors() -> None:
    v = var("v", 30)
    with pytest.raises(ValueError, match="leaves the bytes"):
        live([X], [prim(A, X), prim(v, A, view=View(argument=0, offset_bytes=40))], [v])
    constant = ConstRef(id="c0", type=tensor_type((30,)))
    with pytest.raises(ValueError, match="view of a constant"):
        live([X], [prim(v, constant, view=View(argument=0))], [v])
    with pytest.raises(ValueError, match="needs alignment 4"):
        live(
            [X],
            [prim(A, X), prim(v, A, view=View(argument=0, offset_bytes=2)), prim(B, v, alignment=4)],
            [B],
        )


def test_alignment_is_the_most_anyone_asks() -> None:
    floats = var("floats", 4, DType.FLOAT32)
    v = var("v", 20)
    steps = [
        prim(A, X, alignment=2),
        prim(v, A, view=View(argument=0, offset_bytes=16)),
        prim(B, v, alignment=16),
        prim(floats, B),
    ]
    found = live([X], steps, [floats])
    # x: step 0 asks 2. a: the view of it asks 16 at offset 16. b: its own step. floats: its dtype.
    assert {b.id: b.alignment for b in found.buffers} == {"x": 2, "a": 16, "b": 16, "floats": 4}
    found = live([X], steps, [floats], minimum_alignment=8)
    assert {b.id: b.alignment for b in found.buffers} == {"x": 8, "a": 16, "b": 16, "floats": 8}


def test_sharing_sets_the_distances_of_a_dying_argument() -> None:
    found = live([X], [prim(A, X), prim(B, A, sharing=(Sharing(argument=0, below=-5),)), prim(C, B)], [C])
    # b may start 5 bytes above a already; on the other side only plain disjointness (60 bytes of a).
    assert conflict(found, "b", "a") == (-5, 60)
    both = prim(B, A, sharing=(Sharing(argument=0, below=7, above=3),))
    assert conflict(live([X], [prim(A, X), both, prim(C, B)], [C]), "b", "a") == (7, 3)


def test_sharing_needs_the_whole_buffer_to_die() -> None:
    in_place = prim(B, A, sharing=(Sharing(argument=0, below=0, above=0),))
    read_later = live([X], [prim(A, X), in_place, prim(C, B, A)], [C])
    assert conflict(read_later, "b", "a") == (60, 60)
    v = var("v", 10)
    view_read_later = live([X], [prim(A, X), prim(v, A, view=View(argument=0)), in_place, prim(C, v)], [B, C])
    assert conflict(view_read_later, "b", "a") == (60, 60)


def test_sharing_never_touches_what_must_stay() -> None:
    """Kept inputs and results are intact at the end, even when the last step reads them."""
    last = prim(B, A, sharing=(Sharing(argument=0, below=0, above=0),))
    assert conflict(live([X], [prim(A, X), last], [A, B]), "b", "a") == (60, 60)
    on_input = prim(A, X, sharing=(Sharing(argument=0, below=0, above=0),))
    assert conflict(live([X], [on_input], [A], keep_inputs=True), "a", "x") == (60, 100)
    assert conflict(live([X], [on_input], [A]), "a", "x") == (0, 0)


def test_sharing_with_an_argument_passed_twice() -> None:
    once = prim(B, A, A, sharing=(Sharing(argument=0, below=0, above=0),))
    # The second time it is passed the kernel forbids sharing: plain disjointness wins.
    assert conflict(live([X], [prim(A, X), once], [B]), "b", "a") == (60, 60)
    rules = (Sharing(argument=0, below=0, above=9), Sharing(argument=1, below=4, above=0))
    twice = prim(B, A, A, sharing=rules)
    assert conflict(live([X], [prim(A, X), twice], [B]), "b", "a") == (4, 9)
    # The second is read for the last time before the result is begun: only the first one counts.
    early = prim(B, A, A, sharing=rules, sub_steps=2, argument_stops=(2, 1), result_start=1)
    assert conflict(live([X], [prim(A, X), early], [B]), "b", "a") == (0, 9)


def test_sharing_with_a_view_counts_from_the_buffer() -> None:
    # v starts at byte 40 of a: offset(b) + 8 <= offset(a) + 40, or offset(a) + 40 + 20 <= offset(b).
    v = var("v", 20)
    steps = [
        prim(A, X),
        prim(v, A, view=View(argument=0, offset_bytes=40)),
        prim(B, v, sharing=(Sharing(argument=0, below=8),)),
    ]
    assert conflict(live([X], steps, [B]), "b", "a") == (8 - 40, 20 + 40)


def test_a_view_of_the_result_is_no_reason_against_sharing() -> None:
    # v is a part of b, which replaces a before anybody looks at v.
    v = var("v", 20)
    steps = [
        prim(A, X),
        prim(B, A, sharing=(Sharing(argument=0, below=0, above=0),)),
        prim(v, B, view=View(argument=0)),
        prim(C, v),
    ]
    assert conflict(live([X], steps, [C]), "b", "a") == (0, 0)


def test_two_rules_for_one_argument_are_refused() -> None:
    rules = (Sharing(argument=0, below=0), Sharing(argument=0, above=0))
    with pytest.raises(ValueError, match="two sharing rules"):
        live([X], [prim(A, X), prim(B, A, sharing=rules)], [B])


def test_zero_bytes_conflict_with_nobody() -> None:
    empty = var("empty", 0)
    found = live([X], [prim(empty, X), prim(A, X, empty)], [A])
    assert {b.id: b.size_bytes for b in found.buffers}["empty"] == 0
    assert found.conflicts == (Conflict(first="x", second="a", first_below=100, second_below=60),)


def test_the_caller_owns_inputs_outputs_and_their_views() -> None:
    v, w = var("v", 100), var("w", 60)
    steps = [
        prim(v, X, view=View(argument=0)),
        prim(C, v),
        prim(A, C),
        prim(w, A, view=View(argument=0)),
    ]
    found = live([X], steps, [w], io=IoMode.CALLER)
    assert spans(found) == {"c": (1, 3)}
    assert set(found.slices) == {"c"}
    assert found.conflicts == ()


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (
            "input",
            "output x: with --io caller the caller owns every output, but this one is the bytes of input x",
        ),
        ("view of input", "output v: with --io caller .* is the bytes of input x"),
        ("twice", "output v: with --io caller .* is the bytes of output a too"),
        ("part", "output w: with --io caller .* is a part of the bytes of a"),
    ],
)
def test_outputs_the_caller_cannot_own(case: str, text: str) -> None:
    v, w = var("v", 60), var("w", 20)
    x_view = [prim(v, X, view=View(argument=0))]
    a_view = [prim(A, X), prim(v, A, view=View(argument=0))]
    a_part = [prim(A, X), prim(w, A, view=View(argument=0))]
    steps, results = {
        "input": ([], [X]),
        "view of input": (x_view, [v]),
        "twice": (a_view, [A, v]),
        "part": (a_part, [w]),
    }[case]
    with pytest.raises(CodegenError, match=text) as caught:
        live([X], steps, results, io=IoMode.CALLER)
    assert caught.value.messages[0].code == "E213"
    assert caught.value.messages[0].help == "use --io pool"
    live([X], steps, results)


def test_a_memory_scope_restricts_the_pools() -> None:
    a = var("a", 60, scope="ccm")
    found = live([X], [prim(a, X), prim(C, a)], [C], pools=("sram", "ccm"))
    assert {b.id: b.pool_candidates for b in found.buffers} == {
        "x": ("sram", "ccm"),
        "a": ("ccm",),
        "c": ("sram", "ccm"),
    }
    with pytest.raises(CodegenError, match=r"E403.*a: pinned to memory scope ccm, .*\(sram\)"):
        live([X], [prim(a, X), prim(C, a)], [C])
    tied = var("tied", 60, scope="sram")
    with pytest.raises(ValueError, match="memory scope is"):
        live([X], [prim(a, X), prim(tied, a, view=View(argument=0))], [tied], pools=("sram", "ccm"))


def test_pools_by_function() -> None:
    steps = [prim(A, X, workspaces=(Workspace(name="ws", size_bytes=4),))]

    def candidates(id_: str, kind: BufferKind) -> tuple[str, ...]:
        return ("ccm",) if kind is BufferKind.WORKSPACE or id_ == "x" else ("sram",)

    found = liveness(
        steps,
        function([X], steps, [A]),
        edge=Edge(),
        pool_candidates=candidates,
        minimum_alignment=1,
    )
    assert {b.id: b.pool_candidates for b in found.buffers} == {
        "x": ("ccm",),
        "a": ("sram",),
        "a.ws": ("ccm",),
    }


def test_prim_funcs_of_another_function_are_refused() -> None:
    steps = [prim(A, X), prim(B, A)]
    with pytest.raises(ValueError, match="not the steps"):
        liveness(
            steps[:1],
            function([X], steps, [B]),
            edge=Edge(),
            pool_candidates={},
            minimum_alignment=1,
        )


def test_the_problem_of_it() -> None:
    found = chain()
    assert found.problem([POOL]).buffers == found.buffers
