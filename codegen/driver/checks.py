"""Checks of a linked image against the plan and the board, before anything runs."""

from collections.abc import Sequence

from codegen import toolchain
from codegen.errors import CodegenError, Message
from codegen.ir import Board
from codegen.plan.image import Image
from codegen.plan.problem import peak_bytes, pool_alignment
from codegen.plan.program import Program

FRAME_BYTES = 128
"""What the test firmware's context keeps of the model's stack (an exception frame with FPU state)."""


def check_image(image: Image, board: Board, programs: Sequence[Program]) -> None:
    """Raise CodegenError if a pool is not where the plan says (E507) or the stack is short (E405)."""
    planned = {name: pool for each in programs for name, pool in _pools(each).items()}
    toolchain.check_pools(image, board, planned)
    bound = image.sizes.stack_bound_bytes
    if bound is not None and bound + FRAME_BYTES > board.stack_bytes:
        missing = bound + FRAME_BYTES - board.stack_bytes
        raise CodegenError(
            Message(
                code="E405",
                where=f"stack of {board.name}",
                text=f"lacks {missing} bytes: the model needs up to {bound}, the link {FRAME_BYTES}, "
                f"the board file gives {board.stack_bytes}",
                help="a board file of your own with more stack_bytes and reserved_bytes",
            )
        )


def _pools(program: Program) -> dict[str, tuple[int, int]]:
    """Symbol -> (bytes, alignment) of each pool with bytes in it."""
    found: dict[str, tuple[int, int]] = {}
    for pool in program.problem.pools:
        peak = peak_bytes(program.problem, program.plan, pool.name)
        if peak:
            size = -(-peak // pool.alignment) * pool.alignment
            alignment = pool_alignment(program.problem, program.plan, pool.name)
            found[f"{program.name}_{pool.name}_pool"] = (size, alignment)
    return found
