"""Running with a memory protection unit that opens to each step its own buffers and nothing else."""

from dataclasses import replace

from codegen.errors import CodegenError, Message
from codegen.ir import Board

GRANULE_BYTES = 32
"""Ranges of the Armv8-M MPU begin and end at its multiples (CG_MPU_GRANULE_BYTES of cg_port.h)."""

_MPU = "v8m"


def sandbox_board(board: Board) -> Board:
    """`board` with pools and buffers aligned so that every buffer is a range of the MPU by itself.

    Raises CodegenError E253 for a board without an Armv8-M MPU: others cannot express exact ranges.
    """
    if board.mpu != _MPU:
        raise CodegenError(
            Message(
                code="E253",
                where=board.name,
                text="cannot sandbox a run: its core has no memory protection unit of Armv8-M",
                help="use mps2-an505 or mps3-an547, or leave --sandbox out",
            )
        )
    return replace(
        board,
        pool_alignment_bytes=max(board.pool_alignment_bytes, GRANULE_BYTES),
        buffer_alignment_bytes=max(board.buffer_alignment_bytes, GRANULE_BYTES),
    )
