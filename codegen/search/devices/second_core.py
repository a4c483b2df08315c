"""What asks for the second core without being a step: inputs and views, for which no code runs."""

from collections.abc import Sequence

from codegen.errors import Messages, listed
from codegen.ir import Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.search.devices.offers import BoardOffer, Owners, spelled


def check_computed(
    function: Function, prims: Sequence[PrimFunc], board: BoardOffer, owners: Owners, messages: Messages
) -> None:
    """Record E325 for values on the board's second core that no call computes: one message for all inputs,
    and one for all views, that one place gives to it."""
    second = board.second_core
    if second is None:
        return
    views = _views(prims)
    found: dict[tuple[str, bool], list[Var]] = {}
    for var in (*function.params, *(prim.let.var for prim in prims if prim.let.var.name in views)):
        if var.device.device_id == second.device_id:
            found.setdefault((owners.giver(var), var.name in views), []).append(var)
    for (giver, silent), values in found.items():
        names = listed(
            [f"{var.name}{f' (a view of {views[var.name].name})' if silent else ''}" for var in values]
        )
        why = (
            "no code runs for a view: its bytes are there already"
            if silent
            else "no step computes an input: the caller writes it"
        )
        runs = _computing(function, values, views) if silent else _reading(function, values, views)
        what = "what computes these bytes" if silent else "what reads it"
        tensors = listed([f'tensor = "{name}"' for name in runs])
        instead = f"place {what} instead ({tensors}), or " if runs else ""
        messages.add(
            "E325",
            f"{names}: given to {spelled(second)}, but {why}",
            where=giver,
            help=f"{instead}leave device_id out",
        )


def _views(prims: Sequence[PrimFunc]) -> dict[str, Var]:
    """Of every view the value whose bytes it is, not a view itself."""
    roots: dict[str, Var] = {}
    for prim in prims:
        source = prim.let.call.args[prim.view.argument] if prim.view is not None else None
        if isinstance(source, Var):
            roots[prim.let.var.name] = roots.get(source.name, source)
    return roots


def _computing(function: Function, values: Sequence[Var], views: dict[str, Var]) -> list[str]:
    """Results of steps in whose bytes `values`, views, lie."""
    params = {param.name for param in function.params}
    return list(dict.fromkeys(views[var.name].name for var in values if views[var.name].name not in params))


def _reading(function: Function, values: Sequence[Var], views: dict[str, Var]) -> list[str]:
    """Results of steps that read `values`, inputs, or views of them."""
    names = {var.name for var in values}
    names |= {view for view, root in views.items() if root.name in names}
    return [
        let.var.name
        for let in function.body
        if let.var.name not in views
        and any(isinstance(arg, Var) and arg.name in names for arg in let.call.args)
    ]
