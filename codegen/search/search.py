"""The joint choice: kernels, devices, order, memory plan -> Program, checked twice before it leaves."""

from collections.abc import Mapping, Sequence

import numpy as np

from codegen.errors import CodegenError, Message
from codegen.ir import Board, Function, Module, Var
from codegen.plan import constants as linking
from codegen.plan import planners, replay, validate
from codegen.plan.problem import Pool
from codegen.plan.program import IoTensor, OrderCertificate, Program
from codegen.search import in_place
from codegen.search.attempt import Attempt, Choices, Planning, best_attempt, check_stream
from codegen.search.devices import plan_devices
from codegen.search.direction import directed
from codegen.search.fuse import Segment, row_steps
from codegen.search.names import identifier, unique
from codegen.search.pools import board_pools
from codegen.search.recompute import Variant
from codegen.search.schedule import Scheduled, schedule
from codegen.search.select import select
from codegen.search.sharing import permitted


def search(
    module: Module,
    board: Board,
    choices: Choices,
    *,
    name: str,
    blocks: Sequence[Segment] | None = None,
) -> Program:
    """The program of `module` on `board`; `name` is its C prefix. `blocks`: take these, do not choose.

    Raises CodegenError: no kernel (E31x), contradicting devices (E320), does not fit (E40x), unknown
    planner or pool (E2xx). A plan that fails a checker is a bug: ValueError.
    """
    function = module.main
    data = {id_: constant.data for id_, constant in module.constants.items()}
    function, prim_funcs = plan_devices(function, select(function, data, board.target))
    prim_funcs = permitted(prim_funcs, choices.sharing)
    ordered = schedule(
        function, prim_funcs, mode=choices.schedule, io=choices.io, keep_inputs=choices.keep_inputs
    )
    function, prim_funcs = ordered.function, ordered.prim_funcs
    pools = board_pools(board, choices.pool_limits, emulated=choices.emulated)
    planning = Planning(
        Variant(function=function, prim_funcs=prim_funcs, steps=row_steps(prim_funcs, data, board.target)),
        board=board,
        pools=pools,
        planner=planners.find(choices.planner),
        choices=choices,
    )
    check_stream(planning, function, choices)
    if blocks is None:
        best = best_attempt(planning, choices.optimize, sum(pool.limit_bytes for pool in pools))
    else:
        best = planning.attempt(blocks)
    best = _replace_arguments(planning, best, data, board, choices)
    prim_funcs = directed(best.prim_funcs, best.live.slices, best.plan)
    program = Program(
        name=name,
        function=best.function,
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
        streamed=planning.streamed,
        order=_certificate(ordered, best, choices),
        metadata=module.metadata,
    )
    check(program, keep_inputs=choices.keep_inputs)
    return program


def _certificate(ordered: Scheduled, best: Attempt, choices: Choices) -> OrderCertificate:
    """The order is proved best if the plan needs no more than any order of these steps does."""
    whole = best.function == ordered.function and best.prim_funcs == ordered.prim_funcs
    proved = choices.schedule == "optimal" and whole and best.peak_bytes <= ordered.result.lower_bound_bytes
    return OrderCertificate(reordered=ordered.reordered, proved=proved)


def _replace_arguments(
    planning: Planning, best: Attempt, data: Mapping[str, np.ndarray], board: Board, choices: Choices
) -> Attempt:
    """`best`, or a lower plan in which some steps write over their argument by a kernel made for that."""
    if choices.sharing == "none":
        return best
    others = in_place.alternatives(
        best.function,
        best.prim_funcs,
        data,
        board.target,
        optimize=choices.optimize,
        keep_inputs=choices.keep_inputs,
        io=choices.io,
        streamed=planning.streamed,
    )
    lower = in_place.lower_peak(best.prim_funcs, others, planning.planner(best.function), best)
    # The peaks' sum may be lower because dear pools hold more.
    return best if lower.extra_cost > best.extra_cost else lower


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
