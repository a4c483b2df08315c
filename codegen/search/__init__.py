"""Search: decides kernels, devices, order and memory plan together."""

from codegen.search.choices import Choices
from codegen.search.compressing import CompressMode
from codegen.search.constant_pools import report_unused
from codegen.search.fuse import Segment
from codegen.search.names import identifier
from codegen.search.pools import board_pools
from codegen.search.schedule import ScheduleMode
from codegen.search.search import Frontier, check, curve, search
from codegen.search.sharing import SharingMode
from codegen.search.staging import StageMode
from codegen.search.states import check_single

__all__ = [
    "Choices",
    "CompressMode",
    "Frontier",
    "ScheduleMode",
    "Segment",
    "SharingMode",
    "StageMode",
    "board_pools",
    "check",
    "check_single",
    "curve",
    "identifier",
    "report_unused",
    "search",
]
