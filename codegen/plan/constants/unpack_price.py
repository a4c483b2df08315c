"""Instructions of `cg_unpack` (kernels/portable/unpack.c), fitted to constants on QEMU, gcc 12 and 14."""

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.ir import Target
from codegen.program.constants import Packing
from codegen.targets.families import family_of


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cost:
    """Of a call, a class of its table, a byte that it decodes, each time it takes bits from the stream."""

    call: int
    group: int
    byte: int
    taking: int


_THUMB_2: Mapping[str, _Cost] = {
    "speed": _Cost(call=40, group=12, byte=16, taking=5),
    "balanced": _Cost(call=40, group=12, byte=16, taking=5),
    "size": _Cost(call=45, group=12, byte=17, taking=5),
}
_ARMV6M: Mapping[str, _Cost] = {
    "speed": _Cost(call=30, group=18, byte=29, taking=13),
    "balanced": _Cost(call=120, group=11, byte=24, taking=15),
    "size": _Cost(call=77, group=15, byte=28, taking=11),
}


def decode_instructions(packing: Packing, target: Target, optimize: str) -> int:
    """Predicted for decoding all pieces once, with their calls."""
    costs = _THUMB_2 if family_of(target.cpu).has_long_multiply else _ARMV6M
    cost, calls = costs[optimize], len(packing.piece_bytes)
    fixed = calls * (cost.call + packing.classes * cost.group)
    return fixed + sum(packing.piece_bytes) * cost.byte + packing.taken * cost.taking
