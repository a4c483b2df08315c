"""What blocks need and cost, found once for the same run of steps: functions that share steps ask again."""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.ir import Var
from codegen.kernels import fused
from codegen.kernels.primfunc import PrimFunc, Sharing

_Key = tuple[tuple[tuple[str, ...], ...], int, str | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockCost:
    """A block: bytes of its lines, how its result may lie over its arguments, work beyond the steps' own."""

    line_bytes: int
    sharing: tuple[Sharing, ...]
    extra_macs: int


class BlockCosts:
    """Remembers by the names of steps and values: in a function and its variants they stand for one thing."""

    def __init__(self) -> None:
        self._floors: dict[_Key, int] = {}
        self._costs: dict[_Key, BlockCost] = {}

    def least_line_bytes(self, inner: Sequence[PrimFunc], streamed: str | None) -> int:
        """See `fused.least_line_bytes`."""
        key = _key(inner, 1, streamed)
        if key not in self._floors:
            self._floors[key] = fused.least_line_bytes(inner, streamed)
        return self._floors[key]

    def cost(self, inner: Sequence[PrimFunc], stripes: int, streamed: str | None) -> BlockCost:
        """What the block of these steps costs in so many stripes, by simulating it."""
        key = _key(inner, stripes, streamed)
        if key not in self._costs:
            planned = fused.layout(inner, stripes, streamed)
            self._costs[key] = BlockCost(
                line_bytes=sum(planned.line_bytes),
                sharing=fused.sharing(inner, planned),
                extra_macs=max(0, fused.macs(inner, planned) - sum(prim.macs for prim in inner)),
            )
        return self._costs[key]


def _key(inner: Sequence[PrimFunc], stripes: int, streamed: str | None) -> _Key:
    names = tuple(
        (prim.name, *(arg.name for arg in prim.let.call.args if isinstance(arg, Var))) for prim in inner
    )
    return names, stripes, streamed
