"""Views and joins in whole programs: right to the byte, never at the cost of the peak."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.errors import CodegenError
from codegen.ir import DType, Module
from codegen.ir.ops import OPS, ConcatAttrs, DepthwiseConvAttrs, Padding2D, StridedSliceAttrs
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.replay import replay_program
from codegen.lifetimes.tie_faults import broken
from codegen.problem.problem import Limits
from codegen.problem.shortage import DoesNotFit
from codegen.program.interface import Edge, IoMode
from codegen.program.program import Program
from codegen.search.choices import Choices
from codegen.search.kernels import in_place, view_choice
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from codegen.search.search import search
from tests.emit.variants import changed
from tests.plan.growth import calls
from tests.sampling import examples
from tests.search.kernels.test_selection import ROOMY as BOARD
from tests.search.rows import Net, check
from tests.tensor_types import per_channel


def planned(module: Module, **choices: object) -> Program:
    made = replace(Choices(planner="hill_climb", limits=Limits(effort=200)), **choices)  # type: ignore[arg-type]
    return search(module, BOARD, made, name="views")


def copied(module: Module, **choices: object) -> Program:
    """The program without any view or join of its own."""
    with patch.object(view_choice, "alternatives", return_value={}):
        return planned(module, **choices)


def peak(program: Program) -> int:
    return program.memory.peak_bytes("sram")


def kernels(program: Program) -> dict[str, str]:
    return {
        prim.name: prim.kernel
        for prim in program.steps.prim_funcs
        if prim.let.call.op.name in ("CONCATENATION", "STRIDED_SLICE")
    }


def test_branches_write_into_the_concatenation() -> None:
    net = Net()
    x = net.param("x", 40)
    parts = [net.slice(x, start, 10) for start in (0, 10, 20, 30)]
    module = net.module(net.relu(net.concat(*(net.relu(net.relu(part)) for part in parts))))
    program = planned(module)
    assert set(kernels(program).values()) == {"strided_slice_view", "concat_join"}
    check(program, module)
    assert not any(prim.is_call for prim in program.steps.prim_funcs if prim.name in kernels(program))
    # All of x beside three parts of the result, until the fourth may take the place of what it reads; the
    # copy has 40 bytes of arguments beside 40 of result.
    assert (peak(program), peak(copied(module))) == (70, 80)


def test_the_part_of_a_join_that_is_not_computed_yet_is_free() -> None:
    # y (60), and what is computed of it in its place, lies where b (60) will be, though a (20) is there.
    net = Net()
    x, y = net.param("x", 20), net.param("y", 60)
    a, b = net.relu(x), net.relu(net.relu(y))
    module = net.module(net.concat(a, b))
    program = planned(module)
    check(program, module)
    # Copied, 20 and 60 bytes of arguments lie beside 80 of the result; joined, there is the result alone.
    assert (peak(program), peak(copied(module))) == (80, 160)


def test_what_cannot_be_joined_is_copied_beside_what_can() -> None:
    net = Net()
    x = net.param("x", 32)
    h = net.relu(x)
    left, right = net.slice(h, 0, 16), net.slice(h, 16, 16)
    twice = net.relu(left)
    module = net.module(net.relu(net.concat(net.add(left, right), right, twice, twice)))
    for optimize in ("speed", "size"):
        program = planned(module, optimize=optimize)
        check(program, module)
    [concat] = [p for p in planned(module, optimize="speed").steps.prim_funcs if p.kernel == "concat_join"]
    # right is a part of h, and twice is passed twice.
    assert concat.joined == (0,)
    assert concat.is_call


def test_all_but_a_few_of_many_are_joined() -> None:
    net = Net()
    h = net.relu(net.param("x", 16))
    rows = [net.relu(h) for _ in range(12)]
    for at in (2, 7, 8):
        rows[at] = net.slice(h, at, 1)
    module = net.module(net.relu(net.concat(*rows)))
    found = view_choice.alternatives(module.main, _bound(module), edge=Edge())
    [concat] = [prim for prim in found.values() if prim.kernel == "concat_join"]
    assert concat.joined == (0, 1, 3, 4, 5, 6, 9, 10, 11)


def test_joining_costs_as_much_as_there_are_arguments() -> None:
    """A loop that is unrolled joins a row of each iteration: one by one, each of them looked through all."""

    def work(count: int) -> int:
        net = Net()
        x = net.param("x", 4)
        module = net.module(net.relu(net.concat(*(net.relu(x) for _ in range(count)))))
        bound = _bound(module)
        return calls(lambda: view_choice.alternatives(module.main, bound, edge=Edge()))

    work(2)
    few, some, many = (work(count) for count in (20, 40, 80))
    assert many - some < 2.1 * (some - few)


def test_rows_of_several_runs_are_copied() -> None:
    net = Net()
    x = net.param("x", 12)
    two = [net.reshape(net.relu(x), 2, 6), net.reshape(net.relu(net.relu(x)), 2, 6)]
    wide = net.builder.call(OPS["CONCATENATION"], two, ConcatAttrs(axis=1), net.type(2, 12))
    high = net.builder.call(
        OPS["CONCATENATION"], [net.relu(wide), net.relu(net.relu(wide))], ConcatAttrs(axis=0), net.type(4, 12)
    )
    every_other = net.slice(net.reshape(net.relu(high), 1, 48), 0, 24, 2)
    module = net.module(net.relu(every_other))
    program = planned(module, optimize="speed")
    assert list(kernels(program).values()) == ["concat_portable", "concat_join", "strided_slice_portable"]
    check(program, module)


def test_nothing_is_joined_in_the_callers_memory() -> None:
    net = Net()
    x = net.param("x", 16)
    inner = net.concat(net.relu(x), net.relu(net.relu(x)))
    part = net.slice(inner, 0, 4)
    outer = net.concat(net.relu(inner), part)
    last = net.slice(net.relu(inner), 4, 8)
    module = net.module(outer, last)
    # Both results are the caller's: nobody writes a part of one, and neither is a part of another value.
    program = planned(module, io=IoMode.CALLER, optimize="speed")
    assert kernels(program) == {
        inner.name: "concat_join",
        part.name: "strided_slice_view",
        outer.name: "concat_portable",
        last.name: "strided_slice_portable",
    }
    check(program, module)
    program = planned(module, io=IoMode.POOL, optimize="speed")
    assert set(kernels(program).values()) == {"concat_join", "strided_slice_view"}
    check(program, module)


def costly() -> tuple[Module, str]:
    """A slice of 4 bytes that as a view keeps all 100 of h alive while 90 bytes become another 90."""
    net = Net()
    x, y = net.param("x", 100), net.param("y", 90)
    few = net.slice(net.relu(x), 50, 4)
    many = net.slice(net.add(y, net.slice(y, 89, 90, -1)), 89, 90, -1)
    return net.module(net.add(few, net.slice(many, 0, 4))), few.name


@pytest.mark.parametrize("optimize", ["balanced", "size"])
def test_a_view_that_costs_memory_is_not_taken(optimize: str) -> None:
    module, few = costly()
    program = planned(module, optimize=optimize)
    # Copied: 4 bytes beside h (in x's place) and y; later beside 90 and 90.
    assert peak(program) == peak(copied(module, optimize=optimize)) == 194
    # As a view: 100 and 90 and 90.
    assert kernels(program)[few] == "strided_slice_portable"
    check(program, module)


def test_with_speed_views_are_taken_as_far_as_they_fit() -> None:
    module, few = costly()
    free = planned(module, optimize="speed")
    assert (kernels(free)[few], peak(free)) == ("strided_slice_view", 280)
    limited = planned(module, optimize="speed", pool_limits={"sram": 279})
    assert (kernels(limited)[few], peak(limited)) == ("strided_slice_portable", 194)
    for program in (free, limited):
        check(program, module)
    with pytest.raises(DoesNotFit) as caught:
        planned(module, optimize="speed", pool_limits={"sram": 193})
    assert caught.value.missing_bytes == 1


def test_a_join_makes_a_plan_fit() -> None:
    # The copy has 80 bytes of arguments beside 80 of result; joined, there is the result alone.
    net = Net()
    x = net.param("x", 40)
    module = net.module(net.relu(net.concat(x, net.relu(x))))
    program = planned(module, pool_limits={"sram": 80})
    assert peak(program) == 80
    check(program, module)
    with pytest.raises(DoesNotFit):
        copied(module, pool_limits={"sram": 80})


def test_a_kernel_in_place_does_not_pull_a_larger_value_into_a_join() -> None:
    # Rows of an image: the lower half goes through two depthwise layers, which may replace what they read,
    # then lies beside the upper half again. Both replaced, a part of h would be in two buffers.
    net = Net()
    x = net.builder.param("x", net.type(1, 12, 6, 4))
    h, half = net.relu(x), (1, 6, 6, 4)
    halves = [
        net.builder.call(
            OPS["STRIDED_SLICE"],
            [h],
            StridedSliceAttrs(
                begins=(0, row, 0, 0), strides=(1,) * 4, counts=(1, 6, 6, 4), shape=(1, 6, 6, 4)
            ),
            net.type(*half),
        )
        for row in (0, 6)
    ]
    lower = halves[0]
    scales = per_channel((0.25,) * 4, 3)
    weights = net.builder.constant(np.ones((1, 3, 3, 4), np.int8), quantization=scales)
    attrs = DepthwiseConvAttrs(padding=Padding2D(top=1, bottom=1, left=1, right=1))
    for _ in range(2):
        lower = net.builder.call(OPS["DEPTHWISE_CONV_2D"], [lower, weights, None], attrs, net.type(*half))
    both = net.builder.call(
        OPS["CONCATENATION"], [lower, net.relu(halves[1])], ConcatAttrs(axis=1), net.type(1, 12, 6, 4)
    )
    module = net.module(both)
    program = planned(module, optimize="size")
    check(program, module)
    assert peak(program) <= peak(copied(module, optimize="size"))
    everything = view_choice.alternatives(program.steps.function, _bound(module), edge=Edge())
    taken = in_place.replaced(_bound(module), everything)
    others = in_place.alternatives(
        program.steps.function,
        taken,
        Binder({id_: constant.data for id_, constant in module.constants.items()}, BOARD.target),
        optimize="size",
        edge=Edge(),
    )
    # Of the slice nothing may be replaced: the first layer alone could, but then not the second as well.
    assert [step for step, prim in enumerate(taken) if prim.let.call.op.name == "DEPTHWISE_CONV_2D"] == [3, 4]
    assert list(others) == [3]
    assert not broken(module.main, in_place.replaced(taken, others), edge=Edge())


def _bound(module: Module) -> tuple[PrimFunc, ...]:
    data = {id_: constant.data for id_, constant in module.constants.items()}
    return select(module.main, Binder(data, BOARD.target))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Fake:
    """A plan as `view_choice.choose` sees it."""

    prim_funcs: tuple[PrimFunc, ...]
    peak_bytes: int
    extra_cost: int = 0


def _plans_made(helpful: int | None) -> tuple[int, int]:
    """Plans that choosing among twelve views makes, and the peak. All plans are of 100 bytes, but 90 without
    the view numbered `helpful`."""
    net = Net()
    x = net.param("x", 64)
    prims = _bound(net.module(*(net.relu(net.slice(x, 4 * i, 4)) for i in range(12))))
    views = [step for step, prim in enumerate(prims) if prim.let.call.op.name == "STRIDED_SLICE"]
    others = {step: replace(prims[step]) for step in views}
    made: list[_Fake] = []

    def plan(chosen: Sequence[PrimFunc]) -> _Fake:
        copies = [view for view in views if chosen[view] is prims[view]]
        lower = helpful is not None and views[helpful] in copies and len(copies) < len(views)
        made.append(_Fake(prim_funcs=tuple(chosen), peak_bytes=90 if lower else 100))
        return made[-1]

    planner: in_place.Planner[_Fake] = in_place.Planner(plan=plan, bound_bytes=lambda _: 80)
    best = view_choice.choose(prims, others, planner, eager=False)
    return len(made), best.peak_bytes


def test_views_are_given_up_while_that_helps_now_and_then() -> None:
    """Of an unrolled loop each of fifteen views was given up for nothing, a placement each: 2 s."""
    assert _plans_made(None) == (6, 100)
    assert _plans_made(3) == (2 + 4 + 4, 90)
    assert _plans_made(4) == (6, 100)


def test_wrong_offsets_in_a_join_are_rejected() -> None:
    net = Net()
    x = net.param("x", 16)
    one, other = net.relu(x), net.relu(net.relu(x))
    module = net.module(net.relu(net.concat(one, other)))
    program = planned(module, optimize="speed")
    for name, offset in ((one.name, 0), (other.name, 16)):
        part = program.memory.slices[name]
        assert part.offset_bytes == offset
        for step in (-1, 1):
            moved = {**program.memory.slices, name: replace(part, offset_bytes=offset + step)}
            assert replay_program(changed(program, "memory", slices=moved))


@st.composite
def modules(draw: st.DrawFn) -> Module:
    net = Net(draw(st.sampled_from([DType.INT8, DType.FLOAT32])))
    known = [net.param(f"x{i}", draw(st.integers(1, 9))) for i in range(draw(st.integers(1, 2)))]
    for _ in range(draw(st.integers(2, 9))):
        value = draw(st.sampled_from(known[-4:]))
        width = value.type.shape[1]
        kind = draw(st.sampled_from(["relu", "add", "concat", "concat", "slice", "reshape"]))
        if kind == "relu":
            made = net.relu(value)
        elif kind == "add":
            others = [other for other in known if other.type.shape == value.type.shape]
            made = net.add(draw(st.sampled_from(others)), value)
        elif kind == "concat":
            made = net.concat(*draw(st.lists(st.sampled_from(known[-5:]), min_size=1, max_size=3)))
        elif kind == "slice":
            begin = draw(st.integers(0, width - 1))
            step = draw(st.sampled_from([1, 1, 1, 2, -1]))
            room = (width - begin + step - 1) // step if step > 0 else begin + 1
            made = net.slice(value, begin, draw(st.integers(1, max(room, 1))), step)
        else:
            made = net.reshape(net.reshape(value, width), 1, width)
        known.append(made)
    computed = [value for value in known if not value.name.startswith("x")]
    results = draw(
        st.lists(st.sampled_from(computed[-3:]), min_size=1, max_size=2, unique_by=lambda v: v.name)
    )
    return net.module(*results)


@settings(max_examples=examples(120), deadline=None)
@given(
    modules(),
    st.sampled_from(["speed", "balanced", "size"]),
    st.sampled_from(list(IoMode)),
    st.booleans(),
)
def test_programs_with_views_compute_the_same(
    module: Module, optimize: str, io: IoMode, keep_inputs: bool
) -> None:
    # `search` puts every plan before both checkers.
    try:
        plain = copied(module, optimize=optimize, io=io, keep_inputs=keep_inputs)
    except CodegenError as error:
        assert [message.code for message in error.messages] == ["E213"] * len(error.messages)
        return
    program = planned(module, optimize=optimize, io=io, keep_inputs=keep_inputs)
    check(program, module)
    if optimize != "speed":
        assert peak(program) <= peak(plain)
