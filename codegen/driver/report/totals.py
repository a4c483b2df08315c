"""Share of the board that a model takes: RAM with the stack, flash with the code."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from codegen.ir.hardware import Board
from codegen.kernels.primfunc import PrimFunc
from codegen.problem.problem import Pool


def totals(document: Mapping[str, object], board: Board, pools: Iterable[Pool]) -> dict[str, object]:
    """`totals` of report.json: bytes of the model, and bytes that the board has.

    RAM is that of all pools and the static stack bounds; flash is constants that are linked and the model's
    code. Without an image (`plan`) neither stack nor code is known, and both sums are None.
    """
    plan, constants = _part(document, "plan"), _part(document, "constants")
    elf = cast("Mapping[str, int | None] | None", document.get("elf"))
    ram = flash = None
    if elf is not None:
        linked = constants["total_bytes"] if constants.get("mode") != "external" else 0
        flash = cast("int", linked) + cast("int", elf["model_code_bytes"])
        if elf["stack_bound_bytes"] is not None:
            stacks = elf["stack_bound_bytes"] + (elf["core1_stack_bound_bytes"] or 0)
            ram = cast("int", plan["peak_bytes"]) + stacks
    return {
        "ram_bytes": ram,
        "board_ram_bytes": sum(region.size_bytes for region in board.regions if region.writable),
        "pool_limit_bytes": sum(pool.limit_bytes for pool in pools)
        if _part(document, "board")["requested"]
        else None,
        "flash_bytes": flash,
        "board_flash_bytes": sum(region.size_bytes for region in board.regions if not region.writable),
    }


def predicted_instructions(prims: Sequence[PrimFunc]) -> int | None:
    """Sum over the steps whose kernels have a model; None unless each step with multiply-accumulates has."""
    if any(prim.macs and prim.instructions is None for prim in prims):
        return None
    return sum(prim.instructions or 0 for prim in prims) or None


def steps_not_predicted(prims: Sequence[PrimFunc]) -> int:
    """Steps with code whose kernels have no model of their instructions."""
    return sum(bool(prim.symbol or prim.block) and prim.instructions is None for prim in prims)


def _part(document: Mapping[str, object], key: str) -> Mapping[str, object]:
    return cast("Mapping[str, object]", document[key])
