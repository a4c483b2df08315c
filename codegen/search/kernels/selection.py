"""Kernel selection: every step gets the cheapest kernel that runs it, or the one of fewest bytes, or all
reasons why none does."""

from codegen.errors import Messages
from codegen.ir import Function, Let
from codegen.kernels.base.registry import Kernel, kernels_for
from codegen.kernels.primfunc import PrimFunc
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.costs import FLASH_WORTH, code_limit
from codegen.search.kernels.fewest_bytes import of_fewest_bytes
from codegen.search.kernels.shared_code import with_shared_code


def select(
    function: Function,
    binder: Binder,
    optimize: str = "speed",
    *,
    spare_bytes: int = 0,
) -> tuple[PrimFunc, ...]:
    """The PrimFunc of every step, in order: `with_shared_code` among all that can run it.

    `spare_bytes` of the code that they may take are left.

    Raises CodegenError (E310, E311) naming every step that no kernel can run.
    """
    candidates = _candidates(function, binder)
    limit = code_limit(optimize, len(candidates))
    return with_shared_code(candidates, FLASH_WORTH[optimize], None if limit is None else limit - spare_bytes)


def select_fewest_bytes(function: Function, binder: Binder) -> tuple[PrimFunc, ...]:
    """The PrimFunc of every step, in order: of all that can run it the one that needs the fewest
    bytes. Raises as `select` does."""
    return tuple(
        of_fewest_bytes(each, slower_percent=None, flash_worth=0) for each in _candidates(function, binder)
    )


def _candidates(function: Function, binder: Binder) -> list[list[PrimFunc]]:
    messages = Messages()
    candidates: list[list[PrimFunc]] = []
    for let in function.body:
        kernels = _able(let, binder, messages)
        candidates.append([binder.bind(kernel, let, let.var.name) for kernel in kernels])
    messages.raise_if_any()
    return candidates


def _able(let: Let, binder: Binder, messages: Messages) -> list[Kernel]:
    """The kernels that can run `let`; a message saying all reasons if none can."""
    reasons: list[str] = []
    found: list[Kernel] = []
    for kernel in kernels_for(let.call.op.name):
        if kernel.is_in_place:
            continue
        refusal = binder.refusal(kernel, let)
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
