"""Whether the pools of a linked image are where the board and the plan want them."""

import itertools
from collections.abc import Mapping

from codegen.errors import Messages
from codegen.ir import Board, Runner
from codegen.program.sources import Image
from codegen.toolchain.elf import Elf

Symbols = Mapping[str, tuple[int, int]]
"""Symbol -> two numbers; of an image: address and bytes."""


def check_placed(elf: Elf, board: Board, prefix: str) -> None:
    """Check that the pools `<prefix>_<pool>_pool` lie in their regions, each defined once, none on another.

    Raises CodegenError E507 with all that do not.
    """
    writable = [region.pool_name for region in board.regions if region.writable]
    names = {f"{prefix}_{pool}_pool" for pool in writable}
    messages = Messages()
    pools: dict[str, tuple[int, int]] = {}
    for symbol in elf.symbols:
        if symbol.name in names:
            if symbol.name in pools:
                messages.add("E507", "is in the image twice", where=f"pool {symbol.name}")
            pools[symbol.name] = (symbol.address, symbol.size_bytes)
    _check_apart(pools, messages)
    _check_regions(pools, board, messages)
    messages.raise_if_any()


def check_pools(image: Image, board: Board, planned: Symbols) -> None:
    """Check that each planned pool is in the image with its size and alignment, in its region.

    `planned`: symbol `<model>_<pool>_pool` -> (bytes; bytes of which its address must be a multiple).
    On `host` pools have no regions. Raises CodegenError E507 with all that differ.
    """
    messages = Messages()
    for name, (size_bytes, alignment) in planned.items():
        found = image.symbols.get(name)
        if found is None:
            messages.add("E507", "is not in the image", where=f"pool {name}")
        elif found[1] != size_bytes:
            text = f"has {found[1]} bytes in the image, {size_bytes} in the plan"
            messages.add("E507", text, where=f"pool {name}")
        elif found[0] % alignment:
            text = f"lies at 0x{found[0]:08x}, not at a multiple of {alignment} bytes"
            help_ = "the linker script must keep the alignment of .bss.cg sections"
            messages.add("E507", text, where=f"pool {name}", help=help_)
    present = {name: image.symbols[name] for name in planned if name in image.symbols}
    _check_apart(present, messages)
    _check_regions(present, board, messages)
    messages.raise_if_any()


def _check_apart(pools: Symbols, messages: Messages) -> None:
    ordered = sorted(pools.items(), key=lambda item: item[1])
    for (lower, (address, size_bytes)), (upper, (start, _)) in itertools.pairwise(ordered):
        if address + size_bytes > start:
            messages.add("E507", f"overlaps pool {upper} in the image", where=f"pool {lower}")


def _check_regions(pools: Symbols, board: Board, messages: Messages) -> None:
    if board.runner is Runner.HOST:
        return
    for name, (address, size_bytes) in pools.items():
        matching = [region for region in board.regions if name.endswith(f"_{region.pool_name}_pool")]
        region = max(matching, key=lambda region: len(region.name), default=None)
        if region is not None and not (region.address <= address and address + size_bytes <= region.end):
            messages.add(
                "E507",
                f"lies at 0x{address:08x}, outside region {region.name} "
                f"(0x{region.address:08x} to 0x{region.end:08x})",
                where=f"pool {name}",
                help="the board's linker script must send .bss.cg sections to their regions",
            )
