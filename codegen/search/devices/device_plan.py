"""Plan devices: which memory each value lies in and what runs each call, over the whole function.

Constraints come from the devices that values have already (the file's, the user's), from what kernels demand
of the memory they work on, and from the board. They flow forwards along values that share bytes and backwards
from PrimFuncs into the values they read and write (`scopes`). Where a value and a use of it have no memory in
common, a DEVICE_COPY stands between them (`copies`).

What asks for the second core without being a step: inputs and views, for which no code runs.
"""

from collections.abc import Iterator, Sequence

from codegen.errors import CodegenError, Messages, listed
from codegen.ir import Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.search.devices.device_copies import Bare, WantedCopy, bare, filled
from codegen.search.devices.offers import (
    BoardOffer,
    Owners,
    check_known,
    driven,
    either,
    kernel_name,
    resolved,
    spelled,
    who,
)
from codegen.search.devices.scopes import CALLER, Claim, Copy, Scopes, Scoping, Solution, Tie, Use, solve


def check_computed(
    function: Function, prims: Sequence[PrimFunc], board: BoardOffer, owners: Owners, messages: Messages
) -> None:
    """Record E325 for values on the board's second core that no call computes: one message for all inputs,
    and one for all views, that one place gives to it."""
    second = board.second_core
    if second is None:
        return
    views = _views(prims)
    uncomputed: dict[tuple[str, bool], list[Var]] = {}
    for var in (*function.params, *(prim.let.var for prim in prims if prim.let.var.name in views)):
        if var.device.device_id == second.device_id:
            uncomputed.setdefault((owners.giver(var), var.name in views), []).append(var)
    for (giver, silent), values in uncomputed.items():
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
    """For every view the value whose bytes it is, not a view itself."""
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


def plan_devices(
    function: Function, prim_funcs: Sequence[PrimFunc], board: BoardOffer, owners: Owners | None = None
) -> tuple[Function, tuple[PrimFunc, ...]]:
    """Function and PrimFuncs (one a step, in order) with devices and copies; parts of a device that are set
    are never changed. The same again gives the same.

    Afterwards every value lies where all who are bound to it want it, and every use reads its value, or a
    copy, where the kernel wants that; no two functions that do so have fewer copies. What is left open is
    the planner's choice: PrimFuncs say then which pools they demand, by name.
    Raises CodegenError with all that is wrong: E320 (memory), E321 (what runs a call), with the chain that
    led there; E322 (a device that the board lacks), E323 (a memory that it lacks), E324 (a constant that a
    kernel wants elsewhere), E325 (the second core for what no step computes).
    """
    owners = owners or Owners()
    messages = Messages()
    prims = [resolved(prim, board, messages) for prim in prim_funcs]
    prims = [driven(prim, board, owners, messages) for prim in prims]
    check_known(function, prims, board, owners, messages)
    check_computed(function, prims, board, owners, messages)
    messages.raise_if_any()
    stripped = bare(function, prims)
    solution = solve(_scoping(stripped, board, owners))
    if not isinstance(solution, Solution):
        where = {prim.let.var.name: prim.let.where for prim in prims}
        for clash in solution:
            messages.add(
                "E320",
                f"no memory suits {clash.value}: {'; '.join(clash.chain)}",
                where=where.get(clash.value, f"input {clash.value}"),
                help="change one of these; values that share bytes need one memory, uses may have their own",
            )
        raise CodegenError(messages.all)
    scopes = {value: _scope(home, board.pools) for value, home in solution.homes.items()}
    return filled(function, stripped, scopes, [_placed(copy, board) for copy in solution.copies])


def _scope(home: Scopes, pools: Sequence[str]) -> str | None:
    """The memory scope of a home, if it is one pool of several."""
    if CALLER in home or len(home) != 1 or home == frozenset(pools):
        return None
    return next(iter(home))


def _placed(copy: Copy, board: BoardOffer) -> WantedCopy:
    scope = _scope(copy.scopes, board.pools)
    return WantedCopy(
        content=copy.content,
        scope=scope,
        word=scope or "copy",
        sites=tuple((use.step, use.argument) for use in copy.uses),
    )


# ---- constraints ------------------------------------------------------------------------


def _scoping(stripped: Bare, board: BoardOffer, owners: Owners) -> Scoping:
    return Scoping(
        values=tuple(stripped.values),
        pools=board.pools,
        givable=_results(stripped) if owners.owns_results else frozenset(),
        contents={value: key[0] for value, key in stripped.values.items()},
        ties=tuple(tie for prim in stripped.prim_funcs for tie in _ties(prim)),
        claims=tuple(_claims(stripped, owners)),
        uses=tuple(_uses(stripped, owners)),
    )


def _results(stripped: Bare) -> frozenset[str]:
    return frozenset(result.name for result in stripped.results if isinstance(result, Var)) & set(
        stripped.values
    )


def _ties(prim: PrimFunc) -> Iterator[Tie]:
    result = prim.let.var.name
    if prim.tied is not None:
        source = prim.let.call.args[prim.tied[0]]
        how = "is a view of" if prim.view is not None else "replaces"
        if isinstance(source, Var):
            yield Tie(value=result, other=source.name, how=f"{result} {how} {source.name}")
    for arg, _ in prim.joins:
        yield Tie(value=result, other=arg.name, how=f"{result} joins {arg.name}")


def _claims(stripped: Bare, owners: Owners) -> Iterator[Claim]:
    variables = [*stripped.params, *(prim.let.var for prim in stripped.prim_funcs)]
    for var in variables:
        scope = var.device.memory_scope
        if scope is not None:
            yield Claim(value=var.name, scopes=frozenset({scope}), who=who(var, owners, scope))
        if var.name in owners.inputs:
            yield Claim(value=var.name, scopes=frozenset({CALLER}), who=f"{var.name} is the caller's")
    for prim in stripped.prim_funcs:
        allowed = prim.allowed()
        if allowed is not None:
            yield _demand(prim, prim.let.var.name, "its result", allowed)
        for index in _taken_over(prim):
            arg, allowed = prim.let.call.args[index], prim.allowed(argument=index)
            if allowed is not None and isinstance(arg, Var):
                yield _demand(prim, arg.name, f"argument {index}, {arg.name},", allowed)


def _demand(prim: PrimFunc, value: str, what: str, allowed: Scopes) -> Claim:
    others = {demand.who for demand in prim.memory if demand.who and demand.scopes == tuple(allowed)}
    wanting = others.pop() if others else f"kernel {kernel_name(prim)}"
    text = f"{wanting} of {prim.let.var.name} wants {what} in {either(allowed)}"
    return Claim(value=value, scopes=allowed, who=text)


def _taken_over(prim: PrimFunc) -> tuple[int, ...]:
    """Arguments whose bytes hold the result, or are held by it."""
    return (*prim.joined, *(() if prim.tied is None else (prim.tied[0],)))


def _uses(stripped: Bare, owners: Owners) -> Iterator[Use]:
    last = len(stripped.prim_funcs)
    for (step, index), reading in stripped.readings.items():
        allowed: Scopes | None = None
        if step == last:
            allowed = frozenset({CALLER}) if owners.owns_results else None
        elif index not in _taken_over(stripped.prim_funcs[step]):
            allowed = stripped.prim_funcs[step].allowed(argument=index)
        if reading.wish is not None and (allowed is None or reading.wish in allowed):
            allowed = frozenset({reading.wish})
        if allowed is not None:
            yield Use(step=step, argument=index, value=reading.content.name, scopes=allowed)
