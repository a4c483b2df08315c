"""When a step may write its result over the very bytes of an argument."""

from collections.abc import Sequence

from codegen.ir import Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.live.kept_inputs import Keep, kept_inputs
from codegen.plan.live.ties import ties


def may_replace(
    function: Function,
    prim_funcs: Sequence[PrimFunc],
    step: int,
    *,
    argument: int | None = None,
    keep_inputs: Keep,
) -> bool:
    """Whether step `step` may replace its argument `argument` (default: the one its PrimFunc names).

    True if nobody reads a byte of that argument later: not under its own name, not through a view of the
    bytes it lies in, not as a result, not as an input that is to be kept.
    """
    index = prim_funcs[step].in_place if argument is None else argument
    replaced = None if index is None else prim_funcs[step].let.call.args[index]
    if not isinstance(replaced, Var):
        return False
    places = _places(function, prim_funcs[:step])
    kept = {result.name for result in function.results if isinstance(result, Var)}
    kept |= kept_inputs(function, keep_inputs)
    kept |= {arg.name for prim in prim_funcs[step + 1 :] for arg in _variables(prim)}
    kept |= {
        arg.name
        for i, arg in enumerate(prim_funcs[step].let.call.args)
        if i != index and isinstance(arg, Var)
    }
    root, start, stop = places[replaced.name]
    return not any(
        name in places and places[name][0] == root and places[name][1] < stop and start < places[name][2]
        for name in kept
    )


def _variables(prim: PrimFunc) -> list[Var]:
    return [arg for arg in prim.let.call.args if isinstance(arg, Var)]


def _places(function: Function, prim_funcs: Sequence[PrimFunc]) -> dict[str, tuple[str, int, int]]:
    """Variable -> (variable whose bytes it lies in, first byte, end), before the step that follows."""
    found = ties(function, prim_funcs)
    return {
        name: (root, offset, offset + found.variables[name].type.size_bytes)
        for name, (root, offset) in found.anchors.items()
    }
