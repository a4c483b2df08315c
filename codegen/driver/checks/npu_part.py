"""A network's layers for an NPU, held against the NPU of the board."""

from codegen import board as boards
from codegen.errors import Messages
from codegen.ir import Board, Function
from codegen.ir.ops.npu_layers import NpuAttrs


def check_npu(function: Function, board: Board) -> None:
    """Raise CodegenError E326 for layers that were compiled for another NPU than the board's."""
    messages = Messages()
    for let in function.body:
        attrs = let.call.attrs
        if not isinstance(attrs, NpuAttrs) or (board.npu and attrs.device in board.npu.devices):
            continue
        has = f"its NPU is {' or '.join(board.npu.devices)}" if board.npu else "it has no NPU"
        able = [other.name for other in boards.boards() if other.npu and attrs.device in other.npu.devices]
        boards_with = f"a board with {attrs.device}: {', '.join(able) or 'none here'}"
        messages.add(
            "E326",
            f"Vela compiled these layers for {attrs.device}, and {board.name} does not run them: {has}",
            where=let.where,
            help=f"use the file from before Vela, or {boards_with}",
        )
    messages.raise_if_any()
