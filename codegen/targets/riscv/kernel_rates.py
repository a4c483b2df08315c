"""How kernels run on RISC-V cores with short instructions for bits, or with a slow multiplier.

Measured: `python benchmarks/rv32_rates.py` prints both tables. Predictions count what RV32IM runs; Zba and
Zbb save additions and branches of a result. A product takes an E31 five cycles: kernels with few are fast.
"""

from collections.abc import Mapping

from codegen.ir import Target
from codegen.targets.core_family import KernelRate, KernelRates

_SHORT: Mapping[str, float] = {
    "add_s8_rv32": 0.954,
    "conv2d_s8_rv32": 0.986,
    "conv3x3_s8_rv32": 0.991,
    "depthwise3x3_s8_rv32": 0.986,
    "fully_connected_s8_rv32": 0.994,
    "winograd_s8_rv32": 0.994,
}
"""Instructions with Zba and Zbb for one without."""
_CYCLES: Mapping[str, Mapping[str, float]] = {
    "e31": {
        "": 1.3,
        "add_s8_rv32": 2.07,
        "conv2d_s8_rv32": 2.35,
        "conv3x3_s8_rv32": 2.43,
        "depthwise3x3_s8_rv32": 2.28,
        "fully_connected_s8_rv32": 2.84,
        "winograd_s8_rv32": 2.33,
    }
}
"""By core whose instructions differ: cycles of one. "": of portable kernels, 1.16 (pools) to 1.69."""


_NONE: Mapping[str, float] = {}


def kernel_rates(target: Target) -> KernelRates:
    """Rates of a core with these features."""
    short = _SHORT if {"zba", "zbb"} <= target.features else _NONE
    cycles = _CYCLES.get(target.cpu, _NONE)
    return {
        kernel: KernelRate(
            instructions=short.get(kernel, 1.0), cycles=cycles.get(kernel, cycles.get("")) if cycles else None
        )
        for kernel in (*_SHORT, "")
        if short or cycles
    }
