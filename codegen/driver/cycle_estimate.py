"""Estimated cycles of every step: executions counted by a QEMU plugin, costs from the core's timings."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from codegen import board as boards
from codegen import toolchain
from codegen.disk import temporary_folder
from codegen.driver.build import Built
from codegen.driver.inputs.cases import Case
from codegen.driver.run import request
from codegen.errors import CodegenError, Message
from codegen.ir import MemoryModel, Runner
from codegen.targets.families import family_of
from codegen.toolchain import callgraph, cycles, elf

COLUMNS = 4
"""Columns of the plugin's tables: executions, branches taken, waits for code, waits for data."""


def estimate_cycles(
    built: Built, case: Case, *, model: int = 0, memory: MemoryModel | None = None
) -> cycles.CycleEstimate:
    """Cycles of each step of one inference, by the rules of docs/cycles.md, and its waits for a flash.

    Runs `case` on QEMU once more, with every instruction counted; with `memory` every fetch from the region
    of the code and every load from there goes through that flash's caches. Raises CodegenError E225 for a
    board that has no timings or does not run on QEMU, E501, E605.
    """
    family = family_of(built.board.target.cpu)
    counter = family.cycles.counters().get(built.board.target.cpu)
    if counter is None or built.board.runner is not Runner.QEMU:
        raise CodegenError(
            Message(
                code="E225",
                where="--cycles",
                text=f"no estimate for board {built.board.name}: it needs QEMU and a core whose timings are "
                f"published ({', '.join(family.cycles.counters())})",
                help="leave --cycles out, or take another board",
            )
        )
    program = built.models[model].program
    functions = callgraph.read(built.image.path, elf.read(built.image.path), family)
    hooks = toolchain.HOOK_FUNCTIONS
    codes = callgraph.reached(functions, [f"{program.name}_run"], without=hooks)
    base = min(code.address for code in codes)
    size = max(code.address + code.size_bytes for code in codes) - base
    counts = _count(built, case, model, (base, size), memory)
    listing = tuple(callgraph.disassemble(built.image.path, family))
    spans = [(code.address, code.address + code.size_bytes) for code in codes]
    runs = [cycles.executed(listing, step, base, spans) for step in counts]
    costs = tuple(round(counter(run)) for run in runs)
    if memory is None:
        return cycles.CycleEstimate(cycles=costs)
    waits = tuple(cycles.total_waits(line.waits for line in run) for run in runs)
    return cycles.CycleEstimate(cycles=costs, memory=memory, waits=waits)


def _flash_words(built: Built, memory: MemoryModel) -> list[str]:
    """The plugin's arguments for the flash: the region of code and linked constants."""
    flash = built.board.region(built.board.code_region)
    caches = (memory.instruction_cache, memory.data_cache)
    rows = [
        f"{name}rows={cache.rows if cache else 0}"
        for name, cache in zip(("code", "data"), caches, strict=True)
    ]
    row_bytes = [
        f"{name}row={cache.row_bytes if cache else memory.read_bytes}"
        for name, cache in zip(("code", "data"), caches, strict=True)
    ]
    return [
        f"flash={flash.address}",
        f"flashsize={flash.size_bytes}",
        f"wait={memory.wait_states}",
        f"read={memory.read_bytes}",
        f"prefetch={int(memory.prefetch)}",
        *rows,
        *row_bytes,
    ]


def _count(
    built: Built, case: Case, model: int, code: tuple[int, int], memory: MemoryModel | None
) -> NDArray[np.uint64]:
    """[steps, halfwords of code, COLUMNS] of the last inference. Steps without code call no hook: the plugin
    has a table for each of the others, in their order."""
    program = built.models[model].program
    coded = [step for step in range(len(program.steps.prim_funcs)) if step not in program.silent_steps]
    counts = np.zeros((len(program.steps.prim_funcs), code[1] // 2, COLUMNS), np.uint64)
    if not coded:
        return counts
    begin, end = (built.image.symbols[name][0] for name in toolchain.HOOK_FUNCTIONS)
    with temporary_folder("counts") as folder:
        plugin = toolchain.build_counts_plugin(
            folder, boards.plugin_api(built.board), family_of(built.board.target.cpu)
        )
        table = folder / "counts"
        words: Sequence[str] = (
            str(plugin),
            f"out={table}",
            f"base={code[0]}",
            f"size={code[1]}",
            f"begin={begin}",
            f"end={end}",
            f"steps={len(coded)}",
            *(_flash_words(built, memory) if memory else ()),
        )
        run_request = request(program, [case], model=model)
        with boards.session(built.image, built.board, plugin=",".join(words)) as target:
            target.run(run_request)
        counts[coded] = np.fromfile(table, np.uint64).reshape(len(coded), *counts.shape[1:])
    return counts
