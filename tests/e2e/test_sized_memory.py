"""Models whose sizes are ranges, run with nothing of the pools open but what a step owns at these sizes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from codegen import board as boards
from codegen import emit, toolchain
from codegen.board import MemoryFault, run_poisoned
from codegen.driver.build import Planned, build, plan_model
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.inputs.declared_pools import option_board
from codegen.driver.inputs.dims import parsed
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, reference
from codegen.driver.sized_run import complaints_at, member_of, request_at, run_at
from codegen.errors import CodegenError
from codegen.ir.formulas import Sum, constant_of
from codegen.joint import together
from codegen.program.image import RunResult
from codegen.program.interface import Interface, IoMode, PoolOwner
from codegen.program.program import Program
from codegen.program.size_ranges import Ranges, breakpoints, number_at
from tests.emit.compiling import run_main
from tests.search.ranges.networks import NETWORKS, Net, Network, detector, narrow, overlapping


def _file(network: Network, folder: Path) -> Path:
    path = folder / f"{network.name}.tflite"
    path.write_bytes(network.data)
    return path


def _ranges(program: Program) -> Ranges:
    assert program.ranges is not None
    return program.ranges


@pytest.mark.qemu
@pytest.mark.parametrize("board", ["mps3-an547", pytest.param("mps2-an505", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "draw",
    [
        overlapping,
        *(pytest.param(d, marks=pytest.mark.long) for d in NETWORKS if d is not overlapping),
    ],
    ids=lambda draw: draw.__name__,
)
def test_steps_stay_within_their_buffers_at_every_turn(
    draw: Callable[[], Network], board: str, tmp_path: Path
) -> None:
    network = draw()
    options = Options(board=board, dims=parsed(narrow(network)), sandbox=True)
    built = build([_file(network, tmp_path)], options, tmp_path / "out", emulated=True)
    sizes = breakpoints(_ranges(built.models[0].program))
    found = run_at(built, sizes, seed=3, conditions=RunConditions(sandboxed=True))
    assert complaints_at(found) == []
    assert all(each.measured.result.cases[0].instructions is None for each in found)


def _planned(network: Network, board: str, folder: Path, **options: bool) -> Planned:
    settings = Options(board=board, dims=parsed(narrow(network)), **options)  # pyright: ignore[reportArgumentType]
    return plan_model(_file(network, folder), boards.load_board(board), settings)


def _poisoned(planned: Planned, table: Program, folder: Path) -> list[RunResult | MemoryFault]:
    """At every turn of the plan, who is alive by the formulas of `table`."""
    program, board = planned.program, planned.program.board
    sources, told = emit.render(together([program])), emit.render(together([table]))
    path = f"firmware/{program.name}_bench.c"
    sources = replace(sources, files={**sources.files, path: told.files[path]})
    emit.write(sources, folder / "build")
    image = toolchain.build(sources, folder / "build", board, optimize="balanced", sanitize=True)
    found: list[RunResult | MemoryFault] = []
    for values in breakpoints(_ranges(program)):
        here = member_of(planned, values)
        case = pattern_case([tensor.type for tensor in here.program.signature.inputs], 5)
        found.append(run_poisoned(image, board, request_at(program, case, values)))
    return found


@pytest.mark.parametrize(
    "draw",
    [overlapping, *(pytest.param(d, marks=pytest.mark.long) for d in NETWORKS if d is not overlapping)],
    ids=lambda draw: draw.__name__,
)
def test_what_nobody_owns_at_a_size_is_poisoned_and_nobody_touches_it(
    draw: Callable[[], Network], tmp_path: Path
) -> None:
    planned = _planned(draw(), "host", tmp_path)
    for each in _poisoned(planned, planned.program, tmp_path):
        assert isinstance(each, RunResult), each
        assert each.cases[0].paints_agree and each.cases[0].guards_intact


def test_a_formula_that_is_wrong_at_smaller_sizes_is_caught(tmp_path: Path) -> None:
    """What begins at the start of the pool is told to begin 8 bytes higher for each size below the last."""
    planned = _planned(overlapping(), "host", tmp_path)
    ranges = _ranges(planned.program)
    [symbol] = ranges.symbols
    wrong = Sum(constant=8 * symbol.high, terms=((-8, (symbol.name,)),))
    buffers = {
        id_: (wrong if constant_of(offset) == 0 else offset, size)
        for id_, (offset, size) in ranges.buffers.items()
    }
    table = replace(planned.program, ranges=replace(ranges, buffers=buffers))
    first, *_, last = _poisoned(planned, table, tmp_path)
    assert isinstance(first, MemoryFault) and isinstance(last, RunResult)


def test_a_board_that_cannot_says_so(tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match="cannot sandbox a run: its core has no memory protection unit"):
        build(
            [_file(detector(), tmp_path)],
            Options(board="mps2-an386", dims=parsed(["H=8..9", "W=8..9"]), sandbox=True),
            tmp_path / "out",
            emulated=True,
        )


def _run(network: Network, board: str, folder: Path, *dims: str, **options: object) -> Program:
    """The program, which ran at every turn as it was planned."""
    settings = Options(board=board, dims=parsed(dims), **options)  # pyright: ignore[reportArgumentType]
    built = build([_file(network, folder)], settings, folder / "out", emulated=True)
    program = built.models[0].program
    assert complaints_at(run_at(built, breakpoints(_ranges(program)), seed=3)) == []
    return program


@pytest.mark.qemu
@pytest.mark.thorough
def test_constants_are_staged_at_offsets_that_follow_the_size(tmp_path: Path) -> None:
    """None at start-up: a call of another size would need those bytes."""
    limits = {"itcm": 0}
    program = _run(overlapping(), "mps3-an547", tmp_path, "x0.1=9..14", optimize="speed", pool_limits=limits)
    copies = program.constants.copied
    assert copies and all(copy.copied_at is not None for copy in copies)
    offsets = [_ranges(program).buffers[copy.buffer][0] for copy in copies]
    assert any(constant_of(offset) is None for offset in offsets)


@pytest.mark.qemu
def test_constants_are_decoded_at_offsets_that_follow_the_size(tmp_path: Path) -> None:
    net = Net(9, largest=3)
    image = net.tensor((1, 40, 1, 8), frozenset({1}), "x0")
    x = net.conv(net.depthwise(net.conv(image, 32, (3, 1), (2, 1)), (3, 1)), 48, (1, 1))
    data = net.finish([image], [net.dense(net.mean(net.conv(x, 16, (1, 1))), 6)])
    network = Network("small", data, (), {})
    words: dict[str, object] = {"reduce": False, "blocks": False, "pool_limits": {"flash": 3400}}
    program = _run(network, "mps2-an386", tmp_path, "T=16..24", **words)
    copies = program.constants.unpacked
    assert len(copies) > 2
    offsets = [_ranges(program).buffers[copy.buffer][0] for copy in copies]
    assert any(constant_of(offset) is None for offset in offsets)
    settings = Options(board="mps2-an386", dims=parsed(("T=24",)), **words)  # pyright: ignore[reportArgumentType]
    alone = build([_file(network, tmp_path)], settings, tmp_path / "alone", emulated=True).models[0].program
    assert program.memory.peak_bytes("sram") == alone.memory.peak_bytes("sram")


HANDED_OVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "{name}.h"
#define GUARD 64u
static const int8_t given[] = {{{given}}};
static int8_t taken[{largest}];
static int at(uint32_t rows)
{{
    const {name}_dims dims = {{.x0_dim1 = rows}};
    const uint32_t bytes = {name}_workspace_bytes(&dims, {macro}_POOL_SRAM);
    uint8_t *const memory = malloc(bytes + 2u * GUARD);
    if (memory == NULL) {{
        return 1;
    }}
    memset(memory, 0x5a, bytes + 2u * GUARD);
    const {name}_inputs inputs = {{.x0 = given}};
    const {name}_outputs outputs = {{.{output} = taken}};
    {name}_workspace_pools pools = {{.sram = &memory[GUARD], .sram_size_bytes = bytes - 1u}};
    const int less = (int){name}_run(&pools, &inputs, &outputs, &dims);
    pools.sram_size_bytes = bytes;
    const int exact = (int){name}_run(&pools, &inputs, &outputs, &dims);
    uint32_t whole = 0u;
    for (uint32_t i = 0u; i < GUARD; i++) {{
        whole += (uint32_t)(memory[i] == 0x5au) + (uint32_t)(memory[GUARD + bytes + i] == 0x5au);
    }}
    int32_t shape[{macro}_{output_macro}_RANK];
    if ({name}_{output}_shape(&dims, shape) != CG_OK) {{
        return 1;
    }}
    printf("%u %d %d %u", (unsigned)bytes, less, exact, (unsigned)whole);
    for (int32_t i = 0; i < shape[1] * shape[2] * shape[3]; i++) {{
        printf(" %d", taken[i]);
    }}
    printf("\\n");
    free(memory);
    return 0;
}}
int main(void)
{{
    return {calls};
}}
"""


def test_what_a_call_needs_is_enough_and_one_byte_less_is_refused(tmp_path: Path) -> None:
    """Memory of exactly `workspace_bytes` at several sizes, between guards; outputs are NumPy's."""
    network = overlapping()
    options = Options(
        board="host",
        dims=parsed(["x0.1=9..24"]),
        io=IoMode.CALLER,
        interface=Interface(pools=PoolOwner.CALLER),
    )
    planned = plan_model(_file(network, tmp_path), option_board("host", ()), options, emulated=True)
    ranges = _ranges(planned.program)
    [symbol] = ranges.symbols
    sizes = sorted({*(each[symbol.name] for each in breakpoints(ranges)), 17, 22})
    every = [member_of(planned, {symbol.name: size}) for size in sizes]
    case = pattern_case([tensor.type for tensor in planned.program.signature.inputs], 5)
    [rows], [output] = case.inputs, planned.program.signature.outputs
    sources = emit.render(together((planned.program,)))
    emit.write(sources, tmp_path / "out")
    main = HANDED_OVER.format(
        name=planned.program.name,
        macro=planned.program.name.upper(),
        output=output.field,
        output_macro=output.field.upper(),
        given=", ".join(str(each) for each in rows.reshape(-1)),
        largest=output.type.elements,
        calls=" + ".join(f"at({size}u)" for size in sizes),
    )
    printed = run_main(sources, tmp_path / "out", main, "-O1", "-fsanitize=address,undefined").splitlines()
    for size, here, line in zip(sizes, every, printed, strict=True):
        bytes_, less, exact, whole, *found = (int(word) for word in line.split())
        assert bytes_ == number_at(ranges, ranges.pools["sram"], {symbol.name: size})
        assert (less, exact, whole) == (4, 0, 128)  # CG_ERR_POOL_SIZE, CG_OK, guards
        [wanted] = reference(here, replace(case, inputs=(rows[:, :size],)))
        assert found == wanted.reshape(-1).tolist()
