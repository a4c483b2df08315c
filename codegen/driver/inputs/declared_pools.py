"""Pools that a user declares inside the board's memories: a part of a region becomes a region of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codegen import board as boards
from codegen.errors import Messages
from codegen.ir import Board, MemoryModel, Region


@dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredPool:
    """`--pool NAME=BYTES@ADDRESS`."""

    name: str
    size_bytes: int
    address: int

    def __str__(self) -> str:
        return f"{self.name}={self.size_bytes}@0x{self.address:08x}"

    @property
    def end(self) -> int:
        """One past its last byte."""
        return self.address + self.size_bytes


def option_board(
    name_or_path: str, pools: Sequence[DeclaredPool], memory: MemoryModel | None = None
) -> Board:
    """The board with declared pools, its code in the flash of `memory`. Raises CodegenError E250 to E252 as
    `load_board` does, E258 and E259 as `with_pools` does."""
    board = boards.load_board(name_or_path)
    return with_pools(board if memory is None else behind_flash(board, memory), pools)


def behind_flash(board: Board, memory: MemoryModel) -> Board:
    """`board` with reads of its code region as dear as those of that flash (a word waits for its share of a
    reading), and functions at multiples of a row of its instruction cache."""
    flash = replace(
        board.region(board.code_region),
        access_cost=1 + memory.wait_states * min(_WORD_BYTES / memory.read_bytes, 1),
        wait_states=memory.wait_states,
        fetch_bytes=memory.read_bytes,
    )
    regions = [flash if region.name == flash.name else region for region in board.regions]
    held = memory.instruction_cache
    words = () if held is None else aligning_flags(max(held.row_bytes, _WORD_BYTES))
    target = replace(board.target, compiler_flags=(*board.target.compiler_flags, *words))
    return replace(board, regions=tuple(regions), target=target)


def aligning_flags(row_bytes: int) -> tuple[str, str]:
    """Compiler flags that align functions of C and of assembly to `row_bytes`."""
    return f"-falign-functions={row_bytes}", f"-DCG_FUNCTION_ALIGNMENT={row_bytes}"


_WORD_BYTES = 4


def with_pools(board: Board, pools: Sequence[DeclaredPool]) -> Board:
    """`board` with each of `pools` as a region of its own, behind the one that it is a part of.

    Of that region the largest piece is left, of the data region the first one, where stack and data are.
    Raises CodegenError E258 for a pool that is no part of a writable region or is called like another one,
    E259 where the data region lacks the bytes that the board file reserves.
    """
    messages = Messages()
    taken = {region.pool_name for region in board.regions}
    cuts: dict[str, list[DeclaredPool]] = {}
    for pool in pools:
        home = home_region(board, pool)
        if home is not None and _is_sound(board, pool, taken, cuts.get(home.name, ()), messages):
            cuts.setdefault(home.name, []).append(pool)
        elif home is None:
            messages.add("E258", _outside(board, pool), where=f"--pool {pool}", help=_memories(board))
        taken.add(pool.name)
    messages.raise_if_any()
    regions = [
        piece
        for region in board.regions
        for piece in _cut(board, region, cuts.get(region.name, []), messages)
    ]
    messages.raise_if_any()
    return replace(board, regions=tuple(regions))


LINKER_WORDS = frozenset(("origin", "length", "memory", "sections", "align", "assert", "include", "entry"))
"""Names of pools in upper case name regions in a linker script, where these are words of its own."""


def _is_sound(
    board: Board,
    pool: DeclaredPool,
    taken: set[str],
    others: Sequence[DeclaredPool],
    messages: Messages,
) -> bool:
    """True if a pool can be declared beside `others` in its region; reasons against it go to `messages`."""
    step, where = board.pool_alignment_bytes, f"--pool {pool}"
    before = len(messages)
    if pool.name in taken or pool.name != pool.name.lower():
        help_ = "take another name, in lower case"
        text = f"a pool cannot be called {pool.name}: it is taken, or not lower case"
        messages.add("E258", text, where=where, help=help_)
    if pool.name in LINKER_WORDS:
        text = f"a pool cannot be called {pool.name}: linker scripts have another use for the word"
        messages.add("E258", text, where=where, help="take another name")
    if pool.size_bytes <= 0:
        messages.add("E258", "has no bytes", where=where, help="give it some, or leave it out")
    elif pool.address % step or pool.end % step:
        text = f"does not begin and end at multiples of {step} bytes"
        messages.add("E258", text, where=where, help=_rounded(pool, step))
    for other in others:
        if pool.address < other.end and other.address < pool.end:
            help_ = f"begin at 0x{other.end:08x} or later, or make the other one smaller"
            messages.add("E258", f"overlaps another declared pool, --pool {other}", where=where, help=help_)
    return len(messages) == before


def _rounded(pool: DeclaredPool, step: int) -> str:
    """Advice for a pool that is not aligned to `step` bytes: the largest aligned pool inside it, as typed."""
    start, end = -(-pool.address // step) * step, pool.end // step * step
    if start >= end:
        return f"round address and size to multiples of {step}"
    inside = DeclaredPool(name=pool.name, size_bytes=end - start, address=start)
    return f"round address and size: --pool {inside} lies inside it"


def _outside(board: Board, pool: DeclaredPool) -> str:
    """Why no writable region of the board holds a pool."""
    shared = [r for r in board.regions if r.start < pool.end and pool.address < r.end and r.writable]
    range_ = f"0x{pool.address:08x} to 0x{pool.end:08x}"
    beyond = f": {range_} goes beyond {shared[0].name}" if shared else f": none has {range_}"
    return f"is no part of a writable memory of {board.name}{beyond}"


def _memories(board: Board) -> str:
    ranges = [f"{r.name} 0x{r.start:08x} to 0x{r.end:08x}" for r in board.regions if r.writable]
    return f"it has {', '.join(ranges)}"


def home_region(board: Board, pool: DeclaredPool) -> Region | None:
    """The writable region of `board` that holds all of `pool`; None if none does."""
    writable = (region for region in board.regions if region.writable)
    return next(
        (region for region in writable if region.start <= pool.address and pool.end <= region.end), None
    )


def _cut(board: Board, region: Region, pools: list[DeclaredPool], messages: Messages) -> list[Region]:
    """Split a region into its declared pools and the range that is left, if any."""
    if not pools:
        return [region]
    edges = sorted((pool.address, pool.end) for pool in pools)
    starts = [region.address, *(end for _, end in edges)]
    pieces = list(zip(starts, [*(address for address, _ in edges), region.end], strict=True))
    is_data = region.name == board.data_region
    start, end = pieces[0] if is_data else max(pieces, key=lambda piece: piece[1] - piece[0])
    if is_data and end - region.start < board.reserved_bytes:
        text = f"leaves {end - start} bytes of {region.name}, the test firmware needs {board.reserved_bytes}"
        where = ", ".join(f"--pool {pool}" for pool in pools)
        messages.add("E259", text, where=where, help="move the pool towards the end of the memory")
        return []
    left = [replace(region, address=start, size_bytes=end - start)] if end > start else []
    declared = [
        replace(region, name=pool.name.upper(), address=pool.address, size_bytes=pool.size_bytes)
        for pool in pools
    ]
    return [*left, *declared]
