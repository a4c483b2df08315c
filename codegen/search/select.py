"""Kernel selection: every step gets the fastest kernel that runs it on the target, or all reasons why not."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from codegen.errors import Messages
from codegen.ir import Function, Let, Target
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.registry import Kernel, kernels_for


def select(function: Function, constants: Mapping[str, np.ndarray], target: Target) -> tuple[PrimFunc, ...]:
    """The PrimFunc of every step, in order: the `fastest` that can run it.

    `constants` holds data by ConstRef id.

    Raises CodegenError (E310, E311) naming every step that no kernel can run.
    """
    messages = Messages()
    chosen: list[PrimFunc] = []
    for let in function.body:
        kernels = _able(let, target, messages)
        if kernels:
            chosen.append(fastest([kernel.bind(let, constants, let.var.name) for kernel in kernels]))
    messages.raise_if_any()
    return tuple(chosen)


def fastest(prim_funcs: Sequence[PrimFunc]) -> PrimFunc:
    """The one with the fewest predicted instructions; any prediction beats none, the first one wins ties."""
    return min(
        prim_funcs, key=lambda prim: math.inf if prim.instructions is None else float(prim.instructions)
    )


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
