"""What a kernel costs: predicted instructions, and constants at the price that `--optimize` puts on flash."""

import math
from collections.abc import Mapping, Sequence

from codegen.kernels.primfunc import PrimFunc

FLASH_WORTH: Mapping[str, int] = {"speed": 0, "balanced": 20, "size": 200}
"""By `--optimize`: instructions of one inference that a byte of flash is worth."""


def cheapest(prim_funcs: Sequence[PrimFunc], flash_worth: int = 0) -> PrimFunc:
    """The one with the least `cost`, the first one wins ties."""
    return min(prim_funcs, key=lambda prim: cost(prim, flash_worth))


def cost(prim: PrimFunc, flash_worth: int) -> float:
    """Predicted instructions and `flash_worth` for every byte of constants; any prediction beats none."""
    return math.inf if prim.instructions is None else prim.instructions + flash_worth * prim.constant_bytes
