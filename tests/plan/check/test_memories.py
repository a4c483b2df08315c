"""The third checker: calls that no core of the board runs (memories: search/devices/test_device_plan.py)."""

from dataclasses import replace

from codegen.ir import SecondCore, VirtualDevice
from codegen.plan.check.memories import misplaced_program
from tests.emit import samples
from tests.emit.variants import on_core_1

SECOND = SecondCore(driver="sse200", address=0, stack_bytes=256)


def test_a_call_on_a_core_that_the_board_lacks() -> None:
    program = on_core_1(samples.counter(), "lut1", "reshape3")
    fault = 'step 1 RELU "lut1": no core 1 of host runs it'
    assert misplaced_program(program) == [fault], "the view computes nothing"
    two = replace(program.board, second_core=SECOND)
    assert misplaced_program(replace(program, board=two)) == []
    assert misplaced_program(samples.counter()) == []


def test_a_call_on_a_device_that_its_kernel_does_not_drive() -> None:
    program = samples.counter()
    first = program.prim_funcs[0]
    npu = VirtualDevice(target="npu", device_id=0)
    placed = replace(first, let=replace(first.let, var=replace(first.let.var, device=npu)))
    others = program.prim_funcs[1:]
    faults = misplaced_program(replace(program, prim_funcs=(placed, *others)))
    assert faults == ['step 0 RELU "lut0": no npu 0 of host runs it']
    assert misplaced_program(replace(program, prim_funcs=(replace(placed, device=npu), *others))) == []
