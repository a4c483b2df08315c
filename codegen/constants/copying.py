"""Which linked constants of a program are copied to faster memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from codegen.constants.staging import Candidate, Staging, candidates, choose, with_staged
from codegen.program.constants import ConstantCosts
from codegen.program.program import Program
from codegen.settings import StageMode

LEAST_PERCENT = 1
"""`--stage auto` copies only where that saves at least so many percent of what reads of constants cost."""


def with_staging(program: Program, mode: StageMode, *, may_raise: bool, may_stay: bool) -> Program:
    """`program` with copies of linked constants where its board's access costs say that they pay.

    `may_raise`: they may take all bytes up to the pools' limits, as with `speed`; else only those that the
    plan leaves free below its peaks, as `balanced` and `size` put RAM first. `may_stay`: nothing else runs in
    these pools, so that copies made at start-up last.
    """
    possible = _candidates(program)

    may_last = may_stay and mode == "auto"
    none: Mapping[str, int] = {}
    limits = _limits(program, may_raise=may_raise) if mode != "off" else none
    choice = _choice(program, possible, limits, may_stay=may_last)
    if mode == "auto" and not _pays(choice.costs):
        choice = _choice(program, possible, none, may_stay=may_last)
    staged = (*program.constants.staged, *choice.staged)
    return replace(
        program,
        memory=with_staged(program.memory, choice.staged, program.steps.times),
        constants=replace(program.constants, staged=staged, costs=choice.costs),
    )


def misses_start_up(program: Program, *, may_raise: bool) -> bool:
    """True if copies at start-up would pay in `program`, which was finished without any."""
    if any(copy.copied_at is not None for copy in program.constants.copied):
        return True
    limits = _limits(program, may_raise=may_raise)
    choice = _choice(program, _candidates(program), limits, may_stay=True)
    return _pays(choice.costs) and any(copy.copied_at is None for copy in choice.staged)


def _candidates(program: Program) -> list[Candidate]:
    """Linked constants that may be copied: what is decoded, or copied, is in a pool already."""
    reads = {
        (prim.name, constant.role): 1.0 if constant.reads is None else constant.reads
        for prim in program.steps.prim_funcs
        for constant in prim.constants
    }
    steps = {prim.name: step for step, prim in enumerate(program.steps.prim_funcs)}
    possible = candidates(
        program.constants.pools, steps, reads, minimum_alignment=program.board.buffer_alignment_bytes
    )
    staged = {copy.user for copy in program.constants.staged}
    return [constant for constant in possible if constant.part.user not in staged]


def _choice(
    program: Program, possible: Sequence[Candidate], limits: Mapping[str, int], *, may_stay: bool
) -> Staging:
    memory = program.memory
    return choose(possible, memory.problem, memory.plan, program.steps.times, limits, may_stay=may_stay)


def _pays(costs: ConstantCosts) -> bool:
    """True if copies save enough reading cost of constants to be worth their code and headers."""
    return 100 * (costs.linked - costs.chosen) >= LEAST_PERCENT * costs.linked


def _limits(program: Program, *, may_raise: bool) -> Mapping[str, int]:
    limits, peaks = program.copy_limits, program.memory.peaks
    return limits if may_raise else {name: peaks[name] for name in limits}
