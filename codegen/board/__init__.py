"""Boards as data, and running an image on one: QEMU, a serial port, or this machine."""

from typing import TYPE_CHECKING

from codegen.late_imports import late_imports

if TYPE_CHECKING:
    from codegen.board.catalog.board_files import load_memory_model
    from codegen.board.catalog.boards import boards, load_board
    from codegen.board.link.exchange import PATIENT, Patience
    from codegen.board.machines.host import MemoryFault, run_poisoned
    from codegen.board.machines.qemu import plugin_api
    from codegen.board.runner import Session, check_can_run, session

__all__ = [
    "PATIENT",
    "MemoryFault",
    "Patience",
    "Session",
    "boards",
    "check_can_run",
    "load_board",
    "load_memory_model",
    "plugin_api",
    "run_poisoned",
    "session",
]

__getattr__ = late_imports(__name__, __file__)
