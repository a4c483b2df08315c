"""Checks of a linked image against the plan and the board, before anything runs.

Boards with a memory protection unit run each step with its own buffers open and nothing else.
"""

from dataclasses import replace

from codegen import toolchain
from codegen.emit.c.spelling import constant_pool, pool_array
from codegen.errors import CodegenError, Message, in_bytes
from codegen.ir import Board
from codegen.program.image import Image
from codegen.program.program import Bundle
from codegen.targets.families import protection_of

FRAME_BYTES = 128
"""Stack bytes that the test firmware needs for a saved context: an exception frame with FPU state."""


def check_image(image: Image, board: Board, bundle: Bundle) -> None:
    """Raise CodegenError E507 if a pool is not where the plan says."""
    pools = {f"{bundle.prefix}_{pool.name}_pool": (pool.size_bytes, pool.alignment) for pool in bundle.pools}
    pools |= {
        pool_array(bundle, constant_pool(bundle, pool)): (pool.size_bytes, pool.alignment)
        for pool in bundle.constants
        if not any(program.interface.external for program in bundle.programs)
    }
    toolchain.check_pools(image, board, pools)


def check_stack_budget(image: Image, board: Board, budget_bytes: int | None) -> None:
    """Raise CodegenError E406 if the model may need more stack than the user has for it (`--stack`), E277 on
    a board for which there is no bound."""
    if budget_bytes is None:
        return
    bound = image.sizes.stack_bound_bytes
    if bound is None:
        text = f"nothing bounds the stack on {board.name}, where this machine's compiler is used"
        raise CodegenError(
            Message(code="E277", where="--stack", text=text, help="leave it out, or name another board")
        )
    if bound > budget_bytes:
        raise CodegenError(
            Message(
                code="E406",
                where=f"--stack {budget_bytes}",
                text=f"lacks {in_bytes(bound - budget_bytes)}: the model needs up to {bound} bytes of stack",
                help="give the model's task or the main stack more, or try --optimize size",
            )
        )


def short_stacks(image: Image, board: Board) -> tuple[Message, ...]:
    """E405 for each stack of the test firmware that is too short for the model: it would run over its end.
    The product is not concerned: the application has a stack of its own."""
    sizes, second = image.sizes, board.second_core
    stacks = [("", sizes.stack_bound_bytes, board.stack_bytes, "the model needs", "the link", "stack_bytes")]
    if second is not None:
        bound, has = sizes.core1_stack_bound_bytes, second.stack_bytes
        where = "stack_bytes below second_core"
        stacks.append(("core 1 of ", bound, has, "its steps need", "an exception", where))
    return tuple(
        Message(
            code="E405",
            where=f"stack of {core}{board.name}",
            text=f"lacks {in_bytes(bound + FRAME_BYTES - has)} for the test firmware: {what} up to {bound}, "
            f"{link} {FRAME_BYTES}, the board file gives {has}; so {image.path.name} is left out, the C "
            "sources are complete",
            help=f"to run it, a board file of your own with more {key} and reserved_bytes; --stack BYTES "
            "holds the model against the stack that your application has",
        )
        for core, bound, has, what, link, key in stacks
        if bound is not None and bound + FRAME_BYTES > has
    )


def sandbox_board(board: Board) -> Board:
    """`board` with pools and buffers aligned so that every buffer is a range of the MPU by itself.

    Raises CodegenError E253 for a board without memory protection that can express exact ranges.
    """
    unit = protection_of(board)
    if unit is None or not unit.is_exact:
        raise CodegenError(
            Message(
                code="E253",
                where=board.name,
                text="cannot sandbox a run: its core has no memory protection unit that opens exact ranges",
                help="use mps2-an505, mps3-an547 or qemu-virt-rv32, or leave --sandbox out",
            )
        )
    return replace(
        board,
        pool_alignment_bytes=max(board.pool_alignment_bytes, unit.granule_bytes),
        buffer_alignment_bytes=max(board.buffer_alignment_bytes, unit.granule_bytes),
    )
