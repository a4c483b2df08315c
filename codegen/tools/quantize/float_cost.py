"""The cost of the layers of a quantised network that stay in float32: bytes of values, instructions."""

from dataclasses import dataclass
from typing import Any

QUANTIZE_INSTRUCTIONS, DEQUANTIZE_INSTRUCTIONS = 22, 10
"""Instructions of an M4 with an FPU for each number that becomes an integer, or a real number."""
FLOAT_MAC_INSTRUCTIONS = 5
"""Instructions of an M4 with an FPU that a multiply-accumulate of float32 takes beyond one of int8."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FloatCost:
    """Values and work of float32 inside a network; its own inputs and outputs are none of them."""

    values: int = 0
    largest_bytes: int = 0
    quantised: int = 0
    """Numbers that become integers behind these layers, in an inference."""
    dequantised: int = 0
    """Numbers that become real ones in front of them."""
    macs: int = 0
    """Multiply-accumulates in float32."""

    @property
    def instructions(self) -> int:
        """Instructions of an M4 with an FPU beyond those of int8, about."""
        conversions = self.quantised * QUANTIZE_INSTRUCTIONS + self.dequantised * DEQUANTIZE_INSTRUCTIONS
        return conversions + self.macs * FLOAT_MAC_INSTRUCTIONS


NO_COST = FloatCost()
"""Cost of a network without such layers."""


def float_cost(module: Any) -> FloatCost:
    """The cost of float32 in an imported network."""
    function = module.main
    params, results = ({var.name for var in values} for values in (function.params, function.results))
    inner = [let for let in function.body if let.var.name not in results]
    floats = [let for let in inner if _is_float(let.var)]
    conversions = [
        let
        for let in inner
        if let.call.op.name == "QUANTIZE"
        and _is_float(let.call.args[0])
        and let.call.args[0].name not in params
    ]
    return FloatCost(
        values=len(floats),
        largest_bytes=max((let.var.type.size_bytes for let in floats), default=0),
        quantised=sum(let.var.type.elements for let in conversions),
        dequantised=sum(let.var.type.elements for let in floats if let.call.op.name == "DEQUANTIZE"),
        macs=sum(let.call.op.macs(let.call.attrs, let.call.types, let.var.type) for let in floats),
    )


def _is_float(value: Any) -> bool:
    return value is not None and value.type.dtype.value == "float32"
