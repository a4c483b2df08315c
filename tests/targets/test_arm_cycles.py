"""Cycles of instructions on Arm's cores against sums done by hand from the manuals' tables."""

import pytest

from codegen.targets.arm.timing import TIMINGS, cycles
from codegen.targets.instructions import Executed, Instruction


def _run(*lines: str, times: int = 1, taken: int = 0) -> list[Executed]:
    """Instructions one behind the other, all executed `times`; the last one branches `taken` times."""
    found: list[Executed] = []
    for index, line in enumerate(lines):
        mnemonic, _, operands = line.partition(" ")
        instruction = Instruction(address=2 * index, mnemonic=mnemonic, operands=operands)
        is_last = index == len(lines) - 1
        found.append(Executed(instruction=instruction, executions=times, taken=taken if is_last else 0))
    return found


def test_a_dot_product_loop_on_m4():
    """DDI 0439 3.3: a load 2 cycles, the next one 1; SMLAD and SUBS 1; a taken branch 1 + refill (1)."""
    loop = _run(
        "ldr r3, [r0], #4", "ldr r4, [r1], #4", "smlad r2, r3, r4, r2", "subs r5, #1", "bne 0 <f>",
        times=10, taken=9,
    )  # fmt: skip
    assert cycles(loop, TIMINGS["cortex-m4"]) == 10 * (2 + 1 + 1 + 1 + 1) + 9


@pytest.mark.parametrize(
    ("core", "line", "expected"),
    [
        ("cortex-m0", "ldr r0, [r1, #0]", 2),
        ("cortex-m0", "stmia r0!, {r1, r2, r3}", 4),
        ("cortex-m0plus", "muls r0, r1", 1),
        ("cortex-m3", "mla r0, r1, r2, r3", 2),
        ("cortex-m3", "smull r0, r1, r2, r3", 4),
        ("cortex-m4", "smull r0, r1, r2, r3", 1),
        ("cortex-m4", "ldrd r0, r1, [r2]", 3),
        ("cortex-m4", "push {r4, r5, r6, r7, lr}", 6),
        ("cortex-m4", "vfma.f32 s0, s1, s2", 3),
        ("cortex-m4", "movs r0, #1", 1),
        ("cortex-m4", "strbne r0, [r1]", 1),
        ("cortex-m4", "ldrle r0, [r1]", 2),
        ("cortex-m55", "vmladava.s8 r0, q0, q1", 2),
    ],
)
def test_single_instructions(core: str, line: str, expected: int):
    assert cycles(_run(line, times=7), TIMINGS[core]) == 7 * expected


def test_vector_instructions_overlap_a_neighbour_of_another_unit():
    timing = TIMINGS["cortex-m55"]
    assert cycles(_run("vldrb.8 q0, [r0]", "vmladava.s8 r2, q0, q1"), timing) == 2 + 1
    assert cycles(_run("vmladava.s8 r2, q0, q1", "vmladava.s8 r4, q0, q2"), timing) == 2 + 2


def test_two_neighbours_share_a_cycle_on_m7_only_if_independent():
    timing = TIMINGS["cortex-m7"]
    assert cycles(_run("add r0, r1", "add r2, r3"), timing) == 1
    assert cycles(_run("add r0, r1", "add r2, r0"), timing) == 2
    assert cycles(_run("smlad r0, r1, r2, r0", "smlad r3, r1, r2, r3"), timing) == 2
    assert cycles(_run("add r0, r1", "add r2, r3", "add r4, r5"), timing) == 2


def test_calls_and_returns_refill_longer():
    timing = TIMINGS["cortex-m4"]
    assert cycles(_run("bl 100 <f>", times=3, taken=3), timing) == 3 * (1 + 2)
    assert cycles(_run("bx lr", times=3, taken=3), timing) == 3 * (1 + 2)
    assert cycles(_run("pop {r4, pc}", taken=1), timing) == 1 + 2 + 2


def test_what_never_ran_costs_nothing_and_pairs_with_nothing():
    assert cycles(_run("ldr r0, [r1]", times=0), TIMINGS["cortex-m4"]) == 0
    one, two, three = (*_run("ldr r0, [r1]"), *_run("ldr r2, [r1]", times=0), *_run("ldr r3, [r1]"))
    assert cycles([one, two, three], TIMINGS["cortex-m4"]) == 4
