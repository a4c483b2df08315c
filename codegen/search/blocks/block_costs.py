"""What blocks need and cost, found once for the same run of steps: functions that share steps ask again."""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.ir import Var
from codegen.kernels import fused
from codegen.kernels.contract import Sharing
from codegen.kernels.primfunc import PrimFunc

_Key = tuple[tuple[tuple[str, ...], ...], int, str | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockCost:
    """What a block takes."""

    own_bytes: int
    """Its lines, and what its row kernels work in."""
    sharing: tuple[Sharing, ...]
    """How far the result may lie over the arguments."""
    extra_macs: int
    """Multiply-accumulates beyond those of the steps alone."""


class BlockCosts:
    """Remembers by the names of steps and values: in a function and its variants a name stands for one thing,
    bound to one row kernel."""

    def __init__(self) -> None:
        self._costs: dict[_Key, BlockCost] = {}

    def cost(self, inner: Sequence[PrimFunc], stripes: int, streamed: str | None) -> BlockCost:
        """What the block of these steps costs in so many stripes, by simulating it."""
        key = _key(inner, stripes, streamed)
        if key not in self._costs:
            planned = fused.layout(inner, stripes, streamed)
            shared = fused.workspace(inner)
            self._costs[key] = BlockCost(
                own_bytes=sum(planned.line_bytes) + (shared.size_bytes if shared else 0),
                sharing=fused.sharing(inner, planned),
                extra_macs=max(0, fused.macs(inner, planned) - sum(prim.macs for prim in inner)),
            )
        return self._costs[key]


def _key(inner: Sequence[PrimFunc], stripes: int, streamed: str | None) -> _Key:
    names = tuple(
        (prim.name, *(arg.name for arg in prim.let.call.args if isinstance(arg, Var))) for prim in inner
    )
    return names, stripes, streamed
