"""Checks of a linked image against the plan and the board, before anything runs."""

from codegen import toolchain
from codegen.emit.names import constant_pool, pool_array
from codegen.errors import CodegenError, Message, in_bytes
from codegen.ir import Board
from codegen.plan.bundle import Bundle
from codegen.plan.image import Image

FRAME_BYTES = 128
"""What the test firmware's context keeps of the model's stack (an exception frame with FPU state)."""


def check_image(image: Image, board: Board, bundle: Bundle) -> None:
    """Raise CodegenError if a pool is not where the plan says (E507) or the stack is short (E405)."""
    pools = {f"{bundle.prefix}_{pool.name}_pool": (pool.size_bytes, pool.alignment) for pool in bundle.pools}
    pools |= {
        pool_array(bundle, constant_pool(bundle, pool)): (pool.size_bytes, pool.alignment)
        for pool in bundle.constants
        if not any(program.interface.external for program in bundle.programs)
    }
    toolchain.check_pools(image, board, pools)
    _check_core1(image, board)
    bound = image.sizes.stack_bound_bytes
    if bound is not None and bound + FRAME_BYTES > board.stack_bytes:
        missing = bound + FRAME_BYTES - board.stack_bytes
        raise CodegenError(
            Message(
                code="E405",
                where=f"stack of {board.name}",
                text=f"lacks {in_bytes(missing)}: the model needs up to {bound}, the link {FRAME_BYTES}, "
                f"the board file gives {board.stack_bytes}",
                help="a board file of your own with more stack_bytes and reserved_bytes",
            )
        )


def _check_core1(image: Image, board: Board) -> None:
    """The same of core 1's stack, which must take an exception frame beside the steps."""
    bound, second = image.sizes.core1_stack_bound_bytes, board.second_core
    if bound is not None and second is not None and bound + FRAME_BYTES > second.stack_bytes:
        missing = bound + FRAME_BYTES - second.stack_bytes
        raise CodegenError(
            Message(
                code="E405",
                where=f"stack of core 1 of {board.name}",
                text=f"lacks {in_bytes(missing)}: its steps need up to {bound}, "
                f"an exception {FRAME_BYTES}, the board file gives {second.stack_bytes}",
                help="a board file of your own with more stack_bytes below second_core and reserved_bytes",
            )
        )
