"""Which linked constants of a program are copied to faster memory."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from codegen.plan.constants.staging import Staging, candidates, choose, with_staged
from codegen.program.constants import ConstantCosts
from codegen.program.problem import peak_bytes
from codegen.program.program import Program

StageMode = Literal["off", "use", "auto"]
"""No copies; copies in front of the step that reads them; also copies at start-up."""


LEAST_PERCENT = 1
"""Of what reads of constants cost without copies, `auto` copies only where it saves at least so much."""


def with_staging(program: Program, mode: StageMode, *, may_raise: bool, may_stay: bool) -> Program:
    """`program` with copies of linked constants where its board's access costs say that they pay.

    `may_raise`: they may take all bytes up to the pools' limits, as with `speed`; else only those that the
    plan leaves free below its peaks, as `balanced` and `size` put RAM first. `may_stay`: nothing else runs in
    these pools, so that copies made at start-up last.
    """
    reads = {
        (prim.name, each.role): 1.0 if each.reads is None else each.reads
        for prim in program.prim_funcs
        for each in prim.constants
    }
    steps = {prim.name: step for step, prim in enumerate(program.prim_funcs)}
    found = candidates(
        program.constants, steps, reads, minimum_alignment=program.board.buffer_alignment_bytes
    )
    # What is decoded is in a pool already.
    decoded = {copy.user for copy in program.staged}
    found = [each for each in found if each.part.user not in decoded]

    def chosen(limits: Mapping[str, int]) -> Staging:
        may_last = may_stay and mode == "auto"
        return choose(found, program.problem, program.plan, program.times, limits, may_stay=may_last)

    choice = chosen(_limits(program, may_raise=may_raise) if mode != "off" else {})
    if mode == "auto" and not _pays(choice.costs):
        choice = chosen({})
    problem, plan = with_staged(program.problem, program.plan, choice.staged, program.times)
    staged = (*program.staged, *choice.staged)
    return replace(program, problem=problem, plan=plan, staged=staged, constant_costs=choice.costs)


def _pays(costs: ConstantCosts) -> bool:
    """Whether copies save enough of what reads of constants cost to be worth their code and headers."""
    return 100 * (costs.linked - costs.chosen) >= LEAST_PERCENT * costs.linked


def _limits(program: Program, *, may_raise: bool) -> Mapping[str, int]:
    pools = program.problem.pools
    if may_raise:
        return {pool.name: pool.limit_bytes for pool in pools}
    return {pool.name: peak_bytes(program.problem, program.plan, pool.name) for pool in pools}
