"""Both checkers accept good plans and reject harmful changes, each in its own words."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.ir import Arg, Var
from codegen.kernels.contract import Sharing, View, Workspace
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.liveness import Liveness
from codegen.lifetimes.replay import replay
from codegen.plan.place.hill_climb import hill_climb
from codegen.plan.place.placing import greedy_by_size
from codegen.plan.validate import violations
from codegen.problem.problem import Conflict, MemoryPlan, Placement, Pool, Problem
from codegen.program.interface import Edge, IoMode
from codegen.program.program import BufferSlice, Steps
from tests.plan.build import POOL, buffer, function, live, placed, prim, problem, var
from tests.sampling import examples


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A function, its PrimFuncs and their liveness, ready to be planned and replayed."""

    params: tuple[Var, ...]
    prims: tuple[PrimFunc, ...]
    results: tuple[Arg, ...]
    found: Liveness
    io: IoMode = IoMode.POOL
    keep_inputs: bool = False

    @property
    def problem(self) -> Problem:
        return replace(
            self.found.problem([POOL]),
            limits=replace(Problem(buffers=(), conflicts=(), pools=()).limits, effort=100),
        )

    def replay(self, plan: MemoryPlan, slices: dict[str, BufferSlice] | None = None) -> list[str]:
        layout = self.found.layout(self.problem, plan)
        layout = layout if slices is None else replace(layout, slices=slices)
        return replay(self.steps(), layout, edge=Edge(io=self.io, kept=self.keep_inputs))

    def steps(self) -> Steps:
        of_prims = function(self.params, self.prims, self.results)
        return Steps(function=of_prims, prim_funcs=self.prims, times=self.found.times)


def case(
    params: list[Var], prims: list[PrimFunc], results: list[Var], io: IoMode = IoMode.POOL, keep: bool = False
) -> Case:
    return Case(
        params=tuple(params),
        prims=tuple(prims),
        results=tuple(results),
        io=io,
        keep_inputs=keep,
        found=live(params, prims, results, io=io, keep_inputs=keep),
    )


X, A, B, C = var("x", 100), var("a", 60), var("b", 60), var("c", 10)
WS = Workspace(name="ws", size_bytes=20)


def chain(keep: bool = False) -> Case:
    return case([X], [prim(A, X), prim(B, A, workspaces=(WS,)), prim(C, B)], [C], keep=keep)


GOOD = {"x": 0, "a": 100, "b": 0, "b.ws": 60, "c": 60}


def plan_of(**changes: int) -> MemoryPlan:
    return placed(**{**GOOD, **{name.replace("_", "."): offset for name, offset in changes.items()}})


def test_both_accept_a_good_plan() -> None:
    assert violations(chain().problem, plan_of()) == []
    assert chain().replay(plan_of()) == []


@pytest.mark.parametrize(
    ("changes", "validated", "replayed"),
    [
        (
            {"a": 99},
            "x at 0 and a at 99 of pool sram",
            'step 0 PROBE "a": 1 bytes of argument x (pool sram, from byte 99) belong to a',
        ),
        (
            {"b": 41},
            "a at 100 and b at 41 of pool sram",
            'step 1 PROBE "b": 1 bytes of argument a (pool sram, from byte 100) belong to b',
        ),
        (
            {"b_ws": 59},
            "b at 0 and b.ws at 59",
            'step 1 PROBE "b": 1 bytes of workspace b.ws (pool sram, from byte 59) belong to b',
        ),
        (
            {"b_ws": 81},
            "a at 100 and b.ws at 81",
            'step 1 PROBE "b": 1 bytes of argument a (pool sram, from byte 100) belong to b.ws',
        ),
        (
            {"c": 50},
            "b at 0 and c at 50",
            'step 2 PROBE "c": 10 bytes of argument b (pool sram, from byte 50) belong to c',
        ),
    ],
)
def test_both_reject_a_shifted_placement(changes: dict[str, int], validated: str, replayed: str) -> None:
    plan = plan_of(**changes)
    assert any(text.startswith(validated) for text in violations(chain().problem, plan))
    assert chain().replay(plan)[0].startswith(replayed)


def test_validate_names_each_rule() -> None:
    pools = (
        Pool(name="sram", region="SRAM", limit_bytes=100),
        Pool(name="ccm", region="CCM", limit_bytes=100),
    )
    found = replace(
        problem(buffer("a", 40, 0, 1, 8), buffer("b", 40, 2, 3), buffer("c", 1, 5, 6)), pools=pools
    )
    places = {
        "a": Placement(pool="ccm", offset=-4),
        "b": Placement(pool="sram", offset=61),
        "d": Placement(pool="sram", offset=0),
    }
    assert violations(found, replace(plan_of(), placements=places)) == [
        "d: placed, but not a buffer of the problem",
        "a: in pool ccm, allowed are sram",
        "a: offset -4 is negative",
        "a: offset -4 is not a multiple of 8",
        "b: ends at byte 101 of pool sram, the limit is 100",
        "c: not placed",
    ]


def test_validate_reports_a_conflict_left_out() -> None:
    found = problem(buffer("a", 4, 0, 2), buffer("b", 4, 1, 3), buffer("c", 4, 2, 3), buffer("z", 0, 0, 9))
    plan = placed(a=0, b=4, c=8, z=0)
    assert violations(found, plan) == []
    for left_out in found.conflicts:
        kept = tuple(c for c in found.conflicts if c is not left_out)
        (text,) = violations(replace(found, conflicts=kept), plan)
        assert text.startswith(f"problem defect: {left_out.first} and {left_out.second} are alive at")


def test_validate_obeys_distances() -> None:
    pair = Conflict(first="a", second="b", first_below=-3, second_below=7)
    found = replace(problem(buffer("a", 8, 0, 1), buffer("b", 8, 0, 1)), conflicts=(pair,))
    # a - 3 <= b, or b + 7 <= a.
    verdicts = {(a, b): not violations(found, placed(a=a, b=b)) for a in range(12) for b in range(12)}
    assert verdicts == {(a, b): a - 3 <= b or b + 7 <= a for a, b in verdicts}


def test_replay_wants_inputs_whole_at_the_start() -> None:
    y = var("y", 10)
    found = case([X, y], [prim(A, X)], [A])
    texts = found.replay(placed(x=0, y=95, a=200))
    assert texts[0] == "5 bytes of input x (pool sram, from byte 95) belong to y by then"


def test_replay_wants_results_and_kept_inputs_at_the_end() -> None:
    kept = chain(keep=True)
    assert kept.replay(placed(x=0, a=100, b=160, c=220, **{"b.ws": 240})) == []
    texts = kept.replay(placed(x=0, a=100, b=160, c=0, **{"b.ws": 240}))
    assert texts == ["after the last step: 10 bytes of value x (pool sram, from byte 0) belong to c by then"]
    early = case([X], [prim(C, X), prim(A, X)], [C, A])
    assert early.replay(placed(x=0, c=100, a=105)) == [
        "after the last step: 5 bytes of value c (pool sram, from byte 105) belong to a by then"
    ]


def test_replay_sees_sub_steps() -> None:
    early = Workspace(name="early", size_bytes=30, start=0, stop=2)
    late = Workspace(name="late", size_bytes=30, start=2, stop=3)
    step = prim(B, A, sub_steps=3, argument_stops=(2,), result_start=2, workspaces=(early, late))
    found = case([X], [prim(A, X), step], [B])
    offsets = {"x": 100, "a": 0, "b": 0, "b.early": 60, "b.late": 60}
    assert found.replay(placed(**offsets)) == []
    assert violations(found.problem, placed(**offsets)) == []
    # The result is begun one sub-step before the argument's last read.
    sooner = replace(step, result_start=1)
    wrong = replace(found, prims=(found.prims[0], sooner))
    assert wrong.replay(placed(**offsets))[0].startswith('step 1 PROBE "b": 60 bytes of argument a')
    # The early workspace lives on into the late one.
    longer = replace(step, workspaces=(replace(early, stop=3), late))
    wrong = replace(found, prims=(found.prims[0], longer))
    assert wrong.replay(placed(**offsets))[0].startswith('step 1 PROBE "b": 30 bytes of workspace b.early')


def test_replay_sees_views() -> None:
    v = var("v", 20)
    steps = [prim(A, X), prim(v, A, view=View(argument=0, offset_bytes=40)), prim(B, X), prim(C, v)]
    found = case([X], steps, [C])
    offsets = {"x": 0, "a": 100, "b": 160, "c": 0}
    assert found.replay(placed(**offsets)) == []
    # b may not take the end of a, which the view still needs; its beginning is free, yet one buffer.
    assert found.replay(placed(**{**offsets, "b": 120}))[0].startswith(
        'step 3 PROBE "c": 20 bytes of argument v (pool sram, from byte 140) belong to b'
    )
    moved = {**found.found.slices, "v": BufferSlice(buffer="a", offset_bytes=30, size_bytes=20)}
    assert found.replay(placed(**offsets), moved) == [
        'step 1 PROBE "v": view v lies at byte 130 of pool sram, its bytes at 140 of sram'
    ]


def test_replay_lets_kernels_share_as_far_as_they_say() -> None:
    step = prim(B, A, sharing=(Sharing(argument=0, below=5, above=50),))
    found = case([X], [prim(A, X), step, prim(C, B)], [C])
    # b + 5 <= a, or a + 50 <= b.
    for b, good in ((15, True), (16, False), (69, False), (70, True)):
        plan = placed(x=150, a=20, b=b, c=200)
        assert (found.replay(plan) == []) is good, b
        assert (violations(found.problem, plan) == []) is good, b


def test_an_interval_cut_short_is_seen() -> None:
    """Planned as if a were dead when step 1 begins, b lands on it: only replay can know, and does."""
    small = var("small", 10)
    found = case([small], [prim(A, small), prim(B, A), prim(C, B)], [C])
    short = tuple(replace(b, stop=1) if b.id == "a" else b for b in found.found.buffers)
    wrong = problem(*short)
    plan = greedy_by_size(wrong)
    assert violations(wrong, plan) == []
    assert any("of argument a" in text for text in found.replay(plan))
    assert violations(found.problem, plan) != []


def test_sharing_does_not_excuse_a_later_read() -> None:
    step = prim(B, A, sharing=(Sharing(argument=0, below=0),))
    found = case([X], [prim(A, X), step, prim(C, A)], [B, C])
    assert found.replay(placed(x=100, a=0, b=0, c=200))[0].startswith(
        'step 2 PROBE "c": 60 bytes of argument a'
    )


def test_replay_checks_who_owns_what() -> None:
    found = case([X], [prim(A, X), prim(B, A)], [B], io=IoMode.CALLER)
    assert found.replay(placed(a=0)) == []
    assert replace(found, io=IoMode.POOL).replay(placed(a=0)) == ["x: has no bytes", "b: has no bytes"]
    assert chain().replay(placed(a=0)) == [
        "x: its buffer x is not placed",
        "b: its buffer b is not placed",
        "c: its buffer c is not placed",
        "workspace b.ws: its buffer b.ws is not placed",
    ]
    slices = {**chain().found.slices, "a": BufferSlice(buffer="a", offset_bytes=1, size_bytes=60)}
    assert chain().replay(plan_of(), slices) == ["a: leaves its buffer a of 60 bytes"]
    slices["a"] = BufferSlice(buffer="a", offset_bytes=0, size_bytes=59)
    assert chain().replay(plan_of(), slices) == ["a: has 59 bytes, needs 60"]
    assert chain().replay(plan_of(c=-1)) == ["c: leaves pool sram"]


def test_replay_refuses_another_order() -> None:
    found = chain()
    swapped = replace(found.steps(), prim_funcs=found.prims[::-1])
    told = replay(swapped, found.found.layout(found.problem, plan_of()), edge=Edge())
    assert told == ["the PrimFuncs are not the steps of the function, in its order"]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Random programs: fan-out, views of views, sub-steps, workspaces, much sharing, several results."""
    values = [var(f"x{i}", draw(st.integers(0, 12))) for i in range(draw(st.integers(1, 2)))]
    params = list(values)
    prims: list[PrimFunc] = []
    for index in range(draw(st.integers(1, 6))):
        # Mostly the latest values, so that many arguments die where they are read.
        args = draw(st.lists(st.sampled_from(values[-3:]), min_size=1, max_size=3))
        name = f"v{index}"
        prims.append(draw(views(name, args[0]) if draw(st.integers(0, 3)) == 0 else kernels(name, args)))
        values.append(prims[-1].let.var)
    results = draw(st.lists(st.sampled_from(values[-3:]), min_size=1, max_size=2, unique_by=lambda v: v.name))
    return case(params, prims, results, keep=draw(st.booleans()))


@st.composite
def views(draw: st.DrawFn, name: str, source: Var) -> PrimFunc:
    size = draw(st.integers(source.type.size_bytes // 2, source.type.size_bytes))
    offset = draw(st.integers(0, source.type.size_bytes - size))
    return prim(var(name, size), source, view=View(argument=0, offset_bytes=offset))


@st.composite
def kernels(draw: st.DrawFn, name: str, args: list[Var]) -> PrimFunc:
    sub_steps = draw(st.integers(1, 3))
    starts = draw(st.lists(st.integers(0, sub_steps - 1), max_size=2))
    spaces = [
        Workspace(
            name=f"w{i}",
            size_bytes=draw(st.integers(1, 6)),
            alignment=2,
            start=start,
            stop=draw(st.integers(start + 1, sub_steps)),
        )
        for i, start in enumerate(starts)
    ]
    distance = st.none() | st.integers(-4, 12)
    rules = [
        Sharing(argument=i, below=draw(distance), above=draw(distance))
        for i in range(len(args))
        if draw(st.integers(0, 3))
    ]
    return prim(
        var(name, draw(st.integers(0, 12))),
        *args,
        sub_steps=sub_steps,
        argument_stops=tuple(draw(st.integers(0, sub_steps)) for _ in args),
        result_start=draw(st.integers(0, sub_steps - 1)),
        workspaces=tuple(spaces),
        sharing=tuple(rules),
    )


@settings(max_examples=examples(400))
@given(cases())
def test_the_checkers_agree_that_plans_are_good(found: Case) -> None:
    for planner in (greedy_by_size, hill_climb):
        plan = planner(found.problem)
        assert violations(found.problem, plan) == []
        assert found.replay(plan) == []


@settings(max_examples=examples(300))
@given(cases(), st.data())
def test_what_replay_rejects_validate_rejects(found: Case, data: st.DataObject) -> None:
    """Replay decides which changed plans are harmful; the problem's conflicts forbid every one of them."""
    plan = greedy_by_size(found.problem)
    id_ = data.draw(st.sampled_from([b.id for b in found.problem.buffers]))
    offset = data.draw(st.integers(0, 30))
    alignment = {b.id: b.alignment for b in found.problem.buffers}[id_]
    shifted = replace(
        plan, placements={**plan.placements, id_: Placement(pool="sram", offset=offset * alignment)}
    )
    if found.replay(shifted):
        assert violations(found.problem, shifted)


@settings(max_examples=examples(300))
@given(cases(), st.data())
def test_a_distance_claimed_too_small_is_seen(found: Case, data: st.DataObject) -> None:
    """A plan made with one conflict a byte too weak passes both checkers, or validate rejects it."""
    if not found.problem.conflicts:
        return
    index = data.draw(st.integers(0, len(found.problem.conflicts) - 1))
    true = found.problem.conflicts[index]
    weaker = replace(true, first_below=true.first_below - 1, second_below=true.second_below - 1)
    conflicts = (*found.problem.conflicts[:index], weaker, *found.problem.conflicts[index + 1 :])
    plan = greedy_by_size(replace(found.problem, conflicts=conflicts))
    if not violations(found.problem, plan):
        assert found.replay(plan) == []
