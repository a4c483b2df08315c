"""The memory map, against one drawn by hand."""

import itertools

from codegen.kernels.contract import Sharing, View, Workspace
from codegen.plan.draw.memory_map import memory_map
from codegen.program.problem import BufferKind, Pool
from tests.plan.build import buffer, live, placed, prim, problem, var

IMAGE, CONV0, DW1, ADD2 = var("image", 64), var("conv0", 128), var("dw1", 128), var("add2", 128)
POOL3, FLAT4, FC5 = var("pool3", 8), var("flat4", 8), var("fc5", 4)
STEPS = [
    prim(CONV0, IMAGE, workspaces=(Workspace(name="ws", size_bytes=20),)),
    prim(DW1, CONV0),
    prim(ADD2, CONV0, DW1, sharing=(Sharing(argument=1, below=0),)),
    prim(POOL3, ADD2),
    prim(FLAT4, POOL3, view=View(argument=0)),
    prim(FC5, FLAT4),
]

# Columns of 8 bytes: the least power of two for which 256 bytes fit the room. conv0 takes columns 0..15,
# dw1 and add2 columns 16..31, pool3 column 0; at step 5 fc5 lies in half of column 1.
EXPECTED = """\
sram pool, 256 bytes (lower bound 0), 8 bytes a column
           0x000           0x080            live bytes
   0 conv0 BBBBBBBBBBBBBBBBAAAAAAAA***.....        212
   1 dw1   BBBBBBBBBBBBBBBBCCCCCCCCCCCCCCCC        256  <- peak
   2 add2  BBBBBBBBBBBBBBBBDDDDDDDDDDDDDDDD        256  <- peak  D over C
   3 pool3 E...............DDDDDDDDDDDDDDDD        136
   4 flat4 E...............................          8
   5 fc5   EF..............................         12

id  values        pool    offset    bytes  align  steps
A   image         sram     0x080       64      1  0..0
B   conv0         sram     0x000      128      1  0..2
C   dw1           sram     0x080      128      1  1..2
D   add2          sram     0x080      128      1  2..3
E   pool3, flat4  sram     0x000        8      1  3..5
F   fc5           sram     0x008        4      1  5..5
*   conv0.ws      sram     0x0c0       20      4  0..0"""

OFFSETS = {"image": 128, "conv0": 0, "conv0.ws": 192, "dw1": 128, "add2": 128, "pool3": 0, "fc5": 8}


def test_against_a_map_drawn_by_hand() -> None:
    found = live([IMAGE], STEPS, [FC5])
    text = memory_map(
        problem=found.problem([Pool(name="sram", region="SRAM", limit_bytes=1 << 20)]),
        plan=placed(**OFFSETS),
        times=found.times,
        steps=[step.name for step in STEPS],
        slices=found.slices,
    )
    assert text == EXPECTED


def test_rows_say_what_core_1_runs() -> None:
    """Nothing in the map told which steps a `[[place]]` had moved to the other core."""
    found = live([IMAGE], STEPS, [FC5])
    text = memory_map(
        problem=found.problem([Pool(name="sram", region="SRAM", limit_bytes=1 << 20)]),
        plan=placed(**OFFSETS),
        times=found.times,
        steps=[step.name for step in STEPS],
        slices=found.slices,
        core1=(2, 5),
    )
    lines = EXPECTED.splitlines()
    lines[4] += "  core 1"
    lines[7] += "  core 1"
    assert text.splitlines() == lines


def test_wide_networks_stay_within_the_width() -> None:
    values = [var(f"a_very_long_name_of_a_value_that_goes_on_{i}", 40_000 + i) for i in range(70)]
    steps = [prim(after, before) for before, after in itertools.pairwise(values)]
    found = live([values[0]], steps, [values[-1]])
    offsets = {value.name: 40_100 * (index % 2) for index, value in enumerate(values)}
    for width, core1 in ((80, ()), (100, ()), (80, range(69)), (100, range(69))):
        lines = memory_map(
            problem=found.problem([Pool(name="sram", region="SRAM", limit_bytes=1 << 20)]),
            plan=placed(**offsets),
            times=found.times,
            steps=[step.name for step in steps],
            slices=found.slices,
            core1=core1,
            width=width,
        ).splitlines()
        assert len(lines) == 2 + 69 + 2 + 70
        assert max(len(line) for line in lines) <= width
        assert all(line == line.rstrip() for line in lines)


def test_empty_things() -> None:
    assert (
        memory_map(problem=problem(), plan=placed(), times=[], steps=[], slices={}) == "no buffers in pools"
    )
    empty = problem(buffer("a", 0, 0, 1))
    text = memory_map(problem=empty, plan=placed(a=0), times=[(0, 1)], steps=["s"], slices={})
    assert "   0 s .          0" in text
    assert empty.buffers[0].kind is BufferKind.ACTIVATION


def test_a_result_over_the_input_of_the_model_is_told() -> None:
    """Input and first result are born at once: the map showed the result alone, without `B over A`."""
    steps = [prim(CONV0, IMAGE, sharing=(Sharing(argument=0, below=64),)), prim(DW1, CONV0)]
    found = live([IMAGE], steps, [DW1])
    text = memory_map(
        problem=found.problem([Pool(name="sram", region="SRAM", limit_bytes=1 << 20)]),
        plan=placed(image=64, conv0=0, dw1=128),
        times=found.times,
        steps=[step.name for step in steps],
        slices=found.slices,
    )
    first, second = text.splitlines()[2:4]
    assert first == "   0 conv0 BBBBBBBBBBBBBBBB................        128  B over A"
    assert second == "   1 dw1   BBBBBBBBBBBBBBBBCCCCCCCCCCCCCCCC        256  <- peak"
