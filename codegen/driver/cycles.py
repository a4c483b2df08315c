"""Estimated cycles of every step: executions counted by a QEMU plugin, costs from the core's timings."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codegen import board as boards
from codegen import toolchain
from codegen.driver.build import Built
from codegen.driver.cases import Case
from codegen.driver.run import request
from codegen.errors import CodegenError, Message
from codegen.ir import Runner
from codegen.toolchain import callgraph, cycles, elf


def estimate_cycles(built: Built, case: Case, *, model: int = 0) -> tuple[int, ...]:
    """Cycles of each step of one inference, by the rules of docs/cycles.md.

    Runs `case` on QEMU once more, with every instruction counted. Raises CodegenError E225 for a board
    that has no timings or does not run on QEMU, E501, E605.
    """
    core = built.board.target.cpu
    timing = cycles.TIMINGS.get(core)
    if timing is None or built.board.runner is not Runner.QEMU:
        raise CodegenError(
            Message(
                code="E225",
                where="--cycles",
                text=f"no estimate for board {built.board.name}: it needs QEMU and a core whose timings are "
                f"published ({', '.join(cycles.TIMINGS)})",
                help="leave --cycles out, or take another board",
            )
        )
    program = built.models[model].program
    functions = callgraph.read(built.image.path, elf.read(built.image.path))
    hooks = toolchain.HOOK_FUNCTIONS
    codes = callgraph.reached(functions, [f"{program.name}_run"], without=hooks)
    base = min(code.address for code in codes)
    size = max(code.address + code.size_bytes for code in codes) - base
    counts = _count(built, case, model, (base, size))
    listing = tuple(callgraph.disassemble(built.image.path))
    spans = [(code.address, code.address + code.size_bytes) for code in codes]
    found = [cycles.executed(listing, step, base, spans) for step in counts]
    return tuple(round(cycles.cycles(run, timing)) for run in found)


def _count(built: Built, case: Case, model: int, code: tuple[int, int]) -> NDArray[np.uint64]:
    """[steps, halfwords of code, 2]: executions and branches taken of the last inference."""
    program = built.models[model].program
    begin, end = (built.image.symbols[name][0] & ~1 for name in toolchain.HOOK_FUNCTIONS)
    steps = len(program.prim_funcs)
    with tempfile.TemporaryDirectory(prefix="codegen-counts-") as folder:
        plugin = toolchain.build_counts_plugin(Path(folder))
        table = Path(folder) / "counts"
        words: Sequence[str] = (
            str(plugin),
            f"out={table}",
            f"base={code[0]}",
            f"size={code[1]}",
            f"begin={begin}",
            f"end={end}",
            f"steps={steps}",
        )
        wanted = request(program, [case], model=model)
        boards.run(built.image, built.board, wanted, plugin=",".join(words))
        counts = np.fromfile(table, np.uint64)
    return counts.reshape(steps, code[1] // 2, 2)
