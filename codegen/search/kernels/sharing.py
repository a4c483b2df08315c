"""How far results may share bytes with the arguments they are computed from, as the user permits it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from codegen.ir import Function, Var
from codegen.kernels.contract import Sharing
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.live.in_place import may_replace
from codegen.plan.live.ties import misfits, ties
from codegen.program.interface import Edge

SharingMode = Literal["none", "in-place", "overlap"]
"""none: every result lies apart from what it is computed from (views, which compute nothing, do not).
in-place: a result may take exactly the bytes of an argument as large as it. overlap: it may start anywhere
in the argument's bytes that its kernel permits."""


def permitted(prim_funcs: Sequence[PrimFunc], mode: SharingMode) -> tuple[PrimFunc, ...]:
    """`prim_funcs` without the sharing that `mode` excludes."""
    if mode == "overlap":
        return tuple(prim_funcs)
    return tuple(replace(prim, sharing=_exact(prim, mode), reverse=None) for prim in prim_funcs)


def _exact(prim: PrimFunc, mode: SharingMode) -> tuple[Sharing, ...]:
    """Rules by which the result may lie where the argument begins, if they are equally large."""
    if mode == "none" or prim.block is not None:
        return ()
    found: list[Sharing] = []
    for rule in prim.sharing:
        arg = prim.let.call.args[rule.argument]
        equal = isinstance(arg, Var) and arg.type.size_bytes == prim.let.var.type.size_bytes
        if equal and rule.below is not None and rule.below <= 0:
            found.append(Sharing(argument=rule.argument, below=0))
    return tuple(found)


def replacing(function: Function, prim_funcs: Sequence[PrimFunc], edge: Edge) -> tuple[PrimFunc, ...]:
    """`prim_funcs`, of which `permitted` left exact sharing, every result in the bytes of the first argument
    that it may replace and that nobody reads any more; apart from all others. Never where devices or kernels
    want them in different memories.
    """
    prims = list(prim_funcs)
    for step, prim in enumerate(prim_funcs):
        if prim.in_place is not None or prim.view is not None:
            continue
        free = [
            rule.argument
            for rule in prim.sharing
            if may_replace(function, prims, step, argument=rule.argument, edge=edge)
        ]
        prims[step] = replace(prim, sharing=())
        for argument in free:
            taken = replace(prim, sharing=(), in_place=argument)
            outcome = [*prims[:step], taken, *prims[step + 1 :]]
            if not misfits(ties(function, outcome), outcome):
                prims[step] = taken
                break
    return tuple(prims)
