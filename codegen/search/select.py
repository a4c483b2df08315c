"""Kernel selection: every step gets the cheapest kernel that runs it, or all reasons why none does."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from codegen.errors import Messages
from codegen.ir import Function, Let, Target
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.registry import Kernel, kernels_for

FLASH_WORTH: Mapping[str, int] = {"speed": 0, "balanced": 20, "size": 50}
"""By `--optimize`: instructions of one inference that a byte of constants is worth."""


def select(
    function: Function, constants: Mapping[str, np.ndarray], target: Target, flash_worth: int = 0
) -> tuple[PrimFunc, ...]:
    """The PrimFunc of every step, in order: the `cheapest` that can run it.

    `constants` holds data by ConstRef id.

    Raises CodegenError (E310, E311) naming every step that no kernel can run.
    """
    messages = Messages()
    chosen: list[PrimFunc] = []
    for let in function.body:
        kernels = _able(let, target, messages)
        if kernels:
            bound = [kernel.bind(let, constants, let.var.name) for kernel in kernels]
            chosen.append(cheapest(bound, flash_worth))
    messages.raise_if_any()
    return tuple(chosen)


def cheapest(prim_funcs: Sequence[PrimFunc], flash_worth: int = 0) -> PrimFunc:
    """The one with the least `cost`, the first one wins ties."""
    return min(prim_funcs, key=lambda prim: cost(prim, flash_worth))


def cost(prim: PrimFunc, flash_worth: int) -> float:
    """Predicted instructions and `flash_worth` for every byte of constants; any prediction beats none."""
    return math.inf if prim.instructions is None else prim.instructions + flash_worth * prim.constant_bytes


def _able(let: Let, target: Target, messages: Messages) -> list[Kernel]:
    """The kernels that can run `let`; a message saying all reasons if none can."""
    reasons: list[str] = []
    found: list[Kernel] = []
    for kernel in kernels_for(let.call.op.name):
        if kernel.is_in_place:
            continue
        refusal = kernel.refusal(let, target)
        if refusal is None:
            found.append(kernel)
        elif refusal not in reasons:
            reasons.append(refusal)
    if found:
        return found
    if reasons:
        messages.add(
            "E311",
            "; ".join(reasons),
            where=let.where,
            help="`codegen ops` lists what each operator supports",
        )
    else:
        messages.add(
            "E310", f"no kernel for {let.call.op.name}", where=let.where, help="`codegen ops` lists operators"
        )
    return []
