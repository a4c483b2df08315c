"""The joint choice: kernels, devices, order, memory plan -> Program, checked twice before it leaves."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from codegen.errors import CodegenError, Message
from codegen.ir import Board, Function, Module, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.plan import constants as linking
from codegen.plan import planners, replay, validate
from codegen.plan.bounds import lower_bound
from codegen.plan.liveness import Liveness, liveness
from codegen.plan.problem import BufferKind, Limits, MemoryPlan, Pool, Problem, peak_bytes
from codegen.plan.program import IoMode, IoTensor, Program
from codegen.plan.shortage import DoesNotFit
from codegen.search import in_place
from codegen.search.devices import plan_devices
from codegen.search.direction import directed
from codegen.search.names import identifier, unique
from codegen.search.pools import board_pools
from codegen.search.select import select


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices:
    """What the user fixes of the search. `pool_limits`: pool -> hard limit in bytes."""

    planner: str
    optimize: str = "balanced"
    io: IoMode = IoMode.POOL
    keep_inputs: bool = False
    pool_limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    limits: Limits = field(default_factory=Limits)
    emulated: bool = True
    """Leave out regions that the board's emulator lacks."""


def search(module: Module, board: Board, choices: Choices, *, name: str) -> Program:
    """The program of `module` on `board`; `name` is its C prefix.

    Raises CodegenError: no kernel (E31x), contradicting devices (E320), does not fit (E40x), unknown
    planner or pool (E2xx). A plan that fails a checker is a bug: ValueError.
    """
    function = module.main
    data = {id_: constant.data for id_, constant in module.constants.items()}
    planner = planners.find(choices.planner)
    function, prim_funcs = plan_devices(function, select(function, data, board.target))
    pools = board_pools(board, choices.pool_limits, emulated=choices.emulated)
    planning = _Planning(function, board, pools, planner, choices)
    best = planning.attempt(prim_funcs)
    others = in_place.alternatives(
        function,
        prim_funcs,
        data,
        board.target,
        optimize=choices.optimize,
        fixed_inputs=choices.keep_inputs or choices.io is IoMode.CALLER,
    )
    ways = in_place.Planner(plan=planning.attempt, bound_bytes=planning.bound_bytes)
    best = in_place.lower_peak(prim_funcs, others, ways, best)
    prim_funcs = directed(best.prim_funcs, best.live.slices, best.plan)
    program = Program(
        name=name,
        function=function,
        prim_funcs=prim_funcs,
        board=board,
        problem=best.problem,
        plan=best.plan,
        slices=best.live.slices,
        workspaces=best.live.workspaces,
        constants=linking.link(prim_funcs, _constant_pools(board)),
        io=choices.io,
        inputs=_io("input", function.params),
        outputs=_io("output", _variables(function)),
        times=best.live.times,
        metadata=module.metadata,
    )
    check(program, keep_inputs=choices.keep_inputs)
    return program


@dataclass(frozen=True, kw_only=True, slots=True)
class _Attempt:
    """Steps, liveness, problem and plan that belong together."""

    prim_funcs: tuple[PrimFunc, ...]
    live: Liveness
    problem: Problem
    plan: MemoryPlan

    @property
    def peak_bytes(self) -> int:
        """Sum of the pools' peaks."""
        return sum(peak_bytes(self.problem, self.plan, pool.name) for pool in self.problem.pools)


class _Planning:
    """One function with everything that is the same in all attempts."""

    def __init__(
        self,
        function: Function,
        board: Board,
        pools: tuple[Pool, ...],
        planner: planners.Planner,
        choices: Choices,
    ) -> None:
        self._function, self._pools, self._planner, self._choices = function, pools, planner, choices
        self._alignment = board.buffer_alignment_bytes

    def attempt(self, prim_funcs: Sequence[PrimFunc]) -> _Attempt:
        """The plan with these steps. Raises DoesNotFit, the peak named by its step."""
        live = self._live(prim_funcs)
        problem = live.problem(self._pools, self._choices.limits)
        started = time.monotonic()
        try:
            plan = self._planner(problem)
        except DoesNotFit as error:
            raise error.with_steps(live.times, [prim.let.where for prim in prim_funcs]) from None
        plan = replace(plan, seconds=time.monotonic() - started)
        return _Attempt(prim_funcs=tuple(prim_funcs), live=live, problem=problem, plan=plan)

    def bound_bytes(self, prim_funcs: Sequence[PrimFunc]) -> int:
        """What all pools together need at least with these steps."""
        return lower_bound(self._live(prim_funcs).problem(self._pools)).bytes

    def _live(self, prim_funcs: Sequence[PrimFunc]) -> Liveness:
        return liveness(
            prim_funcs,
            self._function,
            io=self._choices.io,
            keep_inputs=self._choices.keep_inputs,
            pool_candidates=dict.fromkeys(BufferKind, tuple(pool.name for pool in self._pools)),
            minimum_alignment=self._alignment,
        )


def check(program: Program, *, keep_inputs: bool) -> None:
    """Both independent checkers on a plan; raises ValueError listing what they found (a planner's bug)."""
    found = [
        *validate.violations(program.problem, program.plan),
        *replay.replay_program(program, keep_inputs=keep_inputs),
    ]
    if found:
        raise ValueError(f"planner {program.plan.planner} made a wrong plan:\n" + "\n".join(found))


def _constant_pools(board: Board) -> tuple[Pool, ...]:
    region = board.region(board.code_region)
    return (
        Pool(
            name=region.pool_name,
            region=region.name,
            limit_bytes=region.size_bytes,
            alignment=board.pool_alignment_bytes,
            section=f".rodata.cg.{region.pool_name}",
            read_cost=region.access_cost,
        ),
    )


def _variables(function: Function) -> tuple[Var, ...]:
    constant = [result for result in function.results if not isinstance(result, Var)]
    if constant:
        raise CodegenError(
            Message(
                code="E312",
                text=f"{len(constant)} outputs do not depend on any input",
                help="take the constant outputs out of the model",
            )
        )
    return tuple(result for result in function.results if isinstance(result, Var))


def _io(kind: str, variables: tuple[Var, ...]) -> tuple[IoTensor, ...]:
    names = [_field(kind, index, var) for index, var in enumerate(variables)]
    return tuple(
        IoTensor(field=field_, origin=var.origin, value=var.name, type=var.type)
        for field_, var in zip(unique(names), variables, strict=True)
    )


def _field(kind: str, index: int, var: Var) -> str:
    return identifier(var.origin or var.name, f"{kind}{index}")
