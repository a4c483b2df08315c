"""Kernel selection: every step gets a kernel that can run it on the target, or all reasons why not."""

from collections.abc import Mapping

import numpy as np

from codegen.errors import Messages
from codegen.ir import Function, Let, Target
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.registry import Kernel, kernels_for


def select(function: Function, constants: Mapping[str, np.ndarray], target: Target) -> tuple[PrimFunc, ...]:
    """The PrimFunc of every step, in order. `constants` holds data by ConstRef id.

    Raises CodegenError (E310, E311) naming every step that no kernel can run.
    """
    messages = Messages()
    chosen: list[PrimFunc] = []
    for let in function.body:
        kernel = _choose(let, target, messages)
        if kernel is not None:
            chosen.append(kernel.bind(let, constants, let.var.name))
    messages.raise_if_any()
    return tuple(chosen)


def _choose(let: Let, target: Target, messages: Messages) -> Kernel | None:
    reasons: list[str] = []
    for kernel in kernels_for(let.call.op.name):
        if kernel.is_in_place:
            continue
        refusal = kernel.refusal(let, target)
        if refusal is None:
            return kernel
        if refusal not in reasons:
            reasons.append(refusal)
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
    return None
