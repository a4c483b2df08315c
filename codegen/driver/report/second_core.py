"""What runs on core 1, for people."""

from codegen.driver.words import counted
from codegen.program.cores import second_core_steps
from codegen.program.program import Program


def core1_line(program: Program) -> str | None:
    """One line naming the steps that core 1 runs, by the numbers and names of the memory map; None if it runs
    none."""
    steps = second_core_steps(program)
    if not steps:
        return None
    named = ", ".join(f"{step} {program.prim_funcs[step].name}" for step in steps)
    return f"core 1    {len(steps)} of {counted(len(program.prim_funcs), 'step')}: {named}"
