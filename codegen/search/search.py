"""The joint choice: kernels, devices, order, memory plan -> Program, checked thrice before it leaves."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from codegen.constants.compressing import linked
from codegen.constants.constant_pools import in_reach, placed
from codegen.constants.copying import with_staging
from codegen.errors import CodegenError, Message
from codegen.ir import Board, Function, Module, Var
from codegen.ir.ops import SHIFT
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes import memories, replay
from codegen.plan import validate
from codegen.plan.clock import Clock
from codegen.plan.place import planners
from codegen.program.constants import ConstantLayout
from codegen.program.interface import IoMode, Signature, StatePair
from codegen.program.program import OrderCertificate, Program, Steps
from codegen.progress import Progress
from codegen.search.blocks.block_costs import BlockCosts
from codegen.search.blocks.row_blocks import Segment, row_choices, row_steps
from codegen.search.choices import Choices, LastingInputs
from codegen.search.devices.device_plan import plan_devices
from codegen.search.devices.offers import Owners, board_offer, reading
from codegen.search.flash_limit import Asked, Found, within_flash
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.costs import FLASH_WORTH, code_limit
from codegen.search.kernels.cycle_costs import CycleCosts
from codegen.search.kernels.in_place import directed, permitted
from codegen.search.kernels.iterations import binder_of
from codegen.search.kernels.selection import select, select_fewest_bytes, sparing, used_code_bytes
from codegen.search.memory import wider_turns
from codegen.search.memory.attempt import Attempt, Planning
from codegen.search.memory.frontier import Frontier
from codegen.search.memory.goal import objective_attempt, within_limits, without_limits
from codegen.search.states import check_apart, check_memories, in_memories, io_tensors, of_file, paired
from codegen.search.steps.recompute import Variant
from codegen.search.steps.schedule import schedule
from codegen.search.streamed_input import check_stream
from codegen.settings import CompressMode, Optimize


def search(
    module: Module,
    board: Board,
    choices: Choices,
    *,
    name: str,
    blocks: Sequence[Segment] | None = None,
    excluded: frozenset[tuple[str, str]] = frozenset(),
) -> Program:
    """The program of `module` on `board`; `name` is its C prefix. `blocks`: take these, do not choose.
    `excluded`: (step, kernel) that may not be chosen, as `Binder.without` has them.

    Raises CodegenError: no kernel (E31x), contradicting devices (E32x), does not fit (E40x), unknown
    planner or pool (E2xx). A plan that fails a checker is a bug: ValueError.
    """
    choices = _on_clock(choices)

    def searched(costs: CycleCosts | None) -> Program:
        binder = binder_of(module.arrays, board.target, costs, choices.optimize).without(excluded)
        return _searched(module, board, choices, name, binder, blocks)

    if choices.memory is None:
        return searched(None)
    costs = CycleCosts(core=board.target.cpu, memory=choices.memory, is_staged=True)
    best = searched(costs)
    if not costs.linked_waits(best):
        return best
    # Not all constants found room in RAM: kernels that read fewer of them may be faster.
    from_flash = replace(costs, is_staged=False)
    linked = searched(from_flash)
    return best if costs.program_cycles(best) <= from_flash.program_cycles(linked) else linked


def _searched(
    module: Module,
    board: Board,
    choices: Choices,
    name: str,
    binder: Binder,
    blocks: Sequence[Segment] | None,
) -> Program:
    """The program of kernels that `binder` has."""
    if blocks is not None:
        ready = _Ready(module, board, choices, name, binder)
        return ready.program(wider_turns.faster(ready.planning, ready.planning.attempt(blocks)))

    def searched(binder: Binder) -> Found:
        ready, best = _best(module, board, choices, name, binder)
        return Found(program=ready.unlinked(best), finish=ready.finished)

    asked = Asked(
        optimize=choices.optimize,
        compress=choices.compress,
        rules=choices.constant_rules,
        alone=not choices.among_others,
    )
    return within_flash(searched(binder), lambda caps: searched(binder.capped(caps)), binder, asked)


def _best(
    module: Module, board: Board, choices: Choices, name: str, binder: Binder
) -> "tuple[_Ready, Attempt]":
    """The plan that `--optimize` asks for, or, where that misses a limit, the fastest that keeps it."""
    ready, asked = _asked(module, board, choices, name, binder)
    return ready, within_limits(ready.planning, asked, lambda: ready.frontier({choices.optimize: asked}))


def _asked(
    module: Module, board: Board, choices: Choices, name: str, binder: Binder
) -> "tuple[_Ready, Attempt | None]":
    """The plan that `--optimize` asks for without a limit; None if the board has no room for it."""
    optimize = choices.optimize
    ready = _Ready(module, board, choices, name, binder)
    best = objective_attempt(without_limits(ready.planning), optimize)
    if best is None:
        return ready, None
    limit, used_bytes = code_limit(optimize, len(module.main.body)), used_code_bytes(best.prim_funcs)
    brought_bytes = used_bytes - ready.code_bytes
    if limit is not None and used_bytes > limit and brought_bytes and not choices.clock.late():
        # Kernels that save RAM brought code of their own: the others get what is left.
        tighter = _Ready(module, board, choices, name, binder, spare_bytes=brought_bytes)
        other = objective_attempt(without_limits(tighter.planning), optimize)
        if other and _is_as_good(other, best) and used_code_bytes(other.prim_funcs) < used_bytes:
            return tighter, other
    return ready, best


def _on_clock(choices: Choices) -> Choices:
    """`choices` with their deadline counted from now on."""
    return replace(choices, clock=Clock(choices.limits.deadline_seconds))


def _is_as_good(other: Attempt, best: Attempt) -> bool:
    return (other.extra_cost, other.peak_bytes, other.macs) <= (best.extra_cost, best.peak_bytes, best.macs)


def curve(
    module: Module, board: Board, choices: Choices, *, name: str, progress: Progress
) -> tuple[Program, ...]:
    """Programs of which each needs fewer bytes and more instructions than the one before it.
    Limits of so many bytes lead to them. Every one has passed the checkers.

    Raises CodegenError as `search` does. `choices.optimize` decides nothing here.
    """
    choices = _on_clock(replace(choices, optimize="balanced"))
    costs = None
    if choices.memory is not None:
        costs = CycleCosts(core=board.target.cpu, memory=choices.memory, is_staged=True)
    binder = binder_of(module.arrays, board.target, costs, choices.optimize)
    ready, asked = _asked(module, board, choices, name, binder)
    frontier = ready.frontier({choices.optimize: asked})
    points = frontier.points(ready.planning.pools, progress, f"plan {name}, ways weighed:")
    return tuple(ready.program(attempt, within_peaks=True) for attempt in points)


class _Ready:
    """A module whose kernels, devices and order are chosen."""

    def __init__(
        self,
        module: Module,
        board: Board,
        choices: Choices,
        name: str,
        binder: Binder,
        *,
        spare_bytes: int = 0,
    ) -> None:
        """`spare_bytes`: how much of the code that kernels may take is kept for those chosen later."""
        function = module.main
        check_memories(choices.states, [pool.name for pool in replace(choices, state_bytes=0).pools(board)])
        self._states = _states(function, choices, name)
        choices = _lasting(function, choices, self._states)
        self._board, self._choices, self._name, self._module = board, choices, name, module
        self._binder, self._costs = binder, BlockCosts()
        binder = sparing(function, binder, choices.optimize)
        chosen = select(function, binder, choices.optimize, spare_bytes=spare_bytes)
        self.code_bytes = used_code_bytes(chosen)
        self.planning = self._planning(chosen, replace(choices, patches=False), row_steps, binder)
        check_stream(self.planning, self.planning.variant.function, choices)

    def frontier(self, asked: Mapping[Optimize, Attempt | None]) -> Frontier:
        """The ways from the fewest instructions to the fewest bytes, whatever `choices.optimize` is. `asked`:
        plans that some values of it ask for."""
        choices, function, binder = replace(self._choices, optimize="speed"), self._module.main, self._binder
        fast = self._planning(select(function, binder), choices, row_steps, binder)
        lean = self._planning(select_fewest_bytes(function, binder), choices, row_steps, binder)
        rows = row_choices(fast.variant.prim_funcs, binder)
        leanest = row_choices(lean.variant.prim_funcs, binder)[-1]
        plannings = [*map(fast.with_rows, rows), lean.with_rows(leanest)]
        # The plan of `speed` is preferred for nothing that a limit would have to buy.
        preferred = None if self._choices.optimize == "speed" else asked.get(self._choices.optimize)
        return Frontier(plannings, lambda: self._unlimited(asked), preferred)

    def _unlimited(self, asked: Mapping[Optimize, Attempt | None]) -> Iterator[tuple[Planning, Attempt]]:
        """Plans that each `--optimize` asks for; that of `speed`, which needs most bytes, if it is asked."""
        for optimize in get_args(Optimize):
            if optimize == "speed" and optimize not in asked:
                continue
            if optimize in asked:
                ready, attempt = self, asked[optimize]
            else:
                choices = replace(self._choices, optimize=optimize)
                ready, attempt = _asked(self._module, self._board, choices, self._name, self._binder)
            if attempt is not None:
                yield ready.planning, attempt

    def _planning(
        self,
        chosen: Sequence[PrimFunc],
        choices: Choices,
        rows: Callable[[Sequence[PrimFunc], Binder, int], tuple[PrimFunc | None, ...]],
        binder: Binder,
    ) -> Planning:
        """The module with these kernels, devices and order planned for them; `rows` binds steps of blocks,
        all of kernels that `binder` has."""
        board, function = self._board, self._module.main
        pools = choices.pools(board)
        plain = pools[:-1] if choices.state_bytes else pools
        function, prim_funcs = plan_devices(
            function,
            reading(chosen, choices.placed.reads),
            board_offer(board, [pool.name for pool in plain if pool.name not in choices.state_pools]),
            _owners(function, choices),
        )
        prim_funcs = permitted(prim_funcs, choices.sharing)
        edge, clock = choices.edge(), choices.clock
        ordered = schedule(function, prim_funcs, mode=choices.schedule, edge=edge, clock=clock)
        function, prim_funcs = ordered.function, ordered.prim_funcs
        steps = rows(prim_funcs, binder, FLASH_WORTH[choices.optimize])
        return Planning(
            ordered=ordered,
            variant=Variant(function=function, prim_funcs=prim_funcs, steps=steps),
            binder=binder,
            board=board,
            pools=pools,
            planner=planners.find(choices.planner),
            choices=choices,
            costs=self._costs,
        )

    def program(self, best: Attempt, *, within_peaks: bool = False) -> Program:
        """The program of an attempt; `within_peaks`: copies of constants raise none. Raises ValueError if a
        checker finds fault with it."""
        return self.finished(self.unlinked(best), self._choices.compress, within_peaks=within_peaks)

    def unlinked(self, best: Attempt) -> Program:
        """The program of an attempt before its constants are linked."""
        choices = self._choices
        prim_funcs = directed(best.prim_funcs, best.live.slices, best.plan)
        if lost := memories.lost(best.ordered.prim_funcs, prim_funcs):
            raise ValueError("demands were lost:\n" + "\n".join(lost))
        pools = choices.constant_pools(self._board, prim_funcs)
        ruled = placed(prim_funcs, choices.constant_rules, pools, all_apply=not choices.among_others)
        prim_funcs = in_reach(ruled, self._board, pools)
        plan = replace(best.plan, reproducible=best.plan.reproducible and not choices.clock.cut)
        return Program(
            name=self._name,
            board=self._board,
            metadata=self._module.metadata,
            steps=Steps(function=best.function, prim_funcs=prim_funcs, times=best.live.times),
            memory=best.live.layout(best.problem, plan),
            constants=ConstantLayout(candidates=pools),
            edge=self.planning.edge,
            signature=Signature(
                inputs=io_tensors("input", best.function.params),
                outputs=io_tensors("output", _variables(best.ordered.function)),
                states=self._states,
            ),
            order=_certificate(best, self._choices),
        )

    def finished(self, program: Program, compress: CompressMode, *, within_peaks: bool = False) -> Program:
        """`program` with its constants linked, compressed if they may be and have to, copied where that pays,
        and checked."""
        choices = self._choices
        raised = choices.optimize == "speed" and not within_peaks
        program = linked(
            program,
            compress,
            optimize=choices.optimize,
            may_raise=raised,
            may_grow=not within_peaks,
        )
        check_apart(program)
        program = with_staging(program, choices.stage, may_raise=raised, may_stay=choices.alone)
        check(program)
        return program


def _states(function: Function, choices: Choices, name: str) -> tuple[StatePair, ...]:
    """The states of model `name`; raises CodegenError as `of_file` and `paired` do."""
    rules = [rule for rule in choices.states if rule.model in (None, name)]
    inputs, outputs = io_tensors("input", function.params), io_tensors("output", _variables(function))
    of_model = of_file(function, inputs, outputs, io=choices.io)
    taken = {field for state in of_model for field in (("in", state.input), ("out", state.output))}
    inputs = tuple(tensor for tensor in inputs if ("in", tensor.field) not in taken)
    outputs = tuple(tensor for tensor in outputs if ("out", tensor.field) not in taken)
    pairs = (*of_model, *paired(rules, inputs, outputs, io=choices.io))
    return in_memories(rules, pairs, alone=not choices.among_others)


def _lasting(function: Function, choices: Choices, states: tuple[StatePair, ...]) -> Choices:
    """`choices` under which the inputs of `states` keep their bytes, or are shifted in them."""
    taken = {state.input for state in states}
    inputs = io_tensors("input", function.params)
    names = frozenset(tensor.value for tensor in inputs if tensor.field in taken)
    shifts = (let.call.args[0] for let in function.body if let.call.op is SHIFT)
    shifted = names & {window.name for window in shifts if isinstance(window, Var)}
    values = {tensor.field: tensor.value for tensor in inputs}
    memories = {values[state.input]: state.memory for state in states if state.memory is not None}
    return replace(choices, lasting=LastingInputs(names=names, memories=memories, shifted=shifted))


def _owners(function: Function, choices: Choices) -> Owners:
    """Values of `function` that are the caller's, and who gave values their devices."""
    callers = choices.io is IoMode.CALLER
    callers_params = function.params if callers else function.params[:1] if choices.stream_input else ()
    return Owners(
        inputs=frozenset(param.name for param in callers_params),
        owns_results=callers,
        placed=choices.placed.who,
    )


def _certificate(best: Attempt, choices: Choices) -> OrderCertificate:
    """The order is proved best if the plan needs no more than any order of these steps does."""
    searched = choices.schedule == "optimal"
    ordered = best.ordered
    order = ordered.result
    whole = best.function == ordered.function and best.prim_funcs == ordered.prim_funcs
    return OrderCertificate(
        searched=searched,
        reordered=order.reordered,
        proved=searched and whole and best.peak_bytes <= order.lower_bound_bytes,
        exhausted=searched and order.proved,
        states=order.states,
        peak_bytes=order.peak_bytes,
        file_peak_bytes=order.file_peak_bytes,
        lower_bound_bytes=order.lower_bound_bytes,
    )


def check(program: Program) -> None:
    """All independent checkers on a plan; raises ValueError listing what they found (a planner's bug)."""
    faults = [
        *validate.violations(program.memory.problem, program.memory.plan),
        *replay.replay_program(program),
        *memories.misplaced_program(program),
    ]
    if faults:
        raise ValueError(f"planner {program.memory.plan.planner} made a wrong plan:\n" + "\n".join(faults))


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
