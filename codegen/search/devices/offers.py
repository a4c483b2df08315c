"""A board's devices and memories, held against those that kernels and values ask for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from codegen.errors import Messages, listed
from codegen.ir import Board, ConstRef, DeviceConflict, Function, Var, VirtualDevice
from codegen.kernels.contract import DMA, NPU, MemoryDemand
from codegen.kernels.primfunc import PrimFunc


@dataclass(frozen=True, kw_only=True, slots=True)
class BoardOffer:
    """Devices and memories of a board that values and calls may have."""

    name: str
    pools: tuple[str, ...]
    """Writable pools, best first."""
    dma_pools: tuple[str, ...]
    """Writable pools that DMA reaches."""
    constants: tuple[str, ...]
    """Pools of linked constants."""
    dma_constants: bool
    """True if DMA reaches all pools of linked constants."""
    core: VirtualDevice
    """Target and device id of the core that calls run on, unless their results are another's."""
    second_core: VirtualDevice | None = None
    """Target and device id of the board's other core. Calls whose results have its device id run there."""
    npu_pools: tuple[str, ...] = ()
    """Writable pools that the board's NPU reaches."""


def board_offer(board: Board, pools: Sequence[str]) -> BoardOffer:
    """`board` with `pools`, of its own, to plan in."""
    by_name = {region.pool_name: region for region in board.regions}
    code = board.region(board.code_region)
    return BoardOffer(
        name=board.name,
        pools=tuple(pools),
        dma_pools=tuple(name for name in pools if by_name[name].dma),
        constants=(code.pool_name,),
        dma_constants=code.dma,
        core=VirtualDevice(target=board.target.cpu, device_id=0),
        second_core=VirtualDevice(target=board.target.cpu, device_id=1) if board.second_core else None,
        npu_pools=tuple(name for name in pools if board.npu and by_name[name].name in board.npu.reach),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Owners:
    """Values that belong to the caller, and who gave values their devices."""

    inputs: frozenset[str] = frozenset()
    """Parameters in the caller's memory."""
    owns_results: bool = False
    """True if results have to be in the caller's memory."""
    placed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Value -> who gave it its device, for messages."""

    def giver(self, var: Var) -> str:
        """Who gave `var` its device, in words."""
        return self.placed.get(var.name, "its device in the model")


# ---- what kernels demand ----------------------------------------------------------------


def reading(prim_funcs: Sequence[PrimFunc], reads: Mapping[str, tuple[str, str]]) -> tuple[PrimFunc, ...]:
    """`prim_funcs`, the run-time arguments of some demanded in a memory too; `reads`: see `Choices`."""
    demanding: list[PrimFunc] = []
    for prim in prim_funcs:
        scope, who = reads.get(prim.let.var.name, ("", ""))
        values = [index for index, arg in enumerate(prim.let.call.args) if scope and isinstance(arg, Var)]
        more = [MemoryDemand(scopes=(scope,), argument=index, who=who) for index in values]
        demanding.append(replace(prim, memory=(*prim.memory, *more)) if more else prim)
    return tuple(demanding)


def resolved(prim: PrimFunc, board: BoardOffer, messages: Messages) -> PrimFunc:
    """`prim` with names of pools for what it demands of run-time values and workspaces."""
    if not prim.memory:
        return prim
    demands: list[MemoryDemand] = []
    for demand in prim.memory:
        arg = None if demand.argument is None else prim.let.call.args[demand.argument]
        if isinstance(arg, ConstRef):
            _check_constant(prim, demand, board, messages)
            continue
        scopes = tuple(_pools(demand.scopes, board))
        demands.append(replace(demand, scopes=scopes or demand.scopes))
        if not scopes or not set(scopes) <= set(board.pools):
            messages.add(
                "E323",
                f"kernel {kernel_name(prim)} wants {demand.what} in {either(demand.scopes)}, which "
                f"{board.name} has not",
                where=prim.let.where,
                help=f"its pools are {', '.join(board.pools)}; "
                f"DMA reaches {', '.join(board.dma_pools) or 'none of them'}",
            )
    return replace(prim, memory=tuple(demands))


def _pools(scopes: Sequence[str], board: BoardOffer) -> Iterator[str]:
    for scope in scopes:
        yield from {DMA: board.dma_pools, NPU: board.npu_pools}.get(scope, (scope,))


def _check_constant(prim: PrimFunc, demand: MemoryDemand, board: BoardOffer, messages: Messages) -> None:
    """A constant lies in the constant pools, whatever a kernel demands."""
    suits = DMA in demand.scopes and board.dma_constants
    if not suits and not set(board.constants) <= set(demand.scopes):
        messages.add(
            "E324",
            f"kernel {kernel_name(prim)} wants {demand.what} in {either(demand.scopes)}, but it is a "
            f"constant, linked to {', '.join(board.constants)}",
            where=prim.let.where,
            help="demand nothing of that argument, or copy it inside the kernel",
        )


def either(scopes: Iterable[str]) -> str:
    """How messages name a choice of memories."""
    return " or ".join(sorted(set(scopes)))


def kernel_name(prim: PrimFunc) -> str:
    """How messages name the kernel of a step."""
    return prim.symbol or prim.kernel


# ---- what runs a call -------------------------------------------------------------------


def _runs(device: VirtualDevice) -> VirtualDevice:
    """Target and device id alone."""
    return device if device.memory_scope is None else replace(device, memory_scope=None)


def spelled(device: VirtualDevice) -> str:
    """How messages name what runs a call: the core, then `device 1`."""
    parts = [device.target, None if device.device_id is None else f"device {device.device_id}"]
    return " ".join(part for part in parts if part) or "any device"


def driven(prim: PrimFunc, board: BoardOffer, owners: Owners, messages: Messages) -> PrimFunc:
    """`prim`, its result on the device that the kernel drives. Unset parts of a kernel's are the core's."""
    if not prim.is_call:
        return prim
    var = prim.let.var
    mine = board.core if prim.device.is_free else prim.device
    try:
        both = _runs(var.device).unify(_runs(mine))
    except DeviceConflict as conflict:
        if prim.device.is_free:
            return prim  # It may be no device of the board's at all: `check_known` says so.
        messages.add(
            "E321",
            f"{who(var, owners, spelled(_runs(var.device)))}; kernel {kernel_name(prim)} drives "
            f"{spelled(mine)}: {conflict}",
            where=prim.let.where,
            help="change one of these",
        )
        return prim
    if prim.device.is_free:
        return prim
    device = replace(both, memory_scope=var.device.memory_scope)
    return replace(prim, let=replace(prim.let, var=replace(var, device=device)))


def check_known(
    function: Function, prims: Sequence[PrimFunc], board: BoardOffer, owners: Owners, messages: Messages
) -> None:
    """Every call runs on one of the cores or on what its kernel drives; whatever else a value names is not
    there: a message for all values that one place gives to one device."""
    drives = {prim.let.var.name: prim.device for prim in prims}
    wheres = {prim.let.var.name: prim.let.where for prim in prims}
    cores = [core for core in (board.core, board.second_core) if core is not None]
    have = " and ".join(spelled(core) for core in cores)
    lacking: dict[tuple[VirtualDevice, str], list[Var]] = {}
    for var in function.variables():
        device = _runs(var.device)
        if drives.get(var.name, VirtualDevice()).is_free and not any(_agree(device, core) for core in cores):
            lacking.setdefault((device, owners.giver(var)), []).append(var)
    for (device, giver), values in lacking.items():
        several = len(values) > 1
        text = f"{listed([var.name for var in values])} are given to {spelled(device)}"
        first = values[0].name
        messages.add(
            "E322",
            f"{text if several else who(values[0], owners, spelled(device))}, but {board.name} has only its "
            f"{'core' if len(cores) == 1 else 'cores'}, {have}, and no kernel of "
            f"{'these steps' if several else 'this step'} drives another device",
            where=giver if several else wheres.get(first, f"input {first}"),
            help="leave target and device_id out, or declare a [[kernel]] that has them",
        )


def _agree(one: VirtualDevice, other: VirtualDevice) -> bool:
    try:
        one.unify(other)
    except DeviceConflict:
        return False
    return True


def who(var: Var, owners: Owners, where: str) -> str:
    """`conv0 is given to dtcm by codegen.toml, place 2`."""
    return f"{var.name} is given to {where} by {owners.giver(var)}"
