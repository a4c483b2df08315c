"""Search: decides kernels, devices, order and memory plan together."""

from codegen.constants.constant_pools import report_unused
from codegen.search.blocks.row_blocks import Segment
from codegen.search.choices import Choices, PlacedValues, board_pools
from codegen.search.falling_back import with_or_without_blocks
from codegen.search.memory.frontier import inference_instructions
from codegen.search.ranges.narrowing import looked_at
from codegen.search.ranges.sizes import Sizes
from codegen.search.search import check, curve, search
from codegen.search.sized_search import largest_size, search_sizes
from codegen.search.states import check_named, state_bytes

__all__ = [
    "Choices",
    "PlacedValues",
    "Segment",
    "Sizes",
    "board_pools",
    "check",
    "check_named",
    "curve",
    "inference_instructions",
    "largest_size",
    "looked_at",
    "report_unused",
    "search",
    "search_sizes",
    "state_bytes",
    "with_or_without_blocks",
]
