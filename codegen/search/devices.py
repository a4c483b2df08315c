"""Plan devices: values that share bytes (views) get one virtual device, to a fixpoint."""

from dataclasses import replace

from codegen.errors import CodegenError, Message
from codegen.ir import Arg, ConstRef, DeviceConflict, Function, Let, Var, VirtualDevice
from codegen.kernels.primfunc import PrimFunc


def plan_devices(
    function: Function, prim_funcs: tuple[PrimFunc, ...]
) -> tuple[Function, tuple[PrimFunc, ...]]:
    """Function and PrimFuncs with the devices of tied values unified; set parts are never changed.

    Raises CodegenError E320 with the chain of values where two of them contradict each other.
    """
    devices = {var.name: var.device for var in function.variables()}
    changed = True
    while changed:
        changed = False
        for prim in prim_funcs:
            if prim.tied is not None:
                source = prim.let.call.args[prim.tied[0]]
                if isinstance(source, Var):
                    changed |= _tie(devices, source, prim.let)
    return _apply(function, prim_funcs, devices)


def _tie(devices: dict[str, VirtualDevice], source: Var, let: Let) -> bool:
    before = devices[source.name], devices[let.var.name]
    try:
        both = before[0].unify(before[1])
    except DeviceConflict as error:
        raise CodegenError(
            Message(
                code="E320",
                where=let.where,
                text=f"{source.name} and {let.var.name} share bytes, but {error}",
                help="give both the same memory scope",
            )
        ) from None
    devices[source.name] = devices[let.var.name] = both
    return before != (both, both)


def _apply(
    function: Function, prim_funcs: tuple[PrimFunc, ...], devices: dict[str, VirtualDevice]
) -> tuple[Function, tuple[PrimFunc, ...]]:
    def var(old: Var) -> Var:
        return replace(old, device=devices[old.name])

    def arg(old: Arg | None) -> Arg | None:
        return var(old) if isinstance(old, Var) else old

    def let(old: Let) -> Let:
        return replace(
            old, var=var(old.var), call=replace(old.call, args=tuple(arg(a) for a in old.call.args))
        )

    body = tuple(let(old) for old in function.body)
    planned = replace(
        function,
        params=tuple(var(param) for param in function.params),
        body=body,
        results=tuple(result if isinstance(result, ConstRef) else var(result) for result in function.results),
    )
    return planned, tuple(replace(prim, let=new) for prim, new in zip(prim_funcs, body, strict=True))
