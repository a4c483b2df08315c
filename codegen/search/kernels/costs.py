"""Costs of kernels: predicted instructions, and constants at the price that `--optimize` puts on flash.

With `--memory-model` predicted cycles stand for instructions everywhere here (`PrimFunc.work`).

A kernel without a prediction costs by the question asked: `cost` where one of two is taken, `cost_in_sum`
where choices for all steps are compared, `estimated_work` where an inference is estimated.
"""

import math
from collections.abc import Mapping, Sequence

from codegen.kernels.primfunc import PrimFunc

FLASH_WORTH: Mapping[str, int] = {"speed": 0, "balanced": 24, "size": 200}
"""By `--optimize`: instructions of one inference that a byte of flash is worth."""

MOST_SHARES = 2
"""Most that a share of a model's flash is worth with `balanced`: so many of such shares of its
instructions.
"""


def worth_of_flash(optimize: str, instructions: int, flash_bytes: int) -> float:
    """Instructions that a byte of flash is worth in a model of so many, and of so many bytes."""
    worth = FLASH_WORTH[optimize]
    return min(worth, MOST_SHARES * instructions / max(flash_bytes, 1)) if optimize == "balanced" else worth


LEAST_WORTH = 0.25
"""Instructions that a byte of constants has to gain with `speed` too: a smaller gain counts as none."""

RAM_WORTH = 32
"""Bytes of code that `--optimize size` pays at most for a byte of RAM, where it takes kernels that need fewer
bytes. Microcontrollers have 4 to 16 times as much flash as RAM; a small model is not to pay far more."""

CODE_LIMIT_BYTES: Mapping[str, int] = {"balanced": 16_384, "size": 10_240}
"""By `--optimize`: machine code that kernels are looked for to fit, the entry function included."""
STEP_BYTES, BLOCKS_BYTES = 36, 600
"""Machine code of the entry function for a step, and of the functions of one or two blocks, about: what
`person_detect`, `vww_96_int8` and `tinyengine/vww` have."""


def code_limit(optimize: str, steps: int) -> int | None:
    """Bytes of code that the kernels of so many steps may take; None: any."""
    limit = CODE_LIMIT_BYTES.get(optimize)
    return None if limit is None else max(limit - STEP_BYTES * steps - BLOCKS_BYTES, 0)


_UNKNOWN = 1e12
"""A step without a prediction, in a sum: no byte is worth losing a prediction."""


def cheapest(prim_funcs: Sequence[PrimFunc], flash_worth: float = 0) -> PrimFunc:
    """The one with the least `cost`, the first one wins ties."""
    return min(prim_funcs, key=lambda prim: cost(prim, flash_worth))


def cost(prim: PrimFunc, flash_worth: float) -> float:
    """Predicted instructions and `flash_worth`, or `LEAST_WORTH`, for every byte of constants; any prediction
    beats none."""
    if prim.work is None:
        return math.inf
    return prim.work + max(flash_worth, LEAST_WORTH) * prim.constant_bytes


def cost_in_sum(prim: PrimFunc, flash_worth: float) -> float:
    """`cost`, but finite: of two sums the one with fewer kernels that lack a prediction is the lower one."""
    return _UNKNOWN if prim.work is None else cost(prim, flash_worth)
